//! One of the clients: what it asks, and whether the answers are right.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
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
/// How many objects of its own a client has at a time.
const OWN: usize = 20;

/// What all clients share.
pub(super) struct Shared {
    pub(super) address: String,
    /// Posts that nobody changes.
    pub(super) posts: u64,
    pub(super) picture: String,
    pub(super) ends: AtomicBool,
    pub(super) tally: Mutex<(Tally, u32)>,
}

/// Times of answers in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) reads: Vec<f32>,
    pub(super) writes: Vec<f32>,
    pub(super) searches: Vec<f32>,
}

impl Tally {
    pub(super) fn answers(&self) -> usize {
        self.reads.len() + self.writes.len() + self.searches.len()
    }
}

impl Shared {
    pub(super) fn take_tally(&self) -> Tally {
        std::mem::take(&mut self.tally.lock().expect("no holder panics").0)
    }

    pub(super) fn wrong(&self) -> u32 {
        self.tally.lock().expect("no holder panics").1
    }

    fn complain(&self, what: &str) {
        crate::print(&format!("wrong: {what}"));
        self.tally.lock().expect("no holder panics").1 += 1;
    }

    fn note(&self, kind: Kind, took: Duration) {
        let millis = took.as_secs_f32() * 1000.0;
        let tally = &mut self.tally.lock().expect("no holder panics").0;
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

/// Asks until told to end; comes back whenever the server is killed.
pub(super) async fn work(number: usize, shared: Arc<Shared>, model: Arc<Mutex<Model>>) {
    let mut client = Client { number, shared, model, turn: number as u64 * 7_919, made: 0 };
    while !client.shared.ends.load(Ordering::Relaxed) {
        if let Ok(mut connection) = Connection::open(&client.shared.address).await {
            // An error is the end of the connection, and says nothing of what was under way.
            client.use_up(&mut connection).await.ok();
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// Returns the number that an object carries; none when it is not there.
pub(super) async fn read(connection: &mut Connection, id: &str) -> io::Result<Option<u64>> {
    let (status, body) = connection.exchange(&client::get(&format!("{POSTS}/{id}"), KEY)).await?;
    match status {
        404 => Ok(None),
        200 => {
            let object: Value = serde_json::from_slice(body)?;
            Ok(object["rank"].as_u64())
        }
        other => Err(io::Error::other(format!("{id} is answered with {other}"))),
    }
}

struct Client {
    number: usize,
    shared: Arc<Shared>,
    model: Arc<Mutex<Model>>,
    turn: u64,
    made: u32,
}

impl Client {
    async fn use_up(&mut self, connection: &mut Connection) -> io::Result<()> {
        let ids = self.model.lock().expect("no holder panics").ids();
        for id in ids {
            self.check(connection, &id).await?;
        }
        while !self.shared.ends.load(Ordering::Relaxed) {
            self.turn = self.turn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let turn = self.turn >> 33;
            let start = Instant::now();
            let kind = match turn % 100 {
                0..8 => {
                    self.write(connection, turn / 100).await?;
                    Kind::Write
                }
                8..10 => {
                    let path = format!("/api/v1/search?{}", corpus::query(turn));
                    self.look(connection, &path, |answer| answer["data"].is_array()).await?;
                    Kind::Search
                }
                10..40 => {
                    let id = format!("post-{}", turn % self.shared.posts);
                    let path = format!("{POSTS}/{id}");
                    self.look(connection, &path, |answer| answer["id"] == *id).await?;
                    Kind::Read
                }
                40..55 => {
                    let id = self.own(turn / 100);
                    match id {
                        Some(id) => self.check(connection, &id).await?,
                        None => continue,
                    }
                    Kind::Read
                }
                55..75 => {
                    let path = format!("{POSTS}?limit=20&order_by=rank&page={}", 1 + turn % 50);
                    self.look(connection, &path, is_ordered).await?;
                    Kind::Read
                }
                75..90 => {
                    let path = format!("{POSTS}?limit=20&hydrate=1&page={}", 1 + turn % 50);
                    let has_author = |answer: &Value| answer["data"][0]["author"].is_array();
                    self.look(connection, &path, has_author).await?;
                    Kind::Read
                }
                _ => {
                    let request = client::get(&self.shared.picture, KEY);
                    let (status, body) = connection.exchange(&request).await?;
                    if status != 200 || !body.starts_with(&[0xff, 0xd8]) {
                        let what = format!("the picture is answered with {status}");
                        self.shared.complain(&what);
                    }
                    Kind::Read
                }
            };
            self.shared.note(kind, start.elapsed());
        }
        Ok(())
    }

    /// Reads, and says so when the answer is not what it must be. Every eighth body is looked at,
    /// so that the clients leave the server its share of the machine.
    async fn look(
        &self,
        connection: &mut Connection,
        path: &str,
        is_right: impl Fn(&Value) -> bool,
    ) -> io::Result<()> {
        let (status, body) = connection.exchange(&client::get(path, KEY)).await?;
        let is_right = status == 200
            && (self.turn >> 60 != 0
                || serde_json::from_slice(body).is_ok_and(|body| is_right(&body)));
        if !is_right {
            let body: String = String::from_utf8_lossy(body).chars().take(200).collect();
            self.shared.complain(&format!("{path} is answered with {status} {body}"));
        }
        Ok(())
    }

    /// Compares one of its own objects with what it must be.
    async fn check(&self, connection: &mut Connection, id: &str) -> io::Result<()> {
        let found = read(connection, id).await?;
        let judged = self.model.lock().expect("no holder panics").finds(id, found);
        if let Err(what) = judged {
            self.shared.complain(&what);
        }
        Ok(())
    }

    fn own(&self, turn: u64) -> Option<String> {
        let model = self.model.lock().expect("no holder panics");
        let live = model.live();
        let at = usize::try_from(turn).unwrap_or_default().checked_rem(live.len())?;
        Some(live[at].to_owned())
    }

    async fn write(&mut self, connection: &mut Connection, turn: u64) -> io::Result<()> {
        let live = self.model.lock().expect("no holder panics").live().len();
        let id = self.own(turn / 10).filter(|_| turn % 10 > 3 && live > 2);
        let (method, id, is_new) = match id {
            Some(id) if turn % 10 == 9 || live > OWN => ("DELETE", id, false),
            Some(id) if turn.is_multiple_of(2) => ("PUT", id, false),
            Some(id) => ("PATCH", id, false),
            None => {
                self.made += 1;
                ("POST", format!("mixed-{}-{}", self.number, self.made), true)
            }
        };
        let mut body = String::new();
        {
            let mut model = self.model.lock().expect("no holder panics");
            if method == "DELETE" {
                model.sends_deletion(&id);
            } else {
                let rank = model.sends(&id);
                body = match method {
                    "PATCH" => json!({ "rank": rank }),
                    _ => json!({ "id": id, "title": format!("Title of {id}"), "slug": id, "rank": rank }),
                }
                .to_string();
            }
        }
        let path = if is_new { POSTS.to_owned() } else { format!("{POSTS}/{id}") };
        let (status, answer) =
            connection.exchange(&client::send(method, &path, KEY, &body)).await?;
        let mut model = self.model.lock().expect("no holder panics");
        if matches!(status, 200 | 204) {
            model.acknowledges(&id);
        } else {
            model.refuses(&id);
            let answer = String::from_utf8_lossy(answer).into_owned();
            self.shared.complain(&format!("{method} {path} is answered with {status} {answer}"));
        }
        Ok(())
    }
}

fn is_ordered(answer: &Value) -> bool {
    let Some(posts) = answer["data"].as_array() else { return false };
    posts.len() == 20 && posts.is_sorted_by_key(|post| post["rank"].as_u64())
}
