//! The publishing right: an author, who lacks it, edits drafts, but cannot publish by any endpoint.

use cms_core::wire::user::Role;
use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, forbidden, no_content, not_found, refused};

const AUTHOR: CallerKind = CallerKind::User(Role::Author);
const EDITOR: CallerKind = CallerKind::User(Role::Editor);
const FORBIDDEN: &str = "Access denied or quota limit exceeded";

async fn send(
    app: &TestApp,
    caller: CallerKind,
    method: &str,
    path: &str,
    body: &Value,
) -> (u16, Value) {
    app.send_as_with(&[("x-mode", "preview")], caller, method, path, body).await.status_and_body()
}

/// An app with `article` (Draft & Public), `memo` (workflow with a state `public`) and `note`.
async fn app() -> TestApp {
    let app = TestApp::with_type("article", &json!({ "draftPublic": true }));
    app.create_type("memo", &json!({ "workflowId": "publishing" }));
    app.create_type("note", &json!({}));
    app.create("article", &json!({ "id": "draft", "title": "A" })).await;
    app.create("article", &json!({ "id": "live", "title": "A" })).await;
    assert_eq!(app.post("/api/v1/content/article/live/publish").await, no_content());
    app
}

async fn status(app: &TestApp, id: &str) -> Value {
    let path = format!("/api/v1/content/article/{id}");
    send(app, EDITOR, "GET", &path, &Value::Null).await.1["internal"]["status"].clone()
}

#[tokio::test]
async fn role_author_may_use_no_publishing_action() {
    let app = app().await;
    let article = "/api/v1/content/article";
    for action in ["publish", "unpublish", "archive"] {
        for (path, body) in [
            (format!("{article}/draft/{action}"), Value::Null),
            (format!("{article}/draft/{action}?hydrate=1"), Value::Null),
            (format!("{article}/live/{action}"), Value::Null),
            // The right is checked first.
            (format!("{article}/nothing/{action}"), Value::Null),
            (format!("/api/v1/content/note/nothing/{action}"), Value::Null),
            (format!("{article}/batch-{action}"), json!(["draft", "live"])),
            (format!("{article}/batch-{action}"), json!("no list")),
        ] {
            assert_eq!(send(&app, AUTHOR, "POST", &path, &body).await, forbidden(), "{path}");
        }
        let path = format!("/api/v1/content/nothing/one/{action}");
        assert_eq!(send(&app, AUTHOR, "POST", &path, &Value::Null).await, not_found());
    }
    let schedule = format!("{article}/draft/schedule");
    let later = json!({ "scheduledAt": "2027-01-01T00:00", "timeZone": "UTC" });
    assert_eq!(send(&app, AUTHOR, "PUT", &schedule, &later).await, forbidden());
    assert_eq!(send(&app, EDITOR, "PUT", &schedule, &later).await.0, 200);
    assert_eq!(send(&app, AUTHOR, "DELETE", &schedule, &Value::Null).await, forbidden());
    assert_eq!([status(&app, "draft").await, status(&app, "live").await], ["draft", "public"]);
}

#[tokio::test]
async fn author_edits_drafts_and_leaves_the_published_version() {
    let app = app().await;
    let article = "/api/v1/content/article";
    let new = json!({ "title": "B" });
    assert_eq!(send(&app, AUTHOR, "PUT", &format!("{article}/live"), &new).await.0, 200);
    let public = [("x-visibility", "public")];
    let path = format!("{article}/live");
    let shown = app.get_with(&public, AUTHOR, &path).await.json();
    assert_eq!((&shown["title"], status(&app, "live").await), (&json!("A"), json!("modified")));
    let copy = json!({ "relatedObjectsToDuplicate": [] });
    assert_eq!(
        send(&app, AUTHOR, "POST", &format!("{article}/live/duplicate"), &copy).await.0,
        200
    );
    // Readers see the published version of a modified object, so the deletion needs the publishing right.
    assert_eq!(
        send(&app, AUTHOR, "DELETE", &format!("{article}/live"), &Value::Null).await,
        forbidden()
    );
    assert_eq!(
        send(&app, AUTHOR, "DELETE", &format!("{article}/nothing"), &Value::Null).await,
        not_found()
    );
    app.create("article", &json!({ "id": "other", "title": "C" })).await;
    let ids = json!(["draft", "live", "other"]);
    assert_eq!(
        send(&app, AUTHOR, "POST", &format!("{article}/batch-delete"), &ids).await,
        refused("Content object: \"live\" is public, access denied")
    );
    let list = send(
        &app,
        EDITOR,
        "GET",
        &format!("{article}?ids[]=draft&ids[]=live&ids[]=other"),
        &Value::Null,
    )
    .await;
    assert_eq!(list.1["data"].as_array().unwrap().len(), 1);
    assert_eq!(send(&app, EDITOR, "DELETE", &format!("{article}/live"), &Value::Null).await.0, 204);
}

#[tokio::test]
async fn author_changes_nothing_in_state_public() {
    let app = app().await;
    let memo = "/api/v1/content/memo";
    for id in ["one", "two"] {
        app.create("memo", &json!({ "id": id, "title": "A" })).await;
    }
    let state = async |caller: CallerKind, id: &str, action: &str| {
        let path = format!("/api/v1/workflow/memo/{id}");
        send(&app, caller, "PUT", &path, &json!({ "action": action })).await.0
    };
    // Transitions from and to `public` need the right, even if the current state does not allow them. The workflow
    // alone checks the other transitions.
    assert_eq!(state(AUTHOR, "one", "_review_public").await, 403);
    assert_eq!(state(AUTHOR, "one", "_public_archive").await, 403);
    assert_eq!(state(AUTHOR, "one", "_draft_review").await, 200);
    assert_eq!(state(AUTHOR, "one", "_review_public").await, 403);
    // The right is checked before `If-Match`.
    let (path, action) = ("/api/v1/workflow/memo/one", json!({ "action": "_review_public" }));
    let stale = [("x-mode", "preview"), ("if-match", "\"0123456789abcdef\"")];
    let reply = app.send_as_with(&stale, AUTHOR, "PUT", path, &action).await;
    assert_eq!(reply.status_and_body(), forbidden());
    assert_eq!(state(AUTHOR, "one", "nonsense").await, 400);
    assert_eq!(state(AUTHOR, "nothing", "_review_public").await, 404);
    assert_eq!(state(EDITOR, "one", "_review_public").await, 200);
    assert_eq!(state(AUTHOR, "one", "_public_archive").await, 403);
    let one = format!("{memo}/one");
    let new = json!({ "title": "B" });
    assert_eq!(send(&app, AUTHOR, "PUT", &one, &new).await, forbidden());
    assert_eq!(send(&app, AUTHOR, "PATCH", &one, &new).await, forbidden());
    // The right is checked before the object is validated.
    assert_eq!(send(&app, AUTHOR, "PUT", &one, &json!({ "title": 1 })).await, forbidden());
    assert_eq!(send(&app, AUTHOR, "DELETE", &one, &Value::Null).await, forbidden());
    let elements = json!([{ "id": "one", "title": "B" }, { "id": "two", "title": "B" }]);
    let report = json!({
        "batch_total_count": 2,
        "batch_success_count": 1,
        "batch_error_count": 1,
        "errors": [{ "id": "one", "data": { "id": "one", "title": "B" }, "errors": { "id": [FORBIDDEN] } }],
    });
    for (method, path) in
        [("POST", format!("{memo}/batch?updateExisting=true")), ("PATCH", format!("{memo}/batch"))]
    {
        let reply = send(&app, AUTHOR, method, &path, &elements).await;
        assert_eq!(reply, (400, report.clone()), "{method}");
    }
    let titles = async || {
        let list = send(&app, EDITOR, "GET", &format!("{memo}?order_by=id"), &Value::Null).await.1;
        [list["data"][0]["title"].clone(), list["data"][1]["title"].clone()]
    };
    assert_eq!(titles().await, ["A", "B"]);
    assert_eq!(
        send(&app, AUTHOR, "POST", &format!("{memo}/batch-delete"), &json!(["one"])).await,
        refused("Content object: \"one\" is public, access denied")
    );
    assert_eq!(send(&app, EDITOR, "PUT", &one, &new).await.0, 200);
    assert_eq!(titles().await, ["B", "B"]);
}

/// A user with role custom has the publishing right only if `mayPublish` is set; a key with the update right always has
/// it.
#[tokio::test]
async fn custom_user_publishes_by_setting() {
    let app = app().await;
    let custom = CallerKind::User(Role::Custom);
    let user = app.get_as(custom, "/api/v1/session").await.json();
    let user = format!("/api/v1/internal/user/{}", user["user"]["id"].as_str().unwrap());
    let rules = json!({ "rules": [{ "ctd": "article", "update": true, "read": true }] });
    assert_eq!(send(&app, CallerKind::Admin, "PUT", &user, &rules).await.0, 200);
    let publish = "/api/v1/content/article/draft/publish";
    assert_eq!(send(&app, custom, "POST", publish, &Value::Null).await, forbidden());
    let may = json!({ "mayPublish": true });
    assert_eq!(send(&app, CallerKind::Admin, "PUT", &user, &may).await.0, 200);
    assert_eq!(send(&app, custom, "POST", publish, &Value::Null).await, no_content());
    let note = "/api/v1/content/note/one/publish";
    assert_eq!(send(&app, custom, "POST", note, &Value::Null).await, forbidden());
}
