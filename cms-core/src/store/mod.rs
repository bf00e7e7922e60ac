//! To come.

pub(crate) mod functions;
pub(crate) mod index_ddl;
pub(crate) mod list_sql;
