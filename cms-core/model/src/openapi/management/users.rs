//! Users, for admins.

use serde_json::json;

use super::{
    Grants, MANAGEMENT_TAG, done, id, ok,
    schemas::{SESSION_ITEM, rules},
    with_body, with_optional_body,
};
use crate::{
    message::ALREADY_USED,
    openapi::{
        components::{allowed, paged, rejected},
        ir::{Operation, Parameter, Schema},
        parameters::{pages, paging},
    },
    wire::{
        session::LinkKind,
        user::{Role, UserOrder},
    },
};

const USER: &str = "UserAccount";
const LINK: &str = "SignInLink";
const ALL: &str = "/api/v1/internal/user";
const ONE: &str = "/api/v1/internal/user/{id}";
const SESSIONS: &str = "/api/v1/internal/user/{id}/session";

pub(super) fn operations(grants: &Grants<'_>) -> Vec<Operation> {
    let of = || [id("Id of the user")];
    let user = || ok(Schema::reference(USER));
    let taken = || json!({ "email": [ALREADY_USED] });
    let order = Schema::one_of(&UserOrder::ALL.map(UserOrder::as_str));
    let [page, limit, _, direction] = paging();
    let list = Operation::get(ALL, "getUsers", "List users")
        .parameters([
            page,
            limit,
            Parameter::text("q", "Part of the e-mail address or name"),
            Parameter::query("role", "Only users with this role", role()),
            Parameter::flag("disabled", "Only disabled users, or only others"),
            Parameter::query("order_by", "Order", order.with_default("name")),
            direction,
        ])
        .respond_if_allowed([ok(paged(Schema::reference(USER)))]);
    let link = Schema::reference(LINK);
    let created = Schema::all(vec![Schema::reference(USER), Schema::object([("link", link)], &[])]);
    let mut new = Vec::from(members());
    new.push(("password", Schema::text().described("Instead of an invitation")));
    let post = Operation::post(ALL, "postUser", "Create a user");
    let post = with_body(post, Schema::object(new, &["email", "name", "role"]), taken())
        .respond_if_allowed([ok(created)]);
    let get =
        Operation::get(ONE, "getUser", "Get a user").parameters(of()).respond_if_found([user()]);
    let put = Operation::put(ONE, "putUser", "Change a user").parameters(of());
    let put = with_body(put, Schema::object(members(), &[]), taken()).respond_if_found([user()]);
    let last =
        "The last enabled user with role admin cannot be deleted, disabled or given another role";
    let delete = Operation::delete(ONE, "deleteUser", "Delete a user")
        .parameters(of())
        .respond_if_found([done(), rejected(last)]);
    let request = Schema::object([("kind", kind())], &[]).closed();
    let path = "/api/v1/internal/user/{id}/link";
    let link = Operation::post(path, "postUserLink", "Create a sign-in link").parameters(of());
    let link = with_optional_body(link, request, json!({ "errors": ["The user is disabled"] }))
        .respond_if_found([ok(Schema::reference(LINK))]);
    let sessions = Operation::get(SESSIONS, "getUserSessions", "List the sessions of a user")
        .parameters(of())
        .parameters(pages())
        .respond_if_found([ok(paged(Schema::reference(SESSION_ITEM)))]);
    let end = Operation::delete(SESSIONS, "deleteUserSessions", "End the sessions of a user")
        .parameters(of())
        .respond_if_found([done()]);
    let all = [list, post, get, put, delete, link, sessions, end];
    allowed(MANAGEMENT_TAG, all.map(|operation| (grants.rights.admin, operation)))
}

pub(super) fn role() -> Schema {
    Schema::one_of(&Role::ALL.map(Role::as_str))
}

/// The kind of a sign-in link.
fn kind() -> Schema {
    Schema::one_of(&LinkKind::OF_USERS.map(LinkKind::as_str))
}

/// The members of a user that requests set.
fn members() -> [(&'static str, Schema); 6] {
    [
        ("email", Schema::text()),
        ("name", Schema::text()),
        ("role", role()),
        ("rules", rules()),
        ("mayPublish", Schema::boolean()),
        ("disabled", Schema::boolean()),
    ]
}

/// The schemas of this module.
pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    let pending = Schema::record([("kind", kind()), ("expiresAt", Schema::text())]);
    let others = [
        ("hasPassword", Schema::boolean()),
        ("openId", Schema::boolean().described("The user has signed in by OpenID Connect")),
        ("pendingLink", pending.or_null()),
        ("createdAt", Schema::text()),
        ("lastSeenAt", Schema::text().or_null()),
    ];
    let user = [("id", Schema::text())].into_iter().chain(members()).chain(others);
    let link = Schema::record([
        ("kind", kind()),
        ("url", Schema::text()),
        ("code", Schema::text()),
        ("expiresAt", Schema::text()),
    ]);
    vec![(USER, Schema::record(user)), (LINK, link)]
}
