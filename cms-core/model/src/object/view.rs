//! What a request may see (contract 1.10): the one place that decides it.
//!
//! Every read asks for its view here, reads the rows of [`View::edition`], and shows what
//! [`View::shows`]; lists put both into their statement. Every write and every call about an
//! object as a whole finds the object by [`View::admits`].

use std::borrow::Cow;

use super::model::{Edition, Internal, StoredObject};
use crate::{
    auth::scope::Access,
    content_type::{builtin::WEBHOOKS, catalog::CompiledType},
    context::Caller,
    query::path::PropertyPath,
    webhook::mask,
    workflow::model::{PUBLIC, has_public_state},
};

/// Which objects of one type a request sees, and in which version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub edition: Edition,
    /// Only objects whose workflow state is `public`.
    pub only_approved: bool,
    /// Header values of webhooks are masked: they are secrets of others.
    pub masked: bool,
}

impl View {
    /// Lists, hydration, and whatever else shows many objects at once.
    pub fn for_list(caller: &Caller, content_type: &CompiledType) -> Self {
        let edition = edition(content_type.definition.draft_public && !sees_every_status(caller));
        Self { edition, ..Self::for_object(caller, content_type) }
    }

    /// Calls that address one object, or name the objects of a batch.
    pub fn for_object(caller: &Caller, content_type: &CompiledType) -> Self {
        let name = content_type.name();
        let masked = name == WEBHOOKS && !caller.may(Access::UPDATE, name);
        if caller.visibility.public_only {
            Self { masked, ..Self::public(content_type) }
        } else {
            Self { edition: Edition::Current, only_approved: false, masked }
        }
    }

    /// Tells whether a request sees one version of an object and not the others: types without a
    /// public view are not filtered.
    pub fn is_one_version(caller: &Caller, content_type: &CompiledType) -> bool {
        caller.visibility.public_only
            && (content_type.definition.draft_public || has_public_state(&content_type.workflow))
    }

    /// What `x-visibility: public` leaves.
    pub fn public(content_type: &CompiledType) -> Self {
        Self {
            edition: edition(content_type.definition.draft_public),
            only_approved: has_public_state(&content_type.workflow),
            masked: false,
        }
    }

    /// The object as the request may see it.
    pub fn shown(self, stored: StoredObject<'_>) -> StoredObject<'_> {
        if !self.masked {
            return stored;
        }
        StoredObject { data: Cow::Owned(mask::masked(&stored.data)), ..stored }
    }

    /// The path as the request may ask about it: what it must not see is missing.
    pub fn visible(self, path: PropertyPath) -> PropertyPath {
        if self.masked { mask::visible(path) } else { path }
    }

    /// Tells whether an object of the view's edition is shown.
    pub fn shows(self, internal: &Internal<'_>) -> bool {
        !self.only_approved || internal.workflow_state == PUBLIC
    }

    /// Tells whether an object is in the view, from its current version.
    pub fn admits(self, current: &Internal<'_>) -> bool {
        let is_there = match self.edition {
            Edition::Current => true,
            Edition::Published => current.status.is_published(),
        };
        is_there && self.shows(current)
    }
}

/// Who may learn that an object changed: those whose lists show something else from then on. Whether
/// that is so is decided when it changes, so that nothing has to be known later of what may be gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Audience {
    /// Who sees current versions in every status.
    Preview,
    /// Who sees every workflow state.
    Readers,
    Everybody,
}

impl Audience {
    /// Of a change of one object, which changes the public view of its type or leaves it alone.
    pub fn of(content_type: &CompiledType, changes_public_view: bool) -> Self {
        match (content_type.definition.draft_public, has_public_state(&content_type.workflow)) {
            (true, _) if !changes_public_view => Self::Preview,
            (false, true) if !changes_public_view => Self::Readers,
            _ => Self::Everybody,
        }
    }

    /// Of a request: it learns of changes for this audience, and larger ones.
    pub fn with(caller: &Caller) -> Self {
        if sees_every_status(caller) {
            Self::Preview
        } else if caller.visibility.public_only {
            Self::Everybody
        } else {
            Self::Readers
        }
    }

    /// As the journal spells it.
    pub fn number(self) -> i64 {
        self as i64
    }

    pub fn from_number(number: i64) -> Self {
        match number {
            0 => Self::Preview,
            1 => Self::Readers,
            _ => Self::Everybody,
        }
    }
}

/// Tells whether a request sees current versions in every status where it sees many objects.
pub fn sees_every_status(caller: &Caller) -> bool {
    caller.visibility.preview && !caller.visibility.public_only
}

fn edition(is_public: bool) -> Edition {
    if is_public { Edition::Published } else { Edition::Current }
}
