//! `cms reindex`: making the search index anew.

use std::{
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use cms_core::wire::search::{Job, JobState};
use serde_json::json;

use super::{NOTHING_CHANGED, counted, interrupt, open_to_read, require_types};
use crate::{
    cli::ReindexArgs,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::Target,
};

/// How often somebody looks.
const PAUSE: Duration = Duration::from_millis(200);

/// Who works when nobody waits.
const OTHERS: &str = "a running server does the work; where none runs, the next `cms reindex` does";

pub(super) fn run(
    args: &ReindexArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    // A missing folder is not made: there is nothing in it to index.
    let target = open_to_read(settings)?;
    printer.target(&target.describe()?)?;
    require_types(&*target, &args.types)?;
    if args.dry_run.dry_run {
        let what = match args.types.as_slice() {
            [] => "all types".to_owned(),
            names => names.join(", "),
        };
        printer.note(&format!("would index the objects of {what} anew\n{NOTHING_CHANGED}"))?;
        return Ok(Outcome::Done);
    }
    let created = target.reindex(&args.types)?;
    if args.no_wait {
        printer.value(&json!(created), || format!("job {}\n", created.id))?;
        printer.note(OTHERS)?;
        return Ok(Outcome::Done);
    }
    let Some(job) = wait_for(&*target, &created.id, printer)? else {
        printer.note(&format!("interrupted; {OTHERS}"))?;
        return Ok(Outcome::Partial);
    };
    printer.value(&json!(job), || format!("indexed {}\n", counted(job.done, "object")))?;
    Ok(Outcome::Done)
}

/// Looks at a job until it is done; none when the user does not want to wait any longer.
fn wait_for(target: &dyn Target, id: &str, printer: &Printer) -> Result<Option<Job>> {
    let interrupt = interrupt();
    let mut progress = printer.progress("reindex", 0);
    while !interrupt.load(Ordering::Relaxed) {
        let looked = Instant::now();
        let job = target.job(id)?;
        if job.state == JobState::Done {
            return Ok(Some(job));
        }
        if let Some(error) = job.error {
            let message = format!("the index cannot be made: {error}");
            return Err(Failure::local(message).hint(OTHERS));
        }
        progress.set(job.done, job.total);
        // Where looking is working, there is nothing to wait for.
        thread::sleep(PAUSE.saturating_sub(looked.elapsed()));
    }
    Ok(None)
}
