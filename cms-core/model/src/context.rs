//! Who asks, and which view of the content they asked for.
//!
//! A [`Caller`] is the first argument of every service call. It knows keys and scopes, but neither
//! headers nor tokens; those are the server's.

use std::sync::Arc;

use crate::{
    auth::scope::Access,
    error::{Error, Result},
    memory::Reservation,
    wire::{
        condition::Conditions,
        key::{KeyKind, Rule},
    },
};

/// The key that acts, as versions remember it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Row of the key; none for the operator working on the folder itself.
    pub pk: Option<i64>,
    pub id: String,
    pub name: String,
    pub kind: KeyKind,
    /// Only scoped keys have rules.
    pub rules: Vec<Rule>,
}

/// The two headers of contract 1.10.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visibility {
    /// `X-MODE: preview`: current versions of every status.
    pub preview: bool,
    /// `x-visibility: public`: only the public view; wins over `preview`.
    pub public_only: bool,
}

/// An authenticated request.
#[derive(Clone, Debug)]
pub struct Caller {
    pub actor: Arc<Actor>,
    pub visibility: Visibility,
    pub conditions: Conditions,
    /// What the response to the request takes of the memory for responses while it is made.
    pub memory: Arc<Reservation>,
    /// Objects that are created or replaced get the dates of the request.
    pub keeps_dates: bool,
}

impl Caller {
    /// The operator who works on the data folder without a server: may do everything.
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
            visibility: Visibility::default(),
            conditions: Conditions::default(),
            memory: Arc::default(),
            keeps_dates: false,
        }
    }

    /// The same key with another view of the content.
    #[must_use]
    pub fn with_visibility(self, visibility: Visibility) -> Self {
        Self { visibility, ..self }
    }

    /// The same request, whose change depends on something.
    #[must_use]
    pub fn with_conditions(self, conditions: Conditions) -> Self {
        Self { conditions, ..self }
    }

    /// The same request, whose response takes memory of a budget.
    #[must_use]
    pub fn with_memory(self, memory: Arc<Reservation>) -> Self {
        Self { memory, ..self }
    }

    /// The same request, whose objects keep the dates that it names. It takes an admin key.
    #[must_use]
    pub fn keeping_dates(self) -> Self {
        Self { keeps_dates: true, ..self }
    }

    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Refuses read-only keys.
    pub fn require_write(&self) -> Result<()> {
        if self.actor.kind == KeyKind::ReadOnly { Err(Error::Forbidden) } else { Ok(()) }
    }

    /// Refuses keys that may not administer content types: read-only and scoped ones.
    pub fn require_type_admin(&self) -> Result<()> {
        match self.actor.kind {
            KeyKind::ReadWrite | KeyKind::Admin => Ok(()),
            KeyKind::ReadOnly | KeyKind::Scoped => Err(Error::Forbidden),
        }
    }

    /// Refuses all but admin keys.
    pub fn require_admin(&self) -> Result<()> {
        if self.actor.kind == KeyKind::Admin { Ok(()) } else { Err(Error::Forbidden) }
    }

    /// Refuses all but admin keys to set dates of objects.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub fn require_right_to_keep_dates(&self) -> Result<()> {
        if self.keeps_dates { self.require_admin() } else { Ok(()) }
    }

    /// Tells whether the rules give all of `needs` on a type; only scoped keys have rules to ask.
    pub fn may(&self, needs: Access, content_type: &str) -> bool {
        match self.actor.kind {
            KeyKind::Admin | KeyKind::ReadWrite => true,
            KeyKind::ReadOnly => !needs.is_write(),
            KeyKind::Scoped => Access::granted(&self.actor.rules, content_type).contains(needs),
        }
    }

    /// Refuses keys whose rules do not give all of `needs` on a type.
    pub fn require(&self, needs: Access, content_type: &str) -> Result<()> {
        if self.may(needs, content_type) { Ok(()) } else { Err(Error::Forbidden) }
    }

    /// Refuses scoped keys that no rule connects with a type.
    pub fn require_type_visible(&self, content_type: &str) -> Result<()> {
        if self.sees_type(content_type) { Ok(()) } else { Err(Error::Forbidden) }
    }

    /// Tells whether any rule of a scoped key names the type; other keys see all types.
    pub fn sees_type(&self, content_type: &str) -> bool {
        self.actor.kind != KeyKind::Scoped
            || self.actor.rules.iter().any(|rule| rule.covers(content_type))
    }
}
