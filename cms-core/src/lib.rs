//! The content model, its storage and its rules.
//!
//! This crate has no async code, no HTTP, no terminal, and reads no environment: a server, a
//! command line and a test all use it the same way. Levels, lowest first; a module uses its own
//! level or a lower one, never a higher one:
//!
//! | level | modules |
//! |---|---|
//! | base | [`error`], `clock`, `dates`, `folder`, `ids`, `limits`, `lock`, `paging`, `progress`, `json`, `pattern`, `read` |
//! | domain: functions from values to values | [`wire`], `context`, `ctd::{model, parse, schema, diff, builtin}`, `object::{model, validate, render, view}`, `publish::{state, schedule}`, `workflow::{model, transition}`, `query`, `graphql::{naming, model, bounds, validate, input, plan, lists, render}`, `media::{path, transform, kind, upload, output, render}`, `webhook::{model, body, exchange, signature, schedule}`, `auth::{key, scope}`, `openapi` but for its service |
//! | engine | `store`, `media::{pipeline, files, renders}` |
//! | services | [`Cms`] and what it hands out: [`Objects`], [`Publishing`], [`Workflows`], [`Types`], [`Media`], [`Backups`], [`GraphQl`], [`Keys`], [`Changes`], [`Webhooks`], [`import`] |

mod auth;
mod backup;
mod change;
mod check;
pub mod clock;
mod cms;
mod config;
mod context;
mod ctd;
mod dates;
pub mod error;
mod folder;
mod graphql;
pub mod ids;
pub mod import;
mod json;
pub mod limits;
mod lock;
mod media;
mod memory;
mod message;
mod object;
mod openapi;
pub mod paging;
mod pattern;
mod progress;
mod publish;
mod query;
mod read;
mod readiness;
mod retention;
mod search;
mod statistics;
mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod webhook;
pub mod wire;
mod workflow;

/// Target of the spans of this crate: what a request waits for and does, for who traces it. They say
/// nothing of content, and begin only where somebody wants to hear of this target.
pub const TRACED: &str = "cms_trace";

pub use auth::{
    scope::{Access, Permission},
    service::{FirstKeys, Keys},
};
pub use backup::{
    restore::{restore, verify_backup},
    schedule::{BackupPlace, BackupPlan},
    service::{Backups, Copied},
};
pub use change::service::Changes;
pub use check::check_file;
pub use cms::Cms;
pub use config::{Bucket, CoreConfig, Durability, MediaStorage, NewDatabase};
pub use context::{Actor, Caller, Visibility};
pub use ctd::{builtin_types, service::Types, slug::slug};
pub use error::{Error, FieldErrors, Result};
pub use graphql::service::GraphQl;
pub use media::{
    image::{Image, Picture},
    incoming::Incoming,
    leftovers::Sweep,
    renders::{Made, Pieces},
    service::Media,
};
pub use memory::{MemoryBudget, Reservation};
pub use message::{MessageCode, Reason};
pub use object::service::Objects;
pub use openapi::service::OpenApi;
pub use publish::service::Publishing;
pub use query::filter::filter_types;
pub use readiness::Part;
pub use search::service::Searching;
pub use statistics::{Renderings, Statistics};
pub use webhook::{
    consult::AskReceiver,
    exchange::Answered,
    schedule::Dispatch,
    service::{Outgoing, Recorded, Webhooks},
};
pub use workflow::{model::DEFAULT as DEFAULT_WORKFLOW, service::Workflows};
