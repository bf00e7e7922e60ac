//! The conventions of contract 1, as tables: whole answers are compared.

use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{
    Reply, TestApp, Who, definition, forbidden, generic, malformed, not_found, unauthorized,
    wrong_media_type,
};

const POSTS: &str = "/api/v1/content/post";
const ONE: &str = "/api/v1/content/post/one";
const TYPES: &str = "/api/v1/internal/contenttype";

fn required_title() -> (u16, Value) {
    (400, json!({ "title": ["The property title is required"] }))
}

/// 1.1: content types are asked for where there is a body that is read, and nowhere else.
#[tokio::test]
async fn bodies_say_that_they_are_json() {
    let app = TestApp::new();
    let key = ("x-auth-token", app.key(Who::ReadWrite).unwrap());
    let body = r#"{"title":"A"}"#;
    let statuses = [
        (Some("application/json"), 200),
        (Some("APPLICATION/JSON ; charset=UTF-8"), 200),
        (Some("text/plain"), 415),
        (Some("application/jsonx"), 415),
        (Some("application/x-www-form-urlencoded"), 415),
        (Some(""), 415),
        (None, 415),
    ];
    for (value, status) in statuses {
        let mut headers = vec![key];
        headers.extend(value.map(|v| ("content-type", v)));
        for (method, path) in [("POST", POSTS), ("PUT", ONE), ("PATCH", ONE)] {
            let reply = app.send(method, path, &headers, body).await;
            assert_eq!(reply.status, status, "{method} {value:?}");
            if status == 415 {
                assert_eq!(reply.both(), wrong_media_type());
            }
        }
        // Without a body, and where none is read, the type does not matter.
        assert_eq!(app.send("POST", POSTS, &headers, "").await.both(), malformed());
        assert_eq!(app.send("GET", ONE, &headers, body).await.status, 200);
        let gone = "/api/v1/content/post/gone";
        assert_eq!(app.send("DELETE", gone, &headers, body).await.both(), not_found());
    }
}

/// 1.1: what is no JSON, or JSON of another kind than the endpoint takes.
#[tokio::test]
async fn bodies_of_the_wrong_kind_are_malformed() {
    let app = TestApp::new();
    let key = app.key(Who::Admin).unwrap();
    let headers = [("x-auth-token", key), ("content-type", "application/json")];
    let takes_object = [
        ("POST", POSTS),
        ("PUT", ONE),
        ("PATCH", ONE),
        ("POST", "/api/v1/content/post/one/duplicate"),
        ("POST", TYPES),
        ("PUT", "/api/v1/internal/contenttype/post"),
        ("POST", "/api/v1/internal/contenttype/post/purge"),
        ("POST", "/api/v1/internal/contenttype/plan"),
        ("POST", "/api/v1/internal/contenttype/apply"),
        ("POST", "/api/v1/internal/key"),
    ];
    let takes_array = [
        ("POST", "/api/v1/content/post/batch"),
        ("PATCH", "/api/v1/content/post/batch"),
        ("POST", "/api/v1/content/post/batch-delete"),
    ];
    let neither =
        ["{", "nope", "\"text\"", "1", "null", "true", "{}{}", "[1,]", "\u{feff}{}", "\0"];
    for (method, path) in takes_object.into_iter().chain(takes_array) {
        for body in neither {
            let reply = app.send(method, path, &headers, body).await;
            assert_eq!(reply.both(), malformed(), "{method} {path} {body}");
        }
    }
    for (method, path) in takes_object {
        assert_eq!(app.send(method, path, &headers, "[]").await.both(), malformed(), "{path}");
    }
    for (method, path) in takes_array {
        assert_eq!(app.send(method, path, &headers, "{}").await.both(), malformed(), "{path}");
    }
    let mixed = app.send("POST", "/api/v1/content/post/batch-delete", &headers, "[1]").await;
    assert_eq!(mixed.both(), malformed());
}

/// 1.1, 14: unknown paths come before the key, unknown methods after it.
#[tokio::test]
async fn unknown_paths_and_methods() {
    let app = TestApp::new();
    let unknown = [
        "/",
        "/api",
        "/api/v1/content",
        "/api/v2/content/post",
        "/api/v1/content/post/one/publish",
        "/api/v1/search",
        "/api/v1/workflow",
        "/api/v1/open-api-schema.json",
        "/api/graphql",
        "/api/media",
        "/metrics",
        "/api/v1/internal/job/1",
    ];
    for path in unknown {
        for who in [Who::Nobody, Who::Unknown, Who::ReadOnly, Who::Admin] {
            for method in ["GET", "POST", "PATCH"] {
                let reply = app.ask(who, method, path, &Value::Null).await;
                assert_eq!(reply.both(), not_found(), "{who:?} {method} {path}");
            }
        }
    }
    let known = [
        ("PATCH", TYPES, "GET, HEAD, POST, OPTIONS"),
        ("PATCH", "/api/v1/internal/contenttype/post", "GET, HEAD, PUT, DELETE, OPTIONS"),
        ("DELETE", POSTS, "GET, HEAD, POST, OPTIONS"),
        ("POST", ONE, "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"),
        ("POST", "/api/auth-context", "GET, HEAD, OPTIONS"),
        ("GET", "/api/v1/content/post/one/duplicate", "POST, OPTIONS"),
        ("BREW", ONE, "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"),
    ];
    for (method, path, allow) in known {
        let reply = app.ask(Who::ReadOnly, method, path, &Value::Null).await;
        assert_eq!(reply.both(), (405, generic(405, "Method Not Allowed")), "{method} {path}");
        assert_eq!(reply.header("allow"), Some(allow), "{method} {path}");
        for who in [Who::Nobody, Who::Unknown] {
            assert_eq!(app.ask(who, method, path, &Value::Null).await.both(), unauthorized());
        }
    }
    assert_eq!(app.ask(Who::Nobody, "POST", "/healthz", &Value::Null).await.status, 405);
}

/// 1.1: a trailing slash, percent-encoding, `Accept`, letter case of ids.
#[tokio::test]
async fn paths_have_several_spellings() {
    let app = TestApp::new();
    let object = app.get(ONE).await.json();
    for path in
        ["/api/v1/content/post/one/", "/api/v1/content/post/%6fne", "/api/v1/%63ontent/post/ONE"]
    {
        assert_eq!(app.get(path).await.both(), (200, object.clone()), "{path}");
    }
    let key = app.key(Who::ReadOnly).unwrap();
    let reply = app.send("GET", ONE, &[("X-Auth-Token", key), ("accept", "schema")], "").await;
    assert_eq!(reply.both(), (200, object));

    let id = "a b-_.,:=!?#$%&(`’{}\"";
    app.request("POST", POSTS, &json!({ "id": id, "title": "Odd" })).await.json();
    let encoded = "a%20b-_.%2C%3A%3D%21%3F%23%24%25%26%28%60%E2%80%99%7B%7D%22";
    let reply = app.get(&format!("{POSTS}/{encoded}")).await;
    assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(id)));
    assert_eq!(app.get("/api/v1/content/post/%FF").await.both(), not_found());
}

/// 1.1: HEAD is answered where GET is, without a body and with its length.
#[tokio::test]
async fn head_answers_like_get() {
    let app = TestApp::new();
    for (path, status) in [(ONE, 200), (POSTS, 200), ("/healthz", 200), ("/nowhere", 404)] {
        let length = app.get(path).await.bytes.len().to_string();
        let reply = app.request("HEAD", path, &Value::Null).await;
        assert_eq!((reply.status, reply.bytes.len()), (status, 0), "{path}");
        assert_eq!(reply.header("content-length"), Some(&*length), "{path}");
        assert_eq!(reply.header("content-type"), Some("application/json"), "{path}");
    }
}

/// 1.2: header or query; the header decides.
#[tokio::test]
async fn keys_come_in_a_header_or_in_the_query() {
    let app = TestApp::new();
    let good = app.key(Who::ReadOnly).unwrap();
    let cases: [(Option<&str>, &str, u16); 7] = [
        (Some(good), "", 200),
        (None, good, 200),
        (Some(good), "wrong", 200),
        (Some("wrong"), good, 401),
        (Some(""), good, 401),
        (None, "", 401),
        (Some("wrong"), "", 401),
    ];
    for (header, query, status) in cases {
        let headers: Vec<_> = header.map(|key| ("x-auth-token", key)).into_iter().collect();
        let path = format!("{ONE}?auth_token={query}");
        let reply = app.send("GET", &path, &headers, "").await;
        assert_eq!(reply.status, status, "{header:?} {query}");
        if status == 401 {
            assert_eq!(reply.both(), unauthorized());
        }
        assert_eq!(reply.header("x-deprecated-query-params"), None);
    }
    let write = app.key(Who::ReadWrite).unwrap();
    let path = format!("{ONE}?auth_token={write}");
    let json = [("content-type", "application/json")];
    assert_eq!(app.send("PATCH", &path, &json, r#"{"price":2}"#).await.status, 200);
}

/// 1.4: of several faults, the earlier one in the order of checks is told.
#[tokio::test]
async fn checks_come_in_order() {
    let app = TestApp::new();
    let large = format!(r#"{{"title":"{}"}}"#, "x".repeat(1_100_000));
    let too_large = |id: &str| {
        let message = format!(
            "Content Object size limit exceeded by an object with ID: {id}. Requested size 1.05 MB, limit: 1 MB)"
        );
        (413, generic(413, &message))
    };
    let no_type = "/api/v1/content/no_such_type";
    let cases = [
        // who, method, path, content type, body, answer
        (Who::Nobody, "BREW", no_type, "text/plain", "{", unauthorized()),
        (
            Who::ReadOnly,
            "BREW",
            no_type,
            "text/plain",
            "{",
            (405, generic(405, "Method Not Allowed")),
        ),
        (Who::ReadOnly, "POST", no_type, "text/plain", "{", forbidden()),
        (Who::Stranger, "POST", no_type, "text/plain", "{", not_found()),
        (Who::Stranger, "POST", POSTS, "text/plain", "{", forbidden()),
        (Who::Scoped, "POST", POSTS, "text/plain", "{", wrong_media_type()),
        (Who::Scoped, "POST", POSTS, "application/json", "{", malformed()),
        (Who::Scoped, "PUT", "/api/v1/content/post/gone", "application/json", "{", malformed()),
        (Who::Scoped, "PUT", "/api/v1/content/post/gone", "application/json", "{}", not_found()),
        (Who::Scoped, "PUT", ONE, "application/json", "{}", required_title()),
        (Who::Scoped, "PUT", ONE, "application/json", large.as_str(), too_large("one")),
        (Who::ReadOnly, "POST", TYPES, "text/plain", "{", forbidden()),
        (
            Who::Scoped,
            "PUT",
            "/api/v1/internal/contenttype/no_such",
            "text/plain",
            "{",
            not_found(),
        ),
        (Who::Scoped, "PUT", "/api/v1/internal/contenttype/post", "text/plain", "{", forbidden()),
        (
            Who::ReadWrite,
            "PUT",
            "/api/v1/internal/contenttype/no_such",
            "text/plain",
            "{",
            not_found(),
        ),
        (
            Who::ReadWrite,
            "PUT",
            "/api/v1/internal/contenttype/post",
            "text/plain",
            "{",
            wrong_media_type(),
        ),
        (
            Who::ReadWrite,
            "PUT",
            "/api/v1/internal/contenttype/_media",
            "application/json",
            "{}",
            forbidden(),
        ),
    ];
    for (who, method, path, content_type, body, wanted) in cases {
        let mut headers = vec![("content-type", content_type)];
        headers.extend(app.key(who).map(|key| ("x-auth-token", key)));
        let reply = app.send(method, path, &headers, body.to_owned()).await;
        assert_eq!(reply.both(), wanted, "{who:?} {method} {path}");
    }
}

/// 1.4, 1.12: the limit of a whole body is the server's.
#[tokio::test]
async fn a_body_over_the_limit_is_refused_before_and_while_it_is_read() {
    let config = cms_server::ServerConfig { body_limit: 1000, ..Default::default() };
    let app = TestApp::with(&config);
    let key = app.key(Who::ReadWrite).unwrap();
    let headers = [("x-auth-token", key), ("content-type", "application/json")];
    let body = |length: usize| format!(r#"{{"title":"{}"}}"#, "x".repeat(length - 12));
    assert_eq!(app.send("POST", POSTS, &headers, body(1000)).await.status, 200);
    let refused = (413, generic(413, "Request Entity Too Large"));
    assert_eq!(app.send("POST", POSTS, &headers, body(1001)).await.both(), refused);

    // Chunks do not tell how many will come.
    for (length, status) in [(1000, 200), (1001, 413)] {
        let text = body(length);
        let chunks = text.as_bytes().chunks(100).map(<[u8]>::to_vec).collect::<Vec<_>>();
        let reply = app.send("POST", POSTS, &headers, Body::new(Chunks(chunks.into()))).await;
        assert_eq!(reply.status, status);
        if status == 413 {
            assert_eq!(reply.both(), refused);
        }
    }
}

/// A body in pieces, of unknown length.
struct Chunks(std::collections::VecDeque<Vec<u8>>);

impl hyper::body::Body for Chunks {
    type Data = axum::body::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Self::Data>, Self::Error>>> {
        std::task::Poll::Ready(self.0.pop_front().map(|c| Ok(hyper::body::Frame::data(c.into()))))
    }
}

/// 1.4, 2.7, 3.8: refusals as a list of reasons, and answers without a body.
#[tokio::test]
async fn answers_without_a_body_and_lists_of_reasons() {
    let app = TestApp::new();
    let empty = |reply: Reply, status| {
        assert_eq!((reply.status, reply.bytes.len()), (status, 0));
        assert_eq!(reply.header("content-type"), None);
    };
    let in_use = app.request("DELETE", "/api/v1/internal/contenttype/post", &Value::Null).await;
    let reasons = json!({ "errors": [
        "This content type definition is used by Api Key: scoped",
        "Content Type has objects, you can't remove it!",
    ] });
    assert_eq!(in_use.both(), (400, reasons));
    empty(app.request("DELETE", ONE, &Value::Null).await, 204);
    assert_eq!(app.request("DELETE", ONE, &Value::Null).await.both(), not_found());
    let author = "/api/v1/internal/contenttype/author";
    empty(app.request("POST", &format!("{author}/purge"), &Value::Null).await, 204);
    empty(app.request("DELETE", author, &Value::Null).await, 200);
    let flag = json!({ "deleteSchema": "yes" });
    let purge = app.request("POST", "/api/v1/internal/contenttype/post/purge", &flag).await;
    let message = json!({ "deleteSchema": ["String value found, but a boolean is required"] });
    assert_eq!(purge.both(), (400, message));
}

/// 1.8, 1.9: numbers fall back, booleans are `true` and `1`, arrays have three spellings.
#[tokio::test]
async fn queries_are_repaired() {
    let app = TestApp::new();
    let objects: Vec<Value> =
        (1..=24).map(|n| json!({ "id": format!("p{n:02}"), "title": "T", "price": n })).collect();
    app.request("POST", "/api/v1/content/post/batch", &json!(objects)).await.json();
    // query -> total_pages, current_page, count
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
    assert_eq!(bad.both(), (400, message));
}

/// 2.2: the list of types has its own parameters and limits.
#[tokio::test]
async fn types_are_listed() {
    let app = TestApp::new();
    let cases = [
        (
            "",
            vec!["_media", "_tag", "about", "author", "contact", "contact_form", "post", "project"],
        ),
        ("limit=10000&name=CONTACT", vec!["contact", "contact_form"]),
        ("names[]=POST&names[]=author", vec!["author", "post"]),
        ("names=post,about&order_direction=desc", vec!["post", "about"]),
        ("internal=1", vec!["_media", "_tag"]),
        ("internal=false&label=po", vec!["post"]),
        ("internal=0&limit=2&page=2", vec!["contact", "contact_form"]),
    ];
    for (query, wanted) in cases {
        let list = app.get(&format!("{TYPES}?{query}")).await.json();
        let names: Vec<_> =
            list["data"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
        assert_eq!(names, wanted, "{query}");
    }
    let scoped = app.ask(Who::Scoped, "GET", TYPES, &Value::Null).await.json();
    assert_eq!((&scoped["total_count"], &scoped["data"][0]["name"]), (&json!(1), &json!("post")));
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let post = "/api/v1/internal/contenttype/post";
    let strict = app.get(&format!("{post}?resolveRef=true&strictSchema=true")).await.json();
    assert_eq!(keys(&strict), ["schema"]);
    let resolved = app.get(&format!("{post}?resolveRef=true")).await.json();
    assert_eq!(resolved["schemaDefinition"].get("allOf"), None);
    let plain = app.get(&format!("{post}?strictSchema=true")).await.json();
    assert!(plain["schemaDefinition"]["allOf"].is_array());
}

/// 1.11: what was sent and ignored is named, in request order.
#[tokio::test]
async fn ignored_names_are_told() {
    let app = TestApp::new();
    let cases = [
        ("GET", POSTS, "page=1&limit=2&filters=&ids[]=a&hydrate=1", None),
        ("GET", POSTS, "zeta=1&page=1&alpha[]=2&zeta=3", Some("zeta,alpha[]")),
        ("GET", POSTS, "a%2Cb=1&%C3%BC=1", Some("a%2Cb,%C3%BC")),
        ("GET", ONE, "hydrate=1&page=2", Some("page")),
        ("GET", TYPES, "internal=1&names[]=a&hydrate=1", Some("hydrate")),
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
    // What was read can be sent back without a word, and a refusal names the keys too.
    let reply = app.request("PUT", "/api/v1/internal/contenttype/fresh", &reply.json()).await;
    assert_eq!((reply.status, reply.header("x-deprecated-payload")), (200, None));
    let reply = app.request("POST", TYPES, &json!({ "color": 1 })).await;
    assert_eq!((reply.status, reply.header("x-deprecated-payload")), (400, Some("color")));
    let object = json!({ "title": "T", "internal": 5 });
    let reply = app.request("POST", POSTS, &object).await;
    assert_eq!((reply.status, reply.header("x-deprecated-payload")), (200, None));
}

/// 1.13: which key this is.
#[tokio::test]
async fn a_key_can_be_checked() {
    let app = TestApp::new();
    let rule =
        json!({ "ctd": "post", "create": true, "read": true, "update": true, "delete": true });
    for (who, kind, rules) in [
        (Who::ReadOnly, "read_only", json!([])),
        (Who::ReadWrite, "read_write", json!([])),
        (Who::Scoped, "scoped", json!([rule])),
    ] {
        let mut context = app.ask(who, "GET", "/api/auth-context", &Value::Null).await.json();
        let name = context["apiKey"]["name"].clone();
        for part in ["organization", "space", "user"] {
            let id = context[part]["id"].take();
            assert_eq!(id.as_str().unwrap().len(), 36, "{part}");
        }
        let wanted = json!({
            "organization": { "id": null, "name": "default" },
            "space": { "id": null, "name": "default" },
            "user": { "id": null, "username": name, "roles": ["ROLE_HEADLESS_ADMIN"] },
            "apiKey": { "name": name, "type": kind, "rules": rules },
        });
        assert_eq!(context, wanted);
    }
}

/// 10.1: keys are made, listed without their token, and refused once they are revoked.
#[tokio::test]
async fn keys_are_managed() {
    let app = TestApp::new();
    let keys = "/api/v1/internal/key";
    let rule = json!({ "ctd": "post", "read": true });
    let new = json!({ "name": "web", "kind": "scoped", "rules": [rule] });
    let mut made = app.ask(Who::Admin, "POST", keys, &new).await.json();
    let token = made["key"].as_str().unwrap().to_owned();
    made.as_object_mut().unwrap().remove("key");
    let headers = [("x-auth-token", &*token)];
    assert_eq!(app.send("GET", ONE, &headers, "").await.status, 200);
    assert_eq!(app.send("DELETE", ONE, &headers, "").await.both(), forbidden());

    let list = app.ask(Who::Admin, "GET", keys, &Value::Null).await;
    assert!(!String::from_utf8_lossy(&list.bytes).contains(&token));
    let list = list.json();
    let last = list["data"].as_array().unwrap().iter().find(|k| k["id"] == made["id"]).unwrap();
    assert_eq!((&last["name"], &last["kind"]), (&json!("web"), &json!("scoped")));
    assert_eq!(list["count"], list["total_count"]);

    let path = format!("{keys}/{}", made["id"].as_str().unwrap());
    assert_eq!(app.ask(Who::Admin, "DELETE", &path, &Value::Null).await.status, 204);
    assert_eq!(app.send("GET", ONE, &headers, "").await.both(), unauthorized());
    assert_eq!(app.ask(Who::Admin, "DELETE", &path, &Value::Null).await.both(), not_found());
    for wrong in
        [json!({}), json!({ "name": "x", "kind": "king" }), json!({ "name": 1, "kind": "admin" })]
    {
        let reply = app.ask(Who::Admin, "POST", keys, &wrong).await;
        assert_eq!(reply.status, 400, "{wrong}");
    }
}

/// 1.14: browsers ask first, without a key, and read every answer.
#[tokio::test]
async fn browsers_may_call() {
    let app = TestApp::new();
    let exposed = Some("x-deprecated-query-params, x-deprecated-payload");
    for path in [ONE, POSTS, "/nowhere", "/healthz"] {
        let headers = [("origin", "https://a.example"), ("access-control-request-method", "PATCH")];
        let reply = app.send("OPTIONS", path, &headers, "").await;
        assert_eq!((reply.status, reply.bytes.len()), (204, 0), "{path}");
        let allowed = [
            reply.header("access-control-allow-methods").unwrap(),
            reply.header("access-control-allow-headers").unwrap(),
        ];
        let wanted = [
            "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
            "X-AUTH-TOKEN, X-MODE, X-VISIBILITY, Content-Type, Accept",
        ];
        assert_eq!(allowed, wanted, "{path}");
    }
    for who in Who::ALL {
        // `send` looks at Access-Control-Allow-Origin of every answer.
        let reply = app.ask(who, "GET", ONE, &Value::Null).await;
        assert_eq!(reply.header("access-control-expose-headers"), exposed);
    }
}

/// 1.10: header values are compared without case, others are ignored.
#[tokio::test]
async fn views_are_chosen_by_headers() {
    let app = TestApp::new();
    let mut payload = definition("page");
    payload.insert("draftPublic".to_owned(), json!(true));
    app.request("POST", TYPES, &json!(payload)).await.json();
    let draft = json!({ "id": "d", "title": "Draft" });
    app.request("POST", "/api/v1/content/page", &draft).await.json();
    let key = ("x-auth-token", app.key(Who::ReadOnly).unwrap());
    // header -> objects in the list, status of the single one
    let cases = [
        (None, 0, 200),
        (Some(("X-MODE", "preview")), 1, 200),
        (Some(("x-mode", "PREVIEW")), 1, 200),
        (Some(("x-mode", "other")), 0, 200),
        (Some(("X-Visibility", "Public")), 0, 404),
        (Some(("x-visibility", "all")), 0, 200),
    ];
    for (header, count, status) in cases {
        let headers: Vec<_> = [key].into_iter().chain(header).collect();
        let list = app.send("GET", "/api/v1/content/page", &headers, "").await.json();
        let single = app.send("GET", "/api/v1/content/page/d", &headers, "").await.status;
        assert_eq!((&list["count"], single), (&json!(count), status), "{header:?}");
    }
}

/// Requests have an id: their own when it is harmless, else a new one.
#[tokio::test]
async fn answers_carry_a_request_id() {
    let app = TestApp::new();
    let long = "x".repeat(65);
    for (sent, kept) in
        [("abc-1_2.3", true), ("a b", false), ("", false), ("é", false), (&*long, false)]
    {
        let reply = app.send("GET", "/healthz", &[("x-request-id", sent)], "").await;
        assert_eq!(reply.header("x-request-id") == Some(sent), kept, "{sent}");
    }
    let first = app.get("/healthz").await;
    assert_ne!(first.header("x-request-id"), app.get("/healthz").await.header("x-request-id"));
}

/// Large answers are compressed for those who take it, small ones never.
#[tokio::test]
async fn answers_are_compressed() {
    let app = TestApp::new();
    let text = "lorem ipsum ".repeat(500);
    let body = json!({ "id": "long", "title": text });
    app.request("POST", POSTS, &body).await.json();
    let key = ("x-auth-token", app.key(Who::ReadOnly).unwrap());
    let cases =
        [("gzip", Some("gzip")), ("gzip, br", Some("br")), ("identity", None), ("zstd", None)];
    for (accepted, coding) in cases {
        let headers = [key, ("accept-encoding", accepted)];
        let reply = app.send("GET", "/api/v1/content/post/long", &headers, "").await;
        assert_eq!(reply.header("content-encoding"), coding, "{accepted}");
        assert_eq!(reply.header("vary"), Some("accept-encoding"));
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(reply.bytes.len() < 2000, coding.is_some(), "{accepted}");
        let small = app.send("GET", ONE, &headers, "").await;
        assert_eq!(small.header("content-encoding"), None);
    }
}
