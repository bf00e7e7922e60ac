//! Statements of the integrity check, and rebuilding data derived from content.
//!
//! Each of them scans a table, so call them in [`super::Store::read_without_timeout`].

use cms_model::{content_type::indexed::IndexedProperties, error::Result, object::model::Edition};
use rusqlite::params;

use super::{
    Reader, WriteTransaction,
    error::{damage, map},
    link::SOURCE_CTD,
    object::table_of,
    published::publish,
    slots, text,
};

/// Objects whose status contradicts their row of the public view: id, status, whether the row exists,
/// and whether it can be written from an existing version. `?1` is the type, `?2` whether it has Draft
/// & Public.
const OBJECTS_WITH_WRONG_PUBLICATION: &str = "
    SELECT o.id, o.status, p.pk IS NOT NULL,
           o.status <> 'modified' OR NOT ?2 OR v.object IS NOT NULL
    FROM object o
    LEFT JOIN published p ON p.pk = o.pk
    LEFT JOIN object_version v ON v.object = o.pk AND v.version = o.public_version
    WHERE o.ctd = ?1 AND CASE
        WHEN ?2 AND o.status = 'public'
        THEN p.pk IS NULL OR p.data <> o.data OR p.version <> o.version OR p.ctd <> o.ctd OR p.id <> o.id
        WHEN ?2 AND o.status = 'modified' THEN p.pk IS NULL
        ELSE p.pk IS NOT NULL END
    ORDER BY o.pk";

/// Objects with invalid version numbers: id and reason.
const OBJECTS_WITH_INVALID_VERSIONS: &str = "
    SELECT o.id, CASE
        WHEN o.public_version > o.version THEN 'the public version is newer than the current one'
        ELSE 'a replaced version is not older than the current one' END
    FROM object o
    WHERE o.ctd = ?1 AND (o.public_version > o.version OR EXISTS (
        SELECT 1 FROM object_version v WHERE v.object = o.pk AND v.version >= o.version))
    ORDER BY o.pk";

impl Reader<'_> {
    /// Returns the errors of the database file, including its indexes: the table or index where
    /// known, and the message.
    pub fn integrity_errors(&self) -> Result<Vec<(String, String)>> {
        let findings = self.pragma_findings("PRAGMA integrity_check(100)")?;
        let damaged_table = |message: &String| {
            let root = message.strip_prefix("Tree ")?.split(' ').next()?.parse().ok()?;
            self.table_with_root_page(root)
        };
        let findings = findings.into_iter();
        Ok(findings.map(|found| (damaged_table(&found).unwrap_or_default(), found)).collect())
    }

    /// Returns the table or index with this root page; none when the schema is unreadable too.
    fn table_with_root_page(&self, root: i64) -> Option<String> {
        let sql = "SELECT name FROM sqlite_schema WHERE rootpage = ?1";
        self.query_value(sql, [root]).ok()
    }

    /// Returns the objects of a type with an unreadable version, and the reason. The ids come from
    /// an index, because a table scan ends at the first damaged page.
    pub fn unreadable_rows(&self, ctd: i64) -> Result<Vec<(String, String)>> {
        let mut unreadable = Vec::new();
        let sql = "SELECT pk, id FROM object INDEXED BY object_id WHERE ctd = ?1 ORDER BY id";
        self.each_row(sql, [ctd], |row| {
            let (pk, id) = (row.get(0).map_err(map)?, row.get(1).map_err(map)?);
            if let Err(error) = self.read_versions(pk) {
                let cause = damage(&error).map_or_else(|| error.to_string(), ToString::to_string);
                unreadable.push((id, cause));
            }
            Ok(())
        })?;
        Ok(unreadable)
    }

    /// Reads all rows of an object.
    fn read_versions(&self, pk: i64) -> Result<()> {
        for sql in [
            "SELECT length(title) + length(data) + length(slots) FROM object WHERE pk = ?1",
            "SELECT length(title) + length(data) + length(slots) FROM published WHERE pk = ?1",
            "SELECT length(title) + length(data) FROM object_version WHERE object = ?1",
        ] {
            self.each_row(sql, [pk], |_| Ok(()))?;
        }
        Ok(())
    }

    /// Returns the tables with rows that reference missing rows.
    pub fn dangling_rows(&self) -> Result<Vec<(String, String)>> {
        self.query_rows("PRAGMA foreign_key_check", [], |row| Ok((row.get(0)?, row.get(2)?)))
    }

    /// Counts the objects of a type row by row: all, and those of the public view.
    pub fn count_rows(&self, ctd: i64) -> Result<(u64, u64)> {
        self.query_row(
            "SELECT (SELECT count(*) FROM object WHERE ctd = ?1),
                    (SELECT count(*) FROM published WHERE ctd = ?1)",
            [ctd],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// Returns the objects whose column `data` is not JSON.
    pub fn objects_with_invalid_json(&self, ctd: i64) -> Result<Vec<String>> {
        self.query_values(
            "SELECT id FROM object WHERE ctd = ?1 AND NOT json_valid(data)
             UNION SELECT id FROM published WHERE ctd = ?1 AND NOT json_valid(data)",
            [ctd],
        )
    }

    /// Returns the objects whose status contradicts the public view: id, status, whether the view contains the object,
    /// and whether its row can be written from an existing version.
    pub fn objects_with_wrong_publication(
        &self,
        ctd: i64,
        draft_public: bool,
    ) -> Result<Vec<(String, String, bool, bool)>> {
        self.query_rows(OBJECTS_WITH_WRONG_PUBLICATION, params![ctd, draft_public], |row| {
            row.try_into()
        })
    }

    /// Returns the objects with invalid version numbers, and the reason.
    pub fn objects_with_invalid_versions(&self, ctd: i64) -> Result<Vec<(String, String)>> {
        self.query_rows(OBJECTS_WITH_INVALID_VERSIONS, [ctd], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Counts versions of objects that are neither live nor in the trash.
    pub fn count_orphaned_versions(&self) -> Result<u64> {
        self.query_value(
            "SELECT count(*) FROM object_version v
             WHERE NOT EXISTS (SELECT 1 FROM object WHERE pk = v.object)
               AND NOT EXISTS (SELECT 1 FROM trash WHERE pk = v.object)",
            [],
        )
    }

    /// Counts rows of a type whose slots differ from their properties.
    pub fn count_outdated_slots(
        &self,
        ctd: i64,
        slots: &IndexedProperties,
        editions: &[Edition],
    ) -> Result<u64> {
        let counts = editions.iter().map(|&edition| {
            let table = table_of(edition);
            let sql = format!(
                "SELECT count(*) FROM {table} WHERE ctd = ?1 AND json_valid(data)
                     AND (slot_count <> ?3 OR slots <> property_slots(data, ?2))"
            );
            self.query_value::<u64>(&sql, params![ctd, slots.json(), slots.count()])
        });
        counts.sum()
    }

    /// Returns the objects that share the value of a unique slot, one line per value.
    pub fn duplicate_unique_values(&self, ctd: i64, slot: usize) -> Result<Vec<String>> {
        let (key, original_text) = (slots::key(slot), slots::original_text_if_different(slot));
        let condition = slots::condition(slot);
        self.query_values(
            &format!(
                "SELECT group_concat(id, ', ') FROM object
                 WHERE ctd = ?1 AND {condition} AND {key} IS NOT NULL
                 GROUP BY {key}, {original_text} HAVING count(*) > 1"
            ),
            [ctd],
        )
    }

    /// Passes every object of a type to `visit`: its primary key, id, properties as JSON, and those
    /// of its published version.
    pub fn for_each_object(
        &self,
        ctd: i64,
        mut visit: impl FnMut(i64, &str, &str, Option<&str>) -> Result<()>,
    ) -> Result<()> {
        let sql = "SELECT o.pk, o.id, o.data, p.data FROM object o
             LEFT JOIN published p ON p.pk = o.pk WHERE o.ctd = ?1 ORDER BY o.pk";
        self.each_row(sql, [ctd], |row| {
            let published = row.get_ref(3).and_then(|text| Ok(text.as_str_or_null()?));
            let pk = row.get(0).map_err(map)?;
            let (id, data) = (text(row, 1).map_err(map)?, text(row, 2).map_err(map)?);
            visit(pk, id, data, published.map_err(map)?)
        })
    }

    /// Returns those links of an object that have the correct `source_ctd`, in order; ids in lower case.
    pub fn stored_links(&self, pk: i64) -> Result<Vec<(String, String)>> {
        let sql = format!(
            "SELECT target_type, target_id FROM link CROSS JOIN object ON object.pk = link.object
             WHERE link.object = ?1 AND source_ctd IS {SOURCE_CTD}"
        );
        let mut links: Vec<(String, String)> =
            self.query_rows(&sql, [pk], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (_, id) in &mut links {
            id.make_ascii_lowercase();
        }
        links.sort();
        Ok(links)
    }

    /// Passes every object to `visit`: primary key, type, status, and workflow state.
    pub fn for_each_state(&self, mut visit: impl FnMut(i64, i64, &str, &str)) -> Result<()> {
        let sql = "SELECT pk, ctd, status, workflow_state FROM object";
        self.each_row(sql, [], |row| {
            let (pk, ctd) = (row.get(0).map_err(map)?, row.get(1).map_err(map)?);
            visit(pk, ctd, text(row, 2).map_err(map)?, text(row, 3).map_err(map)?);
            Ok(())
        })
    }
}

impl WriteTransaction<'_> {
    /// Rebuilds all indexes of the SQLite database.
    pub fn rebuild_sql_indexes(&self) -> Result<()> {
        self.0.connection.execute_batch("REINDEX").map_err(map)
    }

    /// Increments the change counter of every type, so that all cached data becomes invalid.
    pub fn increment_all_change_counters(&self) -> Result<()> {
        self.execute("UPDATE ctd_state SET changes = changes + 1", [])
    }

    /// Recomputes the object counters of a type.
    pub fn recount(&self, ctd: i64) -> Result<()> {
        let (live, published) = self.count_rows(ctd)?;
        self.execute(
            "UPDATE ctd_state SET live = ?2, published = ?3
             WHERE ctd = ?1 AND (live <> ?2 OR published <> ?3)",
            params![ctd, live, published],
        )
    }

    /// Rebuilds the public view of a type from statuses and existing versions.
    pub fn rebuild_public_view(&self, ctd: i64, draft_public: bool) -> Result<()> {
        self.execute(
            "DELETE FROM published WHERE ctd = ?1 AND (NOT ?2 OR pk IN (
                 SELECT pk FROM object WHERE ctd = ?1 AND status NOT IN ('public', 'modified')))",
            params![ctd, draft_public],
        )?;
        if !draft_public {
            return Ok(());
        }
        self.execute(
            "DELETE FROM published WHERE pk IN (
                 SELECT o.pk FROM object o JOIN published p ON p.pk = o.pk
                 WHERE o.ctd = ?1 AND o.status = 'public' AND (p.data <> o.data
                       OR p.version <> o.version OR p.ctd <> o.ctd OR p.id <> o.id))",
            [ctd],
        )?;
        self.execute(
            concat!(
                publish!(),
                "WHERE ctd = ?1 AND status = 'public'
                 AND NOT EXISTS (SELECT 1 FROM published WHERE published.pk = object.pk)"
            ),
            [ctd],
        )?;
        self.execute(
            "INSERT INTO published
                 (pk, ctd, id, created_at, updated_at, version, version_at, status, public_version,
                  published_at, workflow_state, workflow_public_version, workflow_published_at,
                  owner, editor, slot_count, slots, title, data)
             SELECT o.pk, o.ctd, o.id, o.created_at, coalesce(o.published_at, o.updated_at),
                    v.version, v.version_at, 'public', o.public_version, o.published_at,
                    o.workflow_state, o.workflow_public_version, o.workflow_published_at, o.owner,
                    v.editor, 0, '{}', v.title, v.data
             FROM object o
             JOIN object_version v ON v.object = o.pk AND v.version = o.public_version
             WHERE o.ctd = ?1 AND o.status = 'modified'
               AND NOT EXISTS (SELECT 1 FROM published WHERE pk = o.pk)",
            [ctd],
        )
    }
}
