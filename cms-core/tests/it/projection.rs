//! Lists with selected fields: the values of complete lists, whichever columns are read, in small
//! responses.

use cms_core::{
    Caller, Error,
    paging::PageRequest,
    testing::TestCms,
    wire::{object::ListRequest, publish::PublishAction},
};
use serde_json::{Value, json};

use crate::support::{add_property, article, article_with, create_batch, link, map};

const TYPES: [&str; 2] = ["article", "page"];

/// Two types, one of them with Draft & Public, both with the text `body`, which has no index.
fn with_types() -> (TestCms, Caller) {
    let (test, local) = (TestCms::new(), Caller::local());
    for name in TYPES {
        let mut definition = article();
        add_property(&mut definition, "body", json!({ "type": "string" }), "textarea");
        definition.extend(map(json!({ "name": name, "draftPublic": name == "page" })));
        test.cms.types().create(&local, definition).unwrap();
    }
    (test, local)
}

fn fields(fields: &[&str]) -> ListRequest {
    let fields = fields.iter().map(|&field| field.to_owned()).collect();
    let page = PageRequest { number: 1, limit: 50 };
    ListRequest { page, fields, ..ListRequest::default() }
}

/// Indexed values are stored a second time; these copies follow every change.
#[test]
fn selected_fields_equal_those_of_complete_objects() {
    let (test, local) = with_types();
    let objects = test.cms.objects();
    let check = || {
        for name in TYPES {
            let list = |request| objects.list(&local, name, &request).unwrap().to_value();
            let complete = list(fields(&[]));
            for named in [&["title"][..], &["rank", "title"], &["body", "rank"], &["internal"]] {
                let mut expected = complete.clone();
                for object in expected["data"].as_array_mut().unwrap() {
                    let object = object.as_object_mut().unwrap();
                    object.retain(|member, _| member == "id" || named.contains(&member.as_str()));
                }
                assert_eq!(list(fields(named)), expected, "{name} {named:?}");
            }
        }
    };
    for name in TYPES {
        let related = json!([link(name, "a")]);
        for object in [
            json!({ "id": "a", "title": "A \"quoted\"", "rank": 1.5, "body": "x" }),
            json!({ "id": "b", "rank": 2, "related": related, "title": "B" }),
            json!({ "id": "c", "title": "C" }),
        ] {
            objects.create(&local, name, map(object)).unwrap();
        }
    }
    check();
    let ids = ["a", "b"].map(str::to_owned);
    test.cms.publishing().set_statuses(&local, "page", &ids, PublishAction::Publish).unwrap();
    for name in TYPES {
        objects.patch(&local, name, "b", map(json!({ "title": "New", "rank": 3 }))).unwrap();
    }
    check();
    for name in TYPES {
        let mut definition = article_with(json!({ "name": name, "draftPublic": name == "page" }));
        add_property(&mut definition, "body", json!({ "type": "string" }), "text");
        test.cms.types().update(&local, name, definition).unwrap();
    }
    check();
}

/// A list of large objects is read on the fast path when only short values are named.
#[test]
fn list_of_selected_fields_is_short() {
    let (test, local) = with_types();
    let body = "x".repeat(20_000);
    let object = |number| json!({ "title": format!("Title {number}"), "body": body });
    let all: Vec<Value> = (0..50).map(object).collect();
    create_batch(&test.cms, "article", &all);
    let fast = local.clone().fast_only();
    let list = |caller: &Caller, request| test.cms.objects().list(caller, "article", &request);
    let complete = list(&local, fields(&[])).unwrap();
    assert!(complete.0.len() > 1_000_000);
    assert!(matches!(list(&fast, fields(&[])), Err(Error::WouldBlock)));
    // The last selection needs values that are not indexed.
    let short = ["title", "internal.updatedAt"];
    for named in [&["title"][..], &short, &["internal.objectTitle"], &["title", "parts.sources"]] {
        let selected = list(&fast, fields(named)).unwrap();
        assert!(selected.0.len() < 15_000, "{named:?}: {} bytes", selected.0.len());
        assert!(selected.0.capacity() < 2 * selected.0.len(), "{named:?}");
        assert_eq!(selected.to_value()["count"], 50);
    }
}
