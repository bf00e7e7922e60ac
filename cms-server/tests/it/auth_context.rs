//! `GET /api/auth-context` for each kind of caller, and content types that sessions cannot change.

use cms_core::{testing::TestCms, wire::user::Role};
use cms_server::ServerConfig;
use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, definition, forbidden};

const CONTEXT: &str = "/api/auth-context";
const TYPES: &str = "/api/v1/internal/contenttype";

/// The response without ids, which are UUIDs.
async fn context(app: &TestApp, caller: CallerKind) -> Value {
    let mut context = app.get_as(caller, CONTEXT).await.json();
    for part in ["organization", "space", "user"] {
        let id = context[part]["id"].take();
        assert_eq!(id.as_str().unwrap().len(), 36, "{part}");
        if part == "user" {
            assert_eq!(context["by"]["id"].take(), id);
        }
    }
    context
}

/// Rights on all types, or on all except those that configure the server.
fn on_all(letters: &str, with_system_types: bool) -> Value {
    let mut types = json!({});
    for name in [
        "_media",
        "_tag",
        "_webhooks",
        "about",
        "author",
        "contact",
        "contact_form",
        "post",
        "project",
    ] {
        if with_system_types || name != "_webhooks" {
            types[name] = json!(letters);
        }
    }
    types
}

fn limits() -> Value {
    json!({
        "pageSize": 1000, "batch": 1000, "batchPublish": 1001, "objectBytes": 1_048_576,
        "bodyBytes": 134_217_728, "fileBytes": 10_485_760, "uploadBytes": 67_108_864,
        "mediaTypes": [
            "image/gif", "image/png", "image/jpeg", "image/bmp", "image/webp", "image/svg+xml",
            "image/svg", "image/x-icon", "image/vnd.microsoft.icon", "text/plain", "audio/midi",
            "audio/mpeg", "audio/webm", "audio/ogg", "audio/wav", "video/webm", "video/ogg",
            "video/mp4", "application/pdf", "application/json",
        ],
        "searchResults": 10_000, "trashDays": 60,
    })
}

fn features() -> Value {
    json!({ "webhooks": true, "openId": false, "previewOrigins": [] })
}

#[tokio::test]
async fn auth_context_describes_keys() {
    let app = TestApp::new();
    let rule =
        json!({ "ctd": "post", "create": true, "read": true, "update": true, "delete": true });
    let rights = |admin: bool, change_types: bool, publish: bool, types: Value| json!({ "admin": admin, "changeTypes": change_types, "publish": publish, "contentTypes": types });
    for (caller, name, kind, rules, rights) in [
        (
            CallerKind::ReadOnly,
            "read-only",
            "read_only",
            json!([]),
            rights(false, false, false, on_all("r", true)),
        ),
        (
            CallerKind::ReadWrite,
            "read-write",
            "read_write",
            json!([]),
            rights(false, true, true, on_all("crud", true)),
        ),
        (
            CallerKind::Scoped,
            "scoped",
            "scoped",
            json!([rule]),
            rights(false, false, true, json!({ "post": "crud" })),
        ),
        (
            CallerKind::Admin,
            "admin",
            "admin",
            json!([]),
            rights(true, true, true, on_all("crud", true)),
        ),
    ] {
        let expected = json!({
            "organization": { "id": null, "name": "default" },
            "space": { "id": null, "name": "default" },
            "user": { "id": null, "username": name, "roles": ["ROLE_HEADLESS_ADMIN"] },
            "apiKey": { "name": name, "type": kind, "rules": rules },
            "by": { "kind": "key", "id": null, "name": name },
            "rights": rights,
            "limits": limits(),
            "features": features(),
            "version": env!("CARGO_PKG_VERSION"),
        });
        assert_eq!(context(&app, caller).await, expected);
    }
}

#[tokio::test]
async fn auth_context_describes_sessions() {
    let app = TestApp::new();
    for (role, admin, change_types, publish, types) in [
        (Role::Admin, true, true, true, on_all("crud", true)),
        (Role::Developer, false, true, true, on_all("crud", true)),
        (Role::Editor, false, false, true, on_all("crud", false)),
        (Role::Author, false, false, false, on_all("crud", false)),
        (Role::Viewer, false, false, false, on_all("r", true)),
        (Role::Custom, false, false, false, json!({ "post": "crud" })),
    ] {
        let caller = CallerKind::User(role);
        let found = context(&app, caller).await;
        let (name, email) = (format!("{caller:?}"), found["user"]["email"].clone());
        let expected = json!({
            "organization": { "id": null, "name": "default" },
            "space": { "id": null, "name": "default" },
            "user": {
                "id": null, "username": name, "roles": [role.api_name()], "email": email, "role": role,
            },
            "apiKey": null,
            "by": { "kind": "user", "id": null, "name": name },
            "rights": {
                "admin": admin, "changeTypes": change_types, "publish": publish, "contentTypes": types,
            },
            "limits": limits(),
            "features": features(),
            "version": env!("CARGO_PKG_VERSION"),
        });
        assert_eq!(found, expected);
        assert!(email.as_str().unwrap().ends_with("@example.com"));

        // The session has the same members.
        let mut session = app.get_as(caller, "/api/v1/session").await.json();
        assert!(session.as_object_mut().unwrap().shift_remove("session").is_some());
        let complete = app.get_as(caller, CONTEXT).await.json();
        assert_eq!(session, complete);
    }
}

#[tokio::test]
async fn limits_are_those_of_the_server() {
    let core = TestCms::with(|config| {
        config.batch_limit = 7;
        config.media_file_limit = 8;
    });
    let server = ServerConfig { body_limit: 1000, upload_limit: 2000, ..ServerConfig::default() };
    let found = context(&TestApp::on(core, &server), CallerKind::ReadOnly).await;
    let mut expected = limits();
    for (name, number) in
        [("batch", 7), ("fileBytes", 8), ("bodyBytes", 1000), ("uploadBytes", 2000)]
    {
        expected[name] = json!(number);
    }
    assert_eq!(found["limits"], expected);
}

#[tokio::test]
async fn types_readonly_refuses_changes_by_sessions() {
    let core = TestCms::with(|config| config.types_readonly = true);
    let app = TestApp::on(core, &ServerConfig::default());
    let space = app.get(CONTEXT).await.json()["space"]["id"].as_str().unwrap().to_owned();
    let definition = json!(definition("author"));
    let project = json!({ "contentTypes": [definition] });
    let author = format!("{TYPES}/author");
    let changes = [
        ("POST", format!("{TYPES}/apply"), project.clone(), 200),
        ("PUT", author.clone(), definition.clone(), 200),
        ("POST", format!("{author}/purge"), Value::Null, 204),
        ("POST", format!("/api/v1/spaces/{space}/purge"), Value::Null, 204),
        ("DELETE", author, Value::Null, 200),
        ("POST", TYPES.to_owned(), definition, 200),
    ];
    for role in [Role::Admin, Role::Developer] {
        let caller = CallerKind::User(role);
        assert_eq!(context(&app, caller).await["rights"]["changeTypes"], false);
        for (method, path, body, _) in &changes {
            let reply = app.send_as(caller, method, path, body).await;
            assert_eq!(reply.status_and_body(), forbidden(), "{method} {path}");
        }
        let plan = app.send_as(caller, "POST", &format!("{TYPES}/plan"), &project).await;
        assert_eq!(plan.status, 200);
    }
    for caller in [CallerKind::ReadWrite, CallerKind::Admin] {
        assert_eq!(context(&app, caller).await["rights"]["changeTypes"], true);
        for (method, path, body, status) in &changes {
            let reply = app.send_as(caller, method, path, body).await;
            assert_eq!(reply.status, *status, "{method} {path}");
        }
    }
}
