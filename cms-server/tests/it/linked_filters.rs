//! `filters` through relations and on incoming links.

use cms_core::{Caller, wire::publish::PublishAction};
use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, links};

const PUBLIC: (&str, &str) = ("x-visibility", "public");
const PREVIEW: (&str, &str) = ("x-mode", "preview");

fn publish(app: &TestApp, name: &str, id: &str) {
    let (ids, action) = ([id.to_owned()], PublishAction::Publish);
    app.core.cms.publishing().set_statuses(&Caller::local(), name, &ids, action).unwrap();
}

async fn patch(app: &TestApp, path: &str, changes: &Value) {
    let reply = app.request("PATCH", &format!("/api/v1/content/{path}"), changes).await;
    assert_eq!(reply.status, 200, "{path}: {:?}", reply.json());
}

fn list_path(name: &str, filters: &Value) -> String {
    let filters = filters.to_string();
    let filters =
        percent_encoding::utf8_percent_encode(&filters, percent_encoding::NON_ALPHANUMERIC);
    format!("/api/v1/content/{name}?filters={filters}")
}

/// The ids of a list, as a caller with these headers sees it.
async fn ids(app: &TestApp, view: &View<'_>, name: &str, filters: &Value) -> Vec<String> {
    let (caller, headers) = view;
    let reply = app.get_with(headers, *caller, &list_path(name, filters)).await;
    let list = reply.json();
    assert_eq!(reply.status, 200, "{filters}: {list}");
    let data = list["data"].as_array().unwrap();
    assert_eq!(list["total_count"], data.len(), "{filters}");
    data.iter().map(|object| object["id"].as_str().unwrap().to_owned()).collect()
}

/// A caller, and the headers that select a view.
type View<'a> = (CallerKind, &'a [(&'a str, &'a str)]);

const CURRENT: View<'_> = (CallerKind::ReadWrite, &[]);

fn condition(operator: &str, value: &Value) -> Value {
    json!({ "type": operator, "filter": value })
}

/// Books with authors, authors with companies.
async fn library() -> TestApp {
    let app = TestApp::new();
    for name in ["book", "person", "company"] {
        app.create_type(name, &json!({}));
    }
    for (id, title, price) in [("acme", "Acme", 1), ("zenith", "Zenith", 2)] {
        app.create("company", &json!({ "id": id, "title": title, "price": price })).await;
    }
    for (id, title, companies) in [
        ("ada", "Ada", &["company/acme"][..]),
        ("bob", "Bob", &["company/zenith"]),
        ("eve", "Eve", &[]),
    ] {
        app.create("person", &json!({ "id": id, "title": title, "related": links(companies) }))
            .await;
    }
    for (id, authors) in [
        ("one", &["person/Ada"][..]),
        ("two", &["person/ada", "person/bob"]),
        ("three", &["person/eve"]),
        ("none", &[]),
    ] {
        let part = json!([{ "link": links(authors) }]);
        let book = json!({ "id": id, "title": "B", "related": links(authors), "parts": part });
        app.create("book", &book).await;
    }
    app
}

#[tokio::test]
async fn filter_through_relations_matches_any_linked_object() {
    let app = library().await;
    let text = |operator: &str, value: &str| condition(operator, &json!(value));
    let table = [
        (json!({ "related.title": text("equals", "Ada") }), &["one", "two"][..]),
        (json!({ "related[*].title": text("equals", "Ada") }), &["one", "two"]),
        (json!({ "related[0].title": text("equals", "Bob") }), &[]),
        (json!({ "related[1].title": text("equals", "Bob") }), &["two"]),
        (json!({ "parts[*].link.title": text("startsWith", "b") }), &["two"]),
        (json!({ "related.title": text("notEqual", "Ada") }), &["three", "none"]),
        (json!({ "related.title": text("notContains", "a") }), &["three", "none"]),
        (
            json!({ "related.price": condition("empty", &json!(null)) }),
            &["one", "two", "three", "none"],
        ),
        (json!({ "related.title": condition("empty", &json!(null)) }), &["none"]),
        (json!({ "related.title": condition("notEmpty", &json!(null)) }), &["one", "two", "three"]),
        (
            json!({ "related.id": condition("equals", &json!(["ada", "eve"])) }),
            &["one", "two", "three"],
        ),
        (
            json!({ "related.internal.latestVersion": condition("equals", &json!(1)) }),
            &["one", "two", "three"],
        ),
        (json!({ "related.*": text("contains", "eve") }), &["three"]),
        (json!({ "related.related.title": text("equals", "Zenith") }), &["two"]),
        (json!({ "related.related.price": condition("lessThan", &json!(2)) }), &["one", "two"]),
        (json!({ "related.related.title": condition("empty", &json!(null)) }), &["three", "none"]),
        (
            json!({ "related.related[*].dataUrl": text("equals", "/api/v1/content/company/ACME") }),
            &["one", "two"],
        ),
        (
            json!({ "related.title": text("equals", "Ada"), "related.related.title": text("equals", "Zenith") }),
            &["two"],
        ),
        // Unknown properties are missing values.
        (json!({ "related.unknown": text("equals", "Ada") }), &[]),
        (json!({ "related.unknown": text("notEqual", "Ada") }), &["one", "two", "three", "none"]),
        (json!({ "related.related.related.title": text("equals", "Ada") }), &[]),
    ];
    for (filters, expected) in table {
        assert_eq!(ids(&app, &CURRENT, "book", &filters).await, expected, "{filters}");
    }
    let reply =
        app.get(&list_path("book", &json!({ "related.unknown": text("equals", "a") }))).await;
    let unknown = reply.header("x-deprecated-query-params");
    assert_eq!(unknown, Some("filters[related.unknown]"));
    let reply = app.get(&list_path("book", &json!({ "related.title": text("equals", "a") }))).await;
    assert_eq!(reply.header("x-deprecated-query-params"), None);
    let deep = json!({ "related.related.related.related.title": text("equals", "a") });
    let reply = app.get(&list_path("book", &deep)).await;
    let message = json!({ "filters": ["Too many relations in a path, limit: 3"] });
    assert_eq!(reply.status_and_body(), (400, message));
}

/// A list is never served from a cache after linked objects have changed.
#[tokio::test]
async fn filter_through_relations_follows_changes_of_linked_objects() {
    let app = library().await;
    let filters = json!({ "related.title": condition("equals", &json!("Ada")) });
    assert_eq!(ids(&app, &CURRENT, "book", &filters).await, ["one", "two"]);
    patch(&app, "person/ada", &json!({ "title": "Adele" })).await;
    assert_eq!(ids(&app, &CURRENT, "book", &filters).await, [""; 0]);
    patch(&app, "person/eve", &json!({ "title": "Ada" })).await;
    assert_eq!(ids(&app, &CURRENT, "book", &filters).await, ["three"]);
    assert_eq!(app.delete("/api/v1/content/book/three").await.status, 204);
    assert_eq!(ids(&app, &CURRENT, "book", &filters).await, [""; 0]);
}

#[tokio::test]
async fn filter_through_relations_follows_rights_and_view() {
    let app = TestApp::with_type("writer", &json!({ "draftPublic": true }));
    app.create_type("story", &json!({ "draftPublic": true }));
    for (id, title) in [("ada", "Ada"), ("bob", "Bob")] {
        app.create("writer", &json!({ "id": id, "title": title })).await;
    }
    let by = |writer: &str| json!({ "title": "S", "related": links(&[writer]) });
    for (id, writer) in [("draft", "writer/ada"), ("shown", "writer/ada"), ("moved", "writer/bob")]
    {
        let mut story = by(writer);
        story["id"] = json!(id);
        app.create("story", &story).await;
    }
    publish(&app, "writer", "ada");
    publish(&app, "story", "shown");
    publish(&app, "story", "moved");
    patch(&app, "story/moved", &by("writer/ada")).await;
    patch(&app, "writer/ada", &json!({ "title": "Adele" })).await;
    let (public, preview) = ([PUBLIC], [PREVIEW]);
    let named = |title: &str| json!({ "related.title": condition("equals", &json!(title)) });
    let none = json!({ "related.title": condition("empty", &json!(null)) });
    let none_found: &[&str] = &[];
    let all = ["draft", "shown", "moved"];
    for (headers, ada, adele, unseen) in [
        (&public, &["shown"][..], none_found, &["moved"][..]),
        (&preview, none_found, &all[..], none_found),
    ] {
        let view = (CallerKind::ReadWrite, &headers[..]);
        assert_eq!(ids(&app, &view, "story", &named("Ada")).await, ada, "{headers:?}");
        assert_eq!(ids(&app, &view, "story", &named("Adele")).await, adele, "{headers:?}");
        assert_eq!(ids(&app, &view, "story", &named("Bob")).await, none_found, "{headers:?}");
        assert_eq!(ids(&app, &view, "story", &none).await, unseen, "{headers:?}");
    }
    // A caller that may read the type, but not the targets of its links.
    let app = TestApp::with_type("secret", &json!({}));
    let mut post = crate::support::linking_definition("post");
    post.insert("label".to_owned(), json!("post"));
    app.core.cms.types().update(&Caller::local(), "post", post).unwrap();
    app.create("secret", &json!({ "id": "s", "title": "Secret" })).await;
    app.create("post", &json!({ "id": "p", "title": "P", "related": links(&["secret/s"]) })).await;
    let path = json!({ "related.price": condition("empty", &json!(null)), "related.title": condition("equals", &json!("Secret")) });
    let hidden = json!({ "related.title": condition("notEqual", &json!("Secret")), "id": condition("equals", &json!("p")) });
    for (caller, found, not_found) in [
        (CallerKind::ReadWrite, &["p"][..], &[][..]),
        (CallerKind::Scoped, &[], &["p"]),
        (CallerKind::ReadWrite, &["p"], &[]),
    ] {
        assert_eq!(ids(&app, &(caller, &[]), "post", &path).await, found, "{caller:?}");
        assert_eq!(ids(&app, &(caller, &[]), "post", &hidden).await, not_found, "{caller:?}");
    }
}

#[tokio::test]
async fn filter_on_incoming_links_matches_any_visible_link() {
    let app = library().await;
    // Links of an object to itself do not count.
    patch(&app, "person/eve", &json!({ "related": links(&["person/eve"]) })).await;
    app.create("company", &json!({ "id": "free", "title": "F" })).await;
    let text = |operator: &str, value: &str| condition(operator, &json!(value));
    let url = |path: &str| format!("/api/v1/content/{path}");
    let authors = [
        (json!({ "internal.incoming": text("empty", "") }), &[][..]),
        (json!({ "internal.incoming": text("notEmpty", "") }), &["ada", "bob", "eve"]),
        (
            json!({ "internal.incoming[*].contentType": text("equals", "book") }),
            &["ada", "bob", "eve"],
        ),
        (json!({ "internal.incoming[*].contentType": text("equals", "person") }), &[]),
        (json!({ "internal.incoming[*].contentType": text("notEqual", "book") }), &[]),
        (
            json!({ "internal.incoming[*].property": text("equals", "parts.link") }),
            &["ada", "bob", "eve"],
        ),
        (json!({ "internal.incoming[*].property": text("equals", "parts") }), &[]),
        (
            json!({ "internal.incoming[*].dataUrl": text("equals", &url("book/TWO")) }),
            &["ada", "bob"],
        ),
        (json!({ "internal.incoming[*].dataUrl": text("equals", "two") }), &[]),
        (
            json!({ "internal.incoming[*].dataUrl": condition("equals", &json!([url("book/two"), url("book/three")])) }),
            &["ada", "bob", "eve"],
        ),
        (
            json!({ "internal.incoming[*].dataUrl": condition("includes", &json!([url("book/one"), url("book/two")])) }),
            &["ada"],
        ),
        (json!({ "internal.incoming[*].dataUrl": text("notEqual", &url("book/two")) }), &["eve"]),
        (json!({ "internal.incoming[*].dataUrl": text("endsWith", "/ONE") }), &["ada"]),
        (
            json!({ "internal.incoming[*].dataUrl": text("notContains", "/book/three") }),
            &["ada", "bob"],
        ),
        (json!({ "internal.incoming[*].dataUrl": text("empty", "") }), &[]),
        (json!({ "internal.incoming[*].id": text("equals", "one") }), &[]),
    ];
    for (filters, expected) in authors {
        assert_eq!(ids(&app, &CURRENT, "person", &filters).await, expected, "{filters}");
    }
    let unused = json!({ "internal.incoming": { "type": "empty" } });
    assert_eq!(ids(&app, &CURRENT, "company", &unused).await, ["free"]);
    let of_eve =
        json!({ "related.internal.incoming[*].dataUrl": text("equals", &url("book/one")) });
    assert_eq!(ids(&app, &CURRENT, "book", &of_eve).await, ["one", "two"]);
    // Objects in the trash have no links.
    assert_eq!(app.delete("/api/v1/content/person/bob").await.status, 400);
    for book in ["two", "one"] {
        app.delete(&format!("/api/v1/content/book/{book}")).await;
    }
    assert_eq!(ids(&app, &CURRENT, "person", &unused).await, ["ada", "bob"]);
    let filters = json!({ "internal.incoming": text("equals", "a") });
    let message = json!({ "filters": ["Unknown filter type equals for internal.incoming"] });
    assert_eq!(app.get(&list_path("person", &filters)).await.status_and_body(), (400, message));
    let includes = |values: Vec<String>| json!({ "internal.incoming[*].contentType": condition("includes", &json!(values)) });
    // Repeated values count once.
    let books = includes(vec!["book".to_owned(); 500]);
    assert_eq!(ids(&app, &CURRENT, "person", &books).await, ["eve"]);
    // As for other lists, `includes` without values matches every link.
    assert_eq!(ids(&app, &CURRENT, "person", &includes(Vec::new())).await, ["eve"]);
    let different = includes((0..101).map(|number| number.to_string()).collect());
    let message = "Too many values of includes for internal.incoming, limit: 100";
    assert_eq!(
        app.get(&list_path("person", &different)).await.status_and_body(),
        (400, json!({ "filters": [message] }))
    );
    let scoped: View<'_> = (CallerKind::Scoped, &[]);
    app.create_type("page", &json!({}));
    app.create("page", &json!({ "id": "p", "title": "P", "related": links(&["post/one"]) })).await;
    let used = json!({ "internal.incoming": { "type": "notEmpty" } });
    assert_eq!(ids(&app, &CURRENT, "post", &used).await, ["one"]);
    assert_eq!(ids(&app, &scoped, "post", &used).await, [""; 0]);
}

#[tokio::test]
async fn external_link_to_the_path_of_an_object_does_not_equal_it() {
    let app = TestApp::with_type("note", &json!({}));
    app.create("note", &json!({ "id": "target", "title": "T" })).await;
    let external = json!([{ "type": "external", "dataUrl": "/api/v1/content/note/target" }]);
    app.create("note", &json!({ "id": "external", "title": "E", "related": external })).await;
    let internal = links(&["note/target"]);
    app.create("note", &json!({ "id": "internal", "title": "I", "related": internal })).await;
    for (operator, expected) in
        [("equals", &["internal"][..]), ("notEqual", &["external", "target"])]
    {
        let filter = condition(operator, &json!("/api/v1/content/note/target"));
        let filters = json!({ "related[*].dataUrl": filter });
        let mut found = ids(&app, &CURRENT, "note", &filters).await;
        found.sort();
        assert_eq!(found, expected, "{operator}");
    }
}

#[tokio::test]
async fn filter_on_incoming_links_follows_the_view() {
    let app = TestApp::with_type("draft", &json!({ "draftPublic": true }));
    app.create_type("tag", &json!({}));
    for id in ["never", "same", "was", "now"] {
        app.create("tag", &json!({ "id": id, "title": "T" })).await;
        app.create("draft", &json!({ "id": id, "title": "D" })).await;
    }
    let set = async |id: &str, tags: &[&str]| {
        patch(&app, &format!("draft/{id}"), &json!({ "related": links(tags) })).await;
    };
    set("never", &["tag/never"]).await;
    set("same", &["tag/same"]).await;
    publish(&app, "draft", "same");
    set("was", &["tag/was"]).await;
    publish(&app, "draft", "was");
    set("was", &[]).await;
    publish(&app, "draft", "now");
    set("now", &["tag/now"]).await;
    let (public, preview) = ([PUBLIC], [PREVIEW]);
    let member = |name: &str, value: &str| json!({ format!("internal.incoming[*].{name}"): condition("equals", &json!(value)) });
    for (headers, used) in
        [(&public[..], &["same", "was"][..]), (&preview, &["never", "same", "now"])]
    {
        let view = (CallerKind::ReadWrite, headers);
        for filters in [
            json!({ "internal.incoming": { "type": "notEmpty" } }),
            member("contentType", "draft"),
            member("property", "related"),
        ] {
            assert_eq!(ids(&app, &view, "tag", &filters).await, used, "{headers:?} {filters}");
        }
        assert_eq!(ids(&app, &view, "tag", &member("property", "parts.link")).await, [""; 0]);
        for id in ["never", "same", "was", "now"] {
            let filters = member("dataUrl", &format!("/api/v1/content/draft/{id}"));
            let expected: Vec<_> = used.iter().filter(|used| **used == id).collect();
            assert_eq!(
                ids(&app, &view, "tag", &filters).await.iter().collect::<Vec<_>>(),
                expected
            );
        }
    }
    // Only approved objects are in the public view of a type with a workflow.
    app.create_type("news", &json!({ "workflowId": "publishing" }));
    app.create("tag", &json!({ "id": "late", "title": "L" })).await;
    app.create("news", &json!({ "id": "n", "title": "N", "related": links(&["tag/late"]) })).await;
    let filters = member("contentType", "news");
    assert_eq!(ids(&app, &CURRENT, "tag", &filters).await, ["late"]);
    let view = (CallerKind::ReadWrite, &public[..]);
    assert_eq!(ids(&app, &view, "tag", &filters).await, [""; 0]);
}

/// SQLite limits the number of tables in a statement.
#[tokio::test]
async fn descending_list_is_filtered_through_relations_to_many_types() {
    let app = TestApp::new();
    let letters = || 'a'..='i';
    for (first, second) in letters().flat_map(|first| letters().map(move |second| (first, second)))
    {
        app.create_type(&format!("type_{first}{second}"), &json!({}));
    }
    let objects: Value =
        (0..300).map(|number| json!({ "id": format!("n{number}"), "title": "T" })).collect();
    assert_eq!(app.request("POST", "/api/v1/content/type_aa/batch", &objects).await.status, 200);
    for filters in [
        json!({ "related.title": condition("notEqual", &json!(["a", "b"])) }),
        json!({ "related.title": condition("empty", &json!(null)) }),
    ] {
        for direction in ["asc", "desc"] {
            let path = format!(
                "{}&order_by=title&order_direction={direction}&limit=5",
                list_path("type_aa", &filters)
            );
            let reply = app.get(&path).await;
            let list = reply.json();
            assert_eq!(
                (reply.status, &list["total_count"]),
                (200, &json!(300)),
                "{filters}: {list}"
            );
            assert_eq!(list["data"][0]["id"], "n0", "{direction}");
        }
    }
}
