//! The visible objects for each combination of the two headers and each kind of type, on every
//! endpoint. Complete responses are compared.
//!
//! | type | has |
//! |---|---|
//! | `article` | Draft & Public: an object in each status, named after it |
//! | `paper` | the workflow `publishing`: an object in each state, named after it |
//! | `note` | neither: `plain`, `hub` with links to all of these, `front` with a link to `hub` |

mod writes;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, links, listed, minute, no_content, not_found, shown};

/// A version of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VisibleVersion {
    Current,
    Published,
}

use VisibleVersion::{Current, Published};

type Seen = &'static [(&'static str, VisibleVersion)];

const EVERY_ARTICLE: Seen =
    &[("draft", Current), ("public", Current), ("modified", Current), ("archived", Current)];
const PUBLIC_ARTICLES: Seen = &[("public", Current), ("modified", Published)];
const EVERY_PAPER: Seen =
    &[("draft", Current), ("review", Current), ("public", Current), ("archive", Current)];
const PUBLIC_PAPERS: Seen = &[("public", Current)];
const NOTES: Seen = &[("plain", Current), ("hub", Current), ("front", Current)];

/// A combination of headers, and the visible objects.
#[derive(Debug)]
struct View {
    headers: &'static [(&'static str, &'static str)],
    /// In lists and hydrated links.
    listed_articles: Seen,
    /// In requests for one object.
    single_articles: Seen,
    papers: Seen,
}

const VIEWS: [View; 6] = [
    View {
        headers: &[],
        listed_articles: PUBLIC_ARTICLES,
        single_articles: EVERY_ARTICLE,
        papers: EVERY_PAPER,
    },
    View {
        headers: &[("X-MODE", "preview")],
        listed_articles: EVERY_ARTICLE,
        single_articles: EVERY_ARTICLE,
        papers: EVERY_PAPER,
    },
    View {
        headers: &[("x-visibility", "public")],
        listed_articles: PUBLIC_ARTICLES,
        single_articles: PUBLIC_ARTICLES,
        papers: PUBLIC_PAPERS,
    },
    View {
        headers: &[("x-mode", "PREVIEW"), ("X-VISIBILITY", "Public")],
        listed_articles: PUBLIC_ARTICLES,
        single_articles: PUBLIC_ARTICLES,
        papers: PUBLIC_PAPERS,
    },
    View {
        headers: &[("x-mode", "Preview"), ("x-visibility", "all")],
        listed_articles: EVERY_ARTICLE,
        single_articles: EVERY_ARTICLE,
        papers: EVERY_PAPER,
    },
    View {
        headers: &[("x-mode", "public"), ("x-visibility", "preview")],
        listed_articles: PUBLIC_ARTICLES,
        single_articles: EVERY_ARTICLE,
        papers: EVERY_PAPER,
    },
];

const TARGETS: [&str; 11] = [
    "article/draft",
    "article/public",
    "article/modified",
    "article/archived",
    "paper/draft",
    "paper/review",
    "paper/public",
    "paper/archive",
    "note/plain",
    "note/hub",
    "note/front",
];

impl View {
    /// An object in lists and hydrated links.
    fn in_list(&self, target: &str) -> Option<Value> {
        self.find(target, self.listed_articles)
    }

    /// An object in requests for one object.
    fn in_single_request(&self, target: &str) -> Option<Value> {
        self.find(target, self.single_articles)
    }

    fn find(&self, target: &str, articles: Seen) -> Option<Value> {
        let (name, id) = target.split_once('/').unwrap();
        let seen = match name {
            "article" => articles,
            "paper" => self.papers,
            _ => NOTES,
        };
        seen.iter().find(|(seen, _)| *seen == id).map(|(_, version)| complete(target, *version))
    }

    /// All objects of a type in a list.
    fn all(&self, name: &str) -> Vec<Value> {
        let targets = TARGETS.iter().filter(|target| target.split_once('/').unwrap().0 == name);
        targets.filter_map(|target| self.in_list(target)).collect()
    }

    async fn send_as(&self, app: &TestApp, method: &str, path: &str, body: &Value) -> (u16, Value) {
        app.send_as_with(self.headers, CallerKind::ReadWrite, method, path, body)
            .await
            .status_and_body()
    }

    async fn get(&self, app: &TestApp, path: &str) -> (u16, Value) {
        self.send_as(app, "GET", path, &Value::Null).await
    }
}

fn content(target: &str) -> String {
    format!("/api/v1/content/{target}")
}

fn complete(target: &str, version: VisibleVersion) -> Value {
    let (name, id) = target.split_once('/').unwrap();
    let published = json!({
        "status": "public", "updatedAt": minute(1), "publicVersion": 1, "publishedAt": minute(1),
    });
    let (changes, properties) = match (target, version) {
        ("article/draft", _) => (json!({ "status": "draft" }), properties("Draft", 1)),
        ("article/public", _) => (published, properties("Public", 2)),
        ("article/modified", Published) => (published, published_properties()),
        ("article/modified", Current) => {
            let changes = json!({
                "status": "modified", "latestVersion": 2, "updatedAt": minute(2),
                "publicVersion": 1, "publishedAt": minute(1),
            });
            (changes, current_properties())
        }
        ("article/archived", _) => {
            (json!({ "status": "archived", "updatedAt": minute(2) }), properties("Archived", 4))
        }
        ("paper/draft", _) => (json!({ "workflowState": "draft" }), properties("Draft", 1)),
        ("paper/public", _) => {
            let changes = json!({
                "workflowState": "public", "updatedAt": minute(1),
                "workflowPublicVersion": 1, "workflowPublishedAt": minute(1),
            });
            (changes, properties("Public", 3))
        }
        ("paper/review", _) => {
            let changes = json!({ "workflowState": "review", "updatedAt": minute(1) });
            (changes, properties("Review", 2))
        }
        ("paper/archive", _) => {
            let changes = json!({ "workflowState": "archive", "updatedAt": minute(1) });
            (changes, properties("Archive", 4))
        }
        ("note/plain", _) => (json!({}), properties("Plain", 9)),
        ("note/hub", _) => (json!({}), hub()),
        _ => (json!({}), json!({ "title": "Front", "parts": [{ "link": links(&["note/hub"]) }] })),
    };
    shown(name, id, &changes, &properties)
}

fn properties(title: &str, price: u32) -> Value {
    json!({ "title": title, "price": price })
}

/// The published version of `article/modified`.
fn published_properties() -> Value {
    let related = links(&["note/plain", "article/public", "paper/draft"]);
    json!({ "title": "Before", "price": 30, "related": related })
}

/// The current version of `article/modified`.
fn current_properties() -> Value {
    let related = links(&["article/draft", "article/archived", "paper/public"]);
    json!({ "title": "After", "price": 3, "related": related })
}

fn hub() -> Value {
    json!({
        "title": "Hub",
        "related": links(&TARGETS[..9]),
        "parts": [
            { "link": links(&["article/modified", "article/draft"]) },
            { "link": links(&["paper/review", "paper/public"]) },
        ],
    })
}

/// An object whose links are replaced by the visible objects, `depth` levels deep.
fn hydrated(view: &View, value: &Value, depth: u8) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| hydrated(view, item, depth)).collect(),
        Value::Object(map) => {
            let target =
                map.get("dataUrl").and_then(|url| url.as_str()?.strip_prefix("/api/v1/content/"));
            let found = target.filter(|_| depth > 0).and_then(|target| view.in_list(target));
            match found {
                Some(object) => hydrated(view, &object, depth - 1),
                None => map.iter().map(|(k, v)| (k.clone(), hydrated(view, v, depth))).collect(),
            }
        }
        other => other.clone(),
    }
}

/// Creates all objects; then the clock is at minute 2.
async fn fixture() -> TestApp {
    let app = TestApp::with_type("article", &json!({ "draftPublic": true }));
    app.create_type("paper", &json!({ "workflowId": "publishing" }));
    app.create_type("note", &json!({}));
    let make = async |target: &str, new: Value| {
        let (name, id) = target.split_once('/').unwrap();
        let mut new = new;
        new["id"] = json!(id);
        app.create(name, &new).await;
    };
    make("note/plain", properties("Plain", 9)).await;
    make("article/draft", properties("Draft", 1)).await;
    make("article/public", properties("Public", 2)).await;
    for (price, state) in (1..).zip(["Draft", "Review", "Public", "Archive"]) {
        make(&format!("paper/{}", state.to_lowercase()), properties(state, price)).await;
    }
    make("article/modified", published_properties()).await;
    make("article/archived", properties("Archived", 4)).await;
    make("note/hub", hub()).await;
    make("note/front", json!({ "title": "Front", "parts": [{ "link": links(&["note/hub"]) }] }))
        .await;

    app.wait_a_minute();
    for id in ["public", "modified", "archived"] {
        assert_eq!(app.post(&content(&format!("article/{id}/publish"))).await, no_content());
    }
    for (id, actions) in [
        ("review", &["_draft_review"][..]),
        ("public", &["_draft_review", "_review_public"]),
        ("archive", &["_draft_review", "_review_public", "_public_archive"]),
    ] {
        for action in actions {
            let path = format!("/api/v1/workflow/paper/{id}");
            let reply = app.request("PUT", &path, &json!({ "action": action })).await;
            assert_eq!(reply.status, 200, "{action}");
        }
    }
    app.wait_a_minute();
    assert_eq!(
        app.request("PUT", &content("article/modified"), &current_properties()).await.status,
        200
    );
    assert_eq!(app.post(&content("article/archived/archive")).await, no_content());
    app
}

/// Lists, and single objects.
#[tokio::test]
async fn view_of_lists_and_objects() {
    let app = fixture().await;
    for view in &VIEWS {
        for name in ["article", "paper", "note"] {
            let wanted = (200, listed(&view.all(name)));
            assert_eq!(view.get(&app, &content(name)).await, wanted, "{view:?} {name}");
        }
        for target in TARGETS {
            let wanted =
                view.in_single_request(target).map_or_else(not_found, |object| (200, object));
            assert_eq!(view.get(&app, &content(target)).await, wanted, "{view:?} {target}");
        }
    }
}

/// Filters, order, ids and totals use the visible versions.
#[tokio::test]
async fn view_of_filtered_and_ordered_lists() {
    let app = fixture().await;
    let equals = |path: &str, value: Value| json!({ path: { "type": "equals", "filter": value } });
    let filters = |filters: Value| {
        format!("filters={}", utf8_percent_encode(&filters.to_string(), NON_ALPHANUMERIC))
    };
    // Query; ids among all articles, ids among the visible ones.
    let cases = [
        (
            "order_by=price&order_direction=desc".to_owned(),
            &["archived", "modified", "public", "draft"][..],
            &["modified", "public"][..],
        ),
        (
            "order_by=title".to_owned(),
            &["modified", "archived", "draft", "public"],
            &["modified", "public"],
        ),
        (
            "order_by=internal.updatedAt&order_direction=desc".to_owned(),
            &["modified", "archived", "public", "draft"],
            &["public", "modified"],
        ),
        (filters(equals("title", json!("Before"))), &[], &["modified"]),
        (filters(equals("title", json!("After"))), &["modified"], &[]),
        (
            filters(json!({ "price": { "type": "greaterThan", "filter": 2 } })),
            &["modified", "archived"],
            &["modified"],
        ),
        (filters(json!({ "*": { "type": "contains", "filter": "fte" } })), &["modified"], &[]),
        (
            filters(equals("related[*].dataUrl", json!("/api/v1/content/note/plain"))),
            &[],
            &["modified"],
        ),
        (filters(equals("internal.status", json!("modified"))), &["modified"], &[]),
        (filters(equals("internal.status", json!("public"))), &["public"], &["public", "modified"]),
        (
            filters(json!({ "internal.status": { "type": "notEqual", "filter": "public" } })),
            &["draft", "modified", "archived"],
            &[],
        ),
        (filters(equals("internal.latestVersion", json!(2))), &["modified"], &[]),
        (
            filters(equals("internal.publicVersion", json!(1))),
            &["public", "modified"],
            &["public", "modified"],
        ),
        (
            filters(json!({ "internal.publishedAt": { "type": "empty" } })),
            &["draft", "archived"],
            &[],
        ),
        ("ids[]=MODIFIED&ids[]=draft&ids[]=none".to_owned(), &["draft", "modified"], &["modified"]),
        ("hydrate=0&ids[]=archived".to_owned(), &["archived"], &[]),
    ];
    for view in &VIEWS {
        let is_public = view.listed_articles == PUBLIC_ARTICLES;
        for (query, every, public) in &cases {
            let ids = if is_public { public } else { every };
            let data: Vec<Value> =
                ids.iter().map(|id| view.in_list(&format!("article/{id}")).unwrap()).collect();
            let reply = view.get(&app, &format!("{}?{query}", content("article"))).await;
            assert_eq!(reply, (200, listed(&data)), "{view:?} {query}");
        }
        let total = view.listed_articles.len();
        let second = if is_public { "article/modified" } else { "article/public" };
        let page = json!({
            "total_count": total, "total_pages": total, "current_page": 2, "count": 1,
            "data": [view.in_list(second).unwrap()],
        });
        let reply = view.get(&app, &format!("{}?limit=1&page=2", content("article"))).await;
        assert_eq!(reply, (200, page), "{view:?}");
    }

    // Ids among all papers, ids among the approved ones.
    let cases = [
        (
            "order_by=price&order_direction=desc".to_owned(),
            &["archive", "public", "review", "draft"][..],
            &["public"][..],
        ),
        (filters(equals("title", json!("Review"))), &["review"], &[]),
        (filters(equals("price", json!([2, 3]))), &["review", "public"], &["public"]),
        (
            filters(
                json!({ "internal.workflowState": { "type": "notEqual", "filter": "public" } }),
            ),
            &["draft", "review", "archive"],
            &[],
        ),
        ("ids[]=public&ids[]=draft".to_owned(), &["draft", "public"], &["public"]),
    ];
    for view in &VIEWS {
        for (query, every, public) in &cases {
            let ids = if view.papers == PUBLIC_PAPERS { public } else { every };
            let data: Vec<Value> =
                ids.iter().map(|id| complete(&format!("paper/{id}"), Current)).collect();
            let reply = view.get(&app, &format!("{}?{query}", content("paper"))).await;
            assert_eq!(reply, (200, listed(&data)), "{view:?} {query}");
        }
    }
}

/// Links, also those in list items, are replaced by visible objects or stay links.
#[tokio::test]
async fn view_of_hydrated_objects() {
    let app = fixture().await;
    for view in &VIEWS {
        for target in TARGETS {
            let Some(object) = view.in_single_request(target) else { continue };
            for depth in [1, 2] {
                let reply = view.get(&app, &format!("{}?hydrate={depth}", content(target))).await;
                let wanted = hydrated(view, &object, depth);
                assert_eq!(reply, (200, wanted), "{view:?} {target} {depth}");
            }
        }
        for name in ["article", "paper", "note"] {
            for depth in [1, 2] {
                let data: Vec<Value> =
                    view.all(name).iter().map(|object| hydrated(view, object, depth)).collect();
                let reply = view.get(&app, &format!("{}?hydrate={depth}", content(name))).await;
                assert_eq!(reply, (200, listed(&data)), "{view:?} {name} {depth}");
            }
        }
    }
}

/// The versions of an object, oldest first, with the minutes of their creation and last change.
fn versions(target: &str) -> Vec<(Value, u32, u32)> {
    let current = complete(target, Current);
    match target {
        "article/modified" => vec![(complete(target, Published), 0, 1), (current, 2, 2)],
        "article/archived" => vec![(current, 0, 2)],
        "article/public" | "paper/review" | "paper/public" | "paper/archive" => {
            vec![(current, 0, 1)]
        }
        _ => vec![(current, 0, 0)],
    }
}

/// All versions of a visible object are visible. The public view shows only the published version.
#[tokio::test]
async fn view_of_versions() {
    let app = fixture().await;
    let date = |minutes: u32| format!("{}.000000+0000", &minute(minutes)[..19]);
    let user = app.get("/api/auth-context").await.json()["user"]["id"].clone();
    let person = json!({
        "id": user, "username": "read-write", "email": "", "firstName": "", "lastName": "",
        "roles": ["ROLE_HEADLESS_ADMIN"], "language": "en", "enabled": true,
        "resetPasswordAt": null, "deletedAt": null, "createdAt": date(0), "updatedAt": date(0),
    });
    let by = json!({ "kind": "key", "id": user, "name": "read-write" });
    for view in &VIEWS {
        for target in TARGETS {
            let path = format!("{}/version", content(target));
            if view.in_single_request(target).is_none() {
                for path in [path.clone(), format!("{path}/1")] {
                    assert_eq!(view.get(&app, &path).await, not_found(), "{view:?} {path}");
                }
                continue;
            }
            let mut versions = versions(target);
            if view.single_articles == PUBLIC_ARTICLES && !target.starts_with("note/") {
                versions.truncate(1);
            }
            let mut items = Vec::new();
            let mut before = &json!({});
            for (number, (object, made, touched)) in (1..).zip(&versions) {
                let names = object.as_object().unwrap().keys();
                let changed: Vec<&String> = names
                    .filter(|name| *name != "id" && *name != "internal")
                    .filter(|name| object[*name] != before[*name])
                    .collect();
                before = object;
                items.push(json!({
                    "id": object["id"], "internal": object["internal"], "version": number,
                    "current": number == versions.len(), "createdAt": date(*made),
                    "updatedAt": date(*touched), "deletedAt": null,
                    "owner": person, "editor": person, "by": by, "changed": changed,
                }));
                let reply = view.get(&app, &format!("{path}/{number}")).await;
                assert_eq!(reply, (200, object.clone()), "{view:?} {target} {number}");
            }
            assert_eq!(view.get(&app, &path).await, (200, listed(&items)), "{view:?} {target}");
            for hidden in versions.len() + 1..=3 {
                let path = format!("{path}/{hidden}");
                assert_eq!(view.get(&app, &path).await, not_found(), "{view:?} {path}");
            }
            let (_, past) = view.get(&app, &format!("{path}?page=2&limit=5")).await;
            assert_eq!(past["total_count"], versions.len(), "{view:?} {target}");
            assert_eq!(past["data"], json!([]), "{view:?} {target}");
        }
    }
}

/// The workflow state is visible where the object is.
#[tokio::test]
async fn view_of_workflow_states() {
    let app = fixture().await;
    let ways = |from: &str, tos: &[&str]| -> Value {
        let way = |to| json!({ "name": format!("_{from}_{to}"), "froms": [from], "tos": [to] });
        tos.iter().map(way).collect()
    };
    for view in &VIEWS {
        for target in TARGETS {
            let (state, enabled) = match target {
                "paper/draft" => ("draft", ways("draft", &["draft", "review"])),
                "paper/review" => ("review", ways("review", &["draft", "public"])),
                "paper/public" => ("public", ways("public", &["archive"])),
                "paper/archive" => ("archive", ways("archive", &[])),
                _ => ("saved", json!([])),
            };
            let wanted = match view.in_single_request(target) {
                Some(_) => (200, json!({ "state": state, "enabled_transitions": enabled })),
                None => not_found(),
            };
            let reply = view.get(&app, &format!("/api/v1/workflow/{target}")).await;
            assert_eq!(reply, wanted, "{view:?} {target}");
        }
    }
}

/// The public view does not name objects that it never showed.
#[tokio::test]
async fn view_of_deleted_ids() {
    let app = fixture().await;
    // Objects with links first.
    let linking = [("note", &NOTES[1..]), ("article", &EVERY_ARTICLE[2..3])];
    let others = [("note", &NOTES[..1]), ("article", EVERY_ARTICLE), ("paper", EVERY_PAPER)];
    for (name, seen) in linking.into_iter().chain(others) {
        for (id, _) in seen.iter().rev() {
            let path = content(&format!("{name}/{id}"));
            let status = app.request("DELETE", &path, &json!(null)).await.status;
            assert!(status == 204 || status == 404, "{path}: {status}");
        }
    }
    for view in &VIEWS {
        for (name, seen) in
            [("note", NOTES), ("article", view.single_articles), ("paper", view.papers)]
        {
            let removed = view.get(&app, &content(&format!("{name}/removed"))).await.1;
            let mut removed: Vec<String> = serde_json::from_value(removed).unwrap();
            removed.sort_unstable();
            let mut shown: Vec<_> = seen.iter().map(|(id, _)| *id).collect();
            shown.sort_unstable();
            assert_eq!(removed, shown, "{view:?} {name}");
        }
    }
}
