//! Upgrades of the database schema in PostgreSQL: broken connections, and writes meanwhile.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use cms_cluster::PostgresDatabase;
use cms_model::{
    error::{Error, Result},
    settings::{Durability, NewDatabase},
    wire::workflow::Workflow,
};
use cms_store::{
    Reader, Schemas, SharedMigration, Store,
    cluster::{
        compare::compare_all,
        database::{Column, ColumnKind, SharedDatabase, SharedTable},
    },
};
use tempfile::TempDir;

use crate::{
    proxy::{At, ConnectionError, Proxy},
    server::{Server, open},
};

/// The schemas of the next version of cms: it adds a column with values, and a table.
fn next() -> Schemas {
    let former = Schemas::default();
    let version = former.newest() + 1;
    former.with_next(
        "ALTER TABLE workflow ADD COLUMN note TEXT;
         UPDATE workflow SET note = 'note of ' || id;
         CREATE TABLE extra (pk INTEGER PRIMARY KEY, name TEXT NOT NULL);
         INSERT INTO extra (name) VALUES ('first'), ('second')",
        SharedMigration {
            version,
            statements: r#"ALTER TABLE "cms"."workflow" ADD COLUMN "note" text;
                CREATE TABLE "cms"."extra" (pk bigint PRIMARY KEY, name text)"#,
            changed_tables: &["extra", "workflow"],
        },
    )
}

fn workflow(id: &str) -> Workflow {
    Workflow {
        id: id.to_owned(),
        name: id.to_owned(),
        initial_state: "draft".to_owned(),
        states: vec!["draft".to_owned()],
        transitions: Vec::new(),
    }
}

fn write(node: &Store, id: &str) -> Result<()> {
    let workflow = workflow(id);
    node.write(move |writer| writer.put_workflow(&workflow))
}

/// Creates a cluster of the former schema with some rows.
fn create_cluster(database: PostgresDatabase) {
    let folder = TempDir::new().unwrap();
    let store = Store::open(folder.path(), NewDatabase::Always, Durability::Normal).unwrap();
    for id in ["a", "b"] {
        write(&store, id).unwrap();
    }
    store.create_cluster(&(Arc::new(database) as Arc<dyn SharedDatabase>)).unwrap();
}

fn replica(folder: &TempDir, database: PostgresDatabase, schemas: Schemas) -> Result<Store> {
    Store::open_replica(folder.path(), Arc::new(database), schemas)
}

/// Asserts that the node and the shared database have this schema, and the same rows.
fn assert_current(node: &Store, database: &PostgresDatabase, schema: i64) {
    node.catch_up().unwrap();
    assert_eq!(node.replica().unwrap().schema(), schema);
    assert_eq!(database.snapshot(None).unwrap().head().schema, schema);
    let compared = |reader: &Reader<'_>| compare_all(reader, &mut *database.snapshot(None)?);
    assert_eq!(node.read(compared).unwrap(), []);
}

/// Each message of the upgrade in turn is lost, or its response is. Then the shared database and all
/// replicas have the same schema, the former or the next one, and a second attempt succeeds.
#[test]
fn upgrade_is_applied_once_wherever_the_connection_breaks() {
    let Some(server) = Server::start() else { return };
    let base = server.create_database("base");
    create_cluster(server.open(&base));
    let proxy = Proxy::start(server.port());
    let schema = Schemas::default().newest();
    let mut failed = 0;
    for error in [ConnectionError::CutBefore, ConnectionError::SwallowResponse] {
        for count in 0.. {
            let name = format!("{error:?}{count}").to_lowercase();
            server.sql("postgres", &format!("CREATE DATABASE {name} TEMPLATE {base}"));
            let folders = [(); 2].map(|()| TempDir::new().unwrap());
            let other = replica(&folders[1], server.open(&name), next()).unwrap();
            let node = replica(&folders[0], open(proxy.port, &name), next()).unwrap();
            // A write opens the connections of the node, and prepares its statements.
            write(&node, "c").unwrap();
            proxy.arm(error, At::Count(count));
            let first = node.upgrade_cluster();
            let was_not_triggered = proxy.remove_unused_error();
            failed += usize::from(first.is_err());
            assert!(!node.replica().unwrap().is_abandoned(), "{name}: the outcome is resolved");
            // Other nodes can write before the upgrade is repeated.
            write(&other, "d").unwrap();
            node.catch_up().unwrap();
            if node.replica().unwrap().schema() == schema {
                assert!(first.is_err(), "{name}");
                node.upgrade_cluster().unwrap();
            }
            for node in [&node, &other] {
                assert_current(node, &server.open(&name), schema + 1);
                assert_eq!(node.upgrade_cluster().unwrap(), None, "{name}");
            }
            write(&node, "e").unwrap();
            assert_current(&other, &server.open(&name), schema + 1);
            let notes = server.sql(&name, "SELECT count(note) FROM cms.workflow");
            assert!(notes == "3" || notes == "4", "{name}: {notes}");
            assert_eq!(server.sql(&name, "SELECT count(*) FROM cms.extra"), "2");
            if was_not_triggered {
                assert!(count > 5, "{count}");
                break;
            }
        }
    }
    assert!(failed > 1, "{failed} attempts failed");
}

/// While a node copies a table, the table cannot be changed. Writes continue.
#[test]
fn upgrade_gives_up_soon_while_a_table_is_read() {
    let Some(server) = Server::start() else { return };
    let name = server.create_database("read");
    create_cluster(server.open(&name));
    let folders = [(); 2].map(|()| TempDir::new().unwrap());
    let node = replica(&folders[0], server.open(&name), next()).unwrap();
    let other = server.open(&name);
    let mut snapshot = other.snapshot(None).unwrap();
    let table = SharedTable {
        name: "workflow".to_owned(),
        columns: vec![Column { name: "pk".to_owned(), kind: ColumnKind::Integer }],
    };
    snapshot.all_rows(&table, &mut |_| Ok(())).unwrap();
    let started = Instant::now();
    let refused = node.upgrade_cluster();
    assert!(matches!(refused, Err(Error::Busy(_))), "{refused:?}");
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    write(&node, "c").unwrap();
    drop(snapshot);
    let schema = Schemas::default().newest();
    assert_current(&node, &server.open(&name), schema);
    assert_eq!(node.upgrade_cluster().unwrap(), Some(schema + 1));
    assert_current(&node, &server.open(&name), schema + 1);
}

/// Nodes of both versions write until the last old one is replaced; the new ones continue to write.
#[test]
fn writes_continue_while_nodes_are_replaced() {
    let Some(server) = Server::start() else { return };
    let name = server.create_database("rolling");
    create_cluster(server.open(&name));
    let folders = [(); 2].map(|()| TempDir::new().unwrap());
    let first = replica(&folders[0], server.open(&name), Schemas::default()).unwrap();
    let second = replica(&folders[1], server.open(&name), next()).unwrap();
    for (node, id) in [(&first, "f"), (&second, "s"), (&first, "g")] {
        write(node, id).unwrap();
    }
    drop(first);
    let first = replica(&folders[0], server.open(&name), next()).unwrap();
    let is_stopped = AtomicBool::new(false);
    let longest = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            for count in 0.. {
                let started = Instant::now();
                write(&second, &format!("w{count}")).unwrap();
                second.catch_up().unwrap();
                longest = longest.max(started.elapsed());
                if is_stopped.load(Ordering::Relaxed) {
                    break;
                }
            }
            longest
        });
        // The writer runs before, during and after the upgrade.
        thread::sleep(Duration::from_millis(50));
        assert!(first.upgrade_cluster().unwrap().is_some());
        thread::sleep(Duration::from_millis(50));
        is_stopped.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    for node in [&first, &second] {
        assert_current(node, &server.open(&name), Schemas::default().newest() + 1);
    }
}
