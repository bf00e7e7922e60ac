//! A form with a file (`multipart/form-data`, contract 7.1), read as it arrives: the file goes to disk
//! piece by piece, all other fields are short.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{HeaderMap, HeaderValue, header},
};
use cms_core::{Error, Incoming, Result, wire::media::UploadRequest};
use futures_util::{Stream, stream};
use multer::{Constraints, Field, Multipart, SizeLimit};
use percent_encoding::percent_decode_str;
use tokio::{task, time};

use super::{
    body::{self, Paced},
    query,
};
use crate::{blocking, state::App};

/// The field of the file; there may be one.
const FILE: &str = "file";
/// Bytes of any other field.
const FIELD_BYTES: u64 = 64 * 1024;
/// Fields of a form.
const FIELDS: usize = 100;
/// Bytes of a file that are gathered before they are written.
const PIECE: usize = 256 * 1024;
/// Bytes that may come before the next part, or in a short field: more than either needs.
const GAP: usize = 128 * 1024;

/// What a form holds.
pub(crate) struct Form {
    pub(crate) file: Option<Incoming>,
    pub(crate) request: UploadRequest,
}

/// Reads a body that is a form.
pub(crate) async fn read(app: &Arc<App>, headers: &HeaderMap, body: &mut Body) -> Result<Form> {
    let boundary = boundary(headers)?;
    if body.size_hint().lower() > app.upload_limit {
        return Err(Error::BodyTooLarge);
    }
    // Who has no turn yet is not told to send.
    let _turn = app.permits.upload().await?;
    let reading = async {
        let form = read_fields(app, boundary, body).await;
        if matches!(form, Err(Error::NoSpace(_))) {
            // Who is cut off while sending hears no answer, and would send all of it again.
            read_away(app, body).await;
        }
        form
    };
    time::timeout(app.request_timeout, reading).await.map_err(|_| malformed())?
}

/// Takes what is left of a form, and keeps nothing of it.
async fn read_away(app: &App, body: &mut Body) {
    let mut left = app.upload_limit;
    let mut paced = Paced::new(app, body);
    while let Ok(Some(data)) = paced.next().await {
        let Some(less) = left.checked_sub(data.len() as u64) else { return };
        left = less;
    }
}

/// What stands between the fields.
fn boundary(headers: &HeaderMap) -> Result<String> {
    body::require(headers, "multipart/form-data")?;
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    multer::parse_boundary(content_type.unwrap_or_default()).map_err(|_| malformed())
}

async fn read_fields(app: &Arc<App>, boundary: String, body: &mut Body) -> Result<Form> {
    let gap = Arc::new(AtomicUsize::new(0));
    let limits = SizeLimit::new()
        .whole_stream(app.upload_limit)
        .per_field(FIELD_BYTES)
        .for_field(FILE, app.upload_limit);
    let constraints = Constraints::new().size_limit(limits);
    let frames = frames(Paced::new(app, body), Arc::clone(&gap));
    let mut fields = Multipart::with_constraints(frames, boundary, constraints);
    let mut form = Form::default();
    let mut count = 0;
    while let Some(mut field) = fields.next_field().await.map_err(|error| refusal(&error))? {
        count += 1;
        if count > FIELDS {
            return Err(Error::BadRequest("The form has too many fields".to_owned()));
        }
        gap.store(0, Ordering::Relaxed);
        if field.name() != Some(FILE) {
            let name = field.name().unwrap_or_default().to_owned();
            form.set(&name, field.text().await.map_err(|error| refusal(&error))?);
            gap.store(0, Ordering::Relaxed);
            continue;
        }
        if form.file.is_some() {
            return Err(Error::BadRequest("The form has more than one file".to_owned()));
        }
        form.request.file_name = file_name(&field);
        form.request.declared = field.content_type().map(ToString::to_string);
        form.file = Some(receive(app, &mut field, &gap).await?);
    }
    Ok(form)
}

/// Writes a file as it arrives.
async fn receive(app: &Arc<App>, field: &mut Field<'_>, gap: &AtomicUsize) -> Result<Incoming> {
    let mut file = blocking::cross(app, |app| app.cms.media().receive()).await??;
    let mut piece = Vec::new();
    loop {
        let chunk = field.chunk().await.map_err(|error| refusal(&error))?;
        gap.store(0, Ordering::Relaxed);
        let is_last = chunk.is_none();
        piece.extend_from_slice(&chunk.unwrap_or_default());
        if is_last || piece.len() >= PIECE {
            let write = move |_: &App| file.write_all(&piece).map(|()| (file, piece));
            let written = blocking::cross(app, write).await?;
            (file, piece) = written.map_err(Error::from_io)?;
            piece.clear();
        }
        if is_last {
            return Ok(file);
        }
    }
}

/// The data of a body, as the parser may have it. The parser keeps all that it can get, and looks for
/// a part in that again and again: so it gets one frame at a time, and not many without a part. The
/// last one, of any length, does not count: it may not have been looked at.
fn frames(body: Paced<'_>, gap: Arc<AtomicUsize>) -> impl Stream<Item = io::Result<Bytes>> + Send {
    stream::try_unfold((body, gap, 0), |(mut body, gap, last)| async move {
        task::yield_now().await;
        if gap.load(Ordering::Relaxed) > GAP + last {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let Some(data) = body.next().await? else { return Ok(None) };
        let length = data.len();
        gap.fetch_add(length, Ordering::Relaxed);
        Ok(Some((data, (body, gap, length))))
    })
}

/// Without fields. What is not said to stay unsaved is saved.
impl Default for Form {
    fn default() -> Self {
        Self { file: None, request: UploadRequest { save: true, ..UploadRequest::default() } }
    }
}

impl Form {
    /// Takes a field. Of several, the last one counts; unknown ones are ignored.
    fn set(&mut self, name: &str, text: String) {
        let request = &mut self.request;
        match name {
            "type" => request.kind = Some(text),
            "save" => request.save = text != "0",
            "id" => request.id = Some(text),
            "alt" => request.alt = Some(text),
            "title" => request.title = Some(text),
            _ if query::is_element(name, "tags") => request.tags.push(text),
            _ => {}
        }
    }
}

/// The name of a file, in either of the two ways in which clients say it.
fn file_name(field: &Field<'_>) -> String {
    let disposition = field.headers().get(header::CONTENT_DISPOSITION);
    let extended = disposition.and_then(extended_file_name);
    extended.or_else(|| field.file_name().map(str::to_owned)).unwrap_or_default()
}

/// `filename*=utf-8''a%20b.png`, as some clients send names that are not plain.
fn extended_file_name(disposition: &HeaderValue) -> Option<String> {
    let text = disposition.to_str().ok()?;
    let value = text.split(';').find_map(|part| part.trim().strip_prefix("filename*="))?;
    let (charset, rest) = value.split_once('\'')?;
    let (_language, encoded) = rest.split_once('\'')?;
    let name = percent_decode_str(encoded).decode_utf8().ok()?;
    charset.eq_ignore_ascii_case("utf-8").then(|| name.into_owned())
}

fn refusal(error: &multer::Error) -> Error {
    match error {
        multer::Error::StreamSizeExceeded { .. } => Error::BodyTooLarge,
        multer::Error::FieldSizeExceeded { .. } => {
            Error::BadRequest("A field of the form is too large".to_owned())
        }
        _ => malformed(),
    }
}

fn malformed() -> Error {
    Error::BadRequest("Malformed form data".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_encoded() {
        let cases = [
            ("form-data; name=\"file\"; filename*=utf-8''a%20b%C3%A4.png", Some("a bä.png")),
            ("form-data; filename=\"x\"; filename*=UTF-8'de'c.png", Some("c.png")),
            ("form-data; filename*=iso-8859-1''c.png", None),
            ("form-data; filename*=utf-8''%ff.png", None),
            ("form-data; filename*=c.png", None),
            ("form-data; filename=\"c.png\"", None),
        ];
        for (disposition, name) in cases {
            let found = extended_file_name(&HeaderValue::from_static(disposition));
            assert_eq!(found.as_deref(), name, "{disposition}");
        }
    }
}
