//! The state of this process as a node: its identity, its duties, and its last look at the head.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use cms_model::{error::Result, ids::IdSource as _};
use cms_store::cluster::database::{NodeReport, SharedDatabase};
use cms_system::ids::RandomIds;
use sha2::{Digest as _, Sha256};

use crate::ClusterConfig;

/// How long a duty stays with a node that does not renew it.
const LEASE: Duration = Duration::from_secs(15);
/// The same for [`Duty::Writer`], on which every write depends.
const WRITER_LEASE: Duration = Duration::from_secs(5);

/// A background task that one node at a time does. Each stays correct if two nodes do it for a moment:
/// what is due is checked again inside the write transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duty {
    /// Publish scheduled objects.
    Schedules,
    /// Create and send webhook deliveries.
    Webhooks,
    /// Run bulk jobs.
    Jobs,
    /// Remove expired rows.
    CleanUp,
    /// Remove orphaned files.
    OrphanedFiles,
    /// Make scheduled backups.
    Backups,
    /// Move the cluster to a newer database schema.
    Upgrade,
    /// Write for other nodes: writes of one node share commits. Every node may write.
    Writer,
}

impl Duty {
    pub const ALL: [Self; 8] = [
        Self::Schedules,
        Self::Webhooks,
        Self::Jobs,
        Self::CleanUp,
        Self::OrphanedFiles,
        Self::Backups,
        Self::Upgrade,
        Self::Writer,
    ];

    /// The name in the shared database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schedules => "schedules",
            Self::Webhooks => "webhooks",
            Self::Jobs => "jobs",
            Self::CleanUp => "clean-up",
            Self::OrphanedFiles => "orphaned-files",
            Self::Backups => "backups",
            Self::Upgrade => "upgrade",
            Self::Writer => "writer",
        }
    }

    fn lease(self) -> Duration {
        if self == Self::Writer { WRITER_LEASE } else { LEASE }
    }
}

/// The node to which others forward writes.
#[derive(Clone, PartialEq, Eq)]
pub struct Writer {
    pub name: String,
    /// URL at which it is reached.
    pub address: String,
    /// Proves that a request comes from a node. Secret.
    pub token: String,
}

/// A node.
pub(crate) struct Node {
    database: Arc<dyn SharedDatabase>,
    /// Random per start.
    id: String,
    name: String,
    address: Option<String>,
    token: String,
    holds_upgrade: bool,
    started: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Until when this node holds a duty.
    duties: HashMap<Duty, Instant>,
    /// Uptime at the start of the newest check whose head is applied.
    checked: Option<Duration>,
    /// The other node that writes, when it was last looked up.
    writer: Option<Writer>,
}

impl Node {
    pub(crate) fn new(config: &ClusterConfig) -> Self {
        // Not those of the content, which tests count.
        let ids = RandomIds;
        Self {
            database: Arc::clone(&config.database),
            id: ids.uuid(),
            name: config.name.clone(),
            address: config.address.clone(),
            token: ids.token(),
            holds_upgrade: config.holds_upgrade,
            started: Instant::now(),
            state: Mutex::default(),
        }
    }

    pub(crate) fn database(&self) -> &dyn SharedDatabase {
        &*self.database
    }

    pub(crate) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn record_check(&self, begun: Duration) {
        let mut state = self.state();
        state.checked = state.checked.max(Some(begun));
    }

    pub(crate) fn staleness(&self) -> Option<Duration> {
        let checked = self.state().checked?;
        Some(self.uptime().saturating_sub(checked))
    }

    pub(crate) fn holds(&self, duty: Duty) -> bool {
        self.state().duties.get(&duty).is_some_and(|until| Instant::now() < *until)
    }

    pub(crate) fn renew_duties(&self, duties: &[Duty]) -> Result<()> {
        for &duty in duties {
            // The lease counts from before the statement, so it ends here first.
            let until = Instant::now() + duty.lease();
            if self.database.acquire(duty.as_str(), &self.id, duty.lease())? {
                if self.state().duties.insert(duty, until).is_none() {
                    tracing::info!(duty = duty.as_str(), "duty acquired");
                }
            } else if self.state().duties.remove(&duty).is_some() {
                tracing::info!(duty = duty.as_str(), "duty lost");
            }
        }
        Ok(())
    }

    /// Gives up those of some duties that this node holds.
    pub(crate) fn release_duties(&self, duties: &[Duty]) {
        for &duty in duties {
            if self.state().duties.remove(&duty).is_none() {
                continue;
            }
            if let Err(error) = self.database.release(duty.as_str(), &self.id) {
                // The lease ends in seconds.
                tracing::debug!(%error, duty = duty.as_str(), "duty not released");
            }
        }
    }

    /// Looks up which other node writes.
    pub(crate) fn find_writer(&self) -> Result<()> {
        let holders = self.database.duties()?.into_iter();
        let mut holders = holders.filter(|holder| holder.duty == Duty::Writer.as_str());
        let holder = holders.next().filter(|holder| holder.node != self.id);
        let writer = match holder {
            Some(holder) => {
                let mut nodes = self.database.nodes()?.into_iter().map(|node| node.report);
                nodes.find(|node| node.id == holder.node).and_then(|node| {
                    let NodeReport { name, address, token, .. } = node;
                    address.map(|address| Writer { name, address, token })
                })
            }
            None => None,
        };
        self.state().writer = writer;
        Ok(())
    }

    pub(crate) fn writer(&self) -> Option<Writer> {
        self.state().writer.clone()
    }

    /// Whether a token is that of this node. The time that this takes depends on digests only.
    pub(crate) fn has_token(&self, token: &[u8]) -> bool {
        Sha256::digest(token) == Sha256::digest(&self.token)
    }

    /// The newest schema to which this node lets the cluster move.
    pub(crate) fn accepted_schema(&self, current: i64, newest: i64) -> i64 {
        if self.holds_upgrade { current } else { newest }
    }

    pub(crate) fn report(&self, knows: i64, applied: i64, index_seq: i64) -> Result<()> {
        let staleness = self.staleness().unwrap_or(Duration::MAX);
        let report = NodeReport {
            id: self.id.clone(),
            name: self.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            knows,
            address: self.address.clone(),
            token: self.token.clone(),
            applied,
            index_seq,
            staleness_ms: i64::try_from(staleness.as_millis()).unwrap_or(i64::MAX),
        };
        self.database.report(&report).map(drop)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change of the state is complete.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
