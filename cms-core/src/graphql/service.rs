//! Answers queries, and describes what can be asked.

use std::{borrow::Cow, fmt::Write as _, sync::Arc};

use crate::graphql::schemas::Prepared;
use async_graphql::{
    Positioned,
    parser::types::{DocumentOperations, ExecutableDocument, OperationDefinition},
};
use cms_model::{
    content_type::catalog::Catalog,
    context::Caller,
    error::{Error, Result},
    graphql::{
        bounds,
        fault::{self, Failure, Fault},
        input,
        plan::{self, Action},
    },
    wire::graphql::{GraphQlRequest, GraphQlResponse, GraphQlVersion},
};
use sha2::{Digest, Sha256};

use super::execute::Execution;
use crate::{cms::Cms, store::Reader};

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
        let catalog = self.cms.current_catalog()?;
        let prepared = self.cms.schemas.get(&catalog, caller, version);
        Ok(prepared.ok_or(Error::Forbidden)?.schema()?.sdl().to_owned())
    }

    /// Makes the schemas anew that were in use before types changed, so that no query has to wait for
    /// that.
    ///
    /// # Errors
    /// What has nothing to do with types.
    pub fn refresh(&self) -> Result<()> {
        if self.cms.schemas.are_unused() {
            return Ok(());
        }
        let catalog = self.cms.current_catalog()?;
        self.cms.schemas.refresh(&catalog)
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
    ) -> Result<GraphQlResponse> {
        let query = match self.query(request) {
            Ok(query) => query,
            Err(fault) => return Ok(fault::refusal(&[fault])),
        };
        self.cms.store.read(|reader| {
            let catalog = self.cms.catalog.at(reader)?;
            let Some(prepared) = self.cms.schemas.get(&catalog, caller, version) else {
                return Ok(GraphQlResponse::of(&Error::Forbidden));
            };
            match self.answer(reader, &catalog, caller, &prepared, &query, request) {
                Ok(body) => Ok(GraphQlResponse { status: 200, body }),
                Err(Failure::Faults(faults)) => Ok(fault::refusal(&faults)),
                Err(Failure::Error(error)) => Err(error),
            }
        })
    }

    /// Finds the text of a query, which may have been sent before.
    fn query<'r>(&self, request: &'r GraphQlRequest) -> std::result::Result<Cow<'r, str>, Fault> {
        let query = &request.query;
        if let (true, Some(hash)) = (query.is_empty(), &request.hash) {
            let named = self.cms.schemas.named.get(hash).ok_or_else(Fault::unknown_hash)?;
            return Ok(Cow::Owned(named.to_string()));
        }
        bounds::check_text(query)?;
        if request.hash.as_ref().is_some_and(|hash| *hash != digest(query)) {
            return Err(Fault::bad_request("provided sha does not match query"));
        }
        Ok(Cow::Borrowed(query))
    }

    fn answer(
        &self,
        reader: &Reader<'_>,
        catalog: &Catalog,
        caller: &Caller,
        prepared: &Prepared,
        query: &str,
        request: &GraphQlRequest,
    ) -> std::result::Result<Vec<u8>, Failure> {
        let document = prepared.document(query)?;
        // What is wrong is not worth a name.
        if let Some(hash) = request.hash.as_ref().filter(|_| !request.query.is_empty()) {
            self.cms.schemas.named.insert(hash.clone(), Arc::from(query));
        }
        let name = request.operation_name.as_deref();
        let operation = &operation(&document, name)?.node;
        let model = prepared.model();
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

/// The hash by which a query is named.
fn digest(query: &str) -> String {
    Sha256::digest(query).iter().fold(String::new(), |mut digest, byte| {
        write!(digest, "{byte:02x}").expect("a string takes any text");
        digest
    })
}
