//! `cms publish`, `unpublish` and `archive`.

use std::sync::atomic::Ordering;

use cms_core::{
    Error, Reason,
    wire::{bulk::BulkAction, publish::PublishAction},
};
use serde_json::Map;

use super::{
    bulk_job::BulkChange,
    interrupt,
    many_objects::{ObjectsReport, deduplicated, dry_run_report, one_by_one, read_ids},
    open_to_write,
};
use crate::{
    cli::PublishArgs,
    failure::{Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::Target,
};

/// Ids in one request; the API accepts 1001.
const BATCH_SIZE: usize = 1000;

pub(super) fn run(
    args: PublishArgs,
    action: PublishAction,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    let verb = match action {
        PublishAction::Publish => "published",
        PublishAction::Unpublish => "unpublished",
        PublishAction::Archive => "archived",
    };
    if args.selection.is_set() {
        let change = BulkChange {
            content_type: &args.r#type,
            action: BulkAction::Publish(action),
            members: Map::new(),
            selection: &args.selection,
            verb,
        };
        return change.run(args.dry_run.dry_run, settings, printer);
    }
    let ids = deduplicated(read_ids(args.ids)?);
    let target = open_to_write(settings, printer, args.dry_run.dry_run)?;
    let content_type = target.get_type(&args.r#type)?;
    if args.dry_run.dry_run {
        if !content_type.draft_public {
            return Err(Error::Rejected(vec![Reason::NoDraftPublic]).into());
        }
        return dry_run_report(&*target, &args.r#type, &ids)?.print(verb, true, printer);
    }
    let report = match args.hydrate {
        None => in_batches(&*target, &args.r#type, &ids, action, verb, printer)?,
        Some(levels) => one_by_one(&ids, (action.as_str(), verb), printer, |id| {
            target.set_status(&args.r#type, id, action, levels > 0)
        })?,
    };
    report.print(verb, false, printer)
}

/// The target applies an action to all objects of a batch or to none; halving a refused batch finds
/// the unknown objects.
fn in_batches(
    target: &dyn Target,
    content_type: &str,
    ids: &[String],
    action: PublishAction,
    verb: &str,
    printer: &Printer,
) -> Result<ObjectsReport> {
    let interrupt = interrupt();
    let mut progress = printer.progress(action.as_str(), ids.len() as u64);
    let mut report = ObjectsReport::default();
    // A stack: the last part is sent next.
    let mut parts: Vec<&[String]> = ids.chunks(BATCH_SIZE).rev().collect();
    while let Some(part) = parts.pop() {
        if interrupt.load(Ordering::Relaxed) {
            report.interrupted = true;
            break;
        }
        match (target.set_statuses(content_type, part, action), part) {
            (Ok(()), _) => report.done += part.len() as u64,
            (Err(Error::NotFound { .. }), [id]) => {
                report.refused.push((id.clone(), Error::object_not_found(content_type, id)));
            }
            (Err(Error::NotFound { .. }), _) => {
                let (first, second) = part.split_at(part.len() / 2);
                parts.extend([second, first]);
                continue;
            }
            (Err(error), _) => return Err(report.failure(error, verb)),
        }
        progress.advance(part.len() as u64);
    }
    Ok(report)
}
