//! Brings objects in, in batches, in the order of the files.
//!
//! An object whose link points to one that comes later is created without that property, and gets
//! it at the end; so objects are created in the order in which they stand, which is the order in
//! which lists show them. Where the property cannot wait (it is required, or can be set only once)
//! the whole object waits until its targets are there.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{BufWriter, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use cms_core::{
    Error, FieldErrors,
    paging::Page,
    wire::{batch::BatchReport, ctd::ContentType, object::ListRequest},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Job,
    element::{Address, Element, address, is_unchanged, without_pending},
};
use crate::{
    content::Row,
    failure::{Failure, Result},
    printer::{Printer, Progress},
    target::Target,
};

/// Objects in one request, unless the target allows fewer.
const BATCH: usize = 500;
/// Bytes of ids in one request, which travel in its address.
const ID_BYTES: usize = 8_000;
/// Refused objects that are shown; all of them go into the file of rejects.
const SHOWN: u64 = 20;
/// The message about a link without a target (contract 3.6).
const NO_TARGET: &str = "This value does not exist in database";

/// What happens to objects that exist already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Existing {
    /// They are refused.
    Refuse,
    /// They are replaced, unless they are equal.
    Update,
    /// They are left alone.
    Keep,
}

/// How objects are brought in.
pub(super) struct Options<'a> {
    pub(super) existing: Existing,
    pub(super) stop_on_error: bool,
    pub(super) rejects: Option<&'a Path>,
    pub(super) dry_run: bool,
}

/// What became of the objects.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) created: u64,
    pub(super) updated: u64,
    pub(super) unchanged: u64,
    pub(super) refused: u64,
    pub(super) interrupted: bool,
}

impl Counts {
    fn saved(&mut self, existed: bool) {
        if existed {
            self.updated += 1;
        } else {
            self.created += 1;
        }
    }
}

pub(super) struct Loader<'a> {
    target: &'a dyn Target,
    options: &'a Options<'a>,
    rejects: Option<BufWriter<File>>,
    batch: usize,
    counts: Counts,
    /// Which place an object of the files has in the order of all.
    ranks: HashMap<Address, u64>,
    interrupt: Arc<AtomicBool>,
}

/// Objects of one type that could not be finished when they came by.
struct Unfinished<'j> {
    job: &'j Job,
    /// Waiting for the target of a link.
    waiting: Vec<Element>,
    /// Created without some links.
    partial: Vec<Element>,
}

/// The part of an object that says which one it is.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    id: Value,
}

impl<'a> Loader<'a> {
    pub(super) fn new(target: &'a dyn Target, options: &'a Options<'a>) -> Result<Self> {
        let rejects = match options.rejects {
            None => None,
            Some(path) => Some(BufWriter::new(
                File::create(path).map_err(|error| Failure::unwritable(path.display(), error))?,
            )),
        };
        let interrupt = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupt);
        // Without a handler Ctrl-C still ends the process between two requests or within one, and
        // what a request saved is whole in any case.
        ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).ok();
        Ok(Self {
            target,
            options,
            rejects,
            batch: BATCH,
            counts: Counts::default(),
            ranks: HashMap::new(),
            interrupt,
        })
    }

    /// Brings in all objects of all jobs.
    pub(super) fn run(mut self, jobs: &[Job], printer: &mut Printer) -> Result<Counts> {
        let total = self.read_ids(jobs)?;
        let mut progress = printer.progress("import", total);
        let mut unfinished = Vec::new();
        let mut rank = 0;
        let finished = self.all_jobs(jobs, &mut rank, &mut unfinished, &mut progress, printer);
        let finished = finished.and_then(|()| self.finish(&mut unfinished, printer));
        drop(progress);
        if let Some(rejects) = &mut self.rejects {
            rejects.flush().map_err(|error| Failure::unwritable("the rejects", error))?;
        }
        match finished {
            Ok(()) => Ok(self.counts),
            Err(failure) => Err(failure.hint(format!(
                "{} objects were created and {} updated; the same command with --update-existing goes on",
                self.counts.created, self.counts.updated
            ))),
        }
    }

    /// Learns which objects the files hold, so that links to later ones are known. Returns how many
    /// there are.
    fn read_ids(&mut self, jobs: &[Job]) -> Result<u64> {
        let mut rank = 0;
        for job in jobs {
            for source in &job.sources {
                source.rows(&job.content_type, &mut |row: Row<Head>| {
                    rank += 1;
                    if let Ok(Head { id: Value::String(id) }) = row.value {
                        self.ranks.insert(address(&job.content_type.name, &id), rank);
                    }
                    Ok(())
                })?;
            }
        }
        Ok(rank)
    }

    fn all_jobs<'j>(
        &mut self,
        jobs: &'j [Job],
        rank: &mut u64,
        unfinished: &mut Vec<Unfinished<'j>>,
        progress: &mut Progress,
        printer: &mut Printer,
    ) -> Result<()> {
        for job in jobs {
            let mut rest = Unfinished { job, waiting: Vec::new(), partial: Vec::new() };
            let mut chunk: Vec<(u64, Element)> = Vec::new();
            for source in &job.sources {
                source.rows(&job.content_type, &mut |row: Row<Value>| {
                    *rank += 1;
                    match row.value {
                        _ if self.stops() => {}
                        Ok(value) => chunk.push((*rank, Element { place: row.place, value })),
                        Err(message) => {
                            let element = Element { place: row.place, value: Value::Null };
                            let mut errors = FieldErrors::default();
                            errors.add("data", message);
                            self.refuse(job, &element, &errors, printer)?;
                        }
                    }
                    if chunk.len() >= self.batch {
                        progress.advance(chunk.len() as u64);
                        self.chunk(&mut rest, std::mem::take(&mut chunk), printer)?;
                    }
                    Ok(())
                })?;
            }
            progress.advance(chunk.len() as u64);
            self.chunk(&mut rest, chunk, printer)?;
            unfinished.push(rest);
        }
        Ok(())
    }

    /// Whether no more objects are to be sent.
    fn stops(&mut self) -> bool {
        self.counts.interrupted |= self.interrupt.load(Ordering::Relaxed);
        self.counts.interrupted || (self.options.stop_on_error && self.counts.refused > 0)
    }

    /// Sends objects that stand one after the other.
    fn chunk(
        &mut self,
        rest: &mut Unfinished<'_>,
        elements: Vec<(u64, Element)>,
        printer: &mut Printer,
    ) -> Result<()> {
        if elements.is_empty() || self.stops() {
            return Ok(());
        }
        let job = rest.job;
        let stored = self.stored(&job.content_type, elements.iter().map(|(_, element)| element))?;
        let mut sent: Vec<Element> = Vec::new();
        let mut complete: Vec<Option<Element>> = Vec::new();
        let mut is_known: Vec<bool> = Vec::new();
        for (rank, element) in elements {
            let known = element.id().and_then(|id| stored.get(&id.to_lowercase()));
            if let Some(known) = known
                && (self.options.existing == Existing::Keep
                    || is_unchanged(&element.value, known, &job.content_type))
            {
                self.counts.unchanged += 1;
                continue;
            }
            let is_later = |at: &Address| self.ranks.get(at).is_some_and(|other| *other >= rank);
            let partial = if known.is_none() {
                without_pending(&element.value, &job.content_type, &is_later)
            } else {
                None
            };
            is_known.push(known.is_some());
            if let Some(value) = partial {
                sent.push(Element { place: element.place.clone(), value });
                complete.push(Some(element));
            } else {
                sent.push(element);
                complete.push(None);
            }
        }
        let refused = self.send(job, &sent, self.options.existing == Existing::Update)?;
        for (index, element) in sent.into_iter().enumerate() {
            let full = complete[index].take();
            match refused.get(&index) {
                None => {
                    self.counts.saved(is_known[index]);
                    rest.partial.extend(full);
                }
                Some(errors) if lacks_only_targets(errors) => {
                    rest.waiting.push(full.unwrap_or(element));
                }
                Some(errors) => self.refuse(job, &full.unwrap_or(element), errors, printer)?,
            }
        }
        Ok(())
    }

    /// Sends what waited for others, as long as that helps, and completes what lacks links.
    fn finish(&mut self, unfinished: &mut [Unfinished<'_>], printer: &mut Printer) -> Result<()> {
        let mut last_errors: HashMap<String, FieldErrors> = HashMap::new();
        loop {
            let waiting: HashSet<Address> = unfinished.iter().flat_map(addresses).collect();
            let mut helped = false;
            for rest in &mut *unfinished {
                if rest.waiting.is_empty() || self.stops() {
                    continue;
                }
                let elements = std::mem::take(&mut rest.waiting);
                let shortened = elements.iter().map(|element| {
                    let is_waiting = |at: &Address| waiting.contains(at);
                    let value =
                        without_pending(&element.value, &rest.job.content_type, &is_waiting);
                    (
                        value.is_some(),
                        Element {
                            place: element.place.clone(),
                            value: value.unwrap_or_else(|| element.value.clone()),
                        },
                    )
                });
                let (is_partial, sent): (Vec<bool>, Vec<Element>) = shortened.unzip();
                let update = self.options.existing == Existing::Update;
                let stored = self.stored(&rest.job.content_type, elements.iter())?;
                let refused = self.send(rest.job, &sent, update)?;
                for (index, element) in elements.into_iter().enumerate() {
                    match refused.get(&index) {
                        None => {
                            helped = true;
                            let is_known = element
                                .id()
                                .is_some_and(|id| stored.contains_key(&id.to_lowercase()));
                            self.counts.saved(is_known);
                            if is_partial[index] {
                                rest.partial.push(element);
                            }
                        }
                        Some(errors) if lacks_only_targets(errors) => {
                            last_errors.insert(element.place.clone(), errors.clone());
                            rest.waiting.push(element);
                        }
                        Some(errors) => self.refuse(rest.job, &element, errors, printer)?,
                    }
                }
            }
            if !helped {
                break;
            }
        }
        if self.counts.interrupted {
            return Ok(());
        }
        for rest in &mut *unfinished {
            for element in std::mem::take(&mut rest.waiting) {
                let errors = last_errors.remove(&element.place).unwrap_or_default();
                self.refuse(rest.job, &element, &errors, printer)?;
            }
        }
        for rest in &mut *unfinished {
            let elements = std::mem::take(&mut rest.partial);
            let refused = self.send(rest.job, &elements, true)?;
            for (index, element) in elements.iter().enumerate() {
                if let Some(errors) = refused.get(&index) {
                    // It exists, but without the links.
                    self.counts.created = self.counts.created.saturating_sub(1);
                    self.refuse(rest.job, element, errors, printer)?;
                }
            }
        }
        Ok(())
    }

    /// Fetches the stored objects of the same ids, by id in lower case. Where existing objects are
    /// refused anyway, the target finds them itself.
    fn stored<'e>(
        &self,
        content_type: &ContentType,
        elements: impl Iterator<Item = &'e Element>,
    ) -> Result<HashMap<String, Value>> {
        let mut stored = HashMap::new();
        if self.options.existing == Existing::Refuse {
            return Ok(stored);
        }
        let mut ids: Vec<String> = Vec::new();
        let mut fetch = |ids: &mut Vec<String>| -> Result<()> {
            let page = Page { number: 1, limit: u32::try_from(BATCH).unwrap_or(u32::MAX) };
            let request =
                ListRequest { page, ids: Some(std::mem::take(ids)), ..ListRequest::default() };
            let list = match self.target.objects(&content_type.name, &request) {
                // A dry run has not made the type.
                Err(Error::NotFound { .. }) if self.options.dry_run => return Ok(()),
                list => list?,
            };
            let by_id = |object: Value| Some((object["id"].as_str()?.to_lowercase(), object));
            stored.extend(list.data.into_iter().filter_map(by_id));
            Ok(())
        };
        let mut bytes = 0;
        for id in elements.filter_map(Element::id) {
            if ids.len() == BATCH || bytes + id.len() > ID_BYTES {
                fetch(&mut ids)?;
                bytes = 0;
            }
            bytes += id.len();
            ids.push(id.to_owned());
        }
        if !ids.is_empty() {
            fetch(&mut ids)?;
        }
        Ok(stored)
    }

    /// Sends objects and returns why some were refused, by their number.
    fn send(
        &mut self,
        job: &Job,
        elements: &[Element],
        update: bool,
    ) -> Result<HashMap<usize, FieldErrors>> {
        let mut refused = HashMap::new();
        if self.options.dry_run {
            return Ok(refused);
        }
        let mut start = 0;
        let mut size = self.batch;
        while start < elements.len() {
            let part = &elements[start..elements.len().min(start + size)];
            let values = part.iter().map(|element| element.value.clone()).collect();
            match self.target.import(&job.content_type.name, values, update) {
                Ok(report) => {
                    let errors = by_number(part, report);
                    refused.extend(errors.into_iter().map(|(number, e)| (start + number, e)));
                    start += part.len();
                    size = self.batch;
                }
                Err(Error::BatchLimit { limit }) if limit > 0 && limit < part.len() => {
                    self.batch = limit;
                    size = limit;
                }
                // One object, or all of them together, can be too much: halves find out which.
                Err(Error::ObjectTooLarge { .. } | Error::BodyTooLarge | Error::BadRequest(_))
                    if part.len() > 1 =>
                {
                    size = part.len() / 2;
                }
                Err(
                    error @ (Error::ObjectTooLarge { .. }
                    | Error::BodyTooLarge
                    | Error::BadRequest(_)),
                ) => {
                    let mut errors = FieldErrors::default();
                    errors.add("data", error.to_string());
                    refused.insert(start, errors);
                    start += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(refused)
    }

    fn refuse(
        &mut self,
        job: &Job,
        element: &Element,
        errors: &FieldErrors,
        printer: &mut Printer,
    ) -> Result<()> {
        self.counts.refused += 1;
        if self.counts.refused <= SHOWN {
            let name = &job.content_type.name;
            let id = element.id().map_or_else(String::new, |id| format!(" {name}/{id}"));
            for (path, messages) in errors.iter() {
                let messages = messages.join("; ");
                printer.note(&format!("refused{id} ({}): {path}: {messages}", element.place))?;
            }
        } else if self.counts.refused == SHOWN + 1 {
            printer.note("more are refused; they are counted, but not shown")?;
        }
        if let Some(rejects) = &mut self.rejects {
            let line = json!({
                "contentType": job.content_type.name,
                "place": element.place,
                "errors": errors,
                "data": element.value,
            });
            writeln!(rejects, "{line}")
                .map_err(|error| Failure::unwritable("the rejects", error))?;
        }
        Ok(())
    }
}

fn addresses<'r>(rest: &'r Unfinished<'_>) -> impl Iterator<Item = Address> + use<'r> {
    let name = &rest.job.content_type.name;
    rest.waiting.iter().filter_map(move |element| Some(address(name, element.id()?)))
}

fn lacks_only_targets(errors: &FieldErrors) -> bool {
    !errors.is_empty()
        && errors.iter().all(|(_, messages)| messages.iter().all(|message| message == NO_TARGET))
}

/// Finds out which elements the errors of a report are about: both stand in the same order.
fn by_number(elements: &[Element], report: BatchReport) -> HashMap<usize, FieldErrors> {
    let mut found = HashMap::new();
    let mut next = 0;
    for error in report.errors {
        let is_meant = |element: &Element| match element.id() {
            Some(id) => id == error.id,
            None => error.id.is_empty() && element.value == error.data,
        };
        if let Some(ahead) = elements[next..].iter().position(is_meant) {
            found.insert(next + ahead, error.errors);
            next += ahead + 1;
        }
    }
    found
}
