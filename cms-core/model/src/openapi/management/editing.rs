//! Trash, activity, jobs, schedules, working copies, presence, previews, and shared views.

use serde_json::json;

use super::{
    EDITING_TAG, Grants, MANAGEMENT_TAG, allowed, done, id, ok,
    schemas::{AUTHOR, BULK_JOB, BULK_PREVIEW, anything, errors, texts},
    with_body, with_optional_body,
};
use crate::{
    auth::scope::Access,
    limits,
    message::{NOT_VALID, WRONG_DATE, required},
    openapi::{
        components::{invalid, paged, type_name},
        ir::{ApiResponse, Operation, Parameter, Schema, SchemaKind, TextSchema},
        parameters::{content_types, pages},
    },
};

const ACTIVITY: &str = "ActivityPage";
const TRASH_ITEM: &str = "TrashItem";
const PREVIEW: &str = "Preview";
const PRESENCE: &str = "PresenceItem";
const VIEW: &str = "SharedView";
const SCHEDULED: &str = "ScheduledObject";
const WORKING_COPY_ITEM: &str = "WorkingCopyItem";

pub(super) fn operations(grants: &Grants<'_>) -> Vec<Operation> {
    let mut all = records(grants);
    all.extend(trash(grants));
    all.extend(presence(grants));
    all.extend(views(grants));
    all
}

fn text(name: &'static str, description: &'static str) -> Parameter {
    Parameter::query(name, description, Schema::text())
}

fn list(schema: &str) -> ApiResponse {
    ApiResponse::json(200, "A page of the list", paged(Schema::reference(schema)))
}

/// What happened, and what is going to happen.
fn records(grants: &Grants<'_>) -> Vec<Operation> {
    let limit = Schema::between(1, Some(u64::from(limits::MAX_PAGE_SIZE)));
    let activity = Operation::get("/api/v1/activity", "getActivity", "List changes by author")
        .parameters([
            content_types(),
            text("id", "Only of this object"),
            text("by", "Only by this user or key, by id"),
            Parameter::query("action[]", "Only these actions", texts()),
            text("from", "Only changes at or after this time, or this day in UTC"),
            text("to", "Only changes before this time, or this day in UTC"),
            text("before", "`next` of another page"),
            Parameter::query(
                "limit",
                "Maximum number of entries",
                limit.with_default(limits::DEFAULT_PAGE_SIZE),
            ),
        ])
        .respond_if_allowed([
            ok(Schema::reference(ACTIVITY)),
            invalid(json!({ "before": [NOT_VALID] })),
        ]);
    let schedules = Operation::get("/api/v1/schedule", "getSchedules", "List publications to come")
        .parameters(pages())
        .parameters([content_types(), text("from", "The first time"), text("to", "The last time")])
        .respond_if_allowed([list(SCHEDULED), invalid(json!({ "from": [WRONG_DATE] }))]);
    let jobs = Operation::get("/api/v1/job", "getJobs", "List bulk jobs")
        .parameters(pages())
        .respond_if_allowed([list(BULK_JOB)]);
    let job = Operation::get("/api/v1/job/{id}", "getJob", "Get a bulk job")
        .parameters([id("Id of the job")])
        .respond_if_found([ok(Schema::reference(BULK_JOB))]);
    let stop = Operation::post("/api/v1/job/{id}/stop", "stopJob", "Stop a bulk job")
        .parameters([id("Id of the job")])
        .respond_if_found([done()]);
    let path = "/api/v1/working-copies";
    let copies = Operation::get(path, "getWorkingCopies", "List unfinished work of the caller")
        .parameters(pages())
        .parameters([content_types()])
        .respond_if_allowed([list(WORKING_COPY_ITEM)]);
    let object = Schema::record([("contentType", type_name()), ("id", Schema::text())]).closed();
    let missing = json!({ "id": ["This value does not exist in database"] });
    let preview = Operation::post("/api/v1/preview", "postPreview", "Create a preview token");
    let preview =
        with_body(preview, object, missing).respond_if_allowed([ok(Schema::reference(PREVIEW))]);
    let write = grants.rights.write;
    let previews = write && grants.on_some_type(Access::READ);
    allowed(
        EDITING_TAG,
        [
            (true, activity),
            (true, schedules),
            (true, jobs),
            (true, job),
            (true, stop),
            (write, copies),
            (previews, preview),
        ],
    )
}

fn trash(grants: &Grants<'_>) -> Vec<Operation> {
    const ALL: &str = "/api/v1/trash";
    const ONE: &str = "/api/v1/trash/{entry}";
    let entry = || Parameter::path("entry", "Number of the entry", Schema::text());
    let get_all = Operation::get(ALL, "getTrash", "List deleted objects")
        .parameters(pages())
        .parameters([
            content_types(),
            text("q", "Part of the title or id"),
            text("deletedAfter", "Only deletions after this time"),
            text("deletedBefore", "Only deletions before this time"),
            text("by", "Only by this user or key, by id"),
        ])
        .respond_if_allowed([list(TRASH_ITEM), invalid(json!({ "deletedAfter": [WRONG_DATE] }))]);
    let with_object =
        Schema::all(vec![Schema::reference(TRASH_ITEM), Schema::record([("object", anything())])]);
    let get = Operation::get(ONE, "getTrashEntry", "Get a deleted object")
        .parameters([entry()])
        .respond_if_found([ok(with_object)]);
    let delete = Operation::delete(ONE, "deleteTrashEntry", "Remove a deleted object permanently")
        .parameters([entry()])
        .respond_if_found([done()]);
    let request = [
        ("id", Schema::text().described("Another id")),
        ("data", anything().described("Other properties, as a new version")),
        ("draft", Schema::boolean().described("Whether to leave out the published version")),
    ];
    let restore = Operation::post(
        "/api/v1/trash/{entry}/restore",
        "restoreTrashEntry",
        "Restore a deleted object",
    )
    .parameters([entry()]);
    let taken = json!({ "id": ["This value is already used"] });
    let restore = with_optional_body(restore, Schema::object(request, &[]).closed(), taken)
        .respond_if_found([ok(anything())]);
    let request = [("contentTypes", texts()), ("deletedBefore", Schema::text())];
    let empty = Operation::post("/api/v1/trash/empty", "emptyTrash", "Empty the trash");
    let wrong = json!({ "deletedBefore": [WRONG_DATE] });
    let removed = Schema::record([
        ("removedCount", Schema::integer()),
        ("more", Schema::boolean().described("Whether to repeat the request")),
    ]);
    let empty = with_optional_body(empty, Schema::object(request, &[]).closed(), wrong)
        .respond_if_allowed([ok(removed)]);
    // Entries of types without the needed right are not found.
    let write = grants.rights.write;
    let mut all =
        allowed(EDITING_TAG, [(write, get_all), (write, get), (write, delete), (write, restore)]);
    all.extend(allowed(MANAGEMENT_TAG, [(grants.rights.admin, empty)]));
    all
}

fn presence(grants: &Grants<'_>) -> Vec<Operation> {
    const PATH: &str = "/api/v1/presence";
    let get = Operation::get(PATH, "getPresence", "List who has objects open")
        .parameters([text("content_type", "The content type").required(), text("id", "The object")])
        .respond_if_found([
            ok(Schema::record([("data", Schema::list(Schema::reference(PRESENCE)))])),
            invalid(json!({ "content_type": [required("content_type")] })),
        ]);
    let property = Schema::text().or_null();
    let request = [
        ("tab", tab()),
        ("contentType", type_name()),
        ("id", Schema::text()),
        ("property", property.described("The property that is edited")),
    ];
    let request = Schema::object(request, &["tab", "contentType", "id"]).closed();
    let put = Operation::put(PATH, "putPresence", "Report that the caller has an object open");
    let put =
        with_body(put, request, json!({ "tab": [required("tab")] })).respond_if_found([done()]);
    let path = "/api/v1/presence/{tab}";
    let delete = Operation::delete(path, "deletePresence", "Report that an object is closed")
        .parameters([Parameter::path("tab", "Name of the tab", tab())])
        .respond_if_allowed([done()]);
    let updates = grants.on_some_type(Access::UPDATE);
    allowed(EDITING_TAG, [(updates, get), (updates, put), (grants.rights.write, delete)])
}

/// The name of a tab, which the client chooses.
fn tab() -> Schema {
    let pattern = Some("^[A-Za-z0-9_-]{1,64}$".to_owned());
    SchemaKind::Text(TextSchema { pattern, ..TextSchema::default() }).into()
}

fn views(grants: &Grants<'_>) -> Vec<Operation> {
    const ALL: &str = "/api/v1/internal/contenttype/{contentType}/views";
    const ONE: &str = "/api/v1/internal/contenttype/{contentType}/views/{id}";
    let of_type =
        || Parameter::path("contentType", "Name or id of the content type", Schema::text());
    let members = || [("name", Schema::text()), ("definition", anything())];
    let view = || ok(Schema::reference(VIEW));
    let wrong = || json!({ "name": [required("name")] });
    let get = Operation::get(ALL, "getViews", "List shared views")
        .parameters([of_type()])
        .parameters(pages())
        .respond_if_found([list(VIEW)]);
    let post = Operation::post(ALL, "postView", "Create a shared view").parameters([of_type()]);
    let post =
        with_body(post, Schema::record(members()).closed(), wrong()).respond_if_found([view()]);
    let put = Operation::put(ONE, "putView", "Change a shared view")
        .parameters([of_type(), id("Id of the view")]);
    let put =
        with_body(put, Schema::object(members(), &[]).closed(), wrong()).respond_if_found([view()]);
    let delete = Operation::delete(ONE, "deleteView", "Delete a shared view")
        .parameters([of_type(), id("Id of the view")])
        .respond_if_found([done()]);
    let (reads, updates) = (grants.on_some_type(Access::READ), grants.on_some_type(Access::UPDATE));
    allowed(EDITING_TAG, [(reads, get), (updates, post), (updates, put), (updates, delete)])
}

/// The schemas of this module.
pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    let by = || ("by", Schema::reference(AUTHOR));
    let of_object = || {
        [("contentType", Schema::text()), ("id", Schema::text()), ("objectTitle", Schema::text())]
    };
    let scheduled = [
        ("status", Schema::text()),
        ("scheduledAt", Schema::text()),
        ("scheduledAtTimeZone", Schema::text()),
        by(),
    ];
    let deleted = [
        ("entry", Schema::text()),
        ("version", Schema::integer()),
        ("deletedAt", Schema::text()),
        ("expiresAt", Schema::text()),
        by(),
        ("idTaken", Schema::boolean().described("Whether a live object has this id")),
    ];
    let copy = [
        ("base", Schema::text().or_null()),
        ("current", Schema::boolean()),
        ("savedAt", Schema::text()),
    ];
    let open = Schema::record([
        ("tab", tab()),
        ("contentType", Schema::text()),
        ("id", Schema::text()),
        ("property", Schema::text().or_null()),
        by(),
        ("at", Schema::text()),
    ]);
    let view = Schema::record([
        ("id", Schema::text()),
        ("name", Schema::text()),
        ("definition", anything()),
        by(),
        ("createdAt", Schema::text()),
        ("updatedAt", Schema::text()),
    ]);
    let preview = Schema::record([
        ("token", Schema::text()),
        ("url", Schema::text().or_null()),
        ("embeddable", Schema::boolean()),
        ("expiresAt", Schema::text()),
    ]);
    vec![
        (ACTIVITY, activity()),
        (SCHEDULED, all_present(of_object().into_iter().chain(scheduled))),
        (TRASH_ITEM, all_present(of_object().into_iter().chain(deleted))),
        (WORKING_COPY_ITEM, all_present(of_object().into_iter().chain(copy))),
        (PRESENCE, open),
        (VIEW, view),
        (PREVIEW, preview),
        (BULK_JOB, bulk_job()),
        (BULK_PREVIEW, bulk_preview()),
    ]
}

fn all_present(members: impl Iterator<Item = (&'static str, Schema)>) -> Schema {
    let members: Vec<_> = members.collect();
    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    Schema::object(members.clone(), &names)
}

fn activity() -> Schema {
    let entry = [
        ("seq", Schema::integer()),
        ("at", Schema::text()),
        ("action", Schema::text().example("update")),
        ("contentType", Schema::text()),
        ("id", Schema::text()),
        ("version", Schema::integer()),
        ("objectTitle", Schema::text().described("At the time of the change")),
        ("properties", texts().described("The changed properties")),
        ("by", Schema::reference(AUTHOR)),
    ];
    let entry = Schema::object(entry, &["seq", "at", "action", "by"]);
    Schema::record([
        ("data", Schema::list(entry)),
        ("next", Schema::text().described("`before` of the next page").or_null()),
        ("more", Schema::boolean()),
    ])
}

fn bulk_job() -> Schema {
    let refusal = Schema::record([("id", Schema::text()), ("errors", errors())]);
    let states = ["waiting", "running", "done", "stopped", "failed"];
    let members = [
        ("id", Schema::text()),
        ("kind", Schema::one_of(&["bulk"])),
        ("state", Schema::one_of(&states)),
        ("contentType", Schema::text()),
        ("action", Schema::text()),
        ("total", Schema::integer()),
        ("done", Schema::integer()),
        ("succeeded", Schema::integer()),
        ("refused", Schema::integer()),
        ("errors", Schema::list(refusal).described("The first refusals; not in lists")),
        ("error", Schema::text().described("Why the job failed").or_null()),
        ("by", Schema::reference(AUTHOR)),
        ("createdAt", Schema::text()),
        ("finishedAt", Schema::text().or_null()),
    ];
    let required = [
        "id",
        "kind",
        "state",
        "contentType",
        "action",
        "total",
        "done",
        "succeeded",
        "refused",
        "error",
        "by",
        "createdAt",
        "finishedAt",
    ];
    Schema::object(members, &required)
}

fn bulk_preview() -> Schema {
    let object = Schema::record([
        ("id", Schema::text()),
        ("objectTitle", Schema::text()),
        ("before", anything()),
        ("after", anything()),
        ("errors", errors()),
    ]);
    Schema::record([("matched", Schema::integer()), ("sample", Schema::list(object))])
}
