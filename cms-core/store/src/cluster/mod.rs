//! A database as the replica of a node: the shared database of the cluster is the source of truth, and
//! stores each commit before any reader sees the changes.
//!
//! | Module | Contains |
//! |---|---|
//! | `database` | values and traits of the shared database; this module does not depend on PostgreSQL |
//! | `open` | opens the data directory of a node |
//! | `tables` | which tables all nodes share |
//! | `capture` | records the keys of changed rows |
//! | `rows` | reads and writes rows by key |
//! | `metrics` | counters of a replica |
//! | `replica` | the position of the replica; commits |
//! | `apply` | applies changes of other nodes |
//! | `bootstrap` | fills a new replica, or a new shared database |
//! | `compare` | finds differences between a replica and the shared database |
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
