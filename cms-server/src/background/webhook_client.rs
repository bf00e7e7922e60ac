//! The HTTP client of webhooks: it connects only to public addresses, unless the operator allows
//! private ones, and follows no redirects.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use cms_core::{Exchange, WebhookOutcome, error::causes, wire::webhook::LoggedHeaders};
use reqwest::{
    Client, Response, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{
        ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, MaxSizeReached, USER_AGENT,
    },
};

use super::public_address::is_globally_routable;
use crate::{net::http_client, state::App};

/// Names of headers that are ignored in the configuration of a webhook.
const RESERVED_HEADERS: [&str; 8] = [
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// A request to a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    pub(super) url: &'a str,
    /// Of several headers with one name, the last is sent.
    pub(super) headers: &'a [(String, String)],
    pub(super) body: &'a str,
    /// Timeout until the end of the response.
    pub(super) timeout: Duration,
    /// Bytes of the response that are read.
    pub(super) max_response_bytes: usize,
}

/// A client that is created for the first request.
#[derive(Debug)]
pub(super) struct WebhookClient {
    allow_private: bool,
    allow_http: bool,
    client: OnceLock<Result<Client, String>>,
}

impl WebhookClient {
    pub(super) fn new(app: &App) -> Self {
        let allow_http = app.cms.config().http_webhooks;
        Self { allow_private: app.config.webhook_private, allow_http, client: OnceLock::new() }
    }

    /// Sends a request, once.
    pub(super) async fn send(&self, request: Request<'_>) -> (WebhookOutcome, Exchange) {
        let (started, mut exchange) = (Instant::now(), Exchange::default());
        let outcome = match self.try_send(request, &mut exchange).await {
            Ok((status, body)) => WebhookOutcome::Response(status, body),
            Err(reason) => WebhookOutcome::NoResponse(reason),
        };
        exchange.duration = started.elapsed();
        (outcome, exchange)
    }

    async fn try_send(
        &self,
        request: Request<'_>,
        exchange: &mut Exchange,
    ) -> Result<(u16, Vec<u8>), String> {
        let url = Url::parse(request.url).map_err(|_| "the address is not valid".to_owned())?;
        if url.scheme() != "https" && !self.allow_http {
            return Err("the address is not https".to_owned());
        }
        self.check_literal_address(&url)?;
        let client = self.client()?;
        let post = client
            .post(url)
            .timeout(request.timeout)
            .headers(headers(request.headers).map_err(|_| "too many headers".to_owned())?)
            .body(request.body.to_owned())
            .build()
            .map_err(|error| reason(&error))?;
        exchange.request_headers = Some(logged(post.headers()));
        let response = client.execute(post).await.map_err(|error| reason(&error))?;
        exchange.response_headers = Some(logged(response.headers()));
        let status = response.status().as_u16();
        let body =
            read(response, request.max_response_bytes).await.map_err(|error| reason(&error))?;
        Ok((status, body))
    }

    /// Refuses a URL with a private IP address as its host: the resolver sees host names only.
    fn check_literal_address(&self, url: &Url) -> Result<(), String> {
        let host = url.host_str().unwrap_or_default();
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        let is_refused =
            !self.allow_private && literal.is_ok_and(|address| !is_globally_routable(address));
        if is_refused { Err(private_host(host)) } else { Ok(()) }
    }

    fn client(&self) -> Result<&Client, String> {
        let client = self.client.get_or_init(|| {
            let builder = http_client::builder()
                // The log shows the headers of the response as they were received.
                .no_gzip()
                .dns_resolver(Arc::new(Resolver { allow_private: self.allow_private }));
            builder.build().map_err(|error| format!("no requests can be sent: {}", reason(&error)))
        });
        client.as_ref().map_err(Clone::clone)
    }
}

/// Resolves host names to public addresses. The client connects to these addresses only, so a host
/// name cannot resolve to another address after the check.
struct Resolver {
    allow_private: bool,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let name = name.as_str();
            let found = tokio::net::lookup_host((name, 0)).await?;
            let is_allowed = |found: &SocketAddr| allow_private || is_globally_routable(found.ip());
            let allowed: Vec<SocketAddr> = found.filter(is_allowed).collect();
            if allowed.is_empty() {
                return Err(private_host(name).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// The error of a host without a public address.
fn private_host(host: &str) -> String {
    format!("{host} is not an address of the public internet")
}

fn headers(configured: &[(String, String)]) -> Result<HeaderMap, MaxSizeReached> {
    let mut headers = HeaderMap::new();
    headers
        .insert(USER_AGENT, HeaderValue::from_static(concat!("cms/", env!("CARGO_PKG_VERSION"))));
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    for (name, value) in configured {
        let read = (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str()));
        if let (Ok(name), Ok(value)) = read
            && !RESERVED_HEADERS.contains(&name.as_str())
        {
            headers.try_insert(name, value)?;
        }
    }
    headers.try_insert(CONTENT_TYPE, HeaderValue::from_static("application/json"))?;
    Ok(headers)
}

fn logged(headers: &HeaderMap) -> LoggedHeaders {
    LoggedHeaders::of(headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())))
}

/// Reads the start of a body.
async fn read(mut response: Response, limit: usize) -> reqwest::Result<Vec<u8>> {
    let mut body = Vec::new();
    while body.len() < limit
        && let Some(chunk) = response.chunk().await?
    {
        body.extend_from_slice(&chunk[..chunk.len().min(limit - body.len())]);
    }
    Ok(body)
}

/// Returns why there is no response: the innermost cause, without the URL, which may contain a
/// password.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no response within the timeout".to_owned();
    }
    let cause = causes(error).skip(1).last();
    cause.map_or_else(|| "the connection failed".to_owned(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_headers_are_an_error() {
        let many: Vec<_> =
            (0..40_000).map(|number| (format!("x-{number}"), String::new())).collect();
        assert!(headers(&many).is_err());
        assert_eq!(headers(&many[..100]).unwrap().len(), 103);
    }
}
