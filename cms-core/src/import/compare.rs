//! Comparing an object of a file with the stored one.

use std::{borrow::Cow, cell::LazyCell};

use serde_json::{Map, Value};

use super::{links::without_pending_links, object::ObjectAddress};
use cms_model::{
    clock::Timestamp,
    content_type::{defaults, model::Definition, slug::slug},
    dates::parse_lenient,
    wire::content_type::ContentType,
};

/// How much of an object an interrupted import saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completeness {
    Complete,
    /// The links that are set when all objects exist are missing.
    WithoutLinks,
}

/// Returns whether saving `sent` would leave the stored object unchanged. A read-only property that
/// is left out keeps its value.
pub(super) fn is_unchanged(sent: &Value, stored: &Value, content_type: &ContentType) -> bool {
    let configs = &content_type.meta_definition["propertiesConfig"];
    let extra = extra_properties(sent, stored, content_type);
    extra.is_some_and(|names| names.iter().all(|name| configs[name]["readonly"] == true))
}

/// Returns whether the stored object has the creation date of the file, to the second; true if the file
/// has none.
pub(super) fn has_same_creation_date(sent: &Value, stored: &Value) -> bool {
    let second = |at: &Value| at.as_str().and_then(parse_lenient).map(Timestamp::seconds);
    let [sent, stored] = [sent, stored].map(|object| &object["internal"]["createdAt"]);
    !sent.is_string() || second(sent) == second(stored)
}

/// Returns how the stored object differs from that of the file; none if they are equal.
pub(super) fn difference(
    sent: &Value,
    stored: &Value,
    content_type: &ContentType,
) -> Option<String> {
    let Some(names) = extra_properties(sent, stored, content_type) else {
        return Some("the stored object differs from the object in the file".to_owned());
    };
    let first = names.first()?;
    Some(format!("\"{first}\" is stored, but not in the file"))
}

/// Returns whether the stored object was created from `sent`, and how completely: links to objects
/// that satisfy `is_set_later` may be missing. None when it has other content.
pub(super) fn completeness(
    sent: &Value,
    stored: &Value,
    content_type: &ContentType,
    is_set_later: &dyn Fn(&ObjectAddress) -> bool,
) -> Option<Completeness> {
    let minimum = without_pending_links(sent, content_type, is_set_later);
    let is_expected = |name: &str| {
        stored.get(name).is_some()
            || minimum.as_ref().is_none_or(|minimum| minimum.get(name).is_some())
    };
    let all = sent.as_object()?;
    let sent_properties = all.iter().filter(|(name, _)| is_expected(name));
    let sent_properties: Map<String, Value> =
        sent_properties.map(|(name, value)| (name.clone(), value.clone())).collect();
    let is_complete = sent_properties.len() == all.len();
    match difference(&Value::Object(sent_properties), stored, content_type) {
        Some(_) => None,
        None if is_complete => Some(Completeness::Complete),
        None => Some(Completeness::WithoutLinks),
    }
}

/// The stored properties that `sent` does not contain; `None` when the stored object lacks a property of
/// `sent`, or has it with another value.
///
/// Left out are values that the server sets for a missing property: its default, and the slug that is
/// generated from its source.
fn extra_properties<'s>(
    sent: &Value,
    stored: &'s Value,
    content_type: &ContentType,
) -> Option<Vec<&'s String>> {
    let (sent, stored) = (sent.as_object()?, stored.as_object()?);
    // Most objects do not differ, so their defaults are not needed.
    let created = LazyCell::new(|| with_defaults(sent, content_type));
    let is_property = |name: &str| name != "id" && name != "internal";
    let is_same = |(name, value): (&String, &Value)| {
        let found = stored.get(name);
        !is_property(name) || found == Some(value) || found == created.get(name)
    };
    if !sent.iter().all(is_same) {
        return None;
    }
    let is_generated = |name: &str, value: &Value| {
        let is_slug = content_type.slugs.iter().any(|rule| {
            let source = sent.get(&rule.source).and_then(Value::as_str).unwrap_or_default();
            rule.active && rule.target == name && !source.is_empty() && *value == slug(source)
        });
        is_slug || created.get(name) == Some(value)
    };
    let extra = stored.iter().filter(|(name, value)| {
        is_property(name) && !sent.contains_key(*name) && !is_generated(name, value)
    });
    Some(extra.map(|(name, _)| name).collect())
}

/// The properties of an object that is created from `sent`.
fn with_defaults<'s>(
    sent: &'s Map<String, Value>,
    content_type: &ContentType,
) -> Cow<'s, Map<String, Value>> {
    if content_type.meta_definition["applyDefaults"] != true {
        return Cow::Borrowed(sent);
    }
    let definition = Definition::of(content_type);
    let mut created = sent.clone();
    defaults::fill(&definition, &definition.properties(), &mut created);
    Cow::Owned(created)
}
