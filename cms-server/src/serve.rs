//! The socket: accepting connections, speaking HTTP/1.1 and HTTP/2 on them, and ending well.

use std::{
    convert::Infallible,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::body::Body;
use cms_core::Cms;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulShutdown},
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    runtime::{self, Runtime},
    sync::{Semaphore, oneshot},
    task::JoinHandle,
    time,
};

use crate::{
    chores::Chores,
    config::{ServerConfig, Tunables},
    request,
    state::App,
    stream::Stream,
    streams::Streams,
    target::Target,
    webhook,
};

/// How long a client may take to send the head of a request, and how long a connection may idle.
const HEAD_TIMEOUT: Duration = Duration::from_mins(1);
/// How often an HTTP/2 connection is asked whether it is still there.
const PING_INTERVAL: Duration = Duration::from_mins(1);
/// Streams of one HTTP/2 connection.
const STREAMS: u32 = 256;
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

/// A server that answers.
pub struct Running {
    app: Arc<App>,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    accepting: JoinHandle<()>,
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
        let accepting = runtime.spawn(run(listener, config, Arc::clone(&app), stopped));
        Ok(Running { app, address, stop, accepting, runtime })
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
    let connections = GracefulShutdown::new();
    webhook::ask_before_writes(&app, config.webhook_private);
    let chores = Chores::start(&app, &config);
    let slots = Arc::new(Semaphore::new(config.connections.max(1)));
    loop {
        let slot = Arc::clone(&slots).acquire_owned();
        let accepted = async { (slot.await, listener.accept().await) };
        let (slot, stream) = tokio::select! {
            accepted = accepted => accepted,
            _ = &mut stopped => break,
        };
        match stream {
            Ok((stream, address)) => {
                let streams = Streams::new(app.pace);
                let connected = connect(&streams, stream, address.ip(), Arc::clone(&app));
                let connection = connections.watch(connected);
                let app = Arc::clone(&app);
                tokio::spawn(async move {
                    app.connections.fetch_add(1, Ordering::Relaxed);
                    tokio::select! {
                        ended = connection => if let Err(error) = ended {
                            tracing::debug!(%error, "connection ended");
                        },
                        () = streams.idle() => tracing::debug!("a connection idles"),
                    }
                    app.connections.fetch_sub(1, Ordering::Relaxed);
                    drop(slot);
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
    if time::timeout(config.grace, connections.shutdown()).await.is_err() {
        tracing::warn!("the grace period is over: running requests are cut off");
    }
    chores.end(&app).await;
}

/// Both protocols on one port; HTTP/2 by prior knowledge.
fn protocol(streams: Streams) -> Builder<Streams> {
    let mut protocol = Builder::new(streams);
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

/// Speaks with one client.
fn connect(
    streams: &Streams,
    stream: TcpStream,
    peer: IpAddr,
    app: Arc<App>,
) -> impl hyper_util::server::graceful::GracefulConnection<Error: std::fmt::Display> + use<> {
    // Answers are written whole: waiting for more to send would only delay them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot turn off delays");
    }
    let target = Arc::new(Target::default());
    let stream = TokioIo::new(Stream::new(stream, Arc::clone(&target), HEAD_TIMEOUT, app.pace));
    let asked = streams.clone();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (app, streams) = (Arc::clone(&app), asked.clone());
        let request = target.restore(request).map(Body::new);
        async move {
            let answering = streams.answering();
            let answer = request::answer(app, Some(peer), request).await;
            Ok::<_, Infallible>(answer.map(|body| answering.follow(body)))
        }
    });
    protocol(streams.clone()).serve_connection(stream, service).into_owned()
}
