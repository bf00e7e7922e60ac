//! Cached responses equal those of a server without a cache, after any change by any server.
//!
//! Two servers with caches, as in two processes, and one without use the same data directory.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, Bytes},
    http::Request,
};
use cms_core::{
    Caller, Cms, CoreConfig,
    clock::Clock,
    testing::TestCms,
    wire::key::{KeyKind, KeyUpdate, Rule},
};
use cms_server::{ServerConfig, router};
use http_body_util::BodyExt;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

use crate::support::{CallerKind, TestApp, links};

const TYPES: [&str; 3] = ["article", "paper", "note"];
const IDS: [&str; 4] = ["a", "b", "c", "d"];
const TRANSITIONS: [&str; 4] =
    ["_draft_review", "_review_public", "_review_draft", "_public_archive"];
/// More than the minimum time until a schedule.
const SCHEDULED_AFTER_SECONDS: i64 = 6 * 60;

/// A change, by one of the servers with a cache.
#[derive(Clone, Debug)]
enum Change {
    Create {
        target: Target,
        linked: Target,
    },
    Patch {
        target: Target,
        linked: Target,
        price: u8,
    },
    Delete(Target),
    /// Restores the object that was deleted last.
    Restore,
    Act(Target, &'static str),
    /// Schedules an article for the next [`Self::LetTimePass`].
    Schedule(&'static str),
    /// Advances the clock, and publishes due objects.
    LetTimePass,
    /// Makes a transition of a paper.
    Transition(&'static str, &'static str),
    /// Sets whether the scoped key may read a type.
    Grant(&'static str, bool),
    /// Renames the key that is the author of all changes.
    RenameKey(u8),
    Relabel(&'static str, u8),
    Purge(&'static str),
}

type Target = (&'static str, &'static str);

fn target() -> impl Strategy<Value = Target> {
    (prop::sample::select(&TYPES[..]), prop::sample::select(&IDS[..]))
}

fn change() -> impl Strategy<Value = Change> {
    let types = || prop::sample::select(&TYPES[..]);
    let actions = prop::sample::select(&["publish", "unpublish", "archive"][..]);
    let transitions = prop::sample::select(&TRANSITIONS[..]);
    prop_oneof![
        2 => (target(), target()).prop_map(|(target, linked)| Change::Create { target, linked }),
        6 => (target(), target(), any::<u8>())
            .prop_map(|(target, linked, price)| Change::Patch { target, linked, price }),
        2 => target().prop_map(Change::Delete),
        1 => Just(Change::Restore),
        4 => (target(), actions).prop_map(|(target, action)| Change::Act(target, action)),
        1 => prop::sample::select(&IDS[..]).prop_map(Change::Schedule),
        1 => Just(Change::LetTimePass),
        2 => (prop::sample::select(&IDS[..]), transitions)
            .prop_map(|(id, transition)| Change::Transition(id, transition)),
        1 => (types(), any::<bool>()).prop_map(|(name, read)| Change::Grant(name, read)),
        1 => any::<u8>().prop_map(Change::RenameKey),
        1 => (types(), 0..3_u8).prop_map(|(name, number)| Change::Relabel(name, number)),
        1 => types().prop_map(Change::Purge),
    ]
}

/// A read: path with query, and caller; in each view.
fn read() -> impl Strategy<Value = (String, CallerKind)> {
    let types = || prop::sample::select(&TYPES[..]);
    let lists = prop::sample::select(
        &[
            "",
            "?hydrate=1",
            "?hydrate=2",
            "?order_by=price&order_direction=desc",
            "?filters=%7B%22price%22%3A%7B%22type%22%3A%22greaterThan%22%2C%22filter%22%3A90%7D%7D",
            "?filters=%7B%22related.title%22%3A%7B%22type%22%3A%22contains%22%2C%22filter%22%3A%22a%22%7D%7D",
            "?fields[]=title&fields[]=internal.createdBy&fields[]=related&hydrate=1&odd=1",
        ][..],
    );
    // No search words: a merge of index segments changes their scores slightly, whether or not responses are cached.
    let searches = prop::sample::select(
        &["?q=*&hydrate=1", "?q=*&filters[title]=title&content_type[]=note"][..],
    );
    let callers = prop::sample::select(&[CallerKind::ReadOnly, CallerKind::Scoped][..]);
    let path = prop_oneof![
        4 => (types(), lists).prop_map(|(name, query)| format!("/api/v1/content/{name}{query}")),
        3 => (target(), prop::sample::select(&["", "?hydrate=2", "?fields[]=title"][..]))
            .prop_map(|((name, id), query)| format!("/api/v1/content/{name}/{id}{query}")),
        1 => searches.prop_map(|query| format!("/api/v1/search{query}")),
    ];
    (path, callers)
}

const VIEWS: [&[(&str, &str)]; 3] = [&[], &[("x-mode", "preview")], &[("x-visibility", "public")]];

struct Servers {
    runtime: Runtime,
    app: TestApp,
    other: Arc<Cms>,
    cached: [Router; 2],
    uncached: Router,
}

impl Servers {
    fn new() -> Self {
        let app = TestApp::on(TestCms::standalone(), &ServerConfig::default());
        let draft = json!({ "draftPublic": true });
        app.create_type("article", &draft);
        app.create_type("paper", &json!({ "workflowId": "publishing" }));
        app.create_type("note", &json!({}));
        let open = |linked_object_cache| {
            let clock = Arc::clone(&app.core.clock) as _;
            let config = CoreConfig::new(app.core.path());
            Arc::new(Cms::open(CoreConfig { clock, linked_object_cache, ..config }).unwrap())
        };
        let other = open(64 * 1024);
        let config = ServerConfig::default();
        let cached = [&app.core.cms, &other].map(|cms| router(&config, Arc::clone(cms)));
        let config = ServerConfig { response_cache: 0, ..config };
        let uncached = router(&config, open(0));
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let servers = Self { runtime, app, other, cached, uncached };
        for target in TYPES.iter().flat_map(|name| IDS.map(|id| (*name, id))) {
            servers.apply(0, &Change::Create { target, linked: target });
        }
        // Each object has a link to one of another type.
        for [name, next] in [["article", "paper"], ["paper", "note"], ["note", "article"]] {
            for id in IDS {
                let (target, linked) = ((name, id), (next, id));
                servers.apply(0, &Change::Patch { target, linked, price: 100 });
            }
        }
        servers
    }

    /// Sends a request; returns status, body, and the headers that a cache must keep.
    fn send(
        &self,
        router: &Router,
        (method, path, caller): (&str, &str, CallerKind),
        headers: &[(&str, &str)],
        body: &Value,
    ) -> (u16, Bytes, Vec<Option<String>>) {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers.iter().copied().chain([
            ("x-auth-token", self.app.key(caller).unwrap()),
            ("content-type", "application/json"),
        ]) {
            request = request.header(name, value);
        }
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        self.runtime.block_on(async {
            let response = router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
            let (head, body) = response.into_parts();
            let names = ["etag", "vary", "content-encoding", "x-deprecated-query-params"];
            let headers = names.map(|name| head.headers.get(name));
            let headers = headers.map(|value| Some(value?.to_str().unwrap().to_owned())).into();
            (head.status.as_u16(), body.collect().await.unwrap().to_bytes(), headers)
        })
    }

    /// Returns whether the write was accepted.
    fn write(&self, by: usize, method: &str, path: &str, body: &Value) -> bool {
        let request = (method, path, CallerKind::Admin);
        let (status, ..) = self.send(&self.cached[by], request, &[], body);
        assert_ne!(status, 500, "{method} {path}");
        status < 300
    }

    /// Returns whether the change was accepted: the state of an object may not allow it.
    fn apply(&self, by: usize, change: &Change) -> bool {
        let path = |(name, id): &Target| format!("/api/v1/content/{name}/{id}");
        let link = |(name, id): &Target| links(&[&format!("{name}/{id}")]);
        let write = |method, path: &str, body: &Value| self.write(by, method, path, body);
        match change {
            Change::Create { target, linked } => {
                let new = json!({ "id": target.1, "title": "A title" });
                // The second write is sent even if the first one is refused.
                write("POST", &format!("/api/v1/content/{}", target.0), &new)
                    & write("PATCH", &path(target), &json!({ "related": link(linked) }))
            }
            Change::Patch { target, linked, price } => {
                let properties = json!({ "price": price, "related": link(linked) });
                write("PATCH", &path(target), &properties)
                    & write("PATCH", &path(target), &json!({ "price": price }))
            }
            Change::Delete(target) => write("DELETE", &path(target), &Value::Null),
            Change::Restore => {
                let request = ("GET", "/api/v1/trash?limit=1", CallerKind::Admin);
                let (_, list, _) = self.send(&self.uncached, request, &[], &Value::Null);
                let list: Value = serde_json::from_slice(&list).unwrap();
                list["data"][0]["entry"].as_str().is_some_and(|entry| {
                    write("POST", &format!("/api/v1/trash/{entry}/restore"), &json!({}))
                })
            }
            Change::Act(target, action) => {
                write("POST", &format!("{}/{action}", path(target)), &json!({}))
            }
            Change::Schedule(id) => {
                let at = self.app.core.clock.now().seconds() + SCHEDULED_AFTER_SECONDS;
                let second_of_day = at % (24 * 60 * 60);
                let (minutes, seconds) = (second_of_day / 60, second_of_day % 60);
                let at = format!("2026-01-02T{:02}:{:02}:{seconds:02}", minutes / 60, minutes % 60);
                let schedule = json!({ "scheduledAt": at, "timeZone": "UTC" });
                write("PUT", &format!("/api/v1/content/article/{id}/schedule"), &schedule)
            }
            Change::LetTimePass => {
                self.app.core.clock.advance(SCHEDULED_AFTER_SECONDS);
                self.other.publishing().publish_due().unwrap();
                true
            }
            Change::Transition(id, transition) => {
                let path = format!("/api/v1/workflow/paper/{id}");
                write("PUT", &path, &json!({ "action": transition }))
            }
            Change::Grant(name, read) => {
                let content_type = (*name).to_owned();
                let (create, update, delete) = (false, false, false);
                let rule = Rule { content_type, create, read: *read, update, delete };
                let rules = Some(vec![rule]);
                self.update_key(KeyKind::Scoped, &KeyUpdate { rules, ..KeyUpdate::default() });
                true
            }
            Change::RenameKey(number) => {
                let name = Some(format!("admin {number}"));
                self.update_key(KeyKind::Admin, &KeyUpdate { name, ..KeyUpdate::default() });
                true
            }
            Change::Relabel(name, number) => {
                let path = format!("/api/v1/internal/contenttype/{name}");
                let request = ("GET", &*path, CallerKind::Admin);
                let (_, definition, _) = self.send(&self.uncached, request, &[], &Value::Null);
                let mut definition: Value = serde_json::from_slice(&definition).unwrap();
                definition["label"] = json!(format!("Label {number}"));
                write("PUT", &path, &definition)
            }
            Change::Purge(name) => {
                let path = format!("/api/v1/internal/contenttype/{name}/purge");
                write("POST", &path, &json!({}))
            }
        }
    }

    /// Updates the first key of a kind.
    fn update_key(&self, kind: KeyKind, update: &KeyUpdate) {
        let (keys, local) = (self.other.keys(), Caller::local());
        let all = keys.list(&local).unwrap().data;
        let key = all.iter().find(|key| key.kind == kind).unwrap();
        keys.update(&local, &key.id, update).unwrap();
    }

    /// Sends a read in each view, twice to each server with a cache.
    fn check(&self, path: &str, caller: CallerKind) {
        for view in VIEWS {
            for coding in ["identity", "gzip", "br"] {
                let headers: Vec<_> =
                    view.iter().copied().chain([("accept-encoding", coding)]).collect();
                let send =
                    |router| self.send(router, ("GET", path, caller), &headers, &Value::Null);
                let wanted = send(&self.uncached);
                for cached in self.cached.iter().chain(&self.cached) {
                    assert_eq!(send(cached), wanted, "{path} {caller:?} {headers:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn cached_response_is_never_stale(
        reads in prop::collection::vec(read(), 6),
        changes in prop::collection::vec((0..2_usize, change()), 1..30),
    ) {
        let servers = Servers::new();
        for (by, change) in changes {
            servers.apply(by, &change);
            for (path, caller) in &reads {
                servers.check(path, *caller);
            }
        }
    }
}

// Otherwise the property test above would not cover a kind of change.
#[test]
fn each_kind_of_change_is_accepted() {
    let servers = Servers::new();
    let (note, linked) = (("note", "d"), ("note", "a"));
    for change in [
        Change::Act(("article", "a"), "publish"),
        Change::Schedule("b"),
        Change::LetTimePass,
        Change::Act(("article", "b"), "unpublish"),
        Change::Act(("article", "a"), "archive"),
        Change::Transition("a", "_draft_review"),
        Change::Transition("b", "_draft_review"),
        Change::Transition("a", "_review_public"),
        Change::Transition("b", "_review_draft"),
        Change::Transition("a", "_public_archive"),
        // A linked object cannot be deleted.
        Change::Patch { target: ("paper", "d"), linked, price: 1 },
        Change::Delete(note),
        Change::Create { target: note, linked },
        Change::Delete(note),
        Change::Restore,
        Change::Grant("note", true),
        Change::RenameKey(1),
        Change::Relabel("note", 1),
        Change::Purge("note"),
    ] {
        assert!(servers.apply(0, &change), "{change:?}");
    }
}

#[test]
fn compressed_body_counts_in_the_size_of_the_cache() {
    let servers = Servers::new();
    let text = json!({ "title": "compressible ".repeat(400) });
    servers.write(0, "PATCH", "/api/v1/content/note/a", &text);
    let size = |accepted: &str| {
        let headers = [("accept-encoding", accepted)];
        let get = |path, headers: &[_]| {
            servers.send(
                &servers.cached[0],
                ("GET", path, CallerKind::Admin),
                headers,
                &Value::Null,
            )
        };
        let (status, body, _) = get("/api/v1/content/note/a", &headers);
        assert_eq!(status, 200);
        let (_, metrics, _) = get("/metrics", &[]);
        let metrics = String::from_utf8(metrics.to_vec()).unwrap();
        let line = metrics.lines().find_map(|line| line.strip_prefix("cms_response_cache_bytes "));
        (body.len(), line.unwrap().parse::<usize>().unwrap())
    };
    let (plain, first) = size("identity");
    assert!(first > plain, "{first} and {plain}");
    for coding in ["gzip", "br"] {
        let (_, before) = size("identity");
        let (compressed, after) = size(coding);
        assert!(compressed < plain, "{compressed} and {plain}");
        assert_eq!(after, before + compressed, "{coding}");
        assert_eq!(size(coding), (compressed, after), "it is compressed once");
    }
}
