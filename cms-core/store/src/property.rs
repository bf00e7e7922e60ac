//! Rewrites all objects of a type when the type changes.

use cms_model::{
    content_type::{indexed::IndexedProperties, rewrite::Rewritten},
    error::Result,
    object::model::Edition,
};
use rusqlite::{Row, Statement, params};

use super::{WriteTransaction, error::map};

/// An object before a change of its type.
pub struct StoredTexts<'r> {
    pub pk: i64,
    pub id: &'r str,
    pub current: StoredText<'r>,
    /// The published version, when it differs from the current one.
    pub published: Option<StoredText<'r>>,
}

/// A stored version.
#[derive(Clone, Copy)]
pub struct StoredText<'r> {
    pub title: &'r str,
    pub data: &'r str,
}

/// The rewritten texts of an object; none when it stays unchanged.
#[derive(Default)]
pub struct NewTexts {
    pub current: Option<Rewritten>,
    pub published: Option<Rewritten>,
}

impl WriteTransaction<'_> {
    /// Passes every object of a type to `rewrite`, one at a time, and stores the result.
    ///
    /// A published version that was edited since is also in the version table. The scan follows
    /// creation dates, which do not change, so it visits every object once. Without `slots`, no
    /// rewritten column is indexed.
    pub fn rewrite_objects(
        &self,
        ctd: i64,
        editions: &[Edition],
        slots: Option<&IndexedProperties>,
        mut rewrite: impl FnMut(StoredTexts<'_>) -> Result<NewTexts>,
    ) -> Result<()> {
        let mut stored = self.statement(if editions.contains(&Edition::Published) {
            "SELECT o.pk, o.id, o.title, o.data, o.version, p.title, p.data, p.version
             FROM object o LEFT JOIN published p ON p.pk = o.pk
             WHERE o.ctd = ?1 ORDER BY o.created_at, o.pk"
        } else {
            "SELECT pk, id, title, data, version, NULL, NULL, NULL
             FROM object WHERE ctd = ?1 ORDER BY created_at, pk"
        })?;
        let (names, count) =
            (slots.map(IndexedProperties::json), slots.map(IndexedProperties::count));
        let fill = match slots {
            Some(_) => ", slots = property_slots(?3, ?4), slot_count = ?5",
            None => "",
        };
        let update =
            |table| format!("UPDATE {table} SET title = ?2, data = ?3{fill} WHERE pk = ?1");
        let mut store = self.statement(&update("object"))?;
        let mut publish = self.statement(&update("published"))?;
        let write = |statement: &mut Statement<'_>, pk: i64, text: &Rewritten| {
            match (names, count) {
                (Some(names), Some(count)) => {
                    statement.execute(params![pk, text.title, text.data, names, count])
                }
                _ => statement.execute(params![pk, text.title, text.data]),
            }
            .map_err(map)
        };
        let mut keep = self.statement(
            "UPDATE object_version SET title = ?2, data = ?3 WHERE object = ?1 AND version = ?4",
        )?;
        let mut rows = stored.query([ctd]).map_err(map)?;
        while let Some(row) = rows.next().map_err(map)? {
            let (object, version) = read(row).map_err(map)?;
            let pk = object.pk;
            let new = rewrite(object)?;
            if let Some(text) = &new.current {
                write(&mut store, pk, text)?;
                if version == Published::Current {
                    write(&mut publish, pk, text)?;
                }
            }
            if let (Some(text), Published::Older(version)) = (&new.published, version) {
                write(&mut publish, pk, text)?;
                keep.execute(params![pk, text.title, text.data, version]).map_err(map)?;
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
