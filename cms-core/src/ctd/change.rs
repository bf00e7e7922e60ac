//! What creating, changing and deleting a type does to the database, inside one transaction.
//!
//! [`update`] carries a change out and reports what it did; whoever called it decides whether the
//! transaction is kept. That is how a plan is exactly what an apply would do.

use super::{
    catalog::Type,
    diff::{self, PropertyDiff},
    model::{Definition, Property},
};
use crate::{
    clock::Timestamp,
    error::{FieldErrors, Result},
    message,
    object::{link, scan, write},
    store::{Event, Writer, index_ddl},
    wire::plan::{Change, PropertyPlan},
    workflow,
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

/// Creates a type and its indexes; returns its row.
pub(crate) fn create(
    writer: &Writer<'_>,
    uid: &str,
    definition: &Definition,
    rev: i64,
    at: Timestamp,
) -> Result<i64> {
    let pk = writer.insert_ctd(uid, definition, rev, at)?;
    index(writer, pk, &definition.properties())?;
    writer.log(Event::TypeCreated, at, pk, None)?;
    Ok(pk)
}

/// Deletes a type without live objects, its indexes, and its objects in the trash.
pub(crate) fn delete(writer: &Writer<'_>, content_type: &Type, at: Timestamp) -> Result<()> {
    index(writer, content_type.pk, &[])?;
    writer.delete_ctd(content_type.pk)?;
    writer.log(Event::TypeDeleted, at, content_type.pk, None)
}

/// Changes a type and what is stored of it.
pub(crate) fn update(
    writer: &Writer<'_>,
    before: &Type,
    definition: &Definition,
    rev: i64,
    at: Timestamp,
) -> Result<Outcome> {
    let properties = definition.properties();
    let live = writer.ctd_state(before.pk)?.live;
    let mut outcome = Outcome::default();
    let mut relinked = Vec::new();
    for changed in diff::diff(&before.properties, &properties) {
        let plan = match changed.change {
            Change::Remove => {
                outcome.breaking = true;
                remove_values(writer, before, &changed, &mut relinked)?
            }
            Change::Type if live > 0 => refuse_conversion(&changed, live, &mut outcome.blockers),
            Change::Type | Change::Add | Change::Settings => keep_values(writer, before, &changed)?,
        };
        outcome.breaking |= changed.change == Change::Type;
        if changed.newly_required {
            require_values(writer, before, &changed, &mut outcome.blockers)?;
        }
        outcome.objects_rewritten += plan.emptied;
        outcome.properties.push(plan);
    }
    relink(writer, &properties, &relinked)?;
    outcome.breaking |= switch_publishing(writer, before, definition)?;
    index(writer, before.pk, &properties)?;
    writer.update_ctd(before.pk, definition, rev, at)?;
    writer.log(Event::TypeUpdated, at, before.pk, None)?;
    Ok(outcome)
}

/// Brings the property indexes of a type to what its properties need.
fn index(writer: &Writer<'_>, ctd: i64, properties: &[Property]) -> Result<()> {
    let present = writer.property_indexes(ctd)?;
    writer.run_ddl(&index_ddl::changes(ctd, properties, &present))
}
