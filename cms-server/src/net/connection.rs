//! One connection: what of its responses is unsent, how fast its client takes them, and when it ends.
//!
//! Every byte of a response that is in memory counts against the budgets of the connection and of the
//! process, until the HTTP library has written it to the socket. The library keeps what HTTP/2 streams
//! have no window for, so nothing else tells how much of the memory is held by clients that do not read.
//! This module knows no HTTP messages; [`mod@crate::server`] drives the connection.

use std::{
    io,
    net::IpAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::{Body, Bytes, HttpBody};
use cms_core::{MemoryBudget, Reservation};
use hyper::body::{Frame, SizeHint};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{self, Instant},
};

use crate::{
    net::raw_query::Target,
    net::transfer_rate::{Pace, STALL},
};

/// How long a client may take to send the first bytes.
pub(crate) const FIRST_BYTES_TIMEOUT: Duration = Duration::from_mins(1);
/// How long a connection may be open without a request.
const IDLE_TIMEOUT: Duration = Duration::from_mins(5);
/// How often a connection is looked at.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// How long the other responses of a connection may take that ends because one is not read.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a connection of a server that stops is looked at.
const DRAIN_INTERVAL: Duration = Duration::from_millis(250);
/// Bytes by which the protocol is known: the length of what an HTTP/2 client sends first.
const PREFACE_BYTES: u64 = 24;
/// What HTTP/2 sends in a check interval besides responses; less is nothing.
const CONTROL_BYTES: usize = 64;
/// Unsent bytes from which on a client has to be faster than others.
const LARGE_BYTES: usize = 1024 * 1024;
/// A connection may take one in so many bytes of the budget of the process.
const CONNECTIONS_PER_BUDGET: usize = 8;
/// Least time in which a client has to take what is unsent while memory is scarce, and the rate that
/// is always enough, in bytes per second.
const SCARCE_TIMEOUT: Duration = Duration::from_secs(10);
const SCARCE_RATE: usize = 1024 * 1024;

/// A connection that is open.
pub(crate) struct Connection {
    /// None without a socket.
    pub(crate) peer: Option<IpAddr>,
    process: Arc<MemoryBudget>,
    memory: Arc<MemoryBudget>,
    read: AtomicU64,
    written: AtomicU64,
    /// Bytes of responses that the HTTP library has and has not written yet.
    unsent: AtomicUsize,
    requests: AtomicU64,
    /// Requests whose response is not complete.
    running: AtomicUsize,
}

/// Why a connection ends, and how long its responses may still take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) reason: &'static str,
    pub(crate) timeout: Duration,
}

impl Connection {
    /// A connection whose responses take memory of `available`, a part of that of the process.
    pub(crate) fn new(
        process: &Arc<MemoryBudget>,
        available: &Arc<MemoryBudget>,
        peer: Option<IpAddr>,
    ) -> Self {
        let limit = process.limit() / CONNECTIONS_PER_BUDGET;
        Self {
            peer,
            process: Arc::clone(process),
            memory: Arc::new(MemoryBudget::within(available, limit)),
            read: AtomicU64::new(0),
            written: AtomicU64::new(0),
            unsent: AtomicUsize::new(0),
            requests: AtomicU64::new(0),
            running: AtomicUsize::new(0),
        }
    }

    /// Begins a request: memory that its response may take.
    pub(crate) fn reserve(&self) -> Arc<Reservation> {
        Arc::new(Reservation::of(&self.memory))
    }

    /// Counts a request until the value is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> RunningRequest {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.running.fetch_add(1, Ordering::Relaxed);
        RunningRequest(Arc::clone(self))
    }

    /// Waits until the connection has to end: nobody asks, or the client does not read.
    pub(crate) async fn overdue(&self, pace: Pace) -> End {
        let ended = |reason, timeout| End { reason, timeout };
        let opened = Instant::now();
        let (mut requests, mut idle_since) = (0, opened);
        let (mut written, mut unsent) = (0, 0);
        let mut progress = None;
        let (mut moved_at, mut strikes) = (opened, 0);
        loop {
            time::sleep(CHECK_INTERVAL).await;
            let now = Instant::now();
            let is_silent = self.read.load(Ordering::Relaxed) < PREFACE_BYTES;
            if is_silent && now - opened >= FIRST_BYTES_TIMEOUT {
                return ended("it sends nothing", Duration::ZERO);
            }
            let (before, was_unsent) = (written, unsent);
            written = self.written.load(Ordering::Relaxed);
            unsent = self.unsent.load(Ordering::Relaxed);
            let seen = self.requests.load(Ordering::Relaxed);
            if seen != requests || self.running.load(Ordering::Relaxed) > 0 || unsent > 0 {
                (requests, idle_since) = (seen, now);
            } else if now - idle_since >= IDLE_TIMEOUT {
                return ended("it sends no requests", Duration::ZERO);
            }
            let moved = usize::try_from(written - before).unwrap_or(usize::MAX);
            if moved >= CONTROL_BYTES || unsent == 0 || was_unsent == 0 {
                moved_at = now;
            }
            if unsent == 0 || was_unsent == 0 {
                // Only time counts in which the server waits for the client.
                (progress, strikes) = (None, 0);
                continue;
            }
            if now - moved_at >= STALL {
                return ended("its client reads nothing", CLOSE_TIMEOUT);
            }
            let pace = if unsent.min(was_unsent) >= LARGE_BYTES { pace.hurried() } else { pace };
            let progress = progress.get_or_insert_with(|| pace.start());
            progress.set_pace(pace);
            progress.moved(moved, CHECK_INTERVAL);
            if progress.patience(STALL).is_zero() {
                return ended("its client reads too slowly", CLOSE_TIMEOUT);
            }
            let is_scarce = self.process.used() > self.process.limit() / 2;
            strikes = if is_scarce && !is_fast(moved, was_unsent) { strikes + 1 } else { 0 };
            if CHECK_INTERVAL * strikes >= SCARCE_TIMEOUT {
                return ended("its client does not read, and memory is scarce", Duration::ZERO);
            }
        }
    }

    /// Waits until nothing is under way: no request that has arrived completely, and no response.
    pub(crate) async fn quiet(&self) {
        let mut quiet = 0;
        while quiet < 2 {
            time::sleep(DRAIN_INTERVAL).await;
            let is_quiet = self.running.load(Ordering::Relaxed) == 0
                && self.unsent.load(Ordering::Relaxed) == 0;
            quiet = if is_quiet { quiet + 1 } else { 0 };
        }
    }
}

/// Tells whether a client took enough of what was unsent while memory is scarce.
fn is_fast(moved: usize, unsent: usize) -> bool {
    let seconds = |time: Duration| usize::try_from(time.as_secs()).unwrap_or(usize::MAX);
    let needed = (unsent / seconds(SCARCE_TIMEOUT)).min(SCARCE_RATE);
    moved / seconds(CHECK_INTERVAL) >= needed.max(1)
}

/// A request, until its response is complete.
pub(crate) struct RunningRequest(Arc<Connection>);

impl RunningRequest {
    /// Follows a response to its end; `memory` is what was reserved for it.
    pub(crate) fn respond(self, body: Body, memory: Arc<Reservation>) -> ResponseBody {
        ResponseBody { body, memory: Some(memory), request: self }
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of a response, whose bytes count until they are sent.
pub(crate) struct ResponseBody {
    body: Body,
    /// What was reserved for the first bytes.
    memory: Option<Arc<Reservation>>,
    request: RunningRequest,
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
            Some(Ok(frame)) => frame,
            end => return Poll::Ready(end),
        };
        let connection = Arc::clone(&self.request.0);
        let memory = self.memory.take();
        let counted = frame.map_data(|bytes| {
            let memory = memory.unwrap_or_else(|| connection.reserve());
            memory.grow_unchecked(bytes.len().saturating_sub(memory.bytes()));
            connection.unsent.fetch_add(bytes.len(), Ordering::Relaxed);
            Bytes::from_owner(Unsent { bytes, connection, _memory: memory })
        });
        Poll::Ready(Some(Ok(counted)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes that the HTTP library has; dropped when they are written, or never will be.
struct Unsent {
    bytes: Bytes,
    connection: Arc<Connection>,
    _memory: Arc<Reservation>,
}

impl AsRef<[u8]> for Unsent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.connection.unsent.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

/// The socket of a connection: what passes is counted, and request lines are looked at.
pub(crate) struct Socket<S> {
    pub(crate) inner: S,
    pub(crate) connection: Arc<Connection>,
    pub(crate) target: Arc<Target>,
}

impl<S> Socket<S> {
    fn count(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.connection.written.fetch_add(*bytes as u64, Ordering::Relaxed);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Socket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        let read = &mut buffer.filled_mut()[before..];
        if !read.is_empty() {
            self.connection.read.fetch_add(read.len() as u64, Ordering::Relaxed);
            self.target.look_at(read);
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Socket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.count(&written);
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        self.count(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests;
