//! Workflows, and types that change their workflow. Complete responses are compared.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::support::{
    CallerKind, TestApp, error, forbidden, linking_definition, listed, malformed, minute,
    no_content, not_found, object, shown, wrong_media_type,
};

const WORKFLOWS: &str = "/api/v1/internal/workflow";
const OWN: &str = "/api/v1/internal/workflow/own";
const ONE: &str = "/api/v1/content/paper/one";
const STATE: &str = "/api/v1/workflow/paper/one";
const NOT_VALID: &str = "This value is not valid.";

/// An app with a type `paper` and its object `one`.
async fn app(settings: &Value) -> TestApp {
    let app = TestApp::with_type("paper", settings);
    app.create("paper", &json!({ "id": "one", "title": "T" })).await;
    app
}

async fn act(app: &TestApp, action: &str) -> (u16, Value) {
    app.request("PUT", STATE, &json!({ "action": action })).await.status_and_body()
}

async fn admin(app: &TestApp, method: &str, path: &str, body: &Value) -> (u16, Value) {
    app.send_as(CallerKind::Admin, method, path, body).await.status_and_body()
}

/// Replaces the definition of `paper`.
async fn update(app: &TestApp, settings: &Value) -> (u16, Value) {
    let mut wanted = linking_definition("paper");
    wanted.extend(object(settings));
    let path = "/api/v1/internal/contenttype/paper";
    app.request("PUT", path, &json!(wanted)).await.status_and_body()
}

fn transition(from: &str, to: &str) -> Value {
    json!({ "name": format!("_{from}_{to}"), "froms": [from], "tos": [to] })
}

fn state(state: &str, tos: &[&str]) -> Value {
    let enabled: Vec<Value> = tos.iter().map(|to| transition(state, to)).collect();
    json!({ "state": state, "enabled_transitions": enabled })
}

fn built_in() -> [Value; 2] {
    let transitions = [
        ("draft", "draft"),
        ("draft", "review"),
        ("review", "draft"),
        ("review", "public"),
        ("public", "archive"),
    ];
    [
        json!({ "id": "generic", "name": "generic", "initial_state": "saved", "states": ["saved"], "transitions": [] }),
        json!({
            "id": "publishing", "name": "publishing", "initial_state": "draft",
            "states": ["draft", "review", "public", "archive"],
            "transitions": transitions.map(|(from, to)| transition(from, to)),
        }),
    ]
}

/// A custom workflow with a transition from `public` to itself.
fn own() -> Value {
    json!({
        "id": "own", "name": "Our way", "initial_state": "new", "states": ["new", "public"],
        "transitions": [transition("new", "public"), transition("public", "public"), transition("public", "new")],
    })
}

/// Every key may list the workflows.
#[tokio::test]
async fn workflows_are_listed() {
    let app = TestApp::new();
    for caller in
        [CallerKind::ReadOnly, CallerKind::Scoped, CallerKind::Stranger, CallerKind::Admin]
    {
        let reply = app.get_as(caller, "/api/v1/workflow").await;
        assert_eq!(reply.status_and_body(), (200, listed(&built_in())), "{caller:?}");
    }
    assert_eq!(admin(&app, "POST", WORKFLOWS, &own()).await, (200, own()));
    let [generic, publishing] = built_in();
    let all = listed(&[generic, publishing, own()]);
    let reply = app.get_as(CallerKind::ReadOnly, "/api/v1/workflow").await;
    assert_eq!(reply.status_and_body(), (200, all.clone()));
    assert_eq!(admin(&app, "GET", WORKFLOWS, &Value::Null).await, (200, all));
}

/// An object in the workflow `publishing`, with one transition per minute.
#[tokio::test]
async fn object_moves_through_its_workflow() {
    let app = app(&json!({ "workflowId": "publishing" })).await;
    let paper = |changes: Value| shown("paper", "one", &changes, &json!({ "title": "T" }));
    let draft = |updated| paper(json!({ "workflowState": "draft", "updatedAt": minute(updated) }));
    assert_eq!(app.get(STATE).await.status_and_body(), (200, state("draft", &["draft", "review"])));
    assert_eq!(app.get(ONE).await.status_and_body(), (200, draft(0)));
    let review =
        |updated| paper(json!({ "workflowState": "review", "updatedAt": minute(updated) }));
    let approved = |version, updated| {
        paper(json!({
            "workflowState": "public", "updatedAt": minute(updated), "latestVersion": version,
            "workflowPublicVersion": version, "workflowPublishedAt": minute(updated),
        }))
    };
    let archived =
        json!({ "workflowState": "archive", "updatedAt": minute(7), "latestVersion": 2 });
    for (action, wanted, then) in [
        ("_draft_draft", state("draft", &["draft", "review"]), draft(1)),
        ("_draft_review", state("review", &["draft", "public"]), review(2)),
        ("_review_draft", state("draft", &["draft", "review"]), draft(3)),
        ("_draft_review", state("review", &["draft", "public"]), review(4)),
        ("_review_public", state("public", &["archive"]), approved(1, 5)),
        ("", Value::Null, approved(2, 6)),
        ("_public_archive", state("archive", &[]), paper(archived)),
    ] {
        app.wait_a_minute();
        if action.is_empty() {
            // An edit of an approved object approves the new version.
            let edited =
                app.request("PATCH", ONE, &json!({ "title": "T" })).await.status_and_body();
            assert_eq!(edited, (200, then.clone()));
        } else {
            assert_eq!(act(&app, action).await, (200, wanted.clone()), "{action}");
            assert_eq!(app.get(STATE).await.status_and_body(), (200, wanted), "{action}");
        }
        assert_eq!(app.get(ONE).await.status_and_body(), (200, then), "{action}");
    }
    // An edit in another state neither changes the state nor approves the version.
    app.wait_a_minute();
    let changes = json!({ "workflowState": "archive", "updatedAt": minute(8), "latestVersion": 3 });
    let edited = app.request("PUT", ONE, &json!({ "title": "T" })).await.status_and_body();
    assert_eq!(edited, (200, paper(changes)));
    // Versions lose their approval when the object leaves `public`.
    let approval = |version: &Value| {
        let internal = &version["internal"];
        json!([
            internal["workflowState"],
            internal["workflowPublicVersion"],
            internal["workflowPublishedAt"]
        ])
    };
    let versions = app.get(&format!("{ONE}/version")).await.json()["data"].clone();
    let approvals: Vec<Value> = versions.as_array().unwrap().iter().map(approval).collect();
    assert_eq!(
        approvals,
        [json!(["public", 1, minute(5)]), json!(["archive", "", -1]), json!(["archive", "", -1])]
    );
}

/// A transition from `public` to itself approves the current version; leaving `public` removes the
/// approval.
#[tokio::test]
async fn approval_follows_the_state_public() {
    let app = TestApp::new();
    assert_eq!(admin(&app, "POST", WORKFLOWS, &own()).await.0, 200);
    app.create_type("paper", &json!({ "workflowId": "own" }));
    app.create("paper", &json!({ "id": "one", "title": "T" })).await;
    let pair = async || {
        let internal = app.get(ONE).await.json()["internal"].clone();
        json!([
            internal["workflowState"],
            internal["workflowPublicVersion"],
            internal["workflowPublishedAt"]
        ])
    };
    assert_eq!(pair().await, json!(["new", "", -1]));
    for (action, wanted) in [
        ("_new_public", json!(["public", 1, minute(1)])),
        ("_public_public", json!(["public", 1, minute(2)])),
        ("_public_new", json!(["new", "", -1])),
    ] {
        app.wait_a_minute();
        assert_eq!(act(&app, action).await.0, 200);
        assert_eq!(pair().await, wanted, "{action}");
    }
    // New objects start in the initial state, even when that is `public`.
    let approved = json!({ "states": ["public", "new"] });
    assert_eq!(admin(&app, "PUT", OWN, &approved).await.0, 200);
    app.create("paper", &json!({ "id": "two", "title": "T" })).await;
    let changes = json!({
        "createdAt": minute(3), "updatedAt": minute(3), "workflowState": "public",
        "workflowPublicVersion": 1, "workflowPublishedAt": minute(3),
    });
    let two = shown("paper", "two", &changes, &json!({ "title": "T" }));
    assert_eq!(app.get("/api/v1/content/paper/two").await.status_and_body(), (200, two));
}

#[tokio::test]
async fn action_without_a_transition_returns_400() {
    let app = app(&json!({ "workflowId": "publishing" })).await;
    let not_enabled = |action: &str, state: &str| {
        error("action", &format!("Transition \"{action}\" is not enabled in state \"{state}\""))
    };
    for (body, wanted) in [
        (json!({}), error("action", "The property action is required")),
        (json!({ "action": 1 }), error("action", "Integer value found, but a string is required")),
        (json!({ "action": null }), error("action", "NULL value found, but a string is required")),
        (
            json!({ "action": ["_draft_review"] }),
            error("action", "Array value found, but a string is required"),
        ),
        (json!({ "action": "" }), not_enabled("", "draft")),
        (json!({ "action": "review" }), not_enabled("review", "draft")),
        (json!({ "action": "_draft_public" }), not_enabled("_draft_public", "draft")),
        (json!({ "action": "_review_public" }), not_enabled("_review_public", "draft")),
        (json!([]), malformed()),
        (json!("_draft_review"), malformed()),
    ] {
        assert_eq!(app.request("PUT", STATE, &body).await.status_and_body(), wanted, "{body}");
    }
    let key = ("x-auth-token", app.key(CallerKind::ReadWrite).unwrap());
    let text = [key, ("content-type", "text/plain")];
    assert_eq!(app.send("PUT", STATE, &text, "{}").await.status_and_body(), wrong_media_type());
    let body = json!({ "action": "_draft_review" });
    assert_eq!(
        app.send_as(CallerKind::ReadOnly, "PUT", STATE, &body).await.status_and_body(),
        forbidden()
    );
    for path in ["/api/v1/workflow/paper/none", "/api/v1/workflow/nothing/one"] {
        assert_eq!(app.get(path).await.status_and_body(), not_found());
        assert_eq!(app.request("PUT", path, &body).await.status_and_body(), not_found());
    }
    let draft =
        shown("paper", "one", &json!({ "workflowState": "draft" }), &json!({ "title": "T" }));
    assert_eq!(app.get(ONE).await.status_and_body(), (200, draft));

    // The default workflow has no transitions.
    let post = "/api/v1/workflow/post/ONE";
    assert_eq!(app.get(post).await.status_and_body(), (200, state("saved", &[])));
    let reply = app.request("PUT", post, &body).await.status_and_body();
    assert_eq!(reply, not_enabled("_draft_review", "saved"));
}

/// Admin keys create, read, replace and delete definitions.
#[tokio::test]
async fn workflows_are_managed() {
    let app = TestApp::new();
    let none = Value::Null;
    for (method, path) in
        [("GET", WORKFLOWS), ("POST", WORKFLOWS), ("GET", OWN), ("PUT", OWN), ("DELETE", OWN)]
    {
        assert_eq!(
            app.request(method, path, &json!({})).await.status_and_body(),
            forbidden(),
            "{method}"
        );
    }
    for method in ["GET", "PUT", "DELETE"] {
        assert_eq!(admin(&app, method, OWN, &json!({})).await, not_found(), "{method}");
    }
    // Names of transitions are derived from the states; other fields have defaults.
    let short = json!({ "id": "own", "states": ["new", "public"], "transitions": [
        { "froms": ["new"], "tos": ["public"] },
    ] });
    let complete = json!({
        "id": "own", "name": "own", "initial_state": "new", "states": ["new", "public"],
        "transitions": [transition("new", "public")],
    });
    assert_eq!(admin(&app, "POST", WORKFLOWS, &short).await, (200, complete.clone()));
    assert_eq!(admin(&app, "GET", OWN, &none).await, (200, complete.clone()));
    let used = error("id", "This value is already used");
    assert_eq!(admin(&app, "POST", WORKFLOWS, &short).await, used);
    let generic = json!({ "id": "generic", "states": ["saved"] });
    assert_eq!(admin(&app, "POST", WORKFLOWS, &generic).await, used);
    let invalid = json!({
        "id": "a b", "name": "", "initial_state": "none", "states": ["x", "x", 1],
        "transitions": [{ "froms": ["x"], "tos": ["y"] }],
    });
    let errors = json!({
        "id": [NOT_VALID],
        "name": ["Must be at least 1 characters long"],
        "states": ["There are no duplicates allowed in the array"],
        "states[2]": ["Integer value found, but a string is required"],
        "initial_state": [NOT_VALID],
        "transitions[0].tos": [NOT_VALID],
    });
    assert_eq!(admin(&app, "POST", WORKFLOWS, &invalid).await, (400, errors));
    assert_eq!(admin(&app, "POST", WORKFLOWS, &json!([])).await, malformed());

    let other = json!({ "id": "other", "states": ["new"] });
    let message = "Id in the request body does not match the id in the path";
    assert_eq!(admin(&app, "PUT", OWN, &other).await, error("id", message));
    let required = error("states", "The property states is required");
    assert_eq!(admin(&app, "PUT", OWN, &json!({})).await, required);
    assert_eq!(admin(&app, "GET", OWN, &none).await, (200, complete));
    assert_eq!(admin(&app, "PUT", OWN, &own()).await, (200, own()));
    for built_in in ["generic", "publishing"] {
        let path = format!("{WORKFLOWS}/{built_in}");
        assert_eq!(admin(&app, "GET", &path, &none).await.0, 200);
        assert_eq!(admin(&app, "PUT", &path, &json!({ "states": ["x"] })).await, forbidden());
        assert_eq!(admin(&app, "DELETE", &path, &none).await, forbidden());
    }
    assert_eq!(admin(&app, "DELETE", OWN, &none).await, no_content());
    assert_eq!(admin(&app, "DELETE", OWN, &none).await, not_found());
    assert_eq!(admin(&app, "GET", WORKFLOWS, &none).await, (200, listed(&built_in())));
}

/// Workflows of types and states of objects cannot be removed.
#[tokio::test]
async fn workflows_in_use_are_kept() {
    let app = TestApp::new();
    assert_eq!(admin(&app, "POST", WORKFLOWS, &own()).await.0, 200);
    for name in ["paper", "letter"] {
        app.create_type(name, &json!({ "workflowId": "own" }));
    }
    let in_use = json!({ "id": [
        "This workflow is used by content type: letter",
        "This workflow is used by content type: paper",
    ] });
    assert_eq!(admin(&app, "DELETE", OWN, &Value::Null).await, (400, in_use));
    // No object is in any state yet.
    let moved = json!({ "id": "own", "states": ["start", "public"] });
    assert_eq!(admin(&app, "PUT", OWN, &moved).await.0, 200);
    assert_eq!(admin(&app, "PUT", OWN, &own()).await.0, 200);
    app.create("paper", &json!({ "id": "one", "title": "T" })).await;
    let lost = error("states", "State \"new\" is used by objects of type: paper");
    assert_eq!(admin(&app, "PUT", OWN, &moved).await, lost);
    assert_eq!(admin(&app, "GET", OWN, &Value::Null).await, (200, own()));

    // New states and transitions apply immediately, and so does the meaning of `public`.
    let strict = [("x-visibility", "public")];
    let count = async || {
        let path = "/api/v1/content/paper";
        let list = app.get_with(&strict, CallerKind::ReadOnly, path).await;
        list.json()["total_count"].clone()
    };
    assert_eq!(count().await, 0);
    let without = json!({ "states": ["new", "done"], "transitions": [transition("new", "done")] });
    assert_eq!(admin(&app, "PUT", OWN, &without).await.0, 200);
    assert_eq!(count().await, 1);
    assert_eq!(act(&app, "_new_public").await.0, 400);
    assert_eq!(act(&app, "_new_done").await, (200, state("done", &[])));
    let with =
        json!({ "states": ["done", "public"], "transitions": [transition("done", "public")] });
    assert_eq!(admin(&app, "PUT", OWN, &with).await.0, 200);
    assert_eq!(count().await, 0);
    assert_eq!(act(&app, "_done_public").await, (200, state("public", &[])));
    assert_eq!(count().await, 1);
}

/// The valid workflows of a type, and settings that exclude each other.
#[tokio::test]
async fn content_type_needs_an_existing_workflow() {
    let app = app(&json!({})).await;
    let missing = error("workflowId", "This value does not exist in database");
    let excluded = error("draftPublic", "Draft & Public cannot be combined with a custom workflow");
    for (settings, wanted) in [
        (json!({ "workflowId": "none" }), missing.clone()),
        (json!({ "workflowId": "Publishing" }), missing.clone()),
        (json!({ "workflowId": "" }), missing),
        (json!({ "workflowId": "publishing", "draftPublic": true }), excluded.clone()),
    ] {
        let mut new = linking_definition("letter");
        new.extend(object(&settings));
        let reply = app.request("POST", "/api/v1/internal/contenttype", &json!(new)).await;
        assert_eq!(reply.status_and_body(), wanted, "{settings}");
        assert_eq!(update(&app, &settings).await, wanted, "{settings}");
    }
    // Omitted settings keep their values, and are validated together with the others.
    assert_eq!(update(&app, &json!({ "workflowId": "publishing" })).await.0, 200);
    assert_eq!(update(&app, &json!({ "draftPublic": true })).await, excluded);
    let both = json!({ "draftPublic": true, "workflowId": "generic" });
    assert_eq!(update(&app, &both).await.0, 200);
    assert_eq!(update(&app, &json!({ "workflowId": "publishing" })).await, excluded);
}

/// Objects in states that the new workflow lacks get its initial state.
#[tokio::test]
async fn objects_follow_their_type_into_another_workflow() {
    let app = TestApp::with_type("paper", &json!({}));
    for id in ["a", "b", "c"] {
        app.create("paper", &json!({ "id": id, "title": "T" })).await;
    }
    let states = async || -> Vec<Value> {
        let list = app.get("/api/v1/content/paper?order_by=id").await.json();
        let objects = list["data"].as_array().unwrap();
        // Cached counts of lists are invalidated by the change.
        for state in ["saved", "draft", "review", "public"] {
            let filter = json!({ "internal.workflowState": { "type": "equals", "filter": state } });
            let filter = utf8_percent_encode(&filter.to_string(), NON_ALPHANUMERIC).to_string();
            let found = app.get(&format!("/api/v1/content/paper?filters={filter}")).await.json();
            let is_in = |object: &&Value| object["internal"]["workflowState"] == state;
            assert_eq!(found["total_count"], objects.iter().filter(is_in).count(), "{state}");
        }
        let state = |object: &Value| {
            let internal = &object["internal"];
            json!([
                internal["workflowState"],
                internal["workflowPublicVersion"],
                internal["workflowPublishedAt"],
                internal["updatedAt"],
            ])
        };
        objects.iter().map(state).collect()
    };
    let without = |state: &str, at: u32| json!([state, "", -1, minute(at)]);
    let approved = |at: u32| json!(["public", 1, minute(at), minute(at)]);
    app.wait_a_minute();
    assert_eq!(update(&app, &json!({ "workflowId": "publishing" })).await.0, 200);
    assert_eq!(states().await, [without("draft", 0), without("draft", 0), without("draft", 0)]);
    for (id, actions) in
        [("b", &["_draft_review"][..]), ("c", &["_draft_review", "_review_public"])]
    {
        for action in actions {
            let path = format!("/api/v1/workflow/paper/{id}");
            assert_eq!(app.request("PUT", &path, &json!({ "action": action })).await.status, 200);
        }
    }
    assert_eq!(states().await, [without("draft", 0), without("review", 1), approved(1)]);
    app.wait_a_minute();
    let reviews = json!({ "id": "own", "states": ["review", "public"] });
    assert_eq!(admin(&app, "POST", WORKFLOWS, &reviews).await.0, 200);
    assert_eq!(update(&app, &json!({ "workflowId": "own" })).await.0, 200);
    assert_eq!(states().await, [without("review", 0), without("review", 1), approved(1)]);
    assert_eq!(update(&app, &json!({ "workflowId": "generic" })).await.0, 200);
    assert_eq!(states().await, [without("saved", 0), without("saved", 1), without("saved", 1)]);
    let public = json!({ "id": "open", "states": ["public"] });
    assert_eq!(admin(&app, "POST", WORKFLOWS, &public).await.0, 200);
    assert_eq!(update(&app, &json!({ "workflowId": "open" })).await.0, 200);
    assert_eq!(states().await, [approved(0), approved(1), approved(1)]);
}

/// Draft & Public is enabled and disabled with objects in every status.
#[tokio::test]
async fn objects_follow_their_type_into_draft_and_public_and_back() {
    let app = app(&json!({})).await;
    app.wait_a_minute();
    assert_eq!(app.request("PATCH", ONE, &json!({ "title": "New" })).await.status, 200);
    app.wait_a_minute();
    assert_eq!(update(&app, &json!({ "draftPublic": true })).await.0, 200);
    let title = |title: &str| json!({ "title": title });
    let on = json!({
        "latestVersion": 2, "updatedAt": minute(1), "publicVersion": 2, "publishedAt": minute(1),
    });
    let one = shown("paper", "one", &on, &title("New"));
    assert_eq!(app.get("/api/v1/content/paper").await.status_and_body(), (200, listed(&[one])));

    for id in ["archived", "draft", "scheduled"] {
        app.create("paper", &json!({ "id": id, "title": id })).await;
    }
    assert_eq!(app.request("PATCH", ONE, &title("Newer")).await.status, 200);
    let path = "/api/v1/content/paper/batch-archive";
    assert_eq!(
        app.request("POST", path, &json!(["archived"])).await.status_and_body(),
        no_content()
    );
    let later = json!({ "scheduledAt": "2026-01-02T04:00", "timeZone": "UTC" });
    let path = "/api/v1/content/paper/scheduled/schedule";
    assert_eq!(app.request("PUT", path, &later).await.status, 200);
    let old = shown("paper", "one", &on, &title("New"));
    assert_eq!(app.get("/api/v1/content/paper").await.status_and_body(), (200, listed(&[old])));

    app.wait_a_minute();
    assert_eq!(update(&app, &json!({ "draftPublic": false })).await.0, 200);
    let plain = |id: &str| {
        let changes = json!({ "createdAt": minute(2), "updatedAt": minute(2) });
        shown("paper", id, &changes, &title(id))
    };
    let off = json!({ "latestVersion": 3, "updatedAt": minute(2) });
    let one = shown("paper", "one", &off, &title("Newer"));
    let all = [one, plain("archived"), plain("draft"), plain("scheduled")];
    for headers in [&[][..], &[("x-mode", "preview")], &[("x-visibility", "public")]] {
        let path = "/api/v1/content/paper";
        let list = app.get_with(headers, CallerKind::ReadOnly, path).await;
        assert_eq!(list.status_and_body(), (200, listed(&all)), "{headers:?}");
    }
    assert_eq!(app.get("/api/v1/content/paper?ids[]=one&ids[]=draft").await.json()["count"], 2);
}

/// A project may contain the workflows that its types name.
#[tokio::test]
async fn workflows_are_applied_with_a_project() {
    let app = TestApp::new();
    let mut letter = linking_definition("letter");
    letter.extend(object(&json!({ "workflowId": "own" })));
    let project = json!({ "workflows": [own()], "contentTypes": [letter] });
    let types = "/api/v1/internal/contenttype";
    for call in ["plan", "apply", "apply"] {
        let reply = app.request("POST", &format!("{types}/{call}"), &project).await;
        assert_eq!(reply.header("x-deprecated-payload"), None);
        assert_eq!(reply.status, 200, "{call}: {:?}", reply.json());
        let there = app.get(&format!("{types}/letter")).await.status;
        assert_eq!(there, if call == "plan" { 404 } else { 200 });
    }
    assert_eq!(admin(&app, "GET", OWN, &Value::Null).await, (200, own()));
}
