//! Changes that are delivered together (see docs/reference/webhooks.md#debounce).

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::clock::Timestamp;

/// `action` of a delivery of several changes.
pub const ACTION: &str = "Batch";
/// The queue of these deliveries. No type has this name.
pub const QUEUE: &str = "/batch";
/// Maximum number of references in a delivery.
pub const MAX_REFS: usize = 100;
/// A delivery waits at most this many quiet periods after its first change.
const MAX_QUIET_PERIODS: i64 = 10;

/// Changes of one webhook, in the order of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeBatch {
    pub count: u64,
    /// Positions of the first and the last change in the change feed.
    pub first_change: String,
    pub last_change: String,
    /// References of the first changes, as in a delivery of one change, without duplicates.
    pub refs: Vec<String>,
}

impl ChangeBatch {
    /// A batch of one change.
    pub fn of(position: String, reference: String) -> Self {
        Self {
            count: 1,
            first_change: position.clone(),
            last_change: position,
            refs: vec![reference],
        }
    }

    /// Adds later changes.
    pub fn add(&mut self, later: Self) {
        self.count += later.count;
        self.last_change = later.last_change;
        for reference in later.refs {
            if self.refs.len() < MAX_REFS && !self.refs.contains(&reference) {
                self.refs.push(reference);
            }
        }
    }

    /// The body of the delivery.
    pub fn body(&self, webhook: &str) -> String {
        json!({
            "webhookId": webhook,
            "action": ACTION,
            "count": self.count,
            "firstChange": self.first_change,
            "lastChange": self.last_change,
            "refs": self.refs,
        })
        .to_string()
    }
}

/// Returns the time at which changes are delivered, given the times of the first and the last one.
pub fn due_at(first: Timestamp, last: Timestamp, debounce_seconds: i64) -> Timestamp {
    let after = |at: Timestamp, seconds: i64| Timestamp(at.0.saturating_add(seconds * 1_000_000));
    after(last, debounce_seconds).min(after(first, debounce_seconds * MAX_QUIET_PERIODS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_has_the_first_references_without_duplicates() {
        let mut batch = ChangeBatch::of("1-a".to_owned(), "/0".to_owned());
        for number in 0..150 {
            batch.add(ChangeBatch::of(format!("{number}-b"), format!("/{number}")));
        }
        assert_eq!((batch.count, batch.refs.len()), (151, MAX_REFS));
        assert_eq!((&*batch.first_change, &*batch.last_change), ("1-a", "149-b"));
        assert_eq!((&*batch.refs[0], &*batch.refs[99]), ("/0", "/99"));
    }

    #[test]
    fn batch_is_due_after_one_quiet_period_without_changes_or_ten_in_total() {
        let at = |seconds: i64| Timestamp(seconds * 1_000_000);
        for (last, due) in [(0, 5), (3, 8), (45, 50), (49, 50), (90, 50)] {
            assert_eq!(due_at(at(0), at(last), 5), at(due), "{last}");
        }
    }
}
