//! Statuses of Draft & Public and what leads from one to the other (contract 4.2).
//!
//! | From \ action | publish | unpublish | archive | edit |
//! |---|---|---|---|---|
//! | draft | public | no change | not allowed | draft |
//! | public | no change | draft | archived | modified |
//! | modified | public | draft | archived | modified |
//! | archived | public | not allowed | no change | archived |
//!
//! Edits are in [`Status::edited`]. Bulk actions lead to the status of the action from every
//! status (contract 4.5).

use crate::{object::model::Status, wire::publish::PublishAction};

/// The status that an action leads to.
pub fn target(action: PublishAction) -> Status {
    match action {
        PublishAction::Publish => Status::Public,
        PublishAction::Unpublish => Status::Draft,
        PublishAction::Archive => Status::Archived,
    }
}

/// Tells whether an action may be done to a single object.
pub fn is_allowed(status: Status, action: PublishAction) -> bool {
    !matches!(
        (status, action),
        (Status::Draft, PublishAction::Archive) | (Status::Archived, PublishAction::Unpublish)
    )
}

/// Tells whether a publication may be scheduled (contract 13.3).
pub fn is_schedulable(status: Status) -> bool {
    matches!(status, Status::Draft | Status::Modified)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_contract() {
        use PublishAction::{Archive, Publish, Unpublish};
        use Status::{Archived, Draft, Modified, Public};
        // None stands for an action that is refused.
        let table = [
            (Draft, [Some(Public), Some(Draft), None], Draft),
            (Public, [Some(Public), Some(Draft), Some(Archived)], Modified),
            (Modified, [Some(Public), Some(Draft), Some(Archived)], Modified),
            (Archived, [Some(Public), None, Some(Archived)], Archived),
        ];
        for (from, targets, edited) in table {
            let reached = [Publish, Unpublish, Archive]
                .map(|action| is_allowed(from, action).then(|| target(action)));
            assert_eq!(reached, targets, "{from:?}");
            assert_eq!(from.edited(true), edited, "{from:?}");
            assert_eq!(from.edited(false), from, "{from:?} without Draft & Public");
        }
    }
}
