//! Bulk jobs: their objects, progress, refusals, and what happens when they are interrupted.

use std::sync::Arc;

use cms_core::{
    Caller, Cms, CoreConfig, Error, Visibility,
    paging::PageRequest,
    testing::TestCms,
    wire::{
        batch::BatchElements,
        bulk::{BulkDryRunResponse, BulkJob, BulkJobState, BulkResponse},
        key::KeyKind,
        user::Role,
    },
};
use cms_model::context::{Actor, ActorKind, Credential};
use serde_json::{Map, Value, json};

use crate::support::{
    add_property, article, article_with, create_batch, create_object, database, key, link, map,
    publish, rows, with_type,
};

/// A Draft & Public type with articles `a0`, `a1` and so on.
fn with_articles(number: usize) -> TestCms {
    with_articles_of(number, json!({ "draftPublic": true }))
}

fn with_articles_of(number: usize, settings: Value) -> TestCms {
    let test = with_type(article_with(settings));
    let elements: Vec<Value> = (0..number)
        .map(|n| json!({ "id": format!("a{n}"), "title": format!("Title {n}"), "rank": n % 3 }))
        .collect();
    for part in elements.chunks(1000) {
        create_batch(&test.cms, "article", part);
    }
    test
}

fn request(action: &str, more: Value) -> Map<String, Value> {
    let mut request = map(json!({ "action": action, "all": true }));
    request.extend(map(more));
    if request.contains_key("filters") || request.contains_key("q") {
        request.remove("all");
    }
    request
}

fn create(cms: &Cms, caller: &Caller, payload: &Map<String, Value>) -> cms_core::Result<String> {
    match cms.bulk().create(caller, "article", payload)? {
        BulkResponse::Created { id } => Ok(id),
        BulkResponse::DryRun(dry_run) => panic!("{dry_run:?}"),
    }
}

fn dry_run_of(test: &TestCms, payload: &Map<String, Value>) -> BulkDryRunResponse {
    match test.cms.bulk().create(&Caller::local(), "article", payload).unwrap() {
        BulkResponse::DryRun(dry_run) => dry_run,
        BulkResponse::Created { id } => panic!("{id}"),
    }
}

fn run(cms: &Cms) {
    while cms.bulk().advance().unwrap() {}
}

fn job(cms: &Cms, id: &str) -> BulkJob {
    cms.bulk().get(&Caller::local(), id).unwrap()
}

fn numbers(job: &BulkJob) -> (BulkJobState, [u64; 4]) {
    (job.state, [job.total, job.done, job.succeeded, job.refused])
}

/// Creates a job and carries it out.
fn carry_out(test: &TestCms, payload: &Map<String, Value>) -> BulkJob {
    let id = create(&test.cms, &Caller::local(), payload).unwrap();
    run(&test.cms);
    job(&test.cms, &id)
}

fn statuses(test: &TestCms) -> Vec<String> {
    rows(test, "SELECT status || ' ' || count(*) FROM object GROUP BY status ORDER BY status")
}

fn errors(result: cms_core::Result<String>) -> Value {
    match result {
        Err(Error::Invalid(errors)) => json!(errors),
        other => panic!("{other:?}"),
    }
}

fn author(test: &TestCms) -> Caller {
    let database = database(test);
    database
        .execute_batch(
            "INSERT INTO actor (uid, name, kind, rules, hash, created_at)
             VALUES ('eve', 'Eve', 'user', '[]', randomblob(32), 0);
             INSERT INTO user (actor, email, email_key, role, may_publish, disabled)
             VALUES (last_insert_rowid(), 'eve@example.com', 'eve@example.com', 'author', 0, 0);",
        )
        .unwrap();
    let pk =
        database.query_row("SELECT pk FROM actor WHERE uid = 'eve'", [], |row| row.get(0)).unwrap();
    let actor = Actor {
        pk: Some(pk),
        id: "eve".to_owned(),
        name: "Eve".to_owned(),
        kind: ActorKind::User { role: Role::Author, email: "eve@example.com".to_owned() },
        rules: Vec::new(),
        may_publish: false,
    };
    Caller { credential: Credential::Session(1), ..Caller::new(Arc::new(actor)) }
}

#[test]
fn bulk_publishes_all_objects_in_transactions() {
    let test = with_articles(1200);
    let wrong = create(&test.cms, &Caller::local(), &request("publish", json!({ "expect": 1199 })));
    assert!(matches!(wrong, Err(Error::MatchesChanged { expected: 1199, found: 1200 })));
    assert_eq!(
        test.cms.bulk().list(&Caller::local(), PageRequest::default()).unwrap().total_count,
        0
    );

    let id = create(&test.cms, &Caller::local(), &request("publish", json!({ "expect": 1200 })))
        .unwrap();
    // Objects that match later are not included.
    create_object(&test.cms, "article", json!({ "id": "late", "title": "Late" }));
    test.cms.objects().delete(&Caller::local(), "article", "a7").unwrap();
    assert_eq!(numbers(&job(&test.cms, &id)), (BulkJobState::Waiting, [1200, 0, 0, 0]));
    // Chunks are few and compact, so the objects of a large job are stored within milliseconds.
    let chunks = "SELECT position || ' ' || (length(objects) < 510) FROM job_chunk";
    assert_eq!(rows(&test, chunks), ["1 1", "501 1", "1001 1"]);
    assert!(test.cms.bulk().advance().unwrap());
    assert_eq!(numbers(&job(&test.cms, &id)), (BulkJobState::Running, [1200, 500, 499, 0]));
    assert_eq!(statuses(&test), ["draft 701", "public 499"]);
    run(&test.cms);
    assert_eq!(numbers(&job(&test.cms, &id)), (BulkJobState::Done, [1200, 1200, 1199, 0]));
    assert_eq!(statuses(&test), ["draft 1", "public 1199"]);
    assert_eq!(rows(&test, "SELECT count(*) FROM job_chunk"), ["0"]);
}

#[test]
fn bulk_selects_by_filters_search_text_and_view() {
    let test = with_articles(30);
    publish(&test.cms, "article", "a1");
    let matched = |more: Value| {
        let mut payload = request("archive", more);
        payload.insert("dryRun".to_owned(), json!(true));
        dry_run_of(&test, &payload).matched
    };
    let rank = json!({ "rank": { "type": "equals", "filter": 1 } });
    assert_eq!(matched(json!({})), 30);
    assert_eq!(matched(json!({ "filters": rank })), 10);
    assert_eq!(matched(json!({ "q": "title" })), 30);
    assert_eq!(matched(json!({ "q": "\"title 4\" OR \"title 5\"" })), 2);
    assert_eq!(matched(json!({ "filters": rank, "q": "\"title 4\" OR \"title 5\"" })), 1);
    assert_eq!(matched(json!({ "filters": {} })), 30);

    let public = Caller::local().with_visibility(Visibility { preview: true, public_only: true });
    let payload = request("archive", json!({ "expect": 1 }));
    let id = create(&test.cms, &public, &payload).unwrap();
    run(&test.cms);
    assert_eq!(numbers(&job(&test.cms, &id)), (BulkJobState::Done, [1, 1, 1, 0]));
    assert_eq!(statuses(&test), ["archived 1", "draft 29"]);

    let wrong = json!({ "rank": { "type": "no", "filter": 1 } });
    let wrong = create(
        &test.cms,
        &Caller::local(),
        &request("archive", json!({ "filters": wrong, "expect": 0 })),
    );
    assert_eq!(errors(wrong), json!({ "filters": ["Unknown filter type no for rank"] }));
}

#[test]
fn bulk_patch_validates_each_object() {
    let test = with_articles(5);
    let patch = json!({ "rank": 7 });
    let payload = request("patch", json!({ "patch": patch, "dryRun": true }));
    let shown = dry_run_of(&test, &payload);
    assert_eq!(shown.matched, 5);
    assert_eq!(
        json!(shown.sample[1]),
        json!({
            "id": "a1", "objectTitle": "Title 1", "before": { "rank": 1 }, "after": { "rank": 7 },
            "errors": {},
        })
    );
    let done = carry_out(&test, &request("patch", json!({ "patch": patch, "expect": 5 })));
    assert_eq!(numbers(&done), (BulkJobState::Done, [5, 5, 5, 0]));
    let versions = rows(&test, "SELECT version || (data ->> 'rank') FROM object ORDER BY pk");
    assert_eq!(versions, ["27", "27", "27", "27", "27"]);

    // An id in the patch is refused as in a PATCH, except for the object that has it.
    let patch = json!({ "id": "A1", "rank": 8 });
    let shown = dry_run_of(&test, &request("patch", json!({ "patch": patch, "dryRun": true })));
    let other = json!({ "id": ["Id in the request body does not match the id in the path"] });
    assert_eq!(json!([&shown.sample[0].errors, &shown.sample[1].errors]), json!([other, {}]));
    let done = carry_out(&test, &request("patch", json!({ "patch": patch, "expect": 5 })));
    assert_eq!(numbers(&done), (BulkJobState::Done, [5, 5, 1, 4]));
    assert_eq!(json!(done.errors.unwrap())[0], json!({ "id": "a0", "errors": other }));
    assert_eq!(rows(&test, "SELECT id FROM object WHERE data ->> 'rank' = 8"), ["a1"]);

    // The title is unique: the first object gets it, the others are refused.
    let done =
        carry_out(&test, &request("patch", json!({ "patch": { "title": "Same" }, "expect": 5 })));
    assert_eq!(numbers(&done), (BulkJobState::Done, [5, 5, 1, 4]));
    let used = json!({ "title": ["This value is already used"] });
    let refusals = json!(done.errors.unwrap());
    assert_eq!(refusals[0], json!({ "id": "a1", "errors": used }));
    assert_eq!(refusals.as_array().unwrap().len(), 4);
    assert_eq!(rows(&test, "SELECT count(*) FROM object WHERE title = 'Same'"), ["1"]);
}

/// A transaction contains a limited amount of data; the next one processes further objects.
#[test]
fn bulk_patch_of_large_objects_takes_more_transactions() {
    let test = with_articles(40);
    let mut definition = article_with(json!({ "draftPublic": true }));
    add_property(&mut definition, "text", json!({ "type": "string" }), "textarea");
    test.cms.types().update(&Caller::local(), "article", definition).unwrap();
    let patch = json!({ "text": "x".repeat(1_000_000) });
    let payload = request("patch", json!({ "patch": patch, "expect": 40 }));
    let id = create(&test.cms, &Caller::local(), &payload).unwrap();
    let mut done = Vec::new();
    while test.cms.bulk().advance().unwrap() {
        done.push(job(&test.cms, &id).done);
        let changed = rows(&test, "SELECT count(*) FROM object WHERE version > 1");
        assert_eq!(changed, [done[done.len() - 1].to_string()]);
    }
    assert_eq!(done, [17, 34]);
    assert_eq!(numbers(&job(&test.cms, &id)), (BulkJobState::Done, [40, 40, 40, 0]));
    assert_eq!(rows(&test, "SELECT DISTINCT version FROM object"), ["2"]);
}

#[test]
fn bulk_deletion_tries_linked_objects_again() {
    let test = with_articles_of(0, json!({}));
    let link = |id: &str| json!([{ "type": "internal", "dataUrl": format!("/api/v1/content/article/{id}") }]);
    let create_one = |id: &str, more: Value| {
        let mut object = map(json!({ "id": id, "title": id }));
        object.extend(map(more));
        test.cms.objects().create(&Caller::local(), "article", object).unwrap();
    };
    // 600 targets in creation order before their sources: links cross the transactions.
    for n in 0..600 {
        create_one(&format!("t{n}"), json!({ "rank": 1 }));
    }
    for n in 0..600 {
        create_one(&format!("s{n}"), json!({ "rank": 1, "related": link(&format!("t{n}")) }));
    }
    create_one("stays", json!({ "rank": 2, "related": link("t3") }));
    let rank = json!({ "rank": { "type": "equals", "filter": 1 } });
    let dry = request("delete", json!({ "filters": rank, "dryRun": true }));
    let shown = dry_run_of(&test, &dry);
    let in_use = json!({ "id": ["This content object is used in another content object."] });
    assert_eq!(
        (json!(shown.sample[2].errors), json!(shown.sample[3].errors)),
        (json!({}), in_use.clone())
    );
    let done = carry_out(&test, &request("delete", json!({ "filters": rank, "expect": 1200 })));
    assert_eq!(numbers(&done), (BulkJobState::Done, [1200, 1200, 1199, 1]));
    assert_eq!(json!(done.errors), json!([{ "id": "t3", "errors": in_use }]));
    assert_eq!(rows(&test, "SELECT id FROM object ORDER BY pk"), ["t3", "stays"]);
}

/// Links of both directions, along a chain and in circles, across the transactions.
#[test]
fn bulk_deletion_of_linked_objects_takes_any_number_of_transactions() {
    let target = |n: usize| json!([link("article", &format!("a{n}"))]);
    let linked = |n: usize, to: usize| json!({ "id": format!("a{n}"), "related": target(to) });
    let tables: [(&str, Vec<Value>); 3] = [
        ("to the previous", (1..1700).map(|n| linked(n, n - 1)).collect()),
        ("to the next", (0..1699).map(|n| linked(n, n + 1)).collect()),
        ("in pairs", (0..1700).map(|n| linked(n, (n + 850) % 1700)).collect()),
    ];
    for (context, patches) in tables {
        let test = with_articles_of(1700, json!({}));
        for part in patches.chunks(1000) {
            let elements = BatchElements::of(part);
            let report = test.cms.objects().batch_patch(&Caller::local(), "article", &elements);
            assert_eq!(report.unwrap().batch_error_count, 0, "{context}");
        }
        let done = carry_out(&test, &request("delete", json!({ "expect": 1700 })));
        assert_eq!(numbers(&done), (BulkJobState::Done, [1700, 1700, 1700, 0]), "{context}");
        assert_eq!(rows(&test, "SELECT count(*) FROM object WHERE id LIKE 'a%'"), ["0"]);
    }
}

#[test]
fn bulk_transition_moves_objects_that_allow_it() {
    let test = with_articles_of(4, json!({ "workflowId": "publishing" }));
    let act = |id: &str, action: &str| {
        let payload = map(json!({ "action": action }));
        test.cms.workflows().run_transition(&Caller::local(), "article", id, payload).unwrap();
    };
    act("a0", "_draft_review");
    let unknown = request("transition", json!({ "transition": "none", "expect": 4 }));
    let unknown = create(&test.cms, &Caller::local(), &unknown);
    assert_eq!(errors(unknown), json!({ "transition": ["This value is not valid."] }));
    let payload = request("transition", json!({ "transition": "_draft_review", "expect": 4 }));
    let done = carry_out(&test, &payload);
    assert_eq!(numbers(&done), (BulkJobState::Done, [4, 4, 3, 1]));
    let message = "Transition \"_draft_review\" is not enabled in state \"review\"";
    assert_eq!(json!(done.errors), json!([{ "id": "a0", "errors": { "action": [message] } }]));
    let states = rows(&test, "SELECT DISTINCT workflow_state FROM object");
    assert_eq!(states, ["review"]);
    let publish = create(&test.cms, &Caller::local(), &request("publish", json!({ "expect": 4 })));
    assert!(matches!(publish, Err(Error::Rejected(_))));

    // The type has another workflow before the job starts.
    let back = request("transition", json!({ "transition": "_review_draft", "expect": 4 }));
    let id = create(&test.cms, &Caller::local(), &back).unwrap();
    let generic = article_with(json!({ "workflowId": "generic" }));
    test.cms.types().update(&Caller::local(), "article", generic).unwrap();
    run(&test.cms);
    let failed = job(&test.cms, &id);
    assert_eq!(failed.state, BulkJobState::Failed);
    assert_eq!(failed.error.as_deref(), Some("transition: This value is not valid."));
}

/// A job that is interrupted between two transactions leaves no object half changed, and continues.
#[test]
fn bulk_job_continues_after_a_restart() {
    let test = with_articles(1100);
    // A replica cannot be opened without its cluster.
    if test.is_node() {
        return;
    }
    let payload = request("patch", json!({ "patch": { "rank": 9 }, "expect": 1100 }));
    let id = create(&test.cms, &Caller::local(), &payload).unwrap();
    assert!(test.cms.bulk().advance().unwrap());
    let changed = "SELECT count(*) FROM object WHERE version = 2 AND data ->> 'rank' = 9";
    assert_eq!(rows(&test, changed), ["500"]);
    let clock = Arc::clone(&test.clock);
    let folder = test.into_folder();
    let mut config = CoreConfig::new(folder.path().join("data"));
    config.clock = clock;
    let reopened = Cms::open(config).unwrap();
    run(&reopened);
    assert_eq!(numbers(&job(&reopened, &id)), (BulkJobState::Done, [1100, 1100, 1100, 0]));
    let database = rusqlite::Connection::open(folder.path().join("data/cms.db")).unwrap();
    let changed: i64 = database.query_row(changed, [], |row| row.get(0)).unwrap();
    assert_eq!(changed, 1100);
}

#[test]
fn bulk_job_is_stopped_between_transactions() {
    let test = with_articles(1100);
    let payload = request("publish", json!({ "expect": 1100 }));
    let first = create(&test.cms, &Caller::local(), &payload).unwrap();
    let second =
        create(&test.cms, &Caller::local(), &request("archive", json!({ "expect": 1100 })))
            .unwrap();
    assert!(test.cms.bulk().advance().unwrap());
    test.cms.bulk().stop(&Caller::local(), &first).unwrap();
    test.cms.bulk().stop(&Caller::local(), &second).unwrap();
    assert!(!test.cms.bulk().advance().unwrap());
    assert_eq!(numbers(&job(&test.cms, &first)), (BulkJobState::Stopped, [1100, 500, 500, 0]));
    assert_eq!(numbers(&job(&test.cms, &second)), (BulkJobState::Stopped, [1100, 0, 0, 0]));
    assert_eq!(statuses(&test), ["draft 600", "public 500"]);
    // Stopping again has no effect.
    test.run_for(3600);
    test.cms.bulk().stop(&Caller::local(), &first).unwrap();
    let finished = job(&test.cms, &first).finished_at.unwrap();
    assert_eq!(finished, "2026-01-02T03:04:05.000000+0000");

    test.run_for(6 * 86_400);
    assert_eq!(job(&test.cms, &first).state, BulkJobState::Stopped);
    test.run_for(2 * 86_400);
    let gone = test.cms.bulk().get(&Caller::local(), &first);
    assert!(matches!(gone, Err(Error::NotFound { what: "job", .. })));
}

#[test]
fn bulk_job_fails_when_its_caller_loses_the_rights() {
    let test = with_articles(600);
    let (web_id, web) = key(&test, "web", KeyKind::ReadWrite);
    let id = create(&test.cms, &web, &request("publish", json!({ "expect": 600 }))).unwrap();
    assert!(test.cms.bulk().advance().unwrap());
    test.cms.keys().revoke(&Caller::local(), &web_id).unwrap();
    run(&test.cms);
    let failed = job(&test.cms, &id);
    assert_eq!(numbers(&failed), (BulkJobState::Failed, [600, 500, 500, 0]));
    let reason = "the rights of the caller no longer suffice";
    assert_eq!(failed.error.as_deref(), Some(reason));
    assert_eq!(
        (failed.by.name.as_str(), statuses(&test)),
        ("web", vec!["draft 100".to_owned(), "public 500".to_owned()])
    );

    // A type that is deleted meanwhile ends the job too.
    let id =
        create(&test.cms, &Caller::local(), &request("archive", json!({ "expect": 600 }))).unwrap();
    test.cms.types().purge(&Caller::local(), "article", false).unwrap();
    test.cms.types().delete(&Caller::local(), "article").unwrap();
    run(&test.cms);
    let failed = job(&test.cms, &id);
    assert_eq!(failed.state, BulkJobState::Failed);
    assert_eq!(failed.error.as_deref(), Some("content type \"article\" not found"));
}

#[test]
fn bulk_action_of_an_author_needs_the_publishing_right() {
    let test = with_articles(4);
    // SQL must not change a replica.
    if test.is_node() {
        return;
    }
    let eve = author(&test);
    for action in ["publish", "unpublish", "archive"] {
        let refused = create(&test.cms, &eve, &request(action, json!({ "expect": 4 })));
        assert!(matches!(refused, Err(Error::Forbidden)), "{action}");
    }
    publish(&test.cms, "article", "a1");
    let id = create(&test.cms, &eve, &request("delete", json!({ "expect": 4 }))).unwrap();
    run(&test.cms);
    let done = job(&test.cms, &id);
    assert_eq!(numbers(&done), (BulkJobState::Done, [4, 4, 3, 1]));
    let forbidden = json!({ "id": ["Access denied or quota limit exceeded"] });
    assert_eq!(json!(done.errors), json!([{ "id": "a1", "errors": forbidden }]));
    assert_eq!(done.by.name, "Eve");

    // An edit of a published object leaves the published version as it is.
    let patch = request("patch", json!({ "patch": { "rank": 5 }, "expect": 1 }));
    let id = create(&test.cms, &eve, &patch).unwrap();
    run(&test.cms);
    assert_eq!(numbers(&job(&test.cms, &id)), (BulkJobState::Done, [1, 1, 1, 0]));

    let test = with_articles_of(2, json!({ "workflowId": "publishing" }));
    let eve = author(&test);
    let to_public = request("transition", json!({ "transition": "_review_public", "expect": 2 }));
    assert!(matches!(create(&test.cms, &eve, &to_public), Err(Error::Forbidden)));
    let review = request("transition", json!({ "transition": "_draft_review", "expect": 2 }));
    let id = create(&test.cms, &eve, &review).unwrap();
    run(&test.cms);
    assert_eq!(numbers(&job(&test.cms, &id)), (BulkJobState::Done, [2, 2, 2, 0]));
}

#[test]
fn bulk_replaces_a_value_in_lists_and_items() {
    let test = TestCms::new();
    let mut definition = article();
    let list = json!({ "type": "array", "items": { "type": "string" } });
    add_property(&mut definition, "sizes", list, "select");
    let config = &mut definition["metaDefinition"]["propertiesConfig"]["sizes"];
    config["multiple"] = true.into();
    config["options"] = json!(["a", "b", "c"]);
    test.cms.types().create(&Caller::local(), definition).unwrap();
    let elements = [
        json!({ "id": "both", "title": "Both", "sizes": ["a", "c"] }),
        json!({ "id": "other", "title": "Other", "sizes": ["c"] }),
        json!({ "id": "twice", "title": "Twice", "sizes": ["b", "a"] }),
    ];
    create_batch(&test.cms, "article", &elements);
    let replace = |path: &str| json!({ "replace": [{ "path": path, "from": "a", "to": "b" }] });
    let of_a = json!({ "filters": { "sizes": { "type": "includes", "filter": ["a"] } } });

    let mut wanted = request("patch", replace("sizes"));
    wanted.extend(map(of_a));
    wanted.remove("all");
    let mut dry_run = wanted.clone();
    dry_run.insert("dryRun".to_owned(), true.into());
    let shown = dry_run_of(&test, &dry_run);
    assert_eq!(shown.matched, 2);
    assert_eq!(json!(shown.sample[0].after), json!({ "sizes": ["b", "c"] }));

    wanted.insert("expect".to_owned(), 2.into());
    let job = carry_out(&test, &wanted);
    assert_eq!(numbers(&job), (BulkJobState::Done, [2, 2, 2, 0]));
    let stored =
        || rows(&test, "SELECT id || ' ' || version || (data ->> 'sizes') FROM object ORDER BY pk");
    let changed = [r#"both 2["b","c"]"#, r#"other 1["c"]"#, r#"twice 2["b"]"#];
    assert_eq!(stored(), changed);

    // Objects without the value are skipped, and keep their version.
    let mut all = request("patch", replace("sizes"));
    all.insert("expect".to_owned(), 3.into());
    assert_eq!(numbers(&carry_out(&test, &all)), (BulkJobState::Done, [3, 3, 0, 0]));
    assert_eq!(stored(), changed);

    let unknown = create(&test.cms, &Caller::local(), &{
        let mut unknown = request("patch", replace("nothing.kind"));
        unknown.insert("expect".to_owned(), 3.into());
        unknown
    });
    assert!(errors(unknown)["replace[0].path"].is_array());
}
