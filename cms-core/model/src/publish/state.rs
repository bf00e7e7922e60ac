//! Statuses and actions of Draft & Public, see docs/reference/publishing.md#statuses
//!
//! | From \ action | publish | unpublish | archive | edit |
//! |---|---|---|---|---|
//! | draft | public | no change | not allowed | draft |
//! | public | no change | draft | archived | modified |
//! | modified | public | draft | archived | modified |
//! | archived | public | not allowed | no change | archived |
//!
//! Edits are in [`Status::edited`]. A batch action sets its target status regardless of the current status,
//! see docs/reference/publishing.md#batches

use crate::{object::model::Status, wire::publish::PublishAction};

/// The status after an action.
pub fn status_after(action: PublishAction) -> Status {
    match action {
        PublishAction::Publish => Status::Public,
        PublishAction::Unpublish => Status::Draft,
        PublishAction::Archive => Status::Archived,
    }
}

/// Returns whether an action on a single object is allowed.
pub fn is_allowed(status: Status, action: PublishAction) -> bool {
    !matches!(
        (status, action),
        (Status::Draft, PublishAction::Archive) | (Status::Archived, PublishAction::Unpublish)
    )
}

/// Returns whether a publication may be scheduled.
pub fn is_schedulable(status: Status) -> bool {
    matches!(status, Status::Draft | Status::Modified)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_change_as_documented() {
        use PublishAction::{Archive, Publish, Unpublish};
        use Status::{Archived, Draft, Modified, Public};
        // None stands for an action that is not allowed.
        let table = [
            (Draft, [Some(Public), Some(Draft), None], Draft),
            (Public, [Some(Public), Some(Draft), Some(Archived)], Modified),
            (Modified, [Some(Public), Some(Draft), Some(Archived)], Modified),
            (Archived, [Some(Public), None, Some(Archived)], Archived),
        ];
        for (from, targets, edited) in table {
            let reached = [Publish, Unpublish, Archive]
                .map(|action| is_allowed(from, action).then(|| status_after(action)));
            assert_eq!(reached, targets, "{from:?}");
            assert_eq!(from.edited(true), edited, "{from:?}");
            assert_eq!(from.edited(false), from, "{from:?} without Draft & Public");
        }
    }
}
