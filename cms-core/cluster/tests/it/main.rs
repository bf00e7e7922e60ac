//! The shared database against a real PostgreSQL: `CMS_TEST_POSTGRES` names the directory of its
//! programs.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod access;
mod connection_errors;
mod contract;
mod proxy;
#[expect(dead_code, reason = "the tests of the program use the rest")]
mod server;
mod upgrade;
