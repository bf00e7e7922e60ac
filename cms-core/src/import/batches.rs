//! Sends objects in batches of the size that the target accepts, and collects their outcomes from the
//! reports.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    ImportOptions, Importer, OnConflict, PendingReport, PreparedSave, SaveMode,
    importer::{ImportOutcome, SaveAttempt, TypeImport},
    object::ImportObject,
};
use cms_model::{
    error::{Error, FieldErrors, Result},
    message::MessageCode,
    wire::batch::BatchReport,
};

/// A batch that is being saved while the next objects are read and validated. The next batch begins when
/// this one is saved, so that objects are created in their order even if a batch fails.
pub(super) struct BatchInFlight {
    /// Index of the type.
    index: usize,
    objects: Vec<SaveAttempt>,
    report: PendingReport,
}

impl<'t> Importer<'t> {
    /// Sends objects as one batch. Its report is read later, except in a dry run or if the import stops
    /// at an error.
    pub(super) fn begin_send(&mut self, index: usize, objects: Vec<SaveAttempt>) -> Result<()> {
        let ImportOptions { dry_run, stop_on_error, .. } = self.options;
        if objects.is_empty() || dry_run || stop_on_error {
            return self.save_and_count(index, objects, None).map(drop);
        }
        let values: Vec<&Value> = objects.iter().map(SaveAttempt::value).collect();
        let update = self.options.on_conflict == OnConflict::Update;
        let prepared = self.prepare_save(&self.types[index].content_type.name, &values, update);
        self.complete_batch()?;
        match prepared.and_then(|begin| begin()) {
            Ok(report) => {
                self.in_flight = Some(BatchInFlight { index, objects, report });
                Ok(())
            }
            Err(error) => self.save_and_count(index, objects, Some(Err(error))).map(drop),
        }
    }

    /// Waits until the last batch is saved, and counts its objects.
    pub fn complete_batch(&mut self) -> Result<()> {
        let Some(BatchInFlight { index, objects, report }) = self.in_flight.take() else {
            return Ok(());
        };
        self.save_and_count(index, objects, Some(Ok(report))).map(drop)
    }

    /// Saves objects as [`Self::save`] does, and counts, queues or refuses each of them by its outcome
    /// in the report. Returns the number of saved ones.
    pub(super) fn save_and_count(
        &mut self,
        index: usize,
        attempts: Vec<SaveAttempt>,
        first_attempt: Option<Result<PendingReport>>,
    ) -> Result<usize> {
        let content_type = self.types[index].content_type;
        let values: Vec<&Value> = attempts.iter().map(SaveAttempt::value).collect();
        let update = self.options.on_conflict == OnConflict::Update;
        let mut refused = self.save_or_validate(index, &values, update, first_attempt)?;
        let saved = attempts.len() - refused.len();
        for (number, SaveAttempt { object, partial, exists }) in attempts.into_iter().enumerate() {
            match refused.remove(&number) {
                None => {
                    let outcome =
                        if exists { ImportOutcome::Updated } else { ImportOutcome::Created };
                    self.counts.add(outcome);
                    self.mark_stored(content_type, &object, outcome);
                    if partial.is_some() {
                        self.types[index].without_links.push((object, outcome));
                    }
                }
                Some(errors) if may_succeed_later(&object, &errors) => {
                    self.types[index].waiting.push((object, errors));
                }
                Some(errors) => self.refuse(&content_type.name, object, errors),
            }
        }
        Ok(saved)
    }

    fn prepare_save(
        &self,
        content_type: &str,
        objects: &[&Value],
        update_existing: bool,
    ) -> Result<PreparedSave<'t>> {
        let mode = SaveMode { update_existing, keep_dates: self.options.keep_dates };
        let values: Vec<Value> = objects.iter().map(|object| without_published(object)).collect();
        self.target.prepare_save(content_type, &values, mode)
    }

    /// Saves objects of the type at `index` as [`Self::save`] does. A dry run only validates them.
    pub(super) fn save_or_validate(
        &mut self,
        index: usize,
        objects: &[&Value],
        update_existing: bool,
        first_attempt: Option<Result<PendingReport>>,
    ) -> Result<BTreeMap<usize, FieldErrors>> {
        let TypeImport { content_type, validator, .. } = &self.types[index];
        match validator {
            Some(validator) => Ok(validator.invalid_objects(objects, update_existing)),
            None => self.save(&content_type.name, objects, update_existing, first_attempt),
        }
    }

    /// Saves objects; returns the errors of the refused ones by their index. `first_attempt` is the result of
    /// sending all of these objects as one batch, if they were sent already. They are sent again, in smaller
    /// batches, only if that batch had too many objects or may have been too large.
    pub(super) fn save(
        &mut self,
        content_type: &str,
        objects: &[&Value],
        update_existing: bool,
        mut first_attempt: Option<Result<PendingReport>>,
    ) -> Result<BTreeMap<usize, FieldErrors>> {
        let mut refused = BTreeMap::new();
        let mut start = 0;
        let mut size = if first_attempt.is_some() { objects.len() } else { self.batch_size };
        while start < objects.len() {
            let part = &objects[start..objects.len().min(start + size)];
            let save = || self.prepare_save(content_type, part, update_existing)?();
            match first_attempt.take().unwrap_or_else(save).and_then(|wait| wait()) {
                Ok(report) => {
                    let errors = errors_by_index(part, report);
                    refused.extend(errors.into_iter().map(|(index, e)| (start + index, e)));
                    start += part.len();
                }
                Err(Error::BatchLimit { limit }) if limit > 0 && limit < part.len() => {
                    self.batch_size = limit;
                    size = limit;
                }
                // Either one object is too large, or all together are: smaller batches find out which.
                Err(error) if may_be_too_large(&error) && part.len() > 1 => size = part.len() / 2,
                Err(error) if may_be_too_large(&error) => {
                    refused.insert(start, FieldErrors::one("data", error.to_string()));
                    start += 1;
                    size = self.batch_size;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(refused)
    }
}

/// Returns an object without its published version, which the target does not read.
fn without_published(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(Value::Object(internal)) = object.get_mut("internal") {
        internal.shift_remove("published");
    }
    object
}

/// Returns whether a batch of fewer objects may succeed. A proxy may respond with 400 to a body that is
/// too large.
fn may_be_too_large(error: &Error) -> bool {
    matches!(error, Error::ObjectTooLarge { .. } | Error::BodyTooLarge | Error::BadRequest(_))
}

/// Assigns the errors of a report to objects: both are in the same order.
fn errors_by_index(objects: &[&Value], report: BatchReport) -> Vec<(usize, FieldErrors)> {
    let mut found = Vec::new();
    let mut next = 0;
    for error in report.errors {
        let data: Value = serde_json::from_str(error.data.get()).unwrap_or_default();
        let is_refused = |object: &&Value| match object.get("id").and_then(Value::as_str) {
            Some(id) => id == error.id,
            None => error.id.is_empty() && without_published(object) == data,
        };
        if let Some(ahead) = objects[next..].iter().position(is_refused) {
            found.push((next + ahead, error.errors));
            next += ahead + 1;
        }
    }
    found
}

/// Returns whether a refused object may be saved later: when the targets of its links exist, or, if its
/// published version was refused, with its current version instead.
fn may_succeed_later(object: &ImportObject, errors: &FieldErrors) -> bool {
    let lacks_targets =
        !errors.is_empty() && errors.codes().all(|code| code == Some(MessageCode::MissingTarget));
    lacks_targets || (object.from_published && errors.at("id").is_empty())
}
