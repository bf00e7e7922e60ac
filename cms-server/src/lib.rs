//! The HTTP interface of cms: content, media and keys over HTTP/1.1 and HTTP/2.
//!
//! This crate knows requests and answers; what they mean is `cms-core`'s, of which it uses the
//! public names alone. It reads no flags and no environment: [`ServerConfig`] is plain data.
//!
//! A request goes through these modules, in this order:
//!
//! | module | does |
//! |---|---|
//! | `serve`, `admission`, `connection`, `target`, `pace` | socket, connection limits, unsent responses and slow clients, graceful end; repairs request lines |
//! | `rate` | how often a key or an address may ask |
//! | `request` | the way of one request, and the order of checks (contract 1.4) |
//! | `router`, `path` | the one table of routes, and finding a row of it |
//! | `blocking` | crosses to a thread that may block, once per request |
//! | `extract` | key, view, query and body of a request |
//! | `http` | one short function per route: unpack, one call of the core, pack |
//! | `answer`, `error`, `deprecation`, `compression` | what goes back |
//! | `log`, `log_writer` | what is written down about it, and where |
//!
//! Beside requests, `chores` tidies up and publishes what is due, `webhook` tells others what happened,
//! `metrics` counts for whoever watches, and `trace` tells who follows requests through several
//! services.

mod background;
mod blocking;
mod config;
mod extract;
mod http;
mod net;
mod public_url;
mod response;
mod routing;
mod server;
mod state;
mod telemetry;

pub use config::{MetricsAccess, Rate, ServerConfig, Tunables};
pub use routing::table::{ROUTES, Route, router};
pub use server::{Bound, Running, bind, serve};
pub use telemetry::{log_writer::LogWriter, trace::Traces};
