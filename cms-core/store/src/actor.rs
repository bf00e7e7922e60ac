//! Rows of actors: keys, users and tasks of the server, to which versions and the journal refer.
//!
//! Keys are read by [`super::key`], users by [`super::user`].

use std::collections::HashMap;

use cms_model::{
    clock::Timestamp,
    error::Result,
    object::model::Edition,
    wire::{
        author::{Author, AuthorKind},
        user::Role,
    },
};
use rusqlite::Row;

use super::{Reader, named, object::table_of};

/// The actor of a change. Rows from before schema 10 do not record it (`Unknown`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActorRef {
    /// Primary key in `actor`.
    Row(i64),
    /// A command on the data directory.
    Local,
    /// Not recorded.
    Unknown,
}

/// The authors of the changes in one response.
#[derive(Debug, Default)]
pub struct Authors(HashMap<i64, Author>);

/// An actor, removed or not.
#[derive(Clone, Debug)]
pub struct ActorRow {
    pub pk: i64,
    pub by: Author,
    pub created_at: Timestamp,
    /// Set only for a user that exists.
    pub user: Option<ActorUser>,
}

/// What responses show of a user.
#[derive(Clone, Debug)]
pub struct ActorUser {
    pub email: String,
    pub role: Role,
    pub disabled: bool,
}

impl ActorRef {
    /// Reads the value of a column such as `updated_by`.
    pub fn from_column(value: Option<i64>) -> Self {
        match value {
            None => Self::Local,
            Some(-1) => Self::Unknown,
            Some(pk) => Self::Row(pk),
        }
    }

    /// The value of the column.
    pub fn to_column(self) -> Option<i64> {
        match self {
            Self::Local => None,
            Self::Unknown => Some(-1),
            Self::Row(pk) => Some(pk),
        }
    }
}

impl From<Option<i64>> for ActorRef {
    /// The actor of a [`cms_model::context::Stamp`].
    fn from(actor: Option<i64>) -> Self {
        actor.map_or(Self::Local, Self::Row)
    }
}

impl Authors {
    /// Returns the author for an actor; unknown if the actor was not read.
    pub fn author_of(&self, actor: ActorRef) -> Author {
        match actor {
            ActorRef::Local => Author::local(),
            ActorRef::Unknown => Author::unknown(),
            ActorRef::Row(pk) => self.0.get(&pk).cloned().unwrap_or_else(Author::unknown),
        }
    }
}

impl ActorRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (uid, name, kind): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let by = match kind.as_str() {
            "system" => Author { kind: AuthorKind::System, id: None, name },
            "user" => Author { kind: AuthorKind::User, id: Some(uid), name },
            _ => Author { kind: AuthorKind::Key, id: Some(uid), name },
        };
        let user = match row.get(5)? {
            Some(email) => {
                let role = named(row, 6, Role::parse)?;
                Some(ActorUser { email, role, disabled: row.get(7)? })
            }
            None => None,
        };
        Ok(Self { pk: row.get(0)?, by, created_at: Timestamp(row.get(4)?), user })
    }
}

impl Reader<'_> {
    /// Returns the actors of these rows with one statement, in no particular order.
    pub fn actors(&self, pks: &[i64]) -> Result<Vec<ActorRow>> {
        if pks.is_empty() {
            return Ok(Vec::new());
        }
        let pks = serde_json::to_string(pks).expect("numbers are valid JSON");
        self.query_rows(
            "SELECT a.pk, a.uid, a.name, a.kind, a.created_at, u.email, u.role, u.disabled
             FROM (SELECT DISTINCT value AS wanted FROM json_each(?1))
             CROSS JOIN actor a ON a.pk = wanted LEFT JOIN user u ON u.actor = a.pk",
            [pks],
            ActorRow::read,
        )
    }

    /// Returns the authors of changes with one statement.
    pub fn authors(&self, actors: impl IntoIterator<Item = ActorRef>) -> Result<Authors> {
        let pks = actors.into_iter().filter_map(|actor| match actor {
            ActorRef::Row(pk) => Some(pk),
            ActorRef::Local | ActorRef::Unknown => None,
        });
        let pks: Vec<i64> = pks.collect();
        Ok(Authors(self.actors(&pks)?.into_iter().map(|row| (row.pk, row.by)).collect()))
    }

    /// Returns the primary key in `actor` of a key or user, removed or not.
    pub fn actor_pk(&self, uid: &str) -> Result<Option<i64>> {
        let sql = "SELECT pk FROM actor WHERE uid = ?1 AND kind <> 'system'";
        self.query_optional(sql, [uid], |row| row.get(0))
    }

    /// Returns, for each of these objects, the actor of the change that set `updated_at`.
    pub fn updated_by(&self, edition: Edition, pks: &[i64]) -> Result<HashMap<i64, Option<i64>>> {
        if pks.is_empty() {
            return Ok(HashMap::new());
        }
        let pks = serde_json::to_string(pks).expect("numbers are valid JSON");
        let table = table_of(edition);
        self.query_rows(
            &format!(
                "SELECT pk, iif(updated_by = -1, editor, updated_by)
             FROM (SELECT value AS wanted FROM json_each(?1)) CROSS JOIN {table} ON pk = wanted"
            ),
            [pks],
            |row| row.try_into(),
        )
    }

    /// Returns the primary key in `actor` of a task of the server: `schedule` or `retention`.
    pub fn system_actor(&self, name: &str) -> Result<i64> {
        self.query_value("SELECT pk FROM actor WHERE kind = 'system' AND name = ?1", [name])
    }
}
