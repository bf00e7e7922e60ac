//! The caller of a service: an authenticated key or user, and the requested view of the content.
//!
//! A [`Caller`] is the first argument of the methods of services, except background tasks and
//! sign-in. It knows roles and rules; the server reads headers and tokens.

use std::{fmt, sync::Arc};

use crate::{
    auth::scope::Access,
    clock::Timestamp,
    content_type::catalog::Catalog,
    error::{Error, Result},
    memory::Reservation,
    wire::{
        author::{Author, AuthorKind},
        condition::WriteGuards,
        key::{KeyKind, Rule},
        user::Role,
    },
};

/// The id of the local caller: a command on the data directory has neither a key nor a user.
pub const LOCAL_ID: &str = "00000000-0000-0000-0000-000000000000";

/// An authenticated key or user, as versions and log entries store it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Primary key of the actor; none for a command on the data directory.
    pub pk: Option<i64>,
    pub id: String,
    pub name: String,
    pub kind: ActorKind,
    /// Only scoped keys and users with role custom have rules.
    pub rules: Vec<Rule>,
    /// The publishing right. Every key has it; publishing also needs the right to write.
    pub may_publish: bool,
}

/// The kind of an actor, which decides its rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActorKind {
    Key(KeyKind),
    User {
        role: Role,
        email: String,
    },
    /// A command on the data directory.
    Local,
}

/// The rights of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rights {
    Admin,
    /// Content and content types, without management.
    Developer,
    /// Content of all types except some system types, see [`Access::editor`].
    Editor,
    ReadOnly,
    /// The rules of the actor.
    Rules,
}

impl Actor {
    pub fn rights(&self) -> Rights {
        match &self.kind {
            ActorKind::Local | ActorKind::Key(KeyKind::Admin) => Rights::Admin,
            ActorKind::Key(KeyKind::ReadWrite) => Rights::Developer,
            ActorKind::Key(KeyKind::ReadOnly) => Rights::ReadOnly,
            ActorKind::Key(KeyKind::Scoped) => Rights::Rules,
            ActorKind::User { role, .. } => match role {
                Role::Admin => Rights::Admin,
                Role::Developer => Rights::Developer,
                Role::Editor | Role::Author => Rights::Editor,
                Role::Viewer => Rights::ReadOnly,
                Role::Custom => Rights::Rules,
            },
        }
    }

    /// The actor as the author of a change.
    pub fn author(&self) -> Author {
        let kind = match self.kind {
            ActorKind::Local => return Author::local(),
            ActorKind::Key(_) => AuthorKind::Key,
            ActorKind::User { .. } => AuthorKind::User,
        };
        Author { kind, id: Some(self.id.clone()), name: self.name.clone() }
    }
}

/// Time and actor of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub at: Timestamp,
    /// Primary key of the actor; none for a command on the data directory.
    pub actor: Option<i64>,
}

/// How a request was authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A key; also stands for a command on the data directory, which needs none.
    Key,
    /// The primary key of a session.
    Session(i64),
    /// A preview token, with the rights of its creator to read.
    PreviewToken,
}

/// The visibility headers, see docs/reference/publishing.md#visibility-headers
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Visibility {
    /// `X-MODE: preview`: current versions of every status.
    pub preview: bool,
    /// `x-visibility: public`: only the public view; wins over `preview`.
    pub public_only: bool,
}

/// The authenticated caller, with the options of its request: what it may see, the conditions of its writes, and how the
/// call is executed.
#[derive(Clone)]
pub struct Caller {
    pub actor: Arc<Actor>,
    pub credential: Credential,
    /// The content types of the snapshot in which the key or session was looked up; none for the
    /// local caller.
    pub catalog: Option<Arc<Catalog>>,
    /// Reads and writes that may be slow end with [`Error::WouldBlock`].
    pub fast_only: bool,
    pub visibility: Visibility,
    pub write_guards: WriteGuards,
    /// Reserves memory for the response from the response memory budget.
    pub memory: Arc<Reservation>,
    /// Created objects, and objects that a batch replaces, keep the dates in `internal` of the request
    /// body (`X-CMS-Keep-Dates`). Requires the rights of an admin.
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
    /// The local caller, which works on the data directory without a server: has all rights.
    pub fn local() -> Self {
        Self::new(Arc::new(Actor {
            pk: None,
            id: LOCAL_ID.to_owned(),
            name: "local".to_owned(),
            kind: ActorKind::Local,
            rules: Vec::new(),
            may_publish: true,
        }))
    }

    /// The caller without what belongs to its request: values that outlive the request must not keep its memory
    /// reserved.
    #[must_use]
    pub fn without_request(&self) -> Self {
        Self { credential: self.credential, ..Self::new(Arc::clone(&self.actor)) }
    }

    pub fn new(actor: Arc<Actor>) -> Self {
        Self {
            actor,
            credential: Credential::Key,
            catalog: None,
            fast_only: false,
            visibility: Visibility::default(),
            write_guards: WriteGuards::default(),
            memory: Arc::default(),
            keeps_dates: false,
        }
    }

    /// The same caller, for work that is certain to take well below a millisecond: reads and writes of
    /// objects that may take longer end with [`Error::WouldBlock`].
    #[must_use]
    pub fn fast_only(self) -> Self {
        Self { fast_only: true, ..self }
    }

    /// Sets the requested view of the content.
    #[must_use]
    pub fn with_visibility(self, visibility: Visibility) -> Self {
        Self { visibility, ..self }
    }

    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// The stamp of a change by this caller.
    pub fn stamp(&self, at: Timestamp) -> Stamp {
        Stamp { at, actor: self.actor.pk }
    }

    pub fn has_session(&self) -> bool {
        matches!(self.credential, Credential::Session(_))
    }

    /// The rights of the actor. They ignore the credential, which may be a preview token: see
    /// [`Self::may`] and [`Self::is_read_only`].
    pub fn rights(&self) -> Rights {
        self.actor.rights()
    }

    /// Returns whether the caller can never write: read-only keys, viewers and preview tokens.
    pub fn is_read_only(&self) -> bool {
        self.credential == Credential::PreviewToken || self.rights() == Rights::ReadOnly
    }

    /// Rejects callers that can never write.
    pub fn require_write(&self) -> Result<()> {
        allow(!self.is_read_only())
    }

    /// If `needs` contains a right to write, rejects callers that can never write
    /// ([`Access::is_write`]).
    pub fn require_write_for(&self, needs: Access) -> Result<()> {
        if needs.is_write() { self.require_write() } else { Ok(()) }
    }

    /// Rejects callers that may not administer content types.
    pub fn require_type_admin(&self) -> Result<()> {
        let may = matches!(self.rights(), Rights::Admin | Rights::Developer);
        allow(may && !self.is_read_only())
    }

    /// Rejects all callers except admins.
    pub fn require_admin(&self) -> Result<()> {
        allow(self.is_admin())
    }

    pub fn is_admin(&self) -> bool {
        self.rights() == Rights::Admin && !self.is_read_only()
    }

    /// Rejects callers without the publishing right.
    pub fn require_publish(&self) -> Result<()> {
        allow(self.may_publish())
    }

    pub fn may_publish(&self) -> bool {
        self.actor.may_publish && !self.is_read_only()
    }

    /// Rejects requests that keep dates, unless the caller is an admin.
    pub fn require_right_to_keep_dates(&self) -> Result<()> {
        if self.keeps_dates { self.require_admin() } else { Ok(()) }
    }

    /// Returns whether the caller has all rights `needs` on a type.
    pub fn may(&self, needs: Access, content_type: &str) -> bool {
        if self.credential == Credential::PreviewToken && needs != Access::READ {
            return false;
        }
        match self.rights() {
            Rights::Admin | Rights::Developer => true,
            Rights::Editor => Access::editor(content_type).contains(needs),
            Rights::ReadOnly => !needs.is_write(),
            Rights::Rules => Access::granted(&self.actor.rules, content_type).contains(needs),
        }
    }

    /// Rejects callers that lack one of the rights `needs` on a type.
    pub fn require(&self, needs: Access, content_type: &str) -> Result<()> {
        allow(self.may(needs, content_type))
    }

    /// Rejects callers that do not see a type.
    pub fn require_type_visible(&self, content_type: &str) -> Result<()> {
        allow(self.sees_type(content_type))
    }

    /// Returns whether the caller may read the definition of a type. With rules, any rule that covers
    /// the type is enough, whatever its rights.
    pub fn sees_type(&self, content_type: &str) -> bool {
        match self.rights() {
            Rights::Admin | Rights::Developer | Rights::ReadOnly => true,
            Rights::Editor => Access::editor(content_type) != Access::NONE,
            Rights::Rules => self.actor.rules.iter().any(|rule| rule.covers(content_type)),
        }
    }
}

fn allow(is_allowed: bool) -> Result<()> {
    if is_allowed { Ok(()) } else { Err(Error::Forbidden) }
}
