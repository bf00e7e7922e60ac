//! Queries in the language GraphQL (contract 8), in both versions.

use axum::http::{HeaderValue, header};
use cms_core::{
    Cms, Permission, Result,
    wire::graphql::{GraphQlRequest, GraphQlResponse, GraphQlVersion},
};

use crate::{answer::Answer, request::Call};

/// What an address answers depends on the key, and may be another thing the next time.
const OWN_AND_NEW: HeaderValue = HeaderValue::from_static("private, no-cache");

pub(crate) fn query(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    posted(cms, call, GraphQlVersion::Legacy)
}

pub(crate) fn query_v2(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    posted(cms, call, GraphQlVersion::V2)
}

pub(crate) fn get(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    gotten(cms, call, GraphQlVersion::Legacy)
}

pub(crate) fn get_v2(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    gotten(cms, call, GraphQlVersion::V2)
}

pub(crate) fn schema(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    cms.graphql().schema(&call.caller, GraphQlVersion::Legacy).map(Answer::text)
}

pub(crate) fn schema_v2(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    cms.graphql().schema(&call.caller, GraphQlVersion::V2).map(Answer::text)
}

fn posted(cms: &Cms, call: &Call<'_>, version: GraphQlVersion) -> Result<Answer> {
    answer(cms, call, version, GraphQlRequest::read(call.body))
}

fn gotten(cms: &Cms, call: &Call<'_>, version: GraphQlVersion) -> Result<Answer> {
    // What is wrong with parameters is told to those who may ask.
    cms.authorise(&call.caller, Permission::Query)?;
    let request = GraphQlRequest::read_parameters(|name| call.query.get(name));
    let answer = answer(cms, call, version, request)?;
    Ok(answer.with_header(header::CACHE_CONTROL, OWN_AND_NEW))
}

fn answer(
    cms: &Cms,
    call: &Call<'_>,
    version: GraphQlVersion,
    request: std::result::Result<GraphQlRequest, GraphQlResponse>,
) -> Result<Answer> {
    match request {
        Ok(request) => Ok(cms.graphql().execute(&call.caller, version, &request)?.into()),
        Err(refusal) => Ok(refusal.into()),
    }
}
