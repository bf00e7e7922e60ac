//! Files of the command line, with the places of all their values.

#![no_main]

#[path = "../../cms-cli/src/yaml.rs"]
#[expect(dead_code, reason = "the command line needs more of it")]
mod yaml;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(document) = yaml::parse(text) else { return };
    let printed = yaml::print(&document.value);
    let again = yaml::parse(&printed).expect("what was printed can be read");
    assert_eq!(again.value, document.value, "printed as {printed}");
});
