//! The query language and all parameters of a search.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| cms_core::testing::read_search(text));
