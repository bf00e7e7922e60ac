//! GraphQL over HTTP: statuses, bodies, and visibility.

use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, definition, forbidden, generic, unauthorized};

const PATHS: [&str; 2] = ["/api/graphql", "/api/v2/graphql"];

fn failed(status: u16, message: &str, code: &str) -> (u16, Value) {
    let error = json!({ "message": message, "extensions": { "code": code } });
    (status, json!({ "errors": [error] }))
}

#[tokio::test]
async fn query_returns_an_object_and_a_list() {
    let app = TestApp::new();
    let legacy = json!({ "query": "query($id: String) { post(id: $id) { id title } postList { id } }",
        "variables": { "id": "one" } });
    let post = json!({ "id": "one", "title": "One" });
    let data = json!({ "data": { "post": post, "postList": [{ "id": "one" }] } });
    assert_eq!(app.request("POST", PATHS[0], &legacy).await.status_and_body(), (200, data));

    let query = json!({ "query": "{ post { edges { node { id title } } totalCount } }" });
    let data = json!({ "data": { "post": { "edges": [{ "node": post }], "totalCount": 1 } } });
    assert_eq!(app.request("POST", PATHS[1], &query).await.status_and_body(), (200, data));
}

#[tokio::test]
async fn query_may_be_a_parameter() {
    let app = TestApp::new();
    let query = "query=query+Q(%24id:+String)%7Bpost(id:%24id)%7Bid%7D%7D&operationName=Q\
        &variables=%7B%22id%22:%22one%22%7D";
    let reply = app.get(&format!("{}?{query}&unknown=1", PATHS[0])).await;
    assert_eq!(reply.status_and_body(), (200, json!({ "data": { "post": { "id": "one" } } })));
    assert_eq!(reply.header("cache-control"), Some("private, no-cache"));
    assert_eq!(reply.header("x-deprecated-query-params"), Some("unknown"));
    let table = [
        ("query=%7Ba%7D&variables=%5B%5D", "The property variables must be an object"),
        ("query=%7Ba%7D&variables=%7B", "The property variables must be an object"),
        ("query=%7Ba%7D&extensions=1", "The property extensions must be an object"),
        ("variables=%7B%7D", "The property query is required"),
    ];
    for (parameters, message) in table {
        let reply = app.get(&format!("{}?{parameters}", PATHS[1])).await;
        assert_eq!(reply.status_and_body(), failed(400, message, "BAD_REQUEST"), "{parameters}");
    }
}

#[tokio::test]
async fn persisted_query_is_found_by_its_hash() {
    const HASH: &str = "d796a4fd76e35c7cdf63656b8f8c8c383bdff2f72e66dd0a967659e7bd8b6ce4";
    let app = TestApp::new();
    let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": HASH } });
    let by_hash = json!({ "extensions": extensions });
    let address = format!("{}?extensions={}", PATHS[0], extensions.to_string().replace('"', "%22"));
    // A step of the protocol rather than an error: the client then sends the query.
    let unknown = failed(200, "PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND");
    assert_eq!(app.request("POST", PATHS[0], &by_hash).await.status_and_body(), unknown);
    assert_eq!(app.get(&address).await.status_and_body(), unknown);

    let with_query = json!({ "query": "{ postList { id } }", "extensions": extensions });
    let data = (200, json!({ "data": { "postList": [{ "id": "one" }] } }));
    assert_eq!(app.request("POST", PATHS[0], &with_query).await.status_and_body(), data);
    assert_eq!(app.request("POST", PATHS[0], &by_hash).await.status_and_body(), data);
    assert_eq!(app.get(&address).await.status_and_body(), data);
}

#[tokio::test]
async fn error_has_the_graphql_format() {
    let app = TestApp::new();
    let query = json!({ "query": "{ __typename }" });
    for path in PATHS {
        let nobody = failed(401, "Unauthorized", "UNAUTHORIZED");
        assert_eq!(
            app.send_as(CallerKind::Anonymous, "POST", path, &query).await.status_and_body(),
            nobody
        );
        assert_eq!(
            app.send_as(CallerKind::Unknown, "POST", path, &query).await.status_and_body(),
            nobody
        );
        let stranger = failed(403, "Access denied or quota limit exceeded", "FORBIDDEN");
        assert_eq!(
            app.send_as(CallerKind::Stranger, "POST", path, &query).await.status_and_body(),
            stranger
        );
        assert_eq!(
            app.send_as(CallerKind::Stranger, "POST", path, &json!({})).await.status_and_body(),
            stranger
        );

        let bodies = [
            ("{}", "The property query is required"),
            (r#"{"query":null}"#, "The property query is required"),
            (r#"{"query":5}"#, "The property query must be a string"),
            (r#"{"query":"{a}","variables":[]}"#, "The property variables must be an object"),
            (r#"{"query":"{a}","operationName":1}"#, "The property operationName must be a string"),
            ("{", "Malformed JSON"),
            ("[]", "Malformed JSON"),
            ("", "Malformed JSON"),
        ];
        let key = ("x-auth-token", app.key(CallerKind::ReadOnly).unwrap());
        for (body, message) in bodies {
            let headers = [key, ("content-type", "application/json")];
            let reply = app.send("POST", path, &headers, body).await;
            assert_eq!(reply.status_and_body(), failed(400, message, "BAD_REQUEST"), "{body}");
        }
        let headers = [key, ("content-type", "application/graphql")];
        let reply = app.send("POST", path, &headers, "{ __typename }").await;
        let other = failed(415, "Unsupported Media Type", "UNSUPPORTED_MEDIA_TYPE");
        assert_eq!(reply.status_and_body(), other);

        let unknown = json!({ "query": "{ nothing { id } }" });
        let error = json!({
            "message": "Cannot query field \"nothing\" on type \"Query\".",
            "locations": [{ "line": 1, "column": 3 }],
            "extensions": { "code": "NOT_FOUND" },
        });
        let reply = app.request("POST", path, &unknown).await;
        assert_eq!(reply.status_and_body(), (404, json!({ "errors": [error] })));
        let missing = failed(400, "The property query is required", "BAD_REQUEST");
        assert_eq!(app.get(path).await.status_and_body(), missing);
        assert_eq!(app.get_as(CallerKind::Anonymous, path).await.status_and_body(), nobody);
        assert_eq!(app.get_as(CallerKind::Stranger, path).await.status_and_body(), stranger);
        let (status, body) = app.request("PUT", path, &query).await.status_and_body();
        assert_eq!((status, body), (405, generic(405, "Method Not Allowed")));
    }
}

/// An earlier version had types for links, geo points and blocks in every schema.
#[tokio::test]
async fn schema_contains_reachable_types() {
    let app = TestApp::new();
    let internal = "type cms___internal {\n  status: String\n";
    for (path, input) in PATHS.iter().zip([false, true]) {
        let reply = app.get_as(CallerKind::Scoped, &format!("{path}/schema")).await;
        let sdl = String::from_utf8(reply.bytes.to_vec()).unwrap();
        assert!(sdl.contains(internal) && sdl.contains("type post {"), "{sdl}");
        assert_eq!(sdl.contains("input FieldFilterInput"), input, "{sdl}");
        let query = "{ __schema { types { name kind } } }";
        let body = json!({ "query": query });
        let described =
            app.send_as(CallerKind::Scoped, "POST", path, &body).await.json().to_string();
        for name in ["DataSource", "cms___geo", "cms___block", "cms___block_item", "JSON"] {
            assert!(!sdl.contains(name), "{name} in {sdl}");
            assert!(!described.contains(name), "{name} in {described}");
            // A query cannot use the type either.
            let query = format!("query Q($x: {name}) {{ post(id: \"one\") {{ __typename }} }}");
            let reply =
                app.send_as(CallerKind::Scoped, "POST", path, &json!({ "query": query })).await;
            let errors = reply.json()["errors"].to_string();
            assert!(errors.contains(&format!("Unknown type \\\"{name}\\\".")), "{errors}");
        }
    }
}

#[tokio::test]
async fn query_over_the_limit_returns_413() {
    let app = TestApp::new();
    let long = json!({ "query": "{ __typename }", "variables": { "a": "x".repeat(1 << 20) } });
    for path in PATHS {
        let too_long = failed(413, "Request Entity Too Large", "PAYLOAD_TOO_LARGE");
        assert_eq!(app.request("POST", path, &long).await.status_and_body(), too_long);
    }
}

#[tokio::test]
async fn schema_export_is_plain_text() {
    let app = TestApp::new();
    for path in PATHS.map(|path| format!("{path}/schema")) {
        let reply = app.get(&path).await;
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (200, Some("text/plain; charset=utf-8"))
        );
        let text = String::from_utf8(reply.bytes.to_vec()).unwrap();
        assert!(text.contains("type post {") && text.contains("type _media {"), "{text}");
        assert_eq!(
            app.get_as(CallerKind::Anonymous, &path).await.status_and_body(),
            unauthorized()
        );
        assert_eq!(app.get_as(CallerKind::Stranger, &path).await.status_and_body(), forbidden());

        let own = app.get_as(CallerKind::Scoped, &path).await;
        let text = String::from_utf8(own.bytes.to_vec()).unwrap();
        assert!(text.contains("type post {") && !text.contains("type author {"), "{text}");
    }
}

#[tokio::test]
async fn schema_follows_content_types() {
    let app = TestApp::new();
    let query = json!({ "query": "{ freshList { id } }" });
    assert_eq!(app.request("POST", PATHS[0], &query).await.status, 404);
    let types = "/api/v1/internal/contenttype";
    assert_eq!(app.request("POST", types, &json!(definition("fresh"))).await.status, 200);
    let empty = (200, json!({ "data": { "freshList": [] } }));
    assert_eq!(app.request("POST", PATHS[0], &query).await.status_and_body(), empty);
}

#[tokio::test]
async fn query_has_the_visibility_of_lists() {
    let app = TestApp::with_type("page", &json!({ "draftPublic": true }));
    for id in ["draft", "live", "edited"] {
        app.create("page", &json!({ "id": id, "title": id })).await;
    }
    for id in ["live", "edited"] {
        app.post(&format!("/api/v1/content/page/{id}/publish")).await;
    }
    let newer = json!({ "title": "newer" });
    app.request("PATCH", "/api/v1/content/page/edited", &newer).await;
    let query = json!({ "query": "{ pageList { id title } page(id: \"draft\") { id } }" });
    let page = |id: &str, title: &str| json!({ "id": id, "title": title });
    let public = json!([page("live", "live"), page("edited", "edited")]);
    let all = json!([page("draft", "draft"), page("live", "live"), page("edited", "newer")]);
    let table: [(&[(&str, &str)], _, _); 3] = [
        (&[], &public, &json!(null)),
        (&[("x-mode", "preview")], &all, &json!({ "id": "draft" })),
        (&[("x-mode", "preview"), ("x-visibility", "public")], &public, &json!(null)),
    ];
    for (headers, list, one) in table {
        let reply = app.send_as_with(headers, CallerKind::ReadOnly, "POST", PATHS[0], &query).await;
        let data = &reply.json()["data"];
        assert_eq!((&data["pageList"], &data["page"]), (list, one), "{headers:?}");
    }
}
