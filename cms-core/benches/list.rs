//! The cost of reading posts, through the core and as bare rows.
//! `cargo bench -p cms-core --features testing --bench list`
//!
//! The core reads a type with validation, counts and the `internal` of each object; the bare rows
//! contain responses that are ready to be sent. The ratio of the two is the cost of the model.

#[path = "../../benches/src/bare.rs"]
#[expect(dead_code, reason = "each bench uses a part")]
mod bare;
#[path = "../../benches/src/corpus.rs"]
#[expect(dead_code, reason = "each bench uses a part")]
mod corpus;
#[path = "support/posts.rs"]
mod posts;

use cms_core::{Caller, Durability, paging::PageRequest, testing::map, wire::object::ListRequest};
use divan::Bencher;
use serde_json::json;

fn main() {
    divan::main();
}

#[divan::bench_group]
mod one_by_id {
    use super::{Bencher, Caller, Durability, posts};

    /// Another post each time, in an order from which no cache profits.
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
    use super::{Bencher, ListRequest, PageRequest, bare, core_lists, rows_list};

    #[divan::bench]
    fn core(bencher: Bencher) {
        let (page, order_by) = (PageRequest { number: 400, limit: 20 }, Some("rank".to_owned()));
        core_lists(bencher, &ListRequest { page, order_by, ..ListRequest::default() });
    }

    #[divan::bench]
    fn rows(bencher: Bencher) {
        rows_list(bencher, bare::PAGE_400);
    }
}

/// Fifty objects of 20 KB: complete, and some of their fields.
#[divan::bench(args = ["", "internal.objectTitle", "title", "teaser"])]
fn fifty_of_20_kb(bencher: Bencher, field: &str) {
    let (folder, local) = (posts::folder(Durability::Normal), Caller::local());
    let [_, mut page] = corpus::types();
    page["name"] = "page".into();
    let config = json!({ "label": "Teaser", "inputType": "textarea" });
    page["metaDefinition"]["propertiesConfig"] = json!({
        "title": { "label": "Title", "inputType": "text", "isTitlePart": true }, "teaser": config,
        "body": { "label": "Body", "inputType": "textarea" },
    });
    page["metaDefinition"]["order"] = json!(["title", "teaser", "body"]);
    let text = json!({ "type": "string" });
    page["schemaDefinition"]["allOf"][1]["properties"] =
        json!({ "title": text, "teaser": text, "body": text });
    page["schemaDefinition"]["required"] = json!([]);
    folder.cms.types().create(&local, map(page)).expect("the type is valid");
    let body = "x".repeat(20_000);
    let object = |n| json!({ "title": format!("Title {n}"), "body": body, "teaser": "Short" });
    posts::add(&folder, "page", &(0..50).map(object).collect::<Vec<_>>());
    let fields = Some(field).filter(|field| !field.is_empty()).map(str::to_owned);
    let page = PageRequest { number: 1, limit: 50 };
    let request =
        ListRequest { page, fields: fields.into_iter().collect(), ..ListRequest::default() };
    let list = || folder.cms.objects().list(&local, "page", &request).expect("the list is valid");
    assert_eq!(list().to_value()["count"], 50);
    bencher.bench_local(list);
}

fn core_lists(bencher: Bencher, request: &ListRequest) {
    let (folder, local) = (posts::folder(Durability::Normal), Caller::local());
    let list = || folder.cms.objects().list(&local, "post", request).expect("the list is valid");
    assert_eq!(list().to_value()["count"], 20);
    bencher.bench_local(list);
}

fn rows_list(bencher: Bencher, sql: &str) {
    let (bare, _folder) = posts::bare("NORMAL");
    bencher.bench_local(|| bare.list(sql, []));
}
