//! Concurrent reads, writes and searches on a server that is killed several times, or on nodes of a
//! cluster with the failures of [`target`]: checks that no acknowledged write is lost and that every
//! response is correct, and measures latency and memory.
//! A backup runs meanwhile, and a client follows the changes.
//!
//! Of 100 requests 90 read, 8 write and 2 search. Each writer has its own objects, see [`model`].

mod follower;
mod model;
mod target;
mod writer;

use std::{
    path::Path,
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use self::{
    follower::{Seen, read_changes},
    model::Model,
    target::Target,
    writer::{Failures, Shared, Tally, work},
};
use crate::{
    Options,
    client::Connection,
    cluster::services::Services,
    per_second, percentile, print,
    server::{self, KEY, Server},
};

/// Time after a start or failure that is not measured, because the database is not in memory yet.
const WARM_UP: Duration = Duration::from_secs(3);

/// Runs for `minutes` in `kills + 1` intervals with a failure between them.
pub(crate) async fn run(options: &Options, minutes: f64) {
    let folder = tempfile::tempdir().expect("a temporary directory can be created");
    let services = (options.nodes > 0).then(|| Services::start(&options.cms));
    let mut target = match &services {
        Some(services) => Target::nodes(options, services),
        None => Target::single(options, folder.path()),
    };
    let address = target.address().to_owned();
    target.any_server().wait_until_indexed(options.posts[0]);
    let image = target.any_server().image();

    let mut connection = Connection::open(&address).await.expect("the server listens");
    let begin = read_changes(&mut connection, None).await.expect("it responds").next;
    let (seen, stop) = (Seen::default(), Arc::new(AtomicBool::new(false)));
    let following =
        follower::follow(address.clone(), begin.clone(), Arc::clone(&seen), Arc::clone(&stop));
    let following = tokio::spawn(following);

    let connections = options.connections.last().copied().unwrap_or(64);
    let shared = Arc::new(Shared {
        address: address.clone(),
        posts: options.posts[0] as u64,
        image,
        is_cluster: services.is_some(),
        stop: AtomicBool::new(false),
        tally: Mutex::default(),
        wrong: AtomicU32::default(),
        failures: Failures::default(),
    });
    let models: Vec<_> = (0..connections).map(|_| Arc::new(Mutex::new(Model::default()))).collect();
    let writers: Vec<_> = (0..)
        .zip(&models)
        .map(|(number, model)| tokio::spawn(work(number, Arc::clone(&shared), Arc::clone(model))))
        .collect();

    print(
        "| interval | requests per second | p50, ms | p99, ms | p99 of writes, ms | memory, MB | anonymous, MB | failure, time until ready | failed reads, writes |",
    );
    print("|---|---|---|---|---|---|---|---|---|");
    let time = Duration::from_secs_f64(minutes * 60.0 / f64::from(options.kills + 1));
    let mut backup = None;
    tokio::time::sleep(WARM_UP).await;
    for interval in 0..=options.kills {
        shared.take_tally();
        let start = Instant::now();
        if interval == options.kills / 2 {
            backup = Some(tokio::spawn(back_up(
                options.cms.clone(),
                address.clone(),
                folder.path().join("site.tar"),
                models.clone(),
            )));
        }
        tokio::time::sleep(time.saturating_sub(WARM_UP)).await;
        let tally = shared.take_tally();
        let rate = per_second(tally.responses(), start);
        let memory = target.memory();
        let mut injected_failure = String::new();
        if interval < options.kills {
            injected_failure = tokio::task::block_in_place(|| target.fail(options, interval));
            tokio::time::sleep(WARM_UP).await;
        }
        print_interval(interval, rate, tally, memory, &injected_failure, shared.failures.take());
    }
    shared.stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.expect("a writer does not panic");
    }
    let backup = backup.expect("one interval has a backup").await.expect("the backup succeeds");

    let found = compare(&address, &models).await;
    let changes = compare_changes(&address, &begin, &seen).await;
    stop.store(true, Ordering::Relaxed);
    following.await.expect("it ends");
    tokio::task::block_in_place(|| target.compare());
    let copied = restore(options, folder.path(), &backup, &models).await;
    print(&format!(
        "\n{found} objects have their acknowledged state, {changes} changes were received once and \
         in order, {copied} objects of the backup have a state since its start; {} responses were wrong",
        shared.wrong()
    ));
    assert_eq!(shared.wrong(), 0, "see above");
}

fn print_interval(
    interval: u32,
    rate: f64,
    tally: Tally,
    memory: (f64, f64),
    injected_failure: &str,
    failed: (u32, u32),
) {
    let Tally { reads, writes, .. } = tally;
    print(&format!(
        "| {interval} | {rate:.0} | {:.1} | {:.1} | {:.1} | {:.0} | {:.0} | {injected_failure} | {}, {} |",
        percentile(reads.clone(), 50),
        percentile(reads, 99),
        percentile(writes, 99),
        memory.0,
        memory.1,
        failed.0,
        failed.1
    ));
}

/// A backup, and the acknowledged states before it started.
struct BackedUp {
    file: std::path::PathBuf,
    before: Vec<Model>,
}

async fn back_up(
    binary: std::path::PathBuf,
    address: String,
    file: std::path::PathBuf,
    models: Vec<Arc<Mutex<Model>>>,
) -> BackedUp {
    tokio::time::sleep(Duration::from_secs(2)).await;
    let before = copies(&models);
    let status = tokio::task::spawn_blocking({
        let file = file.clone();
        move || {
            let server = format!("http://{address}");
            let mut command = Command::new(binary);
            command.arg("backup").arg(&file).args(["--quiet", "--server", &server]);
            command.env("CMS_KEY", KEY).status()
        }
    });
    let status = status.await.expect("it does not panic").expect("the command was built");
    assert!(status.success(), "the backup succeeds");
    BackedUp { file, before }
}

fn copies(models: &[Arc<Mutex<Model>>]) -> Vec<Model> {
    models.iter().map(|model| model.lock().expect("no holder panics").clone()).collect()
}

/// Reads every object that was ever written; returns their number.
async fn compare(address: &str, models: &[Arc<Mutex<Model>>]) -> usize {
    let mut connection = Connection::open(address).await.expect("the server listens");
    let mut count = 0;
    for model in models {
        let ids = model.lock().expect("no holder panics").ids();
        for id in ids {
            let found = writer::read(&mut connection, &id).await.expect("the server responds");
            let result = model.lock().expect("no holder panics").check_read(&id, found);
            result.expect("no acknowledged write is lost");
            count += 1;
        }
    }
    count
}

/// Compares the changes that the follower received with the journal; returns their number.
async fn compare_changes(address: &str, begin: &str, seen: &Seen) -> usize {
    let mut connection = Connection::open(address).await.expect("the server listens");
    let (mut expected, mut since, mut more) = (Vec::new(), begin.to_owned(), true);
    while more {
        let page = read_changes(&mut connection, Some(&since)).await.expect("the server responds");
        expected.extend(page.numbers);
        (since, more) = (page.next, page.more);
    }
    for _ in 0..100 {
        let has_all = seen.lock().expect("no holder panics").len() >= expected.len();
        if has_all {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(*seen.lock().expect("no holder panics") == expected, "each change once and in order");
    expected.len()
}

/// Restores and checks the backup, and compares it with the acknowledged states before it.
async fn restore(
    options: &Options,
    folder: &Path,
    backup: &BackedUp,
    models: &[Arc<Mutex<Model>>],
) -> usize {
    let data = folder.join("restored");
    server::run(&options.cms, &data, &["restore"], &[&backup.file]);
    // Exits with 6, which is no success, if a check fails.
    server::run(&options.cms, &data, &["check"], &[]);
    let server = Server::cms(&options.cms, &data);
    let mut connection = Connection::open(&server.address).await.expect("the server listens");
    let mut count = 0;
    for (before, later) in backup.before.iter().zip(copies(models)) {
        for id in before.ids() {
            let copied = writer::read(&mut connection, &id).await.expect("the server responds");
            assert!(before.is_in_copy(&id, copied, &later), "{id} is {copied:?} in the backup");
            count += 1;
        }
    }
    count
}
