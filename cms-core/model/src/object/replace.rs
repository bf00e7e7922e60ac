//! Replaces one value of a property in objects, for example an option that a type no longer has.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{content_type::model::Property, error::FieldErrors, message, read};

/// Suffix of a list in a path; lists are traversed with and without it.
const EVERY_ITEM: &str = "[*]";
const MEMBERS: [&str; 3] = ["path", "from", "to"];

/// Replaces the text `from` at a path with `to`. The path leads to a text or to a list of texts; in a
/// list of objects, it applies to each item. A list of chosen options contains `to` only once
/// afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replacement {
    path: String,
    from: String,
    to: String,
}

impl Replacement {
    /// Parses `{"path": .., "from": .., "to": ..}`; `parent` is its path in the payload.
    pub fn from_payload(
        payload: &Map<String, Value>,
        parent: &str,
        errors: &mut FieldErrors,
    ) -> Option<Self> {
        let mut text = |name| read::required::<&str>(payload, name, parent, errors);
        let (path, from, to) = (text("path"), text("from"), text("to"));
        read::refuse_others(payload, &MEMBERS, parent, errors);
        let owned = |text: &str| text.to_owned();
        let parsed = Self { path: owned(path?), from: owned(from?), to: owned(to?) };
        if parsed.steps().any(str::is_empty) {
            errors.add(read::join(parent, "path"), message::NOT_VALID);
        }
        Some(parsed)
    }

    /// Returns the first name of the path: a property of the object.
    pub fn property(&self) -> &str {
        self.steps().next().unwrap_or_default()
    }

    /// Replaces the value in an object; returns whether the object contained it.
    fn apply(&self, object: &mut Map<String, Value>, properties: &[Property]) -> bool {
        self.replace_in(object, &self.steps().collect::<Vec<_>>(), properties)
    }

    fn steps(&self) -> impl Iterator<Item = &str> {
        self.path.split('.').map(|step| step.strip_suffix(EVERY_ITEM).unwrap_or(step))
    }

    fn replace_in(
        &self,
        members: &mut Map<String, Value>,
        steps: &[&str],
        properties: &[Property],
    ) -> bool {
        let Some((name, rest)) = steps.split_first() else { return false };
        let property = properties.iter().find(|property| property.name == *name);
        members.get_mut(*name).is_some_and(|value| self.replace(value, rest, property))
    }

    /// Returns whether the value contained the text.
    fn replace(&self, value: &mut Value, steps: &[&str], property: Option<&Property>) -> bool {
        match value {
            Value::Object(members) => {
                let nested = property.map_or(&[][..], |property| &property.nested);
                self.replace_in(members, steps, nested)
            }
            Value::Array(items) => {
                let mut is_changed = false;
                for item in &mut *items {
                    is_changed |= self.replace(item, steps, property);
                }
                let has_options = property.is_some_and(|property| !property.options.is_empty());
                if is_changed && steps.is_empty() && has_options {
                    keep_first(items, &self.to);
                }
                is_changed
            }
            Value::String(text) if steps.is_empty() && *text == self.from => {
                text.clone_from(&self.to);
                true
            }
            _ => false,
        }
    }
}

/// Returns the patch of the replacements, in their order: the properties that contained one of the
/// values. `properties` are those of the type.
pub fn patch(
    replacements: &[Replacement],
    mut object: Map<String, Value>,
    properties: &[Property],
) -> Map<String, Value> {
    let apply = |each: &&Replacement| each.apply(&mut object, properties);
    let names: Vec<_> =
        replacements.iter().filter(apply).map(|each| each.property().to_owned()).collect();
    let value = |name: String| object.remove(&name).map(|value| (name, value));
    names.into_iter().filter_map(value).collect()
}

/// Keeps only the first occurrence of a text.
fn keep_first(items: &mut Vec<Value>, text: &str) {
    let mut is_first = true;
    items.retain(|item| item != text || std::mem::take(&mut is_first));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::content_type::model::{InputType, SchemaType};

    /// `chosen` and `rows[*].chosen` have options.
    fn properties() -> Vec<Property> {
        let property = |name| Property::plain(name, SchemaType::Array, InputType::Select);
        let options = vec!["b".to_owned(), "c".to_owned()];
        let chosen = Property { options, ..property("chosen") };
        let rows = Property { nested: vec![chosen.clone()], ..property("rows") };
        vec![property("many"), chosen, rows]
    }

    fn replacement(path: &str, from: &str, to: &str) -> Replacement {
        let payload = json!({ "path": path, "from": from, "to": to });
        let mut errors = FieldErrors::default();
        let parsed = Replacement::from_payload(payload.as_object().unwrap(), "", &mut errors);
        errors.into_result().unwrap();
        parsed.unwrap()
    }

    fn patch_of(replacements: &[Replacement], object: &Value) -> Value {
        Value::Object(patch(replacements, object.as_object().unwrap().clone(), &properties()))
    }

    #[test]
    fn replacement_changes_values_elements_and_items() {
        let object = json!({
            "one": "a", "other": "x", "number": 1, "many": ["c", "a", "b", "a"],
            "chosen": ["c", "a", "b", "a"],
            "rows": [{ "kind": "a", "n": 1 }, { "kind": "x" }, { "tags": ["a"], "chosen": ["a", "a"] }],
            "nested": { "kind": "a" },
        });
        let rows = |first: Value, last: Value| json!({ "rows": [first, { "kind": "x" }, last] });
        let tagged = |tags: [&str; 1], chosen: &[&str]| json!({ "tags": tags, "chosen": chosen });
        for (path, expected) in [
            ("one", json!({ "one": "b" })),
            ("many", json!({ "many": ["c", "b", "b", "b"] })),
            ("chosen", json!({ "chosen": ["c", "b"] })),
            ("rows[*].kind", rows(json!({ "kind": "b", "n": 1 }), tagged(["a"], &["a", "a"]))),
            ("rows.tags", rows(json!({ "kind": "a", "n": 1 }), tagged(["b"], &["a", "a"]))),
            ("rows[*].chosen", rows(json!({ "kind": "a", "n": 1 }), tagged(["a"], &["b"]))),
            ("nested.kind", json!({ "nested": { "kind": "b" } })),
            ("other", json!({})),
            ("number", json!({})),
            ("missing", json!({})),
            ("one.deeper", json!({})),
            ("rows", json!({})),
        ] {
            assert_eq!(patch_of(&[replacement(path, "a", "b")], &object), expected, "{path}");
        }
        let several = [
            replacement("many", "a", "x"),
            replacement("many", "c", "y"),
            replacement("one", "a", "z"),
            replacement("other", "a", "z"),
        ];
        let expected = json!({ "many": ["y", "x", "b", "x"], "one": "z" });
        assert_eq!(patch_of(&several, &object), expected);
    }

    #[test]
    fn replacement_reports_its_errors() {
        let mut errors = FieldErrors::default();
        let payload = json!({ "path": 1, "from": "a", "x": 1 });
        Replacement::from_payload(payload.as_object().unwrap(), "replace", &mut errors);
        let payload = json!({ "path": "a..b", "from": "a", "to": "b" });
        Replacement::from_payload(payload.as_object().unwrap(), "second", &mut errors);
        let expected = json!({
            "replace.path": ["Integer value found, but a string is required"],
            "replace.to": [message::required("to")],
            "replace.x": [message::undeclared("x")],
            "second.path": [message::NOT_VALID],
        });
        assert_eq!(json!(errors), expected);
    }
}
