//! Hydrated responses are complete, or an error with a remedy.

use serde_json::{Value, json};

use crate::support::{TestApp, links, object};

/// A site with `hubs` hubs that link to the same twenty posts of 200 KB, and a hub of all hubs.
fn site(hubs: usize) -> TestApp {
    let app = TestApp::with_type("hub", &json!({}));
    let local = cms_core::Caller::local();
    let create = |name: &str, id: &str, title: &str, targets: &[String]| {
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        let mut new = json!({ "id": id, "title": title });
        if !targets.is_empty() {
            new["related"] = links(&targets);
        }
        app.core.cms.objects().create(&local, name, object(&new)).unwrap();
    };
    let posts: Vec<String> = (0..20).map(|number| format!("post/big-{number}")).collect();
    for post in &posts {
        create("post", post.trim_start_matches("post/"), &"x".repeat(200_000), &[]);
    }
    let all: Vec<String> = (0..hubs).map(|number| format!("hub/h-{number}")).collect();
    for hub in &all {
        create("hub", hub.trim_start_matches("hub/"), "Hub", &posts);
    }
    create("hub", "top", "Top", &all);
    app
}

const LARGE: [&str; 3] = [
    "/api/v1/content/hub?hydrate=1&limit=1000",
    "/api/v1/content/hub/top?hydrate=2",
    "/api/v1/search?q=Hub&content_type[]=hub&hydrate=1&limit=1000",
];

/// An earlier version silently stopped hydrating in responses above 64 MiB.
#[tokio::test]
async fn hydration_replaces_every_link_of_a_large_response() {
    let app = site(17);
    let mut posts = Vec::new();
    for number in 0..20 {
        posts.push(app.get(&format!("/api/v1/content/post/big-{number}")).await.json());
    }
    let posts = json!(posts);
    for path in LARGE {
        let (status, body) = app.get(path).await.status_and_body();
        assert_eq!(status, 200, "{path}");
        let hubs = match &body["data"] {
            Value::Null => &body["related"],
            data => data,
        };
        let hubs = hubs.as_array().unwrap().iter().map(|entry| entry.get("item").unwrap_or(entry));
        let hubs: Vec<&Value> = hubs.filter(|hub| hub["id"] != "top").collect();
        assert_eq!(hubs.len(), 17, "{path}");
        assert!(hubs.iter().all(|hub| hub["related"] == posts), "{path}");
    }
}

#[tokio::test]
async fn hydration_refuses_a_response_above_256_mib() {
    let wanted = json!({ "limit": ["The response would exceed 256 MiB, use a smaller limit"] });
    let app = site(70);
    for path in LARGE {
        assert_eq!(app.get(path).await.status_and_body(), (400, wanted.clone()), "{path}");
    }
    for path in ["/api/v1/content/hub?hydrate=1&limit=10", "/api/v1/content/hub/top?hydrate=1"] {
        assert_eq!(app.get(path).await.status, 200, "{path}");
    }
}
