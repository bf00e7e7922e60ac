//! The order of an import.
//!
//! Objects are created in the order of the files, because lists use that order. An object that links
//! to a later one is created without the linking property and completed at the end. If the property
//! is required or read-only, the object waits until the targets of its links exist. Statuses come
//! last (`statuses`); a modified object is created from its published version first, so that its public
//! version never has data of its current one.

use std::{
    collections::{HashMap, HashSet},
    mem,
    sync::atomic::{AtomicBool, Ordering},
};

use cms_model::{
    error::{Error, FieldErrors, Result},
    message,
    object::model::Edition,
    wire::{content_type::ContentType, workflow::Workflow},
};
use serde_json::Value;

use super::{
    ImportTarget,
    batches::BatchInFlight,
    compare::{has_same_creation_date, is_unchanged},
    dry_run::ObjectValidator,
    fetch::fetch,
    links::{has_link, targets_first, without_pending_links},
    object::{ImportObject, ObjectAddress, address},
    options::{ImportOptions, OnConflict},
    short_links::expand_links,
};
use crate::object::batch_report::DUPLICATE_ID;

/// Objects in one batch, unless the target accepts fewer.
pub(super) const BATCH_SIZE: usize = 500;

/// Number of objects by outcome. Each object has one outcome; `statuses` counts some of them again.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportCounts {
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    pub refused: u64,
    /// Objects whose status or workflow state was set.
    pub statuses: u64,
    /// The import was stopped.
    pub interrupted: bool,
}

impl ImportCounts {
    pub(super) fn add(&mut self, outcome: ImportOutcome) {
        *self.counter(outcome) += 1;
    }

    /// Removes an object that is refused after it was counted.
    pub(super) fn remove(&mut self, outcome: ImportOutcome) {
        *self.counter(outcome) -= 1;
    }

    fn counter(&mut self, outcome: ImportOutcome) -> &mut u64 {
        match outcome {
            ImportOutcome::Created => &mut self.created,
            ImportOutcome::Updated => &mut self.updated,
            ImportOutcome::Unchanged => &mut self.unchanged,
        }
    }
}

/// The outcome of a stored object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImportOutcome {
    Created,
    Updated,
    Unchanged,
}

/// A refused object and the reasons.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub content_type: String,
    pub object: ImportObject,
    pub errors: FieldErrors,
}

/// Imports the objects of several content types.
///
/// The caller announces every object, then calls [`Importer::begin`], [`Importer::push`] for each
/// object and [`Importer::end`] for each type, then [`Importer::finish`]. If
/// [`Importer::pending_statuses`] is not 0, the caller then passes all objects once more to
/// [`Importer::push_status`], and ends each type with [`Importer::end_statuses`].
pub struct Importer<'a> {
    pub(super) target: &'a dyn ImportTarget,
    pub(super) options: ImportOptions<'a>,
    stop: &'a AtomicBool,
    pub(super) batch_size: usize,
    pub(super) counts: ImportCounts,
    refusals: Vec<Refusal>,
    /// Position of each announced object in the order of the files.
    pub(super) positions: HashMap<ObjectAddress, u64>,
    /// Positions of objects whose id comes again later: as in one batch of the API, the last object counts.
    repeated: HashSet<u64>,
    announced: u64,
    /// Objects pushed so far.
    pushed: u64,
    pub(super) types: Vec<TypeImport<'a>>,
    /// The next objects to send, with their positions.
    chunk: Vec<(u64, ImportObject)>,
    /// The batch whose report was not read yet.
    pub(super) in_flight: Option<BatchInFlight>,
    /// Ids in `chunk` that go to the trash: the same id may follow as a new object.
    deleted_in_chunk: HashSet<String>,
    /// Objects that are stored as the files contain them, so that their status can be set.
    pub(super) stored: HashMap<ObjectAddress, ImportOutcome>,
    /// The next objects whose status is set.
    pub(super) status_chunk: Vec<ImportObject>,
    /// Read when the first status is set.
    pub(super) workflows: Option<Vec<Workflow>>,
}

/// A content type and its objects that are not complete yet.
pub(super) struct TypeImport<'a> {
    pub(super) content_type: &'a ContentType,
    /// In a dry run.
    pub(super) validator: Option<ObjectValidator>,
    /// Ids of deleted objects in lower case; loaded only with [`OnConflict::Keep`] or `keep_dates`,
    /// otherwise empty.
    deleted_ids: &'a HashSet<String>,
    /// Objects that wait for link targets, with their last errors.
    pub(super) waiting: Vec<(ImportObject, FieldErrors)>,
    /// Objects that were saved without some of their links, which are added at the end.
    pub(super) without_links: Vec<(ImportObject, ImportOutcome)>,
}

/// An object that is sent to the target, to save it.
pub(super) struct SaveAttempt {
    pub(super) object: ImportObject,
    /// Sent instead of the object while some links have to wait.
    pub(super) partial: Option<Value>,
    /// The target has an object of this id.
    pub(super) exists: bool,
}

impl SaveAttempt {
    pub(super) fn value(&self) -> &Value {
        self.partial.as_ref().unwrap_or(self.object.version_to_create())
    }
}

impl<'a> Importer<'a> {
    /// `stop` ends the import before the next batch.
    pub fn new(
        target: &'a dyn ImportTarget,
        options: ImportOptions<'a>,
        stop: &'a AtomicBool,
    ) -> Self {
        Self {
            target,
            options,
            stop,
            batch_size: BATCH_SIZE,
            counts: ImportCounts::default(),
            refusals: Vec::new(),
            positions: HashMap::new(),
            repeated: HashSet::new(),
            announced: 0,
            pushed: 0,
            types: Vec::new(),
            chunk: Vec::new(),
            in_flight: None,
            deleted_in_chunk: HashSet::new(),
            stored: HashMap::new(),
            status_chunk: Vec::new(),
            workflows: None,
        }
    }

    pub fn counts(&self) -> ImportCounts {
        self.counts
    }

    /// Returns the objects refused since the last call.
    pub fn take_refusals(&mut self) -> Vec<Refusal> {
        mem::take(&mut self.refusals)
    }

    /// Announces an object, so that links of earlier objects to it are known.
    pub fn announce(&mut self, content_type: &str, id: Option<&str>) {
        self.announced += 1;
        if let Some(id) = id {
            let earlier = self.positions.insert(address(content_type, id), self.announced);
            self.repeated.extend(earlier);
        }
    }

    /// Number of announced objects.
    pub fn announced(&self) -> u64 {
        self.announced
    }

    /// Begins the objects of a type. `deleted_ids` contains the ids of its deleted objects in
    /// lower case.
    pub fn begin(&mut self, content_type: &'a ContentType, deleted_ids: &'a HashSet<String>) {
        self.types.push(TypeImport {
            content_type,
            validator: self.options.dry_run.then(|| ObjectValidator::new(content_type)),
            deleted_ids,
            waiting: Vec::new(),
            without_links: Vec::new(),
        });
    }

    /// Imports an object of the type that was begun last. An object that cannot be read is refused
    /// with the reason.
    pub fn push(
        &mut self,
        location: String,
        value: std::result::Result<Value, String>,
    ) -> Result<()> {
        self.pushed += 1;
        if self.is_stopped() {
            return Ok(());
        }
        let content_type = self.types.last().expect("a type was begun").content_type;
        match value {
            Ok(value) => {
                let (object, mut errors) = self.object(content_type, location, value);
                if !object.is_deleted && self.repeated.contains(&self.pushed) {
                    errors.add("id", DUPLICATE_ID);
                }
                if !errors.is_empty() {
                    return self.refuse_unsent(&content_type.name, object, errors);
                }
                let id = object.id().map(str::to_lowercase).unwrap_or_default();
                if self.deleted_in_chunk.contains(&id) {
                    self.send_chunk()?;
                }
                if object.is_deleted {
                    self.deleted_in_chunk.insert(id);
                }
                self.chunk.push((self.pushed, object));
            }
            Err(message) => {
                let object = ImportObject::new(location, Value::Null);
                self.refuse_unsent(&content_type.name, object, FieldErrors::one("data", message))?;
            }
        }
        if self.chunk.len() >= self.batch_size { self.send_chunk() } else { Ok(()) }
    }

    /// Ends the objects of the type that was begun last.
    pub fn end(&mut self) -> Result<()> {
        let sent = self.send_chunk();
        let completed = self.complete_batch();
        sent.and(completed)
    }

    /// Sends the waiting objects until no more are accepted, then adds the links that were left out.
    pub fn finish(&mut self) -> Result<()> {
        loop {
            while self.send_waiting()? > 0 {}
            // An object whose published version cannot be restored is created from the current one.
            let mut is_changed = false;
            for (object, _) in self.types.iter_mut().flat_map(|current| &mut current.waiting) {
                is_changed |= object.from_published;
                object.from_published = false;
            }
            if !is_changed {
                break;
            }
        }
        if self.counts.interrupted {
            return Ok(());
        }
        for index in 0..self.types.len() {
            let name = &self.types[index].content_type.name;
            for (object, errors) in mem::take(&mut self.types[index].waiting) {
                self.refuse(name, object, errors);
            }
        }
        for index in 0..self.types.len() {
            let name = &self.types[index].content_type.name;
            let objects = mem::take(&mut self.types[index].without_links);
            let values: Vec<&Value> =
                objects.iter().map(|(object, _)| object.version_to_create()).collect();
            for (number, errors) in self.save_or_validate(index, &values, true, None)? {
                // The object exists, but without its links.
                let (object, outcome) = &objects[number];
                self.counts.remove(*outcome);
                self.stored.remove(&address(name, object.id().unwrap_or_default()));
                self.refuse(name, object.clone(), errors);
            }
        }
        Ok(())
    }

    /// Completes the links of an object; returns it with the errors of its links.
    pub(super) fn object(
        &self,
        content_type: &ContentType,
        location: String,
        mut value: Value,
    ) -> (ImportObject, FieldErrors) {
        let errors = value.as_object_mut().map(|object| expand_links(content_type, object));
        let mut object = ImportObject::new(location, value);
        if self.options.keep_dates {
            object.keep_dates();
        }
        (object, errors.unwrap_or_default())
    }

    /// Returns whether no more objects are sent.
    pub(super) fn is_stopped(&mut self) -> bool {
        self.counts.interrupted |= self.stop.load(Ordering::Relaxed);
        self.counts.interrupted || (self.options.stop_on_error && self.counts.refused > 0)
    }

    /// Refuses an object that cannot be sent. If the refusal ends the import, the objects before it are
    /// saved first.
    fn refuse_unsent(
        &mut self,
        content_type: &str,
        object: ImportObject,
        errors: FieldErrors,
    ) -> Result<()> {
        if self.options.stop_on_error {
            self.send_chunk()?;
        }
        self.complete_batch()?;
        self.refuse(content_type, object, errors);
        Ok(())
    }

    pub(super) fn refuse(&mut self, content_type: &str, object: ImportObject, errors: FieldErrors) {
        self.counts.refused += 1;
        self.refusals.push(Refusal { content_type: content_type.to_owned(), object, errors });
    }

    /// Sends the objects of the chunk that have to be saved.
    fn send_chunk(&mut self) -> Result<()> {
        if self.options.on_conflict != OnConflict::Refuse {
            self.complete_batch()?;
        }
        self.deleted_in_chunk.clear();
        let objects = mem::take(&mut self.chunk);
        if objects.is_empty() || self.is_stopped() {
            return Ok(());
        }
        let index = self.types.len() - 1;
        let TypeImport { content_type, deleted_ids, .. } = self.types[index];
        let existing = self.existing(content_type, objects.iter().map(|(_, object)| object))?;
        let resumable = self.created_by_interrupted_import(&content_type.name, &existing)?;
        let mut attempts = Vec::new();
        for (position, mut object) in objects {
            let id = object.id().map(str::to_lowercase).unwrap_or_default();
            let stored = existing.get(&id);
            if let Some(stored) = stored.filter(|_| resumable.contains(&id))
                && self.resume(index, &object, stored)
            {
                continue;
            }
            if object.is_deleted {
                // A deletion in the files creates an object in the trash, once. It never deletes an
                // existing object.
                if stored.is_some() || deleted_ids.contains(&id) {
                    self.counts.add(ImportOutcome::Unchanged);
                } else {
                    attempts.push(SaveAttempt { object, partial: None, exists: false });
                }
                continue;
            }
            if stored.is_some() && self.options.on_conflict == OnConflict::Refuse {
                let errors = FieldErrors::one("id", message::ALREADY_USED);
                self.refuse(&content_type.name, object, errors);
                continue;
            }
            let stays = stored.is_some_and(|stored| {
                self.options.on_conflict == OnConflict::Keep
                    || (is_unchanged(&object.value, stored, content_type)
                        && (!self.options.keep_dates
                            || has_same_creation_date(&object.value, stored)))
            });
            if stays || self.options.on_conflict.stays_deleted(deleted_ids, &id) {
                self.counts.add(ImportOutcome::Unchanged);
                if self.options.on_conflict == OnConflict::Update {
                    self.mark_stored(content_type, &object, ImportOutcome::Unchanged);
                }
                continue;
            }
            if let Some(stored) = stored
                && let Some(reason) = self.leave_public_state(content_type, &object, stored)?
            {
                let errors = FieldErrors::one("internal.workflowState", reason);
                self.refuse(&content_type.name, object, errors);
                continue;
            }
            let exists = stored.is_some();
            object.from_published = !exists && self.restores_published(content_type, &object);
            // `>=` includes the object itself: a create refuses a link to the object that it creates.
            let is_later =
                |at: &ObjectAddress| self.positions.get(at).is_some_and(|other| *other >= position);
            let partial = if exists {
                None
            } else {
                without_pending_links(object.version_to_create(), content_type, &is_later)
            };
            let attempt = SaveAttempt { object, partial, exists };
            // With `OnConflict::Keep`, an object with a link to a later one waits even if an interrupted
            // import has created the target: so the order of creation is that of an import without an
            // interruption.
            if self.options.on_conflict == OnConflict::Keep && has_link(attempt.value(), &is_later)
            {
                self.types[index].waiting.push((attempt.object, FieldErrors::default()));
            } else {
                attempts.push(attempt);
            }
        }
        self.begin_send(index, attempts)
    }

    /// Sends each waiting object once more; returns the number of saved ones.
    fn send_waiting(&mut self) -> Result<usize> {
        let waiting: HashSet<ObjectAddress> = self.types.iter().flat_map(addresses).collect();
        let is_waiting = |at: &ObjectAddress| waiting.contains(at);
        let mut saved = 0;
        for index in 0..self.types.len() {
            if self.types[index].waiting.is_empty() || self.is_stopped() {
                continue;
            }
            let content_type = self.types[index].content_type;
            let objects = mem::take(&mut self.types[index].waiting);
            let existing = self.existing(content_type, objects.iter().map(|(object, _)| object))?;
            let attempts = objects.into_iter().map(|(mut object, _)| {
                let exists =
                    object.id().is_some_and(|id| existing.contains_key(&id.to_lowercase()));
                object.from_published &= !exists;
                let partial =
                    without_pending_links(object.version_to_create(), content_type, &is_waiting);
                SaveAttempt { object, partial, exists }
            });
            let attempts = targets_first(
                attempts.collect(),
                |attempt| Some(address(&content_type.name, attempt.object.id()?)),
                SaveAttempt::value,
            );
            saved += self.save_and_count(index, attempts, None)?;
        }
        Ok(saved)
    }

    /// Fetches the stored objects of the same ids, by id in lower case. Empty with [`OnConflict::Refuse`]
    /// except in a dry run: then the target refuses existing objects.
    fn existing<'e>(
        &self,
        content_type: &ContentType,
        objects: impl Iterator<Item = &'e ImportObject>,
    ) -> Result<HashMap<String, Value>> {
        if self.options.on_conflict == OnConflict::Refuse && !self.options.dry_run {
            return Ok(HashMap::new());
        }
        let ids: Vec<&str> = objects.filter_map(ImportObject::id).collect();
        match fetch(self.target, &content_type.name, &ids, Edition::Current) {
            // A dry run does not create the type.
            Err(Error::NotFound { .. }) if self.options.dry_run => Ok(HashMap::new()),
            existing => existing,
        }
    }
}

fn addresses<'t>(current: &'t TypeImport<'_>) -> impl Iterator<Item = ObjectAddress> + use<'t> {
    let name = &current.content_type.name;
    current.waiting.iter().filter_map(move |(object, _)| Some(address(name, object.id()?)))
}
