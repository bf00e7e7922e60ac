//! `cms schedule`: lists, sets and removes scheduled publications.

use std::sync::atomic::Ordering;

use cms_core::wire::object::ObjectRequest;

use super::{
    interrupt,
    many_objects::{ObjectsReport, deduplicated, dry_run_report, is_refusal, read_ids},
    open_to_read, open_to_write, require_types, would,
};
use crate::{
    cli::ScheduleCommand,
    failure::{Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::Target,
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
    printer: &mut Printer,
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
                return would(printer, &format!("schedule {type}/{id}"));
            }
            let object = target.schedule(&r#type, &id, &at, &zone)?;
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
                return dry_run_report(&*target, &r#type, &ids)?.print(
                    "unscheduled",
                    true,
                    printer,
                );
            }
            return remove(&*target, &r#type, &ids, printer);
        }
    }
    Ok(Outcome::Done)
}

/// Removes schedules one by one: the API has no batch for that.
fn remove(
    target: &dyn Target,
    content_type: &str,
    ids: &[String],
    printer: &mut Printer,
) -> Result<Outcome> {
    let interrupt = interrupt();
    let mut progress = printer.progress("schedule remove", ids.len() as u64);
    let mut report = ObjectsReport::default();
    for id in ids {
        if interrupt.load(Ordering::Relaxed) {
            report.interrupted = true;
            break;
        }
        match target.unschedule(content_type, id) {
            Ok(()) => report.done += 1,
            Err(error) if is_refusal(&error) => report.refused.push((id.clone(), error)),
            Err(error) => return Err(report.failure(error, "unscheduled")),
        }
        progress.advance(1);
    }
    drop(progress);
    report.print("unscheduled", false, printer)
}
