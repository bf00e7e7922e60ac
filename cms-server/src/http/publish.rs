//! Draft & Public: publish, unpublish, archive, and schedules (contract 4, 13.3).

use cms_core::{
    Cms, Result, limits, paging,
    wire::{batch::read_array_prefix, publish::PublishAction},
};

use crate::{answer::Answer, extract::body, request::Call};

pub(crate) fn publish(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    act(cms, call, PublishAction::Publish)
}

pub(crate) fn unpublish(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    act(cms, call, PublishAction::Unpublish)
}

pub(crate) fn archive(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    act(cms, call, PublishAction::Archive)
}

pub(crate) fn batch_publish(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    act_on_many(cms, call, PublishAction::Publish)
}

pub(crate) fn batch_unpublish(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    act_on_many(cms, call, PublishAction::Unpublish)
}

pub(crate) fn batch_archive(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    act_on_many(cms, call, PublishAction::Archive)
}

/// With `hydrate`, links are followed one level deep, whatever the number says (contract 4.4).
fn act(cms: &Cms, call: &mut Call<'_>, action: PublishAction) -> Result<Answer> {
    let [name, id, _] = &call.path;
    let cascade = paging::hydration(call.query.get("hydrate")) > 0;
    cms.publishing().act(&call.caller, name, id, action, cascade)?;
    Ok(Answer::no_content())
}

fn act_on_many(cms: &Cms, call: &mut Call<'_>, action: PublishAction) -> Result<Answer> {
    let [name, ..] = &call.path;
    let ids: Vec<String> = read_array_prefix(call.body, limits::MAX_PUBLISH_BATCH_IDS)?;
    cms.publishing().act_on_many(&call.caller, name, &ids, action)?;
    Ok(Answer::no_content())
}

pub(crate) fn schedule(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, id, _] = &call.path;
    let payload = body::object(call.body)?;
    Ok(Answer::tagged(cms.publishing().schedule(&call.caller, name, id, payload)?))
}

pub(crate) fn unschedule(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, id, _] = &call.path;
    cms.publishing().unschedule(&call.caller, name, id)?;
    Ok(Answer::no_content())
}
