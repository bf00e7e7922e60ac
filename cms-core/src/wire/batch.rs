//! The report of batch create and batch patch (contract 3.9).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::FieldErrors;

/// How many elements of a batch were saved, and what was wrong with the others.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BatchReport {
    pub batch_total_count: usize,
    pub batch_success_count: usize,
    pub batch_error_count: usize,
    pub errors: Vec<BatchError>,
    /// Faults of the call as a whole: present only when ids repeat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
}

/// One refused element.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchError {
    /// The id as sent; empty when the element had none.
    pub id: String,
    /// The element as sent.
    pub data: Value,
    pub errors: FieldErrors,
}
