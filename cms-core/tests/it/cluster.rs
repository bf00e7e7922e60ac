//! Several nodes on one shared database, in one process: interleaved writes, broken connections,
//! restarts and restores.

use std::{
    fs::File,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use cms_core::{
    Caller, ClusterConfig, Cms, CoreConfig, Error, MediaStorage, Result, SharedDatabase,
    clock::FixedClock,
    create_cluster, export_cluster,
    ids::RandomIds,
    restore,
    testing::{ConnectionBreak, MemoryDatabase, START},
    wire::{
        batch::BatchElements, check::CheckRequest, object::ListRequest, plan::PlanRequest,
        publish::PublishAction, search::SearchRequest,
    },
};
use proptest::{collection::vec, prelude::*, sample::select};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    media::{empty_trash, text},
    support::{add_property, article, article_with, compare_with_cluster, create_object, map},
};

/// A node, open or stopped.
struct TestNode {
    folder: TempDir,
    cms: Option<Cms>,
}

impl TestNode {
    fn start(database: &MemoryDatabase) -> Self {
        let mut node = Self { folder: TempDir::new().unwrap(), cms: None };
        node.cms = Some(node.open(database).unwrap());
        node
    }

    fn open(&self, database: &MemoryDatabase) -> Result<Cms> {
        let mut config = CoreConfig::new(self.folder.path());
        config.clock = Arc::new(FixedClock::at(START));
        config.ids = Arc::new(RandomIds);
        config.cluster = Some(ClusterConfig::new(Arc::new(database.clone()), "node"));
        Cms::open(config)
    }

    fn restart(&mut self, database: &MemoryDatabase) {
        self.cms = None;
        self.cms = Some(self.open(database).unwrap());
    }

    fn cms(&self) -> &Cms {
        self.cms.as_ref().unwrap()
    }

    fn catch_up(&self) -> Result<()> {
        self.cms().cluster().unwrap().catch_up()
    }

    /// Ids and titles, in order.
    fn titles(&self) -> Vec<(String, String)> {
        let request = ListRequest::default();
        let list = self.cms().objects().list(&Caller::local(), "article", &request).unwrap();
        let list: Value = serde_json::from_slice(&list.0).unwrap();
        let text = |object: &Value, name: &str| object[name].as_str().unwrap().to_owned();
        let objects = list["data"].as_array().unwrap().iter();
        let mut titles: Vec<_> = objects.map(|one| (text(one, "id"), text(one, "title"))).collect();
        titles.sort();
        titles
    }

    fn differences(&self) -> usize {
        compare_with_cluster(self.cms()).len()
    }
}

fn create(node: &TestNode, id: &str) -> Result<()> {
    let object = map(json!({ "id": id, "title": format!("Title of {id}") }));
    node.cms().objects().create(&Caller::local(), "article", object).map(drop)
}

/// Two nodes of a cluster with the type `article`.
fn two_nodes() -> (MemoryDatabase, TestNode, TestNode) {
    let database = MemoryDatabase::default();
    let first = TestNode::start(&database);
    first.cms().types().create(&Caller::local(), article()).unwrap();
    let second = TestNode::start(&database);
    (database, first, second)
}

#[test]
fn node_sees_the_commits_of_others_after_catching_up() {
    let (_database, first, second) = two_nodes();
    create(&first, "a").unwrap();
    assert_eq!(second.titles(), []);
    second.catch_up().unwrap();
    assert_eq!(second.titles(), [("a".to_owned(), "Title of a".to_owned())]);
    let search = second.cms().search();
    let found = search.search(&Caller::local(), &search_all()).unwrap();
    let found: Value = serde_json::from_slice(&found.0).unwrap();
    assert_eq!(found["total_count"], json!(1), "{found}");
    assert_eq!((first.differences(), second.differences()), (0, 0));
}

/// A search for everything.
fn search_all() -> SearchRequest {
    SearchRequest { q: Some("*".to_owned()), ..SearchRequest::default() }
}

/// Rules that hold in one database hold in the cluster: each write sees all earlier ones.
#[test]
fn rules_hold_across_nodes_without_catching_up() {
    let (_database, first, second) = two_nodes();
    create(&first, "a").unwrap();
    let taken = create(&second, "a");
    assert!(matches!(taken, Err(Error::Invalid(_))), "{taken:?}");
    let same_title = map(json!({ "id": "b", "title": "Title of a" }));
    let unique = first.cms().objects().create(&Caller::local(), "article", same_title);
    assert!(matches!(unique, Err(Error::Invalid(_))), "{unique:?}");
    let linking = json!({ "id": "c", "title": "C", "related": [
        { "type": "internal", "dataUrl": "/api/v1/content/article/a" },
    ] });
    second.cms().objects().create(&Caller::local(), "article", map(linking)).unwrap();
    let deleted = first.cms().objects().delete(&Caller::local(), "article", "a");
    assert!(matches!(deleted, Err(Error::Invalid(_) | Error::Rejected(_))), "{deleted:?}");
    first.catch_up().unwrap();
    assert_eq!((first.differences(), second.differences()), (0, 0));
}

/// More properties than the indexes that every database has from the start.
#[test]
fn indexes_of_a_type_are_created_on_every_node() {
    let (database, first, second) = two_nodes();
    let names: Vec<String> = (0..40).map(|number| format!("p{number}")).collect();
    let text = |name: &String| (name.clone(), json!({ "type": "string" }));
    let config = |name: &String| {
        let config = json!({ "label": name, "inputType": "text", "unique": true });
        (name.clone(), config)
    };
    let properties: serde_json::Map<_, _> = names.iter().map(text).collect();
    let configs: serde_json::Map<_, _> = names.iter().map(config).collect();
    let definition = json!({
        "name": "many", "label": "Many",
        "schemaDefinition": { "type": "object", "allOf": [
            { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
            { "type": "object", "properties": properties },
        ], "required": [], "additionalProperties": false },
        "metaDefinition": { "order": names, "propertiesConfig": configs },
    });
    first.cms().types().create(&Caller::local(), map(definition)).unwrap();
    // A new node copies the type while it has no objects.
    let third = TestNode::start(&database);
    create_object(first.cms(), "many", json!({ "id": "a", "p30": "x" }));
    second.catch_up().unwrap();
    third.catch_up().unwrap();
    for node in [&first, &second, &third] {
        let request = ListRequest { order_by: Some("p30".to_owned()), ..ListRequest::default() };
        let list = node.cms().objects().list(&Caller::local(), "many", &request).unwrap();
        assert_eq!(list.to_value()["total_count"], 1);
    }
}

#[test]
fn commit_that_is_stored_but_not_applied_is_the_last_known_one() {
    let (_database, first, _second) = two_nodes();
    let replica = Connection::open(first.folder.path().join("cms.db")).unwrap();
    let failing = "CREATE TRIGGER failing BEFORE UPDATE ON local
         BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
    replica.execute_batch(failing).unwrap();
    create(&first, "a").unwrap();
    let node = first.cms().cluster().unwrap().replica();
    let (applied, known) = (node.position(), node.last_known_commit());
    assert_eq!((first.titles(), known.commit), (vec![], applied.commit + 1));

    replica.execute_batch("DROP TRIGGER failing").unwrap();
    first.catch_up().unwrap();
    assert_eq!(first.titles(), [("a".to_owned(), "Title of a".to_owned())]);
    assert_eq!(node.position(), known);
    create(&first, "b").unwrap();
    assert_eq!((node.position(), first.differences()), (node.last_known_commit(), 0));
}

#[test]
fn commit_whose_connection_broke_is_neither_lost_nor_doubled() {
    let (database, first, second) = two_nodes();
    for (id, cuts) in [
        ("a", vec![ConnectionBreak::BeforeCommit]),
        ("b", vec![ConnectionBreak::AfterCommit]),
        (
            "c",
            vec![
                ConnectionBreak::BeforeCommit,
                ConnectionBreak::BeforeCommit,
                ConnectionBreak::AfterCommit,
            ],
        ),
    ] {
        database.break_connection(cuts);
        create(&first, id).unwrap();
    }
    assert_eq!(first.titles().len(), 3);
    second.catch_up().unwrap();
    assert_eq!(second.titles(), first.titles());
    assert_eq!((first.differences(), second.differences()), (0, 0));
}

#[test]
fn commit_is_found_although_the_commit_log_cannot_be_read_immediately() {
    let (database, first, second) = two_nodes();
    database.break_connection([ConnectionBreak::AfterCommit]);
    database.fail_nonce_reads(1);
    create(&first, "a").unwrap();
    database.break_connection([ConnectionBreak::AfterCommit]);
    database.fail_nonce_reads(usize::MAX);
    let unknown = create(&first, "b");
    assert!(matches!(unknown, Err(Error::OutcomeUnknown)), "{unknown:?}");
    database.fail_nonce_reads(0);
    first.catch_up().unwrap();
    second.catch_up().unwrap();
    assert_eq!((first.titles().len(), second.titles()), (2, first.titles()));
    assert_eq!((first.differences(), second.differences()), (0, 0));
}

#[test]
fn commit_that_stays_unknown_is_reported_and_found_later() {
    let (database, first, _second) = two_nodes();
    for (id, cut, is_stored) in
        [("a", ConnectionBreak::AfterCommit, true), ("b", ConnectionBreak::BeforeCommit, false)]
    {
        database.break_connection([cut]);
        database.disconnect_after_next_commit();
        let unknown = create(&first, id);
        assert!(matches!(unknown, Err(Error::OutcomeUnknown)), "{unknown:?}");
        let refused = create(&first, "other");
        assert!(matches!(refused, Err(Error::Busy(_))), "{refused:?}");
        database.set_unreachable(false);
        first.catch_up().unwrap();
        let found = first.titles().iter().any(|(found, _)| found == id);
        assert_eq!(found, is_stored, "{id}");
        assert_eq!(first.differences(), 0);
    }
}

#[test]
fn stopped_node_continues_from_its_position() {
    let (database, first, mut second) = two_nodes();
    second.cms = None;
    create(&first, "a").unwrap();
    second.restart(&database);
    second.catch_up().unwrap();
    assert_eq!(second.titles(), first.titles());
    assert_eq!(second.differences(), 0);
}

#[test]
fn node_behind_the_commit_log_is_copied_again() {
    let (database, first, mut second) = two_nodes();
    create(&first, "a").unwrap();
    create(&first, "b").unwrap();
    database.prune_all();
    let refused = second.catch_up();
    assert!(matches!(refused, Err(Error::Busy(_))), "{refused:?}");
    assert!(second.cms().cluster().unwrap().replica().is_abandoned());
    second.restart(&database);
    assert_eq!(second.titles(), first.titles());
    assert_eq!(second.differences(), 0);
    create(&second, "c").unwrap();
}

/// As after a crash, and after the operator has removed only the main file.
#[test]
fn replica_without_its_main_file_is_copied_again() {
    let (database, mut first, _second) = two_nodes();
    create(&first, "a").unwrap();
    let log = first.folder.path().join("cms.db-wal");
    let before = std::fs::read(&log).unwrap();
    assert!(!before.is_empty());
    first.cms = None;
    std::fs::remove_file(first.folder.path().join("cms.db")).unwrap();
    std::fs::write(&log, before).unwrap();
    first.restart(&database);
    create(&first, "b").unwrap();
    assert_eq!(first.titles().len(), 2);
    assert_eq!(first.differences(), 0);
}

/// A restored shared database uses the same commit numbers for other content.
#[test]
fn restored_shared_database_is_detected_by_every_node() {
    let (database, mut first, mut second) = two_nodes();
    let backup = database.backup();
    create(&first, "lost").unwrap();
    second.catch_up().unwrap();
    database.restore(&backup);
    let third = TestNode::start(&database);
    create(&third, "kept").unwrap();
    for node in [&mut first, &mut second] {
        let refused = create(node, "other");
        assert!(matches!(refused, Err(Error::Busy(_))), "{refused:?}");
        assert!(node.cms().cluster().unwrap().replica().is_abandoned());
        node.restart(&database);
        assert_eq!(node.titles(), [("kept".to_owned(), "Title of kept".to_owned())]);
        assert_eq!(node.differences(), 0);
        let found = node.cms().search().search(&Caller::local(), &search_all()).unwrap();
        let found: Value = serde_json::from_slice(&found.0).unwrap();
        assert_eq!(found["data"][0]["item"]["id"], json!("kept"), "the index is rebuilt: {found}");
    }
}

#[test]
fn replica_can_only_be_opened_by_its_node() {
    let (database, first, second) = two_nodes();
    let path = first.folder.path().to_owned();
    let Err(Error::Conflict(reason)) = first.open(&database) else { panic!("opened twice") };
    assert!(reason.starts_with("another node uses the data directory"), "{reason}");
    drop(second);
    drop(first.cms);
    let Err(Error::Conflict(reason)) = Cms::open(CoreConfig::new(&path)) else {
        panic!("a replica opened alone")
    };
    assert!(reason.contains("is the replica of a node"), "{reason}");
    let alone = TempDir::new().unwrap();
    drop(Cms::open(CoreConfig::new(alone.path())).unwrap());
    let node = TestNode { folder: alone, cms: None };
    let Err(Error::Conflict(reason)) = node.open(&database) else { panic!("a database is lost") };
    assert!(reason.contains("has a database of its own"), "{reason}");
}

/// The cluster would lack what is written to the directory after the move.
#[test]
fn moved_directory_can_only_be_read() {
    let folder = TempDir::new().unwrap();
    let cms = Cms::open(CoreConfig::new(folder.path())).unwrap();
    cms.types().create(&Caller::local(), article()).unwrap();
    let object = |id: &str| map(json!({ "id": id, "title": id }));
    cms.objects().create(&Caller::local(), "article", object("a")).unwrap();
    let database = MemoryDatabase::default();
    let shared: Arc<dyn SharedDatabase> = Arc::new(database.clone());
    let moved = create_cluster(&cms, &shared, &MediaStorage::DataDirectory).unwrap();
    assert_eq!(moved.objects, 1);
    let node = TestNode::start(&database);
    assert_eq!(node.titles(), [("a".to_owned(), "a".to_owned())]);
    let refused = |cms: &Cms| {
        let created = cms.objects().create(&Caller::local(), "article", object("b"));
        let Err(Error::Conflict(reason)) = created else { panic!("{created:?}") };
        assert!(reason.contains("has moved to a cluster"), "{reason}");
        cms.objects().get(&Caller::local(), "article", "a", 0).unwrap();
    };
    refused(&cms);
    drop(cms);
    let moved = Cms::open(CoreConfig::new(folder.path())).unwrap();
    refused(&moved);
    assert_backup_is_restored_without_the_cluster(&moved);
    let again = create_cluster(node.cms(), &shared, &MediaStorage::DataDirectory);
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");

    let exported = TempDir::new().unwrap();
    // A directory cannot be a file: the copy of the files fails.
    let media = exported.path().join("media");
    std::fs::write(&media, "").unwrap();
    export_cluster(exported.path(), &*shared, Some(&MediaStorage::DataDirectory)).unwrap_err();
    std::fs::remove_file(&media).unwrap();
    let (_, copied) = export_cluster(exported.path(), &*shared, None).unwrap();
    assert_eq!(copied.objects, 1);
    let alone = Cms::open(CoreConfig::new(exported.path())).unwrap();
    alone.objects().create(&Caller::local(), "article", object("b")).unwrap();
}

#[test]
fn interrupted_move_into_a_cluster_is_completed() {
    let folder = TempDir::new().unwrap();
    let open = || Cms::open(CoreConfig::new(folder.path())).unwrap();
    let database = MemoryDatabase::default();
    let shared: Arc<dyn SharedDatabase> = Arc::new(database.clone());
    let move_to_cluster = |cms: &Cms| {
        let connection = Connection::open(folder.path().join("cms.db")).unwrap();
        let moved = create_cluster(cms, &shared, &MediaStorage::DataDirectory);
        let cluster = "SELECT cluster FROM local";
        (moved, connection.query_row(cluster, [], |row| row.get::<_, Option<String>>(0)).unwrap())
    };
    // As after a crash between the commit and the mark in the directory.
    let unmark = || {
        let connection = Connection::open(folder.path().join("cms.db")).unwrap();
        connection.execute("UPDATE local SET cluster = NULL", []).unwrap();
    };
    let cms = open();
    cms.types().create(&Caller::local(), article()).unwrap();
    create_object(&cms, "article", json!({ "id": "a", "title": "A" }));
    let (moved, cluster) = move_to_cluster(&cms);
    assert_eq!(moved.unwrap().objects, 1);
    assert!(cluster.is_some());
    // The last step, the copy of new files, is repeated too.
    assert_eq!(move_to_cluster(&cms).0.unwrap().objects, 1);
    drop(cms);

    unmark();
    let cms = open();
    let (moved, again) = move_to_cluster(&cms);
    assert_eq!((moved.unwrap().objects, again), (1, cluster));
    assert!(!cms.webhooks().try_become_sender().unwrap(), "the nodes send the deliveries");
    drop(cms);

    unmark();
    let cms = open();
    create_object(&cms, "article", json!({ "id": "b", "title": "B" }));
    let (refused, mark) = move_to_cluster(&cms);
    let Err(Error::Conflict(reason)) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("whose content differs"), "{reason}");
    assert_eq!(mark, None);
}

#[test]
fn backup_of_a_node_is_restored_without_a_cluster() {
    let (_database, node, _other) = two_nodes();
    create(&node, "a").unwrap();
    assert_backup_is_restored_without_the_cluster(node.cms());
}

/// The restored backup of one object accepts writes.
#[track_caller]
fn assert_backup_is_restored_without_the_cluster(cms: &Cms) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("backup.tar");
    let copied = cms.backups().begin().unwrap();
    cms.backups().write(copied, &mut File::create(&path).unwrap()).unwrap();
    let config = CoreConfig::new(folder.path().join("data"));
    assert_eq!(restore(&path, &config).unwrap().objects, 1);
    let alone = Cms::open(config).unwrap();
    create_object(&alone, "article", json!({ "id": "b", "title": "B" }));
}

/// A plan may take seconds, in which other nodes write.
#[test]
fn plan_does_not_need_the_lock_of_the_cluster() {
    let (database, first, second) = two_nodes();
    create(&first, "a").unwrap();
    let position = first.cms().cluster().unwrap().replica().position();
    let locked = database.lock(position).unwrap();
    let mut wanted = article();
    add_property(&mut wanted, "rank", json!({ "type": "number" }), "number");
    let request = PlanRequest { content_types: vec![wanted], ..PlanRequest::default() };
    let plan = first.cms().types().plan(&Caller::local(), &request).unwrap();
    assert!(plan.has_changes(), "{plan:?}");
    drop(locked);
    // Nothing of the plan is in the next commit.
    create(&first, "b").unwrap();
    second.catch_up().unwrap();
    assert_eq!((second.titles().len(), first.differences(), second.differences()), (2, 0, 0));
}

/// The other node deletes an object whose file the backup has not read yet.
#[test]
fn backup_keeps_files_that_another_node_would_remove() {
    let (_database, first, second) = two_nodes();
    let id = &text(second.cms(), b"in the backup");
    let path = second.folder.path().join("media").join(id);
    let copied = first.cms().backups().begin().unwrap();
    assert!(matches!(second.cms().backups().begin(), Err(Error::Busy(_))), "one at a time");
    second.cms().objects().delete(&Caller::local(), "_media", id).unwrap();
    empty_trash(second.cms());
    assert!(path.exists(), "left to the clean-up of orphaned files");
    drop(copied);
    let id = &text(second.cms(), b"in no backup");
    second.cms().objects().delete(&Caller::local(), "_media", id).unwrap();
    empty_trash(second.cms());
    assert!(path.exists() && !second.folder.path().join("media").join(id).exists());
}

#[test]
fn revoked_access_waits_for_nodes_that_have_not_applied_it() {
    let (_database, first, second) = two_nodes();
    let wait = || {
        let started = Instant::now();
        first.cms().cluster().unwrap().wait_for_nodes();
        started.elapsed()
    };
    assert!(wait() < Duration::from_secs(1), "no other node has reported");
    second.cms().cluster().unwrap().report().unwrap();
    create(&first, "a").unwrap();
    thread::scope(|scope| {
        let waited = scope.spawn(wait);
        // A wait that ends too early would end in this time.
        thread::sleep(Duration::from_millis(300));
        assert!(!waited.is_finished(), "the other node is behind");
        second.catch_up().unwrap();
        second.cms().cluster().unwrap().report().unwrap();
        assert!(waited.join().unwrap() < Duration::from_secs(4), "not until the timeout");
    });
    create(&first, "b").unwrap();
    let waited = wait();
    assert!((5..9).contains(&waited.as_secs()), "until its reads have ended: {waited:?}");
}

/// A node that names the wrong database keeps its replica.
#[test]
fn replica_is_kept_when_the_database_has_no_cluster() {
    let (database, mut node, _other) = two_nodes();
    create(&node, "a").unwrap();
    node.cms = None;
    let Err(Error::Conflict(reason)) = node.open(&MemoryDatabase::default()) else {
        panic!("the replica is lost")
    };
    assert!(reason.contains("is the replica of one"), "{reason}");
    node.restart(&database);
    assert_eq!(node.titles().len(), 1);
}

#[test]
fn node_does_not_take_the_database_of_another_cluster() {
    let (database, mut node, _other) = two_nodes();
    create(&node, "a").unwrap();
    let (another, first, _second) = two_nodes();
    node.cms = None;
    for is_pruned in [false, true] {
        let Err(Error::Conflict(reason)) = node.open(&another) else {
            panic!("the replica is replaced: {is_pruned}")
        };
        assert!(reason.contains("is the replica of another cluster"), "{reason}");
        // In the second round, the commit of the replica is older than the commit log of the other cluster.
        for number in 0..10 {
            create(&first, &format!("{is_pruned}{number}")).unwrap();
        }
        another.prune_all();
    }
    node.restart(&database);
    assert_eq!(node.titles().len(), 1);
}

#[test]
fn node_in_a_standalone_directory_creates_no_cluster() {
    let folder = TempDir::new().unwrap();
    drop(Cms::open(CoreConfig::new(folder.path())).unwrap());
    let node = TestNode { folder, cms: None };
    let database = MemoryDatabase::default();
    let Err(Error::Conflict(reason)) = node.open(&database) else { panic!("a node has started") };
    assert!(reason.contains("cms cluster init --from"), "{reason}");
    let cms = Cms::open(CoreConfig::new(node.folder.path())).unwrap();
    let shared: Arc<dyn SharedDatabase> = Arc::new(database);
    create_cluster(&cms, &shared, &MediaStorage::DataDirectory).unwrap();
}

#[test]
fn content_does_not_move_without_any_of_its_files() {
    let folder = TempDir::new().unwrap();
    let cms = Cms::open(CoreConfig::new(folder.path())).unwrap();
    let id = text(&cms, b"a text");
    let file = folder.path().join("media").join(id);
    std::fs::rename(&file, file.with_extension("lost")).unwrap();
    let shared: Arc<dyn SharedDatabase> = Arc::new(MemoryDatabase::default());
    let moved = create_cluster(&cms, &shared, &MediaStorage::DataDirectory);
    let Err(Error::Conflict(reason)) = moved else { panic!("{moved:?}") };
    assert!(reason.starts_with("none of the 1 media files"), "{reason}");
    std::fs::rename(file.with_extension("lost"), &file).unwrap();
    create_cluster(&cms, &shared, &MediaStorage::DataDirectory).unwrap();
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Create(u8),
    Patch(u8),
    Delete(u8),
    Publish(u8),
    Unpublish(u8),
    Batch(u8),
    Refused,
    AddProperty,
    CatchUp,
    Restart,
    Break(ConnectionBreak),
    Prune,
}

fn step() -> impl Strategy<Value = Step> {
    let id = 0..6_u8;
    prop_oneof![
        4 => id.clone().prop_map(Step::Create),
        4 => id.clone().prop_map(Step::Patch),
        3 => id.clone().prop_map(Step::Delete),
        3 => id.clone().prop_map(Step::Publish),
        2 => id.clone().prop_map(Step::Unpublish),
        2 => id.prop_map(Step::Batch),
        1 => Just(Step::Refused),
        1 => Just(Step::AddProperty),
        3 => Just(Step::CatchUp),
        1 => Just(Step::Restart),
        3 => select(vec![ConnectionBreak::BeforeCommit, ConnectionBreak::AfterCommit]).prop_map(Step::Break),
        1 => Just(Step::Prune),
    ]
}

/// Runs a step. It may be refused by a rule; other errors fail the test.
fn run(node: &mut TestNode, database: &MemoryDatabase, step: Step, number: usize) {
    let local = Caller::local();
    let cms = node.cms();
    let objects = cms.objects();
    let result = match step {
        Step::Create(id) => {
            let object = json!({ "id": format!("o{id}"), "title": format!("T{number}"), "related": [
                { "type": "internal", "dataUrl": format!("/api/v1/content/article/o{}", (id + 1) % 6) },
            ] });
            objects.create(&local, "article", map(object)).map(drop)
        }
        Step::Patch(id) => {
            let change = map(json!({ "rank": number }));
            objects.patch(&local, "article", &format!("o{id}"), change).map(drop)
        }
        Step::Delete(id) => objects.delete(&local, "article", &format!("o{id}")),
        Step::Publish(id) | Step::Unpublish(id) => {
            let action = match step {
                Step::Publish(_) => PublishAction::Publish,
                _ => PublishAction::Unpublish,
            };
            cms.publishing()
                .set_status(&local, "article", &format!("o{id}"), action, false)
                .map(drop)
        }
        Step::Batch(id) => {
            let elements: Vec<Value> = (0..3)
                .map(|offset| json!({ "id": format!("o{}", (id + offset) % 6), "title": format!("B{number}{offset}") }))
                .collect();
            objects.batch_create(&local, "article", &BatchElements::of(&elements), false).map(drop)
        }
        Step::Refused => objects.create(&local, "article", map(json!({ "title": "" }))).map(drop),
        Step::AddProperty => {
            let mut changed = article_with(json!({ "draftPublic": true }));
            add_property(
                &mut changed,
                &format!("p{number}"),
                json!({ "type": "number" }),
                "number",
            );
            cms.types().update(&local, "article", changed).map(drop)
        }
        Step::CatchUp => node.catch_up(),
        Step::Break(cut) => {
            database.break_connection([cut]);
            Ok(())
        }
        Step::Prune => {
            database.prune_all();
            Ok(())
        }
        Step::Restart => {
            node.restart(database);
            return;
        }
    };
    match result {
        Err(Error::Busy(_)) if cms.cluster().unwrap().replica().is_abandoned() => {
            node.restart(database);
        }
        Err(Error::Internal(_) | Error::OutcomeUnknown | Error::Busy(_)) => {
            panic!("{step:?}: {result:?}")
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// After any steps on any nodes, all tables of all nodes equal the shared database, and the
    /// content is sound.
    #[test]
    fn nodes_agree_after_any_steps(steps in vec((0..3_usize, step()), 1..50)) {
        let database = MemoryDatabase::comparing();
        let mut nodes: Vec<TestNode> = (0..3).map(|_| TestNode::start(&database)).collect();
        let drafts = article_with(json!({ "draftPublic": true }));
        nodes[0].cms().types().create(&Caller::local(), drafts).unwrap();
        for (number, (node, step)) in steps.into_iter().enumerate() {
            run(&mut nodes[node], &database, step, number);
        }
        for node in &mut nodes {
            if node.catch_up().is_err() {
                node.restart(&database);
            }
            prop_assert_eq!(node.differences(), 0);
            let report = node.cms().check(&CheckRequest::default()).unwrap();
            prop_assert!(report.is_sound(), "{:?}", report);
        }
    }
}
