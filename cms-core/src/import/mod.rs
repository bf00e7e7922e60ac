//! Importing objects into a space that may hold some of them already.
//!
//! The rules are functions from values to values: `object` reads what a file says about an object,
//! `short_links` completes its links, `links` finds the links that have to wait and orders content
//! types, `compare` compares an object with the stored one, `definitions` selects content types and
//! workflows. [`Importer`] applies the rules object by object through an [`ImportTarget`], which the
//! caller implements. [`ImportRecord`] makes an interrupted import resumable. Nothing here reads
//! files or prints.

mod batches;
mod bulk_load;
mod compare;
mod definitions;
mod dry_run;
mod fetch;
mod importer;
mod links;
mod object;
mod options;
mod record;
mod resume;
mod short_links;
mod statuses;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub use self::{
    definitions::{
        definition, featured_image_updates, is_builtin_type, is_system_type,
        is_unchanged_builtin_type, planned_type, select_definitions,
    },
    fetch::{fetch, list_ids, read_all_pages},
    importer::{ImportCounts, Importer, Refusal},
    links::order_by_links,
    object::ImportObject,
    options::{ImportOptions, OnConflict},
    record::ImportRecord,
    short_links::expand_links,
};
use cms_model::{
    error::Result,
    object::model::Edition,
    wire::{
        batch::BatchReport,
        list::List,
        object::ListRequest,
        publish::PublishAction,
        workflow::{Workflow, WorkflowState},
    },
};

/// The operations that an import needs of a space, over HTTP or in process.
pub trait ImportTarget {
    /// Runs `send`, which saves about this number of new objects of these content types. A local target
    /// may drop the indexes of properties and build them after `send`. So `send` must read objects only
    /// with [`fetch()`], which needs none of these indexes.
    fn bulk_load(
        &self,
        _content_types: &[&str],
        _objects: u64,
        send: &mut dyn FnMut(),
    ) -> Result<()> {
        send();
        Ok(())
    }
    /// Lists objects of a type.
    fn objects(
        &self,
        content_type: &str,
        request: &ListRequest,
        edition: Edition,
    ) -> Result<List<Value>>;
    /// Prepares a batch, which the returned [`PreparedSave`] saves. A local target validates it now; the
    /// report names the objects that are not valid. The previous batch may still be unsaved.
    /// With a mode that replaces stored objects, preparing reads them; if one changes before the save,
    /// the save validates its replacement again.
    fn prepare_save(
        &self,
        content_type: &str,
        objects: &[Value],
        mode: SaveMode,
    ) -> Result<PreparedSave<'_>>;
    /// Publishes, unpublishes or archives objects of any status. Changes no object if one of the ids
    /// is unknown.
    fn set_statuses(&self, content_type: &str, ids: &[String], action: PublishAction)
    -> Result<()>;
    /// Returns all workflows, built-in ones first.
    fn workflows(&self) -> Result<Vec<Workflow>>;
    /// Runs the workflow transition of this name; returns the new state of the object.
    fn run_transition(&self, content_type: &str, id: &str, name: &str) -> Result<WorkflowState>;
}

/// Begins to save a batch that is ready.
pub type PreparedSave<'t> = Box<dyn FnOnce() -> Result<PendingReport> + 't>;

/// Blocks the thread until a batch is committed; returns its report.
pub type PendingReport = Box<dyn FnOnce() -> Result<BatchReport>>;

/// How a batch of objects is saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaveMode {
    /// Replace existing objects; otherwise refuse them.
    pub update_existing: bool,
    /// Store the dates that `internal` contains.
    pub keep_dates: bool,
}
