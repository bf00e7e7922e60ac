//! The one row of `meta`: revisions of cached data, and the ids of the data directory. The one row of
//! `local`: the version of derived data, and the position of a replica.

use std::collections::HashMap;

use cms_model::{clock::Timestamp, error::Result};
use rusqlite::{Row, params};

use super::{Reader, TypeState, WriteTransaction, cluster::database::Position};

/// The version of derived data (slots, their indexes and `link`) of this program. If a data directory
/// has an older version, its derived data are rebuilt when it is opened. Increment it when a function
/// that computes derived data changes its results, or when derived data is added to a further table.
/// The table `link`, and the columns `slots`, are copied between the nodes of a cluster: if they
/// change, add a migration.
pub const DERIVED_DATA_VERSION: i64 = 6;

/// Counters that increment with every change of the data they stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revisions {
    /// Content types.
    pub content_types: i64,
    /// Keys, users and ended sessions.
    pub auth: i64,
}

/// The counters of one commit that show whether cached data is current.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeCounters {
    pub revisions: Revisions,
    /// By primary key of the content type.
    pub types: HashMap<i64, TypeState>,
}

impl ChangeCounters {
    /// The sum of the counters of all types.
    pub(crate) fn changes(&self) -> i64 {
        self.types.values().map(|state| state.changes).sum()
    }
}

/// A version of the content of a type: while it stays the same, so do the objects of the type and the
/// way they are rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeVersion {
    /// Revision of the content types.
    content_types: i64,
    changes: i64,
}

/// The ids of organization and space, which some URLs contain.
pub struct SpaceIds {
    pub organization: String,
    pub space: String,
}

const REVISIONS: &str = "SELECT schema_rev, auth_rev FROM meta WHERE id = 1";

fn revisions(row: &Row<'_>) -> rusqlite::Result<Revisions> {
    Ok(Revisions { content_types: row.get(0)?, auth: row.get(1)? })
}

impl Reader<'_> {
    /// Returns none in an uninitialized database.
    pub fn revisions_if_any(&self) -> Result<Option<Revisions>> {
        self.query_optional(REVISIONS, [], revisions)
    }

    pub fn revisions(&self) -> Result<Revisions> {
        if let Some(known) = self.counters {
            return Ok(known.revisions);
        }
        self.query_row(REVISIONS, [], revisions)
    }

    pub fn change_counters(&self) -> Result<ChangeCounters> {
        if let Some(known) = self.counters {
            return Ok(known.clone());
        }
        self.change_counters_of(self.revisions()?)
    }

    /// Returns the version of the content of a type; none if this requires a statement.
    pub fn known_type_version(&self, ctd: i64) -> Option<TypeVersion> {
        let counters = self.counters?;
        let changes = counters.types.get(&ctd)?.changes;
        Some(TypeVersion { content_types: counters.revisions.content_types, changes })
    }

    /// Returns none in an uninitialized database.
    pub(crate) fn change_counters_if_any(&self) -> Result<Option<ChangeCounters>> {
        self.revisions_if_any()?.map(|revisions| self.change_counters_of(revisions)).transpose()
    }

    fn change_counters_of(&self, revisions: Revisions) -> Result<ChangeCounters> {
        Ok(ChangeCounters { revisions, types: self.type_states()? })
    }

    /// Returns the version of derived data in the database.
    pub fn derived_data_version(&self) -> Result<i64> {
        self.query_value("SELECT derived FROM local", [])
    }

    /// Returns the last commit of the cluster in this database; none if it is no replica.
    pub(crate) fn cluster_position(&self) -> Result<Option<Position>> {
        let sql = "SELECT commit_no, nonce FROM local";
        let (commit, nonce): (Option<i64>, _) = self.query_row(sql, [], |row| row.try_into())?;
        Ok(commit.zip(nonce).map(|(commit, nonce)| Position { commit, nonce }))
    }

    pub fn space_ids(&self) -> Result<SpaceIds> {
        self.query_row("SELECT organization, space FROM meta WHERE id = 1", [], |row| {
            Ok(SpaceIds { organization: row.get(0)?, space: row.get(1)? })
        })
    }
}

impl WriteTransaction<'_> {
    pub fn set_up(&self, organization: &str, space: &str, at: Timestamp) -> Result<()> {
        self.execute(
            "INSERT INTO meta (id, organization, space, schema_rev, auth_rev, clock_seen_at,
                               clock_trusted_at)
             VALUES (1, ?1, ?2, 1, 1, ?3, ?3)",
            params![organization, space, at.0],
        )?;
        self.set_derived_data_version()
    }

    /// Stores this program's version of derived data.
    pub fn set_derived_data_version(&self) -> Result<()> {
        self.execute("UPDATE local SET derived = ?1", [DERIVED_DATA_VERSION])
    }

    /// Makes the next start rebuild derived data, unless [`Self::set_derived_data_version`] is called
    /// before.
    pub fn invalidate_derived_data(&self) -> Result<()> {
        self.execute("UPDATE local SET derived = 0", [])
    }

    /// Invalidates the cached content types of every process; returns the new revision.
    pub fn bump_content_types(&self) -> Result<i64> {
        self.query_value("UPDATE meta SET schema_rev = schema_rev + 1 RETURNING schema_rev", [])
    }

    /// Invalidates the cached keys, users and sessions of every process.
    pub fn bump_auth(&self) -> Result<()> {
        self.execute("UPDATE meta SET auth_rev = auth_rev + 1", [])
    }
}
