//! Rewrites all objects of a type when the type changes.

use cms_model::{
    content_type::{indexed::IndexedProperties, rewrite::RewrittenVersion},
    error::Result,
    object::model::Edition,
};
use rusqlite::{Row, Statement, params};

use super::{Reader, WriteTransaction, error::map, text};

/// The stored versions of an object before a change of its type.
pub struct StoredVersions<'r> {
    pub pk: i64,
    pub id: &'r str,
    pub current: StoredVersion<'r>,
    /// The published version, when it differs from the current one.
    pub published: Option<StoredVersion<'r>>,
}

/// Title and properties of a stored version.
#[derive(Clone, Copy, Debug)]
pub struct StoredVersion<'r> {
    pub title: &'r str,
    pub data: &'r str,
}

/// The rewritten versions of an object; a field is none if that version stays unchanged.
pub struct RewrittenVersions {
    pub current: Option<RewrittenVersion>,
    pub published: Option<RewrittenVersion>,
}

/// Selects the stored versions of every object of a type. The scan follows creation dates, which do
/// not change, so it visits every object once.
fn stored_objects(editions: &[Edition]) -> &'static str {
    if editions.contains(&Edition::Published) {
        "SELECT o.pk, o.id, o.title, o.data, o.version, p.title, p.data, p.version
         FROM object o LEFT JOIN published p ON p.pk = o.pk
         WHERE o.ctd = ?1 ORDER BY o.created_at, o.pk"
    } else {
        "SELECT pk, id, title, data, version, NULL, NULL, NULL
         FROM object WHERE ctd = ?1 ORDER BY created_at, pk"
    }
}

impl Reader<'_> {
    /// Passes every object of a type to `visit`, in the order of
    /// [`WriteTransaction::rewrite_objects`].
    pub fn each_stored_object(
        &self,
        ctd: i64,
        editions: &[Edition],
        mut visit: impl FnMut(StoredVersions<'_>) -> Result<()>,
    ) -> Result<()> {
        self.each_row(stored_objects(editions), [ctd], |row| visit(read(row).map_err(map)?.0))
    }
}

impl WriteTransaction<'_> {
    /// Passes every object of a type to `rewrite`, one at a time, and stores the result.
    ///
    /// If an object was edited after publication, its published version is also in `object_version`.
    /// `slots` is none if no indexed property changes.
    pub fn rewrite_objects(
        &self,
        ctd: i64,
        editions: &[Edition],
        slots: Option<&IndexedProperties>,
        mut rewrite: impl FnMut(StoredVersions<'_>) -> Result<Option<RewrittenVersions>>,
    ) -> Result<()> {
        let (names, count) =
            (slots.map(IndexedProperties::json), slots.map(IndexedProperties::count));
        let fill = match slots {
            Some(_) => ", slots = property_slots(?3, ?4), slot_count = ?5",
            None => "",
        };
        let update =
            |table| format!("UPDATE {table} SET title = ?2, data = ?3{fill} WHERE pk = ?1");
        let mut update_object = self.statement(&update("object"))?;
        let mut update_published = self.statement(&update("published"))?;
        let write = |statement: &mut Statement<'_>, pk: i64, version: &RewrittenVersion| {
            let RewrittenVersion { title, data } = version;
            match (names, count) {
                (Some(names), Some(count)) => {
                    statement.execute(params![pk, title, data, names, count])
                }
                _ => statement.execute(params![pk, title, data]),
            }
            .map_err(map)
        };
        let mut update_version = self.statement(
            "UPDATE object_version SET title = ?2, data = ?3 WHERE object = ?1 AND version = ?4",
        )?;
        self.each_row(stored_objects(editions), [ctd], |row| {
            let (object, published) = read(row).map_err(map)?;
            let pk = object.pk;
            let Some(new) = rewrite(object)? else { return Ok(()) };
            if let Some(current) = &new.current {
                write(&mut update_object, pk, current)?;
                if published == Published::Current {
                    write(&mut update_published, pk, current)?;
                }
            }
            if let (Some(older), Published::Older(version)) = (&new.published, published) {
                write(&mut update_published, pk, older)?;
                update_version
                    .execute(params![pk, older.title, older.data, version])
                    .map_err(map)?;
            }
            Ok(())
        })
    }
}

/// Which version of an object is published.
#[derive(PartialEq)]
enum Published {
    Nothing,
    Current,
    Older(i64),
}

fn read<'r>(row: &'r Row<'_>) -> rusqlite::Result<(StoredVersions<'r>, Published)> {
    let published = match row.get(7)? {
        None => Published::Nothing,
        Some(version) if version == row.get::<_, i64>(4)? => Published::Current,
        Some(version) => Published::Older(version),
    };
    let older = match published {
        Published::Older(_) => Some(StoredVersion { title: text(row, 5)?, data: text(row, 6)? }),
        Published::Nothing | Published::Current => None,
    };
    let current = StoredVersion { title: text(row, 2)?, data: text(row, 3)? };
    Ok((
        StoredVersions { pk: row.get(0)?, id: text(row, 1)?, current, published: older },
        published,
    ))
}
