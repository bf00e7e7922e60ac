//! Bulk loads: indexes are dropped and built again, and no other process lists objects meanwhile.

use std::{collections::BTreeSet, fs, path::Path, sync::mpsc, thread, time::Duration};

use cms_core::{Caller, Cms, CoreConfig, testing::TestCms, wire::object::ListRequest};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{article, create_batch};

/// Enough to drop indexes in an empty data directory.
const OBJECTS: u64 = 20_000;

/// A type whose unique values are in slot 0 (title) and in slot 2 (rank and title).
fn standalone() -> TestCms {
    let test = TestCms::standalone();
    let mut definition = article();
    definition["metaDefinition"]["uniqueTogether"] = json!([["rank", "title"]]);
    test.cms.types().create(&Caller::local(), definition).unwrap();
    test
}

fn articles() -> Vec<Value> {
    (0..100)
        .map(|n| json!({ "id": format!("a{n}"), "title": format!("T {n}"), "rank": 100 - n }))
        .collect()
}

/// Loads articles, of which one repeats a title.
fn load(cms: &Cms) {
    create_batch(cms, "article", &articles());
    let repeated = create_batch(cms, "article", &[json!({ "id": "again", "title": "T 5" })]);
    assert_eq!(repeated.errors.len(), 1, "{repeated:?}");
}

fn open(path: &Path) -> Cms {
    Cms::open(CoreConfig::new(path)).unwrap()
}

/// The indexes of slots.
fn indexes(folder: &Path) -> BTreeSet<String> {
    let database = Connection::open(folder.join("cms.db")).unwrap();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE '%_slot_%'";
    let mut statement = database.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Lists the articles by their rank.
#[track_caller]
fn assert_loaded(cms: &Cms) {
    let request = ListRequest { order_by: Some("rank".to_owned()), ..ListRequest::default() };
    let list = cms.objects().list(&Caller::local(), "article", &request).unwrap().to_value();
    assert_eq!((&list["total_count"], &list["data"][0]["id"]), (&json!(100), &json!("a99")));
}

#[test]
fn bulk_load_drops_and_rebuilds_all_indexes_except_those_of_unique_values() {
    let test = standalone();
    let complete = indexes(&test.path());
    let mut during = BTreeSet::new();
    test.cms
        .bulk_load(&["article"], OBJECTS, &mut || {
            during = indexes(&test.path());
            load(&test.cms);
        })
        .unwrap();
    let unique = ["object_slot_0", "object_slot_2", "published_slot_0", "published_slot_2"];
    assert_eq!(during, unique.map(str::to_owned).into());
    assert_eq!(indexes(&test.path()), complete);
    assert_loaded(&test.cms);
    assert_loaded(&open(&test.path()));
}

#[test]
fn bulk_load_keeps_all_indexes_of_a_shared_directory_and_for_few_objects() {
    let test = standalone();
    let complete = indexes(&test.path());
    let keeps_all = |objects| {
        let mut during = BTreeSet::new();
        test.cms
            .bulk_load(&["article"], objects, &mut || {
                during = indexes(&test.path());
                open(&test.path());
            })
            .unwrap();
        during == complete
    };
    let other = open(&test.path());
    assert!(keeps_all(OBJECTS), "another process uses the directory");
    drop(other);
    assert!(keeps_all(OBJECTS - 1), "few objects");
}

#[test]
fn data_directory_is_opened_after_a_bulk_load() {
    let test = standalone();
    let (opened, is_open) = mpsc::channel();
    thread::scope(|scope| {
        test.cms
            .bulk_load(&["article"], OBJECTS, &mut || {
                let (opened, path) = (opened.clone(), test.path());
                scope.spawn(move || opened.send(open(&path)).unwrap());
                load(&test.cms);
                is_open.recv_timeout(Duration::from_millis(200)).map(drop).unwrap_err();
            })
            .unwrap();
        assert_loaded(&is_open.recv().unwrap());
    });
}

#[test]
fn interrupted_bulk_load_is_completed_when_the_directory_is_opened() {
    let test = standalone();
    let complete = indexes(&test.path());
    let crashed = TempDir::new().unwrap();
    test.cms
        .bulk_load(&["article"], OBJECTS, &mut || {
            load(&test.cms);
            for name in ["cms.db", "cms.db-wal"] {
                fs::copy(test.path().join(name), crashed.path().join(name)).unwrap();
            }
        })
        .unwrap();
    assert_ne!(indexes(crashed.path()), complete);
    assert_loaded(&open(crashed.path()));
    assert_eq!(indexes(crashed.path()), complete);
}
