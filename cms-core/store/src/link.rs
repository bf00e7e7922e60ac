//! Links between objects.

use std::collections::HashMap;

use cms_model::{error::Result, paging::ListRange};
use rusqlite::params;

use super::{Reader, WriteTransaction, error::map};

/// The value of `link.source_ctd`: the type of the object with the link, or NULL for a link of an
/// object to itself, which filters on linking objects do not count.
pub(super) const SOURCE_CTD: &str = "iif(
    object.id = link.target_id
        AND object.ctd = (SELECT ctd.pk FROM ctd WHERE ctd.name = link.target_type),
    NULL, object.ctd)";

/// The numbers of objects of a type that link to an object.
#[derive(Clone, Copy, Debug)]
pub struct IncomingTotals {
    pub all: u64,
    /// Those that have a published version.
    pub published: u64,
    /// Those in workflow state `public`.
    pub approved: u64,
}

/// Selects objects that link to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkingObjects {
    All,
    Published,
    Approved,
    /// Edited since they were published.
    Modified,
}

impl LinkingObjects {
    fn condition(self) -> &'static str {
        match self {
            Self::All => "true",
            Self::Published => "o.status IN ('public', 'modified')",
            Self::Approved => "o.workflow_state = 'public'",
            Self::Modified => "o.status = 'modified'",
        }
    }
}

impl Reader<'_> {
    /// Counts the live objects that link to an object, except the object itself, by type. A link
    /// may be in the current or in the published version.
    pub fn incoming_totals(
        &self,
        target: (&str, &str),
        itself: i64,
    ) -> Result<HashMap<i64, IncomingTotals>> {
        let [published, approved] =
            [LinkingObjects::Published, LinkingObjects::Approved].map(LinkingObjects::condition);
        self.query_rows(
            &format!(
                "SELECT o.ctd, count(*), sum({published}), sum({approved})
                 FROM link CROSS JOIN object o ON o.pk = link.object
                 WHERE target_type = ?1 AND target_id = ?2 AND link.object <> ?3
                 GROUP BY o.ctd"
            ),
            params![target.0, target.1, itself],
            |row| {
                let totals = IncomingTotals {
                    all: row.get(1)?,
                    published: row.get(2)?,
                    approved: row.get(3)?,
                };
                Ok((row.get(0)?, totals))
            },
        )
    }

    /// Returns the primary keys of objects of a type that link to an object, in the order of creation,
    /// without those in `except`.
    pub fn incoming(
        &self,
        target: (&str, &str),
        itself: i64,
        (ctd, linking, except): (i64, LinkingObjects, &[i64]),
        range: ListRange,
    ) -> Result<Vec<i64>> {
        let condition = linking.condition();
        let except = serde_json::to_string(except).expect("numbers are valid JSON");
        let offset = i64::try_from(range.offset).unwrap_or(i64::MAX);
        self.query_values(
            &format!(
                "SELECT o.pk FROM link CROSS JOIN object o ON o.pk = link.object
                 WHERE target_type = ?1 AND target_id = ?2 AND link.object <> ?3 AND o.ctd = ?4
                     AND {condition} AND o.pk NOT IN (SELECT value FROM json_each(?5))
                 ORDER BY o.created_at, o.pk LIMIT ?6 OFFSET ?7"
            ),
            params![target.0, target.1, itself, ctd, except, range.limit, offset],
        )
    }

    /// Returns the primary keys of at most `limit` live objects that link to an object, except the
    /// object itself.
    pub fn linking_objects(
        &self,
        target: (&str, &str),
        itself: i64,
        limit: usize,
    ) -> Result<Vec<i64>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.query_values(
            "SELECT object FROM link
             WHERE target_type = ?1 AND target_id = ?2 AND object <> ?3 LIMIT ?4",
            params![target.0, target.1, itself, limit],
        )
    }

    /// Returns whether another live object links to an object.
    pub fn is_linked(&self, target: (&str, &str), itself: i64) -> Result<bool> {
        self.exists(
            "SELECT 1 FROM link
             WHERE target_type = ?1 AND target_id = ?2 AND object <> ?3 LIMIT 1",
            params![target.0, target.1, itself],
        )
    }
}

impl WriteTransaction<'_> {
    /// Stores the links of a new object. The object must already be stored.
    pub fn insert_links<'l>(
        &self,
        object: i64,
        targets: impl Iterator<Item = (&'l str, &'l str)>,
    ) -> Result<()> {
        // One row per statement: `INSERT ... SELECT` has its own rollback journal, and at its end
        // SQLite reads the journal of the savepoint, which is long if a batch shares a commit.
        let mut statement = self.statement(&format!(
            "INSERT OR IGNORE INTO link (target_type, target_id, object, source_ctd)
             VALUES (?1, ?2, ?3, (
                 SELECT {SOURCE_CTD} FROM object
                 CROSS JOIN (SELECT ?1 AS target_type, ?2 AS target_id) AS link
                 WHERE object.pk = ?3))"
        ))?;
        let mut inserted = 0;
        for (content_type, id) in targets {
            inserted += statement.execute(params![content_type, id, object]).map_err(map)?;
        }
        self.record_links(object, inserted);
        Ok(())
    }

    /// Replaces the stored links of an object.
    pub fn replace_links<'l>(
        &self,
        object: i64,
        targets: impl Iterator<Item = (&'l str, &'l str)>,
    ) -> Result<()> {
        let sql = "DELETE FROM link WHERE object = ?1";
        self.record_links(object, self.execute_and_count(sql, [object])?);
        self.insert_links(object, targets)
    }

    /// Records changed links for the other nodes of a cluster.
    fn record_links(&self, object: i64, changed: usize) {
        if let Some(capture) = self.capture.filter(|_| changed > 0) {
            capture.record_links(object);
        }
    }
}
