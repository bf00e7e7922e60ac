//! A shared database in memory, for tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
    sync::Arc,
    time::Duration,
};

use cms_model::{
    clock::Timestamp,
    error::{Error, Result},
    testing::START,
};
use parking_lot::{Condvar, Mutex, MutexGuard};
use rusqlite::types::{FromSqlResult, Value};

use super::database::{
    ChangedKeys, ColumnValues, CommitOutcome, DatabaseInfo, DutyHolder, Head, HeadCheck, HeadState,
    History, LockedHead, Membership, NewCommit, NodeReport, NodeState, Position, RowSink, Rows,
    SharedDatabase, SharedSnapshot, SharedTable,
};

/// When the connection breaks during a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionBreak {
    /// The connection breaks, and nothing was stored.
    BeforeCommit,
    /// The connection breaks after the commit was stored.
    AfterCommit,
}

/// A shared database in memory. Time is that of the fixed clock of tests, and stands still unless a test
/// moves it.
#[derive(Clone)]
pub struct MemoryDatabase(Arc<Shared>);

impl Default for MemoryDatabase {
    fn default() -> Self {
        let state = State { now: START * 1_000_000, ..State::default() };
        Self(Arc::new(Shared { state: Mutex::new(state), ..Shared::default() }))
    }
}

/// How long a node counts as live after a report.
const LIVE_MICROS: i64 = 10_000_000;

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    unlocked: Condvar,
    compares_after_commit: bool,
}

#[derive(Clone, Default)]
struct State {
    head: Option<Head>,
    is_locked: bool,
    tables: Tables,
    commits: BTreeMap<i64, (i64, ChangedKeys)>,
    /// The time of each commit in the log.
    times: BTreeMap<i64, i64>,
    breaks: Vec<ConnectionBreak>,
    /// Number of next reads of a nonce that fail.
    failing_nonce_reads: usize,
    /// Reports by node, each with its time.
    nodes: BTreeMap<String, (NodeReport, i64)>,
    duties: BTreeMap<String, (String, i64)>,
    now: i64,
    is_unreachable: bool,
    disconnects: bool,
}

type Row = Vec<Value>;
/// The rows of a table are shared with snapshots until one side changes.
type Tables = BTreeMap<String, Arc<BTreeMap<i64, Row>>>;

impl MemoryDatabase {
    /// A database whose replicas compare the shared tables with it after each commit.
    pub fn comparing() -> Self {
        let Self(shared) = Self::default();
        let shared = Arc::into_inner(shared).expect("it is new");
        Self(Arc::new(Shared { compares_after_commit: true, ..shared }))
    }

    /// Breaks the connection during the next commits, once for each element of `breaks`; later commits succeed.
    pub fn break_connection(&self, breaks: impl IntoIterator<Item = ConnectionBreak>) {
        self.0.state.lock().breaks.extend(breaks);
    }

    /// Makes the next `count` reads of a nonce fail.
    pub fn fail_nonce_reads(&self, count: usize) {
        self.0.state.lock().failing_nonce_reads = count;
    }

    /// Makes every call fail, or succeed again.
    pub fn set_unreachable(&self, is_unreachable: bool) {
        self.0.state.lock().is_unreachable = is_unreachable;
    }

    /// Makes every call fail after the next commit has been sent.
    pub fn disconnect_after_next_commit(&self) {
        self.0.state.lock().disconnects = true;
    }

    /// Removes all commits except the newest one from the commit log.
    pub fn prune_all(&self) {
        let mut state = self.0.state.lock();
        let newest = state.commits.keys().next_back().copied();
        state.commits.retain(|commit, _| Some(*commit) == newest);
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.0.state.lock().now += i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
    }

    /// Restores the state of a backup.
    pub fn restore(&self, backup: &Self) {
        let backup = backup.0.state.lock().clone();
        *self.0.state.lock() = backup;
    }

    /// Returns a copy of the present state.
    #[must_use]
    pub fn backup(&self) -> Self {
        let copy = Self::default();
        *copy.0.state.lock() = self.0.state.lock().clone();
        copy
    }

    fn reachable(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.0.state.lock();
        if state.is_unreachable {
            return Err(Error::Busy("the database of the cluster does not respond".to_owned()));
        }
        Ok(state)
    }
}

impl State {
    fn head(&self) -> Result<&Head> {
        let no_cluster = || Error::not_found("cluster", "memory");
        self.head.as_ref().ok_or_else(no_cluster)
    }

    fn history(&self, at: Position) -> Result<History> {
        let head = self.head()?.position;
        let oldest = self.commits.keys().next().copied().unwrap_or(head.commit);
        Ok(match self.commits.get(&at.commit) {
            Some((nonce, _)) if *nonce == at.nonce => History::Same,
            None if at.commit < oldest => History::Pruned,
            _ => History::Other,
        })
    }

    fn write(&mut self, table: &str, keys: &[i64], rows: &Rows) {
        let stored = Arc::make_mut(self.tables.entry(table.to_owned()).or_default());
        for key in keys {
            stored.remove(key);
        }
        for (at, key) in rows.keys.iter().enumerate() {
            let row = rows.values.iter().map(|values| values.value(at).try_into());
            stored.insert(*key, row.collect::<FromSqlResult<_>>().expect("texts are UTF-8"));
        }
    }
}

fn push(rows: &mut Rows, key: i64, row: &Row) {
    rows.keys.push(key);
    // Columns that were added since are NULL.
    let cells = row.iter().chain(iter::repeat(&Value::Null));
    for (values, cell) in rows.values.iter_mut().zip(cells) {
        match (values, cell) {
            (ColumnValues::Integer(values), Value::Integer(value)) => values.push(Some(*value)),
            (ColumnValues::Text(values), Value::Text(value)) => values.push(Some(value.clone())),
            (ColumnValues::Blob(values), Value::Blob(value)) => values.push(Some(value.clone())),
            (ColumnValues::Integer(values), Value::Null) => values.push(None),
            (ColumnValues::Text(values), Value::Null) => values.push(None),
            (ColumnValues::Blob(values), Value::Null) => values.push(None),
            (values, cell) => panic!("{cell:?} in {values:?}"),
        }
    }
}

impl SharedDatabase for MemoryDatabase {
    fn create(
        &self,
        tables: &[SharedTable],
        head: &Head,
        fill: &mut dyn FnMut(&mut dyn RowSink) -> Result<()>,
    ) -> Result<()> {
        struct Sink<'s>(&'s mut State);

        impl RowSink for Sink<'_> {
            fn send(&mut self, table: &SharedTable, rows: Rows) -> Result<()> {
                self.0.write(&table.name, &[], &rows);
                Ok(())
            }
        }

        let mut state = self.reachable()?;
        if state.head.is_some() {
            return Err(Error::Conflict("the database already has a cluster".to_owned()));
        }
        let mut filled = state.clone();
        for table in tables {
            filled.tables.entry(table.name.clone()).or_default();
        }
        fill(&mut Sink(&mut filled))?;
        filled.head = Some(head.clone());
        let Position { commit, nonce } = head.position;
        filled.commits.insert(commit, (nonce, ChangedKeys::new()));
        filled.times.insert(commit, filled.now);
        *state = filled;
        Ok(())
    }

    fn lock(&self, after: Position) -> Result<Box<dyn LockedHead + '_>> {
        let mut state = self.reachable()?;
        while state.is_locked {
            self.0.unlocked.wait(&mut state);
        }
        let snapshot = Snapshot::of(&state, Some(after))?;
        state.is_locked = true;
        Ok(Box::new(Locked { database: self, snapshot, sent: Vec::new() }))
    }

    fn snapshot(&self, after: Option<Position>) -> Result<Box<dyn SharedSnapshot + '_>> {
        Ok(Box::new(Snapshot::of(&*self.reachable()?, after)?))
    }

    fn check_head(&self, at: Position) -> Result<HeadCheck> {
        let state = self.reachable()?;
        let head = state.head()?;
        Ok(HeadCheck { head: head.position, schema: head.schema, history: state.history(at)? })
    }

    fn outcome_timeout(&self) -> Duration {
        Duration::from_millis(300)
    }

    /// False from 2,000 rows on: a comparison reads all rows.
    fn compares_after_commit(&self) -> bool {
        let count = || self.0.state.lock().tables.values().map(|rows| rows.len()).sum::<usize>();
        self.0.compares_after_commit && count() < 2000
    }
}

impl Membership for MemoryDatabase {
    fn database_info(&self) -> Result<DatabaseInfo> {
        self.reachable().map(|_| DatabaseInfo { version: "memory".to_owned(), bytes: 0 })
    }

    fn report(&self, node: &NodeReport) -> Result<Timestamp> {
        let mut state = self.reachable()?;
        let now = state.now;
        state.nodes.insert(node.id.clone(), (node.clone(), now));
        Ok(Timestamp(now))
    }

    fn nodes(&self) -> Result<Vec<NodeState>> {
        let state = self.reachable()?;
        let nodes = state.nodes.values().cloned().map(|(report, seen)| NodeState {
            report,
            seen_at: Timestamp(seen),
            is_live: state.now - seen < LIVE_MICROS,
        });
        Ok(nodes.collect())
    }

    fn acquire(&self, duty: &str, node: &str, lease: Duration) -> Result<bool> {
        let mut state = self.reachable()?;
        let now = state.now;
        if state.duties.get(duty).is_some_and(|(holder, until)| holder != node && *until > now) {
            return Ok(false);
        }
        let until = now + i64::try_from(lease.as_micros()).unwrap_or(i64::MAX);
        state.duties.insert(duty.to_owned(), (node.to_owned(), until));
        Ok(true)
    }

    fn release(&self, duty: &str, node: &str) -> Result<()> {
        self.reachable()?.duties.retain(|name, (holder, _)| name != duty || holder != node);
        Ok(())
    }

    fn duties(&self) -> Result<Vec<DutyHolder>> {
        let state = self.reachable()?;
        let held = state.duties.iter().filter(|(_, (_, until))| *until > state.now);
        let holders = held.map(|(duty, (node, until))| DutyHolder {
            duty: duty.clone(),
            node: node.clone(),
            until: Timestamp(*until),
        });
        Ok(holders.collect())
    }

    fn prune(&self, older_than: Duration) -> Result<()> {
        let mut state = self.reachable()?;
        let newest = state.head()?.position.commit;
        let oldest = state.now - i64::try_from(older_than.as_micros()).unwrap_or(i64::MAX);
        let State { commits, times, .. } = &mut *state;
        commits.retain(|commit, _| *commit == newest || times[commit] > oldest);
        Ok(())
    }
}

struct Snapshot {
    state: HeadState,
    tables: Tables,
    nonces: BTreeMap<i64, i64>,
}

impl Snapshot {
    fn of(state: &State, after: Option<Position>) -> Result<Self> {
        let mut changes = BTreeMap::<String, BTreeSet<i64>>::new();
        let history = after.map_or(Ok(History::Same), |after| state.history(after))?;
        if let (Some(after), History::Same) = (after, history) {
            for (_, commit) in state.commits.range(after.commit + 1..).map(|(_, commit)| commit) {
                for (table, keys) in commit {
                    changes.entry(table.clone()).or_default().extend(keys);
                }
            }
        }
        let changes = changes.into_iter().map(|(table, keys)| (table, keys.into_iter().collect()));
        let (head, changes) = (state.head()?.clone(), changes.collect());
        Ok(Self {
            state: HeadState { head, history, changes },
            tables: state.tables.clone(),
            nonces: state.commits.iter().map(|(commit, (nonce, _))| (*commit, *nonce)).collect(),
        })
    }
}

impl SharedSnapshot for Snapshot {
    fn state(&self) -> &HeadState {
        &self.state
    }

    fn rows(&mut self, table: &SharedTable, keys: &[i64]) -> Result<Rows> {
        let mut rows = Rows::empty(table);
        if let Some(stored) = self.tables.get(&table.name) {
            for key in keys {
                if let Some(row) = stored.get(key) {
                    push(&mut rows, *key, row);
                }
            }
        }
        Ok(rows)
    }

    fn all_rows(
        &mut self,
        table: &SharedTable,
        visit: &mut dyn FnMut(Rows) -> Result<()>,
    ) -> Result<()> {
        let mut rows = Rows::empty(table);
        for (key, row) in self.tables.get(&table.name).into_iter().flat_map(|rows| rows.iter()) {
            push(&mut rows, *key, row);
        }
        if rows.is_empty() { Ok(()) } else { visit(rows) }
    }
}

struct Locked<'d> {
    database: &'d MemoryDatabase,
    snapshot: Snapshot,
    sent: Vec<(String, Vec<i64>, Rows)>,
}

impl SharedSnapshot for Locked<'_> {
    fn state(&self) -> &HeadState {
        self.snapshot.state()
    }

    fn rows(&mut self, table: &SharedTable, keys: &[i64]) -> Result<Rows> {
        self.snapshot.rows(table, keys)
    }

    fn all_rows(
        &mut self,
        table: &SharedTable,
        visit: &mut dyn FnMut(Rows) -> Result<()>,
    ) -> Result<()> {
        self.snapshot.all_rows(table, visit)
    }
}

impl LockedHead for Locked<'_> {
    fn nonce_of(&mut self, commit: i64) -> Result<Option<i64>> {
        let mut state = self.database.0.state.lock();
        if state.failing_nonce_reads > 0 {
            state.failing_nonce_reads -= 1;
            return Err(Error::Busy("the shared database cannot be reached".to_owned()));
        }
        Ok(self.snapshot.nonces.get(&commit).copied())
    }

    fn change_schema(&mut self, _: &str) -> Result<()> {
        self.database.reachable().map(drop)
    }

    fn send(&mut self, table: &SharedTable, keys: &[i64], rows: Rows) {
        self.sent.push((table.name.clone(), keys.to_vec(), rows));
    }

    fn commit(mut self: Box<Self>, commit: &NewCommit) -> CommitOutcome {
        // The snapshot shares its tables with the database: unless released, each write would copy one.
        self.snapshot.tables.clear();
        let mut state = self.database.0.state.lock();
        if state.is_unreachable {
            return CommitOutcome::Unknown;
        }
        state.is_unreachable = std::mem::take(&mut state.disconnects);
        let base = state.head.as_ref().map_or(0, |head| head.position.commit);
        if commit.position.commit != base + 1 {
            return CommitOutcome::Failed(Error::internal("the commit does not follow the head"));
        }
        let cut = if state.breaks.is_empty() { None } else { Some(state.breaks.remove(0)) };
        if cut == Some(ConnectionBreak::BeforeCommit) {
            return CommitOutcome::Unknown;
        }
        for (table, keys, rows) in std::mem::take(&mut self.sent) {
            state.write(&table, &keys, &rows);
        }
        let Position { commit: number, nonce } = commit.position;
        state.commits.insert(number, (nonce, commit.keys.clone()));
        let now = state.now;
        state.times.insert(number, now);
        let head = state.head.as_mut().expect("a locked head");
        head.position = commit.position;
        head.sequences.clone_from(&commit.sequences);
        head.schema = commit.schema.as_ref().map_or(head.schema, |change| change.version);
        if cut.is_some() { CommitOutcome::Unknown } else { CommitOutcome::Committed }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.database.0.state.lock().is_locked = false;
        self.database.0.unlocked.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::contract;

    #[test]
    fn memory_database_passes_the_contract_tests() {
        for (_, case) in contract::CASES {
            let database = MemoryDatabase::default();
            case(&database, &database.clone());
        }
    }
}
