//! The description of the API as it is now, for a key. It changes with the types alone, so it is made
//! once for each question and remembered.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cms_model::{
    auth::scope::Access,
    content_type::catalog::Catalog,
    context::Caller,
    error::{Error, Result},
    openapi::describe::{self, Described},
    wire::{
        condition::EntityTag,
        key::{KeyKind, Rule},
        object::Json,
        openapi::{OpenApiDocument, OpenApiRequest},
    },
};

use crate::cms::Cms;

/// Descriptions that are kept. Each may have some megabytes.
const KEPT: usize = 8;

/// Types of the server that are no content (contract 9.3).
const HIDDEN: [&str; 2] = ["_webhooks", "_plugin_settings"];

/// The description of the API.
pub struct OpenApi<'a> {
    pub(crate) cms: &'a Cms,
}

/// What was described lately, newest last.
#[derive(Default)]
pub(crate) struct Descriptions(Mutex<VecDeque<(Question, Arc<OpenApiDocument>)>>);

/// All that a description depends on.
#[derive(Clone, PartialEq, Eq)]
struct Question {
    schema_rev: i64,
    request: OpenApiRequest,
    /// None for keys that may do everything.
    rules: Option<Vec<Rule>>,
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
        let question = Question { schema_rev: catalog.rev, request: request.clone(), rules };
        if let Some(known) = self.cms.descriptions.get(&question) {
            return Ok(known);
        }
        let text = describe(&catalog, question.rules.as_deref(), request)?;
        let tag = EntityTag::of(&text);
        let document = Arc::new(OpenApiDocument { text: Json(text), tag });
        self.cms.descriptions.keep(question, Arc::clone(&document));
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

impl Descriptions {
    fn get(&self, question: &Question) -> Option<Arc<OpenApiDocument>> {
        let kept = self.lock();
        let known = kept.iter().find(|(known, _)| known == question)?;
        Some(Arc::clone(&known.1))
    }

    fn keep(&self, question: Question, document: Arc<OpenApiDocument>) {
        let mut kept = self.lock();
        // Those of older types are of no use any more.
        kept.retain(|(known, _)| known.schema_rev >= question.schema_rev && *known != question);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((question, document));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Question, Arc<OpenApiDocument>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
