//! Importing objects into a space that may hold some of them already.
//!
//! The rules are functions from values to values: `object` reads what a file says about an object,
//! `short_links` completes its links, `links` finds the links that have to wait and orders content
//! types, `compare` compares an object with the stored one, `definitions` selects content types and
//! workflows. [`Importer`] applies the rules object by object through an [`ImportTarget`], which the
//! caller implements. [`ImportRecord`] makes an interrupted import resumable. Nothing here reads
//! files or prints.

mod batches;
mod compare;
mod definitions;
mod importer;
mod links;
mod object;
mod record;
mod resume;
mod short_links;
mod statuses;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::Value;

pub use self::{
    definitions::{
        definition, featured_image_updates, is_builtin_type, is_system_type,
        is_unchanged_builtin_type, provisional_type, select_definitions,
    },
    importer::{Existing, ImportCounts, ImportOptions, Importer, Refusal},
    links::order_by_links,
    object::ImportObject,
    record::ImportRecord,
    short_links::expand_links,
};
use cms_model::{
    error::Result,
    wire::{batch::BatchReport, publish::PublishAction, workflow::Workflow},
};

/// The operations that an import needs of a space, over HTTP or in process.
pub trait ImportTarget {
    /// Returns the current versions of existing objects by their ids in lower case.
    fn current(&self, content_type: &str, ids: &[&str]) -> Result<HashMap<String, Value>>;
    /// Returns the published versions of existing objects by their ids in lower case.
    fn published(&self, content_type: &str, ids: &[&str]) -> Result<HashMap<String, Value>>;
    /// Saves the valid objects of a batch; the report names the others.
    fn save(&self, content_type: &str, objects: &[Value], mode: SaveMode) -> Result<BatchReport>;
    /// Publishes, unpublishes or archives all objects.
    fn set_statuses(&self, content_type: &str, ids: &[String], action: PublishAction)
    -> Result<()>;
    /// Returns all workflows.
    fn workflows(&self) -> Result<Vec<Workflow>>;
    /// Moves an object to another workflow state.
    fn run_transition(&self, content_type: &str, id: &str, transition: &str) -> Result<()>;
}

/// How a batch of objects is saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaveMode {
    /// Replace existing objects; otherwise reject them.
    pub update_existing: bool,
    /// Store the dates that `internal` contains.
    pub keep_dates: bool,
}
