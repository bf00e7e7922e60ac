//! Changes of a webhook, and of the objects of its deliveries, before the deliveries are created or sent.

use cms_core::{
    Caller, Exchange, WebhookOutcome,
    wire::{
        trash::{RestoreRequest, TrashRequest},
        webhook::ReplayRequest,
    },
};
use serde_json::{Value, json};

use crate::{
    support::{article, map, with_type},
    webhooks::{create, follow, next, send_all, webhook, with_webhook},
};

#[test]
fn changed_webhook_receives_events_that_match_its_settings_at_event_time() {
    let all = json!([{ "action": "Create" }, { "action": "Delete" }]);
    let (create_only, none) = (json!([{ "action": "Create" }]), json!([]));
    let types = |name: &str| json!([{ "content_type_definition_name": name }]);
    // settings when `a` is created, change before `b` is created, change after it, delivered
    let table = [
        (json!({}), json!({ "enabled": false }), json!({ "enabled": true }), "a"),
        (json!({ "enabled": false }), json!({ "enabled": true }), json!({}), "b"),
        (json!({ "actions": none }), json!({ "actions": create_only }), json!({}), "b"),
        (json!({ "actions": all }), json!({ "actions": none }), json!({}), "a"),
        (
            json!({ "content_type_definitions": types("_tag") }),
            json!({ "content_type_definitions": types("article") }),
            json!({}),
            "b",
        ),
    ];
    for (settings, change, later, delivered) in table {
        let test = with_type(article());
        create(&test, "_webhooks", webhook("hook", &settings));
        create(&test, "article", json!({ "id": "a", "title": "A" }));
        let patch = |change: &Value| {
            let objects = test.cms.objects();
            objects.patch(&Caller::local(), "_webhooks", "hook", map(change.clone())).unwrap();
        };
        patch(&change);
        create(&test, "article", json!({ "id": "b", "title": "B" }));
        patch(&later);
        let sent = send_all(&test);
        let ids: Vec<&Value> = sent.iter().map(|body| &body["payload"]["id"]).collect();
        assert_eq!(ids, [delivered], "{settings} {change}");
    }
}

#[test]
fn webhook_restored_from_the_trash_gets_no_events_of_its_time_in_the_trash() {
    for (has_other, is_followed) in [(false, false), (false, true), (true, false), (true, true)] {
        let test = with_webhook();
        if has_other {
            create(&test, "_webhooks", webhook("other", &json!({ "type": "ctd" })));
        }
        follow(&test);
        test.cms.objects().delete(&Caller::local(), "_webhooks", "hook").unwrap();
        create(&test, "article", json!({ "id": "between", "title": "Between" }));
        if is_followed {
            follow(&test);
        }
        let trash = test.cms.trash();
        let list = trash.list(&Caller::local(), &TrashRequest::default()).unwrap();
        trash.restore(&Caller::local(), &list.data[0].entry, RestoreRequest::default()).unwrap();
        create(&test, "article", json!({ "id": "after", "title": "After" }));
        let sent = send_all(&test);
        let ids: Vec<&Value> = sent.iter().map(|body| &body["payload"]["id"]).collect();
        assert_eq!(ids, ["after"], "another webhook: {has_other}, followed: {is_followed}");
    }
}

#[test]
fn tested_webhook_gets_no_events_from_before_its_creation() {
    let test = with_type(article());
    create(&test, "_webhooks", webhook("other", &json!({ "type": "ctd" })));
    follow(&test);
    create(&test, "article", json!({ "id": "before", "title": "Before" }));
    create(&test, "_webhooks", webhook("hook", &json!({})));
    test.cms.webhooks().test(&Caller::local(), "hook").unwrap();
    create(&test, "article", json!({ "id": "after", "title": "After" }));
    let sent = send_all(&test);
    let actions: Vec<_> =
        sent.iter().map(|body| (&body["action"], &body["payload"]["id"])).collect();
    assert_eq!(actions, [(&json!("Test"), &json!("test")), (&json!("Create"), &json!("after"))]);
}

#[test]
fn replayed_delivery_keeps_the_id_of_an_object_that_was_restored_under_another_id() {
    let test = with_webhook();
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    follow(&test);
    let sent = next(&test).unwrap();
    let body: Value = serde_json::from_str(&sent.body).unwrap();
    let delivered = WebhookOutcome::Response(204, Vec::new());
    test.cms.webhooks().record(sent, delivered, Exchange::default()).unwrap();
    let local = Caller::local();
    test.cms.objects().delete(&local, "article", "a").unwrap();
    let restore = RestoreRequest { id: Some("b".to_owned()), ..RestoreRequest::default() };
    let entry =
        test.cms.trash().list(&local, &TrashRequest::default()).unwrap().data.remove(0).entry;
    test.cms.trash().restore(&local, &entry, restore).unwrap();
    let request = ReplayRequest { ids: Some(vec![1]) };
    test.cms.webhooks().replay(&local, "hook", &request).unwrap();
    let again: Value = serde_json::from_str(&next(&test).unwrap().body).unwrap();
    assert_eq!((&again["ref"], &again["payload"]["id"]), (&body["ref"], &json!("a")));
}

#[test]
fn replay_sends_collected_changes_also_if_they_were_not_read_yet() {
    let test = with_type(article());
    create(&test, "_webhooks", webhook("hook", &json!({ "debounceSeconds": 30 })));
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    let replayed = test.cms.webhooks().replay(&Caller::local(), "hook", &ReplayRequest::default());
    assert_eq!(replayed.unwrap().replayed, 1);
    follow(&test);
    assert!(next(&test).is_some());
}
