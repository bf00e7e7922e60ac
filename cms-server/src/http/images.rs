//! Pictures and files for everybody (contract 7.3, 7.4): no key, conditional and partial requests.
//!
//! From cheap to dear: what the client has already is told from the database alone, what was made
//! before is read at once, and only the rest waits for its turn. How a picture is made is the core's.

use std::{ops::Range, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, Method, StatusCode, Version, header, request::Parts},
};
use cms_core::{
    Error, Image, Made, Picture, Pieces, Result, limits::CHUNK_BYTES, wire::media::ImageRequest,
};
use futures_util::{StreamExt, stream};
use tokio::time;

use crate::{
    answer::Answer,
    blocking::{self, Work},
    error,
    extract::{
        query::Query,
        validators::{Portion, Validators},
    },
    path::Parameters,
    state::App,
};

const FOR_A_DAY: HeaderValue = HeaderValue::from_static("public, max-age=86400");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const SANDBOX: HeaderValue = HeaderValue::from_static("sandbox");
const UNKNOWN_TYPE: HeaderValue = HeaderValue::from_static("application/octet-stream");
/// Bytes that are read of a stored file at first: an HTTP/2 stream takes them before the client has room
/// for any. The next pieces grow up to [`CHUNK_BYTES`].
const FIRST_PIECE_BYTES: u64 = 16 * 1024;
const PIECE_GROWTH: u64 = 4;
/// How long a piece waits for memory, and how often that is looked for.
const MEMORY_TIMEOUT: Duration = Duration::from_secs(10);
const MEMORY_INTERVAL: Duration = Duration::from_millis(50);
/// Longest media type that is sent: clients refuse long headers.
const TYPE_BYTES: usize = 255;
const BYTES: HeaderValue = HeaderValue::from_static("bytes");
const ACCEPT: HeaderValue = HeaderValue::from_static("accept");

/// Answers a request. What goes wrong is not to be kept by anybody: it may come right.
pub(crate) async fn answer(
    app: &Arc<App>,
    parts: &Parts,
    query: &Query<'_>,
    path: Parameters,
) -> Answer {
    let found = blocking::now(app, |app| find(app, parts, query, path)).flatten();
    let served = match found {
        Ok(image) => serve(app, parts, &Arc::new(image)).await,
        Err(error) => Err(error),
    };
    let answer = served.unwrap_or_else(Answer::from);
    let is_fault = answer.status.is_client_error() || answer.status.is_server_error();
    answer.with_header(header::CACHE_CONTROL, if is_fault { NO_STORE } else { FOR_A_DAY })
}

fn find(app: &App, parts: &Parts, query: &Query<'_>, path: Parameters) -> Result<Image> {
    let segments: Vec<_> = path.read_rest(parts.uri.path()).collect();
    let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
    app.cms.media().find(&ImageRequest {
        path: &segments,
        transform: query.get("transform"),
        format: query.get("format"),
        quality: query.get("quality"),
        accept: parts.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()),
    })
}

async fn serve(app: &Arc<App>, parts: &Parts, image: &Arc<Image>) -> Result<Answer> {
    let validators = Validators::new(&image.etag, image.modified.system_time());
    let answer = if validators.are_known(&parts.headers) {
        Answer::not_modified()
    } else {
        send(app, parts, image, &validators).await?
    };
    Ok(answer
        .with_header(header::ETAG, validators.etag())
        .with_header(header::LAST_MODIFIED, validators.last_modified())
        .with_optional(header::VARY, image.varies.then_some(ACCEPT)))
}

async fn send(
    app: &Arc<App>,
    parts: &Parts,
    image: &Arc<Image>,
    validators: &Validators,
) -> Result<Answer> {
    let picture = picture(app, image).await?;
    let media_type = image.media_type(&picture);
    let sandbox = (!is_inert(media_type)).then_some(SANDBOX);
    let is_usual = |value: &HeaderValue| value.to_str().is_ok() && value.len() <= TYPE_BYTES;
    let media_type = HeaderValue::try_from(media_type).ok().filter(is_usual);
    let media_type = media_type.unwrap_or(UNKNOWN_TYPE);
    let ranges = matches!(picture, Picture::Original { .. }).then_some(BYTES);
    let answer = match picture {
        Picture::Rendered(Made::Whole(bytes)) => Answer::file(media_type, bytes),
        Picture::Rendered(Made::Large(pieces)) => rendered(app, media_type, pieces),
        Picture::Original { size } if parts.method == Method::HEAD => {
            Answer::stream(media_type, size, Body::empty())
        }
        Picture::Original { size } => match validators.portion(&parts.headers, size) {
            Portion::Whole => original(app, parts, image, media_type, 0..size).await?,
            Portion::Part(part) => {
                let place = format!("bytes {}-{}/{size}", part.start, part.end - 1);
                let answer = original(app, parts, image, media_type, part).await?;
                answer.with_status(StatusCode::PARTIAL_CONTENT).with_range(&place)
            }
            Portion::Unsatisfiable => error::no_such_range().with_range(&format!("bytes */{size}")),
        },
    };
    Ok(answer
        .with_optional(header::CONTENT_SECURITY_POLICY, sandbox)
        .with_optional(header::ACCEPT_RANGES, ranges))
}

/// Returns the picture that was made before, or makes it.
async fn picture(app: &Arc<App>, image: &Arc<Image>) -> Result<Picture> {
    if let Some(picture) = blocking::now(app, |app| app.cms.media().rendered(image))? {
        return Ok(picture);
    }
    let work = if image.is_stored() {
        Work::File
    } else if image.is_slow() {
        Work::RenderSlowly
    } else {
        Work::Render
    };
    let image = Arc::clone(image);
    blocking::run(app, work, move |app| app.cms.media().picture(&image)).await?
}

/// Sends a large picture from the cache, as stored files are sent.
fn rendered(app: &Arc<App>, media_type: HeaderValue, pieces: Pieces) -> Answer {
    let length = pieces.size();
    let reader = (Arc::clone(app), pieces);
    let body = stream::try_unfold(reader, |(app, mut pieces)| async move {
        wait_for_memory(&app, CHUNK_BYTES).await?;
        let next = move |_: &App| pieces.read().map(|piece| (piece, pieces));
        let (piece, pieces) = blocking::run(&app, Work::File, next).await??;
        Ok::<_, Error>((!piece.is_empty()).then(|| (Bytes::from(piece), (app, pieces))))
    });
    Answer::stream(media_type, length, Body::from_stream(body))
}

/// Sends a part of a stored file. Nobody's turn lasts while a client reads slowly.
async fn original(
    app: &Arc<App>,
    parts: &Parts,
    image: &Arc<Image>,
    media_type: HeaderValue,
    part: Range<u64>,
) -> Result<Answer> {
    let length = part.end - part.start;
    // A connection of HTTP/1 sends one response at a time.
    let first_bytes =
        if parts.version == Version::HTTP_2 { FIRST_PIECE_BYTES } else { CHUNK_BYTES };
    let mut rest = Rest { range: part, piece: first_bytes };
    let first = next_piece(app, image, &mut rest).await?.unwrap_or_default();
    if rest.range.is_empty() {
        return Ok(Answer::file(media_type, first));
    }
    let reader = (Arc::clone(app), Arc::clone(image), rest);
    let more = stream::try_unfold(reader, |(app, image, mut rest)| async move {
        let piece = next_piece(&app, &image, &mut rest).await;
        let piece = piece.inspect_err(|error| tracing::warn!(%error, "a file ended too early"))?;
        Ok::<_, Error>(piece.map(|piece| (piece, (app, image, rest))))
    });
    let pieces = stream::once(async { Ok(first) }).chain(more);
    Ok(Answer::stream(media_type, length, Body::from_stream(pieces)))
}

/// What is still to be read of a file, and how much of it next.
struct Rest {
    range: Range<u64>,
    piece: u64,
}

/// Reads on; none at the end.
async fn next_piece(app: &Arc<App>, image: &Arc<Image>, rest: &mut Rest) -> Result<Option<Bytes>> {
    let Range { start, end } = rest.range;
    if start >= end {
        return Ok(None);
    }
    let piece = start..end.min(start + rest.piece);
    wait_for_memory(app, piece.end - piece.start).await?;
    rest.range.start = piece.end;
    rest.piece = (rest.piece * PIECE_GROWTH).min(CHUNK_BYTES);
    let image = Arc::clone(image);
    blocking::run(app, Work::File, move |app| app.cms.media().read(&image, piece)).await?.map(Some)
}

/// Waits until there is memory for so many bytes of a response.
async fn wait_for_memory(app: &App, bytes: u64) -> Result<()> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let waiting = async {
        while !app.memory.has_room(bytes) {
            time::sleep(MEMORY_INTERVAL).await;
        }
    };
    let timed_out = |_| Error::Busy("the memory for responses is used up".to_owned());
    time::timeout(MEMORY_TIMEOUT, waiting).await.map_err(timed_out)
}

/// Tells whether a browser that opens a file only shows or plays it. Media types are content, so that
/// anything may stand there; what is not plainly known may not run scripts.
fn is_inert(media_type: &str) -> bool {
    let media_type = media_type.to_ascii_lowercase();
    let is_plain = media_type.bytes().all(|b| b.is_ascii_alphanumeric() || b"/.+-".contains(&b));
    let is_shown = match media_type.split_once('/') {
        Some(("image", name)) => !name.contains("svg"),
        Some(("audio" | "video", _)) => true,
        _ => media_type == "application/pdf",
    };
    is_plain && is_shown && !media_type.contains("xml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_run_scripts_is_put_into_a_sandbox() {
        let inert =
            ["image/png", "IMAGE/JPEG", "image/vnd.microsoft.icon", "video/mp4", "audio/ogg"];
        for media_type in inert.into_iter().chain(["application/pdf"]) {
            assert!(is_inert(media_type), "{media_type}");
        }
        for media_type in [
            "",
            "image",
            "text/plain",
            "text/html",
            "application/json",
            "application/pdf+xml",
            "image/svg+xml",
            "Image/SVG",
            "image/x+xml",
            "video/xml",
            "image/png, text/html",
            "image/png;charset=utf-8,text/html",
            "image/png\r\ntext/html",
            "text/html;image/png",
        ] {
            assert!(!is_inert(media_type), "{media_type}");
        }
    }
}
