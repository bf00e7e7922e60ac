//! The database changes of creating, changing and deleting a type, inside one transaction.
//!
//! [`update`] applies a change and reports its effects; the caller commits or rolls back.
//! [`plan_update`] converts the objects by the same code, and reports the same effects.

use std::collections::HashSet;

use cms_model::{
    content_type::{
        catalog::{Catalog, CompiledType},
        diff::PropertyDiff,
        indexed::IndexedProperties,
        model::{Definition, Property},
        nested,
        rewrite::{Rewrite, RewrittenVersion},
    },
    context::Stamp,
    error::{FieldErrors, Result},
    limits,
    object::{
        link,
        model::Edition,
        scan::{self, FoundLink},
    },
    wire::plan::{PlanPhase, PlanProgress, PropertyChange, PropertyPlan},
    workflow::model::PUBLIC_STATE,
};
use cms_store::{
    DERIVED_DATA_VERSION, Event, Reader, RewrittenVersions, StoredVersion, StoredVersions,
    WriteTransaction,
};

use crate::{hooks, object::write, progress::Progress};

const NOT_CONFORMING: &str = "Existing objects do not conform to the new schema, and updating them automatically is impossible (e.g., Text -> Relationship). Ensure you're not changing a field type that is also required - if so, disable required for the field you're changing.";

/// With more objects than this, rebuilding indexes may be faster than updating them.
const REBUILD_ABOVE_OBJECTS: u64 = 10_000;

/// The effects of an update on a type and its objects.
pub(crate) struct TypeUpdate {
    pub(crate) properties: Vec<PropertyPlan>,
    /// The reason to roll back the update.
    pub(crate) blockers: FieldErrors,
    pub(crate) objects_rewritten: u64,
    /// Readers of the API can notice the change.
    pub(crate) breaking: bool,
}

/// Rebuilds the slots of all types, their indexes, and the links of modified objects, in a data
/// directory of an older version.
pub(crate) fn rebuild_derived_data(writer: &WriteTransaction<'_>) -> Result<()> {
    if writer.derived_data_version()? >= DERIVED_DATA_VERSION {
        return Ok(());
    }
    let mut types = Vec::new();
    for (ctd, _) in writer.ctd_revisions()? {
        let definition = writer.ctd(ctd)?.definition;
        let properties = definition.properties();
        let slots = IndexedProperties::of_type(&definition, &properties);
        types.push((ctd, definition, properties, slots));
    }
    writer.drop_slot_indexes_except(&HashSet::new())?;
    let mut count = limits::MAX_INDEXED_PROPERTIES;
    for (ctd, definition, properties, slots) in types {
        count = count.max(slots.count());
        writer.fill_slots(ctd, &slots, definition.editions())?;
        for pk in writer.modified_objects(ctd)? {
            write::relink(writer, &properties, pk)?;
        }
    }
    writer.create_slot_indexes(count, |_, _| {})?;
    writer.set_derived_data_version()
}

/// Creates a type; returns its primary key.
pub(crate) fn create(
    writer: &WriteTransaction<'_>,
    uid: &str,
    definition: &Definition,
    rev: i64,
    stamp: Stamp,
) -> Result<i64> {
    let pk = writer.insert_ctd(uid, definition, rev, stamp.at)?;
    let slots = IndexedProperties::of_type(definition, &definition.properties());
    writer.create_slot_indexes(slots.count(), |_, _| {})?;
    writer.append_type_to_journal(Event::TypeCreated, stamp, (pk, &definition.name))?;
    Ok(pk)
}

/// Deletes a type without live objects, and its objects in the trash.
pub(crate) fn delete(
    writer: &WriteTransaction<'_>,
    content_type: &CompiledType,
    stamp: Stamp,
) -> Result<()> {
    writer.append_type_to_journal(
        Event::TypeDeleted,
        stamp,
        (content_type.pk, content_type.name()),
    )?;
    // Creates the deliveries of journal rows that are not read yet: their objects are about to be
    // removed.
    hooks::before_removal(writer, stamp.at)?;
    writer.delete_ctd(content_type.pk)
}

/// Changes a type and its stored objects.
pub(crate) fn update(
    writer: &WriteTransaction<'_>,
    catalog: &Catalog,
    before: &CompiledType,
    definition: &Definition,
    rev: i64,
    stamp: Stamp,
    progress: &Progress,
) -> Result<TypeUpdate> {
    let properties = definition.properties();
    let mut rewrite =
        Rewrite::new((&before.definition, &before.properties), (definition, &properties));
    let slot_update = SlotUpdate::of(writer, catalog, (before, definition), &rewrite)?;
    let editions = editions_before_and_after(before, definition);
    let slots = slot_update.slots();
    let objects_rewritten =
        rewrite_objects(writer, catalog, (before, editions), &mut rewrite, slots, progress)?;
    apply_publishing_settings(writer, catalog, before, definition)?;
    // A relation may be declared for values that objects have already.
    if link::nested_relations(&before.properties) != link::nested_relations(&properties) {
        write::relink_all(writer, &properties, before.pk)?;
    }
    slot_update.finish(writer, before.pk, definition, progress)?;
    writer.update_ctd(before.pk, definition, rev, stamp.at)?;
    writer.append_type_to_journal(Event::TypeUpdated, stamp, (before.pk, before.name()))?;
    Ok(TypeUpdate::of(rewrite, (&before.definition, definition), objects_rewritten))
}

/// Converts the stored objects of a type as [`update`] does, and stores nothing.
///
/// # Errors
/// Fails when the progress is cancelled.
pub(crate) fn plan_update(
    reader: &Reader<'_>,
    catalog: &Catalog,
    before: &CompiledType,
    definition: &Definition,
    progress: &Progress,
) -> Result<TypeUpdate> {
    let properties = definition.properties();
    let mut rewrite =
        Rewrite::new((&before.definition, &before.properties), (definition, &properties));
    let mut rewritten = 0;
    if reads_objects(reader, before, &rewrite, progress)? {
        let exists = |data_url: &str| target_exists(reader, catalog, data_url);
        rewrite.check_backfills(&exists)?;
        reader.each_stored_object(
            before.pk,
            editions_before_and_after(before, definition),
            |object| {
                progress.ensure_running()?;
                progress.advance();
                rewritten += u64::from(convert(&mut rewrite, &object, &exists)?.is_some());
                Ok(())
            },
        )?;
    }
    Ok(TypeUpdate::of(rewrite, (&before.definition, definition), rewritten))
}

impl TypeUpdate {
    fn of(
        rewrite: Rewrite<'_>,
        (before, after): (&Definition, &Definition),
        objects_rewritten: u64,
    ) -> Self {
        let (diffs, changes_titles) = (rewrite.diffs(), rewrite.titles_change);
        let (mut properties, mut blockers) = rewrite.into_plans();
        for (planned, diff) in properties.iter_mut().zip(&diffs) {
            planned.nested = nested::changes(diff, before, after);
        }
        if !blockers.is_empty() {
            blockers.add("ctd", NOT_CONFORMING);
        }
        let is_breaking = |diff: &PropertyDiff| {
            diff.is_renamed()
                || matches!(diff.change, PropertyChange::Remove | PropertyChange::Type)
        };
        let breaking = diffs.iter().any(is_breaking)
            || changes_titles
            || before.workflow_id != after.workflow_id
            || before.draft_public != after.draft_public;
        Self { properties, blockers, objects_rewritten, breaking }
    }
}

/// Returns the editions of objects that a change converts: those that exist both before and after the change. A change
/// that turns Draft & Public off removes the published versions. One that turns it on creates them later, as copies of
/// the converted current versions.
fn editions_before_and_after(before: &CompiledType, after: &Definition) -> &'static [Edition] {
    if after.draft_public { before.definition.editions() } else { after.editions() }
}

/// Returns whether a change has to read the objects of a type, and starts the progress.
fn reads_objects(
    reader: &Reader<'_>,
    before: &CompiledType,
    rewrite: &Rewrite<'_>,
    progress: &Progress,
) -> Result<bool> {
    let live = reader.type_state(before.pk)?.live;
    if !rewrite.reads_objects() || live == 0 {
        return Ok(false);
    }
    progress.start(before.name(), live);
    Ok(true)
}

fn target_exists(reader: &Reader<'_>, catalog: &Catalog, data_url: &str) -> Result<bool> {
    let Some(target) = link::parse(data_url) else { return Ok(false) };
    let Some(content_type) = catalog.find(target.content_type) else { return Ok(false) };
    Ok(reader.object_pk(content_type.pk, &target.id)?.is_some())
}

/// Converts the versions of an object; none when neither changes.
fn convert(
    rewrite: &mut Rewrite<'_>,
    object: &StoredVersions<'_>,
    exists: &impl Fn(&str) -> Result<bool>,
) -> Result<Option<RewrittenVersions>> {
    let mut version = |version: StoredVersion<'_>| {
        rewrite.rewrite_version(object.id, version.title, version.data, exists)
    };
    let current = version(object.current)?;
    let published = object.published.map(version).transpose()?.flatten();
    let is_same = current.is_none() && published.is_none();
    Ok((!is_same).then_some(RewrittenVersions { current, published }))
}

/// Rewrites the objects of a type, and stores those that change; returns their number.
fn rewrite_objects(
    writer: &WriteTransaction<'_>,
    catalog: &Catalog,
    (before, editions): (&CompiledType, &[Edition]),
    rewrite: &mut Rewrite<'_>,
    slots: Option<&IndexedProperties>,
    progress: &Progress,
) -> Result<u64> {
    if !reads_objects(writer, before, rewrite, progress)? {
        return Ok(0);
    }
    let exists = |data_url: &str| target_exists(writer, catalog, data_url);
    rewrite.check_backfills(&exists)?;
    let properties = rewrite.properties;
    let changes_links = rewrite.affects(Property::may_link);
    let mut rewritten = 0;
    writer.rewrite_objects(before.pk, editions, slots, |object| {
        progress.advance();
        let Some(new) = convert(rewrite, &object, &exists)? else { return Ok(None) };
        rewritten += 1;
        if changes_links {
            let links = |new: &Option<RewrittenVersion>, stored: StoredVersion<'_>| {
                scan::links(new.as_ref().map_or(stored.data, |new| &new.data), properties)
            };
            let mut found = links(&new.current, object.current);
            found.extend(object.published.into_iter().flat_map(|old| links(&new.published, old)));
            writer.replace_links(object.pk, found.iter().map(FoundLink::target))?;
        }
        Ok(Some(new))
    })?;
    Ok(rewritten)
}

/// The effects of a change on the slots of a type.
struct SlotUpdate {
    /// The slots of the type after the change.
    slots: IndexedProperties,
    /// Whether the rows of the type need other values in their slots.
    changes_rows: bool,
    /// Number of slots with indexes after the change.
    indexes: usize,
}

impl SlotUpdate {
    /// Determines the changes. When most objects are of the type, indexes are dropped and rebuilt,
    /// which is faster than updating them row by row.
    fn of(
        writer: &WriteTransaction<'_>,
        catalog: &Catalog,
        (before, definition): (&CompiledType, &Definition),
        rewrite: &Rewrite<'_>,
    ) -> Result<Self> {
        let slots = IndexedProperties::of_type(definition, rewrite.properties);
        let changes_rows =
            slots != before.indexed || rewrite.affects(|property| slots.depends_on(&property.name));
        let live = writer.type_state(before.pk)?.live;
        if changes_rows && live > REBUILD_ABOVE_OBJECTS && live * 2 > writer.live_objects()? {
            // The type has no values in later slots: their indexes stay.
            writer.drop_slot_indexes(slots.count().max(before.indexed.count()))?;
        }
        Ok(Self { indexes: catalog.slot_count().max(slots.count()), slots, changes_rows })
    }

    /// The slots to write with each rewritten row; none if they do not change.
    fn slots(&self) -> Option<&IndexedProperties> {
        self.changes_rows.then_some(&self.slots)
    }

    fn finish(
        self,
        writer: &WriteTransaction<'_>,
        ctd: i64,
        definition: &Definition,
        progress: &Progress,
    ) -> Result<()> {
        if self.changes_rows {
            // The rows that were not rewritten.
            writer.fill_slots(ctd, &self.slots, definition.editions())?;
        }
        writer.create_slot_indexes(self.indexes, |done, total| {
            let content_type = definition.name.clone();
            progress.set(PlanProgress { content_type, phase: PlanPhase::Indexes, done, total });
        })
    }
}

/// Applies changes of Draft & Public and of the workflow of a type with objects.
fn apply_publishing_settings(
    writer: &WriteTransaction<'_>,
    catalog: &Catalog,
    before: &CompiledType,
    after: &Definition,
) -> Result<()> {
    // The workflow comes first, so that the published versions created below also have its states.
    if before.definition.workflow_id != after.workflow_id
        && let Some(found) = catalog.workflows.find(&after.workflow_id)
    {
        writer.enter_workflow(before.pk, found, PUBLIC_STATE)?;
    }
    match (before.definition.draft_public, after.draft_public) {
        (false, true) => writer.enable_draft_public(before.pk)?,
        (true, false) => {
            let modified = writer.modified_objects(before.pk)?;
            writer.disable_draft_public(before.pk)?;
            for pk in modified {
                write::relink(writer, &after.properties(), pk)?;
            }
        }
        _ => {}
    }
    Ok(())
}
