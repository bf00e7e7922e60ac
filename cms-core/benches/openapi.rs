//! The cost of generating the OpenAPI document of 200 types, and of returning the cached document
//! (aim: less than 100 ms). `cargo bench -p cms-core --features testing --bench openapi`
//!
//! Each type is the post of the corpus, with nine properties.

#[path = "../../benches/src/corpus.rs"]
#[expect(dead_code, reason = "each bench uses a part")]
mod corpus;

use std::sync::atomic::{AtomicU32, Ordering};

use cms_core::{
    Caller,
    testing::TestCms,
    wire::{
        openapi::{OpenApiRequest, OpenApiVersion},
        plan::{ApplyRequest, PlanRequest},
    },
};
use divan::Bencher;
use serde_json::Value;

const TYPES: u8 = 200;

fn main() {
    divan::main();
}

#[divan::bench(args = [OpenApiVersion::V30, OpenApiVersion::V31, OpenApiVersion::V2])]
fn describe(bencher: Bencher, version: OpenApiVersion) {
    let folder = folder();
    // No document is cached for a new base URL.
    let number = AtomicU32::new(0);
    bencher.bench_local(|| {
        let base_url = format!("http://{}.example", number.fetch_add(1, Ordering::Relaxed));
        let request =
            OpenApiRequest { version, hydrate: true, base_url, ..OpenApiRequest::default() };
        folder.cms.openapi().document(&Caller::local(), &request).expect("it can be described")
    });
}

#[divan::bench]
fn describe_again(bencher: Bencher) {
    let (folder, request) = (folder(), OpenApiRequest::default());
    bencher.bench_local(|| {
        folder.cms.openapi().document(&Caller::local(), &request).expect("it can be described")
    });
}

fn folder() -> TestCms {
    let folder = TestCms::new();
    let [author, post] = corpus::types();
    let posts = (0..TYPES).map(|number| {
        let letters = [b'a' + number / 26, b'a' + number % 26];
        let mut post = post.clone();
        post["name"] = format!("post_{}", String::from_utf8_lossy(&letters)).into();
        post
    });
    let content_types = [author].into_iter().chain(posts).map(|definition| match definition {
        Value::Object(definition) => definition,
        other => panic!("the corpus has objects only: {other}"),
    });
    let wanted = PlanRequest { content_types: content_types.collect(), ..PlanRequest::default() };
    let apply = ApplyRequest { wanted, ..ApplyRequest::default() };
    folder.cms.types().apply(&Caller::local(), &apply).expect("nothing is in the way");
    folder
}
