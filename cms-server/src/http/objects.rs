//! Content objects (contract 3).

use cms_core::{
    Cms, Result, limits,
    paging::{self, Page},
    wire::object::{self, Direction, ListRequest},
};

use crate::{
    answer::Answer,
    extract::{body, query::Query},
    request::Call,
};

pub(crate) fn list(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, ..] = &call.path;
    let request = list_request(&call.query);
    let json = cms.objects().list(&call.caller, name, &request)?;
    call.unknown_filters = unknown_filters(cms, name, &request);
    Ok(Answer::tagged(json))
}

pub(crate) fn list_if_quick(cms: &Cms, call: &mut Call<'_>) -> Result<Option<Answer>> {
    let [name, ..] = &call.path;
    let request = list_request(&call.query);
    let Some(json) = cms.objects().list_if_quick(&call.caller, name, &request)? else {
        return Ok(None);
    };
    call.unknown_filters = unknown_filters(cms, name, &request);
    Ok(Some(Answer::tagged(json)))
}

fn unknown_filters(cms: &Cms, name: &str, request: &ListRequest) -> Vec<String> {
    request.filters.as_ref().map_or_else(Vec::new, |text| cms.objects().unknown_filters(name, text))
}

fn list_request(query: &Query<'_>) -> ListRequest {
    ListRequest {
        page: page(query),
        order_by: query.text("order_by").map(str::to_owned),
        descending: is_descending(query),
        empty_first: paging::boolean(query.get("empty_first")),
        hydrate: paging::hydration(query.get("hydrate")),
        filters: query.text("filters").map(str::to_owned),
        ids: query.list("ids"),
    }
}

pub(crate) fn get(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, id, _] = &call.path;
    let hydrate = paging::hydration(call.query.get("hydrate"));
    let (json, tag) = cms.objects().get_with_tag(&call.caller, name, id, hydrate)?;
    Ok(Answer::from(json).with_tag(tag))
}

/// A look-up by key is quick, and so is hydration of a few links.
pub(crate) fn get_if_quick(cms: &Cms, call: &mut Call<'_>) -> Result<Option<Answer>> {
    let [name, id, _] = &call.path;
    let hydrate = paging::hydration(call.query.get("hydrate"));
    let found = cms.objects().get_if_quick(&call.caller, name, id, hydrate)?;
    Ok(found.map(|(json, tag)| Answer::from(json).with_tag(tag)))
}

pub(crate) fn create(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, ..] = &call.path;
    Ok(Answer::tagged(cms.objects().create(&call.caller, name, object::read(call.body)?)?))
}

pub(crate) fn replace(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, id, _] = &call.path;
    Ok(Answer::tagged(cms.objects().replace(&call.caller, name, id, object::read(call.body)?)?))
}

pub(crate) fn patch(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, id, _] = &call.path;
    Ok(Answer::tagged(cms.objects().patch(&call.caller, name, id, object::read(call.body)?)?))
}

pub(crate) fn delete(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, id, _] = &call.path;
    cms.objects().delete(&call.caller, name, id)?;
    Ok(Answer::no_content())
}

pub(crate) fn removed(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, ..] = &call.path;
    let ids = cms.objects().removed(&call.caller, name, call.query.get("deletedAfter"))?;
    Ok(Answer::json(&ids))
}

pub(crate) fn versions(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, id, _] = &call.path;
    let (page, direction) = (page(&call.query), direction(&call.query));
    Ok(Answer::tagged(cms.objects().versions(&call.caller, name, id, page, direction)?))
}

pub(crate) fn version(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, id, version] = &call.path;
    Ok(Answer::tagged(cms.objects().version(&call.caller, name, id, version)?))
}

pub(crate) fn duplicate(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, id, _] = &call.path;
    let payload = body::object(call.body)?;
    Ok(Answer::tagged(cms.objects().duplicate(&call.caller, name, id, &payload)?))
}

pub(crate) fn page(query: &Query<'_>) -> Page {
    Page::parse(query.get("page"), query.get("limit"), limits::MAX_PAGE_SIZE)
}

pub(crate) fn is_descending(query: &Query<'_>) -> bool {
    direction(query) == Direction::Descending
}

/// Anything but `desc` is ascending.
pub(crate) fn direction(query: &Query<'_>) -> Direction {
    match query.get("order_direction") {
        Some(text) if text.eq_ignore_ascii_case("desc") => Direction::Descending,
        _ => Direction::Ascending,
    }
}
