//! The OpenAPI document for a caller. It changes only with content types, so documents are cached by
//! the rights of the caller and the parameters.

use std::sync::Arc;

use cms_model::{
    auth::scope::Access,
    content_type::{builtin::OMITTED_FROM_API_SCHEMAS, catalog::Catalog},
    context::{Caller, Rights},
    error::{Error, Result},
    openapi::{
        document::{self, CallerRights, TypeAccess},
        management::ManagementRights,
    },
    wire::{
        condition::EntityTag,
        object::Json,
        openapi::{OpenApiDocument, OpenApiRequest},
    },
};

use super::cache::DocumentKey;
use crate::cms::service;

service! {
    /// The OpenAPI document.
    OpenApi, openapi
}

impl OpenApi<'_> {
    /// Returns the document of the operations that the caller may use.
    pub fn document(
        &self,
        caller: &Caller,
        request: &OpenApiRequest,
    ) -> Result<Arc<OpenApiDocument>> {
        let catalog = self.cms.current_catalog()?;
        let types = catalog.types().iter();
        let key = DocumentKey {
            schema_rev: catalog.rev,
            request: request.clone(),
            access: types.map(|content_type| access(caller, content_type.name())).collect(),
            rights: self.rights(caller, request),
        };
        if let Some(document) = self.cms.openapi_documents.get(&key) {
            return Ok(document);
        }
        let text = build(&catalog, &key)?;
        let tag = EntityTag::of(&text);
        let document = Arc::new(OpenApiDocument { text: Json(text), tag });
        self.cms.openapi_documents.insert(key, Arc::clone(&document));
        Ok(document)
    }

    /// Callers that read everything, and write nothing, get the same description of content as
    /// those that write everything (see docs/reference/openapi.md#rights).
    fn rights(&self, caller: &Caller, request: &OpenApiRequest) -> CallerRights {
        let change_types = self.cms.config.require_type_change(caller).is_ok();
        let is_reader = caller.rights() == Rights::ReadOnly;
        let management = ManagementRights {
            admin: caller.is_admin(),
            write: !caller.is_read_only(),
            publish: caller.may_publish(),
            plan_types: caller.require_type_admin().is_ok(),
            change_types,
            open_id: request.open_id,
        };
        CallerRights {
            change_types: change_types || is_reader,
            publish: caller.may_publish() || is_reader,
            management: request.management.then_some(management),
        }
    }
}

/// What the caller may do with a type.
fn access(caller: &Caller, name: &str) -> Access {
    match caller.rights() {
        Rights::Admin | Rights::Developer | Rights::ReadOnly => Access::ALL,
        Rights::Editor => Access::editor(name),
        Rights::Rules => Access::granted(&caller.actor().rules, name),
    }
}

fn build(catalog: &Catalog, key: &DocumentKey) -> Result<Vec<u8>> {
    let types = catalog.types().iter().zip(&key.access).map(|(content_type, &access)| TypeAccess {
        definition: &content_type.definition,
        properties: &content_type.properties,
        access,
        is_hidden: OMITTED_FROM_API_SCHEMAS.contains(&content_type.name()),
    });
    document::document(&types.collect::<Vec<_>>(), key.rights, &key.request)
        .map_err(Error::internal)
}
