//! Connections, limits on clients, and the client of requests to others. Nothing here knows a route or the
//! content of a response.

pub(crate) mod connection;
pub(crate) mod connection_limits;
pub(crate) mod http_client;
pub(crate) mod permits;
pub(crate) mod rate_limit;
pub(crate) mod raw_query;
pub(crate) mod sign_in_limits;
pub(crate) mod transfer_rate;
