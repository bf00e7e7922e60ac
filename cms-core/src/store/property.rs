//! Changes of all objects of a type at once, when the type changes.

use rusqlite::{Row, params};

use super::{Writer, error::map, index_ddl};
use crate::{ctd::rewrite::Rewritten, error::Result, object::model::Edition};

/// An object as a change of its type meets it.
pub(crate) struct StoredTexts<'r> {
    pub(crate) pk: i64,
    pub(crate) id: &'r str,
    pub(crate) current: StoredText<'r>,
    /// The published version, when that is another one.
    pub(crate) published: Option<StoredText<'r>>,
}

/// One stored version.
#[derive(Clone, Copy)]
pub(crate) struct StoredText<'r> {
    pub(crate) title: &'r str,
    pub(crate) data: &'r str,
}

/// What becomes of an object; none stays as it is.
#[derive(Default)]
pub(crate) struct NewTexts {
    pub(crate) current: Option<Rewritten>,
    pub(crate) published: Option<Rewritten>,
}

/// New texts wait here until a statement stores many of them: every run of a statement that changes
/// `data` opens the property indexes of all types, which takes longer than to write an object.
const WAITING: &str = "
    CREATE TEMP TABLE IF NOT EXISTS new_object (pk INTEGER PRIMARY KEY, title TEXT, data TEXT);
    CREATE TEMP TABLE IF NOT EXISTS new_published (pk INTEGER PRIMARY KEY, title TEXT, data TEXT);";
/// Most texts that wait.
const WAITING_TEXTS: usize = 1000;
/// As many bytes of texts wait at least until they are stored.
const WAITING_BYTES: usize = 4 << 20;

impl Writer<'_> {
    /// Shows every object of a type to `rewrite`, one at a time, and stores what it returns.
    ///
    /// A published version that was edited since stands among the versions too. The walk follows
    /// the dates of creation, which do not change, so it meets every object once.
    pub(crate) fn rewrite_objects(
        &self,
        ctd: i64,
        editions: &[Edition],
        mut rewrite: impl FnMut(StoredTexts<'_>) -> Result<NewTexts>,
    ) -> Result<()> {
        self.0.0.execute_batch(WAITING).map_err(map)?;
        let mut stored = self.statement(if editions.contains(&Edition::Published) {
            "SELECT o.pk, o.id, o.title, o.data, o.version, p.title, p.data, p.version
             FROM object o LEFT JOIN published p ON p.pk = o.pk
             WHERE o.ctd = ?1 ORDER BY o.created_at, o.pk"
        } else {
            "SELECT pk, id, title, data, version, NULL, NULL, NULL
             FROM object WHERE ctd = ?1 ORDER BY created_at, pk"
        })?;
        let mut wait = self.statement("INSERT INTO new_object VALUES (?1, ?2, ?3)")?;
        let mut wait_published = self.statement("INSERT INTO new_published VALUES (?1, ?2, ?3)")?;
        let mut keep = self.statement(
            "UPDATE object_version SET title = ?2, data = ?3 WHERE object = ?1 AND version = ?4",
        )?;
        let (mut texts, mut bytes) = (0, 0);
        let mut rows = stored.query([ctd]).map_err(map)?;
        while let Some(row) = rows.next().map_err(map)? {
            let (object, version) = read(row).map_err(map)?;
            let pk = object.pk;
            let new = rewrite(object)?;
            let published = match version {
                Published::Nothing => None,
                Published::Current => new.current.as_ref(),
                Published::Older(_) => new.published.as_ref(),
            };
            for (wait, text) in
                [(&mut wait, new.current.as_ref()), (&mut wait_published, published)]
            {
                let Some(Rewritten { title, data }) = text else { continue };
                (texts, bytes) = (texts + 1, bytes + data.len());
                wait.execute(params![pk, title, data]).map_err(map)?;
            }
            if let (Some(text), Published::Older(version)) = (&new.published, version) {
                keep.execute(params![pk, text.title, text.data, version]).map_err(map)?;
            }
            if texts >= WAITING_TEXTS || bytes >= WAITING_BYTES {
                self.store_waiting(editions)?;
                (texts, bytes) = (0, 0);
            }
        }
        self.store_waiting(editions)
    }

    /// Stores the texts that wait.
    fn store_waiting(&self, editions: &[Edition]) -> Result<()> {
        for table in editions.iter().map(|edition| edition.table()) {
            self.statement(&format!(
                "UPDATE {table} SET (title, data) =
                     (SELECT title, data FROM new_{table} new WHERE new.pk = {table}.pk)
                 WHERE pk IN (SELECT pk FROM new_{table})"
            ))?
            .execute([])
            .map_err(map)?;
            self.statement(&format!("DELETE FROM new_{table}"))?.execute([]).map_err(map)?;
        }
        Ok(())
    }

    /// Drops the indexes of properties whose values are about to change; they are made again when
    /// the type has its new properties.
    pub(crate) fn drop_property_indexes<'p>(
        &self,
        ctd: i64,
        properties: impl Iterator<Item = &'p str>,
    ) -> Result<()> {
        for property in properties {
            for edition in [Edition::Current, Edition::Published] {
                let name = index_ddl::index_name(edition, ctd, property);
                let drop = format!("DROP INDEX IF EXISTS \"{name}\"");
                self.0.0.execute_batch(&drop).map_err(map)?;
            }
        }
        Ok(())
    }
}

/// Which version of an object is published.
#[derive(PartialEq)]
enum Published {
    Nothing,
    Current,
    Older(i64),
}

fn read<'r>(row: &'r Row<'_>) -> rusqlite::Result<(StoredTexts<'r>, Published)> {
    let text = |column| -> rusqlite::Result<&'r str> { Ok(row.get_ref(column)?.as_str()?) };
    let published = match row.get(7)? {
        None => Published::Nothing,
        Some(version) if version == row.get::<_, i64>(4)? => Published::Current,
        Some(version) => Published::Older(version),
    };
    let older = match published {
        Published::Older(_) => Some(StoredText { title: text(5)?, data: text(6)? }),
        Published::Nothing | Published::Current => None,
    };
    let current = StoredText { title: text(2)?, data: text(3)? };
    Ok((StoredTexts { pk: row.get(0)?, id: text(1)?, current, published: older }, published))
}
