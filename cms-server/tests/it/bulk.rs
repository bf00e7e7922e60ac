//! Bulk jobs over HTTP.

use serde_json::{Value, json};

use crate::support::{
    CallerKind, TestApp, error, forbidden, listed, no_content, not_found, refused,
};

const BULK: &str = "/api/v1/content/page/bulk";
const JOBS: &str = "/api/v1/job";
const NOW: &str = "2026-01-02T03:04:05.000000+0000";

/// An app with three objects of a Draft & Public type.
async fn with_pages() -> TestApp {
    let app = TestApp::with_type("page", &json!({ "draftPublic": true }));
    for id in ["a", "b", "c"] {
        app.create("page", &json!({ "id": id, "title": id, "price": 1 })).await;
    }
    app
}

fn run(app: &TestApp) {
    while app.core.cms.bulk().advance().unwrap() {}
}

async fn created(app: &TestApp, caller: CallerKind, body: Value) -> String {
    let (status, job) = app.send_as(caller, "POST", BULK, &body).await.status_and_body();
    assert_eq!(status, 202, "{job}");
    job["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn bulk_job_reports_its_progress() {
    let app = with_pages().await;
    let key = app.get("/api/auth-context").await.json()["user"]["id"].clone();
    let body = json!({ "action": "publish", "all": true, "expect": 3 });
    let id = created(&app, CallerKind::ReadWrite, body).await;
    let path = format!("{JOBS}/{id}");
    let mut job = json!({
        "id": id, "kind": "bulk", "state": "waiting", "contentType": "page", "action": "publish",
        "total": 3, "done": 0, "succeeded": 0, "refused": 0, "errors": [], "error": null,
        "by": { "kind": "key", "id": key, "name": "read-write" }, "createdAt": NOW,
        "finishedAt": null,
    });
    assert_eq!(app.get(&path).await.status_and_body(), (200, job.clone()));
    run(&app);
    for (member, value) in [
        ("state", json!("done")),
        ("done", json!(3)),
        ("succeeded", json!(3)),
        ("finishedAt", json!(NOW)),
    ] {
        job[member] = value;
    }
    assert_eq!(app.get(&path).await.status_and_body(), (200, job.clone()));
    // Admins find the job under the other path of jobs, too.
    let internal = format!("/api/v1/internal/job/{id}");
    let reply = app.get_as(CallerKind::Admin, &internal).await;
    assert_eq!(reply.status_and_body(), (200, job.clone()));
    job.as_object_mut().unwrap().remove("errors");
    assert_eq!(app.get(JOBS).await.status_and_body(), (200, listed(&[job.clone()])));

    let others = CallerKind::Scoped;
    assert_eq!(app.get_as(others, JOBS).await.json(), listed(&[]));
    assert_eq!(app.get_as(others, &path).await.status_and_body(), not_found());
    let stop = format!("{path}/stop");
    assert_eq!(
        app.send_as(others, "POST", &stop, &Value::Null).await.status_and_body(),
        not_found()
    );
    assert_eq!(app.post(&stop).await, no_content());
    assert_eq!(app.get(&path).await.json()["state"], "done");
}

#[tokio::test]
async fn bulk_job_is_stopped() {
    let app = with_pages().await;
    let body = json!({ "action": "delete", "all": true, "expect": 3 });
    let id = created(&app, CallerKind::Admin, body).await;
    // A job of an admin is not found by others.
    assert_eq!(app.post(&format!("{JOBS}/{id}/stop")).await, not_found());
    let stop = format!("{JOBS}/{id}/stop");
    let stopped = app.send_as(CallerKind::Admin, "POST", &stop, &Value::Null).await;
    assert_eq!(stopped.status_and_body(), no_content());
    run(&app);
    let list = app.get("/api/v1/content/page").await.json();
    assert_eq!(list["total_count"], 0);
    let drafts =
        app.get_with(&[("x-mode", "preview")], CallerKind::ReadWrite, "/api/v1/content/page");
    assert_eq!(drafts.await.json()["total_count"], 3);
}

#[tokio::test]
async fn bulk_request_is_refused() {
    let app = with_pages().await;
    let filters = json!({ "title": { "type": "equals", "filter": "a" } });
    let changed = json!({
        "code": 409, "message": "The number of matching objects has changed",
        "data": { "expected": 2, "found": 1 },
    });
    let required = |name: &str| json!([format!("The property {name} is required")]);
    let everything = json!({
        "action": required("action"), "filters": required("filters"), "expect": required("expect"),
    });
    for (body, wanted) in [
        (json!({}), (400, everything)),
        (json!({ "action": "delete", "filters": filters, "expect": 2 }), (409, changed)),
        (
            json!({ "action": "delete", "filters": { "title": {} }, "expect": 2 }),
            error("filters", "Missing filter type for title"),
        ),
        (
            json!({ "action": "transition", "transition": "none", "all": true, "expect": 3 }),
            error("transition", "This value is not valid."),
        ),
        (
            json!({ "action": "patch", "patch": {}, "all": true, "expect": 3 }),
            error("patch", "This value is not valid."),
        ),
    ] {
        assert_eq!(app.request("POST", BULK, &body).await.status_and_body(), wanted, "{body}");
    }
    let publish = json!({ "action": "publish", "all": true, "expect": 1 });
    let post = "/api/v1/content/post/bulk";
    let reason = "Draft & Public is not enabled for this content type";
    assert_eq!(app.request("POST", post, &publish).await.status_and_body(), refused(reason));
    let unknown = "/api/v1/content/nothing/bulk";
    assert_eq!(app.request("POST", unknown, &publish).await.status_and_body(), not_found());
    for caller in [CallerKind::ReadOnly, CallerKind::Scoped] {
        let reply = app.send_as(caller, "POST", BULK, &publish).await;
        assert_eq!(reply.status_and_body(), forbidden(), "{caller:?}");
    }
    assert_eq!(app.get(JOBS).await.json()["total_count"], 0);

    // The rights are checked before the members.
    let wrong = json!({ "action": "publish", "all": 1 });
    assert_eq!(
        app.send_as(CallerKind::ReadOnly, "POST", BULK, &wrong).await.status_and_body(),
        forbidden()
    );
}

#[tokio::test]
async fn bulk_dry_run_shows_the_first_objects() {
    let app = with_pages().await;
    let filters = json!({ "title": { "type": "equals", "filter": "b" } });
    let body = json!({
        "action": "patch", "patch": { "price": 2, "title": "" }, "filters": filters, "dryRun": true,
    });
    let sample = json!({
        "id": "b", "objectTitle": "", "before": { "price": 1, "title": "b" },
        "after": { "price": 2, "title": "" },
        "errors": { "title": ["Must be at least 1 characters long"] },
    });
    let wanted = json!({ "matched": 1, "sample": [sample] });
    assert_eq!(app.request("POST", BULK, &body).await.status_and_body(), (200, wanted));
    let odd = json!({ "nope": { "type": "empty", "filter": true } });
    let body = json!({ "action": "delete", "filters": odd, "dryRun": true });
    let reply = app.request("POST", BULK, &body).await;
    assert_eq!(reply.header("x-deprecated-payload"), Some("filters[nope]"));
    assert_eq!(app.get(JOBS).await.json()["total_count"], 0);
}

#[tokio::test]
async fn bulk_request_is_repeated_by_its_idempotency_key() {
    let app = with_pages().await;
    let body = json!({ "action": "delete", "all": true, "expect": 3 });
    let send = || {
        let headers = [("idempotency-key", "once")];
        let (app, body) = (&app, &body);
        async move {
            let caller = CallerKind::ReadWrite;
            app.send_as_with(&headers, caller, "POST", BULK, body).await.status_and_body()
        }
    };
    let first = send().await;
    assert_eq!(first.0, 202);
    run(&app);
    // No object matches any more: the response is the stored one.
    assert_eq!(send().await, first);
    assert_eq!(app.get(JOBS).await.json()["total_count"], 1);
}
