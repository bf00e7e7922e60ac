//! Load on the release server and on a bare baseline, alternating, with the same posts. Prints
//! requests per second and microseconds of processor time per request of both, and the ratio of the
//! requests.
//!
//! `cargo build --release && cargo run --release -p cms-benches` — only the ratios are comparable
//! between machines. [`operations`] are the requests, [`baseline`] lists what the baseline leaves out.

mod bare;
mod baseline;
mod client;
mod cluster;
mod corpus;
mod mixed;
mod operations;
mod search;
mod server;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use clap::Parser;

use crate::{
    bare::Bare,
    client::MakeRequest,
    corpus::Corpus,
    server::{KEY, Server},
};

#[derive(Parser)]
struct Options {
    /// Numbers of posts to measure with
    #[arg(long, value_delimiter = ',', default_value = "10000,200000")]
    posts: Vec<usize>,
    /// Numbers of connections to measure with
    #[arg(long, value_delimiter = ',', default_value = "1,16,64")]
    connections: Vec<usize>,
    /// Seconds of one measurement
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Measurements per figure, of which the median is printed
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// The binary of the server
    #[arg(long, default_value = "target/release/cms")]
    cms: PathBuf,
    /// Search for this number of minutes and print the memory of the server, instead of measuring
    #[arg(long)]
    soak: Option<u32>,
    /// Read, write and search for this number of minutes, with the first value of --posts and the
    /// last value of --connections, and check that no write is lost, instead of measuring
    #[arg(long)]
    mixed: Option<f64>,
    /// Number of kills of the server with --mixed
    #[arg(long, default_value_t = 5)]
    kills: u32,
    /// Use this number of nodes of a cluster behind `haproxy` with --mixed, instead of a single server
    #[arg(long, default_value_t = 0)]
    nodes: usize,
    /// Compare nodes of a cluster with a single server, instead of with the baseline
    #[arg(long)]
    cluster: bool,
    /// Measure only operations whose name contains this text
    #[arg(long, default_value = "")]
    only: String,
    /// Serve the baseline from this file, instead of measuring
    #[arg(long, hide = true)]
    serve_baseline: Option<PathBuf>,
}

#[tokio::main]
async fn main() {
    let options = Options::parse();
    if let Some(path) = options.serve_baseline {
        baseline::serve(path).await;
        return;
    }
    if let Some(minutes) = options.soak {
        soak(&options, minutes).await;
        return;
    }
    if let Some(minutes) = options.mixed {
        mixed::run(&options, minutes).await;
        return;
    }
    if options.cluster {
        cluster::run(&options).await;
        return;
    }
    print(
        "| posts | operation | connections | cms | bare | ratio | cms, µs | bare, µs |\n\
         |---|---|---|---|---|---|---|---|",
    );
    for posts in &options.posts {
        measure(&options, *posts).await;
    }
}

/// Measures all operations with one number of posts.
async fn measure(options: &Options, posts: usize) {
    let folder = tempfile::tempdir().expect("a temporary directory can be created");
    let start = start_up(options, folder.path());
    print(&format!("| {posts} | start to first response, idle memory | | {start} | | | | |"));
    let (data, bare) = (folder.path().join("data"), folder.path().join("bare.db"));
    prepare(options, folder.path(), &data, &bare, posts);
    let server = Server::cms(&options.cms, &data);
    server.wait_until_indexed(posts);
    let image = server.image();
    let rendered = server.get(&image);
    std::fs::write(bare.with_file_name(baseline::IMAGE), &rendered).expect("it is writable");
    let baseline = Server::baseline(&bare);
    let memory = server.memory_megabytes();
    for operation in operations::all(posts, &image) {
        if !operation.name.contains(&options.only) {
            continue;
        }
        let connections = operation.connections.unwrap_or(&options.connections);
        for connections in connections.iter().copied() {
            let (mut of_cms, mut of_bare) = (Vec::new(), Vec::new());
            let time = Duration::from_secs_f64(options.seconds);
            for _ in 0..options.rounds {
                for (server, make, figures) in [
                    (&server, &operation.cms, &mut of_cms),
                    (&baseline, &operation.bare, &mut of_bare),
                ] {
                    let next =
                        Arc::new(AtomicU64::new(COUNTER.fetch_add(1_000_000, Ordering::Relaxed)));
                    let before = server.processor_seconds();
                    let load = client::run(&server.address, connections, time, &next, make).await;
                    let seconds = server.processor_seconds() - before;
                    figures.push((load.per_second(), seconds * 1e6 / f64::from(load.responses)));
                }
            }
            let (of_cms, of_bare) = (medians(&of_cms), medians(&of_bare));
            print(&format!(
                "{} {:.0} | {:.0} |",
                cells(posts, &operation.name, &connections.to_string(), of_cms.0, of_bare.0),
                of_cms.1,
                of_bare.1
            ));
        }
    }
    let after = server.memory_megabytes();
    print(&format!(
        "| {posts} | memory before and after, MB | | {memory:.0}, {after:.0} | | | | |"
    ));
}

/// Searches continuously, with a few writes, with the first values of --posts and --connections.
async fn soak(options: &Options, minutes: u32) {
    let (posts, connections) = (options.posts[0], options.connections[0]);
    let folder = tempfile::tempdir().expect("a temporary directory can be created");
    let (data, bare) = (folder.path().join("data"), folder.path().join("bare.db"));
    prepare(options, folder.path(), &data, &bare, posts);
    let server = Server::cms(&options.cms, &data);
    server.wait_until_indexed(posts);
    let next = Arc::new(AtomicU64::new(1));
    let mixed: MakeRequest = Arc::new(move |number| {
        if number % 100 == 0 {
            let post = corpus::post(posts + usize::try_from(number).unwrap_or_default());
            return client::post("/api/v1/content/post", KEY, &post.to_string());
        }
        client::get(&format!("/api/v1/search?{}", corpus::query(number)), KEY)
    });
    print("| minute | searches per second | memory, MB | anonymous, MB |\n|---|---|---|---|");
    for half in 0..=2 * minutes {
        let memory = (server.memory_megabytes(), server.anonymous_megabytes());
        let mut rate = 0.0;
        if half > 0 {
            let time = Duration::from_secs(30);
            let load = client::run(&server.address, connections, time, &next, &mixed).await;
            rate = load.per_second();
        }
        let minute = f64::from(half) / 2.0;
        print(&format!("| {minute} | {rate:.0} | {:.0} | {:.0} |", memory.0, memory.1));
    }
}

/// The number of the next request. It is unique in a run, so that created posts are always new.
static COUNTER: AtomicU64 = AtomicU64::new(1_000_000);

/// Starts the server on an empty data directory; returns the milliseconds to the first response, and
/// the idle memory.
fn start_up(options: &Options, folder: &Path) -> String {
    let data = folder.join("empty");
    let first = Server::cms(&options.cms, &data);
    // Creates the search index, too: later starts open it.
    first.get("/api/v1/search?q=x");
    drop(first);
    let mut times: Vec<f64> = (0..9)
        .map(|_| {
            let start = Instant::now();
            let server = Server::cms(&options.cms, &data);
            server.wait_until_healthy();
            start.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let server = Server::cms(&options.cms, &data);
    server.wait_until_healthy();
    std::thread::sleep(Duration::from_millis(500));
    format!("{:.1} ms, {:.0} MB", times[4], server.memory_megabytes())
}

/// Fills both databases with the same posts, and measures the import.
fn prepare(options: &Options, folder: &Path, data: &Path, bare: &Path, posts: usize) {
    let lines = folder.join("posts.ndjson");
    corpus::write(&lines, (0..posts).map(corpus::post)).expect("the corpus can be written");
    let corpus = Corpus::write(folder);
    let cms =
        |arguments: &[&Path], command: &[&str]| server::run(&options.cms, data, command, arguments);
    cms(&corpus.types(), &["ctd", "apply"]);
    cms(&[&corpus.authors], &["import", "author"]);
    let start = Instant::now();
    cms(&[&lines], &["import", "post"]);
    let of_cms = per_second(posts, start);
    cms(&[&corpus::write_photo(folder)], &["media", "upload"]);
    let database = bare;
    let bare = Bare::create(database, "FULL");
    let text = std::fs::read_to_string(&lines).expect("it was just written");
    let lines: Vec<&str> = text.lines().collect();
    let start = Instant::now();
    for lines in lines.chunks(500) {
        let parse = |line| serde_json::from_str(line).expect("lines are JSON");
        bare.insert_all(&lines.iter().copied().map(parse).collect::<Vec<_>>());
    }
    let of_bare = per_second(posts, start);
    search::create(&database.with_file_name(search::FOLDER), posts);
    let figures = cells(posts, "import, objects per second", "", of_cms, of_bare);
    print(&format!("{figures} | |"));
}

#[expect(clippy::cast_precision_loss, reason = "no corpus has 2^52 posts")]
fn per_second(count: usize, start: Instant) -> f64 {
    count as f64 / start.elapsed().as_secs_f64()
}

/// A percentile below 100 of response times; 0 without any.
fn percentile(mut millis: Vec<f32>, percent: usize) -> f32 {
    millis.sort_by(f32::total_cmp);
    millis.get(millis.len() * percent / 100).copied().unwrap_or_default()
}

/// The medians of both figures.
fn medians(figures: &[(f64, f64)]) -> (f64, f64) {
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (first, second) = figures.iter().copied().unzip();
    (median(first), median(second))
}

/// The first cells of a row.
fn cells(posts: usize, name: &str, connections: &str, cms: f64, bare: f64) -> String {
    format!("| {posts} | {name} | {connections} | {cms:.0} | {bare:.0} | {:.2} |", cms / bare)
}

#[expect(clippy::print_stdout, reason = "the program prints tables")]
fn print(line: &str) {
    println!("{line}");
}
