//! Files on their way to a server and back, of which only a piece is in memory at a time.

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
};
use serde_json::Value;

use super::{
    super::{FileUpload, reading_failed},
    Edition, Remote,
    about::type_named,
    path::{BACKUP, MEDIA, file_path},
    sending::{RESPONSE_TIMEOUT, parse},
};

/// The slowest line that an upload waits for, in bytes per second.
const SLOWEST: u64 = 64 * 1024;

impl Remote {
    pub(super) fn send_file(&self, file: FileUpload, request: &UploadRequest) -> Result<Value> {
        let time = RESPONSE_TIMEOUT + Duration::from_secs(file.size / SLOWEST);
        let answer = self
            .request(&Method::POST, MEDIA)?
            .timeout(time)
            .multipart(form(file, request))
            .send()
            .map_err(|error| self.not_sent(&error))?;
        let status = answer.status().as_u16();
        let bytes = answer.bytes().map_err(|error| self.unreachable(&error))?;
        parse(status, &bytes, type_named("_media"))
    }

    /// Why a file was not sent. A server that answers before it has all of it is not heard.
    fn not_sent(&self, error: &reqwest::Error) -> Error {
        let source = error.source();
        if let Some(reason) = source.and_then(|source| source.downcast_ref::<io::Error>()) {
            return Error::internal(format!("the file cannot be read: {reason}"));
        }
        if !error.is_body() {
            return self.unreachable(error);
        }
        self.refused().unwrap_or_else(|error| error)
    }

    /// Asks again, without the file: what a server then still has against it is not its size.
    fn refused(&self) -> Result<Error> {
        let asked = self.request(&Method::POST, MEDIA)?;
        let answer =
            asked.timeout(RESPONSE_TIMEOUT).multipart(Form::new().text("save", "0")).send();
        let answer = answer.map_err(|error| self.unreachable(&error))?;
        let status = answer.status().as_u16();
        let bytes = answer.bytes().map_err(|error| self.unreachable(&error))?;
        Ok(match from_response(status, &bytes, "content type", "_media") {
            Error::Invalid(_) => Error::BadRequest(
                "The file is larger than what the server takes in one request (its --upload-limit)"
                    .to_owned(),
            ),
            error => error,
        })
    }

    /// Takes as long as something comes: how much there is to come nobody knows.
    pub(super) fn fetch_backup(&self, output: &mut dyn Write) -> Result<()> {
        let answer = self.answer(Edition::Current, &Method::GET, BACKUP, None, true)?;
        let status = answer.status().as_u16();
        if status >= 300 {
            let bytes = answer.bytes().map_err(|error| self.unreachable(&error))?;
            return Err(from_response(status, &bytes, "backup", ""));
        }
        let mut download = Download { server: self, answer };
        io::copy(&mut download, output).map_err(reading_failed)?;
        Ok(())
    }

    pub(super) fn stored_file(&self, id: &str, extension: &str) -> Result<Box<dyn Read + '_>> {
        let path = file_path(id, extension);
        let answer = self.answer(Edition::Current, &Method::GET, &path, None, true)?;
        let status = answer.status().as_u16();
        if status < 300 {
            return Ok(Box::new(Download { server: self, answer }));
        }
        let bytes = answer.bytes().map_err(|error| self.unreachable(&error))?;
        Err(from_response(status, &bytes, "file", id))
    }
}

/// The fields of contract 7.1, and ours.
fn form(file: FileUpload, request: &UploadRequest) -> Form {
    // Names as they are, which is how browsers send them.
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
    let part = Part::reader_with_length(file.content, file.size);
    form.part("file", part.file_name(request.file_name.clone()))
}

/// The body of an answer.
struct Download<'r> {
    server: &'r Remote,
    answer: Response,
}

impl Read for Download<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.answer.read(buffer).map_err(|_| io::Error::other(self.server.broken_off()))
    }
}
