//! The HTTP interface of cms: content, media and keys over HTTP/1.1 and HTTP/2.
//!
//! This crate handles requests and responses; the rules of content are in `cms-core`, of which it
//! uses the public API only. It reads no flags and no environment: [`ServerConfig`] is plain data.
//!
//! A request goes through these modules, in this order:
//!
//! | module | does |
//! |---|---|
//! | `server` | listens, accepts connections, speaks HTTP, shuts down |
//! | `net` | limits on clients: connections, rates, permits, memory of unsent responses, slow clients |
//! | `routing` | the table of routes, matching a path, the order of checks of a request |
//! | `forward` | on a node of a cluster: sends a write to the writer node |
//! | `consistency` | on a node of a cluster: waits until the replica is current |
//! | `extract` | key, view, query and body of a request |
//! | `blocking` | the step from connection threads to threads that may block |
//! | `http` | one short function per route: unpack the request, call the core, make the response |
//! | `response` | headers, compression, errors |
//! | `telemetry` | logs, metrics and traces |
//!
//! `config` has the settings, `public_url` the URL of this server and the address of a client.
//! `starting` responds while a node opens its replica. `openid` is the client of an OpenID Connect
//! issuer. `state` is what all requests share, and knows no routes. `background` has the tasks that run
//! without a request: publishing on schedule, bulk jobs, indexing, clean-up, backups, webhook
//! deliveries.

mod background;
mod blocking;
mod config;
mod consistency;
mod extract;
mod forward;
mod http;
mod net;
mod openid;
mod public_url;
mod response;
mod routing;
mod server;
mod starting;
mod state;
mod telemetry;

pub use config::{MetricsAccess, Rate, ReloadableSettings, ServerConfig};
pub use consistency::Consistency;
pub use openid::OpenIdConfig;
pub use routing::{request::router, route::Route, table::ROUTES};
pub use server::{BoundServer, RunningServer, StopReason, bind, serve};
pub use telemetry::{log_writer::LogWriter, trace::Traces};

/// Whether this build contains the admin page: it needs the feature `admin`, and npm at build time.
#[cfg(feature = "admin")]
pub use http::admin::BUILT as HAS_ADMIN_PAGE;
/// Whether this build contains the admin page: it needs the feature `admin`.
#[cfg(not(feature = "admin"))]
pub const HAS_ADMIN_PAGE: bool = false;
