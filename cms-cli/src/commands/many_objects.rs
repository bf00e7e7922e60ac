//! Commands on many objects: ids from standard input, and the result of each object.

use std::{collections::HashSet, io, sync::atomic::Ordering};

use cms_core::{Error, import::fetch};
use serde_json::json;

use super::{NOTHING_CHANGED, counted, interrupt};
use crate::{
    failure::{self, Failure, Outcome, Result},
    printer::Printer,
    target::{Edition, Target},
};

/// Maximum number of refusals that are printed as lines; JSON output has no such limit.
const MAX_PRINTED: usize = 20;

/// Replaces `-` by the lines of standard input.
pub(super) fn read_ids(ids: Vec<String>) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for id in ids {
        if id == "-" {
            let text = io::read_to_string(io::stdin())
                .map_err(|error| Failure::unreadable("standard input", error))?;
            all.extend(text.lines().filter(|id| !id.is_empty()).map(str::to_owned));
        } else {
            all.push(id);
        }
    }
    Ok(all)
}

/// Removes repeated ids; ids compare without case.
pub(super) fn deduplicated(mut ids: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    ids.retain(|id| seen.insert(id.to_lowercase()));
    ids
}

/// The results of many objects.
#[derive(Default)]
pub(super) struct ObjectsReport {
    pub(super) done: u64,
    /// Ids with the errors.
    pub(super) refused: Vec<(String, Error)>,
    /// Number of refused objects that are not in `refused`.
    pub(super) unlisted_refused: u64,
    pub(super) interrupted: bool,
}

impl ObjectsReport {
    /// Prints the results with the participle `verb` ("published"). When all objects were refused,
    /// the first error gives the exit code.
    pub(super) fn print(self, verb: &str, dry_run: bool, printer: &Printer) -> Result<Outcome> {
        self.print_refused(printer)?;
        let (done, refused) = (self.done, self.count_refused());
        let reasons = self.refused.iter().map(|(id, e)| json!({ "id": id, "reason": reason(e) }));
        let value = json!({ "done": done, "refused": reasons.collect::<Vec<_>>() });
        let verb = if dry_run { format!("would be {verb}") } else { verb.to_owned() };
        printer.value(&value, || format!("{verb} {done}, refused {refused}\n"))?;
        if self.interrupted {
            printer.note("interrupted; the other objects did not change")?;
        }
        if dry_run {
            printer.note(NOTHING_CHANGED)?;
        }
        Ok(match self.refused.first() {
            _ if self.interrupted => Outcome::Partial,
            None => Outcome::Done,
            Some((_, error)) if done == 0 => Outcome::Refused(failure::exit_code(error)),
            Some(_) => Outcome::Partial,
        })
    }

    pub(super) fn print_refused(&self, printer: &Printer) -> Result<()> {
        for (id, error) in self.refused.iter().take(MAX_PRINTED) {
            printer.note(&format!("refused {id}: {}", reason(error)))?;
        }
        if self.count_refused() > MAX_PRINTED as u64 {
            printer.note("more are refused; they are counted, but not shown")?;
        }
        Ok(())
    }

    fn count_refused(&self) -> u64 {
        self.refused.len() as u64 + self.unlisted_refused
    }

    /// Adds the number of finished objects to the error that ended the command.
    pub(super) fn failure(&self, error: Error, verb: &str) -> Failure {
        let failure = Failure::from(error);
        match self.done {
            0 => failure,
            done => failure.hint(format!("{} {verb} before that", counted(done, "object"))),
        }
    }
}

/// Changes objects one by one, until Ctrl-C; a refused one does not stop the others. `label` names the
/// progress display, `verb` is the participle of the change.
pub(super) fn one_by_one(
    ids: &[String],
    (label, verb): (&str, &str),
    printer: &Printer,
    change: impl Fn(&str) -> cms_core::Result<()>,
) -> Result<ObjectsReport> {
    let interrupt = interrupt();
    let mut progress = printer.progress(label, ids.len() as u64);
    let mut report = ObjectsReport::default();
    for id in ids {
        if interrupt.load(Ordering::Relaxed) {
            report.interrupted = true;
            break;
        }
        match change(id) {
            Ok(()) => report.done += 1,
            Err(error) if is_refusal(&error) => report.refused.push((id.clone(), error)),
            Err(error) => return Err(report.failure(error, verb)),
        }
        progress.advance(1);
    }
    Ok(report)
}

/// Why one object was refused: the messages with the paths of properties. The id and the action are in the command.
fn reason(error: &Error) -> String {
    let Error::Invalid(errors) = error else { return error.reason() };
    let text = |(path, messages): (&str, &[String])| match path {
        "id" | "action" => messages.join("; "),
        _ => format!("{path}: {}", messages.join("; ")),
    };
    errors.iter().map(text).collect::<Vec<_>>().join("; ")
}

/// Returns whether an error concerns one object alone.
fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::NotFound { .. } | Error::Rejected(_) | Error::Invalid(_))
}

/// The results of a dry run: existing objects, and missing ones as refused.
pub(super) fn dry_run_report(
    target: &dyn Target,
    content_type: &str,
    ids: &[String],
) -> Result<ObjectsReport> {
    let present = fetch(target, content_type, ids, Edition::Current)?;
    let mut report = ObjectsReport::default();
    for id in ids {
        if present.contains_key(&id.to_lowercase()) {
            report.done += 1;
        } else {
            report.refused.push((id.clone(), Error::object_not_found(content_type, id)));
        }
    }
    Ok(report)
}
