//! Schemas that operations of several subjects have, and the list of all schemas.

use serde_json::json;

use super::{content, editing, keys, server, sessions, types, users};
use crate::openapi::{
    ir::{ApiResponse, Schema},
    system::author,
};

/// The author of a change.
pub(super) const AUTHOR: &str = "ChangeAuthor";
/// A right of a key or user on a type.
pub(super) const RULE: &str = "AccessRule";
pub(super) const BULK_PREVIEW: &str = "BulkPreview";
pub(super) const BULK_JOB: &str = "BulkJob";
pub(super) const SESSION_ITEM: &str = "SessionItem";
pub(super) const AUTH_CONTEXT: &str = "AuthContext";

/// The schemas of the management document.
pub(in crate::openapi) fn all() -> Vec<(String, Schema)> {
    let shared = vec![(AUTHOR, author()), (RULE, rule())];
    [
        shared,
        content::schemas(),
        editing::schemas(),
        types::schemas(),
        sessions::schemas(),
        users::schemas(),
        keys::schemas(),
        server::schemas(),
    ]
    .into_iter()
    .flatten()
    .map(|(name, schema)| (name.to_owned(), schema))
    .collect()
}

fn rule() -> Schema {
    let right = || Schema::boolean().with_default(false);
    let members = [
        ("ctd", Schema::text().described("Name of a content type, or * for all")),
        ("create", right()),
        ("read", right()),
        ("update", right()),
        ("delete", right()),
    ];
    Schema::object(members, &["ctd"]).closed()
}

pub(super) fn rules() -> Schema {
    Schema::list(Schema::reference(RULE))
}

/// Status 409.
pub(super) fn conflict(message: &str) -> ApiResponse {
    let members =
        [("code", Schema::integer()), ("message", Schema::text()), ("data", Schema::anything())];
    ApiResponse::json(409, "The state has changed", Schema::object(members, &["code", "message"]))
        .example(json!({ "code": 409, "message": message }))
}
