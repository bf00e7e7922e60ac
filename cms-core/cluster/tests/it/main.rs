//! The shared database against a real PostgreSQL: `CMS_TEST_POSTGRES` names the directory of its
//! programs.

mod access;
mod contract;
mod faults;
mod proxy;
mod server;
mod speed;
