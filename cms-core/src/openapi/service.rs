//! The OpenAPI document as it is now, for a key. It changes with the types alone, so it is made once for
//! each subject and cached.

use std::sync::Arc;

use cms_model::{
    auth::scope::Access,
    context::Caller,
    ctd::catalog::Catalog,
    error::{Error, Result},
    openapi::describe::{self, Described},
    wire::{
        condition::Tag,
        key::{KeyKind, Rule},
        object::Json,
        openapi::{OpenApiDocument, OpenApiRequest},
    },
};

use super::cache::Subject;
use crate::cms::Cms;

/// Types of the server that are no content (contract 9.3).
const HIDDEN: [&str; 2] = ["_webhooks", "_plugin_settings"];

/// The description of the API.
pub struct OpenApi<'a> {
    pub(crate) cms: &'a Cms,
}

impl Cms {
    /// The description of the API for programs.
    pub fn openapi(&self) -> OpenApi<'_> {
        OpenApi { cms: self }
    }
}

impl OpenApi<'_> {
    /// Describes the API as the key may use it (contract 9).
    pub fn document(
        &self,
        caller: &Caller,
        request: &OpenApiRequest,
    ) -> Result<Arc<OpenApiDocument>> {
        let catalog = self.cms.current_catalog()?;
        let actor = caller.actor();
        let rules = (actor.kind == KeyKind::Scoped).then(|| actor.rules.clone());
        let subject = Subject { schema_rev: catalog.rev, request: request.clone(), rules };
        if let Some(known) = self.cms.documents.get(&subject) {
            return Ok(known);
        }
        let text = describe(&catalog, subject.rules.as_deref(), request)?;
        let tag = Tag::of(&text);
        let document = Arc::new(OpenApiDocument { text: Json(text), tag });
        self.cms.documents.keep(subject, Arc::clone(&document));
        Ok(document)
    }
}

fn describe(
    catalog: &Catalog,
    rules: Option<&[Rule]>,
    request: &OpenApiRequest,
) -> Result<Vec<u8>> {
    let access = |name: &str| rules.map_or(Access::ALL, |rules| Access::granted(rules, name));
    let types = catalog.types().iter().filter(|known| !HIDDEN.contains(&known.name()));
    let types: Vec<Described<'_>> = types
        .map(|known| Described {
            definition: &known.definition,
            properties: &known.properties,
            access: access(known.name()),
        })
        .collect();
    describe::document(&types, rules.is_none(), request)
        .map_err(|error| Error::Internal(Box::new(error)))
}
