//! The log lines of a request: route, status and time, slow queries, and errors.
//!
//! They contain the name of the key, but never its token, the body or the query string. Only the line
//! of a slow query contains the parameters that its route knows, or the GraphQL query.

use std::{net::IpAddr, time::Duration};

use axum::{
    body::Bytes,
    http::{HeaderValue, Method, StatusCode, Uri, request::Parts},
};
use cms_core::Caller;
use serde::Deserialize;

use crate::{
    extract::query::{Query, query_string},
    response::Response,
    routing::route::Route,
    state::App,
};

/// Target of the lines, which filters of the log name (docs/operations.md).
const TARGET: &str = "cms_server::log";

/// Maximum size of a path or a query in the log.
const MAX_TEXT_BYTES: usize = 1000;

/// What is logged about a request.
pub(crate) struct RequestLog {
    pub(crate) caller: Option<Caller>,
    pub(crate) address: Option<IpAddr>,
    pub(crate) query: LoggedQuery,
    /// Time that the server waited for the body.
    pub(crate) body_time: Duration,
    route: Option<&'static Route>,
}

/// What a request reads, for the line of a slow query.
pub(crate) enum LoggedQuery {
    /// The request is not a read.
    None,
    /// The query string as the client sent it, if the URI contains placeholders for some of its
    /// characters; otherwise none, and the query string is that of the URI.
    Parameters(Option<String>),
    /// The body of a GraphQL request.
    GraphQl(Bytes),
}

/// Writes the reason of an error that a client gets after the start of a stream.
pub(crate) fn write_cause(response: &Response) {
    let status = response.status.as_u16();
    match &response.cause {
        Some(cause) if response.status == StatusCode::SERVICE_UNAVAILABLE => {
            tracing::warn!(target: TARGET, status, %cause, "busy");
        }
        Some(cause) => tracing::error!(target: TARGET, status, %cause, "request failed"),
        None => {}
    }
}

impl LoggedQuery {
    pub(crate) fn parameters(parts: &Parts) -> Self {
        let query = query_string(parts);
        let is_raw = Some(query) != parts.uri.query() && !query.is_empty();
        Self::Parameters(is_raw.then(|| query.to_owned()))
    }

    fn text(&self, known: &[&str], uri: &Uri) -> Option<String> {
        match self {
            Self::None => None,
            Self::Parameters(raw) => {
                let text = raw.as_deref().or(uri.query()).unwrap_or_default();
                Some(known_parameters(&Query::parse(text), known))
            }
            Self::GraphQl(body) => Some(graphql_query(body)),
        }
    }
}

impl RequestLog {
    pub(crate) fn new(route: Option<&'static Route>, address: Option<IpAddr>) -> Self {
        let (query, body_time) = (LoggedQuery::None, Duration::ZERO);
        Self { caller: None, address, query, body_time, route }
    }

    pub(crate) fn write(
        &self,
        app: &App,
        response: &Response,
        method: &Method,
        uri: &Uri,
        request_id: &HeaderValue,
        time: Duration,
    ) {
        let (route, known) = self.route.map_or(("", &[][..]), |route| (route.path, route.query));
        let path = truncated(uri.path());
        let status = response.status.as_u16();
        let request_id = request_id.to_str().unwrap_or_default();
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let key = self.caller.as_ref().map_or("", |caller| caller.actor().name.as_str());
        if app.is_slow(time.saturating_sub(self.body_time))
            && let Some(query) = self.query.text(known, uri)
        {
            let query = truncated(&query);
            tracing::warn!(
                target: TARGET, %method, route, path, query, status, micros, request_id, key,
                "slow query"
            );
        }
        match &response.cause {
            // Not an error of the server, but operators need the reason.
            Some(cause) if response.status == StatusCode::SERVICE_UNAVAILABLE => {
                tracing::warn!(
                    target: TARGET, %method, route, path, status, micros, request_id, key, %cause,
                    "busy"
                );
            }
            Some(cause) => {
                tracing::error!(
                    target: TARGET, %method, route, path, status, micros, request_id, key, %cause,
                    "request failed"
                );
            }
            None => {
                let key_id = self.caller.as_ref().map_or("", |caller| caller.actor().id.as_str());
                let address = self.address.map(tracing::field::display);
                tracing::debug!(
                    target: TARGET, %method, route, path, status, micros, request_id, key, key_id,
                    address, "request"
                );
            }
        }
    }
}

/// The parameters that a route knows, decoded, without the values of GraphQL variables.
fn known_parameters(query: &Query<'_>, names: &[&str]) -> String {
    let logged =
        query.known(names).filter(|(name, _)| !["variables", "extensions"].contains(&&**name));
    logged.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// The GraphQL query in a body, without the values of its variables.
fn graphql_query(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Body {
        query: String,
    }
    serde_json::from_slice(body).map_or_else(|_| String::new(), |Body { query }| query)
}

fn truncated(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logged_query_has_no_key() {
        let names = ["filters", "limit", "ids[]", "post_filters[*]", "query", "variables"];
        for (query, logged) in [
            ("", ""),
            ("auth_token=secret", ""),
            ("auth%5Ftoken=secret&limit=5", "limit=5"),
            ("auth_token[]=secret&authToken=secret&X-AUTH-TOKEN=secret", ""),
            ("filters=%7B%22a%22%3A1%7D&auth_token=secret", "filters={\"a\":1}"),
            ("query={a}&variables={%22token%22:%22secret%22}", "query={a}"),
            ("ids[]=a&ids[]=b&post_filters[a]=c", "ids[]=a&ids[]=b&post_filters[a]=c"),
        ] {
            assert_eq!(known_parameters(&Query::parse(query), &names), logged, "{query}");
        }
        let body = br#"{"query": "{ a }", "variables": {"token": "secret"}}"#;
        assert_eq!(graphql_query(body), "{ a }");
        assert_eq!(graphql_query(b"secret"), "");
        assert_eq!(truncated(&"ä".repeat(MAX_TEXT_BYTES)).len(), MAX_TEXT_BYTES);
    }
}
