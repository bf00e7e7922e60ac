//! The fuzz targets with mutated seeds: inputs that are nearly valid.

use std::fs;

use cms_core::testing::{Site, fixture, read_search};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

/// The seeds of a fuzz target.
fn seeds(target: &str) -> Vec<String> {
    let folder = fixture("../fuzz/seeds").join(target);
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

/// A text with some parts removed, repeated, moved, or replaced by special characters.
fn mutated(text: String) -> impl Strategy<Value = String> {
    let special = prop_oneof![
        Just(String::new()),
        "[\"'\\\\{}\\[\\]()<>:,;.*~^%$#@!?&|/+-]{1,3}",
        "\\PC{1,4}",
        Just("99999999999999999999".to_owned()),
        Just("-1e309".to_owned()),
        Just("null".to_owned()),
        Just("\u{0}".to_owned()),
        Just("[".repeat(200)),
        Just("\"}".to_owned()),
    ];
    let change = (any::<prop::sample::Index>(), 0_usize..20, any::<bool>(), special);
    prop::collection::vec(change, 0..4).prop_map(move |changes| {
        let mut letters: Vec<char> = text.chars().collect();
        for (at, length, is_doubled, special) in changes {
            let start = at.index(letters.len() + 1);
            let end = letters.len().min(start + length);
            let part: Vec<char> = letters[start..end].to_vec();
            let kept = if is_doubled { part } else { Vec::new() };
            letters.splice(
                start..end,
                kept.iter().copied().chain(special.chars()).chain(kept.clone()),
            );
        }
        letters.into_iter().collect()
    })
}

fn attack(target: &str, cases: u32, is_valid: impl Fn(&str) -> bool) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "{target}");
    // The seeds themselves must be valid.
    for seed in &seeds {
        assert!(is_valid(seed), "{target}: {seed}");
    }
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let texts = prop::sample::select(seeds).prop_flat_map(mutated);
    let outcome = runner.run(&texts, |text| {
        is_valid(&text);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn mutated_inputs_cause_no_internal_error() {
    let site = Site::new();
    attack("filters", 2000, |text| site.list(text));
    attack("definitions", 500, |text| site.define(text));
    attack("objects", 500, |text| site.write(text));
    attack("graphql", 1000, |text| site.query(text));
    attack("image_urls", 2000, |text| site.show(text));
    attack("search", 500, |text| {
        read_search(text);
        true
    });
}
