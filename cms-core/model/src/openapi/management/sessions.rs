//! Sign-in, and the session and the settings of the caller. They are described for every caller.

use serde_json::json;

use super::{
    Grants, SESSION_TAG, done, id, ok,
    schemas::{AUTH_CONTEXT, SESSION_ITEM},
    with_body,
};
use crate::{
    message::{NOT_VALID, required},
    openapi::{
        components::{allowed, any_object, conditional, error, paged},
        ir::{ApiResponse, Operation, Parameter, Schema, Security},
        parameters::pages,
    },
    wire::session::LinkKind,
};

const SESSION: &str = "CurrentSession";
const PATH: &str = "/api/v1/session";

pub(super) fn operations(grants: &Grants<'_>) -> Vec<Operation> {
    let mut all = sign_in(grants);
    all.extend(own());
    all
}

/// The operations that need no session.
fn sign_in(grants: &Grants<'_>) -> Vec<Operation> {
    let methods = Schema::record([
        ("password", Schema::boolean()),
        ("openId", open_id().or_null()),
        ("setup", Schema::boolean().described("Whether there is no user yet")),
    ]);
    let methods =
        Operation::get("/api/v1/session/methods", "getSessionMethods", "List the ways to sign in")
            .respond([ok(methods)]);
    let request = [
        ("email", Schema::text()),
        ("password", Schema::text()),
        ("code", Schema::text().described("Code of a link, instead of an e-mail address")),
        ("name", Schema::text().described("Name of the first user")),
    ];
    let post = Operation::post(PATH, "postSession", "Sign in");
    let wrong = json!({ "email": [required("email")], "password": [required("password")] });
    let post = with_body(post, Schema::object(request, &[]).closed(), wrong).respond([
        ok(Schema::reference(SESSION)),
        error(401, "E-mail address or password is wrong", "Unauthorized"),
        error(503, "Too many sign-ins at a time", "Service Unavailable"),
    ]);
    let kinds = [LinkKind::Setup, LinkKind::Invitation, LinkKind::Reset].map(LinkKind::as_str);
    let link = Schema::record([
        ("kind", Schema::one_of(&kinds)),
        ("email", Schema::text()),
        ("name", Schema::text()),
        ("expiresAt", Schema::text()),
    ]);
    let code = Operation::post(
        "/api/v1/session/code",
        "postSessionCode",
        "Get the purpose of a sign-in code",
    );
    let request = Schema::record([("code", Schema::text())]).closed();
    let expired = json!({ "code": ["This link has expired or was already used"] });
    let code = with_body(code, request, expired).respond([ok(link)]);
    let redirect =
        || [ApiResponse::empty(302, "Redirect"), error(404, "Not configured", "Not found")];
    let start = Operation::get("/api/v1/session/openid", "getOpenId", "Start single sign-on")
        .parameters([Parameter::text("return", "Page to return to")])
        .respond(redirect());
    let path = "/api/v1/session/openid/callback";
    let callback = Operation::get(path, "getOpenIdCallback", "Complete single sign-on")
        .parameters([
            Parameter::text("code", "Authorization code from the issuer"),
            Parameter::text("state", "State from the start of the sign-in"),
            Parameter::text("error", "Error code from the issuer"),
        ])
        .respond(redirect());
    let open_id = grants.rights.open_id;
    let all = [
        (true, methods),
        (true, with_sign_in_protection(post)),
        (true, with_sign_in_protection(code)),
        (open_id, start),
        (open_id, callback),
    ];
    let all = all.map(|(is_allowed, operation)| (is_allowed, operation.security(Security::Public)));
    allowed(SESSION_TAG, all)
}

/// Adds the header `X-CMS-Request`, which pages of this server send, and the responses to a request
/// without it and to a request after too many failures.
fn with_sign_in_protection(operation: Operation) -> Operation {
    let description = "Protects against requests of other sites";
    operation
        .parameters([Parameter::header("X-CMS-Request", description, "^1$").required()])
        .respond([
            error(403, "The request comes from another site", "Cross-site request refused"),
            too_many(),
        ])
}

/// Status 429.
fn too_many() -> ApiResponse {
    error(429, "Too many failed sign-ins", "Too Many Requests")
}

fn open_id() -> Schema {
    Schema::record([("label", Schema::text()), ("url", Schema::text())])
}

/// The operations of a signed-in user.
fn own() -> Vec<Operation> {
    const SETTINGS: &str = "/api/v1/session/settings";
    const ALL: &str = "/api/v1/sessions";
    let current = Operation::get(PATH, "getSession", "Get the session")
        .respond_if_allowed([ok(Schema::reference(SESSION))]);
    let sign_out =
        Operation::delete(PATH, "deleteSession", "Sign out").respond_if_allowed([done()]);
    let path = "/api/v1/session/password";
    let request = [("currentPassword", Schema::text()), ("newPassword", Schema::text())];
    let password = Operation::put(path, "putSessionPassword", "Change the password");
    let wrong = json!({ "currentPassword": [NOT_VALID] });
    let password = with_body(password, Schema::record(request).closed(), wrong)
        .respond_if_allowed([done(), too_many()]);
    let settings = Operation::get(SETTINGS, "getSettings", "Get the settings of the user")
        .respond_if_allowed([ok(any_object())]);
    let put = Operation::put(SETTINGS, "putSettings", "Replace the settings of the user");
    let put = with_body(put, any_object(), json!({ "code": 400, "message": "Malformed JSON" }))
        .respond_if_allowed([ok(any_object())]);
    let list = Operation::get(ALL, "getSessions", "List the sessions of the user")
        .parameters(pages())
        .respond_if_allowed([ok(paged(Schema::reference(SESSION_ITEM)))]);
    let end_others = Operation::delete(ALL, "deleteSessions", "End the other sessions")
        .respond_if_allowed([done()]);
    let end = Operation::delete("/api/v1/sessions/{id}", "deleteSessionById", "End a session")
        .parameters([id("Id of the session")])
        .respond_if_found([done()]);
    let all = [current, sign_out, password, settings, conditional(put), list, end_others, end];
    allowed(SESSION_TAG, all.map(|operation| (true, operation.security(Security::Session))))
}

/// The schemas of this module.
pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    let text = Schema::text;
    let times = Schema::record([
        ("id", text()),
        ("createdAt", text()),
        ("lastSeenAt", text()),
        ("expiresAt", text().described("When it ends if there are no further requests")),
        ("endsAt", text().described("Latest end, regardless of further requests")),
    ]);
    let session =
        Schema::all(vec![Schema::reference(AUTH_CONTEXT), Schema::record([("session", times)])]);
    let item = Schema::record([
        ("id", text()),
        ("current", Schema::boolean().described("Whether it is the session of the request")),
        ("createdAt", text()),
        ("lastSeenAt", text()),
        ("expiresAt", text()),
        ("endsAt", text()),
        ("address", text()),
        ("userAgent", text()),
    ]);
    vec![(SESSION, session), (SESSION_ITEM, item)]
}
