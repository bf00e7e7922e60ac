//! Conditional and idempotent requests.

use std::thread;

use cms_core::{
    Caller, Error, RenderedObjects, Visibility,
    testing::TestCms,
    wire::{
        batch::BatchElements,
        condition::{EntityTag, IdempotencyKey, IfMatch, WriteGuards},
        key::KeyKind,
        object::ObjectRequest,
        publish::PublishAction,
    },
};
use serde_json::{Value, json};

use crate::support::{
    add_property, article, article_with, create_object, key, link, map, publish, rows, with_type,
};

const WRITERS: usize = 8;

fn with_types() -> (TestCms, Caller) {
    let (test, local) = (with_type(article()), Caller::local());
    let page = article_with(json!({ "name": "page", "draftPublic": true }));
    test.cms.types().create(&local, page).unwrap();
    let news = article_with(json!({ "name": "news", "workflowId": "publishing" }));
    test.cms.types().create(&local, news).unwrap();
    for name in ["article", "page", "news"] {
        create_object(&test.cms, name, json!({ "id": "a", "title": "A" }));
    }
    (test, local)
}

/// A caller with a separate key.
fn writer(test: &TestCms, name: &str) -> Caller {
    key(test, name, KeyKind::ReadWrite).1
}

fn with_if_match(caller: &Caller, tag: EntityTag) -> Caller {
    let if_match = IfMatch::parse(&format!("\"{tag}\""));
    Caller { write_guards: WriteGuards::new(Some(if_match), None), ..caller.clone() }
}

/// A caller whose requests have an idempotency key.
fn once(caller: &Caller, key: &str, request: &Value) -> Caller {
    let key = IdempotencyKey::new(key, &[request.to_string().as_bytes()]).unwrap();
    Caller { write_guards: WriteGuards::new(None, Some(key)), ..caller.clone() }
}

fn tag(test: &TestCms, caller: &Caller, name: &str, hydrate: u8) -> EntityTag {
    let request = ObjectRequest { hydrate, fields: Vec::new() };
    test.cms.objects().render(caller, name, "a", &request).unwrap().tag
}

/// Different responses have different `ETags`, also within one second.
#[test]
fn etag_changes_with_every_visible_change() {
    let (test, local) = with_types();
    let objects = test.cms.objects();
    let mut seen: Vec<(String, Vec<u8>)> = Vec::new();
    let mut check_etag = |name: &str| {
        for hydrate in 0..=2 {
            let request = ObjectRequest { hydrate, fields: Vec::new() };
            let RenderedObjects { json, tag, .. } =
                objects.render(&local, name, "a", &request).unwrap();
            let again = objects.render(&local, name, "a", &request).unwrap();
            assert_eq!((again.json, again.tag), (json.clone(), tag));
            seen.push((tag.to_string(), json.0));
        }
    };
    let act =
        |action| test.cms.publishing().set_status(&local, "page", "a", action, false).unwrap();
    check_etag("page");
    act(PublishAction::Publish);
    check_etag("page");
    objects.patch(&local, "page", "a", map(json!({ "rank": 1 }))).unwrap();
    check_etag("page");
    act(PublishAction::Archive);
    check_etag("page");
    check_etag("news");
    let go = map(json!({ "action": "_draft_review" }));
    test.cms.workflows().run_transition(&local, "news", "a", go).unwrap();
    check_etag("news");
    // An object that is hydrated in another one.
    let related = map(json!({ "related": [link("article", "a")] }));
    objects.patch(&local, "news", "a", related).unwrap();
    check_etag("news");
    objects.patch(&local, "article", "a", map(json!({ "rank": 2 }))).unwrap();
    check_etag("news");
    // A conversion of stored values changes neither version nor date.
    let mut changed = article();
    add_property(&mut changed, "rank", json!({ "type": "string" }), "text");
    changed["metaDefinition"]["order"].as_array_mut().unwrap().pop();
    check_etag("article");
    test.cms.types().update(&local, "article", changed).unwrap();
    check_etag("article");
    // The ETag of a hydrated response is longer, also without any link.
    for (index, (tag, json)) in seen.iter().enumerate() {
        for (other, text) in &seen[..index] {
            let is_same = json == text && tag.len() == other.len();
            assert_eq!(tag == other, is_same, "{index}: {tag} {other}");
        }
    }
}

/// Of many writers that read the same state, one changes it.
#[test]
fn conditional_write_succeeds_for_one_of_many_writers() {
    let (test, local) = with_types();
    for round in 0..5 {
        let seen = with_if_match(&local, tag(&test, &local, "article", round % 2));
        let won: Vec<usize> = thread::scope(|scope| {
            let threads: Vec<_> = (0..WRITERS)
                .map(|thread| {
                    let (cms, seen) = (&test.cms, &seen);
                    let write = move || {
                        let payload = map(json!({ "title": format!("{round} {thread}") }));
                        if thread % 2 == 0 {
                            cms.objects().patch(seen, "article", "a", payload)
                        } else {
                            cms.objects().replace(seen, "article", "a", payload)
                        }
                    };
                    (thread, scope.spawn(write))
                })
                .collect();
            let results = threads.into_iter().map(|(n, thread)| (n, thread.join().unwrap()));
            results
                .filter_map(|(thread, result)| match result {
                    Ok(_) => Some(thread),
                    Err(Error::PreconditionFailed) => None,
                    Err(error) => panic!("{error:?}"),
                })
                .collect()
        });
        assert_eq!(won.len(), 1, "round {round}");
        let now = test.cms.objects().get(&local, "article", "a", 0).unwrap().to_value();
        assert_eq!(now["title"], format!("{round} {}", won[0]));
        assert_eq!(now["internal"]["latestVersion"], round + 2);
    }
}

/// Every kind of change of one object checks the condition first.
#[test]
fn stale_etag_refuses_every_kind_of_change() {
    let (test, local) = with_types();
    let stale = with_if_match(&local, EntityTag::of(b"something else"));
    let (objects, publishing) = (test.cms.objects(), test.cms.publishing());
    let before = rows(&test, "SELECT max(seq) FROM journal");
    let payload = || map(json!({ "title": "B" }));
    let schedule = map(json!({ "scheduledAt": "2030-01-01T00:00", "timeZone": "UTC" }));
    let go = map(json!({ "action": "_draft_review" }));
    let results = [
        objects.replace(&stale, "article", "a", payload()).map(drop),
        objects.patch(&stale, "article", "a", payload()).map(drop),
        // The condition is checked before the payload.
        objects.patch(&stale, "article", "a", map(json!({ "title": 1 }))).map(drop),
        objects.delete(&stale, "article", "a"),
        publishing.set_status(&stale, "page", "a", PublishAction::Publish, false),
        publishing.schedule(&stale, "page", "a", schedule).map(drop),
        publishing.unschedule(&stale, "page", "a"),
        test.cms.workflows().run_transition(&stale, "news", "a", go).map(drop),
    ];
    for (index, result) in results.into_iter().enumerate() {
        assert!(matches!(result, Err(Error::PreconditionFailed)), "{index}: {result:?}");
    }
    assert_eq!(rows(&test, "SELECT max(seq) FROM journal"), before);
    // A missing object is reported as missing.
    let missing = objects.delete(&stale, "article", "gone");
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
}

/// The `ETag` of a published version does not permit to overwrite a newer edit.
#[test]
fn condition_applies_to_the_current_version() {
    let (test, local) = with_types();
    let public = Visibility { preview: false, public_only: true };
    let reader = local.clone().with_visibility(public);
    publish(&test.cms, "page", "a");
    let published = tag(&test, &reader, "page", 0);
    assert_eq!(published, tag(&test, &local, "page", 0));
    let patch = |caller: &Caller| {
        test.cms.objects().patch(caller, "page", "a", map(json!({ "rank": 1 }))).map(drop)
    };
    patch(&with_if_match(&reader, published)).unwrap();
    assert_eq!(tag(&test, &reader, "page", 0), published, "readers see what was published");
    assert!(matches!(patch(&with_if_match(&reader, published)), Err(Error::PreconditionFailed)));
    patch(&with_if_match(&reader, tag(&test, &local, "page", 0))).unwrap();
}

/// A request that is sent several times concurrently is executed once.
#[test]
fn repeated_request_gets_the_first_response() {
    let (test, _) = with_types();
    let writer = writer(&test, "writer");
    let new = json!({ "title": "New" });
    let responses: Vec<Value> = thread::scope(|scope| {
        let threads: Vec<_> = (0..WRITERS)
            .map(|_| {
                let (cms, caller, new) = (&test.cms, once(&writer, "k", &new), new.clone());
                scope.spawn(move || {
                    cms.objects().create(&caller, "article", map(new)).unwrap().to_value()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(responses.iter().all(|response| *response == responses[0]), "{responses:?}");
    let count = "SELECT count(*) FROM object WHERE title = 'New'";
    assert_eq!(rows(&test, count), ["1"]);

    // The first response, also after the object changed.
    let id = responses[0]["id"].as_str().unwrap();
    test.cms.objects().delete(&writer, "article", id).unwrap();
    let again = test.cms.objects().create(&once(&writer, "k", &new), "article", map(new.clone()));
    assert_eq!(again.unwrap().to_value(), responses[0]);
    assert_eq!(rows(&test, count), ["0"]);
}

/// An idempotency key belongs to one caller and one request, for one day.
#[test]
fn idempotency_key_belongs_to_one_request_of_one_caller() {
    let (test, _) = with_types();
    let (first, second) = (writer(&test, "first"), writer(&test, "second"));
    let objects = test.cms.objects();
    let create = |caller: &Caller, new: &Value| {
        objects.create(&once(caller, "k", new), "article", map(new.clone())).map(|o| o.to_value())
    };
    // A refused request stores no key.
    create(&first, &json!({ "title": 1 })).unwrap_err();
    let created = create(&first, &json!({ "title": "One" })).unwrap();
    let other = create(&first, &json!({ "title": "Two" }));
    assert!(matches!(other, Err(Error::IdempotencyKeyReused)), "{other:?}");
    assert_ne!(create(&second, &json!({ "title": "Two" })).unwrap()["id"], created["id"]);
    let kept = || rows(&test, "SELECT count(*) FROM idempotency");
    test.cms.clean_up().unwrap();
    assert_eq!(kept(), ["2"]);
    test.run_for(24 * 3600);
    test.clock.advance(1);
    // An expired key has no effect; the clean-up removes it later.
    let later = create(&first, &json!({ "title": "Three" })).unwrap();
    assert_ne!(later["id"], created["id"]);
    assert_eq!(kept(), ["2"]);
    test.cms.clean_up().unwrap();
    assert_eq!(kept(), ["1"]);
}

/// Batches and copies are idempotent, too, including their errors.
#[test]
fn batches_and_copies_are_idempotent() {
    let (test, _) = with_types();
    let caller = once(&writer(&test, "writer"), "batch", &json!("batch"));
    let elements = [json!({ "id": "b", "title": "B" }), json!({ "id": "c" })];
    let batch = || {
        let report = test.cms.objects().batch_create(
            &caller,
            "article",
            &BatchElements::of(&elements),
            false,
        );
        serde_json::to_value(report.unwrap()).unwrap()
    };
    let first = batch();
    assert_eq!(
        (&first["batch_success_count"], &first["batch_error_count"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(batch(), first);
    let caller = once(&caller, "copy", &json!("copy"));
    let payload = map(json!({ "relatedObjectsToDuplicate": [] }));
    let copy = || test.cms.objects().duplicate(&caller, "article", "a", &payload).unwrap();
    assert_eq!(copy(), copy());
    let articles = "SELECT count(*) FROM object JOIN ctd ON ctd.pk = object.ctd
                    WHERE name = 'article'";
    assert_eq!(rows(&test, articles), ["3"]);
}
