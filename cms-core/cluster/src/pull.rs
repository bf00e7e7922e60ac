//! Reads: head checks, snapshots, changes and rows.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use cms_model::error::Result;
use cms_store::cluster::database::{
    ChangedKeys, Head, HeadCheck, HeadState, History, Position, Rows, SharedSnapshot, SharedTable,
};
use futures_util::TryStreamExt;
use tokio_postgres::Statement;

use crate::{
    PostgresDatabase,
    connection::{Session, SessionGuard, SharedConnection, send, with_timeout},
    error::{Attempt, Failure},
    value::{CHUNK_BYTES, CHUNK_ROWS, append, column_names, key_name, parameter, table_name},
};

/// Timeout for a head check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for opening a snapshot: there may be many changes to read.
const OPEN_TIMEOUT: Duration = Duration::from_mins(1);
/// Timeout for one read of up to a few thousand rows.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_mins(1);
/// Number of rows of the first chunk of a table; their size determines the number of rows of the next chunk.
const FIRST_CHUNK_ROWS: usize = 250;

/// A snapshot does not lock the head, so its reader may be slow. Without a limit, a paused node would
/// keep PostgreSQL from removing old rows.
const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = '5min'";

const HEAD: &str =
    r#"SELECT commit_no, nonce, schema, sequences, cluster FROM "cms"."head" WHERE id = 1"#;

/// One statement reads one snapshot, so the values agree even if the log is pruned meanwhile.
const CHECK: &str = r#"SELECT h.commit_no, h.nonce, h.schema,
    (SELECT l.nonce FROM "cms"."commit_log" l WHERE l.commit_no = $1),
    (SELECT min(l.commit_no) FROM "cms"."commit_log" l)
FROM "cms"."head" h WHERE h.id = 1"#;

/// The changes after commit `$1`, if the log has this commit with the nonce `$2`. Otherwise no rows: the
/// cluster may have another history.
const CHANGES: &str = r#"SELECT c.table_name, c.keys FROM "cms"."change" c
WHERE c.commit_no > $1
    AND EXISTS (SELECT 1 FROM "cms"."commit_log" l WHERE l.commit_no = $1 AND l.nonce = $2)
ORDER BY c.commit_no, c.part"#;

/// The statements that read a [`HeadState`].
pub(crate) struct HeadStateStatements {
    pub(crate) head: Statement,
    pub(crate) check: Statement,
    pub(crate) changes: Statement,
}

impl HeadStateStatements {
    pub(crate) async fn prepare(session: &Session, head: &str) -> Attempt<Self> {
        Ok(Self {
            head: session.statement(head).await?,
            check: session.statement(CHECK).await?,
            changes: session.statement(CHANGES).await?,
        })
    }
}

impl PostgresDatabase {
    pub(crate) fn read_head_check(&self, at: Position) -> Result<HeadCheck> {
        self.run(&self.pull, CHECK_TIMEOUT, async |session| {
            let check = session.statement(CHECK).await?;
            read_check(session, &check, at).await
        })
    }

    /// Closes the connection if it is broken, and returns the error for callers.
    pub(crate) fn checked<T>(&self, guard: &mut SessionGuard<'_>, read: Attempt<T>) -> Result<T> {
        read.map_err(|failure| {
            guard.discard_if_broken(&failure);
            self.error(failure)
        })
    }

    pub(crate) fn open_snapshot(&self, after: Option<Position>) -> Result<Transaction<'_>> {
        let requests = async |session: &Session| read_head_state(session, after).await;
        self.begin(&self.pull, OPEN_TIMEOUT, requests, |_| ())
    }

    /// Opens a transaction with requests that begin it and read the head.
    pub(crate) fn begin<'d, P>(
        &'d self,
        connection: &'d SharedConnection,
        limit: Duration,
        requests: impl AsyncFn(&Session) -> Attempt<HeadState>,
        pipeline: impl FnOnce(&Arc<Session>) -> P,
    ) -> Result<Transaction<'d, P>> {
        self.wait(async {
            let mut guard = connection.checkout(&self.server).await?;
            match guard.run(limit, requests).await {
                Ok((session, state)) => {
                    let pipeline = pipeline(&session);
                    let is_open = true;
                    Ok(Transaction { database: self, guard, session, state, pipeline, is_open })
                }
                Err(failure) => {
                    guard.roll_back();
                    Err(self.error(failure))
                }
            }
        })
    }
}

async fn read_head_state(session: &Session, after: Option<Position>) -> Attempt<HeadState> {
    let statements = HeadStateStatements::prepare(session, HEAD).await?;
    let begun = send(session.client().batch_execute(BEGIN_SNAPSHOT)).await;
    let head = send(read_head(session, &statements.head)).await;
    let Some(after) = after else {
        begun.response().await?;
        let head = head.response().await?;
        return Ok(HeadState { head, history: History::Same, changes: ChangedKeys::new() });
    };
    let changes = send(read_changes(session, &statements.changes, after)).await;
    let check = send(read_check(session, &statements.check, after)).await;
    begun.response().await?;
    let head = head.response().await?;
    let changes = changes.response().await?;
    Ok(HeadState { head, history: check.response().await?.history, changes })
}

pub(crate) async fn read_head(session: &Session, statement: &Statement) -> Attempt<Head> {
    let row = session.client().query_opt(statement, &[]).await?.ok_or(Failure::NoHead)?;
    Ok(Head {
        position: Position { commit: row.try_get(0)?, nonce: row.try_get(1)? },
        schema: row.try_get(2)?,
        sequences: row.try_get(3)?,
        cluster: row.try_get(4)?,
    })
}

pub(crate) async fn read_check(
    session: &Session,
    statement: &Statement,
    at: Position,
) -> Attempt<HeadCheck> {
    let row = session.client().query_opt(statement, &[&at.commit]).await?.ok_or(Failure::NoHead)?;
    let head = Position { commit: row.try_get(0)?, nonce: row.try_get(1)? };
    let history = history(at, head, row.try_get(3)?, row.try_get(4)?);
    Ok(HeadCheck { head, schema: row.try_get(2)?, history })
}

/// Compares a position with the head and the commit log: the nonce of that commit, and the oldest
/// commit in the log.
fn history(at: Position, head: Position, nonce: Option<i64>, oldest: Option<i64>) -> History {
    match nonce {
        Some(nonce) if nonce == at.nonce => History::Same,
        None if at.commit > head.commit => History::Other,
        None if oldest.is_none_or(|oldest| at.commit < oldest) => History::Pruned,
        _ => History::Other,
    }
}

pub(crate) async fn read_changes(
    session: &Session,
    statement: &Statement,
    after: Position,
) -> Attempt<ChangedKeys> {
    let parameters = [parameter(after.commit), parameter(after.nonce)];
    let rows = session.client().query_raw(statement, parameters).await?;
    let mut rows = pin!(rows);
    let mut changes: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    while let Some(row) = rows.try_next().await? {
        let keys: Vec<i64> = row.try_get(1)?;
        changes.entry(row.try_get(0)?).or_default().extend(keys);
    }
    Ok(changes.into_iter().map(|(table, keys)| (table, keys.into_iter().collect())).collect())
}

/// Reads the rows with these keys.
async fn read_rows(session: &Session, table: &SharedTable, keys: &[i64]) -> Attempt<Rows> {
    let sql = format!(
        "SELECT {} FROM {} WHERE {} = ANY($1::bigint[])",
        column_names(table),
        table_name(table),
        key_name(table)
    );
    let statement = session.statement(&sql).await?;
    let mut read = Rows::empty(table);
    for keys in keys.chunks(CHUNK_ROWS) {
        let requests = async {
            let rows = session.client().query_raw(&statement, [parameter(keys.to_vec())]).await?;
            let mut rows = pin!(rows);
            while let Some(row) = rows.try_next().await? {
                append(&row, &mut read)?;
            }
            Ok(())
        };
        with_timeout(READ_TIMEOUT, requests).await?;
    }
    Ok(read)
}

/// Reads a table in the order of its keys, chunk by chunk.
///
/// Not by COPY or one long statement: the server would end the connection if the reader, while it
/// stores rows, did not read for longer than the TCP timeout.
struct TableReader {
    sql: String,
    /// The smallest key of the next chunk; none at the end.
    next: Option<i64>,
    limit: usize,
}

impl TableReader {
    fn new(table: &SharedTable) -> Self {
        let (columns, name, key) = (column_names(table), table_name(table), key_name(table));
        let sql = format!(
            "SELECT {columns} FROM {name} WHERE {key} >= $1::bigint ORDER BY {key} LIMIT $2::bigint"
        );
        Self { sql, next: Some(i64::MIN), limit: FIRST_CHUNK_ROWS }
    }

    /// Reads the next chunk; none at the end.
    async fn read(&mut self, session: &Session, table: &SharedTable) -> Attempt<Option<Rows>> {
        let Some(next) = self.next else { return Ok(None) };
        let statement = session.statement(&self.sql).await?;
        let mut read = Rows::empty(table);
        let mut bytes = 0;
        let limit = i64::try_from(self.limit).unwrap_or(i64::MAX);
        let parameters = [parameter(next), parameter(limit)];
        let rows = session.client().query_raw(&statement, parameters).await?;
        let mut rows = pin!(rows);
        while let Some(row) = rows.try_next().await? {
            bytes += row.raw_size_bytes();
            append(&row, &mut read)?;
        }
        let is_last = read.keys.len() < self.limit;
        self.next = read.keys.last().and_then(|key| key.checked_add(1)).filter(|_| !is_last);
        // Rows may have any size, so the chunks grow slowly and shrink immediately.
        let fitting = self.limit * CHUNK_BYTES / bytes.max(1);
        self.limit = fitting.clamp(1, (self.limit * 2).min(CHUNK_ROWS));
        Ok(Some(read).filter(|rows| !rows.is_empty()))
    }
}

/// An open transaction. Without a pipeline, it only reads.
pub(crate) struct Transaction<'d, P = ()> {
    pub(crate) database: &'d PostgresDatabase,
    /// Declared before `guard`, so that it is dropped first: otherwise it could still send queries on the connection
    /// when another transaction already uses it.
    pub(crate) pipeline: P,
    pub(crate) guard: SessionGuard<'d>,
    pub(crate) session: Arc<Session>,
    pub(crate) state: HeadState,
    /// Whether dropping it rolls it back.
    pub(crate) is_open: bool,
}

impl<P> Drop for Transaction<'_, P> {
    fn drop(&mut self) {
        if self.is_open {
            // PostgreSQL executes the rollback after the statements in flight; the next request on the
            // connection waits for it.
            self.guard.roll_back();
        }
    }
}

impl<P> SharedSnapshot for Transaction<'_, P> {
    fn state(&self) -> &HeadState {
        &self.state
    }

    fn rows(&mut self, table: &SharedTable, keys: &[i64]) -> Result<Rows> {
        let read = self.database.wait(read_rows(&self.session, table, keys));
        self.database.checked(&mut self.guard, read)
    }

    fn all_rows(
        &mut self,
        table: &SharedTable,
        visit: &mut dyn FnMut(Rows) -> Result<()>,
    ) -> Result<()> {
        let mut reader = TableReader::new(table);
        loop {
            let read = with_timeout(READ_TIMEOUT, reader.read(&self.session, table));
            let read = self.database.wait(read);
            let Some(rows) = self.database.checked(&mut self.guard, read)? else { return Ok(()) };
            visit(rows)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_is_found_by_nonce() {
        let at = |commit| Position { commit, nonce: 7 };
        let head = Position { commit: 9, nonce: 1 };
        let cases = [
            (at(5), Some(7), Some(0), History::Same),
            (at(5), Some(8), Some(0), History::Other),
            (at(5), None, Some(0), History::Other),
            (at(5), None, Some(6), History::Pruned),
            (at(10), None, Some(0), History::Other),
            (at(5), None, None, History::Pruned),
        ];
        for (position, nonce, oldest, expected) in cases {
            assert_eq!(history(position, head, nonce, oldest), expected, "{position:?}");
        }
    }
}
