//! HTTP requests to a server, and the errors that all responses have in common.

use std::{error::Error as _, sync::OnceLock, thread, time::Duration};

use cms_core::{
    Error, Result,
    ids::{IdSource as _, RandomIds},
    wire::{error::from_response, json},
};
use reqwest::{
    Method, StatusCode, Url,
    blocking::{Client, RequestBuilder, Response},
    header::{CONTENT_TYPE, RETRY_AFTER},
    redirect::Policy,
};
use serde::{Serialize, de::DeserializeOwned};

use super::path::BACKUP;
use crate::{
    failure::{self, Failure, FailureKind},
    target::{Edition, Target as _},
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A plan or a batch over a large type takes long.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_mins(5);
/// A backup copies the complete database before it responds: as long as proxies should wait, see
/// docs/how-to/deploy.md
const BACKUP_TIMEOUT: Duration = Duration::from_hours(1);
/// Attempts of a request that may be repeated.
const MAX_ATTEMPTS: u32 = 4;
/// The status of a request that may have been carried out or not.
const OUTCOME_UNKNOWN: u16 = 504;
/// Longest `Retry-After` that is obeyed.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(10);

/// The kind and the name of what a request is about, for "not found" errors.
pub(super) type Resource<'a> = (&'static str, &'a str);

pub(super) const SERVER: Resource<'_> = ("server", "");

/// A server and the key for it.
pub(crate) struct Remote {
    base: String,
    key: String,
    /// The profile that has the URL and the key.
    profile: Option<String>,
    client: OnceLock<Client>,
    /// The longest request body in bytes, if the server reports it.
    body_limit: OnceLock<Option<usize>>,
}

impl Remote {
    pub(crate) fn new(url: &str, key: Option<&str>) -> failure::Result<Self> {
        let is_web = |url: Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        if !Url::parse(url).is_ok_and(is_web) {
            return Err(Failure::usage(format!("server URL \"{url}\" is not valid"))
                .hint("use for example --server http://127.0.0.1:8080"));
        }
        let Some(key) = key else {
            return Err(Failure::from(FailureKind::Target(Error::Unauthenticated))
                .hint("set CMS_KEY, or use --key-file FILE"));
        };
        Ok(Self {
            base: url.trim_end_matches('/').to_owned(),
            key: key.to_owned(),
            profile: None,
            client: OnceLock::new(),
            body_limit: OnceLock::new(),
        })
    }

    /// Names the profile that the server comes from.
    pub(crate) fn of_profile(self, name: Option<&str>) -> Self {
        Self { profile: name.map(str::to_owned), ..self }
    }

    /// The URL, the profile if there is one, and the name of the key.
    pub(super) fn describe_with(&self, key: &str) -> String {
        let profile = self.profile.as_ref().map(|name| format!("profile \"{name}\", "));
        format!("{} ({}key \"{key}\")", self.base, profile.unwrap_or_default())
    }

    pub(super) fn client(&self) -> Result<&Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = new_client(RESPONSE_TIMEOUT)?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Sends a request and returns status and body of the response. An idempotent request is
    /// repeated when the server is busy.
    pub(super) fn send(
        &self,
        edition: Edition,
        method: &Method,
        path: &str,
        body: Option<&[u8]>,
        is_idempotent: bool,
    ) -> Result<(u16, Vec<u8>)> {
        self.read(self.open(edition, method, path, body, is_idempotent)?, is_idempotent)
    }

    /// Reads status and body of a response of cms; `is_idempotent`: so was the request.
    pub(super) fn read(&self, response: Response, is_idempotent: bool) -> Result<(u16, Vec<u8>)> {
        let status = response.status().as_u16();
        let bytes =
            response.bytes().map_err(|error| self.missing_response(&error, is_idempotent))?;
        self.require_cms_response(status, &bytes)?;
        Ok((status, bytes.to_vec()))
    }

    /// Reads the result of a response, or its error.
    pub(super) fn parse<T: DeserializeOwned>(
        &self,
        status: u16,
        bytes: &[u8],
        resource: Resource<'_>,
    ) -> Result<T> {
        check_status(status, bytes, resource)?;
        json::from_slice(bytes).map_err(|error| {
            if error.is_data() {
                Error::internal(format!("{}: the response is not valid: {error}", self.base))
            } else {
                self.not_a_cms_response(status, bytes)
            }
        })
    }

    /// Sends a request; the body of the response is not read.
    pub(super) fn open(
        &self,
        edition: Edition,
        method: &Method,
        path: &str,
        body: Option<&[u8]>,
        is_idempotent: bool,
    ) -> Result<Response> {
        send_repeatedly(is_idempotent, || {
            let mut request = self.request(method, path)?;
            if edition == Edition::Current {
                request = request.header("X-MODE", "preview");
            }
            let request = match body {
                Some(body) => with_json(request, body.to_vec()),
                None => request,
            };
            self.send_once(request, is_idempotent)
        })
    }

    /// Sends a request once.
    pub(super) fn send_once(
        &self,
        request: RequestBuilder,
        is_idempotent: bool,
    ) -> Result<Response> {
        request.send().map_err(|error| self.missing_response(&error, is_idempotent))
    }

    /// Refuses a body that is too large for the server. The server would respond before it has read the
    /// body, and close the connection, which can look like a failure of the server.
    pub(super) fn require_accepted_size(&self, body: &[u8]) -> Result<()> {
        let read = || self.auth_context().ok()?.limits.body_bytes;
        match self.body_limit.get_or_init(read) {
            Some(limit) if body.len() > *limit => Err(Error::BodyTooLarge),
            _ => Ok(()),
        }
    }

    /// Builds a request with the key. Reads are strictly consistent, because the previous command may have
    /// changed content on another node.
    ///
    /// # Errors
    /// [`Error::BadRequest`] if a name or id in the path is empty, or is `.` or `..`: `Url` resolves these,
    /// so the request would go to another path.
    pub(super) fn request(&self, method: &Method, path: &str) -> Result<RequestBuilder> {
        let mut segments = path.split('?').next().unwrap_or_default().split('/').skip(1);
        if segments.clone().any(str::is_empty) {
            return Err(Error::BadRequest("a name or id is empty".to_owned()));
        }
        if segments.any(|segment| segment == "." || segment == "..") {
            let message =
                "a URL cannot contain the ids . and ..: use --data, or requests for many objects";
            return Err(Error::BadRequest(message.to_owned()));
        }
        // The timeout of a request would include its complete body.
        let backup_client;
        let client = if path == BACKUP {
            backup_client = new_client(BACKUP_TIMEOUT)?;
            &backup_client
        } else {
            self.client()?
        };
        let request = client.request(method.clone(), format!("{}{path}", self.base));
        Ok(request.header("X-AUTH-TOKEN", &self.key).header("X-Read-Consistency", "strict"))
    }

    /// The URL of the server.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    pub(super) fn connection_closed(&self) -> Error {
        self.unreachable_because("closed the connection")
    }

    /// The error of a missing response. The server may have executed the request, which matters if it is not
    /// idempotent.
    pub(super) fn missing_response(&self, error: &reqwest::Error, is_idempotent: bool) -> Error {
        if is_idempotent || error.is_connect() {
            self.unreachable(error)
        } else {
            Error::OutcomeUnknown
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> Error {
        if error.is_timeout() {
            self.unreachable_because("did not respond in time")
        } else if error.is_connect() {
            // The root cause names a wrong host name, a closed port or an invalid certificate.
            self.unreachable_because(&format!("cannot be reached: {}", root_cause(error)))
        } else {
            self.connection_closed()
        }
    }

    fn unreachable_because(&self, reason: &str) -> Error {
        Error::Unreachable(format!("{} {reason}", self.base))
    }

    /// Replaces "not found" by the error of a missing type: the API has one response for both.
    pub(super) fn check_type<T>(&self, content_type: &str, result: Result<T>) -> Result<T> {
        match result {
            Err(Error::NotFound { what, name }) => match self.get_type(content_type) {
                Err(missing @ Error::NotFound { .. }) => Err(missing),
                _ => Err(Error::NotFound { what, name }),
            },
            other => other,
        }
    }

    pub(super) fn request_json<T: DeserializeOwned>(
        &self,
        method: &Method,
        path: &str,
        body: Option<&[u8]>,
        resource: Resource<'_>,
    ) -> Result<T> {
        let is_idempotent = *method == Method::GET;
        let (status, bytes) = self.send(Edition::Current, method, path, body, is_idempotent)?;
        self.parse(status, &bytes, resource)
    }

    /// Sends a request about an object of a type.
    pub(super) fn request_object<T: DeserializeOwned>(
        &self,
        method: &Method,
        path: &str,
        body: Option<&[u8]>,
        (content_type, id): (&str, &str),
    ) -> Result<T> {
        let name = format!("{content_type}/{id}");
        let response = self.request_json(method, path, body, ("object", &name));
        self.check_type(content_type, response)
    }

    pub(super) fn get<T: DeserializeOwned>(&self, path: &str, resource: Resource<'_>) -> Result<T> {
        self.request_json(&Method::GET, path, None, resource)
    }

    pub(super) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        resource: Resource<'_>,
    ) -> Result<T> {
        self.request_json(&Method::POST, path, Some(&text(body)?), resource)
    }

    /// Sends a POST request that creates something, with an `Idempotency-Key`, and repeats it once if
    /// its outcome is unknown. For paths that support the header.
    pub(super) fn create<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        resource: Resource<'_>,
    ) -> Result<T> {
        let (key, body) = (RandomIds.uuid(), text(body)?);
        let send = || {
            let request = self.request(&Method::POST, path)?.header("X-MODE", "preview");
            let request = with_json(request, body.clone()).header("Idempotency-Key", &key);
            self.send_once(request, false)
        };
        let send_and_read = || self.read(send_repeatedly(false, send)?, false);
        let (status, bytes) = match send_and_read() {
            Ok((OUTCOME_UNKNOWN, _)) | Err(Error::OutcomeUnknown) => send_and_read()?,
            response => response?,
        };
        self.parse(status, &bytes, resource)
    }

    /// Sends a DELETE request; the response has no body.
    pub(super) fn delete(&self, path: &str, resource: Resource<'_>) -> Result<()> {
        let (status, bytes) = self.send(Edition::Current, &Method::DELETE, path, None, false)?;
        check_status(status, &bytes, resource)
    }

    /// Sends an idempotent POST request; the response has no body.
    pub(super) fn post_action(
        &self,
        path: &str,
        body: Option<&[u8]>,
        resource: Resource<'_>,
    ) -> Result<()> {
        let (status, bytes) = self.send(Edition::Current, &Method::POST, path, body, true)?;
        check_status(status, &bytes, resource)
    }
}

/// Creates a client. The timeout covers a request up to its response, and then each read of the body.
fn new_client(timeout: Duration) -> Result<Client> {
    // Fails only when a provider is installed already.
    rustls::crypto::ring::default_provider().install_default().ok();
    let client = Client::builder()
        .user_agent(concat!("cms/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(timeout)
        .redirect(Policy::none());
    client.build().map_err(Error::internal)
}

/// Returns the innermost cause of an error, usually the message of the operating system.
pub(super) fn root_cause(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(next) = cause.and_then(|cause| cause.source()) {
        cause = Some(next);
    }
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}

/// Adds a JSON body.
pub(super) fn with_json(request: RequestBuilder, body: Vec<u8>) -> RequestBuilder {
    request.header(CONTENT_TYPE, "application/json").body(body)
}

pub(super) fn text(body: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(body).map_err(Error::internal)
}

/// Converts an error response.
pub(super) fn check_status(status: u16, bytes: &[u8], (what, name): Resource<'_>) -> Result<()> {
    if status < 300 { Ok(()) } else { Err(from_response(status, bytes, what, name)) }
}

/// Calls `send` to send a request. Repeats a request that the server refused with 429, which it has not executed;
/// with `also_503`, repeats it also after 503, when it may have been executed.
pub(super) fn send_repeatedly(
    also_503: bool,
    send: impl Fn() -> Result<Response>,
) -> Result<Response> {
    let mut attempt = 1;
    loop {
        let response = send()?;
        let may_be_repeated = match response.status() {
            StatusCode::TOO_MANY_REQUESTS => true,
            StatusCode::SERVICE_UNAVAILABLE => also_503,
            _ => false,
        };
        if !may_be_repeated || attempt == MAX_ATTEMPTS {
            return Ok(response);
        }
        thread::sleep(retry_delay(&response));
        attempt += 1;
    }
}

/// The delay that a busy server requests.
fn retry_delay(response: &Response) -> Duration {
    let seconds =
        response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(1)).min(MAX_RETRY_DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_url_needs_a_scheme_and_a_host() {
        for url in ["", "localhost:8080", "ftp://x", "http://", "/data"] {
            assert!(Remote::new(url, Some("k")).is_err(), "{url}");
        }
        assert_eq!(Remote::new("http://h:1/p/", Some("k")).unwrap().base, "http://h:1/p");
        assert_eq!(Remote::new("http://h", None).err().unwrap().exit_code(), 3);
    }
}
