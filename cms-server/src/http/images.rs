//! Images and files, without a key: conditional and range requests.
//!
//! Cheap steps come first: a 304 takes one read of the database, a cached image is read
//! immediately, and only rendering waits for a permit.

use std::{ops::Range, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, Method, StatusCode, Version, header, request::Parts},
};
use cms_core::{
    Error, FileChunks, Image, ImageBody, RenderedImage, Result, limits::RESPONSE_CHUNK_BYTES,
    wire::media::ImageRequest,
};
use futures_util::{StreamExt, stream};
use tokio::time;

use crate::{
    blocking,
    extract::{
        header::joined,
        preconditions::{RequestedRange, Validators},
        query::Query,
    },
    net::permits::Work,
    response::{Response, error},
    state::App,
};

const CACHE_ONE_DAY: HeaderValue = HeaderValue::from_static("public, max-age=86400");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const SANDBOX: HeaderValue = HeaderValue::from_static("sandbox");
const UNKNOWN_TYPE: HeaderValue = HeaderValue::from_static("application/octet-stream");
/// Size of the first chunk of a stored file: an HTTP/2 stream buffers it before the client has a
/// window for it. The next chunks grow up to [`RESPONSE_CHUNK_BYTES`].
const FIRST_CHUNK_BYTES: u64 = 16 * 1024;
const CHUNK_GROWTH: u64 = 4;
/// How long a chunk waits for memory.
const MEMORY_TIMEOUT: Duration = Duration::from_secs(10);
const MEMORY_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Longest media type that is sent: clients refuse long headers.
const MAX_MEDIA_TYPE_BYTES: usize = 255;
const BYTE_RANGES: HeaderValue = HeaderValue::from_static("bytes");
const ACCEPT: HeaderValue = HeaderValue::from_static("accept");

/// Responds to a request. Errors are not cached: they may be temporary.
pub(crate) async fn get(
    app: &Arc<App>,
    parts: &Parts,
    query: &Query<'_>,
    segments: &[&str],
) -> Response {
    let found = blocking::run_inline(app, |app| find(app, parts, query, segments)).flatten();
    let served = match found {
        Ok(image) => serve(app, parts, &Arc::new(image)).await,
        Err(error) => Err(error),
    };
    let response = served.unwrap_or_else(Response::from);
    let is_error = response.status.is_client_error() || response.status.is_server_error();
    response.with_header(header::CACHE_CONTROL, if is_error { NO_STORE } else { CACHE_ONE_DAY })
}

fn find(app: &App, parts: &Parts, query: &Query<'_>, segments: &[&str]) -> Result<Image> {
    let accept = joined(&parts.headers, &header::ACCEPT);
    app.cms.media().find(&ImageRequest {
        path: segments,
        transform: query.get("transform"),
        format: query.get("format"),
        quality: query.get("quality"),
        accept: accept.as_deref(),
    })
}

async fn serve(app: &Arc<App>, parts: &Parts, image: &Arc<Image>) -> Result<Response> {
    let validators = Validators::new(&image.etag, image.modified.system_time());
    let response = if validators.match_cached(&parts.headers) {
        Response::not_modified()
    } else {
        send(app, parts, image, &validators).await?
    };
    Ok(response
        .with_header(header::ETAG, validators.etag())
        .with_header(header::LAST_MODIFIED, validators.last_modified())
        .with_optional(header::VARY, image.varies.then_some(ACCEPT)))
}

async fn send(
    app: &Arc<App>,
    parts: &Parts,
    image: &Arc<Image>,
    validators: &Validators,
) -> Result<Response> {
    let image_body = image_body(app, image).await?;
    let media_type = image.media_type(&image_body);
    let sandbox = (!is_inert(media_type)).then_some(SANDBOX);
    let is_valid =
        |value: &HeaderValue| value.to_str().is_ok() && value.len() <= MAX_MEDIA_TYPE_BYTES;
    let media_type = HeaderValue::try_from(media_type).ok().filter(is_valid);
    let media_type = media_type.unwrap_or(UNKNOWN_TYPE);
    let ranges = matches!(image_body, ImageBody::Original { .. }).then_some(BYTE_RANGES);
    let response = match image_body {
        ImageBody::Rendered(RenderedImage::InMemory(bytes)) => Response::file(media_type, bytes),
        ImageBody::Rendered(RenderedImage::OnDisk(chunks)) => rendered(app, media_type, chunks),
        ImageBody::Original { size } if parts.method == Method::HEAD => {
            Response::stream(media_type, Some(size), Body::empty())
        }
        ImageBody::Original { size } => match validators.range(&parts.headers, size) {
            RequestedRange::Full => original(app, parts, image, media_type, 0..size).await?,
            RequestedRange::Range(range) => {
                let content_range = format!("bytes {}-{}/{size}", range.start, range.end - 1);
                let response = original(app, parts, image, media_type, range).await?;
                response.with_status(StatusCode::PARTIAL_CONTENT).with_range(&content_range)
            }
            RequestedRange::Unsatisfiable => {
                error::range_not_satisfiable().with_range(&format!("bytes */{size}"))
            }
        },
    };
    Ok(response
        .with_optional(header::CONTENT_SECURITY_POLICY, sandbox)
        .with_optional(header::ACCEPT_RANGES, ranges))
}

/// Returns the cached image, or renders it.
async fn image_body(app: &Arc<App>, image: &Arc<Image>) -> Result<ImageBody> {
    if let Some(image_body) = blocking::run_inline(app, |app| app.cms.media().rendered(image))? {
        return Ok(image_body);
    }
    let work = if image.is_stored() {
        Work::File
    } else if image.is_slow() {
        Work::SlowImage
    } else {
        Work::Image
    };
    let image = Arc::clone(image);
    blocking::run(app, work, move |app| app.cms.media().image_body(&image)).await?
}

/// Streams a large rendered image from the cache.
fn rendered(app: &Arc<App>, media_type: HeaderValue, chunks: FileChunks) -> Response {
    let length = Some(chunks.size());
    let reader = (Arc::clone(app), chunks);
    let body = stream::try_unfold(reader, |(app, mut chunks)| async move {
        wait_for_memory(&app, RESPONSE_CHUNK_BYTES).await?;
        let next = move |_: &App| chunks.read().map(|chunk| (chunk, chunks));
        let (chunk, chunks) = blocking::run(&app, Work::File, next).await??;
        Ok::<_, Error>((!chunk.is_empty()).then(|| (Bytes::from(chunk), (app, chunks))))
    });
    Response::stream(media_type, length, Body::from_stream(body))
}

/// Streams a range of a stored file. No permit is held while the client reads.
async fn original(
    app: &Arc<App>,
    parts: &Parts,
    image: &Arc<Image>,
    media_type: HeaderValue,
    range: Range<u64>,
) -> Result<Response> {
    let length = Some(range.end - range.start);
    // An HTTP/1 connection sends one response at a time.
    let chunk_bytes =
        if parts.version == Version::HTTP_2 { FIRST_CHUNK_BYTES } else { RESPONSE_CHUNK_BYTES };
    let mut remaining = RemainingRange { range, chunk_bytes };
    let first = next_chunk(app, image, &mut remaining).await?.unwrap_or_default();
    if remaining.range.is_empty() {
        return Ok(Response::file(media_type, first));
    }
    let reader = (Arc::clone(app), Arc::clone(image), remaining);
    let more = stream::try_unfold(reader, |(app, image, mut remaining)| async move {
        let chunk = next_chunk(&app, &image, &mut remaining).await;
        let chunk = chunk.inspect_err(|error| tracing::warn!(%error, "file response aborted"))?;
        Ok::<_, Error>(chunk.map(|chunk| (chunk, (app, image, remaining))))
    });
    let chunks = stream::once(async { Ok(first) }).chain(more);
    Ok(Response::stream(media_type, length, Body::from_stream(chunks)))
}

/// The range of a file that is not read yet, and the size of the next chunk.
struct RemainingRange {
    range: Range<u64>,
    chunk_bytes: u64,
}

/// Reads the next chunk; none at the end.
async fn next_chunk(
    app: &Arc<App>,
    image: &Arc<Image>,
    remaining: &mut RemainingRange,
) -> Result<Option<Bytes>> {
    let Range { start, end } = remaining.range;
    if start >= end {
        return Ok(None);
    }
    let chunk = start..end.min(start + remaining.chunk_bytes);
    wait_for_memory(app, chunk.end - chunk.start).await?;
    remaining.range.start = chunk.end;
    remaining.chunk_bytes = (remaining.chunk_bytes * CHUNK_GROWTH).min(RESPONSE_CHUNK_BYTES);
    let image = Arc::clone(image);
    blocking::run(app, Work::File, move |app| app.cms.media().read(&image, chunk)).await?.map(Some)
}

/// Waits until the response memory budget has room for this many bytes.
async fn wait_for_memory(app: &App, bytes: u64) -> Result<()> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let waiting = async {
        while !app.response_memory.has_room(bytes) {
            time::sleep(MEMORY_POLL_INTERVAL).await;
        }
    };
    let timed_out = |_| Error::Busy("the memory for responses is used up".to_owned());
    time::timeout(MEMORY_TIMEOUT, waiting).await.map_err(timed_out)
}

/// Returns whether a browser only shows or plays files of this media type. Media types are content and
/// may be any text, so files of all other types are sent with a sandbox, which forbids scripts.
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
    fn media_type_that_may_run_scripts_is_not_inert() {
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
