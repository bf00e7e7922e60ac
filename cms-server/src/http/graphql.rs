//! GraphQL queries, in both versions of the API.

use axum::http::{HeaderValue, header};
use cms_core::{
    Cms, Permission, Result,
    wire::graphql::{GraphQlRequest, GraphQlResponse, GraphQlVersion},
};

use super::context::RequestContext;
use crate::response::Response;

/// The response depends on the key, and on the current content.
const NO_CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");

pub(crate) fn query(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    execute(cms, context, GraphQlVersion::Legacy, GraphQlRequest::read(context.body))
}

pub(crate) fn query_v2(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    execute(cms, context, GraphQlVersion::V2, GraphQlRequest::read(context.body))
}

pub(crate) fn get(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    execute_parameters(cms, context, GraphQlVersion::Legacy)
}

pub(crate) fn get_v2(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    execute_parameters(cms, context, GraphQlVersion::V2)
}

pub(crate) fn schema(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    cms.graphql().schema(&context.caller, GraphQlVersion::Legacy).map(Response::text)
}

pub(crate) fn schema_v2(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    cms.graphql().schema(&context.caller, GraphQlVersion::V2).map(Response::text)
}

fn execute_parameters(
    cms: &Cms,
    context: &RequestContext<'_>,
    version: GraphQlVersion,
) -> Result<Response> {
    // Checked first: without the permission the response is 403, whatever the parameters.
    cms.authorise(&context.caller, Permission::GraphQl)?;
    let request = GraphQlRequest::read_parameters(|name| context.query.get(name));
    let response = execute(cms, context, version, request)?;
    Ok(response.with_header(header::CACHE_CONTROL, NO_CACHE))
}

fn execute(
    cms: &Cms,
    context: &RequestContext<'_>,
    version: GraphQlVersion,
    request: std::result::Result<GraphQlRequest, GraphQlResponse>,
) -> Result<Response> {
    match request {
        Ok(request) => Ok(cms.graphql().execute(&context.caller, version, &request)?.into()),
        Err(refusal) => Ok(refusal.into()),
    }
}
