//! Sending objects in batches of the size that the target accepts.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Importer, PendingReport, SaveMode};
use cms_model::{
    error::{Error, FieldErrors, Result},
    wire::batch::BatchReport,
};

impl Importer<'_> {
    /// Begins to save a batch of objects.
    pub(super) fn begin_save(
        &self,
        content_type: &str,
        objects: &[&Value],
        update_existing: bool,
    ) -> Result<PendingReport> {
        let mode = SaveMode { update_existing, keep_dates: self.options.keep_dates };
        let values: Vec<Value> = objects.iter().copied().cloned().collect();
        self.target.begin_save(content_type, &values, mode)
    }

    /// Saves objects; returns the errors of the refused ones by their index.
    pub(super) fn save(
        &mut self,
        content_type: &str,
        objects: &[&Value],
        update_existing: bool,
    ) -> Result<BTreeMap<usize, FieldErrors>> {
        self.save_in_batches(content_type, objects, update_existing, None)
    }

    /// As [`Self::save`]. `begun` is the result of [`Self::begin_save`] with all of these objects.
    pub(super) fn save_in_batches(
        &mut self,
        content_type: &str,
        objects: &[&Value],
        update_existing: bool,
        mut begun: Option<Result<PendingReport>>,
    ) -> Result<BTreeMap<usize, FieldErrors>> {
        let mut refused = BTreeMap::new();
        if self.options.dry_run {
            return Ok(refused);
        }
        let mut start = 0;
        let mut size = if begun.is_some() { objects.len() } else { self.batch_size };
        while start < objects.len() {
            let part = &objects[start..objects.len().min(start + size)];
            let pending = begun
                .take()
                .unwrap_or_else(|| self.begin_save(content_type, part, update_existing));
            match pending.and_then(PendingReport::wait) {
                Ok(report) => {
                    let errors = errors_by_index(part, report);
                    refused.extend(errors.into_iter().map(|(index, e)| (start + index, e)));
                    start += part.len();
                    size = self.batch_size;
                }
                Err(Error::BatchLimit { limit }) if limit > 0 && limit < part.len() => {
                    self.batch_size = limit;
                    size = limit;
                }
                // Either one object or their sum is too large: halving separates the two.
                Err(error) if is_too_large(&error) && part.len() > 1 => size = part.len() / 2,
                Err(error) if is_too_large(&error) => {
                    refused.insert(start, FieldErrors::one("data", error.to_string()));
                    start += 1;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(refused)
    }
}

fn is_too_large(error: &Error) -> bool {
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
            None => error.id.is_empty() && **object == data,
        };
        if let Some(ahead) = objects[next..].iter().position(is_refused) {
            found.push((next + ahead, error.errors));
            next += ahead + 1;
        }
    }
    found
}
