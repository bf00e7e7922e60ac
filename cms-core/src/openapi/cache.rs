//! Caches the latest OpenAPI documents.

use std::{collections::VecDeque, sync::Arc};

use cms_model::{
    auth::scope::Access,
    openapi::document::CallerRights,
    wire::openapi::{OpenApiDocument, OpenApiRequest},
};
use parking_lot::Mutex;

/// Maximum number of cached documents. Each may have some megabytes.
const MAX_DOCUMENTS: usize = 8;

/// Documents by their inputs, newest last.
#[derive(Default)]
pub(crate) struct DocumentCache(Mutex<VecDeque<(DocumentKey, Arc<OpenApiDocument>)>>);

/// All inputs of a document.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct DocumentKey {
    pub(crate) schema_rev: i64,
    pub(crate) request: OpenApiRequest,
    /// What the caller may do with each type of the catalog.
    pub(crate) access: Vec<Access>,
    pub(crate) rights: CallerRights,
}

impl DocumentCache {
    pub(crate) fn get(&self, key: &DocumentKey) -> Option<Arc<OpenApiDocument>> {
        let kept = self.0.lock();
        let entry = kept.iter().find(|(other, _)| other == key)?;
        Some(Arc::clone(&entry.1))
    }

    pub(crate) fn insert(&self, key: DocumentKey, document: Arc<OpenApiDocument>) {
        let mut kept = self.0.lock();
        // Documents of older types are not needed any more.
        kept.retain(|(other, _)| other.schema_rev >= key.schema_rev && *other != key);
        if kept.len() == MAX_DOCUMENTS {
            kept.pop_front();
        }
        kept.push_back((key, document));
    }
}
