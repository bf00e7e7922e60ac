//! Status and workflow state of an object that returns from the trash, see
//! docs/reference/trash.md#restore

use super::model::{Internal, Status};
use crate::{content_type::catalog::CompiledType, workflow::transition};

/// The state of a restored object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredState {
    pub status: Status,
    pub public_version: Option<i64>,
    pub published_at: Option<i64>,
    pub workflow_state: String,
    /// Version and time of the latest approved version.
    pub approval: Option<(i64, i64)>,
}

impl RestoredState {
    /// If `keeps_state`, returns the status (if the type still has Draft & Public) and the workflow state and approval
    /// (if the workflow still has this state) at the deletion. Otherwise returns those of a new object.
    ///
    /// `had_draft_public`: the type has had Draft & Public since the deletion without interruption.
    pub fn of(
        deleted: &Internal<'_>,
        content_type: &CompiledType,
        had_draft_public: bool,
        keeps_state: bool,
        now: i64,
    ) -> Self {
        let draft_public = content_type.definition.draft_public;
        let (status, public_version, published_at) =
            match (draft_public, had_draft_public, keeps_state) {
                (false, ..) => (Status::Public, None, None),
                (true, _, false) => (Status::Draft, None, None),
                (true, true, true) => {
                    (deleted.status, deleted.public_version, deleted.published_at)
                }
                // Objects become public when Draft & Public is turned on.
                (true, false, true) => {
                    (Status::Public, Some(deleted.version), Some(deleted.updated_at))
                }
            };
        let workflow = &content_type.workflow;
        let is_known = workflow.states.iter().any(|state| *state == deleted.workflow_state);
        let (workflow_state, approval) = if keeps_state && is_known {
            let approval = deleted.workflow_public_version.zip(deleted.workflow_published_at);
            (deleted.workflow_state.clone().into_owned(), approval)
        } else {
            let state = workflow.initial_state.clone();
            let approval = transition::approval(&state, deleted.version, now);
            (state, approval)
        };
        Self { status, public_version, published_at, workflow_state, approval }
    }
}
