//! Counters of requests, webhook deliveries and backups, for Prometheus.
//!
//! Labels are routes, never paths: their number is bounded for any input. [`super::exposition`]
//! adds the gauges; docs/operations.md lists all metrics.

use std::time::Duration;

use axum::http::StatusCode;
use cms_core::WebhookOutcome;
use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};

use crate::routing::route::Route;

/// Upper bounds of durations, in seconds: a lookup takes a tenth of the first, a search at most the
/// last.
pub(crate) const BUCKETS: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// Route and method of a request without a route.
const UNKNOWN: &str = "unknown";

pub(crate) struct Metrics {
    pub(super) registry: Registry,
    requests: IntCounterVec,
    durations: HistogramVec,
    deliveries: IntCounterVec,
    backups: IntCounterVec,
    forwarded: IntCounterVec,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let registry = Registry::new();
        let counter = |name: &str, help: &str, labels: &[&str]| {
            let counter = expect_valid(IntCounterVec::new(Opts::new(name, help), labels));
            expect_valid(registry.register(Box::new(counter.clone())));
            counter
        };
        let durations = HistogramOpts::new(
            "cms_http_request_duration_seconds",
            "Time from the head of a request to the head of its response.",
        );
        let durations = durations.buckets(BUCKETS.to_vec());
        let metrics = Self {
            requests: counter(
                "cms_http_requests_total",
                "Requests by route and status.",
                &["route", "method", "status"],
            ),
            durations: expect_valid(HistogramVec::new(durations, &["route", "method"])),
            deliveries: counter(
                "cms_webhook_attempts_total",
                "Webhook requests by result.",
                &["result"],
            ),
            backups: counter(
                "cms_backups_total",
                "Backups by kind and result.",
                &["kind", "result"],
            ),
            forwarded: counter(
                "cms_cluster_forwarded_total",
                "Writes that were sent to the writer node, by result.",
                &["result"],
            ),
            registry,
        };
        expect_valid(metrics.registry.register(Box::new(metrics.durations.clone())));
        // These counters exist from the start, with 0. The counter of forwarded writes appears with its first
        // event; a single server never has it.
        for result in ["delivered", "rejected", "no_response"] {
            metrics.deliveries.with_label_values(&[result]);
        }
        for kind in ["scheduled", "downloaded"] {
            for result in ["completed", "failed"] {
                metrics.backups.with_label_values(&[kind, result]);
            }
        }
        metrics
    }

    /// Counts a webhook request.
    pub(crate) fn count_delivery(&self, outcome: &WebhookOutcome) {
        let result = match outcome {
            response if response.is_success() => "delivered",
            WebhookOutcome::Response(..) => "rejected",
            WebhookOutcome::NoResponse(_) => "no_response",
        };
        self.deliveries.with_label_values(&[result]).inc();
    }

    /// Counts a backup that was `scheduled`, or `downloaded` by a client.
    pub(crate) fn count_backup(&self, kind: &str, is_completed: bool) {
        let result = if is_completed { "completed" } else { "failed" };
        self.backups.with_label_values(&[kind, result]).inc();
    }

    /// Counts a write that was forwarded: `responded`, `unreachable` or `unknown`.
    pub(crate) fn count_forwarded(&self, result: &str) {
        self.forwarded.with_label_values(&[result]).inc();
    }

    /// Counts a request.
    pub(crate) fn count_request(
        &self,
        route: Option<&Route>,
        status: StatusCode,
        duration: Duration,
    ) {
        let path = route.map_or(UNKNOWN, |route| route.path);
        let method = route.map_or(UNKNOWN, |route| route.method.as_str());
        self.durations.with_label_values(&[path, method]).observe(duration.as_secs_f64());
        self.requests.with_label_values(&[path, method, status.as_str()]).inc();
    }
}

/// Returns a metric. Never fails: names and labels are constants, and a test scrapes all of them.
pub(crate) fn expect_valid<T>(result: prometheus::Result<T>) -> T {
    result.expect("names of metrics are valid and unique")
}
