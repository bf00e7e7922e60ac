//! Concurrent writers share commits, but not their outcomes.

use std::thread;

use cms_core::{
    Caller, Edit, Error, FieldErrors,
    limits::{FAST_PATTERN_STEPS, PATTERN_STEPS_PER_WRITE},
    testing::TestCms,
    wire::{batch::BatchElements, object::ListRequest},
};
use serde_json::{Value, json};

use crate::support::{article, link, map, rows, with_type};

const THREADS: usize = 16;
/// Writes of each thread.
const WRITES: usize = 20;

/// Every fifth patch is refused among others; each writer gets the outcome of its own write.
#[test]
fn refused_write_does_not_affect_others() {
    let (test, local) = (with_type(article()), Caller::local());
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (cms, local) = (&test.cms, &local);
            scope.spawn(move || {
                for number in 0..WRITES {
                    let id = format!("{thread}-{number}");
                    let target = if number % 5 == 4 { "gone" } else { &id };
                    let new = json!({ "id": id, "title": id, "rank": number });
                    let created = cms.objects().create(local, "article", map(new));
                    assert_eq!(created.unwrap().to_value()["id"], id);
                    let related = map(json!({ "related": [link("article", target)] }));
                    let patched = cms.objects().patch(local, "article", &id, related);
                    if target == "gone" {
                        let refusal =
                            FieldErrors::one("related", "This value does not exist in database");
                        assert!(matches!(patched, Err(Error::Invalid(found)) if found == refusal));
                    } else {
                        assert_eq!(patched.unwrap().to_value()["internal"]["latestVersion"], 2);
                    }
                }
            });
        }
    });
    let all = THREADS * WRITES;
    let (patched, refused) = (all / 5 * 4, all / 5);
    let versions = rows(&test, "SELECT version, count(*) FROM object GROUP BY version");
    assert_eq!(versions, [format!("1 {refused}"), format!("2 {patched}")]);
    assert_eq!(rows(&test, "SELECT count(*) FROM object_version"), [patched.to_string()]);
    assert_eq!(rows(&test, "SELECT count(*) FROM link"), [patched.to_string()]);
    let kinds = "SELECT kind, count(*) FROM journal WHERE object IS NOT NULL GROUP BY kind";
    let expected = [format!("object.create {all}"), format!("object.update {patched}")];
    assert_eq!(rows(&test, kinds), expected);
}

/// One writer gets the value, and every other one a validation error.
#[test]
fn concurrent_writers_cannot_share_a_unique_value() {
    let (test, local) = (with_type(article()), Caller::local());
    let winners: Vec<Vec<usize>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let (cms, local) = (&test.cms, &local);
                scope.spawn(move || {
                    let wins = |number: &usize| {
                        // Even numbers conflict by id, odd ones by a unique value.
                        let (mine, same) = (format!("{thread} {number}"), format!("{number}"));
                        let by_id = number.is_multiple_of(2);
                        let (id, title) = if by_id { (same, mine) } else { (mine, same) };
                        let new = map(json!({ "id": id, "title": title, "rank": thread }));
                        match cms.objects().create(local, "article", new) {
                            Ok(_) => true,
                            Err(Error::Invalid(_)) => false,
                            Err(error) => panic!("{error:?}"),
                        }
                    };
                    (0..WRITES).filter(wins).collect()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut won: Vec<usize> = winners.iter().flatten().copied().collect();
    won.sort_unstable();
    assert_eq!(won, (0..WRITES).collect::<Vec<_>>());
    // The objects of the successful writers are stored.
    for (thread, numbers) in winners.iter().enumerate() {
        let filters = json!({ "rank": { "type": "equals", "filter": thread } }).to_string();
        let request = ListRequest { filters: Some(filters), ..ListRequest::default() };
        let list = test.cms.objects().list(&local, "article", &request).unwrap();
        assert_eq!(list.to_value()["total_count"], numbers.len());
    }
}

/// Concurrent patches of one object: none is lost.
#[test]
fn patches_of_one_object_are_serialized() {
    let (test, local) = (with_type(article()), Caller::local());
    test.cms.objects().create(&local, "article", map(json!({ "id": "a", "title": "A" }))).unwrap();
    let mut versions: Vec<Value> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let (cms, local) = (&test.cms, &local);
                scope.spawn(move || {
                    let patch = |rank| {
                        let patch = map(json!({ "rank": thread * 100 + rank }));
                        let patched = cms.objects().patch(local, "article", "a", patch).unwrap();
                        let patched = patched.to_value();
                        assert_eq!(patched["rank"], thread * 100 + rank);
                        patched["internal"]["latestVersion"].clone()
                    };
                    (0..WRITES).map(patch).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    versions.sort_by_key(Value::as_u64);
    assert_eq!(versions, (2..=8 * WRITES + 1).map(|n| json!(n)).collect::<Vec<_>>());
    assert_eq!(rows(&test, "SELECT count(*) FROM object_version"), [(8 * WRITES).to_string()]);
}

/// Articles whose titles have to match a pattern.
fn with_pattern(pattern: &str) -> (TestCms, Caller) {
    let (test, local) = (TestCms::new(), Caller::local());
    let mut definition = Value::Object(article());
    definition["schemaDefinition"]["allOf"][1]["properties"]["title"]["pattern"] = json!(pattern);
    definition["metaDefinition"]["propertiesConfig"]["title"]["unique"] = json!(false);
    test.cms.types().create(&local, map(definition)).unwrap();
    (test, local)
}

/// Matching these texts takes more steps than a write may take.
#[test]
fn patterns_are_matched_before_the_write_is_queued() {
    let (test, local) = with_pattern("^(?=.*b)(?=.*c)(?=.*d)(?=.*[^a]).*$");
    let steps_of_each_part = usize::try_from(PATTERN_STEPS_PER_WRITE).unwrap() / 2;
    let long = format!("{}bcd", "a".repeat(steps_of_each_part));
    let objects = test.cms.objects();

    objects.create(&local, "article", map(json!({ "id": "one", "title": long }))).unwrap();
    objects.patch(&local, "article", "one", map(json!({ "rank": 1 }))).unwrap();
    objects.replace(&local, "article", "one", map(json!({ "title": long }))).unwrap();
    let batch = |elements: &Value| BatchElements::of(elements.as_array().unwrap());
    let elements = batch(&json!([{ "id": "one", "title": long }, { "title": long }]));
    let created = objects.batch_create(&local, "article", &elements, true).unwrap();
    assert_eq!((created.batch_success_count, created.batch_error_count), (2, 0));
    let elements = batch(&json!([{ "id": "two", "title": long }, { "id": "three", "title": "b" }]));
    let created = objects.batch_create(&local, "article", &elements, false).unwrap();
    assert_eq!((created.batch_success_count, created.batch_error_count), (1, 1));
    let elements = batch(&json!([{ "id": "one", "rank": 2 }, { "id": "two", "title": long }]));
    let patched = objects.batch_patch(&local, "article", &elements).unwrap();
    assert_eq!((patched.batch_success_count, patched.batch_error_count), (2, 0));
    let related = map(json!({ "relatedObjectsToDuplicate": [] }));
    let copy = objects.duplicate(&local, "article", "one", &related).unwrap().to_value();
    assert_eq!(copy["title"], json!(long));
}

/// On a thread that serves connections, a write begins only if its validation is certain to be short.
#[test]
fn fast_write_is_refused_when_its_validation_may_take_long() {
    let (test, local) = with_pattern("^(?=.*b)(?=.*c)(?=.*d).*$");
    let (fast, objects) = (local.clone().fast_only(), test.cms.objects());
    let title = |length: usize| json!({ "id": "a", "title": format!("{}bcd", "a".repeat(length)) });
    let create = |title: Value| objects.begin_create(&fast, "article", map(title));
    let patch = |patch: Value| objects.begin_edit(&fast, "article", "a", map(patch), Edit::Patch);

    let slow = title(usize::try_from(FAST_PATTERN_STEPS).unwrap());
    assert!(matches!(create(slow.clone()), Err(Error::WouldBlock)));
    create(title(100)).unwrap().wait().unwrap();
    patch(json!({ "rank": 1 })).unwrap().wait().unwrap();
    assert!(matches!(patch(slow.clone()), Err(Error::WouldBlock)));
    objects.replace(&local, "article", "a", map(slow)).unwrap();
    assert!(matches!(patch(json!({ "rank": 2 })), Err(Error::WouldBlock)), "the object is large");
    let versions = rows(&test, "SELECT version FROM object");
    assert_eq!(versions, ["3"]);
}
