//! Two handles on one data directory, as in two processes: each sees the changes of the other.

use std::{
    sync::{Arc, OnceLock},
    thread,
};

use cms_core::{
    ActorKind, Caller, Cms, CoreConfig, Error,
    ids::{CountingIds, ID_PATTERN, IdSource},
    testing::TestCms,
    wire::{key::KeyKind, object::ListRequest},
};
use serde_json::{Value, json};

use crate::support::{add_property, article, create_batch, map, remove_property};

fn two() -> (TestCms, Cms) {
    let one = TestCms::standalone();
    let other = Cms::open(CoreConfig::new(one.path())).unwrap();
    (one, other)
}

fn total(cms: &Cms, filters: Option<&str>) -> Value {
    let request = ListRequest { filters: filters.map(str::to_owned), ..ListRequest::default() };
    let list = cms.objects().list(&Caller::local(), "article", &request).unwrap();
    list.to_value()["total_count"].clone()
}

#[test]
fn type_changes_are_visible_to_both_handles() {
    let (one, other) = two();
    let local = Caller::local();
    let create = |cms: &Cms, object| cms.objects().create(&local, "article", map(object));
    assert!(matches!(create(&other, json!({ "title": "A" })), Err(Error::NotFound { .. })));
    one.cms.types().create(&local, article()).unwrap();
    create(&other, json!({ "id": "a", "title": "A" })).unwrap();
    assert!(matches!(
        create(&one.cms, json!({ "title": "B", "color": "red" })),
        Err(Error::Invalid(_))
    ));
    let mut wider = article();
    add_property(&mut wider, "color", json!({ "type": "string" }), "text");
    other.types().update(&local, "article", wider).unwrap();
    create(&one.cms, json!({ "id": "b", "title": "B", "color": "red" })).unwrap();
    one.cms.types().purge(&local, "article", true).unwrap();
    assert!(matches!(create(&other, json!({ "title": "C" })), Err(Error::NotFound { .. })));
    // A new type of the same name is another type.
    one.cms.types().create(&local, article()).unwrap();
    assert!(matches!(
        create(&other, json!({ "title": "C", "color": "red" })),
        Err(Error::Invalid(_))
    ));
    assert_eq!(total(&other, None), 0);
}

/// Counts are cached; a write of the other handle invalidates them.
#[test]
fn counts_are_updated_for_both_handles() {
    let (one, other) = two();
    let local = Caller::local();
    one.cms.types().create(&local, article()).unwrap();
    let low = Some(r#"{"rank":{"type":"lessThan","filter":5}}"#);
    for number in 0..4 {
        assert_eq!((total(&one.cms, low), total(&other, low)), (json!(number), json!(number)));
        let writer = if number % 2 == 0 { &other } else { &*one.cms };
        let new =
            json!({ "id": format!("a-{number}"), "title": format!("A {number}"), "rank": number });
        writer.objects().create(&local, "article", map(new)).unwrap();
    }
    other.objects().patch(&local, "article", "a-0", map(json!({ "rank": 9 }))).unwrap();
    one.cms.objects().delete(&local, "article", "a-1").unwrap();
    for cms in [&*one.cms, &other] {
        assert_eq!((total(cms, low), total(cms, None)), (json!(2), json!(3)));
    }
}

#[test]
fn key_changes_are_visible_to_both_handles() {
    let (one, other) = two();
    let local = Caller::local();
    let web = one.create_key("web", KeyKind::ReadOnly, &[]);
    let kind = |cms: &Cms| cms.caller_of_key(&web.key).map(|caller| caller.actor().kind.clone());
    assert_eq!(
        (kind(&one.cms).unwrap(), kind(&other).unwrap()),
        (ActorKind::Key(KeyKind::ReadOnly), ActorKind::Key(KeyKind::ReadOnly))
    );
    other.keys().revoke(&local, &web.item.id).unwrap();
    for cms in [&*one.cms, &other] {
        assert!(matches!(kind(cms), Err(Error::Unauthenticated)));
    }
}

/// A generator of ids that changes the type whenever it generates one.
#[derive(Default)]
struct TypeChangingIds {
    other: OnceLock<Cms>,
    ids: CountingIds,
}

impl IdSource for TypeChangingIds {
    fn uuid(&self) -> String {
        if let Some(other) = self.other.get() {
            let mut narrower = article();
            remove_property(&mut narrower, "rank");
            other.types().update(&Caller::local(), "article", narrower).unwrap();
        }
        self.ids.uuid()
    }

    fn token(&self) -> String {
        self.ids.token()
    }

    fn secret(&self) -> [u8; 32] {
        self.ids.secret()
    }
}

/// Objects that were validated against a type that changed meanwhile are validated again.
#[test]
fn type_change_during_a_batch_is_checked_again() {
    let ids = Arc::new(TypeChangingIds::default());
    let one = TestCms::with(|config| {
        config.ids = Arc::clone(&ids) as _;
        config.cluster = None;
    });
    let local = Caller::local();
    one.cms.types().create(&local, article()).unwrap();
    ids.other.set(Cms::open(CoreConfig::new(one.path())).unwrap()).ok().unwrap();
    let elements = vec![
        json!({ "id": "a/b", "title": "Slash" }),
        json!({ "id": 5, "title": "Number" }),
        json!({ "id": "ranked", "title": "Ranked", "rank": 1 }),
        json!({ "title": "Without an id" }),
    ];
    let report = create_batch(&one.cms, "article", &elements);
    let errors: Vec<Value> = report.errors.iter().map(|error| json!(error.errors)).collect();
    let pattern = format!("Does not match the regex pattern {ID_PATTERN}");
    let undeclared =
        "The property rank is not defined and the definition does not allow additional properties";
    assert_eq!(
        errors,
        [
            json!({ "id": [pattern] }),
            json!({ "id": ["Integer value found, but a string is required"] }),
            json!({ "rank": [undeclared] }),
        ]
    );
    assert_eq!((report.batch_success_count, total(&one.cms, None)), (1, json!(1)));
}

#[test]
fn handles_write_concurrently() {
    let (one, other) = two();
    let local = Caller::local();
    one.cms.types().create(&local, article()).unwrap();
    thread::scope(|scope| {
        for writer in 0..4 {
            let (cms, local) = (if writer % 2 == 0 { &other } else { &*one.cms }, &local);
            scope.spawn(move || {
                for number in 0..25 {
                    let title = format!("{writer} {number}");
                    cms.objects().create(local, "article", map(json!({ "title": title }))).unwrap();
                }
            });
        }
    });
    assert_eq!((total(&one.cms, None), total(&other, None)), (json!(100), json!(100)));
}
