//! Bulk jobs: one change of all objects that match filters (see docs/reference/bulk.md).
//!
//! [`service`] creates, shows and stops jobs, [`matching`] finds their objects, [`dry_run`] shows
//! what a job would do. [`run`] processes the objects, some per transaction; each transaction also
//! stores the progress, so after a crash a job continues where it was.

mod dry_run;
mod matching;
mod rights;
pub(crate) mod run;
pub(crate) mod service;

use bytes::Bytes;
use cms_model::{
    content_type::catalog::CompiledType,
    error::Result,
    object::{
        model::StoredObject,
        replace::{self, Replacement},
    },
    wire::bulk::BulkAction,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::object::{batch::Prevalidated, write};

/// The properties that a job changes.
type Patch = Map<String, Value>;

/// The patch of one object of the next transaction.
struct StepPatch {
    /// The patch before synchronous webhooks could change it.
    requested: Patch,
    /// Synchronous webhooks were called: another patch must not be written.
    webhooks_were_called: bool,
    /// The patch after the webhooks, with the id of the object, as JSON.
    payload: Bytes,
    validated: Prevalidated,
}

/// What a job stores of its request.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredRequest {
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    patch: Patch,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replace: Vec<Replacement>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    transition: String,
    /// The request had `x-visibility: public`.
    #[serde(default)]
    public_only: bool,
}

/// The action of a job, and the parts of its request.
#[derive(Clone, Debug)]
struct RequestedChange {
    action: BulkAction,
    request: StoredRequest,
}

impl RequestedChange {
    /// The patch of an object; empty if the object no longer contains a value to replace.
    fn patch(&self, content_type: &CompiledType, stored: &StoredObject<'_>) -> Result<Patch> {
        if self.request.replace.is_empty() {
            return Ok(self.request.patch.clone());
        }
        let object = write::parse(&stored.data)?;
        Ok(replace::patch(&self.request.replace, object, &content_type.properties))
    }

    /// The payload of a transition.
    fn transition(&self) -> Map<String, Value> {
        Map::from_iter([("action".to_owned(), self.request.transition.as_str().into())])
    }
}

/// The element of a batch that patches an object.
fn payload_of(id: &str, mut patch: Patch) -> Bytes {
    patch.insert("id".to_owned(), id.into());
    Bytes::from(Value::Object(patch).to_string())
}

/// Returns the position in the queue from which the objects of a step are tried again; `last` is the position of the last
/// object of the step. All objects are tried once (positions 1 to `total`) before any is tried again. Then the steps
/// follow in reverse order, because objects usually link to earlier ones: with 1,000 objects, the step that ends at 1,000
/// gets the positions from 1,001, and the step that ends at 500 those from 1,501.
fn retry_position(total: u64, last: u64) -> u64 {
    2 * total + 1 - last
}
