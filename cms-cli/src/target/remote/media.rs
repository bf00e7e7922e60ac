//! Uploads and downloads, streamed in chunks.

use std::{
    error::Error as _,
    io::{self, Read, Write},
    time::Duration,
};

use cms_core::{
    Error, Result,
    wire::{error::from_response, media::UploadRequest},
};
use reqwest::{
    Method,
    blocking::{
        Response,
        multipart::{Form, Part},
    },
    header::CONTENT_TYPE,
};
use serde_json::Value;

use super::{
    super::{FileUpload, read_error},
    Edition, Remote,
    http::{RESPONSE_TIMEOUT, send_repeatedly},
    path::{BACKUP, MEDIA, file_path},
};

/// The transfer rate that the timeout of an upload assumes, in bytes per second.
const MIN_UPLOAD_RATE: u64 = 64 * 1024;

impl Remote {
    pub(super) fn send_file(&self, file: &FileUpload, request: &UploadRequest) -> Result<Value> {
        // With an id, a repeated upload changes nothing.
        let is_idempotent = request.id.is_some();
        let time = RESPONSE_TIMEOUT + Duration::from_secs(file.size / MIN_UPLOAD_RATE);
        let response = send_repeatedly(false, || {
            self.request(&Method::POST, MEDIA)?
                .timeout(time)
                .multipart(form(file, request)?)
                .send()
                .map_err(|error| self.upload_error(&error, is_idempotent))
        })?;
        let (status, bytes) = self.read(response, is_idempotent)?;
        self.parse(status, &bytes, ("content type", "_media"))
    }

    /// The error of an upload. A response that comes before the end of the request is lost.
    fn upload_error(&self, error: &reqwest::Error, is_idempotent: bool) -> Error {
        let source = error.source();
        if let Some(reason) = source.and_then(|source| source.downcast_ref::<io::Error>()) {
            return Error::internal(format!("cannot read the file: {reason}"));
        }
        if !error.is_body() {
            return self.missing_response(error, is_idempotent);
        }
        self.error_without_file().unwrap_or_else(|error| error)
    }

    /// Sends the request again without the file: an error that remains is not about its size.
    fn error_without_file(&self) -> Result<Error> {
        let request = self.request(&Method::POST, MEDIA)?;
        let request = request.timeout(RESPONSE_TIMEOUT).multipart(Form::new().text("save", "0"));
        let (status, bytes) = self.read(self.send_once(request, true)?, true)?;
        Ok(match from_response(status, &bytes, "content type", "_media") {
            Error::Invalid(_) => Error::BadRequest(
                "The file exceeds the upload limit of the server (--upload-limit)".to_owned(),
            ),
            error => error,
        })
    }

    /// Downloads a backup of unknown size.
    pub(super) fn fetch_backup(&self, output: &mut dyn Write) -> Result<()> {
        let response = self.open(Edition::Current, &Method::GET, BACKUP, None, true)?;
        let media_type = response.headers().get(CONTENT_TYPE);
        let is_page = media_type.is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
        if !response.status().is_success() || is_page {
            let (status, bytes) = self.read(response, true)?;
            return Err(from_response(status, &bytes, "backup", ""));
        }
        let mut download = Download { server: self, response };
        io::copy(&mut download, output).map_err(read_error)?;
        Ok(())
    }

    pub(super) fn stored_file(&self, id: &str, extension: &str) -> Result<Box<dyn Read + '_>> {
        let path = file_path(id, extension);
        let response = self.open(Edition::Current, &Method::GET, &path, None, true)?;
        if response.status().is_success() {
            return Ok(Box::new(Download { server: self, response }));
        }
        let (status, bytes) = self.read(response, true)?;
        Err(from_response(status, &bytes, "file", id))
    }
}

/// The fields of an upload request.
fn form(file: &FileUpload, request: &UploadRequest) -> Result<Form> {
    // Like browsers, without percent-encoding of names.
    let mut form = Form::new().percent_encode_noop();
    form = form.text("save", if request.save { "1" } else { "0" });
    let fields = [
        ("type", &request.kind),
        ("id", &request.id),
        ("alt", &request.alt),
        ("title", &request.title),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            form = form.text(name, value.clone());
        }
    }
    for tag in &request.tags {
        form = form.text("tags", tag.clone());
    }
    let content = (file.open)().map_err(read_error)?;
    let part = Part::reader_with_length(content, file.size);
    Ok(form.part("file", part.file_name(request.file_name.clone())))
}

/// The body of a response.
struct Download<'r> {
    server: &'r Remote,
    response: Response,
}

impl Read for Download<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.response.read(buffer).map_err(|_| io::Error::other(self.server.connection_closed()))
    }
}
