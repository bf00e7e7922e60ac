//! The server: listening, accepting connections, HTTP/1.1 and HTTP/2, and graceful shutdown.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::pin,
    process,
    sync::{Arc, atomic::Ordering},
    thread,
    time::Duration,
};

use axum::{body::Body, http::Response};
use cms_core::{Cms, Duty};
use futures_util::FutureExt;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
    runtime::{self, Runtime},
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time,
};

use crate::{
    background::{cluster, tasks::BackgroundTasks, webhooks},
    config::{ReloadableSettings, ServerConfig},
    net::{
        connection::{Connection, IDLE_TIMEOUT, ResponseBody, Socket},
        raw_query::RequestLines,
        transfer_rate::MinTransferRate,
    },
    routing::request,
    starting::Starting,
    state::App,
};

/// Timeout of the head of an HTTP/1 request.
const HEAD_TIMEOUT: Duration = IDLE_TIMEOUT;
/// Interval of HTTP/2 pings, which detect lost connections.
const PING_INTERVAL: Duration = Duration::from_mins(1);
/// Maximum number of concurrent streams of an HTTP/2 connection.
const MAX_STREAMS: u32 = 64;
/// Bytes of a request body that an HTTP/2 client may send ahead. The connection has room for all streams: an
/// upload that waits for a permit must not block the others.
const STREAM_WINDOW_BYTES: u32 = 64 * 1024;
/// Limit of unsent bytes in the send buffer of the kernel (`TCP_NOTSENT_LOWAT`). With a larger one, the server would
/// see progress only in large steps, and treat a slow client as a stalled one.
#[cfg(target_os = "linux")]
const UNSENT_BYTES: u32 = 128 * 1024;
/// Maximum total size of the headers of an HTTP/2 request.
const MAX_HEADER_BYTES: u32 = 64 * 1024;
/// Read buffer of one connection; more than the longest head, and not much more, because
/// each of hundreds of uploads fills its own.
pub(crate) const BUFFER_BYTES: usize = 128 * 1024;
/// Pause of accepting after an error: usually the process has no file handles left.
pub(crate) const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum number of connections that wait to be accepted.
pub(crate) const BACKLOG: u32 = 1024;
/// Time in which a connection that timed out may finish its other responses.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time in which work that is still running after the grace period may end.
const WORK_TIMEOUT: Duration = Duration::from_secs(2);
/// Part of the grace period in which a node of a cluster still accepts requests, but is not ready. A
/// load balancer removes it from rotation in this time; otherwise requests would fail on closed connections.
const UNREADY_TIME: Duration = Duration::from_secs(3);
/// Time for the last background tasks after the grace period.
const TASKS_TIMEOUT: Duration = Duration::from_secs(3);
/// Time for all other steps until the process ends.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Why a server stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// By a signal.
    Terminated,
    /// The replica cannot follow the shared database of the cluster, and has to be copied again.
    Abandoned,
}

/// A running server.
pub struct RunningServer {
    app: Arc<App>,
    address: SocketAddr,
    /// Stops the server. The value is the time for which the server still accepts requests.
    stop: oneshot::Sender<Duration>,
    accepting: JoinHandle<()>,
    runtime: Runtime,
}

/// An address that is bound, but not listened on yet.
pub struct BoundServer {
    config: ServerConfig,
    socket: BoundSocket,
    address: SocketAddr,
    /// Ends the process on a signal.
    exit_on_signal: Option<JoinHandle<()>>,
    runtime: Runtime,
}

enum BoundSocket {
    Bound(TcpSocket),
    Starting(Starting),
}

/// Binds the address, so that an error shows before the work that precedes [`BoundServer::serve`].
///
/// # Errors
/// When the address cannot be bound, or threads cannot be started.
pub fn bind(config: ServerConfig) -> io::Result<BoundServer> {
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(config.workers.max(1))
        .thread_name("cms-server")
        .enable_all()
        .build()?;
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let _entered = runtime.enter();
        // Installed early, so that SIGHUP does not end the process while the server starts.
        drop(signal(SignalKind::hangup())?);
    }
    let socket = if config.listen.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restarted server does not wait until the connections of the previous process expire.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(config.listen)?;
    let address = socket.local_addr()?;
    let socket = BoundSocket::Bound(socket);
    Ok(BoundServer { config, socket, address, exit_on_signal: None, runtime })
}

impl BoundServer {
    /// The address that the server will listen on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// If it takes more than two seconds until [`Self::serve`], responds meanwhile: to `/healthz` with
    /// 200, to all other requests with 503.
    #[must_use]
    pub fn respond_while_starting(mut self) -> Self {
        if let BoundSocket::Bound(socket) = self.socket {
            let _entered = self.runtime.enter();
            self.socket = BoundSocket::Starting(Starting::start(socket));
        }
        self
    }

    /// Until [`Self::serve`], a signal to terminate ends the process at once. For a process that has run a server
    /// before: the signal handlers of that server stay installed, so the signal would have no effect.
    #[must_use]
    pub fn exit_on_signal(mut self) -> Self {
        self.exit_on_signal = Some(self.runtime.spawn(async {
            if termination_signal().await.is_ok() {
                #[expect(clippy::disallowed_methods, reason = "the main thread is busy")]
                process::exit(0);
            }
        }));
        self
    }

    /// Starts the server on threads of its own; it accepts connections when this returns.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub fn serve(self, cms: Arc<Cms>) -> io::Result<RunningServer> {
        let Self { config, socket, address, exit_on_signal, runtime } = self;
        if let Some(task) = exit_on_signal {
            task.abort();
        }
        let listener = match socket {
            BoundSocket::Bound(socket) => {
                let _entered = runtime.enter();
                socket.listen(BACKLOG)?
            }
            BoundSocket::Starting(starting) => runtime.block_on(starting.stop())?,
        };
        let (stop, stopped) = oneshot::channel();
        let app = Arc::new(App::new(&config, cms));
        let accepting = runtime.spawn(run(listener, Arc::clone(&app), stopped));
        Ok(RunningServer { app, address, stop, accepting, runtime })
    }
}

/// Starts a server: [`bind`], then [`BoundServer::serve`].
///
/// # Errors
/// The errors of these two functions.
pub fn serve(config: ServerConfig, cms: Arc<Cms>) -> io::Result<RunningServer> {
    bind(config)?.serve(cms)
}

impl RunningServer {
    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until a signal to terminate, then shuts down; a second signal ends the grace period. A signal to
    /// reload (SIGHUP) calls `reload`, and applies the settings that it returns.
    ///
    /// A node of a cluster also shuts down when its replica has to be copied again. Opening the data
    /// directory again does that.
    ///
    /// The process ends within the grace period and some seconds, whatever still runs: threads within the
    /// database or an image cannot be interrupted.
    ///
    /// # Errors
    /// When signals cannot be listened for.
    pub fn run_until_signal(
        self,
        reload: impl FnMut() -> Option<ReloadableSettings>,
    ) -> io::Result<StopReason> {
        let end = self.runtime.block_on(async {
            tokio::select! {
                terminated = termination_signal() => terminated.map(|()| StopReason::Terminated),
                failed = reload_on_signal(&self.app, reload) => failed.map(|()| StopReason::Terminated),
                () = cluster::wait_until_replica_abandoned(&self.app) => Ok(StopReason::Abandoned),
            }
        })?;
        if end == StopReason::Abandoned {
            let mut is_terminated = false;
            self.stop(Duration::ZERO, async {
                is_terminated = termination_signal().await.is_ok();
            });
            return Ok(if is_terminated { StopReason::Terminated } else { end });
        }
        tracing::info!("shutting down");
        exit_after(self.app.config.grace + TASKS_TIMEOUT + WORK_TIMEOUT + EXIT_TIMEOUT);
        let is_node = self.app.cms.cluster().is_some();
        self.stop(if is_node { UNREADY_TIME } else { Duration::ZERO }, async {
            if termination_signal().await.is_ok() {
                tracing::warn!("second termination signal: running requests aborted");
            }
        });
        Ok(end)
    }

    /// Refuses new requests, finishes the running ones within the grace period, and returns.
    pub fn shutdown(self) {
        self.stop(Duration::ZERO, std::future::pending());
    }

    fn stop(self, unready_time: Duration, aborted: impl Future<Output = ()>) {
        let Self { stop, accepting, runtime, .. } = self;
        // Fails only when the task ended already.
        let _ = stop.send(unready_time);
        runtime.block_on(async {
            tokio::select! {
                ended = accepting => if let Err(error) = ended {
                    tracing::error!(%error, "server task failed");
                },
                () = aborted => {}
            }
        });
        runtime.shutdown_timeout(WORK_TIMEOUT);
    }
}

/// Ends the process after a timeout, unless it ended before.
fn exit_after(timeout: Duration) {
    let exit = move || {
        thread::sleep(timeout);
        #[expect(clippy::exit, clippy::disallowed_methods, reason = "nothing else ends a thread")]
        process::exit(0);
    };
    if let Err(error) = thread::Builder::new().name("shutdown".to_owned()).spawn(exit) {
        tracing::warn!(%error, "shutdown timeout not enforced: cannot start a thread");
    }
}

/// Reloads settings on each SIGHUP.
async fn reload_on_signal(
    app: &App,
    mut reload: impl FnMut() -> Option<ReloadableSettings>,
) -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut hangups = signal(SignalKind::hangup())?;
        while hangups.recv().await.is_some() {
            if let Some(reloadable) = reload() {
                app.apply_reloadable(reloadable);
            }
        }
    }
    #[cfg(not(unix))]
    let _ = (app, &mut reload);
    std::future::pending().await
}

/// Waits for Ctrl-C or, on Unix, SIGTERM.
async fn termination_signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            result = tokio::signal::ctrl_c() => result,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// Accepts connections until the server stops, then waits for running requests.
async fn run(listener: TcpListener, app: Arc<App>, stopped: oneshot::Receiver<Duration>) {
    // Dropped by each connection when it ends.
    let (open, mut all_ended) = mpsc::channel::<Infallible>(1);
    // The sender is dropped when connections are to end.
    let (keep_connections, connections_end) = watch::channel(());
    webhooks::enable_synchronous(&app);
    let tasks = BackgroundTasks::start(&app);
    let unready_time = tokio::select! {
        never = accept(&listener, &app, &connections_end, &open) => match never {},
        // An error: the handle of the server was dropped.
        stopped = stopped => stopped.unwrap_or_default(),
    };
    let grace = time::sleep(app.config.grace);
    app.draining.store(true, Ordering::Relaxed);
    let unready = async {
        // Before connections are refused, so that other nodes forward no further writes.
        cluster::release(&app, &[Duty::Writer]).await;
        time::sleep(unready_time).await;
    };
    tokio::select! {
        never = accept(&listener, &app, &connections_end, &open) => match never {},
        () = unready => {}
    }
    drop(listener);
    drop((keep_connections, connections_end, open));
    tokio::select! {
        _ = all_ended.recv() => {}
        () = grace => tracing::warn!("grace period over: running requests aborted"),
    }
    if time::timeout(TASKS_TIMEOUT, tasks.stop(&app)).await.is_err() {
        tracing::warn!("grace period over: background tasks aborted");
    }
}

/// Accepts connections. Cancelling it loses no accepted connection.
async fn accept(
    listener: &TcpListener,
    app: &Arc<App>,
    connections_end: &watch::Receiver<()>,
    open: &mpsc::Sender<Infallible>,
) -> Infallible {
    loop {
        let permit = app.connection_limits.acquire_permit().await;
        match listener.accept().await {
            Ok((stream, address)) => {
                let Some(accepted) = app.connection_limits.accept(permit, address.ip()) else {
                    tracing::debug!(%address, "connection refused: too many of this address");
                    continue;
                };
                let (app, connections_end, open) =
                    (Arc::clone(app), connections_end.clone(), open.clone());
                tokio::spawn(async move {
                    let peer = Some(address.ip());
                    let connection = Connection::new(&app.response_memory, &accepted.memory, peer);
                    serve_stream(stream, connection, app, connections_end).await;
                    drop((accepted, open));
                });
            }
            Err(error) => {
                tracing::warn!(%error, "connection not accepted");
                time::sleep(ACCEPT_RETRY_INTERVAL).await;
            }
        }
    }
}

/// Both protocols on one port; HTTP/2 by prior knowledge.
fn protocol() -> Builder<TokioExecutor> {
    let mut protocol = Builder::new(TokioExecutor::new());
    protocol
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(BUFFER_BYTES);
    protocol
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(STREAM_WINDOW_BYTES * MAX_STREAMS)
        .max_header_list_size(MAX_HEADER_BYTES);
    protocol
}

/// Serves the requests of one TCP connection.
async fn serve_stream(
    stream: TcpStream,
    connection: Connection,
    app: Arc<App>,
    connections_end: watch::Receiver<()>,
) {
    // Responses are complete when they are written, so Nagle's algorithm would only delay them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY not set");
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = socket2::SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT_BYTES) {
        tracing::debug!(%error, "TCP_NOTSENT_LOWAT not set");
    }
    let connection = Arc::new(connection);
    let (min_rate, requests) = (app.min_transfer_rate, Arc::clone(&connection));
    let respond = move |request| request::handle(Arc::clone(&app), Arc::clone(&requests), request);
    serve_connection(stream, connection, min_rate, connections_end, respond).await;
}

/// Serves a connection until the client closes it, it times out, or the server stops and no request
/// runs.
pub(crate) async fn serve_connection<S, F>(
    stream: S,
    connection: Arc<Connection>,
    min_rate: MinTransferRate,
    mut connections_end: watch::Receiver<()>,
    respond: impl Fn(hyper::Request<Body>) -> F + Send,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    F: Future<Output = Response<ResponseBody>> + Send + 'static,
{
    let lines = Arc::new(RequestLines::default());
    let (socket_connection, request_lines) = (Arc::clone(&connection), Arc::clone(&lines));
    let socket = Socket::new(stream, socket_connection, request_lines);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        respond(lines.restore(request).map(Body::new)).map(Ok::<_, Infallible>)
    });
    let protocol = protocol();
    let mut served = pin!(protocol.serve_connection(TokioIo::new(socket), service));
    let timed_out = tokio::select! {
        ended = &mut served => return log_end(ended),
        reason = connection.timed_out(min_rate) => Some(reason),
        _ = connections_end.changed() => None,
    };
    served.as_mut().graceful_shutdown();
    if let Some(reason) = timed_out {
        tracing::debug!(peer = ?connection.peer, reason, "connection closed");
        if let Ok(ended) = time::timeout(CLOSE_TIMEOUT, served).await {
            log_end(ended);
        }
        return;
    }
    tokio::select! {
        ended = served => log_end(ended),
        () = connection.drained() => {}
    }
}

fn log_end(ended: Result<(), Box<dyn std::error::Error + Send + Sync>>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}

#[cfg(test)]
mod tests {
    use std::{net::Ipv4Addr, sync::mpsc, time::Instant};

    use cms_core::testing::TestCms;

    use super::*;
    use crate::{blocking, net::permits::Work};

    /// The work neither ends nor can be interrupted, and the last background tasks wait for its
    /// permits.
    #[test]
    fn shutdown_ends_running_work() {
        let core = TestCms::new();
        let config = ServerConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            grace: Duration::from_millis(10),
            reads: 1,
            writes: 1,
            ..ServerConfig::default()
        };
        let running = serve(config, Arc::clone(&core.cms)).unwrap();
        let mut held = Vec::new();
        for work in [Work::Search, Work::Write] {
            let (release, released) = mpsc::channel::<()>();
            let (start, started) = mpsc::channel();
            let app = Arc::clone(&running.app);
            running.runtime.spawn(async move {
                blocking::run(&app, work, move |_| {
                    start.send(()).unwrap();
                    released.recv().ok();
                })
                .await
            });
            started.recv().unwrap();
            held.push(release);
        }
        let begin = Instant::now();
        running.shutdown();
        let time = begin.elapsed();
        assert!(time < TASKS_TIMEOUT + WORK_TIMEOUT + Duration::from_secs(5), "{time:?}");
    }
}
