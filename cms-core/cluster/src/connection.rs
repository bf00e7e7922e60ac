//! Connections: opened on first use, dropped after errors, and the settings of their sessions.

use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::Duration,
};

use cms_model::error::{Error, Result};
use parking_lot::Mutex as BlockingMutex;
use tokio::{
    sync::{Mutex, MutexGuard},
    task::AbortHandle,
    time::{Instant, timeout},
};
use tokio_postgres::{Client, Config, NoTls, Statement, config::SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{
    error::{Attempt, Failure},
    settings::PostgresSettings,
    tls,
};

/// Timeout for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time to wait for a connection that another thread of this process uses.
const CHECKOUT_TIMEOUT: Duration = Duration::from_secs(10);
/// TCP user timeout: a connection whose data stays unacknowledged for this time is closed.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(5);
/// The TCP user timeout while a new database is filled: the server may stop reading for a checkpoint.
const TCP_USER_TIMEOUT_OF_FILL: Duration = Duration::from_mins(1);
/// An idle connection is probed after 2 s, 3 times, a second apart: a dead host is detected after 5 s.
const TCP_KEEPALIVE_IDLE: Duration = Duration::from_secs(2);
const TCP_KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);
const TCP_KEEPALIVE_RETRIES: u32 = 3;
/// Maximum length of the name of a connection in PostgreSQL.
const MAX_NAME_BYTES: usize = 63;

/// Settings of each session. They override those of the role and the server, except
/// `synchronous_commit = remote_apply`.
///
/// - `idle_in_transaction_session_timeout` takes the lock from nodes that are dead or paused, unless they
///   were paused in the middle of a request.
/// - `enable_seqscan = off`: all statements select rows by primary key, so a sequential scan is never right.
///   PostgreSQL would use one for tables without statistics.
/// - `jit = off`: `enable_seqscan = off` only raises the estimated cost of sequential scans, and a high estimated cost
///   makes PostgreSQL use its JIT compiler.
/// - Compression by LZ4: PostgreSQL would spend half of its time in the default algorithm. Versions before 14 and
///   builds without LZ4 keep the default.
const SESSION_SETTINGS: &str = "\
SELECT pg_catalog.set_config('synchronous_commit',
    CASE pg_catalog.current_setting('synchronous_commit')
    WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false);
SET default_transaction_isolation = 'read committed';
SET default_transaction_read_only = off;
SET idle_in_transaction_session_timeout = '5s';
SET lock_timeout = '10s';
SET statement_timeout = '60s';
SET tcp_user_timeout = '5s';
SET tcp_keepalives_idle = 2;
SET tcp_keepalives_interval = 1;
SET tcp_keepalives_count = 3;
SET enable_seqscan = off;
SET jit = off;
SET plan_cache_mode = force_generic_plan;
SET search_path = cms;
SELECT pg_catalog.set_config(name, 'lz4', false) FROM pg_catalog.pg_settings
WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)";

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Write,
    Pull,
    Membership,
    Fill,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Pull => "pull",
            Self::Membership => "membership",
            Self::Fill => "fill",
        }
    }
}

/// The server, and whether it responded last time.
pub(crate) struct Server {
    settings: PostgresSettings,
    encryption: Option<MakeRustlsConnect>,
    /// The settings without secrets, for messages.
    pub(crate) name: String,
    /// The name of this node, which the commit log and the names of connections contain.
    pub(crate) node: String,
    is_reachable: AtomicBool,
}

impl Server {
    pub(crate) fn new(settings: PostgresSettings) -> Result<Self> {
        Ok(Self {
            encryption: tls::connector(&settings)?,
            name: settings.to_string(),
            settings,
            node: String::new(),
            is_reachable: AtomicBool::new(true),
        })
    }

    /// Opens a connection, and logs when the server becomes unreachable or reachable.
    pub(crate) async fn connect(&self, purpose: Purpose) -> Attempt<Session> {
        let connected = with_timeout(CONNECT_TIMEOUT, Session::open(self, purpose)).await;
        let was_reachable = self.is_reachable.swap(connected.is_ok(), Ordering::Relaxed);
        match &connected {
            Ok(_) if !was_reachable => tracing::info!(database = self.name, "database reachable"),
            Err(failure) if was_reachable => {
                tracing::warn!(database = self.name, error = %failure, "database unreachable");
            }
            _ => {}
        }
        connected
    }

    fn config(&self, purpose: Purpose) -> Config {
        let mut name = format!("cms {} {}", purpose.name(), self.node);
        name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
        let is_fill = purpose == Purpose::Fill;
        let mut config = Config::new();
        config
            .host(&self.settings.host)
            .port(self.settings.port)
            .dbname(&self.settings.database)
            .application_name(name.trim_end())
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_user_timeout(if is_fill { TCP_USER_TIMEOUT_OF_FILL } else { TCP_USER_TIMEOUT })
            .keepalives_idle(TCP_KEEPALIVE_IDLE)
            .keepalives_interval(TCP_KEEPALIVE_INTERVAL)
            .keepalives_retries(TCP_KEEPALIVE_RETRIES)
            .ssl_mode(match self.encryption {
                // Not `Prefer`, which would accept a server that does not encrypt.
                Some(_) => SslMode::Require,
                None => SslMode::Disable,
            });
        if let Some(user) = &self.settings.user {
            config.user(user);
        }
        if let Some(password) = &self.settings.password {
            config.password(password);
        }
        config
    }
}

/// An open connection with its prepared statements.
pub(crate) struct Session {
    // Dropped before `statements`: while the client is open, each dropped statement sends a request of its
    // own to close it.
    client: Client,
    task: AbortHandle,
    statements: BlockingMutex<HashMap<String, Statement>>,
    last_request: BlockingMutex<Instant>,
}

impl Session {
    async fn open(server: &Server, purpose: Purpose) -> Attempt<Self> {
        let config = server.config(purpose);
        let (client, task) = match &server.encryption {
            None => {
                let (client, connection) = config.connect(NoTls).await?;
                (client, tokio::spawn(connection).abort_handle())
            }
            Some(encryption) => {
                let (client, connection) = config.connect(encryption.clone()).await?;
                (client, tokio::spawn(connection).abort_handle())
            }
        };
        let session = Self {
            client,
            task,
            statements: BlockingMutex::default(),
            last_request: BlockingMutex::new(Instant::now()),
        };
        session.client.batch_execute(SESSION_SETTINGS).await?;
        let state = session.statement("SELECT pg_catalog.pg_is_in_recovery()").await?;
        // A standby may lack commits: head checks on it would report stale data as current.
        if session.client.query_one(&state, &[]).await?.try_get(0)? {
            return Err(Failure::Unusable("the server is a standby".to_owned()));
        }
        Ok(session)
    }

    /// Returns the client, to send a request.
    pub(crate) fn client(&self) -> &Client {
        *self.last_request.lock() = Instant::now();
        &self.client
    }

    /// Returns a prepared statement, prepared once per connection.
    pub(crate) async fn statement(&self, sql: &str) -> Attempt<Statement> {
        let known = || self.statements.lock();
        if let Some(statement) = known().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client().prepare(sql).await?;
        known().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Sends a rollback, and does not wait for the response.
    pub(crate) fn send_rollback(&self) {
        let mut request = std::pin::pin!(self.client().batch_execute("ROLLBACK"));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        // The first poll sends the request. If the connection is broken, the next request fails.
        drop(request.as_mut().poll(&mut context));
    }

    /// Returns the time since the last request.
    pub(crate) fn idle(&self) -> Duration {
        self.last_request.lock().elapsed()
    }

    /// Closes the connection now, even if the server has not responded.
    pub(crate) fn abort(&self) {
        self.task.abort();
    }
}

/// Ends the connection task on every drop, also when [`Session::open`] is cancelled by its timeout: otherwise the task
/// would continue to wait for the response.
impl Drop for Session {
    fn drop(&mut self) {
        self.abort();
    }
}

/// A connection that the threads of this process share. Only one thread uses it at a time.
pub(crate) struct SharedConnection {
    purpose: Purpose,
    session: Mutex<Option<Arc<Session>>>,
}

impl SharedConnection {
    pub(crate) fn new(purpose: Purpose) -> Self {
        Self { purpose, session: Mutex::new(None) }
    }

    /// Waits until no other thread uses the connection.
    pub(crate) async fn checkout<'d>(&'d self, server: &'d Server) -> Result<SessionGuard<'d>> {
        match timeout(CHECKOUT_TIMEOUT, self.session.lock()).await {
            Ok(session) => Ok(SessionGuard { server, purpose: self.purpose, session }),
            Err(_) => Err(Error::Busy(format!(
                "the connection to the database of the cluster is in use: {}",
                server.name
            ))),
        }
    }
}

/// A connection that this thread uses, or none yet.
pub(crate) struct SessionGuard<'d> {
    server: &'d Server,
    purpose: Purpose,
    session: MutexGuard<'d, Option<Arc<Session>>>,
}

impl SessionGuard<'_> {
    /// Runs requests that may be repeated. If the open connection turns out to be broken, repeats them
    /// once on a new one, because the server may have restarted. Does not repeat them after a timeout.
    pub(crate) async fn run<T>(
        &mut self,
        limit: Duration,
        requests: impl AsyncFn(&Session) -> Attempt<T>,
    ) -> Attempt<(Arc<Session>, T)> {
        if let Some(session) = self.session.clone() {
            match with_timeout(limit, requests(&session)).await {
                Err(failure) if failure.is_broken() => {
                    self.discard();
                    if failure.is_timeout() {
                        return Err(failure);
                    }
                }
                other => return other.map(|value| (session, value)),
            }
        }
        let session = Arc::new(self.server.connect(self.purpose).await?);
        *self.session = Some(Arc::clone(&session));
        match with_timeout(limit, requests(&session)).await {
            Ok(value) => Ok((session, value)),
            Err(failure) => {
                self.discard_if_broken(&failure);
                Err(failure)
            }
        }
    }

    pub(crate) fn discard_if_broken(&mut self, failure: &Failure) {
        if failure.is_broken() {
            self.discard();
        }
    }

    /// Closes the connection: the next use opens another one.
    pub(crate) fn discard(&mut self) {
        if let Some(session) = self.session.take() {
            session.abort();
        }
    }

    /// Rolls the open transaction back, without waiting.
    pub(crate) fn roll_back(&self) {
        if let Some(session) = self.session.as_deref() {
            session.send_rollback();
        }
    }
}

/// Limits the duration of requests.
pub(crate) async fn with_timeout<T>(
    limit: Duration,
    requests: impl Future<Output = Attempt<T>>,
) -> Attempt<T> {
    timeout(limit, requests).await.unwrap_or(Err(Failure::Timeout(limit)))
}

/// A request that was sent, and maybe its response.
pub(crate) enum Sent<'r, T> {
    Done(T),
    Waiting(Pin<Box<dyn Future<Output = T> + Send + 'r>>),
}

impl<T> Sent<'_, T> {
    pub(crate) async fn response(self) -> T {
        match self {
            Self::Done(value) => value,
            Self::Waiting(request) => request.await,
        }
    }
}

/// Sends a request without waiting for the response: the library sends on the first poll. Requests
/// reach the server in the order of these calls.
pub(crate) async fn send<'r, T>(request: impl Future<Output = T> + Send + 'r) -> Sent<'r, T> {
    let mut request: Pin<Box<dyn Future<Output = T> + Send + 'r>> = Box::pin(request);
    let first = std::future::poll_fn(|context| Poll::Ready(request.as_mut().poll(context))).await;
    match first {
        Poll::Ready(value) => Sent::Done(value),
        Poll::Pending => Sent::Waiting(request),
    }
}
