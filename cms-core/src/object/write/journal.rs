//! The journal rows of changed objects. This module does not know how an object is written.

use cms_model::{
    content_type::catalog::CompiledType,
    context::Stamp,
    error::Result,
    object::{
        model::StoredObject,
        view::{Audience, View},
    },
    query::value::canonical,
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
    let event = Event::ObjectDeleted;
    let change =
        LoggedChange { event, stamp, stored, changed_properties: None, changes_public_view };
    log_change(writer, content_type, &change)
}

/// A change of an object, for the journal.
pub(crate) struct LoggedChange<'a> {
    pub event: Event,
    pub stamp: Stamp,
    /// The object after the change, or before its deletion.
    pub stored: &'a StoredObject<'a>,
    /// Names of the properties that a new version changes, as a JSON array.
    pub changed_properties: Option<&'a str>,
    /// The change alters the public view of the type. See [`Audience::of`].
    pub changes_public_view: bool,
}

/// Appends a change of an object to the journal. Its audience depends on the type and on `changes_public_view`.
pub(crate) fn log_change(
    writer: &WriteTransaction<'_>,
    content_type: &CompiledType,
    change: &LoggedChange<'_>,
) -> Result<()> {
    let &LoggedChange { event, stamp, stored, changed_properties: changed, changes_public_view } =
        change;
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
    // Clients may write 5.0 as 5.
    let is_equal =
        |a: &Value, b: &Value| a == b || (!a.is_string() && canonical(a) == canonical(b));
    let is_same = |(name, value): (&String, &Value)| {
        before.get(name).is_some_and(|before| is_equal(before, value))
    };
    let set = after.iter().filter(|member| !is_same(*member));
    let removed = before.keys().filter(|name| !after.contains_key(*name));
    let names: Vec<&String> = set.map(|(name, _)| name).chain(removed).collect();
    serde_json::to_string(&names).expect("strings are valid JSON")
}
