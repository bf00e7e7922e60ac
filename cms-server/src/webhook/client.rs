//! Requests to receivers of webhooks: to the public internet only, unless the operator says
//! otherwise, to the very addresses that were judged, and never on to another place.

use std::{
    error::Error as _,
    net::{IpAddr, SocketAddr},
    sync::{Arc, OnceLock},
    time::Duration,
};

use cms_core::DeliveryOutcome;
use reqwest::{
    Client, Response, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};

use super::address;

/// Headers that say how a request is sent, which no webhook decides.
const OURS: [&str; 8] = [
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// What is sent where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    pub(super) url: &'a str,
    /// Later ones count.
    pub(super) headers: &'a [(String, String)],
    pub(super) body: &'a str,
    /// How long all of it may take.
    pub(super) timeout: Duration,
    /// Most bytes of an answer that are read.
    pub(super) answer_limit: usize,
}

/// A client that is made when it is first needed.
#[derive(Debug)]
pub(super) struct Caller {
    allow_private: bool,
    allow_http: bool,
    client: OnceLock<Result<Client, String>>,
}

impl Caller {
    pub(super) fn new(allow_private: bool, allow_http: bool) -> Self {
        Self { allow_private, allow_http, client: OnceLock::new() }
    }

    /// Sends a request, once.
    pub(super) async fn send(&self, request: Request<'_>) -> DeliveryOutcome {
        match self.answer(request).await {
            Ok((status, body)) => DeliveryOutcome::Response(status, body),
            Err(reason) => DeliveryOutcome::NoResponse(reason),
        }
    }

    async fn answer(&self, request: Request<'_>) -> Result<(u16, String), String> {
        let url = Url::parse(request.url).map_err(|_| "the address is not valid".to_owned())?;
        if url.scheme() != "https" && !self.allow_http {
            return Err("the address is not https".to_owned());
        }
        self.judge(&url)?;
        let answer = self
            .client()?
            .post(url)
            .timeout(request.timeout)
            .headers(headers(request.headers))
            .body(request.body.to_owned())
            .send();
        let answer = answer.await.map_err(|error| reason(&error))?;
        let status = answer.status().as_u16();
        let body = read(answer, request.answer_limit).await.map_err(|error| reason(&error))?;
        Ok((status, body))
    }

    /// Judges an address that is written as one: such are never resolved.
    fn judge(&self, url: &Url) -> Result<(), String> {
        let host = url.host_str().unwrap_or_default();
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match literal {
            Ok(address) if !self.allow_private && !address::is_public(address) => {
                Err(Refused(host.to_owned()).to_string())
            }
            _ => Ok(()),
        }
    }

    fn client(&self) -> Result<&Client, String> {
        let made = self.client.get_or_init(|| {
            // Fails only when a provider is installed already, which is as good.
            rustls::crypto::ring::default_provider().install_default().ok();
            let builder = Client::builder()
                .user_agent(concat!("cms/", env!("CARGO_PKG_VERSION")))
                // A proxy would resolve names itself.
                .no_proxy()
                .redirect(Policy::none())
                .dns_resolver(Arc::new(Resolver { allow_private: self.allow_private }));
            builder.build().map_err(|error| format!("no requests can be sent: {}", reason(&error)))
        });
        made.as_ref().map_err(Clone::clone)
    }
}

/// Resolves names, and leaves out what must not be reached. The client connects to what is returned
/// here and asks nobody else, so a name cannot mean one thing to the judge and another later.
struct Resolver {
    allow_private: bool,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let name = name.as_str();
            let found = tokio::net::lookup_host((name, 0)).await?;
            let may_reach = |found: &SocketAddr| allow_private || address::is_public(found.ip());
            let reached: Vec<SocketAddr> = found.filter(may_reach).collect();
            if reached.is_empty() {
                return Err(Refused(name.to_owned()).into());
            }
            Ok(Box::new(reached.into_iter()) as Addrs)
        })
    }
}

/// A host that has no public address.
#[derive(Debug)]
struct Refused(String);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is not an address of the public internet", self.0)
    }
}

impl std::error::Error for Refused {}

fn headers(wanted: &[(String, String)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in wanted {
        let read = (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str()));
        if let (Ok(name), Ok(value)) = read
            && !OURS.contains(&name.as_str())
        {
            headers.insert(name, value);
        }
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers
}

/// Reads the beginning of a body.
async fn read(mut answer: Response, limit: usize) -> reqwest::Result<String> {
    let mut body = Vec::new();
    while body.len() < limit
        && let Some(chunk) = answer.chunk().await?
    {
        body.extend_from_slice(&chunk[..chunk.len().min(limit - body.len())]);
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Why there is no answer, in the words of the innermost cause; without the address, which may hold
/// a password.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause = error.source();
    while let Some(inner) = cause.and_then(std::error::Error::source) {
        cause = Some(inner);
    }
    cause.map_or_else(|| "the connection failed".to_owned(), ToString::to_string)
}
