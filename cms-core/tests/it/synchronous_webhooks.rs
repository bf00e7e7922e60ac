//! Synchronous webhooks: their calls, and the effect of their responses.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use cms_core::{
    Caller, Edit, Error, FieldErrors, Result, WebhookOutcome, WebhookTransport,
    clock::Clock,
    testing::TestCms,
    wire::{
        batch::{BatchElements, BatchReport},
        condition::{IdempotencyKey, IfMatch, WriteGuards},
        key::KeyKind,
        trash::{RestoreRequest, TrashRequest},
    },
};
use serde_json::{Value, json};

use crate::{
    support::{add_property, article, create_batch, key, map, rows, with_type},
    webhooks::{create, webhook},
};

/// A receiver that records its calls. It sends the prepared responses, and then accepts every write.
#[derive(Clone, Default)]
struct Receiver {
    calls: Arc<Mutex<Vec<Value>>>,
    responses: Arc<Mutex<VecDeque<Result<WebhookOutcome>>>>,
}

impl WebhookTransport for Receiver {
    fn send(&self, _: &str, _: &[(String, String)], body: &str) -> Result<WebhookOutcome> {
        let call: Value = serde_json::from_str(body).unwrap();
        let agrees = json!({ "payload": call["payload"] }).to_string();
        self.calls.lock().unwrap().push(call);
        self.responses
            .lock()
            .unwrap()
            .pop_front()
            .unwrap_or(Ok(WebhookOutcome::Response(200, agrees.into())))
    }
}

impl Receiver {
    fn respond(&self, response: Result<WebhookOutcome>) {
        self.responses.lock().unwrap().push_back(response);
    }

    /// Events and ids of the calls since the last time.
    fn calls(&self) -> Vec<String> {
        let text = |call: Value| {
            let id = call["payload"]["id"].as_str().unwrap_or("none");
            format!("{} {id}", call["event"].as_str().unwrap())
        };
        self.calls.lock().unwrap().drain(..).map(text).collect()
    }
}

/// A data directory with the type `article` and its synchronous webhook `wall`.
fn with_webhook() -> (TestCms, Receiver) {
    let test = with_type(article());
    let receiver = Receiver::default();
    listen(&test, receiver.clone());
    (test, receiver)
}

/// Creates the webhook `wall`, whose receiver is `transport`.
fn listen(test: &TestCms, transport: impl WebhookTransport + 'static) {
    test.cms.webhooks().set_transport(Box::new(transport));
    let only = json!([{ "content_type_definition_name": "article" }]);
    let wall = json!({ "name": "Wall", "type": "sync", "content_type_definitions": only });
    create(test, "_webhooks", webhook("wall", &wall));
}

fn rejection(reason: &str) -> WebhookOutcome {
    let response = json!({ "response": { "errors": { "title": [reason] } } });
    WebhookOutcome::Response(400, response.to_string().into())
}

fn response(errors: &FieldErrors) -> Value {
    json!(errors)
}

/// Ids and errors of refused elements.
fn errors(report: &BatchReport) -> Vec<(String, Value)> {
    report.errors.iter().map(|error| (error.id.clone(), response(&error.errors))).collect()
}

fn titles(test: &TestCms) -> Vec<String> {
    rows(
        test,
        "SELECT o.id || ' ' || o.title FROM object o JOIN ctd c ON c.pk = o.ctd WHERE c.name = 'article' ORDER BY o.id",
    )
}

#[test]
fn webhook_is_called_once_per_valid_write() {
    let (test, receiver) = with_webhook();
    let (local, objects) = (Caller::local(), test.cms.objects());
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    objects.patch(&local, "article", "a", map(json!({ "title": "B" }))).unwrap();
    objects.replace(&local, "article", "a", map(json!({ "title": "C" }))).unwrap();
    assert_eq!(receiver.calls(), ["pre-create a", "pre-update a", "pre-update a"]);

    let stale = WriteGuards::new(Some(IfMatch::parse("\"0000000000000000\"")), None);
    let stale = Caller { write_guards: stale, ..Caller::local() };
    let change = || map(json!({ "title": "D" }));
    assert!(objects.patch(&stale, "article", "a", change()).is_err());
    assert!(objects.delete(&stale, "article", "a").is_err());
    assert!(objects.patch(&local, "article", "none", change()).is_err());
    assert!(objects.delete(&local, "article", "none").is_err());
    let patches = [json!({ "id": "a", "title": "E" }), json!({ "id": "none" })];
    assert!(objects.batch_patch(&local, "article", &BatchElements::of(&patches)).is_err());
    // The webhook is not configured for this type.
    create(&test, "_tag", json!({ "id": "t", "name": "T" }));
    assert!(receiver.calls().is_empty());
    assert_eq!(titles(&test), ["a C"]);

    objects.delete(&local, "article", "a").unwrap();
    assert_eq!(receiver.calls(), ["pre-delete a"]);
}

/// Restoring creates the object again; data that the webhook changes is a new version.
#[test]
fn webhook_is_called_for_a_restored_object() {
    let (test, receiver) = with_webhook();
    let (local, objects) = (Caller::local(), test.cms.objects());
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    objects.delete(&local, "article", "a").unwrap();
    receiver.calls();
    let restore = |id: &str| {
        let entry = &test.cms.trash().list(&local, &TrashRequest::default()).unwrap().data[0].entry;
        let request = RestoreRequest { id: Some(id.to_owned()), ..RestoreRequest::default() };
        test.cms.trash().restore(&local, entry, request)
    };
    receiver.respond(Ok(rejection("No.")));
    let Err(Error::Invalid(errors)) = restore("a") else { panic!("the webhook rejects it") };
    assert_eq!(response(&errors), json!({ "title": ["No."] }));
    let restored = restore("b").unwrap().to_value();
    assert_eq!(
        (&restored["title"], &restored["internal"]["latestVersion"]),
        (&json!("A"), &json!(1))
    );
    assert_eq!(receiver.calls(), ["pre-create a", "pre-create b"]);

    objects.delete(&local, "article", "b").unwrap();
    let changed = json!({ "payload": { "title": "Changed" } }).to_string();
    receiver.respond(Ok(WebhookOutcome::Response(200, changed.into())));
    let restored = restore("b").unwrap().to_value();
    assert_eq!(
        (&restored["title"], &restored["internal"]["latestVersion"]),
        (&json!("Changed"), &json!(2))
    );
}

/// A thread that serves connections does not wait for a receiver.
#[test]
fn webhook_is_not_called_by_fast_writes() {
    let (test, receiver) = with_webhook();
    let (fast, objects) = (Caller::local().fast_only(), test.cms.objects());
    let payload = || map(json!({ "id": "a", "title": "A" }));
    let created = objects.begin_create(&fast, "article", payload());
    assert!(matches!(created, Err(Error::WouldBlock)));
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    receiver.calls();
    let edited = objects.begin_edit(&fast, "article", "a", payload(), Edit::Replace);
    assert!(matches!(edited, Err(Error::WouldBlock)));
    assert_eq!(receiver.calls(), Vec::<String>::new());
}

/// Only the first request calls the webhook.
#[test]
fn webhook_is_not_called_for_a_repeated_request() {
    let (test, receiver) = with_webhook();
    let (_, caller) = key(&test, "web", KeyKind::ReadWrite);
    let once = IdempotencyKey::new("once", &[]).unwrap();
    let caller = Caller { write_guards: WriteGuards::new(None, Some(once)), ..caller };
    for _ in 0..2 {
        let new = map(json!({ "id": "a", "title": "A" }));
        test.cms.objects().create(&caller, "article", new).unwrap();
    }
    assert_eq!(receiver.calls(), ["pre-create a"]);
}

#[test]
fn webhook_is_called_for_each_element() {
    let (test, receiver) = with_webhook();
    let (local, objects) = (Caller::local(), test.cms.objects());
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    receiver.calls();
    let element = |id: &str| json!({ "id": id, "title": format!("{id} new") });
    let elements = [element("a"), element("b"), element("c"), element("b"), json!(5)];
    receiver.respond(Ok(rejection("Stays")));
    let report =
        objects.batch_create(&local, "article", &BatchElements::of(&elements), true).unwrap();
    // Of two elements with one id, the last one counts.
    assert_eq!(receiver.calls(), ["pre-update a", "pre-create c", "pre-create b"]);
    assert_eq!(errors(&report)[0], ("a".to_owned(), json!({ "title": ["Stays"] })));
    assert_eq!(titles(&test), ["a A", "b b new", "c c new"]);

    receiver.respond(Ok(rejection("Stays")));
    let patches =
        [json!({ "id": "a", "title": "Other" }), json!({ "id": "c", "title": "Changed" })];
    let report = objects.batch_patch(&local, "article", &BatchElements::of(&patches)).unwrap();
    assert_eq!(errors(&report), [("a".to_owned(), json!({ "title": ["Stays"] }))]);
    assert_eq!(titles(&test), ["a A", "b b new", "c Changed"]);

    receiver.calls();
    receiver.respond(Ok(rejection("Stays")));
    let ids = ["none", "a", "c"].map(str::to_owned);
    assert!(matches!(objects.batch_delete(&local, "article", &ids), Err(Error::Invalid(_))));
    assert_eq!(receiver.calls(), ["pre-delete a"]);
    assert_eq!(titles(&test).len(), 3);
}

/// Does something before it responds.
struct Busy<F>(Receiver, F);

impl<F: Fn() + Send + Sync> WebhookTransport for Busy<F> {
    fn send(&self, url: &str, headers: &[(String, String)], body: &str) -> Result<WebhookOutcome> {
        (self.1)();
        self.0.send(url, headers, body)
    }
}

/// Carries out all bulk jobs.
fn run_jobs(test: &TestCms, payload: Value) {
    test.cms.bulk().create(&Caller::local(), "article", &map(payload)).unwrap();
    while test.cms.bulk().advance().unwrap() {}
}

#[test]
fn bulk_job_replaces_a_value_in_the_list_that_was_stored_during_its_webhook_call() {
    let mut definition = article();
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    add_property(&mut definition, "words", texts, "simpleList");
    let test = with_type(definition);
    create(&test, "article", json!({ "id": "a", "title": "A", "words": ["x", "a"] }));
    let (cms, is_edited) = (Arc::downgrade(&test.cms), AtomicBool::new(false));
    let edit = move || {
        if !is_edited.swap(true, Ordering::Relaxed) {
            let change = map(json!({ "words": ["x", "b"] }));
            let cms = cms.upgrade().unwrap();
            cms.objects().patch(&Caller::local(), "article", "a", change).unwrap();
        }
    };
    let receiver = Receiver::default();
    listen(&test, Busy(receiver.clone(), edit));
    let replace = json!([{ "path": "words", "from": "x", "to": "y" }]);
    run_jobs(&test, json!({ "action": "patch", "replace": replace, "all": true, "expect": 1 }));
    let words = rows(&test, "SELECT json_extract(data, '$.words') FROM object WHERE id = 'a'");
    assert_eq!(words, [r#"["y","b"]"#]);
    // The job, the edit, and the job again.
    assert_eq!(receiver.calls(), ["pre-update a"; 3]);
}

#[test]
fn bulk_job_dates_its_changes_after_the_webhook_calls() {
    let test = with_type(article());
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    let clock = Arc::clone(&test.clock);
    listen(&test, Busy(Receiver::default(), move || clock.advance(4)));
    run_jobs(&test, json!({ "action": "delete", "all": true, "expect": 1 }));
    let at = rows(&test, "SELECT deleted_at / 1000000 FROM trash");
    assert_eq!(at, [test.clock.now().seconds().to_string()]);
}

#[test]
fn bulk_job_with_a_slow_webhook_takes_more_transactions() {
    let mut definition = article();
    add_property(&mut definition, "note", json!({ "type": "string" }), "text");
    let test = with_type(definition);
    for id in ["a", "b", "c", "d", "e"] {
        create(&test, "article", json!({ "id": id, "title": id }));
    }
    let (receiver, clock) = (Receiver::default(), Arc::clone(&test.clock));
    listen(&test, Busy(receiver.clone(), move || clock.advance(25)));
    let patch = json!({ "note": "New" });
    run_jobs(&test, json!({ "action": "patch", "patch": patch, "all": true, "expect": 5 }));
    let changed = "SELECT count(*) || '' FROM object WHERE json_extract(data, '$.note') = 'New'";
    assert_eq!(rows(&test, changed), ["5"]);
    run_jobs(&test, json!({ "action": "delete", "all": true, "expect": 5 }));
    assert_eq!(titles(&test), [""; 0]);
    assert_eq!(receiver.calls().len(), 10);
}

/// A slow receiver and a long batch would take hours.
#[test]
fn request_calls_webhooks_for_at_most_a_minute() {
    let test = with_type(article());
    let receiver = Receiver::default();
    let clock = Arc::clone(&test.clock);
    let slow = Busy(receiver.clone(), move || clock.advance(25));
    test.cms.webhooks().set_transport(Box::new(slow));
    create(&test, "_webhooks", webhook("wall", &json!({ "name": "Wall", "type": "sync" })));
    let elements: Vec<Value> =
        ["a", "b", "c", "d", "e"].map(|id| json!({ "id": id, "title": id })).into();
    let report = create_batch(&test.cms, "article", &elements);
    assert_eq!(receiver.calls().len(), 3);
    let reason = "Error processing Wall webhook: no response within the timeout.";
    let late = |id: &str| (id.to_owned(), json!({ "__webhook": [reason] }));
    assert_eq!(errors(&report), [late("d"), late("e")]);
    // The date of creation is that of the commit, not of the call.
    let at = rows(&test, "SELECT DISTINCT created_at FROM object WHERE ctd > 7");
    assert_eq!(at, [test.clock.now().seconds().to_string()]);
}

#[test]
fn webhook_that_failed_is_not_called_again_in_one_request() {
    let (test, receiver) = with_webhook();
    receiver.respond(Ok(WebhookOutcome::NoResponse("no response within the timeout".to_owned())));
    let elements = ["a", "b", "c"].map(|id| json!({ "id": id, "title": id }));
    let report = create_batch(&test.cms, "article", &elements);
    assert_eq!((report.batch_error_count, receiver.calls().len()), (3, 1));
}

/// Without a permit the request fails with `Busy`, and nothing is written.
#[test]
fn request_without_a_permit_for_webhooks_writes_nothing() {
    let (test, receiver) = with_webhook();
    receiver.respond(Ok(WebhookOutcome::Response(
        200,
        json!({ "payload": { "title": "A" } }).to_string().into(),
    )));
    receiver.respond(Err(Error::Busy("too many".to_owned())));
    let elements = ["a", "b", "c"].map(|id| json!({ "id": id, "title": id }));
    let written = test.cms.objects().batch_create(
        &Caller::local(),
        "article",
        &BatchElements::of(&elements),
        false,
    );
    assert!(matches!(written, Err(Error::Busy(_))), "{written:?}");
    assert!(titles(&test).is_empty());
}

#[test]
fn webhooks_receive_the_result_of_the_previous_one() {
    let (test, receiver) = with_webhook();
    create(&test, "_webhooks", webhook("second", &json!({ "name": "Second", "type": "sync" })));
    let response = |payload: Value| {
        Ok(WebhookOutcome::Response(200, json!({ "payload": payload }).to_string().into()))
    };
    receiver.respond(response(json!({ "id": "other", "title": "First" })));
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    let calls = receiver.calls.lock().unwrap().clone();
    let payloads: Vec<&Value> = calls.iter().map(|call| &call["payload"]).collect();
    let expected = [json!({ "id": "a", "title": "A" }), json!({ "id": "a", "title": "First" })];
    assert_eq!(payloads, expected.iter().collect::<Vec<_>>());
    let sequence: Vec<&Value> = calls.iter().map(|call| &call["sequenceNumber"]).collect();
    assert_eq!(sequence, [&json!(0), &json!(1)]);
    assert_eq!(titles(&test), ["a First"]);
}

#[test]
fn webhook_cannot_set_dates() {
    let (test, receiver) = with_webhook();
    let caller = Caller { keeps_dates: true, ..Caller::local() };
    let created = "2020-01-01T00:00:00+00:00";
    for (title, sent) in [("A", None), ("B", Some(json!({ "createdAt": created })))] {
        let payload =
            json!({ "title": title, "internal": { "createdAt": "2010-01-01T00:00:00Z" } });
        let response = json!({ "payload": payload }).to_string();
        receiver.respond(Ok(WebhookOutcome::Response(200, response.into())));
        let mut object = json!({ "title": title });
        object
            .as_object_mut()
            .unwrap()
            .extend(sent.clone().map(|dates| ("internal".to_owned(), dates)));
        let stored = test.cms.objects().create(&caller, "article", map(object)).unwrap();
        let stored = stored.to_value()["internal"]["createdAt"].clone();
        let now = json!("2026-01-02T03:04:05+00:00");
        assert_eq!(stored, sent.map_or(now, |dates| dates["createdAt"].clone()));
    }
}
