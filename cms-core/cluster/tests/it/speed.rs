//! Time of a commit. Run it with `--ignored --nocapture`.

use std::time::{Duration, Instant};

use cms_store::cluster::{
    contract::{FIRST, create, next, object, objects},
    database::{CommitOutcome, SharedDatabase},
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
        locked.send(&object(), &keys, rows);
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
