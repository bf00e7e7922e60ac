//! Queries in the language GraphQL (contract 8), in both versions.

use cms_core::{
    Cms, Result,
    wire::graphql::{GraphQlRequest, GraphQlVersion},
};

use crate::{answer::Answer, request::Call};

pub(crate) fn query(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    answer(cms, call, GraphQlVersion::Legacy)
}

pub(crate) fn query_v2(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    answer(cms, call, GraphQlVersion::V2)
}

pub(crate) fn schema(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    cms.graphql().schema(&call.caller, GraphQlVersion::Legacy).map(Answer::text)
}

pub(crate) fn schema_v2(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    cms.graphql().schema(&call.caller, GraphQlVersion::V2).map(Answer::text)
}

fn answer(cms: &Cms, call: &Call<'_>, version: GraphQlVersion) -> Result<Answer> {
    match GraphQlRequest::read(call.body) {
        Ok(request) => Ok(cms.graphql().execute(&call.caller, version, &request)?.into()),
        Err(refusal) => Ok(refusal.into()),
    }
}
