//! A cluster moves to the database schema of newer programs.

use std::{sync::Arc, time::Duration};

use cms_core::{
    Caller, ClusterConfig, Cms, CoreConfig, Duty, Error, Result, Schemas, SharedDatabase,
    SharedMigration,
    clock::FixedClock,
    ids::RandomIds,
    testing::{ConnectionBreak, MemoryDatabase, START},
};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{article, compare_with_cluster, map};

/// The schemas of the next program, which adds a column and fills it.
fn next() -> Schemas {
    let former = Schemas::default();
    let version = former.newest() + 1;
    let statements = "ALTER TABLE ctd ADD COLUMN note TEXT; UPDATE ctd SET note = 'note ' || pk";
    former.with_next(
        statements,
        SharedMigration { version, statements: "", changed_tables: &["ctd"] },
    )
}

struct TestNode {
    folder: TempDir,
    cms: Cms,
}

impl TestNode {
    fn start(database: &MemoryDatabase, name: &str, schemas: Schemas) -> Result<Self> {
        let folder = TempDir::new().unwrap();
        let cms = open(&folder, database, |cluster| ClusterConfig {
            name: name.to_owned(),
            schemas,
            ..cluster
        })?;
        Ok(Self { folder, cms })
    }

    /// Replaces the program.
    fn restart(self, database: &MemoryDatabase, schemas: Schemas) -> Self {
        let Self { folder, cms } = self;
        drop(cms);
        let cms = open(&folder, database, |cluster| ClusterConfig { schemas, ..cluster }).unwrap();
        Self { folder, cms }
    }

    fn schema(&self) -> i64 {
        self.cms.cluster().unwrap().replica().schema()
    }

    fn create(&self, id: &str) -> Result<()> {
        let object = map(json!({ "id": id, "title": format!("Title of {id}") }));
        self.cms.objects().create(&Caller::local(), "article", object).map(drop)
    }

    /// Catches up, and compares all tables.
    fn assert_current(&self, schema: i64) {
        let cluster = self.cms.cluster().unwrap();
        cluster.catch_up().unwrap();
        assert_eq!(cluster.replica().schema(), schema);
        assert_eq!(compare_with_cluster(&self.cms), []);
    }

    fn upgrade(&self) -> Result<Vec<String>> {
        self.cms.cluster().unwrap().upgrade()
    }
}

fn open(
    folder: &TempDir,
    database: &MemoryDatabase,
    change: impl FnOnce(ClusterConfig) -> ClusterConfig,
) -> Result<Cms> {
    let mut config = CoreConfig::new(folder.path());
    config.clock = Arc::new(FixedClock::at(START));
    config.ids = Arc::new(RandomIds);
    config.cluster = Some(change(ClusterConfig::new(Arc::new(database.clone()), "node")));
    let cms = Cms::open(config)?;
    let cluster = cms.cluster().unwrap();
    cluster.report()?;
    cluster.renew_duties(&[Duty::Upgrade])?;
    Ok(cms)
}

/// A cluster of the former schema, with a node of each program.
fn two_nodes() -> (MemoryDatabase, TestNode, TestNode, i64) {
    let database = MemoryDatabase::default();
    let former = TestNode::start(&database, "former", Schemas::default()).unwrap();
    former.cms.types().create(&Caller::local(), article()).unwrap();
    former.create("a").unwrap();
    let newer = TestNode::start(&database, "newer", next()).unwrap();
    let schema = Schemas::default().newest();
    assert_eq!(newer.schema(), schema);
    (database, former, newer, schema)
}

fn head_schema(database: &MemoryDatabase) -> i64 {
    database.snapshot(None).unwrap().head().schema
}

#[test]
fn cluster_moves_to_the_next_schema_when_all_live_nodes_know_it() {
    let (database, former, newer, schema) = two_nodes();
    newer.create("b").unwrap();
    assert_eq!(newer.upgrade().unwrap(), ["former"]);
    assert_eq!(former.upgrade().unwrap(), [""; 0]);
    former.assert_current(schema);
    newer.assert_current(schema);

    let replaced = former.restart(&database, next());
    assert_eq!(newer.upgrade().unwrap(), ["former"], "it was there seconds ago");
    database.advance(Duration::from_secs(11));
    for node in [&replaced, &newer] {
        node.cms.cluster().unwrap().report().unwrap();
    }
    assert_eq!(replaced.upgrade().unwrap(), [""; 0]);
    assert_eq!((replaced.schema(), head_schema(&database)), (schema + 1, schema + 1));
    assert_eq!(newer.schema(), schema, "it has not caught up");
    // Under the lock, a node catches up to the new schema first.
    newer.create("c").unwrap();
    for node in [&replaced, &newer] {
        node.assert_current(schema + 1);
    }
    // No further schema exists.
    assert_eq!(newer.upgrade().unwrap(), [""; 0]);
    let added = TestNode::start(&database, "added", next()).unwrap();
    added.assert_current(schema + 1);
    added.create("d").unwrap();
}

#[test]
fn node_that_was_stopped_during_the_upgrade_follows() {
    let (database, former, newer, schema) = two_nodes();
    let TestNode { folder, cms } = former;
    drop(cms);
    database.advance(Duration::from_secs(11));
    newer.cms.cluster().unwrap().report().unwrap();
    newer.create("b").unwrap();
    newer.upgrade().unwrap();
    newer.create("c").unwrap();
    let refused = open(&folder, &database, |cluster| cluster).err();
    let Some(Error::Conflict(reason)) = refused else { panic!("{refused:?}") };
    assert_eq!(
        reason,
        format!(
            "the cluster uses the database schema {}, this program knows {schema}: use the newer version \
             of cms that the other nodes have",
            schema + 1
        )
    );
    let cms = open(&folder, &database, |cluster| ClusterConfig { schemas: next(), ..cluster });
    TestNode { folder, cms: cms.unwrap() }.assert_current(schema + 1);
}

/// The former node was paused for more than ten seconds, so the upgrade did not wait for it.
#[test]
fn running_node_of_the_former_program_neither_reads_nor_writes_after_the_upgrade() {
    let (database, former, newer, schema) = two_nodes();
    database.advance(Duration::from_secs(11));
    newer.cms.cluster().unwrap().report().unwrap();
    newer.upgrade().unwrap();
    for refused in [former.cms.cluster().unwrap().catch_up(), former.create("b")] {
        let Err(Error::Busy(reason)) = refused else { panic!("{refused:?}") };
        assert!(reason.contains(&format!("schema {}", schema + 1)), "{reason}");
    }
    newer.create("b").unwrap();
    former.restart(&database, next()).assert_current(schema + 1);
}

#[test]
fn node_holds_the_upgrade_back() {
    let (database, former, newer, schema) = two_nodes();
    let TestNode { folder, cms } = former;
    drop(cms);
    let holding = |cluster| ClusterConfig { schemas: next(), holds_upgrade: true, ..cluster };
    let former = TestNode { cms: open(&folder, &database, holding).unwrap(), folder };
    database.advance(Duration::from_secs(11));
    for node in [&former, &newer] {
        node.cms.cluster().unwrap().report().unwrap();
    }
    assert_eq!(newer.upgrade().unwrap(), ["node"]);
    assert_eq!(former.upgrade().unwrap(), [""; 0]);
    assert_eq!(head_schema(&database), schema);
}

/// Two nodes may hold the duty for a moment.
#[test]
fn second_upgrade_changes_nothing() {
    let database = MemoryDatabase::default();
    let nodes = [(); 2].map(|()| TestNode::start(&database, "node", Schemas::default()).unwrap());
    let nodes = nodes.map(|node| node.restart(&database, next()));
    database.advance(Duration::from_secs(11));
    for node in &nodes {
        node.cms.cluster().unwrap().report().unwrap();
    }
    let schema = head_schema(&database);
    for node in &nodes {
        node.upgrade().unwrap();
        assert_eq!(head_schema(&database), schema + 1);
    }
    for node in &nodes {
        node.assert_current(schema + 1);
    }
}

#[test]
fn upgrade_of_unknown_outcome_is_resolved() {
    for cut in [ConnectionBreak::BeforeCommit, ConnectionBreak::AfterCommit] {
        let (database, former, newer, schema) = two_nodes();
        drop(former);
        database.advance(Duration::from_secs(11));
        newer.cms.cluster().unwrap().report().unwrap();
        database.break_connection([cut]);
        newer.upgrade().unwrap();
        newer.assert_current(schema + 1);
        newer.create("b").unwrap();
    }
}

/// The replica has the new schema, and the cluster has not.
#[test]
fn replica_of_an_upgrade_that_was_not_stored_is_copied_again() {
    let (database, former, newer, schema) = two_nodes();
    drop(former);
    database.advance(Duration::from_secs(11));
    newer.cms.cluster().unwrap().report().unwrap();
    let before = database.backup();
    database.break_connection([ConnectionBreak::BeforeCommit]);
    database.disconnect_after_next_commit();
    assert!(newer.upgrade().is_err());
    assert!(newer.cms.cluster().unwrap().replica().is_abandoned());
    database.restore(&before);
    let newer = newer.restart(&database, next());
    newer.assert_current(schema);
    newer.upgrade().unwrap();
    newer.assert_current(schema + 1);
}
