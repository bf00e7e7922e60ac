//! The metrics endpoint: all counters, and the current values of all gauges, as text.

use cms_core::{Cluster, Duty, Renderings, Result, Statistics};
use prometheus::{
    Counter, Gauge, IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder, core::Collector,
};

use super::metrics::expect_valid;
use crate::{net::permits::PermitState, state::App};

/// Renders all metrics in the text format of Prometheus.
pub(crate) fn render(app: &App) -> Result<String> {
    let snapshot = Snapshot(Registry::new());
    snapshot.gauge(
        "cms_build_info",
        "Always 1; the version is the label.",
        &[("version", env!("CARGO_PKG_VERSION"), 1)],
    );
    let limits = &app.connection_limits;
    snapshot.value("cms_connections", "Open connections.", as_float(limits.open_connections()));
    snapshot.counter(
        "cms_connections_refused_total",
        "Connections that were closed because their address had too many.",
        as_float(limits.refused()),
    );
    snapshot.value(
        "cms_response_memory_bytes",
        "Memory of responses that are rendered or unsent.",
        as_float(app.response_memory.used()),
    );
    snapshot.value(
        "cms_response_memory_limit_bytes",
        "Memory budget for responses that are rendered or unsent.",
        as_float(app.response_memory.limit()),
    );
    let [hits, misses] = app.response_cache.counts();
    snapshot.counter(
        "cms_response_cache_hits_total",
        "Reads of content that were responded to from the cache.",
        as_float(hits),
    );
    snapshot.counter(
        "cms_response_cache_misses_total",
        "Reads of content for which the cache had no current response.",
        as_float(misses),
    );
    snapshot.value(
        "cms_response_cache_bytes",
        "Memory of cached responses.",
        as_float(app.response_cache.bytes()),
    );
    if let Some(log) = &app.config.log {
        snapshot.counter(
            "cms_log_lines_dropped_total",
            "Log lines that were dropped because the reader of the log was too slow.",
            as_float(log.dropped()),
        );
    }
    snapshot.permits(app);
    snapshot.core(&app.cms.statistics()?);
    if let Some(node) = app.cms.cluster() {
        snapshot.cluster(app, node);
    }
    snapshot.process();
    let mut families = app.metrics.registry.gather();
    families.extend(snapshot.0.gather());
    if let Some(node) = app.cms.cluster() {
        families.extend(node.replica().metrics().gather());
    }
    Ok(TextEncoder::new().encode_to_string(&families).expect("all metrics can be encoded"))
}

/// The gauges of one moment.
struct Snapshot(Registry);

impl Snapshot {
    fn permits(&self, app: &App) {
        let states = app.permits.states();
        let each = |number: fn(&PermitState) -> usize| {
            states.iter().map(move |state| ("kind", state.pool, number(state))).collect::<Vec<_>>()
        };
        self.gauge("cms_permits", "Permits by kind of work.", &each(|s| s.total));
        self.gauge("cms_permits_used", "Permits in use.", &each(|s| s.used));
        self.gauge("cms_permits_waiting", "Requests that wait for a permit.", &each(|s| s.waiting));
        self.value("cms_subscribers", "Open streams of changes.", as_float(app.subscribers()));
    }

    fn core(&self, core: &Statistics) {
        self.value("cms_readers", "Database connections for reading.", as_float(core.readers));
        self.value(
            "cms_readers_used",
            "Database connections for reading in use.",
            as_float(core.readers_used),
        );
        self.value(
            "cms_readers_waiting",
            "Threads that wait for a connection for reading.",
            as_float(core.readers_waiting),
        );
        self.value(
            "cms_writes_waiting",
            "Writes that wait for the next commit.",
            as_float(core.writer.waiting),
        );
        self.counter(
            "cms_commits_total",
            "Batches of writes. A batch ends with one commit, or is rolled back if none of its writes succeeds.",
            as_float(core.writer.batches),
        );
        self.counter("cms_writes_total", "Writes in these batches.", as_float(core.writer.writes));
        self.counter(
            "cms_write_seconds_total",
            "Working time of the thread that writes.",
            core.writer.busy.as_secs_f64(),
        );
        self.value(
            "cms_webhook_deliveries_pending",
            "Pending webhook deliveries.",
            as_float(core.deliveries_pending),
        );
        self.value(
            "cms_webhook_oldest_delivery_seconds",
            "Age of the oldest webhook delivery in the queue.",
            core.deliveries_wait.as_secs_f64(),
        );
        self.value(
            "cms_webhook_endpoints_down",
            "Webhooks whose endpoint is down.",
            as_float(core.endpoints_down),
        );
        self.value("cms_journal_head", "Last row of the journal.", as_float(core.journal_head));
        if let Some(position) = core.index_position {
            self.value(
                "cms_index_position",
                "Last row of the journal in the search index.",
                as_float(position),
            );
        }
        self.value("cms_database_bytes", "Size of the database.", as_float(core.database_bytes));
        self.value("cms_wal_bytes", "Size of the write-ahead log.", as_float(core.wal_bytes));
        self.value(
            "cms_disk_free_bytes",
            "Free space on the disk of the data directory.",
            as_float(core.disk_free_bytes),
        );
        let Renderings { memory, disk, rendered } = core.renderings;
        let images = Opts::new(
            "cms_images_total",
            "Requests for rendered images, by where these came from: memory, disk, or rendered.",
        );
        let images = expect_valid(IntCounterVec::new(images, &["source"]));
        for (source, count) in [("memory", memory), ("disk", disk), ("rendered", rendered)] {
            images.with_label_values(&[source]).inc_by(count);
        }
        self.add(images);
    }

    fn cluster(&self, app: &App, node: Cluster<'_>) {
        self.value(
            "cms_cluster_commit",
            "Last commit of the cluster that is applied here.",
            as_float(node.replica().position().commit),
        );
        self.value(
            "cms_cluster_schema",
            "Database schema of the cluster.",
            as_float(node.replica().schema()),
        );
        let staleness = node.staleness().map_or(f64::INFINITY, |age| age.as_secs_f64());
        self.value(
            "cms_cluster_staleness_seconds",
            "Upper bound of the age of the replica's data.",
            staleness,
        );
        let duties =
            Duty::ALL.map(|duty| ("name", duty.as_str(), usize::from(app.cms.has_duty(duty))));
        self.gauge("cms_cluster_duty", "1 for each duty that this node has.", &duties);
        self.value("cms_cluster_nodes", "Live nodes of the cluster.", as_float(node.live_nodes()));
        self.value(
            "cms_cluster_clock_offset_seconds",
            "How far the clock of the shared database is ahead of that of this machine.",
            node.clock_offset_seconds(),
        );
        self.add(app.replica_sync.waits.clone());
    }

    /// The standard metrics of a process.
    #[cfg(target_os = "linux")]
    fn process(&self) {
        let Ok(process) = procfs::process::Process::myself() else { return };
        let ticks = as_float(procfs::ticks_per_second());
        if let Ok(stat) = process.stat() {
            let cpu = as_float(stat.utime + stat.stime) / ticks;
            self.counter("process_cpu_seconds_total", "Processor time.", cpu);
            let resident = as_float(stat.rss) * as_float(procfs::page_size());
            self.value("process_resident_memory_bytes", "Memory in use.", resident);
            self.value("process_virtual_memory_bytes", "Memory mapped.", as_float(stat.vsize));
            self.value("process_threads", "Threads.", as_float(stat.num_threads));
            if let Ok(boot) = procfs::boot_time_secs() {
                let start = as_float(boot) + as_float(stat.starttime) / ticks;
                self.value("process_start_time_seconds", "Start, in Unix time.", start);
            }
        }
        if let Ok(open) = process.fd_count() {
            self.value("process_open_fds", "Open files.", as_float(open));
        }
        let limit = process.limits().map(|limits| limits.max_open_files.soft_limit);
        if let Ok(procfs::process::LimitValue::Value(max)) = limit {
            self.value("process_max_fds", "Limit of open files.", as_float(max));
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn process(&self) {}

    fn value(&self, name: &str, help: &str, value: f64) {
        let gauge = expect_valid(Gauge::new(name, help));
        gauge.set(value);
        self.add(gauge);
    }

    fn counter(&self, name: &str, help: &str, value: f64) {
        let counter = expect_valid(Counter::new(name, help));
        counter.inc_by(value);
        self.add(counter);
    }

    /// A gauge with one label.
    fn gauge(&self, name: &str, help: &str, values: &[(&str, &str, usize)]) {
        let Some((label, _, _)) = values.first() else { return };
        let gauges = expect_valid(IntGaugeVec::new(Opts::new(name, help), &[*label]));
        for (_, value, number) in values {
            gauges.with_label_values(&[*value]).set(i64::try_from(*number).unwrap_or(i64::MAX));
        }
        self.add(gauges);
    }

    fn add(&self, collector: impl Collector + 'static) {
        expect_valid(self.0.register(Box::new(collector)));
    }
}

/// Prometheus has floating point numbers only.
fn as_float<N: TryInto<i64>>(number: N) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
    let float = number.try_into().unwrap_or(i64::MAX) as f64;
    float
}
