//! The operations that only the management document has (see
//! docs/reference/openapi.md#management): every route of the server that the caller may call. Each
//! module describes the routes of one subject.

pub mod content;
pub mod editing;
pub mod keys;
pub mod schemas;
pub mod server;
pub mod sessions;
pub mod types;
pub mod users;

use super::{
    components::{body_errors, invalid},
    ir::{ApiResponse, Operation, Schema},
    parameters,
};
use crate::auth::scope::Access;

pub(super) const MANAGEMENT_TAG: &str = "Management";
pub(super) const SESSION_TAG: &str = "Session";
pub(super) const EDITING_TAG: &str = "Editing";

/// The rights of the caller that decide about operations of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent rights")]
pub struct ManagementRights {
    pub admin: bool,
    /// The caller is not restricted to reading.
    pub write: bool,
    pub publish: bool,
    pub plan_types: bool,
    pub change_types: bool,
    /// Single sign-on is configured.
    pub open_id: bool,
}

/// The rights of the caller, those on types included.
pub(super) struct Grants<'a> {
    pub(super) rights: ManagementRights,
    /// The rights on each type, hidden ones included.
    pub(super) accesses: &'a [Access],
    /// The caller may create media objects.
    pub(super) may_upload: bool,
}

impl Grants<'_> {
    /// Returns whether the caller has all rights `needs` on some type.
    fn on_some_type(&self, needs: Access) -> bool {
        (self.rights.write || !needs.is_write())
            && self.accesses.iter().any(|access| access.contains(needs))
    }
}

/// The operations that the caller may use; those of one path are adjacent.
pub(super) fn operations(grants: &Grants<'_>) -> Vec<Operation> {
    let mut all: Vec<Operation> = [
        content::operations(grants),
        editing::operations(grants),
        types::operations(grants),
        sessions::operations(grants),
        users::operations(grants),
        keys::operations(grants),
        server::operations(grants),
    ]
    .into_iter()
    .flatten()
    .collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

/// Adds parameters to operations that every document has; only the management document has these parameters.
pub(super) fn extend(operations: &mut [Operation]) {
    for operation in operations {
        let parameter = match operation.id.as_str() {
            "search" => parameters::fields("item_fields[]"),
            "getChanges" => parameters::presence(),
            _ => continue,
        };
        operation.parameters.push(parameter);
    }
}

/// Status 200.
fn ok(schema: Schema) -> ApiResponse {
    ApiResponse::json(200, "Done", schema)
}

/// Status 204.
fn done() -> ApiResponse {
    ApiResponse::empty(204, "Done")
}

/// A JSON body, with the responses to one that is not valid.
fn with_body(operation: Operation, schema: Schema, error: serde_json::Value) -> Operation {
    operation.body(schema).respond([invalid(error)]).respond(body_errors())
}

/// A JSON body that may be absent, with the responses to one that is not valid.
fn with_optional_body(operation: Operation, schema: Schema, error: serde_json::Value) -> Operation {
    Operation { body_is_optional: true, ..with_body(operation, schema, error) }
}

fn id(description: &'static str) -> super::ir::Parameter {
    super::ir::Parameter::path("id", description, Schema::text())
}
