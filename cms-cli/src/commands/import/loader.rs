//! Brings objects in, in batches, in the order of the files.
//!
//! An object whose link points to one that comes later is created without that property, and gets
//! it at the end; so objects are created in the order in which they stand, which is the order in
//! which lists show them. Where the property cannot wait (it is required, or can be set only once)
//! the whole object waits until its targets are there.
//!
//! Statuses come last: [`status`]. A modified object is created from its published version, so that
//! nothing of the current one can be published with it. Files come first: [`files`]. An import that
//! was interrupted goes on where it was: [`resume`]. [`sending`] makes batches.

mod files;
mod resume;
mod sending;
mod status;

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

use cms_core::{Error, FieldErrors, Import, wire::content_type::ContentType};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    super::{interrupt, many},
    Job,
    counts::{Counted, Counts, Refusal},
    element::{Address, Element, address, is_as_old, is_unchanged, links_to, without_pending},
};
use crate::{
    content::Row,
    failure::{Failure, Kind, Result},
    printer::{Printer, Progress},
    target::{Edition, Target},
};

/// Objects in one request, unless the target allows fewer.
const BATCH: usize = 500;
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
    /// They are left alone, and deleted ones stay deleted.
    Keep,
}

/// How objects are brought in.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Options<'a> {
    pub(super) existing: Existing,
    /// The import that was interrupted and goes on now.
    pub(super) interrupted: Option<&'a Import<'a>>,
    /// Objects keep the dates that the files say.
    pub(super) keep_dates: bool,
    pub(super) stop_on_error: bool,
    pub(super) rejects: Option<&'a Path>,
    pub(super) dry_run: bool,
    /// Media objects have their files beside them, and objects get the statuses and workflow states
    /// that the folder says.
    pub(super) from_folder: bool,
}

pub(super) struct Loader<'a> {
    target: &'a dyn Target,
    options: &'a Options<'a>,
    rejects: Option<BufWriter<File>>,
    batch: usize,
    counts: Counts,
    /// Which place an object of the files has in the order of all.
    ranks: HashMap<Address, u64>,
    /// Objects that are as the files say, so that their status can be set, and how they count.
    settled: HashMap<Address, Counted>,
    interrupt: Arc<AtomicBool>,
}

/// Objects of one type that could not be finished when they came by.
struct Unfinished<'j> {
    job: &'j Job,
    /// Waiting for the target of a link, with what was said about them last.
    waiting: Vec<(Element, FieldErrors)>,
    /// Saved without some links.
    partial: Vec<(Element, Counted)>,
}

/// An object on its way to the target.
struct Attempt {
    element: Element,
    /// What is sent instead, as long as some links have to wait.
    partial: Option<Value>,
    /// The target has an object of this id.
    exists: bool,
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
        Ok(Self {
            target,
            options,
            rejects,
            batch: BATCH,
            counts: Counts::default(),
            ranks: HashMap::new(),
            settled: HashMap::new(),
            // What a request saved is whole, even if Ctrl-C ends the process at once.
            interrupt: interrupt(),
        })
    }

    /// Brings in all objects of all jobs.
    pub(super) fn run(mut self, jobs: &[Job], printer: &mut Printer) -> Result<Counts> {
        let total = self.read_ids(jobs)?;
        self.send_files(jobs, printer)?;
        let mut progress = printer.progress("import", total);
        let mut unfinished = Vec::new();
        let mut rank = 0;
        let finished = self.all_jobs(jobs, &mut rank, &mut unfinished, &mut progress, printer);
        let finished = finished.and_then(|()| self.finish(&mut unfinished, printer));
        drop(progress);
        let finished = finished.and_then(|()| self.set_statuses(jobs, printer));
        if let Some(rejects) = &mut self.rejects {
            rejects.flush().map_err(|error| Failure::unwritable("the rejects", error))?;
        }
        match finished {
            Ok(()) => Ok(self.counts),
            Err(failure) => {
                let Counts { created, updated, .. } = self.counts;
                let again = match self.options.existing {
                    Existing::Keep => "the next start with the same --import",
                    Existing::Refuse | Existing::Update => {
                        "the same command with --update-existing"
                    }
                };
                Err(failure.hint(format!(
                    "{created} objects were created and {updated} updated; {again} goes on"
                )))
            }
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
            // A batch names each object once, but an object can be deleted and created again.
            let mut deleted_in_chunk: HashSet<String> = HashSet::new();
            for source in &job.sources {
                source.rows(&job.content_type, &mut |row: Row<Value>| {
                    *rank += 1;
                    match row.value {
                        _ if self.stops() => {}
                        Ok(value) => {
                            let element = self.element(row.place, value);
                            let id = element.id().map(str::to_lowercase).unwrap_or_default();
                            if deleted_in_chunk.contains(&id) {
                                deleted_in_chunk.clear();
                                progress.advance(chunk.len() as u64);
                                self.chunk(&mut rest, std::mem::take(&mut chunk), printer)?;
                            }
                            if element.is_deleted {
                                deleted_in_chunk.insert(id);
                            }
                            chunk.push((*rank, element));
                        }
                        Err(message) => {
                            let element = Element::new(row.place, Value::Null);
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

    /// An object of a file.
    fn element(&self, place: String, value: Value) -> Element {
        let mut element = Element::new(place, value);
        if self.options.keep_dates {
            element.keep_dates();
        }
        element
    }

    /// Whether an object is not created because somebody deleted it.
    fn stays_deleted(&self, job: &Job, id: &str) -> bool {
        self.options.existing == Existing::Keep && job.deleted.contains(&id.to_lowercase())
    }

    /// Whether no more objects are to be sent.
    fn stops(&mut self) -> bool {
        self.counts.interrupted |= self.interrupt.load(Ordering::Relaxed);
        self.counts.interrupted
            || (self.options.stop_on_error && self.counts.refused + self.counts.files.refused > 0)
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
        let content_type = &rest.job.content_type;
        let stored = self.stored(content_type, elements.iter().map(|(_, element)| element))?;
        let own = self.created_before(content_type, &stored)?;
        let mut attempts = Vec::new();
        for (rank, mut element) in elements {
            let id = element.id().map(str::to_lowercase);
            let known = id.as_ref().and_then(|id| stored.get(id));
            let is_own = id.as_ref().is_some_and(|id| own.contains(id));
            if is_own && known.is_some_and(|known| self.resume(rest, &element, known)) {
                continue;
            }
            if element.is_deleted {
                // One deletion of an object is enough, and no reason to delete it again.
                let deleted = &rest.job.deleted;
                if known.is_some() || id.as_ref().is_some_and(|id| deleted.contains(id)) {
                    self.counts.add(Counted::Unchanged);
                } else {
                    attempts.push(Attempt { element, partial: None, exists: false });
                }
                continue;
            }
            let stays_deleted = id.as_ref().is_some_and(|id| self.stays_deleted(rest.job, id));
            let stays = known.is_some_and(|known| {
                self.options.existing == Existing::Keep
                    || (is_unchanged(&element.value, known, content_type)
                        && (!self.options.keep_dates || is_as_old(&element.value, known)))
            });
            if stays_deleted || stays {
                self.counts.add(Counted::Unchanged);
                if self.options.existing == Existing::Update {
                    self.settle(content_type, &element, Counted::Unchanged);
                }
                continue;
            }
            let exists = known.is_some();
            element.from_published = !exists && self.restores_published(content_type, &element);
            let is_later = |at: &Address| self.ranks.get(at).is_some_and(|other| *other >= rank);
            let partial = if exists {
                None
            } else {
                without_pending(element.first(), content_type, &is_later)
            };
            // Not tried at once, because targets of an interrupted import may exist already: the order
            // of creation must not depend on where it was interrupted.
            let sent = partial.as_ref().unwrap_or(element.first());
            if self.options.existing == Existing::Keep && links_to(sent, &is_later) {
                rest.waiting.push((element, FieldErrors::default()));
                continue;
            }
            attempts.push(Attempt { element, partial, exists });
        }
        self.attempt(rest, attempts, printer)?;
        Ok(())
    }

    /// Sends objects and sorts them by what the target said; returns how many it saved.
    fn attempt(
        &mut self,
        rest: &mut Unfinished<'_>,
        attempts: Vec<Attempt>,
        printer: &mut Printer,
    ) -> Result<usize> {
        let values: Vec<&Value> = attempts
            .iter()
            .map(|attempt| attempt.partial.as_ref().unwrap_or(attempt.element.first()))
            .collect();
        let update = self.options.existing == Existing::Update;
        let mut refused = self.send(rest.job, &values, update)?;
        let saved = attempts.len() - refused.len();
        for (number, Attempt { element, partial, exists }) in attempts.into_iter().enumerate() {
            match refused.remove(&number) {
                None => {
                    let counted = if exists { Counted::Updated } else { Counted::Created };
                    self.counts.add(counted);
                    self.settle(&rest.job.content_type, &element, counted);
                    if partial.is_some() {
                        rest.partial.push((element, counted));
                    }
                }
                Some(errors) if may_wait(&element, &errors) => rest.waiting.push((element, errors)),
                Some(errors) => self.refuse(rest.job, &element, &errors, printer)?,
            }
        }
        Ok(saved)
    }

    /// Sends what waited for others, as long as that helps, and completes what lacks links.
    fn finish(&mut self, unfinished: &mut [Unfinished<'_>], printer: &mut Printer) -> Result<()> {
        loop {
            while self.send_waiting(unfinished, printer)? > 0 {}
            // What cannot be restored as readers saw it comes in as it is now.
            let waiting = unfinished.iter_mut().flat_map(|rest| &mut rest.waiting);
            let from_published = waiting.filter(|(element, _)| element.from_published);
            if from_published.map(|(element, _)| element.from_published = false).count() == 0 {
                break;
            }
        }
        if self.counts.interrupted {
            return Ok(());
        }
        for rest in &mut *unfinished {
            for (element, errors) in std::mem::take(&mut rest.waiting) {
                self.refuse(rest.job, &element, &errors, printer)?;
            }
        }
        for rest in &mut *unfinished {
            let values: Vec<&Value> =
                rest.partial.iter().map(|(element, _)| element.first()).collect();
            for (number, errors) in self.send(rest.job, &values, true)? {
                // It exists, but without the links.
                let (element, counted) = &rest.partial[number];
                self.counts.take_back(*counted);
                let id = element.id().unwrap_or_default();
                self.settled.remove(&address(&rest.job.content_type.name, id));
                self.refuse(rest.job, element, &errors, printer)?;
            }
        }
        Ok(())
    }

    /// Sends each waiting object once more; returns how many were saved.
    fn send_waiting(
        &mut self,
        unfinished: &mut [Unfinished<'_>],
        printer: &mut Printer,
    ) -> Result<usize> {
        let waiting: HashSet<Address> = unfinished.iter().flat_map(addresses).collect();
        let mut saved = 0;
        for rest in unfinished {
            if rest.waiting.is_empty() || self.stops() {
                continue;
            }
            let elements = std::mem::take(&mut rest.waiting);
            let content_type = &rest.job.content_type;
            let stored = self.stored(content_type, elements.iter().map(|(element, _)| element))?;
            let attempts = elements.into_iter().map(|(mut element, _)| {
                let is_waiting = |at: &Address| waiting.contains(at);
                let exists = element.id().is_some_and(|id| stored.contains_key(&id.to_lowercase()));
                element.from_published &= !exists;
                let partial = without_pending(element.first(), content_type, &is_waiting);
                Attempt { element, partial, exists }
            });
            saved += self.attempt(rest, attempts.collect(), printer)?;
        }
        Ok(saved)
    }

    /// Fetches the stored objects of the same ids, by id in lower case. Where existing objects are
    /// refused anyway, the target finds them itself.
    fn stored<'e>(
        &self,
        content_type: &ContentType,
        elements: impl Iterator<Item = &'e Element>,
    ) -> Result<HashMap<String, Value>> {
        if self.options.existing == Existing::Refuse {
            return Ok(HashMap::new());
        }
        let ids = elements.filter_map(Element::id);
        match many::stored(self.target, &content_type.name, ids, Edition::Current) {
            // A dry run has not made the type.
            Err(Failure { kind: Kind::Target(Error::NotFound { .. }), .. })
                if self.options.dry_run =>
            {
                Ok(HashMap::new())
            }
            stored => stored,
        }
    }

    fn refuse(
        &mut self,
        job: &Job,
        element: &Element,
        errors: &FieldErrors,
        printer: &mut Printer,
    ) -> Result<()> {
        self.counts.refused += 1;
        self.tell_refused(job, element, errors, printer)
    }

    fn tell_refused(
        &mut self,
        job: &Job,
        element: &Element,
        errors: &FieldErrors,
        printer: &mut Printer,
    ) -> Result<()> {
        self.counts.list(|| Refusal::of(&job.content_type.name, element, errors));
        let refused = self.counts.refused + self.counts.files.refused;
        if refused <= SHOWN {
            let name = &job.content_type.name;
            let id = element.id().map_or_else(String::new, |id| format!(" {name}/{id}"));
            for (path, messages) in errors.iter() {
                let messages = messages.join("; ");
                printer.note(&format!("refused{id} ({}): {path}: {messages}", element.place))?;
            }
        } else if refused == SHOWN + 1 {
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
    rest.waiting.iter().filter_map(move |(element, _)| Some(address(name, element.id()?)))
}

/// Whether there is hope for a refused object: its links may find their targets, and instead of a
/// published version there is the current one.
fn may_wait(element: &Element, errors: &FieldErrors) -> bool {
    lacks_only_targets(errors) || (element.from_published && errors.at("id").is_empty())
}

fn lacks_only_targets(errors: &FieldErrors) -> bool {
    !errors.is_empty()
        && errors.iter().all(|(_, messages)| messages.iter().all(|message| message == NO_TARGET))
}
