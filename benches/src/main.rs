//! Load on the release server and on a bare baseline, alternating, with the same posts. Prints
//! requests per second of both and their ratio.
//!
//! `cargo build --release && cargo run --release -p cms-benches` — only the ratios are comparable
//! between machines. [`baseline`] lists what the baseline leaves out.

mod bare;
mod baseline;
mod client;
mod corpus;
mod mixed;
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
use cms_core::testing::pictures;

use crate::{
    bare::Bare,
    client::MakeRequest,
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
    /// Read, write and search for this number of minutes, with the first number of posts and the
    /// last number of connections, and check that no write is lost, instead of measuring
    #[arg(long)]
    mixed: Option<f64>,
    /// Number of kills of the server with --mixed
    #[arg(long, default_value_t = 5)]
    kills: u32,
    /// Measure only operations whose name contains this text
    #[arg(long, default_value = "")]
    only: String,
    /// Serve the baseline from this file, instead of measuring
    #[arg(long, hide = true)]
    serve_baseline: Option<PathBuf>,
}

/// An operation, with its requests for the server and for the baseline.
struct Operation {
    name: String,
    cms: MakeRequest,
    bare: MakeRequest,
    connections: Option<&'static [usize]>,
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
        mixed::run(&options, minutes, options.kills).await;
        return;
    }
    print("| posts | operation | connections | cms | bare | ratio |\n|---|---|---|---|---|---|");
    for posts in &options.posts {
        measure(&options, *posts).await;
    }
}

/// Measures all operations with one number of posts.
async fn measure(options: &Options, posts: usize) {
    let folder = tempfile::tempdir().expect("a temporary directory can be created");
    let start = start_up(options, folder.path());
    print(&format!("| {posts} | start to first response, idle memory | | {start} | | |"));
    let (data, bare) = (folder.path().join("data"), folder.path().join("bare.db"));
    prepare(options, folder.path(), &data, &bare, posts);
    let server = Server::cms(&options.cms, &data);
    server.wait_until_indexed(posts);
    let image = server.image();
    let rendered = server.get(&image);
    std::fs::write(bare.with_file_name(baseline::IMAGE), &rendered).expect("as in prepare");
    let limit = Server::baseline(&bare);
    let memory = server.memory_megabytes();
    for operation in operations(posts, &image) {
        if !operation.name.contains(&options.only) {
            continue;
        }
        let connections = operation.connections.unwrap_or(&options.connections);
        for connections in connections.iter().copied() {
            let (mut of_cms, mut of_bare) = (Vec::new(), Vec::new());
            let time = Duration::from_secs_f64(options.seconds);
            for _ in 0..options.rounds {
                for (server, make, results) in [
                    (&server, &operation.cms, &mut of_cms),
                    (&limit, &operation.bare, &mut of_bare),
                ] {
                    let next =
                        Arc::new(AtomicU64::new(COUNTER.fetch_add(1_000_000, Ordering::Relaxed)));
                    results
                        .push(client::run(&server.address, connections, time, &next, make).await);
                }
            }
            row(posts, &operation.name, &connections.to_string(), median(of_cms), median(of_bare));
        }
    }
    let after = server.memory_megabytes();
    print(&format!("| {posts} | memory before and after, MB | | {memory:.0}, {after:.0} | | |"));
}

/// Searches continuously, with a few writes, with the first number of posts and connections.
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
            rate = client::run(&server.address, connections, time, &next, &mixed).await;
        }
        let minute = f64::from(half) / 2.0;
        print(&format!("| {minute} | {rate:.0} | {:.0} | {:.0} |", memory.0, memory.1));
    }
}

/// Numbers of requests are unique in a run, so that created posts are always new.
static COUNTER: AtomicU64 = AtomicU64::new(1_000_000);

/// Starts the server on an empty data directory: milliseconds to the first response, idle memory.
fn start_up(options: &Options, folder: &Path) -> String {
    let data = folder.join("empty");
    drop(Server::cms(&options.cms, &data));
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
    let authors = folder.join("authors.ndjson");
    corpus::write(&lines, (0..posts).map(corpus::post)).expect("the corpus can be written");
    corpus::write(&authors, (0..corpus::AUTHORS).map(corpus::author)).expect("as above");
    let mut types = Vec::new();
    for content_type in corpus::types() {
        let path = folder.join(format!("{}.json", content_type["name"].as_str().expect("a name")));
        std::fs::write(&path, content_type.to_string()).expect("as above");
        types.push(path);
    }
    let cms =
        |arguments: &[&Path], command: &[&str]| server::run(&options.cms, data, command, arguments);
    cms(&[&types[0], &types[1]], &["ctd", "apply"]);
    cms(&[&authors], &["import", "author"]);
    let start = Instant::now();
    cms(&[&lines], &["import", "post"]);
    let of_cms = per_second(posts, start);
    let photo = folder.join("photo.jpg");
    std::fs::write(&photo, pictures::photo(2000, 1500)).expect("as above");
    cms(&[&photo], &["media", "upload"]);
    let bare = Bare::create(bare, "FULL");
    let text = std::fs::read_to_string(&lines).expect("it was just written");
    let lines: Vec<&str> = text.lines().collect();
    let start = Instant::now();
    for lines in lines.chunks(500) {
        let parse = |line| serde_json::from_str(line).expect("lines are JSON");
        bare.insert_all(&lines.iter().copied().map(parse).collect::<Vec<_>>());
    }
    let of_bare = per_second(posts, start);
    row(posts, "import, objects per second", "", of_cms, of_bare);
}

fn operations(posts: usize, image: &str) -> Vec<Operation> {
    let list = "/api/v1/content/post?limit=20";
    let filter =
        "%7B%22category%22%3A%7B%22type%22%3A%22equals%22%2C%22filter%22%3A%22category-7%22%7D%7D";
    let posts = posts as u64;
    let id = move |number: u64| (number.wrapping_mul(7_919)) % posts;
    let fixed = |name: &str, cms: String, bare: &str| Operation {
        name: name.to_owned(),
        cms: always(client::get(&cms, KEY)),
        bare: always(client::get(bare, KEY)),
        connections: None,
    };
    let create = |number: u64| {
        let number = usize::try_from(number).unwrap_or_default();
        corpus::post(number + 1_000_000_000).to_string()
    };
    let mut operations = vec![
        Operation {
            name: "one object by id".to_owned(),
            cms: Arc::new(move |n| {
                client::get(&format!("/api/v1/content/post/post-{}", id(n)), KEY)
            }),
            bare: Arc::new(move |n| client::get(&format!("/id/post-{}", id(n)), KEY)),
            connections: None,
        },
        fixed("20 ordered by a property", format!("{list}&order_by=rank"), "/ordered"),
        fixed("20 filtered", format!("{list}&filters={filter}"), "/filtered"),
        fixed("20 hydrated", format!("{list}&order_by=rank&hydrate=1"), "/hydrated"),
        fixed("page 400", format!("{list}&order_by=rank&page=400"), "/page"),
        fixed("a rendered image", image.to_owned(), "/image"),
        fixed("a rendered image, from disk", image.to_owned(), "/image-on-disk"),
        Operation {
            name: "create".to_owned(),
            cms: Arc::new(move |n| client::post("/api/v1/content/post", KEY, &create(n))),
            bare: Arc::new(move |n| client::post("/create", KEY, &create(n))),
            connections: Some(&[1, 8]),
        },
    ];
    operations.extend(directions(list, &format!("&filters={filter}")));
    operations
}

/// Ascending and descending lists, by properties with many and with few values. The baseline reads
/// its ascending list for both, so that the ratios of a pair are comparable.
fn directions(list: &str, filter: &str) -> Vec<Operation> {
    const ORDERS: [(&str, &str); 5] = [
        ("rank", "order_by=rank"),
        ("date", "order_by=date"),
        ("featured", "order_by=featured"),
        ("creation", "order_by=internal.createdAt"),
        ("update", "order_by=internal.updatedAt"),
    ];
    let in_category = format!("order_by=internal.createdAt{filter}");
    let orders = ORDERS.into_iter().chain([("creation in a category", in_category.as_str())]);
    let mut operations = Vec::new();
    for (name, order) in orders {
        for (page, bare) in [(1, "/ordered"), (400, "/page")] {
            for direction in ["asc", "desc"] {
                let path = format!("{list}&{order}&order_direction={direction}&page={page}");
                operations.push(Operation {
                    name: format!("page {page} by {name}, {direction}"),
                    cms: always(client::get(&path, KEY)),
                    bare: always(client::get(bare, KEY)),
                    connections: Some(&[1]),
                });
            }
        }
    }
    operations
}

fn always(request: Vec<u8>) -> MakeRequest {
    Arc::new(move |_| request.clone())
}

#[expect(clippy::cast_precision_loss, reason = "no corpus has 2^52 posts")]
fn per_second(count: usize, start: Instant) -> f64 {
    count as f64 / start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn row(posts: usize, name: &str, connections: &str, cms: f64, bare: f64) {
    print(&format!(
        "| {posts} | {name} | {connections} | {cms:.0} | {bare:.0} | {:.2} |",
        cms / bare
    ));
}

#[expect(clippy::print_stdout, reason = "the program prints tables")]
fn print(line: &str) {
    println!("{line}");
}
