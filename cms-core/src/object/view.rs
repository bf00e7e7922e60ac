//! What a request may see (contract 1.10): the one place that decides it.
//!
//! Every read asks for its view here, reads the rows of [`View::edition`], and shows what
//! [`View::shows`]; lists put both into their statement. Every write and every call about an
//! object as a whole finds the object by [`View::admits`].

use super::model::{Edition, Internal};
use crate::{
    context::Caller,
    ctd::catalog::Type,
    workflow::model::{PUBLIC, has_public_state},
};

/// Which objects of one type a request sees, and in which version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) edition: Edition,
    /// Only objects whose workflow state is `public`.
    pub(crate) only_approved: bool,
}

impl View {
    /// Lists, hydration, and whatever else shows many objects at once.
    pub(crate) fn of_many(caller: &Caller, content_type: &Type) -> Self {
        let edition = edition(content_type.definition.draft_public && !sees_all(caller));
        Self { edition, ..Self::of_one(caller, content_type) }
    }

    /// Calls that address one object, or name the objects of a batch.
    pub(crate) fn of_one(caller: &Caller, content_type: &Type) -> Self {
        let is_narrowed = caller.visibility.public_only;
        Self {
            edition: edition(content_type.definition.draft_public && is_narrowed),
            only_approved: is_narrowed && has_public_state(&content_type.workflow),
        }
    }

    /// Tells whether an object of the view's edition is shown.
    pub(crate) fn shows(self, internal: &Internal<'_>) -> bool {
        !self.only_approved || internal.workflow_state == PUBLIC
    }

    /// Tells whether an object is in the view, from its current version.
    pub(crate) fn admits(self, current: &Internal<'_>) -> bool {
        let is_there = match self.edition {
            Edition::Current => true,
            Edition::Published => current.status.is_published(),
        };
        is_there && self.shows(current)
    }
}

/// Tells whether a request sees current versions in every status where it sees many objects.
pub(crate) fn sees_all(caller: &Caller) -> bool {
    caller.visibility.preview && !caller.visibility.public_only
}

fn edition(is_public: bool) -> Edition {
    if is_public { Edition::Published } else { Edition::Current }
}
