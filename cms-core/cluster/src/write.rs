//! The lock on the head, and commits.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use cms_model::error::{Error, Result};
use cms_store::cluster::database::{
    ChangedKeys, CommitOutcome, HeadState, History, LockedHead, NewCommit, Position, Rows,
    SharedTable,
};
use tokio::{task::JoinHandle, time::sleep};
use tokio_postgres::Statement;

use crate::{
    PostgresDatabase,
    connection::{Sent, Session, send, with_timeout},
    error::{Attempt, Failure},
    pull::{HeadStateStatements, READ_TIMEOUT, Transaction, read_changes, read_check, read_head},
    value::{
        Parameter, arrays, chunks, column_names, key_name, parameter, quoted, table_name, type_name,
    },
};

/// Timeout for taking the lock, for which PostgreSQL waits up to 10 s, and for reading the head and the changes in the
/// same transaction.
const LOCK_TIMEOUT: Duration = Duration::from_secs(15);
/// Timeout for the next response. Shorter than the statement timeout, so that other writes do not wait that
/// long. If a commit succeeds later, the next lock finds it.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of bytes that were sent and have no response yet.
const MAX_BYTES_IN_FLIGHT: usize = 8 * 1024 * 1024;
/// Maximum keys of a row of `change`, and of a statement that deletes rows.
const MAX_PART_KEYS: usize = 10_000;
/// Interval of the queries that keep the transaction open while the head is locked: PostgreSQL ends a
/// transaction that is idle for 5 s. A transaction whose next request has arrived only in part is not
/// idle: a process that is paused while it sends a request keeps the lock until it continues or ends.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(1);

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

const LOCK: &str = r#"SELECT commit_no, nonce, schema, sequences, cluster FROM "cms"."head" WHERE id = 1 FOR UPDATE"#;

const NONCE: &str = r#"SELECT nonce FROM "cms"."commit_log" WHERE commit_no = $1"#;

/// Adds the commit and its changes to the log, and moves the head. The keys of each part are sent as one
/// text: in an array of arrays, PostgreSQL requires that all have the same length.
const RECORD: &str = r#"WITH log AS (
    INSERT INTO "cms"."commit_log" (commit_no, nonce, at, node)
    VALUES ($1, $2, pg_catalog.clock_timestamp(), $3)
), change AS (
    INSERT INTO "cms"."change" (commit_no, part, table_name, keys)
    SELECT $1, part, table_name, pg_catalog.string_to_array(keys, ',')::bigint[]
    FROM ROWS FROM (unnest($5::text[]), unnest($6::text[])) WITH ORDINALITY
        AS parts (table_name, keys, part)
)
UPDATE "cms"."head" SET commit_no = $1, nonce = $2, sequences = $4, schema = coalesce($7, schema)
WHERE id = 1"#;

/// An open transaction that has locked the head.
pub(crate) type Locked<'d> = Transaction<'d, Pipeline>;

impl PostgresDatabase {
    pub(crate) fn lock_head(&self, after: Position) -> Result<Locked<'_>> {
        let requests = async |session: &Session| lock(session, after).await;
        self.begin(&self.write, LOCK_TIMEOUT, requests, Pipeline::new)
    }
}

/// Begins a transaction and takes the lock: one round trip, once all statements are prepared, and a
/// second one if other nodes have committed.
async fn lock(session: &Session, after: Position) -> Attempt<HeadState> {
    let statements = HeadStateStatements::prepare(session, LOCK).await?;
    let begun = send(session.client().batch_execute(BEGIN)).await;
    let head = send(read_head(session, &statements.head)).await;
    begun.response().await?;
    let head = head.response().await?;
    let mut state = HeadState { head, history: History::Same, changes: ChangedKeys::new() };
    if state.head.position == after {
        return Ok(state);
    }
    // Each statement has a snapshot of its own, which is taken under the lock. But old commits are
    // removed without the lock, oldest first. So the changes are read before the check whether `after`
    // is still in the log: if it is, the later commits had not been removed either when the changes
    // were read.
    let changes = send(read_changes(session, &statements.changes, after)).await;
    let check = send(read_check(session, &statements.check, after)).await;
    state.changes = changes.response().await?;
    state.history = check.response().await?.history;
    if state.history != History::Same {
        state.changes.clear();
    }
    Ok(state)
}

/// Keeps an idle transaction open for as long as this process runs.
async fn keep_alive(session: Arc<Session>) {
    loop {
        sleep(KEEP_ALIVE_INTERVAL.saturating_sub(session.idle())).await;
        if session.idle() < KEEP_ALIVE_INTERVAL {
            continue;
        }
        if session.client().simple_query("SELECT 1").await.is_err() {
            // The next statement of the owner fails too.
            return;
        }
    }
}

/// Statements of a transaction that were sent, in order.
pub(crate) struct Pipeline {
    keep_alive: JoinHandle<()>,
    session: Arc<Session>,
    waiting: VecDeque<(usize, Sent<'static, Attempt<()>>)>,
    bytes_in_flight: usize,
    /// The first error. Nothing is sent after it.
    failure: Option<Failure>,
}

impl Pipeline {
    fn new(session: &Arc<Session>) -> Self {
        Self {
            keep_alive: tokio::spawn(keep_alive(Arc::clone(session))),
            session: Arc::clone(session),
            waiting: VecDeque::new(),
            bytes_in_flight: 0,
            failure: None,
        }
    }

    /// Sends a statement; waits only for earlier statements, and only if too many bytes are in flight.
    async fn execute(&mut self, sql: &str, bytes: usize, parameters: Vec<Parameter>) {
        while self.failure.is_none() && self.bytes_in_flight + bytes > MAX_BYTES_IN_FLIGHT {
            if !self.wait_for_oldest().await {
                break;
            }
        }
        if self.failure.is_some() {
            return;
        }
        match with_timeout(RESPONSE_TIMEOUT, self.session.statement(sql)).await {
            Ok(statement) => {
                let session = Arc::clone(&self.session);
                let sent = send(execute(session, statement, parameters)).await;
                self.bytes_in_flight += bytes;
                self.waiting.push_back((bytes, sent));
            }
            Err(failure) => {
                // After an error, the server refuses to prepare statements: report the first error.
                if !failure.is_broken() {
                    self.drain().await;
                }
                self.failure.get_or_insert(failure);
            }
        }
        // A statement that could not be sent has failed already.
        if matches!(self.waiting.back(), Some((_, Sent::Done(Err(_))))) {
            self.drain().await;
        }
    }

    /// Waits for all responses.
    async fn drain(&mut self) {
        while self.failure.is_none() && self.wait_for_oldest().await {}
    }

    /// Returns whether a statement was waiting.
    async fn wait_for_oldest(&mut self) -> bool {
        let Some((bytes, sent)) = self.waiting.pop_front() else { return false };
        self.bytes_in_flight -= bytes;
        if let Err(failure) = with_timeout(RESPONSE_TIMEOUT, sent.response()).await {
            self.failure.get_or_insert(failure);
        }
        true
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.keep_alive.abort();
    }
}

async fn execute(
    session: Arc<Session>,
    statement: Statement,
    parameters: Vec<Parameter>,
) -> Attempt<()> {
    session.client().execute_raw(&statement, parameters).await?;
    Ok(())
}

impl Locked<'_> {
    async fn replace(&mut self, table: &SharedTable, keys: &[i64], rows: Rows) {
        let present: HashSet<i64> = rows.keys.iter().copied().collect();
        let gone: Vec<i64> = keys.iter().copied().filter(|key| !present.contains(key)).collect();
        if !gone.is_empty() {
            let (name, key) = (table_name(table), key_name(table));
            let sql = format!("DELETE FROM {name} WHERE {key} = ANY($1::bigint[])");
            for keys in gone.chunks(MAX_PART_KEYS) {
                let parameters = vec![parameter(keys.to_vec())];
                self.pipeline.execute(&sql, size_of_val(keys), parameters).await;
            }
        }
        if rows.is_empty() {
            return;
        }
        let sql = upsert(table);
        for (bytes, rows) in chunks(rows) {
            self.pipeline.execute(&sql, bytes, arrays(rows)).await;
        }
    }

    async fn finish(&mut self, commit: &NewCommit) -> Attempt<()> {
        let Position { commit: number, nonce } = commit.position;
        let (mut tables, mut parts, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (table, keys) in &commit.keys {
            for keys in keys.chunks(MAX_PART_KEYS) {
                let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
                let keys = keys.join(",");
                bytes += keys.len();
                tables.push(table.clone());
                parts.push(keys);
            }
        }
        let parameters = vec![
            parameter(number),
            parameter(nonce),
            parameter(self.database.server.node.clone()),
            parameter(commit.sequences.clone()),
            parameter(tables),
            parameter(parts),
            parameter(commit.schema.as_ref().map(|change| change.version)),
        ];
        self.pipeline.execute(RECORD, bytes, parameters).await;
        if let Some(failure) = self.pipeline.failure.take() {
            return Err(failure);
        }
        // COMMIT is sent before the responses to the statements have arrived: this saves a round trip under
        // the lock. COMMIT of an aborted transaction rolls back, without an error: so the errors of all
        // statements are checked.
        self.is_open = false;
        let session = Arc::clone(&self.session);
        let committed = send(async { session.client().batch_execute("COMMIT").await }).await;
        self.pipeline.drain().await;
        if let Some(failure) = self.pipeline.failure.take() {
            return Err(failure);
        }
        with_timeout(RESPONSE_TIMEOUT, async { Ok(committed.response().await?) }).await
    }
}

/// A statement that inserts or replaces rows: one array for each column. With `unnest` in the SELECT list
/// PostgreSQL streams the rows; in FROM it would first collect them.
fn upsert(table: &SharedTable) -> String {
    let arrays: Vec<String> = (1..)
        .zip(&table.columns)
        .map(|(number, column)| format!("unnest(${number}::{}[])", type_name(column)))
        .collect();
    let others: Vec<String> = table
        .columns
        .iter()
        .skip(1)
        .map(|column| quoted(&column.name))
        .map(|name| format!("{name} = EXCLUDED.{name}"))
        .collect();
    let action = if others.is_empty() {
        "NOTHING".to_owned()
    } else {
        format!("UPDATE SET {}", others.join(", "))
    };
    format!(
        "INSERT INTO {} ({}) SELECT {} ON CONFLICT ({}) DO {action}",
        table_name(table),
        column_names(table),
        arrays.join(", "),
        key_name(table),
    )
}

impl LockedHead for Locked<'_> {
    fn nonce_of(&mut self, commit: i64) -> Result<Option<i64>> {
        let session = Arc::clone(&self.session);
        let read = self.database.wait(with_timeout(READ_TIMEOUT, async {
            let statement = session.statement(NONCE).await?;
            let row = session.client().query_opt(&statement, &[&commit]).await?;
            Ok(row.map(|row| row.try_get(0)).transpose()?)
        }));
        self.database.checked(&mut self.guard, read)
    }

    fn change_schema(&mut self, statements: &str) -> Result<()> {
        let session = Arc::clone(&self.session);
        // The head stays locked meanwhile: a node that copies a table for minutes must not stop all
        // writes for so long.
        let sql = format!("SET LOCAL lock_timeout = '1s'; {statements}");
        let changed = self.database.wait(with_timeout(RESPONSE_TIMEOUT, async {
            Ok(session.client().batch_execute(&sql).await?)
        }));
        self.database.checked(&mut self.guard, changed)
    }

    fn send(&mut self, table: &SharedTable, keys: &[i64], rows: Rows) {
        self.database.wait(self.replace(table, keys, rows));
        if let Some(failure) = &self.pipeline.failure {
            self.guard.discard_if_broken(failure);
        }
    }

    fn commit(mut self: Box<Self>, commit: &NewCommit) -> CommitOutcome {
        let expected = self.state.head.position.commit + 1;
        if commit.position.commit != expected {
            return CommitOutcome::Failed(Error::internal(format!(
                "commit {} does not follow the head: expected {expected}",
                commit.position.commit
            )));
        }
        match self.database.wait(self.finish(commit)) {
            Ok(()) => CommitOutcome::Committed,
            Err(failure) => {
                // The next use opens a new connection, which is certainly in no transaction.
                self.guard.discard();
                if failure.is_rejection() {
                    CommitOutcome::Failed(self.database.error(failure))
                } else {
                    let database = &self.database.server.name;
                    tracing::debug!(database, error = %failure, "commit outcome unknown");
                    CommitOutcome::Unknown
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use cms_store::cluster::database::{Column, ColumnKind};

    use super::*;

    #[test]
    fn upsert_names_every_column() {
        let column = |name: &str, kind| Column { name: name.to_owned(), kind };
        let mut table = SharedTable {
            name: "object".to_owned(),
            columns: vec![column("pk", ColumnKind::Integer), column("te\"xt", ColumnKind::Text)],
        };
        assert_eq!(
            upsert(&table),
            "INSERT INTO \"cms\".\"object\" (\"pk\", \"te\"\"xt\") \
             SELECT unnest($1::bigint[]), unnest($2::text[]) \
             ON CONFLICT (\"pk\") DO UPDATE SET \"te\"\"xt\" = EXCLUDED.\"te\"\"xt\""
        );
        table.columns.pop();
        assert!(upsert(&table).ends_with("ON CONFLICT (\"pk\") DO NOTHING"));
    }
}
