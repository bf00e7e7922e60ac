//! What a server counts, for Prometheus: requests as they come, everything else when it is asked for.
//!
//! Labels are rows of the table of routes, never paths: their number is bounded whatever is sent.
//! The names of all metrics are in `docs/operations.md`.

use std::{sync::OnceLock, time::Duration};

use axum::http::StatusCode;
use cms_core::{DeliveryOutcome, Renderings, Result, Statistics};
use prometheus::{
    Counter, Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec,
    Opts, Registry, TextEncoder, core::Collector,
};

use crate::{path::Row, router::ROUTES, state::App};

/// Upper bounds of durations, in seconds: a look-up takes a tenth of the first, a search at most the
/// last.
const BOUNDS: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// Statuses of which each row remembers its counter; others are looked for.
const STATUSES: [StatusCode; 12] = [
    StatusCode::OK,
    StatusCode::NO_CONTENT,
    StatusCode::NOT_MODIFIED,
    StatusCode::BAD_REQUEST,
    StatusCode::UNAUTHORIZED,
    StatusCode::FORBIDDEN,
    StatusCode::NOT_FOUND,
    StatusCode::METHOD_NOT_ALLOWED,
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::INTERNAL_SERVER_ERROR,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::INSUFFICIENT_STORAGE,
];

/// Route and method of what no row answers.
const UNKNOWN: &str = "unknown";

/// What is counted while requests are answered. Each row keeps what it counts with once it was
/// asked: from then on a request costs a few atomic additions, no lock and no allocation.
pub(crate) struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    durations: HistogramVec,
    attempts: IntCounterVec,
    backups: IntCounterVec,
    /// One for each row of the table, and one for what no row answers.
    rows: Vec<Counts>,
}

#[derive(Default)]
struct Counts {
    duration: OnceLock<Histogram>,
    statuses: [OnceLock<IntCounter>; STATUSES.len()],
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let requests = Opts::new("cms_http_requests_total", "Requests by route and status.");
        let durations = HistogramOpts::new(
            "cms_http_request_duration_seconds",
            "Time from the head of a request to the head of its answer.",
        );
        let attempts =
            Opts::new("cms_webhook_attempts_total", "Deliveries sent, by what came of it.");
        let backups = Opts::new("cms_backups_total", "Backups by who asked and what came of it.");
        let metrics = Self {
            registry: Registry::new(),
            attempts: known(IntCounterVec::new(attempts, &["result"])),
            backups: known(IntCounterVec::new(backups, &["kind", "result"])),
            requests: known(IntCounterVec::new(requests, &["route", "method", "status"])),
            durations: known(HistogramVec::new(
                durations.buckets(BOUNDS.to_vec()),
                &["route", "method"],
            )),
            rows: (0..=ROUTES.len()).map(|_| Counts::default()).collect(),
        };
        known(metrics.registry.register(Box::new(metrics.requests.clone())));
        known(metrics.registry.register(Box::new(metrics.durations.clone())));
        known(metrics.registry.register(Box::new(metrics.attempts.clone())));
        known(metrics.registry.register(Box::new(metrics.backups.clone())));
        // What never happened is 0, not unknown.
        for result in ["delivered", "refused", "unanswered"] {
            metrics.attempts.with_label_values(&[result]);
        }
        for (kind, result) in
            [("scheduled", "made"), ("scheduled", "failed"), ("sent", "made"), ("sent", "failed")]
        {
            metrics.backups.with_label_values(&[kind, result]);
        }
        metrics
    }

    /// Counts an attempt to tell a webhook something.
    pub(crate) fn count_attempt(&self, answered: &DeliveryOutcome) {
        let result = match answered {
            taken if taken.is_success() => "delivered",
            DeliveryOutcome::Response(..) => "refused",
            DeliveryOutcome::NoResponse(_) => "unanswered",
        };
        self.attempts.with_label_values(&[result]).inc();
    }

    /// Counts a backup that was `scheduled`, or `sent` to who asked for it.
    pub(crate) fn count_backup(&self, kind: &str, is_made: bool) {
        let result = if is_made { "made" } else { "failed" };
        self.backups.with_label_values(&[kind, result]).inc();
    }

    /// Counts an answer.
    pub(crate) fn count(&self, row: Option<Row>, status: StatusCode, duration: Duration) {
        let counts = &self.rows[row.map_or(ROUTES.len(), |row| row.number)];
        let path = row.map_or(UNKNOWN, |row| row.route.path);
        let method = row.map_or(UNKNOWN, |row| row.route.method.as_str());
        let histogram = || self.durations.with_label_values(&[path, method]);
        counts.duration.get_or_init(histogram).observe(duration.as_secs_f64());
        let counter = || self.requests.with_label_values(&[path, method, status.as_str()]);
        match STATUSES.iter().position(|known| *known == status) {
            Some(at) => counts.statuses[at].get_or_init(counter).inc(),
            None => counter().inc(),
        }
    }
}

/// Writes all metrics in the text format of Prometheus.
pub(crate) fn write(app: &App) -> Result<String> {
    let now = Snapshot(Registry::new());
    now.gauge(
        "cms_build_info",
        "Always 1; the version is the label.",
        &[("version", env!("CARGO_PKG_VERSION"), 1)],
    );
    let admission = &app.admission;
    now.value("cms_connections", "Open connections.", as_float(admission.open_connections()));
    now.counter(
        "cms_connections_refused_total",
        "Connections that were closed because their address had too many.",
        as_float(admission.refused()),
    );
    now.value(
        "cms_response_memory_bytes",
        "Memory of responses that are made or unsent.",
        as_float(app.memory.used()),
    );
    now.value(
        "cms_response_memory_limit_bytes",
        "Most memory of such responses.",
        as_float(app.memory.limit()),
    );
    if let Some(log) = &app.log {
        now.counter(
            "cms_log_lines_dropped_total",
            "Lines of the log that were dropped because nobody read it.",
            as_float(log.dropped()),
        );
    }
    now.permits(app);
    now.core(&app.cms.statistics()?);
    now.process();
    let mut families = app.metrics.registry.gather();
    families.extend(now.0.gather());
    Ok(TextEncoder::new().encode_to_string(&families).expect("numbers and names become text"))
}

/// The numbers of one moment, each registered when it is known.
struct Snapshot(Registry);

impl Snapshot {
    fn permits(&self, app: &App) {
        let states = app.permits.states();
        let each = |number: fn(&crate::blocking::PermitState) -> usize| {
            states.iter().map(move |state| ("kind", state.kind, number(state))).collect::<Vec<_>>()
        };
        self.gauge("cms_permits", "Work of a kind that may be under way.", &each(|s| s.all));
        self.gauge("cms_permits_used", "Work of a kind that is under way.", &each(|s| s.used));
        self.gauge(
            "cms_permits_waiting",
            "Requests that wait for work of a kind.",
            &each(|s| s.waiting),
        );
    }

    fn core(&self, core: &Statistics) {
        self.value("cms_readers", "Database connections that may read.", as_float(core.readers));
        self.value("cms_readers_used", "Those in use.", as_float(core.readers_used));
        self.value("cms_readers_waiting", "Threads that wait.", as_float(core.readers_waiting));
        self.value(
            "cms_writes_waiting",
            "Writes that wait for the next commit.",
            as_float(core.writes_waiting),
        );
        self.counter("cms_commits_total", "Commits.", as_float(core.commits));
        self.counter("cms_writes_total", "Writes that commits carried.", as_float(core.writes));
        self.counter(
            "cms_writing_seconds_total",
            "Time that the writer worked.",
            core.writing.as_secs_f64(),
        );
        self.value(
            "cms_webhook_deliveries_waiting",
            "What webhooks are yet to be told.",
            as_float(core.deliveries_waiting),
        );
        self.value(
            "cms_webhook_longest_wait_seconds",
            "How long the first of it has waited.",
            core.deliveries_wait.as_secs_f64(),
        );
        self.value(
            "cms_webhook_endpoints_down",
            "Webhooks whose endpoint does not respond.",
            as_float(core.endpoints_down),
        );
        self.value("cms_journal_head", "Last row of the journal.", as_float(core.journal_head));
        if let Some(position) = core.index_position {
            self.value(
                "cms_index_position",
                "Row of the journal up to which searches see changes.",
                as_float(position),
            );
        }
        self.value("cms_database_bytes", "Size of the database.", as_float(core.database_bytes));
        self.value("cms_wal_bytes", "Size of its write-ahead log.", as_float(core.wal_bytes));
        self.value(
            "cms_disk_free_bytes",
            "Free space on the disk of the data folder.",
            as_float(core.disk_free_bytes),
        );
        let Renderings { recent, cached, made } = core.renderings;
        let pictures = Opts::new("cms_renderings_total", "Pictures by where they came from.");
        let pictures = known(IntCounterVec::new(pictures, &["source"]));
        for (source, count) in [("memory", recent), ("disk", cached), ("made", made)] {
            pictures.with_label_values(&[source]).inc_by(count);
        }
        self.add(pictures);
    }

    /// What the system knows of this process, under the names that all programs use.
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
        if let Ok(procfs::process::LimitValue::Value(most)) = limit {
            self.value("process_max_fds", "Most open files.", as_float(most));
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn process(&self) {}

    fn value(&self, name: &str, help: &str, value: f64) {
        let gauge = known(Gauge::new(name, help));
        gauge.set(value);
        self.add(gauge);
    }

    fn counter(&self, name: &str, help: &str, value: f64) {
        let counter = known(Counter::new(name, help));
        counter.inc_by(value);
        self.add(counter);
    }

    /// A gauge with one label.
    fn gauge(&self, name: &str, help: &str, values: &[(&str, &str, usize)]) {
        let Some((label, _, _)) = values.first() else { return };
        let gauges = known(IntGaugeVec::new(Opts::new(name, help), &[*label]));
        for (_, value, number) in values {
            gauges.with_label_values(&[*value]).set(i64::try_from(*number).unwrap_or(i64::MAX));
        }
        self.add(gauges);
    }

    fn add(&self, collector: impl Collector + 'static) {
        known(self.0.register(Box::new(collector)));
    }
}

/// Names and labels stand in this file; a test scrapes all of them.
fn known<T>(made: prometheus::Result<T>) -> T {
    made.expect("names of metrics are valid and differ")
}

/// Prometheus knows floating point numbers only.
fn as_float<N: TryInto<i64>>(number: N) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
    let float = number.try_into().unwrap_or(i64::MAX) as f64;
    float
}
