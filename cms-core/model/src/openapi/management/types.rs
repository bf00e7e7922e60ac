//! Plan, apply and purge of content types, and definitions of workflows.

use serde_json::json;

use super::{
    Grants, MANAGEMENT_TAG, done, id, ok, schemas::conflict, with_body, with_optional_body,
};
use crate::{
    message::required,
    openapi::{
        components::{
            self, TYPE, allowed, any_object, body_errors, field_errors, paged, rejected, texts,
            transition,
        },
        ir::{ApiResponse, Operation, Parameter, Schema},
    },
};

const PLAN: &str = "ProjectPlan";
const PLAN_REQUEST: &str = "ProjectPlanRequest";
const WORKFLOW: &str = "Workflow";

pub(super) fn operations(grants: &Grants<'_>) -> Vec<Operation> {
    let mut all = types(grants);
    all.extend(workflows(grants));
    all
}

fn types(grants: &Grants<'_>) -> Vec<Operation> {
    const TYPES: &str = "/api/v1/internal/contenttype";
    let request = || Schema::reference(PLAN_REQUEST);
    let what = "Done; with Accept: text/event-stream, a stream of events with the progress";
    let plan = || ApiResponse::json(200, what, Schema::reference(PLAN));
    let wrong = || json!({ "contentTypes[0]": ["String value found, but an object is required"] });
    let planned = Operation::post(
        &format!("{TYPES}/plan"),
        "planContentTypes",
        "Plan changes of content types, workflows and keys",
    );
    let planned = with_body(planned, request(), wrong()).respond_if_allowed([plan()]);
    let consent = Schema::any_of(vec![Schema::boolean(), texts()]);
    let consent = consent
        .described("Accept the loss of values: of all properties, or of these, as `type.property`");
    let token =
        Schema::text().described("`token` of a plan: fail when the state has changed since");
    let consent = Schema::object([("token", token), ("allowDataLoss", consent)], &[]);
    // The errors of each type are a map of messages.
    let blockers = ApiResponse::json(400, "Validation errors by type and property", any_object());
    let applied = Operation::post(
        &format!("{TYPES}/apply"),
        "applyContentTypes",
        "Apply changes of content types, workflows and keys",
    )
    .body(Schema::all(vec![request(), consent]))
    .respond_if_allowed([plan(), blockers, conflict("Values would be lost")])
    .respond(body_errors());
    let purge = Operation::post(
        &format!("{TYPES}/{{id}}/purge"),
        "purgeContentType",
        "Delete all objects of a content type",
    )
    .parameters([id("Name or id of the content type")]);
    let request = [("deleteSchema", Schema::boolean().described("Delete the type too"))];
    let used = json!({ "errors": ["This content type definition is used by Api Key: web"] });
    let purge =
        with_optional_body(purge, Schema::object(request, &[]), used).respond_if_found([done()]);
    let purge_all =
        Operation::post("/api/v1/spaces/{space}/purge", "purgeSpace", "Delete all objects")
            .parameters([Parameter::path("space", "Id of the space", Schema::text())])
            .respond_if_found([done()]);
    let (plans, changes) = (grants.rights.plan_types, grants.rights.change_types);
    allowed(
        MANAGEMENT_TAG,
        [(plans, planned), (changes, applied), (changes, purge), (changes, purge_all)],
    )
}

fn workflows(grants: &Grants<'_>) -> Vec<Operation> {
    const ALL: &str = "/api/v1/internal/workflow";
    const ONE: &str = "/api/v1/internal/workflow/{id}";
    let of = || [id("Id of the workflow")];
    let workflow = || ok(Schema::reference(WORKFLOW));
    let wrong = || json!({ "states": [required("states")] });
    let request = components::workflow(transition().optional(&["name"]));
    let request = request.optional(&["name", "initial_state", "transitions"]);
    let get_all = Operation::get(ALL, "getWorkflowDefinitions", "List definitions of workflows")
        .respond_if_allowed([ok(paged(Schema::reference(WORKFLOW)))]);
    let post = Operation::post(ALL, "postWorkflowDefinition", "Create a workflow");
    let post = with_body(post, request.clone(), wrong()).respond_if_allowed([workflow()]);
    let get = Operation::get(ONE, "getWorkflowDefinition", "Get a workflow")
        .parameters(of())
        .respond_if_found([workflow()]);
    let put = Operation::put(ONE, "putWorkflowDefinition", "Replace a workflow").parameters(of());
    let put = with_body(put, request, wrong()).respond_if_found([workflow()]);
    let delete = Operation::delete(ONE, "deleteWorkflowDefinition", "Delete a workflow")
        .parameters(of())
        .respond_if_found([done(), rejected("This workflow is used by content type: post")]);
    let admin = grants.rights.admin;
    let operations = [get_all, post, get, put, delete].map(|operation| (admin, operation));
    allowed(MANAGEMENT_TAG, operations)
}

/// The schemas of this module.
pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    let prune = "Delete the types that the request does not contain";
    let request = [
        ("contentTypes", Schema::list(Schema::reference(TYPE))),
        ("workflows", Schema::list(any_object())),
        ("keys", Schema::list(any_object())),
        ("prune", Schema::boolean().with_default(false).described(prune)),
    ];
    vec![
        (PLAN_REQUEST, Schema::object(request, &[])),
        (PLAN, plan()),
        (WORKFLOW, components::workflow(transition())),
    ]
}

fn plan() -> Schema {
    let action = || Schema::one_of(&["create", "update", "delete", "none"]);
    let number = Schema::integer;
    let totals = ["create", "update", "delete", "objectsRewritten", "valuesLost", "blockers"];
    let summary = totals.into_iter().chain(["valuesInvalid"]).map(|name| (name, number()));
    let summary = Schema::object(summary, &totals);
    let change = || {
        let changes = ["add", "remove", "type", "settings"];
        [
            ("name", Schema::text()),
            ("change", Schema::one_of(&changes)),
            ("from", Schema::text().or_null()),
            ("to", Schema::text().or_null()),
        ]
    };
    let renamed = || ("renamedFrom", Schema::text());
    let nested = Schema::record(change().into_iter().chain([renamed()]));
    let nested = nested.optional(&["renamedFrom"]);
    let sample = Schema::record([
        ("id", Schema::text()),
        ("before", Schema::anything()),
        ("after", Schema::anything()),
    ]);
    let effects = [
        renamed(),
        ("kept", number()),
        ("converted", number()),
        ("emptied", number()),
        ("failed", number()),
        (
            "invalid",
            number().described("Values that stay, but have to be replaced by the next write"),
        ),
        ("samples", Schema::list(sample)),
        ("nested", Schema::list(nested)),
    ];
    let property = Schema::record(change().into_iter().chain(effects));
    let property = property.optional(&["renamedFrom", "invalid", "nested"]);
    let content_type = Schema::record([
        ("name", Schema::text()),
        ("action", action()),
        ("breaking", Schema::boolean()),
        ("blockers", field_errors()),
        ("properties", Schema::list(property)),
    ]);
    let workflow = Schema::record([
        ("id", Schema::text()),
        ("action", action()),
        ("blockers", field_errors()),
    ]);
    let token = Schema::text().described("Token of a new key; only in the response of an apply");
    let key = [
        ("name", Schema::text()),
        ("action", action()),
        ("blockers", field_errors()),
        ("key", token),
    ];
    Schema::record([
        ("token", Schema::text()),
        ("summary", summary),
        ("contentTypes", Schema::list(content_type)),
        ("workflows", Schema::list(workflow)),
        ("keys", Schema::list(Schema::object(key, &["name", "action", "blockers"]))),
    ])
}
