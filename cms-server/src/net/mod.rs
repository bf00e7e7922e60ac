//! Connections: limits on clients, unsent responses, transfer rates. Knows no routes.

pub(crate) mod connection;
pub(crate) mod connection_limits;
pub(crate) mod rate_limit;
pub(crate) mod raw_query;
pub(crate) mod transfer_rate;
