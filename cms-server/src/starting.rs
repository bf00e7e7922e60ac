//! Responds while a node of a cluster copies its replica, which may take minutes: an orchestrator sees
//! that the process lives and is not ready.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use axum::body::Body;
use cms_core::Error;
use hyper::{Request, Response as HttpResponse, body::Incoming, server::conn::http1, service};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::oneshot,
    task::{JoinHandle, JoinSet},
    time,
};

use crate::{
    response::Response,
    server::{ACCEPT_RETRY_INTERVAL, BACKLOG},
    state::RequestIds,
};

/// Time in which connections are refused, because there is no listener yet. A load balancer may still
/// use a restarted node. When a connection is refused, it tries another node, but it would pass a
/// response with 503 on to the client.
const REFUSAL_TIME: Duration = Duration::from_secs(2);
/// Maximum number of open connections.
const MAX_CONNECTIONS: usize = 64;
/// Time for one connection, which has one request.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(5);

/// The responses of a server that starts.
pub(crate) struct Starting {
    stop: oneshot::Sender<()>,
    accepting: JoinHandle<io::Result<TcpListener>>,
}

impl Starting {
    /// Accepts connections after [`REFUSAL_TIME`], until [`Self::stop`]. Has to be called within a Tokio
    /// runtime.
    pub(crate) fn start(socket: TcpSocket) -> Self {
        let (stop, stopped) = oneshot::channel();
        Self { stop, accepting: tokio::spawn(listen(socket, stopped)) }
    }

    /// Closes all connections; returns the listener. Connections that were not accepted yet wait on it.
    pub(crate) async fn stop(self) -> io::Result<TcpListener> {
        // Fails only when the task ended already.
        let _ = self.stop.send(());
        self.accepting.await?
    }
}

async fn listen(socket: TcpSocket, mut stopped: oneshot::Receiver<()>) -> io::Result<TcpListener> {
    if time::timeout(REFUSAL_TIME, &mut stopped).await.is_ok() {
        return socket.listen(BACKLOG);
    }
    let listener = socket.listen(BACKLOG)?;
    accept(&listener, stopped).await;
    Ok(listener)
}

async fn accept(listener: &TcpListener, mut stopped: oneshot::Receiver<()>) {
    let ids = Arc::new(RequestIds::new());
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => accepted,
            Some(_) = connections.join_next() => continue,
            _ = &mut stopped => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let ids = Arc::clone(&ids);
                connections.spawn(async move {
                    time::timeout(CONNECTION_TIMEOUT, serve(stream, &ids)).await.ok();
                });
            }
            Err(error) => {
                tracing::warn!(%error, "connection not accepted");
                time::sleep(ACCEPT_RETRY_INTERVAL).await;
            }
        }
    }
    connections.shutdown().await;
}

/// Serves one request.
async fn serve(stream: TcpStream, ids: &RequestIds) {
    let respond =
        |request: Request<Incoming>| async move { Ok::<_, Infallible>(respond(&request, ids)) };
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).keep_alive(false);
    let served = protocol.serve_connection(TokioIo::new(stream), service::service_fn(respond));
    if let Err(error) = served.await {
        tracing::debug!(%error, "connection ended");
    }
}

fn respond(request: &Request<Incoming>, ids: &RequestIds) -> HttpResponse<Body> {
    let response = match request.uri().path() {
        "/healthz" => Response::json(&json!({ "status": "ok" })),
        _ => Error::Busy("the node copies the database of the cluster".to_owned()).into(),
    };
    response.into_http(request.method(), ids.of(request.headers()))
}
