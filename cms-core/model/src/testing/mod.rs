//! Test support of this and other crates: fixtures, and validation without a store.

mod search;
pub mod table;
mod validator;

use std::path::PathBuf;

use serde_json::{Map, Value};

pub use search::read_search;
pub use validator::ObjectValidator;

/// 2026-01-02T03:04:05Z: the first time of a test clock.
pub const START: i64 = 1_767_323_045;

/// Path of a file under `fixtures/`.
pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

/// The members of a JSON object.
///
/// # Panics
/// If the value is not an object.
pub fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("no object: {other}"),
    }
}
