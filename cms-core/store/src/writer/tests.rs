use std::{
    pin::pin,
    sync::mpsc,
    task::{Context, Poll, Waker},
};

use super::*;

fn count(connection: &Connection) -> i64 {
    connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
}

/// Returns these writes on the first call, then none.
fn once(mut writes: Vec<Run>) -> impl FnMut() -> Vec<Run> {
    move || std::mem::take(&mut writes)
}

fn insert(succeeds: bool) -> Run {
    Box::new(move |transaction| {
        transaction.execute("INSERT INTO t VALUES (1)", []).unwrap();
        if succeeds { WriteOutcome::Keep } else { WriteOutcome::Undo }
    })
}

#[test]
fn write_that_has_waited_for_too_long_is_refused() {
    let mut queue = Queue::default();
    let pending = [20, 11, 9].map(|seconds| {
        let (pending, result, completion) = pending_commit::new();
        let since = Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        let write = QueuedWrite { run: insert(true), is_dry_run: false, since, completion };
        queue.waiting.push_back(write);
        result.set(Ok(()));
        pending
    });
    queue.refuse_late();
    let is_refused = |pending: PendingCommit<()>| {
        let polled = pin!(pending).poll(&mut Context::from_waker(Waker::noop()));
        match polled {
            Poll::Ready(Err(Error::Busy(_))) => true,
            Poll::Ready(other) => panic!("{other:?}"),
            Poll::Pending => false,
        }
    };
    assert_eq!(pending.map(is_refused), [true, true, false]);
    assert_eq!(queue.waiting.len(), 1);
}

/// A database with a table, and the thread that writes to it.
fn start() -> (tempfile::TempDir, GroupCommit) {
    let (folder, connection) = crate::testing::database_with("CREATE TABLE t (a)");
    let commit_state = Arc::new(CommitStateCache::of(&folder.path().join("cms.db")));
    let writer = GroupCommit::start(connection, commit_state, Arc::default(), None).unwrap();
    (folder, writer)
}

/// A write that waits, so that others queue behind it.
fn block(writer: &GroupCommit) -> (PendingCommit<()>, mpsc::Sender<()>) {
    let (release, released) = mpsc::channel::<()>();
    let (start, started) = mpsc::channel();
    let blocked = writer.enqueue(
        move |_| {
            start.send(()).unwrap();
            released.recv().ok();
            Ok(())
        },
        false,
    );
    started.recv().unwrap();
    (blocked, release)
}

#[test]
fn waiting_writes_share_a_commit_and_run_without_their_callers() {
    let (folder, writer) = start();
    let (blocked, release) = block(&writer);
    let insert =
        |transaction: &WriteTransaction<'_>| transaction.execute("INSERT INTO t VALUES (1)", []);
    drop((0..5).map(|_| writer.enqueue(insert, false)).collect::<Vec<_>>());
    release.send(()).unwrap();
    blocked.wait().unwrap();
    let counts = writer.counts();
    assert_eq!((counts.batches, counts.writes, counts.waiting), (1, 6, 0));
    // Dropping the writer waits for the queued writes.
    let (_blocked, release) = block(&writer);
    drop(writer.enqueue(insert, false));
    drop(release);
    drop(writer);
    let reader = Connection::open(folder.path().join("cms.db")).unwrap();
    assert_eq!(count(&reader), 6);
}

#[test]
fn number_of_waiting_writes_is_limited() {
    let (_folder, writer) = start();
    let (_blocked, release) = block(&writer);
    let waiting: Vec<_> =
        (0..MAX_WAITING_WRITES).map(|_| writer.enqueue(|_| Ok(()), false)).collect();
    assert!(matches!(writer.enqueue(|_| Ok(()), false).wait(), Err(Error::Busy(_))));
    drop(release);
    for write in waiting {
        write.wait().unwrap();
    }
    writer.enqueue(|_| Ok(()), false).wait().unwrap();
}

fn commit(transaction: &WriteTransaction<'_>) -> Result<()> {
    transaction.execute("COMMIT", [])
}

/// The transaction ends with its batch in every case: the next one can begin.
#[test]
fn batch_always_ends_its_transaction() {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE t (a)").unwrap();
    let panics = || -> Run { Box::new(|_| panic!("a write that panics")) };
    let spoils = |sql: &'static str| -> Run {
        Box::new(move |transaction| {
            transaction.execute(sql, []).unwrap();
            WriteOutcome::Undo
        })
    };
    // writes, rows that they leave, whether the batch itself fails
    let batches: Vec<(Vec<Run>, i64, bool)> = vec![
        (vec![insert(true)], 1, false),
        (vec![insert(false)], 0, false),
        (vec![panics()], 0, false),
        (vec![insert(true), insert(false), panics(), insert(true)], 2, false),
        (vec![insert(false), insert(false)], 0, false),
        (vec![insert(true), spoils("ROLLBACK"), insert(true)], 0, true),
        (vec![insert(true), spoils("RELEASE write"), insert(true)], 0, true),
    ];
    for (index, (writes, rows, fails)) in batches.into_iter().enumerate() {
        let before = count(&connection);
        assert_eq!(
            run_batch(&connection, &mut once(writes), |_| Ok(()), commit).is_err(),
            fails,
            "batch {index}"
        );
        assert!(connection.is_autocommit(), "batch {index}");
        assert_eq!(count(&connection) - before, rows, "batch {index}");
    }
}

/// A full disk is never reported as success, and writes work again once there is space.
#[test]
fn full_disk_is_reported_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    let connection = Connection::open(folder.path().join("t.db")).unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a)").unwrap();
    let limit = |pages: u32| {
        let sql = format!("PRAGMA max_page_count = {pages}");
        connection.query_row(&sql, [], |_| Ok(())).unwrap();
    };
    limit(4);
    let grow = || -> Run {
        Box::new(|transaction| {
            match transaction.execute("INSERT INTO t VALUES (zeroblob(100000))", []) {
                Ok(()) => WriteOutcome::Keep,
                Err(Error::NoSpace(_)) => WriteOutcome::NoSpace,
                Err(error) => panic!("{error:?}"),
            }
        })
    };
    for writes in [vec![grow()], vec![insert(true), grow(), insert(true)]] {
        let before = count(&connection);
        let several = writes.len() > 1;
        match run_batch(&connection, &mut once(writes), |_| Ok(()), commit) {
            Ok(()) => assert_eq!(count(&connection) - before, i64::from(several) * 2),
            Err(Error::NoSpace(_)) => assert_eq!(count(&connection), before),
            Err(error) => panic!("{error:?}"),
        }
        assert!(connection.is_autocommit());
    }
    limit(10_000);
    let before = count(&connection);
    run_batch(&connection, &mut once(vec![insert(true), grow()]), |_| Ok(()), commit).unwrap();
    assert_eq!(count(&connection) - before, 2);
}
