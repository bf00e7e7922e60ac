//! What a request may see (contract 1.10): the one place that decides it.

use super::model::{Internal, Status};
use crate::{context::Caller, ctd::catalog::Type, workflow};

/// Which objects of one type a request sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// Only objects with status `public`.
    pub(crate) only_public: bool,
    /// Only objects whose workflow state is `public`.
    pub(crate) only_workflow_public: bool,
}

impl View {
    /// Lists, hydration, and whatever else shows many objects at once.
    pub(crate) fn of_many(caller: &Caller, content_type: &Type) -> Self {
        let visibility = caller.visibility;
        let widened = visibility.preview && !visibility.public_only;
        Self {
            only_public: content_type.definition.draft_public && !widened,
            ..Self::of_one(caller, content_type)
        }
    }

    /// Calls that address one object, or name the objects of a batch.
    pub(crate) fn of_one(caller: &Caller, content_type: &Type) -> Self {
        let definition = &content_type.definition;
        let narrowed = caller.visibility.public_only;
        let has_public_state = workflow::find(&definition.workflow_id)
            .is_some_and(workflow::Workflow::has_public_state);
        Self {
            only_public: definition.draft_public && narrowed,
            only_workflow_public: has_public_state && narrowed,
        }
    }

    pub(crate) fn shows(self, internal: &Internal<'_>) -> bool {
        (!self.only_public || internal.status == Status::Public)
            && (!self.only_workflow_public || internal.workflow_state == "public")
    }
}
