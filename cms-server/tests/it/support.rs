//! [`TestApp`]: the HTTP interface on a new data directory, without a socket, for callers of
//! every kind.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderMap, Method, Request},
};
use cms_core::{
    Caller, FirstKeys, SessionClient,
    testing::TestCms,
    wire::{key::KeyKind, user::Role},
};
use cms_server::{Consistency, ServerConfig, router};
use http_body_util::BodyExt;
use serde_json::{Map, Value, json};
use tower::ServiceExt;

const ADMIN: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const READ_WRITE: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
const READ_ONLY: &str = "cccccccccccccccccccccccccccccccccccccccc";

/// The kinds of callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallerKind {
    Anonymous,
    /// With an unknown key.
    Unknown,
    ReadOnly,
    ReadWrite,
    /// With all rights on `post` only.
    Scoped,
    /// With all rights on a type that no test uses.
    Stranger,
    Admin,
    /// With a session of a user; a user with role custom has all rights on `post` only.
    User(Role),
    /// With the cookie of a session that was ended.
    Ended,
    /// With a session of an admin, without the header against cross-site requests.
    CrossSite,
}

impl CallerKind {
    /// Without a session.
    pub(crate) const ALL: [Self; 7] = [
        Self::Anonymous,
        Self::Unknown,
        Self::ReadOnly,
        Self::ReadWrite,
        Self::Scoped,
        Self::Stranger,
        Self::Admin,
    ];
    pub(crate) const WITH_COOKIE: [Self; 8] = [
        Self::User(Role::Admin),
        Self::User(Role::Developer),
        Self::User(Role::Editor),
        Self::User(Role::Author),
        Self::User(Role::Viewer),
        Self::User(Role::Custom),
        Self::Ended,
        Self::CrossSite,
    ];
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The body as JSON; null when there is none.
    pub(crate) fn json(&self) -> Value {
        if self.bytes.is_empty() {
            return Value::Null;
        }
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.bytes).unwrap()
    }

    /// Status and body, to compare them together.
    pub(crate) fn status_and_body(&self) -> (u16, Value) {
        (self.status, self.json())
    }
}

pub(crate) struct TestApp {
    pub(crate) core: TestCms,
    router: Router,
    /// The router of the node that reads: in tests of a cluster another node.
    reader: Router,
    scoped: String,
    stranger: String,
    /// The cookies of the users that were created so far.
    cookies: Mutex<Vec<(CallerKind, String)>>,
}

/// Sends a GET request without a key.
pub(crate) async fn get(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Reply {
    app.send("GET", path, headers, "").await
}

impl TestApp {
    /// An app with the types `post` and `author`, and a `post` with id `one`.
    pub(crate) fn new() -> Self {
        Self::with(&ServerConfig::default())
    }

    /// An app with one more type, which has relations and these settings.
    pub(crate) fn with_type(name: &str, settings: &Value) -> Self {
        let app = Self::new();
        app.create_type(name, settings);
        app
    }

    pub(crate) fn with(config: &ServerConfig) -> Self {
        Self::on(TestCms::new(), config)
    }

    /// An app on this data directory.
    pub(crate) fn on(core: TestCms, config: &ServerConfig) -> Self {
        let cms = &core.cms;
        let first = FirstKeys {
            admin: Some(ADMIN.to_owned()),
            read_write: Some(READ_WRITE.to_owned()),
            read_only: Some(READ_ONLY.to_owned()),
        };
        cms.keys().ensure_first(&first).unwrap();
        let scoped = core.create_key("scoped", KeyKind::Scoped, &[("post", "crud")]).key;
        let stranger = core.create_key("stranger", KeyKind::Scoped, &[("elsewhere", "crud")]).key;
        let local = Caller::local();
        cms.types().create(&local, definition("post")).unwrap();
        cms.types().create(&local, definition("author")).unwrap();
        let one = object(&json!({ "id": "one", "title": "One" }));
        cms.objects().create(&local, "post", one).unwrap();
        let writer = router(config, Arc::clone(cms));
        let reader = core.second_node().map_or_else(
            || writer.clone(),
            |cms| {
                let read_consistency = Some(Consistency::Strict);
                router(&ServerConfig { read_consistency, ..config.clone() }, cms)
            },
        );
        Self { core, router: writer, reader, scoped, stranger, cookies: Mutex::default() }
    }

    pub(crate) fn key(&self, caller: CallerKind) -> Option<&str> {
        match caller {
            CallerKind::Unknown => Some("0123456789012345678901234567890123456789"),
            CallerKind::ReadOnly => Some(READ_ONLY),
            CallerKind::ReadWrite => Some(READ_WRITE),
            CallerKind::Scoped => Some(&self.scoped),
            CallerKind::Stranger => Some(&self.stranger),
            CallerKind::Admin => Some(ADMIN),
            CallerKind::Anonymous
            | CallerKind::User(_)
            | CallerKind::Ended
            | CallerKind::CrossSite => None,
        }
    }

    /// The header with the cookie of a caller. Users are created when they are first needed.
    pub(crate) fn cookie(&self, caller: CallerKind) -> Option<String> {
        let mut cookies = self.cookies.lock().unwrap();
        let role = match caller {
            CallerKind::User(role) => role,
            CallerKind::CrossSite | CallerKind::Ended => Role::Admin,
            _ => return None,
        };
        if let Some((_, cookie)) = cookies.iter().find(|(known, _)| *known == caller) {
            return Some(cookie.clone());
        }
        let mut user = json!({
            "email": format!("{}@example.com", cookies.len()),
            "name": format!("{caller:?}"),
            "role": role.as_str(),
        });
        if role == Role::Custom {
            user["rules"] = json!([
                { "ctd": "post", "create": true, "read": true, "update": true, "delete": true },
            ]);
        }
        let cookie = self.core.session(&user);
        if caller == CallerKind::Ended {
            let session = self.core.cms.caller_of_session(&cookie).unwrap();
            self.core.cms.sessions().sign_out(&session, &SessionClient::default()).unwrap();
        }
        let cookie = format!("cms_session={cookie}");
        cookies.push((caller, cookie.clone()));
        Some(cookie)
    }

    /// Sends a request with exactly these headers and this body. Fails on status 500.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Reply {
        let reply = self.send_to_damaged(method, path, headers, body).await;
        assert_ne!(reply.status, 500, "{method} {path}");
        reply
    }

    /// Like [`Self::send`], but accepts status 500, for damaged data.
    pub(crate) async fn send_to_damaged(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Reply {
        let mut request =
            Request::builder().method(Method::from_bytes(method.as_bytes()).unwrap()).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into()).unwrap();
        let node = if matches!(method, "GET" | "HEAD") { &self.reader } else { &self.router };
        let (head, body) = node.clone().oneshot(request).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let reply = Reply { status: head.status.as_u16(), headers: head.headers, bytes };
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{method} {path}");
        assert!(reply.header("x-request-id").is_some(), "{method} {path}");
        reply
    }

    /// Sends a request with the key of a caller, and with a JSON body unless that is null.
    pub(crate) async fn send_as(
        &self,
        caller: CallerKind,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Reply {
        self.send_as_with(&[], caller, method, path, body).await
    }

    /// Like [`Self::send_as`], with further headers.
    pub(crate) async fn send_as_with(
        &self,
        headers: &[(&str, &str)],
        caller: CallerKind,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Reply {
        let mut headers = headers.to_vec();
        if let Some(key) = self.key(caller) {
            headers.push(("x-auth-token", key));
        }
        let cookie = self.cookie(caller);
        if let Some(cookie) = &cookie {
            headers.push(("cookie", cookie));
        }
        if cookie.is_some() && caller != CallerKind::CrossSite {
            headers.push(("x-cms-request", "1"));
        }
        if body.is_null() {
            return self.send(method, path, &headers, Body::empty()).await;
        }
        headers.push(("content-type", "application/json"));
        self.send(method, path, &headers, body.to_string()).await
    }

    /// Sends a request with the read-write key.
    pub(crate) async fn request(&self, method: &str, path: &str, body: &Value) -> Reply {
        self.send_as(CallerKind::ReadWrite, method, path, body).await
    }

    pub(crate) async fn get_as(&self, caller: CallerKind, path: &str) -> Reply {
        self.send_as(caller, "GET", path, &Value::Null).await
    }

    /// Like [`Self::get_as`], with further headers.
    pub(crate) async fn get_with(
        &self,
        headers: &[(&str, &str)],
        caller: CallerKind,
        path: &str,
    ) -> Reply {
        self.send_as_with(headers, caller, "GET", path, &Value::Null).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.request("GET", path, &Value::Null).await
    }

    pub(crate) async fn delete_as(&self, caller: CallerKind, path: &str) -> Reply {
        self.send_as(caller, "DELETE", path, &Value::Null).await
    }

    /// Sends a DELETE request with the read-write key.
    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.delete_as(CallerKind::ReadWrite, path).await
    }

    /// Sends a POST request with the read-write key, without a body.
    pub(crate) async fn post(&self, path: &str) -> (u16, Value) {
        self.request("POST", path, &Value::Null).await.status_and_body()
    }

    /// Creates a type with relations and these settings.
    pub(crate) fn create_type(&self, name: &str, settings: &Value) {
        let mut wanted = linking_definition(name);
        wanted.extend(object(settings));
        self.core.cms.types().create(&Caller::local(), wanted).unwrap();
    }

    /// Creates an object with the read-write key.
    pub(crate) async fn create(&self, name: &str, new: &Value) {
        let reply = self.request("POST", &format!("/api/v1/content/{name}"), new).await;
        assert_eq!(reply.status, 200, "{new}: {:?}", reply.json());
    }

    /// Advances the clock by a minute.
    pub(crate) fn wait_a_minute(&self) {
        self.core.clock.advance(60);
    }
}

/// The definition of a type with a required text and an optional number.
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

/// The definition of [`definition`] with relations to any type, at the top level and in a list.
pub(crate) fn linking_definition(name: &str) -> Map<String, Value> {
    let mut whole = json!(definition(name));
    let links = json!({ "type": "array", "items": { "$ref": "#/components/schemas/DataSource" } });
    let properties = &mut whole["schemaDefinition"]["allOf"][1]["properties"];
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
    let meta = &mut whole["metaDefinition"];
    meta["order"] = json!(["title", "price", "related", "parts"]);
    meta["propertiesConfig"]["related"] = relation.clone();
    meta["propertiesConfig"]["parts"] = json!({
        "label": "Parts",
        "inputType": "object",
        "unique": false,
        "items": { "order": ["link"], "propertiesConfig": { "link": relation } },
    });
    object(&whole)
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

/// An object in a response. `internal` has the values of a first version, created at the
/// start of the clock, of a type without Draft & Public, with these changes.
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
    let mut whole = object(&json!({ "id": id, "internal": internal }));
    whole.extend(object(properties));
    whole.into()
}

/// The list envelope with all objects on one page.
pub(crate) fn listed(data: &[Value]) -> Value {
    json!({
        "total_count": data.len(),
        "total_pages": usize::from(!data.is_empty()),
        "current_page": 1,
        "count": data.len(),
        "data": data,
    })
}

/// The response to a rejected action, with its reason.
pub(crate) fn refused(reason: &str) -> (u16, Value) {
    (400, json!({ "errors": [reason] }))
}

/// The response with one validation error.
pub(crate) fn error(path: &str, message: &str) -> (u16, Value) {
    (400, json!({ path: [message] }))
}

pub(crate) fn no_content() -> (u16, Value) {
    (204, Value::Null)
}

pub(crate) fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The body of a generic error.
pub(crate) fn generic(code: u16, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

pub(crate) fn unauthorized() -> (u16, Value) {
    (401, generic(401, "Unauthorized"))
}

pub(crate) fn forbidden() -> (u16, Value) {
    (403, generic(403, "Access denied or quota limit exceeded"))
}

pub(crate) fn not_found() -> (u16, Value) {
    (404, generic(404, "Not found"))
}

pub(crate) fn malformed() -> (u16, Value) {
    (400, generic(400, "Malformed JSON"))
}

pub(crate) fn wrong_media_type() -> (u16, Value) {
    (415, generic(415, "Unsupported Media Type"))
}
