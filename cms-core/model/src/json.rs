//! Reads members of stored JSON text without parsing all of it.

use memchr::memchr2;

/// Returns the text of one member of an object.
///
/// The object must be compact JSON, as this crate writes it, and the name must need no escapes.
/// Then the search is as fast as a search for quotes.
pub fn member<'j>(object: &'j [u8], name: &str) -> Option<&'j [u8]> {
    let mut rest = object.strip_prefix(b"{")?;
    loop {
        let (key, value, after) = split_member(rest)?;
        if *key == *name.as_bytes() {
            return Some(value);
        }
        rest = after.strip_prefix(b",")?;
    }
}

/// Returns names (without quotes) and values of an object as JSON text. Preconditions as for
/// [`member`].
pub fn members(object: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = object.strip_prefix('{').unwrap_or_default();
    std::iter::from_fn(move || {
        let (key, value, _) = split_member(rest.as_bytes())?;
        // Names and values end at ASCII characters, so these are character boundaries.
        let (key, after) = rest[1..].split_at(key.len());
        let (value, after) = after[2..].split_at(value.len());
        rest = after.strip_prefix(',').unwrap_or_default();
        Some((key, value))
    })
}

/// Appends a member to the text of an object without its closing brace. The name must need no escapes.
pub fn push_member(object: &mut String, name: &str, value: &str) {
    object.push_str(if object.len() > 1 { ",\"" } else { "\"" });
    object.extend([name, "\":", value]);
}

/// Returns the elements of an array as JSON text. Preconditions as for [`member`].
pub fn elements(array: &str) -> impl Iterator<Item = &str> {
    let mut rest = array.strip_prefix('[').unwrap_or_default();
    std::iter::from_fn(move || {
        let length = value_length(rest.as_bytes()).filter(|length| *length > 0)?;
        let (value, after) = rest.split_at(length);
        rest = after.strip_prefix(',').unwrap_or_default();
        Some(value)
    })
}

/// Splits text that starts with a member into its name without quotes, its value, and the rest.
fn split_member(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (key, after) = text.split_at(string_length(text)?);
    let value = after.strip_prefix(b":")?;
    let (value, after) = value.split_at(value_length(value)?);
    Some((&key[1..key.len() - 1], value, after))
}

/// Length of the string literal at the start of a text, with its quotes.
fn string_length(text: &[u8]) -> Option<usize> {
    if text.first() != Some(&b'"') {
        return None;
    }
    let mut at = 1;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Length of the value at the start of a text: up to the comma or bracket that ends it.
fn value_length(text: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => {
                at += string_length(&text[at..])?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return Some(at),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn member_is_found_after_any_other_members() {
        let object = json!({
            "a": "\"b\":1,{[\\", "é": "é}", "": {"b": [1, {"b": 2}]}, "n": -1.5e3, "t": true,
            "list": [[], {}, "]"], "b": "here", "z": null,
        });
        let text = object.to_string();
        for (name, value) in object.as_object().unwrap() {
            let found = member(text.as_bytes(), name);
            assert_eq!(found, Some(value.to_string().as_bytes()), "{name}");
        }
        assert_eq!(member(text.as_bytes(), "missing"), None);
        assert_eq!(member(b"{}", "a"), None);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[\"\\\\,:{}\\[\\]a-cé\n]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c]{0,2}|[\"\\\\]", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn member_equals_the_result_of_a_parser(value in any_json(), name in "[a-c]{0,2}") {
            let expected = value.get(&name).map(Value::to_string);
            let found = value.to_string();
            let found = member(found.as_bytes(), &name);
            prop_assert_eq!(found, expected.as_deref().map(str::as_bytes));
        }

        #[test]
        fn members_are_all_found(value in any_json()) {
            let text = value.to_string();
            let found: Vec<String> =
                members(&text).map(|(key, value)| format!("\"{key}\":{value}")).collect();
            if value.is_object() {
                prop_assert_eq!(format!("{{{}}}", found.join(",")), text);
            } else {
                prop_assert!(found.is_empty());
            }
        }

        #[test]
        fn elements_are_all_found(value in any_json()) {
            let text = value.to_string();
            let found: Vec<&str> = elements(&text).collect();
            if value.is_array() {
                prop_assert_eq!(format!("[{}]", found.join(",")), text);
            } else {
                prop_assert!(found.is_empty());
            }
        }

        #[test]
        fn invalid_text_causes_no_panic(text in "\\PC*|[{}\\[\\]\",:\\\\a]{0,30}") {
            member(text.as_bytes(), "a");
            members(&text).count();
            elements(&text).count();
        }
    }
}
