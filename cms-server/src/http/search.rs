//! Full-text search, and its index.

use cms_core::{
    Cms, Error, Result, paging,
    wire::search::{QueryMode, SearchRequest},
};

use super::{context::RequestContext, objects};
use crate::{
    extract::{body, query::Query},
    response::Response,
};

pub(crate) fn search(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let request = request(&context.query);
    let (json, types_read) = cms.search().render(&context.caller, &request)?;
    context.unknown_paths.fields = cms.search().unknown_item_fields(&context.caller, &request);
    Ok(Response::from(json).cacheable(types_read))
}

fn request(query: &Query<'_>) -> SearchRequest {
    let list = |name| query.list(name).unwrap_or_default();
    SearchRequest {
        q: query.get("q").map(str::to_owned),
        page: objects::page(query),
        content_types: query.list("content_type"),
        fields: query.list("fields"),
        filters: query.map("filters"),
        post_filters: query.map("post_filters"),
        geo_filters: query.map("geo_filters"),
        order_by: query.text("order_by").map(str::to_owned),
        descending: objects::is_descending(query),
        missing_first: query.get("order_missing") == Some("_first"),
        random_seed: number(query.get("random_seed")),
        hydrate: paging::hydration(query.get("hydrate")),
        mode: query.get("query_mode").and_then(QueryMode::parse).unwrap_or_default(),
        decay_old: paging::boolean(query.get("decay_old")),
        aggregate_by: list("aggregate_by"),
        aggregate_by_numeric: list("aggregate_by_numeric"),
        boosts: boosts(query),
        item_fields: query.texts("item_fields"),
    }
}

/// Boosts that are numbers above 0; others are ignored.
fn boosts(query: &Query<'_>) -> Vec<(String, f32)> {
    let boost = |(name, text): (String, String)| {
        let boost = text.trim().parse::<f32>().ok()?;
        (boost.is_finite() && boost > 0.0).then_some((name, boost))
    };
    query.map("indices_boost").into_iter().filter_map(boost).collect()
}

fn number(text: Option<&str>) -> Option<f64> {
    text?.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

pub(crate) fn reindex(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let payload = body::object_or_empty(context.body)?;
    Ok(Response::accepted(&cms.search().reindex(&context.caller, &payload)?))
}

pub(crate) fn reindex_jobs(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    Ok(Response::json(&cms.search().jobs(&context.caller)?))
}

pub(crate) fn job(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    match cms.search().job(&context.caller, id) {
        Err(Error::NotFound { .. }) => Ok(Response::json(&cms.bulk().get(&context.caller, id)?)),
        job => Ok(Response::json(&job?)),
    }
}
