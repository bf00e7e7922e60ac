//! Decides which objects a request sees, see docs/reference/publishing.md#what-readers-see
//!
//! Every read reads the rows of [`View::edition`] and filters them by [`View::admits_state`]; lists
//! put both into their SQL. Writes and other requests on an object find it by
//! [`View::contains_object`].

use std::borrow::Cow;

use super::model::{Edition, Internal, StoredObject};
use crate::{
    auth::scope::Access,
    content_type::{builtin::WEBHOOKS, catalog::CompiledType},
    context::Caller,
    query::path::PropertyPath,
    webhook::mask,
    workflow::model::{PUBLIC_STATE, has_public_state},
};

/// The objects of one type that a request sees, and their version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    pub edition: Edition,
    /// Only objects whose workflow state is `public`.
    pub only_approved: bool,
    /// Header values of webhooks are masked, because they may be secrets.
    pub masked: bool,
}

impl View {
    /// The view of lists, hydration and other requests that return many objects.
    pub fn for_list(caller: &Caller, content_type: &CompiledType) -> Self {
        let edition = edition(content_type.definition.draft_public && !sees_every_status(caller));
        Self { edition, ..Self::for_object(caller, content_type) }
    }

    /// The view of requests that name an object or the objects of a batch.
    pub fn for_object(caller: &Caller, content_type: &CompiledType) -> Self {
        let name = content_type.name();
        let masked = name == WEBHOOKS && !caller.may(Access::UPDATE, name);
        if caller.visibility.public_only {
            Self { masked, ..Self::public(content_type) }
        } else {
            Self { edition: Edition::Current, only_approved: false, masked }
        }
    }

    /// Returns whether the version history is hidden from a request: the request sees only the version of each object
    /// in the public view of the type.
    pub fn hides_history(caller: &Caller, content_type: &CompiledType) -> bool {
        caller.visibility.public_only
            && (content_type.definition.draft_public || has_public_state(&content_type.workflow))
    }

    /// The public view: `x-visibility: public`.
    pub fn public(content_type: &CompiledType) -> Self {
        Self {
            edition: edition(content_type.definition.draft_public),
            only_approved: has_public_state(&content_type.workflow),
            masked: false,
        }
    }

    /// Masks the values that the request must not see.
    pub fn mask(self, stored: StoredObject<'_>) -> StoredObject<'_> {
        if !self.masked {
            return stored;
        }
        StoredObject { data: Cow::Owned(mask::masked(&stored.data)), ..stored }
    }

    /// Restricts a path so that it never reads masked values, and filters and order cannot reveal them.
    pub fn mask_path(self, path: PropertyPath) -> PropertyPath {
        if self.masked { mask::visible(path) } else { path }
    }

    /// Returns whether the view shows an object of its edition in this workflow state.
    pub fn admits_state(self, internal: &Internal<'_>) -> bool {
        !self.only_approved || internal.workflow_state == PUBLIC_STATE
    }

    /// Returns whether the view contains an object, given its current version.
    pub fn contains_object(self, current: &Internal<'_>) -> bool {
        let is_in_edition = match self.edition {
            Edition::Current => true,
            Edition::Published => current.status.is_published(),
        };
        is_in_edition && self.admits_state(current)
    }
}

/// The callers that see a change in the journal: those whose lists the change can alter. The audience is stored with
/// the change, because the object or its type may be deleted later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Only callers that see current versions in every status (draft, modified, archived).
    Preview,
    /// Callers that see objects in every workflow state, and those of `Preview`.
    AllStates,
    /// All callers.
    Everyone,
}

impl Audience {
    /// The audience of a change of an object.
    pub fn of(content_type: &CompiledType, changes_public_view: bool) -> Self {
        match (content_type.definition.draft_public, has_public_state(&content_type.workflow)) {
            (true, _) if !changes_public_view => Self::Preview,
            (false, true) if !changes_public_view => Self::AllStates,
            _ => Self::Everyone,
        }
    }

    /// Returns whether a caller sees the change.
    pub fn includes(self, caller: &Caller) -> bool {
        match self {
            Self::Preview => sees_every_status(caller),
            Self::AllStates => !caller.visibility.public_only,
            Self::Everyone => true,
        }
    }

    /// The number in the journal.
    pub fn number(self) -> i64 {
        self as i64
    }

    pub fn from_number(number: i64) -> Self {
        match number {
            0 => Self::Preview,
            1 => Self::AllStates,
            _ => Self::Everyone,
        }
    }
}

/// Returns whether lists of a request contain current versions in every status.
pub fn sees_every_status(caller: &Caller) -> bool {
    caller.visibility.preview && !caller.visibility.public_only
}

fn edition(uses_published: bool) -> Edition {
    if uses_published { Edition::Published } else { Edition::Current }
}
