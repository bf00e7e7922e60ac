//! `cms publish`, `unpublish` and `archive`.

use std::sync::atomic::{AtomicBool, Ordering};

use cms_core::{
    Error, Reason,
    wire::{bulk::BulkAction, publish::PublishAction},
};
use serde_json::Map;

use super::{
    bulk_job::BulkChange,
    interrupt,
    many_objects::{ObjectsReport, deduplicated, dry_run_report, is_refusal, no_object, read_ids},
    open_to_write,
};
use crate::{
    cli::PublishArgs,
    failure::{Outcome, Result},
    printer::{Printer, ProgressDisplay},
    settings::Settings,
    target::Target,
};

/// Ids in one request; the API accepts 1001.
const BATCH_SIZE: usize = 1000;

pub(super) fn run(
    args: PublishArgs,
    action: PublishAction,
    settings: &Settings,
    printer: &mut Printer,
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
    let mut run = StatusRun {
        target: &*target,
        content_type: &args.r#type,
        action,
        report: ObjectsReport::default(),
        progress: printer.progress(action.as_str(), ids.len() as u64),
        interrupt: &interrupt(),
    };
    let finished = match args.hydrate {
        None => run.in_batches(&ids),
        Some(levels) => run.one_by_one(&ids, levels > 0),
    };
    let StatusRun { report, progress, .. } = run;
    drop(progress);
    if let Err(error) = finished {
        return Err(report.failure(error, verb));
    }
    report.print(verb, false, printer)
}

struct StatusRun<'a> {
    target: &'a dyn Target,
    content_type: &'a str,
    action: PublishAction,
    report: ObjectsReport,
    progress: ProgressDisplay,
    interrupt: &'a AtomicBool,
}

impl StatusRun<'_> {
    /// The target applies an action to all objects of a batch or to none; halving a refused batch
    /// finds the unknown objects.
    fn in_batches(&mut self, ids: &[String]) -> cms_core::Result<()> {
        // A stack: the last part is sent next.
        let mut parts: Vec<&[String]> = ids.chunks(BATCH_SIZE).rev().collect();
        while let Some(part) = parts.pop() {
            if self.check_interrupt() {
                break;
            }
            match self.target.set_statuses(self.content_type, part, self.action) {
                Ok(()) => self.done(part.len() as u64),
                Err(Error::NotFound { .. }) if part.len() == 1 => {
                    self.refused(&part[0], no_object(self.content_type, &part[0]));
                }
                Err(Error::NotFound { .. }) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn one_by_one(&mut self, ids: &[String], cascade: bool) -> cms_core::Result<()> {
        for id in ids {
            if self.check_interrupt() {
                break;
            }
            match self.target.set_status(self.content_type, id, self.action, cascade) {
                Ok(()) => self.done(1),
                Err(error) if is_refusal(&error) => self.refused(id, error),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn check_interrupt(&mut self) -> bool {
        self.report.interrupted = self.interrupt.load(Ordering::Relaxed);
        self.report.interrupted
    }

    fn done(&mut self, count: u64) {
        self.report.done += count;
        self.progress.advance(count);
    }

    fn refused(&mut self, id: &str, error: Error) {
        self.report.refused.push((id.to_owned(), error));
        self.progress.advance(1);
    }
}
