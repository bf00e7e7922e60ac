//! Each route, requested by each kind of caller: a route without a row fails.

use std::sync::atomic::{AtomicUsize, Ordering};

use cms_core::{
    Caller, Cms,
    wire::{
        bulk::BulkResponse, key::KeyKind, publish::PublishAction, shared_view::NewSharedView,
        trash::TrashRequest, user::UserListRequest,
    },
};
use cms_server::ROUTES;
use serde_json::{Map, Value, json};

use crate::support::{CallerKind, TestApp, definition, object};

/// A sample request of one route, and the status for each of [`CallerKind::ALL`].
pub(crate) struct Row {
    pub(crate) method: &'static str,
    pub(crate) route: &'static str,
    pub(crate) path: &'static str,
    pub(crate) body: Value,
    statuses: [u16; 7],
    /// The status for sessions of any role, on routes that keys cannot use.
    session_status: Option<u16>,
}

impl Row {
    /// Returns whether keys cannot use the route.
    pub(crate) fn refuses_keys(&self) -> bool {
        self.session_status.is_some()
    }

    /// The status for a caller.
    pub(crate) fn status(&self, caller: CallerKind) -> u16 {
        let keys = CallerKind::ALL.into_iter().zip(self.statuses);
        let cookies = CallerKind::WITH_COOKIE.into_iter().zip(self.cookie_statuses());
        keys.chain(cookies).find(|(known, _)| *known == caller).unwrap().1
    }

    /// The status for each of [`CallerKind::WITH_COOKIE`]: users of most roles have the rights of a
    /// kind of key.
    fn cookie_statuses(&self) -> [u16; 8] {
        let [anonymous, unknown, read_only, read_write, scoped, _, admin] = self.statuses;
        let is_read = self.method == "GET";
        let is_public = anonymous != 401;
        if let Some(status) = self.session_status {
            let cross_site = if is_read { status } else { 403 };
            // The routes that need no session ignore one that has ended.
            let ended = if anonymous == 401 { 401 } else { status };
            return [status, status, status, status, status, status, ended, cross_site];
        }
        let cross_site = if is_read || is_public { admin } else { 403 };
        let is_upload = self.path.ends_with("/media");
        let editor = if is_upload { read_write } else { scoped };
        let publishes =
            ["publish", "archive", "schedule"].iter().any(|word| self.route.ends_with(word))
                && !is_read;
        let without_publishing = |status| if publishes { 403 } else { status };
        let (author, custom) = (without_publishing(editor), without_publishing(scoped));
        [admin, read_write, editor, author, read_only, custom, unknown, cross_site]
    }
}

//                           none   unknown read write scoped stranger admin
const UNAUTHENTICATED: [u16; 7] = [200, 200, 200, 200, 200, 200, 200];
const ANY_KEY: [u16; 7] = [401, 401, 200, 200, 200, 200, 200];
const READ: [u16; 7] = [401, 401, 200, 200, 200, 403, 200];
const WRITE: [u16; 7] = [401, 401, 403, 200, 200, 403, 200];
const WRITE_NO_CONTENT: [u16; 7] = [401, 401, 403, 204, 204, 403, 204];
const TYPES: [u16; 7] = [401, 401, 403, 200, 403, 403, 200];
const PURGE: [u16; 7] = [401, 401, 403, 204, 403, 403, 204];
const MANAGE: [u16; 7] = [401, 401, 403, 403, 403, 403, 200];
const MANAGE_ACCEPTED: [u16; 7] = [401, 401, 403, 403, 403, 403, 202];
const MANAGE_NO_CONTENT: [u16; 7] = [401, 401, 403, 403, 403, 403, 204];
const READ_JOB_OF_ADMIN: [u16; 7] = [401, 401, 404, 404, 404, 404, 200];
const STOP_JOB_OF_ADMIN: [u16; 7] = [401, 401, 404, 404, 404, 404, 204];

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |method, route, path, body: Value, statuses| {
        rows.push(Row { method, route, path, body, statuses, session_status: None });
    };
    let none = Value::Null;
    let project = json!({ "contentTypes": [definition("author")] });
    let post = json!({ "title": "A title" });

    row("GET", "/", "/", none.clone(), UNAUTHENTICATED);
    row("GET", "/healthz", "/healthz", none.clone(), UNAUTHENTICATED);
    row("GET", "/writerz", "/writerz", none.clone(), UNAUTHENTICATED);
    row("GET", "/readyz", "/readyz", none.clone(), UNAUTHENTICATED);
    row("GET", "/metrics", "/metrics", none.clone(), UNAUTHENTICATED);
    row("GET", "/api/auth-context", "/api/auth-context", none.clone(), ANY_KEY);

    let types = "/api/v1/internal/contenttype";
    row("GET", types, types, none.clone(), ANY_KEY);
    row("POST", types, types, json!(definition("fresh")), TYPES);
    let plan = "/api/v1/internal/contenttype/plan";
    row("POST", plan, plan, project.clone(), TYPES);
    let apply = "/api/v1/internal/contenttype/apply";
    row("POST", apply, apply, project, TYPES);
    let one_type = "/api/v1/internal/contenttype/{name}";
    row("GET", one_type, "/api/v1/internal/contenttype/post", none.clone(), READ);
    let author = "/api/v1/internal/contenttype/author";
    row("PUT", one_type, author, json!(definition("author")), TYPES);
    row("DELETE", one_type, author, none.clone(), TYPES);
    let purge = "/api/v1/internal/contenttype/{name}/purge";
    row("POST", purge, "/api/v1/internal/contenttype/post/purge", none.clone(), PURGE);
    views(&mut row);
    row("POST", "/api/v1/spaces/{space}/purge", "/api/v1/spaces/SPACE/purge", none.clone(), PURGE);

    let objects = "/api/v1/content/{name}";
    row("GET", objects, "/api/v1/content/post", none.clone(), READ);
    row("POST", objects, "/api/v1/content/post", post.clone(), WRITE);
    let batch = ("/api/v1/content/{name}/batch", "/api/v1/content/post/batch");
    row("POST", batch.0, batch.1, json!([post]), WRITE);
    row("PATCH", batch.0, batch.1, json!([{ "id": "one", "price": 1 }]), WRITE);
    let validate = ("/api/v1/content/{name}/validate", "/api/v1/content/post/validate");
    row("POST", validate.0, validate.1, post.clone(), WRITE_NO_CONTENT);
    let delete = ("/api/v1/content/{name}/batch-delete", "/api/v1/content/post/batch-delete");
    row("POST", delete.0, delete.1, json!(["one"]), WRITE);
    for (route, path) in [
        ("/api/v1/content/{name}/batch-publish", "/api/v1/content/post/batch-publish"),
        ("/api/v1/content/{name}/batch-unpublish", "/api/v1/content/post/batch-unpublish"),
        ("/api/v1/content/{name}/batch-archive", "/api/v1/content/post/batch-archive"),
    ] {
        row("POST", route, path, json!(["one"]), WRITE_NO_CONTENT);
    }
    let bulk = ("/api/v1/content/{name}/bulk", "/api/v1/content/post/bulk");
    let preview =
        json!({ "action": "patch", "patch": { "price": 1 }, "all": true, "dryRun": true });
    row("POST", bulk.0, bulk.1, preview, WRITE);
    let removed = ("/api/v1/content/{name}/removed", "/api/v1/content/post/removed");
    row("GET", removed.0, removed.1, none.clone(), READ);
    let one = ("/api/v1/content/{name}/{id}", "/api/v1/content/post/one");
    row("GET", one.0, one.1, none.clone(), READ);
    row("PUT", one.0, one.1, post.clone(), WRITE);
    row("PATCH", one.0, one.1, post, WRITE);
    row("DELETE", one.0, one.1, none.clone(), WRITE_NO_CONTENT);
    let versions = ("/api/v1/content/{name}/{id}/version", "/api/v1/content/post/one/version");
    row("GET", versions.0, versions.1, none.clone(), READ);
    let version = "/api/v1/content/{name}/{id}/version/{version}";
    row("GET", version, "/api/v1/content/post/one/version/1", none.clone(), READ);
    let incoming = "/api/v1/content/{name}/{id}/incoming";
    row("GET", incoming, "/api/v1/content/post/one/incoming", none.clone(), READ);
    let duplicate = "/api/v1/content/{name}/{id}/duplicate";
    let nothing_else = json!({ "relatedObjectsToDuplicate": [] });
    row("POST", duplicate, "/api/v1/content/post/one/duplicate", nothing_else, WRITE);

    publishing(&mut row);
    working_copies(&mut row);
    trash(&mut row);
    media(&mut row);
    workflows(&mut row);
    row("GET", "/api/v1/search", "/api/v1/search?q=", none.clone(), ANY_KEY);
    row("GET", "/api/v1/changes", "/api/v1/changes", none.clone(), ANY_KEY);
    row("GET", "/api/v1/activity", "/api/v1/activity", none.clone(), ANY_KEY);
    presence(&mut row);
    row("GET", "/api/v1/job", "/api/v1/job", none.clone(), ANY_KEY);
    row("GET", "/api/v1/job/{id}", "/api/v1/job/BULK", none.clone(), READ_JOB_OF_ADMIN);
    let stop = ("/api/v1/job/{id}/stop", "/api/v1/job/BULK/stop");
    row("POST", stop.0, stop.1, none.clone(), STOP_JOB_OF_ADMIN);
    let reindex = "/api/v1/internal/reindex";
    row("GET", reindex, reindex, none.clone(), MANAGE);
    row("POST", reindex, reindex, json!({}), MANAGE_ACCEPTED);
    row("POST", "/api/v1/internal/check", "/api/v1/internal/check", Value::Null, MANAGE);
    row("GET", "/api/v1/internal/backup", "/api/v1/internal/backup", Value::Null, MANAGE);
    let job = ("/api/v1/internal/job/{id}", "/api/v1/internal/job/JOB");
    row("GET", job.0, job.1, none.clone(), MANAGE);
    graphql(&mut row);
    let openapi = "/api/v1/open-api-schema.json";
    row("GET", openapi, openapi, none.clone(), ANY_KEY);
    row("GET", "/admin", "/admin", none.clone(), UNAUTHENTICATED);
    row("GET", "/admin/{*path}", "/admin/c/note/one", none.clone(), UNAUTHENTICATED);
    for path in
        ["/docs", "/docs/page.css", "/docs/page.js", "/docs/swagger-ui.css", "/docs/swagger-ui.js"]
    {
        row("GET", path, path, none.clone(), UNAUTHENTICATED);
    }
    let keys = "/api/v1/internal/key";
    row("GET", keys, keys, none.clone(), MANAGE);
    row("POST", keys, keys, json!({ "name": "new", "kind": "read_only" }), MANAGE);
    let key = ("/api/v1/internal/key/{id}", "/api/v1/internal/key/KEY");
    row("PUT", key.0, key.1, json!({}), MANAGE);
    row("DELETE", key.0, key.1, none.clone(), MANAGE_NO_CONTENT);
    let rotate = ("/api/v1/internal/key/{id}/rotate", "/api/v1/internal/key/KEY/rotate");
    row("POST", rotate.0, rotate.1, none.clone(), MANAGE);
    users(&mut row);
    let hooks = "/api/v1/internal/webhook";
    row("GET", hooks, hooks, none.clone(), MANAGE);
    let log = ("/api/v1/internal/webhook/{id}/log", "/api/v1/internal/webhook/hook/log");
    row("GET", log.0, log.1, none.clone(), MANAGE);
    let replay = ("/api/v1/internal/webhook/{id}/replay", "/api/v1/internal/webhook/hook/replay");
    row("POST", replay.0, replay.1, json!({}), MANAGE);
    let test = ("/api/v1/internal/webhook/{id}/test", "/api/v1/internal/webhook/hook/test");
    row("POST", test.0, test.1, none, MANAGE);
    let after = rows.iter().position(|row| row.route.ends_with("/openid/callback")).unwrap() + 1;
    rows.splice(after..after, session_rows());
    rows
}

/// Rows of Draft & Public, for an object of a Draft & Public type.
fn publishing(row: &mut impl FnMut(&'static str, &'static str, &'static str, Value, [u16; 7])) {
    let one = ("/api/v1/content/{name}/{id}/publish", "/api/v1/content/post/one/publish");
    row("POST", one.0, one.1, Value::Null, WRITE_NO_CONTENT);
    let one = ("/api/v1/content/{name}/{id}/unpublish", "/api/v1/content/post/one/unpublish");
    row("POST", one.0, one.1, Value::Null, WRITE_NO_CONTENT);
    let one = ("/api/v1/content/{name}/{id}/archive", "/api/v1/content/post/one/archive");
    row("POST", one.0, one.1, Value::Null, WRITE_NO_CONTENT);
    let one = ("/api/v1/content/{name}/{id}/schedule", "/api/v1/content/post/one/schedule");
    let later = json!({ "scheduledAt": "2027-01-01T00:00", "timeZone": "UTC" });
    row("PUT", one.0, one.1, later, WRITE);
    row("DELETE", one.0, one.1, Value::Null, WRITE_NO_CONTENT);
    row("GET", "/api/v1/schedule", "/api/v1/schedule", Value::Null, ANY_KEY);
}

/// Shared views; the view in the path belongs to another caller.
fn views(row: &mut impl FnMut(&'static str, &'static str, &'static str, Value, [u16; 7])) {
    let all = "/api/v1/internal/contenttype/{name}/views";
    let view = json!({ "name": "All", "definition": {} });
    row("GET", all, "/api/v1/internal/contenttype/post/views", Value::Null, READ);
    row("POST", all, "/api/v1/internal/contenttype/post/views", view.clone(), WRITE);
    let one = "/api/v1/internal/contenttype/{name}/views/{id}";
    row("PUT", one, "/api/v1/internal/contenttype/post/views/VIEW", view, MANAGE);
    row(
        "DELETE",
        one,
        "/api/v1/internal/contenttype/post/views/VIEW",
        Value::Null,
        MANAGE_NO_CONTENT,
    );
}

/// Working copies; no caller has one before.
fn working_copies(row: &mut impl FnMut(&'static str, &'static str, &'static str, Value, [u16; 7])) {
    let one = ("/api/v1/content/{name}/{id}/working-copy", "/api/v1/content/post/one/working-copy");
    row("GET", one.0, one.1, Value::Null, [401, 401, 403, 404, 404, 403, 404]);
    row("PUT", one.0, one.1, json!({ "base": "", "data": {} }), WRITE);
    row("DELETE", one.0, one.1, Value::Null, WRITE_NO_CONTENT);
    let all = "/api/v1/working-copies";
    row("GET", all, all, Value::Null, [401, 401, 403, 200, 200, 200, 200]);
}

/// Preview tokens, and presence.
fn presence(row: &mut impl FnMut(&'static str, &'static str, &'static str, Value, [u16; 7])) {
    let preview = "/api/v1/preview";
    row("POST", preview, preview, json!({ "contentType": "post", "id": "one" }), WRITE);
    let all = "/api/v1/presence";
    let list = "/api/v1/presence?content_type=post&id=one";
    row("GET", all, list, Value::Null, [401, 401, 403, 200, 200, 403, 200]);
    let tab = json!({ "tab": "a", "contentType": "post", "id": "one" });
    row("PUT", all, all, tab, WRITE_NO_CONTENT);
    let one = ("/api/v1/presence/{tab}", "/api/v1/presence/a");
    row("DELETE", one.0, one.1, Value::Null, [401, 401, 403, 204, 204, 204, 204]);
}

/// Rows of the trash: every caller that can write something may list what it sees.
fn trash(row: &mut impl FnMut(&'static str, &'static str, &'static str, Value, [u16; 7])) {
    const LIST: [u16; 7] = [401, 401, 403, 200, 200, 200, 200];
    const ENTRY: [u16; 7] = [401, 401, 403, 200, 200, 404, 200];
    const REMOVE_ENTRY: [u16; 7] = [401, 401, 403, 204, 204, 404, 204];
    row("GET", "/api/v1/trash", "/api/v1/trash", Value::Null, LIST);
    row("POST", "/api/v1/trash/empty", "/api/v1/trash/empty", json!({}), MANAGE);
    let one = ("/api/v1/trash/{entry}", "/api/v1/trash/ENTRY");
    row("GET", one.0, one.1, Value::Null, ENTRY);
    let restore = ("/api/v1/trash/{entry}/restore", "/api/v1/trash/ENTRY/restore");
    row("POST", restore.0, restore.1, Value::Null, ENTRY);
    row("DELETE", one.0, one.1, Value::Null, REMOVE_ENTRY);
}

/// Uploads without a form: callers that may create media objects get a 400.
fn media(row: &mut impl FnMut(&'static str, &'static str, &'static str, Value, [u16; 7])) {
    const UPLOAD: [u16; 7] = [401, 401, 403, 400, 403, 403, 400];
    for path in ["/api/media", "/api/v1/media"] {
        row("POST", path, path, Value::Null, UPLOAD);
    }
    row("GET", "/image/{*path}", "/image/0x0/nothing.png", Value::Null, [404; 7]);
}

fn workflows(row: &mut impl FnMut(&'static str, &'static str, &'static str, Value, [u16; 7])) {
    row("GET", "/api/v1/workflow", "/api/v1/workflow", Value::Null, ANY_KEY);
    let one = ("/api/v1/workflow/{content_type}/{object_id}", "/api/v1/workflow/post/one");
    row("GET", one.0, one.1, Value::Null, READ);
    row("PUT", one.0, one.1, json!({ "action": "_draft_draft" }), WRITE);
    let all = "/api/v1/internal/workflow";
    row("GET", all, all, Value::Null, MANAGE);
    row("POST", all, all, json!({ "id": "fresh", "states": ["new"] }), MANAGE);
    let one = ("/api/v1/internal/workflow/{id}", "/api/v1/internal/workflow/own");
    row("GET", one.0, one.1, Value::Null, MANAGE);
    row("PUT", one.0, one.1, json!({ "states": ["new", "done"] }), MANAGE);
    row("DELETE", one.0, one.1, Value::Null, MANAGE_NO_CONTENT);
}

fn users(row: &mut impl FnMut(&'static str, &'static str, &'static str, Value, [u16; 7])) {
    let (all, none) = ("/api/v1/internal/user", Value::Null);
    let new = json!({ "email": "new@example.com", "name": "New", "role": "viewer" });
    row("GET", all, all, none.clone(), MANAGE);
    row("POST", all, all, new, MANAGE);
    let one = ("/api/v1/internal/user/{id}", "/api/v1/internal/user/USER");
    row("GET", one.0, one.1, none.clone(), MANAGE);
    row("PUT", one.0, one.1, json!({ "role": "author" }), MANAGE);
    row("DELETE", one.0, one.1, none.clone(), MANAGE_NO_CONTENT);
    row(
        "POST",
        "/api/v1/internal/user/{id}/link",
        "/api/v1/internal/user/USER/link",
        json!({}),
        MANAGE,
    );
    let sessions = ("/api/v1/internal/user/{id}/session", "/api/v1/internal/user/USER/session");
    row("GET", sessions.0, sessions.1, none.clone(), MANAGE);
    row("DELETE", sessions.0, sessions.1, none.clone(), MANAGE_NO_CONTENT);
    let methods = "/api/v1/session/methods";
    row("GET", methods, methods, none.clone(), UNAUTHENTICATED);
    for path in ["/api/v1/session/openid", "/api/v1/session/openid/callback"] {
        // Sign-in by OpenID Connect is not configured.
        row("GET", path, path, none.clone(), [404; 7]);
    }
}

/// Rows of routes that keys cannot use, with the status for sessions.
fn session_rows() -> Vec<Row> {
    // Keys get 403, and so does a sign-in that lacks the header against cross-site requests.
    const KEYS: [u16; 7] = [401, 401, 403, 403, 403, 403, 403];
    const SIGN_OUT: [u16; 7] = [204, 401, 403, 403, 403, 403, 403];
    let row = |method, route, path, body, statuses, status| Row {
        method,
        route,
        path,
        body,
        statuses,
        session_status: Some(status),
    };
    let (one, all, none) = ("/api/v1/session", "/api/v1/sessions", Value::Null);
    let settings = "/api/v1/session/settings";
    let password = json!({ "currentPassword": "a", "newPassword": "a password" });
    vec![
        row("POST", one, one, json!({ "email": "x@example.com", "password": "x" }), [403; 7], 401),
        row(
            "POST",
            "/api/v1/session/code",
            "/api/v1/session/code",
            json!({ "code": "x" }),
            [403; 7],
            400,
        ),
        row("GET", one, one, none.clone(), KEYS, 200),
        row("DELETE", one, one, none.clone(), SIGN_OUT, 204),
        // The users have no password: the response is a list of errors.
        row("PUT", "/api/v1/session/password", "/api/v1/session/password", password, KEYS, 400),
        row("GET", settings, settings, none.clone(), KEYS, 200),
        row("PUT", settings, settings, json!({ "language": "de" }), KEYS, 200),
        row("GET", all, all, none.clone(), KEYS, 200),
        row("DELETE", all, all, none.clone(), KEYS, 204),
        row("DELETE", "/api/v1/sessions/{id}", "/api/v1/sessions/unknown", none, KEYS, 404),
    ]
}

fn graphql(row: &mut impl FnMut(&'static str, &'static str, &'static str, Value, [u16; 7])) {
    for [path, with_query, schema] in [
        ["/api/graphql", "/api/graphql?query=%7B__typename%7D", "/api/graphql/schema"],
        ["/api/v2/graphql", "/api/v2/graphql?query=%7B__typename%7D", "/api/v2/graphql/schema"],
    ] {
        row("GET", path, with_query, Value::Null, READ);
        row("POST", path, path, json!({ "query": "{ __typename }" }), READ);
        row("GET", schema, schema, Value::Null, READ);
    }
}

/// The number of keys and users that were created to be changed or deleted.
static DISPOSABLE_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Restores the state that an earlier request may have changed; returns the path with the ids of this
/// data directory.
pub(crate) fn prepare(app: &TestApp, path: &str) -> String {
    let (cms, local) = (&app.core.cms, Caller::local());
    // These calls fail if an earlier caller has left the wanted state, which is no problem.
    drop(cms.types().delete(&local, "fresh"));
    drop(cms.types().create(&local, definition("author")));
    let one = object(&json!({ "id": "one", "title": "One" }));
    drop(cms.objects().create(&local, "post", one));
    let hook = json!({
        "id": "hook", "name": "Hook", "url": "https://example.com", "actions": [],
        "content_type_definitions": [],
    });
    drop(cms.objects().create(&local, "_webhooks", object(&hook)));
    drop(cms.workflows().delete(&local, "fresh"));
    drop(cms.workflows().create(&local, object(&json!({ "id": "own", "states": ["new"] }))));
    let mut post = definition("post");
    post.extend(settings(path));
    cms.types().update(&local, "post", post).unwrap();
    if path.ends_with("/schedule") {
        let action = PublishAction::Unpublish;
        cms.publishing().set_statuses(&local, "post", &["one".to_owned()], action).unwrap();
    }
    let disposable_number = DISPOSABLE_COUNT.fetch_add(1, Ordering::Relaxed);
    let key = app
        .core
        .create_key(&format!("disposable_number {disposable_number}"), KeyKind::ReadOnly, &[])
        .item
        .id;
    let user = json!({ "email": format!("{disposable_number}@example.org"), "name": "Victim", "role": "viewer" });
    let user = cms.users().create(&local, &object(&user), "http://localhost").unwrap().user.id;
    drop(cms.users().delete(&local, &user_with_email(cms, "new@example.com")));
    let view = json!({ "name": "Others", "definition": {} });
    let view = NewSharedView::from_payload(&object(&view)).unwrap();
    let view = cms.shared_views().create(&local, "post", view).unwrap().id;
    let space = cms.auth_context(&local).unwrap().space.id;
    let job = cms.search().reindex(&local, &Map::new()).unwrap().id;
    let nothing = json!({ "id": { "type": "equals", "filter": "none" } });
    let all = object(&json!({ "action": "delete", "filters": nothing, "expect": 0 }));
    let BulkResponse::Created { id: bulk } = cms.bulk().create(&local, "post", &all).unwrap()
    else {
        panic!("not a dry run")
    };
    let path = path.replace("SPACE", &space).replace("KEY", &key).replace("JOB", &job);
    let path = path.replace("VIEW", &view).replace("USER", &user).replace("BULK", &bulk);
    if !path.contains("ENTRY") {
        return path;
    }
    drop(cms.objects().create(&local, "post", object(&json!({ "id": "gone", "title": "Gone" }))));
    drop(cms.objects().delete(&local, "post", "gone"));
    let deletions = cms.trash().list(&local, &TrashRequest::default()).unwrap();
    path.replace("ENTRY", &deletions.data[0].entry)
}

/// The id of a user, or nothing.
fn user_with_email(cms: &Cms, email: &str) -> String {
    let request = UserListRequest { q: Some(email.to_owned()), ..UserListRequest::default() };
    let found = cms.users().list(&Caller::local(), &request).unwrap().data;
    found.first().map(|user| user.id.clone()).unwrap_or_default()
}

/// The settings of the type `post` that a path requires.
fn settings(path: &str) -> Map<String, Value> {
    let needs_draft_public =
        ["publish", "archive", "schedule"].iter().any(|word| path.ends_with(word));
    let workflow = if path.starts_with("/api/v1/workflow/") { "publishing" } else { "generic" };
    object(&json!({ "draftPublic": needs_draft_public, "workflowId": workflow }))
}

#[tokio::test]
async fn route_has_the_expected_status_for_each_caller() {
    for row in rows() {
        let app = TestApp::new();
        let mut statuses = [0; 7];
        for (status, caller) in statuses.iter_mut().zip(CallerKind::ALL) {
            let path = prepare(&app, row.path);
            *status = app.send_as(caller, row.method, &path, &row.body).await.status;
        }
        assert_eq!(statuses, row.statuses, "{} {}", row.method, row.path);
        let app = TestApp::new();
        let mut statuses = [0; 8];
        for (status, caller) in statuses.iter_mut().zip(CallerKind::WITH_COOKIE) {
            let path = prepare(&app, row.path);
            *status = app.send_as(caller, row.method, &path, &row.body).await.status;
        }
        assert_eq!(statuses, row.cookie_statuses(), "{} {} with a cookie", row.method, row.path);
    }
}

#[test]
fn route_table_is_covered() {
    let covered: Vec<_> = rows().iter().map(|row| (row.method, row.route)).collect();
    let routes: Vec<_> = ROUTES.iter().map(|route| (route.method.as_str(), route.path)).collect();
    assert_eq!(covered, routes);
}

#[test]
fn unauthenticated_routes_are_health_images_docs_and_sign_in() {
    let mut public: Vec<_> =
        ROUTES.iter().filter(|r| r.is_unauthenticated()).map(|r| r.path).collect();
    let is_page = |path: &&str| path.starts_with("/docs") || path.starts_with("/admin");
    let pages: Vec<_> = public.extract_if(.., |path| is_page(path)).collect();
    assert_eq!(
        (public, pages.len()),
        (
            vec![
                "/",
                "/healthz",
                "/writerz",
                "/readyz",
                "/metrics",
                "/image/{*path}",
                "/api/v1/session/methods",
                "/api/v1/session/openid",
                "/api/v1/session/openid/callback",
                "/api/v1/session",
                "/api/v1/session/code",
            ],
            7
        )
    );
}
