//! From what happens to what webhooks are told.

use std::{collections::HashSet, fs};

use cms_core::{
    Answered, Caller, Cms, CoreConfig, Outgoing,
    paging::Page,
    testing::{TestCms, fixture},
    wire::{
        batch::Elements, ctd::TypeListRequest, publish::PublishAction, search::SearchRequest,
        webhook::ReplayRequest,
    },
};
use serde_json::{Value, json};

use crate::support::{article, map, rows};

/// A page with everything.
const ALL: Page = Page { number: 1, limit: 1000 };

/// A folder with the type `article` and a webhook `hook` for all its events.
fn listening() -> TestCms {
    let test = TestCms::new();
    test.cms.types().create(&Caller::local(), article()).unwrap();
    create(&test, "_webhooks", webhook("hook", &json!({})));
    test
}

pub(crate) fn webhook(id: &str, more: &Value) -> Value {
    let actions =
        ["Create", "Update", "Delete", "Publish", "Unpublish", "Archive", "WorkflowTransition"];
    let mut webhook = json!({
        "id": id, "name": "Hook", "type": "async", "url": "https://example.com/hook",
        "content_type_definitions": [], "enabled": true,
        "actions": actions.map(|action| json!({ "action": action })),
    });
    webhook.as_object_mut().unwrap().extend(map(more.clone()));
    webhook
}

pub(crate) fn create(test: &TestCms, name: &str, object: Value) {
    test.cms.objects().create(&Caller::local(), name, map(object)).unwrap();
}

fn edit(test: &TestCms, id: &str, title: &str) {
    let change = map(json!({ "title": title }));
    test.cms.objects().patch(&Caller::local(), "article", id, change).unwrap();
}

fn follow(test: &TestCms) {
    while test.cms.webhooks().follow().unwrap() {}
}

fn next(test: &TestCms) -> Option<Outgoing> {
    let due = test.cms.webhooks().due().unwrap();
    due.first().and_then(|webhook| test.cms.webhooks().next(*webhook).unwrap())
}

/// Sends all that is due; returns the bodies.
fn send_all(test: &TestCms) -> Vec<Value> {
    follow(test);
    let mut sent = Vec::new();
    while let Some(outgoing) = next(test) {
        sent.push(serde_json::from_str(&outgoing.body).unwrap());
        test.cms.webhooks().record(outgoing, Answered::With(204, String::new())).unwrap();
    }
    sent
}

/// Actions and ids of bodies.
fn told(bodies: &[Value]) -> Vec<String> {
    let text = |body: &Value| {
        let [action, name] = ["action", "contentTypeName"].map(|key| body[key].as_str().unwrap());
        format!("{action} {name} {}", body["payload"]["id"].as_str().unwrap())
    };
    bodies.iter().map(text).collect()
}

fn log(test: &TestCms) -> Vec<cms_core::wire::webhook::Delivery> {
    test.cms.webhooks().log(&Caller::local(), "hook", ALL).unwrap().data
}

#[test]
fn every_event_is_told_once_in_order() {
    let test = listening();
    let local = Caller::local();
    let mut wanted = article();
    wanted["name"] = json!("memo");
    wanted.insert("draftPublic".to_owned(), json!(true));
    test.cms.types().create(&local, wanted).unwrap();
    create(&test, "article", json!({ "id": "a", "title": "One" }));
    edit(&test, "a", "Two");
    test.cms.objects().delete(&local, "article", "a").unwrap();
    create(&test, "memo", json!({ "id": "m", "title": "M" }));
    let elements = [json!({ "id": "b", "title": "B" }), json!({ "id": "c", "title": "C" })];
    test.cms.objects().batch_create(&local, "article", &Elements::of(&elements), false).unwrap();
    for action in [PublishAction::Publish, PublishAction::Unpublish, PublishAction::Archive] {
        test.cms.publishing().act(&local, "memo", "m", action, false).ok();
    }
    let sent = send_all(&test);
    assert_eq!(
        told(&sent),
        [
            "Create article a",
            "Update article a",
            "Delete article a",
            "Create memo m",
            "Create article b",
            "Create article c",
            "Publish memo m",
            "Unpublish memo m",
        ]
    );
    // Each tells of the version that it is about, although that was replaced and deleted since.
    let titles: Vec<&Value> = sent.iter().take(3).map(|body| &body["payload"]["title"]).collect();
    assert_eq!(titles, [&json!("One"), &json!("Two"), &Value::Null]);
    assert_eq!(sent[0]["payload"]["internal"]["contentType"], "article");
    let refs: Vec<&Value> = sent.iter().take(3).map(|body| &body["ref"]).collect();
    let reference = |version| json!(format!("/api/v1/content/article/a/version/{version}"));
    assert_eq!(refs, [&reference(1), &reference(2), &reference(2)]);
    assert_eq!(sent[0]["webhookId"], "hook");
    assert!(send_all(&test).is_empty());
}

#[test]
fn a_webhook_is_told_what_comes_after_it_was_made() {
    let test = TestCms::new();
    test.cms.types().create(&Caller::local(), article()).unwrap();
    create(&test, "article", json!({ "id": "before", "title": "Before" }));
    create(&test, "_webhooks", webhook("hook", &json!({})));
    create(&test, "article", json!({ "id": "after", "title": "After" }));
    assert_eq!(told(&send_all(&test)), ["Create article after"]);
}

#[test]
fn nobody_is_told_of_webhooks() {
    let test = listening();
    create(
        &test,
        "_webhooks",
        webhook(
            "other",
            &json!({ "headers": [
        { "header_name": "Authorization", "header_value": "Bearer secret" },
    ] }),
        ),
    );
    assert!(send_all(&test).is_empty());
}

#[test]
fn what_waits_for_a_deleted_webhook_is_forgotten() {
    let test = listening();
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    follow(&test);
    test.cms.objects().delete(&Caller::local(), "_webhooks", "hook").unwrap();
    follow(&test);
    assert!(next(&test).is_none());
    assert_eq!(rows(&test, "SELECT count(*) FROM webhook_delivery"), ["0"]);
}

#[test]
fn a_disabled_webhook_waits_and_hears_nothing_new() {
    let test = listening();
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    follow(&test);
    let switch = |enabled: bool| {
        let change = map(json!({ "enabled": enabled }));
        test.cms.objects().patch(&Caller::local(), "_webhooks", "hook", change).unwrap();
    };
    switch(false);
    create(&test, "article", json!({ "id": "b", "title": "B" }));
    assert!(send_all(&test).is_empty());
    switch(true);
    assert_eq!(told(&send_all(&test)), ["Create article a"]);
}

#[test]
fn objects_that_go_together_are_told_one_by_one() {
    let test = listening();
    for id in ["a", "b"] {
        create(&test, "article", json!({ "id": id, "title": id }));
    }
    test.cms.types().purge(&Caller::local(), "article", false).unwrap();
    let sent = send_all(&test);
    assert_eq!(told(&sent)[2..], ["Delete article a", "Delete article b"]);
}

/// The type is gone before anybody looked, and so is the trash.
#[test]
fn what_happened_to_a_deleted_type_is_told() {
    let test = listening();
    let local = Caller::local();
    create(&test, "_webhooks", webhook("types", &json!({ "type": "ctd", "actions": [] })));
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    test.cms.objects().delete(&local, "article", "a").unwrap();
    let uid = test.cms.types().get(&local, "article").unwrap().id;
    test.cms.types().delete(&local, "article").unwrap();
    let sent = send_all(&test);
    let mut told = told(&sent);
    told.sort();
    assert_eq!(
        told,
        [
            "Create article a".to_owned(),
            format!("Delete article {uid}"),
            "Delete article a".to_owned()
        ]
    );
    let gone = sent.iter().find(|body| body["ref"] == "/api/v1/internal/contenttype/article");
    assert_eq!(gone.unwrap()["payload"], json!({ "id": uid }));
}

#[test]
fn types_are_told_whatever_actions_say() {
    let test = TestCms::new();
    let local = Caller::local();
    create(&test, "_webhooks", webhook("types", &json!({ "type": "ctd", "actions": [] })));
    test.cms.types().create(&local, article()).unwrap();
    let mut changed = article();
    changed["label"] = json!("Changed");
    test.cms.types().update(&local, "article", changed).unwrap();
    let sent = send_all(&test);
    let actions: Vec<&Value> = sent.iter().map(|body| &body["action"]).collect();
    assert_eq!(actions, [&json!("Create"), &json!("Update")]);
    assert_eq!(sent[1]["payload"]["label"], "Changed");
    assert_eq!(sent[1]["payload"], json!(test.cms.types().get(&local, "article").unwrap()));
}

/// What failed is tried first again: after pauses, and nothing overtakes it.
#[test]
fn a_failing_receiver_gets_everything_in_order_in_the_end() {
    let test = listening();
    for number in 1..=5 {
        create(
            &test,
            "article",
            json!({ "id": format!("a{number}"), "title": number.to_string() }),
        );
    }
    follow(&test);
    let mut messages = Vec::new();
    for pause in [0, 10, 60, 120, 240] {
        if pause > 0 {
            test.clock.advance(pause - 1);
            assert!(next(&test).is_none(), "before {pause} seconds");
            test.clock.advance(1);
        }
        let outgoing = next(&test).unwrap();
        assert!(outgoing.body.contains("\"a1\""));
        messages.push(outgoing.headers.iter().find(|(name, _)| name == "webhook-id").cloned());
        test.cms.webhooks().record(outgoing, Answered::With(500, "no".to_owned())).unwrap();
        let first = log(&test).pop().unwrap();
        let expected = if messages.len() < 3 { "pending" } else { "error" };
        assert_eq!((&*first.status, first.attempts as usize), (expected, messages.len()));
        assert_eq!(first.response.unwrap().body, "no");
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "a message keeps its id");
    assert!(test.cms.webhooks().list(&Caller::local()).unwrap().data[0].failing);

    test.clock.advance(3600);
    let ids: Vec<String> = send_all(&test)
        .iter()
        .map(|body| body["payload"]["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids, ["a1", "a2", "a3", "a4", "a5"]);
    assert!(log(&test).iter().all(|delivery| delivery.status == "done"));
}

#[test]
fn replays_go_first_and_at_once() {
    let test = listening();
    for id in ["a", "b", "c"] {
        create(&test, "article", json!({ "id": id, "title": id }));
    }
    follow(&test);
    let outgoing = next(&test).unwrap();
    let nothing = Answered::Nothing("cut off".to_owned());
    test.cms.webhooks().record(outgoing, nothing).unwrap();
    assert!(next(&test).is_none());
    let local = Caller::local();
    let webhooks = test.cms.webhooks();
    let all = ReplayRequest::default();
    assert_eq!(webhooks.replay(&local, "hook", &all).unwrap().replayed, 3);
    assert_eq!(told(&send_all(&test)).len(), 3);
    assert_eq!(webhooks.replay(&local, "hook", &all).unwrap().replayed, 0);
    let done = log(&test).pop().unwrap().id;
    let one = ReplayRequest { ids: Some(vec![done]) };
    webhooks.replay(&local, "HOOK", &one).unwrap();
    assert_eq!(told(&send_all(&test)), ["Create article a"]);
    let none = ReplayRequest { ids: Some(vec![done, 999]) };
    assert!(webhooks.replay(&local, "hook", &none).is_err());
    assert!(send_all(&test).is_empty());
}

#[test]
fn a_log_has_the_newest_300_entries() {
    let test = listening();
    let elements: Vec<Value> =
        (0..310).map(|n| json!({ "id": format!("a{n}"), "title": format!("{n}") })).collect();
    test.cms
        .objects()
        .batch_create(&Caller::local(), "article", &Elements::of(&elements), false)
        .unwrap();
    assert_eq!(send_all(&test).len(), 310);
    let kept = log(&test);
    assert_eq!(kept.len(), 300);
    assert!(kept[0].request.as_ref().unwrap().contains("\"a309\""));
}

#[test]
fn what_waits_too_long_is_given_up() {
    let test = listening();
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    follow(&test);
    test.clock.advance(8 * 24 * 3600);
    test.cms.housekeep().unwrap();
    assert!(next(&test).is_none());
    let given_up = log(&test).pop().unwrap();
    assert_eq!((&*given_up.status, given_up.next_attempt_at), ("error", None));
    assert_eq!(given_up.error.unwrap(), "given up after 7 days");
}

/// The journal is forgotten up to where deliveries were made of it, not further.
#[test]
fn the_journal_is_kept_for_deliveries() {
    let test = listening();
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    test.cms.search().advance().unwrap();
    test.clock.advance(8 * 24 * 3600);
    test.cms.housekeep().unwrap();
    assert_eq!(told(&send_all(&test)), ["Create article a"]);
}

#[test]
fn a_test_is_sent_to_a_webhook_that_nothing_happened_to() {
    let test = listening();
    test.cms.webhooks().test(&Caller::local(), "hook").unwrap();
    assert_eq!(told(&send_all(&test)), ["Test  test"]);
    create(&test, "_webhooks", webhook("wall", &json!({ "type": "sync" })));
    assert!(test.cms.webhooks().test(&Caller::local(), "wall").is_err());
}

#[test]
fn webhooks_are_validated_beyond_their_schema() {
    let test = listening();
    let local = Caller::local();
    let refused = |object: Value| {
        let result = test.cms.objects().create(&local, "_webhooks", map(object.clone()));
        match result {
            Err(cms_core::Error::Invalid(errors)) => json!(errors),
            other => panic!("{object}: {other:?}"),
        }
    };
    assert_eq!(
        refused(json!({ "url": "http://example.com", "type": "other" })),
        json!({
            "name": ["The property name is required"],
            "type": ["The value does not match possible options"],
            "content_type_definitions": ["The property content_type_definitions is required"],
            "actions": ["The property actions is required"],
            "url": ["This value is not valid."],
        })
    );
    let change = map(json!({ "url": "http://example.com" }));
    assert!(test.cms.objects().patch(&local, "_webhooks", "hook", change).is_err());
    let elements = [webhook("bad", &json!({ "code": "x" })), webhook("good", &json!({}))];
    let report = test
        .cms
        .objects()
        .batch_create(&local, "_webhooks", &Elements::of(&elements), false)
        .unwrap();
    assert_eq!((report.batch_error_count, report.batch_success_count), (1, 1));
    assert_eq!(json!(report.errors[0].errors), json!({ "code": ["This value is not valid."] }));

    let lenient = TestCms::with(|config| config.http_webhooks = true);
    create(&lenient, "_webhooks", webhook("hook", &json!({ "url": "http://example.com" })));
}

/// Nobody finds what is sent to others to prove who sends.
#[test]
fn webhooks_are_not_searched() {
    let test = listening();
    create(&test, "article", json!({ "id": "a", "title": "Hook" }));
    let search = |content_types: Option<Vec<String>>| {
        let q = Some("hook".to_owned());
        let request = SearchRequest { q, content_types, ..SearchRequest::default() };
        let found = test.cms.search().search(&Caller::local(), &request).unwrap().to_value();
        found["total_count"].clone()
    };
    assert_eq!(search(None), 1);
    assert_eq!(search(Some(vec!["_webhooks".to_owned()])), 0);
}

/// Those of programs that knew nothing of webhooks.
#[test]
fn older_folders_get_webhooks_when_they_are_opened() {
    let folder = tempfile::TempDir::new().unwrap();
    fs::copy(fixture("folders/1/cms.db"), folder.path().join("cms.db")).unwrap();
    let local = Caller::local();
    for round in 0..2 {
        let cms = Cms::open(CoreConfig::new(folder.path())).unwrap();
        let names = |internal| {
            let request = TypeListRequest { internal, ..TypeListRequest::default() };
            let types = cms.types().list(&local, &request).unwrap().data;
            types.into_iter().map(|known| known.name).collect::<HashSet<String>>()
        };
        assert!(names(Some(true)).contains("_webhooks") && !names(None).contains("_webhooks"));
        let hook = map(webhook(&format!("hook-{round}"), &json!({})));
        cms.objects().create(&local, "_webhooks", hook).unwrap();
        let tag = json!({ "id": format!("tag-{round}"), "name": format!("Tag {round}") });
        cms.objects().create(&local, "_tag", map(tag)).unwrap();
        while cms.webhooks().follow().unwrap() {}
        let webhooks = cms.webhooks().list(&local).unwrap().data;
        let told: Vec<u64> = webhooks.iter().map(|webhook| webhook.pending).collect();
        assert_eq!(told, [[1].as_slice(), &[2, 1]][round], "what came before is not told");
        let secrets: HashSet<&str> = webhooks.iter().map(|webhook| &*webhook.secret).collect();
        assert_eq!(secrets.len(), round + 1);
    }
}
