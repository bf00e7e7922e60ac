//! Broken connections, rejected statements, restarts, and paused nodes.

use std::{
    thread,
    time::{Duration, Instant},
};

use cms_model::error::Error;
use cms_store::cluster::{
    contract::{FIRST, all, commit, create, next, object_table, objects},
    database::{CommitOutcome, Membership, NewCommit, Position, SharedDatabase},
};

use crate::{
    proxy::{At, ConnectionError, Proxy},
    server::{Server, open},
};

#[test]
fn commit_whose_response_is_lost_is_found_by_its_nonce() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("lost");
    let proxy = Proxy::start(server.port());
    let node = open(proxy.port, &database);
    create(&node, &[]).unwrap();

    for (error, is_committed) in
        [(ConnectionError::SwallowResponse, true), (ConnectionError::CutBefore, false)]
    {
        let at = node.snapshot(None).unwrap().head().position;
        let mut locked = node.lock(at).unwrap();
        locked.send(&object_table(), &[1], objects(&[(1, "one")]));
        let new = next(locked.as_ref(), 78, &[("object", &[1])]);
        proxy.arm(error, At::Text("COMMIT"));
        let outcome = locked.commit(&new);
        assert!(matches!(outcome, CommitOutcome::Unknown), "{outcome:?}");

        let mut locked = node.lock(at).unwrap();
        assert_eq!(locked.nonce_of(at.commit).unwrap(), Some(at.nonce));
        let expected = is_committed.then_some(78);
        assert_eq!(locked.nonce_of(new.position.commit).unwrap(), expected, "{error:?}");
        assert_eq!(locked.head().position == new.position, is_committed);
    }
}

/// The connection breaks before, inside and after every message of a commit. As `Replica` does, the
/// node then looks for the nonce of its commit, and commits again if it is missing. The commit is
/// stored once.
#[test]
fn commit_is_stored_once_wherever_the_connection_breaks() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("cuts");
    let proxy = Proxy::start(server.port());
    let node = open(proxy.port, &database);
    let other = server.open(&database);
    create(&other, &[(1, "one")]).unwrap();
    let mut at = FIRST;
    let mut unknown = 0;
    let errors = [
        ConnectionError::CutBefore,
        ConnectionError::CutInside,
        ConnectionError::CutAfter,
        ConnectionError::SwallowResponse,
    ];
    for error in errors {
        for count in 0.. {
            let text = format!("{error:?} {count}");
            let nonce = at.commit + 1_000;
            proxy.arm(error, At::Count(count));
            let mut attempts = 0;
            let new = loop {
                attempts += 1;
                assert!(attempts < 4, "{text}");
                // `lock` repeats its requests on a new connection, or fails, and the caller repeats it.
                let mut locked = match node.lock(at) {
                    Ok(locked) => locked,
                    Err(Error::Busy(_)) => continue,
                    Err(error) => panic!("{text}: {error:?}"),
                };
                if locked.nonce_of(at.commit + 1).is_ok_and(|found| found == Some(nonce)) {
                    break locked.head().position;
                }
                locked.send(&object_table(), &[1, 2], objects(&[(2, &text)]));
                let new = next(locked.as_ref(), nonce, &[("object", &[1, 2])]);
                match locked.commit(&new) {
                    CommitOutcome::Committed => break new.position,
                    CommitOutcome::Unknown => unknown += 1,
                    CommitOutcome::Failed(error) => panic!("{text}: {error:?}"),
                }
            };
            assert_eq!(new, Position { commit: at.commit + 1, nonce }, "{text}");
            assert_eq!(all(&other, &object_table()), objects(&[(2, &text)]));
            at = new;
            if proxy.remove_unused_error() {
                break;
            }
        }
    }
    assert!(unknown > 20, "{unknown} outcomes were unknown");
    let count = server.sql(&database, "SELECT count(*) FROM cms.commit_log");
    assert_eq!(count, (at.commit + 1).to_string());
}

#[test]
fn rejected_statement_fails_the_commit() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("rejected");
    let node = server.open(&database);
    create(&node, &[]).unwrap();
    server.sql(
        &database,
        "CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN RAISE EXCEPTION USING MESSAGE = ''rejected'', ERRCODE = NEW.id; END';
         CREATE TRIGGER reject BEFORE INSERT ON cms.object FOR EACH ROW EXECUTE FUNCTION reject()",
    );
    let attempt = |code: &str| {
        let mut locked = node.lock(FIRST).unwrap();
        locked.send(&object_table(), &[1], objects(&[(1, code)]));
        // Statements after the rejected one have no effect either.
        locked.send(&object_table(), &[2], objects(&[]));
        let new = next(locked.as_ref(), 78, &[("object", &[1])]);
        locked.commit(&new)
    };
    let full = attempt("53100");
    assert!(matches!(full, CommitOutcome::Failed(Error::NoSpace(_))), "{full:?}");
    let cancelled = attempt("57014");
    assert!(matches!(cancelled, CommitOutcome::Failed(Error::Busy(_))), "{cancelled:?}");
    let duplicate = attempt("23505");
    assert!(matches!(duplicate, CommitOutcome::Failed(Error::Internal(_))), "{duplicate:?}");
    let serialization = attempt("40001");
    assert!(matches!(serialization, CommitOutcome::Unknown), "{serialization:?}");
    assert_eq!(node.check_head(FIRST).unwrap().head, FIRST);
    assert!(all(&node, &object_table()).is_empty());

    // Far more bytes than may be in flight: the error is detected while rows are sent.
    let mut locked = node.lock(FIRST).unwrap();
    let text = "53100".to_owned() + &" ".repeat(2_000_000);
    for key in 1..12 {
        locked.send(&object_table(), &[key], objects(&[(key, &text)]));
    }
    let new = next(locked.as_ref(), 78, &[("object", &[1])]);
    let outcome = locked.commit(&new);
    assert!(matches!(outcome, CommitOutcome::Failed(_)), "{outcome:?}");
    server.sql(&database, "DROP TRIGGER reject ON cms.object");
    commit(&node, FIRST, 79, &[1], &[(1, "one")]);
}

#[test]
fn large_rows_are_sent_and_read_in_parts() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("large");
    let node = server.open(&database);
    create(&node, &[]).unwrap();
    let text = "x".repeat(1_000_000);
    let rows: Vec<(i64, &str)> = (1..=40).map(|key| (key, text.as_str())).collect();
    let keys: Vec<i64> = (1..=40).collect();
    commit(&node, FIRST, 1, &keys, &rows);
    let mut parts = Vec::new();
    let mut snapshot = node.snapshot(None).unwrap();
    let visited = snapshot.all_rows(&object_table(), &mut |rows| {
        parts.push(rows.keys.len());
        Ok(())
    });
    visited.unwrap();
    assert_eq!(parts.iter().sum::<usize>(), 40);
}

#[test]
fn node_reconnects_after_a_restart_of_the_server() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("restart");
    let node = server.open(&database);
    create(&node, &[]).unwrap();
    let at = commit(&node, FIRST, 1, &[1], &[(1, "one")]);
    node.check_head(at).unwrap();
    node.duties().unwrap();
    let locked = node.lock(at).unwrap();

    server.kill();
    let new = next(locked.as_ref(), 2, &[]);
    let outcome = locked.commit(&new);
    assert!(matches!(outcome, CommitOutcome::Unknown), "{outcome:?}");
    let down = [
        node.check_head(at).err(),
        node.lock(at).err(),
        node.snapshot(None).err(),
        node.duties().err(),
        create(&node, &[]).err(),
    ];
    for error in down {
        let Some(Error::Busy(message)) = error else { panic!("{error:?}") };
        assert!(
            message.starts_with("the database of the cluster does not respond: postgres://127.")
        );
    }

    server.run();
    assert_eq!(node.check_head(at).unwrap().head, at);
    node.duties().unwrap();
    let at = commit(&node, at, 2, &[2], &[(2, "two")]);

    // The node does not notice a restart before it uses its connections again.
    server.kill();
    server.run();
    commit(&node, at, 3, &[3], &[(3, "three")]);
    node.duties().unwrap();
    assert_eq!(all(&node, &object_table()).keys, [1, 2, 3]);
}

#[test]
fn open_succeeds_while_the_server_is_down() {
    let Some(server) = Server::start() else { return };
    server.kill();
    let node = server.open("anything");
    assert!(matches!(node.check_head(FIRST), Err(Error::Busy(_))));
}

#[test]
fn lock_of_a_paused_node_is_released() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("paused");
    let proxy = Proxy::start(server.port());
    let (paused, other) = (open(proxy.port, &database), server.open(&database));
    create(&other, &[]).unwrap();
    let mut locked = paused.lock(FIRST).unwrap();
    locked.send(&object_table(), &[1], objects(&[(1, "paused")]));
    let new = next(locked.as_ref(), 2, &[("object", &[1])]);
    proxy.freeze(true);

    let started = Instant::now();
    let at = commit(&other, FIRST, 1, &[1], &[(1, "other")]);
    let waited = started.elapsed();
    assert!((Duration::from_secs(3)..Duration::from_secs(8)).contains(&waited), "{waited:?}");

    proxy.freeze(false);
    let outcome = locked.commit(&new);
    assert!(matches!(outcome, CommitOutcome::Unknown), "{outcome:?}");
    let mut locked = paused.lock(FIRST).unwrap();
    assert_eq!(locked.nonce_of(1).unwrap(), Some(at.nonce), "the other node was first");
    drop(locked);
    assert_eq!(all(&paused, &object_table()), objects(&[(1, "other")]));
}

/// The connections stay open, and nothing arrives.
#[test]
fn request_fails_if_the_server_does_not_respond() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("silent");
    let proxy = Proxy::start(server.port());
    let node = open(proxy.port, &database);
    create(&node, &[]).unwrap();
    node.check_head(FIRST).unwrap();
    let mut locked = node.lock(FIRST).unwrap();
    locked.send(&object_table(), &[1], objects(&[(1, "one")]));
    let new = next(locked.as_ref(), 1, &[("object", &[1])]);
    proxy.freeze(true);
    thread::scope(|scope| {
        scope.spawn(|| {
            let started = Instant::now();
            for limit in [10, 5] {
                // The second call opens a connection.
                let Err(Error::Busy(message)) = node.check_head(FIRST) else { panic!("a head") };
                assert!(message.ends_with(&format!("no response within {limit}s")), "{message}");
            }
            assert!(started.elapsed() < Duration::from_secs(20));
        });
        let outcome = locked.commit(&new);
        assert!(matches!(outcome, CommitOutcome::Unknown), "{outcome:?}");
    });
    proxy.freeze(false);
    assert_eq!(node.check_head(FIRST).unwrap().head, FIRST);
    commit(&node, FIRST, 1, &[1], &[(1, "one")]);
}

#[test]
fn lock_is_kept_alive_and_others_wait_ten_seconds() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("alive");
    let (node, other) = (server.open(&database), server.open(&database));
    create(&node, &[]).unwrap();
    let mut locked = node.lock(FIRST).unwrap();
    let started = Instant::now();
    let Some(Error::Busy(message)) = other.lock(FIRST).err() else { panic!("no lock") };
    let waited = started.elapsed();
    assert!((Duration::from_secs(9)..Duration::from_secs(13)).contains(&waited), "{waited:?}");
    assert!(message.contains("locked by another node"), "{message}");
    assert_eq!(other.check_head(FIRST).unwrap().head, FIRST);

    // The owner was idle for longer than the time after which PostgreSQL ends a transaction.
    locked.send(&object_table(), &[1], objects(&[(1, "one")]));
    let new = next(locked.as_ref(), 1, &[("object", &[1])]);
    let outcome = locked.commit(&new);
    assert!(matches!(outcome, CommitOutcome::Committed), "{outcome:?}");
    drop(other.lock(new.position).unwrap());
}

#[test]
fn lock_waits_for_other_threads() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("threads");
    let node = server.open(&database);
    create(&node, &[]).unwrap();
    thread::scope(|scope| {
        for nonce in 1..=8 {
            let node = &node;
            scope.spawn(move || {
                let mut locked = node.lock(FIRST).unwrap();
                locked.send(&object_table(), &[nonce], objects(&[(nonce, "x")]));
                let new = next(locked.as_ref(), nonce, &[("object", &[nonce])]);
                assert!(matches!(locked.commit(&new), CommitOutcome::Committed));
            });
        }
    });
    assert_eq!(all(&node, &object_table()).keys, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn commit_with_another_number_is_refused() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("number");
    let node = server.open(&database);
    create(&node, &[]).unwrap();
    let locked = node.lock(FIRST).unwrap();
    let position = Position { commit: 5, nonce: 1 };
    let commit = NewCommit { position, ..next(locked.as_ref(), 1, &[]) };
    let outcome = locked.commit(&commit);
    assert!(matches!(outcome, CommitOutcome::Failed(Error::Internal(_))), "{outcome:?}");
    assert_eq!(node.check_head(FIRST).unwrap().head, FIRST);
}

#[test]
fn old_rows_are_removed_together() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("prune");
    let node = server.open(&database);
    create(&node, &[]).unwrap();
    let mut at = FIRST;
    for nonce in 1..=5 {
        at = commit(&node, at, nonce, &[nonce], &[(nonce, "x")]);
    }
    // More commits than one statement removes.
    server.sql(
        &database,
        "INSERT INTO cms.commit_log SELECT -n, n, now(), '' FROM generate_series(1, 2500) n;
         INSERT INTO cms.change SELECT -n, 0, 'object', '{}' FROM generate_series(1, 2500) n;
         UPDATE cms.commit_log SET at = now() - interval '8 days' WHERE commit_no IN (4, 5);
         UPDATE cms.commit_log SET at = now() - interval '8 days' WHERE commit_no < 3;
         INSERT INTO cms.node SELECT n, n, '', 1, NULL, '', 0, 0, 0, 0, now() - n * interval '12 hours'
             FROM generate_series(0, 3) n",
    );
    assert_eq!(node.nodes().unwrap().iter().filter(|node| node.is_live).count(), 1);
    assert_eq!(node.nodes().unwrap().len(), 2);
    node.prune(Duration::from_hours(7 * 24)).unwrap();
    // The log has no gaps: commits 4 and 5 are old, but stay because commit 3 does.
    let commits = "SELECT string_agg(commit_no::text, ' ' ORDER BY commit_no) FROM";
    assert_eq!(server.sql(&database, &format!("{commits} cms.commit_log")), "3 4 5");
    assert_eq!(server.sql(&database, &format!("{commits} cms.change")), "3 4 5");
    assert_eq!(server.sql(&database, "SELECT count(*) FROM cms.node"), "2");
    node.prune(Duration::ZERO).unwrap();
    assert_eq!(server.sql(&database, &format!("{commits} cms.commit_log")), "5");
    assert_eq!(server.sql(&database, &format!("{commits} cms.change")), "5");
}

#[test]
fn tables_have_a_key_and_no_other_constraint() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("schema");
    create(&server.open(&database), &[]).unwrap();
    let of_object = |sql: &str| server.sql(&database, &format!("{sql} = 'cms.object'::regclass"));
    assert_eq!(of_object("SELECT indkey FROM pg_index WHERE indrelid"), "1");
    assert_eq!(of_object("SELECT contype FROM pg_constraint WHERE conrelid"), "p");
    let columns = "SELECT string_agg(attname || ' ' || atttypid::regtype || ' ' || attnotnull, ', '
        ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND attrelid";
    let expected = "pk bigint true, id text false, order bigint false, slots bytea false";
    assert_eq!(of_object(columns), expected);

    server.sql(
        "postgres",
        "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'",
    );
    let refused = create(&server.open("latin"), &[]);
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
}
