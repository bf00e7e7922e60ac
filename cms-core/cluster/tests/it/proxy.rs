//! A proxy that breaks connections at chosen messages.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    runtime::Runtime,
    sync::watch,
};

/// What happens at a message of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionError {
    CutBefore,
    CutInside,
    CutAfter,
    /// The server executes the message, but the proxy closes the connection instead of responding.
    SwallowResponse,
}

/// The message at which an error happens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    /// The next message that contains a text.
    Text(&'static str),
    /// The message after this number of others.
    Count(usize),
}

/// Forwards connections to PostgreSQL on this host.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    errors: ConnectionErrors,
    frozen: watch::Sender<bool>,
    _runtime: Runtime,
}

type ConnectionErrors = Arc<Mutex<Option<(ConnectionError, At)>>>;

impl Proxy {
    pub(crate) fn start(server: u16) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let errors = ConnectionErrors::default();
        let (frozen, is_frozen) = watch::channel(false);
        let shared = Arc::clone(&errors);
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(relay(client, server, Arc::clone(&shared), is_frozen.clone()));
            }
        });
        Self { port, errors, frozen, _runtime: runtime }
    }

    /// Lets one message fail.
    pub(crate) fn arm(&self, error: ConnectionError, at: At) {
        *self.errors.lock().unwrap() = Some((error, at));
    }

    /// Removes the error if it has not been triggered; returns whether it was still there.
    pub(crate) fn remove_unused_error(&self) -> bool {
        self.errors.lock().unwrap().take().is_some()
    }

    /// Forwards nothing more, or everything again.
    pub(crate) fn freeze(&self, is_frozen: bool) {
        self.frozen.send(is_frozen).unwrap();
    }
}

/// Forwards messages until one direction ends, then closes both.
async fn relay(
    client: TcpStream,
    server: u16,
    errors: ConnectionErrors,
    frozen: watch::Receiver<bool>,
) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await else { return };
    server.set_nodelay(true).unwrap();
    client.set_nodelay(true).unwrap();
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let swallow = AtomicBool::new(false);
    tokio::select! {
        _ = requests(from_client, to_server, &errors, frozen.clone(), &swallow) => {}
        _ = responses(from_server, to_client, frozen, &swallow) => {}
    }
}

async fn requests(
    mut client: OwnedReadHalf,
    mut server: OwnedWriteHalf,
    errors: &ConnectionErrors,
    mut frozen: watch::Receiver<bool>,
    swallow: &AtomicBool,
) -> Option<()> {
    // The first message has no byte for its type.
    let mut kind_bytes = 0;
    // A freeze starts only between requests: PostgreSQL has no timeout for a request that has arrived
    // in part, and the library sends each request with a single write.
    let mut is_complete = true;
    loop {
        let mut message = vec![0; kind_bytes + 4];
        client.read_exact(&mut message).await.ok()?;
        let length = u32::from_be_bytes(message[kind_bytes..].try_into().unwrap()) as usize;
        message.resize(kind_bytes + length, 0);
        client.read_exact(&mut message[kind_bytes + 4..]).await.ok()?;
        if is_complete {
            frozen.wait_for(|is_frozen| !is_frozen).await.ok()?;
        }
        // A request ends with Sync, a simple query or a password, or is the first message.
        is_complete = kind_bytes == 0 || matches!(message[0], b'S' | b'Q' | b'p');
        kind_bytes = 1;
        match take(errors, &message) {
            None => server.write_all(&message).await.ok()?,
            Some(ConnectionError::CutBefore) => return None,
            Some(ConnectionError::CutInside) => {
                server.write_all(&message[..message.len() / 2]).await.ok()?;
                return None;
            }
            Some(ConnectionError::CutAfter) => {
                server.write_all(&message).await.ok()?;
                return None;
            }
            Some(ConnectionError::SwallowResponse) => {
                swallow.store(true, Ordering::SeqCst);
                server.write_all(&message).await.ok()?;
            }
        }
    }
}

fn take(errors: &ConnectionErrors, message: &[u8]) -> Option<ConnectionError> {
    let mut armed = errors.lock().unwrap();
    let (error, at) = armed.as_mut()?;
    let happens = match at {
        At::Text(text) => message.windows(text.len()).any(|part| part == text.as_bytes()),
        At::Count(0) => true,
        At::Count(count) => {
            *count -= 1;
            false
        }
    };
    let error = happens.then_some(*error);
    if happens {
        *armed = None;
    }
    error
}

async fn responses(
    mut server: OwnedReadHalf,
    mut client: OwnedWriteHalf,
    mut frozen: watch::Receiver<bool>,
    swallow: &AtomicBool,
) -> Option<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = server.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        frozen.wait_for(|is_frozen| !is_frozen).await.ok()?;
        if swallow.load(Ordering::SeqCst) {
            return None;
        }
        client.write_all(&buffer[..count]).await.ok()?;
    }
}
