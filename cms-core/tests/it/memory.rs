//! Responses count against the response memory budget while they are rendered.

use std::sync::Arc;

use cms_core::{
    Caller, Error, MemoryBudget, Reservation, Result,
    paging::PageRequest,
    testing::TestCms,
    wire::{
        graphql::{GraphQlRequest, GraphQlVersion},
        object::{Json, ListRequest},
        search::SearchRequest,
    },
};
use serde_json::{Value, json};

use crate::support::{add_property, article, link, map, with_type};

const MIB: usize = 1024 * 1024;

type Read = fn(&TestCms, &Caller, u8) -> Result<Json>;

/// REST reads whose response grows with the content.
const READS: [(&str, Read); 3] = [
    ("list", |test, caller, hydrate| {
        let request = ListRequest { page: page(), hydrate, ..ListRequest::default() };
        test.cms.objects().list(caller, "article", &request)
    }),
    ("object", |test, caller, hydrate| test.cms.objects().get(caller, "article", "0", hydrate)),
    ("search", |test, caller, hydrate| {
        let request = SearchRequest {
            q: Some("*".to_owned()),
            page: page(),
            hydrate,
            ..SearchRequest::default()
        };
        test.cms.search().search(caller, &request)
    }),
];

fn page() -> PageRequest {
    PageRequest { number: 1, limit: 1000 }
}

/// Articles with a text of `bytes` bytes; each links to the previous one, and the first to the
/// second.
fn with_articles(count: usize, bytes: usize) -> TestCms {
    let mut definition = article();
    add_property(&mut definition, "text", json!({ "type": "string" }), "text");
    let test = with_type(definition);
    for number in 0..count {
        let related = number.checked_sub(1).map(|other| link("article", &other.to_string()));
        let object = json!({
            "id": number.to_string(),
            "title": number.to_string(),
            "text": "x".repeat(bytes),
            "related": related.into_iter().collect::<Vec<Value>>(),
        });
        test.cms.objects().create(&Caller::local(), "article", map(object)).unwrap();
    }
    let payload = map(json!({ "related": [link("article", "1")] }));
    test.cms.objects().patch(&Caller::local(), "article", "0", payload).unwrap();
    test
}

#[test]
fn responses_count_against_the_memory_budget() {
    let test = with_articles(20, 60_000);
    for (name, read) in READS {
        for hydrate in 0..=2 {
            let response = read(&test, &Caller::local(), hydrate).unwrap().0;
            if name == "object" && hydrate == 0 {
                // A single object without hydration is small.
                continue;
            }
            let budget = Arc::new(MemoryBudget::new(64 * MIB));
            let memory = Arc::new(Reservation::of(&budget));
            let caller = Caller { memory: Arc::clone(&memory), ..Caller::local() };
            assert_eq!(read(&test, &caller, hydrate).unwrap().0, response);
            let (kept, length) = (memory.bytes(), response.len());
            assert!(kept >= length, "{name} {hydrate}: {kept} for {length}");
            assert!(kept <= 4 * length + 256 * 1024, "{name} {hydrate}: {kept} for {length}");
            drop((caller, memory));
            assert_eq!(budget.used(), 0);

            // Another request holds nearly the complete budget.
            let others = Reservation::of(&budget);
            others.grow(64 * MIB - length / 2).unwrap();
            let memory = Arc::new(Reservation::of(&budget));
            let caller = Caller { memory: Arc::clone(&memory), ..Caller::local() };
            let refused = read(&test, &caller, hydrate);
            assert!(matches!(refused, Err(Error::Busy(_))), "{name} {hydrate}");
            assert_eq!(memory.bytes(), 0, "{name} {hydrate}: a refused request holds no memory");
        }
    }
}

#[test]
fn graphql_responses_count_against_the_memory_budget() {
    let test = with_articles(20, 60_000);
    let budget = Arc::new(MemoryBudget::new(64 * MIB));
    let query = |caller: &Caller| {
        let query = "{ articleList(limit: 20) { id text } }".to_owned();
        let request = GraphQlRequest { query, ..GraphQlRequest::default() };
        test.cms.graphql().execute(caller, GraphQlVersion::Legacy, &request)
    };
    let memory = Arc::new(Reservation::of(&budget));
    let caller = Caller { memory: Arc::clone(&memory), ..Caller::local() };
    let response = query(&caller).unwrap().body;
    assert!(response.len() > 1_000_000, "{}", String::from_utf8_lossy(&response));
    assert!(memory.bytes() >= response.len());
    let others = Reservation::of(&budget);
    others.grow(64 * MIB - memory.bytes() - response.len()).unwrap();
    assert!(matches!(query(&caller), Err(Error::Busy(_))));
}
