//! The server itself: the caller, index, check, backup, webhooks, and aliases, which are second paths
//! of operations that other modules describe.

use serde_json::json;

use super::{
    Grants, MANAGEMENT_TAG, id, keys, ok,
    schemas::{AUTH_CONTEXT, AUTHOR, BULK_JOB, rules},
    users, with_optional_body,
};
use crate::{
    auth::scope::Access,
    message::NOT_VALID,
    openapi::{
        components::{allowed, any_object, cacheable, invalid, paged, rejected, texts},
        ir::{ApiResponse, Operation, Parameter, Schema},
        parameters::{levels, pages},
        system,
    },
    wire::{check::CheckArea, openapi::OpenApiVersion},
};

const DELIVERY: &str = "WebhookDelivery";
const LISTED_REINDEX_JOB: &str = "ListedReindexJob";

pub(super) fn operations(grants: &Grants<'_>) -> Vec<Operation> {
    let mut all = of_any_caller();
    if grants.on_some_type(Access::READ) {
        all.extend(system::graphql_v2());
    }
    let uploads = grants.rights.write && grants.may_upload;
    all.extend(uploads.then(system::upload_alias));
    all.extend(maintenance(grants));
    all.extend(webhooks(grants));
    all
}

fn of_any_caller() -> Vec<Operation> {
    let context = Operation::get("/api/auth-context", "getAuthContext", "Get the caller")
        .respond_if_allowed([ok(Schema::reference(AUTH_CONTEXT))]);
    let versions = [OpenApiVersion::V30, OpenApiVersion::V31, OpenApiVersion::V2];
    let version = Schema::one_of(&versions.map(OpenApiVersion::as_str));
    let path = "/api/v1/open-api-schema.json";
    let document = Operation::get(path, "getOpenApiSchema", "Get the OpenAPI document")
        .parameters([
            Parameter::query("version", "Version of OpenAPI", version),
            Parameter::query("hydrate", "1: relations hold objects instead of links", levels(1)),
            Parameter::flag("user_only", "Only content"),
            Parameter::flag("management", "All routes of the server"),
        ])
        .respond_if_allowed([ok(any_object()), invalid(json!({ "version": [NOT_VALID] }))]);
    allowed(MANAGEMENT_TAG, [(true, context), (true, cacheable(document))])
}

fn maintenance(grants: &Grants<'_>) -> Vec<Operation> {
    let request = Schema::object([("contentTypes", texts())], &[]);
    let unknown = json!({ "contentTypes[0]": [NOT_VALID] });
    let reindex =
        Operation::post("/api/v1/internal/reindex", "postReindex", "Rebuild the search index");
    let reindex =
        with_optional_body(reindex, request, unknown).respond_if_allowed([ApiResponse::json(
            202,
            "The id of the job",
            Schema::record([("id", Schema::text())]),
        )]);
    let jobs = "List the newest rebuild of each content type";
    let jobs = Operation::get("/api/v1/internal/reindex", "getReindexJobs", jobs)
        .respond_if_allowed([ok(paged(Schema::reference(LISTED_REINDEX_JOB)))]);
    let flag = |description: &str| Schema::boolean().with_default(false).described(description);
    let request = [
        ("repair", flag("Repair what can be rebuilt from the content")),
        ("digests", flag("Read every stored file")),
    ];
    let check = Operation::post("/api/v1/internal/check", "postCheck", "Check data integrity");
    let wrong = json!({ "code": 400, "message": "Malformed JSON" });
    let checked = "Done; with Accept: text/event-stream, a stream of events with the result";
    let check = with_optional_body(check, Schema::object(request, &[]), wrong)
        .respond_if_allowed([ApiResponse::json(200, checked, report())]);
    let file = ApiResponse::file(200, "A tar file");
    let backup = Operation::get("/api/v1/internal/backup", "getBackup", "Download a backup")
        .respond_if_allowed([file]);
    let reindex_job = Schema::record(reindex_job()).optional(&["error"]);
    let job = Schema::any_of(vec![reindex_job, Schema::reference(BULK_JOB)]);
    let job = Operation::get("/api/v1/internal/job/{id}", "getInternalJob", "Get a job")
        .parameters([id("Id of the job")])
        .respond_if_found([ok(job)]);
    let all = [jobs, reindex, check, backup, job].map(|operation| (grants.rights.admin, operation));
    allowed(MANAGEMENT_TAG, all)
}

fn reindex_job() -> [(&'static str, Schema); 6] {
    [
        ("id", Schema::text()),
        ("kind", Schema::one_of(&["reindex"])),
        ("state", Schema::one_of(&["waiting", "running", "done"])),
        ("done", Schema::integer()),
        ("total", Schema::integer()),
        ("error", Schema::text()),
    ]
}

fn listed_reindex_job() -> Schema {
    let listed = [
        ("contentTypes", texts().or_null().described("null: all types")),
        ("by", Schema::reference(AUTHOR)),
        ("createdAt", Schema::text()),
    ];
    Schema::record(reindex_job().into_iter().chain(listed)).optional(&["error"])
}

fn report() -> Schema {
    let count = Schema::integer;
    let media = Schema::record([
        ("files", count()),
        ("missing", texts()),
        ("waiting", count()),
        ("orphaned", texts()),
        ("removed", count()),
        ("unrecorded", count()),
        ("recorded", count()),
    ]);
    let finding = Schema::record([
        ("part", Schema::one_of(&CheckArea::ALL.map(CheckArea::as_str))),
        ("place", Schema::text()),
        ("message", Schema::text()),
        ("derived", Schema::boolean()),
        ("repaired", Schema::boolean()),
    ]);
    Schema::record([("media", media), ("findings", Schema::list(finding)), ("more", count())])
}

fn webhooks(grants: &Grants<'_>) -> Vec<Operation> {
    let of = || [id("Id of the webhook")];
    let paused = "While all deliveries pause: the time of the next attempt of the oldest one";
    let webhook = Schema::record([
        ("id", Schema::text()),
        ("name", Schema::text()),
        ("type", Schema::text()),
        ("url", Schema::text()),
        ("enabled", Schema::boolean()),
        ("pending", Schema::integer()),
        ("failing", Schema::boolean().described("The last attempt of a pending delivery failed")),
        ("pausedUntil", Schema::text().or_null().described(paused)),
        ("secret", Schema::text()),
    ]);
    let list = Operation::get("/api/v1/internal/webhook", "getWebhooks", "List webhooks")
        .respond_if_allowed([ok(paged(webhook))]);
    let path = "/api/v1/internal/webhook/{id}/log";
    let log = Operation::get(path, "getWebhookLog", "List deliveries of a webhook")
        .parameters(of())
        .parameters(pages())
        .respond_if_found([ok(paged(Schema::reference(DELIVERY)))]);
    let ids = Schema::list(Schema::integer()).described(
        "Deliveries; all failed ones by default. In both cases all pending ones become due",
    );
    let path = "/api/v1/internal/webhook/{id}/replay";
    let replay = Operation::post(path, "replayWebhook", "Send deliveries again").parameters(of());
    let wrong = json!({ "ids": ["String value found, but an array is required"] });
    let replayed = Schema::integer().described(
        "Number of deliveries that are now due; without `ids`, pending ones are included",
    );
    let replay = with_optional_body(replay, Schema::object([("ids", ids)], &[]), wrong)
        .respond_if_found([ok(Schema::record([("replayed", replayed)]))]);
    let path = "/api/v1/internal/webhook/{id}/test";
    let test = Operation::post(path, "testWebhook", "Send a test delivery")
        .parameters(of())
        .respond_if_found([
            ok(Schema::reference(DELIVERY)),
            rejected("Synchronous webhooks are called by writes only"),
        ]);
    let all = [list, log, replay, test].map(|operation| (grants.rights.admin, operation));
    allowed(MANAGEMENT_TAG, all)
}

/// The schemas of this module.
pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    let text = Schema::text;
    let header = || Schema::record([("name", text()), ("value", text())]);
    let fields = || [("fields", Schema::list(header())), ("truncated", Schema::boolean())];
    let described = "Values that authenticate the sender are masked";
    let headers = || Schema::record(fields()).or_null().described(described);
    let response =
        Schema::record([("status", Schema::integer()), ("headers", headers()), ("body", text())]);
    let delivery = Schema::record([
        ("id", Schema::integer()),
        ("message", text()),
        ("action", text()),
        ("contentTypeName", text()),
        ("ref", text()),
        ("status", text()),
        ("attempts", Schema::integer()),
        ("createdAt", text()),
        ("attemptedAt", text().or_null()),
        ("nextAttemptAt", text().or_null()),
        ("durationMs", Schema::integer().or_null()),
        ("requestHeaders", headers()),
        ("request", text().or_null()),
        ("response", response.or_null()),
        ("error", text().or_null()),
    ]);
    vec![
        (AUTH_CONTEXT, auth_context()),
        (DELIVERY, delivery),
        (LISTED_REINDEX_JOB, listed_reindex_job()),
    ]
}

fn auth_context() -> Schema {
    let named = || Schema::record([("id", Schema::text()), ("name", Schema::text())]);
    let user = [
        ("id", Schema::text()),
        ("username", Schema::text()),
        ("roles", texts()),
        ("email", Schema::text()),
        ("role", users::role()),
    ];
    let key = [("name", Schema::text()), ("type", keys::kind()), ("rules", rules())];
    let types = Schema::map(Schema::text().example("crud"));
    let flag = Schema::boolean;
    let rights = Schema::record([
        ("admin", flag()),
        ("changeTypes", flag()),
        ("publish", flag()),
        ("contentTypes", types),
    ]);
    let number = Schema::integer;
    let limits = Schema::record([
        ("pageSize", number()),
        ("batch", number()),
        ("batchPublish", number()),
        ("objectBytes", number()),
        ("bodyBytes", number()),
        ("fileBytes", number()),
        ("uploadBytes", number()),
        ("mediaTypes", texts()),
        ("searchResults", number()),
        ("trashDays", number()),
    ]);
    let features =
        Schema::record([("webhooks", flag()), ("openId", flag()), ("previewOrigins", texts())]);
    Schema::record([
        ("organization", named()),
        ("space", named()),
        ("user", Schema::object(user, &["id", "username", "roles"])),
        ("apiKey", Schema::record(key).or_null()),
        ("by", Schema::reference(AUTHOR)),
        ("rights", rights),
        ("limits", limits),
        ("features", features),
        ("version", Schema::text()),
    ])
}
