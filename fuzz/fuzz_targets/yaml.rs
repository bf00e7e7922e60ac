//! YAML files of the command line, with the locations of their values.

#![no_main]

use std::rc::Rc;

use serde_json::Value;
use yaml::{YamlDocument, Location};

#[path = "../../cms-cli/src/failure.rs"]
#[expect(dead_code, reason = "the YAML parser needs a part of it")]
mod failure;
#[path = "../../cms-cli/src/yaml.rs"]
#[expect(dead_code, reason = "the command line needs more of it")]
mod yaml;

/// Maximum number of tested locations: each location reads the text again.
const MAX_LOCATIONS: usize = 64;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(document) = YamlDocument::parse("f", text.to_owned()) else { return };
    let count = document.value.as_array().map(Vec::len);
    assert_eq!(document.item_locations().len(), count.unwrap_or_default());
    let printed = yaml::print(&document.value);
    let again = YamlDocument::parse("f", printed.clone()).expect("printed YAML can be parsed");
    assert_eq!(again.value, document.value, "printed as {printed}");

    let document = Rc::new(document);
    let mut pointers = Vec::new();
    collect(&document.value, "", &mut pointers);
    for pointer in &pointers {
        let locations =
            [Location::of_value(&document, pointer), Location::of_key(&document, pointer)];
        assert!(locations.iter().all(|location| location.to_string().starts_with('f')));
    }
});

/// Collects the JSON pointers of values.
fn collect(value: &Value, pointer: &str, pointers: &mut Vec<String>) {
    if pointers.len() >= MAX_LOCATIONS {
        return;
    }
    pointers.push(pointer.to_owned());
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        collect(item, &yaml::member(pointer, &index.to_string()), pointers);
    }
    for (key, member) in value.as_object().into_iter().flatten() {
        collect(member, &yaml::member(pointer, key), pointers);
    }
}
