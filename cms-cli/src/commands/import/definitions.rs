//! Applies the content types and workflows of an exported folder.

use std::sync::Arc;

use cms_core::{
    Error,
    import::{featured_image_updates, is_builtin_type, is_system_type, select_definitions},
    wire::{
        object::ListRequest,
        plan::{ApplyRequest, PlanRequest},
    },
};
use serde_json::{Map, Value};

use super::super::{
    plan_text, progress::with_plan_progress, publishing_changes::PublishingChanges,
};
use crate::{
    content::folder::TypeFolder,
    failure::{Failure, Result},
    printer::Printer,
    target::{Edition, Target},
};

/// Creates missing workflows and content types, and with `update` replaces changed ones. Built-in types that nobody
/// changed in the target are replaced in any case: a new space contains them, so they are never missing.
///
/// Returns the definitions that are, or in a dry run would be, those of the target afterwards.
pub(super) fn apply(
    target: &dyn Target,
    folders: &[TypeFolder],
    workflows: Vec<Map<String, Value>>,
    update: bool,
    dry_run: bool,
    printer: &Printer,
) -> Result<Vec<Map<String, Value>>> {
    let payloads = payloads(folders).map(|payload| {
        let mut payload = payload.clone();
        // Media objects follow later.
        payload.remove("featuredImage");
        payload
    });
    let content_types = payloads.collect();
    let mut wanted = PlanRequest { workflows, content_types, ..PlanRequest::default() };
    let planned = |wanted: &PlanRequest, printer: &Printer| {
        with_plan_progress(printer, |progress| target.plan(wanted, progress))
    };
    let mut plan = planned(&wanted, printer)?;
    if !update {
        let kept = select_definitions(&mut wanted, &plan, |name| is_pristine(target, name))?;
        for name in &kept {
            printer.note(&format!(
                "the {name} exists with another definition; --update-existing replaces it"
            ))?;
        }
        if !kept.is_empty() {
            plan = planned(&wanted, printer)?;
        }
    }
    if !plan.has_changes() {
        return Ok(wanted.content_types);
    }
    let publishing_changes = PublishingChanges::find(target, &wanted, &plan)?;
    printer.note(plan_text::render(&plan, &wanted, &publishing_changes).trim_end())?;
    if let Some(error) = plan_text::blocked(&plan) {
        return Err(error.into());
    }
    if dry_run {
        return Ok(wanted.content_types);
    }
    let request = ApplyRequest { wanted, token: Some(plan.token), allow_data_loss: None };
    let applied = with_plan_progress(printer, |progress| target.apply(&request, progress));
    applied.map_err(|error| {
        let is_loss = matches!(error, Error::DataLoss(_));
        let hint = "`cms ctd apply DIR --allow-data-loss` changes only the types";
        Failure::from(error).hints(is_loss.then_some(hint))
    })?;
    Ok(request.wanted.content_types)
}

/// Sets the featured images of content types, after the media objects exist.
pub(super) fn apply_featured_images(
    target: &dyn Target,
    folders: &[TypeFolder],
    update: bool,
) -> Result<()> {
    let content_types = featured_image_updates(payloads(folders), &target.types()?, update);
    if !content_types.is_empty() {
        let wanted = PlanRequest { content_types, ..PlanRequest::default() };
        // Neither a token nor consent is needed, because no objects change.
        target.apply(&ApplyRequest { wanted, ..ApplyRequest::default() }, &Arc::default())?;
    }
    Ok(())
}

/// The definitions that can be applied.
fn payloads(folders: &[TypeFolder]) -> impl Iterator<Item = &Map<String, Value>> {
    let own =
        folders.iter().filter(|folder| !is_system_type(&folder.name) && !folder.is_reference());
    own.map(|folder| &folder.payload)
}

/// Returns whether a type is built in, was never changed and has no objects.
fn is_pristine(target: &dyn Target, name: &str) -> cms_core::Result<bool> {
    let present = target.get_type(name)?;
    Ok(is_builtin_type(name)
        && present.updated_at.is_none()
        && target.objects(name, &ListRequest::default(), Edition::Current)?.total_count == 0)
}
