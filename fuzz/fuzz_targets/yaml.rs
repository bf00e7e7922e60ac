//! YAML files of the command line, with the positions of their values.

#![no_main]

#[path = "../../cms-cli/src/yaml.rs"]
#[expect(dead_code, reason = "the command line uses more of it")]
mod yaml;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(document) = yaml::parse(text) else { return };
    let printed = yaml::print(&document.value);
    let again = yaml::parse(&printed).expect("printed YAML can be parsed");
    assert_eq!(again.value, document.value, "printed as {printed}");
});
