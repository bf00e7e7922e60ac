//! A database as the replica of a node: the shared database is the source of truth, and each commit
//! reaches it before anybody sees it.
//!
//! [`database`] has the values and traits; nothing here names PostgreSQL.

#[cfg(any(test, feature = "testing"))]
pub mod contract;
pub mod database;
