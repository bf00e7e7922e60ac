//! Time of a commit. Run it with `--ignored --nocapture`.

use std::time::{Duration, Instant};

use cms_store::cluster::{
    contract::{FIRST, create, mark_table, next, object_table, objects},
    database::{CommitOutcome, Head, SharedDatabase},
};

use crate::server::Server;

const COMMITS: i64 = 500;
const OBJECTS: i64 = 60;

#[test]
#[ignore = "measures, and checks nothing"]
fn commit_of_sixty_objects() {
    // With fsync.
    let Some(server) = Server::start_with("") else { return };
    let database = server.create_database("speed");
    let node = server.open(&database);
    create(&node, &[]).unwrap();
    let text = "x".repeat(1_000);
    let mut at = FIRST;
    let mut times: [Vec<Duration>; 3] = Default::default();
    for nonce in 1..=COMMITS {
        let keys: Vec<i64> = (0..OBJECTS).map(|object| nonce * OBJECTS + object).collect();
        // The text is in two columns.
        let rows: Vec<(i64, &str)> = keys.iter().map(|key| (*key, text.as_str())).collect();
        let rows = objects(&rows);
        let started = Instant::now();
        let mut locked = node.lock(at).unwrap();
        let granted = Instant::now();
        locked.send(&object_table(), &keys, rows);
        let sent = Instant::now();
        let new = next(locked.as_ref(), nonce, &[("object", &keys)]);
        assert!(matches!(locked.commit(&new), CommitOutcome::Committed));
        times[0].push(granted - started);
        times[1].push(sent - granted);
        times[2].push(sent.elapsed());
        at = new.position;
    }
    for (name, times) in ["lock", "send", "commit"].iter().zip(&mut times) {
        times.sort_unstable();
        println!(
            "{name}: median {:?}, p99 {:?}",
            times[times.len() / 2],
            times[times.len() * 99 / 100]
        );
    }
}

#[test]
#[ignore = "measures, and checks nothing"]
fn copy_of_one_hundred_thousand_objects() {
    let Some(server) = Server::start_with("") else { return };
    let database = server.create_database("copy");
    let node = server.open(&database);
    let text = "x".repeat(1_000);
    let tables = [object_table(), mark_table()];
    let head = Head {
        cluster: "cluster".to_owned(),
        position: FIRST,
        schema: 1,
        sequences: String::new(),
    };
    let started = Instant::now();
    let created = node.create(&tables, &head, &mut |sink| {
        for part in 0..50 {
            let keys = part * 2_000..(part + 1) * 2_000;
            let rows: Vec<(i64, &str)> = keys.map(|key| (key, text.as_str())).collect();
            sink.send(&object_table(), objects(&rows))?;
        }
        Ok(())
    });
    created.unwrap();
    println!("create: {:?}", started.elapsed());

    let started = Instant::now();
    let mut snapshot = node.snapshot(None).unwrap();
    let mut parts = 0;
    let read = snapshot.all_rows(&object_table(), &mut |_| {
        parts += 1;
        Ok(())
    });
    read.unwrap();
    println!("all rows: {:?} in {parts} parts", started.elapsed());

    let started = Instant::now();
    let keys: Vec<i64> = (0..100_000).collect();
    for keys in keys.chunks(2_000) {
        snapshot.rows(&object_table(), keys).unwrap();
    }
    println!("rows by key: {:?}", started.elapsed());
    drop(snapshot);

    let started = Instant::now();
    let mut locked = node.lock(FIRST).unwrap();
    for keys in keys.chunks(2_000) {
        let rows: Vec<(i64, &str)> = keys.iter().map(|key| (*key, text.as_str())).collect();
        locked.send(&object_table(), keys, objects(&rows));
    }
    let new = next(locked.as_ref(), 1, &[("object", &keys)]);
    assert!(matches!(locked.commit(&new), CommitOutcome::Committed));
    println!("commit of all: {:?}", started.elapsed());

    let at = new.position;
    node.check_head(at).unwrap();
    let started = Instant::now();
    for _ in 0..1_000 {
        node.check_head(at).unwrap();
    }
    println!("head check: {:?}", started.elapsed() / 1_000);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
}
