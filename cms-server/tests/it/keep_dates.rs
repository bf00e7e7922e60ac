//! Objects that keep the dates of the request (`X-CMS-Keep-Dates`).

use serde_json::{Value, json};

use crate::support::{
    CallerKind, Reply, TestApp, error, forbidden, links, listed, minute, not_found, shown,
};

const POSTS: &str = "/api/v1/content/post";
const BATCH: &str = "/api/v1/content/post/batch?updateExisting=true";
const KEEP: (&str, &str) = ("x-cms-keep-dates", "1");
const CREATED: &str = "2019-05-01T10:00:00+00:00";
const UPDATED: &str = "2020-01-22T14:34:36+00:00";
const DELETED: &str = "2021-03-04T05:06:07+00:00";

async fn post(app: &TestApp, path: &str, body: &Value) -> Reply {
    app.send_as_with(&[KEEP], CallerKind::Admin, "POST", path, body).await
}

/// The report of a batch whose only element is rejected.
fn refused(element: &Value, errors: &Value) -> (u16, Value) {
    let report = json!({
        "batch_total_count": 1,
        "batch_success_count": 0,
        "batch_error_count": 1,
        "errors": [{ "id": element["id"], "data": element, "errors": errors }],
    });
    (400, report)
}

#[tokio::test]
async fn dates_of_a_new_object_are_kept() {
    let app = TestApp::new();
    let dates = json!({ "createdAt": "2019-05-01 10:00", "updatedAt": "@1579703676",
        "deletedAt": "", "status": "draft", "latestVersion": 9 });
    let new = json!({ "id": "old", "title": "Old", "internal": dates });
    let kept = json!({ "createdAt": CREATED, "updatedAt": UPDATED });
    let kept = shown("post", "old", &kept, &json!({ "title": "Old" }));
    assert_eq!(post(&app, POSTS, &new).await.status_and_body(), (200, kept.clone()));
    assert_eq!(app.get(&format!("{POSTS}/old")).await.status_and_body(), (200, kept.clone()));
    // Lists are sorted by the kept date of creation.
    let one = shown("post", "one", &json!({}), &json!({ "title": "One" }));
    assert_eq!(app.get(POSTS).await.status_and_body(), (200, listed(&[kept, one])));

    // Each member alone; the others have their defaults.
    let table = [
        (json!({ "createdAt": CREATED }), json!({ "createdAt": CREATED })),
        (json!({ "updatedAt": minute(0) }), json!({})),
        (json!({}), json!({})),
        (json!(null), json!({})),
    ];
    for (number, (internal, changes)) in table.into_iter().enumerate() {
        let id = format!("new-{number}");
        let new = json!({ "id": id, "title": "N", "internal": internal });
        let wanted = shown("post", &id, &changes, &json!({ "title": "N" }));
        assert_eq!(post(&app, POSTS, &new).await.status_and_body(), (200, wanted), "{internal}");
    }
}

#[tokio::test]
async fn dates_that_are_not_valid_return_400() {
    let app = TestApp::new();
    let (format, invalid) = ("Wrong date format", "This value is not valid.");
    let table = [
        ("createdAt", json!({ "createdAt": "yesterday" }), format),
        ("updatedAt", json!({ "updatedAt": 5 }), format),
        ("deletedAt", json!({ "deletedAt": null }), format),
        ("createdAt", json!({ "createdAt": minute(1) }), invalid),
        ("deletedAt", json!({ "deletedAt": minute(1) }), invalid),
        // The default of the date of creation is the current time.
        ("updatedAt", json!({ "updatedAt": UPDATED }), invalid),
        ("updatedAt", json!({ "createdAt": UPDATED, "updatedAt": CREATED }), invalid),
        (
            "deletedAt",
            json!({ "createdAt": CREATED, "updatedAt": DELETED, "deletedAt": UPDATED }),
            invalid,
        ),
    ];
    for (member, internal, message) in table {
        let new = json!({ "id": "new", "title": "N", "internal": internal });
        let path = format!("internal.{member}");
        assert_eq!(
            post(&app, POSTS, &new).await.status_and_body(),
            error(&path, message),
            "{internal}"
        );
        let errors = json!({ path: [message] });
        assert_eq!(
            post(&app, BATCH, &json!([new])).await.status_and_body(),
            refused(&new, &errors),
            "{internal}"
        );
    }
    // Together with the other validation errors.
    let new = json!({ "id": "one", "internal": { "createdAt": "" } });
    let errors = json!({
        "id": ["This value is already used"],
        "title": ["The property title is required"],
        "internal.createdAt": [format],
    });
    assert_eq!(post(&app, POSTS, &new).await.status_and_body(), (400, errors));
}

#[tokio::test]
async fn dates_are_kept_only_for_admin_keys() {
    let app = TestApp::new();
    let new = json!({ "title": "N", "internal": { "createdAt": "no date" } });
    for caller in
        [CallerKind::ReadOnly, CallerKind::ReadWrite, CallerKind::Scoped, CallerKind::Stranger]
    {
        for (path, body) in [(POSTS, new.clone()), (BATCH, json!([new]))] {
            let reply = app.send_as_with(&[KEEP], caller, "POST", path, &body).await;
            assert_eq!(reply.status_and_body(), forbidden(), "{caller:?} {path}");
        }
        // The type is checked before the permission.
        let reply = app.send_as_with(&[KEEP], caller, "POST", "/api/v1/content/nosuch", &new).await;
        let wanted = if caller == CallerKind::ReadOnly { forbidden() } else { not_found() };
        assert_eq!(reply.status_and_body(), wanted, "{caller:?}");
    }
    // Without the header, with another value and on other requests `internal` is ignored.
    for headers in [&[][..], &[("x-cms-keep-dates", "true")], &[("x-cms-keep-dates", "")]] {
        let reply = app.send_as_with(headers, CallerKind::ReadWrite, "POST", POSTS, &new).await;
        assert_eq!(reply.status, 200, "{headers:?}");
        assert_eq!(reply.json()["internal"]["createdAt"], minute(0));
    }
    for (method, path) in [("PUT", "/one"), ("PATCH", "/one"), ("PATCH", "/batch")] {
        let mut body = json!({ "id": "one", "title": "N", "internal": { "createdAt": CREATED } });
        if path == "/batch" {
            body = json!([body]);
        }
        let path = format!("{POSTS}{path}");
        let reply = app.send_as_with(&[KEEP], CallerKind::ReadWrite, method, &path, &body).await;
        assert_eq!(reply.status, 200, "{method} {path}");
    }
    assert_eq!(app.get(&format!("{POSTS}/one")).await.json()["internal"]["createdAt"], minute(0));
}

#[tokio::test]
async fn batch_keeps_dates_of_replaced_objects() {
    let app = TestApp::with_type("page", &json!({ "draftPublic": true }));
    app.create("page", &json!({ "id": "p", "title": "P" })).await;
    app.create("page", &json!({ "id": "q", "title": "Q" })).await;
    let page = "/api/v1/content/page";
    assert_eq!(app.post(&format!("{page}/p/publish")).await.0, 204);
    app.wait_a_minute();
    let dates = json!({ "createdAt": CREATED, "updatedAt": UPDATED });
    let batch = json!([
        { "id": "P", "title": "P2", "internal": dates },
        { "id": "new", "title": "N", "internal": { "createdAt": CREATED } },
        // Without a date of creation, the stored one stays.
        { "id": "q", "title": "Q2", "internal": { "updatedAt": minute(0) } },
    ]);
    let path = format!("{page}/batch?updateExisting=true");
    let report = post(&app, &path, &batch).await;
    assert_eq!(report.status, 200, "{:?}", report.json());
    let get = async |id: &str, headers: &[(&str, &str)]| {
        let path = format!("{page}/{id}");
        app.get_with(headers, CallerKind::ReadWrite, &path).await.json()
    };
    let draft = json!({ "status": "modified", "publicVersion": 1, "publishedAt": minute(0),
        "createdAt": CREATED, "updatedAt": UPDATED, "latestVersion": 2 });
    assert_eq!(get("p", &[]).await, shown("page", "p", &draft, &json!({ "title": "P2" })));
    // Readers see the same date of creation, so that both views have one order.
    let public = json!({ "createdAt": CREATED, "publicVersion": 1, "publishedAt": minute(0) });
    let public = shown("page", "p", &public, &json!({ "title": "P" }));
    assert_eq!(get("p", &[("x-visibility", "public")]).await, public);
    assert_eq!(app.get(page).await.status_and_body(), (200, listed(&[public])));
    let new = get("new", &[]).await;
    assert_eq!(new["internal"]["createdAt"], CREATED);
    assert_eq!(new["internal"]["updatedAt"], minute(1));
    let q = get("q", &[]).await;
    assert_eq!(q["internal"]["createdAt"], minute(0));
    assert_eq!(q["internal"]["updatedAt"], minute(0));
}

/// An object with a date of deletion goes to the trash; its links and unique values are not
/// checked.
#[tokio::test]
async fn deleted_object_goes_to_the_trash_with_its_dates() {
    let app = TestApp::with_type("page", &json!({}));
    app.create("page", &json!({ "id": "live", "title": "L" })).await;
    app.create("page", &json!({ "id": "used", "title": "U" })).await;
    app.create("page", &json!({ "id": "user", "title": "V", "related": links(&["page/used"]) }))
        .await;
    let page = "/api/v1/content/page";
    let before = app.get(page).await.json();
    let start = app.get("/api/v1/changes").await.json()["next"].as_str().unwrap().to_owned();
    let dates = json!({ "createdAt": CREATED, "updatedAt": UPDATED, "deletedAt": DELETED });
    let properties = json!({ "title": "G", "related": links(&["page/nosuch"]) });
    let gone = json!({ "id": "gone", "title": "G", "related": links(&["page/nosuch"]),
        "internal": dates });
    let kept = json!({ "createdAt": CREATED, "updatedAt": UPDATED, "deletedAt": DELETED });
    let kept = shown("page", "gone", &kept, &properties);
    assert_eq!(post(&app, page, &gone).await.status_and_body(), (200, kept));
    assert_eq!(app.get(&format!("{page}/gone")).await.status_and_body(), not_found());
    assert_eq!(app.get(page).await.json(), before);

    // The object is validated, and its id must not belong to a live object.
    let invalid = json!({ "id": "live", "title": 5, "internal": { "createdAt": CREATED,
        "deletedAt": DELETED } });
    let errors = json!({
        "id": ["This value is already used"],
        "title": ["Integer value found, but a string is required"],
    });
    assert_eq!(post(&app, page, &invalid).await.status_and_body(), (400, errors));

    // A batch with `updateExisting` moves a live object to the trash, unless another object links
    // to it.
    let batch = format!("{page}/batch?updateExisting=true");
    let removed = json!({ "id": "live", "title": "M", "internal": { "deletedAt": minute(0) } });
    let used = json!({ "id": "used", "title": "U", "internal": { "deletedAt": minute(0) } });
    let reply = post(&app, &batch, &json!([removed])).await;
    assert_eq!(reply.status, 200, "{:?}", reply.json());
    let reason = "This content object is used in another content object.";
    let errors = json!({ "internal.deletedAt": [reason] });
    assert_eq!(post(&app, &batch, &json!([used])).await.status_and_body(), refused(&used, &errors));

    let ids = async |query: &str| app.get(&format!("{page}/removed{query}")).await.json();
    assert_eq!(ids("").await, json!(["gone", "live"]));
    assert_eq!(ids("?deletedAfter=2021-03-05").await, json!(["live"]));
    let found = app.get("/api/v1/search?q=*&content_type[]=page").await.json();
    assert_eq!(found["total_count"], 2);
    // The feed has only the deletion: the object was not visible before.
    let changes = app.get(&format!("/api/v1/changes?since={start}")).await.json();
    let actions = changes["data"].as_array().unwrap().iter();
    let actions: Vec<Value> = actions.map(|c| json!([c["action"], c["id"]])).collect();
    assert_eq!(actions, [json!(["delete", "gone"]), json!(["delete", "live"])]);
    // The id of a deleted object can be used again.
    app.create("page", &json!({ "id": "gone", "title": "Again" })).await;
    assert_eq!(ids("").await, json!(["live"]));
}
