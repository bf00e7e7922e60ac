//! The state of this process as a node: its identity, its duties, and its newest head check.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use cms_model::{
    error::{Error, Result},
    ids::IdSource as _,
};
use cms_store::cluster::database::{NodeReport, NodeState, SharedDatabase};
use cms_system::ids::RandomIds;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use super::{Cluster, clock::ClusterClock};
use crate::ClusterConfig;

/// How long a duty stays with a node that does not renew it.
const LEASE: Duration = Duration::from_secs(15);
/// The same for [`Duty::Writer`], on which every write depends.
const WRITER_LEASE: Duration = Duration::from_secs(5);
/// Maximum age of the lookup of the writer node. It is longer than a restart of the shared database takes.
const MAX_WRITER_AGE: Duration = Duration::from_secs(10);

/// Held as a duty while a backup is made: no node removes media files.
const RUNNING_BACKUP: &str = "running-backup";

cms_model::named_enum! {
    /// A task that one node at a time has, under a lease: a background task, or the handling of writes
    /// that other nodes forward. Each stays correct if two nodes have it for a moment: what is due is
    /// checked again inside the write transaction. The names are those in the shared database.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Duty {
        /// Publish scheduled objects.
        Schedules => "schedules",
        /// Create and send webhook deliveries.
        Webhooks => "webhooks",
        /// Run bulk jobs.
        Jobs => "jobs",
        /// Remove expired rows.
        CleanUp => "clean-up",
        /// Remove orphaned files.
        OrphanedFiles => "orphaned-files",
        /// Make scheduled backups.
        Backups => "backups",
        /// Move the cluster to a newer database schema.
        Upgrade => "upgrade",
        /// Handle the writes that other nodes forward, because writes of one node can share a commit.
        /// A node without this duty may write too.
        Writer => "writer",
    }
}

impl Duty {
    fn lease(self) -> Duration {
        if self == Self::Writer { WRITER_LEASE } else { LEASE }
    }
}

/// The node to which others forward writes.
#[derive(Clone, PartialEq, Eq)]
pub struct WriterNode {
    pub name: String,
    /// URL at which it is reached.
    pub address: String,
    /// Sent with a forwarded request: only nodes can read it, in the shared database. Secret.
    pub token: String,
}

/// A node.
pub(crate) struct Node {
    pub(super) database: Arc<dyn SharedDatabase>,
    /// Random per start.
    id: String,
    name: String,
    address: Option<String>,
    token: String,
    holds_upgrade: bool,
    read_bound: Duration,
    pub(crate) clock: Arc<ClusterClock>,
    started: Instant,
    state: Mutex<State>,
    /// Until when this node holds [`RUNNING_BACKUP`]. Locked during the request to the shared
    /// database, so that a renewal does not follow the release.
    running_backup: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct State {
    /// Until when this node holds a duty.
    duties: HashMap<Duty, Instant>,
    /// Uptime at the start of the newest successful head check: the staleness of the replica is the time
    /// since then, see docs/reference/cluster.md#terms.
    checked: Option<Duration>,
    /// Number of live nodes, this one included, when they were last looked up.
    live: usize,
    /// The other node that has [`Duty::Writer`], and when it was last looked up.
    writer: Option<(WriterNode, Instant)>,
}

/// The lock of a running backup: no node removes media files while it exists, as long as
/// [`Self::is_held`] returns true.
pub(crate) struct RunningBackup(Arc<Node>);

impl RunningBackup {
    /// Returns whether the lock was renewed in time.
    pub(crate) fn is_held(&self) -> bool {
        self.0.running_backup.lock().is_some_and(|until| Instant::now() < until)
    }
}

impl Drop for RunningBackup {
    fn drop(&mut self) {
        let mut until = self.0.running_backup.lock();
        *until = None;
        if let Err(error) = self.0.database.release(RUNNING_BACKUP, &self.0.id) {
            // The lease ends in seconds.
            tracing::debug!(%error, "lock of the backup not released");
        }
    }
}

impl Node {
    pub(crate) fn new(config: &ClusterConfig, clock: Arc<ClusterClock>) -> Self {
        // Not `config.ids`: tests use counted ids for content.
        let ids = RandomIds;
        Self {
            database: Arc::clone(&config.database),
            id: ids.uuid(),
            name: config.name.clone(),
            address: config.address.clone(),
            token: ids.token(),
            holds_upgrade: config.holds_upgrade,
            read_bound: config.read_bound,
            clock,
            started: Instant::now(),
            state: Mutex::default(),
            running_backup: Mutex::default(),
        }
    }

    pub(crate) fn has_duty(&self, duty: Duty) -> bool {
        self.state.lock().duties.get(&duty).is_some_and(|until| Instant::now() < *until)
    }
}

impl Cluster<'_> {
    /// Brings the replica to the newest commit of the cluster.
    ///
    /// # Errors
    /// [`Error::Busy`] if the shared database does not respond, or the replica cannot follow it.
    pub fn catch_up(&self) -> Result<()> {
        let begun = self.node.started.elapsed();
        self.cms.store.catch_up()?;
        let mut state = self.node.state.lock();
        state.checked = state.checked.max(Some(begun));
        Ok(())
    }

    /// Returns the staleness of the replica, see docs/reference/cluster.md#terms. None before the first
    /// head check.
    pub fn staleness(&self) -> Option<Duration> {
        let checked = self.node.state.lock().checked?;
        Some(self.node.started.elapsed().saturating_sub(checked))
    }

    /// Takes or renews the given duties, except those that another node holds.
    pub fn renew_duties(&self, duties: &[Duty]) -> Result<()> {
        for &duty in duties {
            // The lease is measured from before the statement, so it expires on this node earlier than in PostgreSQL.
            let until = Instant::now() + duty.lease();
            if self.node.database.acquire(duty.as_str(), &self.node.id, duty.lease())? {
                if self.node.state.lock().duties.insert(duty, until).is_none() {
                    tracing::info!(duty = duty.as_str(), "duty acquired");
                }
            } else {
                self.remove_duties(|lost, _| lost == duty);
            }
        }
        Ok(())
    }

    /// Removes the duties whose lease has expired, for example because the shared database does not
    /// respond.
    pub fn remove_expired_duties(&self) {
        let now = Instant::now();
        self.remove_duties(|_, until| until <= now);
    }

    fn remove_duties(&self, is_lost: impl Fn(Duty, Instant) -> bool) {
        self.node.state.lock().duties.retain(|&duty, &mut until| {
            let is_lost = is_lost(duty, until);
            if is_lost {
                tracing::info!(duty = duty.as_str(), "duty lost");
            }
            !is_lost
        });
    }

    /// Gives up the given duties, as far as this node holds them, so that another node takes them without
    /// waiting.
    pub fn release_duties(&self, duties: &[Duty]) {
        for &duty in duties {
            if self.node.state.lock().duties.remove(&duty).is_none() {
                continue;
            }
            if let Err(error) = self.node.database.release(duty.as_str(), &self.node.id) {
                // The lease ends in seconds.
                tracing::debug!(%error, duty = duty.as_str(), "duty not released");
            }
        }
    }

    /// Prevents the removal of media files by any node.
    ///
    /// # Errors
    /// [`Error::Busy`] while another node makes a backup.
    pub(crate) fn lock_for_backup(&self) -> Result<RunningBackup> {
        if self.renew_running_backup(&mut self.node.running_backup.lock())? {
            Ok(RunningBackup(Arc::clone(self.node)))
        } else {
            Err(Error::Busy("another node makes a backup".to_owned()))
        }
    }

    /// Renews the lock of the backup that this node makes, if it makes one.
    pub fn renew_lock_for_backup(&self) -> Result<()> {
        let mut until = self.node.running_backup.lock();
        // A lock that has ended is not renewed: files may have been removed since.
        if until.is_some_and(|until| Instant::now() < until) {
            self.renew_running_backup(&mut until)?;
        }
        Ok(())
    }

    fn renew_running_backup(&self, until: &mut Option<Instant>) -> Result<bool> {
        let now = Instant::now();
        let is_held = self.node.database.acquire(RUNNING_BACKUP, &self.node.id, LEASE)?;
        *until = is_held.then_some(now + LEASE);
        Ok(is_held)
    }

    /// Returns whether some node makes a backup, which needs all media files.
    pub(crate) fn is_backup_running(&self) -> Result<bool> {
        Ok(self.node.database.duties()?.iter().any(|holder| holder.duty == RUNNING_BACKUP))
    }

    /// Looks up the live nodes, and which one writes for others.
    pub fn look_up_nodes(&self) -> Result<()> {
        let looked_up = Instant::now();
        let nodes = self.node.database.nodes()?;
        let live = nodes.iter().filter(|node| node.is_live).count();
        let holders = self.node.database.duties()?.into_iter();
        let mut holders = holders.filter(|holder| holder.duty == Duty::Writer.as_str());
        let writer =
            holders.next().filter(|holder| holder.node != self.node.id).and_then(|holder| {
                let mut reports = nodes.into_iter().map(|node| node.report);
                let NodeReport { name, address, token, .. } =
                    reports.find(|report| report.id == holder.node)?;
                address.map(|address| WriterNode { name, address, token })
            });
        let mut state = self.node.state.lock();
        (state.live, state.writer) = (live, writer.zip(Some(looked_up)));
        Ok(())
    }

    /// Returns whether this is the token of this node, so that the request comes from another node,
    /// which has read it in the shared database. Compares hashes, so that the duration of the
    /// comparison reveals nothing of the token.
    pub fn has_token(&self, token: &[u8]) -> bool {
        Sha256::digest(token) == Sha256::digest(&self.node.token)
    }

    /// Returns the number of live nodes, this one included, when they were last looked up.
    pub fn live_nodes(&self) -> usize {
        self.node.state.lock().live
    }

    /// Returns the node to which this one forwards writes; none if this node is the writer, or if the last lookup is
    /// too old: another node may have become the writer since.
    pub fn writer(&self) -> Option<WriterNode> {
        let (writer, looked_up) = self.node.state.lock().writer.clone()?;
        let is_known = looked_up.elapsed() < MAX_WRITER_AGE && !self.node.has_duty(Duty::Writer);
        is_known.then_some(writer)
    }

    /// Returns how old reads may be on the other live nodes that have not yet applied the commit `commit`, at most; none
    /// if all have applied it.
    pub(super) fn max_staleness_of_lagging_nodes(&self, commit: i64) -> Result<Option<Duration>> {
        let is_behind = |node: &NodeState| {
            node.is_live && node.report.id != self.node.id && node.report.applied < commit
        };
        let nodes = self.node.database.nodes()?;
        let bounds = nodes.iter().filter(|node| is_behind(node)).map(|node| {
            Duration::from_millis(u64::try_from(node.report.read_bound_ms).unwrap_or_default())
        });
        Ok(bounds.max())
    }

    /// Reports the state of this node to the others, and compares its clock with that of the shared
    /// database.
    pub fn report(&self) -> Result<()> {
        let Node { id, name, address, token, .. } = &**self.node;
        let staleness = self.staleness().unwrap_or(Duration::MAX);
        let report = NodeReport {
            id: id.clone(),
            name: name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            accepted_schema: self.accepted_schema(),
            address: address.clone(),
            token: token.clone(),
            applied: self.replica.position().commit,
            index_seq: self.cms.index.position().unwrap_or_default(),
            staleness_ms: millis(staleness),
            read_bound_ms: millis(self.node.read_bound),
        };
        self.node.clock.compare(|| self.node.database.report(&report))
    }

    /// The newest schema to which this node lets the cluster move.
    pub(super) fn accepted_schema(&self) -> i64 {
        let replica = self.replica;
        if self.node.holds_upgrade { replica.schema() } else { replica.newest_schema() }
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
