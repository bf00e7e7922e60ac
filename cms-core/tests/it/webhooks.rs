//! From changes to deliveries of webhooks.

use std::{collections::HashSet, fs};

use cms_core::{
    AttemptReport, Caller, Cms, CoreConfig, Error, Exchange, Outgoing, WebhookOutcome,
    paging::PageRequest,
    testing::{TestCms, fixture},
    wire::{
        content_type::TypeListRequest,
        publish::PublishAction,
        search::SearchRequest,
        webhook::{Delivery, ReplayRequest},
    },
};
use serde_json::{Value, json};

use crate::support::{article, article_with, create_batch, map, rows, with_type};

/// A page with everything.
const ALL: PageRequest = PageRequest { number: 1, limit: 1000 };

/// A data directory with the type `article` and a webhook `hook` for all its events.
pub(crate) fn with_webhook() -> TestCms {
    let test = with_type(article());
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

pub(crate) fn follow(test: &TestCms) {
    let webhooks = test.cms.webhooks();
    while webhooks.create_deliveries().unwrap() || webhooks.expire_deliveries().unwrap() {}
}

/// The requests that are due, if none is in flight.
fn due(test: &TestCms) -> Vec<Outgoing> {
    let due = test.cms.webhooks().due(None, &[]).unwrap();
    due.iter().map(|dispatch| test.cms.webhooks().outgoing(dispatch).unwrap().unwrap()).collect()
}

pub(crate) fn next(test: &TestCms) -> Option<Outgoing> {
    due(test).into_iter().next()
}

fn respond(test: &TestCms, outgoing: Outgoing, status: u16) -> AttemptReport {
    let outcome = match status {
        0 => WebhookOutcome::NoResponse("no response within the timeout".to_owned()),
        status => WebhookOutcome::Response(status, "no".into()),
    };
    test.cms.webhooks().record(outgoing, outcome, Exchange::default()).unwrap()
}

/// Ids and versions of the objects in the requests.
fn versions(requests: &[Outgoing]) -> Vec<String> {
    let reference = |outgoing: &Outgoing| {
        let body: Value = serde_json::from_str(&outgoing.body).unwrap();
        let reference = body["ref"].as_str().unwrap().to_owned();
        reference.trim_start_matches("/api/v1/content/article/").replace("/version/", " ")
    };
    requests.iter().map(reference).collect()
}

/// Sends all due requests; returns the bodies.
pub(crate) fn send_all(test: &TestCms) -> Vec<Value> {
    follow(test);
    let mut sent = Vec::new();
    while let Some(outgoing) = next(test) {
        sent.push(serde_json::from_str(&outgoing.body).unwrap());
        respond(test, outgoing, 204);
    }
    sent
}

fn respond_to_due(test: &TestCms, status: u16) {
    for outgoing in due(test) {
        respond(test, outgoing, status);
    }
}

/// Actions and ids of bodies.
fn deliveries(bodies: &[Value]) -> Vec<String> {
    let text = |body: &Value| {
        let [action, name] = ["action", "contentTypeName"].map(|key| body[key].as_str().unwrap());
        format!("{action} {name} {}", body["payload"]["id"].as_str().unwrap())
    };
    bodies.iter().map(text).collect()
}

pub(crate) fn log(test: &TestCms) -> Vec<Delivery> {
    test.cms.webhooks().log(&Caller::local(), "hook", ALL).unwrap().data
}

#[test]
fn events_are_delivered_once_in_order() {
    let test = with_webhook();
    let local = Caller::local();
    test.cms
        .types()
        .create(&local, article_with(json!({ "name": "memo", "draftPublic": true })))
        .unwrap();
    create(&test, "article", json!({ "id": "a", "title": "One" }));
    edit(&test, "a", "Two");
    test.cms.objects().delete(&local, "article", "a").unwrap();
    create(&test, "memo", json!({ "id": "m", "title": "M" }));
    let elements = [json!({ "id": "b", "title": "B" }), json!({ "id": "c", "title": "C" })];
    create_batch(&test.cms, "article", &elements);
    for action in [PublishAction::Publish, PublishAction::Unpublish, PublishAction::Archive] {
        test.cms.publishing().set_status(&local, "memo", "m", action, false).ok();
    }
    let sent = send_all(&test);
    assert_eq!(
        deliveries(&sent),
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
    // Each delivery contains its own version, although the object was replaced and deleted since.
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
fn webhook_receives_events_after_its_creation() {
    let test = with_type(article());
    create(&test, "article", json!({ "id": "before", "title": "Before" }));
    create(&test, "_webhooks", webhook("hook", &json!({})));
    create(&test, "article", json!({ "id": "after", "title": "After" }));
    assert_eq!(deliveries(&send_all(&test)), ["Create article after"]);
}

#[test]
fn changes_of_webhooks_are_not_delivered() {
    let test = with_webhook();
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
fn deliveries_of_a_deleted_webhook_are_removed() {
    let test = with_webhook();
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    follow(&test);
    test.cms.objects().delete(&Caller::local(), "_webhooks", "hook").unwrap();
    follow(&test);
    assert!(next(&test).is_none());
    assert_eq!(rows(&test, "SELECT count(*) FROM webhook_delivery"), ["0"]);
}

#[test]
fn disabled_webhook_keeps_deliveries_and_gets_no_new_ones() {
    let test = with_webhook();
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    follow(&test);
    let enable = |enabled: bool| {
        let change = map(json!({ "enabled": enabled }));
        test.cms.objects().patch(&Caller::local(), "_webhooks", "hook", change).unwrap();
    };
    enable(false);
    create(&test, "article", json!({ "id": "b", "title": "B" }));
    assert!(send_all(&test).is_empty());
    enable(true);
    assert_eq!(deliveries(&send_all(&test)), ["Create article a"]);
}

#[test]
fn objects_deleted_together_are_delivered_one_by_one() {
    let test = with_webhook();
    for id in ["a", "b"] {
        create(&test, "article", json!({ "id": id, "title": id }));
    }
    test.cms.types().purge(&Caller::local(), "article", false).unwrap();
    let sent = send_all(&test);
    assert_eq!(deliveries(&sent)[2..], ["Delete article a", "Delete article b"]);
}

/// The type and its trash are removed before deliveries are created.
#[test]
fn events_of_a_deleted_type_are_delivered() {
    let test = with_webhook();
    let local = Caller::local();
    create(&test, "_webhooks", webhook("types", &json!({ "type": "ctd", "actions": [] })));
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    test.cms.objects().delete(&local, "article", "a").unwrap();
    let uid = test.cms.types().get(&local, "article").unwrap().id;
    test.cms.types().delete(&local, "article").unwrap();
    let sent = send_all(&test);
    let mut deliveries = deliveries(&sent);
    deliveries.sort();
    assert_eq!(
        deliveries,
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
fn type_changes_are_delivered_for_all_actions() {
    let test = TestCms::new();
    let local = Caller::local();
    create(&test, "_webhooks", webhook("types", &json!({ "type": "ctd", "actions": [] })));
    test.cms.types().create(&local, article()).unwrap();
    let changed = article_with(json!({ "label": "Changed" }));
    test.cms.types().update(&local, "article", changed).unwrap();
    let sent = send_all(&test);
    let actions: Vec<&Value> = sent.iter().map(|body| &body["action"]).collect();
    assert_eq!(actions, [&json!("Create"), &json!("Update")]);
    assert_eq!(sent[1]["payload"]["label"], "Changed");
    assert_eq!(sent[1]["payload"], json!(test.cms.types().get(&local, "article").unwrap()));
}

fn articles(test: &TestCms, ids: &[&str]) {
    for id in ids {
        create(test, "article", json!({ "id": id, "title": id }));
    }
    follow(test);
}

/// In an earlier version, a failing delivery blocked all others of its webhook for seven days.
#[test]
fn failing_delivery_blocks_only_its_own_object() {
    let test = with_webhook();
    articles(&test, &["a", "b"]);
    edit(&test, "a", "A2");
    edit(&test, "b", "B2");
    follow(&test);
    let mut first = due(&test);
    assert_eq!(versions(&first), ["a 1", "b 1"]);
    respond(&test, first.remove(0), 422);
    assert_eq!(send_all(&test).len(), 2, "both of b");
    for (attempts, pause) in [(1, 10), (2, 60), (3, 120), (4, 240), (5, 480)] {
        let entry = log(&test).pop().unwrap();
        let status = if attempts < 3 { "pending" } else { "error" };
        assert_eq!((&*entry.status, entry.attempts), (status, attempts));
        assert_eq!(entry.response.unwrap().body, "no");
        test.clock.advance(pause - 1);
        assert!(due(&test).is_empty(), "after {attempts} attempts");
        test.clock.advance(1);
        let mut again = due(&test);
        assert_eq!(versions(&again), ["a 1"]);
        let recorded = respond(&test, again.remove(0), 422);
        let error = (attempts >= 2).then(|| "the response has status 422".to_owned());
        assert_eq!(recorded, AttemptReport { error, ..AttemptReport::default() });
    }
    assert!(test.cms.webhooks().list(&Caller::local()).unwrap().data[0].failing);
    test.clock.advance(960);
    assert_eq!(send_all(&test).len(), 2);
    assert!(log(&test).iter().all(|delivery| delivery.status == "done"));
    assert!(!test.cms.webhooks().list(&Caller::local()).unwrap().data[0].failing);
}

/// The order is per type and id, even if the object was deleted and created again.
#[test]
fn deliveries_of_one_type_and_id_are_sent_in_order() {
    let test = with_webhook();
    articles(&test, &["a"]);
    test.cms.objects().delete(&Caller::local(), "article", "a").unwrap();
    articles(&test, &["A"]);
    for expected in ["Create article a", "Delete article a", "Create article A"] {
        let mut requests = due(&test);
        let bodies: Vec<Value> =
            requests.iter().map(|request| serde_json::from_str(&request.body).unwrap()).collect();
        assert_eq!(deliveries(&bodies), [expected]);
        respond(&test, requests.remove(0), 204);
    }
}

/// For events of content types the order is per type.
#[test]
fn deliveries_of_one_content_type_are_sent_in_order() {
    let test = TestCms::new();
    let local = Caller::local();
    create(&test, "_webhooks", webhook("hook", &json!({ "type": "ctd", "actions": [] })));
    let other = article_with(json!({ "name": "other" }));
    test.cms.types().create(&local, article()).unwrap();
    test.cms.types().create(&local, other).unwrap();
    test.cms.types().delete(&local, "article").unwrap();
    test.cms.types().create(&local, article()).unwrap();
    follow(&test);
    let actions = |requests: &[Outgoing]| -> Vec<String> {
        let bodies = requests.iter().map(|request| serde_json::from_str(&request.body).unwrap());
        let text = |body: Value| format!("{} {}", body["action"], body["contentTypeName"]);
        bodies.map(text).map(|text| text.replace('"', "")).collect()
    };
    let mut requests = due(&test);
    assert_eq!(actions(&requests), ["Create article", "Create other"]);
    respond(&test, requests.remove(0), 204);
    respond(&test, requests.remove(0), 422);
    for expected in ["Delete article", "Create article"] {
        let mut requests = due(&test);
        assert_eq!(actions(&requests), [expected]);
        respond(&test, requests.remove(0), 204);
    }
}

#[test]
fn requests_of_a_webhook_are_limited_to_four_at_a_time() {
    let test = with_webhook();
    articles(&test, &["a", "b", "c", "d", "e", "f"]);
    let webhooks = test.cms.webhooks();
    let mut running = webhooks.due(None, &[]).unwrap();
    assert_eq!(running.len(), 4);
    assert!(webhooks.due(None, &running).unwrap().is_empty());
    let second = running.remove(1);
    let webhook = second.webhook;
    // Its outcome was not recorded, so it is sent again.
    assert_eq!(webhooks.due(Some(webhook), &running).unwrap(), [second]);
    assert!(webhooks.due(Some(webhook + 1), &running).unwrap().is_empty());
}

/// An endpoint that fails for several objects gets one request at a time, and then everything.
#[test]
fn endpoint_that_is_down_gets_only_the_oldest_delivery() {
    let test = with_webhook();
    articles(&test, &["a", "b", "c", "d", "e", "f"]);
    let mut first = due(&test);
    assert_eq!(versions(&first), ["a 1", "b 1", "c 1", "d 1"]);
    let down = AttemptReport { went_down: true, ..AttemptReport::default() };
    assert_eq!(respond(&test, first.remove(0), 500), AttemptReport::default());
    assert_eq!(respond(&test, first.remove(0), 0), down);
    // A request from before the pause changes nothing.
    assert_eq!(respond(&test, first.remove(0), 503), AttemptReport::default());
    let paused_until = || {
        let listed = test.cms.webhooks().list(&Caller::local()).unwrap().data.remove(0);
        listed.paused_until
    };
    let log = test.cms.webhooks().log(&Caller::local(), "hook", ALL).unwrap();
    let oldest = log.data.last().unwrap();
    assert!(oldest.next_attempt_at.is_some());
    assert_eq!(paused_until(), oldest.next_attempt_at);
    let mut probe = Vec::new();
    for pause in [10, 60, 120, 240, 480, 600, 600] {
        test.clock.advance(pause - 1);
        assert!(due(&test).is_empty(), "before {pause} seconds");
        test.clock.advance(1);
        probe = due(&test);
        assert_eq!(versions(&probe), ["a 1"], "after {pause} seconds");
        if pause < 600 {
            respond(&test, probe.remove(0), 500);
        } else {
            respond(&test, probe.remove(0), 0);
        }
    }
    assert!(probe.is_empty() && due(&test).is_empty());
    test.clock.advance(600);
    let recovered = AttemptReport { recovered: true, ..AttemptReport::default() };
    assert_eq!(respond(&test, due(&test).remove(0), 204), recovered);
    assert_eq!(paused_until(), None);
    assert_eq!(versions(&due(&test)), ["b 1", "c 1", "d 1", "e 1"]);
    assert_eq!(send_all(&test).len(), 5);
}

/// Failures of one object, rejections, and failures before a success do not mean that the endpoint
/// is down.
#[test]
fn endpoint_that_responds_is_not_down() {
    let test = with_webhook();
    articles(&test, &["a", "b", "c", "d"]);
    let statuses = [500, 404, 200, 500];
    for (outgoing, status) in due(&test).into_iter().zip(statuses) {
        assert_eq!(respond(&test, outgoing, status), AttemptReport::default(), "{status}");
    }
    test.clock.advance(10);
    assert_eq!(versions(&due(&test)), ["a 1", "b 1", "d 1"]);
}

/// A rejected delivery must not block all others once the endpoint responds again.
#[test]
fn endpoint_that_rejects_the_oldest_delivery_is_up() {
    let test = with_webhook();
    articles(&test, &["a", "b", "c"]);
    respond_to_due(&test, 500);
    test.clock.advance(10);
    let recovered = AttemptReport { recovered: true, ..AttemptReport::default() };
    assert_eq!(respond(&test, due(&test).remove(0), 422), recovered);
    assert_eq!(versions(&due(&test)), ["b 1", "c 1"]);
    assert_eq!(send_all(&test).len(), 2);
}

#[test]
fn deliveries_expire_three_days_after_they_were_first_due() {
    let test = with_webhook();
    articles(&test, &["a"]);
    edit(&test, "a", "A2");
    follow(&test);
    let mut sent = 0;
    let mut last = String::new();
    for _ in 0..3 * 24 * 60 {
        for outgoing in due(&test) {
            last = versions(std::slice::from_ref(&outgoing)).remove(0);
            respond(&test, outgoing, 400);
            sent += 1;
        }
        assert_eq!(last, "a 1");
        test.clock.advance(60);
    }
    // After 0, 10 and 60 seconds, then doubling to six hours; polled once a minute.
    assert_eq!(sent, 21);
    follow(&test);
    let given_up = log(&test).pop().unwrap();
    assert_eq!((&*given_up.status, given_up.next_attempt_at), ("failed", None));
    assert_eq!(given_up.error.unwrap(), "the response has status 400");
    // The next delivery has three days of its own.
    let next = due(&test);
    assert_eq!(versions(&next), ["a 2"]);
    respond(&test, next.into_iter().next().unwrap(), 400);
    test.clock.advance(3 * 24 * 3600 - 1);
    follow(&test);
    assert_eq!(log(&test)[0].status, "pending");
    test.clock.advance(1);
    follow(&test);
    assert_eq!(log(&test)[0].status, "failed");

    let all = ReplayRequest::default();
    let replayed = test.cms.webhooks().replay(&Caller::local(), "hook", &all).unwrap();
    assert_eq!(replayed.replayed, 2);
    assert_eq!(deliveries(&send_all(&test)), ["Create article a", "Update article a"]);
}

/// The three days include pauses; the log gives a reason also without any attempt.
#[test]
fn deliveries_expire_while_their_endpoint_is_down() {
    let test = with_webhook();
    articles(&test, &["a", "b", "c", "d", "e"]);
    respond_to_due(&test, 500);
    test.clock.advance(3 * 24 * 3600);
    follow(&test);
    assert!(log(&test).iter().all(|entry| entry.status == "failed"));
    let errors: Vec<String> = log(&test).into_iter().map(|entry| entry.error.unwrap()).collect();
    assert_eq!(errors[0], "given up after 3 days");
    assert_eq!(errors[1..], ["the response has status 500"; 4]);
}

#[test]
fn deliveries_of_a_disabled_webhook_do_not_expire() {
    let test = with_webhook();
    articles(&test, &["a"]);
    let enable = |enabled: bool| {
        let change = map(json!({ "enabled": enabled }));
        test.cms.objects().patch(&Caller::local(), "_webhooks", "hook", change).unwrap();
        follow(&test);
    };
    let wait = |seconds| {
        test.clock.advance(seconds);
        follow(&test);
    };
    enable(false);
    wait(30 * 24 * 3600);
    // These make the deliveries due again: a replay, and the end of an attempt that began before.
    test.cms.webhooks().replay(&Caller::local(), "hook", &ReplayRequest::default()).unwrap();
    wait(30 * 24 * 3600);
    enable(true);
    edit(&test, "a", "A2");
    follow(&test);
    let attempted = due(&test);
    enable(false);
    for outgoing in attempted {
        respond(&test, outgoing, 200);
    }
    test.clock.advance(3 * 24 * 3600 - 60);
    assert_eq!(log(&test)[0].next_attempt_at, None);
    enable(true);
    // The three days begin again.
    wait(3600);
    assert_eq!(deliveries(&send_all(&test)), ["Update article a"]);
    enable(false);
    assert_eq!(test.cms.webhooks().test(&Caller::local(), "hook").unwrap().next_attempt_at, None);
}

#[test]
fn replays_and_changes_of_a_webhook_try_immediately() {
    let test = with_webhook();
    articles(&test, &["a", "b", "c"]);
    let local = Caller::local();
    let webhooks = test.cms.webhooks();
    let all = ReplayRequest::default();
    let replay = || assert_eq!(webhooks.replay(&local, "hook", &all).unwrap().replayed, 3);
    let change = || {
        let change = map(json!({ "name": "Changed" }));
        test.cms.objects().patch(&local, "_webhooks", "hook", change).unwrap();
        follow(&test);
    };
    let ways: [&dyn Fn(); 2] = [&replay, &change];
    for (status, way) in [(400, ways[0]), (400, ways[1]), (500, ways[0]), (500, ways[1])] {
        respond_to_due(&test, status);
        assert!(due(&test).is_empty());
        way();
        assert_eq!(versions(&due(&test)), ["a 1", "b 1", "c 1"], "after {status}");
    }
    assert_eq!(deliveries(&send_all(&test)).len(), 3);
    assert_eq!(webhooks.replay(&local, "hook", &all).unwrap().replayed, 0);
    let done = log(&test).pop().unwrap().id;
    let one = ReplayRequest { ids: Some(vec![done]) };
    webhooks.replay(&local, "HOOK", &one).unwrap();
    assert_eq!(deliveries(&send_all(&test)), ["Create article a"]);
    let none = ReplayRequest { ids: Some(vec![done, 999]) };
    assert!(webhooks.replay(&local, "hook", &none).is_err());
    assert!(send_all(&test).is_empty());
}

/// A due time far in the future would block a delivery for years.
#[test]
fn deliveries_are_sent_after_the_clock_was_set_back() {
    let test = with_webhook();
    articles(&test, &["a", "b"]);
    respond(&test, due(&test).remove(0), 400);
    test.clock.advance(-365 * 24 * 3600);
    assert_eq!(versions(&due(&test)), ["b 1", "a 1"]);
    respond_to_due(&test, 500);
    assert!(due(&test).is_empty());
    test.clock.advance(-365 * 24 * 3600);
    assert_eq!(versions(&due(&test)), ["a 1"], "the endpoint is down");
}

/// A replayed delivery keeps its position before later ones of its object.
#[test]
fn replayed_delivery_is_sent_before_later_ones_of_its_object() {
    let test = with_webhook();
    articles(&test, &["a"]);
    assert_eq!(send_all(&test).len(), 1);
    let first = log(&test).pop().unwrap().id;
    edit(&test, "a", "A2");
    follow(&test);
    respond(&test, due(&test).remove(0), 400);
    let one = ReplayRequest { ids: Some(vec![first]) };
    test.cms.webhooks().replay(&Caller::local(), "hook", &one).unwrap();
    assert_eq!(deliveries(&send_all(&test)), ["Create article a", "Update article a"]);
}

/// Journal rows are removed only after their deliveries were created.
#[test]
fn journal_is_kept_until_deliveries_are_created() {
    let test = with_webhook();
    let days = 366 * 24 * 3600;
    test.clock.advance(-days);
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    test.clock.advance(days);
    test.cms.search().index_batch().unwrap();
    test.cms.clean_up().unwrap();
    assert_eq!(deliveries(&send_all(&test)), ["Create article a"]);
}

#[test]
fn test_delivery_is_sent_without_any_event() {
    let test = with_webhook();
    test.cms.webhooks().test(&Caller::local(), "hook").unwrap();
    assert_eq!(deliveries(&send_all(&test)), ["Test  test"]);
    create(&test, "_webhooks", webhook("wall", &json!({ "type": "sync" })));
    assert!(test.cms.webhooks().test(&Caller::local(), "wall").is_err());
}

#[test]
fn webhooks_are_validated_beyond_their_schema() {
    let test = with_webhook();
    let local = Caller::local();
    let refused = |object: Value| {
        let result = test.cms.objects().create(&local, "_webhooks", map(object.clone()));
        match result {
            Err(Error::Invalid(errors)) => json!(errors),
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
    let report = create_batch(&test.cms, "_webhooks", &elements);
    assert_eq!((report.batch_error_count, report.batch_success_count), (1, 1));
    assert_eq!(json!(report.errors[0].errors), json!({ "code": ["This value is not valid."] }));

    let lenient = TestCms::with(|config| {
        config.http_webhooks = true;
        config.cluster = None;
    });
    create(&lenient, "_webhooks", webhook("hook", &json!({ "url": "http://example.com" })));
    // A command on the data directory does not know the setting of the server.
    let strict = Cms::open(CoreConfig::new(lenient.path())).unwrap();
    let enable = |enabled: bool| {
        let change = map(json!({ "enabled": enabled }));
        strict.objects().patch(&local, "_webhooks", "hook", change)
    };
    assert!(enable(false).is_ok() && enable(true).is_err());
}

/// Header values and secrets must not be found by a search.
#[test]
fn webhooks_are_not_searched() {
    let test = with_webhook();
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

/// Data directories of versions without webhooks.
#[test]
fn webhook_type_is_added_to_older_directories() {
    let folder = tempfile::TempDir::new().unwrap();
    fs::copy(fixture("folders/1/cms.db"), folder.path().join("cms.db")).unwrap();
    let local = Caller::local();
    for round in 0..2 {
        let cms = Cms::open(CoreConfig::new(folder.path())).unwrap();
        let names = |internal| {
            let request = TypeListRequest { internal, ..TypeListRequest::default() };
            let types = cms.types().list(&local, &request).unwrap().data;
            types.into_iter().map(|content_type| content_type.name).collect::<HashSet<String>>()
        };
        assert!(names(Some(true)).contains("_webhooks") && !names(None).contains("_webhooks"));
        let hook = map(webhook(&format!("hook-{round}"), &json!({})));
        cms.objects().create(&local, "_webhooks", hook).unwrap();
        let tag = json!({ "id": format!("tag-{round}"), "name": format!("Tag {round}") });
        cms.objects().create(&local, "_tag", map(tag)).unwrap();
        while cms.webhooks().create_deliveries().unwrap() {}
        let webhooks = cms.webhooks().list(&local).unwrap().data;
        let deliveries: Vec<u64> = webhooks.iter().map(|webhook| webhook.pending).collect();
        assert_eq!(
            deliveries,
            [[1].as_slice(), &[2, 1]][round],
            "earlier events are not delivered"
        );
        let secrets: HashSet<&str> = webhooks.iter().map(|webhook| &*webhook.secret).collect();
        assert_eq!(secrets.len(), round + 1);
    }
}

/// A data directory with the type `article` and a webhook with a quiet period of ten seconds.
fn with_debounce() -> TestCms {
    let test = with_type(article());
    create(&test, "_webhooks", webhook("hook", &json!({ "debounceSeconds": 10 })));
    test
}

fn body(outgoing: &Outgoing) -> Value {
    serde_json::from_str(&outgoing.body).unwrap()
}

#[test]
fn debounced_changes_are_delivered_together() {
    let test = with_debounce();
    create(&test, "article", json!({ "id": "a", "title": "One" }));
    follow(&test);
    test.clock.advance(9);
    edit(&test, "a", "Two");
    edit(&test, "a", "Three");
    follow(&test);
    test.clock.advance(9);
    assert_eq!(due(&test).len(), 0);
    let pending = log(&test);
    assert_eq!(pending.len(), 1);
    assert_eq!(
        (&*pending[0].action, &*pending[0].reference, &*pending[0].content_type_name),
        ("Batch", "", "")
    );
    test.clock.advance(1);
    let sent = next(&test).unwrap();
    // Changes after the first attempt are in the next delivery, which waits for this one.
    edit(&test, "a", "Four");
    follow(&test);
    let first = body(&sent);
    assert_eq!(first["action"], "Batch");
    assert_eq!((&first["webhookId"], &first["count"]), (&json!("hook"), &json!(3)));
    let reference = |version: u32| format!("/api/v1/content/article/a/version/{version}");
    assert_eq!(first["refs"], json!([reference(1), reference(2), reference(3)]));
    assert_ne!(first["firstChange"], first["lastChange"]);
    respond(&test, sent, 500);
    test.clock.advance(10);
    let again = next(&test).unwrap();
    assert_eq!(body(&again), first);
    respond(&test, again, 204);
    let second = next(&test).unwrap();
    assert_eq!(body(&second)["refs"], json!([reference(4)]));
    respond(&test, second, 204);
    assert!(next(&test).is_none());
    let sent = log(&test).last().unwrap().id;
    let request = ReplayRequest { ids: Some(vec![sent]) };
    test.cms.webhooks().replay(&Caller::local(), "hook", &request).unwrap();
    assert_eq!(body(&next(&test).unwrap()), first);
}

#[test]
fn debounced_changes_wait_ten_quiet_periods_at_most() {
    let test = with_debounce();
    create(&test, "article", json!({ "id": "a", "title": "0" }));
    for second in 1..=100 {
        follow(&test);
        assert!(next(&test).is_none(), "{second}");
        test.clock.advance(1);
        edit(&test, "a", &second.to_string());
    }
    assert_eq!(body(&next(&test).unwrap())["count"], 100);
}

/// A process that is killed during the request sends the same changes again.
#[test]
fn debounced_changes_survive_a_kill() {
    let test = with_debounce();
    // A replica cannot be opened twice.
    if test.is_node() {
        return;
    }
    create(&test, "article", json!({ "id": "a", "title": "One" }));
    follow(&test);
    test.clock.advance(10);
    let lost = body(&next(&test).unwrap());
    let restarted = Cms::open(test.cms.config().clone()).unwrap();
    edit(&test, "a", "Two");
    follow(&test);
    let due = restarted.webhooks().due(None, &[]).unwrap();
    let again = restarted.webhooks().outgoing(&due[0]).unwrap().unwrap();
    assert_eq!(body(&again), lost);
    respond(&test, again, 204);
    assert!(next(&test).is_none());
    test.clock.advance(10);
    assert_eq!(body(&next(&test).unwrap())["count"], 1);
}

#[test]
fn debounce_is_limited_to_an_hour() {
    let test = TestCms::new();
    for (seconds, is_valid) in [
        (json!(0), true),
        (json!(3600), true),
        (json!(3601), false),
        (json!(-1), false),
        (json!(1.5), false),
    ] {
        let new = map(webhook("", &json!({ "debounceSeconds": seconds })));
        let new = new.into_iter().filter(|(name, _)| name != "id").collect();
        let created = test.cms.objects().create(&Caller::local(), "_webhooks", new);
        assert_eq!(created.is_ok(), is_valid, "{seconds}");
    }
}
