//! What reading posts costs, through the core and as bare rows.
//! `cargo bench -p cms-core --features testing --bench list`
//!
//! The core reads a type with validation, counts and the `internal` of each object; the bare rows
//! hold answers that are ready to be sent. The ratio of the two is what the model costs.

#[path = "../../benches/src/bare.rs"]
#[expect(dead_code, reason = "each bench uses a part")]
mod bare;
#[path = "../../benches/src/corpus.rs"]
#[expect(dead_code, reason = "each bench uses a part")]
mod corpus;
#[path = "support/posts.rs"]
mod posts;

use cms_core::{Caller, Durability, paging::Page, wire::object::ListRequest};
use divan::Bencher;

fn main() {
    divan::main();
}

#[divan::bench_group]
mod one_by_id {
    use super::{Bencher, Caller, Durability, posts};

    /// Another post each time, without an order that a cache could like.
    fn ids() -> impl FnMut() -> String {
        let mut number = 0;
        move || {
            number = (number + 7919) % posts::POSTS;
            format!("post-{number}")
        }
    }

    #[divan::bench]
    fn core(bencher: Bencher) {
        let (folder, local) = (posts::folder(Durability::Normal), Caller::local());
        let get = |id: String| folder.cms.objects().get(&local, "post", &id, 0).expect("it exists");
        bencher.with_inputs(ids()).bench_local_values(get);
    }

    #[divan::bench]
    fn rows(bencher: Bencher) {
        let (bare, _folder) = posts::bare("NORMAL");
        bencher.with_inputs(ids()).bench_local_values(|id| bare.by_id(&id));
    }
}

#[divan::bench_group]
mod twenty_ordered {
    use super::{Bencher, ListRequest, bare, core_lists, rows_list};

    #[divan::bench]
    fn core(bencher: Bencher) {
        let order_by = Some("rank".to_owned());
        core_lists(bencher, &ListRequest { order_by, ..ListRequest::default() });
    }

    #[divan::bench]
    fn rows(bencher: Bencher) {
        rows_list(bencher, bare::ORDERED);
    }
}

#[divan::bench_group]
mod twenty_filtered {
    use super::{Bencher, ListRequest, bare, core_lists, rows_list};

    #[divan::bench]
    fn core(bencher: Bencher) {
        let filters = r#"{"category":{"type":"equals","filter":"category-7"}}"#;
        let filters = Some(filters.to_owned());
        core_lists(bencher, &ListRequest { filters, ..ListRequest::default() });
    }

    #[divan::bench]
    fn rows(bencher: Bencher) {
        rows_list(bencher, bare::FILTERED);
    }
}

#[divan::bench_group]
mod page_400 {
    use super::{Bencher, ListRequest, Page, bare, core_lists, rows_list};

    #[divan::bench]
    fn core(bencher: Bencher) {
        let (page, order_by) = (Page { number: 400, limit: 20 }, Some("rank".to_owned()));
        core_lists(bencher, &ListRequest { page, order_by, ..ListRequest::default() });
    }

    #[divan::bench]
    fn rows(bencher: Bencher) {
        rows_list(bencher, bare::PAGE_400);
    }
}

fn core_lists(bencher: Bencher, request: &ListRequest) {
    let (folder, local) = (posts::folder(Durability::Normal), Caller::local());
    let list = || folder.cms.objects().list(&local, "post", request).expect("the list is valid");
    assert_eq!(list().to_value()["count"], 20);
    bencher.bench_local(list);
}

fn rows_list(bencher: Bencher, sql: &str) {
    let (bare, _folder) = posts::bare("NORMAL");
    bencher.bench_local(|| bare.list(sql));
}
