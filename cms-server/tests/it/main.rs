//! The HTTP interface as its clients see it.

mod conventions;
mod coverage;
mod hostile;
mod messages;
mod serving;
mod support;
