//! Bulk jobs: commands with --filters, --q or --all, and `cms job`.
//!
//! A command shows what it would do and to how many objects, asks for confirmation, starts a job that
//! expects this number of objects, and waits for the job. A server runs the job; on a data directory,
//! this process does.

use std::{sync::atomic::Ordering, thread, time::Duration};

use cms_core::{
    Error,
    wire::bulk::{BulkAction, BulkDryRunResponse, BulkJob, BulkJobState, BulkResponse},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    NOTHING_CHANGED, counted, hints, interrupt, many_objects::ObjectsReport, open_to_read,
    open_to_write,
};
use crate::{
    cli::{JobCommand, SelectionArgs},
    failure::{Failure, FailureKind, Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::Target,
    text_output::{self, Column, column},
};

/// Time between two requests for the state of a job.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

const COLUMNS: [Column<'_>; 9] = [
    column("ID", "/id"),
    column("STATE", "/state"),
    column("ACTION", "/action"),
    column("TYPE", "/contentType"),
    column("DONE", "/done"),
    column("TOTAL", "/total"),
    column("REFUSED", "/refused"),
    column("CREATED", "/createdAt"),
    column("BY", "/by/name"),
];

const SAMPLE_COLUMNS: [Column<'_>; 5] = [
    column("ID", "/id"),
    column("TITLE", "/objectTitle"),
    column("BEFORE", "/before"),
    column("AFTER", "/after"),
    column("ERRORS", "/errors"),
];

/// A change of many objects.
pub(super) struct BulkChange<'a> {
    pub(super) content_type: &'a str,
    pub(super) action: BulkAction,
    /// The members of the request that the action needs.
    pub(super) members: Map<String, Value>,
    pub(super) selection: &'a SelectionArgs,
    /// The participle of the change ("published").
    pub(super) verb: &'a str,
}

impl BulkChange<'_> {
    /// Shows the change and carries it out.
    pub(super) fn run(
        mut self,
        dry_run: bool,
        settings: &Settings,
        printer: &Printer,
    ) -> Result<Outcome> {
        let expect = self.selection.expect;
        if !dry_run && !settings.yes && !settings.may_prompt && expect.is_none() {
            return Err(Failure::usage("there is no terminal to ask for confirmation")
                .hint("use --expect N with the number of objects, or --yes"));
        }
        self.select()?;
        let target = open_to_write(settings, printer, dry_run)?;
        let filters = self.selection.filters.as_deref();
        let unknown = hints::unknown_properties(&*target, self.content_type, &[], filters);
        if !unknown.is_empty() {
            // The target ignores such a condition, and would select more objects than it names.
            let error = Error::invalid("filters", "A condition names an undeclared property");
            return Err(Failure::from(error).hints(unknown));
        }
        let planned = self.dry_run(&*target)?;
        if let Some(expected) = expect.filter(|expected| *expected != planned.matched) {
            return Err(Error::MatchesChanged { expected, found: planned.matched }.into());
        }
        if dry_run {
            let matched = counted(planned.matched, "object");
            let refused = planned.sample.iter().filter(|object| !object.errors.is_empty()).count();
            let refused = match (refused, planned.sample.len()) {
                (0, _) => String::new(),
                (refused, shown) => format!(", {refused} of these {shown} would be refused"),
            };
            printer.value(&json!(planned), || {
                format!("{matched} would be {}{refused}\n\n{}", self.verb, table(&planned.sample))
            })?;
            printer.note(NOTHING_CHANGED)?;
            return Ok(Outcome::Done);
        }
        if settings.may_prompt {
            printer.note(table(&planned.sample).trim_end())?;
        }
        let objects = counted(planned.matched, "object");
        let (name, action) = (self.content_type, self.action.as_str());
        settings.confirm(&format!("{action} {objects} of type \"{name}\"?"))?;
        self.members.insert("expect".to_owned(), planned.matched.into());
        match self.request(&*target)? {
            BulkResponse::Created { id } => {
                let job = wait_for(&*target, &id, &self, printer)?;
                self.report(job, printer)
            }
            BulkResponse::DryRun(_) => {
                Err(Error::internal("the server responded as to a dry run").into())
            }
        }
    }

    /// Adds the selection to the members of the request.
    fn select(&mut self) -> Result<()> {
        let SelectionArgs { filters, q, all, .. } = self.selection;
        if let Some(filters) = filters {
            let parsed: Value = serde_json::from_str(filters)
                .map_err(|error| Failure::usage(format!("--filters is not valid JSON: {error}")))?;
            if parsed == json!({}) {
                return Err(selects_everything("--filters has no condition"));
            }
            self.members.insert("filters".to_owned(), parsed);
        }
        if let Some(q) = q {
            if q.trim().is_empty() {
                return Err(selects_everything("--q is empty"));
            }
            self.members.insert("q".to_owned(), json!(q));
        }
        if *all {
            self.members.insert("all".to_owned(), json!(true));
        }
        self.members.insert("action".to_owned(), json!(self.action.as_str()));
        Ok(())
    }

    fn dry_run(&mut self, target: &dyn Target) -> Result<BulkDryRunResponse> {
        self.members.insert("dryRun".to_owned(), json!(true));
        let response = self.request(target)?;
        self.members.remove("dryRun");
        match response {
            BulkResponse::DryRun(response) => Ok(response),
            BulkResponse::Created { .. } => {
                Err(Error::internal("the server responded as to a job").into())
            }
        }
    }

    fn request(&self, target: &dyn Target) -> Result<BulkResponse> {
        target.bulk(self.content_type, &self.members).map_err(hints::add_filter_hint)
    }

    fn report(&self, job: BulkJob, printer: &Printer) -> Result<Outcome> {
        let errors = job.errors.unwrap_or_default().into_iter();
        let refused: Vec<_> = errors.map(|one| (one.id, Error::Invalid(one.errors))).collect();
        let unlisted_refused = job.refused.saturating_sub(refused.len() as u64);
        let report = ObjectsReport {
            done: job.succeeded,
            refused,
            unlisted_refused,
            ..ObjectsReport::default()
        };
        if job.state == BulkJobState::Failed {
            report.print_refused(printer)?;
            let reason = job.error.unwrap_or_default();
            let (done, verb) = (counted(job.succeeded, "object"), self.verb);
            return Err(Failure::local(format!("the job failed: {reason}"))
                .hint(format!("{done} {verb} before that")));
        }
        let outcome = report.print(self.verb, false, printer)?;
        if job.state == BulkJobState::Stopped {
            printer.note("stopped; the other objects did not change")?;
            return Ok(Outcome::Partial);
        }
        Ok(outcome)
    }
}

/// The error of a selection that an empty variable of a script may have left without a condition.
fn selects_everything(reason: &str) -> Failure {
    Failure::usage(format!("{reason}, and would select all objects"))
        .hint("use --all to select all objects of the type")
}

fn table(sample: &[impl Serialize]) -> String {
    let rows = sample.iter().map(|row| {
        let mut row = json!(row);
        for member in ["before", "after", "errors"] {
            if row[member].as_object().is_some_and(Map::is_empty) {
                row[member] = Value::Null;
            }
        }
        row
    });
    text_output::table(&rows.collect::<Vec<_>>(), &SAMPLE_COLUMNS)
}

/// Waits until a job has ended; Ctrl-C stops it. If the server cannot be reached, the error names the job, which must not
/// be started again.
fn wait_for(
    target: &dyn Target,
    id: &str,
    change: &BulkChange<'_>,
    printer: &Printer,
) -> Result<BulkJob> {
    let interrupt = interrupt();
    let mut progress = printer.progress(change.action.as_str(), 0);
    let continues = |error: Error| {
        Failure::from(FailureKind::Target(error)).hint(format!(
            "the job {id} continues, do not repeat the command: see `cms job get {id}`"
        ))
    };
    let mut is_stopped = false;
    loop {
        if !is_stopped && interrupt.load(Ordering::Relaxed) {
            target.stop_bulk_job(id).map_err(continues)?;
            is_stopped = true;
        }
        let is_working = target.advance_bulk_jobs().map_err(continues)?;
        let job = target.bulk_job(id).map_err(continues)?;
        if job.state.is_final() {
            return Ok(job);
        }
        progress.set(job.done, job.total);
        if !is_working {
            thread::sleep(POLL_INTERVAL);
        }
    }
}

pub(super) fn run(command: JobCommand, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    match command {
        JobCommand::List => {
            printer.rows(&open_to_read(settings)?.bulk_jobs()?, &COLUMNS)?;
        }
        JobCommand::Get { id } => {
            printer.members(&open_to_read(settings)?.bulk_job(&id)?)?;
        }
        JobCommand::Stop { id } => {
            open_to_write(settings, printer, false)?.stop_bulk_job(&id)?;
            printer.note(&format!("the job {id} is stopped"))?;
        }
    }
    Ok(Outcome::Done)
}
