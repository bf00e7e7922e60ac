//! One connection: the unsent bytes of its responses, and when the server closes it.
//!
//! Every byte of a response that is in memory counts against the budgets of the connection and of
//! the process, until the HTTP library has written it to the socket. The library buffers data of HTTP/2 streams whose
//! flow control window is full, so this count alone shows the memory that clients occupy by not reading.
//! [`mod@crate::server`] drives the connection.

use std::{
    io,
    net::IpAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::{Body, Bytes, HttpBody};
use cms_core::{MemoryBudget, Reservation};
use hyper::body::{Frame, SizeHint};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{self, Instant, Sleep},
};

use super::{
    raw_query::RequestLines,
    transfer_rate::{MinTransferRate, SCARCE_STALL_TIMEOUT, STALL_TIMEOUT},
};

/// How long a connection may be open without a request.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_mins(1);
/// How often a connection is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// How often a connection is checked while the server drains.
const DRAIN_INTERVAL: Duration = Duration::from_millis(250);
/// Fewer bytes in a check interval do not count as progress: they may be HTTP/2 control frames.
const MIN_PROGRESS_BYTES: usize = 64;
/// How long a socket is read after the last response, if the client still sends a refused body.
const LINGER_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes that are discarded at a time.
const DISCARDED_BYTES: usize = 8 * 1024;
/// The responses of one connection may take one eighth of the response memory budget.
const CONNECTION_MEMORY_DIVISOR: usize = 8;

/// An open connection.
pub(crate) struct Connection {
    /// The address of the client; none without a socket.
    pub(crate) peer: Option<IpAddr>,
    process_memory: Arc<MemoryBudget>,
    memory: Arc<MemoryBudget>,
    written_bytes: AtomicU64,
    /// Response bytes that the HTTP library holds and has not yet written to the socket.
    unsent_bytes: AtomicUsize,
    requests: AtomicU64,
    /// Requests whose response is not complete.
    running: AtomicUsize,
    /// The client may still send the body of a request that was refused.
    has_unread_body: AtomicBool,
}

impl Connection {
    /// A connection whose responses reserve memory from `available`, a part of the process budget.
    pub(crate) fn new(
        process_memory: &Arc<MemoryBudget>,
        available: &Arc<MemoryBudget>,
        peer: Option<IpAddr>,
    ) -> Self {
        let limit = process_memory.limit() / CONNECTION_MEMORY_DIVISOR;
        Self {
            peer,
            process_memory: Arc::clone(process_memory),
            memory: Arc::new(MemoryBudget::within(available, limit)),
            written_bytes: AtomicU64::new(0),
            unsent_bytes: AtomicUsize::new(0),
            requests: AtomicU64::new(0),
            running: AtomicUsize::new(0),
            has_unread_body: AtomicBool::new(false),
        }
    }

    /// Records that a request ended before its body was read. When the connection closes, [`Socket`] then discards
    /// the rest of the body.
    pub(crate) fn mark_body_unread(&self) {
        self.has_unread_body.store(true, Ordering::Relaxed);
    }

    /// Returns the memory that the response to one request may take.
    pub(crate) fn reservation(&self) -> Arc<Reservation> {
        Arc::new(Reservation::of(&self.memory))
    }

    /// Counts a request until the returned value is dropped.
    pub(crate) fn start_request(self: &Arc<Self>) -> RunningRequest {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.running.fetch_add(1, Ordering::Relaxed);
        RunningRequest(Arc::clone(self))
    }

    /// Waits until the connection is idle for too long, or its client reads too slowly; returns the
    /// reason.
    pub(crate) async fn timed_out(&self, min_rate: MinTransferRate) -> &'static str {
        let (mut requests, mut written, mut unsent) = (0, 0, 0);
        let mut idle_since = Instant::now();
        let mut transfer = min_rate.start();
        loop {
            time::sleep(CHECK_INTERVAL).await;
            let (written_before, unsent_before) = (written, unsent);
            written = self.written_bytes.load(Ordering::Relaxed);
            unsent = self.unsent_bytes.load(Ordering::Relaxed);
            let seen = self.requests.load(Ordering::Relaxed);
            if seen != requests || self.running.load(Ordering::Relaxed) > 0 || unsent > 0 {
                (requests, idle_since) = (seen, Instant::now());
            } else if idle_since.elapsed() >= IDLE_TIMEOUT {
                return "idle";
            }
            let sent = usize::try_from(written - written_before).unwrap_or(usize::MAX);
            if unsent == 0 || unsent_before == 0 {
                // Only time in which the server waits for the client counts. Bytes that went into the send buffer
                // of the kernel count as sent: the client gets time to read them.
                transfer = min_rate.start();
                transfer.record(sent, Duration::ZERO);
                continue;
            }
            transfer.set_held_bytes(unsent.min(unsent_before));
            transfer.record(if sent < MIN_PROGRESS_BYTES { 0 } else { sent }, CHECK_INTERVAL);
            let is_scarce = self.process_memory.used() > self.process_memory.limit() / 2;
            let stall_timeout = if is_scarce { SCARCE_STALL_TIMEOUT } else { STALL_TIMEOUT };
            if transfer.time_left(stall_timeout).is_zero() {
                return "client reads too slowly";
            }
        }
    }

    /// Waits until every completely received request has been responded to.
    pub(crate) async fn drained(&self) {
        let mut quiet_checks = 0;
        while quiet_checks < 2 {
            time::sleep(DRAIN_INTERVAL).await;
            let is_quiet = self.running.load(Ordering::Relaxed) == 0
                && self.unsent_bytes.load(Ordering::Relaxed) == 0;
            quiet_checks = if is_quiet { quiet_checks + 1 } else { 0 };
        }
    }
}

/// A request, until its response is complete.
pub(crate) struct RunningRequest(Arc<Connection>);

impl RunningRequest {
    /// Counts the bytes of a response; `memory` is the reservation for it.
    pub(crate) fn respond(self, body: Body, memory: Arc<Reservation>) -> ResponseBody {
        ResponseBody { body, memory: Some(memory), request: self }
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of a response, whose bytes count against the memory budgets until they are sent.
pub(crate) struct ResponseBody {
    body: Body,
    /// The memory reserved for the first bytes.
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
            let memory = memory.unwrap_or_else(|| connection.reservation());
            memory.grow_unchecked(bytes.len().saturating_sub(memory.bytes()));
            connection.unsent_bytes.fetch_add(bytes.len(), Ordering::Relaxed);
            Bytes::from_owner(UnsentBytes { bytes, connection, _memory: memory })
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

/// Bytes that the HTTP library holds, until it has written or discarded them.
struct UnsentBytes {
    bytes: Bytes,
    connection: Arc<Connection>,
    _memory: Arc<Reservation>,
}

impl AsRef<[u8]> for UnsentBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for UnsentBytes {
    fn drop(&mut self) {
        self.connection.unsent_bytes.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

/// The socket of a connection: counts what is written, and passes what is read to [`RequestLines`]. After the
/// last response, it discards the rest of an unread body: if a socket is closed with unread bytes, the client
/// may lose the response.
pub(crate) struct Socket<S> {
    inner: S,
    connection: Arc<Connection>,
    request_lines: Arc<RequestLines>,
    /// The end of [`LINGER_TIMEOUT`], once the last response is sent.
    lingering: Option<Pin<Box<Sleep>>>,
}

impl<S> Socket<S> {
    pub(crate) fn new(
        inner: S,
        connection: Arc<Connection>,
        request_lines: Arc<RequestLines>,
    ) -> Self {
        Self { inner, connection, request_lines, lingering: None }
    }

    fn count(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.connection.written_bytes.fetch_add(*bytes as u64, Ordering::Relaxed);
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
            self.request_lines.rewrite(read);
        }
        polled
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Socket<S> {
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
        let has_unread_body = self.connection.has_unread_body.load(Ordering::Relaxed);
        let Self { inner, lingering, .. } = &mut *self;
        if lingering.is_none() {
            ready!(Pin::new(&mut *inner).poll_shutdown(context))?;
            if !has_unread_body {
                return Poll::Ready(Ok(()));
            }
        }
        let timeout = lingering.get_or_insert_with(|| Box::pin(time::sleep(LINGER_TIMEOUT)));
        while timeout.as_mut().poll(context).is_pending() {
            let mut discarded = [0; DISCARDED_BYTES];
            let mut buffer = ReadBuf::new(&mut discarded);
            ready!(Pin::new(&mut *inner).poll_read(context, &mut buffer)).ok();
            if buffer.filled().is_empty() {
                break;
            }
        }
        Poll::Ready(Ok(()))
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
