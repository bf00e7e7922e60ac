//! How current the reads of a node must be, and the wait until its replica is that current.
//!
//! A node reads its replica. Before a request is handled, the replica is brought to a state that the
//! request accepts; a server without a cluster never waits.

use std::{
    str::FromStr,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use cms_core::{Cluster, Cms, Error, Position, Result};
use parking_lot::{Condvar, Mutex};
use prometheus::{Histogram, HistogramOpts};
use tokio::{sync::oneshot, time};

use crate::{
    blocking,
    state::App,
    telemetry::metrics::{BUCKETS, expect_valid},
};

/// How current the reads of this request must be. A weaker value than the setting of the server, or than the
/// route needs, has no effect.
const HEADER: HeaderName = HeaderName::from_static("x-read-consistency");
/// The position of the node after a write; a request that sends it back reads that write.
pub(crate) const POSITION: HeaderName = HeaderName::from_static("x-cms-position");

/// How long a request waits for the replica.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// How much longer it waits while the replica applies a commit: one that changes 100,000 objects takes
/// seconds.
const MAX_WAIT_FOR_APPLY: Duration = Duration::from_secs(15);
/// Longest time between two head checks.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The shortest accepted bound. It has to leave time for a head check.
const MIN_BOUND: Duration = Duration::from_millis(100);

/// How current a read has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    /// The read sees every write that was acknowledged before the request arrived, on any node.
    Strict,
    /// The read sees every write that was acknowledged longer ago than this.
    Within(Duration),
}

impl FromStr for Consistency {
    type Err = String;

    /// Parses `strict` or a bound such as `within=2s` and `within=500ms`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "strict" {
            return Ok(Self::Strict);
        }
        let bound = text.strip_prefix("within=").and_then(|bound| {
            let (number, unit) = bound.split_at(bound.find(|c: char| !c.is_ascii_digit())?);
            let number: u64 = number.parse().ok()?;
            match unit {
                "ms" => Some(Duration::from_millis(number)),
                "s" => Some(Duration::from_secs(number)),
                _ => None,
            }
        });
        match bound {
            Some(bound) if bound >= MIN_BOUND => Ok(Self::Within(bound)),
            Some(_) => Err("use a bound of 100ms or more".to_owned()),
            None => Err("use strict or a bound such as within=2s".to_owned()),
        }
    }
}

impl Consistency {
    /// The age that a read may have.
    pub fn bound(self) -> Duration {
        match self {
            Self::Strict => Duration::ZERO,
            Self::Within(bound) => bound,
        }
    }

    /// The stronger of two.
    fn stronger(self, other: Self) -> Self {
        if self.bound() < other.bound() { self } else { other }
    }
}

/// Keeps the replica of a node current: compares it with the head of the cluster and applies the commits that it lacks,
/// once for all requests that wait when this begins.
pub(crate) struct ReplicaSync {
    state: Mutex<State>,
    work: Condvar,
    /// How long requests waited, in seconds.
    pub(crate) waits: Histogram,
}

#[derive(Default)]
struct State {
    waiting: Vec<WaitingRequest>,
    /// Since when head checks fail, and why the last one failed.
    failing: Option<(Instant, String)>,
    is_stopped: bool,
}

impl State {
    /// Why requests no longer wait: head checks have failed for [`MAX_WAIT`].
    fn failure(&self) -> Option<&String> {
        let failing = self.failing.as_ref().filter(|(since, _)| since.elapsed() >= MAX_WAIT);
        failing.map(|(_, reason)| reason)
    }
}

/// A request that waits.
type WaitingRequest = oneshot::Sender<std::result::Result<(), String>>;

fn respond(waiting: Vec<WaitingRequest>, result: &std::result::Result<(), String>) {
    for request in waiting {
        // A request whose client is gone does not listen.
        request.send(result.clone()).ok();
    }
}

impl ReplicaSync {
    /// Starts the thread of a node of a cluster, which runs until [`Self::stop`].
    pub(crate) fn start(cms: &Arc<Cms>) -> Arc<Self> {
        let waits = HistogramOpts::new(
            "cms_cluster_strict_wait_seconds",
            "Time that requests waited until the replica was current.",
        );
        let sync = Arc::new(Self {
            state: Mutex::default(),
            work: Condvar::new(),
            waits: expect_valid(Histogram::with_opts(waits.buckets(BUCKETS.to_vec()))),
        });
        if cms.cluster().is_some() {
            let (running, cms) = (Arc::clone(&sync), Arc::clone(cms));
            let run = move || running.run(&cms);
            if let Err(error) = thread::Builder::new().name("cluster".to_owned()).spawn(run) {
                // Every request that needs content fails.
                tracing::error!(%error, "head checks not started: cannot start a thread");
            }
        }
        sync
    }

    /// Waits until the replica of a node is as current as a request needs it: a node never serves older data
    /// than a request accepts.
    ///
    /// # Errors
    /// [`Error::Busy`] if the replica is not current after [`MAX_WAIT`]. If it applies a commit then, it has
    /// [`MAX_WAIT_FOR_APPLY`] more. If the shared database has already failed for [`MAX_WAIT`], the error is
    /// immediate.
    pub(crate) async fn wait(
        &self,
        cms: &Cms,
        (needed, accepts_position): (Consistency, bool),
        headers: &HeaderMap,
    ) -> Result<()> {
        let Some(cluster) = cms.cluster() else { return Ok(()) };
        let requested =
            match headers.get(HEADER).map(|value| String::from_utf8_lossy(value.as_bytes())) {
                Some(text) => Some(text.parse().map_err(|reason| {
                    Error::BadRequest(format!("{HEADER} \"{text}\" is not valid: {reason}"))
                })?),
                None => None,
            };
        let age = cluster.staleness().filter(|_| !cluster.replica().is_abandoned());
        let position = headers.get(POSITION).filter(|_| accepts_position && requested.is_none());
        let is_current = match (age, position) {
            // Read-your-writes: a request that sends the position of its write needs no head check if the
            // replica is exactly at this position, and the last head check began less than `MAX_WAIT` ago.
            // After that time, a node that has lost the shared database no longer serves such reads.
            (Some(age), Some(position)) => {
                age < MAX_WAIT && format_position(cluster.replica().position()) == *position
            }
            (Some(age), None) => {
                match requested.map_or(needed, |requested| needed.stronger(requested)) {
                    Consistency::Within(bound) => age < bound,
                    Consistency::Strict => false,
                }
            }
            (None, _) => false,
        };
        if is_current { Ok(()) } else { self.wait_for_next(cluster).await }
    }

    /// Waits until the replica has the commit that was the head at a head check after the call.
    async fn wait_for_next(&self, cluster: Cluster<'_>) -> Result<()> {
        let _timer = self.waits.start_timer();
        let (sender, mut done) = oneshot::channel();
        {
            let mut state = self.state.lock();
            // The running check may still wait for the shared database.
            if let Some(reason) = state.failure() {
                return Err(Error::Busy(reason.clone()));
            }
            state.waiting.push(sender);
        }
        self.work.notify_one();
        let mut checked = time::timeout(MAX_WAIT, &mut done).await;
        if checked.is_err() && cluster.replica().is_applying() {
            checked = time::timeout(MAX_WAIT_FOR_APPLY, done).await;
        }
        match checked {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(reason))) => Err(Error::Busy(reason)),
            Ok(Err(_)) => Err(Error::Busy("the server stops".to_owned())),
            Err(_) => Err(Error::Busy("the replica of this node is behind".to_owned())),
        }
    }

    /// Updates the replica for waiting requests, and at least every 100 ms, until [`Self::stop`].
    fn run(&self, cms: &Cms) {
        let Some(cluster) = cms.cluster() else { return };
        loop {
            let mut state = self.state.lock();
            if state.waiting.is_empty() && !state.is_stopped {
                self.work.wait_for(&mut state, POLL_INTERVAL);
            }
            if state.is_stopped {
                state.waiting.clear();
                return;
            }
            let waiting = std::mem::take(&mut state.waiting);
            drop(state);
            let checked = cluster.catch_up();
            let mut state = self.state.lock();
            let Err(error) = checked else {
                if state.failing.take().is_some() {
                    tracing::info!("replica current");
                }
                drop(state);
                respond(waiting, &Ok(()));
                continue;
            };
            let reason = error.to_string();
            let (_, last_reason) = state.failing.get_or_insert_with(|| {
                tracing::warn!(reason, "replica behind");
                (Instant::now(), String::new())
            });
            last_reason.clone_from(&reason);
            // The shared database may be restarting, so requests wait. Once it has failed for `MAX_WAIT`,
            // they fail immediately.
            let is_temporary = matches!(error, Error::Busy(_)) && !cluster.replica().is_abandoned();
            let refused = if is_temporary && state.failure().is_none() {
                let is_open = |request: &WaitingRequest| !request.is_closed();
                state.waiting.extend(waiting.into_iter().filter(is_open));
                Vec::new()
            } else {
                waiting
            };
            drop(state);
            respond(refused, &Err(reason));
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Ends [`Self::run`]; requests that wait fail.
    pub(crate) fn stop(&self) {
        self.state.lock().is_stopped = true;
        self.work.notify_one();
    }
}

/// The position after a write, for the client to send back.
pub(crate) fn position_header(cms: &Cms) -> Option<HeaderValue> {
    let position = cms.cluster()?.replica().last_known_commit();
    HeaderValue::try_from(format_position(position)).ok()
}

fn format_position(Position { commit, nonce }: Position) -> String {
    format!("{commit}-{nonce:016x}")
}

/// Waits until no node accepts a key or session that has just been revoked, at most as long as
/// docs/reference/cluster.md#what-is-guaranteed says.
pub(crate) async fn wait_for_nodes(app: &Arc<App>) {
    if app.cms.cluster().is_some() {
        let wait = |app: &App| app.cms.cluster().map(|cluster| cluster.wait_for_nodes());
        // The access is revoked even if the wait fails.
        blocking::run_without_permit(app, wait).await.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consistency_is_parsed() {
        let within = |millis| Ok(Consistency::Within(Duration::from_millis(millis)));
        for (text, parsed) in [
            ("strict", Ok(Consistency::Strict)),
            ("within=2s", within(2000)),
            ("within=100ms", within(100)),
            ("within=99ms", Err("use a bound of 100ms or more".to_owned())),
        ] {
            assert_eq!(text.parse(), parsed, "{text}");
        }
        for text in ["", "Strict", "within=", "within=2", "within=2m", "within=-1s", "2s"] {
            assert!(text.parse::<Consistency>().is_err(), "{text}");
        }
    }
}
