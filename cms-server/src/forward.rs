//! Forwards writes to the writer node of the cluster (the one with the lease): only writes of one node share
//! commits, and commits of several nodes wait for each other. Forwarding is an optimization: every node may
//! write.
//!
//! The other node does everything else, from authentication to the response, as if the client had
//! sent the request there. A forwarded request is never forwarded again.

use std::{
    net::IpAddr,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, HttpBody},
    http::{self, HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header, request::Parts},
};
use bytes::Bytes;
use cms_core::{Cluster, Error, Result, WriterNode};
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use reqwest::{Client, Url};
use tokio::{sync::Semaphore, time};

use crate::{
    net::http_client,
    response::Response,
    server::BUFFER_BYTES,
    state::{App, REQUEST_ID},
};

/// The token of the node that gets the request, and the address of the client after a space.
pub(crate) const FORWARDED: HeaderName = HeaderName::from_static("x-cms-forwarded");

/// Maximum number of requests that are forwarded at the same time.
const MAX_REQUESTS: usize = 256;
/// How long a request waits for a permit while [`MAX_REQUESTS`] are being forwarded.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Maximum number of headers of a forwarded request. The HTTP library accepts 100, and its client adds
/// some: `Accept`, and those about the body.
const MAX_HEADERS: usize = 96;
/// Maximum size of the path, the query and the headers of a forwarded request.
const MAX_HEAD_BYTES: usize = BUFFER_BYTES - 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Shorter than the idle timeout of the other node, so that it does not close a pooled connection just
/// as a request is sent on it.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for a response, after the time that the client has for its body: a change of many objects takes
/// long.
const RESPONSE_TIMEOUT: Duration = Duration::from_mins(5);

/// Time for a response after another node has become the writer: the former writer may be finishing its
/// requests, or be paused and never respond.
const FORMER_WRITER_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval between two checks of which node is the writer.
const WRITER_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Headers of one connection, which end at this node.
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The connections to the writer node.
pub(crate) struct Forwarding {
    client: OnceLock<std::result::Result<Client, String>>,
    permits: Semaphore,
}

impl Default for Forwarding {
    fn default() -> Self {
        Self { client: OnceLock::new(), permits: Semaphore::new(MAX_REQUESTS) }
    }
}

/// Returns the address of the client, if another node has forwarded a request.
pub(crate) fn client_address(app: &App, headers: &HeaderMap) -> Option<IpAddr> {
    let (token, address) = headers.get(FORWARDED)?.to_str().ok()?.split_once(' ')?;
    let is_node = app.cms.cluster().is_some_and(|cluster| cluster.has_token(token.as_bytes()));
    if is_node { address.parse().ok() } else { None }
}

/// Returns the node that a write is forwarded to; none if this node handles the write.
pub(crate) fn target(cluster: Cluster<'_>, headers: &HeaderMap) -> Option<WriterNode> {
    if headers.contains_key(FORWARDED) { None } else { cluster.writer() }
}

impl Forwarding {
    /// Sends a request to another node. Returns none, with the body unread, if the node cannot be
    /// reached, the path cannot be sent unchanged, or the head would exceed the limits of the other node:
    /// then this node handles the request.
    ///
    /// # Errors
    /// [`Error::OutcomeUnknown`] if the connection breaks later.
    pub(crate) async fn send(
        &self,
        app: &App,
        writer: &WriterNode,
        (parts, client): (&Parts, Option<IpAddr>),
        request_id: &HeaderValue,
        body: &mut Body,
    ) -> Result<Option<Response>> {
        let Some(url) = url(writer, &parts.uri) else { return Ok(None) };
        let headers = headers(parts, writer, client, request_id);
        if !is_within_limits(&url, &headers) {
            return Ok(None);
        }
        let permit = time::timeout(MAX_WAIT, self.permits.acquire()).await;
        let Ok(Ok(_permit)) = permit else {
            return Err(Error::Busy("too many forwarded writes".to_owned()));
        };
        let shared_body = Arc::new(Mutex::new(std::mem::take(body)));
        let request = self
            .client(app)?
            .request(parts.method.clone(), url)
            .headers(headers)
            .body(reqwest::Body::wrap(ForwardedBody(Arc::clone(&shared_body))));
        let sent = tokio::select! {
            sent = request.send() => sent.map_err(Some),
            () = wait_until_replaced(app, writer) => Err(None),
        };
        // What the other node has not read is still to be read from the connection of the client.
        *body = std::mem::take(&mut shared_body.lock());
        let (result, response) = match sent {
            Ok(response) => ("responded", Ok(Some(received(response)))),
            Err(error) => {
                let is_sent = error.as_ref().is_none_or(|error| !error.is_connect());
                let reason = error.map_or_else(|| "no response".to_owned(), |e| e.to_string());
                tracing::warn!(node = writer.name, reason, "write forwarding failed");
                if is_sent {
                    ("unknown", Err(Error::OutcomeUnknown))
                } else {
                    ("unreachable", Ok(None))
                }
            }
        };
        app.metrics.count_forwarded(result);
        response
    }

    fn client(&self, app: &App) -> Result<&Client> {
        let client = self.client.get_or_init(|| {
            let builder = http_client::builder()
                // Bodies pass unchanged.
                .no_gzip()
                .connect_timeout(CONNECT_TIMEOUT)
                .pool_idle_timeout(POOL_IDLE_TIMEOUT)
                .timeout(app.config.request_timeout + RESPONSE_TIMEOUT);
            builder.build().map_err(|error| error.to_string())
        });
        client.as_ref().map_err(|reason| Error::internal(reason.clone()))
    }
}

/// Returns the URL of a request on another node; none if the client library would send another path. It
/// resolves the segments `.` and `..`, which are valid ids, even when they are encoded.
fn url(writer: &WriterNode, uri: &Uri) -> Option<Url> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let url = Url::parse(&format!("{}{path}", writer.address.trim_end_matches('/'))).ok()?;
    url.path().ends_with(uri.path()).then_some(url)
}

/// Waits until `writer` is no longer the writer node, then for the time in which it may finish its requests.
async fn wait_until_replaced(app: &App, writer: &WriterNode) {
    while app.cms.cluster().and_then(|cluster| cluster.writer()).as_ref() == Some(writer) {
        time::sleep(WRITER_CHECK_INTERVAL).await;
    }
    time::sleep(FORMER_WRITER_TIMEOUT).await;
}

/// The headers of a request for another node: those of the client with its `Host`, and [`FORWARDED`].
fn headers(
    parts: &Parts,
    writer: &WriterNode,
    client: Option<IpAddr>,
    request_id: &HeaderValue,
) -> HeaderMap {
    let mut headers = end_to_end(&parts.headers);
    if !headers.contains_key(header::HOST)
        && let Some(host) = parts.uri.authority()
        && let Ok(host) = HeaderValue::try_from(host.as_str())
    {
        // HTTP/2 has the host in the URI.
        headers.insert(header::HOST, host);
    }
    let client = client.map_or_else(String::new, |address| address.to_string());
    if let Ok(mut forwarded) = HeaderValue::try_from(format!("{} {client}", writer.token)) {
        forwarded.set_sensitive(true);
        headers.insert(FORWARDED, forwarded);
    }
    headers.insert(REQUEST_ID, request_id.clone());
    headers
}

/// Returns whether another node accepts the head of a request. This node has accepted it without the
/// added headers, and on HTTP/2 any number of headers.
fn is_within_limits(url: &Url, headers: &HeaderMap) -> bool {
    // Each line has four bytes more.
    let lines = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    headers.len() <= MAX_HEADERS && url.as_str().len() + lines.sum::<usize>() <= MAX_HEAD_BYTES
}

fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
    headers
}

/// The response of another node.
fn received(response: reqwest::Response) -> Response {
    let (parts, body) = http::Response::from(response).into_parts();
    let length = match parts.status {
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED => Some(0),
        _ => body.size_hint().exact(),
    };
    let mut headers = end_to_end(&parts.headers);
    // This server sets both headers in each response.
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::DATE);
    Response::received(parts.status, &headers, length, Body::new(body.map_err(axum::Error::new)))
}

/// The body of a request, shared with [`Forwarding::send`], which takes it back if nothing of it was sent.
struct ForwardedBody(Arc<Mutex<Body>>);

impl HttpBody for ForwardedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut *self.0.lock()).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_that_the_other_node_would_refuse_is_not_forwarded() {
        let url = Url::parse("http://one:8080/a").unwrap();
        for (number, bytes, expected) in
            [(1, 1, true), (96, 1, true), (97, 1, false), (4, 32_000, true), (4, 33_000, false)]
        {
            let headers = (0..number).map(|number| {
                let name = HeaderName::try_from(format!("x-{number}")).unwrap();
                (name, HeaderValue::try_from("x".repeat(bytes)).unwrap())
            });
            let is_within = is_within_limits(&url, &headers.collect());
            assert_eq!(is_within, expected, "{number} headers of {bytes} bytes");
        }
    }

    #[test]
    fn path_that_the_client_library_would_change_is_not_forwarded() {
        let writer = WriterNode {
            name: "one".to_owned(),
            address: "http://one:8080/".to_owned(),
            token: String::new(),
        };
        let url = |path: &str| url(&writer, &path.parse().unwrap()).map(|url| url.to_string());
        for path in ["/", "/a/b%20c", "/a/b%2Fc/..d", "/a?x=%2e%2e/../y", "/a/%2525"] {
            assert_eq!(url(path), Some(format!("http://one:8080{path}")));
        }
        for path in ["/a/..", "/a/%2e%2E", "/a/./b", "/a/%2e/b", "/a/.%2e/b", "/%2e"] {
            assert_eq!(url(path), None, "{path}");
        }
    }
}
