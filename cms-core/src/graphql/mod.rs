//! Execution of GraphQL queries (contract 8).
//!
//! [`schemas`] caches what [`cms_model::graphql`] makes from content types; [`service`] puts the steps of
//! a query in order, [`execute`] reads its objects from one snapshot.

pub(crate) mod execute;
pub(crate) mod schemas;
pub(crate) mod service;
