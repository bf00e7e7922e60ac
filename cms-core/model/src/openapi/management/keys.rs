//! Keys, for admins.

use serde_json::json;

use super::{Grants, MANAGEMENT_TAG, done, id, ok, schemas::rules, with_body, with_optional_body};
use crate::{
    limits,
    message::{above_maximum, required},
    openapi::{
        components::{allowed, paged},
        ir::{Operation, Schema},
    },
    wire::key::KeyKind,
};

const KEY: &str = "ApiKey";
const NEW_TOKEN: &str = "ApiKeyWithToken";

pub(super) fn operations(grants: &Grants<'_>) -> Vec<Operation> {
    const ALL: &str = "/api/v1/internal/key";
    const ONE: &str = "/api/v1/internal/key/{id}";
    let of = || [id("Id of the key")];
    let wrong = || json!({ "name": [required("name")] });
    let members = || [("name", Schema::text()), ("kind", kind()), ("rules", rules())];
    let list = Operation::get(ALL, "getKeys", "List keys")
        .respond_if_allowed([ok(paged(Schema::reference(KEY)))]);
    let post = Operation::post(ALL, "postKey", "Create a key");
    let post = with_body(post, Schema::object(members(), &["name", "kind"]), wrong())
        .respond_if_allowed([ok(Schema::reference(NEW_TOKEN))]);
    let put = Operation::put(ONE, "putKey", "Change a key").parameters(of());
    let put = with_body(put, Schema::object(members(), &[]), wrong())
        .respond_if_found([ok(Schema::reference(KEY))]);
    let delete = Operation::delete(ONE, "deleteKey", "Revoke a key")
        .parameters(of())
        .respond_if_found([done()]);
    let hours = Schema::integer_between(0, limits::MAX_GRACE_HOURS)
        .with_default(0)
        .described("How long the old token stays valid");
    let request = Schema::object([("graceHours", hours)], &[]);
    let path = "/api/v1/internal/key/{id}/rotate";
    let rotate = Operation::post(path, "rotateKey", "Replace the token of a key").parameters(of());
    let too_long = json!({ "graceHours": [above_maximum(limits::MAX_GRACE_HOURS)] });
    let rotate = with_optional_body(rotate, request.closed(), too_long)
        .respond_if_found([ok(Schema::reference(NEW_TOKEN))]);
    let all = [list, post, put, delete, rotate];
    allowed(MANAGEMENT_TAG, all.map(|operation| (grants.rights.admin, operation)))
}

pub(super) fn kind() -> Schema {
    Schema::one_of(&KeyKind::ALL.map(KeyKind::as_str))
}

/// The schemas of this module.
pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    let key = Schema::record([
        ("id", Schema::text()),
        ("name", Schema::text()),
        ("kind", kind()),
        ("rules", rules()),
        ("createdAt", Schema::text()),
        ("lastUsedAt", Schema::text().or_null()),
        ("previousValidUntil", Schema::text().or_null()),
    ]);
    let token = Schema::text().described("The token, which is shown only here");
    let with_token = Schema::all(vec![Schema::reference(KEY), Schema::record([("key", token)])]);
    vec![(KEY, key), (NEW_TOKEN, with_token)]
}
