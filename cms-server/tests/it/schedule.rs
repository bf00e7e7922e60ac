//! Scheduled publication. The clock is fixed until a test advances it.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use cms_core::{Caller, wire::key::KeyKind};
use cms_server::{ServerConfig, serve};
use serde_json::{Value, json};

use crate::support::{
    CallerKind, TestApp, definition, error, links, listed, malformed, minute, no_content,
    not_found, object, refused, shown, wrong_media_type,
};

const ONE: &str = "/api/v1/content/article/one";
const SCHEDULE: &str = "/api/v1/content/article/one/schedule";
const NOT_VALID: &str = "This value is not valid.";

/// An app with the Draft & Public type `article` and its draft `one`.
async fn app() -> TestApp {
    let app = TestApp::with_type("article", &json!({ "draftPublic": true }));
    app.create("article", &json!({ "id": "one", "title": "One" })).await;
    app
}

/// Schedules a publication at a minute after the clock started.
async fn schedule(app: &TestApp, path: &str, minutes: u32) -> (u16, Value) {
    let at = &minute(minutes)[..19];
    app.request("PUT", path, &json!({ "scheduledAt": at, "timeZone": "UTC" }))
        .await
        .status_and_body()
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
        assert_eq!(
            app.request("PUT", SCHEDULE, &body).await.status_and_body(),
            (400, errors),
            "{body}"
        );
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
        let reply = app.request("PUT", SCHEDULE, &body).await;
        assert_eq!(reply.status_and_body(), error("scheduledAt", NOT_VALID), "{at}");
    }
    for (body, wanted) in [("[]", malformed()), ("", malformed()), ("{", malformed())] {
        let key = app.key(CallerKind::ReadWrite).unwrap();
        let headers = [("x-auth-token", key), ("content-type", "application/json")];
        assert_eq!(
            app.send("PUT", SCHEDULE, &headers, body).await.status_and_body(),
            wanted,
            "{body}"
        );
        if !body.is_empty() {
            let sent = app.send("PUT", SCHEDULE, &headers[..1], body).await;
            assert_eq!(sent.status_and_body(), wrong_media_type());
        }
    }
    assert_eq!(app.get(ONE).await.status_and_body(), (200, draft()));

    for (at, zone, utc) in [
        ("2026-01-02T03:09:06", "UTC", "2026-01-02T03:09:06+00:00"),
        ("2026-01-02T12:00", "Europe/Warsaw", "2026-01-02T11:00:00+00:00"),
        ("2026-07-02T12:00:30", "Europe/Warsaw", "2026-07-02T10:00:30+00:00"),
        ("2026-01-02T00:00", "Asia/Kathmandu", ""),
        ("2026-01-02T09:00", "Asia/Kathmandu", "2026-01-02T03:15:00+00:00"),
        // Names of time zones are case-insensitive; the response has the canonical spelling.
        ("2026-01-02T12:00", "europe/WARSAW", "2026-01-02T11:00:00+00:00"),
        // Skipped and repeated local times.
        ("2026-03-29T02:30", "Europe/Warsaw", "2026-03-29T01:30:00+00:00"),
        ("2026-10-25T02:30", "Europe/Warsaw", "2026-10-25T00:30:00+00:00"),
    ] {
        let body = json!({ "scheduledAt": at, "timeZone": zone });
        let reply = app.request("PUT", SCHEDULE, &body).await.status_and_body();
        let zone = if zone == "europe/WARSAW" { "Europe/Warsaw" } else { zone };
        let changes = json!({ "status": "draft", "scheduledAt": utc, "scheduledAtTimeZone": zone });
        let wanted = match utc {
            "" => error("scheduledAt", NOT_VALID),
            _ => (200, article(&changes)),
        };
        assert_eq!(reply, wanted, "{at} {zone}");
    }
}

/// Only drafts and modified objects can be scheduled; a new schedule replaces the old one.
#[tokio::test]
async fn schedule_is_set_changed_and_removed() {
    let app = app().await;
    assert_eq!(schedule(&app, SCHEDULE, 10).await, (200, scheduled(10)));
    // A schedule does not change `updatedAt`.
    app.wait_a_minute();
    assert_eq!(schedule(&app, SCHEDULE, 20).await, (200, scheduled(20)));
    assert_eq!(schedule(&app, SCHEDULE, 6).await, error("scheduledAt", NOT_VALID));
    assert_eq!(app.get(ONE).await.status_and_body(), (200, scheduled(20)));
    let path = "/api/v1/content/article";
    let preview = [("x-mode", "preview")];
    let list = app.get_with(&preview, CallerKind::ReadOnly, path).await;
    assert_eq!(list.status_and_body(), (200, listed(&[scheduled(20)])));
    assert_eq!(app.delete(SCHEDULE).await.status_and_body(), no_content());
    assert_eq!(app.get(ONE).await.status_and_body(), (200, draft()));
    assert_eq!(app.delete(SCHEDULE).await.status_and_body(), no_content());
    let none = "/api/v1/content/article/none/schedule";
    assert_eq!(schedule(&app, none, 10).await, not_found());
    assert_eq!(app.delete(none).await.status_and_body(), not_found());

    let wrong = refused("Only draft or modified objects can be scheduled");
    assert_eq!(app.post(&format!("{ONE}/publish")).await, no_content());
    assert_eq!(schedule(&app, SCHEDULE, 10).await, wrong);
    assert_eq!(app.request("PUT", SCHEDULE, &json!({})).await.status_and_body(), wrong);
    assert_eq!(app.delete(SCHEDULE).await.status_and_body(), no_content());
    assert_eq!(app.post(&format!("{ONE}/archive")).await, no_content());
    assert_eq!(schedule(&app, SCHEDULE, 10).await, wrong);
    assert_eq!(app.request("PATCH", ONE, &json!({})).await.status, 200);
    assert_eq!(schedule(&app, SCHEDULE, 10).await, wrong);
}

/// The object is published at the scheduled time and not a second earlier, with the result of the publish action.
#[tokio::test]
async fn due_schedule_publishes_once() {
    let app = app().await;
    let publish_due = || app.core.cms.publishing().publish_due().unwrap();
    assert_eq!(schedule(&app, SCHEDULE, 6).await, (200, scheduled(6)));
    app.core.clock.advance(6 * 60 - 1);
    assert_eq!(publish_due(), 0);
    assert_eq!(app.get(ONE).await.status_and_body(), (200, scheduled(6)));
    app.core.clock.advance(1);
    assert_eq!(publish_due(), 1);
    let public = |at| {
        article(&json!({
            "status": "public", "updatedAt": minute(at), "publicVersion": 1, "publishedAt": minute(at),
        }))
    };
    let list = || app.get("/api/v1/content/article");
    assert_eq!(list().await.status_and_body(), (200, listed(&[public(6)])));
    assert_eq!(publish_due(), 0);

    // For a modified object, readers see neither the schedule nor the new version before that time.
    let edit = json!({ "title": "Two", "related": links(&["article/one"]) });
    assert_eq!(app.request("PATCH", ONE, &edit).await.status, 200);
    let modified = json!({
        "status": "modified", "latestVersion": 2, "updatedAt": minute(6), "publicVersion": 1,
        "publishedAt": minute(6), "scheduledAt": minute(12), "scheduledAtTimeZone": "UTC",
    });
    let modified = shown("article", "one", &modified, &edit);
    assert_eq!(schedule(&app, SCHEDULE, 12).await, (200, modified));
    assert_eq!(list().await.status_and_body(), (200, listed(&[public(6)])));
    // The schedule is overdue.
    app.core.clock.advance(30 * 60);
    assert_eq!(publish_due(), 1);
    let after = json!({
        "status": "public", "latestVersion": 2, "updatedAt": minute(36), "publicVersion": 2,
        "publishedAt": minute(36),
    });
    assert_eq!(
        list().await.status_and_body(),
        (200, listed(&[shown("article", "one", &after, &edit)]))
    );
    assert_eq!(publish_due(), 0);
}

/// Edits and changes of status cancel the schedule.
#[tokio::test]
async fn schedule_is_cancelled_by_edits_and_status_changes() {
    let edit = json!([{ "id": "one", "title": "New" }]);
    let new = json!({ "title": "New" });
    let none = Value::Null;
    let all = "/api/v1/content/article";
    // Whether the object was published before, the request, and whether a schedule remains.
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
        // Requests without effect cancel nothing.
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

/// A deleted object is not published, and neither are objects of a type that lost Draft & Public.
#[tokio::test]
async fn deleted_object_is_not_published() {
    let app = app().await;
    assert_eq!(schedule(&app, SCHEDULE, 10).await.0, 200);
    assert_eq!(app.delete(ONE).await.status_and_body(), no_content());
    app.create("article", &json!({ "id": "one", "title": "One" })).await;
    app.create("article", &json!({ "id": "two", "title": "Two" })).await;
    assert_eq!(schedule(&app, "/api/v1/content/article/two/schedule", 10).await.0, 200);
    let mut without = crate::support::linking_definition("article");
    without.extend(object(&json!({ "draftPublic": false })));
    app.core.cms.types().update(&Caller::local(), "article", without).unwrap();
    app.core.clock.advance(60 * 60);
    assert_eq!(app.core.cms.publishing().publish_due().unwrap(), 0);
    let two = shown("article", "two", &json!({}), &json!({ "title": "Two" }));
    assert_eq!(app.get("/api/v1/content/article/two").await.status_and_body(), (200, two));
}

/// A running server publishes objects that are due.
#[test]
fn running_server_publishes_due_schedules() {
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

/// An entry of the list, scheduled by the read-write key for a minute after the clock started.
fn entry(app: &TestApp, (content_type, id): (&str, &str), title: &str, minutes: u32) -> Value {
    let keys = app.core.cms.keys().list(&Caller::local()).unwrap().data;
    let key = keys.into_iter().find(|key| key.kind == KeyKind::ReadWrite).unwrap();
    json!({
        "contentType": content_type,
        "id": id,
        "objectTitle": title,
        "status": "draft",
        "scheduledAt": minute(minutes),
        "scheduledAtTimeZone": "UTC",
        "by": { "kind": "key", "id": key.id, "name": key.name },
    })
}

#[tokio::test]
async fn schedules_are_listed_by_time_type_and_id() {
    let app = app().await;
    for name in ["post", "zebra"] {
        if name == "zebra" {
            app.create_type(name, &json!({ "draftPublic": true }));
        } else {
            let mut post = definition(name);
            post.extend(object(&json!({ "draftPublic": true })));
            app.core.cms.types().update(&Caller::local(), name, post).unwrap();
        }
    }
    for (name, id) in [("zebra", "a"), ("article", "two"), ("article", "three"), ("post", "p")] {
        app.create(name, &json!({ "id": id, "title": id })).await;
    }
    let path = |name: &str, id: &str| format!("/api/v1/content/{name}/{id}/schedule");
    for (name, id, minutes) in [
        ("zebra", "a", 20),
        ("article", "two", 20),
        ("article", "three", 20),
        ("article", "one", 30),
        ("post", "p", 10),
    ] {
        assert_eq!(schedule(&app, &path(name, id), minutes).await.0, 200);
    }
    let all = [
        entry(&app, ("post", "p"), "", 10),
        entry(&app, ("article", "three"), "", 20),
        entry(&app, ("article", "two"), "", 20),
        entry(&app, ("zebra", "a"), "", 20),
        entry(&app, ("article", "one"), "", 30),
    ];
    let some = |range: std::ops::Range<usize>| listed(&all[range]);
    let none = listed(&[]);
    let twenty = minute(20).replace('+', "%2B");
    for (query, wanted) in [
        (String::new(), some(0..5)),
        ("?content_type[]=post".to_owned(), some(0..1)),
        ("?content_type[]=zebra&content_type[]=nosuch".to_owned(), some(3..4)),
        ("?content_type[]=nosuch".to_owned(), none.clone()),
        // Both times are included.
        (format!("?from={twenty}"), some(1..5)),
        (format!("?to={twenty}"), some(0..4)),
        (format!("?from={twenty}&to={twenty}"), some(1..4)),
        ("?from=2026-01-02T03:24:05.000001&to=".to_owned(), some(4..5)),
        ("?to=2026-01-02T03:24:04.999999".to_owned(), some(0..1)),
        ("?from=2027-01-01".to_owned(), none.clone()),
    ] {
        let reply = app.get(&format!("/api/v1/schedule{query}")).await;
        assert_eq!(reply.status_and_body(), (200, wanted), "{query}");
    }
    let page = app.get("/api/v1/schedule?page=2&limit=2").await.json();
    let envelope = json!({
        "total_count": 5, "total_pages": 3, "current_page": 2, "count": 2, "data": all[2..4],
    });
    assert_eq!(page, envelope);

    let wrong = json!({ "from": ["Wrong date format"], "to": ["Wrong date format"] });
    let reply = app.get("/api/v1/schedule?from=soon&to=2026-13-01").await;
    assert_eq!(reply.status_and_body(), (400, wrong));

    // A scoped key sees its types; readers of the public view see nothing.
    for (caller, headers, wanted) in [
        (CallerKind::Scoped, None, some(0..1)),
        (CallerKind::Stranger, None, none.clone()),
        (CallerKind::ReadOnly, None, some(0..5)),
        (CallerKind::ReadOnly, Some(("x-mode", "preview")), some(0..5)),
        (CallerKind::Admin, Some(("x-visibility", "public")), none),
    ] {
        let headers: Vec<_> = headers.into_iter().collect();
        let reply = app.get_with(&headers, caller, "/api/v1/schedule").await;
        assert_eq!(reply.status_and_body(), (200, wanted), "{caller:?} {headers:?}");
    }

    // Publication, edits and removal end a schedule.
    assert_eq!(app.delete(&path("zebra", "a")).await.status_and_body(), no_content());
    app.core.clock.advance(15 * 60);
    assert_eq!(app.core.cms.publishing().publish_due().unwrap(), 1);
    let edited = app.request("PATCH", ONE, &json!({ "price": 1 })).await;
    assert_eq!(edited.status, 200);
    assert_eq!(app.get("/api/v1/schedule").await.json(), some(1..3));
}

#[tokio::test]
async fn schedule_by_a_command_names_the_local_caller() {
    let app = app().await;
    let later = json!({ "scheduledAt": "2026-01-02T04:00", "timeZone": "Europe/Warsaw" });
    let local = Caller::local();
    app.core.cms.publishing().schedule(&local, "article", "one", object(&later)).unwrap_err();
    let later = json!({ "scheduledAt": "2026-01-02T05:00", "timeZone": "Europe/Warsaw" });
    app.core.cms.publishing().schedule(&local, "article", "one", object(&later)).unwrap();
    let listed = app.get("/api/v1/schedule").await.json();
    assert_eq!(
        listed["data"],
        json!([{
            "contentType": "article",
            "id": "one",
            "objectTitle": "",
            "status": "draft",
            "scheduledAt": "2026-01-02T04:00:00+00:00",
            "scheduledAtTimeZone": "Europe/Warsaw",
            "by": { "kind": "local", "id": null, "name": "local" },
        }])
    );
}
