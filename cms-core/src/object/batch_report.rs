//! The report about a batch, available after its commit.

use cms_model::{
    error::{Error, FieldErrors, Result},
    wire::{
        batch::{BatchElements, BatchError, BatchReport},
        object,
    },
};
use cms_store::PendingCommit;
use serde_json::{Value, value::RawValue};

pub(crate) const DUPLICATE_ID: &str = "There are duplications in object data, key: id";

/// A batch of creates whose commit may be pending.
#[must_use = "the batch has not succeeded before its commit"]
pub struct PendingBatch {
    pub(super) elements: BatchElements,
    /// Whether an id occurs more than once in the batch.
    pub(super) has_repeated: bool,
    /// The errors of the elements as JSON.
    pub(super) response: PendingCommit<Vec<u8>>,
}

impl PendingBatch {
    /// Blocks the thread until the commit; returns the report.
    pub fn wait(self) -> Result<BatchReport> {
        let errors = serde_json::from_slice(&self.response.wait()?).map_err(Error::internal)?;
        report(&self.elements, errors, self.has_repeated)
    }
}

/// The report about elements and their errors.
pub(super) fn report(
    elements: &BatchElements,
    element_errors: Vec<Option<FieldErrors>>,
    has_repeated: bool,
) -> Result<BatchReport> {
    let mut errors = Vec::new();
    for (text, element_error) in elements.texts().iter().zip(element_errors) {
        let Some(element_error) = element_error else { continue };
        let id =
            object::id_of(text).as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        errors.push(BatchError { id, data: compact(text)?, errors: element_error });
    }
    let total = elements.texts().len();
    Ok(BatchReport {
        batch_total_count: total,
        batch_success_count: total - errors.len(),
        batch_error_count: errors.len(),
        errors,
        data: if has_repeated { vec![DUPLICATE_ID.to_owned()] } else { Vec::new() },
    })
}

fn compact(text: &[u8]) -> Result<Box<RawValue>> {
    let value: Value = serde_json::from_slice(text).map_err(|_| Error::malformed_json())?;
    serde_json::value::to_raw_value(&value).map_err(Error::internal)
}
