//! What creating, changing and deleting a type does to the database, inside one transaction.
//!
//! [`update`] carries a change out and reports what it did; whoever called it decides whether the
//! transaction is kept. That is how a plan is exactly what an apply would do.

use serde_json::Value;

use super::{
    catalog::{Catalog, Type},
    diff::{self, PropertyDiff},
    model::{Definition, Property},
};
use crate::{
    clock::Timestamp,
    error::{FieldErrors, Result},
    message,
    object::write,
    store::{DERIVED, Event, Writer},
    wire::plan::{Change, PropertyPlan, Sample},
    workflow::model::PUBLIC,
};

const NOT_CONFORMING: &str = "Existing objects do not conform to the new schema, and updating them automatically is impossible (e.g., Text -> Relationship). Ensure you're not changing a field type that is also required - if so, disable required for the field you're changing.";

/// Stored values that a plan shows per property.
const SAMPLES: usize = 20;

/// What an update did to a type and its objects.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) properties: Vec<PropertyPlan>,
    /// Why the update must not be kept.
    pub(crate) blockers: FieldErrors,
    pub(crate) objects_rewritten: u64,
    pub(crate) breaking: bool,
}

/// Makes property indexes and links of all types again, in a folder that an older program wrote.
pub(crate) fn derive(writer: &Writer<'_>) -> Result<()> {
    if writer.derived()? >= DERIVED {
        return Ok(());
    }
    for (ctd, _) in writer.ctd_revisions()? {
        let definition = writer.ctd(ctd)?.definition;
        let properties = definition.properties();
        writer.index_properties(ctd, &[], &[])?;
        writer.index_properties(ctd, &properties, definition.editions())?;
        for pk in writer.modified_objects(ctd)? {
            write::relink(writer, &properties, pk)?;
        }
    }
    writer.note_derived()
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
    writer.index_properties(pk, &definition.properties(), definition.editions())?;
    writer.log(Event::TypeCreated, at, pk, None)?;
    Ok(pk)
}

/// Deletes a type without live objects, its indexes, and its objects in the trash.
pub(crate) fn delete(writer: &Writer<'_>, content_type: &Type, at: Timestamp) -> Result<()> {
    writer.index_properties(content_type.pk, &[], &[])?;
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
    let live = writer.ctd_state(before.pk)?.live;
    let mut outcome = Outcome::default();
    for changed in diff::diff(&before.definition, definition) {
        let mut plan = PropertyPlan {
            name: changed.name.clone(),
            change: changed.change,
            from: changed.from.clone(),
            to: changed.to.clone(),
            kept: 0,
            converted: 0,
            emptied: 0,
            failed: 0,
            samples: Vec::new(),
        };
        match changed.change {
            Change::Add => {}
            Change::Settings => plan.kept = writer.count_values(before.pk, &changed.name)?,
            Change::Remove => remove(writer, before, &properties, &mut plan)?,
            Change::Type if live == 0 => {}
            Change::Type => {
                plan.failed = live;
                outcome.blockers.add(changed.name.as_str(), refusal(&changed));
            }
        }
        if changed.newly_required {
            plan.failed = plan.failed.max(writer.count_empty(before.pk, &changed.name)?);
            if plan.failed > 0 {
                outcome.blockers.add(changed.name.as_str(), message::required(&changed.name));
            }
        }
        outcome.breaking |= matches!(changed.change, Change::Remove | Change::Type);
        outcome.objects_rewritten += plan.emptied;
        outcome.properties.push(plan);
    }
    if !outcome.blockers.is_empty() {
        outcome.blockers.add("ctd", NOT_CONFORMING);
    }
    outcome.breaking |= before.definition.draft_public != definition.draft_public;
    switch_publishing(writer, catalog, before, definition)?;
    writer.index_properties(before.pk, &properties, definition.editions())?;
    writer.update_ctd(before.pk, definition, rev, at)?;
    writer.log(Event::TypeUpdated, at, before.pk, None)?;
    Ok(outcome)
}

/// Strips a property from all objects, and their links with it.
fn remove(
    writer: &Writer<'_>,
    before: &Type,
    remaining: &[Property],
    plan: &mut PropertyPlan,
) -> Result<()> {
    let name = plan.name.as_str();
    plan.emptied = writer.count_values(before.pk, name)?;
    plan.samples = writer
        .sample_values(before.pk, name, SAMPLES)?
        .into_iter()
        .map(|(id, before)| Sample { id, before, after: Value::Null })
        .collect();
    let linked = before.properties.iter().any(|known| known.name == name && known.may_link());
    let relinked = if linked { writer.objects_with(before.pk, name)? } else { Vec::new() };
    writer.remove_property(before.pk, name)?;
    for pk in relinked {
        write::relink(writer, remaining, pk)?;
    }
    Ok(())
}

/// Stored values are not converted from one type to another yet.
fn refusal(changed: &PropertyDiff) -> String {
    let kind = |kind: &Option<String>| kind.clone().unwrap_or_default();
    format!(
        "Changing the type from {} to {} is not possible while the content type has objects",
        kind(&changed.from),
        kind(&changed.to)
    )
}

/// Draft & Public and the workflow of a type that has objects.
fn switch_publishing(
    writer: &Writer<'_>,
    catalog: &Catalog,
    before: &Type,
    after: &Definition,
) -> Result<()> {
    match (before.definition.draft_public, after.draft_public) {
        (false, true) => writer.publish_all(before.pk)?,
        (true, false) => {
            let modified = writer.modified_objects(before.pk)?;
            writer.forget_publishing(before.pk)?;
            for pk in modified {
                write::relink(writer, &after.properties(), pk)?;
            }
        }
        _ => {}
    }
    match catalog.workflows.find(&after.workflow_id) {
        Some(found) if before.definition.workflow_id != after.workflow_id => {
            writer.enter_workflow(before.pk, found, PUBLIC)
        }
        _ => Ok(()),
    }
}
