//! Draft & Public: the table of statuses, batches, and the cascade. Complete responses are
//! compared.

use cms_core::{Caller, wire::key::KeyKind};
use serde_json::{Value, json};

use crate::support::{
    CallerKind, Reply, TestApp, error, forbidden, links, listed, malformed, minute, no_content,
    not_found, refused, shown,
};

const NOT_ENABLED: &str = "Draft & Public is not enabled for this content type";
const PUBLIC_ONLY: [(&str, &str); 1] = [("x-visibility", "public")];
const PREVIEW: [(&str, &str); 1] = [("x-mode", "preview")];

/// Actions, then the ways to edit.
const ACTIONS: [&str; 3] = ["publish", "unpublish", "archive"];
const EDITS: [&str; 4] = ["put", "patch", "batch-replace", "batch-patch"];

/// An app with the types `article`, `note` and `story`; the last has no Draft & Public.
fn app() -> TestApp {
    let app = TestApp::with_type("article", &json!({ "draftPublic": true }));
    app.create_type("note", &json!({ "draftPublic": true }));
    app.create_type("story", &json!({}));
    app
}

async fn act(app: &TestApp, target: &str, action: &str) -> (u16, Value) {
    app.post(&format!("/api/v1/content/{target}/{action}")).await
}

async fn done(app: &TestApp, target: &str, action: &str) {
    assert_eq!(act(app, target, action).await, no_content(), "{target} {action}");
}

async fn edit(app: &TestApp, name: &str, id: &str, way: &str) -> Reply {
    let all = format!("/api/v1/content/{name}");
    match way {
        "put" => app.request("PUT", &format!("{all}/{id}"), &json!({ "title": "New" })).await,
        "patch" => app.request("PATCH", &format!("{all}/{id}"), &json!({ "title": "New" })).await,
        "batch-replace" => {
            let path = format!("{all}/batch?updateExisting=true");
            app.request("POST", &path, &json!([{ "id": id, "title": "New" }])).await
        }
        _ => {
            let path = format!("{all}/batch");
            app.request("PATCH", &path, &json!([{ "id": id, "title": "New" }])).await
        }
    }
}

/// The statuses of the objects of a type, by id.
async fn statuses(app: &TestApp, name: &str) -> Value {
    let path = format!("/api/v1/content/{name}?order_by=id");
    let list = app.get_with(&PREVIEW, CallerKind::ReadWrite, &path).await.json();
    let status = |object: &Value| {
        (object["id"].as_str().unwrap().to_owned(), object["internal"]["status"].clone())
    };
    list["data"].as_array().unwrap().iter().map(status).collect()
}

/// The values of an object that differ between the cells of the table.
#[derive(Clone, Copy)]
struct State {
    status: &'static str,
    version: u32,
    title: &'static str,
    updated: u32,
    /// Version, title and minute of the publication.
    published: Option<(u32, &'static str, u32)>,
}

impl State {
    fn shown(self, id: &str) -> Value {
        let (version, at) = match self.published {
            Some((version, _, at)) => (json!(version), json!(minute(at))),
            None => (json!(-1), json!("")),
        };
        let changes = json!({
            "status": self.status,
            "latestVersion": self.version,
            "updatedAt": minute(self.updated),
            "publicVersion": version,
            "publishedAt": at,
        });
        shown("article", id, &changes, &json!({ "title": self.title }))
    }

    /// The object in the public view.
    fn public_view(self, id: &str) -> Option<Value> {
        let (version, title, updated) = self.published?;
        Some(Self { status: "public", version, title, updated, ..self }.shown(id))
    }
}

/// Four statuses, three actions, four ways to edit.
#[tokio::test]
async fn status_table() {
    let first = |status| State { status, version: 1, title: "Old", updated: 0, published: None };
    let published = State { updated: 1, published: Some((1, "Old", 1)), ..first("public") };
    let modified =
        State { status: "modified", version: 2, title: "Edited", updated: 2, ..published };
    // The status after publish, unpublish, archive and an edit. The same status means that nothing changes; `None`
    // means that the action is refused.
    let table = [
        (first("draft"), [Some("public"), Some("draft"), None], "draft"),
        (published, [Some("public"), Some("draft"), Some("archived")], "modified"),
        (modified, [Some("public"), Some("draft"), Some("archived")], "modified"),
        (
            State { updated: 2, ..first("archived") },
            [Some("public"), None, Some("archived")],
            "archived",
        ),
    ];

    let app = app();
    let ways = || ACTIONS.into_iter().chain(EDITS);
    for (from, ..) in table {
        for way in ways() {
            let id = format!("{}-{way}", from.status);
            app.create("article", &json!({ "id": id, "title": "Old" })).await;
        }
    }
    app.wait_a_minute();
    for from in ["public", "modified", "archived"] {
        for way in ways() {
            done(&app, &format!("article/{from}-{way}"), "publish").await;
        }
    }
    app.wait_a_minute();
    for way in ways() {
        let path = format!("/api/v1/content/article/modified-{way}");
        assert_eq!(app.request("PATCH", &path, &json!({ "title": "Edited" })).await.status, 200);
        done(&app, &format!("article/archived-{way}"), "archive").await;
    }
    app.wait_a_minute();

    for (from, targets, edited) in table {
        for (action, target) in ACTIONS.into_iter().zip(targets) {
            let id = format!("{}-{action}", from.status);
            let reply = act(&app, &format!("article/{id}"), action).await;
            let after = match target {
                None => {
                    let status = from.status;
                    let reason =
                        format!("Action \"{action}\" is not allowed in status \"{status}\"");
                    assert_eq!(reply, refused(&reason), "{id}");
                    from
                }
                Some(status) => {
                    assert_eq!(reply, no_content(), "{id}");
                    let published = (status == "public").then_some((from.version, from.title, 3));
                    let changed = State { status, updated: 3, published, ..from };
                    if status == from.status { from } else { changed }
                }
            };
            assert_shown(&app, &id, after).await;
        }
        for way in EDITS {
            let id = format!("{}-{way}", from.status);
            let after = State {
                status: edited,
                version: from.version + 1,
                title: "New",
                updated: 3,
                ..from
            };
            let wanted = if way.starts_with("batch") { saved() } else { after.shown(&id) };
            assert_eq!(
                edit(&app, "article", &id, way).await.status_and_body(),
                (200, wanted),
                "{id}"
            );
            assert_shown(&app, &id, after).await;
        }
    }
}

/// Compares an object in the view of editors and in the public view.
async fn assert_shown(app: &TestApp, id: &str, state: State) {
    let path = format!("/api/v1/content/article/{id}");
    assert_eq!(app.get(&path).await.status_and_body(), (200, state.shown(id)), "{id}");
    let strict = app.get_with(&PUBLIC_ONLY, CallerKind::ReadOnly, &path).await;
    let wanted = state.public_view(id).map_or_else(not_found, |object| (200, object));
    assert_eq!(strict.status_and_body(), wanted, "{id}");
    let list = app.get(&format!("/api/v1/content/article?ids[]={id}")).await;
    let wanted: Vec<Value> = state.public_view(id).into_iter().collect();
    assert_eq!(list.status_and_body(), (200, listed(&wanted)), "{id}");
}

/// The report of a batch of one object that was saved.
fn saved() -> Value {
    json!({ "batch_total_count": 1, "batch_success_count": 1, "batch_error_count": 0, "errors": [] })
}

/// Without Draft & Public every object is always public.
#[tokio::test]
async fn type_without_draft_and_public_refuses_every_action() {
    let app = app();
    app.create("story", &json!({ "id": "one", "title": "Old" })).await;
    app.wait_a_minute();
    let story =
        |changes: &Value, title: &str| shown("story", "one", changes, &json!({ "title": title }));
    for action in ACTIONS {
        assert_eq!(act(&app, "story/one", action).await, refused(NOT_ENABLED));
        assert_eq!(act(&app, "story/none", action).await, not_found());
        let batch = format!("/api/v1/content/story/batch-{action}");
        assert_eq!(
            app.request("POST", &batch, &json!(["one"])).await.status_and_body(),
            refused(NOT_ENABLED)
        );
        assert_eq!(
            app.request("POST", &batch, &json!([])).await.status_and_body(),
            refused(NOT_ENABLED)
        );
        assert_eq!(
            app.request("POST", &batch, &json!(["none"])).await.status_and_body(),
            not_found()
        );
    }
    let schedule = "/api/v1/content/story/one/schedule";
    let later = json!({ "scheduledAt": "2027-01-01T00:00", "timeZone": "UTC" });
    assert_eq!(app.request("PUT", schedule, &later).await.status_and_body(), refused(NOT_ENABLED));
    assert_eq!(app.delete(schedule).await.status_and_body(), refused(NOT_ENABLED));
    let one = "/api/v1/content/story/one";
    assert_eq!(app.get(one).await.status_and_body(), (200, story(&json!({}), "Old")));
    for (version, way) in (2..).zip(EDITS) {
        let after = story(&json!({ "latestVersion": version, "updatedAt": minute(1) }), "New");
        let wanted = if way.starts_with("batch") { saved() } else { after.clone() };
        assert_eq!(edit(&app, "story", "one", way).await.status_and_body(), (200, wanted), "{way}");
        assert_eq!(app.get(one).await.status_and_body(), (200, after), "{way}");
    }
}

/// Any body is ignored; unknown names are listed.
#[tokio::test]
async fn single_action_ignores_the_body() {
    let app = app();
    app.create("article", &json!({ "id": "One", "title": "T" })).await;
    let key = app.key(CallerKind::ReadWrite).unwrap();
    for (action, content_type, body) in [
        ("publish", "text/plain", "not JSON"),
        ("archive", "application/json", r#"{"id":"other"}"#),
        ("publish", "application/json", "{"),
        ("unpublish", "image/png", ""),
    ] {
        let headers = [("x-auth-token", key), ("content-type", content_type)];
        let path = format!("/api/v1/content/article/one/{action}?hydrate=0&depth=1");
        let reply = app.send("POST", &path, &headers, body.to_owned()).await;
        assert_eq!(
            (reply.status_and_body(), reply.header("content-type")),
            (no_content(), None),
            "{action}"
        );
        assert_eq!(reply.header("x-deprecated-query-params"), Some("depth"));
    }
    for action in ACTIONS {
        assert_eq!(act(&app, "article/none", action).await, not_found());
        assert_eq!(act(&app, "nothing/one", action).await, not_found());
        let path = format!("/api/v1/content/article/one/{action}");
        assert_eq!(
            app.send_as(CallerKind::ReadOnly, "POST", &path, &Value::Null).await.status_and_body(),
            forbidden()
        );
        assert_eq!(app.get(&path).await.status, 405);
    }
}

/// Batches with objects in all statuses.
#[tokio::test]
async fn batch_sets_one_status() {
    for (action, status) in ACTIONS.into_iter().zip(["public", "draft", "archived"]) {
        let app = app();
        for id in ["a-draft", "b-public", "c-modified", "d-archived", "e-other"] {
            app.create("article", &json!({ "id": id, "title": "T" })).await;
        }
        for id in ["b-public", "c-modified", "d-archived"] {
            done(&app, &format!("article/{id}"), "publish").await;
        }
        assert_eq!(edit(&app, "article", "c-modified", "put").await.status, 200);
        done(&app, "article/d-archived", "archive").await;

        let path = format!("/api/v1/content/article/batch-{action}");
        let before = statuses(&app, "article").await;
        let many = |count: usize| json!(vec!["a-draft"; count]);
        let over = json!({ "batch_limit": 1001, "data": ["Batch limit exceeded, limit: 1001"] });
        for (body, wanted) in [
            (json!(["b-public", "none", "a-draft"]), not_found()),
            (json!([]), no_content()),
            (json!(["a-draft", 1]), malformed()),
            (json!("a-draft"), malformed()),
            (json!({ "ids": ["a-draft"] }), malformed()),
            (many(1002), (400, over.clone())),
            (json!(vec!["none"; 1002]), (400, over)),
        ] {
            assert_eq!(
                app.request("POST", &path, &body).await.status_and_body(),
                wanted,
                "{action} {body}"
            );
        }
        assert_eq!(app.post(&path).await, malformed());
        assert_eq!(statuses(&app, "article").await, before);

        let ids = json!(["A-Draft", "b-public", "c-modified", "d-archived", "a-draft"]);
        let reply = app.request("POST", &format!("{path}?hydrate=1"), &ids).await;
        assert_eq!(reply.status_and_body(), no_content());
        assert_eq!(reply.header("x-deprecated-query-params"), Some("hydrate"));
        let after = json!({
            "a-draft": status, "b-public": status, "c-modified": status, "d-archived": status,
            "e-other": "draft",
        });
        assert_eq!(statuses(&app, "article").await, after);
        assert_eq!(app.request("POST", &path, &many(1001)).await.status_and_body(), no_content());
    }
}

/// A batch does not follow links.
#[tokio::test]
async fn batch_does_not_cascade() {
    let app = app();
    app.create("article", &json!({ "id": "a", "title": "A" })).await;
    app.create("article", &json!({ "id": "b", "title": "B", "related": links(&["article/a"]) }))
        .await;
    let path = "/api/v1/content/article/batch-publish?hydrate=1";
    assert_eq!(app.request("POST", path, &json!(["b"])).await.status_and_body(), no_content());
    assert_eq!(statuses(&app, "article").await, json!({ "a": "draft", "b": "public" }));
}

/// `main` links to `a`, `z` (archived), a note and a story at the top, to `b` inside a list; `a`
/// links to `c`, and `b` back to `main`.
async fn linked() -> TestApp {
    let app = app();
    app.create("article", &json!({ "id": "c", "title": "C" })).await;
    app.create("article", &json!({ "id": "a", "title": "A", "related": links(&["article/c"]) }))
        .await;
    app.create("article", &json!({ "id": "z", "title": "Z" })).await;
    app.create("note", &json!({ "id": "n", "title": "N" })).await;
    app.create("story", &json!({ "id": "s", "title": "S" })).await;
    app.create("article", &json!({ "id": "b", "title": "B" })).await;
    let main = json!({
        "id": "main",
        "title": "Main",
        "related": links(&["article/a", "article/z", "note/n", "story/s"]),
        "parts": [{ "link": links(&["article/b"]) }],
    });
    app.create("article", &main).await;
    let back = json!({ "related": links(&["article/main"]) });
    assert_eq!(app.request("PATCH", "/api/v1/content/article/b", &back).await.status, 200);
    done(&app, "article/z", "publish").await;
    done(&app, "article/z", "archive").await;
    app
}

/// The cascade reaches directly linked objects, also those in list items, but not their links.
#[tokio::test]
async fn cascade_publishes_linked_objects() {
    let all = |a: &str, b: &str, main: &str, z: &str| json!({ "a": a, "b": b, "c": "draft", "main": main, "z": z });
    for (query, wanted, note) in [
        ("", all("draft", "draft", "public", "archived"), "draft"),
        ("?hydrate=0", all("draft", "draft", "public", "archived"), "draft"),
        ("?hydrate=-1", all("draft", "draft", "public", "archived"), "draft"),
        ("?hydrate=one", all("draft", "draft", "public", "archived"), "draft"),
        ("?hydrate=1", all("public", "public", "public", "public"), "public"),
        ("?hydrate=9", all("public", "public", "public", "public"), "public"),
    ] {
        let app = linked().await;
        done(&app, "article/main", &format!("publish{query}")).await;
        assert_eq!(statuses(&app, "article").await, wanted, "{query}");
        assert_eq!(statuses(&app, "note").await, json!({ "n": note }), "{query}");
        let story = shown("story", "s", &json!({}), &json!({ "title": "S" }));
        assert_eq!(app.get("/api/v1/content/story/s").await.status_and_body(), (200, story));
    }
}

/// The cascade skips linked objects that have the status already or may not get it.
#[tokio::test]
async fn cascade_skips_objects_whose_status_cannot_change() {
    let app = linked().await;
    done(&app, "article/main", "publish").await;
    done(&app, "article/a", "publish").await;
    // `main` gets the status before the cascade; the action is not allowed for `z`.
    done(&app, "article/main", "unpublish").await;
    app.wait_a_minute();
    done(&app, "article/main", "unpublish?hydrate=1").await;
    let wanted =
        json!({ "a": "draft", "b": "draft", "c": "draft", "main": "draft", "z": "archived" });
    assert_eq!(statuses(&app, "article").await, wanted);
    let changed = app
        .get_with(&PREVIEW, CallerKind::ReadOnly, "/api/v1/content/article?order_by=id")
        .await
        .json();
    let at = |id: usize| changed["data"][id]["internal"]["updatedAt"].clone();
    assert_eq!(
        [at(0), at(1), at(3), at(4)],
        [json!(minute(1)), json!(minute(0)), json!(minute(0)), json!(minute(0))]
    );
}

/// A cascade over a cycle ends, from any of its objects.
#[tokio::test]
async fn cascade_over_a_cycle_ends() {
    let app = linked().await;
    done(&app, "article/b", "publish?hydrate=1").await;
    let wanted =
        json!({ "a": "draft", "b": "public", "c": "draft", "main": "public", "z": "archived" });
    assert_eq!(statuses(&app, "article").await, wanted);
    done(&app, "article/main", "archive?hydrate=1").await;
    let wanted =
        json!({ "a": "draft", "b": "archived", "c": "draft", "main": "archived", "z": "archived" });
    assert_eq!(statuses(&app, "article").await, wanted);
    // An object that links to itself.
    let itself = json!({ "related": links(&["article/c"]) });
    assert_eq!(app.request("PATCH", "/api/v1/content/article/c", &itself).await.status, 200);
    done(&app, "article/c", "publish?hydrate=1").await;
    assert_eq!(statuses(&app, "article").await["c"], "public");
}

/// A refused action changes no object.
#[tokio::test]
async fn refused_cascade_changes_nothing() {
    let app = linked().await;
    done(&app, "article/a", "publish").await;
    done(&app, "article/b", "publish").await;
    let before = statuses(&app, "article").await;
    app.wait_a_minute();
    let reply = act(&app, "article/main", "archive?hydrate=1").await;
    assert_eq!(reply, refused("Action \"archive\" is not allowed in status \"draft\""));
    let hidden = app
        .send_as_with(
            &PUBLIC_ONLY,
            CallerKind::ReadWrite,
            "POST",
            "/api/v1/content/article/main/publish?hydrate=1",
            &Value::Null,
        )
        .await;
    assert_eq!(hidden.status_and_body(), not_found());
    assert_eq!(statuses(&app, "article").await, before);
}

/// The cascade follows the links of the current version, not those of the published one.
#[tokio::test]
async fn cascade_follows_the_current_version() {
    let app = linked().await;
    done(&app, "article/main", "publish").await;
    let links = json!({ "related": links(&["article/c"]), "parts": [] });
    assert_eq!(app.request("PATCH", "/api/v1/content/article/main", &links).await.status, 200);
    done(&app, "article/main", "publish?hydrate=1").await;
    let wanted =
        json!({ "a": "draft", "b": "draft", "c": "public", "main": "public", "z": "archived" });
    assert_eq!(statuses(&app, "article").await, wanted);
}

/// The cascade skips objects that the key may not change.
#[tokio::test]
async fn cascade_skips_types_without_permission() {
    let app = linked().await;
    let rights = [("article", "crud"), ("note", "crd")];
    let key = app.core.create_key("articles", KeyKind::Scoped, &rights).key;
    let headers = [("x-auth-token", key.as_str())];
    let path = "/api/v1/content/article/main/publish?hydrate=1";
    assert_eq!(app.send("POST", path, &headers, "").await.status_and_body(), no_content());
    let wanted =
        json!({ "a": "public", "b": "public", "c": "draft", "main": "public", "z": "public" });
    assert_eq!(statuses(&app, "article").await, wanted);
    assert_eq!(statuses(&app, "note").await, json!({ "n": "draft" }));
    let path = "/api/v1/content/note/n/publish";
    assert_eq!(app.send("POST", path, &headers, "").await.status_and_body(), forbidden());
}

/// The target of a link in a published version cannot be deleted.
#[tokio::test]
async fn published_version_keeps_its_links() {
    let app = app();
    app.create("article", &json!({ "id": "a", "title": "A" })).await;
    app.create("article", &json!({ "id": "b", "title": "B", "related": links(&["article/a"]) }))
        .await;
    done(&app, "article/b", "publish").await;
    let one = "/api/v1/content/article/b";
    assert_eq!(app.request("PUT", one, &json!({ "title": "New" })).await.status, 200);
    let delete = || app.delete("/api/v1/content/article/a");
    let in_use = refused("This content object is used in another content object.");
    assert_eq!(delete().await.status_and_body(), in_use);
    done(&app, "article/b", "publish").await;
    assert_eq!(delete().await.status_and_body(), no_content());
}

/// The unique values of a published version cannot be used by other objects.
#[tokio::test]
async fn published_version_keeps_its_unique_values() {
    let app = TestApp::new();
    let mut unique = crate::support::linking_definition("article");
    unique["metaDefinition"]["propertiesConfig"]["title"]["unique"] = json!(true);
    unique.insert("draftPublic".to_owned(), json!(true));
    app.core.cms.types().create(&Caller::local(), unique).unwrap();
    app.create("article", &json!({ "id": "a", "title": "First" })).await;
    done(&app, "article/a", "publish").await;
    let rename = async |title: &str| {
        let path = "/api/v1/content/article/a";
        app.request("PATCH", path, &json!({ "title": title })).await.status
    };
    assert_eq!(rename("Second").await, 200);
    let create = |title: &str| {
        let new = json!({ "id": title, "title": title });
        let app = &app;
        async move { app.request("POST", "/api/v1/content/article", &new).await.status_and_body() }
    };
    let taken = error("title", "This value is already used");
    assert_eq!(create("First").await, taken);
    assert_eq!(create("Second").await, taken);
    // The values of the object itself do not conflict.
    assert_eq!(rename("First").await, 200);
    assert_eq!(rename("Second").await, 200);
    done(&app, "article/a", "publish").await;
    assert_eq!(create("First").await.0, 200);
    assert_eq!(create("Second").await, taken);
    done(&app, "article/a", "unpublish").await;
    assert_eq!(rename("Third").await, 200);
    assert_eq!(create("Second").await.0, 200);
}

/// Cached counts and pages are correct after every action on an object.
#[tokio::test]
async fn list_follows_every_action() {
    let app = app();
    let one = "/api/v1/content/article/one";
    let new = json!({ "title": "New" });
    app.create("article", &json!({ "id": "one", "title": "Old" })).await;
    // The title in a filtered list, a list of ids and a plain list, which must agree.
    let seen = async |headers: &[(&str, &str)]| {
        let filter = "filters=%7B%22title%22:%7B%22type%22:%22notEmpty%22%7D%7D";
        let mut seen = Vec::new();
        for query in [filter, "ids[]=one", "order_by=title"] {
            let path = format!("/api/v1/content/article?{query}");
            let list = app.get_with(headers, CallerKind::ReadOnly, &path).await.json();
            let title = list["data"][0]["title"].as_str().unwrap_or("none").to_owned();
            assert_eq!(list["total_count"], u8::from(title != "none"), "{query}");
            seen.push(title);
        }
        assert!(seen.iter().all(|title| *title == seen[0]), "{seen:?}");
        seen.swap_remove(0)
    };
    for (method, path, body, editors, readers) in [
        ("GET", "", &Value::Null, "Old", "none"),
        ("POST", "/publish", &Value::Null, "Old", "Old"),
        ("PUT", "", &new, "New", "Old"),
        ("POST", "/publish", &Value::Null, "New", "New"),
        ("POST", "/unpublish", &Value::Null, "New", "none"),
        ("POST", "/publish", &Value::Null, "New", "New"),
        ("POST", "/archive", &Value::Null, "New", "none"),
        ("POST", "/publish", &Value::Null, "New", "New"),
        ("DELETE", "", &Value::Null, "none", "none"),
    ] {
        let status = app.request(method, &format!("{one}{path}"), body).await.status;
        assert!(status < 300, "{method} {path}");
        assert_eq!(seen(&PREVIEW).await, editors, "{method} {path}");
        for headers in [&[][..], &PUBLIC_ONLY] {
            assert_eq!(seen(headers).await, readers, "{method} {path}");
        }
    }
    // A new object with the same id has no published version, and a purge removes all objects.
    app.create("article", &json!({ "id": "one", "title": "Again" })).await;
    assert_eq!((seen(&PREVIEW).await.as_str(), seen(&[]).await.as_str()), ("Again", "none"));
    done(&app, "article/one", "publish").await;
    let purge = "/api/v1/internal/contenttype/article/purge";
    assert_eq!(app.post(purge).await, no_content());
    assert_eq!((seen(&PREVIEW).await.as_str(), seen(&[]).await.as_str()), ("none", "none"));
}
