//! Scheduled publications of all types. `published` has the statements that carry them out.

use std::ops::RangeInclusive;

use cms_model::{
    error::Result,
    object::{
        model::{Schedule, Status},
        title::listed_title,
    },
    paging::ListRange,
};
use rusqlite::params;

use super::{Reader, actor::ActorRef, named};

/// An object whose publication is scheduled.
#[derive(Clone, Debug)]
pub struct ScheduledRow {
    pub content_type: String,
    pub id: String,
    pub title: String,
    pub status: Status,
    pub schedule: Schedule<'static>,
    /// Who set the schedule.
    pub actor: ActorRef,
}

/// The objects of some types that are due in a range of seconds. Parameters 1 and 2 are the bounds
/// in seconds, 3 is a JSON array of primary keys of types.
macro_rules! scheduled {
    () => {
        "FROM object o INDEXED BY object_scheduled CROSS JOIN ctd ON ctd.pk = o.ctd
         WHERE o.scheduled_at >= ?1 AND o.scheduled_at <= ?2
           AND o.ctd IN (SELECT value FROM json_each(?3)) "
    };
}

impl Reader<'_> {
    /// Returns the number of scheduled objects of some types in a range of seconds, and a part of
    /// them by time, type name and id.
    pub fn scheduled_objects(
        &self,
        ctds: &[i64],
        seconds: RangeInclusive<i64>,
        range: ListRange,
    ) -> Result<(u64, Vec<ScheduledRow>)> {
        let ctds = serde_json::to_string(ctds).expect("numbers are valid JSON");
        let (from, to) = seconds.into_inner();
        let total =
            self.query_value(concat!("SELECT count(*) ", scheduled!()), params![from, to, ctds])?;
        let offset = i64::try_from(range.offset).unwrap_or(i64::MAX);
        let rows = self.query_rows(
            concat!(
                "SELECT ctd.name, o.id, o.title, o.status, o.scheduled_at, o.scheduled_zone,
                        o.scheduled_by ",
                scheduled!(),
                "ORDER BY o.scheduled_at, ctd.name, o.id LIMIT ?4 OFFSET ?5"
            ),
            params![from, to, ctds, range.limit, offset],
            |row| {
                let zone: String = row.get(5)?;
                Ok(ScheduledRow {
                    content_type: row.get(0)?,
                    id: row.get(1)?,
                    title: listed_title(row.get_ref(2)?.as_str()?),
                    status: named(row, 3, Status::parse)?,
                    schedule: Schedule { at: row.get(4)?, zone: zone.into() },
                    actor: ActorRef::from_column(row.get(6)?),
                })
            },
        )?;
        Ok((total, rows))
    }
}
