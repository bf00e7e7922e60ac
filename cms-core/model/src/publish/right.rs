//! Changes of an object that readers notice immediately: they need the publishing right, see
//! docs/reference/users.md#publishing-right

use crate::{object::model::Internal, wire::workflow::Workflow, workflow::model::PUBLIC_STATE};

/// How a request changes an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Replaces or patches its properties.
    Edit,
    Delete,
    /// Changes its status or state. The right is checked where the action is known.
    Status,
    /// Runs a transition from or to the state `public`.
    PublicTransition,
}

/// Returns whether readers notice a change of an object immediately.
pub fn is_public_change(change: ChangeKind, draft_public: bool, internal: &Internal<'_>) -> bool {
    match change {
        ChangeKind::Edit => internal.workflow_state == PUBLIC_STATE,
        ChangeKind::Delete => {
            draft_public && internal.status.is_published()
                || internal.workflow_public_version.is_some()
        }
        ChangeKind::Status => false,
        ChangeKind::PublicTransition => true,
    }
}

/// Returns whether the transition of this name leads from or to the state `public`.
pub fn is_public_transition(workflow: &Workflow, name: &str) -> bool {
    let mut transitions = workflow.transitions.iter().filter(|transition| transition.name == name);
    transitions.any(|transition| {
        transition.froms.iter().chain(&transition.tos).any(|state| state == PUBLIC_STATE)
    })
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::object::model::Status;

    #[test]
    fn change_is_public_where_readers_see_the_object() {
        use ChangeKind::{Delete, Edit};
        let internal = |status, state: &'static str, approved| Internal {
            created_at: 0,
            updated_at: 0,
            deleted_at: None,
            version: 3,
            version_at: 0,
            status,
            public_version: None,
            published_at: None,
            workflow_state: Cow::Borrowed(state),
            workflow_public_version: approved,
            workflow_published_at: approved,
            owner: None,
            editor: None,
            title: Cow::Borrowed(""),
            schedule: None,
        };
        for (draft_public, status, state, approved, edited, deleted) in [
            (false, Status::Public, "saved", None, false, false),
            (true, Status::Draft, "saved", None, false, false),
            (true, Status::Public, "saved", None, false, true),
            (true, Status::Modified, "saved", None, false, true),
            (true, Status::Archived, "saved", None, false, false),
            (false, Status::Public, "review", None, false, false),
            (false, Status::Public, "review", Some(2), false, true),
            (false, Status::Public, "public", Some(3), true, true),
        ] {
            let internal = internal(status, state, approved);
            let public =
                [Edit, Delete].map(|change| is_public_change(change, draft_public, &internal));
            assert_eq!(public, [edited, deleted], "{draft_public} {status:?} {state} {approved:?}");
            assert!(!is_public_change(ChangeKind::Status, draft_public, &internal));
        }
    }
}
