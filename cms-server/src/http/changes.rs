//! Changes of the content: a page for who asks now and then, a stream for who stays.
//!
//! A stream is a task of its own, which reads the pages that others ask for. It reads when this
//! process committed something, and every second, since other processes write too; and each time it
//! looks the key up again. So a stream shows what a request at that moment would.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, Method, header, request::Parts},
};
use cms_core::{
    Caller, Error, Reservation, Result, limits,
    paging::Page,
    wire::change::{Changes, ChangesRequest, Position},
};
use futures_util::stream;
use tokio::{
    sync::{
        OwnedSemaphorePermit,
        mpsc::{self, Sender},
    },
    time::{self, Instant},
};

use crate::{
    answer::Answer,
    blocking::{self, Work},
    deprecation,
    extract::{auth, query::Query},
    request::query_text,
    router::Route,
    state::App,
};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How long a stream is silent at most.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often changes of other processes, the key and the end of the server are looked for.
const LOOK: Duration = Duration::from_secs(1);
/// What is gathered after a commit, so that many small ones cost little.
const GATHER: Duration = Duration::from_millis(20);
/// How long a client may leave what it was sent unread.
const PATIENCE: Duration = Duration::from_secs(30);

/// Changes that a stream reads and sends at a time.
const AT_ONCE: u32 = 100;

/// Answers a request for changes.
pub(crate) async fn answer(
    app: &Arc<App>,
    route: &Route,
    parts: Parts,
    memory: &Reservation,
) -> Answer {
    let parts = Arc::new(parts);
    let answered = carry_out(app, &parts).await;
    let ignored = Query::parse(query_text(&parts)).ignored(route.query, &[]);
    let answer = answered.unwrap_or_else(Answer::from).with_optional(deprecation::QUERY, ignored);
    answer.finished_for(&parts.method, &parts.headers, memory)
}

/// The key is looked at first, and again whenever something is read.
async fn carry_out(app: &Arc<App>, parts: &Arc<Parts>) -> Result<Answer> {
    blocking::now(app, |app| caller(app, parts))??;
    let mut follower =
        Follower { app: Arc::clone(app), parts: Arc::clone(parts), request: request(parts)? };
    if wants_stream(&parts.headers) {
        follower.open().await
    } else {
        follower.read().await.map(|page| Answer::json(&page))
    }
}

fn caller(app: &App, parts: &Parts) -> Result<Caller> {
    auth::caller(&app.cms, &parts.headers, &Query::parse(query_text(parts)))
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut types = values.flat_map(|value| value.split(','));
    types.any(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("text/event-stream")
    })
}

/// What is asked for. A client that comes back says where it was by a header.
fn request(parts: &Parts) -> Result<ChangesRequest> {
    let query = Query::parse(query_text(parts));
    let last = parts.headers.get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?"));
    let since = last.filter(|id| !id.is_empty()).or_else(|| query.text("since"));
    Ok(ChangesRequest {
        since: since.map(str::parse).transpose()?,
        content_types: query.list("types"),
        limit: Page::parse(None, query.get("limit"), limits::MAX_PAGE_SIZE).limit,
    })
}

/// Somebody who follows the changes.
struct Follower {
    app: Arc<App>,
    /// The head of the request, with key and view.
    parts: Arc<Parts>,
    /// What is to be read next.
    request: ChangesRequest,
}

impl Follower {
    /// Reads the next page, and goes behind it.
    async fn read(&mut self) -> Result<Changes> {
        let (parts, request) = (Arc::clone(&self.parts), self.request.clone());
        let read = move |app: &App| app.cms.changes().after(&caller(app, &parts)?, &request);
        let page = blocking::run(&self.app, Work::Read, read).await??;
        self.request.since = Some(page.next);
        Ok(page)
    }

    /// Begins a stream. What is wrong is told before it begins.
    async fn open(mut self) -> Result<Answer> {
        self.request.limit = AT_ONCE;
        // Subscribed before anything is read: what is committed from now on wakes the stream.
        let commits = self.app.commits.subscribe();
        let asked = self.request.since;
        let first = self.read().await?;
        let start = asked.unwrap_or(first.next);
        let (sender, receiver) = mpsc::channel(1);
        if self.parts.method != Method::HEAD {
            let slot = self.app.permits.subscriber()?;
            tokio::spawn(self.follow((start, first), commits, sender, slot));
        }
        let next = |mut receiver: mpsc::Receiver<Bytes>| async {
            let message = receiver.recv().await?;
            Some((Ok::<_, Infallible>(message), receiver))
        };
        Ok(Answer::events(Body::from_stream(stream::unfold(receiver, next))))
    }

    /// Sends changes until the client goes, the key is revoked, or the server ends. A client that
    /// comes back then is told what is wrong, or goes on.
    async fn follow(
        mut self,
        (start, first): (Position, Changes),
        mut commits: tokio::sync::watch::Receiver<()>,
        sender: Sender<Bytes>,
        _slot: OwnedSemaphorePermit,
    ) {
        let mut page = first;
        let mut heard = Instant::now();
        // The first message tells where the stream begins: before the changes that follow at once.
        let mut message = heartbeat(start);
        loop {
            push(&mut message, &page);
            if message.is_empty() && heard.elapsed() >= HEARTBEAT {
                message = heartbeat(page.next);
            }
            if !message.is_empty() {
                let sent = time::timeout(PATIENCE, sender.send(message.into())).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return;
                }
                heard = Instant::now();
            }
            message = Vec::new();
            if !page.more {
                tokio::select! {
                    _ = commits.changed() => time::sleep(GATHER).await,
                    () = time::sleep(LOOK) => {}
                    () = sender.closed() => return,
                }
            }
            if self.app.is_draining() {
                return;
            }
            page = match self.read().await {
                Ok(page) => page,
                // Nothing was read, so nothing is lost: it is tried again.
                Err(Error::Busy(_)) => Changes { data: Vec::new(), more: false, ..page },
                Err(_) => return,
            };
        }
    }
}

/// Appends changes as events. The number of each is where to go on after it.
fn push(message: &mut Vec<u8>, page: &Changes) {
    for change in &page.data {
        let data = serde_json::to_string(change).expect("a change has string keys only");
        message.extend_from_slice(format!("id: {}\ndata: {data}\n\n", change.position).as_bytes());
    }
}

/// A comment, which shows that the stream is alive, and an event without data: clients take its
/// number and tell nobody. So who sees few of many changes does not fall behind the journal.
fn heartbeat(position: Position) -> Vec<u8> {
    format!(":\nid: {position}\n\n").into_bytes()
}
