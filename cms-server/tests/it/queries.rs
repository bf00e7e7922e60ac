//! Query parameters of requests.

use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, definition};

const POSTS: &str = "/api/v1/content/post";
const ONE: &str = "/api/v1/content/post/one";
const TYPES: &str = "/api/v1/internal/contenttype";

/// Invalid numbers fall back to defaults, true is `true` or `1`, arrays have three forms.
#[tokio::test]
async fn invalid_parameter_falls_back() {
    let app = TestApp::new();
    let objects: Vec<Value> =
        (1..=24).map(|n| json!({ "id": format!("p{n:02}"), "title": "T", "price": n })).collect();
    app.request("POST", "/api/v1/content/post/batch", &json!(objects)).await.json();
    // query; total_pages, current_page, count
    let cases = [
        ("", 2, 1, 20),
        ("page=2", 2, 2, 5),
        ("page=0", 2, 1, 20),
        ("page=-5", 2, 1, 20),
        ("page=x&limit=y", 2, 1, 20),
        ("limit=0", 2, 1, 20),
        ("limit=10", 3, 1, 10),
        ("limit=10&page=9", 3, 9, 0),
        ("limit=99999999999999999999", 1, 1, 25),
        ("page=4294967295&limit=1000", 1, 4_294_967_295_u64, 0),
        ("page=1&page=2", 2, 2, 5),
        ("hydrate=99", 2, 1, 20),
        ("hydrate=-1&order_direction=sideways&order_by=nothing", 2, 1, 20),
        ("filters=&order_by=&ids_=x", 2, 1, 20),
    ];
    for (query, pages, page, count) in cases {
        let list = app.get(&format!("{POSTS}?{query}")).await.json();
        let numbers =
            json!([list["total_count"], list["total_pages"], list["current_page"], list["count"]]);
        assert_eq!(numbers, json!([25, pages, page, count]), "{query}");
        assert_eq!(list["data"].as_array().unwrap().len(), count, "{query}");
    }
    // query -> ids
    let cases = [
        ("ids[]=p01&ids[]=p03", json!(["p01", "p03"])),
        ("ids%5B%5D=p01&ids%5B1%5D=P03", json!(["p01", "p03"])),
        ("ids=p02", json!(["p02"])),
        ("ids[]=none", json!([])),
        ("filters={%22price%22:{%22type%22:%22lessThan%22,%22filter%22:2}}", json!(["p01"])),
        ("filters=%7B%22price%22%3A%7B%22type%22%3A%22empty%22%7D%7D", json!(["one"])),
        ("order_by=price&order_direction=desc&limit=2", json!(["p24", "p23"])),
        ("order_by=price&order_direction=DESC&limit=1&empty_first=1", json!(["one"])),
        ("order_by=price&limit=1&empty_first=0", json!(["p01"])),
    ];
    for (query, wanted) in cases {
        let list = app.get(&format!("{POSTS}?{query}")).await.json();
        let ids: Vec<_> =
            list["data"].as_array().unwrap().iter().map(|o| o["id"].clone()).collect();
        assert_eq!(json!(ids), wanted, "{query}");
    }
    let bad = app.get(&format!("{POSTS}?filters=%7B")).await;
    let message = json!({ "filters": ["Malformed filters json - Syntax error"] });
    assert_eq!(bad.status_and_body(), (400, message));
}

/// The list of types has its own parameters and limits.
#[tokio::test]
async fn content_types_are_listed() {
    let app = TestApp::new();
    let cases = [
        (
            "",
            vec!["_media", "_tag", "about", "author", "contact", "contact_form", "post", "project"],
        ),
        ("limit=10000&name=CONTACT", vec!["contact", "contact_form"]),
        ("names[]=POST&names[]=author", vec!["author", "post"]),
        ("names=post,about&order_direction=desc", vec!["post", "about"]),
        ("internal=1", vec!["_media", "_tag", "_webhooks"]),
        ("internal=false&label=po", vec!["post"]),
        ("internal=0&limit=2&page=2", vec!["contact", "contact_form"]),
    ];
    for (query, wanted) in cases {
        let list = app.get(&format!("{TYPES}?{query}")).await.json();
        let names: Vec<_> =
            list["data"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
        assert_eq!(names, wanted, "{query}");
    }
    let scoped = app.get_as(CallerKind::Scoped, TYPES).await.json();
    assert_eq!((&scoped["total_count"], &scoped["data"][0]["name"]), (&json!(1), &json!("post")));
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let post = "/api/v1/internal/contenttype/post";
    let strict = app.get(&format!("{post}?resolveRef=true&strictSchema=true")).await.json();
    assert_eq!(keys(&strict), ["schema"]);
    let resolved = app.get(&format!("{post}?resolveRef=true")).await.json();
    assert_eq!(resolved["schemaDefinition"].get("allOf"), None);
    assert!(![&strict, &resolved].iter().any(|body| body.to_string().contains("$ref")));
    let plain = app.get(&format!("{post}?strictSchema=true")).await.json();
    assert!(plain["schemaDefinition"]["allOf"].is_array());
}

/// Ignored parameters and keys are listed, in request order.
#[tokio::test]
async fn ignored_names_are_listed() {
    let app = TestApp::new();
    let cases = [
        ("GET", POSTS, "page=1&limit=2&filters=&ids[]=a&hydrate=1", None),
        ("GET", POSTS, "zeta=1&page=1&alpha[]=2&zeta=3", Some("zeta,alpha[]")),
        ("GET", POSTS, "a%2Cb=1&%C3%BC=1", Some("a%2Cb,%C3%BC")),
        ("GET", ONE, "hydrate=1&page=2", Some("page")),
        ("GET", TYPES, "internal=1&names[]=a&hydrate=1", Some("hydrate")),
        ("GET", POSTS, "filters=%7B%22title%22:%7B%22type%22:%22empty%22%7D%7D", None),
        (
            "GET",
            POSTS,
            "z=1&filters=%7B%22titel%22:%7B%22type%22:%22empty%22%7D,%22id%22:%7B%22type%22:\
             %22notEmpty%22%7D,%22a,b.c%22:%7B%22type%22:%22empty%22%7D%7D&y=2",
            Some("z,filters[titel],filters[a%2Cb.c],y"),
        ),
        (
            "GET",
            POSTS,
            "filters=&filters=&y=2&filters=%7B%22titel%22:%7B%22type%22:%22empty%22%7D%7D",
            Some("filters[titel],y"),
        ),
        ("GET", ONE, "filters=%7B%7D", Some("filters")),
        ("GET", "/api/v1/content/post/gone", "x=1", Some("x")),
        ("POST", "/api/v1/content/post/batch", "updateExisting=1&hydrate=1", Some("hydrate")),
    ];
    for (method, path, query, wanted) in cases {
        let body = if method == "POST" { json!([]) } else { Value::Null };
        let reply = app.request(method, &format!("{path}?{query}"), &body).await;
        assert_eq!(reply.header("x-deprecated-query-params"), wanted, "{path}?{query}");
    }

    let mut payload = definition("fresh");
    payload.insert("color".to_owned(), json!(1));
    payload.insert("createdAt".to_owned(), json!(null));
    payload.insert("deletedAt".to_owned(), json!(null));
    payload.insert("icon".to_owned(), json!("x"));
    let reply = app.request("POST", TYPES, &json!(payload)).await;
    assert_eq!((reply.status, reply.header("x-deprecated-payload")), (200, Some("color,icon")));
    // A request may contain keys that only responses have: they are ignored, and no header lists them.
    // An error response lists ignored keys too.
    let reply = app.request("PUT", "/api/v1/internal/contenttype/fresh", &reply.json()).await;
    assert_eq!((reply.status, reply.header("x-deprecated-payload")), (200, None));
    let reply = app.request("POST", TYPES, &json!({ "color": 1 })).await;
    assert_eq!((reply.status, reply.header("x-deprecated-payload")), (400, Some("color")));
    let object = json!({ "title": "T", "internal": 5 });
    let reply = app.request("POST", POSTS, &object).await;
    assert_eq!((reply.status, reply.header("x-deprecated-payload")), (200, None));
}
