//! One object on its way in: its id, its links, and whether the target has it already.

use cms_core::{slug, wire::content_type::ContentType};
use serde_json::{Map, Value};

/// Type and id, the latter in lower case, because ids are compared without case.
pub(super) type Address = (String, String);

/// How far an object is that an interrupted import created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completeness {
    Complete,
    /// Links that are set when all objects exist are missing.
    LacksLinks,
}

/// The status of an object that was edited since it was published.
const MODIFIED: &str = "modified";

/// An object of a file.
#[derive(Clone)]
pub(super) struct Element {
    pub(super) place: String,
    pub(super) value: Value,
    /// It is created from its published version, and gets the current one later.
    pub(super) from_published: bool,
    /// It goes to the trash.
    pub(super) is_deleted: bool,
}

impl Element {
    pub(super) fn new(place: String, value: Value) -> Self {
        Self { place, value, from_published: false, is_deleted: false }
    }

    /// Has the target take the dates of the object, for its published version too.
    pub(super) fn keep_dates(&mut self) {
        let Some(Value::Object(internal)) = self.value.get_mut("internal") else { return };
        self.is_deleted = internal.get("deletedAt").is_some_and(|at| at != "");
        let dates =
            ["createdAt", "updatedAt"].map(|name| Some((name, internal.get(name)?.clone())));
        let dates = dates.into_iter().flatten().map(|(name, at)| (name.to_owned(), at));
        let dates = Value::Object(dates.collect());
        if let Some(Value::Object(published)) = internal.get_mut("published") {
            published.entry("internal").or_insert(dates);
        }
    }

    pub(super) fn id(&self) -> Option<&str> {
        self.value.get("id")?.as_str()
    }

    /// What the target gets first.
    pub(super) fn first(&self) -> &Value {
        match self.published() {
            Some(Ok(published)) if self.from_published => published,
            _ => &self.value,
        }
    }

    /// The published version of an object that was edited since, or why there is none.
    pub(super) fn published(&self) -> Option<Result<&Value, String>> {
        let internal = self.value.get("internal")?;
        if internal["status"] != MODIFIED {
            return None;
        }
        let published = &internal["published"];
        let id = self.id().unwrap_or_default();
        Some(match published.get("id") {
            _ if published.is_null() => Err("the published version is missing".to_owned()),
            _ if !published.is_object() => Err(format!("{published} where a mapping is expected")),
            None => Err("the id is missing".to_owned()),
            Some(Value::String(other)) if other.to_lowercase() == id.to_lowercase() => {
                Ok(published)
            }
            Some(other) => Err(format!("the id is {other}, not \"{id}\"")),
        })
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
pub(super) fn links_to(value: &Value, wanted: &dyn Fn(&Address) -> bool) -> bool {
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

/// Tells whether writing `sent` over `stored` would leave the object as it is: a read-only property
/// that is left out keeps its value.
pub(super) fn is_unchanged(sent: &Value, stored: &Value, content_type: &ContentType) -> bool {
    let configs = &content_type.meta_definition["propertiesConfig"];
    let more = surplus(sent, stored, content_type);
    more.is_some_and(|names| names.iter().all(|name| configs[name]["readonly"] == true))
}

/// Tells whether an object has the date of creation that a file says, if it says one. The server
/// writes dates to the second, in UTC.
pub(super) fn is_as_old(sent: &Value, stored: &Value) -> bool {
    let second = |object: &Value| {
        object["internal"]["createdAt"].as_str().and_then(|at| at.get(..19)).map(str::to_owned)
    };
    second(sent).is_none_or(|at| second(stored) == Some(at))
}

/// Tells why an object is not exactly what a file holds, if it is not.
pub(super) fn difference(
    sent: &Value,
    stored: &Value,
    content_type: &ContentType,
) -> Option<String> {
    let Some(names) = surplus(sent, stored, content_type) else {
        return Some("another version is stored than the file holds".to_owned());
    };
    let first = names.first()?;
    Some(format!("\"{first}\" is stored, but not in the file"))
}

/// Tells whether an object is stored as it was created from `sent`, and whether it is complete: links
/// of which `is_set_later` is true may still be missing.
pub(super) fn completeness(
    sent: &Value,
    stored: &Value,
    content_type: &ContentType,
    is_set_later: &dyn Fn(&Address) -> bool,
) -> Option<Completeness> {
    let least = without_pending(sent, content_type, is_set_later);
    let is_created = |name: &str| {
        stored.get(name).is_some() || least.as_ref().is_none_or(|least| least.get(name).is_some())
    };
    let all = sent.as_object()?;
    let created = all.iter().filter(|(name, _)| is_created(name));
    let created: Map<String, Value> =
        created.map(|(name, value)| (name.clone(), value.clone())).collect();
    let is_complete = created.len() == all.len();
    match difference(&Value::Object(created), stored, content_type) {
        Some(_) => None,
        None if is_complete => Some(Completeness::Complete),
        None => Some(Completeness::LacksLinks),
    }
}

/// The properties that are stored and that `sent` does not name, as long as nothing else differs.
///
/// A slug that is left out is made from its source, so it counts only when it is another one.
fn surplus<'s>(
    sent: &Value,
    stored: &'s Value,
    content_type: &ContentType,
) -> Option<Vec<&'s String>> {
    let (sent, stored) = (sent.as_object()?, stored.as_object()?);
    let counts = |name: &str| name != "id" && name != "internal";
    let is_same =
        |(name, value): (&String, &Value)| !counts(name) || stored.get(name) == Some(value);
    if !sent.iter().all(is_same) {
        return None;
    }
    let is_made = |name: &str, value: &Value| {
        content_type.slugs.iter().any(|rule| {
            let source = sent.get(&rule.source).and_then(Value::as_str).unwrap_or_default();
            rule.active && rule.target == name && !source.is_empty() && *value == slug(source)
        })
    };
    let more = stored
        .iter()
        .filter(|(name, value)| counts(name) && !sent.contains_key(*name) && !is_made(name, value));
    Some(more.map(|(name, _)| name).collect())
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
    fn completeness_is_that_of_an_object_that_nobody_else_changed() {
        let sent =
            json!({"id": "a", "title": "T", "author": to("x"), "next": to("x"), "old": to("y")});
        let without = |names: &[&str]| {
            let mut stored = sent.clone();
            stored["slug"] = json!("t");
            for name in names {
                stored.as_object_mut().unwrap().remove(*name);
            }
            stored
        };
        let with = |name: &str, value: Value| {
            let mut stored = without(&[]);
            stored[name] = value;
            stored
        };
        let (complete, lacks_links) =
            (Some(Completeness::Complete), Some(Completeness::LacksLinks));
        let table = [
            (without(&[]), complete),
            (without(&["next"]), lacks_links),
            // It was never created without these.
            (without(&["author"]), None),
            (without(&["next", "title"]), None),
            (without(&["old"]), None),
            (with("title", json!("U")), None),
            (with("slug", json!("other")), None),
            (with("next", to("y")), None),
            (with("more", json!(1)), None),
        ];
        for (stored, wanted) in table {
            let found = completeness(&sent, &stored, &content_type(), &|at| at.1 == "x");
            assert_eq!(found, wanted, "{stored}");
        }
        let stored = without(&[]);
        assert_eq!(completeness(&json!("text"), &stored, &content_type(), &|_| true), None);
    }

    #[test]
    fn an_object_is_compared_with_what_a_file_holds() {
        let stored =
            json!({"id": "A", "internal": {"v": 3}, "title": "T", "slug": "t", "fixed": 1});
        let another = Some("another version is stored than the file holds");
        let fixed = Some("\"fixed\" is stored, but not in the file");
        let table = [
            (json!({"id": "a", "title": "T", "slug": "t", "fixed": 1}), true, None),
            (json!({"id": "a", "title": "T", "fixed": 1}), true, None),
            (json!({"id": "a", "title": "T"}), true, fixed),
            (json!({"id": "a", "title": "U"}), false, another),
            (json!({"id": "a", "title": "T", "more": 1}), false, another),
            (
                json!({"id": "a", "slug": "t", "fixed": 1}),
                false,
                Some("\"title\" is stored, but not in the file"),
            ),
            (json!("text"), false, another),
        ];
        for (sent, unchanged, different) in table {
            assert_eq!(is_unchanged(&sent, &stored, &content_type()), unchanged, "{sent}");
            assert_eq!(difference(&sent, &stored, &content_type()).as_deref(), different, "{sent}");
        }
        // A slug that an editor wrote is not the one that the title makes.
        let stored = json!({"id": "a", "title": "T", "slug": "other"});
        assert!(!is_unchanged(&json!({"id": "a", "title": "T"}), &stored, &content_type()));
    }
}
