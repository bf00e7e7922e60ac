//! Objects that keep the dates of the request (`X-CMS-Keep-Dates`).

use serde_json::{Value, json};

use crate::support::{
    Response, Role, TestApp, forbidden, links, listed, minute, not_found, shown, validation_error,
};

const POSTS: &str = "/api/v1/content/post";
const BATCH: &str = "/api/v1/content/post/batch?updateExisting=true";
const KEEP: (&str, &str) = ("x-cms-keep-dates", "1");
const CREATED: &str = "2019-05-01T10:00:00+00:00";
const UPDATED: &str = "2020-01-22T14:34:36+00:00";
const DELETED: &str = "2021-03-04T05:06:07+00:00";

async fn post(app: &TestApp, path: &str, body: &Value) -> Response {
    app.request_with(&[KEEP], Role::Admin, "POST", path, body).await
}

/// The report of a batch with one refused element.
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
async fn dates_of_a_new_object_are_those_of_the_request() {
    let app = TestApp::new();
    let dates = json!({ "createdAt": "2019-05-01 10:00", "updatedAt": "@1579703676",
        "deletedAt": "", "status": "draft", "latestVersion": 9 });
    let new = json!({ "id": "old", "title": "Old", "internal": dates });
    let kept = json!({ "createdAt": CREATED, "updatedAt": UPDATED });
    let kept = shown("post", "old", &kept, &json!({ "title": "Old" }));
    assert_eq!(post(&app, POSTS, &new).await.parts(), (200, kept.clone()));
    assert_eq!(app.get(&format!("{POSTS}/old")).await.parts(), (200, kept.clone()));
    // Its date of creation sorts it before older objects of this server.
    let one = shown("post", "one", &json!({}), &json!({ "title": "One" }));
    assert_eq!(app.get(POSTS).await.parts(), (200, listed(&[kept, one])));

    // Each member alone; omitted ones have their usual value.
    let table = [
        (json!({ "createdAt": CREATED }), json!({ "createdAt": CREATED })),
        (json!({ "updatedAt": minute(0) }), json!({})),
        (json!({}), json!({})),
        (json!(null), json!({})),
    ];
    for (number, (internal, changes)) in table.into_iter().enumerate() {
        let id = format!("new-{number}");
        let new = json!({ "id": id, "title": "N", "internal": internal });
        let expected = shown("post", &id, &changes, &json!({ "title": "N" }));
        assert_eq!(post(&app, POSTS, &new).await.parts(), (200, expected), "{internal}");
    }
}

#[tokio::test]
async fn invalid_dates_are_refused() {
    let app = TestApp::new();
    let (format, invalid) = ("Wrong date format", "This value is not valid.");
    let table = [
        ("createdAt", json!({ "createdAt": "yesterday" }), format),
        ("updatedAt", json!({ "updatedAt": 5 }), format),
        ("deletedAt", json!({ "deletedAt": null }), format),
        ("createdAt", json!({ "createdAt": minute(1) }), invalid),
        ("deletedAt", json!({ "deletedAt": minute(1) }), invalid),
        // An omitted date of creation is the current time.
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
            post(&app, POSTS, &new).await.parts(),
            validation_error(&path, message),
            "{internal}"
        );
        let errors = json!({ path: [message] });
        assert_eq!(
            post(&app, BATCH, &json!([new])).await.parts(),
            refused(&new, &errors),
            "{internal}"
        );
    }
    // Reported together with all other errors.
    let new = json!({ "id": "one", "internal": { "createdAt": "" } });
    let errors = json!({
        "id": ["This value is already used"],
        "title": ["The property title is required"],
        "internal.createdAt": [format],
    });
    assert_eq!(post(&app, POSTS, &new).await.parts(), (400, errors));
}

#[tokio::test]
async fn dates_are_kept_for_admin_keys_only() {
    let app = TestApp::new();
    let new = json!({ "title": "N", "internal": { "createdAt": "no date" } });
    for role in [Role::ReadOnly, Role::ReadWrite, Role::Scoped, Role::Unrelated] {
        for (path, body) in [(POSTS, new.clone()), (BATCH, json!([new]))] {
            let response = app.request_with(&[KEEP], role, "POST", path, &body).await;
            assert_eq!(response.parts(), forbidden(), "{role:?} {path}");
        }
        // The type is checked before the right, as in all requests.
        let response =
            app.request_with(&[KEEP], role, "POST", "/api/v1/content/nosuch", &new).await;
        let expected = if role == Role::ReadOnly { forbidden() } else { not_found() };
        assert_eq!(response.parts(), expected, "{role:?}");
    }
    // Without the header, with another value and on other requests `internal` is ignored.
    for headers in [&[][..], &[("x-cms-keep-dates", "true")], &[("x-cms-keep-dates", "")]] {
        let response = app.request_with(headers, Role::ReadWrite, "POST", POSTS, &new).await;
        assert_eq!(response.status, 200, "{headers:?}");
        assert_eq!(response.json()["internal"]["createdAt"], minute(0));
    }
    for (method, path) in [("PUT", "/one"), ("PATCH", "/one"), ("PATCH", "/batch")] {
        let mut body = json!({ "id": "one", "title": "N", "internal": { "createdAt": CREATED } });
        if path == "/batch" {
            body = json!([body]);
        }
        let path = format!("{POSTS}{path}");
        let response = app.request_with(&[KEEP], Role::ReadWrite, method, &path, &body).await;
        assert_eq!(response.status, 200, "{method} {path}");
    }
    assert_eq!(app.get(&format!("{POSTS}/one")).await.json()["internal"]["createdAt"], minute(0));
}

#[tokio::test]
async fn batch_keeps_dates_of_replaced_objects() {
    let app = TestApp::new();
    app.create_type("page", &json!({ "draftPublic": true }));
    app.create("page", &json!({ "id": "p", "title": "P" })).await;
    app.create("page", &json!({ "id": "q", "title": "Q" })).await;
    let page = "/api/v1/content/page";
    assert_eq!(app.post(&format!("{page}/p/publish")).await.0, 204);
    app.wait_a_minute();
    let dates = json!({ "createdAt": CREATED, "updatedAt": UPDATED });
    let batch = json!([
        { "id": "P", "title": "P2", "internal": dates },
        { "id": "new", "title": "N", "internal": { "createdAt": CREATED } },
        // An omitted date of creation is the stored one.
        { "id": "q", "title": "Q2", "internal": { "updatedAt": minute(0) } },
    ]);
    let path = format!("{page}/batch?updateExisting=true");
    let report = post(&app, &path, &batch).await;
    assert_eq!(report.status, 200, "{:?}", report.json());
    let get = async |id: &str, headers: &[(&str, &str)]| {
        let path = format!("{page}/{id}");
        app.request_with(headers, Role::ReadWrite, "GET", &path, &Value::Null).await.json()
    };
    let draft = json!({ "status": "modified", "publicVersion": 1, "publishedAt": minute(0),
        "createdAt": CREATED, "updatedAt": UPDATED, "latestVersion": 2 });
    assert_eq!(get("p", &[]).await, shown("page", "p", &draft, &json!({ "title": "P2" })));
    // Both views have the same date of creation, and so the same order.
    let public = json!({ "createdAt": CREATED, "publicVersion": 1, "publishedAt": minute(0) });
    let public = shown("page", "p", &public, &json!({ "title": "P" }));
    assert_eq!(get("p", &[("x-visibility", "public")]).await, public);
    assert_eq!(app.get(page).await.parts(), (200, listed(&[public])));
    let new = get("new", &[]).await;
    assert_eq!(new["internal"]["createdAt"], CREATED);
    assert_eq!(new["internal"]["updatedAt"], minute(1));
    let q = get("q", &[]).await;
    assert_eq!(q["internal"]["createdAt"], minute(0));
    assert_eq!(q["internal"]["updatedAt"], minute(0));
}

/// An object with a date of deletion is stored in the trash, without checks of links and unique values.
#[tokio::test]
async fn deleted_objects_go_to_the_trash_with_their_dates() {
    let app = TestApp::new();
    app.create_type("page", &json!({}));
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
    assert_eq!(post(&app, page, &gone).await.parts(), (200, kept));
    assert_eq!(app.get(&format!("{page}/gone")).await.parts(), not_found());
    assert_eq!(app.get(page).await.json(), before);

    // It is validated otherwise, and must not have the id of a live object.
    let invalid = json!({ "id": "live", "title": 5, "internal": { "createdAt": CREATED,
        "deletedAt": DELETED } });
    let errors = json!({
        "id": ["This value is already used"],
        "title": ["Integer value found, but a string is required"],
    });
    assert_eq!(post(&app, page, &invalid).await.parts(), (400, errors));

    // A batch with `updateExisting` moves a live object to the trash, unless it is linked.
    let batch = format!("{page}/batch?updateExisting=true");
    let removed = json!({ "id": "live", "title": "M", "internal": { "deletedAt": minute(0) } });
    let used = json!({ "id": "used", "title": "U", "internal": { "deletedAt": minute(0) } });
    let response = post(&app, &batch, &json!([removed])).await;
    assert_eq!(response.status, 200, "{:?}", response.json());
    let reason = "This content object is used in another content object.";
    let errors = json!({ "internal.deletedAt": [reason] });
    assert_eq!(post(&app, &batch, &json!([used])).await.parts(), refused(&used, &errors));

    let ids = async |query: &str| app.get(&format!("{page}/removed{query}")).await.json();
    assert_eq!(ids("").await, json!(["gone", "live"]));
    assert_eq!(ids("?deletedAfter=2021-03-05").await, json!(["live"]));
    let found = app.get("/api/v1/search?q=*&content_type[]=page").await.json();
    assert_eq!(found["total_count"], 2);
    // The change feed has the deletion only.
    let changes = app.get(&format!("/api/v1/changes?since={start}")).await.json();
    let actions = changes["data"].as_array().unwrap().iter();
    let actions: Vec<Value> = actions.map(|c| json!([c["action"], c["id"]])).collect();
    assert_eq!(actions, [json!(["delete", "gone"]), json!(["delete", "live"])]);
    // The id of a deleted object is free.
    app.create("page", &json!({ "id": "gone", "title": "Again" })).await;
    assert_eq!(ids("").await, json!(["live"]));
}
