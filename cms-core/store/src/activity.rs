//! Reads the journal as the record of activity: newest first, by object or by actor.
//!
//! [`super::journal`] writes it.

use cms_model::{clock::Timestamp, error::Result, object::view::Audience};
use rusqlite::{Row, types::Value};

use super::{Reader, actor::ActorRef, journal::Event};

/// The rows to read.
#[derive(Clone, Copy, Debug)]
pub enum ActivityFilter<'a> {
    All,
    /// Of objects, keys, users and workflows with this id.
    Id(&'a str),
    /// By this row of `actor`.
    Actor(i64),
}

/// A row of the journal with all fields of the record of activity.
#[derive(Clone, Debug)]
pub struct ActivityEntry {
    pub seq: i64,
    pub at: Timestamp,
    pub event: Event,
    /// Name of the type; none in rows written by older versions.
    pub content_type: Option<String>,
    pub is_of_object: bool,
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
            " seq < ?1 ORDER BY seq DESC LIMIT ?2"
        )
    };
}

const ALL: &str = select!("");
const BY_ID: &str = select!("object_id = ?3 COLLATE NOCASE AND object_id IS NOT NULL AND");
const BY_ACTOR: &str = select!("actor = ?3 AND");

fn read(row: &Row<'_>) -> rusqlite::Result<ActivityEntry> {
    Ok(ActivityEntry {
        seq: row.get(0)?,
        event: Event::read(row)?,
        at: Timestamp(row.get(3)?),
        content_type: row.get(4)?,
        is_of_object: row.get(5)?,
        id: row.get(6)?,
        version: row.get(7)?,
        audience: Audience::from_number(row.get(8)?),
        actor: ActorRef::from_column(row.get(9)?),
        title: row.get(10)?,
        properties: row.get(11)?,
    })
}

impl Reader<'_> {
    /// Returns the rows before a position, newest first.
    pub fn activity_before(
        &self,
        filter: ActivityFilter<'_>,
        before: i64,
        limit: usize,
    ) -> Result<Vec<ActivityEntry>> {
        let (sql, wanted) = match filter {
            ActivityFilter::All => (ALL, None),
            ActivityFilter::Id(id) => (BY_ID, Some(Value::from(id.to_owned()))),
            ActivityFilter::Actor(pk) => (BY_ACTOR, Some(Value::from(pk))),
        };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let bounds = [Value::from(before), Value::from(limit)];
        let parameters = rusqlite::params_from_iter(bounds.into_iter().chain(wanted));
        self.query_rows(sql, parameters, read)
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::types::Value;

    use super::{ALL, BY_ACTOR, BY_ID};
    use crate::testing::{assert_read_by_index, database_with};

    #[test]
    fn activity_is_read_by_index() {
        let (_folder, database) = database_with(
                "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100000)
                 INSERT INTO journal (nonce, at, kind, ctd, object, object_id, actor)
                 SELECT n, n, 'object.update', 1, n % 1000, 'Object-' || (n % 1000), n % 100 FROM n;",
        );
        let bounds = || vec![Value::from(i64::MAX), Value::from(3)];
        let with = |wanted: Value| bounds().into_iter().chain([wanted]).collect::<Vec<_>>();
        let table = [
            (ALL, bounds(), [100_000, 99_999, 99_998], "INTEGER PRIMARY KEY"),
            (
                BY_ID,
                with(Value::from("object-7".to_owned())),
                [99_007, 98_007, 97_007],
                "journal_object",
            ),
            (BY_ACTOR, with(Value::from(5)), [99_905, 99_805, 99_705], "journal_actor"),
        ];
        for (sql, parameters, wanted, index) in table {
            let parameters = || rusqlite::params_from_iter(parameters.clone());
            assert_read_by_index(&database, sql, parameters, &wanted, index);
        }
    }
}
