//! The shared database of a cluster, as the store sees it: values and traits.
//!
//! The shared database is the source of truth; the database of each node is a replica. A commit sends
//! its final rows, so nothing here depends on statements or content. The implementation for PostgreSQL
//! is in `cms-cluster`, that for tests in [`super::memory`].

use std::{collections::BTreeMap, time::Duration};

use cms_model::{
    clock::Timestamp,
    error::{Error, Result},
};

/// A commit of the cluster. Two histories may use the same number, but not the same nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub commit: i64,
    pub nonce: i64,
}

/// The newest commit, as stored in the only row of the table `head`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Id of the cluster.
    pub cluster: String,
    pub position: Position,
    /// Version of the database schema that all nodes use.
    pub schema: i64,
    /// The rows of `sqlite_sequence` as JSON: table names with the largest key that was ever used.
    pub sequences: String,
}

/// How the position of a replica relates to the commits of the shared database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// The position is that of the head, or any earlier one of the same history.
    Same,
    /// The position was removed from the commit log, because it is old.
    Pruned,
    /// The shared database has another commit with this number, or was restored to an earlier commit.
    Other,
}

/// The head, and the changes between a position and the head, as a snapshot or a lock has read them.
pub struct HeadState {
    pub head: Head,
    pub history: History,
    /// The keys of rows that were changed after the position; empty unless the history is the same.
    pub changes: ChangedKeys,
}

/// The result of [`SharedDatabase::check_head`], which shows whether a replica is current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadCheck {
    pub head: Position,
    pub schema: i64,
    pub history: History,
}

/// A table that every node and the shared database have, with the same column names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedTable {
    pub name: String,
    /// The first column is the key, an integer.
    pub columns: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: ColumnKind,
}

/// The type of a column. Every column except the key may be NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Integer,
    Text,
    Blob,
}

/// The values of one column in several rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnValues {
    Integer(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
    Blob(Vec<Option<Vec<u8>>>),
}

/// Rows of a shared table, by column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The first column of each row.
    pub keys: Vec<i64>,
    /// The other columns, in the order of the table.
    pub values: Vec<ColumnValues>,
}

/// The keys of changed rows by the name of their table. A key without a row stands for a deleted row.
pub type ChangedKeys = BTreeMap<String, Vec<i64>>;

/// A commit that is sent while the head is locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommit {
    /// Its number is that of the locked head plus one.
    pub position: Position,
    pub keys: ChangedKeys,
    /// See [`Head::sequences`].
    pub sequences: String,
    /// Set if the schema changes with this commit.
    pub schema: Option<SchemaChange>,
}

/// A change of the database schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaChange {
    /// See [`Head::schema`].
    pub version: i64,
    /// Statements of the shared database.
    pub statements: String,
}

/// How a commit ended.
#[derive(Debug)]
pub enum CommitOutcome {
    Committed,
    /// The shared database has rejected the commit: it was not stored.
    Failed(Error),
    /// The connection broke: whether the commit was stored is not known.
    Unknown,
}

/// A node, as it reports itself.
#[derive(Clone, PartialEq, Eq)]
pub struct NodeReport {
    /// Random per start.
    pub id: String,
    pub name: String,
    /// Version of the program.
    pub version: String,
    /// The newest database schema to which this node allows the cluster to upgrade: the newest that its
    /// program knows, or the present one if `hold-upgrade` is set.
    pub accepted_schema: i64,
    /// URL for other nodes, if any.
    pub address: Option<String>,
    /// Secret that other nodes send with requests to this node.
    pub token: String,
    /// Commit of its replica.
    pub applied: i64,
    /// Last journal row in its search index.
    pub index_seq: i64,
    /// Staleness of its replica in milliseconds, see docs/reference/cluster.md#terms.
    pub staleness_ms: i64,
    /// Maximum age of the content that its reads return, in milliseconds; 0 if reads are strict.
    pub read_bound_ms: i64,
}

impl std::fmt::Debug for NodeReport {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { id, name, applied, .. } = self;
        let fields = (id, name, applied);
        f.debug_tuple("NodeReport").field(&fields).finish_non_exhaustive()
    }
}

/// A node, and the time of its last report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeState {
    pub report: NodeReport,
    pub seen_at: Timestamp,
    /// Whether it has reported within the last ten seconds.
    pub is_live: bool,
}

/// The holder of a duty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DutyHolder {
    pub duty: String,
    pub node: String,
    pub until: Timestamp,
}

/// The product and the size of a shared database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseInfo {
    /// Name and version.
    pub version: String,
    /// Size of the database.
    pub bytes: i64,
}

/// A database that all nodes of a cluster share.
///
/// All methods block. If the database does not respond within the timeout, they return [`Error::Busy`].
/// Then a call of `create`, `report`, `acquire`, `release` or `prune` may have taken effect: perhaps
/// only its response was lost. Before [`Self::create`], the methods that read content ([`Self::lock`],
/// [`Self::snapshot`] and [`Self::check_head`]) return [`Error::NotFound`], and [`Self::is_created`]
/// returns false.
pub trait SharedDatabase: Membership + Send + Sync {
    /// Creates the tables, and writes all rows and the head, in one transaction.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the database already has them, or cannot store every text.
    fn create(
        &self,
        tables: &[SharedTable],
        head: &Head,
        fill: &mut dyn FnMut(&mut dyn RowSink) -> Result<()>,
    ) -> Result<()>;

    /// Returns whether the database has the tables of a cluster.
    fn is_created(&self) -> Result<bool> {
        match self.check_head(Position { commit: 0, nonce: 0 }) {
            Err(Error::NotFound { .. }) => Ok(false),
            found => found.map(|_| true),
        }
    }

    /// Locks the head against commits of other nodes, and reads what was committed after a position.
    /// Waits up to ten seconds for the lock.
    fn lock(&self, after: Position) -> Result<Box<dyn LockedHead + '_>>;

    /// Opens a snapshot, and reads what was committed after a position, if one is passed.
    fn snapshot(&self, after: Option<Position>) -> Result<Box<dyn SharedSnapshot + '_>>;

    /// Compares a position with the head.
    fn check_head(&self, at: Position) -> Result<HeadCheck>;

    /// How long a node tries to learn the outcome of a commit whose connection broke.
    fn outcome_timeout(&self) -> Duration {
        Duration::from_secs(30)
    }

    /// Returns whether a replica compares all its tables after each commit, and panics at a
    /// difference. For tests.
    #[cfg(any(test, feature = "testing"))]
    fn compares_after_commit(&self) -> bool {
        false
    }
}

/// The methods of [`SharedDatabase`] that do not concern content: they store nodes and their duties,
/// and remove old commits.
pub trait Membership {
    /// Describes the database.
    fn database_info(&self) -> Result<DatabaseInfo>;

    /// Stores the state of a node; returns the time of the shared database.
    fn report(&self, node: &NodeReport) -> Result<Timestamp>;

    /// Lists the nodes that have reported within a day.
    fn nodes(&self) -> Result<Vec<NodeState>>;

    /// Takes or renews a duty; returns false if another node holds it.
    fn acquire(&self, duty: &str, node: &str, lease: Duration) -> Result<bool>;

    /// Gives up a duty that this node holds.
    fn release(&self, duty: &str, node: &str) -> Result<()>;

    /// Lists the duties that some node holds.
    fn duties(&self) -> Result<Vec<DutyHolder>>;

    /// Removes the commits that are older than a duration from the log, except the newest one.
    fn prune(&self, older_than: Duration) -> Result<()>;
}

/// Receives the rows of a new database.
pub trait RowSink {
    fn send(&mut self, table: &SharedTable, rows: Rows) -> Result<()>;
}

/// A state of the shared database that does not change while this exists.
pub trait SharedSnapshot {
    fn state(&self) -> &HeadState;

    fn head(&self) -> &Head {
        &self.state().head
    }

    fn history(&self) -> History {
        self.state().history
    }

    fn changes(&self) -> &ChangedKeys {
        &self.state().changes
    }

    /// Returns the rows with these keys; deleted rows are left out.
    fn rows(&mut self, table: &SharedTable, keys: &[i64]) -> Result<Rows>;

    /// Passes all rows of a table to `visit`, some thousands at a time.
    fn all_rows(
        &mut self,
        table: &SharedTable,
        visit: &mut dyn FnMut(Rows) -> Result<()>,
    ) -> Result<()>;
}

/// The head, locked against commits of other nodes. Dropping it without a commit releases the lock
/// and discards what was sent.
pub trait LockedHead: SharedSnapshot {
    /// Returns the nonce of a commit, if the commit log has it.
    fn nonce_of(&mut self, commit: i64) -> Result<Option<i64>>;

    /// Changes tables, before rows are sent. Gives up after a second if others read them.
    fn change_schema(&mut self, statements: &str) -> Result<()>;

    /// Deletes the rows with these keys, and inserts `rows`. The outcome of the commit reports an
    /// error.
    fn send(&mut self, table: &SharedTable, keys: &[i64], rows: Rows);

    /// Commits what was sent, and releases the lock.
    fn commit(self: Box<Self>, commit: &NewCommit) -> CommitOutcome;
}

impl Rows {
    /// Creates a value for a table, with no rows.
    pub fn empty(table: &SharedTable) -> Self {
        let values = table.columns.iter().skip(1).map(|column| match column.kind {
            ColumnKind::Integer => ColumnValues::Integer(Vec::new()),
            ColumnKind::Text => ColumnValues::Text(Vec::new()),
            ColumnKind::Blob => ColumnValues::Blob(Vec::new()),
        });
        Self { keys: Vec::new(), values: values.collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}
