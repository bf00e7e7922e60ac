//! Shared views of content types over HTTP.

use cms_core::Caller;
use serde_json::{Value, json};

use crate::support::{
    CallerKind, TestApp, error, forbidden, listed, malformed, no_content, not_found,
};

const VIEWS: &str = "/api/v1/internal/contenttype/post/views";
/// The start of the clock.
const START: &str = "2026-01-02T03:04:05.000000+0000";

#[tokio::test]
async fn view_is_created_changed_and_deleted() {
    let app = TestApp::new();
    let keys = app.get_as(CallerKind::Admin, "/api/v1/internal/key").await;
    let keys = keys.json();
    let key = keys["data"].as_array().unwrap().iter().find(|key| key["name"] == "read-write");
    let by = json!({ "kind": "key", "id": key.unwrap()["id"], "name": "read-write" });
    let definition = json!({ "columns": ["title"], "filters": { "z": 1, "a": null } });
    let new = json!({ "name": "Mine", "definition": definition });
    let created = app.request("POST", VIEWS, &new).await;
    let id = created.json()["id"].as_str().unwrap().to_owned();
    let mut expected = json!({
        "id": id, "name": "Mine", "definition": definition, "by": by,
        "createdAt": START, "updatedAt": START,
    });
    assert_eq!(created.status_and_body(), (200, expected.clone()));
    assert_eq!(app.get(VIEWS).await.status_and_body(), (200, listed(&[expected.clone()])));

    app.wait_a_minute();
    let one = format!("{VIEWS}/{id}");
    expected["name"] = json!("All");
    expected["updatedAt"] = json!("2026-01-02T03:05:05.000000+0000");
    let changed = app.request("PUT", &one, &json!({ "name": "All" })).await;
    assert_eq!(changed.status_and_body(), (200, expected.clone()));
    expected["definition"] = json!({});
    let changed = app.request("PUT", &one, &json!({ "definition": {} })).await;
    assert_eq!(changed.status_and_body(), (200, expected.clone()));

    // Others with update right read it; an admin changes it too.
    let scoped = async |method: &str, path: &str, body: &Value| {
        app.send_as(CallerKind::Scoped, method, path, body).await.status_and_body()
    };
    assert_eq!(scoped("GET", VIEWS, &Value::Null).await, (200, listed(&[expected])));
    assert_eq!(scoped("PUT", &one, &json!({ "name": 1 })).await, forbidden());
    assert_eq!(scoped("DELETE", &one, &Value::Null).await, forbidden());
    let other = app.send_as(CallerKind::Admin, "PUT", &one, &json!({ "name": "Ours" })).await;
    assert_eq!((other.status, &other.json()["by"]), (200, &by));
    assert_eq!(app.delete(&one).await.status_and_body(), no_content());
    assert_eq!(app.delete(&one).await.status_and_body(), not_found());
    assert_eq!(
        app.request("PUT", &one, &json!({ "name": 1 })).await.status_and_body(),
        not_found()
    );
}

#[tokio::test]
async fn views_are_listed_by_name_in_pages() {
    let app = TestApp::new();
    for name in ["b", "a", "c", "a"] {
        let view = json!({ "name": name, "definition": { "n": name } });
        assert_eq!(app.request("POST", VIEWS, &view).await.status, 200);
    }
    let names = async |query: &str| {
        let list = app.get(&format!("{VIEWS}{query}")).await.json();
        let data = list["data"].as_array().unwrap().iter();
        (list["total_count"].clone(), data.map(|view| view["name"].clone()).collect::<Vec<_>>())
    };
    assert_eq!(names("").await, (json!(4), vec![json!("a"), json!("a"), json!("b"), json!("c")]));
    assert_eq!(names("?limit=3&page=2").await, (json!(4), vec![json!("c")]));
    // The type is named as in the other requests on its definition, and views belong to it.
    let author = "/api/v1/internal/contenttype/author/views";
    assert_eq!(app.get(author).await.status_and_body(), (200, listed(&[])));
    let id = app.get("/api/v1/internal/contenttype/post").await.json()["id"].clone();
    let by_id = VIEWS.replace("post", id.as_str().unwrap());
    assert_eq!(app.get(&by_id).await.json()["total_count"], 4);
    let view = app.get(VIEWS).await.json()["data"][0]["id"].clone();
    let elsewhere = format!("{author}/{}", view.as_str().unwrap());
    assert_eq!(app.delete(&elsewhere).await.status_and_body(), not_found());
    assert_eq!(app.get(&VIEWS.replace("post", "nothing")).await.status_and_body(), not_found());
    // Views are removed with their type.
    app.create_type("page", &json!({}));
    let page = VIEWS.replace("post", "page");
    for expected in [0, 0] {
        assert_eq!(app.get(&page).await.json()["total_count"], expected);
        let view = json!({ "name": "x", "definition": {} });
        assert_eq!(app.request("POST", &page, &view).await.status, 200);
        app.core.cms.types().purge(&Caller::local(), "page", true).unwrap();
        app.create_type("page", &json!({}));
    }
}

#[tokio::test]
async fn view_payload_errors() {
    let app = TestApp::new();
    let post = async |body: Value| app.request("POST", VIEWS, &body).await.status_and_body();
    let required = "The property definition is required";
    assert_eq!(post(json!({ "name": "x" })).await, error("definition", required));
    let long = json!({ "name": "x", "definition": { "a": "é".repeat(4093) } });
    assert_eq!(post(long).await, error("definition", "Must be at most 8192 characters long"));
    let longest = json!({ "name": "x".repeat(255), "definition": { "a": "é".repeat(4092) } });
    assert_eq!(post(longest).await.0, 200);
    assert_eq!(post(json!([])).await, malformed());
    let by = json!({ "name": "x", "definition": {}, "by": 1 });
    let undeclared =
        "The property by is not defined and the definition does not allow additional properties";
    assert_eq!(post(by).await, error("by", undeclared));
}

#[tokio::test]
async fn views_of_a_type_are_limited() {
    let app = TestApp::new();
    let view = json!({ "name": "x", "definition": {} });
    for _ in 0..200 {
        assert_eq!(app.request("POST", VIEWS, &view).await.status, 200);
    }
    assert_eq!(app.request("POST", VIEWS, &view).await.status_and_body(), forbidden());
    let author = VIEWS.replace("post", "author");
    assert_eq!(app.request("POST", &author, &view).await.status, 200);
}
