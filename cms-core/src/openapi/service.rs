//! The OpenAPI document for a key. It changes only with content types, so documents are cached by the
//! rights of the key and the parameters.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cms_model::{
    auth::scope::Access,
    context::Caller,
    ctd::catalog::Catalog,
    error::{Error, Result},
    openapi::document::{self, TypeAccess},
    wire::{
        condition::Tag,
        key::{KeyKind, Rule},
        object::Json,
        openapi::{OpenApiDocument, OpenApiRequest},
    },
};

use crate::cms::Cms;

/// Maximum number of cached documents. Each may have some megabytes.
const MAX_DOCUMENTS: usize = 8;

/// System types without paths (see docs/reference/openapi.md#paths-of-a-type).
const HIDDEN: [&str; 2] = ["_webhooks", "_plugin_settings"];

/// The OpenAPI document.
pub struct OpenApi<'a> {
    pub(crate) cms: &'a Cms,
}

/// The cached documents, newest last.
#[derive(Default)]
pub(crate) struct DocumentCache(Mutex<VecDeque<(DocumentKey, Arc<OpenApiDocument>)>>);

/// Everything that a document depends on.
#[derive(Clone, PartialEq, Eq)]
struct DocumentKey {
    schema_rev: i64,
    request: OpenApiRequest,
    /// None for keys with all rights.
    rules: Option<Vec<Rule>>,
}

impl OpenApi<'_> {
    /// Returns the document of the operations that the key allows.
    pub fn document(
        &self,
        caller: &Caller,
        request: &OpenApiRequest,
    ) -> Result<Arc<OpenApiDocument>> {
        let catalog = self.cms.current_catalog()?;
        let actor = caller.actor();
        let rules = (actor.kind == KeyKind::Scoped).then(|| actor.rules.clone());
        let key = DocumentKey { schema_rev: catalog.rev, request: request.clone(), rules };
        if let Some(known) = self.cms.openapi_documents.get(&key) {
            return Ok(known);
        }
        let text = build(&catalog, key.rules.as_deref(), request)?;
        let tag = Tag::of(&text);
        let document = Arc::new(OpenApiDocument { text: Json(text), tag });
        self.cms.openapi_documents.keep(key, Arc::clone(&document));
        Ok(document)
    }
}

fn build(catalog: &Catalog, rules: Option<&[Rule]>, request: &OpenApiRequest) -> Result<Vec<u8>> {
    let access = |name: &str| rules.map_or(Access::ALL, |rules| Access::granted(rules, name));
    let types = catalog.types().iter().filter(|known| !HIDDEN.contains(&known.name()));
    let types: Vec<TypeAccess<'_>> = types
        .map(|known| TypeAccess {
            definition: &known.definition,
            properties: &known.properties,
            access: access(known.name()),
        })
        .collect();
    document::document(&types, rules.is_none(), request)
        .map_err(|error| Error::Internal(Box::new(error)))
}

impl DocumentCache {
    fn get(&self, key: &DocumentKey) -> Option<Arc<OpenApiDocument>> {
        let documents = self.lock();
        let known = documents.iter().find(|(known, _)| known == key)?;
        Some(Arc::clone(&known.1))
    }

    fn keep(&self, key: DocumentKey, document: Arc<OpenApiDocument>) {
        let mut documents = self.lock();
        // Documents of older revisions are not requested again.
        documents.retain(|(known, _)| known.schema_rev >= key.schema_rev && *known != key);
        if documents.len() == MAX_DOCUMENTS {
            documents.pop_front();
        }
        documents.push_back((key, document));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(DocumentKey, Arc<OpenApiDocument>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
