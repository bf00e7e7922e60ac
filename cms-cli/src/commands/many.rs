//! What commands about many objects share: ids from standard input, and what became of each.

use std::{
    collections::{HashMap, HashSet},
    io,
};

use cms_core::{Error, paging::Page, wire::object::ListRequest};
use serde_json::{Value, json};

use super::{NOTHING_CHANGED, counted};
use crate::{
    failure::{self, Failure, Outcome, Result},
    printer::Printer,
    target::{Edition, Target},
};

/// Objects in one list.
const LIST: usize = 500;
/// Bytes of ids in one list, which travel in its address.
const ID_BYTES: usize = 8_000;
/// Refusals that are shown as lines; JSON output has all of them.
const SHOWN: usize = 20;

/// Puts the lines of standard input in the place of `-`.
pub(super) fn with_standard_input(ids: Vec<String>) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for id in ids {
        if id == "-" {
            let text = io::read_to_string(io::stdin())
                .map_err(|error| Failure::unreadable("standard input", error))?;
            all.extend(text.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned));
        } else {
            all.push(id);
        }
    }
    Ok(all)
}

/// Each object once; ids are compared without case.
pub(super) fn without_repeats(mut ids: Vec<String>) -> Vec<String> {
    let mut known = HashSet::new();
    ids.retain(|id| known.insert(id.to_lowercase()));
    ids
}

/// Fetches objects by their ids; returns them by id in lower case. Those that are not there are
/// left out.
pub(super) fn stored<'i>(
    target: &dyn Target,
    content_type: &str,
    ids: impl Iterator<Item = &'i str>,
    edition: Edition,
) -> Result<HashMap<String, Value>> {
    let mut found = HashMap::new();
    let mut fetch = |ids: &mut Vec<String>| -> Result<()> {
        let page = Page { number: 1, limit: u32::try_from(LIST).unwrap_or(u32::MAX) };
        let request =
            ListRequest { page, ids: Some(std::mem::take(ids)), ..ListRequest::default() };
        let list = target.objects(content_type, &request, edition)?;
        let by_id = |object: Value| Some((object["id"].as_str()?.to_lowercase(), object));
        found.extend(list.data.into_iter().filter_map(by_id));
        Ok(())
    };
    let mut chunk: Vec<String> = Vec::new();
    let mut bytes = 0;
    for id in ids {
        if chunk.len() == LIST || bytes + id.len() > ID_BYTES {
            fetch(&mut chunk)?;
            bytes = 0;
        }
        bytes += id.len();
        chunk.push(id.to_owned());
    }
    if !chunk.is_empty() {
        fetch(&mut chunk)?;
    }
    Ok(found)
}

/// What became of many objects.
#[derive(Default)]
pub(super) struct Report {
    pub(super) done: u64,
    /// Ids with the reasons.
    pub(super) refused: Vec<(String, Error)>,
    pub(super) interrupted: bool,
}

impl Report {
    /// Prints what was done, in the words `verb` ("published"), and says how the command ends: as
    /// the first refusal has it when nothing was done.
    pub(super) fn tell(self, verb: &str, dry_run: bool, printer: &mut Printer) -> Result<Outcome> {
        for (id, error) in self.refused.iter().take(SHOWN) {
            printer.note(&format!("refused {id}: {}", reason(error)))?;
        }
        if self.refused.len() > SHOWN {
            printer.note("more are refused; they are counted, but not shown")?;
        }
        let (done, refused) = (self.done, self.refused.len());
        let reasons = self.refused.iter().map(|(id, e)| json!({ "id": id, "reason": reason(e) }));
        let value = json!({ "done": done, "refused": reasons.collect::<Vec<_>>() });
        let verb = if dry_run { format!("would be {verb}") } else { verb.to_owned() };
        printer.value(&value, || format!("{verb} {done}, refused {refused}\n"))?;
        if self.interrupted {
            printer.note("interrupted; the others are as they were")?;
        }
        if dry_run {
            printer.note(NOTHING_CHANGED)?;
        }
        Ok(match self.refused.first() {
            _ if self.interrupted => Outcome::Partly,
            None => Outcome::Done,
            Some((_, error)) if done == 0 => Outcome::Refused(failure::exit_code(error)),
            Some(_) => Outcome::Partly,
        })
    }

    /// What ended the work before all objects had their turn.
    pub(super) fn failure(&self, error: Error, verb: &str) -> Failure {
        let failure = Failure::from(error);
        match self.done {
            0 => failure,
            done => failure.hint(format!("{} {verb} before that", counted(done, "object"))),
        }
    }
}

/// Why one object was refused, in a line.
pub(super) fn reason(error: &Error) -> String {
    match error {
        Error::NotFound { .. } => "not found".to_owned(),
        Error::Invalid(errors) => {
            let all = errors.iter().flat_map(|(_, messages)| messages);
            all.map(String::as_str).collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}

/// Tells whether an error is about the object that was asked for, and says nothing about others.
pub(super) fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::NotFound { .. } | Error::Rejected(_) | Error::Invalid(_))
}

/// The objects of a dry run: those that are there, and those that are not.
pub(super) fn rehearse(target: &dyn Target, content_type: &str, ids: &[String]) -> Result<Report> {
    let present = stored(target, content_type, ids.iter().map(String::as_str), Edition::Current)?;
    let mut report = Report::default();
    for id in ids {
        if present.contains_key(&id.to_lowercase()) {
            report.done += 1;
        } else {
            report.refused.push((id.clone(), no_object(content_type, id)));
        }
    }
    Ok(report)
}

pub(super) fn no_object(content_type: &str, id: &str) -> Error {
    Error::NotFound { what: "object", name: format!("{content_type}/{id}") }
}
