//! Lists scheduled publications (see docs/reference/publishing.md#list-schedules).

use cms_model::{
    auth::scope::Access,
    clock::Timestamp,
    context::Caller,
    dates,
    error::{FieldErrors, Result},
    read::date,
    wire::{
        author::Author,
        list::{List, is_named},
        schedule::{ScheduledObject, SchedulesRequest},
    },
};
use cms_store::ScheduledRow;

use super::service::Publishing;

impl Publishing<'_> {
    /// Lists scheduled publications of the types that the caller may read. Readers of the public
    /// view do not learn of them.
    pub fn schedules(
        &self,
        caller: &Caller,
        request: &SchedulesRequest,
    ) -> Result<List<ScheduledObject>> {
        let mut errors = FieldErrors::default();
        let from = date(request.from.as_deref(), "from", &mut errors);
        let to = date(request.to.as_deref(), "to", &mut errors);
        errors.into_result()?;
        // Schedules have whole seconds: `from` is rounded up to a second, and `to` is rounded down.
        let from = from.map_or(i64::MIN, |at| Timestamp(at.0.saturating_add(999_999)).seconds());
        let to = to.map_or(i64::MAX, Timestamp::seconds);
        if caller.visibility.public_only {
            return Ok(List::new(request.page, 0, Vec::new()));
        }
        self.cms.read_with_catalog(|reader, catalog| {
            let is_wanted = |name: &str| is_named(request.content_types.as_deref(), name);
            let types =
                catalog.types().iter().map(|content_type| (content_type.pk, content_type.name()));
            let types = types.filter(|(_, name)| is_wanted(name) && caller.may(Access::READ, name));
            let ctds: Vec<i64> = types.map(|(pk, _)| pk).collect();
            let (total, rows) = reader.scheduled_objects(&ctds, from..=to, request.page.into())?;
            let authors = reader.authors(rows.iter().map(|row| row.actor))?;
            let shown = rows.into_iter().map(|row| {
                let by = authors.author_of(row.actor).shown_to(caller, &row.content_type);
                to_wire(row, by)
            });
            Ok(List::new(request.page, total, shown.collect()))
        })
    }
}

fn to_wire(row: ScheduledRow, by: Author) -> ScheduledObject {
    ScheduledObject {
        content_type: row.content_type,
        id: row.id,
        object_title: row.title,
        status: row.status.as_str().to_owned(),
        scheduled_at: dates::object_date(row.schedule.at),
        scheduled_at_time_zone: row.schedule.zone.into_owned(),
        by,
    }
}
