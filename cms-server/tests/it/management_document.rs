//! The management document describes the routes of the server: all of them, for the callers that may
//! use them, with the responses that they return.

use std::collections::BTreeSet;

use cms_core::{OpenIdRules, wire::user::Role};
use cms_server::ROUTES;
use jsonschema::Draft;
use serde_json::{Value, json};

use crate::{
    coverage::{Row, prepare, rows},
    openid,
    support::{CallerKind, TestApp},
};

const DOCUMENT: &str = "/api/v1/open-api-schema.json";

/// Methods and paths, in which parameters have no names.
type Operations = BTreeSet<(String, String)>;

/// Health checks, images and the pages for users are no part of the API.
fn is_described(route: &str) -> bool {
    let others = ["/healthz", "/readyz", "/writerz", "/metrics", "/image/", "/docs", "/admin"];
    route != "/"
        && !others.iter().any(|prefix| route.starts_with(prefix))
        && !route.contains("/openid")
}

fn unnamed(path: &str) -> String {
    let segments = path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part });
    segments.collect::<Vec<_>>().join("/")
}

async fn document(app: &TestApp, caller: CallerKind, query: &str) -> Value {
    let reply = app.get_as(caller, &format!("{DOCUMENT}?{query}")).await;
    assert_eq!(reply.status, 200);
    reply.json()
}

/// The operations of a document without images and without those of one content type.
fn operations(document: &Value) -> Operations {
    let paths = document["paths"].as_object().unwrap().iter();
    let is_route = |path: &str| {
        let of_type = path.strip_prefix("/api/v1/content/");
        is_described(path) && of_type.is_none_or(|rest| rest.starts_with('{'))
    };
    paths
        .filter(|(path, _)| is_route(path))
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys();
            methods.map(|method| (method.to_uppercase(), unnamed(path)))
        })
        .collect()
}

#[tokio::test]
async fn management_document_describes_every_route() {
    let app = TestApp::new();
    let routes = ROUTES.iter().filter(|route| is_described(route.path));
    let routes: Operations =
        routes.map(|route| (route.method.to_string(), unnamed(route.path))).collect();
    for version in ["3", "3.1", "2"] {
        let query = format!("management=1&version={version}");
        let document = document(&app, CallerKind::Admin, &query).await;
        assert_eq!(operations(&document), routes, "{version}");
    }
}

#[tokio::test]
async fn single_sign_on_is_described_when_it_is_configured() {
    let configured =
        TestApp::with(&openid::config("https://issuer.example", OpenIdRules::default()));
    for (app, expected) in [(configured, true), (TestApp::new(), false)] {
        let document = document(&app, CallerKind::ReadOnly, "management=1").await;
        for path in ["/api/v1/session/openid", "/api/v1/session/openid/callback"] {
            assert_eq!(document["paths"].get(path).is_some(), expected, "{path}");
        }
        let context = app.get_as(CallerKind::ReadOnly, "/api/auth-context");
        assert_eq!(context.await.json()["features"]["openId"], expected);
    }
}

/// The document describes no parameter that the route ignores.
#[tokio::test]
async fn described_parameters_are_those_of_the_route() {
    let app = TestApp::new();
    let document = document(&app, CallerKind::Admin, "management=1").await;
    for route in ROUTES.iter().filter(|route| is_described(route.path)) {
        let path = unnamed(route.path);
        let (_, methods) = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .find(|(known, _)| unnamed(known) == path)
            .unwrap();
        let operation = &methods[route.method.as_str().to_lowercase()];
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        for parameter in parameters.filter(|parameter| parameter["in"] == "query") {
            let name = parameter["name"].as_str().unwrap();
            let known =
                route.query_parameters().iter().any(|query| query.trim_end_matches("[*]") == name);
            assert!(known, "{} {path} {name}", route.method);
        }
    }
}

#[tokio::test]
async fn management_document_has_the_operations_of_the_caller() {
    let app = TestApp::new();
    // The document does not depend on whether a view belongs to the caller.
    let is_certain = |row: &Row| is_described(row.route) && !row.route.ends_with("/views/{id}");
    let callers = CallerKind::ALL[2..].iter().chain(&CallerKind::WITH_COOKIE[..6]);
    for caller in callers.copied() {
        let complete = operations(&document(&app, caller, "management=1").await);
        let content = operations(&document(&app, caller, "").await);
        assert!(content.is_subset(&complete));
        for row in rows().iter().filter(|row| is_certain(row)) {
            let operation = (row.method.to_owned(), unnamed(row.route));
            if !content.contains(&operation) {
                let may = row.refuses_keys() || ![401, 403].contains(&row.status(caller));
                assert_eq!(complete.contains(&operation), may, "{caller:?} {operation:?}");
            }
        }
    }
}

#[tokio::test]
async fn responses_match_the_management_document() {
    let app = TestApp::new();
    let document = document(&app, CallerKind::Admin, "management=1&version=3.1").await;
    let paths = document["paths"].as_object().unwrap();
    for row in rows().iter().filter(|row| is_described(row.route)) {
        let app = TestApp::new();
        let session = CallerKind::User(Role::Admin);
        for caller in [CallerKind::Admin, CallerKind::ReadOnly, session] {
            let path = prepare(&app, row.path);
            let reply = app.send_as(caller, row.method, &path, &row.body).await;
            let (_, methods) =
                paths.iter().find(|(known, _)| unnamed(known) == unnamed(row.route)).unwrap();
            let responses = &methods[row.method.to_lowercase()]["responses"];
            let response = &responses[reply.status.to_string()];
            let request = format!("{caller:?} {} {path}: {}", row.method, reply.status);
            assert!(response.is_object(), "{request}");
            let schema = &response["content"]["application/json"]["schema"];
            if !schema.is_object() {
                assert_ne!(reply.header("content-type"), Some("application/json"), "{request}");
                continue;
            }
            let complete = json!({ "allOf": [schema], "components": document["components"] });
            let options = jsonschema::options().with_draft(Draft::Draft202012);
            let validator = options.build(&complete).unwrap();
            let body = reply.json();
            let errors: Vec<_> = validator.iter_errors(&body).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{request}: {errors:?}\n{body:#}");
        }
    }
}

#[tokio::test]
async fn management_ignores_user_only() {
    let app = TestApp::new();
    let get = |query: &'static str| {
        let path = format!("{DOCUMENT}?{query}");
        let app = &app;
        async move { app.get_as(CallerKind::Admin, &path).await }
    };
    let ignoring = get("user_only=1&management=1").await;
    assert_eq!(ignoring.header("x-deprecated-query-params"), Some("user_only"));
    let complete = get("management=1").await;
    assert_eq!(complete.header("x-deprecated-query-params"), None);
    assert_eq!(ignoring.bytes, complete.bytes);
    let known = get("user_only=1&management=0").await;
    assert_eq!(known.header("x-deprecated-query-params"), None);
}

#[tokio::test]
async fn management_document_takes_keys_and_sessions() {
    let app = TestApp::new();
    for (version, schemes, security) in [
        (
            "3",
            "/components/securitySchemes",
            json!([{ "HeaderApiKeyAuth": [] }, { "SessionCookie": [] }]),
        ),
        ("2", "/securityDefinitions", json!([{ "HeaderApiKeyAuth": [] }])),
    ] {
        let query = format!("management=1&version={version}");
        let document = document(&app, CallerKind::Admin, &query).await;
        let has_cookie = version != "2";
        let mut expected = json!({ "HeaderApiKeyAuth": { "type": "apiKey", "in": "header", "name": "X-AUTH-TOKEN" } });
        if has_cookie {
            expected["SessionCookie"] =
                json!({ "type": "apiKey", "in": "cookie", "name": "cms_session" });
        }
        assert_eq!(document.pointer(schemes), Some(&expected));
        assert_eq!(document["security"], security);
        let sessions = &document["paths"]["/api/v1/sessions"]["get"]["security"];
        let own = if has_cookie { json!([{ "SessionCookie": [] }]) } else { json!([]) };
        assert_eq!(*sessions, own);
        let sign_in = &document["paths"]["/api/v1/session"]["post"]["security"];
        assert_eq!(*sign_in, json!([]));
        let text = document["info"]["description"].as_str().unwrap();
        assert!(text.contains("`cms_session`"));
    }
    let default = document(&app, CallerKind::Admin, "").await;
    assert_eq!(default["security"], json!([{ "HeaderApiKeyAuth": [] }]));
    let text = default["info"]["description"].as_str().unwrap();
    assert!(text.contains("## Filters") && !text.contains("cms_session"));
}
