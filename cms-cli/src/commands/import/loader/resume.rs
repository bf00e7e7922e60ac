//! Resumes an import that was interrupted: finds out how far each of its objects is.
//!
//! An object is taken for one of the import when it was created since the import began and holds what
//! the import writes into it. Any other object was there before, or somebody has edited it: it is left
//! alone.

use std::collections::{HashMap, HashSet};

use cms_core::wire::content_type::ContentType;
use serde_json::Value;

use super::{
    super::{
        counts::Counted,
        element::{Address, Completeness, Element, completeness},
    },
    Loader, Unfinished,
};
use crate::failure::Result;

impl Loader<'_> {
    /// Returns which of the stored objects were created before the interruption, by ids in lower case.
    pub(super) fn created_before(
        &self,
        content_type: &ContentType,
        stored: &HashMap<String, Value>,
    ) -> Result<HashSet<String>> {
        match self.options.interrupted {
            Some(import) if !stored.is_empty() => {
                let ids: Vec<&str> = stored.keys().map(String::as_str).collect();
                Ok(import.created(&content_type.name, &ids)?)
            }
            _ => Ok(HashSet::new()),
        }
    }

    /// Has an object completed that was created before the interruption; false when somebody edited it
    /// since.
    pub(super) fn resume(
        &mut self,
        rest: &mut Unfinished<'_>,
        element: &Element,
        stored: &Value,
    ) -> bool {
        let content_type = &rest.job.content_type;
        let is_set_later = |at: &Address| self.ranks.contains_key(at);
        let mut element = element.clone();
        for from_published in [true, false] {
            if from_published && !self.restores_published(content_type, &element) {
                continue;
            }
            element.from_published = from_published;
            let found = completeness(element.first(), stored, content_type, &is_set_later);
            let Some(completeness) = found else { continue };
            let counted = match completeness {
                Completeness::Complete => Counted::Unchanged,
                Completeness::LacksLinks => Counted::Updated,
            };
            self.counts.add(counted);
            self.settle(content_type, &element, counted);
            if completeness == Completeness::LacksLinks {
                rest.partial.push((element, counted));
            }
            return true;
        }
        false
    }
}
