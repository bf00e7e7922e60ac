//! Draft & Public: publish, unpublish, archive, and schedules.

use cms_core::{
    Cms, Result, limits, paging,
    wire::{batch::read_array_prefix, publish::PublishAction, schedule::SchedulesRequest},
};

use super::{context::RequestContext, objects};
use crate::{extract::body, response::Response};

pub(crate) fn publish(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    set_status(cms, context, PublishAction::Publish)
}

pub(crate) fn unpublish(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    set_status(cms, context, PublishAction::Unpublish)
}

pub(crate) fn archive(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    set_status(cms, context, PublishAction::Archive)
}

pub(crate) fn batch_publish(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    set_statuses(cms, context, PublishAction::Publish)
}

pub(crate) fn batch_unpublish(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    set_statuses(cms, context, PublishAction::Unpublish)
}

pub(crate) fn batch_archive(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    set_statuses(cms, context, PublishAction::Archive)
}

/// With any `hydrate` above 0, the action applies to linked objects too, one level deep.
fn set_status(cms: &Cms, context: &RequestContext<'_>, action: PublishAction) -> Result<Response> {
    let [name, id, _] = &context.path;
    let cascade = paging::hydration(context.query.get("hydrate")) > 0;
    cms.publishing().set_status(&context.caller, name, id, action, cascade)?;
    Ok(Response::no_content())
}

fn set_statuses(
    cms: &Cms,
    context: &RequestContext<'_>,
    action: PublishAction,
) -> Result<Response> {
    let [name, ..] = &context.path;
    let ids: Vec<String> = read_array_prefix(context.body, limits::MAX_PUBLISH_BATCH_IDS)?;
    cms.publishing().set_statuses(&context.caller, name, &ids, action)?;
    Ok(Response::no_content())
}

pub(crate) fn schedule(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    let payload = body::object(context.body)?;
    Ok(Response::tagged(cms.publishing().schedule(&context.caller, name, id, payload)?))
}

pub(crate) fn unschedule(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    cms.publishing().unschedule(&context.caller, name, id)?;
    Ok(Response::no_content())
}

pub(crate) fn schedules(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let query = &context.query;
    let request = SchedulesRequest {
        page: objects::page(query),
        content_types: query.list("content_type"),
        from: query.text("from").map(str::to_owned),
        to: query.text("to").map(str::to_owned),
    };
    Ok(Response::json(&cms.publishing().schedules(&context.caller, &request)?))
}
