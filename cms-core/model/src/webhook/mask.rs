//! Masks header values of webhooks, which authenticate the sender: only callers that may change
//! webhooks read them. Others read a mask; a write that contains the mask keeps the stored value.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use crate::query::path::{PathRoot, PathStep, PropertyPath};

pub const MASK: &str = "********";
const HEADERS: &str = "headers";
const NAME: &str = "header_name";
const VALUE: &str = "header_value";

/// Returns the stored text of a webhook with its header values masked.
pub fn masked(data: &str) -> String {
    let mut webhook: Map<String, Value> = serde_json::from_str(data).unwrap_or_default();
    for header in headers(&mut webhook) {
        if let Some(value) = header.get_mut(VALUE) {
            *value = MASK.into();
        }
    }
    Value::Object(webhook).to_string()
}

/// Returns the path, restricted to what may be shown: it finds names of headers, never their values.
pub fn visible(path: PropertyPath) -> PropertyPath {
    match &path.root {
        PathRoot::Any { .. } => PathRoot::Any { except: vec![HEADERS.to_owned()] }.into(),
        PathRoot::Property(name)
            if name == HEADERS
                && !matches!(path.steps.last(), Some(PathStep::Key(key)) if key == NAME) =>
        {
            PropertyPath::unknown()
        }
        _ => path,
    }
}

/// Replaces masks by the stored values: the nth header of a name by the nth stored one. A mask
/// without a stored value remains, and [`super::model::validate`] rejects it.
pub fn unmask(stored: &Map<String, Value>, webhook: &mut Map<String, Value>) {
    let mut stored = stored.clone();
    let mut known: HashMap<String, VecDeque<Option<Value>>> = HashMap::new();
    for header in headers(&mut stored) {
        known.entry(name(header)).or_default().push_back(header.remove(VALUE));
    }
    for header in headers(webhook) {
        let stored = known.get_mut(&name(header)).and_then(VecDeque::pop_front).flatten();
        if let Some(value) = header.get_mut(VALUE).filter(|value| **value == MASK)
            && let Some(stored @ Value::String(_)) = stored
        {
            *value = stored;
        }
    }
}

fn headers(webhook: &mut Map<String, Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let list = webhook.get_mut(HEADERS).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn name(header: &Map<String, Value>) -> String {
    header.get(NAME).and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn webhook(headers: &[(&str, &str)]) -> Map<String, Value> {
        let header = |&(name, value): &(&str, &str)| json!({NAME: name, VALUE: value});
        let headers: Vec<Value> = headers.iter().map(header).collect();
        json!({"name": "n", HEADERS: headers}).as_object().unwrap().clone()
    }

    #[test]
    fn mask_hides_values_and_keeps_names() {
        let stored = Value::Object(webhook(&[("X-A", "1"), ("X-B", "2")])).to_string();
        let shown: Value = serde_json::from_str(&masked(&stored)).unwrap();
        assert_eq!(shown, Value::Object(webhook(&[("X-A", MASK), ("X-B", MASK)])));
        assert_eq!(masked(r#"{"name":"n"}"#), r#"{"name":"n"}"#);
        assert_eq!(
            masked(r#"{"headers":[{"header_name":"X"}]}"#),
            r#"{"headers":[{"header_name":"X"}]}"#
        );
    }

    #[test]
    fn unmask_takes_the_nth_value_of_the_same_name() {
        let stored = webhook(&[("X-A", "1"), ("x-a", "2"), ("X-B", "3")]);
        let mut sent =
            webhook(&[("x-b", MASK), ("x-A", "new"), ("X-a", MASK), ("X-A", MASK), ("Y", MASK)]);
        unmask(&stored, &mut sent);
        let kept =
            webhook(&[("x-b", "3"), ("x-A", "new"), ("X-a", "2"), ("X-A", MASK), ("Y", MASK)]);
        assert_eq!(sent, kept);
    }

    #[test]
    fn paths_to_values_find_nothing_and_paths_to_names_are_kept() {
        let definitions = crate::content_type::builtin::definitions();
        let webhooks = definitions.iter().find(|known| known.name == "_webhooks").unwrap();
        let parse = |path: &str| PropertyPath::parse(path, &webhooks.properties());
        for path in ["headers", "headers[0]", "headers[*].header_value", "headers.header_value"] {
            assert_eq!(visible(parse(path)), PropertyPath::unknown(), "{path}");
        }
        for path in ["name", "url", "id", "internal.createdAt", "headers[*].header_name", "none"] {
            assert_eq!(visible(parse(path)), parse(path), "{path}");
        }
    }
}
