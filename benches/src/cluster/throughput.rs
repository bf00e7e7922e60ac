//! Requests per second of a single server and of nodes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use super::{BOUNDED, Run, free_address, services::slow_connection};
use crate::{
    COUNTER,
    client::{self, MakeRequest},
    medians, operations, per_second, print,
    server::{FREE_PORT, KEY, Server},
};

/// Number of posts that are read, and of posts in one import.
const POSTS: usize = 20_000;
/// The round-trip time to PostgreSQL in the section `slow`.
const ROUND_TRIP: Duration = Duration::from_millis(2);
/// Responses are not kept in memory: each read is a read of the replica.
const WITHOUT_CACHE: [&str; 2] = ["--response-cache", "0"];
/// Connections to each of several nodes.
const SCALE_CONNECTIONS: usize = 16;

/// Prints tables of the wanted sections.
pub(super) async fn measure(run: &Run<'_>, is_wanted: impl Fn(&str) -> bool) {
    print_header("single server", "node");
    let data = run.services.folder().join("single");
    let arguments = [&WITHOUT_CACHE[..], &["--durability", "full"]].concat();
    let single = Server::start(&run.options.cms, &data, FREE_PORT, &arguments, &[]);
    run.prepare(&single.address);
    let cluster = run.cluster("one");
    let node = cluster.node("n1", FREE_PORT, &WITHOUT_CACHE);
    run.prepare(&node.address);
    let (of_single, of_node) = ([&*single.address], [&*node.address]);
    let bounded = [&WITHOUT_CACHE[..], &BOUNDED].concat();
    let create = operations::create().cms;
    let read: MakeRequest =
        Arc::new(|number| client::get(&operations::path(number, POSTS as u64), KEY));
    if is_wanted("creates") {
        for connections in [8, 64] {
            compare(run, "creates", connections, &of_single, &of_node, &create).await;
        }
    }
    if is_wanted("import") {
        import(run, of_single[0], of_node[0]);
    }
    if is_wanted("reads") {
        for address in [of_single[0], of_node[0]] {
            run.import(address, 0..POSTS);
        }
        let second = cluster.node("n2", FREE_PORT, &bounded);
        for connections in [1, 16, 64] {
            let name = "reads by id, within=2s";
            compare(run, name, connections, &of_single, &[&second.address], &read).await;
            compare(run, "reads by id, strict", connections, &of_single, &of_node, &read).await;
        }
    }
    drop(node);
    if is_wanted("slow") {
        let mut cluster = run.cluster("slow");
        cluster.connect_to(slow_connection(run.services.postgres.port(), ROUND_TRIP).await);
        let node = cluster.node("n1", FREE_PORT, &WITHOUT_CACHE);
        run.prepare(&node.address);
        let name = "creates, slow connection (2 ms)";
        compare(run, name, 64, &of_single, &[&node.address], &create).await;
        let authors: MakeRequest =
            Arc::new(|_| client::get("/api/v1/content/author/author-7", KEY));
        for connections in [1, 64] {
            let name = "strict reads by id, slow connection (2 ms)";
            compare(run, name, connections, &of_single, &[&node.address], &authors).await;
        }
    }
    if is_wanted("four nodes") {
        let cluster = run.cluster("four");
        let nodes: Vec<_> = (1..=4)
            .map(|number| cluster.forwarding_node(&format!("n{number}"), &free_address(), &bounded))
            .collect();
        run.prepare(&nodes[0].address);
        // Imported before the creates, so that all nodes have applied the posts when the reads are
        // measured.
        run.import(&nodes[0].address, 0..POSTS);
        let all: Vec<_> = nodes.iter().map(|node| &*node.address).collect();
        print_header("one of four nodes", "several of them");
        compare(run, "creates, 4 nodes", 64, &all[..1], &all, &create).await;
        scale(run, &nodes, &read).await;
    }
}

/// Prints processor time per read on one and on several nodes. The nodes share the cores here, so their
/// rates do not show how reads scale. If a read does not take more processor time with more nodes, only
/// the cores limit the rate.
async fn scale(run: &Run<'_>, nodes: &[Server], read: &MakeRequest) {
    for count in [2, 4] {
        let mut figures = Vec::new();
        for _ in 0..run.options.rounds {
            let of_one = processor_time(run, &nodes[..1], read).await;
            figures.push((of_one, processor_time(run, &nodes[..count], read).await));
        }
        let name = format!("processor time of a read in µs, {count} nodes");
        print_row(&name, &format!("{SCALE_CONNECTIONS} each"), &figures);
    }
}

/// Microseconds of all nodes per read, with the connections spread over them.
async fn processor_time(run: &Run<'_>, nodes: &[Server], read: &MakeRequest) -> f64 {
    let addresses: Vec<_> = nodes.iter().map(|node| &*node.address).collect();
    let seconds = || nodes.iter().map(Server::processor_seconds).sum::<f64>();
    let before = seconds();
    let per_second = load(run, &addresses, SCALE_CONNECTIONS * nodes.len(), read).await;
    (seconds() - before) * 1e6 / (per_second * run.options.seconds)
}

/// Measures both in turns, and prints a row with their medians.
async fn compare(
    run: &Run<'_>,
    name: &str,
    connections: usize,
    first: &[&str],
    second: &[&str],
    make: &MakeRequest,
) {
    let mut figures = Vec::new();
    for _ in 0..run.options.rounds {
        let first = load(run, first, connections, make).await;
        figures.push((first, load(run, second, connections, make).await));
    }
    print_row(name, &connections.to_string(), &figures);
}

/// Prints the header of a table that compares two servers or groups of nodes.
fn print_header(first: &str, second: &str) {
    print(&format!("\n| operation | connections | {first} | {second} | ratio |"));
    print("|---|---|---|---|---|");
}

fn print_row(name: &str, connections: &str, figures: &[(f64, f64)]) {
    let (first, second) = medians(figures);
    let ratio = second / first;
    print(&format!("| {name} | {connections} | {first:.0} | {second:.0} | {ratio:.2} |"));
}

/// Requests per second, with the connections spread over the addresses.
async fn load(run: &Run<'_>, addresses: &[&str], connections: usize, make: &MakeRequest) -> f64 {
    let next = Arc::new(AtomicU64::new(COUNTER.fetch_add(1_000_000, Ordering::Relaxed)));
    let time = Duration::from_secs_f64(run.options.seconds);
    let loads: Vec<_> = addresses
        .iter()
        .map(|address| {
            let (address, next, make) =
                ((*address).to_owned(), Arc::clone(&next), Arc::clone(make));
            let connections = connections / addresses.len();
            tokio::spawn(
                async move { client::run(&address, connections, time, &next, &make).await },
            )
        })
        .collect();
    let mut rate = 0.0;
    for load in loads {
        rate += load.await.expect("a load does not panic").per_second();
    }
    rate
}

fn import(run: &Run<'_>, single: &str, node: &str) {
    let mut figures = Vec::new();
    for round in 0..run.options.rounds {
        let first = 10_000_000 + round * POSTS;
        let [of_single, of_node] = [single, node].map(|address| {
            let start = Instant::now();
            run.import(address, first..first + POSTS);
            per_second(POSTS, start)
        });
        figures.push((of_single, of_node));
    }
    print_row("import, objects", "", &figures);
}
