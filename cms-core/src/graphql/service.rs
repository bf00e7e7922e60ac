//! The GraphQL service: executes queries and returns schemas.

use std::{borrow::Cow, sync::Arc};

use crate::graphql::schema_cache::CachedSchema;
use async_graphql::{
    Positioned,
    parser::types::{DocumentOperations, ExecutableDocument, OperationDefinition},
};
use cms_model::{
    auth::key::hex,
    content_type::catalog::Catalog,
    context::Caller,
    error::{Error, Result},
    graphql::{
        complexity,
        error::{self as query_error, QueryError, QueryFailure},
        input,
        plan::{self, Action},
    },
    wire::graphql::{GraphQlRequest, GraphQlResponse, GraphQlVersion},
};
use cms_store::Reader;
use sha2::{Digest, Sha256};

use super::execute::PlanExecution;
use crate::cms::service;

service! {
    /// GraphQL queries.
    GraphQl, graphql
}

impl GraphQl<'_> {
    /// Returns the schema in the schema language.
    ///
    /// # Errors
    /// [`Error::Forbidden`] when the key may read no type of the schema.
    pub fn schema(&self, caller: &Caller, version: GraphQlVersion) -> Result<String> {
        let catalog = self.cms.current_catalog()?;
        let prepared = self.cms.graphql_schemas.get(&catalog, caller, version);
        Ok(prepared.ok_or(Error::Forbidden)?.schema()?.sdl().to_owned())
    }

    /// Rebuilds the cached schemas after content types changed, so that no query waits for that.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn refresh(&self) -> Result<()> {
        if self.cms.graphql_schemas.is_empty() {
            return Ok(());
        }
        let catalog = self.cms.current_catalog()?;
        self.cms.graphql_schemas.refresh(&catalog)
    }

    /// Executes a query. Errors of the query are part of the response.
    ///
    /// # Errors
    /// Errors that the query does not cause.
    pub fn execute(
        &self,
        caller: &Caller,
        version: GraphQlVersion,
        request: &GraphQlRequest,
    ) -> Result<GraphQlResponse> {
        let query = match self.query(request) {
            Ok(query) => query,
            Err(error) => return Ok(query_error::error_response(&[error])),
        };
        self.cms.read_with_catalog(|reader, catalog| {
            let Some(prepared) = self.cms.graphql_schemas.get(catalog, caller, version) else {
                return Ok(GraphQlResponse::of(&Error::Forbidden));
            };
            match self.respond(reader, catalog, caller, &prepared, &query, request) {
                Ok(body) => Ok(GraphQlResponse { status: 200, body }),
                Err(QueryFailure::Query(errors)) => Ok(query_error::error_response(&errors)),
                Err(QueryFailure::Other(error)) => Err(error),
            }
        })
    }

    /// Finds the text of a query, which may be a persisted one.
    fn query<'r>(
        &self,
        request: &'r GraphQlRequest,
    ) -> std::result::Result<Cow<'r, str>, QueryError> {
        let query = &request.query;
        if let (true, Some(hash)) = (query.is_empty(), &request.hash) {
            let known = &self.cms.graphql_schemas.persisted_queries;
            let persisted = known.get(hash).ok_or_else(QueryError::unknown_hash)?;
            return Ok(Cow::Owned(persisted.to_string()));
        }
        complexity::check_text(query)?;
        if request.hash.as_ref().is_some_and(|hash| *hash != hex(&Sha256::digest(query))) {
            return Err(QueryError::bad_request("provided sha does not match query"));
        }
        Ok(Cow::Borrowed(query))
    }

    fn respond(
        &self,
        reader: &Reader<'_>,
        catalog: &Catalog,
        caller: &Caller,
        prepared: &CachedSchema,
        query: &str,
        request: &GraphQlRequest,
    ) -> std::result::Result<Vec<u8>, QueryFailure> {
        let document = prepared.document(query)?;
        // Only valid queries are persisted.
        if let Some(hash) = request.hash.as_ref().filter(|_| !request.query.is_empty()) {
            self.cms.graphql_schemas.persisted_queries.insert(hash.clone(), Arc::from(query));
        }
        let name = request.operation_name.as_deref();
        let operation = &operation(&document, name)?.node;
        let model = prepared.model();
        let variables =
            input::variables(model, operation, &request.variables).map_err(QueryFailure::Query)?;
        let plan = plan::compile(model, &document, operation, &variables)?;
        let has_introspection =
            plan.roots.iter().any(|root| matches!(root.action, Action::Introspection));
        let introspection = if has_introspection {
            Some(prepared.schema()?.introspect(&document, name, variables)?)
        } else {
            None
        };
        PlanExecution { cms: self.cms, reader, catalog, caller, plan: &plan, introspection }.run()
    }
}

/// Finds the operation to execute.
fn operation<'d>(
    document: &'d ExecutableDocument,
    name: Option<&str>,
) -> std::result::Result<&'d Positioned<OperationDefinition>, QueryError> {
    let mut operations = document.operations.iter();
    match (name, operations.next(), operations.next()) {
        (None, Some((_, only)), None) => Ok(only),
        (None, ..) => Err(QueryError::bad_request(
            "Must provide operation name if query contains multiple operations.",
        )),
        (Some(name), ..) => {
            let named = match &document.operations {
                DocumentOperations::Single(_) => None,
                DocumentOperations::Multiple(operations) => operations.get(name),
            };
            named.ok_or_else(|| {
                QueryError::bad_request(format!("Unknown operation named \"{name}\"."))
            })
        }
    }
}
