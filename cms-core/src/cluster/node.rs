//! The state of this process as a node: its identity, its duties, and its last look at the head.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use cms_model::{error::Result, ids::IdSource as _};
use cms_store::cluster::database::{NodeReport, SharedDatabase};
use cms_system::ids::RandomIds;

use crate::ClusterConfig;

/// How long a duty stays with a node that does not renew it.
const LEASE: Duration = Duration::from_secs(15);

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
}

impl Duty {
    pub const ALL: [Self; 7] = [
        Self::Schedules,
        Self::Webhooks,
        Self::Jobs,
        Self::CleanUp,
        Self::OrphanedFiles,
        Self::Backups,
        Self::Upgrade,
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
        }
    }
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
            let until = Instant::now() + LEASE;
            if self.database.acquire(duty.as_str(), &self.id, LEASE)? {
                if self.state().duties.insert(duty, until).is_none() {
                    tracing::info!(duty = duty.as_str(), "duty acquired");
                }
            } else if self.state().duties.remove(&duty).is_some() {
                tracing::info!(duty = duty.as_str(), "duty lost");
            }
        }
        Ok(())
    }

    pub(crate) fn release_duties(&self) {
        for (duty, _) in std::mem::take(&mut self.state().duties) {
            if let Err(error) = self.database.release(duty.as_str(), &self.id) {
                // The lease ends in seconds.
                tracing::debug!(%error, duty = duty.as_str(), "duty not released");
            }
        }
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
