//! Opens the data directory of a node, and copies the shared database to it where it has no usable
//! replica.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

use cms_model::{
    error::{Error, Result, path_error},
    settings::Durability,
};
use cms_system::{folder, lock};
use rusqlite::Connection;
use tracing::{info, warn};

use super::{
    bootstrap,
    compare::{self, Difference},
    database::{History, Position, SharedDatabase},
    metrics::ReplicaMetrics,
    replica::Replica,
};
use crate::{Reader, Schemas, Store, error::map, migrate, pool};

/// The file that a node locks: two processes on one replica would not see each other's position.
const NODE_LOCK: &str = "node.lock";

/// File name of the last replica that could not follow the shared database.
const ABANDONED: &str = "cms.db.abandoned";

/// A data directory that this process alone uses as a node.
struct NodeFolder<'f> {
    folder: &'f Path,
    lock: File,
}

impl Store {
    /// Opens the replica of a node. First copies the shared database if the directory is empty, or if its
    /// replica cannot follow the shared database. That is so if the replica has another history, a later
    /// schema, or a position that the commit log no longer has.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the directory has a standalone database, if another process uses it, or
    /// if the database schema of the cluster is too new or too old for this program; [`Error::Busy`] if
    /// the shared database does not respond.
    pub fn open_replica(
        folder: &Path,
        database: Arc<dyn SharedDatabase>,
        schemas: Schemas,
    ) -> Result<Self> {
        let node = NodeFolder::lock(folder)?;
        let metrics = ReplicaMetrics::new();
        if let Some(reason) = node.reason_to_copy(&*database, &schemas)? {
            node.copy(&*database, &schemas, reason)?;
            metrics.bootstraps.with_label_values(&[reason]).inc();
        }
        let (path, lock) = migrate::open_existing(folder)?;
        let mut writer = pool::connect_writer(&path, Durability::Normal)?;
        let replica = Replica::open(&path, &mut writer, database, schemas, metrics)?;
        Self::from_parts(path, writer, Some(replica), (lock, Some(node.lock)))
    }

    /// Applies the newest commits of other nodes. Does nothing in a standalone database.
    ///
    /// # Errors
    /// [`Error::Busy`] if the shared database does not respond, or the replica cannot follow it.
    pub fn catch_up(&self) -> Result<()> {
        self.group_commit.catch_up()
    }

    /// Returns the replica of a node; none if the database is standalone.
    pub fn replica(&self) -> Option<&Replica> {
        self.group_commit.replica()
    }

    /// Upgrades the cluster to the next schema; returns the new version, none if there is no next one.
    ///
    /// # Errors
    /// [`Error::Busy`] also if another node reads tables that change: nothing was changed.
    pub fn upgrade_cluster(&self) -> Result<Option<i64>> {
        self.group_commit.upgrade()
    }

    /// Creates a cluster in an empty shared database, with all rows of this standalone database, and
    /// compares all rows. After that, no process can write to this database: the cluster would lack the
    /// change. If the cluster exists, an earlier call may have been interrupted: it is completed if all rows
    /// are equal.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the cluster has other content.
    pub fn create_cluster(&self, database: &Arc<dyn SharedDatabase>) -> Result<()> {
        let exists = database.is_created()?;
        if let Some(cluster) = self.read(moved_to)? {
            let is_same = exists && database.snapshot(None)?.head().cluster == cluster;
            return if is_same && self.replica().is_none() { Ok(()) } else { Err(other_content()) };
        }
        let database = Arc::clone(database);
        self.write(move |writer| {
            let schema = Schemas::default().newest();
            if !exists {
                bootstrap::copy_to_shared_database(writer, &*database, schema)?;
            }
            let mut snapshot = database.snapshot(None)?;
            if snapshot.head().schema != schema {
                return Err(other_content());
            }
            let differences = compare::compare_all(writer, &mut *snapshot)?;
            if let Some(first) = differences.first() {
                if exists {
                    return Err(other_content());
                }
                return Err(Error::Damaged(format!(
                    "the copy differs in {} rows, the first in table {}: remove the schema cms of the \
                     database",
                    differences.len(),
                    first.table
                )));
            }
            writer.execute("UPDATE local SET cluster = ?1", [&snapshot.head().cluster])?;
            Ok(())
        })
    }

    /// Returns whether the content of this standalone database has moved to a cluster. If so, the database
    /// rejects writes.
    pub fn has_moved(&self) -> Result<bool> {
        Ok(self.replica().is_none() && self.read_autocommit(moved_to)?.is_some())
    }
}

/// The cluster to which the content of a database has moved, or which a replica copies.
pub(crate) fn moved_to(reader: &Reader<'_>) -> Result<Option<String>> {
    reader.query_value("SELECT cluster FROM local", [])
}

fn other_content() -> Error {
    Error::Conflict(
        "the database has a cluster already, whose content differs from this data directory"
            .to_owned(),
    )
}

/// Copies the shared database, as of one commit, to an empty data directory, which becomes standalone.
/// `add_files` copies everything else, and gets a reader of the copied database. The database gets its
/// final name only after that: the directory of a failed export has no database, and may be exported
/// to again.
///
/// # Errors
/// [`Error::Conflict`] if the directory has a database.
pub fn export<T>(
    folder: &Path,
    database: &dyn SharedDatabase,
    add_files: impl FnOnce(&Reader<'_>) -> Result<T>,
) -> Result<(Position, T)> {
    let node = NodeFolder::lock(folder)?;
    if node.path().exists() {
        return Err(Error::Conflict(format!(
            "the data directory {} has a database: use an empty directory",
            folder.display()
        )));
    }
    let (copy, position) = bootstrap::copy_shared_database(folder, database, &Schemas::default())?;
    let connection = Connection::open(&copy).map_err(map)?;
    bootstrap::leave_cluster(&connection)?;
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").map_err(map)?;
    let added = add_files(&Reader::new(&connection))?;
    drop(connection);
    node.rename_into_place(copy)?;
    Ok((position, added))
}

/// Compares the database of a data directory with the shared database. A replica may be in use:
/// commits during the comparison are reported as differences.
pub fn compare_directory(folder: &Path, database: &dyn SharedDatabase) -> Result<Vec<Difference>> {
    let path = folder.join(migrate::DATABASE);
    if !path.exists() {
        let name = folder.display().to_string();
        return Err(Error::not_found("data directory", name));
    }
    let connection = pool::connect_unlimited(&path)?;
    let reader = Reader::new(&connection);
    reader.statement("BEGIN")?.execute([]).map_err(map)?;
    let mut snapshot = database.snapshot(None)?;
    let (found, shared) = (migrate::stored_schema(&path)?, snapshot.head().schema);
    if found != Some(shared) {
        return Err(Error::Conflict(format!(
            "the data directory {} has the database schema {}, the cluster {shared}: they cannot be \
             compared",
            folder.display(),
            found.unwrap_or_default()
        )));
    }
    compare::compare_all(&reader, &mut *snapshot)
}

impl<'f> NodeFolder<'f> {
    fn lock(folder: &'f Path) -> Result<Self> {
        folder::create(folder).map_err(|error| path_error(folder, &error))?;
        let lock = lock::try_lock(&folder.join(NODE_LOCK))?.ok_or_else(|| {
            Error::Conflict(format!(
                "another node uses the data directory {}: give each node a directory of its own",
                folder.display()
            ))
        })?;
        Ok(Self { folder, lock })
    }

    /// Returns why the shared database has to be copied; none if the replica can follow it. Renames the
    /// database of a replica that cannot follow it to [`ABANDONED`].
    fn reason_to_copy(
        &self,
        database: &dyn SharedDatabase,
        schemas: &Schemas,
    ) -> Result<Option<&'static str>> {
        let path = self.path();
        let Some(position) = replica_position(self.folder)? else { return Ok(Some("empty")) };
        let check = database.check_head(position)?;
        schemas.require_usable(check.schema)?;
        // A replica with an earlier schema is migrated when it applies the commit that changed the schema.
        // One with a later schema was migrated by an upgrade that PostgreSQL never committed: it is copied
        // again.
        let schema = migrate::stored_schema(&path)?;
        let reason = match check.history {
            History::Same if schema.is_some_and(|schema| schema <= check.schema) => {
                return Ok(None);
            }
            History::Same => "schema",
            History::Pruned | History::Other => {
                self.require_same_cluster(&path, database)?;
                if matches!(check.history, History::Pruned) { "pruned" } else { "other_history" }
            }
        };
        warn!(
            replica = position.commit,
            head = check.head.commit,
            reason,
            schema,
            "history mismatch: the replica is copied again"
        );
        // After a restore, this file may be the only copy of writes that PostgreSQL lost: it is kept.
        bootstrap::rename_or_remove(self.folder, ABANDONED, None)?;
        bootstrap::rename_or_remove(self.folder, migrate::DATABASE, Some(ABANDONED))?;
        Ok(Some(reason))
    }

    /// Checks that the shared database is not that of another cluster.
    fn require_same_cluster(&self, path: &Path, database: &dyn SharedDatabase) -> Result<()> {
        let connection = pool::connect_unlimited(path)?;
        let replica = moved_to(&Reader::new(&connection))?;
        let shared = database.snapshot(None)?.head().cluster.clone();
        if replica.is_none_or(|replica| replica == shared) {
            return Ok(());
        }
        Err(Error::Conflict(format!(
            "the data directory {} is the replica of another cluster: name the database of that cluster, or use \
             an empty directory",
            self.folder.display()
        )))
    }

    /// Copies the shared database.
    fn copy(&self, database: &dyn SharedDatabase, schemas: &Schemas, reason: &str) -> Result<()> {
        info!(reason, "bootstrap started");
        let (copy, position) = bootstrap::copy_shared_database(self.folder, database, schemas)?;
        self.rename_into_place(copy)?;
        info!(commit = position.commit, "bootstrap finished");
        Ok(())
    }

    /// Renames a complete database to its final name.
    ///
    /// # Errors
    /// [`Error::Conflict`] if another process created a database meanwhile: copying takes minutes.
    fn rename_into_place(&self, copy: PathBuf) -> Result<()> {
        if self.path().exists() {
            return Err(Error::Conflict(format!(
                "another process created a database in the data directory {}: use an empty directory",
                self.folder.display()
            )));
        }
        // SQLite would replay the write-ahead log of a removed database into the new one.
        bootstrap::rename_or_remove(self.folder, migrate::DATABASE, None)?;
        let failed = |error| path_error(self.folder, &error);
        fs::rename(copy, self.path()).map_err(failed)?;
        folder::sync(self.folder).map_err(failed)
    }

    fn path(&self) -> PathBuf {
        self.folder.join(migrate::DATABASE)
    }
}

/// Returns the position of the replica in a directory; none if it has no database.
///
/// # Errors
/// [`Error::Conflict`] if it has a standalone database.
pub fn replica_position(folder: &Path) -> Result<Option<Position>> {
    let path = folder.join(migrate::DATABASE);
    if !path.exists() {
        return Ok(None);
    }
    let connection = pool::connect_unlimited(&path)?;
    let reader = Reader::new(&connection);
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'local')";
    let position = if reader.query_value(sql, [])? { reader.cluster_position()? } else { None };
    position.map(Some).ok_or_else(|| {
        Error::Conflict(format!(
            "the data directory {} has a database of its own: move it into the cluster with \
             `cms cluster init --from`, or use an empty directory",
            folder.display()
        ))
    })
}
