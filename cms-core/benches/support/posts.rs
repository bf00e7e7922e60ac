//! The same posts twice: in a data directory of the core, and as bare rows.

use cms_core::{
    Caller, CoreConfig, Durability,
    testing::{TestCms, map},
    wire::batch::BatchElements,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::{bare::Bare, corpus};

/// Number of posts that exist before the measurement.
pub(crate) const POSTS: usize = 10_000;

/// A data directory with the types, the authors and the posts.
pub(crate) fn folder(durability: Durability) -> TestCms {
    let folder = TestCms::with(|config: &mut CoreConfig| config.durability = durability);
    let local = Caller::local();
    for definition in corpus::types() {
        folder.cms.types().create(&local, map(definition)).expect("the type is valid");
    }
    let authors: Vec<Value> = (0..corpus::AUTHORS).map(corpus::author).collect();
    add(&folder, "author", &authors);
    for first in (0..POSTS).step_by(500) {
        add(&folder, "post", &(first..first + 500).map(corpus::post).collect::<Vec<_>>());
    }
    folder
}

/// Creates objects in one call.
pub(crate) fn add(folder: &TestCms, name: &str, objects: &[Value]) {
    let report = folder.cms.objects().batch_create(
        &Caller::local(),
        name,
        &BatchElements::of(objects),
        false,
    );
    assert_eq!(report.expect("the call is valid").batch_error_count, 0);
}

/// The authors and the posts as bare rows; they are removed with the directory.
pub(crate) fn bare(synchronous: &str) -> (Bare, TempDir) {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let bare = Bare::create(&folder.path().join("posts.db"), synchronous);
    for first in (0..POSTS).step_by(500) {
        bare.insert_all(&(first..first + 500).map(corpus::post).collect::<Vec<_>>());
    }
    (bare, folder)
}
