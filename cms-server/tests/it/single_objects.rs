//! Content types with at most one object.

use cms_core::Caller;
use serde_json::{Map, Value, json};

use crate::support::{TestApp, definition, error, listed, no_content, object, shown};

const HOME: &str = "/api/v1/content/home";
const DUPLICATE: &str = "/api/v1/content/home/home/duplicate";

/// The definition of a type with at most one object, or without that limit.
fn home(single: bool) -> Map<String, Value> {
    let mut home = json!(definition("home"));
    home["metaDefinition"]["admin"] = json!({ "single": single, "group": "Site" });
    object(&home)
}

fn app(single: bool) -> TestApp {
    let app = TestApp::new();
    app.core.cms.types().create(&Caller::local(), home(single)).unwrap();
    app
}

fn second() -> (u16, Value) {
    error("id", "This content type allows only one object")
}

#[tokio::test]
async fn single_object_has_the_name_of_its_type_as_id() {
    let app = app(true);
    let title = json!({ "title": "Home" });
    let first = shown("home", "home", &json!({}), &title);
    assert_eq!(app.request("POST", HOME, &title).await.status_and_body(), (200, first.clone()));
    assert_eq!(app.get(HOME).await.status_and_body(), (200, listed(&[first])));

    // An id in the request is kept. Objects in the trash do not count.
    let path = "/api/v1/content/home/home";
    assert_eq!(app.delete(path).await.status_and_body(), no_content());
    let own = json!({ "id": "start", "title": "Start" });
    let start = shown("home", "start", &json!({}), &json!({ "title": "Start" }));
    assert_eq!(app.request("POST", HOME, &own).await.status_and_body(), (200, start));
}

#[tokio::test]
async fn single_object_type_refuses_a_second_object() {
    let app = app(true);
    let batch = format!("{HOME}/batch");
    let both = json!([{ "title": "One" }, { "title": "Two" }]);
    let refused = |total: usize, id: &str, data: &Value| {
        json!({
            "batch_total_count": total,
            "batch_success_count": total - 1,
            "batch_error_count": 1,
            "errors": [{ "id": id, "data": data, "errors": second().1 }],
        })
    };
    let report = refused(2, "", &both[1]);
    assert_eq!(app.request("POST", &batch, &both).await.status_and_body(), (400, report));

    for new in [
        json!({ "title": "A" }),
        json!({ "id": "other", "title": "A" }),
        json!({ "id": "HOME", "title": "A" }),
    ] {
        assert_eq!(app.request("POST", HOME, &new).await.status_and_body(), second(), "{new}");
    }
    let nothing = json!({ "relatedObjectsToDuplicate": [] });
    assert_eq!(app.request("POST", DUPLICATE, &nothing).await.status_and_body(), second());

    // The object itself is changed as always.
    let update = format!("{batch}?updateExisting=true");
    let both = json!([{ "id": "home", "title": "New" }, { "id": "other", "title": "B" }]);
    let report = refused(2, "other", &both[1]);
    assert_eq!(app.request("POST", &update, &both).await.status_and_body(), (400, report));
    for (method, title) in [("PUT", "Newer"), ("PATCH", "Newest")] {
        let path = "/api/v1/content/home/home";
        let reply = app.request(method, path, &json!({ "title": title })).await;
        assert_eq!((reply.status, &reply.json()["title"]), (200, &json!(title)));
    }
    assert_eq!(app.get(HOME).await.json()["total_count"], 1);
}

#[tokio::test]
async fn type_with_several_objects_cannot_become_single() {
    let app = app(false);
    for id in ["one", "two"] {
        app.create("home", &json!({ "id": id, "title": id })).await;
    }
    let path = "metaDefinition.admin.single";
    let message = "This content type has 2 objects, a single content type allows one";
    let types = "/api/v1/internal/contenttype";
    let wanted = json!(home(true));
    let reply = app.request("PUT", &format!("{types}/home"), &wanted).await;
    assert_eq!(reply.status_and_body(), error(path, message));

    let project = json!({ "contentTypes": [wanted] });
    let plan = app.request("POST", &format!("{types}/plan"), &project).await.json();
    assert_eq!(plan["summary"]["blockers"], 1);
    assert_eq!(plan["contentTypes"][0]["blockers"], json!({ path: [message] }));
    let apply = format!("{types}/apply");
    let reply = app.request("POST", &apply, &project).await;
    assert_eq!(reply.status_and_body(), (400, json!({ "home": { path: [message] } })));

    let delete = app.delete("/api/v1/content/home/two").await;
    assert_eq!(delete.status_and_body(), no_content());
    assert_eq!(app.request("POST", &apply, &project).await.status, 200);
    let reply = app.request("POST", HOME, &json!({ "title": "Two" })).await;
    assert_eq!(reply.status_and_body(), second());
}
