//! Tests that every implementation of [`SharedDatabase`] passes: see [`CASES`].

mod membership;
mod rows;

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use cms_model::error::{Error, Result};

use super::database::{
    ChangedKeys, Column, ColumnKind, ColumnValues, CommitOutcome, Head, History, LockedHead,
    NewCommit, Position, RowSink, Rows, SchemaChange, SharedDatabase, SharedSnapshot, SharedTable,
};
use membership::{duty_has_one_holder, nodes_are_listed};
use rows::mark_table;
use rows::{append, marks, sorted};
pub use rows::{object_table, objects};

/// A test on two nodes of one cluster. The test creates the cluster.
pub type Case = fn(&dyn SharedDatabase, &dyn SharedDatabase);

/// All tests with their names. Each needs a new database.
pub const CASES: &[(&str, Case)] = &[
    ("created_once_with_all_rows", created_once_with_all_rows),
    ("created_by_one_of_two_nodes", created_by_one_of_two_nodes),
    ("creation_that_fails_leaves_nothing", creation_that_fails_leaves_nothing),
    ("missing_cluster_is_reported", missing_cluster_is_reported),
    ("commit_is_seen_by_other_nodes", commit_is_seen_by_other_nodes),
    ("lock_excludes_other_nodes", lock_excludes_other_nodes),
    ("changes_of_several_commits_are_merged", changes_of_several_commits_are_merged),
    ("deleted_rows_are_missing", deleted_rows_are_missing),
    ("nonce_is_found", nonce_is_found),
    ("superseded_node_sees_the_other_commit", superseded_node_sees_the_other_commit),
    ("dropped_lock_rolls_back", dropped_lock_rolls_back),
    ("snapshot_does_not_change", snapshot_does_not_change),
    ("lock_reads_rows", lock_reads_rows),
    ("other_history_is_detected", other_history_is_detected),
    ("pruned_position_is_detected", pruned_position_is_detected),
    ("many_keys_are_committed", many_keys_are_committed),
    ("any_text_is_stored", any_text_is_stored),
    ("any_value_is_stored", any_value_is_stored),
    ("schema_changes_with_a_commit", schema_changes_with_a_commit),
    ("duty_has_one_holder", duty_has_one_holder),
    ("nodes_are_listed", nodes_are_listed),
];

/// The position of a cluster that [`create`] has created.
pub const FIRST: Position = Position { commit: 0, nonce: 77 };

fn head(position: Position) -> Head {
    Head {
        cluster: "cluster".to_owned(),
        position,
        schema: 12,
        sequences: r#"{"object":3}"#.to_owned(),
    }
}

/// Creates a cluster whose table of objects has these rows.
pub fn create(database: &dyn SharedDatabase, rows: &[(i64, &str)]) -> Result<()> {
    database.create(&[object_table(), mark_table()], &head(FIRST), &mut |sink: &mut dyn RowSink| {
        sink.send(&object_table(), objects(rows))
    })
}

/// Describes a commit after the head of a lock.
pub fn next(locked: &dyn LockedHead, nonce: i64, keys: &[(&str, &[i64])]) -> NewCommit {
    let keys = keys.iter().map(|(table, keys)| ((*table).to_owned(), keys.to_vec()));
    NewCommit {
        position: Position { commit: locked.head().position.commit + 1, nonce },
        keys: keys.collect(),
        sequences: format!(r#"{{"object":{nonce}}}"#),
        schema: None,
    }
}

/// Commits objects, and deletes the rows of `keys` that `rows` lacks.
pub fn commit(
    database: &dyn SharedDatabase,
    after: Position,
    nonce: i64,
    keys: &[i64],
    rows: &[(i64, &str)],
) -> Position {
    let mut locked = database.lock(after).expect("the lock is granted");
    locked.send(&object_table(), keys, objects(rows));
    let new = next(locked.as_ref(), nonce, &[("object", keys)]);
    let outcome = locked.commit(&new);
    assert!(matches!(outcome, CommitOutcome::Committed), "{outcome:?}");
    new.position
}

/// Reads a table, in the order of its keys.
pub fn all(database: &dyn SharedDatabase, table: &SharedTable) -> Rows {
    let mut snapshot = database.snapshot(None).expect("a snapshot is opened");
    all_of(snapshot.as_mut(), table)
}

fn all_of(snapshot: &mut dyn SharedSnapshot, table: &SharedTable) -> Rows {
    let mut all = Rows::empty(table);
    let read = snapshot.all_rows(table, &mut |rows| {
        append(&mut all, rows);
        Ok(())
    });
    read.expect("all rows are read");
    sorted(&all)
}

/// The changed keys of one table, in order. Asserts that no key is repeated.
fn changed(changes: &ChangedKeys, table: &str) -> Vec<i64> {
    let mut keys = changes.get(table).cloned().unwrap_or_default();
    keys.sort_unstable();
    let count = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), count, "a key is repeated");
    keys
}

fn created_once_with_all_rows(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    let texts: Vec<String> = (0..5_000).map(|key| format!("text {key}")).collect();
    let rows: Vec<(i64, &str)> = (1..).zip(texts.iter().map(String::as_str)).collect();
    let created = a.create(&[mark_table(), object_table()], &head(FIRST), &mut |sink| {
        sink.send(&object_table(), objects(&rows[..3_000]))?;
        sink.send(&object_table(), objects(&rows[3_000..]))?;
        sink.send(&mark_table(), marks(vec![3, 5]))
    });
    created.expect("the cluster is created");
    assert_eq!(all(b, &object_table()), objects(&rows));
    assert_eq!(all(b, &mark_table()), marks(vec![3, 5]));
    assert_eq!(b.snapshot(None).expect("a snapshot").head(), &head(FIRST));
    for database in [a, b] {
        let again = create(database, &[]);
        assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
    }
    assert_eq!(all(a, &object_table()).keys.len(), 5_000);
}

fn created_by_one_of_two_nodes(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    let created = thread::scope(|scope| {
        let other = scope.spawn(|| create(b, &[(1, "b")]));
        [create(a, &[(1, "a")]), other.join().expect("no panic")]
    });
    let winners = created.iter().filter(|created| created.is_ok()).count();
    assert_eq!(winners, 1, "{created:?}");
    let conflicts = created.iter().filter(|created| matches!(created, Err(Error::Conflict(_))));
    assert_eq!(conflicts.count(), 1, "{created:?}");
    let text = if created[0].is_ok() { "a" } else { "b" };
    assert_eq!(all(a, &object_table()), objects(&[(1, text)]));
}

fn creation_that_fails_leaves_nothing(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    let failed = a.create(&[object_table(), mark_table()], &head(FIRST), &mut |sink| {
        sink.send(&object_table(), objects(&[(1, "one")]))?;
        Err(Error::Gone("the source".to_owned()))
    });
    assert!(matches!(failed, Err(Error::Gone(_))), "{failed:?}");
    create(b, &[(2, "two")]).expect("the database is still empty");
    assert_eq!(all(a, &object_table()), objects(&[(2, "two")]));
}

fn missing_cluster_is_reported(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    let is_missing = |error: Option<Error>| matches!(error, Some(Error::NotFound { .. }));
    assert!(is_missing(a.check_head(FIRST).err()));
    assert!(is_missing(a.lock(FIRST).err()));
    assert!(is_missing(a.snapshot(None).err()));
    create(b, &[]).expect("the cluster is created");
    assert_eq!(a.check_head(FIRST).expect("a head").history, History::Same);
}

fn commit_is_seen_by_other_nodes(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[(1, "one"), (2, "two")]).expect("the cluster is created");
    let check = b.check_head(FIRST).expect("a head");
    assert_eq!((check.head, check.schema, check.history), (FIRST, 12, History::Same));

    let second = commit(a, FIRST, 78, &[2, 3], &[(2, "second"), (3, "three")]);
    assert_eq!(second, Position { commit: 1, nonce: 78 });
    for at in [FIRST, second] {
        let check = b.check_head(at).expect("a head");
        assert_eq!((check.head, check.history), (second, History::Same));
    }

    let mut snapshot = b.snapshot(Some(FIRST)).expect("a snapshot");
    assert_eq!(snapshot.history(), History::Same);
    assert_eq!(snapshot.head().position, second);
    assert_eq!(snapshot.head().schema, 12);
    assert_eq!(snapshot.head().sequences, r#"{"object":78}"#);
    assert_eq!(snapshot.changes().len(), 1);
    assert_eq!(changed(snapshot.changes(), "object"), [2, 3]);
    let rows = snapshot.rows(&object_table(), &[2, 3]).expect("rows");
    assert_eq!(sorted(&rows), objects(&[(2, "second"), (3, "three")]));
    drop(snapshot);

    let snapshot = b.snapshot(Some(second)).expect("a snapshot");
    assert_eq!((snapshot.history(), snapshot.changes().len()), (History::Same, 0));
    drop(snapshot);
    let locked = b.lock(second).expect("a lock");
    assert_eq!((locked.history(), locked.changes().len()), (History::Same, 0));
}

fn lock_excludes_other_nodes(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[]).expect("the cluster is created");
    let mut locked = a.lock(FIRST).expect("a lock");
    thread::scope(|scope| {
        let (sender, granted) = mpsc::channel();
        scope.spawn(move || {
            let locked = b.lock(FIRST).expect("the lock is granted after the commit");
            sender.send((locked.head().clone(), locked.changes().clone())).expect("a receiver");
        });
        let waited = granted.recv_timeout(Duration::from_millis(200));
        assert_eq!(waited, Err(RecvTimeoutError::Timeout), "the lock excludes others");
        assert_eq!(a.check_head(FIRST).expect("reads continue").head, FIRST);

        locked.send(&object_table(), &[1], objects(&[(1, "one")]));
        let new = next(locked.as_ref(), 78, &[("object", &[1])]);
        assert!(matches!(locked.commit(&new), CommitOutcome::Committed));
        let (head, changes) = granted.recv_timeout(Duration::from_secs(9)).expect("the lock");
        assert_eq!(head.position, new.position, "the state after the commit is read");
        assert_eq!(changed(&changes, "object"), [1]);
    });
}

fn changes_of_several_commits_are_merged(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[]).expect("the cluster is created");
    let first = commit(a, FIRST, 1, &[1, 2], &[(1, "a"), (2, "b")]);
    let second = commit(b, FIRST, 2, &[2, 3], &[(2, "c"), (3, "d")]);
    let mut locked = a.lock(second).expect("a lock");
    locked.send(&mark_table(), &[9], marks(vec![9]));
    locked.send(&object_table(), &[3], objects(&[(3, "e")]));
    let new = next(locked.as_ref(), 3, &[("mark", &[9]), ("object", &[3])]);
    assert!(matches!(locked.commit(&new), CommitOutcome::Committed));

    let check = |after, objects: &[i64], marks: &[i64]| {
        let snapshot = b.snapshot(Some(after)).expect("a snapshot");
        assert_eq!(changed(snapshot.changes(), "object"), objects);
        assert_eq!(changed(snapshot.changes(), "mark"), marks);
        drop(snapshot);
        let locked = b.lock(after).expect("a lock");
        assert_eq!(changed(locked.changes(), "object"), objects);
        assert_eq!(changed(locked.changes(), "mark"), marks);
    };
    check(FIRST, &[1, 2, 3], &[9]);
    check(first, &[2, 3], &[9]);
    check(second, &[3], &[9]);
    check(new.position, &[], &[]);
    assert_eq!(all(b, &object_table()), objects(&[(1, "a"), (2, "c"), (3, "e")]));
}

fn deleted_rows_are_missing(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[(1, "one"), (2, "two"), (3, "three")]).expect("the cluster is created");
    commit(a, FIRST, 1, &[1, 2, 4, 5], &[(2, "new"), (4, "four")]);
    let mut snapshot = b.snapshot(Some(FIRST)).expect("a snapshot");
    let keys = changed(snapshot.changes(), "object");
    assert_eq!(keys, [1, 2, 4, 5]);
    let rows = snapshot.rows(&object_table(), &keys).expect("rows");
    assert_eq!(sorted(&rows), objects(&[(2, "new"), (4, "four")]));
    drop(snapshot);
    assert_eq!(all(b, &object_table()), objects(&[(2, "new"), (3, "three"), (4, "four")]));
}

fn nonce_is_found(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[]).expect("the cluster is created");
    commit(a, FIRST, -5, &[1], &[(1, "one")]);
    let mut locked = b.lock(FIRST).expect("a lock");
    assert_eq!(locked.nonce_of(0).expect("a response"), Some(77));
    assert_eq!(locked.nonce_of(1).expect("a response"), Some(-5));
    assert_eq!(locked.nonce_of(2).expect("a response"), None);
    // Afterwards the transaction can still be committed.
    let new = next(locked.as_ref(), 6, &[]);
    assert!(matches!(locked.commit(&new), CommitOutcome::Committed));
    assert_eq!(a.check_head(new.position).expect("a head").head, new.position);
}

fn superseded_node_sees_the_other_commit(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[]).expect("the cluster is created");
    let other = commit(b, FIRST, 9, &[1], &[(1, "b")]);
    let mut locked = a.lock(FIRST).expect("a lock");
    assert_eq!(locked.head().position, other);
    assert_eq!(locked.history(), History::Same);
    assert_eq!(locked.nonce_of(other.commit).expect("a response"), Some(9));
    // A commit with the number of the other one is refused.
    locked.send(&object_table(), &[1], objects(&[(1, "a")]));
    let outcome = locked.commit(&NewCommit {
        position: Position { commit: 1, nonce: 10 },
        keys: ChangedKeys::new(),
        sequences: String::new(),
        schema: None,
    });
    assert!(matches!(outcome, CommitOutcome::Failed(_)), "{outcome:?}");
    assert_eq!(all(b, &object_table()), objects(&[(1, "b")]));
}

fn schema_changes_with_a_commit(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[(1, "one")]).expect("the cluster is created");
    let statements = r#"ALTER TABLE "cms"."object" ADD COLUMN "note" text"#;
    let mut table = object_table();
    table.columns.push(Column { name: "note".to_owned(), kind: ColumnKind::Text });
    let mut rows = objects(&[(1, "one")]);
    rows.values.push(ColumnValues::Text(vec![Some("new".to_owned())]));
    let version = |node: &dyn SharedDatabase| node.check_head(FIRST).expect("a head").schema;
    let former = version(b);
    for is_kept in [false, true] {
        let mut locked = a.lock(FIRST).expect("a lock");
        locked.change_schema(statements).expect("the table can be changed");
        locked.send(&table, &[1], rows.clone());
        if is_kept {
            let change = SchemaChange { version: former + 1, statements: statements.to_owned() };
            let keys: &[(&str, &[i64])] = &[("object", &[1])];
            let new = NewCommit { schema: Some(change), ..next(locked.as_ref(), 78, keys) };
            let outcome = locked.commit(&new);
            assert!(matches!(outcome, CommitOutcome::Committed), "{outcome:?}");
        } else {
            drop(locked);
            assert_eq!(all(b, &object_table()), objects(&[(1, "one")]));
        }
        assert_eq!(version(b), former + i64::from(is_kept));
    }
    let snapshot = b.snapshot(Some(FIRST)).expect("a snapshot");
    assert_eq!((snapshot.head().schema, snapshot.history()), (former + 1, History::Same));
    drop(snapshot);
    assert_eq!(all(b, &table), rows);
    // Nodes with the former schema can still read.
    assert_eq!(all(b, &object_table()), objects(&[(1, "one")]));
}

fn dropped_lock_rolls_back(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[(1, "one")]).expect("the cluster is created");
    let mut locked = a.lock(FIRST).expect("a lock");
    locked.send(&object_table(), &[1, 2], objects(&[(2, "two")]));
    drop(locked);
    assert_eq!(all(b, &object_table()), objects(&[(1, "one")]));
    assert_eq!(b.check_head(FIRST).expect("a head").head, FIRST);
    drop(b.lock(FIRST).expect("the lock is free"));
    let new = commit(a, FIRST, 1, &[3], &[(3, "three")]);
    assert_eq!(new.commit, 1);
    assert_eq!(all(b, &object_table()), objects(&[(1, "one"), (3, "three")]));
}

fn snapshot_does_not_change(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[(1, "one")]).expect("the cluster is created");
    let mut snapshot = a.snapshot(Some(FIRST)).expect("a snapshot");
    let new = commit(b, FIRST, 1, &[1, 2], &[(1, "new"), (2, "two")]);
    assert_eq!(snapshot.head().position, FIRST);
    assert_eq!(snapshot.rows(&object_table(), &[1, 2]).expect("rows"), objects(&[(1, "one")]));
    assert_eq!(all_of(snapshot.as_mut(), &object_table()), objects(&[(1, "one")]));
    drop(snapshot);
    assert_eq!(a.check_head(FIRST).expect("a head").head, new);
    // No snapshot contains rows that are sent but not committed.
    let mut locked = b.lock(new).expect("a lock");
    locked.send(&object_table(), &[1], objects(&[]));
    assert_eq!(all(a, &object_table()).keys, [1, 2]);
}

fn lock_reads_rows(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[(1, "one")]).expect("the cluster is created");
    commit(b, FIRST, 1, &[1, 2], &[(1, "new"), (2, "two")]);
    let mut locked = a.lock(FIRST).expect("a lock");
    let keys = changed(locked.changes(), "object");
    let rows = locked.rows(&object_table(), &keys).expect("rows");
    assert_eq!(sorted(&rows), objects(&[(1, "new"), (2, "two")]));
    let mut count = 0;
    let read = locked.all_rows(&object_table(), &mut |rows| {
        count += rows.keys.len();
        Ok(())
    });
    read.expect("all rows are read");
    assert_eq!(count, 2);
    let stopped = locked.all_rows(&object_table(), &mut |_| Err(Error::Gone("enough".to_owned())));
    assert!(matches!(stopped, Err(Error::Gone(_))), "{stopped:?}");
}

fn other_history_is_detected(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[(1, "one")]).expect("the cluster is created");
    commit(a, FIRST, 1, &[1], &[(1, "new")]);
    let others = [
        Position { commit: 0, nonce: 76 },
        Position { commit: 1, nonce: 2 },
        Position { commit: 2, nonce: 1 },
    ];
    for other in others {
        assert_eq!(b.check_head(other).expect("a head").history, History::Other, "{other:?}");
        let snapshot = b.snapshot(Some(other)).expect("a snapshot");
        assert_eq!((snapshot.history(), snapshot.changes().len()), (History::Other, 0));
        drop(snapshot);
        let locked = b.lock(other).expect("a lock");
        assert_eq!((locked.history(), locked.changes().len()), (History::Other, 0));
    }
}

fn pruned_position_is_detected(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[]).expect("the cluster is created");
    let second = commit(a, FIRST, 1, &[1], &[(1, "a")]);
    let third = commit(a, second, 2, &[2], &[(2, "b")]);
    a.prune(Duration::from_hours(1)).expect("nothing is old");
    assert_eq!(b.check_head(FIRST).expect("a head").history, History::Same);
    a.prune(Duration::ZERO).expect("old commits are removed");
    for pruned in [FIRST, second] {
        assert_eq!(b.check_head(pruned).expect("a head").history, History::Pruned, "{pruned:?}");
        let snapshot = b.snapshot(Some(pruned)).expect("a snapshot");
        assert_eq!((snapshot.history(), snapshot.changes().len()), (History::Pruned, 0));
        drop(snapshot);
        let locked = b.lock(pruned).expect("a lock");
        assert_eq!((locked.history(), locked.changes().len()), (History::Pruned, 0));
    }
    assert_eq!(b.check_head(third).expect("a head").history, History::Same);
    let fourth = commit(b, third, 3, &[3], &[(3, "c")]);
    let snapshot = a.snapshot(Some(third)).expect("a snapshot");
    assert_eq!(snapshot.head().position, fourth);
    assert_eq!(changed(snapshot.changes(), "object"), [3]);
    drop(snapshot);
    assert_eq!(all(a, &object_table()).keys, [1, 2, 3]);
}

fn many_keys_are_committed(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[]).expect("the cluster is created");
    let keys: Vec<i64> = (1..=25_000).collect();
    let rows: Vec<(i64, &str)> = keys.iter().map(|key| (*key, "many")).collect();
    let second = commit(a, FIRST, 1, &keys, &rows);
    let mut snapshot = b.snapshot(Some(FIRST)).expect("a snapshot");
    assert_eq!(changed(snapshot.changes(), "object"), keys);
    assert_eq!(sorted(&snapshot.rows(&object_table(), &keys).expect("rows")), objects(&rows));
    drop(snapshot);
    assert_eq!(all(b, &object_table()), objects(&rows));
    commit(b, second, 2, &keys, &[(7, "left")]);
    let snapshot = a.snapshot(Some(second)).expect("a snapshot");
    assert_eq!(changed(snapshot.changes(), "object").len(), 25_000);
    drop(snapshot);
    assert_eq!(all(a, &object_table()), objects(&[(7, "left")]));
}

fn any_text_is_stored(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    let texts =
        ["\0", "\u{10}", "\u{10}0", "0\0\u{10}\0", "", "\\N \"{},'", "\u{1f600}", "\u{fffd}"];
    let rows: Vec<(i64, &str)> = (1..).zip(texts).collect();
    create(a, &rows).expect("the cluster is created");
    assert_eq!(all(b, &object_table()), objects(&rows));
    let moved: Vec<(i64, &str)> = (2..).zip(texts).collect();
    let keys: Vec<i64> = (1..10).collect();
    commit(b, FIRST, 1, &keys, &moved);
    let mut snapshot = a.snapshot(Some(FIRST)).expect("a snapshot");
    assert_eq!(sorted(&snapshot.rows(&object_table(), &keys).expect("rows")), objects(&moved));
}

fn any_value_is_stored(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    let rows = Rows {
        keys: vec![i64::MIN, 0, i64::MAX],
        values: vec![
            ColumnValues::Text(vec![None, Some(String::new()), None]),
            ColumnValues::Integer(vec![Some(i64::MAX), None, Some(i64::MIN)]),
            ColumnValues::Blob(vec![Some(vec![]), Some((0..=255).collect()), None]),
        ],
    };
    let created = a.create(&[object_table(), mark_table()], &head(FIRST), &mut |sink| {
        sink.send(&object_table(), rows.clone())
    });
    created.expect("the cluster is created");
    assert_eq!(all(b, &object_table()), rows);
    let second = commit(a, FIRST, 1, &rows.keys, &[]);
    let mut locked = a.lock(second).expect("a lock");
    locked.send(&object_table(), &rows.keys, rows.clone());
    let new = next(locked.as_ref(), 2, &[("object", &rows.keys)]);
    assert!(matches!(locked.commit(&new), CommitOutcome::Committed));
    assert_eq!(all(b, &object_table()), rows);
}
