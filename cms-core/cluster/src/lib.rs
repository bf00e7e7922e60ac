//! The shared database of a cluster: PostgreSQL.
//!
//! [`PostgresDatabase`] implements [`SharedDatabase`]. It knows tables, keys and rows, and nothing of
//! content. Three connections, opened on first use: `write` (the lock and commits), `pull` (head
//! checks and snapshots), `membership` (reports and duties); [`SharedDatabase::create`] opens a fourth
//! one while it runs. A connection is dropped after an error that breaks it, and the next call opens
//! another one.
//!
//! | Error | Meaning |
//! |---|---|
//! | [`Error::Busy`] | unreachable, no timely response, or access refused: the message has the reason |
//! | [`Error::NotFound`] | the database contains no cluster: call [`SharedDatabase::create`] |
//! | [`Error::Conflict`] | `create`: the database contains a cluster already, or its encoding is not UTF8 |
//! | [`Error::NoSpace`] | the disk of the database is full |
//! | [`Error::Internal`] | anything else, such as tables of another schema |
//!
//! A snapshot keeps the connection `pull` until it is dropped; a lock keeps `write`. Other calls that need
//! the same connection wait, and after ten seconds return [`Error::Busy`].
//!
//! All methods block, and panic in asynchronous code.

mod connection;
mod error;
mod escape;
mod membership;
mod pull;
mod schema;
mod settings;
mod tls;
mod value;
mod write;

use std::{future::Future, time::Duration};

use cms_model::error::{Error, Result};
use cms_store::cluster::database::{
    Head, HeadCheck, LockedHead, Position, RowSink, SharedDatabase, SharedSnapshot, SharedTable,
};
use tokio::runtime::Runtime;

pub use crate::settings::{PostgresSettings, Tls};
use crate::{
    connection::{Purpose, Server, Session, SharedConnection},
    error::{Attempt, Failure},
};

/// The shared database in PostgreSQL.
pub struct PostgresDatabase {
    server: Server,
    write: SharedConnection,
    pull: SharedConnection,
    membership: SharedConnection,
    runtime: Option<Runtime>,
}

impl PostgresDatabase {
    /// Prepares connections, and opens none: errors of the server are reported on first use.
    ///
    /// # Errors
    /// [`Error::BadRequest`] if the file of root certificates cannot be read.
    pub fn open(settings: PostgresSettings) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("cluster")
            .enable_all()
            .build()
            .map_err(Error::from_storage)?;
        Ok(Self {
            server: Server::new(settings)?,
            write: SharedConnection::new(Purpose::Write),
            pull: SharedConnection::new(Purpose::Pull),
            membership: SharedConnection::new(Purpose::Membership),
            runtime: Some(runtime),
        })
    }

    /// Sets the name of this node, which the commit log and the names of connections contain.
    #[must_use]
    pub fn with_node(mut self, name: impl Into<String>) -> Self {
        self.server.node = name.into();
        self
    }

    /// Returns the URL without user and password.
    pub fn name(&self) -> &str {
        &self.server.name
    }

    fn wait<F: Future>(&self, work: F) -> F::Output {
        self.runtime.as_ref().expect("taken only by drop").block_on(work)
    }

    /// Runs requests outside of transactions on a connection.
    fn run<T>(
        &self,
        connection: &SharedConnection,
        limit: Duration,
        requests: impl AsyncFn(&Session) -> Attempt<T>,
    ) -> Result<T> {
        self.wait(async {
            let mut guard = connection.checkout(&self.server).await?;
            let done = guard.run(limit, requests).await;
            done.map(|(_, value)| value).map_err(|failure| self.error(failure))
        })
    }

    fn error(&self, failure: Failure) -> Error {
        failure.into_error(&self.server.name)
    }
}

/// Does not wait for the threads of the runtime: a server may drop its database in asynchronous code,
/// where waiting is forbidden.
impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl SharedDatabase for PostgresDatabase {
    fn create(
        &self,
        tables: &[SharedTable],
        head: &Head,
        fill: &mut dyn FnMut(&mut dyn RowSink) -> Result<()>,
    ) -> Result<()> {
        self.create_schema(tables, head, fill)
    }

    fn lock(&self, after: Position) -> Result<Box<dyn LockedHead + '_>> {
        Ok(Box::new(self.lock_head(after)?))
    }

    fn snapshot(&self, after: Option<Position>) -> Result<Box<dyn SharedSnapshot + '_>> {
        Ok(Box::new(self.open_snapshot(after)?))
    }

    fn check_head(&self, at: Position) -> Result<HeadCheck> {
        self.read_head_check(at)
    }
}
