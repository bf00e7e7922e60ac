//! Execution of GraphQL queries (see docs/reference/graphql.md).
//!
//! [`schema_cache`] caches the schemas that [`cms_model::graphql`] builds from content types;
//! [`service`] runs the steps of a query, [`execute`] reads its objects from one snapshot.

pub(crate) mod execute;
pub(crate) mod schema_cache;
pub(crate) mod service;
