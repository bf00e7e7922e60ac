//! A data directory as a node of a cluster: its first start, its duties, and how current it is.
//!
//! What a node does with each commit is in `cms_store::cluster`.

pub(crate) mod clock;
pub(crate) mod node;
mod transfer;

use std::{
    fs,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use cms_model::{
    error::{Error, Result, path_error},
    settings::NewDatabase,
};
use cms_store::{
    Store,
    cluster::{
        database::{DutyHolder, NodeState, SharedDatabase},
        open::replica_position,
        replica::Replica,
    },
};
use cms_system::folder;

use self::node::Node;
pub use self::{
    node::{Duty, WriterNode},
    transfer::{Transferred, count_transfer, create_cluster, export_cluster},
};
use crate::{ClusterConfig, Cms, CoreConfig};

/// How long the commit log keeps commits.
const COMMIT_LOG_RETENTION: Duration = Duration::from_hours(7 * 24);

/// The response to a request that revokes access waits until all live nodes have applied the change. The timeout of
/// this wait is the largest read bound of the nodes that have not applied it yet, but at least this: for 5 s after a
/// head check, a node may serve reads with `x-cms-position` without a further check.
const MIN_REVOCATION_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum of the timeout that is described at [`MIN_REVOCATION_TIMEOUT`]: after 10 s without a report, a node no
/// longer counts as live.
const MAX_REVOCATION_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval between two reads of the reports of nodes.
const REVOCATION_INTERVAL: Duration = Duration::from_millis(100);

/// The directory in which the content of a new cluster is created.
const NEW_CLUSTER: &str = "new-cluster";

/// Opens the replica of a node; creates the cluster where the shared database has none.
pub(crate) fn open_replica(
    config: &CoreConfig,
    ClusterConfig { database, schemas, .. }: &ClusterConfig,
) -> Result<Store> {
    if !database.is_created()? {
        if replica_position(&config.folder)?.is_some() {
            return Err(Error::Conflict(format!(
                "the database has no cluster, and the data directory {} is the replica of one: name the \
                 database of that cluster, restore it, or use an empty directory",
                config.folder.display()
            )));
        }
        match create(config, database) {
            // Another node has created the cluster meanwhile.
            Err(Error::Conflict(_)) if database.is_created()? => {}
            created => created?,
        }
    }
    Store::open_replica(&config.folder, Arc::clone(database), schemas.clone())
}

/// Creates a cluster with the built-in content types.
fn create(config: &CoreConfig, database: &Arc<dyn SharedDatabase>) -> Result<()> {
    let folder = config.folder.join(NEW_CLUSTER);
    let remove = || {
        let removed = fs::remove_dir_all(&folder).or_else(folder::ignore_missing);
        removed.map_err(|error| path_error(&folder, &error))
    };
    // Removes the directory that a killed process left.
    remove()?;
    let empty = Cms::open(CoreConfig {
        folder: folder.clone(),
        new_database: NewDatabase::Always,
        cluster: None,
        ..config.clone()
    })?;
    empty.store.create_cluster(database)?;
    drop(empty);
    remove()
}

impl Cms {
    /// The cluster of which this process is a node; none for a standalone data directory.
    pub fn cluster(&self) -> Option<Cluster<'_>> {
        let (node, replica) = self.node.as_ref().zip(self.store.replica())?;
        Some(Cluster { cms: self, node, replica })
    }

    /// Returns whether this process has a duty. A standalone data directory has all of them.
    pub fn has_duty(&self, duty: Duty) -> bool {
        self.node.as_ref().is_none_or(|node| node.has_duty(duty))
    }
}

/// This process as a node of a cluster.
#[derive(Clone, Copy)]
pub struct Cluster<'c> {
    cms: &'c Cms,
    node: &'c Arc<Node>,
    replica: &'c Replica,
}

impl<'c> Cluster<'c> {
    /// Returns the replica of this node.
    pub fn replica(&self) -> &'c Replica {
        self.replica
    }

    /// Returns how far the clock of the shared database is ahead of that of this machine, in seconds.
    /// Dates are corrected by this offset.
    pub fn clock_offset_seconds(&self) -> f64 {
        self.node.clock.offset_seconds()
    }

    /// Moves the cluster to the next database schema, if this node accepts one. Returns the names of
    /// the live nodes that do not accept it; if there are any, nothing is changed.
    pub fn upgrade(&self) -> Result<Vec<String>> {
        let current = self.replica.schema();
        if self.accepted_schema() <= current {
            return Ok(Vec::new());
        }
        let waits_for = |node: &NodeState| node.is_live && node.report.accepted_schema <= current;
        let mut nodes: Vec<String> =
            self.nodes()?.into_iter().filter(waits_for).map(|node| node.report.name).collect();
        nodes.sort();
        if nodes.is_empty() {
            self.cms.store.upgrade_cluster()?;
        }
        Ok(nodes)
    }

    /// Waits until all live nodes have applied the last commit that this node knows, after keys or sessions
    /// were revoked. A node that cannot apply it refuses reads by the time this returns, unless it
    /// accepts reads that are more than ten seconds old (`within=D`).
    pub fn wait_for_nodes(&self) {
        let position = self.replica.last_known_commit();
        let started = Instant::now();
        loop {
            let timeout = match self.max_staleness_of_lagging_nodes(position.commit) {
                Ok(None) => return,
                Ok(Some(bound)) => bound.clamp(MIN_REVOCATION_TIMEOUT, MAX_REVOCATION_TIMEOUT),
                // The nodes are unknown: some of them may still serve reads.
                Err(_) => MAX_REVOCATION_TIMEOUT,
            };
            if started.elapsed() >= timeout {
                return;
            }
            thread::sleep(REVOCATION_INTERVAL);
        }
    }

    /// Removes old commits from the commit log. A replica that still needs them is copied again.
    pub(crate) fn prune(&self) -> Result<()> {
        self.node.database.prune(COMMIT_LOG_RETENTION)
    }

    /// Lists the nodes that have reported within a day.
    pub fn nodes(&self) -> Result<Vec<NodeState>> {
        self.node.database.nodes()
    }

    /// Lists the duties that some node holds.
    pub fn duties(&self) -> Result<Vec<DutyHolder>> {
        self.node.database.duties()
    }
}
