//! The socket: accepting connections, speaking HTTP/1.1 and HTTP/2 on them, and ending well.

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
use cms_core::Cms;
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
    background::tasks::Chores,
    background::webhooks,
    config::{ServerConfig, Tunables},
    net::connection::{Connection, End, ResponseBody, Socket},
    net::raw_query::Target,
    net::transfer_rate::Pace,
    routing::request,
    state::App,
};

/// How long a client may take to send the head of a request, and how long a connection may idle.
const HEAD_TIMEOUT: Duration = Duration::from_mins(1);
/// How often an HTTP/2 connection is asked whether it is still there.
const PING_INTERVAL: Duration = Duration::from_mins(1);
/// Streams of one HTTP/2 connection.
const STREAMS: u32 = 64;
/// Size of all headers of an HTTP/2 request.
const HEADER_BYTES: u32 = 64 * 1024;
/// Bytes that are read ahead of one connection; hundreds of uploads each fill theirs. Longer than the
/// longest head.
const BUFFER: usize = 128 * 1024;
/// How long accepting rests when the system has no file handles left.
const OUT_OF_HANDLES: Duration = Duration::from_millis(100);
/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1024;
/// How long work that outlived the grace period may take to notice that.
const LAST_WORK: Duration = Duration::from_secs(2);
/// How long the last background tasks may take after it.
const LAST_TASKS: Duration = Duration::from_secs(3);
/// How long all else may take until the process ends.
const LAST_STEPS: Duration = Duration::from_secs(2);

/// A server that answers.
pub struct Running {
    app: Arc<App>,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    accepting: JoinHandle<()>,
    grace: Duration,
    runtime: Runtime,
}

/// An address that is taken, and where nobody is answered yet.
pub struct Bound {
    config: ServerConfig,
    socket: TcpSocket,
    address: SocketAddr,
    runtime: Runtime,
}

/// Takes the address, so that work before [`Bound::serve`] is not in vain.
///
/// # Errors
/// When the address cannot be had, or the system gives no threads.
pub fn bind(config: ServerConfig) -> io::Result<Bound> {
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(config.workers.max(1))
        .thread_name("cms-server")
        .enable_all()
        .build()?;
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let _entered = runtime.enter();
        // Once somebody has listened for it, it ends nobody: settings may be changed while the server
        // starts. It is heard from when the server runs.
        drop(signal(SignalKind::hangup())?);
    }
    let socket = if config.listen.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A server that starts again does not wait for connections of the last one to be forgotten.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(config.listen)?;
    let address = socket.local_addr()?;
    Ok(Bound { config, socket, address, runtime })
}

impl Bound {
    /// Starts the server on threads of its own; it answers when this returns.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub fn serve(self, cms: Arc<Cms>) -> io::Result<Running> {
        let Self { config, socket, address, runtime } = self;
        let listener = {
            let _entered = runtime.enter();
            socket.listen(BACKLOG)?
        };
        let (stop, stopped) = oneshot::channel();
        let app = Arc::new(App::new(&config, cms));
        let grace = config.grace;
        let accepting = runtime.spawn(run(listener, config, Arc::clone(&app), stopped));
        Ok(Running { app, address, stop, accepting, grace, runtime })
    }
}

/// Starts a server at once: [`bind`], then [`Bound::serve`].
///
/// # Errors
/// As these two.
pub fn serve(config: ServerConfig, cms: Arc<Cms>) -> io::Result<Running> {
    bind(config)?.serve(cms)
}

impl Running {
    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the process is asked to end, then shuts down. Asking twice cuts the grace
    /// period short. `reload` is called when the process is asked to read its settings again; what
    /// it returns counts from then on.
    ///
    /// Once asked to end, the process ends within the grace period and some seconds, whatever still
    /// runs: threads within the database or an image cannot be interrupted.
    ///
    /// # Errors
    /// When signals cannot be listened for.
    pub fn run_until_signal(self, reload: impl FnMut() -> Option<Tunables>) -> io::Result<()> {
        self.runtime.block_on(async {
            tokio::select! {
                asked = asked_to_end() => asked,
                failed = keep_reloading(&self.app, reload) => failed,
            }
        })?;
        tracing::info!("shutting down");
        end_process_after(self.grace + LAST_TASKS + LAST_WORK + LAST_STEPS);
        self.end(async {
            if asked_to_end().await.is_ok() {
                tracing::warn!("asked twice: running requests are cut off");
            }
        });
        Ok(())
    }

    /// Takes no more requests, finishes the running ones within the grace period, and returns.
    pub fn shutdown(self) {
        self.end(std::future::pending());
    }

    fn end(self, cut_off: impl Future<Output = ()>) {
        let Self { stop, accepting, runtime, .. } = self;
        // Fails only when the task is gone, and then there is nobody to tell.
        let _ = stop.send(());
        runtime.block_on(async {
            tokio::select! {
                ended = accepting => if let Err(error) = ended {
                    tracing::error!(%error, "the server ended badly");
                },
                () = cut_off => {}
            }
        });
        runtime.shutdown_timeout(LAST_WORK);
    }
}

/// Ends the process after a while, unless it has ended by itself.
fn end_process_after(timeout: Duration) {
    let end = move || {
        thread::sleep(timeout);
        #[expect(clippy::exit, clippy::disallowed_methods, reason = "nothing else ends a thread")]
        process::exit(0);
    };
    if let Err(error) = thread::Builder::new().name("shutdown".to_owned()).spawn(end) {
        tracing::warn!(%error, "no thread watches over the end of the process");
    }
}

/// Reads settings again whenever the process is asked to.
async fn keep_reloading(app: &App, mut reload: impl FnMut() -> Option<Tunables>) -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut hangups = signal(SignalKind::hangup())?;
        while hangups.recv().await.is_some() {
            if let Some(tunables) = reload() {
                app.tune(tunables);
            }
        }
    }
    #[cfg(not(unix))]
    let _ = (app, &mut reload);
    std::future::pending().await
}

/// Waits for Ctrl-C or, where there is such a thing, the polite signal of the system.
async fn asked_to_end() -> io::Result<()> {
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

/// Accepts connections until told to stop, then waits for the requests that run.
async fn run(
    listener: TcpListener,
    config: ServerConfig,
    app: Arc<App>,
    mut stopped: oneshot::Receiver<()>,
) {
    // Dropped by each connection when it ends.
    let (open, mut all_ended) = mpsc::channel::<Infallible>(1);
    // Dropped when connections are to end.
    let (running, draining) = watch::channel(());
    webhooks::ask_before_writes(&app, config.webhook_private);
    let chores = Chores::start(&app, &config);
    loop {
        let accepted = async { (app.admission.slot().await, listener.accept().await) };
        let (slot, stream) = tokio::select! {
            accepted = accepted => accepted,
            _ = &mut stopped => break,
        };
        match stream {
            Ok((stream, address)) => {
                let Some(admitted) = app.admission.admit(slot, address.ip()) else {
                    tracing::debug!(%address, "connection refused: its address has too many");
                    continue;
                };
                let (app, draining, open) = (Arc::clone(&app), draining.clone(), open.clone());
                tokio::spawn(async move {
                    let peer = Some(address.ip());
                    let connection = Connection::new(&app.memory, &admitted.memory, peer);
                    connect(stream, connection, app, draining).await;
                    drop((admitted, open));
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                time::sleep(OUT_OF_HANDLES).await;
            }
        }
    }
    drop(listener);
    app.draining.store(true, Ordering::Relaxed);
    drop((running, open));
    if time::timeout(config.grace, all_ended.recv()).await.is_err() {
        tracing::warn!("the grace period is over: running requests are cut off");
    }
    if time::timeout(LAST_TASKS, chores.end(&app)).await.is_err() {
        tracing::warn!("the grace period is over: background tasks are cut off");
    }
}

/// Both protocols on one port; HTTP/2 by prior knowledge.
fn protocol() -> Builder<TokioExecutor> {
    let mut protocol = Builder::new(TokioExecutor::new());
    protocol
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(BUFFER);
    protocol
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(HEADER_BYTES);
    protocol
}

/// Serves one connection to its end.
async fn connect(
    stream: TcpStream,
    connection: Connection,
    app: Arc<App>,
    draining: watch::Receiver<()>,
) {
    // Responses are written at once: waiting for more to send would only delay them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot turn off delays");
    }
    let connection = Arc::new(connection);
    let (pace, requests) = (app.pace, Arc::clone(&connection));
    let respond = move |request| {
        let (app, connection) = (Arc::clone(&app), Arc::clone(&requests));
        async move { request::answer(app, &connection, request).await }
    };
    converse(stream, connection, pace, draining, respond).await;
}

/// Speaks HTTP until the client ends the connection, it is overdue, or the server stops and nothing is
/// under way.
pub(crate) async fn converse<S, F>(
    stream: S,
    connection: Arc<Connection>,
    pace: Pace,
    mut draining: watch::Receiver<()>,
    respond: impl Fn(hyper::Request<Body>) -> F + Send,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    F: Future<Output = Response<ResponseBody>> + Send + 'static,
{
    let target = Arc::new(Target::default());
    let socket =
        Socket { inner: stream, connection: Arc::clone(&connection), target: Arc::clone(&target) };
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let response = respond(target.restore(request).map(Body::new));
        async move { Ok::<_, Infallible>(response.await) }
    });
    let protocol = protocol();
    let mut served = pin!(protocol.serve_connection(TokioIo::new(socket), service));
    let end = tokio::select! {
        ended = &mut served => return log_end(ended),
        end = connection.overdue(pace) => Some(end),
        _ = draining.changed() => None,
    };
    served.as_mut().graceful_shutdown();
    if let Some(End { reason, timeout }) = end {
        tracing::debug!(peer = ?connection.peer, reason, "connection closed");
        if let Ok(ended) = time::timeout(timeout, served).await {
            log_end(ended);
        }
        return;
    }
    tokio::select! {
        ended = served => log_end(ended),
        () = connection.quiet() => {}
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
    use crate::blocking::{self, Work};

    /// Work that neither ends nor can be interrupted, and for which the last background tasks wait.
    #[test]
    fn shutdown_ends_whatever_still_runs() {
        let core = TestCms::new();
        let config = ServerConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            grace: Duration::from_millis(10),
            searches: 1,
            writes: 1,
            ..ServerConfig::default()
        };
        let running = serve(config, Arc::clone(&core.cms)).unwrap();
        let mut held = Vec::new();
        for work in [Work::Search, Work::Write] {
            let (release, released) = mpsc::channel::<()>();
            let (begin, begun) = mpsc::channel();
            let app = Arc::clone(&running.app);
            running.runtime.spawn(async move {
                blocking::run(&app, work, move |_| {
                    begin.send(()).unwrap();
                    released.recv().ok();
                })
                .await
            });
            begun.recv().unwrap();
            held.push(release);
        }
        let start = Instant::now();
        running.shutdown();
        let time = start.elapsed();
        assert!(time < LAST_TASKS + LAST_WORK + Duration::from_secs(5), "{time:?}");
    }
}
