//! Reads the journal as the activity log: newest first, by object, by actor or by time.
//!
//! [`super::journal`] writes it.

use std::ops::Range;

use cms_model::{
    clock::Timestamp,
    error::Result,
    object::{title::listed_title, view::Audience},
};
use rusqlite::{Row, types::Value};

use super::{Reader, actor::ActorRef, journal::JournalEvent};

/// The rows to read.
#[derive(Clone, Copy, Debug)]
pub enum ActivityFilter<'a> {
    All,
    /// Of objects, keys, users and workflows with this id.
    Id(&'a str),
    /// By the actor with this primary key.
    Actor(i64),
}

/// A row of the journal with all fields of the activity log.
#[derive(Clone, Debug)]
pub struct ActivityEntry {
    pub seq: i64,
    pub at: Timestamp,
    pub event: JournalEvent,
    /// Name of the type; none in rows written by older versions.
    pub content_type: Option<String>,
    pub is_object_change: bool,
    /// Id of the object, key, user or workflow.
    pub id: Option<String>,
    pub version: Option<i64>,
    pub audience: Audience,
    pub actor: ActorRef,
    /// Title of the object, name of the key, user or workflow.
    pub title: Option<String>,
    /// Names of the changed properties as a JSON array.
    pub properties: Option<String>,
}

macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT seq, nonce, kind, at, type_name, object IS NOT NULL, object_id, version,
                    audience, actor, title, properties
             FROM journal WHERE ",
            $condition,
            " seq >= ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3"
        )
    };
}

const ALL: &str = select!("");
const BY_ID: &str = select!("object_id = ?4 COLLATE NOCASE AND object_id IS NOT NULL AND");
const BY_ACTOR: &str = select!("actor = ?4 AND");
const NEXT_TIME: &str = "SELECT seq, at FROM journal WHERE seq >= ?1 ORDER BY seq LIMIT 1";

fn read(row: &Row<'_>) -> rusqlite::Result<ActivityEntry> {
    Ok(ActivityEntry {
        seq: row.get(0)?,
        event: JournalEvent::read(row)?,
        at: Timestamp(row.get(3)?),
        content_type: row.get(4)?,
        is_object_change: row.get(5)?,
        id: row.get(6)?,
        version: row.get(7)?,
        audience: Audience::from_number(row.get(8)?),
        actor: ActorRef::from_column(row.get(9)?),
        title: row.get_ref(10)?.as_str_or_null()?.map(listed_title),
        properties: row.get(11)?,
    })
}

impl Reader<'_> {
    /// Returns the rows of a part of the journal, newest first.
    pub fn activity_in(
        &self,
        filter: ActivityFilter<'_>,
        part: Range<i64>,
        limit: usize,
    ) -> Result<Vec<ActivityEntry>> {
        let (sql, wanted) = match filter {
            ActivityFilter::All => (ALL, None),
            ActivityFilter::Id(id) => (BY_ID, Some(Value::from(id.to_owned()))),
            ActivityFilter::Actor(pk) => (BY_ACTOR, Some(Value::from(pk))),
        };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let bounds = [part.start, part.end, limit].map(Value::from);
        let parameters = rusqlite::params_from_iter(bounds.into_iter().chain(wanted));
        self.query_rows(sql, parameters, read)
    }

    /// Returns the first position at or after a time. Finds it by bisection: the journal has no index
    /// by time, but its rows are in the order of time. If the clock was set back, several positions
    /// match, and this is one of them.
    pub fn journal_position_at(&self, time: Timestamp) -> Result<i64> {
        let (mut low, mut end) = (self.journal_start()?.unwrap_or(0), self.journal_head()?.seq + 1);
        while low < end {
            let middle = low + (end - low) / 2;
            let row: Option<(i64, i64)> =
                self.query_optional(NEXT_TIME, [middle], |row| row.try_into())?;
            match row {
                Some((seq, at)) if at < time.0 => low = seq + 1,
                _ => end = middle,
            }
        }
        Ok(low)
    }
}

#[cfg(test)]
mod tests {
    use cms_model::clock::Timestamp;
    use rusqlite::types::Value;

    use super::{ALL, BY_ACTOR, BY_ID, NEXT_TIME};
    use crate::{
        Reader,
        testing::{assert_read_by_index, database_with},
    };

    #[test]
    fn activity_is_read_by_index() {
        let (_folder, database) = database_with(
                "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100000)
                 INSERT INTO journal (nonce, at, kind, ctd, object, object_id, actor)
                 SELECT n, n, 'object.update', 1, n % 1000, 'Object-' || (n % 1000), n % 100 FROM n;",
        );
        let in_part = |part: [i64; 2], wanted: Option<Value>| {
            let bounds = [part[0], part[1], 3].map(Value::from);
            bounds.into_iter().chain(wanted).collect::<Vec<_>>()
        };
        let all = [0, i64::MAX];
        let id = || Some(Value::from("object-7".to_owned()));
        let table = [
            (ALL, in_part(all, None), &[100_000, 99_999, 99_998][..], "INTEGER PRIMARY KEY"),
            (ALL, in_part([70_000, 70_002], None), &[70_001, 70_000], "INTEGER PRIMARY KEY"),
            (BY_ID, in_part(all, id()), &[99_007, 98_007, 97_007], "journal_object"),
            (BY_ID, in_part([6_000, 8_000], id()), &[7_007, 6_007], "journal_object"),
            (BY_ACTOR, in_part(all, Some(5.into())), &[99_905, 99_805, 99_705], "journal_actor"),
            (BY_ACTOR, in_part([1, 200], Some(5.into())), &[105, 5], "journal_actor"),
            (NEXT_TIME, vec![Value::from(500)], &[500], "INTEGER PRIMARY KEY"),
        ];
        for (sql, parameters, wanted, index) in table {
            let parameters = || rusqlite::params_from_iter(parameters.clone());
            assert_read_by_index(&database, sql, parameters, wanted, index);
        }
    }

    #[test]
    fn journal_position_is_found_by_time() {
        // Two consecutive rows share each time, and some rows are missing.
        let (_folder, database) = database_with(
            "WITH RECURSIVE n (n) AS (SELECT 5 UNION ALL SELECT n + 1 FROM n WHERE n < 1000)
             INSERT INTO journal (seq, nonce, at, kind, ctd)
             SELECT n, n, n / 2 * 10, 'type.update', 1 FROM n WHERE n % 7 > 2;",
        );
        let reader = Reader::new(&database);
        let sql = "SELECT coalesce(min(seq), 1001) FROM journal WHERE at >= ?1";
        for time in (-5..5_020).chain([i64::MIN, i64::MAX]) {
            let wanted: i64 = database.query_row(sql, [time], |row| row.get(0)).unwrap();
            let found = reader.journal_position_at(Timestamp(time)).unwrap();
            let rows = "SELECT count(*) FROM journal WHERE seq >= ?1 AND seq < ?2";
            let between: i64 = database
                .query_row(rows, [found.min(wanted), found.max(wanted)], |row| row.get(0))
                .unwrap();
            assert_eq!(between, 0, "{time}: {found}, {wanted}");
        }
        database.execute_batch("DELETE FROM journal").unwrap();
        assert_eq!(reader.journal_position_at(Timestamp(7)).unwrap(), 0);
    }
}
