//! Sending requests to a server, and what its answers say whatever was asked.

use std::{sync::OnceLock, thread, time::Duration};

use cms_core::{Error, Result, wire::error::from_response};
use reqwest::{
    Method, Url,
    blocking::{Client, RequestBuilder, Response},
    header::{CONTENT_TYPE, RETRY_AFTER},
    redirect::Policy,
};
use serde::{Serialize, de::DeserializeOwned};

use super::about::About;
use crate::{
    failure::{self, Failure, FailureKind},
    target::Edition,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A plan or a batch over a large type takes its time.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_mins(5);
/// Attempts of a request that may be repeated.
const ATTEMPTS: u32 = 4;
/// Longest pause that a server can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A server and the key for it.
pub(crate) struct Remote {
    base: String,
    key: String,
    client: OnceLock<Client>,
}

impl Remote {
    pub(crate) fn new(url: &str, key: Option<&str>) -> failure::Result<Self> {
        let parsed = Url::parse(url)
            .ok()
            .filter(|parsed| matches!(parsed.scheme(), "http" | "https") && parsed.has_host());
        if parsed.is_none() {
            return Err(Failure::usage(format!("\"{url}\" is not the URL of a server"))
                .hint("for example --server http://127.0.0.1:8080"));
        }
        let Some(key) = key else {
            return Err(Failure::from(FailureKind::Target(Error::Unauthenticated))
                .hint("set CMS_KEY, or name a file with --key-file"));
        };
        Ok(Self {
            base: url.trim_end_matches('/').to_owned(),
            key: key.to_owned(),
            client: OnceLock::new(),
        })
    }

    fn client(&self) -> Result<&Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Fails only when a provider is installed already, which is as good.
        rustls::crypto::ring::default_provider().install_default().ok();
        let client = Client::builder()
            .user_agent(concat!("cms/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(RESPONSE_TIMEOUT)
            .redirect(Policy::none())
            .build()
            .map_err(|error| Error::Internal(Box::new(error)))?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Sends a request and returns status and body of the answer. Only what is `safe` to do twice
    /// is repeated when the server is busy.
    pub(super) fn send(
        &self,
        method: &Method,
        path: &str,
        body: Option<&[u8]>,
        safe: bool,
    ) -> Result<(u16, Vec<u8>)> {
        self.send_for(Edition::Current, method, path, body, safe)
    }

    pub(super) fn send_for(
        &self,
        edition: Edition,
        method: &Method,
        path: &str,
        body: Option<&[u8]>,
        safe: bool,
    ) -> Result<(u16, Vec<u8>)> {
        self.read(self.answer(edition, method, path, body, safe)?)
    }

    /// Reads status and body of a response.
    pub(super) fn read(&self, response: Response) -> Result<(u16, Vec<u8>)> {
        let status = response.status().as_u16();
        let bytes = response.bytes().map_err(|error| self.unreachable(&error))?;
        Ok((status, bytes.to_vec()))
    }

    /// Sends a request; the body of the answer is still to be read.
    pub(super) fn answer(
        &self,
        edition: Edition,
        method: &Method,
        path: &str,
        body: Option<&[u8]>,
        safe: bool,
    ) -> Result<Response> {
        for attempt in 1.. {
            let mut request = self.request(method, path)?;
            if edition == Edition::Current {
                request = request.header("X-MODE", "preview");
            }
            if let Some(body) = body {
                request = with_json(request, body.to_vec());
            }
            let answer = request.send().map_err(|error| self.unreachable(&error))?;
            if safe && attempt < ATTEMPTS && matches!(answer.status().as_u16(), 429 | 503) {
                thread::sleep(pause(&answer));
                continue;
            }
            return Ok(answer);
        }
        unreachable!("the loop ends by returning")
    }

    /// Begins a request that carries the key.
    pub(super) fn request(&self, method: &Method, path: &str) -> Result<RequestBuilder> {
        let url = format!("{}{path}", self.base);
        Ok(self.client()?.request(method.clone(), url).header("X-AUTH-TOKEN", &self.key))
    }

    /// Begins a request that carries the key and a JSON body.
    pub(super) fn json_request(
        &self,
        method: &Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<RequestBuilder> {
        Ok(with_json(self.request(method, path)?, body))
    }

    /// The server, for people.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    pub(super) fn broken_off(&self) -> Error {
        self.without_answer("broke the connection off")
    }

    /// Why there is no answer, without what would differ from one machine to the next.
    pub(super) fn unreachable(&self, error: &reqwest::Error) -> Error {
        if error.is_timeout() {
            self.without_answer("did not answer in time")
        } else if error.is_connect() {
            self.without_answer("cannot be reached")
        } else {
            self.broken_off()
        }
    }

    fn without_answer(&self, reason: &str) -> Error {
        Error::Unreachable(format!("{} {reason}", self.base))
    }

    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        method: &Method,
        path: &str,
        body: Option<&[u8]>,
        about: About<'_>,
    ) -> Result<T> {
        let safe = *method == Method::GET;
        let (status, bytes) = self.send(method, path, body, safe)?;
        parse(status, &bytes, about)
    }

    pub(super) fn get<T: DeserializeOwned>(&self, path: &str, about: About<'_>) -> Result<T> {
        self.ask(&Method::GET, path, None, about)
    }

    pub(super) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        about: About<'_>,
    ) -> Result<T> {
        self.ask(&Method::POST, path, Some(&text(body)?), about)
    }

    /// Deletes; the answer has no body.
    pub(super) fn delete(&self, path: &str, about: About<'_>) -> Result<()> {
        let (status, bytes) = self.send(&Method::DELETE, path, None, false)?;
        done(status, &bytes, about)
    }

    /// Brings something into a state in which it may be already; the answer has no body.
    pub(super) fn bring(&self, path: &str, body: Option<&[u8]>, about: About<'_>) -> Result<()> {
        let (status, bytes) = self.send(&Method::POST, path, body, true)?;
        done(status, &bytes, about)
    }
}

fn with_json(request: RequestBuilder, body: Vec<u8>) -> RequestBuilder {
    request.header(CONTENT_TYPE, "application/json").body(body)
}

pub(super) fn text(body: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(body).map_err(|error| Error::Internal(Box::new(error)))
}

/// Whether the answer says that something was done.
pub(super) fn done(status: u16, bytes: &[u8], about: About<'_>) -> Result<()> {
    if status < 300 { Ok(()) } else { Err(from_response(status, bytes, about.what, about.name)) }
}

pub(super) fn parse<T: DeserializeOwned>(status: u16, bytes: &[u8], about: About<'_>) -> Result<T> {
    done(status, bytes, about)?;
    serde_json::from_slice(bytes)
        .map_err(|error| Error::internal(format!("the server's answer cannot be read: {error}")))
}

/// How long a busy server wants to be left alone.
fn pause(answer: &Response) -> Duration {
    let seconds =
        answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(1)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_servers_are_taken() {
        for url in ["", "localhost:8080", "ftp://x", "http://", "/data"] {
            assert!(Remote::new(url, Some("k")).is_err(), "{url}");
        }
        assert_eq!(Remote::new("http://h:1/p/", Some("k")).unwrap().base, "http://h:1/p");
        assert_eq!(Remote::new("http://h", None).err().unwrap().exit_code(), 3);
    }
}
