//! [`TestApp`]: the complete HTTP interface on a new data directory, called without a socket, with keys
//! of every kind.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderMap, Method, Request},
};
use cms_core::{
    Caller, FirstKeys,
    testing::TestCms,
    wire::key::{KeyKind, NewKey, Rule},
};
use cms_server::{ServerConfig, router};
use http_body_util::BodyExt;
use serde_json::{Map, Value, json};
use tower::ServiceExt;

const ADMIN: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const READ_WRITE: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
const READ_ONLY: &str = "cccccccccccccccccccccccccccccccccccccccc";

/// The key of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Anonymous,
    /// A key that does not exist.
    Unknown,
    ReadOnly,
    ReadWrite,
    /// All rights on `post` only.
    Scoped,
    /// All rights on a type that does not exist.
    Unrelated,
    Admin,
}

impl Role {
    pub(crate) const ALL: [Self; 7] = [
        Self::Anonymous,
        Self::Unknown,
        Self::ReadOnly,
        Self::ReadWrite,
        Self::Scoped,
        Self::Unrelated,
        Self::Admin,
    ];
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The body as JSON; null if it is empty.
    pub(crate) fn json(&self) -> Value {
        if self.bytes.is_empty() {
            return Value::Null;
        }
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.bytes).unwrap()
    }

    /// Status and body.
    pub(crate) fn parts(&self) -> (u16, Value) {
        (self.status, self.json())
    }
}

pub(crate) struct TestApp {
    pub(crate) core: TestCms,
    router: Router,
    scoped: String,
    unrelated: String,
}

impl TestApp {
    /// A data directory with the types `post` and `author`, and a `post` with id `one`.
    pub(crate) fn new() -> Self {
        Self::with(&ServerConfig::default())
    }

    pub(crate) fn with(config: &ServerConfig) -> Self {
        let core = TestCms::new();
        let cms = &core.cms;
        let first = FirstKeys {
            admin: Some(ADMIN.to_owned()),
            read_write: Some(READ_WRITE.to_owned()),
            read_only: Some(READ_ONLY.to_owned()),
        };
        cms.keys().ensure_first(&first).unwrap();
        let scoped = scoped_key(&core, "scoped", "post");
        let unrelated = scoped_key(&core, "stranger", "elsewhere");
        let local = Caller::local();
        cms.types().create(&local, definition("post")).unwrap();
        cms.types().create(&local, definition("author")).unwrap();
        let one = object(&json!({ "id": "one", "title": "One" }));
        cms.objects().create(&local, "post", one).unwrap();
        let router = router(config, Arc::clone(cms));
        Self { core, router, scoped, unrelated }
    }

    pub(crate) fn key(&self, role: Role) -> Option<&str> {
        match role {
            Role::Anonymous => None,
            Role::Unknown => Some("0123456789012345678901234567890123456789"),
            Role::ReadOnly => Some(READ_ONLY),
            Role::ReadWrite => Some(READ_WRITE),
            Role::Scoped => Some(&self.scoped),
            Role::Unrelated => Some(&self.unrelated),
            Role::Admin => Some(ADMIN),
        }
    }

    /// Sends a request. A response with status 500 fails the test.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Response {
        let response = self.send_allowing_500(method, path, headers, body).await;
        assert_ne!(response.status, 500, "{method} {path}");
        response
    }

    /// Sends a request that may fail with 500, because stored data is damaged.
    pub(crate) async fn send_allowing_500(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Response {
        let mut request =
            Request::builder().method(Method::from_bytes(method.as_bytes()).unwrap()).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into()).unwrap();
        let (head, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let response = Response { status: head.status.as_u16(), headers: head.headers, bytes };
        assert_eq!(response.header("access-control-allow-origin"), Some("*"), "{method} {path}");
        assert!(response.header("x-request-id").is_some(), "{method} {path}");
        response
    }

    /// Sends a request with a key, and a JSON body unless that is null.
    pub(crate) async fn request_as(
        &self,
        role: Role,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Response {
        self.request_with(&[], role, method, path, body).await
    }

    /// Sends a request with a key and further headers.
    pub(crate) async fn request_with(
        &self,
        headers: &[(&str, &str)],
        role: Role,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Response {
        let mut headers = headers.to_vec();
        if let Some(key) = self.key(role) {
            headers.push(("x-auth-token", key));
        }
        if body.is_null() {
            return self.send(method, path, &headers, Body::empty()).await;
        }
        headers.push(("content-type", "application/json"));
        self.send(method, path, &headers, body.to_string()).await
    }

    /// Sends a request with the read-write key.
    pub(crate) async fn request(&self, method: &str, path: &str, body: &Value) -> Response {
        self.request_as(Role::ReadWrite, method, path, body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.request("GET", path, &Value::Null).await
    }

    /// Sends a POST request with the read-write key and without a body.
    pub(crate) async fn post(&self, path: &str) -> (u16, Value) {
        self.request("POST", path, &Value::Null).await.parts()
    }

    /// Creates a type with links and further settings.
    pub(crate) fn create_type(&self, name: &str, settings: &Value) {
        let mut expected = linking_definition(name);
        expected.extend(object(settings));
        self.core.cms.types().create(&Caller::local(), expected).unwrap();
    }

    /// Creates an object with the read-write key.
    pub(crate) async fn create(&self, name: &str, new: &Value) {
        let response = self.request("POST", &format!("/api/v1/content/{name}"), new).await;
        assert_eq!(response.status, 200, "{new}: {:?}", response.json());
    }

    /// Advances the clock by a minute.
    pub(crate) fn wait_a_minute(&self) {
        self.core.clock.advance(60);
    }
}

fn scoped_key(core: &TestCms, name: &str, content_type: &str) -> String {
    let rule =
        Rule { ctd: content_type.to_owned(), create: true, read: true, update: true, delete: true };
    let new = NewKey { name: name.to_owned(), kind: KeyKind::Scoped, rules: vec![rule] };
    core.cms.keys().create(&Caller::local(), &new).unwrap().key
}

/// A type with a required text and an optional number.
pub(crate) fn definition(name: &str) -> Map<String, Value> {
    object(&json!({
        "name": name,
        "label": name,
        "schemaDefinition": {
            "type": "object",
            "allOf": [
                { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
                {
                    "type": "object",
                    "properties": {
                        "title": { "type": "string", "minLength": 1 },
                        "price": { "type": "number" },
                    },
                },
            ],
            "required": ["title"],
            "additionalProperties": false,
        },
        "metaDefinition": {
            "order": ["title", "price"],
            "propertiesConfig": {
                "title": { "label": "Title", "inputType": "text", "unique": false },
                "price": { "label": "Price", "inputType": "number", "unique": false },
            },
        },
    }))
}

/// The same with links at the top and inside a list, to objects of any type.
pub(crate) fn linking_definition(name: &str) -> Map<String, Value> {
    let mut definition = json!(definition(name));
    let links = json!({ "type": "array", "items": { "$ref": "#/components/schemas/DataSource" } });
    let properties = &mut definition["schemaDefinition"]["allOf"][1]["properties"];
    properties["related"] = links.clone();
    properties["parts"] = json!({
        "type": "array",
        "items": { "type": "object", "properties": { "link": links } },
    });
    let relation = json!({
        "label": "Links",
        "inputType": "datasource",
        "unique": false,
        "validation": { "relationContenttype": "", "relationMultiple": true },
    });
    let meta = &mut definition["metaDefinition"];
    meta["order"] = json!(["title", "price", "related", "parts"]);
    meta["propertiesConfig"]["related"] = relation.clone();
    meta["propertiesConfig"]["parts"] = json!({
        "label": "Parts",
        "inputType": "object",
        "unique": false,
        "items": { "order": ["link"], "propertiesConfig": { "link": relation } },
    });
    object(&definition)
}

/// Links to `<type>/<id>`, in order.
pub(crate) fn links(targets: &[&str]) -> Value {
    let link =
        |target| json!({ "type": "internal", "dataUrl": format!("/api/v1/content/{target}") });
    targets.iter().map(link).collect()
}

/// A date of `internal`, in minutes after the clock started.
pub(crate) fn minute(minutes: u32) -> String {
    format!("2026-01-02T03:{:02}:05+00:00", 4 + minutes)
}

/// An object as in responses: `internal` is that of a first version, created when the clock started, of
/// a type without Draft & Public, except for `changes`.
pub(crate) fn shown(content_type: &str, id: &str, changes: &Value, properties: &Value) -> Value {
    let mut internal = object(&json!({
        "contentType": content_type,
        "createdAt": minute(0),
        "updatedAt": minute(0),
        "deletedAt": "",
        "workflowState": "saved",
        "objectTitle": "",
        "latestVersion": 1,
        "workflowPublicVersion": "",
        "workflowPublishedAt": -1,
        "status": "public",
        "publicVersion": -1,
        "publishedAt": "",
    }));
    internal.extend(object(changes));
    let mut definition = object(&json!({ "id": id, "internal": internal }));
    definition.extend(object(properties));
    definition.into()
}

/// A list response whose only page is `data`.
pub(crate) fn listed(data: &[Value]) -> Value {
    json!({
        "total_count": data.len(),
        "total_pages": usize::from(!data.is_empty()),
        "current_page": 1,
        "count": data.len(),
        "data": data,
    })
}

/// A refusal with one reason.
pub(crate) fn refused(reason: &str) -> (u16, Value) {
    (400, json!({ "errors": [reason] }))
}

/// A validation error with one message.
pub(crate) fn validation_error(path: &str, message: &str) -> (u16, Value) {
    (400, json!({ path: [message] }))
}

pub(crate) fn no_content() -> (u16, Value) {
    (204, Value::Null)
}

pub(crate) fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The body of a generic error.
pub(crate) fn error_body(code: u16, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

pub(crate) fn unauthorized() -> (u16, Value) {
    (401, error_body(401, "Unauthorized"))
}

pub(crate) fn forbidden() -> (u16, Value) {
    (403, error_body(403, "Access denied or quota limit exceeded"))
}

pub(crate) fn not_found() -> (u16, Value) {
    (404, error_body(404, "Not found"))
}

pub(crate) fn malformed() -> (u16, Value) {
    (400, error_body(400, "Malformed JSON"))
}

pub(crate) fn wrong_media_type() -> (u16, Value) {
    (415, error_body(415, "Unsupported Media Type"))
}
