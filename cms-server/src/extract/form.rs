//! A form with a file (`multipart/form-data`): the file is streamed to disk, all other fields are
//! short.

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
    body::{self, BodyReader},
    query,
};
use crate::{blocking, state::App};

/// The name of the only field that is a file.
const FILE_FIELD: &str = "file";
/// Maximum size of each field except the file, in bytes.
const MAX_FIELD_BYTES: u64 = 64 * 1024;
/// Maximum number of fields.
const MAX_FIELDS: usize = 100;
/// Bytes of a file that are buffered before they are written.
const WRITE_BYTES: usize = 256 * 1024;
/// Maximum number of bytes that the parser reads without returning a field or a chunk of a file. Headers and
/// short fields need less.
const MAX_BYTES_WITHOUT_RESULT: usize = 128 * 1024;

/// A parsed form.
pub(crate) struct Form {
    pub(crate) file: Option<Incoming>,
    pub(crate) request: UploadRequest,
}

/// Parses a body that is a form.
pub(crate) async fn read(app: &Arc<App>, headers: &HeaderMap, body: &mut Body) -> Result<Form> {
    let boundary = boundary(headers)?;
    if body.size_hint().lower() > app.config.upload_limit {
        return Err(Error::BodyTooLarge);
    }
    // The client sends nothing before the first read, which follows the permit (100-continue).
    let _permit = app.permits.acquire_to_receive_upload().await?;
    let reading = async {
        let form = read_fields(app, boundary, body).await;
        if matches!(form, Err(Error::NoSpace(_))) {
            // A client that is disconnected while it sends gets no response, and sends the complete
            // form again.
            discard(app, body).await;
        }
        form
    };
    time::timeout(app.config.request_timeout, reading).await.map_err(|_| malformed())?
}

/// Discards the rest of a form.
async fn discard(app: &App, body: &mut Body) {
    let mut left = app.config.upload_limit;
    let mut reader = BodyReader::new(app, body);
    while let Ok(Some(data)) = reader.next().await {
        let Some(rest) = left.checked_sub(data.len() as u64) else { return };
        left = rest;
    }
}

/// Returns the boundary between the parts.
fn boundary(headers: &HeaderMap) -> Result<String> {
    body::require_media_type(headers, "multipart/form-data")?;
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    multer::parse_boundary(content_type.unwrap_or_default()).map_err(|_| malformed())
}

async fn read_fields(app: &Arc<App>, boundary: String, body: &mut Body) -> Result<Form> {
    let bytes_without_result = Arc::new(AtomicUsize::new(0));
    let limits = SizeLimit::new()
        .whole_stream(app.config.upload_limit)
        .per_field(MAX_FIELD_BYTES)
        .for_field(FILE_FIELD, app.config.upload_limit);
    let constraints = Constraints::new().size_limit(limits);
    let frames = frames(BodyReader::new(app, body), Arc::clone(&bytes_without_result));
    let mut fields = Multipart::with_constraints(frames, boundary, constraints);
    let mut form = Form::default();
    let mut count = 0;
    while let Some(mut field) = fields.next_field().await.map_err(|error| parse_error(&error))? {
        count += 1;
        if count > MAX_FIELDS {
            return Err(Error::BadRequest("The form has too many fields".to_owned()));
        }
        bytes_without_result.store(0, Ordering::Relaxed);
        require_utf8_names(&field)?;
        if field.name() != Some(FILE_FIELD) {
            let name = field.name().unwrap_or_default().to_owned();
            form.set(&name, text(field).await?);
            bytes_without_result.store(0, Ordering::Relaxed);
            continue;
        }
        if form.file.is_some() {
            return Err(Error::BadRequest("The form has more than one file".to_owned()));
        }
        form.request.file_name = file_name(&field);
        form.request.declared = field.content_type().map(ToString::to_string);
        form.file = Some(receive(app, &mut field, &bytes_without_result).await?);
    }
    Ok(form)
}

/// Rejects names of a field and of a file that the parser would ignore, because they are not UTF-8.
fn require_utf8_names(field: &Field<'_>) -> Result<()> {
    let disposition = field.headers().get(header::CONTENT_DISPOSITION);
    let names = disposition.map(HeaderValue::as_bytes).unwrap_or_default();
    str::from_utf8(names).map(|_| ()).map_err(|_| not_utf8())
}

/// Returns the text of a field: UTF-8, unless the field has another charset.
async fn text(field: Field<'_>) -> Result<String> {
    let charset = field.content_type().and_then(|media_type| media_type.get_param("charset"));
    if charset.is_some_and(|charset| charset != "utf-8") {
        let text = field.text().await.map_err(|error| parse_error(&error))?;
        // The parser replaces the bytes that it cannot decode.
        let is_complete = !text.contains(char::REPLACEMENT_CHARACTER);
        return is_complete.then_some(text).ok_or_else(not_in_charset);
    }
    let bytes = field.bytes().await.map_err(|error| parse_error(&error))?;
    String::from_utf8(bytes.into()).map_err(|_| not_utf8())
}

/// Streams a file to disk.
async fn receive(
    app: &Arc<App>,
    field: &mut Field<'_>,
    bytes_without_result: &AtomicUsize,
) -> Result<Incoming> {
    let mut file = blocking::run_without_permit(app, |app| app.cms.media().receive()).await??;
    let mut buffer = Vec::new();
    loop {
        let chunk = field.chunk().await.map_err(|error| parse_error(&error))?;
        bytes_without_result.store(0, Ordering::Relaxed);
        let is_last = chunk.is_none();
        buffer.extend_from_slice(&chunk.unwrap_or_default());
        if is_last || buffer.len() >= WRITE_BYTES {
            let write = move |_: &App| file.write_all(&buffer).map(|()| (file, buffer));
            let written = blocking::run_without_permit(app, write).await?;
            (file, buffer) = written.map_err(Error::from_io)?;
            buffer.clear();
        }
        if is_last {
            return Ok(file);
        }
    }
}

/// Passes the body to the parser one frame at a time, and fails after [`MAX_BYTES_WITHOUT_RESULT`] without a
/// result: the parser buffers all input, and searches all of it for the next part after each frame.
/// The last frame does not count, since the parser may not have searched it yet.
fn frames(
    body: BodyReader<'_>,
    bytes_without_result: Arc<AtomicUsize>,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    stream::try_unfold(
        (body, bytes_without_result, 0),
        |(mut body, bytes_without_result, last)| async move {
            task::yield_now().await;
            if bytes_without_result.load(Ordering::Relaxed) > MAX_BYTES_WITHOUT_RESULT + last {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let Some(data) = body.next().await? else { return Ok(None) };
            let length = data.len();
            bytes_without_result.fetch_add(length, Ordering::Relaxed);
            Ok(Some((data, (body, bytes_without_result, length))))
        },
    )
}

/// A form without fields. A media object is created for the file unless the field `save` is 0.
impl Default for Form {
    fn default() -> Self {
        Self { file: None, request: UploadRequest { save: true, ..UploadRequest::default() } }
    }
}

impl Form {
    /// Sets a field, or adds a tag. Of several fields with one name, the last is used; unknown fields
    /// are ignored.
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

/// Returns the file name: the parameter `filename*`, or else `filename`.
fn file_name(field: &Field<'_>) -> String {
    let disposition = field.headers().get(header::CONTENT_DISPOSITION);
    let extended = disposition.and_then(extended_file_name);
    extended.or_else(|| field.file_name().map(str::to_owned)).unwrap_or_default()
}

/// Decodes `filename*=utf-8''a%20b.png` (RFC 5987).
fn extended_file_name(disposition: &HeaderValue) -> Option<String> {
    // Beside `filename*`, clients send `filename` in UTF-8.
    let text = String::from_utf8_lossy(disposition.as_bytes());
    let (mut is_quoted, mut is_escaped) = (false, false);
    let mut parameters = text.split(|character| {
        is_quoted ^= character == '"' && !is_escaped;
        is_escaped = is_quoted && character == '\\' && !is_escaped;
        character == ';' && !is_quoted
    });
    let value = parameters.find_map(|part| part.trim().strip_prefix("filename*="))?;
    let (charset, rest) = value.split_once('\'')?;
    let (_language, encoded) = rest.split_once('\'')?;
    let name = percent_decode_str(encoded).decode_utf8().ok()?;
    charset.eq_ignore_ascii_case("utf-8").then(|| name.into_owned())
}

fn parse_error(error: &multer::Error) -> Error {
    match error {
        multer::Error::StreamSizeExceeded { .. } => Error::BodyTooLarge,
        multer::Error::FieldSizeExceeded { .. } => {
            Error::BadRequest("A field of the form is too large".to_owned())
        }
        _ => malformed(),
    }
}

fn not_utf8() -> Error {
    Error::BadRequest("The form is not UTF-8".to_owned())
}

fn not_in_charset() -> Error {
    Error::BadRequest("A field of the form is not valid in its charset".to_owned())
}

fn malformed() -> Error {
    Error::BadRequest("Malformed form data".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_may_be_encoded() {
        let cases = [
            ("form-data; name=\"file\"; filename*=utf-8''a%20b%C3%A4.png", Some("a bä.png")),
            ("form-data; filename=\"x\"; filename*=UTF-8'de'c.png", Some("c.png")),
            ("form-data; filename*=iso-8859-1''c.png", None),
            ("form-data; filename*=utf-8''%ff.png", None),
            ("form-data; filename*=c.png", None),
            ("form-data; filename=\"c.png\"", None),
            ("form-data; filename=\"ä\"; filename*=utf-8''b.png", Some("b.png")),
            ("form-data; filename=\"x; filename*=utf-8''b.png\"", None),
            (r#"form-data; filename="a\"b.png"; filename*=utf-8''c.png"#, Some("c.png")),
        ];
        for (disposition, name) in cases {
            let found =
                extended_file_name(&HeaderValue::from_bytes(disposition.as_bytes()).unwrap());
            assert_eq!(found.as_deref(), name, "{disposition}");
        }
    }
}
