//! Slugs, generated from another property, see docs/reference/content-types.md#slugs

use deunicode::deunicode;
use serde_json::{Map, Value};

use crate::wire::content_type::Slug;

/// Fills the targets of active rules in a payload before its validation. A target that the payload
/// contains stays unchanged, even when it is empty.
pub fn fill<'a>(rules: impl IntoIterator<Item = &'a Slug>, payload: &mut Map<String, Value>) {
    for rule in rules.into_iter().filter(|rule| rule.active) {
        if payload.contains_key(&rule.target) {
            continue;
        }
        let source = payload.get(&rule.source).and_then(Value::as_str);
        if let Some(source) = source.filter(|source| !source.is_empty()) {
            let slug = slug(source);
            payload.insert(rule.target.clone(), Value::String(slug));
        }
    }
}

/// Generates a slug: `Łódź & Zürich` becomes `lodz-zurich`.
pub fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for c in deunicode(text).chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn slug_is_generated_from_text() {
        let rows = [
            ("Hello World", "hello-world"),
            ("  --Łódź & Zürich!--  ", "lodz-zurich"),
            ("a_b.c/d", "a-b-c-d"),
            ("北京", "bei-jing"),
            ("100 %", "100"),
            ("!?", ""),
        ];
        for (text, expected) in rows {
            assert_eq!(slug(text), expected, "{text}");
        }
    }

    #[test]
    fn slug_fills_only_absent_targets_of_active_rules() {
        let filled = json!({"title": "A B", "slug": "a-b"});
        let rows = [
            (true, json!({"title": "A B"}), filled.clone()),
            (false, json!({"title": "A B"}), json!({"title": "A B"})),
            (true, json!({"title": "A", "slug": ""}), json!({"title": "A", "slug": ""})),
            (true, json!({"title": "A", "slug": null}), json!({"title": "A", "slug": null})),
            (true, json!({"title": ""}), json!({"title": ""})),
            (true, json!({"title": 1}), json!({"title": 1})),
            (true, json!({}), json!({})),
        ];
        for (active, payload, expected) in rows {
            let rule = Slug { source: "title".to_owned(), target: "slug".to_owned(), active };
            let mut found = payload.as_object().unwrap().clone();
            fill(&[rule], &mut found);
            assert_eq!(Value::Object(found), expected, "{payload}");
        }
    }

    proptest! {
        #[test]
        fn slug_has_only_words_and_single_hyphens(text in "\\PC{0,40}") {
            let slug = slug(&text);
            let words: Vec<&str> = slug.split('-').collect();
            prop_assert!(slug.is_empty() || words.iter().all(|word| !word.is_empty()));
            prop_assert!(slug.bytes().all(|b| b == b'-' || b.is_ascii_lowercase() || b.is_ascii_digit()));
        }
    }
}
