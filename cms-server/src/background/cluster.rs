//! The background tasks of a node for its cluster: reports, duties and upgrades.

use std::{sync::Arc, time::Duration};

use cms_core::{Duty, Result};
use tokio::time::{self, Instant};

use crate::{blocking, state::App};

/// Interval of reports.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of renewals of duties, a third of their lease.
const DUTY_INTERVAL: Duration = Duration::from_secs(5);

/// Time to release duties, if the shared database does not respond.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

/// Interval of the checks whether the replica is abandoned.
const ABANDONED_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Waits until the replica of this node is abandoned, which means that it has to be copied again.
pub(crate) async fn wait_until_replica_abandoned(app: &App) {
    while !app.cms.cluster().is_some_and(|cluster| cluster.replica().is_abandoned()) {
        time::sleep(ABANDONED_CHECK_INTERVAL).await;
    }
}

/// Reports the state of this node, renews its duties, and looks up the writer node.
pub(super) async fn report_and_renew_duties(app: Arc<App>) {
    if app.cms.cluster().is_none() {
        return;
    }
    let mut renew_at = Instant::now();
    loop {
        let is_due = renew_at <= Instant::now();
        if is_due {
            renew_at = Instant::now() + DUTY_INTERVAL;
        }
        // Without a permit, so that a busy node keeps its duties.
        let done = blocking::run_without_permit(&app, move |app| heartbeat(app, is_due)).await;
        if let Ok(Err(error)) = done {
            tracing::debug!(%error, "node not reported");
        }
        time::sleep(REPORT_INTERVAL).await;
    }
}

fn heartbeat(app: &App, is_renewal_due: bool) -> Result<()> {
    let Some(cluster) = app.cms.cluster() else { return Ok(()) };
    cluster.remove_expired_duties();
    cluster.report()?;
    if !app.is_draining() {
        cluster.renew_duties(&[Duty::Writer])?;
    }
    cluster.look_up_nodes()?;
    if !is_renewal_due {
        return Ok(());
    }
    cluster.renew_lock_for_backup()?;
    // A node without a backup destination cannot create backups.
    let can_do = |duty: &Duty| match duty {
        Duty::Backups => app.config.backups.is_some(),
        // Renewed with every report, see above.
        Duty::Writer => false,
        _ => true,
    };
    let duties: Vec<Duty> = Duty::ALL.into_iter().filter(can_do).collect();
    cluster.renew_duties(&duties)
}

/// Moves the cluster to the database schema of this program, as soon as all nodes know it.
pub(super) async fn upgrade(app: Arc<App>) {
    if app.cms.cluster().is_none() {
        return;
    }
    let mut waits_for = Vec::new();
    loop {
        time::sleep(DUTY_INTERVAL).await;
        let upgrade = |app: &App| match app.cms.cluster() {
            Some(cluster) if app.cms.has_duty(Duty::Upgrade) => cluster.upgrade(),
            _ => Ok(Vec::new()),
        };
        match blocking::run_without_permit(&app, upgrade).await {
            Ok(Ok(nodes)) if nodes != waits_for => {
                if !nodes.is_empty() {
                    tracing::info!(nodes = nodes.join(", "), "upgrade waiting");
                }
                waits_for = nodes;
            }
            Ok(Err(error)) => tracing::warn!(%error, "upgrade postponed"),
            _ => {}
        }
    }
}

/// Releases duties of this node, so that another node can take them.
pub(crate) async fn release(app: &Arc<App>, duties: &'static [Duty]) {
    if app.cms.cluster().is_none() {
        return;
    }
    let release = |app: &App| app.cms.cluster().map(|cluster| cluster.release_duties(duties));
    // A duty that is not released ends with its lease.
    time::timeout(RELEASE_TIMEOUT, blocking::run_without_permit(app, release)).await.ok();
}
