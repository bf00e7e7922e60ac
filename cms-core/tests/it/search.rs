//! Consistency of the search index with the database.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use cms_core::{
    Caller, Cms, CoreConfig, Error, Visibility,
    testing::TestCms,
    wire::{
        publish::PublishAction as Action,
        search::{ReindexState, SearchRequest},
    },
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{add_property, article, article_with, create_object, map};

/// All hits of an empty search: id and object.
fn found(cms: &Cms, preview: bool) -> BTreeMap<String, String> {
    let visibility = Visibility { preview, ..Visibility::default() };
    let caller = Caller::local().with_visibility(visibility);
    let mut request = SearchRequest { q: Some(String::new()), ..SearchRequest::default() };
    request.content_types = Some(vec!["article".to_owned(), "page".to_owned()]);
    request.page.limit = 1000;
    let response = cms.search().search(&caller, &request).unwrap().to_value();
    assert_eq!(response["summary"], json!({ "aggregations": [] }), "the index is up to date");
    let hits = response["data"].as_array().unwrap();
    assert_eq!(response["total_count"], hits.len(), "no hit without an object");
    let entry = |hit: &Value| {
        let item = &hit["item"];
        let name = item["internal"]["contentType"].as_str().unwrap();
        let id = item["id"].as_str().unwrap();
        (format!("{name}/{id}"), item["object_data"].as_str().unwrap().to_owned())
    };
    hits.iter().map(entry).collect()
}

/// The response of an empty search whose index does not include all writes.
fn incomplete(cms: &Cms) -> Value {
    let request = SearchRequest { q: Some("*".to_owned()), ..SearchRequest::default() };
    let response = cms.search().search(&Caller::local(), &request).unwrap().to_value();
    assert_eq!(response["summary"], json!({ "aggregations": [], "incomplete_results": true }));
    response
}

/// The same objects, read by lists.
fn stored(cms: &Cms, preview: bool) -> BTreeMap<String, String> {
    let visibility = Visibility { preview, ..Visibility::default() };
    let caller = Caller::local().with_visibility(visibility);
    let mut request = cms_core::wire::object::ListRequest::default();
    request.page.limit = 1000;
    let mut all = BTreeMap::new();
    for name in ["article", "page"] {
        let Ok(list) = cms.objects().list(&caller, name, &request) else { continue };
        for object in list.to_value()["data"].as_array().unwrap() {
            all.insert(format!("{name}/{}", object["id"].as_str().unwrap()), object.to_string());
        }
    }
    all
}

#[track_caller]
fn assert_same(cms: &Cms) {
    for preview in [false, true] {
        assert_eq!(found(cms, preview), stored(cms, preview), "preview: {preview}");
    }
}

fn create(cms: &Cms, name: &str, id: &str) {
    create_object(cms, name, json!({ "id": id, "title": format!("Title of {id}") }));
}

fn page() -> serde_json::Map<String, Value> {
    article_with(json!({ "name": "page", "label": "Page", "draftPublic": true }))
}

fn with_types() -> TestCms {
    add_types(TestCms::new())
}

fn add_types(test: TestCms) -> TestCms {
    test.cms.types().create(&Caller::local(), article()).unwrap();
    test.cms.types().create(&Caller::local(), page()).unwrap();
    test
}

/// A closed data directory with an index of twenty articles.
fn indexed() -> TempDir {
    let test = add_types(TestCms::standalone());
    for n in 0..20 {
        create(&test.cms, "article", &format!("a{n}"));
    }
    assert_same(&test.cms);
    test.into_folder()
}

/// The number of the index generation that searches use.
fn current(path: &Path) -> String {
    fs::read_to_string(path.join("index/current")).unwrap().trim().to_owned()
}

fn reopened(path: &Path) -> Cms {
    Cms::open(CoreConfig::new(path)).unwrap()
}

#[test]
fn search_finds_every_earlier_write() {
    let test = with_types();
    let (cms, caller) = (&test.cms, Caller::local());
    assert_same(cms);
    for n in 0..30 {
        create(cms, "article", &format!("a{n}"));
        assert_same(cms);
    }
    let change = map(json!({ "title": "Another title" }));
    cms.objects().patch(&caller, "article", "a3", change).unwrap();
    assert_same(cms);
    cms.objects().delete(&caller, "article", "a4").unwrap();
    assert_same(cms);
    create(cms, "article", "a4");
    assert_same(cms);
    assert_eq!(found(cms, false).len(), 30);
}

#[test]
fn both_views_follow_publishing() {
    let test = with_types();
    let (cms, caller) = (&test.cms, Caller::local());
    let act = |action| {
        cms.publishing().set_status(&caller, "page", "p", action, false).unwrap();
        assert_same(cms);
    };
    create(cms, "page", "p");
    assert_same(cms);
    act(Action::Publish);
    let change = map(json!({ "title": "Another title" }));
    cms.objects().patch(&caller, "page", "p", change).unwrap();
    assert_same(cms);
    assert_ne!(found(cms, false), found(cms, true));
    act(Action::Publish);
    act(Action::Archive);
    assert!(found(cms, false).is_empty());
    act(Action::Publish);
    act(Action::Unpublish);
}

#[test]
fn type_changes_update_indexed_objects() {
    let test = with_types();
    let (cms, caller) = (&test.cms, Caller::local());
    for n in 0..700 {
        create(cms, "page", &format!("p{n}"));
    }
    assert_same(cms);
    let mut changed = page();
    changed["draftPublic"] = json!(false);
    add_property(&mut changed, "subtitle", json!({ "type": "string" }), "text");
    cms.types().update(&caller, "page", changed).unwrap();
    assert_same(cms);
    assert_eq!(found(cms, false).len(), 700);
    cms.types().purge(&caller, "page", false).unwrap();
    assert_same(cms);
    create(cms, "page", "again");
    assert_same(cms);
    cms.objects().delete(&caller, "page", "again").unwrap();
    cms.types().delete(&caller, "page").unwrap();
    cms.types().create(&caller, page()).unwrap();
    create(cms, "page", "again");
    assert_same(cms);
}

#[test]
fn index_is_reused_unless_the_database_is_older() {
    let folder = indexed();
    let path = folder.path().join("data");
    fs::copy(path.join("cms.db"), path.join("older.db")).unwrap();
    let cms = reopened(&path);
    for n in 20..30 {
        create(&cms, "article", &format!("a{n}"));
    }
    cms.objects().delete(&Caller::local(), "article", "a0").unwrap();
    assert_same(&cms);
    let generation = || current(&path);
    assert_eq!(generation(), "1", "the index was not rebuilt");
    drop(cms);
    // The older state is restored and gets as many rows as before, but other ones.
    fs::rename(path.join("older.db"), path.join("cms.db")).unwrap();
    let cms = reopened(&path);
    for n in 0..11 {
        create(&cms, "article", &format!("other{n}"));
    }
    assert_same(&cms);
    assert_eq!(found(&cms, true).len(), 31);
    assert_eq!(generation(), "2");
}

#[test]
fn damaged_index_is_rebuilt() {
    let folder = indexed();
    let path = folder.path().join("data");
    fs::write(path.join("index/1/meta.json"), "{").unwrap();
    assert_same(&reopened(&path));
    // Some damage is detected by a search only.
    for kind in [".pos", ".fast", ".term", ".idx", ".fieldnorm", ".store"] {
        for entry in fs::read_dir(path.join("index").join(current(&path))).unwrap() {
            let file = entry.unwrap().path();
            if file.to_str().unwrap().ends_with(kind) {
                fs::remove_file(file).unwrap();
            }
        }
        assert_same(&reopened(&path));
        let cms = reopened(&path);
        let request =
            SearchRequest { q: Some("\"title of\"".to_owned()), ..SearchRequest::default() };
        let found = cms.search().search(&Caller::local(), &request).unwrap().to_value();
        assert_eq!(found["total_count"], 20, "without {kind}");
    }
    fs::remove_dir_all(path.join("index")).unwrap();
    assert_same(&reopened(&path));
}

#[test]
fn processes_find_each_others_writes() {
    let test = with_types();
    // A replica cannot be opened twice.
    if test.is_node() {
        return;
    }
    let other = reopened(&test.path());
    for n in 0..5 {
        create(&test.cms, "article", &format!("a{n}"));
        create(&other, "article", &format!("b{n}"));
        // The one that searches first writes the index; the other waits for it.
        assert_same(&test.cms);
        assert_same(&other);
    }
}

#[test]
fn index_is_rebuilt_on_demand() {
    let test = with_types();
    let (cms, caller) = (&test.cms, Caller::local());
    for n in 0..600 {
        create(cms, "article", &format!("a{n}"));
    }
    assert_same(cms);
    for (payload, total) in
        [(json!({}), 600), (json!({ "contentTypes": ["article", "page", "article"] }), 600)]
    {
        let job = cms.search().reindex(&caller, &map(payload)).unwrap();
        assert_eq!(cms.search().job(&caller, &job.id).unwrap().state, ReindexState::Waiting);
        while cms.search().index_batch().unwrap() {
            assert_same(cms);
        }
        let job = cms.search().job(&caller, &job.id).unwrap();
        assert_eq!((job.state, job.done, job.total), (ReindexState::Done, total, total));
    }
    assert_eq!(current(&test.path()), "2");
    assert_same(cms);
    let unknown = map(json!({ "contentTypes": ["nothing"] }));
    cms.search().reindex(&caller, &unknown).unwrap_err();
    for id in ["0", "1", "x", "9999999", "1-99999999999"] {
        cms.search().job(&caller, id).unwrap_err();
    }
}

/// The search reads the row that requests the rebuild.
#[test]
fn search_during_a_rebuild_keeps_the_new_index() {
    let test = with_types();
    let (cms, caller) = (&test.cms, Caller::local());
    create(cms, "article", "a");
    assert_same(cms);
    let job = cms.search().reindex(&caller, &map(json!({}))).unwrap();
    assert_same(cms);
    assert_eq!(cms.search().job(&caller, &job.id).unwrap().state, ReindexState::Running);
    while cms.search().index_batch().unwrap() {}
    assert_eq!(cms.search().job(&caller, &job.id).unwrap().state, ReindexState::Done);
    assert_eq!(current(&test.path()), "2");
}

#[test]
fn journal_rows_are_removed_when_unused() {
    let test = with_types();
    // A replica cannot be opened without its cluster.
    if test.is_node() {
        return;
    }
    let rows = || crate::support::rows(&test, "SELECT count(*) FROM journal")[0].clone();
    for n in 0..5 {
        create(&test.cms, "article", &format!("a{n}"));
    }
    let before = rows();
    test.run_for(366 * 86_400);
    assert_eq!(rows(), before, "the rows are not indexed yet");
    assert_same(&test.cms);
    test.cms.clean_up().unwrap();
    assert_eq!(rows(), "1", "the row up to which the index came");
    let folder = test.into_folder();
    let path = folder.path().join("data");
    assert_same(&reopened(&path));
    assert_eq!(current(&path), "1");
}

/// Otherwise a search, or a read of the indexer, would take longer than it may.
#[test]
fn indexing_step_ends_after_some_megabytes() {
    const OBJECTS: u64 = 60;
    let test = add_types(TestCms::with(|config| config.search_wait = Duration::from_millis(1)));
    let text = "many words ".repeat(20_000);
    for number in 0..OBJECTS {
        let object = json!({ "id": number.to_string(), "title": format!("{number} {text}") });
        create_object(&test.cms, "page", object);
    }
    let mut counts = Vec::new();
    while counts.last() != Some(&OBJECTS) {
        let request = SearchRequest { q: Some("words".to_owned()), ..SearchRequest::default() };
        let caller =
            Caller::local().with_visibility(Visibility { preview: true, ..Visibility::default() });
        let found = test.cms.search().search(&caller, &request).unwrap().to_value();
        counts.push(found["total_count"].as_u64().unwrap());
    }
    assert!(counts.iter().any(|count| (1..OBJECTS).contains(count)), "{counts:?}");
    test.cms.search().reindex(&Caller::local(), &map(json!({ "contentTypes": ["page"] }))).unwrap();
    while test.cms.search().index_batch().unwrap() {}
    assert_same(&test.cms);
}

#[test]
fn search_stops_waiting_for_a_locked_index() {
    let test = TestCms::with(|config| config.search_wait = Duration::ZERO);
    test.cms.types().create(&Caller::local(), article()).unwrap();
    create(&test.cms, "article", "a");
    while test.cms.search().index_batch().unwrap() {}
    create(&test.cms, "article", "b");
    assert_eq!(incomplete(&test.cms)["total_count"], 1, "the newest committed index");
    while test.cms.search().index_batch().unwrap() {}
    assert_eq!(found(&test.cms, false).len(), 2);
}

#[test]
fn search_reports_an_incomplete_index_after_the_database_was_replaced() {
    let folder = indexed();
    let path = folder.path().join("data");
    fs::copy(path.join("cms.db"), path.join("older.db")).unwrap();
    let cms = reopened(&path);
    create(&cms, "article", "later");
    assert_same(&cms);
    drop(cms);
    fs::rename(path.join("older.db"), path.join("cms.db")).unwrap();
    let config = CoreConfig { search_wait: Duration::ZERO, ..CoreConfig::new(&path) };
    let cms = Cms::open(config).unwrap();
    // As another process that is about to write the index.
    let lock = fs::File::open(path.join("index/lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(incomplete(&cms)["count"], 20, "the index has 21 objects");
    drop(lock);
    assert_eq!(incomplete(&cms)["count"], 20, "also where this process may write");
    while cms.search().index_batch().unwrap() {}
    assert_same(&cms);
}

#[test]
fn search_does_not_wait_forever_for_another_process() {
    let test = TestCms::with(|config| config.search_wait = Duration::ZERO);
    let index = test.path().join("index");
    fs::create_dir_all(&index).unwrap();
    let lock = fs::File::create(index.join("lock")).unwrap();
    lock.lock().unwrap();
    let request = SearchRequest { q: Some("*".to_owned()), ..SearchRequest::default() };
    let search = || test.cms.search().search(&Caller::local(), &request);
    assert!(matches!(search(), Err(Error::Busy(_))));
    drop(lock);
    search().unwrap();
}

#[test]
fn background_indexing_is_due_after_changes_only() {
    let test = with_types();
    let index_batch_if_due = || while test.cms.search().index_batch_if_due().unwrap() {};
    let position = || test.cms.statistics().unwrap().index_position;
    create(&test.cms, "article", "a");
    index_batch_if_due();
    let first = position();
    assert!(first.is_some());
    index_batch_if_due();
    assert_eq!(position(), first);
    create(&test.cms, "article", "b");
    index_batch_if_due();
    assert!(position() > first);
    assert_same(&test.cms);
}
