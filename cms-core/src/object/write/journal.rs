//! The journal rows of changed objects. This module does not know how an object is written.

use cms_model::{
    content_type::catalog::CompiledType,
    context::Stamp,
    error::Result,
    object::{
        model::StoredObject,
        view::{Audience, View},
    },
};
use cms_store::{ChangedObject, Event, JournalChange, WriteTransaction};
use serde_json::{Map, Value};

pub(super) fn log_deletion(
    writer: &WriteTransaction<'_>,
    content_type: &CompiledType,
    stored: &StoredObject<'_>,
    stamp: Stamp,
) -> Result<()> {
    let changes_public_view = View::public(content_type).contains_object(&stored.internal);
    let entry = (Event::ObjectDeleted, stamp);
    log_change(writer, entry, content_type, (stored, None), changes_public_view)
}

/// Appends a change of an object to the journal, with the names of the changed properties of a new
/// version. Its audience depends on the type and on `changes_public_view`.
pub(crate) fn log_change(
    writer: &WriteTransaction<'_>,
    (event, stamp): (Event, Stamp),
    content_type: &CompiledType,
    (stored, changed): (&StoredObject<'_>, Option<&str>),
    changes_public_view: bool,
) -> Result<()> {
    let audience = Audience::of(content_type, changes_public_view);
    let (pk, id, version) = (stored.pk, &*stored.id, stored.internal.version);
    let title = &*stored.internal.title;
    writer.append_to_journal(&JournalChange {
        event,
        stamp,
        content_type: (content_type.pk, content_type.name()),
        object: Some(ChangedObject { pk, id, version, title, changed, audience }),
    })
}

/// Returns the names of the properties with different values, as a JSON array: first those of the
/// new object, then removed ones.
pub(super) fn changed_properties(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> String {
    let set = after.iter().filter(|(name, value)| before.get(*name) != Some(value));
    let removed = before.keys().filter(|name| !after.contains_key(*name));
    let names: Vec<&String> = set.map(|(name, _)| name).chain(removed).collect();
    serde_json::to_string(&names).expect("strings are valid JSON")
}
