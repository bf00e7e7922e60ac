//! Changes of the content: a page, or a stream of server-sent events.
//!
//! A stream is a task of its own, which reads the same pages. It reads after each commit of this
//! process, and every second, since other processes write too; each time it authenticates the
//! caller again. So a stream shows what a request at that moment would show.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Bytes,
    http::{HeaderName, Method, request::Parts},
};
use cms_core::{
    Error, Keys, Result, limits,
    paging::{self, PageRequest},
    wire::change::{Changes, ChangesRequest, Position},
};
use parking_lot::Mutex;
use tokio::{
    sync::{
        OwnedSemaphorePermit,
        mpsc::{self, Sender},
        watch,
    },
    time::{self, Instant},
};

use crate::{
    blocking,
    extract::{auth, header::accepts, query::Query},
    http::{
        event_stream::{self, HEARTBEAT_INTERVAL},
        presence_events::PresenceEvents,
    },
    net::{permits::Work, transfer_rate::STALL_TIMEOUT},
    response::Response,
    state::App,
};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Interval of checks for changes of other processes, for the key or session, and for a server stop.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long changes are collected after a commit.
const BATCH_DELAY: Duration = Duration::from_millis(20);
/// Changes that a stream reads and sends at a time.
const MAX_CHANGES_PER_READ: u32 = 100;

/// Responds to an authenticated request for changes.
pub(crate) async fn get(app: &Arc<App>, parts: Parts) -> Result<Response> {
    let request = request(&parts)?;
    let is_stream = accepts(&parts.headers, event_stream::MEDIA_TYPE);
    let with_presence = is_stream && paging::boolean(Query::of(&parts).get("presence"));
    let presence = with_presence.then(Arc::default);
    let mut feed = ChangeFeed { app: Arc::clone(app), parts: Arc::new(parts), request, presence };
    if is_stream {
        feed.stream().await
    } else {
        feed.next_page().await.map(|(page, _)| Response::json(&page))
    }
}

/// Parses a request. A client that reconnects sends its position in a header.
fn request(parts: &Parts) -> Result<ChangesRequest> {
    let query = Query::of(parts);
    let last = parts.headers.get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?"));
    let since = last.filter(|id| !id.is_empty()).or_else(|| query.text("since"));
    Ok(ChangesRequest {
        since: since.map(str::parse).transpose()?,
        content_types: query.list("types"),
        limit: PageRequest::parse(None, query.get("limit"), limits::MAX_PAGE_SIZE).limit,
    })
}

/// The changes after a position, for one client.
struct ChangeFeed {
    app: Arc<App>,
    /// The head of the request, with key and view.
    parts: Arc<Parts>,
    /// The next page.
    request: ChangesRequest,
    /// For a stream with presence.
    presence: Option<Arc<Mutex<PresenceEvents>>>,
}

impl ChangeFeed {
    /// Reads the next page and moves the position past it. Returns it with new events of presence.
    async fn next_page(&mut self) -> Result<(Changes, Vec<u8>)> {
        let (parts, request) = (Arc::clone(&self.parts), self.request.clone());
        let presence = self.presence.clone();
        let read = move |app: &App| {
            let (query, newest) = (Query::of(&parts), app.cms.commit_state()?);
            let caller = auth::caller(app, &parts.headers, &query, &newest, Keys::recheck_session)?;
            let page = app.cms.changes().after(&caller, &request)?;
            let events = match presence {
                Some(presence) => {
                    let types = request.content_types.as_deref();
                    let mut presence = presence.lock();
                    presence.next(&app.cms, &caller, types)?
                }
                None => Vec::new(),
            };
            Ok((page, events))
        };
        let (page, events) = blocking::run(&self.app, Work::Read, read).await??;
        self.request.since = Some(page.next);
        Ok((page, events))
    }

    /// Starts a stream. Errors of the first page are a response without a stream.
    async fn stream(mut self) -> Result<Response> {
        self.request.limit = MAX_CHANGES_PER_READ;
        // Subscribed before the first read: each later commit wakes the stream.
        let commits = self.app.commits.subscribe();
        let since = self.request.since;
        let first = self.next_page().await?;
        let start = since.unwrap_or(first.0.next);
        let (sender, receiver) = mpsc::channel(1);
        if self.parts.method != Method::HEAD {
            let permit = self.app.subscribe()?;
            tokio::spawn(self.send(start, first, commits, sender, permit));
        }
        Ok(event_stream::response(receiver))
    }

    /// Sends changes until the client disconnects, the key or session ends, or the server stops. A
    /// client that reconnects then gets the error, or continues.
    async fn send(
        mut self,
        start: Position,
        (mut page, mut events): (Changes, Vec<u8>),
        mut commits: watch::Receiver<()>,
        sender: Sender<Bytes>,
        _permit: OwnedSemaphorePermit,
    ) {
        let mut last_sent = Instant::now();
        // The first message has the position before the first changes.
        let mut message = heartbeat(start);
        loop {
            push(&mut message, &page);
            message.append(&mut events);
            if message.is_empty() && last_sent.elapsed() >= HEARTBEAT_INTERVAL {
                message = heartbeat(page.next);
            }
            if !message.is_empty() {
                let sent = time::timeout(STALL_TIMEOUT, sender.send(message.into())).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return;
                }
                last_sent = Instant::now();
            }
            message = Vec::new();
            if !page.more {
                tokio::select! {
                    _ = commits.changed() => time::sleep(BATCH_DELAY).await,
                    () = time::sleep(POLL_INTERVAL) => {}
                    () = sender.closed() => return,
                }
            }
            if self.app.is_draining() {
                return;
            }
            (page, events) = match self.next_page().await {
                Ok(next) => next,
                // Nothing was read, so nothing is lost: the stream retries.
                Err(Error::Busy(_)) => {
                    (Changes { data: Vec::new(), more: false, ..page }, Vec::new())
                }
                Err(_) => return,
            };
        }
    }
}

/// Appends changes as events. The id of each is the position after it.
fn push(message: &mut Vec<u8>, page: &Changes) {
    for change in &page.data {
        let data = serde_json::to_string(change).expect("a change has string keys only");
        message.extend_from_slice(format!("id: {}\ndata: {data}\n\n", change.position).as_bytes());
    }
}

/// A comment, which keeps the connection alive, and an event without data. Clients store the id of the
/// event, so a client that sees few changes keeps up with the journal.
fn heartbeat(position: Position) -> Vec<u8> {
    format!(":\nid: {position}\n\n").into_bytes()
}
