//! The trash: lists, restores and removals of deleted objects.

use std::{fs, sync::Arc, thread};

use cms_core::{
    Actor, ActorKind, Caller, Error, Visibility,
    paging::PageRequest,
    testing::{START, TestCms},
    wire::{
        check::CheckRequest,
        key::KeyKind,
        media::UploadRequest,
        object::{Direction, ListRequest},
        publish::PublishAction,
        trash::{EmptyTrashRequest, RestoreRequest, TrashRequest},
        user::Role,
    },
};
use serde_json::{Value, json};

use crate::{
    media::{self, image, upload},
    support::{
        add_property, article, article_with, create_batch, create_object, database, key, link,
        local, map, remove_property, rows, with_type,
    },
};

const DAY: i64 = 86_400;

fn preview() -> Caller {
    local().with_visibility(Visibility { preview: true, public_only: false })
}

/// A user without the publishing right.
fn author() -> Caller {
    Caller::new(Arc::new(Actor {
        pk: None,
        id: "author".to_owned(),
        name: "Author".to_owned(),
        kind: ActorKind::User { role: Role::Author, email: "author@example.com".to_owned() },
        rules: Vec::new(),
        may_publish: false,
    }))
}

fn with_articles(more: &Value) -> TestCms {
    with_type(article_with(more.clone()))
}

fn create(test: &TestCms, object: Value) {
    test.cms.objects().create(&local(), "article", map(object)).unwrap();
}

fn patch(test: &TestCms, id: &str, change: Value) {
    test.cms.objects().patch(&local(), "article", id, map(change)).unwrap();
}

fn delete(test: &TestCms, id: &str) {
    test.cms.objects().delete(&local(), "article", id).unwrap();
}

fn act(test: &TestCms, id: &str, action: PublishAction) {
    test.cms.publishing().set_status(&local(), "article", id, action, false).unwrap();
}

fn get(test: &TestCms, id: &str) -> Value {
    test.cms.objects().get(&preview(), "article", id, 0).unwrap().to_value()
}

/// The newest entry of an id.
fn entry(test: &TestCms, id: &str) -> String {
    let request = TrashRequest { text: Some(id.to_owned()), ..TrashRequest::default() };
    let list = test.cms.trash().list(&local(), &request).unwrap().data;
    list.into_iter().find(|item| item.id == id).unwrap().entry
}

fn entries(test: &TestCms, request: &TrashRequest) -> Vec<String> {
    let list = test.cms.trash().list(&local(), request).unwrap().data;
    list.into_iter().map(|item| item.id).collect()
}

fn restore_as(test: &TestCms, caller: &Caller, id: &str, request: Value) -> Result<Value, Error> {
    let request = RestoreRequest::from_payload(map(request))?;
    let restored = test.cms.trash().restore(caller, &entry(test, id), request);
    restored.map(|json| json.to_value())
}

fn restore(test: &TestCms, id: &str) -> Result<Value, Error> {
    restore_as(test, &local(), id, json!({}))
}

fn errors(result: Result<Value, Error>) -> Value {
    match result {
        Err(Error::Invalid(errors)) => json!(errors),
        other => panic!("{other:?}"),
    }
}

fn is_sound(test: &TestCms) -> bool {
    let report = test.cms.check(&CheckRequest::default()).unwrap();
    report.findings.is_empty()
}

#[test]
fn restore_brings_back_object_links_and_versions() {
    let test = with_articles(&json!({}));
    create(&test, json!({ "id": "target", "title": "Target" }));
    create(&test, json!({ "id": "a", "title": "First", "rank": 5 }));
    let itself = [link("article", "target"), link("article", "a")];
    patch(&test, "a", json!({ "title": "Second", "related": itself }));
    while test.cms.search().index_batch().unwrap() {}
    let before = get(&test, "a");
    let versions = |id: &str| {
        let (page, order) = (PageRequest::default(), Direction::Ascending);
        let list = test.cms.objects().versions(&local(), "article", id, page, order).unwrap();
        list.to_value()["data"].clone()
    };
    let versions_before = versions("a");
    test.clock.advance(DAY);
    delete(&test, "a");
    assert!(is_sound(&test));
    test.clock.advance(DAY);
    assert_eq!(test.cms.objects().deleted_ids(&local(), "article", None).unwrap(), ["a"]);

    let restored = restore(&test, "a").unwrap();
    let mut expected = before;
    expected["internal"]["updatedAt"] = json!("2026-01-04T03:04:05+00:00");
    assert_eq!(restored, expected);
    assert_eq!(get(&test, "a"), expected);
    let mut versions = versions("a");
    versions[1]["internal"]["updatedAt"] = versions_before[1]["internal"]["updatedAt"].clone();
    versions[1]["updatedAt"] = versions_before[1]["updatedAt"].clone();
    assert_eq!(versions, versions_before);
    assert!(test.cms.objects().delete(&local(), "article", "target").is_err(), "it is linked");
    assert_eq!(test.cms.objects().deleted_ids(&local(), "article", None).unwrap(), [""; 0]);
    while test.cms.search().index_batch().unwrap() {}
    assert!(is_sound(&test));
    let journal = "SELECT kind, object_id, version, title, coalesce(properties, '-') FROM journal
                   ORDER BY seq DESC LIMIT 2";
    assert_eq!(rows(&test, journal), ["object.restore a 2 Second -", "object.delete a 2 Second -"]);
    assert!(matches!(test.cms.trash().get(&local(), "2"), Err(Error::NotFound { .. })));
}

/// A command on a data directory passes the id without parsing a request.
#[test]
fn restore_under_an_invalid_id_is_refused() {
    let test = with_type(article());
    create_object(&test.cms, "article", json!({ "id": "a", "title": "A" }));
    test.cms.objects().delete(&local(), "article", "a").unwrap();
    for (id, message) in
        [("", "Must be at least 1 characters long"), ("x/../y", "Does not match the regex pattern")]
    {
        let request = RestoreRequest { id: Some(id.to_owned()), ..RestoreRequest::default() };
        let refused = test.cms.trash().restore(&local(), &entry(&test, "a"), request);
        let Err(Error::Invalid(errors)) = refused else { panic!("{id} is restored") };
        assert!(errors.at("id").iter().any(|found| found.starts_with(message)), "{errors:?}");
    }
    restore(&test, "a").unwrap();
}

#[test]
fn restored_status_depends_on_the_publishing_right() {
    let drafts = json!({ "draftPublic": true });
    for (caller, kept) in [(local(), true), (author(), false)] {
        let test = with_articles(&drafts);
        for id in ["draft", "public", "modified", "archived"] {
            create(&test, json!({ "id": id, "title": format!("{id} 1"), "rank": 1 }));
            if id != "draft" {
                act(&test, id, PublishAction::Publish);
            }
        }
        act(&test, "archived", PublishAction::Archive);
        patch(&test, "modified", json!({ "title": "modified 2" }));
        let public = |id: &str| {
            let list = ListRequest { ids: Some(vec![id.to_owned()]), ..ListRequest::default() };
            let list = test.cms.objects().list(&local(), "article", &list).unwrap().to_value();
            list["data"][0]["title"].clone()
        };
        for (id, status, published) in [
            ("draft", "draft", Value::Null),
            ("public", "public", json!("public 1")),
            ("modified", "modified", json!("modified 1")),
            ("archived", "archived", Value::Null),
        ] {
            delete(&test, id);
            let restored = restore_as(&test, &caller, id, json!({})).unwrap();
            let (status, published) =
                if kept { (status, published) } else { ("draft", Value::Null) };
            assert_eq!(restored["internal"]["status"], status);
            assert_eq!(public(id), published, "{id}");
            let version = if published.is_null() { -1 } else { 1 };
            assert_eq!(restored["internal"]["publicVersion"], version, "{id}");
        }
        while test.cms.search().index_batch().unwrap() {}
        assert!(is_sound(&test));
    }
    // With data, the version at the deletion stays the published one.
    let test = with_articles(&drafts);
    create(&test, json!({ "id": "a", "title": "Old" }));
    act(&test, "a", PublishAction::Publish);
    delete(&test, "a");
    let data = json!({ "data": { "title": "New", "id": "ignored", "internal": {} } });
    let restored = restore_as(&test, &local(), "a", data).unwrap();
    let internal = &restored["internal"];
    assert_eq!(
        [&internal["status"], &restored["title"], &restored["id"]],
        ["modified", "New", "a"]
    );
    assert_eq!([&internal["latestVersion"], &internal["publicVersion"]], [2, 1]);
    let journal = "SELECT kind, version, properties FROM journal ORDER BY seq DESC LIMIT 1";
    assert_eq!(rows(&test, journal), [r#"object.restore 2 ["title"]"#]);
    while test.cms.search().index_batch().unwrap() {}
    assert!(is_sound(&test));
}

#[test]
fn restored_workflow_state_depends_on_the_publishing_right() {
    for (caller, state, version) in [(local(), "public", json!(1)), (author(), "draft", json!(""))]
    {
        let test = with_articles(&json!({ "workflowId": "publishing" }));
        create(&test, json!({ "id": "a", "title": "A" }));
        for action in ["_draft_review", "_review_public"] {
            let action = map(json!({ "action": action }));
            test.cms.workflows().run_transition(&local(), "article", "a", action).unwrap();
        }
        delete(&test, "a");
        let restored = restore_as(&test, &caller, "a", json!({})).unwrap();
        let internal = &restored["internal"];
        assert_eq!(internal["workflowState"], state);
        assert_eq!(internal["workflowPublicVersion"], version);
        while test.cms.search().index_batch().unwrap() {}
        assert!(is_sound(&test));
    }
}

#[test]
fn refused_restore_keeps_the_entry() {
    let test = with_articles(&json!({}));
    create(&test, json!({ "id": "target", "title": "Target" }));
    create(&test, json!({ "id": "a", "title": "Unique", "related": [link("article", "target")] }));
    delete(&test, "a");
    delete(&test, "target");
    create(&test, json!({ "id": "a", "title": "Unique" }));
    let taken = "This value is already used";
    let missing = "This value does not exist in database";
    let expected = json!({ "id": [taken], "title": [taken], "related": [missing] });
    assert_eq!(errors(restore(&test, "a")), expected);
    let data = json!({ "data": { "title": "", "other": 1 } });
    let expected = json!({
        "title": ["Must be at least 1 characters long"],
        "other": ["The property other is not defined and the definition does not allow additional properties"],
        "id": [taken],
    });
    assert_eq!(errors(restore_as(&test, &local(), "a", data)), expected);
    let invalid = errors(restore_as(&test, &local(), "a", json!({ "id": "" })));
    assert!(invalid["id"].is_array(), "{invalid}");
    let item = &test.cms.trash().list(&local(), &TrashRequest::default()).unwrap().data[0];
    assert!(item.id == "a" && item.id_taken);

    // `data` replaces all properties, also under another id.
    let data = json!({ "id": "b", "data": { "title": "Other" } });
    let restored = restore_as(&test, &local(), "a", data).unwrap();
    assert_eq!([&restored["id"], &restored["title"]], ["b", "Other"]);
    assert_eq!(restored["internal"]["latestVersion"], 2);
    let too_large = json!({ "data": { "title": "x".repeat(2 << 20) } });
    let error = restore_as(&test, &local(), "target", too_large).unwrap_err();
    assert!(matches!(error, Error::ObjectTooLarge { .. }), "{error:?}");
    assert_eq!(restore(&test, "target").unwrap()["title"], "Target");
}

#[test]
fn published_version_is_validated_too() {
    let test = with_articles(&json!({ "draftPublic": true }));
    create(&test, json!({ "id": "a", "title": "Taken" }));
    act(&test, "a", PublishAction::Publish);
    patch(&test, "a", json!({ "title": "Free" }));
    delete(&test, "a");
    create(&test, json!({ "id": "b", "title": "Taken" }));
    let taken = json!({ "title": ["This value is already used"] });
    assert_eq!(errors(restore(&test, "a")), taken);
    let restored = restore_as(&test, &author(), "a", json!({})).unwrap();
    assert_eq!(restored["internal"]["status"], "draft", "then it has no published version");
}

/// `data` cannot repair the published version, so the caller may leave it out.
#[test]
fn restore_as_draft_leaves_out_an_invalid_published_version() {
    let test = with_articles(&json!({ "draftPublic": true }));
    create(&test, json!({ "id": "a", "title": "A" }));
    act(&test, "a", PublishAction::Publish);
    delete(&test, "a");
    let mut definition = article_with(json!({ "draftPublic": true }));
    add_property(&mut definition, "summary", json!({ "type": "string" }), "text");
    definition["schemaDefinition"]["required"] = json!(["title", "summary"]);
    test.cms.types().update(&local(), "article", definition).unwrap();
    let missing = json!({ "summary": ["The property summary is required"] });
    assert_eq!(errors(restore(&test, "a")), missing);
    let complete = json!({ "title": "A", "summary": "S" });
    let data = json!({ "data": complete });
    assert_eq!(errors(restore_as(&test, &local(), "a", data)), missing);
    let draft = json!({ "draft": true });
    assert_eq!(errors(restore_as(&test, &local(), "a", draft)), missing);
    let wrong = errors(restore_as(&test, &local(), "a", json!({ "draft": "yes" })));
    assert!(wrong["draft"].is_array(), "{wrong}");

    let draft = json!({ "data": complete, "draft": true });
    let restored = restore_as(&test, &local(), "a", draft).unwrap();
    let internal = &restored["internal"];
    assert_eq!(
        [&internal["status"], &internal["publicVersion"], &internal["latestVersion"]],
        [&json!("draft"), &json!(-1), &json!(2)]
    );
    act(&test, "a", PublishAction::Publish);
    while test.cms.search().index_batch().unwrap() {}
    assert!(is_sound(&test));
}

#[test]
fn restored_object_is_converted_to_the_current_type() {
    let test = with_articles(&json!({ "draftPublic": true }));
    create(&test, json!({ "id": "a", "title": "Old", "rank": 7 }));
    act(&test, "a", PublishAction::Publish);
    patch(&test, "a", json!({ "title": "New", "rank": 1.5 }));
    delete(&test, "a");
    // The number becomes a text and is renamed; the relation is removed.
    let mut definition = article_with(json!({ "draftPublic": true }));
    remove_property(&mut definition, "rank");
    add_property(&mut definition, "rank", json!({ "type": "string" }), "text");
    test.cms.types().update(&local(), "article", definition.clone()).unwrap();
    remove_property(&mut definition, "rank");
    remove_property(&mut definition, "related");
    add_property(&mut definition, "place", json!({ "type": "string" }), "text");
    definition["metaDefinition"]["propertiesConfig"]["place"]["renamedFrom"] = json!("rank");
    test.cms.types().update(&local(), "article", definition.clone()).unwrap();
    assert_eq!(rows(&test, "SELECT count(*) FROM former_definition"), ["2"]);
    let restored = restore(&test, "a").unwrap();
    assert_eq!([&restored["title"], &restored["place"]], ["New", "1.5"]);
    let published = test.cms.objects().get(
        &local().with_visibility(Visibility { preview: false, public_only: true }),
        "article",
        "a",
        0,
    );
    let published = published.unwrap().to_value();
    assert_eq!([&published["title"], &published["place"]], ["Old", "7"]);

    // A required property without a value.
    delete(&test, "a");
    add_property(&mut definition, "code", json!({ "type": "string", "minLength": 1 }), "text");
    definition["schemaDefinition"]["required"] = json!(["title", "code"]);
    test.cms.types().update(&local(), "article", definition.clone()).unwrap();
    let missing = json!({ "code": ["The property code is required"] });
    assert_eq!(errors(restore(&test, "a")), missing);
    let data = json!({ "data": { "title": "New", "code": "x" } });
    assert_eq!(errors(restore_as(&test, &local(), "a", data.clone())), missing, "as published");
    let restored = restore_as(&test, &author(), "a", data).unwrap();
    assert_eq!(restored["internal"]["status"], "draft");
    while test.cms.search().index_batch().unwrap() {}
    assert!(is_sound(&test));

    // Draft & Public is turned off and on again meanwhile: the status changes as for live objects.
    delete(&test, "a");
    definition["draftPublic"] = json!(false);
    test.cms.types().update(&local(), "article", definition.clone()).unwrap();
    assert_eq!(restore(&test, "a").unwrap()["internal"]["status"], "public");
    delete(&test, "a");
    definition["draftPublic"] = json!(true);
    test.cms.types().update(&local(), "article", definition).unwrap();
    let restored = restore(&test, "a").unwrap();
    assert_eq!(restored["internal"]["status"], "public");
    assert_eq!(restored["internal"]["publicVersion"], restored["internal"]["latestVersion"]);
    while test.cms.search().index_batch().unwrap() {}
    assert!(is_sound(&test));
}

#[test]
fn trash_entry_has_the_object_converted_to_the_current_type() {
    let test = with_articles(&json!({}));
    create(&test, json!({ "id": "a", "title": "A", "rank": 7, "related": [] }));
    delete(&test, "a");
    let mut definition = article();
    remove_property(&mut definition, "rank");
    remove_property(&mut definition, "related");
    add_property(&mut definition, "place", json!({ "type": "string" }), "text");
    definition["metaDefinition"]["propertiesConfig"]["place"]["renamedFrom"] = json!("rank");
    test.cms.types().update(&local(), "article", definition).unwrap();
    let entry = test.cms.trash().get(&local(), &entry(&test, "a")).unwrap().to_value();
    let mut data = entry["object"].as_object().unwrap().clone();
    data.retain(|name, _| name != "internal" && name != "id");
    assert_eq!(json!(data), json!({ "title": "A", "place": "7" }));
    restore_as(&test, &local(), "a", json!({ "data": data })).unwrap();
}

#[test]
fn entries_are_removed_with_their_type_and_former_definitions_expire() {
    let test = with_articles(&json!({}));
    create(&test, json!({ "id": "a", "title": "A" }));
    delete(&test, "a");
    let kept = "SELECT (SELECT count(*) FROM trash), (SELECT count(*) FROM former_definition)";
    let mut definition = article();
    test.cms.types().update(&local(), "article", definition.clone()).unwrap();
    assert_eq!(rows(&test, kept), ["1 0"], "the definition is the same");
    definition["label"] = json!("Other");
    test.cms.types().update(&local(), "article", definition.clone()).unwrap();
    assert_eq!(rows(&test, kept), ["1 1"]);
    let found = entry(&test, "a");
    test.run_for(60 * DAY);
    test.run_for(60);
    assert_eq!(rows(&test, kept), ["0 0"]);
    assert!(matches!(test.cms.trash().get(&local(), &found), Err(Error::NotFound { .. })));

    create(&test, json!({ "id": "b", "title": "B" }));
    delete(&test, "b");
    let found = entry(&test, "b");
    test.cms.types().delete(&local(), "article").unwrap();
    let error = test.cms.trash().restore(&local(), &found, RestoreRequest::default()).unwrap_err();
    assert!(matches!(error, Error::NotFound { what: "trash entry", .. }), "{error:?}");
    assert_eq!(entries(&test, &TrashRequest::default()), [""; 0]);
}

#[test]
fn object_is_restored_by_one_of_concurrent_requests() {
    let test = with_articles(&json!({}));
    create(&test, json!({ "id": "a", "title": "A" }));
    delete(&test, "a");
    let found = entry(&test, "a");
    let restore = |number: usize| {
        let id = Some(format!("copy{number}"));
        test.cms.trash().restore(
            &local(),
            &found,
            RestoreRequest { id, ..RestoreRequest::default() },
        )
    };
    let restored = thread::scope(|scope| {
        let requests: Vec<_> =
            (0..8).map(|number| scope.spawn(move || restore(number).is_ok())).collect();
        requests.into_iter().map(|request| request.join().unwrap()).filter(|done| *done).count()
    });
    assert_eq!(restored, 1);
    assert_eq!(rows(&test, "SELECT count(*) FROM object WHERE id LIKE 'copy%'"), ["1"]);
}

#[test]
fn object_is_restored_under_another_id() {
    let test = with_articles(&json!({}));
    create(&test, json!({ "id": "a", "title": "First" }));
    patch(&test, "a", json!({ "title": "Second" }));
    delete(&test, "a");
    create(&test, json!({ "id": "a", "title": "Another" }));
    let restored = restore_as(&test, &local(), "a", json!({ "id": "b" })).unwrap();
    assert_eq!([&restored["id"], &restored["title"]], ["b", "Second"]);
    let version = test.cms.objects().version(&local(), "article", "b", "1").unwrap().to_value();
    assert_eq!([&version["id"], &version["title"]], ["b", "First"]);
    let removed = || test.cms.objects().deleted_ids(&local(), "article", None).unwrap();
    assert_eq!(removed(), [""; 0], "another object has the id");
    delete(&test, "a");
    assert_eq!(removed(), ["a"]);
    restore(&test, "a").unwrap();
    delete(&test, "b");
    assert_eq!(removed(), ["b"]);
    // The first deletion of `a` is recorded without an entry.
    let record = "SELECT id FROM removed_id";
    assert_eq!(rows(&test, record), ["a"]);
    test.run_for(61 * DAY);
    assert_eq!((rows(&test, record), removed()), (vec![], vec![]));
}

#[test]
fn list_is_filtered_by_type_text_dates_actor_and_rights() {
    let test = with_articles(&json!({}));
    let key = |name: &str, kind, rights: &[(&str, &str)]| {
        let created = test.create_key(name, kind, rights);
        (test.cms.caller_of_key(&created.key).unwrap(), created.item.id)
    };
    let (web, web_id) = key("web", KeyKind::ReadWrite, &[]);
    for (id, title) in [("one", "Café"), ("two", "Two 100%"), ("three", "Three")] {
        create(&test, json!({ "id": id, "title": title }));
        test.clock.advance(10);
        let deleter = if id == "two" { &web } else { &local() };
        test.cms.objects().delete(deleter, "article", id).unwrap();
    }
    let tag = map(json!({ "id": "tag", "name": "Tag" }));
    test.cms.objects().create(&local(), "_tag", tag).unwrap();
    test.cms.objects().delete(&local(), "_tag", "tag").unwrap();
    let text = |text: &str| Some(text.to_owned());
    let any = TrashRequest::default;
    for (request, expected) in [
        (any(), &["tag", "three", "two", "one"][..]),
        (TrashRequest { text: text("CAFÉ"), ..any() }, &["one"]),
        (TrashRequest { text: text("0%"), ..any() }, &["two"]),
        (TrashRequest { text: text("T"), ..any() }, &["tag", "three", "two"]),
        (
            TrashRequest { content_types: Some(vec!["article".to_owned()]), ..any() },
            &["three", "two", "one"],
        ),
        (TrashRequest { content_types: Some(vec!["none".to_owned()]), ..any() }, &[]),
        (
            TrashRequest {
                content_types: Some(vec!["article".to_owned(), "_tag".to_owned()]),
                text: text("t"),
                ..any()
            },
            &["tag", "three", "two"],
        ),
        (TrashRequest { by: Some(web_id), ..any() }, &["two"]),
        (TrashRequest { by: text("nobody"), ..any() }, &[]),
        (
            TrashRequest { deleted_after: Some(format!("@{}", START + 10)), ..any() },
            &["tag", "three", "two"],
        ),
        (
            TrashRequest { deleted_before: Some(format!("@{}", START + 30)), ..any() },
            &["two", "one"],
        ),
        (TrashRequest { page: PageRequest { number: 2, limit: 3 }, ..any() }, &["one"]),
    ] {
        assert_eq!(entries(&test, &request), expected, "{request:?}");
    }
    let list = test.cms.trash().list(&local(), &any()).unwrap();
    assert_eq!(
        json!(list.data[2]),
        json!({
            "entry": "2", "contentType": "article", "id": "two", "objectTitle": "Two 100%",
            "version": 1, "deletedAt": "2026-01-02T03:04:25.000000+0000",
            "expiresAt": "2026-03-03T03:04:25.000000+0000",
            "by": { "kind": "key", "id": list.data[2].by.id, "name": "web" }, "idTaken": false,
        })
    );

    // Rights: read and delete to see, read and create to restore, delete to remove.
    let trash = test.cms.trash();
    let seen = |caller: &Caller| trash.list(caller, &any()).map(|list| list.total_count);
    let (reader, _) = key("reader", KeyKind::ReadOnly, &[]);
    let viewer = Caller::new(Arc::new(Actor {
        kind: ActorKind::User { role: Role::Viewer, email: String::new() },
        ..author().actor().clone()
    }));
    for caller in [reader, viewer] {
        assert!(matches!(seen(&caller), Err(Error::Forbidden)));
        assert!(matches!(trash.get(&caller, "1"), Err(Error::Forbidden)));
        assert!(matches!(
            trash.restore(&caller, "1", RestoreRequest::default()),
            Err(Error::Forbidden)
        ));
        assert!(matches!(trash.remove(&caller, "1"), Err(Error::Forbidden)));
        assert!(matches!(
            trash.empty(&caller, &EmptyTrashRequest::default()),
            Err(Error::Forbidden)
        ));
    }
    assert!(matches!(trash.empty(&web, &EmptyTrashRequest::default()), Err(Error::Forbidden)));
    let public = local().with_visibility(Visibility { preview: false, public_only: true });
    assert_eq!(seen(&public).unwrap(), 0);
    assert!(matches!(trash.get(&public, "1"), Err(Error::NotFound { .. })));
    for (rights, listed, restored, removed) in [
        ("rd", 3, false, true),
        ("cr", 0, true, false),
        ("crud", 3, true, true),
        ("u", 0, false, false),
    ] {
        let (caller, _) = key(rights, KeyKind::Scoped, &[("article", rights)]);
        assert_eq!(seen(&caller).unwrap(), listed, "{rights}");
        assert_eq!(trash.get(&caller, "1").is_ok(), listed > 0, "{rights}");
        let found = trash.restore(&caller, "1", RestoreRequest::default());
        assert_eq!(found.is_ok(), restored, "{rights}");
        if restored {
            delete(&test, "one");
        } else {
            assert!(matches!(found, Err(Error::NotFound { .. })), "{rights}");
        }
        create(&test, json!({ "id": "victim", "title": "Victim" }));
        delete(&test, "victim");
        let done = trash.remove(&caller, &entry(&test, "victim"));
        assert_eq!(done.is_ok(), removed, "{rights}");
        if !removed {
            trash.remove(&local(), &entry(&test, "victim")).unwrap();
        }
    }
    for unknown in ["0", "x", "+1", "99999999999999999999", ""] {
        assert!(matches!(trash.get(&local(), unknown), Err(Error::NotFound { .. })), "{unknown}");
    }
}

#[test]
fn removed_entry_leaves_only_its_id() {
    let test = with_articles(&json!({}));
    create(&test, json!({ "id": "a", "title": "A" }));
    patch(&test, "a", json!({ "title": "B" }));
    delete(&test, "a");
    test.run_for(3600);
    test.cms.trash().remove(&local(), &entry(&test, "a")).unwrap();
    let left = "SELECT (SELECT count(*) FROM trash), (SELECT count(*) FROM object_version),
                       (SELECT group_concat(id) FROM removed_id)";
    assert_eq!(rows(&test, left), ["0 0 a"]);
    let last =
        "SELECT kind, object_id, version, title, actor FROM journal ORDER BY seq DESC LIMIT 1";
    assert_eq!(rows(&test, last), ["trash.remove a 2 B null"]);
    let removed = || test.cms.objects().deleted_ids(&local(), "article", None).unwrap();
    assert_eq!(removed(), ["a"]);
    create(&test, json!({ "id": "A", "title": "A" }));
    assert_eq!(removed(), [""; 0]);
    delete(&test, "A");
    assert_eq!(removed().len(), 1, "in any letter case");
    test.run_for(61 * DAY);
    assert_eq!(removed(), [""; 0]);
    let last = "SELECT j.kind, a.name FROM journal j JOIN actor a ON a.pk = j.actor
                ORDER BY seq DESC LIMIT 1";
    assert_eq!(rows(&test, last), ["trash.remove retention"]);
    assert!(is_sound(&test));
}

#[test]
fn trash_is_emptied_in_requests_of_limited_size() {
    let test = with_articles(&json!({}));
    for batch in 0..11 {
        let count = if batch == 10 { 1 } else { 1000 };
        let tags: Vec<Value> = (0..count)
            .map(|n| json!({ "id": format!("{batch}-{n}"), "name": format!("{batch}-{n}") }))
            .collect();
        create_batch(&test.cms, "_tag", &tags);
    }
    test.cms.types().purge(&local(), "_tag", false).unwrap();
    create(&test, json!({ "id": "a", "title": "A" }));
    delete(&test, "a");
    let empty = |types: &[&str], before: Option<i64>| {
        let request = EmptyTrashRequest {
            content_types: Some(types.iter().map(|name| (*name).to_owned()).collect()),
            deleted_before: before.map(|seconds| format!("@{seconds}")),
        };
        let emptied = test.cms.trash().empty(&local(), &request).unwrap();
        (emptied.removed_count, emptied.more)
    };
    assert_eq!(empty(&[], None), (0, false));
    assert_eq!(empty(&["none"], None), (0, false));
    assert_eq!(empty(&["_tag"], Some(START)), (0, false));
    assert_eq!(empty(&["_tag"], Some(START + 1)), (10_000, true));
    assert_eq!(empty(&["_tag"], None), (1, false));
    assert_eq!(entries(&test, &TrashRequest::default()), ["a"]);
    let all = test.cms.trash().empty(&local(), &EmptyTrashRequest::default()).unwrap();
    assert_eq!((all.removed_count, all.more), (1, false));
    assert_eq!(rows(&test, "SELECT count(*) FROM removed_id"), ["10002"]);
}

/// The content of the file of a media object, and the number of all stored files.
fn stored(test: &TestCms, id: &str) -> (Vec<u8>, usize) {
    let folder = test.path().join("media");
    (fs::read(folder.join(id)).unwrap_or_default(), fs::read_dir(folder).unwrap().count())
}

fn upload_text(test: &TestCms, id: &str, content: &[u8]) -> Result<Value, Error> {
    let request =
        UploadRequest { kind: Some("file".to_owned()), id: Some(id.to_owned()), ..image("a.txt") };
    upload(&test.cms, content, &request)
}

#[test]
fn file_is_kept_until_its_media_object_leaves_the_trash() {
    let test = TestCms::new();
    test.to_real_time(0);
    let id = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e0";
    let url = format!("/image/0x0/{id}.txt");
    let file = || media::get(&test.cms, &url).map(|(_, bytes)| bytes);
    upload_text(&test, id, b"a text").unwrap();
    let restore_media = |request| restore_as(&test, &local(), id, request);
    let delete = |id: &str| test.cms.objects().delete(&local(), "_media", id).unwrap();
    delete(id);
    assert!(matches!(file(), Err(Error::NotFound { .. })));
    assert_eq!(stored(&test, id), (b"a text".to_vec(), 1));

    // The file counts as used, however old it is.
    for _ in 0..3 {
        test.run_for(25 * 3600);
        test.cms.media().clean_up().unwrap();
    }
    let report = test.cms.check(&CheckRequest { repair: true, digests: true }).unwrap().media;
    assert_eq!((report.files, report.removed, report.waiting), (1, 0, 0));
    assert!(report.orphaned.is_empty() && report.missing.is_empty());
    assert_eq!(restore_media(json!({})).unwrap()["url"], url.as_str());
    assert_eq!(file().unwrap(), b"a text");

    // An upload under the id needs the same bytes.
    delete(id);
    let taken = json!({ "id": ["This value is already used"] });
    assert_eq!(errors(upload_text(&test, id, b"another")), taken);
    upload_text(&test, id, b"a text").unwrap();
    assert_eq!(errors(restore_media(json!({}))), taken);
    test.cms.trash().remove(&local(), &entry(&test, id)).unwrap();
    assert_eq!(file().unwrap(), b"a text", "the live object has the file");

    // An object that is restored under another id gets a copy of the file.
    delete(id);
    let new = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e1";
    assert_eq!(
        errors(restore_media(json!({ "id": "photo" }))),
        json!({ "id": ["This value is not valid."] })
    );
    let refused = restore_media(json!({ "id": new, "data": { "url": 5 } }));
    assert!(errors(refused)["url"].is_array());
    assert_eq!(stored(&test, id).1, 1);
    let restored = restore_media(json!({ "id": new })).unwrap();
    assert_eq!(restored["url"], format!("/image/0x0/{new}.txt"));
    assert_eq!(stored(&test, new), (b"a text".to_vec(), 1));
    let copy = media::get(&test.cms, restored["url"].as_str().unwrap()).unwrap();
    assert_eq!(copy.1, b"a text");
    // The address follows in data of the request, and in former versions.
    delete(new);
    let other = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e2";
    let mut data = restored;
    data["alt"] = json!("A text");
    let request = json!({ "id": other, "data": data });
    let restored = restore_as(&test, &local(), new, request).unwrap();
    let address = json!(format!("/image/0x0/{other}.txt"));
    assert_eq!(restored["url"], address);
    for version in ["1", "2"] {
        let version = test.cms.objects().version(&local(), "_media", other, version).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&version.0).unwrap()["url"], address);
    }
    delete(other);
    restore_as(&test, &local(), other, json!({ "id": new })).unwrap();

    // Removal and expiry remove the file.
    delete(new);
    test.run_for(61 * DAY);
    assert_eq!(stored(&test, new).1, 0);
    assert_eq!(rows(&test, "SELECT count(*) FROM stored_file"), ["0"]);
    upload_text(&test, id, b"another").unwrap();
    test.cms.types().purge(&local(), "_media", false).unwrap();
    assert_eq!(stored(&test, id).1, 1);
    test.cms.trash().empty(&local(), &EmptyTrashRequest::default()).unwrap();
    assert_eq!(stored(&test, id).1, 0);
}

#[test]
fn file_that_was_uploaded_again_is_kept_when_its_trash_entry_is_removed() {
    let id = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e0";
    for removal in ["remove", "empty", "expire"] {
        let test = TestCms::new();
        test.to_real_time(0);
        let object = upload_text(&test, id, b"a text").unwrap();
        test.cms.objects().delete(&local(), "_media", id).unwrap();
        test.run_for(3600);
        let request = UploadRequest { save: false, id: Some(id.to_owned()), ..image("a.txt") };
        let request = UploadRequest { kind: Some("file".to_owned()), ..request };
        upload(&test.cms, b"a text", &request).unwrap();
        match removal {
            "remove" => test.cms.trash().remove(&local(), &entry(&test, id)).unwrap(),
            "empty" => media::empty_trash(&test.cms),
            _ => test.run_for(61 * DAY),
        }
        assert_eq!(rows(&test, "SELECT count(*) FROM trash"), ["0"], "{removal}");
        assert_eq!(stored(&test, id), (b"a text".to_vec(), 1), "{removal}");
        // An import creates the object after its file.
        test.cms.objects().create(&local(), "_media", map(object)).unwrap();
        assert_eq!(test.cms.check(&CheckRequest::default()).unwrap().media.missing, [""; 0]);
    }
}

#[test]
fn backup_contains_files_of_the_trash() {
    let test = TestCms::new();
    let id = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e0";
    upload_text(&test, id, b"a text").unwrap();
    test.cms.objects().delete(&local(), "_media", id).unwrap();
    let mut archive = Vec::new();
    let backups = test.cms.backups();
    backups.write(backups.begin().unwrap(), &mut archive).unwrap();
    let name = format!("media/{id}");
    assert!(archive.windows(name.len()).any(|part| part == name.as_bytes()));
}

#[test]
fn working_copies_stay_until_the_entry_is_removed() {
    let test = with_articles(&json!({}));
    // SQL must not change a replica.
    if test.is_node() {
        return;
    }
    for id in ["a", "b"] {
        create(&test, json!({ "id": id, "title": id }));
    }
    key(&test, "web", KeyKind::ReadWrite);
    let database = database(&test);
    let copies = "INSERT INTO working_copy (actor, ctd, object, title, saved_at, data)
                  SELECT (SELECT max(pk) FROM actor), ctd, pk, title, 0, '{}' FROM object
                  WHERE title <> ''";
    assert_eq!(database.execute(copies, []).unwrap(), 2);
    delete(&test, "a");
    delete(&test, "b");
    restore(&test, "a").unwrap();
    let left = "SELECT title FROM working_copy ORDER BY title";
    assert_eq!(rows(&test, left), ["a", "b"]);
    test.cms.trash().empty(&local(), &EmptyTrashRequest::default()).unwrap();
    assert_eq!(rows(&test, left), ["a"]);
}
