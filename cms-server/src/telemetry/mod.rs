//! Logs, metrics and traces of requests.

pub(crate) mod exposition;
pub(crate) mod log_writer;
pub(crate) mod metrics;
pub(crate) mod request_log;
pub(crate) mod trace;
