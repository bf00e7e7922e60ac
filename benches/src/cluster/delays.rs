//! How long other nodes take: to see a write, to catch up, to start, to change a type, and to continue
//! without a node that is paused.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::time::{self, MissedTickBehavior};

use super::{BOUNDED, Run, services::Cluster};
use crate::{
    client::{self, Connection, MakeRequest},
    corpus, operations, per_second, percentile, print,
    server::{FREE_PORT, KEY, Server, run_remotely},
};

/// Rate and duration of the creates while staleness is measured.
const CREATES_PER_SECOND: u64 = 500;
const CREATE_SECONDS: u64 = 20;
/// How long a node is paused.
const PAUSE: Duration = Duration::from_secs(30);

/// Prints the figures of one section, with a cluster of its own.
pub(super) async fn measure(run: &Run<'_>, name: &str) {
    let cluster = run.cluster(&name.replace([' ', '-'], "_"));
    let first = cluster.node("n1", FREE_PORT, &[]);
    run.prepare(&first.address);
    match name {
        "staleness" => {
            let second = cluster.node("n2", FREE_PORT, &BOUNDED);
            staleness(&first, &second).await;
        }
        "catch-up" => catch_up(run, &cluster, &first),
        "new node" => new_node(run, &cluster, &first),
        "type change" => type_change(run, &cluster, &first).await,
        _ => pause(&cluster, &first).await,
    }
}

/// Measures the time from the response of a create to the first read on another node that finds the
/// object.
async fn staleness(first: &Server, second: &Server) {
    let mut ticks = time::interval(Duration::from_micros(1_000_000 / CREATES_PER_SECOND));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut observed = Vec::new();
    // The creates use 64 connections in turn, so that one may begin before the previous one has ended.
    let connections = (0..64).map(|_| Arc::new(tokio::sync::Mutex::new(None)));
    let connections: Vec<_> = connections.collect();
    let start = Instant::now();
    for number in 0..CREATES_PER_SECOND * CREATE_SECONDS {
        ticks.tick().await;
        let connection = Arc::clone(&connections[usize::try_from(number % 64).unwrap_or_default()]);
        let (first, second) = (first.address.clone(), second.address.clone());
        observed.push(tokio::spawn(async move {
            let post = corpus::post(usize::try_from(number).unwrap_or_default());
            {
                let mut connection = connection.lock().await;
                let connection = match &mut *connection {
                    Some(connection) => connection,
                    none => none.insert(Connection::open(&first).await.expect("it listens")),
                };
                let create = client::post("/api/v1/content/post", KEY, &post.to_string());
                let (status, _) = connection.exchange(&create).await.expect("it responds");
                assert_eq!(status, 200, "a create");
            }
            let created = Instant::now();
            if !number.is_multiple_of(20) {
                return None;
            }
            let read = client::get(&format!("/api/v1/content/post/post-{number}"), KEY);
            let mut connection = Connection::open(&second).await.expect("it listens");
            while connection.exchange(&read).await.expect("it responds").0 == 404 {
                time::sleep(Duration::from_millis(1)).await;
            }
            Some(created.elapsed().as_secs_f32() * 1000.0)
        }));
    }
    let mut millis = Vec::new();
    for observed in observed {
        millis.extend(observed.await.expect("an observer does not panic"));
    }
    let creates = usize::try_from(CREATES_PER_SECOND * CREATE_SECONDS).unwrap_or_default();
    let rate = per_second(creates, start);
    let longest = millis.iter().copied().fold(0.0, f32::max);
    let [p50, p99] = [50, 99].map(|percent| percentile(millis.clone(), percent));
    print(&format!(
        "| staleness at {rate:.0} creates per second, {} reads | p50 {p50:.0} ms, p99 {p99:.0} ms, longest {longest:.0} ms |",
        millis.len()
    ));
}

/// Measures the start of a node that was stopped while another node wrote.
fn catch_up(run: &Run<'_>, cluster: &Cluster<'_>, first: &Server) {
    let second = || {
        let start = Instant::now();
        (cluster.node("n2", FREE_PORT, &[]), start.elapsed())
    };
    drop(second());
    let idle_start = second().1;
    let posts = run.options.posts[0];
    run.import(&first.address, 0..posts);
    let (node, catch_up_start) = second();
    let rows = applied_rows(&node);
    let time = catch_up_start.saturating_sub(idle_start).as_secs_f64();
    print(&format!(
        "| catch-up with {posts} objects | {rows:.0} rows in {time:.1} s: {:.0} rows per second |",
        rows / time
    ));
}

fn applied_rows(node: &Server) -> f64 {
    let metrics = node.get("/metrics");
    let metrics = String::from_utf8(metrics).expect("metrics are text");
    let line = metrics
        .lines()
        .find_map(|line| line.strip_prefix("cms_cluster_rows_total{direction=\"applied\"} "));
    line.and_then(|count| count.parse().ok()).expect("a node has this metric")
}

/// Measures the start of an empty node.
fn new_node(run: &Run<'_>, cluster: &Cluster<'_>, first: &Server) {
    let posts = run.options.posts[0];
    run.import(&first.address, 0..posts);
    let start = Instant::now();
    let node = cluster.node("n2", FREE_PORT, &[]);
    let ready = start.elapsed().as_secs_f64();
    node.wait_until_indexed(posts);
    let indexed = start.elapsed().as_secs_f64();
    print(&format!(
        "| empty node with {posts} objects | ready after {ready:.1} s, all found by a search after {indexed:.1} s |"
    ));
}

/// Measures the rename of a property of all objects, while both nodes are read.
async fn type_change(run: &Run<'_>, cluster: &Cluster<'_>, first: &Server) {
    let posts = run.options.posts[0];
    let second = cluster.node("n2", FREE_PORT, &[]);
    run.import(&first.address, 0..posts);
    for node in [first, &second] {
        node.wait_until_indexed(posts);
    }
    let [_, post] = corpus::types();
    let changed = post.to_string().replace("\"excerpt\"", "\"summary\"");
    let mut changed: serde_json::Value = serde_json::from_str(&changed).expect("it was JSON");
    changed["metaDefinition"]["propertiesConfig"]["summary"]["renamedFrom"] = json!("excerpt");
    // Does not overwrite the file that the next section applies.
    let folder = tempfile::tempdir_in(run.services.folder()).expect("the folder is writable");
    let file = corpus::write_type(folder.path(), &changed);
    let nodes = [first, &second];
    let before = nodes.map(Server::anonymous_megabytes);
    let stop = Arc::new(AtomicBool::new(false));
    let readers = nodes.map(|node| {
        tokio::spawn(read_until(node.address.clone(), posts as u64, Arc::clone(&stop)))
    });
    let (binary, address) = (run.options.cms.clone(), first.address.clone());
    let start = Instant::now();
    let change = tokio::task::spawn_blocking(move || {
        run_remotely(&binary, &address, &["ctd", "apply"], &[&file]);
        start.elapsed().as_secs_f64()
    });
    let mut peak = before;
    let is_applied = || {
        let post = second.try_get("/api/v1/content/post/post-1").unwrap_or_default();
        String::from_utf8_lossy(&post).contains("\"summary\"")
    };
    while !change.is_finished() || !tokio::task::block_in_place(is_applied) {
        for (index, node) in nodes.into_iter().enumerate() {
            peak[index] = peak[index].max(node.anonymous_megabytes());
        }
        time::sleep(Duration::from_millis(50)).await;
    }
    let applied = start.elapsed().as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    let seconds = change.await.expect("the command succeeds");
    print(&format!(
        "| type change of {posts} objects | {seconds:.1} s, on the other node after {applied:.1} s; memory {:+.0} and {:+.0} MB |",
        peak[0] - before[0],
        peak[1] - before[1]
    ));
    for (node, reader) in ["that changes the type", "that applies it"].iter().zip(readers) {
        let (reads, failed, longest) = reader.await.expect("a reader does not panic");
        print(&format!(
            "| reads on the node {node} | {reads}, {failed} failed, longest {:.1} s |",
            longest.as_secs_f64()
        ));
    }
}

/// Reads objects in turn; returns the number of reads, of failed ones, and the longest time.
async fn read_until(address: String, posts: u64, stop: Arc<AtomicBool>) -> (u32, u32, Duration) {
    let mut connection = Connection::open(&address).await.expect("it listens");
    let (mut reads, mut failed, mut longest) = (0, 0, Duration::ZERO);
    while !stop.load(Ordering::Relaxed) {
        let read = client::get(&operations::path(u64::from(reads), posts), KEY);
        let start = Instant::now();
        let (status, _) = connection.exchange(&read).await.expect("it responds");
        longest = longest.max(start.elapsed());
        reads += 1;
        failed += u32::from(status != 200);
        time::sleep(Duration::from_millis(1)).await;
    }
    (reads, failed, longest)
}

/// Pauses a node while it writes, so most likely while it has the lock; another node writes, too.
async fn pause(cluster: &Cluster<'_>, first: &Server) {
    let second = cluster.node("n2", FREE_PORT, &[]);
    let create = operations::create().cms;
    let next = Arc::new(AtomicU64::new(0));
    let end = Instant::now() + Duration::from_secs(5) + PAUSE;
    let writers = |node: &Server| -> Vec<_> {
        (0..32)
            .map(|_| {
                let (address, next, create) =
                    (node.address.clone(), Arc::clone(&next), Arc::clone(&create));
                tokio::spawn(async move { write_until(&address, end, &next, &create).await })
            })
            .collect()
    };
    let (of_first, of_second) = (writers(first), writers(&second));
    time::sleep(Duration::from_secs(2)).await;
    first.signal("STOP");
    time::sleep(PAUSE).await;
    first.signal("CONT");
    let (mut writes, mut longest) = (Writes::default(), Duration::ZERO);
    for (writers, is_second) in [(of_first, false), (of_second, true)] {
        for writer in writers {
            let of_writer = writer.await.expect("a writer does not panic");
            if is_second {
                longest = longest.max(of_writer.longest);
            }
            writes.acknowledged.extend(of_writer.acknowledged);
            writes.failed += of_writer.failed;
        }
    }
    let mut connection = Connection::open(&second.address).await.expect("it listens");
    for number in &writes.acknowledged {
        let id = number + 1_000_000_000;
        let read = client::get(&format!("/api/v1/content/post/post-{id}"), KEY);
        let (status, _) = connection.exchange(&read).await.expect("it responds");
        assert_eq!(status, 200, "post-{id} was acknowledged");
    }
    print(&format!(
        "| pause of a node for {} s | longest create on the other node {:.1} s; {} acknowledged, none lost, {} failed |",
        PAUSE.as_secs(),
        longest.as_secs_f64(),
        writes.acknowledged.len(),
        writes.failed
    ));
}

/// The creates of one connection.
#[derive(Default)]
struct Writes {
    acknowledged: Vec<u64>,
    failed: u32,
    longest: Duration,
}

async fn write_until(
    address: &str,
    end: Instant,
    next: &AtomicU64,
    create: &MakeRequest,
) -> Writes {
    let mut writes = Writes::default();
    let mut connection = Connection::open(address).await.expect("it listens");
    while Instant::now() < end {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        match connection.exchange(&create(number)).await {
            Ok((200, _)) => writes.acknowledged.push(number),
            Ok((503 | 504, _)) => writes.failed += 1,
            Ok((status, body)) => {
                panic!("a create: {status} {}", String::from_utf8_lossy(body))
            }
            Err(_) => {
                writes.failed += 1;
                connection = Connection::open(address).await.expect("it listens");
            }
        }
        writes.longest = writes.longest.max(start.elapsed());
    }
    writes
}
