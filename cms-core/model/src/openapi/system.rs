//! Operations that do not belong to a content type (see docs/reference/openapi.md#other-paths).

use serde_json::json;

use super::{
    components::{
        self, TYPE, TYPE_LIST, allowed, any_object, body_errors, conditional, denied,
        denied_or_missing, invalid, paged, rejected, texts, transition, workflow,
    },
    ir::{ApiResponse, Content, Operation, Parameter, Schema, SchemaKind, Security},
    parameters,
};
use crate::{
    media::output,
    message::{CHANGES_EXPIRED, NOT_VALID},
    wire::{content_type::TypeOrder, search::QueryMode},
};

/// A position in the journal, as events carry it.
const LAST_EVENT_ID_PATTERN: &str = "^[0-9]+(-[0-9a-fA-F]{1,8})?$";
pub(super) const SEARCH_TAG: &str = "Search API";
pub(super) const MEDIA_TAG: &str = "Media";
pub(super) const INTERNAL_TAG: &str = "Internal";
pub(super) const GRAPHQL_TAG: &str = "GraphQL";

/// The rights of the caller that decide which operations of this module the document contains.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "four independent rights")]
pub(super) struct OperationRights {
    /// Create, change and delete content types.
    pub(super) change_types: bool,
    /// Upload files: create objects of `_media`.
    pub(super) upload: bool,
    /// Read objects of some type.
    pub(super) read: bool,
    /// Change objects of some type.
    pub(super) update: bool,
}

/// The operations that the caller may use; those of one path are adjacent.
pub(super) fn operations(rights: OperationRights) -> Vec<Operation> {
    let mut all = types(rights.change_types);
    all.push(search());
    if rights.read {
        all.extend(graphql());
    }
    if rights.upload {
        all.push(upload());
    }
    all.push(image());
    all.extend(workflows(rights));
    all
}

fn types(may_change: bool) -> Vec<Operation> {
    const ALL: &str = "/api/v1/internal/contenttype";
    const ONE: &str = "/api/v1/internal/contenttype/{id}";
    let definition = || ApiResponse::json(200, "The content type", Schema::reference(TYPE));
    let name = || Parameter::path("id", "Name or id of the content type", Schema::text());
    let write = |operation: Operation| {
        operation
            .body(Schema::reference(TYPE))
            .respond([definition(), invalid(json!({ "name": ["This value is already used"] }))])
    };
    let [page, limit, _, direction] = parameters::paging();
    let order = TypeOrder::ALL.map(TypeOrder::as_str);
    let list = Operation::get(ALL, "getContentDefinitions", "List content types")
        .parameters([
            page,
            limit,
            Parameter::query("order_by", "Order", Schema::one_of(&order).with_default("name")),
            direction,
            Parameter::text("name", "Part of the name"),
            Parameter::text("label", "Part of the label"),
            Parameter::query("names[]", "Exact names", texts()),
            Parameter::flag("internal", "Only system types, or only the others"),
        ])
        .respond_if_allowed([ApiResponse::json(
            200,
            "A page of content types",
            Schema::reference(TYPE_LIST),
        )]);
    let post = write(Operation::post(ALL, "postContentDefinition", "Create a content type"))
        .respond(denied())
        .respond(body_errors());
    let get = Operation::get(ONE, "getContentDefinition", "Get a content type")
        .parameters([
            name(),
            Parameter::flag("resolveRef", "`schemaDefinition` is one flat schema"),
            Parameter::flag("strictSchema", "With `resolveRef`: only the schema"),
        ])
        .respond_if_found([definition()]);
    let put = write(Operation::put(ONE, "putContentDefinition", "Replace a content type"))
        .parameters([name()])
        .respond(denied_or_missing())
        .respond(body_errors());
    let what = "Delete a content type that has no objects";
    let delete = Operation::delete(ONE, "deleteContentDefinition", what)
        .parameters([name()])
        .respond_if_found([
            ApiResponse::empty(200, "Deleted"),
            rejected("Content Type has objects, you can't remove it!"),
        ]);
    allowed(
        INTERNAL_TAG,
        [(true, list), (may_change, post), (true, get), (may_change, put), (may_change, delete)],
    )
}

fn search() -> Operation {
    let query = Parameter::query;
    let list = |name, description| query(name, description, texts());
    let map = |name, description| Parameter::map(name, description, Schema::map(Schema::text()));
    let [page, _, _, direction] = parameters::paging();
    let missing = Schema::one_of(&["_first", "_last"]).with_default("_last");
    let modes = QueryMode::ALL.map(QueryMode::as_str);
    Operation::get("/api/v1/search", "search", "Search all content")
        .tag(SEARCH_TAG)
        .parameters([
            query("q", "Words, or * for everything", Schema::text()).required(),
            page,
            parameters::limit("Entries of a page"),
            list("content_type[]", "Only objects of these types"),
            list("fields[]", "Only these properties, with ^weight if wanted"),
            map("filters", "Filters by property"),
            map("post_filters", "Filters that do not affect aggregations"),
            map("geo_filters", "Distances by property: geo_distance,10km,52.5,13.4"),
            Parameter::text("order_by", "Property to order by"),
            direction,
            query("order_missing", "Position of objects without the property", missing),
            query("random_seed", "Seed of a random order", Schema::number()),
            parameters::hydrate(),
            query("query_mode", "How words match", Schema::one_of(&modes).with_default(modes[0])),
            Parameter::flag("decay_old", "Lower the scores of older objects"),
            list("aggregate_by[]", "Count values of these properties"),
            list("aggregate_by_numeric[]", "Count values of these numeric properties"),
            Parameter::map(
                "indices_boost",
                "Multiply the scores of types",
                Schema::map(Schema::number()),
            ),
        ])
        .respond_if_allowed([
            ApiResponse::json(200, "A page of hits", Schema::reference(components::SEARCH)),
            invalid(json!({ "q": ["The property q is required"] })),
        ])
}

/// The author of a change.
pub(super) fn author() -> Schema {
    let kinds = ["user", "key", "local", "system"];
    Schema::record([
        ("kind", Schema::one_of(&kinds)),
        ("id", Schema::text().or_null()),
        ("name", Schema::text()),
    ])
}

pub(super) fn changes() -> Operation {
    let change = [
        ("seq", Schema::integer()),
        ("at", Schema::text()),
        ("action", Schema::text().example("update")),
        ("contentType", Schema::text()),
        ("id", Schema::text().described("Absent when the type as a whole changed")),
        ("version", Schema::integer()),
        ("by", author()),
    ];
    let change = Schema::object(change, &["seq", "at", "action", "contentType", "by"]);
    let page = Schema::record([
        ("data", Schema::list(change)),
        ("next", Schema::text().described("`since` of the next request").example("812-5f3c9a01")),
        ("more", Schema::boolean().described("Whether more changes follow")),
    ]);
    let expired = json!({ "code": 410, "message": CHANGES_EXPIRED });
    let what = "Changes, oldest first; with Accept: text/event-stream, a stream of events";
    Operation::get("/api/v1/changes", "getChanges", "Follow the changes of content")
        .tag(INTERNAL_TAG)
        .parameters([
            Parameter::text("since", "`next` of the last page, or id of the last event"),
            Parameter::query("types[]", "Only changes of these types", texts()),
            parameters::limit("Maximum number of changes"),
            Parameter::header(
                "Last-Event-ID",
                "The same as `since`, for streams that reconnect",
                LAST_EVENT_ID_PATTERN,
            ),
        ])
        .respond_if_allowed([
            ApiResponse::json(200, what, page),
            invalid(json!({ "since": [NOT_VALID] })),
            ApiResponse::json(410, "Changes after this position were removed", any_object())
                .example(expired),
        ])
}

fn graphql() -> Vec<Operation> {
    queries("/api/graphql", ["graphQL", "graphQLByAddress", "graphQLSchema"])
}

/// The second version of GraphQL.
pub(super) fn graphql_v2() -> Vec<Operation> {
    queries("/api/v2/graphql", ["graphQLV2", "graphQLV2ByAddress", "graphQLV2Schema"])
}

/// Queries by POST and GET, and the schema, with these ids.
fn queries(path: &str, ids: [&str; 3]) -> Vec<Operation> {
    let request = [
        ("query", Schema::text()),
        ("variables", any_object().or_null()),
        ("operationName", Schema::text().or_null()),
        ("extensions", any_object().described("Hash of a persisted query, instead of `query`")),
    ];
    let response = || {
        let errors = Schema::list(any_object());
        Schema::object([("data", any_object().or_null()), ("errors", errors)], &[])
    };
    let error = |status, description| ApiResponse::json(status, description, response());
    let responses = || {
        [
            ApiResponse::json(200, "Result of the query", response()),
            error(400, "The query is not valid"),
            error(401, "The key is missing or unknown"),
            error(403, "The key does not allow this"),
            error(404, "Unknown content type"),
        ]
    };
    let post = Operation::post(path, ids[0], "Run a GraphQL query")
        .body(Schema::object(request, &[]))
        .respond(responses())
        .respond([error(413, "The body is too large"), error(415, "The body is not JSON")]);
    let get = Operation::get(path, ids[1], "Run a GraphQL query with a cacheable response")
        .parameters([
            Parameter::text("query", "The query"),
            Parameter::text("variables", "Values of its variables, as JSON"),
            Parameter::text("operationName", "Name of the operation to run"),
            Parameter::text("extensions", "Hash of a persisted query, as JSON"),
        ])
        .respond(responses());
    let text = Content { media_type: "text/plain", schema: Schema::text() };
    let text = ApiResponse::new(200, "The schema as SDL", text);
    let schema = Operation::get(&format!("{path}/schema"), ids[2], "Get the GraphQL schema")
        .respond_if_allowed([text]);
    [post, get, schema].map(|operation| operation.tag(GRAPHQL_TAG)).into()
}

/// The upload under its other path.
pub(super) fn upload_alias() -> Operation {
    let upload = upload();
    Operation { path: "/api/v1/media".to_owned(), id: "postMediaV1".to_owned(), ..upload }
}

/// The response has `internal` unless `save` is 0 (see docs/reference/media.md#upload).
fn upload() -> Operation {
    let object = ["_media", "_mediaWithoutInternal"].map(Schema::reference).into_iter().collect();
    let fields = [
        ("file", SchemaKind::File.into()),
        ("type", Schema::one_of(&["image", "file"])),
        ("save", Schema::one_of(&["0", "1"]).with_default("1")),
        ("alt", Schema::text()),
        ("title", Schema::text()),
        ("tags", texts().described("Ids of tags")),
        ("id", Schema::text().described("Id of the new object: _media-<uuid>")),
    ];
    Operation::post("/api/media", "postMedia", "Upload a file")
        .tag(MEDIA_TAG)
        .form(Schema::object(fields, &["file", "type"]))
        .respond_if_allowed([
            ApiResponse::json(200, "The media object", Schema::any_of(object)),
            invalid(json!({ "file": ["An empty file is not allowed."] })),
        ])
        .respond(body_errors())
}

/// Requires no key.
fn image() -> Operation {
    let size = Schema::pattern("^[0-9]+x[0-9]+$");
    let largest = "Largest width and height, 0 for any: 0x0 is the original";
    let file = ApiResponse::file(200, "The image or file");
    let [.., missing] = denied_or_missing();
    let operation =
        Operation::get("/image/{width_height}/{key}", "getMedia", "Get an image or file")
            .tag(MEDIA_TAG)
            .parameters([
                Parameter::path("width_height", largest, size),
                Parameter::path("key", "Id and extension of the media object", Schema::text()),
                Parameter::text("transform", "A transformation as JSON, for example a trim"),
                Parameter::query("format", "Another format", Schema::one_of(&output::FORMATS)),
                Parameter::query("quality", "Of a lossy format", Schema::integer_between(1, 100)),
            ])
            .respond([file, invalid(json!({ "trim": ["This value is not valid."] })), missing]);
    operation.security(Security::Public)
}

fn workflows(rights: OperationRights) -> Vec<Operation> {
    const STATE: &str = "/api/v1/workflow/{content_type}/{object_id}";
    let state = || {
        let transitions = Schema::list(transition());
        let schema =
            Schema::record([("state", Schema::text()), ("enabled_transitions", transitions)]);
        ApiResponse::json(200, "Workflow state of the object", schema)
    };
    let object = || {
        [
            Parameter::path("content_type", "Name of the content type", Schema::text()),
            Parameter::path("object_id", "Id of the object", components::id()),
        ]
    };
    let list =
        Operation::get("/api/v1/workflow", "getWorkflows", "List workflows").respond_if_allowed([
            ApiResponse::json(200, "All workflows", paged(workflow(transition()))),
        ]);
    let get = Operation::get(STATE, "getWorkflowState", "Get the workflow state of an object")
        .parameters(object())
        .respond_if_found([state()]);
    let action = Schema::text().example("_draft_review");
    let put = Operation::put(STATE, "putWorkflowState", "Move an object to another state")
        .parameters(object())
        .body(Schema::record([("action", action)]))
        .respond_to_body([
            state(),
            invalid(json!({ "action": ["The property action is required"] })),
        ]);
    let put = conditional(put);
    allowed(INTERNAL_TAG, [(true, list), (rights.read, get), (rights.update, put)])
}
