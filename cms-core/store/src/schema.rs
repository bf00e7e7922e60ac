//! The versions of the database schema.
//!
//! Each version has a file in `migrations/`, whose statements change a database of the previous
//! version. From version 14 on, a running cluster is upgraded one version at a time: see
//! [`SharedMigration`], and "Write code" in CONTRIBUTING.md.

use cms_model::error::{Error, Result};
use refinery::{Migration, Runner, Target};
use rusqlite::Connection;

use super::{error::map, functions};

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// The first version that the shared database of a cluster can have.
const FIRST_SHARED_VERSION: i64 = 13;

/// The migration of the shared database to a version, in addition to the statements for `SQLite`.
#[derive(Clone, Copy, Debug)]
pub struct SharedMigration {
    pub version: i64,
    /// Statements of `PostgreSQL`. They only add tables and columns: other nodes use the former
    /// schema until they know of the commit.
    pub statements: &'static str,
    /// Tables of which the statements for `SQLite` change rows: all their rows are sent.
    pub changed_tables: &'static [&'static str],
}

/// The versions from 14 on, in order.
const SHARED: &[SharedMigration] = &[];

/// The schema versions of a program.
#[derive(Clone, Debug)]
pub struct Schemas {
    migrations: Vec<Migration>,
    shared: Vec<SharedMigration>,
}

impl Default for Schemas {
    /// The versions of this program.
    fn default() -> Self {
        let migrations = embedded::migrations::runner().get_migrations().clone();
        Self { migrations, shared: SHARED.to_vec() }
    }
}

impl Schemas {
    /// Adds a version, as a later program would.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn with_next(mut self, statements: &str, shared: SharedMigration) -> Self {
        let name = format!("V{}__next", shared.version);
        self.migrations.push(Migration::unapplied(&name, statements).expect("the name is valid"));
        self.shared.push(shared);
        self
    }

    /// The newest version.
    pub fn newest(&self) -> i64 {
        let versions = self.migrations.iter().map(|one| i64::from(one.version()));
        versions.max().unwrap_or_default()
    }

    /// The migration of the shared database to a version.
    pub(super) fn shared(&self, version: i64) -> Option<SharedMigration> {
        self.shared.iter().find(|step| step.version == version).copied()
    }

    /// Rejects a cluster whose version this program does not support. The program supports its newest
    /// version and the previous one, because nodes are replaced one after the other.
    pub(super) fn require_usable(&self, found: i64) -> Result<()> {
        let newest = self.newest();
        let oldest = FIRST_SHARED_VERSION.max(newest - 1);
        if found > newest {
            return Err(Error::Conflict(format!(
                "the cluster uses the database schema {found}, this program knows {newest}: use the \
                 newer version of cms that the other nodes have"
            )));
        }
        if found < oldest {
            return Err(Error::Conflict(format!(
                "the cluster uses the database schema {found}, this program works with {oldest} and \
                 {newest}: first replace all nodes by a version of cms in between"
            )));
        }
        Ok(())
    }

    /// Migrates a database to a version; to the newest one if none is given.
    pub(super) fn migrate(&self, connection: &mut Connection, to: Option<i64>) -> Result<()> {
        connection
            // A migration that rebuilds a table drops the old one, which would cascade to all rows that
            // reference it.
            .execute_batch(
                "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF;",
            )
            .map_err(map)?;
        // Indexes that a migration changes call these functions.
        functions::register(connection).map_err(map)?;
        let target = match to {
            Some(version) => Target::Version(version.try_into().map_err(Error::from_storage)?),
            None => Target::Latest,
        };
        // In one transaction: by default, a migration and its record are committed one after the
        // other. A process killed in between would leave a directory that cannot be opened again.
        let runner = Runner::new(&self.migrations).set_grouped(true).set_target(target);
        runner.run(connection).map_err(Error::from_storage)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cluster cannot be upgraded to a version without its shared migration.
    #[test]
    fn every_version_of_a_cluster_has_its_shared_migration() {
        let schemas = Schemas::default();
        for version in FIRST_SHARED_VERSION + 1..=schemas.newest() {
            assert!(schemas.shared(version).is_some(), "{version}");
        }
    }

    #[test]
    fn program_works_with_its_schema_and_the_one_before() {
        let mut schemas = Schemas::default();
        let first = schemas.newest();
        for version in first + 1..=first + 2 {
            let step = SharedMigration { version, statements: "", changed_tables: &[] };
            schemas = schemas.with_next("", step);
        }
        let usable = |version| schemas.require_usable(version).is_ok();
        assert_eq!(
            [first, first + 1, first + 2, first + 3].map(usable),
            [false, true, true, false]
        );
        assert!(Schemas::default().require_usable(FIRST_SHARED_VERSION).is_ok());
    }
}
