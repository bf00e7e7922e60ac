//! The OpenAPI documents that were made last.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cms_model::wire::{
    key::Rule,
    openapi::{OpenApiDocument, OpenApiRequest},
};

/// Documents that are kept. Each may have some megabytes.
const KEPT: usize = 8;

/// Documents by what they depend on, newest last.
#[derive(Default)]
pub(crate) struct DocumentCache(Mutex<VecDeque<(DocumentKey, Arc<OpenApiDocument>)>>);

/// All that a document depends on.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct DocumentKey {
    pub(crate) schema_rev: i64,
    pub(crate) request: OpenApiRequest,
    /// None for keys that may do everything.
    pub(crate) rules: Option<Vec<Rule>>,
}

impl DocumentCache {
    pub(crate) fn get(&self, key: &DocumentKey) -> Option<Arc<OpenApiDocument>> {
        let kept = self.lock();
        let known = kept.iter().find(|(known, _)| known == key)?;
        Some(Arc::clone(&known.1))
    }

    pub(crate) fn keep(&self, key: DocumentKey, document: Arc<OpenApiDocument>) {
        let mut kept = self.lock();
        // Those of older types are of no use any more.
        kept.retain(|(known, _)| known.schema_rev >= key.schema_rev && *known != key);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((key, document));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(DocumentKey, Arc<OpenApiDocument>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
