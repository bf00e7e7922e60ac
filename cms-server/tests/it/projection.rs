//! `fields[]` of objects and lists, and `item_fields[]` of searches.

use cms_core::Caller;
use serde_json::{Value, json};

use crate::support::{
    CallerKind, TestApp, error, linking_definition, links, listed, minute, not_found, object, shown,
};

const IGNORED: &str = "x-deprecated-query-params";

/// A site with a type `page` whose `related` links to posts only; `parts` links to any type.
async fn site() -> TestApp {
    let app = TestApp::new();
    let mut page = json!(linking_definition("page"));
    let relation = &mut page["metaDefinition"]["propertiesConfig"]["related"];
    relation["validation"]["relationContenttype"] = json!("post");
    let title = &mut page["metaDefinition"]["propertiesConfig"]["title"];
    title["isTitlePart"] = json!(true);
    app.core.cms.types().create(&Caller::local(), object(&page)).unwrap();
    let parts = json!([{ "link": links(&["post/one", "author/ada"]) }, {}]);
    app.create("author", &json!({ "id": "ada", "title": "Ada", "price": 3 })).await;
    let related = links(&["post/one"]);
    let page =
        json!({ "id": "p", "title": "Page", "price": 5, "related": related, "parts": parts });
    app.create("page", &page).await;
    app
}

fn query(path: &str, fields: &[&str], more: &str) -> String {
    let fields: Vec<String> = fields.iter().map(|field| format!("fields[]={field}")).collect();
    format!("{path}?{}{more}", fields.join("&"))
}

#[tokio::test]
async fn fields_select_parts_of_lists_and_objects() {
    let app = site().await;
    let one = links(&["post/one"]);
    let both = links(&["post/one", "author/ada"]);
    let internal = shown("page", "p", &json!({ "objectTitle": "Page" }), &json!({}));
    let internal = internal["internal"].clone();
    let post = shown("post", "one", &json!({}), &json!({ "title": "One" }));
    // fields, further parameters -> members besides the id; ignored fields
    let cases = [
        (&["title"][..], "", json!({ "title": "Page" }), None),
        (&["id"], "", json!({}), None),
        (&["internal"], "", json!({ "internal": internal }), None),
        (
            &["internal.objectTitle", "internal.updatedAt", "internal.scheduledAt"],
            "",
            json!({ "internal": { "objectTitle": "Page", "updatedAt": minute(0) } }),
            None,
        ),
        (&["$.price", "titel", ""], "", json!({ "price": 5 }), Some("fields[titel]")),
        (
            &["titel", "parts[*].x", "internal.x"],
            "&x=1",
            json!({}),
            Some("fields[titel],fields[parts[*].x],fields[internal.x],x"),
        ),
        (&["parts[0].link"], "", json!({ "parts": [{ "link": both }, {}] }), None),
        // Without hydration, links stay links, whatever the path below them.
        (&["related.title"], "", json!({ "related": one }), None),
        (&["related[*].nope"], "", json!({ "related": one }), None),
        (&["related.nope"], "&hydrate=1", json!({}), Some("fields[related.nope]")),
        (&["related"], "&hydrate=1", json!({ "related": [post] }), None),
        (
            &["related.title", "related.internal.status", "parts"],
            "&hydrate=1",
            json!({
                "related": [{ "id": "one", "title": "One", "internal": { "status": "public" } }],
                "parts": [
                    { "link": [post, shown("author", "ada", &json!({}),
                        &json!({ "title": "Ada", "price": 3 }))] },
                    {},
                ],
            }),
            None,
        ),
        // Links to any type: each target returns the properties that it has.
        (
            &["parts.link.price"],
            "&hydrate=2",
            json!({ "parts": [{ "link": [{ "id": "one" }, { "id": "ada", "price": 3 }] }, {}] }),
            None,
        ),
        (&["related.id"], "&hydrate=1", json!({ "related": [{ "id": "one" }] }), None),
        (&["related.dataUrl"], "&hydrate=1", json!({ "related": [{ "id": "one" }] }), None),
    ];
    for (fields, more, members, ignored) in cases {
        let mut expected = json!({ "id": "p" });
        expected.as_object_mut().unwrap().extend(object(&members));
        for (path, expected) in [
            ("/api/v1/content/page/p", expected.clone()),
            ("/api/v1/content/page", listed(&[expected])),
        ] {
            let reply = app.get(&query(path, fields, more)).await;
            assert_eq!(reply.status_and_body(), (200, expected), "{path} {fields:?}");
            assert_eq!(reply.header(IGNORED), ignored, "{path} {fields:?}");
        }
    }
    for path in ["/api/v1/content/page/p", "/api/v1/content/page"] {
        let complete = app.get(path).await;
        for fields in [&["*"][..], &["title", "*"], &[""]] {
            let reply = app.get(&query(path, fields, "")).await;
            assert_eq!(reply.bytes, complete.bytes, "{path} {fields:?}");
            assert_eq!(reply.header("etag"), complete.header("etag"), "{path} {fields:?}");
        }
    }
}

#[tokio::test]
async fn number_of_fields_is_limited() {
    let app = site().await;
    let many = |count| vec!["title"; count];
    for path in ["/api/v1/content/page", "/api/v1/content/page/p"] {
        assert_eq!(app.get(&query(path, &many(100), "")).await.status, 200, "{path}");
        let refused = app.get(&query(path, &many(101), "")).await.status_and_body();
        assert_eq!(refused, error("fields", "Too many fields, limit: 100"), "{path}");
    }
    let gone = query("/api/v1/content/page/gone", &many(101), "");
    assert_eq!(app.get(&gone).await.status_and_body(), not_found());
    let fields = query("/api/v1/search", &many(101), "&q=").replace("fields", "item_fields");
    let refused = app.get(&fields).await.status_and_body();
    assert_eq!(refused, error("item_fields", "Too many fields, limit: 100"));
}

/// The tag identifies the bytes of the response; its first half is the tag of the complete object.
#[tokio::test]
async fn etag_of_a_part_works_in_if_match() {
    let app = site().await;
    let path = "/api/v1/content/page/p";
    let tag = async |path: &str| app.get(path).await.header("etag").unwrap().to_owned();
    let complete = tag(path).await;
    let first_half = complete.trim_end_matches('"');
    let mut tags = vec![complete.clone()];
    for named in ["fields[]=title", "fields[]=price", "fields[]=related.title&hydrate=1"] {
        let part = tag(&format!("{path}?{named}")).await;
        assert!(part.starts_with(&format!("{first_half}.")), "{named}: {part}");
        let known = app
            .get_with(
                &[("if-none-match", part.as_str())],
                CallerKind::ReadWrite,
                &format!("{path}?{named}"),
            )
            .await;
        assert_eq!(known.status, 304, "{named}");
        tags.push(part);
    }
    let mut distinct = tags.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), tags.len(), "{tags:?}");
    let patch = async |tag: &str, price: u32| {
        let (headers, body) = ([("if-match", tag)], json!({ "price": price }));
        app.send_as_with(&headers, CallerKind::ReadWrite, "PATCH", path, &body).await.status
    };
    assert_eq!(patch(&tags[1], 6).await, 200);
    assert_eq!(patch(&tags[1], 7).await, 412);
    let list = async |query: &str| tag(&format!("/api/v1/content/page?{query}")).await;
    let (before, title) = (list("fields[]=price").await, list("fields[]=title").await);
    let current = tag(path).await;
    assert_eq!(patch(&current, 8).await, 200);
    assert_ne!(list("fields[]=price").await, before);
    assert_eq!(list("fields[]=title").await, title);
}

/// Paths reveal nothing about types and values that the key may not read.
#[tokio::test]
async fn fields_respect_the_rights_of_the_key() {
    let app = site().await;
    let relation = json!({ "id": "two", "title": "Two", "related": links(&["author/ada"]) });
    app.core.cms.types().delete(&Caller::local(), "elsewhere").ok();
    let mut linked = json!(linking_definition("elsewhere"));
    let validation = &mut linked["metaDefinition"]["propertiesConfig"]["related"]["validation"];
    validation["relationContenttype"] = json!("author");
    app.core.cms.types().create(&Caller::local(), object(&linked)).unwrap();
    app.create("elsewhere", &relation).await;
    for named in ["related.title", "related.nope"] {
        let path = format!("/api/v1/content/elsewhere/two?hydrate=1&fields[]={named}");
        let reply = app.get_as(CallerKind::Stranger, &path).await;
        let expected = json!({ "id": "two", "related": links(&["author/ada"]) });
        assert_eq!(
            (reply.status_and_body(), reply.header(IGNORED)),
            ((200, expected), None),
            "{named}"
        );
    }
    let hook = json!({
        "id": "hook", "name": "Hook", "url": "https://example.com", "actions": [],
        "content_type_definitions": [],
        "headers": [{ "header_name": "X-Secret", "header_value": "s3cret" }],
    });
    app.core.cms.objects().create(&Caller::local(), "_webhooks", object(&hook)).unwrap();
    let path = "/api/v1/content/_webhooks/hook?fields[]=headers[*].header_value";
    let value = async |caller| app.get_as(caller, path).await.json();
    let header = |value: &str| json!({ "id": "hook", "headers": [{ "header_value": value }] });
    assert_eq!(value(CallerKind::ReadOnly).await, header("********"));
    assert_eq!(value(CallerKind::ReadWrite).await, header("s3cret"));
}

#[tokio::test]
async fn fields_follow_the_view_of_the_request() {
    let app = site().await;
    app.create_type("draft", &json!({ "draftPublic": true }));
    app.create("draft", &json!({ "id": "d", "title": "Old" })).await;
    let path = "/api/v1/content/draft";
    app.post(&format!("{path}/d/publish")).await;
    app.request("PATCH", &format!("{path}/d"), &json!({ "title": "New" })).await;
    let part = |title: &str, status: &str| {
        let part = json!({ "id": "d", "internal": { "status": status }, "title": title });
        listed(&[part])
    };
    let path = query(path, &["title", "internal.status"], "");
    assert_eq!(app.get(&path).await.json(), part("Old", "public"));
    let preview = [("x-mode", "preview")];
    let reply = app.get_with(&preview, CallerKind::ReadWrite, &path).await;
    assert_eq!(reply.json(), part("New", "modified"));
}

#[tokio::test]
async fn item_fields_select_parts_of_search_items() {
    let app = site().await;
    let search = async |fields: &[&str], more: &str| {
        let query = query("/api/v1/search", fields, "&q=*&content_type[]=page");
        let reply = app.get(&format!("{}{more}", query.replace("fields", "item_fields"))).await;
        assert_eq!(reply.status, 200, "{fields:?}: {:?}", reply.json());
        let ignored = reply.header(IGNORED).map(str::to_owned);
        (reply.json()["data"][0]["item"].clone(), ignored)
    };
    let (complete, _) = search(&[], "").await;
    assert_eq!(search(&["*"], "").await, (complete.clone(), None));
    let cases = [
        (&["title"][..], "", json!({ "title": "Page" }), None),
        (
            &["internal.objectTitle", "created_at", "nope", "created_at.x"],
            "",
            json!({ "internal": { "objectTitle": "Page" }, "created_at": complete["created_at"] }),
            Some("item_fields[nope],item_fields[created_at.x]"),
        ),
        (&["object_data"], "", json!({ "object_data": complete["object_data"] }), None),
        (
            &["related.title", "updated_at"],
            "&hydrate=1",
            json!({ "related": [{ "id": "one", "title": "One" }], "updated_at": null }),
            None,
        ),
    ];
    for (fields, more, members, ignored) in cases {
        let mut expected = json!({ "id": "p" });
        expected.as_object_mut().unwrap().extend(object(&members));
        let ignored = ignored.map(str::to_owned);
        assert_eq!(search(fields, more).await, (expected, ignored), "{fields:?}");
    }
    // A path that one of the searched types declares is known.
    let path = "/api/v1/search?q=*&item_fields[]=related&item_fields[]=x&fields[]=title";
    let reply = app.get(path).await;
    assert_eq!((reply.status, reply.header(IGNORED)), (200, Some("item_fields[x]")));
}

/// The authors of an object are returned only if a path names them.
#[tokio::test]
async fn authors_are_returned_when_they_are_named() {
    let app = site().await;
    app.create_type("draft", &json!({ "draftPublic": true }));
    let related = links(&["post/one"]);
    app.create("draft", &json!({ "id": "d", "title": "T", "related": related })).await;
    let path = "/api/v1/content/draft/d";
    app.post(&format!("{path}/publish")).await;
    let price = json!({ "price": 1 });
    app.send_as(CallerKind::Admin, "PATCH", path, &price).await;
    let by = async |caller| {
        let context = app.get_as(caller, "/api/auth-context").await.json();
        let (id, name) = (context["user"]["id"].clone(), context["user"]["username"].clone());
        json!({ "kind": "key", "id": id, "name": name })
    };
    let (writer, admin) = (by(CallerKind::ReadWrite).await, by(CallerKind::Admin).await);
    let local = json!({ "kind": "local", "id": null, "name": "local" });
    let both = |created: &Value, updated: &Value| json!({ "id": "d", "internal": { "createdBy": created, "updatedBy": updated } });
    let fields = ["internal.updatedBy", "internal.createdBy"];
    let reply = app.get(&query(path, &fields, "")).await;
    assert_eq!((reply.json(), reply.header(IGNORED)), (both(&writer, &admin), None));
    // Lists have the published version.
    let listed_path = query("/api/v1/content/draft", &fields, "");
    assert_eq!(app.get(&listed_path).await.json(), listed(&[both(&writer, &writer)]));
    let read_only = app.get_as(CallerKind::ReadOnly, &listed_path).await;
    assert_eq!(read_only.json(), listed(&[both(&writer, &writer)]));
    let linked = query(path, &["related.internal.createdBy", "price"], "&hydrate=1");
    let post = json!({ "id": "one", "internal": { "createdBy": local } });
    let expected = json!({ "id": "d", "price": 1, "related": [post] });
    assert_eq!(app.get(&linked).await.json(), expected);
    let complete = app.get(path).await.json();
    let all = app.get(&query(path, &["*", "internal.updatedBy"], "")).await.json();
    let mut expected = complete.clone();
    expected["internal"]["updatedBy"] = admin.clone();
    assert_eq!(all, expected);
    assert!(!complete.to_string().contains("updatedBy"));
    let found = app.get("/api/v1/search?q=*&content_type[]=draft&item_fields[]=internal.createdBy");
    let item = json!({ "id": "d", "internal": { "createdBy": writer } });
    assert_eq!(found.await.json()["data"][0]["item"], item);
    let path = "/api/v1/search?q=*&content_type[]=draft&item_fields[]=*";
    let members = async |path: &str| {
        let item = &app.get(path).await.json()["data"][0]["item"];
        item.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    let more = format!("{path}&item_fields[]=internal.createdBy");
    assert_eq!(members(&more).await, members(path).await);
    let order = app.get("/api/v1/content/draft?order_by=internal.createdBy").await;
    assert_eq!(order.status, 200);
}
