//! Schemas that do not depend on content types (see docs/reference/openapi.md#schemas), and error
//! responses.

use serde_json::{Value, json};

use super::{
    ir::{ApiResponse, Operation, Parameter, Schema, SchemaKind, TextSchema},
    property::DATA_SOURCE,
    system::author,
};
use crate::{
    content_type::{model::InputType, schema::LINK_TYPES},
    ids::MAX_ID_CHARS,
    limits::MAX_ENTITY_TAG_CHARS,
    object::model::Status,
};

/// The common properties of objects: `id` and `internal`.
pub(super) const OBJECT: &str = "AbstractContentTypeSchemaDefinition";
/// The common properties of objects in requests.
pub(super) const INPUT_OBJECT: &str = "AbstractContentTypeSchemaDefinitionWithoutInternal";
/// The envelope of lists.
pub(super) const LIST: &str = "SystemListProperties";
pub(super) const BATCH_SUCCESS: &str = "BatchResponseSuccess";
pub(super) const BATCH_ERROR: &str = "BatchResponseError";
pub(super) const VERSIONS_LIST: &str = "versionsList";
pub(super) const VERSION: &str = "versionItem";
/// Unfinished work of the caller on an object.
pub(super) const WORKING_COPY: &str = "WorkingCopy";
pub(super) const WORKING_COPY_INPUT: &str = "WorkingCopyWithoutInternal";
/// A page of links to an object.
pub(super) const INCOMING: &str = "IncomingLinkList";
/// A time of publication.
pub(super) const SCHEDULE: &str = "PublicationTime";
/// A content type definition and its parts.
pub(super) const TYPE: &str = "ContentTypeDefinitionSchema";
pub(super) const META: &str = "AbstractContentTypeMetaDefinition";
const PROPERTY_CONFIGS: &str = "AbstractPropertiesConfig";
pub(super) const TYPE_LIST: &str = "ContentTypeListResponse";
pub(super) const SEARCH: &str = "SearchResponse";

/// [`crate::ids::ID_PATTERN`] without escapes that some regex dialects reject.
const ID_PATTERN: &str = r#"^[a-zA-Z0-9\-_.,:=!?#$%&(`’{}" ]*$"#;

/// `*`, or entity tags separated by commas.
const ENTITY_TAGS_PATTERN: &str = r#"^(\*|(W/)?"[^"]*"( *, *(W/)?"[^"]*")*)$"#;
const IDEMPOTENCY_KEY_PATTERN: &str = "^[ -~]{1,255}$";

/// Schemas of content.
pub(super) fn shared() -> Vec<(String, Schema)> {
    let id = || ("id", id());
    [
        (OBJECT, Schema::object([id(), ("internal", internal())], &[])),
        (INPUT_OBJECT, Schema::object([id()], &["id"])),
        (DATA_SOURCE, link()),
        (LIST, envelope()),
        (BATCH_ERROR, batch(&[])),
        (BATCH_SUCCESS, batch(&BATCH_COUNTS)),
        ("404Response", error_body(404, "Not found")),
        ("401Response", error_body(401, "Unauthorized")),
        ("403Response", error_body(403, "Access denied or quota limit exceeded")),
        ("412Response", error_body(412, "Precondition Failed")),
        ("413Response", error_body(413, "Request Entity Too Large")),
        ("415Response", error_body(415, "Unsupported Media Type")),
        ("422Response", error_body(422, "Idempotency-Key is already used")),
        (VERSION, version()),
        (VERSIONS_LIST, list_of(Schema::reference(VERSION))),
        (WORKING_COPY, working_copy()),
        (WORKING_COPY_INPUT, working_copy_input()),
        (INCOMING, incoming()),
        (SCHEDULE, schedule()),
    ]
    .map(|(name, schema)| (name.to_owned(), schema))
    .into()
}

/// Schemas of content types and of search.
pub(super) fn system() -> Vec<(String, Schema)> {
    [
        (TYPE, content_type()),
        (META, meta()),
        (PROPERTY_CONFIGS, Schema::map(config())),
        (SEARCH, search()),
        (TYPE_LIST, paged(Schema::reference(TYPE))),
    ]
    .map(|(name, schema)| (name.to_owned(), schema))
    .into()
}

/// The id of an object.
pub(super) fn id() -> Schema {
    id_of(ID_PATTERN).described("Unique id of the object within its type")
}

/// The id of an object, or `~` and a UUID for an object that is not created yet.
pub(super) fn id_of_working_copy() -> Schema {
    let new = "~[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
    let object = ID_PATTERN.trim_start_matches('^').trim_end_matches('$');
    id_of(&format!("^({object}|{new})$"))
}

fn id_of(pattern: &str) -> Schema {
    Schema::from(SchemaKind::Text(TextSchema {
        min_length: 1,
        max_length: Some(MAX_ID_CHARS as u64),
        pattern: Some(pattern.to_owned()),
        options: Vec::new(),
    }))
}

fn date() -> Schema {
    Schema::text().example("2020-01-22T14:34:36+00:00")
}

/// The schema of `internal` (see docs/reference/objects.md#object-format).
fn internal() -> Schema {
    let required = ["createdAt", "updatedAt", "deletedAt", "contentType"];
    Schema::object(internal_members(), &required)
        .described("Metadata of the object; read-only")
        .closed()
}

pub(super) fn internal_members() -> [(&'static str, Schema); 14] {
    let or = |schema: Schema, empty: Schema| Schema::any_of(vec![schema, empty]);
    let status = Schema::one_of(&Status::ALL.map(Status::as_str));
    [
        ("contentType", Schema::text()),
        ("createdAt", date()),
        ("updatedAt", date()),
        ("deletedAt", Schema::text().described("Empty unless the object is deleted")),
        ("workflowState", Schema::text()),
        ("objectTitle", Schema::text()),
        ("latestVersion", Schema::number()),
        (
            "workflowPublicVersion",
            or(Schema::number(), Schema::one_of(&[""])).described("Empty when there is none"),
        ),
        (
            "workflowPublishedAt",
            or(Schema::text(), Schema::number()).described("-1 when there is none"),
        ),
        ("status", status),
        ("publicVersion", Schema::number().described("-1 when there is none")),
        ("publishedAt", Schema::text().described("Empty when there is none")),
        ("scheduledAt", Schema::text()),
        ("scheduledAtTimeZone", Schema::text()),
    ]
}

fn link() -> Schema {
    let types = Schema::one_of(&LINK_TYPES).with_default(LINK_TYPES[0]);
    let url = Schema::text().example("/api/v1/content/_media/_media-1");
    Schema::record([("dataUrl", url), ("type", types)])
        .described("A link to another object")
        .closed()
}

/// The counts of a page (see docs/reference/http.md#pagination).
fn envelope() -> Schema {
    let counts = ["total_count", "total_pages", "current_page", "count"];
    Schema::record(counts.map(|count| (count, Schema::number())))
}

/// The entries of a list.
pub(super) fn list_of(items: Schema) -> Schema {
    Schema::record([("data", Schema::list(items))])
}

/// A list in its envelope.
pub(super) fn paged(items: Schema) -> Schema {
    Schema::all(vec![Schema::reference(LIST), list_of(items)])
}

const BATCH_COUNTS: [&str; 3] = ["batch_total_count", "batch_success_count", "batch_error_count"];

/// The response of a batch; a completely rejected request has other keys (see
/// docs/reference/objects.md#batches).
fn batch(required: &[&str]) -> Schema {
    let element_error = Schema::record([
        ("id", Schema::text()),
        ("data", Schema::anything().described("The element as sent")),
        ("errors", field_errors()),
    ]);
    let counts = BATCH_COUNTS.map(|count| (count, Schema::number()));
    let others = [
        ("errors", Schema::list(element_error.optional(&["data"]))),
        ("data", texts().described("Errors of the request as a whole")),
        ("batch_limit", Schema::number()),
    ];
    Schema::object(counts.into_iter().chain(others), required)
}

/// The error body `{code, message}` of one status.
fn error_body(code: u16, message: &str) -> Schema {
    code_and_message().example(json!({ "code": code, "message": message }))
}

/// The response of one status with an error body.
pub(super) fn error(status: u16, description: &'static str, message: &str) -> ApiResponse {
    ApiResponse::json(status, description, error_body(status, message))
}

fn code_and_message() -> Schema {
    Schema::record([("code", Schema::integer()), ("message", Schema::text())])
}

/// A list of texts.
pub(super) fn texts() -> Schema {
    Schema::list(Schema::text())
}

/// An object with any properties.
pub(super) fn any_object() -> Schema {
    Schema::map(Schema::anything())
}

/// Error messages by property path.
pub(super) fn field_errors() -> Schema {
    Schema::map(texts())
}

/// Status 400: messages by property path, or an unreadable body.
pub(super) fn invalid(example: Value) -> ApiResponse {
    let schema = Schema::any_of(vec![field_errors(), code_and_message()]);
    ApiResponse::json(400, "Validation errors by property path", schema).example(example)
}

/// Status 400 with reasons of a rejection.
pub(super) fn rejected(example: &str) -> ApiResponse {
    let schema = Schema::object([("errors", texts())], &[]);
    ApiResponse::json(400, "Reasons for the rejection", schema)
        .example(json!({ "errors": [example] }))
}

/// 401 and 403.
pub(super) fn denied() -> [ApiResponse; 2] {
    [
        ApiResponse::json(401, "The key is missing or unknown", Schema::reference("401Response")),
        ApiResponse::json(403, "The key does not allow this", Schema::reference("403Response")),
    ]
}

/// 401, 403 and 404.
pub(super) fn denied_or_missing() -> [ApiResponse; 3] {
    let [unauthorised, forbidden] = denied();
    [unauthorised, forbidden, ApiResponse::json(404, "Not found", Schema::reference("404Response"))]
}

impl Operation {
    /// Responses to callers with the needed right, and 401 and 403 to others.
    pub(super) fn respond_if_allowed(
        self,
        responses: impl IntoIterator<Item = ApiResponse>,
    ) -> Self {
        self.respond(responses).respond(denied())
    }

    /// As [`Self::respond_if_allowed`], and 404.
    pub(super) fn respond_if_found(self, responses: impl IntoIterator<Item = ApiResponse>) -> Self {
        self.respond(responses).respond(denied_or_missing())
    }

    /// As [`Self::respond_if_found`], and 413 and 415.
    pub(super) fn respond_to_body(self, responses: impl IntoIterator<Item = ApiResponse>) -> Self {
        self.respond_if_found(responses).respond(body_errors())
    }
}

/// Returns the allowed operations, each with the tag.
pub(super) fn allowed<const N: usize>(
    tag: &str,
    operations: [(bool, Operation); N],
) -> Vec<Operation> {
    let allowed = operations.into_iter().filter(|(is_allowed, _)| *is_allowed);
    allowed.map(|(_, operation)| operation.tag(tag)).collect()
}

/// 413 and 415: the body is rejected before it is read.
pub(super) fn body_errors() -> [ApiResponse; 2] {
    [
        ApiResponse::json(413, "The body is too large", Schema::reference("413Response")),
        ApiResponse::json(415, "The body is not JSON", Schema::reference("415Response")),
    ]
}

/// Adds `If-None-Match`, with the `ETag` of responses that the client has stored, and status 304.
pub(super) fn cacheable(operation: Operation) -> Operation {
    operation
        .parameters([Parameter::header(
            "If-None-Match",
            "`ETag`s of responses that the client has stored",
            ENTITY_TAGS_PATTERN,
        )])
        .respond([ApiResponse::empty(304, "The stored response is still valid")])
}

/// Adds `If-Match` and status 412.
pub(super) fn conditional(operation: Operation) -> Operation {
    let failed = Schema::reference("412Response");
    let description = "Entity tag of the object state that the client wants to change";
    operation
        .parameters([Parameter::header("If-Match", description, ENTITY_TAGS_PATTERN)])
        .respond([ApiResponse::json(412, "The object does not match If-Match", failed)])
}

/// Adds `Idempotency-Key` and status 422.
pub(super) fn idempotent(operation: Operation) -> Operation {
    let description = "Executes a repeated request only once within 24 hours";
    let reused = Schema::reference("422Response");
    operation
        .parameters([Parameter::header("Idempotency-Key", description, IDEMPOTENCY_KEY_PATTERN)])
        .respond([ApiResponse::json(
            422,
            "The Idempotency-Key was used with another request",
            reused,
        )])
}

/// Adds `X-CMS-Keep-Dates`.
pub(super) fn with_keep_dates(operation: Operation) -> Operation {
    let description = "Objects get createdAt, updatedAt and deletedAt of their internal, for content \
                       that moves; needs an admin key";
    operation.parameters([Parameter::header("X-CMS-Keep-Dates", description, "^1$")])
}

/// An entry of the list of versions (see docs/reference/objects.md#versions).
fn version() -> Schema {
    let person = || {
        let names = ["id", "username", "email", "firstName", "lastName", "language"];
        let others = [
            ("roles", texts()),
            ("enabled", Schema::boolean()),
            ("resetPasswordAt", Schema::text().or_null()),
            ("deletedAt", Schema::text().or_null()),
            ("createdAt", Schema::text()),
            ("updatedAt", Schema::text()),
        ];
        let properties = names.map(|name| (name, Schema::text())).into_iter().chain(others);
        Schema::object(properties, &["id", "username"])
    };
    let changed = "Properties that differ from the previous version; null for old versions";
    let properties = [
        ("id", Schema::text()),
        ("internal", internal()),
        ("version", Schema::number()),
        ("current", Schema::boolean().described("Whether it is the latest one")),
        ("createdAt", Schema::text()),
        ("updatedAt", Schema::text()),
        ("deletedAt", Schema::text().or_null()),
        ("owner", person().described("Creator of the object")),
        ("editor", person().described("Author of the version")),
        ("by", author().described("Who made the version")),
        ("changed", texts().described(changed).or_null()),
    ];
    Schema::object(properties, &["id", "internal", "version", "current"])
}

fn working_copy() -> Schema {
    let current = "Whether the object is still in the state that `base` names";
    Schema::record([
        ("contentType", Schema::text()),
        ("id", Schema::text()),
        ("base", base()),
        ("current", Schema::boolean().described(current)),
        ("savedAt", Schema::text()),
        ("data", any_object()),
    ])
}

fn working_copy_input() -> Schema {
    let data = any_object().described("The properties, which are not validated");
    Schema::record([("base", base()), ("data", data)]).closed()
}

fn base() -> Schema {
    let max_length = Some(MAX_ENTITY_TAG_CHARS as u64);
    Schema::from(SchemaKind::Text(TextSchema { max_length, ..TextSchema::default() }))
        .described("`ETag` of the object when the work started; null for a new object")
        .or_null()
}

fn incoming() -> Schema {
    let published = "Whether the published version has the link";
    let link = Schema::record([
        ("contentType", Schema::text()),
        ("id", Schema::text()),
        ("objectTitle", Schema::text()),
        ("properties", texts().described("Paths of the links")),
        ("current", Schema::boolean().described("Whether the current version has the link")),
        ("published", Schema::boolean().described(published)),
    ]);
    let hidden = "Whether objects that the caller may not read link to this one";
    let list = [("data", Schema::list(link)), ("hidden", Schema::boolean().described(hidden))];
    Schema::all(vec![Schema::reference(LIST), Schema::record(list)])
}

fn schedule() -> Schema {
    let at = Schema::text().described("Local time, more than five minutes ahead");
    let zone = Schema::text().described("Name of a time zone of the IANA database");
    Schema::record([
        ("scheduledAt", at.example("2050-01-02T09:30")),
        ("timeZone", zone.example("Europe/Paris")),
    ])
}

/// The name of a content type.
pub(super) fn type_name() -> Schema {
    let pattern = Some("^[_a-z]+$".to_owned());
    SchemaKind::Text(TextSchema { min_length: 1, pattern, ..TextSchema::default() }).into()
}

/// A transition of a workflow.
pub(super) fn transition() -> Schema {
    Schema::record([("name", Schema::text()), ("froms", texts()), ("tos", texts())])
}

/// The definition of a workflow.
pub(super) fn workflow(transition: Schema) -> Schema {
    Schema::record([
        ("id", Schema::text()),
        ("name", Schema::text()),
        ("initial_state", Schema::text()),
        ("states", texts()),
        ("transitions", Schema::list(transition)),
    ])
}

fn content_type() -> Schema {
    let label =
        Schema::from(SchemaKind::Text(TextSchema { min_length: 1, ..TextSchema::default() }));
    let slug =
        [("source", Schema::text()), ("target", Schema::text()), ("active", Schema::boolean())];
    let properties = [
        ("id", Schema::text()),
        ("name", type_name()),
        ("label", label),
        ("workflowId", Schema::text().with_default("generic")),
        ("draftPublic", Schema::boolean().with_default(false)),
        ("internal", Schema::boolean().with_default(false)),
        ("schemaDefinition", any_object().described("A JSON Schema of the properties")),
        ("metaDefinition", Schema::reference(META)),
        ("slugs", Schema::list(Schema::object(slug, &[]))),
        ("featuredImage", Schema::list(Schema::reference(DATA_SOURCE))),
        ("deletedAt", Schema::text().or_null()),
        ("createdAt", Schema::text()),
        ("updatedAt", Schema::text().or_null()),
    ];
    Schema::object(properties, &["name", "label", "schemaDefinition", "metaDefinition"])
}

fn meta() -> Schema {
    let configs = Schema::reference(PROPERTY_CONFIGS);
    Schema::record([("order", texts()), ("propertiesConfig", configs)])
}

/// The form settings of a property.
fn config() -> Schema {
    let properties = [
        ("label", Schema::text()),
        ("inputType", Schema::one_of(&InputType::ALL.map(InputType::as_str))),
        ("unique", Schema::boolean()),
        ("helpText", Schema::text()),
        ("hidden", Schema::boolean()),
        ("readonly", Schema::boolean()),
        ("isTitlePart", Schema::boolean()),
    ];
    Schema::object(properties, &["label", "inputType"])
}

fn search() -> Schema {
    let bucket = Schema::record([
        ("key", Schema::any_of(vec![Schema::text(), Schema::number()])),
        ("doc_count", Schema::number()),
    ]);
    let aggregation = [
        ("field", Schema::text()),
        ("doc_count_error_upper_bound", Schema::number()),
        ("sum_other_doc_count", Schema::number()),
        ("buckets", Schema::list(bucket)),
    ];
    let aggregations = Schema::list(Schema::object(aggregation, &["field", "buckets"]));
    let item = any_object().described("The properties of the object");
    let hit = Schema::record([("item", item), ("score", Schema::number())]);
    let incomplete = Schema::boolean()
        .described("Present and `true` while the index does not include all earlier writes");
    let summary = [("aggregations", aggregations), ("incomplete_results", incomplete)];
    let found =
        [("summary", Schema::object(summary, &["aggregations"])), ("data", Schema::list(hit))];
    Schema::all(vec![Schema::reference(LIST), Schema::record(found)])
}
