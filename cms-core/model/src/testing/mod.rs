//! For tests of this and other crates: fixtures, and validation without a store.

mod judge;
mod search;
pub mod table;

use std::path::PathBuf;

pub use judge::Judge;
pub use search::read_search;

/// 2026-01-02T03:04:05Z: what a test clock shows at first.
pub const START: i64 = 1_767_323_045;

/// Path of a file under `fixtures/`.
pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}
