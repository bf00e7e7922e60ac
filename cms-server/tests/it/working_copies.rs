//! Working copies over HTTP: rights, life cycle, conditions and limits.

use cms_core::{Caller, limits};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::support::{
    CallerKind, Reply, TestApp, definition, error, forbidden, generic, links, listed, malformed,
    no_content, not_found,
};

const ONE: &str = "/api/v1/content/post/one/working-copy";
const NEW: &str = "/api/v1/content/post/~0a1b2c3d-0000-4000-8000-00000000abcd/working-copy";
const LIST: &str = "/api/v1/working-copies";
/// The start of the clock.
const START: &str = "2026-01-02T03:04:05.000000+0000";

/// The number of working copies in the database.
fn stored(app: &TestApp) -> usize {
    let path = app.core.path().join("cms.db");
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    database.query_row("SELECT count(*) FROM working_copy", [], |row| row.get(0)).unwrap()
}

async fn get(app: &TestApp, path: &str) -> Reply {
    app.get(path).await
}

async fn put(app: &TestApp, path: &str, body: &Value) -> (u16, Value) {
    app.request("PUT", path, body).await.status_and_body()
}

async fn tag_of(app: &TestApp, path: &str) -> String {
    app.get(path).await.header("etag").unwrap().to_owned()
}

fn copy(id: &str, base: &Value, current: bool, data: &Value) -> Value {
    json!({
        "contentType": "post", "id": id, "base": base, "current": current, "savedAt": START,
        "data": data,
    })
}

#[tokio::test]
async fn working_copy_is_stored_replaced_and_removed() {
    let app = TestApp::new();
    assert_eq!(get(&app, ONE).await.status_and_body(), not_found());
    assert_eq!(app.delete(ONE).await.status_and_body(), no_content());
    let base = json!(tag_of(&app, "/api/v1/content/post/one").await);
    // Only the size is validated.
    let data = json!({ "title": "", "price": "none", "extra": [1, null], "internal": { "a": 1 } });
    let kept = json!({ "title": "", "price": "none", "extra": [1, null] });
    let expected = copy("one", &base, true, &kept);
    let body = json!({ "base": base, "data": data });
    assert_eq!(put(&app, ONE, &body).await, (200, expected.clone()));
    assert_eq!(get(&app, ONE).await.status_and_body(), (200, expected));
    // Ids are matched in any letter case, and shown as stored.
    let upper = get(&app, "/api/v1/content/post/ONE/working-copy").await;
    assert_eq!(upper.json()["id"], "one");

    app.request("PATCH", "/api/v1/content/post/one", &json!({ "price": 2 })).await;
    assert_eq!(get(&app, ONE).await.status_and_body(), (200, copy("one", &base, false, &kept)));
    let body = json!({ "base": "unquoted", "data": {} });
    let replaced = copy("one", &json!("unquoted"), false, &json!({}));
    assert_eq!(put(&app, ONE, &body).await, (200, replaced));
    assert_eq!(app.delete(ONE).await.status_and_body(), no_content());
    assert_eq!(get(&app, ONE).await.status_and_body(), not_found());
    // The working copy has not changed the object.
    let object = get(&app, "/api/v1/content/post/one").await.json();
    assert_eq!(
        (&object["internal"]["latestVersion"], &object["title"]),
        (&json!(2), &json!("One"))
    );
}

#[tokio::test]
async fn working_copy_of_a_new_object_needs_a_uuid() {
    let app = TestApp::new();
    let id = "~0a1b2c3d-0000-4000-8000-00000000abcd";
    let body = json!({ "base": null, "data": { "id": "wish", "title": "A" } });
    let expected = copy(id, &Value::Null, true, &body["data"]);
    assert_eq!(put(&app, NEW, &body).await, (200, expected.clone()));
    assert_eq!(get(&app, NEW).await.status_and_body(), (200, expected));
    let based = json!({ "base": "\"0123456789abcdef\"", "data": {} });
    assert_eq!(put(&app, NEW, &based).await.1["current"], json!(false));
    for id in [
        "~",
        "~one",
        "~0A1B2C3D-0000-4000-8000-00000000ABCD",
        "~0a1b2c3d00004000800000000000abcd0000",
    ] {
        let path = format!("/api/v1/content/post/{id}/working-copy");
        assert_eq!(put(&app, &path, &body).await, not_found(), "{id}");
    }
    let path = NEW.replace("post", "nothing");
    assert_eq!(put(&app, &path, &body).await, not_found());
}

#[tokio::test]
async fn working_copy_payload_errors() {
    let app = TestApp::new();
    for (body, expected) in [
        (json!({ "base": null, "data": {} }), error("base", "This value is not valid.")),
        (json!({ "data": {} }), error("base", "The property base is required")),
        (json!({ "base": "" }), error("data", "The property data is required")),
        (
            json!({ "base": "", "data": {}, "id": 1 }),
            error(
                "id",
                "The property id is not defined and the definition does not allow additional properties",
            ),
        ),
        (json!([]), malformed()),
    ] {
        assert_eq!(put(&app, ONE, &body).await, expected, "{body}");
    }
    let missing = ONE.replace("one", "nothing");
    assert_eq!(put(&app, &missing, &json!({})).await, not_found());
    // The size is checked before existence, and `internal` does not count.
    let large = "x".repeat(limits::MAX_OBJECT_BYTES);
    let message = "Content Object size limit exceeded by an object with ID: nothing. Requested size \
                   1.00 MB, limit: 1 MB)";
    let body = json!({ "base": "", "data": { "title": large } });
    assert_eq!(put(&app, &missing, &body).await, (413, generic(413, message)));
    let body = json!({ "base": "", "data": { "internal": large } });
    assert_eq!(put(&app, ONE, &body).await.0, 200);
    let longest = limits::MAX_OBJECT_BYTES - r#"{"title":""}"#.len();
    for (length, status) in [(longest, 200), (longest + 1, 413)] {
        let body = json!({ "base": "", "data": { "title": "x".repeat(length) } });
        assert_eq!(put(&app, ONE, &body).await.0, status);
    }
}

#[tokio::test]
async fn working_copy_checks_if_match_of_its_own_etag() {
    let app = TestApp::new();
    let send = async |method: &str, etag: &str, body: &Value| {
        let headers = [("if-match", etag)];
        app.send_as_with(&headers, CallerKind::ReadWrite, method, ONE, body).await.status
    };
    let body = json!({ "base": "", "data": { "title": "A" } });
    assert_eq!(send("PUT", "*", &body).await, 412);
    let first = app.request("PUT", ONE, &body).await;
    let first = first.header("etag").unwrap().to_owned();
    assert_eq!(first, tag_of(&app, ONE).await);
    // A change of the object changes the response, but not what If-Match compares.
    app.request("PATCH", "/api/v1/content/post/one", &json!({ "price": 2 })).await;
    assert_eq!(send("PUT", &first, &json!({ "base": "", "data": {} })).await, 200);
    assert_eq!(send("PUT", &first, &body).await, 412);
    assert_eq!(send("DELETE", &first, &Value::Null).await, 412);
    assert_eq!(send("PUT", "*", &body).await, 200);
    assert_eq!(send("DELETE", &tag_of(&app, ONE).await, &Value::Null).await, 204);
    assert_eq!(send("DELETE", &first, &Value::Null).await, 204);
}

#[tokio::test]
async fn working_copy_belongs_to_one_caller() {
    let app = TestApp::new();
    let body = json!({ "base": "", "data": { "title": "Mine" } });
    assert_eq!(put(&app, ONE, &body).await.0, 200);
    for other in [CallerKind::Admin, CallerKind::Scoped] {
        let read = app.get_as(other, ONE).await;
        assert_eq!(read.status_and_body(), not_found(), "{other:?}");
        let list = app.get_as(other, LIST).await;
        assert_eq!(list.status_and_body(), (200, listed(&[])), "{other:?}");
        let own = app.send_as(other, "PUT", ONE, &json!({ "base": "", "data": {} })).await;
        assert_eq!(own.status, 200);
    }
    assert_eq!(get(&app, ONE).await.json()["data"], body["data"]);
    // The working copies of a revoked key are removed with the key.
    let keys = app.get_as(CallerKind::Admin, "/api/v1/internal/key").await;
    let keys = keys.json();
    let key = keys["data"].as_array().unwrap().iter().find(|key| key["name"] == "read-write");
    let path = format!("/api/v1/internal/key/{}", key.unwrap()["id"].as_str().unwrap());
    assert_eq!(stored(&app), 3);
    app.delete_as(CallerKind::Admin, &path).await;
    assert_eq!(stored(&app), 2);
}

#[tokio::test]
async fn working_copies_are_listed_newest_first() {
    let app = TestApp::with_type("page", &json!({ "draftPublic": true }));
    app.create("page", &json!({ "id": "draft", "title": "Draft" })).await;
    let base = json!(tag_of(&app, "/api/v1/content/page/draft").await);
    let page = "/api/v1/content/page/draft/working-copy";
    put(&app, ONE, &json!({ "base": "old", "data": { "title": "First" } })).await;
    app.wait_a_minute();
    put(&app, page, &json!({ "base": base, "data": { "title": 1, "related": links(&[]) } })).await;
    app.wait_a_minute();
    put(&app, NEW, &json!({ "base": null, "data": {} })).await;
    let item = |content_type: &str, id: &str, base: &Value, current: bool, at: &str| {
        json!({
            "contentType": content_type, "id": id, "objectTitle": "", "base": base,
            "current": current, "savedAt": at,
        })
    };
    let all = [
        item(
            "post",
            "~0a1b2c3d-0000-4000-8000-00000000abcd",
            &Value::Null,
            true,
            "2026-01-02T03:06:05.000000+0000",
        ),
        item("page", "draft", &base, true, "2026-01-02T03:05:05.000000+0000"),
        item("post", "one", &json!("old"), false, START),
    ];
    assert_eq!(get(&app, LIST).await.status_and_body(), (200, listed(&all)));
    let posts = format!("{LIST}?content_type[]=post&content_type[]=nothing");
    assert_eq!(
        get(&app, &posts).await.status_and_body(),
        (200, listed(&[all[0].clone(), all[2].clone()]))
    );
    let second = get(&app, &format!("{LIST}?limit=1&page=2")).await.json();
    let expected = json!({
        "total_count": 3, "total_pages": 3, "current_page": 2, "count": 1, "data": [all[1]],
    });
    assert_eq!(second, expected);
    // The working copy that is saved last is first.
    app.wait_a_minute();
    put(&app, ONE, &json!({ "base": "old", "data": {} })).await;
    assert_eq!(get(&app, LIST).await.json()["data"][0]["id"], "one");
    // Objects outside the view of the request do not exist for it.
    let public = [("x-visibility", "public")];
    let send = async |path: &str| app.get_with(&public, CallerKind::ReadWrite, path).await;
    assert_eq!(send(page).await.status_and_body(), not_found());
    assert_eq!(send(LIST).await.json()["total_count"], 2);
}

#[tokio::test]
async fn working_copy_is_kept_while_its_object_is_in_the_trash() {
    let app = TestApp::new();
    let one = "/api/v1/content/post/one";
    put(&app, ONE, &json!({ "base": "", "data": { "title": "Mine" } })).await;
    app.delete(one).await;
    assert_eq!(get(&app, ONE).await.status_and_body(), not_found());
    assert_eq!(get(&app, LIST).await.status_and_body(), (200, listed(&[])));
    // A new object with the same id is another object.
    app.create("post", &json!({ "id": "one", "title": "Another" })).await;
    assert_eq!(get(&app, ONE).await.status_and_body(), not_found());
    assert_eq!(stored(&app), 1);
}

#[tokio::test]
async fn working_copy_is_removed_with_its_type() {
    let app = TestApp::with_type("page", &json!({}));
    app.create("page", &json!({ "id": "a", "title": "A" })).await;
    let path = "/api/v1/content/page/a/working-copy";
    put(&app, path, &json!({ "base": "", "data": {} })).await;
    put(&app, &NEW.replace("post", "page"), &json!({ "base": null, "data": {} })).await;
    assert_eq!(stored(&app), 2);
    app.core.cms.types().purge(&Caller::local(), "page", true).unwrap();
    assert_eq!(stored(&app), 0);
}

#[tokio::test]
async fn working_copy_expires_after_30_days() {
    let app = TestApp::new();
    let day = 86_400;
    put(&app, ONE, &json!({ "base": "", "data": {} })).await;
    app.core.run_for(20 * day);
    put(&app, NEW, &json!({ "base": null, "data": {} })).await;
    app.core.run_for(9 * day);
    assert_eq!(stored(&app), 2);
    app.core.run_for(2 * day);
    assert_eq!(get(&app, LIST).await.json()["total_count"], 1);
    // Saving it again starts the 30 days again.
    put(&app, NEW, &json!({ "base": null, "data": {} })).await;
    app.core.run_for(29 * day);
    assert_eq!(get(&app, NEW).await.status, 200);
    app.core.run_for(2 * day);
    assert_eq!(stored(&app), 0);
}

#[tokio::test]
async fn working_copies_of_a_caller_are_limited() {
    let app = TestApp::new();
    let path = |number: u32| {
        format!("/api/v1/content/post/~00000000-0000-4000-8000-{number:012}/working-copy")
    };
    let body = json!({ "base": null, "data": {} });
    for number in 0..1000 {
        assert_eq!(put(&app, &path(number), &body).await.0, 200);
    }
    assert_eq!(put(&app, &path(1000), &body).await, forbidden());
    assert_eq!(put(&app, ONE, &json!({ "base": "", "data": {} })).await, forbidden());
    assert_eq!(put(&app, &path(7), &body).await.0, 200);
    let other = app.send_as(CallerKind::Admin, "PUT", &path(1000), &body).await;
    assert_eq!(other.status, 200);
    app.delete(&path(7)).await;
    assert_eq!(put(&app, &path(1000), &body).await.0, 200);
}

/// A key without the update right on a type does not see its own working copies of that type.
#[tokio::test]
async fn working_copies_follow_the_rights_of_the_caller() {
    let app = TestApp::with_type("page", &json!({}));
    app.create("page", &json!({ "id": "a", "title": "A" })).await;
    let scoped = async |method: &str, path: &str, body: &Value| {
        app.send_as(CallerKind::Scoped, method, path, body).await.status_and_body()
    };
    let body = json!({ "base": "", "data": {} });
    assert_eq!(scoped("PUT", "/api/v1/content/page/a/working-copy", &body).await, forbidden());
    assert_eq!(
        scoped("GET", "/api/v1/content/page/a/working-copy", &Value::Null).await,
        forbidden()
    );
    assert_eq!(scoped("PUT", ONE, &body).await.0, 200);
    assert_eq!(scoped("GET", LIST, &Value::Null).await.1["total_count"], 1);
    let reader = app.get_as(CallerKind::ReadOnly, LIST).await;
    assert_eq!(reader.status_and_body(), forbidden());
}

#[tokio::test]
async fn working_copy_has_the_title_of_its_data() {
    let app = TestApp::new();
    let mut page = definition("page");
    page["metaDefinition"]["propertiesConfig"]["title"]["isTitlePart"] = json!(true);
    app.core.cms.types().create(&Caller::local(), page).unwrap();
    app.create("page", &json!({ "id": "a", "title": "Stored" })).await;
    let path = "/api/v1/content/page/a/working-copy";
    for (title, expected) in [
        (json!("Changed"), "Changed".to_owned()),
        (json!(7), "7".to_owned()),
        (json!("é".repeat(1001)), "é".repeat(1000)),
        (Value::Null, String::new()),
    ] {
        let body = json!({ "base": "", "data": { "title": title } });
        assert_eq!(put(&app, path, &body).await.0, 200);
        assert_eq!(get(&app, LIST).await.json()["data"][0]["objectTitle"], expected, "{title}");
    }
}
