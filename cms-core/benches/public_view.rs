//! The cost of reads of a type with Draft & Public: 100,000 published posts, of which every second one
//! was edited after publication, compared with the same posts in a type without it.
//! `cargo bench -p cms-core --features testing --bench public_view`

#[path = "../../benches/src/corpus.rs"]
#[expect(dead_code, reason = "each bench uses a part")]
mod corpus;

use std::sync::LazyLock;

use cms_core::{
    Caller, Visibility,
    paging::PageRequest,
    testing::{TestCms, map},
    wire::{batch::BatchElements, object::ListRequest, publish::PublishAction},
};
use divan::Bencher;
use serde_json::{Value, json};

const POSTS: usize = 100_000;

fn main() {
    divan::main();
}

/// Posts without Draft & Public.
static PLAIN: LazyLock<TestCms> = LazyLock::new(|| folder(false));
/// The same posts in their published versions. Every second post has another current version.
static PUBLIC: LazyLock<TestCms> = LazyLock::new(|| {
    let folder = folder(true);
    let local = Caller::local();
    for first in (0..POSTS).step_by(1000) {
        let all: Vec<String> = (first..first + 1000).map(|n| format!("post-{n}")).collect();
        let publishing = folder.cms.publishing();
        publishing.set_statuses(&local, "post", &all, PublishAction::Publish).expect("they exist");
        let edits = (first..first + 1000).filter(|n| n % 2 == 1).map(|n| {
            json!({"id": format!("post-{n}"), "category": "category-0", "rank": 0, "date": "2000-01-01"})
        });
        let edits: Vec<Value> = edits.collect();
        let report = folder.cms.objects().batch_patch(&local, "post", &BatchElements::of(&edits));
        assert_eq!(report.expect("the call is valid").batch_error_count, 0);
    }
    folder
});

fn folder(draft_public: bool) -> TestCms {
    let (folder, local) = (TestCms::new(), Caller::local());
    for definition in corpus::types() {
        let mut definition = map(definition);
        if definition["name"] == "post" {
            definition.insert("draftPublic".to_owned(), json!(draft_public));
        }
        folder.cms.types().create(&local, definition).expect("the type is valid");
    }
    let add = |name: &str, objects: &[Value]| {
        let report =
            folder.cms.objects().batch_create(&local, name, &BatchElements::of(objects), false);
        assert_eq!(report.expect("the call is valid").batch_error_count, 0);
    };
    add("author", &(0..corpus::AUTHORS).map(corpus::author).collect::<Vec<_>>());
    for first in (0..POSTS).step_by(1000) {
        add("post", &(first..first + 1000).map(corpus::post).collect::<Vec<_>>());
    }
    folder
}

#[derive(Clone, Copy, Debug)]
enum Case {
    Newest,
    OrderedByRank,
    FilteredByCategory,
    FilteredByDateAndOrdered,
    Page400,
    Hydrated,
}

const CASES: [Case; 6] = [
    Case::Newest,
    Case::OrderedByRank,
    Case::FilteredByCategory,
    Case::FilteredByDateAndOrdered,
    Case::Page400,
    Case::Hydrated,
];

fn request(case: Case) -> ListRequest {
    let (order_by, plain) = (Some("rank".to_owned()), ListRequest::default());
    let filters = |filters: Value| Some(filters.to_string());
    match case {
        Case::Newest => ListRequest { descending: true, ..plain },
        Case::OrderedByRank => ListRequest { order_by, ..plain },
        Case::FilteredByCategory => {
            let filters = filters(json!({"category": {"type": "equals", "filter": "category-7"}}));
            ListRequest { filters, ..plain }
        }
        Case::FilteredByDateAndOrdered => {
            let range = json!({"type": "inRange", "filter": "2012-03-01", "filter2": "2013-03-01"});
            ListRequest { filters: filters(json!({"date": range})), order_by, ..plain }
        }
        Case::Page400 => {
            ListRequest { page: PageRequest { number: 400, limit: 20 }, order_by, ..plain }
        }
        Case::Hydrated => ListRequest { order_by, hydrate: 1, ..plain },
    }
}

fn list(bencher: Bencher, folder: &TestCms, case: Case) {
    let (local, request) = (Caller::local(), request(case));
    let list = || folder.cms.objects().list(&local, "post", &request).expect("the list is valid");
    assert_eq!(list().to_value()["count"], 20);
    bencher.bench_local(list);
}

#[divan::bench(args = CASES)]
fn plain(bencher: Bencher, case: Case) {
    list(bencher, &PLAIN, case);
}

#[divan::bench(args = CASES)]
fn public(bencher: Bencher, case: Case) {
    list(bencher, &PUBLIC, case);
}

/// Another post each time, in an order from which no cache profits.
fn ids() -> impl FnMut() -> String {
    let mut number = 0;
    move || {
        number = (number + 7919) % POSTS;
        format!("post-{number}")
    }
}

fn get(bencher: Bencher, folder: &TestCms) {
    let strict = Visibility { preview: false, public_only: true };
    let strict = Caller::local().with_visibility(strict);
    let get = |id: String| folder.cms.objects().get(&strict, "post", &id, 0).expect("it exists");
    bencher.with_inputs(ids()).bench_local_values(get);
}

#[divan::bench]
fn plain_by_id(bencher: Bencher) {
    get(bencher, &PLAIN);
}

#[divan::bench]
fn public_by_id(bencher: Bencher) {
    get(bencher, &PUBLIC);
}
