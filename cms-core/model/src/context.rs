//! The caller of a service: an authenticated key, and the requested view of the content.
//!
//! A [`Caller`] is the first argument of every method of a service. It knows keys and rules, but
//! neither headers nor tokens; the server reads those.

use std::{fmt, sync::Arc};

use crate::{
    auth::scope::Access,
    content_type::catalog::Catalog,
    error::{Error, Result},
    memory::Reservation,
    wire::{
        condition::Conditions,
        key::{KeyKind, Rule},
    },
};

/// The authenticated key, as versions and log entries store it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Row of the key; none for an operator without a server.
    pub pk: Option<i64>,
    pub id: String,
    pub name: String,
    pub kind: KeyKind,
    /// Only scoped keys have rules.
    pub rules: Vec<Rule>,
}

/// The visibility headers, see docs/reference/publishing.md#visibility-headers
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visibility {
    /// `X-MODE: preview`: current versions of every status.
    pub preview: bool,
    /// `x-visibility: public`: only the public view; wins over `preview`.
    pub public_only: bool,
}

/// An authenticated request.
#[derive(Clone)]
pub struct Caller {
    pub actor: Arc<Actor>,
    /// The content types of the snapshot in which the key was read; none for the operator.
    pub catalog: Option<Arc<Catalog>>,
    /// Reads that may take longer end with [`Error::NotFast`].
    pub fast_only: bool,
    pub visibility: Visibility,
    pub conditions: Conditions,
    /// Reserves memory for the response from the response memory budget.
    pub memory: Arc<Reservation>,
    /// Created and replaced objects get the dates of the request (`X-CMS-Keep-Dates`).
    pub keeps_dates: bool,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("actor", &self.actor)
            .field("visibility", &self.visibility)
            .finish_non_exhaustive()
    }
}

impl Caller {
    /// An operator who works on the data directory without a server: has all rights.
    pub fn local() -> Self {
        Self::new(Arc::new(Actor {
            pk: None,
            id: "00000000-0000-0000-0000-000000000000".to_owned(),
            name: "local".to_owned(),
            kind: KeyKind::Admin,
            rules: Vec::new(),
        }))
    }

    pub fn new(actor: Arc<Actor>) -> Self {
        Self {
            actor,
            catalog: None,
            fast_only: false,
            visibility: Visibility::default(),
            conditions: Conditions::default(),
            memory: Arc::default(),
            keeps_dates: false,
        }
    }

    /// The same key with the content types of the snapshot in which it was read.
    #[must_use]
    pub fn with_catalog(self, catalog: Arc<Catalog>) -> Self {
        Self { catalog: Some(catalog), ..self }
    }

    /// The same request, where lists and single objects are read only if that is certain to take
    /// well below a millisecond. Otherwise the read ends with [`Error::NotFast`].
    #[must_use]
    pub fn fast_only(self) -> Self {
        Self { fast_only: true, ..self }
    }

    /// Sets the requested view of the content.
    #[must_use]
    pub fn with_visibility(self, visibility: Visibility) -> Self {
        Self { visibility, ..self }
    }

    /// Sets the preconditions of the change.
    #[must_use]
    pub fn with_conditions(self, conditions: Conditions) -> Self {
        Self { conditions, ..self }
    }

    /// Sets the memory reservation of the response.
    #[must_use]
    pub fn with_memory(self, memory: Arc<Reservation>) -> Self {
        Self { memory, ..self }
    }

    /// Keeps the dates of the request. Requires an admin key.
    #[must_use]
    pub fn keeping_dates(self) -> Self {
        Self { keeps_dates: true, ..self }
    }

    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Rejects read-only keys.
    pub fn require_write(&self) -> Result<()> {
        if self.actor.kind == KeyKind::ReadOnly { Err(Error::Forbidden) } else { Ok(()) }
    }

    /// Rejects keys that may not administer content types: read-only and scoped ones.
    pub fn require_type_admin(&self) -> Result<()> {
        match self.actor.kind {
            KeyKind::ReadWrite | KeyKind::Admin => Ok(()),
            KeyKind::ReadOnly | KeyKind::Scoped => Err(Error::Forbidden),
        }
    }

    /// Rejects all keys but admin keys.
    pub fn require_admin(&self) -> Result<()> {
        if self.actor.kind == KeyKind::Admin { Ok(()) } else { Err(Error::Forbidden) }
    }

    /// Rejects requests that keep dates, unless the key is an admin key.
    pub fn require_right_to_keep_dates(&self) -> Result<()> {
        if self.keeps_dates { self.require_admin() } else { Ok(()) }
    }

    /// Tells whether the key has all rights `needs` on a type.
    pub fn may(&self, needs: Access, content_type: &str) -> bool {
        match self.actor.kind {
            KeyKind::Admin | KeyKind::ReadWrite => true,
            KeyKind::ReadOnly => !needs.is_write(),
            KeyKind::Scoped => Access::granted(&self.actor.rules, content_type).contains(needs),
        }
    }

    /// Rejects keys that lack one of the rights `needs` on a type.
    pub fn require(&self, needs: Access, content_type: &str) -> Result<()> {
        if self.may(needs, content_type) { Ok(()) } else { Err(Error::Forbidden) }
    }

    /// Rejects scoped keys that have no rule for a type.
    pub fn require_type_visible(&self, content_type: &str) -> Result<()> {
        if self.sees_type(content_type) { Ok(()) } else { Err(Error::Forbidden) }
    }

    /// Tells whether a scoped key has a rule for the type; other keys see all types.
    pub fn sees_type(&self, content_type: &str) -> bool {
        self.actor.kind != KeyKind::Scoped
            || self.actor.rules.iter().any(|rule| rule.covers(content_type))
    }
}
