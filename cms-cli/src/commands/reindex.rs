//! `cms reindex`: rebuilds the search index.

use std::{
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use cms_core::wire::search::{ReindexJob, ReindexState};
use serde_json::json;

use super::{counted, interrupt, open_to_read, print_dry_run, require_types};
use crate::{
    cli::ReindexArgs,
    failure::{Failure, FailureKind, Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::Target,
};

/// Time between two requests for the state of the job.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How the job continues without this command.
const CONTINUES: &str =
    "a running server continues the job; without one, the next `cms reindex` does";

pub(super) fn run(args: &ReindexArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    // A missing data directory is not created: it would have nothing to index.
    let target = open_to_read(settings)?;
    printer.target(&target.describe()?)?;
    require_types(&*target, &args.types)?;
    if args.dry_run.dry_run {
        let what = match args.types.as_slice() {
            [] => "all types".to_owned(),
            names => names.join(", "),
        };
        return print_dry_run(printer, &format!("rebuild the index of {what}"));
    }
    let created = target.reindex(&args.types)?;
    if args.no_wait {
        printer.value(&json!(created), || format!("job {}\n", created.id))?;
        printer.note(CONTINUES)?;
        return Ok(Outcome::Done);
    }
    let Some(job) = wait_for(&*target, &created.id, printer)? else {
        printer.note(&format!("interrupted; {CONTINUES}"))?;
        return Ok(Outcome::Partial);
    };
    printer.value(&json!(job), || format!("indexed {}\n", counted(job.done, "object")))?;
    Ok(Outcome::Done)
}

/// Waits for a job; returns none when it is interrupted.
fn wait_for(target: &dyn Target, id: &str, printer: &Printer) -> Result<Option<ReindexJob>> {
    let interrupt = interrupt();
    let mut progress = printer.progress("reindex", 0);
    while !interrupt.load(Ordering::Relaxed) {
        let requested = Instant::now();
        let job = target
            .reindex_job(id)
            .map_err(|error| Failure::from(FailureKind::Target(error)).hint(CONTINUES))?;
        if job.state == ReindexState::Done {
            return Ok(Some(job));
        }
        if let Some(error) = job.error {
            let message = format!("index rebuild failed: {error}");
            return Err(Failure::local(message).hint(CONTINUES));
        }
        progress.set(job.done, job.total);
        // On a data directory, the request itself does the work.
        thread::sleep(POLL_INTERVAL.saturating_sub(requested.elapsed()));
    }
    Ok(None)
}
