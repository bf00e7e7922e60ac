//! The operations on objects of any type: a client that is generated from them knows no type and
//! works with all.

use serde_json::json;

use super::{EDITING_TAG, Grants, schemas};
use crate::{
    auth::scope::Access,
    message::required,
    openapi::{
        components::{self, LIST, VERSIONS_LIST, any_object, idempotent, invalid, paged},
        ir::{ApiResponse, Operation, Schema},
        objects::{ObjectOperations, ObjectSchemas},
    },
    wire::bulk::BulkAction,
};

/// The schema of an object of any type.
const ANY_OBJECT: &str = "ContentObject";

pub(super) fn operations(grants: &Grants<'_>) -> Vec<Operation> {
    let any_type = ObjectOperations {
        type_segment: "{contentType}",
        id_prefix: "content",
        label: "any type",
        tag: EDITING_TAG.to_owned(),
        schemas: ObjectSchemas {
            input: any_object(),
            output: Schema::reference(ANY_OBJECT),
            patch: any_object(),
            list: paged(Schema::reference(ANY_OBJECT)),
            versions: Schema::all(vec![Schema::reference(LIST), Schema::reference(VERSIONS_LIST)]),
        },
        errors: json!({ "title": [required("title")] }),
        draft_public: true,
    };
    let mut all = any_type.allowed(|needs| grants.on_some_type(needs), grants.rights.publish);
    let changes = [Access::UPDATE, Access::DELETE].map(|access| Access::READ | access);
    if grants.rights.write && changes.into_iter().any(|needs| grants.on_some_type(needs)) {
        all.push(bulk(&any_type).tag(EDITING_TAG));
    }
    all
}

fn bulk(any_type: &ObjectOperations<'_>) -> Operation {
    let operation = any_type
        .operation("post", "/bulk", "bulk", "Change all objects that match filters")
        .body(request())
        .respond_to_body([
            ApiResponse::json(
                200,
                "Result of the dry run",
                Schema::reference(schemas::BULK_PREVIEW),
            ),
            ApiResponse::json(202, "The id of the job", Schema::record([("id", Schema::text())])),
            invalid(json!({ "filters": [required("filters")] })),
            schemas::conflict("The number of matching objects has changed"),
        ]);
    idempotent(operation)
}

fn request() -> Schema {
    let expected = "Number of objects that must match; required unless `dryRun`";
    let members = [
        ("action", Schema::one_of(&BulkAction::ALL.map(BulkAction::as_str))),
        ("filters", any_object().described("Filters, as an object instead of a text")),
        ("q", Schema::text().described("A search text")),
        ("all", Schema::boolean().described("All objects of the type")),
        ("patch", any_object().described("The properties to change")),
        ("replace", replacements()),
        ("transition", Schema::text().described("Name of a transition of the workflow")),
        ("expect", Schema::integer().described(expected)),
        ("dryRun", Schema::boolean().with_default(false)),
    ];
    Schema::object(members, &["action"]).closed()
}

fn replacements() -> Schema {
    let members = [
        ("path", Schema::text().described("Path of the value, such as `rows[*].kind`")),
        ("from", Schema::text()),
        ("to", Schema::text()),
    ];
    Schema::list(Schema::record(members).closed())
        .described("Texts to replace in each object, instead of `patch`")
}

/// The schemas of this module.
pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    let members = [("id", Schema::text()), ("internal", internal())];
    let object = Schema::object(members, &["id"]).described("An object of any content type");
    vec![(ANY_OBJECT, object.open())]
}

/// The metadata of an object of any type. With `fields[]` members may be missing, or added.
fn internal() -> Schema {
    let author = || Schema::reference(schemas::AUTHOR);
    let added = [("createdBy", author()), ("updatedBy", author())];
    let members = components::internal_members().into_iter().chain(added);
    Schema::object(members, &[]).described("Metadata of the object; read-only")
}
