//! What creating, changing and deleting a type does to the database, inside one transaction.
//!
//! [`update`] carries a change out and reports what it did; whoever called it decides whether the
//! transaction is kept. That is how a plan is exactly what an apply would do.

use super::{
    catalog::{Catalog, Type},
    diff::{self, PropertyDiff},
    model::Definition,
    rewrite::Rewrite,
};
use crate::{
    clock::Timestamp,
    error::{FieldErrors, Result},
    message,
    object::{link, scan},
    store::{Event, Writer},
    wire::plan::{Change, PropertyPlan},
    workflow,
};

const NOT_CONFORMING: &str = "Existing objects do not conform to the new schema, and updating them automatically is impossible (e.g., Text -> Relationship). Ensure you're not changing a field type that is also required - if so, disable required for the field you're changing.";

/// What an update did to a type and its objects.
pub(crate) struct Outcome {
    pub(crate) properties: Vec<PropertyPlan>,
    /// Why the update must not be kept.
    pub(crate) blockers: FieldErrors,
    pub(crate) objects_rewritten: u64,
    pub(crate) breaking: bool,
}

/// Creates a type and its indexes; returns its row.
pub(crate) fn create(
    writer: &Writer<'_>,
    uid: &str,
    definition: &Definition,
    rev: i64,
    at: Timestamp,
) -> Result<i64> {
    let pk = writer.insert_ctd(uid, definition, rev, at)?;
    writer.index_properties(pk, &definition.properties())?;
    writer.log(Event::TypeCreated, at, pk, None)?;
    Ok(pk)
}

/// Deletes a type without live objects, its indexes, and its objects in the trash.
pub(crate) fn delete(writer: &Writer<'_>, content_type: &Type, at: Timestamp) -> Result<()> {
    writer.index_properties(content_type.pk, &[])?;
    writer.delete_ctd(content_type.pk)?;
    writer.log(Event::TypeDeleted, at, content_type.pk, None)
}

/// Changes a type and what is stored of it.
pub(crate) fn update(
    writer: &Writer<'_>,
    catalog: &Catalog,
    before: &Type,
    definition: &Definition,
    rev: i64,
    at: Timestamp,
) -> Result<Outcome> {
    let properties = definition.properties();
    let diffs = diff::diff((&before.definition, &before.properties), (definition, &properties));
    let mut rewrite = Rewrite::new(before, definition, &properties, &diffs);
    let objects_rewritten = rewrite_objects(writer, catalog, before, &mut rewrite)?;
    let (plans, mut blockers) = rewrite.into_plans();
    if !blockers.is_empty() {
        blockers.add("ctd", NOT_CONFORMING);
    }
    let is_breaking = |diff: &PropertyDiff| {
        diff.is_renamed() || matches!(diff.change, Change::Remove | Change::Type)
    };
    switch_publishing(writer, before, definition)?;
    writer.index_properties(before.pk, &properties)?;
    writer.update_ctd(before.pk, definition, rev, at)?;
    writer.log(Event::TypeUpdated, at, before.pk, None)?;
    Ok(Outcome {
        properties: plans,
        blockers,
        objects_rewritten,
        breaking: diffs.iter().any(is_breaking)
            || before.definition.draft_public != definition.draft_public,
    })
}

/// Shows every object of a type to a change, and stores what it makes of them; returns how many
/// it changed.
fn rewrite_objects(
    writer: &Writer<'_>,
    catalog: &Catalog,
    before: &Type,
    rewrite: &mut Rewrite<'_>,
) -> Result<u64> {
    if !rewrite.concerns_objects() || writer.ctd_state(before.pk)?.live == 0 {
        return Ok(0);
    }
    let exists = |data_url: &str| match link::parse(data_url) {
        Some(target) => match catalog.find(target.content_type) {
            Some(known) => Ok(writer.object_pk(known.pk, &target.id)?.is_some()),
            None => Ok(false),
        },
        None => Ok(false),
    };
    for (property, data_url) in rewrite.backfilled_links() {
        if !exists(&data_url)? {
            let path = format!("metaDefinition.propertiesConfig.{property}.backfill");
            rewrite.blockers.add(path, message::NOT_VALID);
        }
    }
    writer.drop_property_indexes(before.pk, rewrite.touched())?;
    let linking = rewrite.changes_links().then(|| rewrite.properties());
    let mut rewritten = 0;
    writer.rewrite_objects(before.pk, |object| {
        let Some(new) = rewrite.object(object.id, object.title, object.data, &exists)? else {
            return Ok(None);
        };
        rewritten += 1;
        if let Some(properties) = linking {
            let links = scan::links(&new.data, properties);
            let targets = links.iter().map(|link| (link.content_type.as_str(), link.id.as_str()));
            writer.replace_links(object.pk, targets)?;
        }
        Ok(Some((new.title, new.data)))
    })?;
    Ok(rewritten)
}

/// Draft & Public and the workflow of a type that has objects.
fn switch_publishing(writer: &Writer<'_>, before: &Type, after: &Definition) -> Result<()> {
    match (before.definition.draft_public, after.draft_public) {
        (false, true) => writer.publish_all(before.pk)?,
        (true, false) => writer.forget_publishing(before.pk)?,
        _ => {}
    }
    match workflow::find(&after.workflow_id) {
        Some(found) if before.definition.workflow_id != after.workflow_id => {
            writer.enter_workflow(before.pk, found.states)
        }
        _ => Ok(()),
    }
}
