//! Hydration follows every link, or refuses a response that is too large.

use cms_core::{
    Caller, Error,
    paging::PageRequest,
    testing::TestCms,
    wire::{
        object::{Json, ListRequest},
        search::SearchRequest,
    },
};
use serde_json::{Value, json};

use crate::support::{article, create_batch, link};

/// Creates `targets` articles of `bytes` bytes, `holders` articles that link to all of them, `last`,
/// which links only to a separate article, and `top`, which links to the holders and `last`.
fn with_links(holders: usize, targets: usize, bytes: usize) -> (TestCms, Caller) {
    let (test, local) = (TestCms::new(), Caller::local());
    let mut definition = article();
    let text = json!({ "type": "string" });
    crate::support::add_property(&mut definition, "body", text, "textarea");
    test.cms.types().create(&local, definition).unwrap();
    let create = |objects: Vec<Value>| {
        create_batch(&test.cms, "article", &objects);
    };
    let id = |kind: &str, number: usize| format!("{kind}-{number}");
    let object = |id: String, related: Vec<Value>, body: String| json!({ "id": id, "title": id, "related": related, "body": body });
    let ids = |kind: &str, count: usize| (0..count).map(|n| id(kind, n)).collect::<Vec<_>>();
    let links = |ids: &[String]| ids.iter().map(|id| link("article", id)).collect::<Vec<_>>();
    let targets = ids("target", targets);
    create(targets.iter().map(|id| object(id.clone(), Vec::new(), "x".repeat(bytes))).collect());
    create(vec![object("own".to_owned(), Vec::new(), String::new())]);
    let mut all = ids("holder", holders);
    create(all.iter().map(|id| object(id.clone(), links(&targets), String::new())).collect());
    create(vec![object("last".to_owned(), vec![link("article", "own")], String::new())]);
    all.push("last".to_owned());
    create(vec![object("top".to_owned(), links(&all), String::new())]);
    (test, local)
}

fn hydrated(holders: usize) -> ListRequest {
    let holders = (0..holders).map(|holder| format!("holder-{holder}"));
    let ids = Some(holders.chain(["last".to_owned()]).collect());
    let page = PageRequest { number: 1, limit: 1000 };
    ListRequest { hydrate: 1, ids, page, ..ListRequest::default() }
}

/// An earlier version silently stopped hydrating after 20,000 links of a level, and after 64 MiB.
#[test]
fn hydration_follows_every_link_of_a_level() {
    for (holders, targets, bytes) in [(21, 1000, 1), (20, 20, 200_000)] {
        let (test, local) = with_links(holders, targets, bytes);
        let objects = test.cms.objects();
        let get =
            |id: &str, hydrate| objects.get(&local, "article", id, hydrate).unwrap().to_value();
        let all: Vec<Value> = (0..targets).map(|n| get(&format!("target-{n}"), 0)).collect();
        let expected = |id: &str| {
            let mut expected = get(id, 0);
            expected["related"] = if id == "last" { json!([get("own", 0)]) } else { json!(all) };
            expected
        };
        let list = objects.list(&local, "article", &hydrated(holders)).unwrap().to_value();
        let list = list["data"].as_array().unwrap();
        assert_eq!(list.len(), holders + 1);
        for object in list {
            let id = object["id"].as_str().unwrap();
            assert!(*object == expected(id), "{id} in a list");
            assert!(*object == get(id, 1), "{id} alone");
        }
        let top = get("top", 2);
        let top = top["related"].as_array().unwrap();
        assert!(top.iter().all(|object| *object == expected(object["id"].as_str().unwrap())));
    }
}

/// The size is computed before the response is rendered, so no memory is allocated.
#[test]
fn hydration_refuses_a_response_above_256_mib() {
    let (test, local) = with_links(70, 20, 200_000);
    let expected = "The response would exceed 256 MiB, use a smaller limit";
    let refused = |result: Result<Json, Error>| match result {
        Err(Error::Invalid(errors)) => assert_eq!(errors.at("limit"), [expected]),
        other => panic!("{:?}", other.map(|_| "a response")),
    };
    let objects = test.cms.objects();
    refused(objects.list(&local, "article", &hydrated(70)));
    refused(objects.get(&local, "article", "top", 2));
    assert!(objects.get(&local, "article", "top", 1).unwrap().0.len() < 1_000_000);
    let page = PageRequest { number: 1, limit: 1000 };
    let q = Some("holder".to_owned());
    let search = SearchRequest { page, q, hydrate: 1, ..SearchRequest::default() };
    refused(test.cms.search().search(&local, &search));
}
