//! What is written down about a request: who asked for what, how it ended and how long it took.
//!
//! Never the key, the body, or the query; but for a read that was slow, what it asked for: the
//! parameters that the route knows, or the query of GraphQL.

use std::{fmt::Write as _, net::IpAddr, sync::Arc, time::Duration};

use axum::{
    body::Bytes,
    http::{HeaderValue, Method, StatusCode, Uri, request::Parts},
};
use cms_core::{Caller, Reservation};
use serde::Deserialize;

use crate::{
    extract::query::Query,
    response::Answer,
    routing::path::Row,
    routing::request::query_text,
    routing::table::{Action, Reads, Route},
    state::App,
};

/// Most bytes of a path or a query in the log.
const LONGEST: usize = 1000;

/// What is known of a request while it is answered.
#[derive(Default)]
pub(crate) struct Line {
    pub(crate) row: Option<Row>,
    pub(crate) caller: Option<Caller>,
    pub(crate) address: Option<IpAddr>,
    /// What the response takes.
    pub(crate) memory: Arc<Reservation>,
    /// The body of a query of GraphQL, and how long the server waited for it.
    pub(crate) graphql: Bytes,
    pub(crate) waited: Duration,
    /// What a client sent that HTTP does not allow, if anything: the URI has something else there.
    raw_query: Option<String>,
}

impl Line {
    pub(crate) fn of(
        app: &App,
        peer: Option<IpAddr>,
        memory: &Arc<Reservation>,
        parts: &Parts,
    ) -> Self {
        let query = query_text(parts);
        let is_raw = Some(query) != parts.uri.query() && !query.is_empty();
        Self {
            address: app.site.client(peer, &parts.headers),
            memory: Arc::clone(memory),
            raw_query: is_raw.then(|| query.to_owned()),
            ..Self::default()
        }
    }

    pub(crate) fn write(
        &self,
        app: &App,
        answer: &Answer,
        method: &Method,
        uri: &Uri,
        request_id: &HeaderValue,
        time: Duration,
    ) {
        let route = self.row.map_or("", |row| row.route.path);
        let path = shortened(uri.path());
        let status = answer.status.as_u16();
        let request_id = request_id.to_str().unwrap_or_default();
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let key = self.caller.as_ref().map_or("", |caller| caller.actor().name.as_str());
        if app.is_slow(time.saturating_sub(self.waited))
            && let Some(asked) = self.asked(uri)
        {
            let query = shortened(&asked);
            tracing::warn!(%method, route, path, query, status, micros, request_id, key, "slow query");
        }
        match &answer.cause {
            // Come back later: no fault of ours, but somebody may want to know why.
            Some(cause) if answer.status == StatusCode::SERVICE_UNAVAILABLE => {
                tracing::warn!(%method, route, path, status, micros, request_id, key, %cause, "busy");
            }
            Some(cause) => {
                tracing::error!(
                    %method, route, path, status, micros, request_id, key, %cause, "request failed"
                );
            }
            None => {
                let key_id = self.caller.as_ref().map_or("", |caller| caller.actor().id.as_str());
                let address = self.address.map(tracing::field::display);
                tracing::debug!(
                    %method, route, path, status, micros, request_id, key, key_id, address, "request"
                );
            }
        }
    }

    /// What a request asks the database for; none when it does something else.
    fn asked(&self, uri: &Uri) -> Option<String> {
        let Route { method, action: Action::Keyed(..), reads, query, .. } = self.row?.route else {
            return None;
        };
        match reads {
            Reads::Nothing if method == Method::GET => {
                let text = self.raw_query.as_deref().or(uri.query()).unwrap_or_default();
                Some(known(&Query::parse(text), query))
            }
            Reads::Query => Some(graphql(&self.graphql)),
            _ => None,
        }
    }
}

/// The parameters that a route knows, decoded, as people read them.
fn known(query: &Query<'_>, names: &[&str]) -> String {
    let mut text = String::new();
    for (name, value) in query.known(names) {
        let separator = if text.is_empty() { "" } else { "&" };
        write!(text, "{separator}{name}={value}").expect("a String takes all");
    }
    text
}

/// The query of GraphQL in a body, without the values of its variables.
fn graphql(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Body {
        query: String,
    }
    serde_json::from_slice(body).map_or_else(|_| String::new(), |Body { query }| query)
}

/// The beginning of a text.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_shown_decoded_and_without_what_may_be_a_key() {
        let names = ["filters", "limit", "ids[]", "post_filters[*]"];
        for (query, shown) in [
            ("", ""),
            ("auth_token=secret", ""),
            ("auth%5Ftoken=secret&limit=5", "limit=5"),
            ("auth_token[]=secret&authToken=secret&X-AUTH-TOKEN=secret", ""),
            ("filters=%7B%22a%22%3A1%7D&auth_token=secret", "filters={\"a\":1}"),
            ("ids[]=a&ids[]=b&post_filters[a]=c", "ids[]=a&ids[]=b&post_filters[a]=c"),
        ] {
            assert_eq!(known(&Query::parse(query), &names), shown, "{query}");
        }
        let body = br#"{"query": "{ a }", "variables": {"token": "secret"}}"#;
        assert_eq!(graphql(body), "{ a }");
        assert_eq!(graphql(b"secret"), "");
        assert_eq!(shortened(&"ä".repeat(LONGEST)).len(), LONGEST);
    }
}
