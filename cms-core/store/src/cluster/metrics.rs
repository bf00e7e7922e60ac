//! Metrics of a replica since its start, for Prometheus. docs/operations.md lists all metrics.

use prometheus::{
    Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, Opts, Registry, core::Collector,
    proto::MetricFamily,
};

/// Upper bounds of durations, in seconds: from a commit without contention to the longest wait for the
/// lock.
const BUCKETS: [f64; 12] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// Counters of one replica.
pub struct ReplicaMetrics {
    registry: Registry,
    /// The newest commit of the cluster that this node knows.
    pub(super) head: IntGauge,
    pub(super) lock_waits: Histogram,
    pub(super) commit_times: Histogram,
    /// Label `outcome`: `committed`, `refused`, `superseded`, `unknown`.
    pub(super) commits: IntCounterVec,
    /// Label `outcome`: `committed`, `sent_again`, `superseded`.
    pub(super) outcomes_resolved: IntCounterVec,
    pub(super) rows_sent: IntCounter,
    pub(super) rows_applied: IntCounter,
    pub(super) head_checks: IntCounter,
    /// Label `reason`: `empty`, `other_history`, `pruned`, `schema`.
    pub(super) bootstraps: IntCounterVec,
}

impl ReplicaMetrics {
    pub(super) fn new() -> Self {
        let registry = Registry::new();
        let counters = |name: &str, help: &str, label: &str, values: &[&str]| {
            let counters = valid(IntCounterVec::new(Opts::new(name, help), &[label]));
            for value in values {
                // Counters without events are 0, not absent.
                counters.with_label_values(&[*value]);
            }
            registered(&registry, counters)
        };
        let histogram = |name: &str, help: &str| {
            let options = HistogramOpts::new(name, help).buckets(BUCKETS.to_vec());
            registered(&registry, valid(Histogram::with_opts(options)))
        };
        let rows = counters(
            "cms_cluster_rows_total",
            "Rows that were sent to the shared database, and changed by other nodes and applied here.",
            "direction",
            &["sent", "applied"],
        );
        let head =
            IntGauge::new("cms_cluster_head", "Newest commit of the cluster that this node knows.");
        let head = registered(&registry, valid(head));
        let head_checks = IntCounter::new("cms_cluster_head_checks_total", "Head checks.");
        let head_checks = registered(&registry, valid(head_checks));
        Self {
            head,
            lock_waits: histogram(
                "cms_cluster_lock_wait_seconds",
                "Time until the shared database granted the lock.",
            ),
            commit_times: histogram(
                "cms_cluster_commit_seconds",
                "Time from the lock to the acknowledgement of a commit.",
            ),
            commits: counters(
                "cms_cluster_commits_total",
                "Commits by outcome.",
                "outcome",
                &["committed", "refused", "superseded", "unknown"],
            ),
            outcomes_resolved: counters(
                "cms_cluster_outcomes_resolved_total",
                "Commits whose connection broke, by outcome according to the commit log.",
                "outcome",
                &["committed", "sent_again", "superseded"],
            ),
            rows_sent: rows.with_label_values(&["sent"]),
            rows_applied: rows.with_label_values(&["applied"]),
            head_checks,
            bootstraps: counters(
                "cms_cluster_bootstraps_total",
                "Copies of the shared database, by reason.",
                "reason",
                &["empty", "other_history", "pruned", "schema"],
            ),
            registry,
        }
    }

    /// Returns the current values.
    pub fn gather(&self) -> Vec<MetricFamily> {
        self.registry.gather()
    }

    pub(super) fn count_commit(&self, outcome: &str) {
        self.commits.with_label_values(&[outcome]).inc();
    }
}

/// A metric that is part of a registry.
fn registered<M: Collector + Clone + 'static>(registry: &Registry, metric: M) -> M {
    valid(registry.register(Box::new(metric.clone())));
    metric
}

/// Names and labels are constants; a test scrapes all of them.
fn valid<T>(result: prometheus::Result<T>) -> T {
    result.expect("names of metrics are valid and unique")
}
