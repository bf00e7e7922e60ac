//! The schedule of deliveries: which are sent next, and the effect of an attempt.
//!
//! Deliveries of one object form a queue, of which only the first is sent. A circuit breaker protects an endpoint that
//! is down: it gets single requests, with exponential backoff, until it responds. The service applies these functions
//! to the rows of the database.

use super::synchronous::WebhookOutcome;
use crate::clock::Timestamp;

/// Maximum number of parallel requests of one webhook.
pub const PARALLEL_REQUESTS: usize = 4;
/// Number of failed attempts after which the log shows a delivery as an error.
const ERROR_ATTEMPTS: u32 = 3;
/// An endpoint is down when, for this number of objects, the last attempt was an outage.
const OUTAGES_UNTIL_DOWN: u64 = 2;
const INITIAL_BACKOFF_SECONDS: i64 = 10;
/// The backoff after the second failure; each later one is twice as long as the previous one.
const SECOND_BACKOFF_SECONDS: i64 = 60;
const MAX_DELIVERY_BACKOFF_SECONDS: i64 = 6 * 3600;
const MAX_ENDPOINT_BACKOFF_SECONDS: i64 = 600;
/// Days after which a delivery fails, from the time at which it reached the head of its queue, or its
/// webhook was enabled again.
const EXPIRY_DAYS: i64 = 3;

/// Returns the error of a delivery that expired without an attempt.
pub fn expired() -> String {
    format!("given up after {EXPIRY_DAYS} days")
}

/// A pending delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingDelivery {
    /// Primary key of the delivery: ascending in the order of the journal.
    pub pk: i64,
    /// Name of its queue.
    pub queue: String,
    pub due_at: Timestamp,
}

/// A delivery to send now, or in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Primary key of the webhook.
    pub webhook: i64,
    /// Primary key of the delivery.
    pub delivery: i64,
    pub queue: String,
}

/// Whether the endpoint of a webhook responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointState {
    Up,
    /// Down: the number of failed probes, and the time of the next one.
    Down {
        probes: u32,
        resume_at: Timestamp,
    },
}

/// The class of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptResult {
    Success,
    /// A response, but neither a success nor a server error.
    Rejected,
    /// A failed connection, a timeout, or a server error.
    Outage,
}

/// The state of a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextState {
    Delivered,
    Retry { due_at: Timestamp, state: &'static str },
    Failed,
}

impl AttemptResult {
    pub fn of(outcome: &WebhookOutcome) -> Self {
        match outcome {
            success if success.is_success() => Self::Success,
            WebhookOutcome::Response(500..=599, _) | WebhookOutcome::NoResponse(_) => Self::Outage,
            WebhookOutcome::Response(..) => Self::Rejected,
        }
    }
}

/// Returns the delivery to send next.
///
/// `pending` is in the order of the journal. It contains at least the oldest delivery of the webhook and, while the
/// endpoint is up, the first [`PARALLEL_REQUESTS`] due deliveries at the head of their queues.
pub fn next<'w>(
    endpoint: EndpointState,
    pending: &'w [PendingDelivery],
    in_flight: &[Dispatch],
    now: Timestamp,
) -> Option<&'w PendingDelivery> {
    match endpoint {
        EndpointState::Down { resume_at, .. } => {
            let is_due = is_due(resume_at, now, MAX_ENDPOINT_BACKOFF_SECONDS);
            pending.first().filter(|_| in_flight.is_empty() && is_due)
        }
        EndpointState::Up if in_flight.len() >= PARALLEL_REQUESTS => None,
        EndpointState::Up => {
            let is_first = |(index, one): &(usize, &PendingDelivery)| {
                !pending[..*index].iter().any(|other| other.queue == one.queue)
            };
            let firsts = pending.iter().enumerate().filter(is_first).map(|(_, one)| one);
            firsts
                .filter(|one| is_due(one.due_at, now, MAX_DELIVERY_BACKOFF_SECONDS))
                .filter(|one| !in_flight.iter().any(|sent| sent.queue == one.queue))
                .min_by_key(|one| (one.due_at, one.pk))
        }
    }
}

/// Returns the state of a delivery after `attempts` attempts, the last of them now. The time until it
/// expires started at `expiry_start`.
pub fn after_attempt(
    result: AttemptResult,
    attempts: u32,
    expiry_start: Timestamp,
    now: Timestamp,
) -> NextState {
    if result == AttemptResult::Success {
        NextState::Delivered
    } else if expiry_start <= expired_before(now) {
        NextState::Failed
    } else {
        let state = if attempts >= ERROR_ATTEMPTS { "error" } else { "pending" };
        NextState::Retry {
            due_at: after(now, backoff(attempts, MAX_DELIVERY_BACKOFF_SECONDS)),
            state,
        }
    }
}

impl EndpointState {
    /// Returns the state after an attempt. `outages` counts the objects whose last attempt was an
    /// outage, including this attempt.
    #[must_use]
    pub fn after_attempt(self, result: AttemptResult, outages: u64, now: Timestamp) -> Self {
        let down = |probes| {
            let resume_at = after(now, backoff(probes + 1, MAX_ENDPOINT_BACKOFF_SECONDS));
            Self::Down { probes, resume_at }
        };
        match (result, self) {
            (AttemptResult::Success, _) => Self::Up,
            (AttemptResult::Outage, Self::Up) if outages >= OUTAGES_UNTIL_DOWN => down(0),
            // A request that was in flight when the endpoint went down is not a probe.
            (_, Self::Down { resume_at, .. }) if now < resume_at => self,
            (AttemptResult::Outage, Self::Down { probes, .. }) => down(probes.saturating_add(1)),
            // The endpoint responds: one rejected delivery must not block the others.
            (AttemptResult::Rejected, Self::Down { .. }) => Self::Up,
            (AttemptResult::Outage | AttemptResult::Rejected, Self::Up) => self,
        }
    }
}

/// Returns the latest time at which a delivery can be due; see `is_due`.
pub fn latest_due_at(now: Timestamp) -> Timestamp {
    after(now, MAX_DELIVERY_BACKOFF_SECONDS)
}

/// Returns whether a time is reached, or is farther ahead than the maximum backoff: in the second case the clock was
/// set back, and waiting could take years.
fn is_due(time: Timestamp, now: Timestamp, max_backoff: i64) -> bool {
    time <= now || time > after(now, max_backoff)
}

/// A delivery has expired if its `expiry_start` is the returned time or earlier.
pub fn expired_before(now: Timestamp) -> Timestamp {
    after(now, -EXPIRY_DAYS * 86_400)
}

/// The exponential backoff after a number of failures, in seconds.
fn backoff(failures: u32, max: i64) -> i64 {
    match failures {
        0 | 1 => INITIAL_BACKOFF_SECONDS,
        _ => {
            let doubled = 2_i64.saturating_pow(failures - 2);
            SECOND_BACKOFF_SECONDS.saturating_mul(doubled).min(max)
        }
    }
}

fn after(time: Timestamp, seconds: i64) -> Timestamp {
    Timestamp(time.0.saturating_add(seconds.saturating_mul(1_000_000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000_000_000);

    fn at(seconds: i64) -> Timestamp {
        after(NOW, seconds)
    }

    #[test]
    fn delivery_backoff_doubles_up_to_six_hours() {
        let table = [
            (1, 10, "pending"),
            (2, 60, "pending"),
            (3, 120, "error"),
            (4, 240, "error"),
            (5, 480, "error"),
            (10, 15_360, "error"),
            (11, 21_600, "error"),
            (u32::MAX, 21_600, "error"),
        ];
        for result in [AttemptResult::Rejected, AttemptResult::Outage] {
            for (attempts, seconds, state) in table {
                let next_state = after_attempt(result, attempts, NOW, NOW);
                assert_eq!(
                    next_state,
                    NextState::Retry { due_at: at(seconds), state },
                    "{attempts}"
                );
            }
        }
    }

    #[test]
    fn deliveries_fail_three_days_after_their_expiry_start() {
        let days = |days: i64| days * 86_400;
        let next_state = |result, since| after_attempt(result, 30, at(since), NOW);
        assert!(matches!(next_state(AttemptResult::Outage, 1 - days(3)), NextState::Retry { .. }));
        assert_eq!(next_state(AttemptResult::Outage, -days(3)), NextState::Failed);
        assert_eq!(next_state(AttemptResult::Rejected, -days(30)), NextState::Failed);
        assert_eq!(next_state(AttemptResult::Success, -days(30)), NextState::Delivered);
    }

    #[test]
    fn attempt_results_distinguish_outages_from_rejections() {
        let table = [
            (WebhookOutcome::Response(200, Vec::new()), AttemptResult::Success),
            (WebhookOutcome::Response(299, Vec::new()), AttemptResult::Success),
            (WebhookOutcome::Response(307, Vec::new()), AttemptResult::Rejected),
            (WebhookOutcome::Response(404, Vec::new()), AttemptResult::Rejected),
            (WebhookOutcome::Response(429, Vec::new()), AttemptResult::Rejected),
            (WebhookOutcome::Response(500, Vec::new()), AttemptResult::Outage),
            (WebhookOutcome::Response(599, Vec::new()), AttemptResult::Outage),
            (
                WebhookOutcome::NoResponse("no response within the timeout".to_owned()),
                AttemptResult::Outage,
            ),
        ];
        for (outcome, result) in table {
            assert_eq!(AttemptResult::of(&outcome), result, "{outcome:?}");
        }
    }

    #[test]
    fn next_picks_the_earliest_due_head_of_a_queue_without_a_request_in_flight() {
        let pending = |list: &[(i64, &str, i64)]| -> Vec<PendingDelivery> {
            let one = |(pk, queue, due): &(i64, &str, i64)| PendingDelivery {
                pk: *pk,
                queue: (*queue).to_owned(),
                due_at: at(*due),
            };
            list.iter().map(one).collect()
        };
        let in_flight = |list: &[(i64, &str)]| -> Vec<Dispatch> {
            let one = |(delivery, queue): &(i64, &str)| Dispatch {
                webhook: 1,
                delivery: *delivery,
                queue: (*queue).to_owned(),
            };
            list.iter().map(one).collect()
        };
        let down = |seconds| EndpointState::Down { probes: 0, resume_at: at(seconds) };
        let some = &[(1, "a", 10), (2, "a", -10), (3, "b", -5), (4, "c", -7), (5, "c", -9)][..];
        let four = &[(6, "w"), (7, "x"), (8, "y"), (9, "z")][..];
        let table = [
            (EndpointState::Up, &[][..], &[][..], None),
            // `a` waits for its first delivery, which is not due; `c` was due before `b`.
            (EndpointState::Up, some, &[], Some(4)),
            (EndpointState::Up, some, &[(4, "c")], Some(3)),
            (EndpointState::Up, some, &[(4, "c"), (3, "b")], None),
            // Three requests leave room for one, four for none.
            (EndpointState::Up, some, &four[..3], Some(4)),
            (EndpointState::Up, some, four, None),
            // The clock was set back.
            (EndpointState::Up, &[(1, "a", 21_600), (2, "b", 21_601)], &[], Some(2)),
            (down(601), some, &[], Some(1)),
            (down(600), some, &[], None),
            // The same time: the order of the journal.
            (EndpointState::Up, &[(1, "a", 0), (2, "b", 0)], &[], Some(1)),
            // A probe is the oldest delivery, due or not, and nothing runs beside it.
            (down(0), some, &[], Some(1)),
            (down(1), some, &[], None),
            (down(0), some, &[(4, "c")], None),
            (down(0), &[], &[], None),
        ];
        for (index, (endpoint, list, sent, wanted)) in table.into_iter().enumerate() {
            let (list, sent) = (pending(list), in_flight(sent));
            let picked = next(endpoint, &list, &sent, NOW).map(|one| one.pk);
            assert_eq!(picked, wanted, "row {index}");
        }
    }

    #[test]
    fn endpoint_is_down_after_outages_of_two_objects_until_it_responds() {
        let down = |probes, seconds| EndpointState::Down { probes, resume_at: at(seconds) };
        let table = [
            (EndpointState::Up, AttemptResult::Success, 0, EndpointState::Up),
            (EndpointState::Up, AttemptResult::Outage, 1, EndpointState::Up),
            (EndpointState::Up, AttemptResult::Rejected, 2, EndpointState::Up),
            (EndpointState::Up, AttemptResult::Outage, 2, down(0, 10)),
            (down(0, 0), AttemptResult::Outage, 2, down(1, 60)),
            (down(1, -5), AttemptResult::Outage, 2, down(2, 120)),
            (down(2, 0), AttemptResult::Outage, 2, down(3, 240)),
            (down(3, 0), AttemptResult::Outage, 2, down(4, 480)),
            (down(4, 0), AttemptResult::Outage, 2, down(5, 600)),
            (down(5, 0), AttemptResult::Outage, 2, down(6, 600)),
            // In flight when the endpoint went down.
            (down(3, 1), AttemptResult::Outage, 3, down(3, 1)),
            (down(3, 1), AttemptResult::Rejected, 3, down(3, 1)),
            (down(3, 1), AttemptResult::Success, 3, EndpointState::Up),
            (down(3, 0), AttemptResult::Success, 3, EndpointState::Up),
            (down(3, 0), AttemptResult::Rejected, 2, EndpointState::Up),
        ];
        for (endpoint, result, outages, wanted) in table {
            let changed = endpoint.after_attempt(result, outages, NOW);
            assert_eq!(changed, wanted, "{endpoint:?} {result:?} {outages}");
        }
    }
}
