//! One object on its way in: its id, its links, and whether the target has it already.

use cms_core::wire::ctd::ContentType;
use serde_json::{Map, Value};

/// Type and id, the latter in lower case, because ids are compared without case.
pub(super) type Address = (String, String);

/// An object of a file.
#[derive(Clone)]
pub(super) struct Element {
    pub(super) place: String,
    pub(super) value: Value,
}

impl Element {
    pub(super) fn id(&self) -> Option<&str> {
        self.value.get("id")?.as_str()
    }
}

/// The address of an object.
pub(super) fn address(content_type: &str, id: &str) -> Address {
    (content_type.to_owned(), id.to_lowercase())
}

/// Returns the object without the optional properties that link to something pending, or nothing
/// when there are none. What cannot be set later stays: required and read-only properties.
pub(super) fn without_pending(
    value: &Value,
    content_type: &ContentType,
    is_pending: &dyn Fn(&Address) -> bool,
) -> Option<Value> {
    let object = value.as_object()?;
    let required = &content_type.schema_definition["required"];
    let configs = &content_type.meta_definition["propertiesConfig"];
    let must_stay = |name: &str| {
        required.as_array().is_some_and(|names| names.iter().any(|n| n == name))
            || configs[name]["readonly"] == true
    };
    let early =
        object.iter().filter(|(name, value)| !must_stay(name) && links_to(value, is_pending));
    let early: Vec<&String> = early.map(|(name, _)| name).collect();
    if early.is_empty() {
        return None;
    }
    let rest = object.iter().filter(|(name, _)| !early.contains(name));
    Some(Value::Object(rest.map(|(name, value)| (name.clone(), value.clone())).collect()))
}

/// Tells whether a value holds a link, at any depth, to an address of which `wanted` is true.
fn links_to(value: &Value, wanted: &dyn Fn(&Address) -> bool) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| links_to(item, wanted)),
        Value::Object(members) => {
            link(members).is_some_and(|address| wanted(&address))
                || members.values().any(|member| links_to(member, wanted))
        }
        _ => false,
    }
}

/// The address that a link points to (contract 3.7).
fn link(members: &Map<String, Value>) -> Option<Address> {
    let path = members.get("dataUrl")?.as_str()?.strip_prefix("/api/v1/content/")?;
    let (content_type, id) = path.split_once('/')?;
    let id = percent_encoding::percent_decode_str(id).decode_utf8().ok()?;
    Some(address(content_type, &id))
}

/// Tells whether writing `sent` over `stored` would leave the object as it is.
///
/// A read-only property that is left out keeps its value, and a slug that is left out is made from
/// its source, so neither of them counts.
pub(super) fn is_unchanged(sent: &Value, stored: &Value, content_type: &ContentType) -> bool {
    let (Some(sent), Some(stored)) = (sent.as_object(), stored.as_object()) else { return false };
    let counts = |name: &str| name != "id" && name != "internal";
    let configs = &content_type.meta_definition["propertiesConfig"];
    let is_kept = |name: &str| {
        configs[name]["readonly"] == true
            || content_type.slugs.iter().any(|slug| {
                let source = sent.get(&slug.source).and_then(Value::as_str).unwrap_or_default();
                slug.active && slug.target == name && !source.is_empty()
            })
    };
    sent.iter().all(|(name, value)| !counts(name) || stored.get(name) == Some(value))
        && stored.keys().all(|name| !counts(name) || sent.contains_key(name) || is_kept(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn content_type() -> ContentType {
        serde_json::from_value(json!({
            "id": "", "name": "post", "label": "", "workflowId": "generic", "draftPublic": false,
            "internal": false, "featuredImage": [], "deletedAt": null, "createdAt": "",
            "updatedAt": null, "slugs": [{"source": "title", "target": "slug", "active": true}],
            "schemaDefinition": {"required": ["author"]},
            "metaDefinition": {"propertiesConfig": {"fixed": {"readonly": true}}},
        }))
        .unwrap()
    }

    fn to(id: &str) -> Value {
        json!([{"type": "internal", "dataUrl": format!("/api/v1/content/post/{id}")}])
    }

    #[test]
    fn pending_links_are_taken_out_where_they_can_be_set_later() {
        let value = json!({"id": "a", "author": to("x"), "fixed": to("x"), "next": to("X"),
            "list": [{"n": 1, "deep": to("x%20y")}], "old": to("done")});
        let pending = [address("post", "x"), address("post", "x y")];
        let stripped = without_pending(&value, &content_type(), &|at| pending.contains(at));
        assert_eq!(
            stripped,
            Some(json!({"id": "a", "author": to("x"), "fixed": to("x"), "old": to("done")}))
        );
        assert_eq!(without_pending(&value, &content_type(), &|_| false), None);
    }

    #[test]
    fn an_object_is_unchanged_when_a_write_would_leave_it_so() {
        let stored =
            json!({"id": "A", "internal": {"v": 3}, "title": "T", "slug": "t", "fixed": 1});
        let table = [
            (json!({"id": "a", "title": "T", "slug": "t", "fixed": 1}), true),
            (json!({"id": "a", "title": "T"}), true),
            (json!({"id": "a", "title": "U"}), false),
            (json!({"id": "a", "title": "T", "more": 1}), false),
            (json!({"id": "a", "slug": "t"}), false),
            (json!("text"), false),
        ];
        for (sent, wanted) in table {
            assert_eq!(is_unchanged(&sent, &stored, &content_type()), wanted, "{sent}");
        }
    }
}
