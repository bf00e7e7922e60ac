//! Resuming an interrupted import.
//!
//! An object belongs to the interrupted import when it was created after the import began and has
//! the content that the import writes. Every other object existed before or was edited since, and
//! stays.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{
    Importer,
    compare::{Completeness, completeness},
    importer::ImportOutcome,
    object::{ImportObject, ObjectAddress},
};
use cms_model::error::Result;

impl Importer<'_> {
    /// Returns the stored objects that the interrupted import created, by ids in lower case.
    pub(super) fn created_by_interrupted_import(
        &self,
        content_type: &str,
        stored: &HashMap<String, Value>,
    ) -> Result<HashSet<String>> {
        match self.options.resumed {
            Some(import) if !stored.is_empty() => {
                let ids: Vec<&str> = stored.keys().map(String::as_str).collect();
                import.objects_created(content_type, &ids)
            }
            _ => Ok(HashSet::new()),
        }
    }

    /// Takes over an object that the interrupted import created; returns false when it was edited
    /// since.
    pub(super) fn resume(&mut self, index: usize, object: &ImportObject, stored: &Value) -> bool {
        let content_type = self.types[index].content_type;
        let is_set_later = |at: &ObjectAddress| self.positions.contains_key(at);
        let mut object = object.clone();
        for from_published in [true, false] {
            if from_published && !self.restores_published(content_type, &object) {
                continue;
            }
            object.from_published = from_published;
            let found =
                completeness(object.version_to_create(), stored, content_type, &is_set_later);
            let Some(completeness) = found else { continue };
            let outcome = match completeness {
                Completeness::Complete => ImportOutcome::Unchanged,
                Completeness::WithoutLinks => ImportOutcome::Updated,
            };
            self.counts.add(outcome);
            self.mark_stored(content_type, &object, outcome);
            if completeness == Completeness::WithoutLinks {
                self.types[index].without_links.push((object, outcome));
            }
            return true;
        }
        false
    }
}
