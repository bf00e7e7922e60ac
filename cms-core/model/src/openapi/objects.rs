//! The operations on objects: of one content type, or of any type in the management document (see
//! docs/reference/openapi.md#paths-of-a-type). This module knows schemas by reference only.

use serde_json::{Value, json};

use super::{
    components::{
        self, BATCH_ERROR, BATCH_SUCCESS, INCOMING, SCHEDULE, WORKING_COPY, WORKING_COPY_INPUT,
        any_object, cacheable, conditional, idempotent, invalid, rejected, texts, with_keep_dates,
    },
    ir::{ApiResponse, Operation, Parameter, Schema},
    names::pascal_case,
    parameters::{content_types, fields, hydrate, levels, list_parameters, pages, paging},
};
use crate::{
    auth::scope::Access,
    limits,
    message::{NOT_VALID, Reason, WRONG_DATE, required},
    wire::publish::PublishAction,
};

/// The rights of which a caller needs one for an operation. Without them, the document omits the operation.
type AnyOf = &'static [Access];

const READ: AnyOf = &[Access::READ];
const CREATE: AnyOf = &[Access::CREATE];
const UPDATE: AnyOf = &[Access::UPDATE];
const DELETE: AnyOf = &[Access::DELETE];
const READ_DELETED: AnyOf = &[Access::READ_DELETED];
const DUPLICATE: AnyOf = &[Access::DUPLICATE];
/// The request says whether it is about a new or an existing object.
const CREATE_OR_UPDATE: AnyOf = &[Access::CREATE, Access::UPDATE];

/// The operations on the objects of one type, or of any type.
pub(super) struct ObjectOperations<'a> {
    /// The segment of paths that stands for the type: a name, or a parameter in braces.
    pub(super) type_segment: &'a str,
    pub(super) id_prefix: &'a str,
    pub(super) label: &'a str,
    pub(super) tag: String,
    pub(super) schemas: ObjectSchemas,
    /// An example of validation errors.
    pub(super) errors: Value,
    pub(super) draft_public: bool,
}

/// References to the schemas of objects.
pub(super) struct ObjectSchemas {
    pub(super) input: Schema,
    pub(super) output: Schema,
    pub(super) patch: Schema,
    pub(super) list: Schema,
    pub(super) versions: Schema,
}

impl ObjectOperations<'_> {
    /// The operations that the caller may use, those of one path together.
    pub(super) fn allowed(
        &self,
        may: impl Fn(Access) -> bool,
        may_publish: bool,
    ) -> Vec<Operation> {
        let mut all = self.objects();
        all.extend(self.batches());
        all.extend(self.versions());
        all.extend(self.editing());
        let is_allowed = |any_of: AnyOf| any_of.iter().any(|access| may(*access));
        let allowed = all.into_iter().filter(|(any_of, _)| is_allowed(any_of));
        let mut allowed: Vec<_> = allowed.map(|(_, operation)| operation).collect();
        if self.draft_public && may_publish && may(Access::UPDATE) {
            allowed.extend(self.publishing());
        }
        allowed.into_iter().map(|operation| operation.tag(&self.tag)).collect()
    }

    fn is_any_type(&self) -> bool {
        self.type_segment.starts_with('{')
    }

    pub(super) fn operation(
        &self,
        method: &'static str,
        path_suffix: &str,
        verb: &str,
        summary: &str,
    ) -> Operation {
        let path = format!("/api/v1/content/{}{path_suffix}", self.type_segment);
        let id = format!("{}_{verb}", self.id_prefix);
        let of_any_type = self.is_any_type().then(content_type);
        let of_one = match path_suffix {
            "/{id}/working-copy" => {
                let what = "Id of the object, or ~ and a UUID for a new one";
                Some(Parameter::path("id", what, components::id_of_working_copy()))
            }
            _ => path_suffix.starts_with("/{id}").then(object_id),
        };
        Operation::new(method, &path, &id, &format!("{summary} ({})", self.label))
            .parameters(of_any_type)
            .parameters(of_one)
    }

    fn object(&self) -> ApiResponse {
        ApiResponse::json(200, "The object", self.schemas.output.clone())
    }

    fn objects(&self) -> Vec<(AnyOf, Operation)> {
        let write = |operation: Operation, body: Schema| {
            operation.body(body).respond_to_body([self.object(), invalid(self.errors.clone())])
        };
        let list = self.schemas.list.clone();
        let list = self
            .operation("get", "", "list", "List objects")
            .parameters(list_parameters())
            .respond_if_found([ApiResponse::json(200, "A page of objects", list), bad_filters()]);
        let get = self
            .operation("get", "/{id}", "get", "Get an object")
            .parameters([hydrate(), fields("fields[]")])
            .respond_if_found([self.object(), too_many_fields()]);
        let delete =
            self.operation("delete", "/{id}", "delete", "Delete an object").respond_if_found([
                ApiResponse::empty(204, "Deleted"),
                rejected("This content object is used in another content object."),
            ]);
        let create = self.operation("post", "", "create", "Create an object");
        let update = self.operation("put", "/{id}", "update", "Replace an object");
        let patch = self.operation("patch", "/{id}", "patch", "Change properties of an object");
        vec![
            (READ, cacheable(list)),
            (CREATE, with_keep_dates(idempotent(write(create, self.schemas.input.clone())))),
            (READ, cacheable(get)),
            (UPDATE, conditional(write(update, self.schemas.input.clone()))),
            (UPDATE, conditional(write(patch, self.schemas.patch.clone()))),
            (DELETE, conditional(delete)),
        ]
    }

    fn batches(&self) -> Vec<(AnyOf, Operation)> {
        let write = |operation: Operation| {
            let reference = Schema::reference;
            operation.body(Schema::list(self.schemas.input.clone())).respond_to_body([
                ApiResponse::json(200, "All objects were saved", reference(BATCH_SUCCESS)),
                ApiResponse::json(400, "Some objects were rejected", reference(BATCH_ERROR)),
            ])
        };
        let create = self
            .operation("post", "/batch", "batchCreate", "Create many objects")
            .parameters([Parameter::query(
                "updateExisting",
                "Replace objects that exist already",
                Schema::boolean().with_default(false),
            )]);
        let patch = self.operation("patch", "/batch", "batchPatch", "Change many objects");
        let deleted = Schema::record([("deletedCount", Schema::number())]);
        let delete = self
            .operation("post", "/batch-delete", "batchDelete", "Delete many objects")
            .body(texts())
            .respond_to_body([
                ApiResponse::json(200, "Number of deleted objects", deleted),
                rejected("Content object: \"a\" doesn't exist"),
            ]);
        vec![
            (CREATE, with_keep_dates(idempotent(write(create)))),
            (UPDATE, write(patch)),
            (DELETE, delete),
        ]
    }

    fn versions(&self) -> Vec<(AnyOf, Operation)> {
        let list = self.schemas.versions.clone();
        let [page, limit, _, direction] = paging();
        let list = self
            .operation("get", "/{id}/version", "listVersion", "List versions of an object")
            .parameters([page, limit, direction])
            .respond_if_found([ApiResponse::json(200, "A page of versions", list)]);
        let number = Parameter::path("versionId", "Number of the version", Schema::text());
        let get = self
            .operation("get", "/{id}/version/{versionId}", "getVersions", "Get an old version")
            .parameters([number])
            .respond_if_found([ApiResponse::json(
                200,
                "The object in this version",
                self.schemas.output.clone(),
            )]);
        let after = "Only deletions after this time";
        let removed = self
            .operation("get", "/removed", "getRemoved", "List ids of deleted objects")
            .parameters([Parameter::text("deletedAfter", after)])
            .respond_if_found([
                ApiResponse::json(200, "Ids, the oldest deletion first", texts()),
                invalid(json!({ "deletedAfter": [WRONG_DATE] })),
            ]);
        vec![(READ, cacheable(list)), (READ, cacheable(get)), (READ_DELETED, removed)]
    }

    /// What editors need besides reading and writing.
    fn editing(&self) -> Vec<(AnyOf, Operation)> {
        let related = "Ids of related objects that are copied too";
        let related = texts().described(related);
        let list = "relatedObjectsToDuplicate";
        let duplicate = self
            .operation("post", "/{id}/duplicate", "duplicate", "Copy an object")
            .body(Schema::record([(list, related)]))
            .respond_to_body([
                ApiResponse::json(200, "The copy", self.schemas.output.clone()),
                invalid(json!({ list: [required(list)] })),
            ]);
        let existing = "Check a replacement of this object instead of a new one";
        let validate = self
            .operation("post", "/validate", "validate", "Check an object without saving it")
            .parameters([
                Parameter::query("id", existing, components::id()),
                Parameter::flag("patch", "Check a change of properties"),
            ])
            .body(self.schemas.patch.clone())
            .respond_to_body([
                ApiResponse::empty(204, "It would be saved"),
                invalid(self.errors.clone()),
            ]);
        let incoming = self
            .operation("get", "/{id}/incoming", "incoming", "List objects that link to an object")
            .parameters([content_types()])
            .parameters(pages())
            .respond_if_found([ApiResponse::json(
                200,
                "A page of links",
                Schema::reference(INCOMING),
            )]);
        let copy = || ApiResponse::json(200, "The working copy", Schema::reference(WORKING_COPY));
        let of_copy = |method, verb: &str, summary: &str| {
            self.operation(method, "/{id}/working-copy", verb, summary)
        };
        let get = of_copy("get", "getWorkingCopy", "Get the working copy of the caller")
            .respond_if_found([copy()]);
        let put = of_copy("put", "putWorkingCopy", "Store the working copy of the caller")
            .body(Schema::reference(WORKING_COPY_INPUT))
            .respond_to_body([copy(), invalid(json!({ "base": [required("base")] }))]);
        let delete =
            of_copy("delete", "deleteWorkingCopy", "Delete the working copy of the caller")
                .respond_if_found([ApiResponse::empty(
                    204,
                    "The caller has no working copy of the object",
                )]);
        vec![
            (DUPLICATE, idempotent(duplicate)),
            (CREATE_OR_UPDATE, conditional(validate)),
            (READ, incoming),
            (CREATE_OR_UPDATE, get),
            (CREATE_OR_UPDATE, conditional(put)),
            (CREATE_OR_UPDATE, conditional(delete)),
        ]
    }

    fn scheduling(&self) -> [Operation; 2] {
        let path = "/{id}/schedule";
        let put = self
            .operation("put", path, "schedule", "Schedule the publication of an object")
            .body(Schema::reference(SCHEDULE))
            .respond_to_body([self.object(), invalid(json!({ "scheduledAt": [NOT_VALID] }))]);
        let delete = self
            .operation(
                "delete",
                path,
                "unschedule",
                "Cancel the scheduled publication of an object",
            )
            .respond([ApiResponse::empty(204, "The object has no schedule")])
            .respond_if_found(
                self.is_any_type().then(|| rejected(&Reason::NoDraftPublic.to_string())),
            );
        [put, delete].map(conditional)
    }

    /// Actions on one object, batch actions, and schedules.
    fn publishing(&self) -> Vec<Operation> {
        let depth = "With 1, do the same to objects that this one links to";
        let one = |action: PublishAction| {
            let (verb, capital) = (action.as_str(), pascal_case(action.as_str()));
            let path = format!("/{{id}}/{verb}");
            self.operation("post", &path, verb, &format!("{capital} an object"))
                .parameters([Parameter::query("hydrate", depth, levels(1))])
                .respond_if_found([
                    ApiResponse::empty(204, "Done"),
                    rejected("Action \"archive\" is not allowed in status \"draft\""),
                ])
        };
        let batch = |action: PublishAction| {
            let (verb, capital) = (action.as_str(), pascal_case(action.as_str()));
            let (path, id) = (format!("/batch-{verb}"), format!("batch{capital}"));
            let limit = Some(limits::MAX_PUBLISH_BATCH_IDS as u64);
            self.operation("post", &path, &id, &format!("{capital} many objects"))
                .body(Schema::list_between(Schema::text(), 0, limit))
                .respond_to_body([ApiResponse::empty(204, "Done"), too_many()])
        };
        let single = PublishAction::ALL.map(one).map(conditional);
        single.into_iter().chain(PublishAction::ALL.map(batch)).chain(self.scheduling()).collect()
    }
}

/// Status 400 of a batch action: too many objects, an invalid body, or no Draft & Public.
fn too_many() -> ApiResponse {
    let limit = limits::MAX_PUBLISH_BATCH_IDS;
    let example =
        json!({ "batch_limit": limit, "data": [format!("Batch limit exceeded, limit: {limit}")] });
    ApiResponse::json(400, "Validation errors; nothing was changed", any_object()).example(example)
}

fn content_type() -> Parameter {
    Parameter::path("contentType", "Name of the content type", components::type_name())
}

fn object_id() -> Parameter {
    Parameter::path("id", "Id of the object", components::id())
}

fn too_many_fields() -> ApiResponse {
    let limit = limits::MAX_FIELDS;
    invalid(json!({ "fields": [format!("Too many fields, limit: {limit}")] }))
}

fn bad_filters() -> ApiResponse {
    invalid(json!({ "filters": ["Malformed filters json - Syntax error"] }))
}
