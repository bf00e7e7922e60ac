//! Scheduled publication, see docs/reference/publishing.md#scheduled-publication. The clock is fixed until a
//! test advances it.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use cms_core::Caller;
use cms_server::{ServerConfig, serve};
use serde_json::{Value, json};

use crate::support::{
    Role, TestApp, links, listed, malformed, minute, no_content, not_found, object, refused, shown,
    validation_error, wrong_media_type,
};

const ONE: &str = "/api/v1/content/article/one";
const SCHEDULE: &str = "/api/v1/content/article/one/schedule";
const NOT_VALID: &str = "This value is not valid.";

/// An app with the Draft & Public type `article`, and a draft of it with id `one`.
async fn app() -> TestApp {
    let app = TestApp::new();
    app.create_type("article", &json!({ "draftPublic": true }));
    app.create("article", &json!({ "id": "one", "title": "One" })).await;
    app
}

/// Schedules a publication at a minute after the clock started.
async fn schedule(app: &TestApp, path: &str, minutes: u32) -> (u16, Value) {
    let at = &minute(minutes)[..19];
    app.request("PUT", path, &json!({ "scheduledAt": at, "timeZone": "UTC" })).await.parts()
}

fn article(changes: &Value) -> Value {
    shown("article", "one", changes, &json!({ "title": "One" }))
}

fn draft() -> Value {
    article(&json!({ "status": "draft" }))
}

/// A draft that is scheduled for a minute after the clock started.
fn scheduled(minutes: u32) -> Value {
    article(&json!({
        "status": "draft", "scheduledAt": minute(minutes), "scheduledAtTimeZone": "UTC",
    }))
}

#[tokio::test]
async fn schedule_body_is_validated() {
    let app = app().await;
    let required = |name: &str| json!([format!("The property {name} is required")]);
    // The clock shows 03:04:05.
    for (body, errors) in [
        (
            json!({}),
            json!({ "scheduledAt": required("scheduledAt"), "timeZone": required("timeZone") }),
        ),
        (
            json!({ "scheduledAt": 5, "timeZone": null }),
            json!({
                "scheduledAt": ["Integer value found, but a string is required"],
                "timeZone": ["NULL value found, but a string is required"],
            }),
        ),
        (
            json!({ "scheduledAt": "soon", "timeZone": "Mars/Olympus" }),
            json!({
                "scheduledAt": [NOT_VALID], "timeZone": [NOT_VALID],
            }),
        ),
    ] {
        assert_eq!(app.request("PUT", SCHEDULE, &body).await.parts(), (400, errors), "{body}");
    }
    for at in [
        "2026-01-02T03:09:05",
        "2026-01-02T03:09",
        "2026-01-02T03:04:05",
        "2025-12-31T00:00",
        "2026-01-02",
        "2026-01-02 12:00",
        "2026-01-02T12:00:00Z",
        "2026-01-02T12:00:00+01:00",
        "2026-01-02T12:00:00.5",
        "2026-02-30T12:00",
        "2026-01-02T24:00",
        "",
    ] {
        let body = json!({ "scheduledAt": at, "timeZone": "UTC" });
        let response = app.request("PUT", SCHEDULE, &body).await;
        assert_eq!(response.parts(), validation_error("scheduledAt", NOT_VALID), "{at}");
    }
    for (body, expected) in [("[]", malformed()), ("", malformed()), ("{", malformed())] {
        let key = app.key(Role::ReadWrite).unwrap();
        let headers = [("x-auth-token", key), ("content-type", "application/json")];
        assert_eq!(app.send("PUT", SCHEDULE, &headers, body).await.parts(), expected, "{body}");
        if !body.is_empty() {
            let sent = app.send("PUT", SCHEDULE, &headers[..1], body).await;
            assert_eq!(sent.parts(), wrong_media_type());
        }
    }
    assert_eq!(app.get(ONE).await.parts(), (200, draft()));

    for (at, zone, utc) in [
        ("2026-01-02T03:09:06", "UTC", "2026-01-02T03:09:06+00:00"),
        ("2026-01-02T12:00", "Europe/Warsaw", "2026-01-02T11:00:00+00:00"),
        ("2026-07-02T12:00:30", "Europe/Warsaw", "2026-07-02T10:00:30+00:00"),
        ("2026-01-02T00:00", "Asia/Kathmandu", ""),
        ("2026-01-02T09:00", "Asia/Kathmandu", "2026-01-02T03:15:00+00:00"),
        // Zone names are case-insensitive, and returned in their usual case.
        ("2026-01-02T12:00", "europe/WARSAW", "2026-01-02T11:00:00+00:00"),
        // Skipped and repeated local times.
        ("2026-03-29T02:30", "Europe/Warsaw", "2026-03-29T01:30:00+00:00"),
        ("2026-10-25T02:30", "Europe/Warsaw", "2026-10-25T00:30:00+00:00"),
    ] {
        let body = json!({ "scheduledAt": at, "timeZone": zone });
        let response = app.request("PUT", SCHEDULE, &body).await.parts();
        let zone = if zone == "europe/WARSAW" { "Europe/Warsaw" } else { zone };
        let changes = json!({ "status": "draft", "scheduledAt": utc, "scheduledAtTimeZone": zone });
        let expected = match utc {
            "" => validation_error("scheduledAt", NOT_VALID),
            _ => (200, article(&changes)),
        };
        assert_eq!(response, expected, "{at} {zone}");
    }
}

/// Only drafts and modified objects; a new schedule replaces the old one.
#[tokio::test]
async fn schedules_are_set_changed_and_removed() {
    let app = app().await;
    assert_eq!(schedule(&app, SCHEDULE, 10).await, (200, scheduled(10)));
    // A schedule does not change `updatedAt`.
    app.wait_a_minute();
    assert_eq!(schedule(&app, SCHEDULE, 20).await, (200, scheduled(20)));
    assert_eq!(schedule(&app, SCHEDULE, 6).await, validation_error("scheduledAt", NOT_VALID));
    assert_eq!(app.get(ONE).await.parts(), (200, scheduled(20)));
    let path = "/api/v1/content/article";
    let preview = [("x-mode", "preview")];
    let list = app.request_with(&preview, Role::ReadOnly, "GET", path, &Value::Null).await;
    assert_eq!(list.parts(), (200, listed(&[scheduled(20)])));
    assert_eq!(app.request("DELETE", SCHEDULE, &Value::Null).await.parts(), no_content());
    assert_eq!(app.get(ONE).await.parts(), (200, draft()));
    assert_eq!(app.request("DELETE", SCHEDULE, &Value::Null).await.parts(), no_content());
    let none = "/api/v1/content/article/none/schedule";
    assert_eq!(schedule(&app, none, 10).await, not_found());
    assert_eq!(app.request("DELETE", none, &Value::Null).await.parts(), not_found());

    let wrong = refused("Only draft or modified objects can be scheduled");
    assert_eq!(app.post(&format!("{ONE}/publish")).await, no_content());
    assert_eq!(schedule(&app, SCHEDULE, 10).await, wrong);
    assert_eq!(app.request("PUT", SCHEDULE, &json!({})).await.parts(), wrong);
    assert_eq!(app.request("DELETE", SCHEDULE, &Value::Null).await.parts(), no_content());
    assert_eq!(app.post(&format!("{ONE}/archive")).await, no_content());
    assert_eq!(schedule(&app, SCHEDULE, 10).await, wrong);
    assert_eq!(app.request("PATCH", ONE, &json!({})).await.status, 200);
    assert_eq!(schedule(&app, SCHEDULE, 10).await, wrong);
}

/// The object is published at the time, not a second earlier.
#[tokio::test]
async fn due_objects_are_published_once() {
    let app = app().await;
    let publish_due = || app.core.cms.publishing().publish_due().unwrap();
    assert_eq!(schedule(&app, SCHEDULE, 6).await, (200, scheduled(6)));
    app.core.clock.advance(6 * 60 - 1);
    assert_eq!(publish_due(), 0);
    assert_eq!(app.get(ONE).await.parts(), (200, scheduled(6)));
    app.core.clock.advance(1);
    assert_eq!(publish_due(), 1);
    let public = |at| {
        article(&json!({
            "status": "public", "updatedAt": minute(at), "publicVersion": 1, "publishedAt": minute(at),
        }))
    };
    let list = || app.get("/api/v1/content/article");
    assert_eq!(list().await.parts(), (200, listed(&[public(6)])));
    assert_eq!(publish_due(), 0);

    // A modified object: readers see neither the schedule nor the new version before that time.
    let edit = json!({ "title": "Two", "related": links(&["article/one"]) });
    assert_eq!(app.request("PATCH", ONE, &edit).await.status, 200);
    let modified = json!({
        "status": "modified", "latestVersion": 2, "updatedAt": minute(6), "publicVersion": 1,
        "publishedAt": minute(6), "scheduledAt": minute(12), "scheduledAtTimeZone": "UTC",
    });
    let modified = shown("article", "one", &modified, &edit);
    assert_eq!(schedule(&app, SCHEDULE, 12).await, (200, modified));
    assert_eq!(list().await.parts(), (200, listed(&[public(6)])));
    // The server polls late.
    app.core.clock.advance(30 * 60);
    assert_eq!(publish_due(), 1);
    let after = json!({
        "status": "public", "latestVersion": 2, "updatedAt": minute(36), "publicVersion": 2,
        "publishedAt": minute(36),
    });
    assert_eq!(list().await.parts(), (200, listed(&[shown("article", "one", &after, &edit)])));
    assert_eq!(publish_due(), 0);
}

/// Any edit and any change of status cancels the schedule.
#[tokio::test]
async fn edits_and_changes_of_status_cancel_a_schedule() {
    let edit = json!([{ "id": "one", "title": "New" }]);
    let new = json!({ "title": "New" });
    let none = Value::Null;
    let all = "/api/v1/content/article";
    // Whether the object was published before, the request, and whether the schedule remains.
    for (published, method, path, body, remains) in [
        (false, "PUT", ONE.to_owned(), new.clone(), false),
        (false, "PATCH", ONE.to_owned(), json!({}), false),
        (false, "POST", format!("{all}/batch?updateExisting=true"), edit.clone(), false),
        (false, "PATCH", format!("{all}/batch"), edit, false),
        (false, "POST", format!("{ONE}/publish"), none.clone(), false),
        (false, "POST", format!("{all}/batch-publish"), json!(["one"]), false),
        (false, "POST", format!("{all}/batch-archive"), json!(["one"]), false),
        (true, "POST", format!("{ONE}/publish"), none.clone(), false),
        (true, "POST", format!("{ONE}/unpublish"), none.clone(), false),
        (true, "POST", format!("{ONE}/archive"), none.clone(), false),
        (true, "PATCH", ONE.to_owned(), new, false),
        (true, "POST", format!("{all}/batch-unpublish"), json!(["one"]), false),
        // A request without a change does not cancel.
        (false, "POST", format!("{ONE}/unpublish"), none.clone(), true),
        (false, "POST", format!("{ONE}/archive"), none.clone(), true),
        (false, "POST", format!("{all}/batch-unpublish"), json!(["one"]), true),
        (false, "PATCH", ONE.to_owned(), json!({ "title": "" }), true),
    ] {
        let app = app().await;
        if published {
            assert_eq!(app.post(&format!("{ONE}/publish")).await, no_content());
            assert_eq!(app.request("PATCH", ONE, &json!({ "price": 1 })).await.status, 200);
        }
        assert_eq!(schedule(&app, SCHEDULE, 10).await.0, 200);
        app.request(method, &path, &body).await;
        let internal = app.get(ONE).await.json()["internal"].clone();
        assert_eq!(internal.get("scheduledAt").is_some(), remains, "{method} {path}");
        assert_eq!(internal.get("scheduledAtTimeZone").is_some(), remains, "{method} {path}");
        let before = internal["status"].clone();
        app.core.clock.advance(60 * 60);
        assert_eq!(app.core.cms.publishing().publish_due().unwrap(), usize::from(remains));
        let after = app.get(ONE).await.json()["internal"]["status"].clone();
        assert_eq!(after, if remains { json!("public") } else { before }, "{method} {path}");
    }
}

/// Neither are objects of a type without Draft & Public.
#[tokio::test]
async fn deleted_objects_are_not_published() {
    let app = app().await;
    assert_eq!(schedule(&app, SCHEDULE, 10).await.0, 200);
    assert_eq!(app.request("DELETE", ONE, &Value::Null).await.parts(), no_content());
    app.create("article", &json!({ "id": "one", "title": "One" })).await;
    app.create("article", &json!({ "id": "two", "title": "Two" })).await;
    assert_eq!(schedule(&app, "/api/v1/content/article/two/schedule", 10).await.0, 200);
    let mut without = crate::support::linking_definition("article");
    without.extend(object(&json!({ "draftPublic": false })));
    app.core.cms.types().update(&Caller::local(), "article", without).unwrap();
    app.core.clock.advance(60 * 60);
    assert_eq!(app.core.cms.publishing().publish_due().unwrap(), 0);
    let two = shown("article", "two", &json!({}), &json!({ "title": "Two" }));
    assert_eq!(app.get("/api/v1/content/article/two").await.parts(), (200, two));
}

/// A running server publishes due objects in the background, until it stops.
#[test]
fn server_publishes_due_objects() {
    let app = tokio::runtime::Runtime::new().unwrap().block_on(app());
    let (cms, local) = (&app.core.cms, Caller::local());
    let later = json!({ "scheduledAt": "2026-01-02T04:00", "timeZone": "UTC" });
    cms.publishing().schedule(&local, "article", "one", object(&later)).unwrap();
    app.core.clock.advance(60 * 60);
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = ServerConfig { listen, ..ServerConfig::default() };
    let running = serve(config, Arc::clone(cms)).unwrap();
    let published = || {
        let text = cms.objects().get(&local, "article", "one", 0).unwrap().0;
        let one: Value = serde_json::from_slice(&text).unwrap();
        one["internal"]["status"] == "public"
    };
    let started = Instant::now();
    while !published() {
        assert!(started.elapsed() < Duration::from_secs(30), "nothing was published");
        std::thread::yield_now();
    }
    running.shutdown();
}
