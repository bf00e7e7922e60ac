//! The HTTP client of the issuer. It follows no redirects, and reads responses of limited size.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, OnceLock},
};

use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use reqwest::Client;

use super::REQUEST_TIMEOUT;
use crate::net::http_client;

/// Maximum size of a response.
const MAX_RESPONSE_BYTES: usize = 1024 * 1024;

/// A client that is created for the first request.
#[derive(Default)]
pub(super) struct HttpClient(OnceLock<Result<Client, HttpError>>);

/// Why there is no response.
#[derive(Clone, Debug)]
pub(super) enum HttpError {
    Request(Arc<reqwest::Error>),
    TooLarge,
}

impl HttpClient {
    /// Sends a request, once.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let mut response = self.client()?.execute(request.try_into()?).await?;
        let mut received = HttpResponse::new(Vec::new());
        *received.status_mut() = response.status();
        *received.headers_mut() = response.headers().clone();
        while let Some(chunk) = response.chunk().await? {
            let body = received.body_mut();
            if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
                return Err(HttpError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(received)
    }

    fn client(&self) -> Result<&Client, HttpError> {
        let client = self.0.get_or_init(|| {
            let builder = http_client::builder()
                .user_agent(concat!("cms/", env!("CARGO_PKG_VERSION")))
                .timeout(REQUEST_TIMEOUT);
            Ok(builder.build()?)
        });
        client.as_ref().map_err(Clone::clone)
    }
}

impl<'c> AsyncHttpClient<'c> for HttpClient {
    type Error = HttpError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}

impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> Self {
        Self::Request(Arc::new(error.without_url()))
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) if error.is_timeout() => {
                f.write_str("no response within the timeout")
            }
            Self::Request(error) => error.fmt(f),
            Self::TooLarge => write!(f, "the response has more than {MAX_RESPONSE_BYTES} bytes"),
        }
    }
}

impl std::error::Error for HttpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Request(error) => error.source(),
            Self::TooLarge => None,
        }
    }
}
