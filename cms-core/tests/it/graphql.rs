//! Queries in both versions, from their text to the whole answer.

mod content;
mod hostile;
mod names;
mod persisted_queries;
mod reference;
mod responses;
mod same_as_rest;

use cms_core::{
    Caller, Cms,
    wire::graphql::{GraphQlRequest, GraphQlVersion},
};
use serde_json::{Map, Value};

pub(crate) use GraphQlVersion::{Legacy, V2};

/// Status and body of an answer.
pub(crate) fn ask(cms: &Cms, version: GraphQlVersion, query: &str) -> (u16, Value) {
    ask_as(cms, &Caller::local(), version, query, Map::new())
}

pub(crate) fn ask_as(
    cms: &Cms,
    caller: &Caller,
    version: GraphQlVersion,
    query: &str,
    variables: Map<String, Value>,
) -> (u16, Value) {
    let query = query.to_owned();
    let request = GraphQlRequest { query, variables, ..GraphQlRequest::default() };
    let answer = cms.graphql().execute(caller, version, &request).unwrap();
    let body = serde_json::from_slice(&answer.body);
    let text = String::from_utf8_lossy(&answer.body);
    (answer.status, body.unwrap_or_else(|error| panic!("{error}: {text}")))
}
