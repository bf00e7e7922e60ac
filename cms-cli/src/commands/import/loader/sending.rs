//! Sends objects in batches as large as the target takes them.

use std::collections::BTreeMap;

use cms_core::{Error, FieldErrors, wire::batch::BatchReport};
use serde_json::Value;

use super::{super::Job, Loader};
use crate::{failure::Result, target::ImportMode};

impl Loader<'_> {
    /// Sends objects and returns why some were refused, by their number.
    pub(super) fn send(
        &mut self,
        job: &Job,
        elements: &[&Value],
        update: bool,
    ) -> Result<BTreeMap<usize, FieldErrors>> {
        let mut refused = BTreeMap::new();
        if self.options.dry_run {
            return Ok(refused);
        }
        let mode = ImportMode { update_existing: update, keep_dates: self.options.keep_dates };
        let mut start = 0;
        let mut size = self.batch;
        while start < elements.len() {
            let part = &elements[start..elements.len().min(start + size)];
            let values: Vec<Value> = part.iter().copied().cloned().collect();
            match self.target.import(&job.content_type.name, &values, mode) {
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
}

/// Finds out which elements the errors of a report are about: both stand in the same order.
fn by_number(elements: &[&Value], report: BatchReport) -> Vec<(usize, FieldErrors)> {
    let mut found = Vec::new();
    let mut next = 0;
    for error in report.errors {
        let data: Value = serde_json::from_str(error.data.get()).unwrap_or_default();
        let is_meant = |element: &&Value| match element.get("id").and_then(Value::as_str) {
            Some(id) => id == error.id,
            None => error.id.is_empty() && **element == data,
        };
        if let Some(ahead) = elements[next..].iter().position(is_meant) {
            found.push((next + ahead, error.errors));
            next += ahead + 1;
        }
    }
    found
}
