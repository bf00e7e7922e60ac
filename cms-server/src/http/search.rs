//! Full-text search (contract 6), and its index (contract 10.1).

use cms_core::{
    Cms, Result, paging,
    wire::search::{QueryMode, SearchRequest},
};

use super::objects;
use crate::{
    extract::{body, query::Query},
    response::Answer,
    routing::request::Call,
};

pub(crate) fn search(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    Ok(cms.search().search(&call.caller, &request(&call.query))?.into())
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
        mode: query.get("query_mode").map_or(QueryMode::Default, QueryMode::parse),
        decay_old: paging::boolean(query.get("decay_old")),
        aggregate_by: list("aggregate_by"),
        aggregate_by_numeric: list("aggregate_by_numeric"),
        boosts: boosts(query),
    }
}

/// Boosts that are numbers above 0; others are ignored (contract 6.1).
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

pub(crate) fn reindex(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let payload = body::object_or_empty(call.body)?;
    Ok(Answer::accepted(&cms.search().reindex(&call.caller, &payload)?))
}

pub(crate) fn job(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [id, ..] = &call.path;
    Ok(Answer::json(&cms.search().job(&call.caller, id)?))
}
