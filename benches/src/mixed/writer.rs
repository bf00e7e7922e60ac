//! One of the clients: its requests, and the checks of the responses.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::model::Model;
use crate::{
    client::{self, Connection},
    corpus,
    server::KEY,
};

const POSTS: &str = "/api/v1/content/post";
/// Maximum number of objects that a client owns.
const MAX_OWN_OBJECTS: usize = 20;
/// Time after which a write without a response either is stored or never will be. It is longer than
/// the half minute for which a node is paused, because that node may finish its commit afterwards.
const UNKNOWN_TIME: Duration = Duration::from_secs(40);

/// State that all clients share.
pub(super) struct Shared {
    pub(super) address: String,
    /// Number of posts that no client changes.
    pub(super) posts: u64,
    pub(super) image: String,
    /// Some requests fail when a node or the shared database fails.
    pub(super) is_cluster: bool,
    pub(super) stop: AtomicBool,
    pub(super) failures: Failures,
    pub(super) tally: Mutex<Tally>,
    /// Number of wrong responses.
    pub(super) wrong: AtomicU32,
}

/// Reads and writes that failed: the connection ended, or the response has a status from 502 to 504.
#[derive(Default)]
pub(super) struct Failures {
    reads: AtomicU32,
    writes: AtomicU32,
}

impl Failures {
    pub(super) fn take(&self) -> (u32, u32) {
        (self.reads.swap(0, Ordering::Relaxed), self.writes.swap(0, Ordering::Relaxed))
    }
}

/// Response times in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) reads: Vec<f32>,
    pub(super) writes: Vec<f32>,
    pub(super) searches: Vec<f32>,
}

impl Tally {
    pub(super) fn responses(&self) -> usize {
        self.reads.len() + self.writes.len() + self.searches.len()
    }
}

impl Shared {
    pub(super) fn take_tally(&self) -> Tally {
        std::mem::take(&mut *self.tally.lock().expect("no holder panics"))
    }

    pub(super) fn wrong(&self) -> u32 {
        self.wrong.load(Ordering::Relaxed)
    }

    fn report_error(&self, what: &str) {
        crate::print(&format!("wrong: {what}"));
        self.wrong.fetch_add(1, Ordering::Relaxed);
    }

    fn record(&self, kind: Kind, took: Duration) {
        let millis = took.as_secs_f32() * 1000.0;
        let mut tally = self.tally.lock().expect("no holder panics");
        match kind {
            Kind::Read => tally.reads.push(millis),
            Kind::Write => tally.writes.push(millis),
            Kind::Search => tally.searches.push(millis),
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Read,
    Write,
    Search,
}

/// Sends requests until the end of the run, and reconnects whenever the server is killed.
pub(super) async fn work(number: usize, shared: Arc<Shared>, model: Arc<Mutex<Model>>) {
    let seed = number as u64 * 7_919;
    let mut client = Client { number, shared, model, seed, created: 0, is_writing: false };
    while !client.shared.stop.load(Ordering::Relaxed) {
        if let Ok(mut connection) = Connection::open(&client.shared.address).await {
            // After an error the outcome of the request under way is unknown.
            let result = client.use_connection(&mut connection).await;
            if result.is_err() {
                client.record_failure().await;
            }
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// Reads the number that an object contains; none if it does not exist.
pub(super) async fn read(connection: &mut Connection, id: &str) -> io::Result<Option<u64>> {
    let (status, body) = connection.exchange(&client::get(&format!("{POSTS}/{id}"), KEY)).await?;
    match status {
        404 => Ok(None),
        200 => {
            let object: Value = serde_json::from_slice(body)?;
            Ok(object["rank"].as_u64())
        }
        other => Err(io::Error::other(format!("{id} has the response {other}"))),
    }
}

struct Client {
    number: usize,
    shared: Arc<Shared>,
    model: Arc<Mutex<Model>>,
    seed: u64,
    created: u32,
    /// Whether the request under way is a write.
    is_writing: bool,
}

impl Client {
    /// Counts a failed request. Another node may still carry out a write.
    async fn record_failure(&mut self) {
        let failures = &self.shared.failures;
        let is_write = std::mem::take(&mut self.is_writing);
        let count = if is_write { &failures.writes } else { &failures.reads };
        count.fetch_add(1, Ordering::Relaxed);
        if self.shared.is_cluster && is_write {
            sleep(UNKNOWN_TIME).await;
        }
    }

    /// Fails if the status reports a failure of a node, of the shared database or of the balancer.
    fn require_served(&self, status: u16) -> io::Result<()> {
        let is_failure = self.shared.is_cluster && matches!(status, 502..=504);
        if is_failure { Err(io::Error::other("the request failed")) } else { Ok(()) }
    }

    async fn use_connection(&mut self, connection: &mut Connection) -> io::Result<()> {
        let ids = self.model.lock().expect("no holder panics").ids();
        for id in ids {
            self.check(connection, &id).await?;
        }
        while !self.shared.stop.load(Ordering::Relaxed) {
            self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let random = self.seed >> 33;
            let start = Instant::now();
            let kind = match random % 100 {
                0..8 => {
                    self.write(connection, random / 100).await?;
                    Kind::Write
                }
                8..10 => {
                    let path = format!("/api/v1/search?{}", corpus::query(random));
                    self.read_checked(connection, &path, |response| response["data"].is_array())
                        .await?;
                    Kind::Search
                }
                10..40 => {
                    let id = format!("post-{}", random % self.shared.posts);
                    let path = format!("{POSTS}/{id}");
                    self.read_checked(connection, &path, |response| response["id"] == *id).await?;
                    Kind::Read
                }
                40..55 => {
                    let id = self.own_object(random / 100);
                    match id {
                        Some(id) => self.check(connection, &id).await?,
                        None => continue,
                    }
                    Kind::Read
                }
                55..75 => {
                    let path = format!("{POSTS}?limit=20&order_by=rank&page={}", 1 + random % 50);
                    self.read_checked(connection, &path, is_ordered).await?;
                    Kind::Read
                }
                75..90 => {
                    let path = format!("{POSTS}?limit=20&hydrate=1&page={}", 1 + random % 50);
                    let has_author = |response: &Value| response["data"][0]["author"].is_array();
                    self.read_checked(connection, &path, has_author).await?;
                    Kind::Read
                }
                _ => {
                    let request = client::get(&self.shared.image, KEY);
                    let (status, body) = connection.exchange(&request).await?;
                    self.require_served(status)?;
                    if status != 200 || !body.starts_with(&[0xff, 0xd8]) {
                        let what = format!("the image has the response {status}");
                        self.shared.report_error(&what);
                    }
                    Kind::Read
                }
            };
            self.shared.record(kind, start.elapsed());
        }
        Ok(())
    }

    /// Reads, and reports a wrong response. Only about every sixteenth body is parsed, so that the
    /// clients leave most of the processor time to the server.
    async fn read_checked(
        &self,
        connection: &mut Connection,
        path: &str,
        is_right: impl Fn(&Value) -> bool,
    ) -> io::Result<()> {
        let (status, body) = connection.exchange(&client::get(path, KEY)).await?;
        self.require_served(status)?;
        let is_right = status == 200
            && (self.seed >> 60 != 0
                || serde_json::from_slice(body).is_ok_and(|body| is_right(&body)));
        if !is_right {
            let body: String = String::from_utf8_lossy(body).chars().take(200).collect();
            self.shared.report_error(&format!("{path} has the response {status} {body}"));
        }
        Ok(())
    }

    /// Compares one of the client's objects with its expected state.
    async fn check(&self, connection: &mut Connection, id: &str) -> io::Result<()> {
        let found = read(connection, id).await?;
        let result = self.model.lock().expect("no holder panics").check_read(id, found);
        if let Err(what) = result {
            self.shared.report_error(&what);
        }
        Ok(())
    }

    fn own_object(&self, random: u64) -> Option<String> {
        let model = self.model.lock().expect("no holder panics");
        let live = model.live();
        let at = usize::try_from(random).unwrap_or_default().checked_rem(live.len())?;
        Some(live[at].to_owned())
    }

    async fn write(&mut self, connection: &mut Connection, random: u64) -> io::Result<()> {
        let live = self.model.lock().expect("no holder panics").live().len();
        let id = self.own_object(random / 10).filter(|_| random % 10 > 3 && live > 2);
        let (method, id, is_new) = match id {
            Some(id) if random % 10 == 9 || live > MAX_OWN_OBJECTS => ("DELETE", id, false),
            Some(id) if random.is_multiple_of(2) => ("PUT", id, false),
            Some(id) => ("PATCH", id, false),
            None => {
                self.created += 1;
                ("POST", format!("mixed-{}-{}", self.number, self.created), true)
            }
        };
        let mut body = String::new();
        {
            let mut model = self.model.lock().expect("no holder panics");
            if method == "DELETE" {
                model.record_deletion(&id);
            } else {
                let rank = model.record_write(&id);
                body = match method {
                    "PATCH" => json!({ "rank": rank }),
                    _ => json!({ "id": id, "title": format!("Title of {id}"), "slug": id, "rank": rank }),
                }
                .to_string();
            }
        }
        let path = if is_new { POSTS.to_owned() } else { format!("{POSTS}/{id}") };
        self.is_writing = true;
        let (status, response) =
            connection.exchange(&client::send(method, &path, KEY, &body)).await?;
        if status != 503 {
            self.require_served(status)?;
        }
        self.is_writing = false;
        let mut model = self.model.lock().expect("no holder panics");
        if matches!(status, 200 | 204) {
            model.record_acknowledgement(&id);
        } else if status == 503 && self.shared.is_cluster {
            model.record_rejection(&id);
            self.shared.failures.writes.fetch_add(1, Ordering::Relaxed);
        } else {
            model.record_rejection(&id);
            let response = String::from_utf8_lossy(response).into_owned();
            self.shared
                .report_error(&format!("{method} {path} has the response {status} {response}"));
        }
        Ok(())
    }
}

fn is_ordered(response: &Value) -> bool {
    let Some(posts) = response["data"].as_array() else { return false };
    posts.len() == 20 && posts.is_sorted_by_key(|post| post["rank"].as_u64())
}
