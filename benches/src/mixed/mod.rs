//! Reads, writes and searches at once on a server that is killed now and then: is everything there
//! that was acknowledged, is every answer right, and does the server stay as fast and as small as it
//! was? A backup is made under way, and somebody follows the changes.
//!
//! Of 100 requests 90 read, 8 write and 2 search. Each writer has objects of its own, see [`model`].

mod follower;
mod model;
mod writer;

use std::{
    path::Path,
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use self::{
    follower::{Seen, place},
    model::Model,
    writer::{Shared, Tally, work},
};
use crate::{
    Options,
    client::Connection,
    per_second, print,
    server::{self, KEY, Server},
};

/// What follows a start is not counted: the database is not in memory yet.
const SETTLING: Duration = Duration::from_secs(3);

/// Runs for so many minutes over the first number of posts, with a `kill -9` after each of the
/// `stretches` but the last.
pub(crate) async fn run(options: &Options, minutes: f64, kills: u32) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (data, bare) = (folder.path().join("data"), folder.path().join("bare.db"));
    crate::prepare(options, folder.path(), &data, &bare, options.posts[0]);
    let mut server = Server::cms(&options.cms, &data);
    let address = server.address.clone();
    server.wait_until_indexed(options.posts[0]);
    let picture = server.picture();

    let mut asking = Connection::open(&address).await.expect("the server listens");
    let begin = place(&mut asking, None).await.expect("it answers").next;
    let (seen, ends) = (Seen::default(), Arc::new(AtomicBool::new(false)));
    let following =
        follower::follow(address.clone(), begin.clone(), Arc::clone(&seen), Arc::clone(&ends));
    let following = tokio::spawn(following);

    let connections = options.connections.last().copied().unwrap_or(64);
    let shared = Arc::new(Shared {
        address: address.clone(),
        posts: options.posts[0] as u64,
        picture,
        ends: AtomicBool::new(false),
        tally: Mutex::default(),
    });
    let models: Vec<_> = (0..connections).map(|_| Arc::new(Mutex::new(Model::default()))).collect();
    let writers: Vec<_> = (0..)
        .zip(&models)
        .map(|(number, model)| tokio::spawn(work(number, Arc::clone(&shared), Arc::clone(model))))
        .collect();

    print(
        "| stretch | requests per second | p50, ms | p99, ms | p99 of writes, ms | memory, MB | of it its own, MB | restart, ms |",
    );
    print("|---|---|---|---|---|---|---|---|");
    let time = Duration::from_secs_f64(minutes * 60.0 / f64::from(kills + 1));
    let mut backup = None;
    for stretch in 0..=kills {
        tokio::time::sleep(SETTLING).await;
        shared.take_tally();
        let start = Instant::now();
        if stretch == kills / 2 {
            backup = Some(tokio::spawn(back_up(
                options.cms.clone(),
                address.clone(),
                folder.path().join("site.tar"),
                models.clone(),
            )));
        }
        tokio::time::sleep(time.saturating_sub(SETTLING)).await;
        let tally = shared.take_tally();
        let rate = per_second(tally.answers(), start);
        let memory = (server.memory_megabytes(), server.own_megabytes());
        let mut restart = String::new();
        if stretch < kills {
            // Whoever waits for it waits until it is back.
            drop(server);
            let killed = Instant::now();
            server = Server::cms_at(&options.cms, &data, &address);
            server.wait_until_healthy();
            restart = format!("{:.0}", killed.elapsed().as_secs_f64() * 1000.0);
        }
        tell(stretch, rate, tally, memory, &restart);
    }
    shared.ends.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.expect("a writer finds nothing wrong");
    }
    let backup = backup.expect("one stretch has it").await.expect("a backup is made");

    let found = compare(&address, &models).await;
    let changes = follow_again(&address, &begin, &seen).await;
    ends.store(true, Ordering::Relaxed);
    following.await.expect("it ends");
    let copied = restore(options, folder.path(), &backup, &models).await;
    print(&format!(
        "\n{found} objects are what was acknowledged, {changes} changes were followed once and in \
         order, {copied} objects of the backup are what they were or became; {} answers were wrong",
        shared.wrong()
    ));
    assert_eq!(shared.wrong(), 0, "see above");
}

fn tell(stretch: u32, rate: f64, tally: Tally, memory: (f64, f64), restart: &str) {
    let Tally { reads, writes, .. } = tally;
    print(&format!(
        "| {stretch} | {rate:.0} | {:.1} | {:.1} | {:.1} | {:.0} | {:.0} | {restart} |",
        percentile(reads.clone(), 50),
        percentile(reads, 99),
        percentile(writes, 99),
        memory.0,
        memory.1
    ));
}

fn percentile(mut millis: Vec<f32>, percent: usize) -> f32 {
    millis.sort_by(f32::total_cmp);
    millis.get(millis.len() * percent / 100).copied().unwrap_or_default()
}

/// A backup, and what was acknowledged before it began.
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
    assert!(status.success(), "the backup is made");
    BackedUp { file, before }
}

fn copies(models: &[Arc<Mutex<Model>>]) -> Vec<Model> {
    models.iter().map(|model| model.lock().expect("no holder panics").clone()).collect()
}

/// Reads every object that was ever written, and counts them.
async fn compare(address: &str, models: &[Arc<Mutex<Model>>]) -> usize {
    let mut connection = Connection::open(address).await.expect("the server listens");
    let mut count = 0;
    for model in models {
        let ids = model.lock().expect("no holder panics").ids();
        for id in ids {
            let found = writer::read(&mut connection, &id).await.expect("the server answers");
            let judged = model.lock().expect("no holder panics").finds(&id, found);
            judged.expect("no acknowledged write is lost");
            count += 1;
        }
    }
    count
}

/// Compares what a follower saw with what the server says now, and counts it.
async fn follow_again(address: &str, begin: &str, seen: &Seen) -> usize {
    let mut connection = Connection::open(address).await.expect("the server listens");
    let (mut wanted, mut since, mut more) = (Vec::new(), begin.to_owned(), true);
    while more {
        let page = place(&mut connection, Some(&since)).await.expect("the server answers");
        wanted.extend(page.numbers);
        (since, more) = (page.next, page.more);
    }
    for _ in 0..100 {
        let is_there = seen.lock().expect("no holder panics").len() >= wanted.len();
        if is_there {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(*seen.lock().expect("no holder panics") == wanted, "each change once and in order");
    wanted.len()
}

/// Restores the backup, has it checked, and compares it with what was acknowledged before.
async fn restore(
    options: &Options,
    folder: &Path,
    backup: &BackedUp,
    models: &[Arc<Mutex<Model>>],
) -> usize {
    let data = folder.join("restored");
    server::run(&options.cms, &data, &["restore"], &[&backup.file]);
    // Ends with 6, which is no success, when something is wrong.
    server::run(&options.cms, &data, &["check"], &[]);
    let server = Server::cms(&options.cms, &data);
    let mut connection = Connection::open(&server.address).await.expect("the server listens");
    let mut count = 0;
    for (before, later) in backup.before.iter().zip(copies(models)) {
        for id in before.ids() {
            let copied = writer::read(&mut connection, &id).await.expect("the server answers");
            assert!(before.is_in_copy(&id, copied, &later), "{id} is {copied:?} in the backup");
            count += 1;
        }
    }
    count
}
