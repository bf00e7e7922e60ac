//! The OpenAPI document for a key. It changes only with content types, so documents are cached by
//! the rights of the key and the parameters.

use std::sync::Arc;

use cms_model::{
    auth::scope::Access,
    content_type::{
        builtin::{PLUGIN_SETTINGS, WEBHOOKS},
        catalog::Catalog,
    },
    context::{Caller, Rights},
    error::{Error, Result},
    openapi::document::{self, TypeAccess},
    wire::{
        condition::EntityTag,
        key::Rule,
        object::Json,
        openapi::{OpenApiDocument, OpenApiRequest},
    },
};

use super::cache::DocumentKey;
use crate::cms::Cms;

/// System types without paths (see docs/reference/openapi.md#paths-of-a-type).
const HIDDEN: [&str; 2] = [WEBHOOKS, PLUGIN_SETTINGS];

/// The OpenAPI document.
pub struct OpenApi<'a> {
    pub(crate) cms: &'a Cms,
}

impl Cms {
    /// The OpenAPI document.
    pub fn openapi(&self) -> OpenApi<'_> {
        OpenApi { cms: self }
    }
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
        let rules = (caller.rights() == Rights::Rules).then(|| actor.rules.clone());
        let key = DocumentKey { schema_rev: catalog.rev, request: request.clone(), rules };
        if let Some(known) = self.cms.documents.get(&key) {
            return Ok(known);
        }
        let text = build(&catalog, key.rules.as_deref(), request)?;
        let tag = EntityTag::of(&text);
        let document = Arc::new(OpenApiDocument { text: Json(text), tag });
        self.cms.documents.insert(key, Arc::clone(&document));
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
