//! `GET /api/v1/content/{name}/{id}/incoming`: the objects that link to an object.

use cms_core::{Caller, wire::publish::PublishAction};
use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, links, listed, not_found, object};

const PATH: &str = "/api/v1/content/post/one/incoming";

fn with_hidden(items: &[Value], hidden: bool) -> Value {
    let mut list = listed(items);
    list["hidden"] = json!(hidden);
    list
}

fn item(name: &str, id: &str, properties: &[&str], current: bool, published: bool) -> Value {
    json!({
        "contentType": name, "id": id, "objectTitle": "", "properties": properties,
        "current": current, "published": published,
    })
}

/// A site where objects of several types link to the post `one`.
async fn site() -> TestApp {
    let app = TestApp::with_type("page", &json!({}));
    app.create_type("draft", &json!({ "draftPublic": true }));
    let one = links(&["post/One"]);
    let page = json!({ "id": "p", "title": "P", "related": one, "parts": [{}, { "link": one }] });
    app.create("page", &page).await;
    app.create("page", &json!({ "id": "q", "title": "Q", "related": one })).await;
    for id in ["never", "same", "was", "now"] {
        app.create("draft", &json!({ "id": id, "title": "D" })).await;
    }
    let set = async |id: &str, related: &Value| {
        let path = format!("/api/v1/content/draft/{id}");
        assert_eq!(app.request("PATCH", &path, &json!({ "related": related })).await.status, 200);
    };
    let publish = async |id: &str| {
        let (local, action) = (Caller::local(), PublishAction::Publish);
        let ids = [id.to_owned()];
        app.core.cms.publishing().set_statuses(&local, "draft", &ids, action).unwrap();
    };
    set("never", &one).await;
    set("same", &one).await;
    publish("same").await;
    set("was", &one).await;
    publish("was").await;
    set("was", &json!([])).await;
    publish("now").await;
    set("now", &one).await;
    app
}

#[tokio::test]
async fn incoming_links_are_listed_with_their_paths() {
    let app = site().await;
    let drafts = [
        item("draft", "never", &["related"], true, false),
        item("draft", "same", &["related"], true, true),
        item("draft", "was", &["related"], false, true),
        item("draft", "now", &["related"], true, false),
    ];
    let pages = [
        item("page", "p", &["related", "parts[1].link"], true, true),
        item("page", "q", &["related"], true, true),
    ];
    let all: Vec<Value> = drafts.iter().chain(&pages).cloned().collect();
    assert_eq!(app.get(PATH).await.status_and_body(), (200, with_hidden(&all, false)));
    let upper = app.get("/api/v1/content/post/ONE/incoming").await;
    assert_eq!(upper.json(), with_hidden(&all, false));
    let of_type = app.get(&format!("{PATH}?content_type[]=page&content_type[]=none")).await;
    assert_eq!(of_type.json(), with_hidden(&pages, false));
    let none = app.get(&format!("{PATH}?content_type[]=none")).await;
    assert_eq!(none.json(), with_hidden(&[], false));
    for (number, expected) in [(1, &all[..4]), (2, &all[4..]), (3, &[])] {
        let page = app.get(&format!("{PATH}?limit=4&page={number}")).await.json();
        let wanted = json!({
            "total_count": 6, "total_pages": 2, "current_page": number, "count": expected.len(),
            "data": expected, "hidden": false,
        });
        assert_eq!(page, wanted);
    }
    let pairs: Vec<Value> = all[3..5].to_vec();
    let page = app.get(&format!("{PATH}?limit=3&page=2")).await.json();
    assert_eq!(page["data"].as_array().unwrap()[..2], pairs);
    // The target of the links cannot be deleted; the list shows why.
    let refused = app.delete("/api/v1/content/post/one").await;
    assert_eq!(refused.status, 400);
    assert_eq!(app.get("/api/v1/content/post/none/incoming").await.status_and_body(), not_found());
    assert_eq!(app.get("/api/v1/content/none/one/incoming").await.status_and_body(), not_found());
}

/// Links of an object to itself, and of deleted objects, do not count.
#[tokio::test]
async fn incoming_links_are_those_of_other_live_objects() {
    let app = site().await;
    let itself = json!({ "related": links(&["page/p", "page/q"]) });
    app.request("PATCH", "/api/v1/content/page/p", &itself).await;
    let path = "/api/v1/content/page/p/incoming";
    assert_eq!(app.get(path).await.json(), with_hidden(&[], false));
    let other = "/api/v1/content/page/q/incoming";
    let linking = item("page", "p", &["related"], true, true);
    assert_eq!(app.get(other).await.json(), with_hidden(&[linking], false));
    app.delete("/api/v1/content/page/p").await;
    assert_eq!(app.get(other).await.json(), with_hidden(&[], false));
}

#[tokio::test]
async fn incoming_links_follow_rights_and_view() {
    let app = site().await;
    let scoped = app.get_as(CallerKind::Scoped, PATH).await;
    assert_eq!(scoped.json(), with_hidden(&[], true));
    let filtered = format!("{PATH}?content_type[]=page");
    let scoped = app.get_as(CallerKind::Scoped, &filtered).await;
    assert_eq!(scoped.json(), with_hidden(&[], true));
    let public = [("x-visibility", "public")];
    let get = async |path: &str| app.get_with(&public, CallerKind::ReadWrite, path).await.json();
    let shown = [
        item("draft", "same", &["related"], true, true),
        item("draft", "was", &["related"], false, true),
        item("page", "p", &["related", "parts[1].link"], true, true),
        item("page", "q", &["related"], true, true),
    ];
    assert_eq!(get(PATH).await, with_hidden(&shown, false));
    assert_eq!(get(&format!("{PATH}?limit=1&page=2")).await["data"], json!([shown[1]]));
    // A target outside the view.
    app.create("draft", &json!({ "id": "secret", "title": "S" })).await;
    let path = "/api/v1/content/draft/secret/incoming";
    assert_eq!(get(path).await, not_found().1);
    let app = TestApp::with_type("news", &json!({ "workflowId": "publishing" }));
    let news = json!({ "id": "n", "title": "N", "related": links(&["post/one"]) });
    app.create("news", &news).await;
    let expected = with_hidden(&[item("news", "n", &["related"], true, false)], false);
    assert_eq!(app.get(PATH).await.json(), expected);
    let reply = app.get_with(&public, CallerKind::ReadWrite, PATH).await;
    assert_eq!(reply.json(), with_hidden(&[], false));
}

/// At most 20 paths of one object.
#[tokio::test]
async fn paths_of_incoming_links_are_limited() {
    let app = site().await;
    let part = json!({ "link": links(&["author/ada"]) });
    app.create("author", &json!({ "id": "ada", "title": "Ada" })).await;
    let parts = json!({ "id": "many", "title": "M", "parts": vec![part; 30] });
    app.core.cms.objects().create(&Caller::local(), "page", object(&parts)).unwrap();
    let found = app.get("/api/v1/content/author/ada/incoming").await.json();
    let properties = found["data"][0]["properties"].as_array().unwrap();
    assert_eq!((properties.len(), &properties[19]), (20, &json!("parts[19].link")));
}
