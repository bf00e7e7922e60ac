//! Answers queries, and describes what can be asked.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use async_graphql::{
    Positioned,
    parser::{
        parse_query,
        types::{DocumentOperations, ExecutableDocument, OperationDefinition},
    },
};

use super::{
    bounds,
    execute::Execution,
    fault::{self, Failure, Fault},
    input,
    model::{Content, Model},
    plan::{self, Action},
    schema::Schema,
    validate,
};
use crate::{
    auth::scope::Access,
    cms::Cms,
    context::Caller,
    ctd::catalog::{Catalog, Type},
    error::{Error, Result},
    limits,
    store::Reader,
    wire::graphql::{GraphQlAnswer, GraphQlRequest, GraphQlVersion},
};

/// System types that a schema shows (contract 8.3).
const SHOWN_SYSTEM_TYPES: [&str; 2] = ["_media", "_tag"];

/// Queries in the language GraphQL.
pub struct GraphQl<'a> {
    pub(crate) cms: &'a Cms,
}

impl GraphQl<'_> {
    /// Returns the schema in the schema language.
    ///
    /// # Errors
    /// [`Error::Forbidden`] when the key may read no type that a schema shows.
    pub fn schema(&self, caller: &Caller, version: GraphQlVersion) -> Result<String> {
        self.cms.store.read(|reader| {
            let catalog = self.cms.catalog.at(reader)?;
            let prepared = self.cms.schemas.get(&catalog, caller, version);
            Ok(prepared.ok_or(Error::Forbidden)?.schema()?.sdl().to_owned())
        })
    }

    /// Answers a query. What is wrong with it is an answer, too.
    ///
    /// # Errors
    /// What has nothing to do with the query.
    pub fn execute(
        &self,
        caller: &Caller,
        version: GraphQlVersion,
        request: &GraphQlRequest,
    ) -> Result<GraphQlAnswer> {
        if let Err(fault) = bounds::check_text(&request.query) {
            return Ok(fault::refusal(&[fault]));
        }
        self.cms.store.read(|reader| {
            let catalog = self.cms.catalog.at(reader)?;
            let Some(prepared) = self.cms.schemas.get(&catalog, caller, version) else {
                return Ok(GraphQlAnswer::of(&Error::Forbidden));
            };
            match self.answer(reader, &catalog, caller, &prepared, request) {
                Ok(body) => Ok(GraphQlAnswer { status: 200, body }),
                Err(Failure::Faults(faults)) => Ok(fault::refusal(&faults)),
                Err(Failure::Error(error)) => Err(error),
            }
        })
    }

    fn answer(
        &self,
        reader: &Reader<'_>,
        catalog: &Catalog,
        caller: &Caller,
        prepared: &Prepared,
        request: &GraphQlRequest,
    ) -> std::result::Result<Vec<u8>, Failure> {
        let document = prepared.document(&request.query)?;
        let name = request.operation_name.as_deref();
        let operation = &operation(&document, name)?.node;
        let model = &prepared.model;
        let variables =
            input::variables(model, operation, &request.variables).map_err(Failure::Faults)?;
        let plan = plan::compile(model, &document, operation, &variables)?;
        let asks = plan.roots.iter().any(|root| matches!(root.action, Action::Introspection));
        let schema = if asks {
            let described = prepared.schema()?.introspect(&document, name, variables);
            Some(described?)
        } else {
            None
        };
        Execution { cms: self.cms, reader, catalog, caller, plan: &plan, schema }.run()
    }
}

/// Finds the operation that is meant.
fn operation<'d>(
    document: &'d ExecutableDocument,
    name: Option<&str>,
) -> std::result::Result<&'d Positioned<OperationDefinition>, Fault> {
    let mut operations = document.operations.iter();
    match (name, operations.next(), operations.next()) {
        (None, Some((_, only)), None) => Ok(only),
        (None, ..) => Err(Fault::bad_request(
            "Must provide operation name if query contains multiple operations.",
        )),
        (Some(name), ..) => {
            let named = match &document.operations {
                DocumentOperations::Single(_) => None,
                DocumentOperations::Multiple(operations) => operations.get(name),
            };
            named.ok_or_else(|| Fault::bad_request(format!("Unknown operation named \"{name}\".")))
        }
    }
}

/// Schemas by what they are made of, each kept as long as types stay as they are.
#[derive(Default)]
pub(crate) struct Schemas(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Schema revision that all of them are of.
    rev: i64,
    /// By version, and rows of the types that are shown.
    schemas: HashMap<(GraphQlVersion, Vec<i64>), Arc<Prepared>>,
}

impl Schemas {
    /// Returns what a caller sees of the types; none when that is nothing.
    fn get(
        &self,
        catalog: &Catalog,
        caller: &Caller,
        version: GraphQlVersion,
    ) -> Option<Arc<Prepared>> {
        let is_shown =
            |known: &Type| !known.definition.internal || SHOWN_SYSTEM_TYPES.contains(&known.name());
        let may_read = |known: &Type| caller.may(Access::READ, known.name());
        let types: Vec<&Type> = catalog
            .types()
            .iter()
            .map(AsRef::as_ref)
            .filter(|known| is_shown(known) && may_read(known))
            .collect();
        if types.is_empty() {
            return None;
        }
        let key = (version, types.iter().map(|known| known.pk).collect());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.rev < catalog.rev || known.schemas.len() >= limits::KNOWN_SCHEMAS {
            *known = Known { rev: catalog.rev, schemas: HashMap::new() };
        }
        // A snapshot older than what is known gets a schema of its own.
        if known.rev > catalog.rev {
            return Some(Arc::new(Prepared::of(version, &types)));
        }
        let prepared =
            known.schemas.entry(key).or_insert_with(|| Arc::new(Prepared::of(version, &types)));
        Some(Arc::clone(prepared))
    }
}

/// A schema, and the queries that were found valid by it.
struct Prepared {
    model: Model,
    /// Made when somebody asks for it: queries for content never do.
    schema: OnceLock<Schema>,
    documents: Mutex<HashMap<String, Arc<ExecutableDocument>>>,
}

impl Prepared {
    fn of(version: GraphQlVersion, types: &[&Type]) -> Self {
        let contents: Vec<Content<'_>> = types
            .iter()
            .map(|known| Content { name: known.name(), properties: &known.properties })
            .collect();
        Self {
            model: Model::new(version, &contents),
            schema: OnceLock::new(),
            documents: Mutex::default(),
        }
    }

    fn schema(&self) -> Result<&Schema> {
        if let Some(known) = self.schema.get() {
            return Ok(known);
        }
        let made = Schema::of(&self.model)?;
        Ok(self.schema.get_or_init(|| made))
    }

    /// Parses and judges a query, or remembers that it is good.
    fn document(&self, query: &str) -> std::result::Result<Arc<ExecutableDocument>, Failure> {
        let lock = || self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(query) {
            return Ok(Arc::clone(known));
        }
        let document = parse_query(query).map_err(Fault::from)?;
        bounds::check_document(&document)?;
        let faults = validate::validate(&self.model, &document);
        if !faults.is_empty() {
            return Err(Failure::Faults(faults));
        }
        let document = Arc::new(document);
        if query.len() <= limits::KNOWN_QUERY_BYTES {
            let mut known = lock();
            if known.len() >= limits::KNOWN_QUERIES {
                known.clear();
            }
            known.insert(query.to_owned(), Arc::clone(&document));
        }
        Ok(document)
    }
}
