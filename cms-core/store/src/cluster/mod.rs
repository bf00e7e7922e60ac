//! A database as the replica of a node: the shared database of the cluster is the source of truth, and
//! each commit reaches it before anybody sees it.
//!
//! | Module | Contains |
//! |---|---|
//! | `database` | values and traits of the shared database; this module does not name PostgreSQL |
//! | `open` | the data directory of a node |
//! | `tables` | which tables all nodes share |
//! | `capture` | notes the keys of changed rows |
//! | `rows` | reads and writes rows by key |
//! | `metrics` | what a replica counts |
//! | `replica` | the position of the replica; commits |
//! | `apply` | changes of other nodes |
//! | `bootstrap` | a new replica, a new shared database |
//! | `compare` | differences between a replica and the shared database |
//! | `memory` | a shared database for tests |
//! | `contract` | tests that every shared database passes |

pub(crate) mod apply;
pub(crate) mod bootstrap;
pub(crate) mod capture;
pub mod compare;
#[cfg(any(test, feature = "testing"))]
pub mod contract;
pub mod database;
#[cfg(any(test, feature = "testing"))]
pub mod memory;
pub mod metrics;
pub mod open;
pub mod replica;
mod rows;
mod tables;
