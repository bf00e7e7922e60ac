//! Scheduled publications across processes: killed, delayed and concurrent ones on one data
//! directory.
//!
//! The processes run this test binary again, with the test [`child_process_entry_point`]. They read
//! their task from standard input and report their progress on standard output.

use std::{
    env,
    io::{BufRead, BufReader, Write, stdin},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use cms_core::{
    Caller, Cms, CoreConfig, Durability, clock::FixedClock, testing::START,
    wire::batch::BatchElements,
};
use cms_server::{ServerConfig, serve};
use rusqlite::{Connection, OpenFlags};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{definition, object};

/// More objects than one transaction publishes, so that several processes take part.
const OBJECTS: usize = 1201;
/// Minutes after the start of the clock: the scheduled time, and a time when all schedules are due.
const DUE_MINUTES: u32 = 10;
const LATE_MINUTES: i64 = 60;

/// A process that schedules is killed; two later servers publish every object once.
#[test]
fn schedules_of_a_killed_process_are_published_once_by_two_servers() {
    let folder = TempDir::new().unwrap();
    Process::start("schedule", folder.path()).kill();
    assert_eq!(Counts::read(folder.path()), Counts { scheduled: OBJECTS, ..Counts::default() });
    let servers = ["serve", "serve"].map(|role| Process::start(role, folder.path()));
    let started = Instant::now();
    while Counts::read(folder.path()).scheduled > 0 {
        assert!(started.elapsed() < Duration::from_mins(1), "no server publishes the due objects");
    }
    // A graceful shutdown finishes the running transactions.
    for server in servers {
        server.finish();
    }
    assert_eq!(Counts::read(folder.path()), Counts::all_published());
}

/// A process is killed while it publishes; two others publish the rest concurrently.
#[test]
fn kill_while_publishing_loses_and_repeats_nothing() {
    let folder = TempDir::new().unwrap();
    Process::start("schedule", folder.path()).kill();
    let mut first = Process::start("publish", folder.path());
    first.go();
    first.read("published");
    first.kill();
    let counts = Counts::read(folder.path());
    let done = counts.publications;
    // Only complete transactions took effect.
    assert!(done > 0 && (done.is_multiple_of(500) || done == OBJECTS), "{counts:?}");
    let wanted =
        Counts { scheduled: OBJECTS - done, publications: done, objects: done, public: done };
    assert_eq!(counts, wanted);

    let mut rivals = ["publish", "publish"].map(|role| Process::start(role, folder.path()));
    for rival in &mut rivals {
        rival.go();
    }
    for rival in rivals {
        rival.finish();
    }
    assert_eq!(Counts::read(folder.path()), Counts::all_published());
}

/// Counts of publications in the database.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    scheduled: usize,
    /// Rows of the journal, and the number of their objects.
    publications: usize,
    objects: usize,
    /// Objects that are public in all tables.
    public: usize,
}

impl Counts {
    fn all_published() -> Self {
        Self { scheduled: 0, publications: OBJECTS, objects: OBJECTS, public: OBJECTS }
    }

    fn read(folder: &Path) -> Self {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = Connection::open_with_flags(folder.join("cms.db"), flags).unwrap();
        let sql = "SELECT
             (SELECT count(*) FROM object WHERE scheduled_at IS NOT NULL),
             (SELECT count(*) FROM journal WHERE kind = 'object.publish'),
             (SELECT count(DISTINCT object) FROM journal WHERE kind = 'object.publish'),
             (SELECT count(*) FROM object JOIN published USING (pk)
              WHERE object.status = 'public' AND published.status = 'public'
                  AND object.public_version = 1 AND object.scheduled_zone IS NULL),
             (SELECT sum(published) FROM ctd_state)";
        let row = |row: &rusqlite::Row<'_>| {
            let counts = Self {
                scheduled: row.get(0)?,
                publications: row.get(1)?,
                objects: row.get(2)?,
                public: row.get(3)?,
            };
            Ok((counts, row.get(4)?))
        };
        let (counts, counted): (Self, usize) = database.query_row(sql, [], row).unwrap();
        assert_eq!(counts.public, counted, "the counter of the public view is wrong");
        counts
    }
}

/// A running child process, see [`child_process_entry_point`]; it is killed on drop.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a process and waits until it is ready.
    fn start(role: &str, folder: &Path) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "recovery::child_process_entry_point", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut process = Self { child, input, output };
        process.write(&format!("{role} {}", folder.display()));
        process.read("ready");
        process
    }

    fn write(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn go(&mut self) {
        self.write("go");
    }

    /// Reads up to a line that contains this word; the test harness prints other lines.
    fn read(&mut self, word: &str) {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "child ended before {word}");
        }
    }

    /// Kills the process.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until the process ends.
    fn finish(mut self) {
        drop(self.input.take());
        self.read("test result: ok");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
#[ignore = "runs only in the child processes that the tests above start"]
fn child_process_entry_point() {
    let mut line = String::new();
    stdin().read_line(&mut line).unwrap();
    let Some((role, folder)) = line.trim_end().split_once(' ') else { return };
    match role {
        "schedule" => schedule(&open(folder, 0)),
        "serve" => serve_until_signal(open(folder, LATE_MINUTES)),
        "publish" => publish(&open(folder, LATE_MINUTES)),
        other => panic!("unknown role: {other}"),
    }
}

/// Opens a data directory with a fixed clock, this many minutes after the start.
fn open(folder: &str, minutes: i64) -> Arc<Cms> {
    let clock = FixedClock::at(START);
    clock.advance(minutes * 60);
    let clock = Arc::new(clock);
    let config = CoreConfig { clock, durability: Durability::Normal, ..CoreConfig::new(folder) };
    Arc::new(Cms::open(config).unwrap())
}

#[expect(clippy::print_stdout, reason = "the process that started this one reads it")]
fn report(word: &str) {
    println!("{word}");
}

fn wait_for_signal() {
    stdin().read_line(&mut String::new()).unwrap();
}

fn schedule(cms: &Cms) {
    let local = Caller::local();
    let mut article = definition("article");
    article.extend(object(&json!({ "draftPublic": true })));
    cms.types().create(&local, article).unwrap();
    let ids: Vec<String> = (0..OBJECTS).map(|number| number.to_string()).collect();
    for ids in ids.chunks(1000) {
        let new: Vec<_> = ids.iter().map(|id| json!({ "id": id, "title": "T" })).collect();
        cms.objects().batch_create(&local, "article", &BatchElements::of(&new), false).unwrap();
    }
    let at =
        json!({ "scheduledAt": &crate::support::minute(DUE_MINUTES)[..19], "timeZone": "UTC" });
    for id in &ids {
        cms.publishing().schedule(&local, "article", id, object(&at)).unwrap();
    }
    report("ready");
    wait_for_signal();
}

fn serve_until_signal(cms: Arc<Cms>) {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let running = serve(ServerConfig { listen, ..ServerConfig::default() }, cms).unwrap();
    report("ready");
    wait_for_signal();
    running.shutdown();
}

fn publish(cms: &Cms) {
    report("ready");
    wait_for_signal();
    while cms.publishing().publish_due().unwrap() > 0 {
        report("published");
    }
}
