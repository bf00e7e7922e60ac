//! Queries in both versions, from their text to the complete response.

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

/// Executes a query; returns status and body of the response.
pub(crate) fn execute(cms: &Cms, version: GraphQlVersion, query: &str) -> (u16, Value) {
    execute_as(cms, &Caller::local(), version, query, Map::new())
}

pub(crate) fn execute_as(
    cms: &Cms,
    caller: &Caller,
    version: GraphQlVersion,
    query: &str,
    variables: Map<String, Value>,
) -> (u16, Value) {
    let query = query.to_owned();
    let request = GraphQlRequest { query, variables, ..GraphQlRequest::default() };
    let response = cms.graphql().execute(caller, version, &request).unwrap();
    let body = serde_json::from_slice(&response.body);
    let text = String::from_utf8_lossy(&response.body);
    (response.status, body.unwrap_or_else(|error| panic!("{error}: {text}")))
}
