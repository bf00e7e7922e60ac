//! What blocking webhooks are asked, and what comes of it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use cms_core::{
    Answered, AskReceiver, Caller, Error, FieldErrors, Result,
    clock::{Clock, FixedClock},
    testing::TestCms,
    wire::{
        batch::{BatchElements, BatchReport},
        condition::{Conditions, IdempotencyKey, IfMatch},
        key::{KeyKind, NewKey},
    },
};
use serde_json::{Value, json};

use crate::{
    support::{article, map, rows},
    webhooks::{create, webhook},
};

/// Says what it was told to say, then agrees; remembers what it was asked.
#[derive(Clone, Default)]
struct Receiver {
    asked: Arc<Mutex<Vec<Value>>>,
    says: Arc<Mutex<VecDeque<Result<Answered>>>>,
}

impl AskReceiver for Receiver {
    fn ask(&self, _: &str, _: &[(String, String)], body: &str) -> Result<Answered> {
        let question: Value = serde_json::from_str(body).unwrap();
        let agrees = json!({ "payload": question["payload"] }).to_string();
        self.asked.lock().unwrap().push(question);
        self.says.lock().unwrap().pop_front().unwrap_or(Ok(Answered::With(200, agrees)))
    }
}

impl Receiver {
    fn say(&self, answer: Result<Answered>) {
        self.says.lock().unwrap().push_back(answer);
    }

    /// Events and ids that were asked about since the last time.
    fn asked(&self) -> Vec<String> {
        let text = |question: Value| {
            let id = question["payload"]["id"].as_str().unwrap_or("none");
            format!("{} {id}", question["event"].as_str().unwrap())
        };
        self.asked.lock().unwrap().drain(..).map(text).collect()
    }
}

/// A folder with the type `article`, of which the webhook `wall` is asked.
fn asking() -> (TestCms, Receiver) {
    let test = TestCms::new();
    let receiver = Receiver::default();
    test.cms.types().create(&Caller::local(), article()).unwrap();
    test.cms.webhooks().ask_through(Box::new(receiver.clone()));
    let only = json!([{ "content_type_definition_name": "article" }]);
    let wall = json!({ "name": "Wall", "type": "sync", "content_type_definitions": only });
    create(&test, "_webhooks", webhook("wall", &wall));
    (test, receiver)
}

fn refusing(reason: &str) -> Answered {
    let answer = json!({ "response": { "errors": { "title": [reason] } } });
    Answered::With(400, answer.to_string())
}

fn said(errors: &FieldErrors) -> Value {
    json!(errors)
}

/// Ids and what is wrong with them.
fn faults(report: &BatchReport) -> Vec<(String, Value)> {
    report.errors.iter().map(|error| (error.id.clone(), said(&error.errors))).collect()
}

fn titles(test: &TestCms) -> Vec<String> {
    rows(
        test,
        "SELECT o.id || ' ' || o.title FROM object o JOIN ctd c ON c.pk = o.ctd WHERE c.name = 'article' ORDER BY o.id",
    )
}

#[test]
fn each_write_asks_once_and_nobody_is_asked_about_what_cannot_be_written() {
    let (test, receiver) = asking();
    let (local, objects) = (Caller::local(), test.cms.objects());
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    objects.patch(&local, "article", "a", map(json!({ "title": "B" }))).unwrap();
    objects.replace(&local, "article", "a", map(json!({ "title": "C" }))).unwrap();
    assert_eq!(receiver.asked(), ["pre-create a", "pre-update a", "pre-update a"]);

    let stale = Conditions::new(Some(IfMatch::parse("\"0000000000000000\"")), None);
    let stale = Caller::local().with_conditions(stale);
    let change = || map(json!({ "title": "D" }));
    assert!(objects.patch(&stale, "article", "a", change()).is_err());
    assert!(objects.delete(&stale, "article", "a").is_err());
    assert!(objects.patch(&local, "article", "none", change()).is_err());
    assert!(objects.delete(&local, "article", "none").is_err());
    let patches = [json!({ "id": "a", "title": "E" }), json!({ "id": "none" })];
    assert!(objects.batch_patch(&local, "article", &BatchElements::of(&patches)).is_err());
    // Nobody asked to be asked about these.
    create(&test, "_tag", json!({ "id": "t", "name": "T" }));
    assert!(receiver.asked().is_empty());
    assert_eq!(titles(&test), ["a C"]);

    objects.delete(&local, "article", "a").unwrap();
    assert_eq!(receiver.asked(), ["pre-delete a"]);
}

/// The first request was asked about, and made.
#[test]
fn nobody_is_asked_about_a_repeated_request() {
    let (test, receiver) = asking();
    let new = NewKey { name: "web".to_owned(), kind: KeyKind::ReadWrite, rules: Vec::new() };
    let token = test.cms.keys().create(&Caller::local(), &new).unwrap().key;
    let key = IdempotencyKey::new("once", &[]).unwrap();
    let caller = test.cms.keys().authenticate(&token).unwrap();
    let caller = caller.with_conditions(Conditions::new(None, Some(key)));
    for _ in 0..2 {
        let new = map(json!({ "id": "a", "title": "A" }));
        test.cms.objects().create(&caller, "article", new).unwrap();
    }
    assert_eq!(receiver.asked(), ["pre-create a"]);
}

#[test]
fn elements_are_asked_about_one_by_one() {
    let (test, receiver) = asking();
    let (local, objects) = (Caller::local(), test.cms.objects());
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    receiver.asked();
    let element = |id: &str| json!({ "id": id, "title": format!("{id} new") });
    let elements = [element("a"), element("b"), element("c"), element("b"), json!(5)];
    receiver.say(Ok(refusing("Stays")));
    let report =
        objects.batch_create(&local, "article", &BatchElements::of(&elements), true).unwrap();
    // Of two with one id, the last one counts.
    assert_eq!(receiver.asked(), ["pre-update a", "pre-create c", "pre-create b"]);
    assert_eq!(faults(&report)[0], ("a".to_owned(), json!({ "title": ["Stays"] })));
    assert_eq!(titles(&test), ["a A", "b b new", "c c new"]);

    receiver.say(Ok(refusing("Stays")));
    let patches =
        [json!({ "id": "a", "title": "Other" }), json!({ "id": "c", "title": "Changed" })];
    let report = objects.batch_patch(&local, "article", &BatchElements::of(&patches)).unwrap();
    assert_eq!(faults(&report), [("a".to_owned(), json!({ "title": ["Stays"] }))]);
    assert_eq!(titles(&test), ["a A", "b b new", "c Changed"]);

    receiver.asked();
    receiver.say(Ok(refusing("Stays")));
    let ids = ["none", "a", "c"].map(str::to_owned);
    assert!(matches!(objects.batch_delete(&local, "article", &ids), Err(Error::Invalid(_))));
    assert_eq!(receiver.asked(), ["pre-delete a"]);
    assert_eq!(titles(&test).len(), 3);
}

/// A slow receiver and a long batch would take hours.
#[test]
fn a_call_asks_for_a_minute_and_no_longer() {
    /// Takes 25 seconds.
    struct Slow(Receiver, Arc<FixedClock>);
    impl AskReceiver for Slow {
        fn ask(&self, url: &str, headers: &[(String, String)], body: &str) -> Result<Answered> {
            self.1.advance(25);
            self.0.ask(url, headers, body)
        }
    }
    let test = TestCms::new();
    test.cms.types().create(&Caller::local(), article()).unwrap();
    let receiver = Receiver::default();
    let slow = Slow(receiver.clone(), Arc::clone(&test.clock));
    test.cms.webhooks().ask_through(Box::new(slow));
    create(&test, "_webhooks", webhook("wall", &json!({ "name": "Wall", "type": "sync" })));
    let elements: Vec<Value> =
        ["a", "b", "c", "d", "e"].map(|id| json!({ "id": id, "title": id })).into();
    let report = test
        .cms
        .objects()
        .batch_create(&Caller::local(), "article", &BatchElements::of(&elements), false)
        .unwrap();
    assert_eq!(receiver.asked().len(), 3);
    let reason = "Error processing Wall webhook: no answer in time.";
    let late = |id: &str| (id.to_owned(), json!({ "__webhook": [reason] }));
    assert_eq!(faults(&report), [late("d"), late("e")]);
    // What is written is as old as its commit, not as the question.
    let at = rows(&test, "SELECT DISTINCT created_at FROM object WHERE ctd > 7");
    assert_eq!(at, [test.clock.now().seconds().to_string()]);
}

#[test]
fn one_that_did_not_answer_is_not_asked_again_in_the_same_call() {
    let (test, receiver) = asking();
    receiver.say(Ok(Answered::Nothing("no answer in time".to_owned())));
    let elements = ["a", "b", "c"].map(|id| json!({ "id": id, "title": id }));
    let report = test
        .cms
        .objects()
        .batch_create(&Caller::local(), "article", &BatchElements::of(&elements), false)
        .unwrap();
    assert_eq!((report.batch_error_count, receiver.asked().len()), (3, 1));
}

/// Whoever asks is told to come back when too many ask already, and nothing was done.
#[test]
fn a_call_that_cannot_ask_writes_nothing() {
    let (test, receiver) = asking();
    receiver.say(Ok(Answered::With(200, json!({ "payload": { "title": "A" } }).to_string())));
    receiver.say(Err(Error::Busy("too many".to_owned())));
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
fn each_webhook_sees_what_the_one_before_made() {
    let (test, receiver) = asking();
    create(&test, "_webhooks", webhook("second", &json!({ "name": "Second", "type": "sync" })));
    let answer =
        |payload: Value| Ok(Answered::With(200, json!({ "payload": payload }).to_string()));
    receiver.say(answer(json!({ "id": "other", "title": "First" })));
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    let asked = receiver.asked.lock().unwrap().clone();
    let payloads: Vec<&Value> = asked.iter().map(|question| &question["payload"]).collect();
    let expected = [json!({ "id": "a", "title": "A" }), json!({ "id": "a", "title": "First" })];
    assert_eq!(payloads, expected.iter().collect::<Vec<_>>());
    let sequence: Vec<&Value> = asked.iter().map(|question| &question["sequenceNumber"]).collect();
    assert_eq!(sequence, [&json!(0), &json!(1)]);
    assert_eq!(titles(&test), ["a First"]);
}
