//! `cms schedule`: lists, sets and removes scheduled publications.

use cms_core::{Error, wire::object::ObjectRequest};

use super::{
    many_objects::{deduplicated, dry_run_report, one_by_one, read_ids},
    open_to_read, open_to_write, print_dry_run, require_types,
};
use crate::{
    cli::ScheduleCommand,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::Settings,
    text_output::{self, Column, column},
};

const COLUMNS: [Column; 7] = [
    column("TIME", "/scheduledAt"),
    column("ZONE", "/scheduledAtTimeZone"),
    column("TYPE", "/contentType"),
    column("ID", "/id"),
    column("TITLE", "/objectTitle"),
    column("STATUS", "/status"),
    column("BY", "/by/name"),
];

pub(super) fn run(
    command: ScheduleCommand,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    match command {
        ScheduleCommand::List { types } => {
            let target = open_to_read(settings)?;
            require_types(&*target, &types)?;
            printer.rows(&target.schedules(&types)?, &COLUMNS)?;
        }
        ScheduleCommand::Set { r#type, id, at, zone, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            if dry_run.dry_run {
                target.object(&r#type, &id, &ObjectRequest::default())?;
                return print_dry_run(printer, &format!("schedule {type}/{id}"));
            }
            let object = target.schedule(&r#type, &id, &at, &zone).map_err(add_time_hint)?;
            printer.value(&object, || {
                let at = text_output::cell(&object["internal"]["scheduledAt"]);
                format!("scheduled {type}/{id} for {at}\n")
            })?;
        }
        ScheduleCommand::Remove { r#type, ids, dry_run } => {
            let ids = deduplicated(read_ids(ids)?);
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            // Fails with the target's own error for an unknown type.
            target.get_type(&r#type)?;
            if dry_run.dry_run {
                let report = dry_run_report(&*target, &r#type, &ids)?;
                return report.print("unscheduled", true, printer);
            }
            // The API has no batch request that removes schedules.
            let labels = ("schedule remove", "unscheduled");
            let report = one_by_one(&ids, labels, printer, |id| target.unschedule(&r#type, id))?;
            return report.print("unscheduled", false, printer);
        }
    }
    Ok(Outcome::Done)
}

/// Adds the rules of `--at` and `--zone` to a validation error.
fn add_time_hint(error: Error) -> Failure {
    let is_invalid = matches!(error, Error::Invalid(_));
    Failure::from(error).hints(is_invalid.then_some(
        "--at is a time such as 2030-01-31T09:00, more than five minutes ahead; --zone is a time zone such as Europe/Berlin",
    ))
}
