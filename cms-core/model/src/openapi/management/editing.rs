//! Trash, activity, jobs, schedules, working copies, presence, previews, and shared views.

use serde_json::json;

use super::{
    EDITING_TAG, Grants, MANAGEMENT_TAG, done, id, ok,
    schemas::{AUTHOR, BULK_JOB, BULK_PREVIEW},
    with_body, with_optional_body,
};
use crate::{
    auth::scope::Access,
    message::{NOT_VALID, WRONG_DATE, required},
    openapi::{
        components::{allowed, any_object, field_errors, invalid, paged, texts, type_name},
        ir::{ApiResponse, Operation, Parameter, Schema},
        parameters::{content_types, limit, pages},
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

fn list(schema: &str) -> ApiResponse {
    ApiResponse::json(200, "A page of the list", paged(Schema::reference(schema)))
}

/// Activity, schedules, bulk jobs, working copies and previews.
fn records(grants: &Grants<'_>) -> Vec<Operation> {
    let activity = Operation::get("/api/v1/activity", "getActivity", "List changes by author")
        .parameters([
            content_types(),
            Parameter::text("id", "Only of this object"),
            Parameter::text("by", "Only by this user or key, by id"),
            Parameter::query("action[]", "Only these actions", texts()),
            Parameter::text("from", "Only changes at or after this time, or this day in UTC"),
            Parameter::text("to", "Only changes before this time, or this day in UTC"),
            Parameter::text("before", "`next` of another page"),
            limit("Maximum number of entries"),
        ])
        .respond_if_allowed([
            ok(Schema::reference(ACTIVITY)),
            invalid(json!({ "before": [NOT_VALID] })),
        ]);
    let schedules =
        Operation::get("/api/v1/schedule", "getSchedules", "List scheduled publications")
            .parameters(pages())
            .parameters([
                content_types(),
                Parameter::text("from", "Only publications at or after this time"),
                Parameter::text("to", "Only publications at or before this time"),
            ])
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
    let copies = Operation::get(path, "getWorkingCopies", "List the working copies of the caller")
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
            Parameter::text("q", "Part of the title or id"),
            Parameter::text("deletedAfter", "Only deletions after this time"),
            Parameter::text("deletedBefore", "Only deletions before this time"),
            Parameter::text("by", "Only by this user or key, by id"),
        ])
        .respond_if_allowed([list(TRASH_ITEM), invalid(json!({ "deletedAfter": [WRONG_DATE] }))]);
    let with_object = Schema::all(vec![
        Schema::reference(TRASH_ITEM),
        Schema::record([("object", any_object())]),
    ]);
    let get = Operation::get(ONE, "getTrashEntry", "Get a deleted object")
        .parameters([entry()])
        .respond_if_found([ok(with_object)]);
    let delete = Operation::delete(ONE, "deleteTrashEntry", "Remove a deleted object permanently")
        .parameters([entry()])
        .respond_if_found([done()]);
    let request = [
        ("id", Schema::text().described("Another id")),
        ("data", any_object().described("Other properties, as a new version")),
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
        .respond_if_found([ok(any_object())]);
    let request = [("contentTypes", texts()), ("deletedBefore", Schema::text())];
    let empty = Operation::post("/api/v1/trash/empty", "emptyTrash", "Empty the trash");
    let wrong = json!({ "deletedBefore": [WRONG_DATE] });
    let removed = Schema::record([
        ("removedCount", Schema::integer()),
        (
            "more",
            Schema::boolean().described("Whether more entries match: then repeat the request"),
        ),
    ]);
    let empty = with_optional_body(empty, Schema::object(request, &[]).closed(), wrong)
        .respond_if_allowed([ok(removed)]);
    // Without the right on the type of an entry, the response is 404.
    let write = grants.rights.write;
    let mut all =
        allowed(EDITING_TAG, [(write, get_all), (write, get), (write, delete), (write, restore)]);
    all.extend(allowed(MANAGEMENT_TAG, [(grants.rights.admin, empty)]));
    all
}

fn presence(grants: &Grants<'_>) -> Vec<Operation> {
    const PATH: &str = "/api/v1/presence";
    let get = Operation::get(PATH, "getPresence", "List open objects and their editors")
        .parameters([
            Parameter::text("content_type", "The content type").required(),
            Parameter::text("id", "The object"),
        ])
        .respond_if_found([
            ok(Schema::record([("data", Schema::list(Schema::reference(PRESENCE)))])),
            invalid(json!({ "content_type": [required("content_type")] })),
        ]);
    let property = Schema::text().or_null();
    let request = Schema::record([
        ("tab", tab()),
        ("contentType", type_name()),
        ("id", Schema::text()),
        ("property", property.described("The property that is edited")),
    ]);
    let request = request.optional(&["property"]).closed();
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
    Schema::pattern("^[A-Za-z0-9_-]{1,64}$")
}

fn views(grants: &Grants<'_>) -> Vec<Operation> {
    const ALL: &str = "/api/v1/internal/contenttype/{contentType}/views";
    const ONE: &str = "/api/v1/internal/contenttype/{contentType}/views/{id}";
    let of_type =
        || Parameter::path("contentType", "Name or id of the content type", Schema::text());
    let members = || [("name", Schema::text()), ("definition", any_object())];
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
        ("definition", any_object()),
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
        (SCHEDULED, Schema::record(of_object().into_iter().chain(scheduled))),
        (TRASH_ITEM, Schema::record(of_object().into_iter().chain(deleted))),
        (WORKING_COPY_ITEM, Schema::record(of_object().into_iter().chain(copy))),
        (PRESENCE, open),
        (VIEW, view),
        (PREVIEW, preview),
        (BULK_JOB, bulk_job()),
        (BULK_PREVIEW, bulk_preview()),
    ]
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
    let refusal = Schema::record([("id", Schema::text()), ("errors", field_errors())]);
    let states = ["waiting", "running", "done", "stopped", "failed"];
    let job = Schema::record([
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
    ]);
    job.optional(&["errors"])
}

fn bulk_preview() -> Schema {
    let object = Schema::record([
        ("id", Schema::text()),
        ("objectTitle", Schema::text()),
        ("before", any_object()),
        ("after", any_object()),
        ("errors", field_errors()),
    ]);
    Schema::record([("matched", Schema::integer()), ("sample", Schema::list(object))])
}
