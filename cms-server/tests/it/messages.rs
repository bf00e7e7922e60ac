//! Every validation message, over HTTP: complete responses are
//! compared.
//!
//! First the rows of `fixtures/tables`, then messages that need several stored objects.

use cms_core::{
    Caller,
    testing::table::{Row, Table},
    wire::key::KeyKind,
};
use serde_json::{Value, json};

use crate::support::{
    CallerKind, TestApp, definition, error, forbidden, generic, not_found, object, refused,
};

const TYPES: &str = "/api/v1/internal/contenttype";
const EXAMPLES: &str = "/api/v1/content/example";
const FIRST: &str = "/api/v1/content/example/first";
const SECOND: &str = "/api/v1/content/example/second";
const BATCH: &str = "/api/v1/content/example/batch";
const BATCH_DELETE: &str = "/api/v1/content/example/batch-delete";
const ADD_OR_REPLACE: &str = "/api/v1/content/example/batch?updateExisting=true";

const USED: &str = "This value is already used";
const MISSING: &str = "This value does not exist in database";
const READ_ONLY: &str = "This field is read only";
const ID_MISMATCH: &str = "Id in the request body does not match the id in the path";
const REPEATED: &str = "There are duplications in object data, key: id";
const IN_USE: &str = "This content object is used in another content object.";

/// A request, and the complete response.
type Case = (&'static str, &'static str, Value, (u16, Value));

async fn check(app: &TestApp, cases: Vec<Case>) {
    for (method, path, body, wanted) in cases {
        let reply = app.request(method, path, &body).await;
        assert_eq!(reply.status_and_body(), wanted, "{method} {path} {body}");
    }
}

fn reasons(reasons: &[&str]) -> (u16, Value) {
    (400, json!({ "errors": reasons }))
}

fn link(content_type: &str, id: &str) -> Value {
    json!([{ "type": "internal", "dataUrl": format!("/api/v1/content/{content_type}/{id}") }])
}

/// An app with the types and objects of a table.
fn with_example_type(table: &Table) -> TestApp {
    let app = TestApp::new();
    let local = Caller::local();
    for definition in &table.types {
        app.core.cms.types().create(&local, object(definition)).unwrap();
    }
    for stored in &table.objects {
        let new = object(&stored.object);
        app.core.cms.objects().create(&local, &stored.content_type, new).unwrap();
    }
    app
}

/// An app with the objects `first`, which links to the topic `one`, and `second`.
fn with_examples() -> TestApp {
    let table = Table::read("object_messages");
    let app = with_example_type(&table);
    for new in [table.base, second()] {
        app.core.cms.objects().create(&Caller::local(), "example", object(&new)).unwrap();
    }
    app
}

fn second() -> Value {
    json!({ "id": "second", "title": "Other", "note": "n", "words": [] })
}

#[tokio::test]
async fn content_type_errors() {
    let table = Table::read("ctd_messages");
    let (empty, stored) = (TestApp::new(), TestApp::new());
    let base = stored.request("POST", TYPES, &table.base).await;
    assert_eq!(base.status, 200, "the base payload is valid: {:?}", base.json());
    let before = stored.get(&format!("{TYPES}/example")).await.json();
    for row in &table.rows {
        let app = if needs_base(row) { &stored } else { &empty };
        let path = if row.method == "PUT" { "/api/v1/internal/contenttype/example" } else { TYPES };
        let reply = app.request(&row.method, path, &row.apply(&table.base)).await;
        assert_eq!(reply.status_and_body(), (400, json!(row.errors)), "{}", row.name);
    }
    assert_eq!(empty.get(&format!("{TYPES}/example")).await.status_and_body(), not_found());
    assert_eq!(stored.get(&format!("{TYPES}/example")).await.json(), before);
    assert_eq!(table.rows.len(), 168);
}

#[tokio::test]
async fn object_errors() {
    let table = Table::read("object_messages");
    let (empty, stored) = (with_example_type(&table), with_example_type(&table));
    let base = stored.request("POST", EXAMPLES, &table.base).await;
    assert_eq!(base.status, 200, "the base object is valid: {:?}", base.json());
    for row in &table.rows {
        let app = if needs_base(row) { &stored } else { &empty };
        let path = if row.method == "PUT" { FIRST } else { EXAMPLES };
        let reply = app.request(&row.method, path, &row.apply(&table.base)).await;
        assert_eq!(reply.status_and_body(), (400, json!(row.errors)), "{}", row.name);
    }
    assert_eq!(empty.get(EXAMPLES).await.json()["total_count"], 0);
    assert_eq!(stored.get(EXAMPLES).await.json()["data"], json!([base.json()]));
    assert_eq!(table.rows.len(), 86);
}

fn needs_base(row: &Row) -> bool {
    row.database || row.method == "PUT"
}

/// A batch reports the errors that a create of each object alone reports, and saves the other elements.
#[tokio::test]
async fn element_errors() {
    let table = Table::read("object_messages");
    let app = with_example_type(&table);
    let (mut elements, mut errors) = (Vec::new(), Vec::new());
    for (number, row) in table.rows.iter().enumerate() {
        let mut element = row.apply(&table.base);
        // Elements need an id of their own, so errors of ids are not tested in one batch.
        if !needs_base(row) && row.errors.at("id").is_empty() {
            element["id"] = json!(format!("row-{number}"));
            errors.push(json!({ "id": element["id"], "data": element, "errors": row.errors }));
            elements.push(element);
        }
    }
    // Last, because it uses the title that the rows use.
    elements.push(table.base.clone());
    let refused = errors.len();
    assert_eq!(refused, 73);
    let report = json!({
        "batch_total_count": refused + 1,
        "batch_success_count": 1,
        "batch_error_count": refused,
        "errors": errors,
    });
    assert_eq!(app.request("POST", BATCH, &json!(elements)).await.status_and_body(), (400, report));
    assert_eq!(app.get(EXAMPLES).await.json()["total_count"], 1);
}

/// Ids of requests, and objects that do not exist.
#[tokio::test]
async fn id_errors_of_changes() {
    let app = with_examples();
    let mut same = second();
    same["id"] = json!("SECOND");
    assert_eq!(app.request("PUT", SECOND, &same).await.json()["id"], "second");
    let gone = "/api/v1/content/example/gone";
    check(
        &app,
        vec![
            (
                "PUT",
                SECOND,
                json!({ "id": "third", "title": "Other", "note": "n", "words": [] }),
                error("id", ID_MISMATCH),
            ),
            ("PATCH", SECOND, json!({ "id": "first" }), error("id", ID_MISMATCH)),
            ("PATCH", SECOND, json!({ "id": "" }), error("id", ID_MISMATCH)),
            ("PUT", gone, second(), not_found()),
            ("PATCH", gone, json!({}), not_found()),
            ("DELETE", gone, Value::Null, not_found()),
            ("GET", gone, Value::Null, not_found()),
            ("GET", "/api/v1/content/example/gone/version", Value::Null, not_found()),
            ("GET", "/api/v1/content/example/first/version/0", Value::Null, not_found()),
            ("GET", "/api/v1/content/example/first/version/2", Value::Null, not_found()),
            ("GET", "/api/v1/content/example/first/version/latest", Value::Null, not_found()),
            ("GET", "/api/v1/content/example/first/version/version-", Value::Null, not_found()),
            ("GET", "/api/v1/content/example/first/version/-1", Value::Null, not_found()),
        ],
    )
    .await;
    assert_eq!(app.delete(SECOND).await.status, 204);
    check(
        &app,
        vec![
            ("GET", SECOND, Value::Null, not_found()),
            ("GET", "/api/v1/content/example/second/version", Value::Null, not_found()),
            ("GET", "/api/v1/content/example/second/version/1", Value::Null, not_found()),
            ("DELETE", SECOND, Value::Null, not_found()),
        ],
    )
    .await;
    // The id and the unique values of a deleted object can be used again.
    assert_eq!(
        app.request("POST", EXAMPLES, &second()).await.json()["internal"]["latestVersion"],
        1
    );
}

/// Unique values conflict with equal values of other live objects; case matters.
#[tokio::test]
async fn unique_value_errors() {
    let app = with_examples();
    let mut titled = second();
    titled["title"] = json!("Title");
    let mut own = titled.clone();
    own["title"] = json!("Other");
    let element = |value: &Value| vec![value.clone()];
    let refused = |value: &Value| {
        let error = json!({ "id": "second", "data": value, "errors": { "title": [USED] } });
        (400, report(1, 0, &json!([error])))
    };
    check(
        &app,
        vec![
            ("PUT", SECOND, titled.clone(), error("title", USED)),
            ("PATCH", SECOND, json!({ "title": "Title" }), error("title", USED)),
            (
                "PATCH",
                BATCH,
                json!(element(&json!({ "id": "second", "title": "Title" }))),
                refused(&json!({ "id": "second", "title": "Title" })),
            ),
            ("POST", ADD_OR_REPLACE, json!(element(&titled)), refused(&titled)),
        ],
    )
    .await;
    assert_eq!(app.request("PUT", SECOND, &own).await.status, 200);
    assert_eq!(app.request("PATCH", SECOND, &json!({ "title": "TITLE" })).await.status, 200);
    // Of two elements with the same value, the later one is refused.
    let pair = json!([
        { "id": "third", "title": "Same", "note": "n", "words": [] },
        { "id": "fourth", "title": "Same", "note": "n", "words": [] },
    ]);
    let error = json!([{ "id": "fourth", "data": pair[1], "errors": { "title": [USED] } }]);
    check(&app, vec![("POST", BATCH, pair, (400, report(2, 1, &error)))]).await;
}

/// Missing link targets, and changes that validate the complete object.
#[tokio::test]
async fn changed_value_errors() {
    let app = with_examples();
    assert_eq!(app.delete("/api/v1/content/_tag/x").await.status, 204);
    let too_short = "Must be at least 1 characters long";
    check(&app, vec![
        ("PATCH", SECOND, json!({ "topics": link("topic", "gone") }), error("topics", MISSING)),
        ("PATCH", SECOND, json!({ "anything": link("_tag", "x") }), error("anything", MISSING)),
        ("PATCH", SECOND, json!({ "anything": link("nothing", "x") }), error("anything", MISSING)),
        ("PATCH", SECOND, json!({ "rows": [{ "cell": "c", "label": "l", "refs": link("topic", "gone") }] }), error("rows[0].refs", MISSING)),
        ("PATCH", SECOND, json!({ "note": null }), error("note", "NULL value found, but a string is required")),
        ("PATCH", SECOND, json!({ "note": "" }), error("note", too_short)),
        ("PATCH", SECOND, json!({ "nothing": 1 }), error("nothing", "The property nothing is not defined and the definition does not allow additional properties")),
        ("PUT", SECOND, json!({ "title": "Other", "words": [] }), error("note", "The property note is required")),
    ])
    .await;
    assert_eq!(app.get(SECOND).await.json()["internal"]["latestVersion"], 1);
}

/// Read-only properties cannot change; the same value and omission are valid.
#[tokio::test]
async fn read_only_value_errors() {
    let app = with_examples();
    let first = Table::read("object_messages").base;
    let mut changed = first.clone();
    changed["serial"] = json!("s-2");
    let patch = json!({ "id": "first", "serial": "s-2" });
    let refused = |data: &Value| {
        let error = json!({ "id": "first", "data": data, "errors": { "serial": [READ_ONLY] } });
        (400, report(1, 0, &json!([error])))
    };
    check(
        &app,
        vec![
            ("PUT", FIRST, changed.clone(), error("serial", READ_ONLY)),
            ("PATCH", FIRST, json!({ "serial": "s-2" }), error("serial", READ_ONLY)),
            ("PATCH", FIRST, json!({ "serial": "" }), error("serial", READ_ONLY)),
            ("PATCH", SECOND, json!({ "serial": "late" }), error("serial", READ_ONLY)),
            ("PATCH", BATCH, json!([patch]), refused(&patch)),
            ("POST", ADD_OR_REPLACE, json!([changed]), refused(&changed)),
        ],
    )
    .await;
    let mut without = first.clone();
    without.as_object_mut().unwrap().remove("serial");
    for (method, body) in [("PUT", first), ("PATCH", json!({ "serial": "s-1" })), ("PUT", without)]
    {
        assert_eq!(app.request(method, FIRST, &body).await.json()["serial"], "s-1", "{method}");
    }
}

/// The error of an object over 1 MB names its id; a batch with such an object is refused completely.
#[tokio::test]
async fn object_size_errors() {
    let app = with_examples();
    let mut large = second();
    large["id"] = json!("large");
    large["note"] = json!("x".repeat(2 << 20));
    let refused = |id: &str| {
        let message = format!(
            "Content Object size limit exceeded by an object with ID: {id}. Requested size 2.00 MB, limit: 1 MB)"
        );
        (413, generic(413, &message))
    };
    let patch = json!({ "note": large["note"] });
    let patch_many = json!([{ "id": "second", "note": large["note"] }]);
    let mut third = second();
    third["id"] = json!("third");
    check(
        &app,
        vec![
            ("POST", EXAMPLES, large.clone(), refused("large")),
            ("PATCH", SECOND, patch, refused("second")),
            ("POST", BATCH, json!([third, large]), refused("large")),
            ("PATCH", BATCH, patch_many, refused("second")),
            ("GET", "/api/v1/content/example/third", Value::Null, not_found()),
        ],
    )
    .await;
}

/// An object that another one links to cannot be deleted.
#[tokio::test]
async fn linked_object_cannot_be_deleted() {
    let app = with_examples();
    let topic = "/api/v1/content/topic/one";
    check(&app, vec![("DELETE", topic, Value::Null, reasons(&[IN_USE]))]).await;
    // Only a list item still links to the topic.
    let fewer = json!({ "cover": [], "topics": [], "anything": [] });
    assert_eq!(app.request("PATCH", FIRST, &fewer).await.status, 200);
    let batch_delete = "/api/v1/content/topic/batch-delete";
    check(
        &app,
        vec![
            ("DELETE", topic, Value::Null, reasons(&[IN_USE])),
            (
                "POST",
                batch_delete,
                json!(["two words", "gone", "ONE"]),
                reasons(&[
                    "Content object: \"gone\" doesn't exist",
                    "Content object: \"ONE\" is used in another content object.",
                ]),
            ),
            ("GET", "/api/v1/content/topic/two%20words", Value::Null, not_found()),
        ],
    )
    .await;
    assert_eq!(app.request("PATCH", FIRST, &json!({ "rows": [] })).await.status, 200);
    assert_eq!(app.delete(topic).await.status, 204);

    // Links of the object itself, and of objects in the same request, do not prevent a deletion.
    let itself = json!({ "anything": link("example", "second") });
    assert_eq!(app.request("PATCH", SECOND, &itself).await.status, 200);
    let other = json!({ "anything": link("example", "Second") });
    assert_eq!(app.request("PATCH", FIRST, &other).await.status, 200);
    let too_many: Vec<String> = (0..1001).map(|n| format!("id-{n}")).collect();
    check(
        &app,
        vec![
            ("DELETE", SECOND, Value::Null, reasons(&[IN_USE])),
            (
                "POST",
                BATCH_DELETE,
                json!(too_many),
                reasons(&["Batch limit exceeded, limit: 1000"]),
            ),
            ("POST", BATCH_DELETE, json!([]), (200, json!({ "deletedCount": 0 }))),
            (
                "POST",
                BATCH_DELETE,
                json!(["second", "first", "SECOND"]),
                (200, json!({ "deletedCount": 2 })),
            ),
        ],
    )
    .await;
}

/// The ids of deleted objects.
#[tokio::test]
async fn deleted_id_errors() {
    let app = with_examples();
    let removed = "/api/v1/content/example/removed";
    for path in [SECOND, FIRST] {
        app.core.clock.advance(60);
        assert_eq!(app.delete(path).await.status, 204);
    }
    let wrong = error("deletedAfter", "Wrong date format");
    check(
        &app,
        vec![
            (
                "GET",
                "/api/v1/content/example/removed?deletedAfter=yesterday",
                Value::Null,
                wrong.clone(),
            ),
            (
                "GET",
                "/api/v1/content/example/removed?deletedAfter=2026-13-01",
                Value::Null,
                wrong.clone(),
            ),
            ("GET", "/api/v1/content/example/removed?deletedAfter=", Value::Null, wrong),
            ("GET", removed, Value::Null, (200, json!(["second", "first"]))),
            (
                "GET",
                "/api/v1/content/example/removed?deletedAfter=2026-01-02+03:05:05",
                Value::Null,
                (200, json!(["first"])),
            ),
            (
                "GET",
                "/api/v1/content/example/removed?deletedAfter=@1767323106",
                Value::Null,
                (200, json!(["first"])),
            ),
            (
                "GET",
                "/api/v1/content/example/removed?deletedAfter=2026-01-03",
                Value::Null,
                (200, json!([])),
            ),
        ],
    )
    .await;
    assert_eq!(app.request("POST", EXAMPLES, &second()).await.status, 200);
    check(&app, vec![("GET", removed, Value::Null, (200, json!(["first"])))]).await;
}

/// The report of a batch.
fn report(total: usize, saved: usize, errors: &Value) -> Value {
    json!({
        "batch_total_count": total,
        "batch_success_count": saved,
        "batch_error_count": total - saved,
        "errors": errors,
    })
}

/// Errors of elements and of the batch.
#[tokio::test]
async fn batch_errors() {
    let app = with_examples();
    let new = |id: &str, title: &str| json!({ "id": id, "title": title, "note": "n", "words": [] });
    let error = |data: &Value, path: &str, message: &str| {
        let id = data.get("id").and_then(Value::as_str).unwrap_or_default();
        json!({ "id": id, "data": data, "errors": { path: [message] } })
    };
    let mut repeated = report(2, 1, &json!([error(&new("a", "Aaa"), "id", REPEATED)]));
    repeated["data"] = json!([REPEATED]);
    let mut repeated_patch =
        report(2, 1, &json!([error(&json!({ "id": "second" }), "id", REPEATED)]));
    repeated_patch["data"] = json!([REPEATED]);
    let too_many = json!(vec![json!({}); 1001]);
    let over = (400, json!({ "batch_limit": 1000, "data": ["Batch limit exceeded, limit: 1000"] }));
    let no_object = "Integer value found, but an object is required";
    let no_id = json!({ "title": "Abc" });
    check(
        &app,
        vec![
            ("POST", BATCH, json!([]), (200, report(0, 0, &json!([])))),
            ("PATCH", BATCH, json!([]), (200, report(0, 0, &json!([])))),
            ("POST", BATCH, too_many.clone(), over.clone()),
            ("PATCH", BATCH, too_many, over),
            (
                "POST",
                BATCH,
                json!([1]),
                (400, report(1, 0, &json!([error(&json!(1), "data", no_object)]))),
            ),
            (
                "PATCH",
                BATCH,
                json!([1]),
                (400, report(1, 0, &json!([error(&json!(1), "data", no_object)]))),
            ),
            (
                "POST",
                BATCH,
                json!([new("second", "Fresh")]),
                (400, report(1, 0, &json!([error(&new("second", "Fresh"), "id", USED)]))),
            ),
            ("POST", BATCH, json!([new("a", "Aaa"), new("A", "Bbb")]), (400, repeated)),
            (
                "PATCH",
                BATCH,
                json!([{ "id": "second" }, { "id": "Second" }]),
                (400, repeated_patch),
            ),
            (
                "PATCH",
                BATCH,
                json!([no_id]),
                (400, report(1, 0, &json!([error(&no_id, "id", "The property id is required")]))),
            ),
            (
                "PATCH",
                BATCH,
                json!([{ "id": "second", "note": "new" }, { "id": "gone" }]),
                not_found(),
            ),
            (
                "POST",
                ADD_OR_REPLACE,
                json!([new("second", "Second"), new("b", "Bee")]),
                (200, report(2, 2, &json!([]))),
            ),
        ],
    )
    .await;
    let second = app.get(SECOND).await.json();
    // Replaced once and patched once: completely refused batches had no effect.
    assert_eq!((&second["internal"]["latestVersion"], &second["note"]), (&json!(3), &json!("n")));
    assert_eq!(app.get("/api/v1/content/example/a").await.json()["title"], "Bbb");
}

/// Copies of objects.
#[tokio::test]
async fn duplicate_errors() {
    let app = with_examples();
    let copy = "/api/v1/content/example/first/duplicate";
    let list = "relatedObjectsToDuplicate";
    let mut payload = definition("priced");
    payload["schemaDefinition"]["required"] = json!(["title", "price"]);
    payload["metaDefinition"]["propertiesConfig"]["price"]["unique"] = json!(true);
    assert_eq!(app.request("POST", TYPES, &json!(payload)).await.status, 200);
    let one = json!({ "id": "one", "title": "T", "price": 1 });
    assert_eq!(app.request("POST", "/api/v1/content/priced", &one).await.status, 200);
    check(
        &app,
        vec![
            (
                "POST",
                copy,
                json!({}),
                error(list, "The property relatedObjectsToDuplicate is required"),
            ),
            (
                "POST",
                copy,
                json!({ list: "one" }),
                error(list, "String value found, but an array is required"),
            ),
            (
                "POST",
                copy,
                json!({ list: ["one", 2] }),
                error(
                    "relatedObjectsToDuplicate[1]",
                    "Integer value found, but a string is required",
                ),
            ),
            ("POST", "/api/v1/content/example/gone/duplicate", json!({ list: [] }), not_found()),
            (
                "POST",
                "/api/v1/content/priced/one/duplicate",
                json!({ list: [] }),
                error("price", USED),
            ),
            (
                "POST",
                "/api/v1/content/_media/one/duplicate",
                json!({ list: [] }),
                refused("A media object cannot be duplicated: upload its file again"),
            ),
        ],
    )
    .await;
    let copied = app.request("POST", copy, &json!({ list: ["one"] })).await.json();
    let title = copied["title"].as_str().unwrap();
    let suffix = title.strip_prefix("Title-").unwrap();
    assert!(suffix.len() == 6 && suffix.bytes().all(|b| b.is_ascii_hexdigit()), "{title}");
    // The topic `one` was copied, and the copy of the object links to that copy.
    let topic = &copied["topics"][0]["dataUrl"];
    assert_ne!(topic, "/api/v1/content/topic/one");
    assert_eq!(
        (&copied["cover"][0]["dataUrl"], &copied["rows"][0]["refs"][0]["dataUrl"]),
        (topic, topic)
    );
    assert_eq!(copied["topics"][1]["dataUrl"], "/api/v1/content/topic/two%20words");
    assert_eq!(app.get(topic.as_str().unwrap()).await.json()["name"], "One");
}

/// Names of types, and types that the server itself depends on.
#[tokio::test]
async fn content_type_name_errors() {
    let app = TestApp::new();
    let named = |name: &str| json!(definition(name));
    let post = "/api/v1/internal/contenttype/post";
    let mut nameless = definition("post");
    nameless.remove("name");
    check(
        &app,
        vec![
            ("POST", TYPES, named("post"), error("name", USED)),
            ("POST", TYPES, named("_media"), error("name", USED)),
            ("POST", TYPES, named("about"), error("name", USED)),
            ("PUT", post, named("author"), error("name", USED)),
            ("PUT", post, named("_tag"), error("name", USED)),
            ("PUT", post, named("Post"), error("name", "This value is not valid.")),
            ("PUT", post, json!(nameless), error("name", "The property name is required")),
            ("PUT", "/api/v1/internal/contenttype/gone", named("gone"), not_found()),
            ("PUT", "/api/v1/internal/contenttype/_tag", named("_tag"), forbidden()),
            ("DELETE", "/api/v1/internal/contenttype/_media", Value::Null, forbidden()),
            (
                "POST",
                "/api/v1/internal/contenttype/_tag/purge",
                json!({ "deleteSchema": true }),
                forbidden(),
            ),
            ("DELETE", "/api/v1/internal/contenttype/gone", Value::Null, not_found()),
            ("POST", "/api/v1/internal/contenttype/gone/purge", Value::Null, not_found()),
        ],
    )
    .await;
    let renamed = app.request("PUT", post, &named("other")).await;
    assert_eq!((renamed.status, &renamed.json()["name"]), (200, &json!("post")));
    assert_eq!(app.request("POST", &format!("{TYPES}/_tag/purge"), &Value::Null).await.status, 204);
}

/// An update that would make stored objects invalid changes nothing.
#[tokio::test]
async fn content_type_update_conflicts_with_objects() {
    let app = TestApp::new();
    let post = "/api/v1/internal/contenttype/post";
    let mut stricter = definition("post");
    stricter["schemaDefinition"]["required"] = json!(["title", "price"]);
    let refused = (
        400,
        json!({
            "price": ["The property price is required"],
            "ctd": ["Existing objects do not conform to the new schema, and updating them automatically is impossible (e.g., Text -> Relationship). Ensure you're not changing a field type that is also required - if so, disable required for the field you're changing."],
        }),
    );
    let before = app.get(post).await.json();
    check(&app, vec![("PUT", post, json!(stricter), refused)]).await;
    assert_eq!(app.get(post).await.json(), before);
    let priced = json!({ "price": 0 });
    assert_eq!(app.request("PATCH", "/api/v1/content/post/one", &priced).await.status, 200);
    assert_eq!(app.request("PUT", post, &json!(stricter)).await.status, 200);
}

/// Types that cannot be deleted, and the state after a purge.
#[tokio::test]
async fn content_type_deletion_errors() {
    let app = TestApp::new();
    app.core.create_key("shop", KeyKind::Scoped, &[("author", "r"), ("post", "r")]);
    app.core.create_key("all", KeyKind::Scoped, &[("*", "r")]);
    let one = json!({ "id": "a", "title": "A" });
    assert_eq!(app.request("POST", "/api/v1/content/author", &one).await.status, 200);
    let by_shop = "This content type definition is used by Api Key: shop";
    let by_scoped = "This content type definition is used by Api Key: scoped";
    let has_objects = "Content Type has objects, you can't remove it!";
    let author = "/api/v1/internal/contenttype/author";
    let purge = "/api/v1/internal/contenttype/author/purge";
    let purge_post = "/api/v1/internal/contenttype/post/purge";
    let with_schema = json!({ "deleteSchema": true });
    check(
        &app,
        vec![
            ("DELETE", author, Value::Null, reasons(&[by_shop, has_objects])),
            ("POST", purge, with_schema.clone(), reasons(&[by_shop])),
            ("POST", purge_post, with_schema.clone(), reasons(&[by_scoped, by_shop])),
            (
                "POST",
                "/api/v1/spaces/elsewhere/purge",
                json!({ "spaceId": "elsewhere" }),
                not_found(),
            ),
        ],
    )
    .await;
    // A refused deletion removes nothing.
    assert_eq!(app.get("/api/v1/content/author/a").await.status, 200);
    assert_eq!(app.request("POST", purge, &json!({})).await.status, 204);
    assert_eq!(app.get("/api/v1/content/author/a").await.status_and_body(), not_found());
    check(&app, vec![("DELETE", author, Value::Null, reasons(&[by_shop]))]).await;

    // The rules of a revoked key do not prevent a deletion.
    let keys = app.core.cms.keys().list(&Caller::local()).unwrap().data;
    let shop = keys.iter().find(|key| key.name == "shop").unwrap();
    let path = format!("/api/v1/internal/key/{}", shop.id);
    assert_eq!(app.delete_as(CallerKind::Admin, &path).await.status, 204);
    let deleted = app.delete(author).await;
    assert_eq!((deleted.status, deleted.bytes.len()), (200, 0));
    assert_eq!(app.get("/api/v1/content/author").await.status_and_body(), not_found());
}
