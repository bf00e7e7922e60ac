//! The trash: deleted objects, with their versions in `object_version`.
//!
//! An entry is the row of a deleted object. It keeps the primary key of the object, so versions and
//! working copies still belong to it after a restore.

use cms_model::{
    clock::Timestamp,
    content_type::indexed::IndexedProperties,
    context::Stamp,
    error::Result,
    object::{
        model::{Edition, Status, StoredObject},
        restore::RestoredState,
        title::listed_title,
        view::{Audience, View},
    },
    paging::ListRange,
    workflow::model::PUBLIC_STATE,
};
use rusqlite::{Row, params};
use serde::Serialize;

use super::{
    Reader, WriteTransaction,
    actor::ActorRef,
    journal::Event,
    object::{EXTRA_COLUMN, read},
    rewrite::StoredVersion,
};

/// Copies objects to the trash; parameters 2 and 3 are time and actor of the deletion.
macro_rules! trash {
    () => {
        "INSERT INTO trash
             (pk, ctd, id, created_at, updated_at, version, version_at, status, public_version,
              published_at, workflow_state, workflow_public_version, workflow_published_at, owner,
              editor, title, data, updated_by, changed, deleted_at, deleted_by, type_rev)
         SELECT pk, ctd, id, created_at, updated_at, version, version_at, status, public_version,
                published_at, workflow_state, workflow_public_version, workflow_published_at,
                owner, editor, title, data, updated_by, changed, ?2, ?3,
                (SELECT rev FROM ctd WHERE ctd.pk = object.ctd)
         FROM object "
    };
}

const ENTRY: &str = "SELECT pk, ctd, id, title, version, deleted_at, deleted_by,
         EXISTS (SELECT 1 FROM object WHERE object.ctd = trash.ctd AND object.id = trash.id)
     FROM trash";

/// A row of the list of deletions.
#[derive(Clone, Debug)]
pub struct TrashEntry {
    pub pk: i64,
    /// Primary key of the type.
    pub ctd: i64,
    pub id: String,
    pub title: String,
    pub version: i64,
    pub deleted_at: Timestamp,
    pub deleted_by: ActorRef,
    /// A live object has the id.
    pub id_taken: bool,
}

/// The entries to list.
#[derive(Clone, Debug)]
pub struct TrashFilter {
    /// Primary keys of the types; none means all.
    pub types: Option<Vec<i64>>,
    /// Deleted after the first and before the second time.
    pub range: (Timestamp, Timestamp),
    /// A part of the title or the id.
    pub text: Option<String>,
    /// Primary key of the actor who deleted the object.
    pub actor: Option<i64>,
}

/// A deleted object as it was at the deletion.
#[derive(Clone, Debug)]
pub struct DeletedObject {
    pub stored: StoredObject<'static>,
    /// Revision of the type at the deletion.
    pub type_rev: i64,
    pub deleted_at: Timestamp,
}

/// Values of a restored object that replace those at the deletion.
#[derive(Clone, Debug)]
pub struct RestoredRow<'a> {
    pub pk: i64,
    pub id: &'a str,
    pub current: StoredVersion<'a>,
    pub state: &'a RestoredState,
    /// The published version, if it differs from the current one.
    pub published: Option<StoredVersion<'a>>,
}

impl TrashFilter {
    /// The condition, with parameters 1 to 5. It determines which index SQLite uses: by type, or by
    /// time of deletion.
    fn condition(&self) -> String {
        let types = match self.types.as_deref() {
            None => "",
            Some([_]) => "ctd = (SELECT value FROM json_each(?1)) AND ",
            // The unary plus excludes the index by type: for several types, it is not in order of time.
            Some(_) => "+ctd IN (SELECT value FROM json_each(?1)) AND ",
        };
        let actor = if self.actor.is_some() { " AND deleted_by = ?4" } else { "" };
        let text = match self.text {
            Some(_) => " AND (contains_text(title, ?5) OR contains_text(id, ?5))",
            None => "",
        };
        format!("{types}deleted_at > ?2 AND deleted_at < ?3{actor}{text}")
    }

    fn list_sql(&self) -> String {
        format!(
            "{ENTRY} WHERE {} ORDER BY deleted_at DESC, pk DESC LIMIT ?6 OFFSET ?7",
            self.condition()
        )
    }

    fn types_json(&self) -> String {
        json(self.types.as_deref().unwrap_or_default())
    }
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("numbers are valid JSON")
}

fn entry(row: &Row<'_>) -> rusqlite::Result<TrashEntry> {
    Ok(TrashEntry {
        pk: row.get(0)?,
        ctd: row.get(1)?,
        id: row.get(2)?,
        title: listed_title(row.get_ref(3)?.as_str()?),
        version: row.get(4)?,
        deleted_at: Timestamp(row.get(5)?),
        deleted_by: ActorRef::from_column(row.get(6)?),
        id_taken: row.get(7)?,
    })
}

impl Reader<'_> {
    /// Counts the deletions that a filter selects.
    pub fn trash_count(&self, filter: &TrashFilter) -> Result<u64> {
        let (after, before) = filter.range;
        // SQLite counts parameters up to the highest number in the text: with the limit as `?6`, all six
        // can be bound, also those that the condition does not use.
        let sql = format!("SELECT count(*) FROM trash WHERE {} LIMIT ?6", filter.condition());
        self.query_value(
            &sql,
            params![filter.types_json(), after.0, before.0, filter.actor, filter.text, 1],
        )
    }

    /// Lists the deletions that a filter selects, newest first.
    pub fn trash_list(&self, filter: &TrashFilter, range: ListRange) -> Result<Vec<TrashEntry>> {
        let (after, before) = filter.range;
        self.query_rows(
            &filter.list_sql(),
            params![
                filter.types_json(),
                after.0,
                before.0,
                filter.actor,
                filter.text,
                range.limit,
                range.offset
            ],
            entry,
        )
    }

    /// Returns one deletion.
    pub fn trash_entry(&self, pk: i64) -> Result<Option<TrashEntry>> {
        self.query_optional(&format!("{ENTRY} WHERE pk = ?1"), [pk], entry)
    }

    /// Returns a deleted object.
    pub fn deleted_object(&self, pk: i64) -> Result<Option<DeletedObject>> {
        self.query_optional(
            "SELECT pk, id, created_at, updated_at, version, version_at, status, public_version,
                    published_at, workflow_state, workflow_public_version, workflow_published_at,
                    owner, editor, title, data, NULL, NULL, deleted_at, type_rev
             FROM trash WHERE pk = ?1",
            [pk],
            |row| {
                let deleted_at = Timestamp(row.get(EXTRA_COLUMN)?);
                let mut stored = read(row)?.into_owned();
                stored.internal.deleted_at = Some(deleted_at.seconds());
                Ok(DeletedObject { stored, type_rev: row.get(EXTRA_COLUMN + 1)?, deleted_at })
            },
        )
    }

    /// Returns whether an object with this id is in the trash.
    pub fn is_in_trash(&self, ctd: i64, id: &str) -> Result<bool> {
        self.query_value(
            "SELECT EXISTS (SELECT 1 FROM trash WHERE ctd = ?1 AND id = ?2)",
            params![ctd, id],
        )
    }

    /// Returns the oldest deletions of some types, or of all, before a time.
    pub fn trash_before(
        &self,
        types: Option<&[i64]>,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<TrashEntry>> {
        let range = (Timestamp(i64::MIN), before);
        let filter =
            TrashFilter { types: types.map(<[_]>::to_vec), range, text: None, actor: None };
        let sql = format!("{ENTRY} WHERE {} ORDER BY deleted_at, pk LIMIT ?4", filter.condition());
        let (after, before) = range;
        self.query_rows(&sql, params![filter.types_json(), after.0, before.0, limit], entry)
    }

    /// Returns whether an entry, the record of a removed entry, or a former definition is older than
    /// a time.
    pub fn has_trash_before(&self, before: Timestamp) -> Result<bool> {
        self.query_value(
            "SELECT EXISTS (SELECT 1 FROM trash WHERE deleted_at < ?1)
                 OR EXISTS (SELECT 1 FROM removed_id WHERE deleted_at < ?1)
                 OR EXISTS (SELECT 1 FROM former_definition WHERE replaced_at < ?1)",
            [before.0],
        )
    }

    /// Lists the ids of objects that were deleted after `after` and do not exist again, ordered by their last deletion,
    /// oldest first. With a view of published or approved objects, leaves out objects that were not in it when they
    /// were deleted, and all objects that were removed from the trash.
    pub fn deleted_ids(
        &self,
        ctd: i64,
        after: Timestamp,
        view: Option<View>,
    ) -> Result<Vec<String>> {
        let published = view.is_some_and(|view| view.edition == Edition::Published);
        let approved = view.is_some_and(|view| view.only_approved);
        self.query_values(
            "SELECT id FROM (
                 SELECT id, deleted_at, pk FROM trash WHERE ctd = ?1 AND deleted_at > ?2
                     AND NOT (?3 AND public_version IS NULL)
                     AND NOT (?4 AND workflow_state <> ?5)
                 UNION ALL
                 SELECT id, deleted_at, 0 FROM removed_id
                 WHERE ctd = ?1 AND deleted_at > ?2 AND NOT (?3 OR ?4)) AS gone
             WHERE NOT EXISTS (
                 SELECT 1 FROM object WHERE object.ctd = ?1 AND object.id = gone.id)
             GROUP BY id COLLATE NOCASE ORDER BY max(deleted_at), max(pk)",
            params![ctd, after.0, published, approved, PUBLIC_STATE],
        )
    }
}

impl WriteTransaction<'_> {
    /// Moves an object to the trash; removes its links (`ON DELETE CASCADE`) and its published version.
    pub fn trash_object(&self, ctd: i64, pk: i64, stamp: Stamp) -> Result<()> {
        self.delete_published_row(ctd, pk)?;
        self.execute(concat!(trash!(), "WHERE pk = ?1"), params![pk, stamp.at.0, stamp.actor])?;
        self.execute("DELETE FROM object WHERE pk = ?1", [pk])?;
        self.record_change(ctd, -1)
    }

    /// Moves all objects of a type to the trash; returns their number.
    pub fn trash_all(&self, ctd: i64, stamp: Stamp) -> Result<usize> {
        self.delete_published_rows(ctd)?;
        self.execute(concat!(trash!(), "WHERE ctd = ?1"), params![ctd, stamp.at.0, stamp.actor])?;
        let removed = self.execute_and_count("DELETE FROM object WHERE ctd = ?1", [ctd])?;
        self.record_change(ctd, -i64::try_from(removed).unwrap_or(i64::MAX))?;
        Ok(removed)
    }

    /// Moves a deleted object back, with its versions, and updates its published version.
    pub fn restore_object(
        &self,
        ctd: i64,
        slots: &IndexedProperties,
        row: &RestoredRow<'_>,
        stamp: Stamp,
    ) -> Result<()> {
        let RestoredRow { pk, id, current: StoredVersion { title, data }, state, published } = *row;
        let (names, count) = (slots.json(), slots.count());
        self.execute(
            "INSERT INTO object
                 (pk, ctd, id, created_at, updated_at, version, version_at, status, public_version,
                  published_at, workflow_state, workflow_public_version, workflow_published_at,
                  owner, editor, slot_count, slots, title, data, updated_by, scheduled_by, changed)
             SELECT pk, ctd, ?2, created_at, ?3, version, version_at, ?4, ?5, ?6, ?7, ?8, ?9, owner,
                    editor, ?13, property_slots(?11, ?12), ?10, ?11, ?14, NULL, changed
             FROM trash WHERE pk = ?1",
            params![
                pk,
                id,
                stamp.at.seconds(),
                state.status.as_str(),
                state.public_version,
                state.published_at,
                state.workflow_state,
                state.approval.map(|(version, _)| version),
                state.approval.map(|(_, at)| at),
                title,
                data,
                names,
                count,
                stamp.actor,
            ],
        )?;
        self.keep_removed_id(pk, id)?;
        self.execute("DELETE FROM trash WHERE pk = ?1", [pk])?;
        self.record_change(ctd, 1)?;
        match (state.status, published) {
            (Status::Public, _) if state.public_version.is_some() => self.publish_restored(ctd, pk),
            (Status::Modified, Some(version)) => {
                self.publish_restored_version(ctd, pk, version, (names, count))
            }
            _ => Ok(()),
        }
    }

    /// Publishes a restored object in an older version, which may have been converted.
    fn publish_restored_version(
        &self,
        ctd: i64,
        pk: i64,
        StoredVersion { title, data }: StoredVersion<'_>,
        (names, count): (&str, usize),
    ) -> Result<()> {
        self.execute(
            "UPDATE object_version SET title = ?2, data = ?3
             WHERE object = ?1 AND version = (SELECT public_version FROM object WHERE pk = ?1)
               AND (title <> ?2 OR data <> ?3)",
            params![pk, title, data],
        )?;
        self.execute("INSERT INTO published
                 (pk, ctd, id, created_at, updated_at, version, version_at, status, public_version,
                  published_at, workflow_state, workflow_public_version, workflow_published_at,
                  owner, editor, slot_count, slots, title, data, updated_by)
             SELECT o.pk, o.ctd, o.id, o.created_at, o.updated_at, v.version, v.version_at, 'public',
                    o.public_version, o.published_at, o.workflow_state, o.workflow_public_version,
                    o.workflow_published_at, o.owner, v.editor, ?3, property_slots(v.data, ?2),
                    v.title, v.data, o.updated_by
             FROM object o
             JOIN object_version v ON v.object = o.pk AND v.version = o.public_version
             WHERE o.pk = ?1", params![pk, names, count])?;
        self.record_public_change(ctd, 1)
    }

    /// Records the previous id of an object that is restored from the trash with another id.
    fn keep_removed_id(&self, pk: i64, new: &str) -> Result<()> {
        self.execute(
            "INSERT INTO removed_id (ctd, id, deleted_at)
             SELECT ctd, id, deleted_at FROM trash WHERE pk = ?1 AND id <> ?2",
            params![pk, new],
        )
    }

    /// Removes entries of one type permanently: object, versions and working copies. Their ids stay
    /// recorded as removed, and the journal has a row for each.
    pub fn remove_trash(
        &self,
        content_type: (i64, &str),
        pks: &[i64],
        audience: Audience,
        stamp: Stamp,
    ) -> Result<()> {
        let ((ctd, name), pks) = (content_type, json(pks));
        self.execute(
            "INSERT INTO removed_id (ctd, id, deleted_at)
             SELECT ctd, id, deleted_at FROM trash
             WHERE ctd = ?2 AND pk IN (SELECT value FROM json_each(?1)) ORDER BY deleted_at, pk",
            params![pks, ctd],
        )?;
        self.execute(
            "INSERT INTO journal (nonce, at, kind, ctd, object, type_name, object_id, version,
                 audience, actor, title)
             SELECT random(), ?3, ?4, ctd, pk, ?5, id, version, ?6, ?7, title FROM trash
             WHERE ctd = ?2 AND pk IN (SELECT value FROM json_each(?1)) ORDER BY deleted_at, pk",
            params![
                pks,
                ctd,
                stamp.at.0,
                Event::TrashRemoved.as_str(),
                name,
                audience.number(),
                stamp.actor,
            ],
        )?;
        for sql in [
            "DELETE FROM object_version WHERE object IN (SELECT value FROM json_each(?1))",
            "DELETE FROM working_copy WHERE object IN (SELECT value FROM json_each(?1))",
            "DELETE FROM trash WHERE pk IN (SELECT value FROM json_each(?1))",
        ] {
            self.execute(sql, [&pks])?;
        }
        Ok(())
    }

    /// Removes records of ids deleted before a time.
    pub fn delete_removed_ids(&self, before: Timestamp) -> Result<()> {
        self.execute("DELETE FROM removed_id WHERE deleted_at < ?1", [before.0])
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, StatementStatus, params};
    use tempfile::TempDir;

    use super::{Timestamp, TrashFilter};
    use crate::testing::database_with;

    /// A data directory with 100,000 deletions of a hundred types.
    fn full_trash() -> (TempDir, Connection) {
        database_with(
                "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100000)
                 INSERT INTO trash (pk, ctd, id, created_at, updated_at, version, version_at, status,
                     workflow_state, title, data, deleted_at)
                 SELECT n, n % 100, n, 0, 0, 1, 0, 'public', 'saved', 'Title', '{}', n FROM n;",
        )
    }

    #[test]
    fn newest_deletions_are_read_from_an_index() {
        let (_folder, database) = full_trash();
        let filter = |types: Option<Vec<i64>>| TrashFilter {
            types,
            range: (Timestamp(0), Timestamp(i64::MAX)),
            text: None,
            actor: None,
        };
        for (filter, index, newest, steps) in [
            (filter(None), "trash_newest", 100_000, 1000),
            (filter(Some(vec![7])), "trash_deleted", 99_907, 1000),
            (filter(Some(vec![7, 8])), "trash_newest", 99_908, 40_000),
        ] {
            let sql = filter.list_sql();
            let parameters =
                params![filter.types_json(), 0, i64::MAX, None::<i64>, None::<&str>, 20, 0];
            let mut statement = database.prepare(&sql).unwrap();
            let pks = statement.query_map(parameters, |row| row.get(0)).unwrap();
            let pks: Vec<i64> = pks.map(Result::unwrap).collect();
            assert_eq!((pks.len(), pks[0]), (20, newest));
            let taken = statement.get_status(StatementStatus::VmStep);
            assert!(taken < steps, "{taken} steps: {sql}");
            let mut plan = database.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let plan = plan.query_map(parameters, |row| row.get("detail")).unwrap();
            let plan: Vec<String> = plan.map(Result::unwrap).collect();
            assert!(plan[0].contains(index), "{plan:?}: {sql}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}: {sql}");
        }
    }
}
