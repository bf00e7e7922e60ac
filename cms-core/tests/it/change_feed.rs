//! The change feed: visible changes per caller, their order, and positions that are no longer kept.

use cms_core::{
    Caller, Error, Visibility,
    testing::TestCms,
    wire::{
        batch::BatchElements,
        change::{Change, ChangesRequest, Position},
        key::KeyKind,
        publish::PublishAction,
    },
};
use serde_json::{Map, Value, json};

use crate::support::{article_with, create_object, database, map, with_type};

const PREVIEW: Visibility = Visibility { preview: true, public_only: false };
const PLAIN: Visibility = Visibility { preview: false, public_only: false };
const PUBLIC: Visibility = Visibility { preview: false, public_only: true };

fn type_definition(name: &str, settings: Value) -> Map<String, Value> {
    let mut definition = article_with(settings);
    definition["name"] = json!(name);
    definition
}

fn request(since: Option<Position>, limit: u32) -> ChangesRequest {
    ChangesRequest { since, content_types: None, limit }
}

/// The position at the end of the journal.
fn head(test: &TestCms) -> Position {
    test.cms.changes().after(&Caller::local(), &request(None, 1)).unwrap().next
}

/// All changes after a position that a caller may see, read in pages.
fn follow(test: &TestCms, caller: &Caller, since: Position, limit: u32) -> Vec<Change> {
    let (mut all, mut since) = (Vec::new(), since);
    loop {
        let page = test.cms.changes().after(caller, &request(Some(since), limit)).unwrap();
        assert!(page.data.len() <= limit as usize);
        since = page.next;
        all.extend(page.data);
        if !page.more {
            return all;
        }
    }
}

fn described(changes: &[Change]) -> Vec<String> {
    let text = |change: &Change| match &change.id {
        Some(id) => format!("{} {id} {}", change.action, change.version.unwrap()),
        None => format!("{} {}", change.action, change.content_type),
    };
    changes.iter().map(text).collect()
}

/// A key that may read these types.
pub(crate) fn key(test: &TestCms, kind: KeyKind, readable: &[&str]) -> Caller {
    let rights: Vec<_> = readable.iter().map(|name| (*name, "r")).collect();
    let created = test.create_key(&format!("{kind:?} {readable:?}"), kind, &rights);
    test.cms.caller_of_key(&created.key).unwrap()
}

fn refusal(test: &TestCms, since: &str) -> Error {
    let since = since.parse().unwrap();
    test.cms.changes().after(&Caller::local(), &request(Some(since), 10)).unwrap_err()
}

/// Readers receive changes of visible content only.
#[test]
fn drafts_are_visible_to_previews_only() {
    let (test, local) =
        (with_type(type_definition("page", json!({ "draftPublic": true }))), Caller::local());
    let start = head(&test);
    let (objects, publishing) = (test.cms.objects(), test.cms.publishing());
    let create = |id: &str| {
        objects.create(&local, "page", map(json!({ "id": id, "title": id }))).unwrap();
    };
    let act = |id: &str, action| publishing.set_status(&local, "page", id, action, false).unwrap();
    let batch = |id: &str, action| {
        publishing.set_statuses(&local, "page", &[id.to_owned()], action).unwrap();
    };
    create("seen");
    create("hidden");
    act("seen", PublishAction::Publish);
    objects.patch(&local, "page", "seen", map(json!({ "rank": 1 }))).unwrap();
    act("seen", PublishAction::Publish);
    batch("hidden", PublishAction::Archive);
    batch("hidden", PublishAction::Unpublish);
    test.clock.advance(60);
    let due = json!({ "scheduledAt": "2030-01-01T00:00", "timeZone": "UTC" });
    publishing.schedule(&local, "page", "hidden", map(due)).unwrap();
    objects.delete(&local, "page", "hidden").unwrap();
    act("seen", PublishAction::Archive);
    act("seen", PublishAction::Publish);
    objects.delete(&local, "page", "seen").unwrap();
    let seen = |visibility| {
        described(&follow(&test, &local.clone().with_visibility(visibility), start, 3))
    };
    let public =
        ["publish seen 1", "publish seen 2", "archive seen 2", "publish seen 2", "delete seen 2"];
    assert_eq!(seen(PLAIN), public);
    assert_eq!(seen(PUBLIC), public);
    let all = [
        "create seen 1",
        "create hidden 1",
        "publish seen 1",
        "update seen 2",
        "publish seen 2",
        "archive hidden 1",
        "unpublish hidden 1",
        "schedule hidden 1",
        "delete hidden 1",
        "archive seen 2",
        "publish seen 2",
        "delete seen 2",
    ];
    assert_eq!(seen(PREVIEW), all);
    // The narrower view applies.
    assert_eq!(seen(Visibility { preview: true, public_only: true }), public);
}

/// A published version has the date of creation of its object.
#[test]
fn kept_date_of_a_published_object_is_visible_to_readers() {
    let (test, local) =
        (with_type(type_definition("page", json!({ "draftPublic": true }))), Caller::local());
    let (objects, publishing) = (test.cms.objects(), test.cms.publishing());
    let save = |created: &str| {
        let caller = Caller { keeps_dates: true, ..local.clone() };
        let object = |id| json!({ "id": id, "title": id, "internal": { "createdAt": created } });
        let elements = BatchElements::of(&["draft", "public"].map(object));
        let report = objects.batch_create(&caller, "page", &elements, true).unwrap();
        assert_eq!(report.batch_success_count, 2);
    };
    save("2010-01-01");
    publishing.set_status(&local, "page", "public", PublishAction::Publish, false).unwrap();
    let start = head(&test);
    save("2011-01-01");
    objects.patch(&local, "page", "public", map(json!({ "rank": 1 }))).unwrap();
    let seen = |visibility| {
        described(&follow(&test, &local.clone().with_visibility(visibility), start, 3))
    };
    assert_eq!(seen(PUBLIC), ["update public 2"]);
    assert_eq!(seen(PREVIEW), ["update draft 2", "update public 2", "update public 3"]);
}

/// The public view contains changes of approved content only.
#[test]
fn workflow_states_narrow_the_public_view() {
    let (test, local) = (TestCms::new(), Caller::local());
    let definition = type_definition("news", json!({ "workflowId": "publishing" }));
    test.cms.types().create(&local, definition).unwrap();
    let start = head(&test);
    let objects = test.cms.objects();
    let go = |id: &str, action: &str| {
        let payload = map(json!({ "action": action }));
        test.cms.workflows().run_transition(&local, "news", id, payload).unwrap();
    };
    for id in ["a", "b"] {
        objects.create(&local, "news", map(json!({ "id": id, "title": id }))).unwrap();
        go(id, "_draft_review");
    }
    go("a", "_review_public");
    objects.patch(&local, "news", "a", map(json!({ "rank": 1 }))).unwrap();
    objects.patch(&local, "news", "b", map(json!({ "rank": 1 }))).unwrap();
    go("a", "_public_archive");
    objects.delete(&local, "news", "a").unwrap();
    objects.delete(&local, "news", "b").unwrap();
    let seen = |visibility| {
        described(&follow(&test, &local.clone().with_visibility(visibility), start, 100))
    };
    assert_eq!(seen(PUBLIC), ["transition a 1", "update a 2", "transition a 2"]);
    assert_eq!(seen(PLAIN).len(), 10);
    assert_eq!(seen(PLAIN), seen(PREVIEW));
}

/// A state `public` of a workflow changes what readers see of all objects of its types.
#[test]
fn redefined_workflow_changes_its_types() {
    let (test, local) = (TestCms::new(), Caller::local());
    let workflow = |states: Value| map(json!({ "id": "own", "name": "Own", "states": states }));
    test.cms.workflows().create(&local, workflow(json!(["text"]))).unwrap();
    test.cms
        .types()
        .create(&local, type_definition("news", json!({ "workflowId": "own" })))
        .unwrap();
    test.cms.types().create(&local, type_definition("other", json!({}))).unwrap();
    let start = head(&test);
    // states, changes in the feed so far
    let table: [(Value, &[&str]); 4] = [
        (json!(["text", "done"]), &[]),
        (json!(["text", "public"]), &["type.update news"]),
        (json!(["text", "done", "public"]), &["type.update news"]),
        (json!(["text", "done"]), &["type.update news", "type.update news"]),
    ];
    for (states, changes) in table {
        test.cms.workflows().replace(&local, "own", workflow(states.clone())).unwrap();
        for visibility in [PLAIN, PUBLIC] {
            let caller = local.clone().with_visibility(visibility);
            assert_eq!(described(&follow(&test, &caller, start, 100)), changes, "{states}");
        }
    }
}

/// A key receives changes of readable types only, even if it requests others, and also of deleted
/// types.
#[test]
fn keys_receive_changes_of_readable_types_only() {
    let (test, local) = (TestCms::new(), Caller::local());
    let (mine, all) = (key(&test, KeyKind::Scoped, &["mine"]), key(&test, KeyKind::ReadOnly, &[]));
    let start = head(&test);
    for name in ["mine", "other"] {
        test.cms.types().create(&local, type_definition(name, json!({}))).unwrap();
        create_object(&test.cms, name, json!({ "id": "a", "title": "a" }));
        test.cms
            .types()
            .update(&local, name, type_definition(name, json!({ "label": "New" })))
            .unwrap();
        test.cms.types().purge(&local, name, false).unwrap();
    }
    // The type `mine` cannot be deleted, because a key names it.
    test.cms.types().delete(&local, "other").unwrap();
    let expected = |name: &str| {
        let mut described =
            ["create", "update", "purge"].map(|verb| format!("type.{verb} {name}")).to_vec();
        described.insert(1, "create a 1".to_owned());
        if name == "other" {
            described.push("type.delete other".to_owned());
        }
        described
    };
    assert_eq!(described(&follow(&test, &mine, start, 2)), expected("mine"));
    assert_eq!(
        described(&follow(&test, &all, start, 2)),
        [expected("mine"), expected("other")].concat()
    );
    let only = |caller: &Caller, names: &[&str]| {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let request = ChangesRequest { content_types: Some(names), ..request(Some(start), 100) };
        test.cms.changes().after(caller, &request).unwrap()
    };
    assert_eq!(described(&only(&all, &["other"]).data), expected("other"));
    // A forbidden type looks like a missing one.
    assert_eq!(only(&mine, &["other"]), only(&mine, &["nothing"]));
    assert_eq!(described(&only(&mine, &["other", "mine"]).data), expected("mine"));
}

/// Pages of any size contain every change once and in order.
#[test]
fn pages_of_any_size_contain_each_change_once() {
    let (test, local) =
        (with_type(type_definition("page", json!({ "draftPublic": true }))), Caller::local());
    test.cms.types().create(&local, type_definition("note", json!({}))).unwrap();
    let start = head(&test);
    for number in 0..40 {
        let name = if number % 3 == 0 { "note" } else { "page" };
        let id = format!("{number}");
        create_object(&test.cms, name, json!({ "id": id, "title": id }));
    }
    for visibility in [PREVIEW, PLAIN] {
        let caller = local.clone().with_visibility(visibility);
        let all = follow(&test, &caller, start, 1000);
        assert_eq!(all.len(), if visibility.preview { 40 } else { 14 });
        assert!(all.is_sorted_by(|a, b| a.seq < b.seq));
        for limit in [1, 2, 7, 40] {
            assert_eq!(follow(&test, &caller, start, limit), all, "{limit}");
        }
        // The feed continues after any change.
        for (index, change) in all.iter().enumerate() {
            let following = follow(&test, &caller, change.position, 5);
            assert_eq!(following, all[index + 1..], "{}", change.position);
        }
    }
    assert_eq!(follow(&test, &local, head(&test), 5), []);
}

/// A position that is too old, or of another database, is refused.
#[test]
fn removed_journal_rows_are_reported_not_skipped() {
    let (test, local) = (with_type(type_definition("note", json!({}))), Caller::local());
    let here = head(&test);
    assert!(matches!(refusal(&test, "1000000"), Error::Gone(_)));
    let (seq, nonce) =
        here.to_string().split_once('-').map(|(s, n)| (s.to_owned(), n.to_owned())).unwrap();
    let other = u32::from_str_radix(&nonce, 16).unwrap() ^ 1;
    assert!(matches!(refusal(&test, &format!("{seq}-{other:08x}")), Error::Gone(_)));
    let plain: Position = seq.parse().unwrap();
    assert_eq!(follow(&test, &local, plain, 5), []);

    // Everything from the start, until rows are removed.
    let all = follow(&test, &local, "0".parse().unwrap(), 100);
    assert_eq!(all.last().unwrap().content_type, "note");
    let database = database(&test);
    database.execute("DELETE FROM journal WHERE seq <= 2", []).unwrap();
    assert!(matches!(refusal(&test, "0"), Error::Gone(_)));
    assert!(matches!(refusal(&test, "1"), Error::Gone(_)));
    assert_eq!(follow(&test, &local, "2".parse().unwrap(), 100), all[2..]);

    // Rows of older versions lack the type.
    database.execute("UPDATE journal SET type_name = NULL WHERE seq = 3", []).unwrap();
    assert!(matches!(refusal(&test, "2"), Error::Gone(_)));
    assert_eq!(follow(&test, &local, "3".parse().unwrap(), 100), all[3..]);
}
