//! The services of cms on one data folder.
//!
//! This crate has no async code, no HTTP, no terminal, and reads no environment: a server, a
//! command line and a test all use it the same way. The layers below are crates:
//!
//! | crate | what it is |
//! |---|---|
//! | [`cms_model`] | values, and functions from values to values |
//! | [`cms_system`] | time, random ids, private files, locks |
//! | here | [`Cms`] and its services: [`Objects`], [`Publishing`], [`Workflows`], [`Types`], [`Media`], [`Backups`], [`GraphQl`], [`Keys`], [`Changes`], [`Webhooks`], [`Import`] |

mod auth;
mod backup;
mod change;
mod check;
mod cms;
mod config;
mod ctd;
mod graphql;
mod import;
mod media;
mod object;
mod openapi;
mod progress;
mod publish;
mod readiness;
mod retention;
mod search;
mod statistics;
mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod webhook;
mod workflow;

pub use auth::service::{FirstKeys, Keys};
pub use backup::{
    restore::{restore, verify_backup},
    schedule::{BackupPlace, BackupPlan},
    service::{Backups, Copied},
};
pub use change::service::Changes;
pub use check::check_file;
pub use cms::Cms;
pub use cms_model::{
    TRACE_TARGET,
    auth::scope::{Access, Permission},
    content_type::{builtin_types, slug::slug},
    context::{Actor, Caller, Visibility},
    error::{self, Error, FieldErrors, Result},
    limits,
    memory::{MemoryBudget, Reservation},
    paging,
    query::filter::filter_types,
    settings::{Durability, MediaStorage, NewDatabase, S3Bucket},
    webhook::{exchange::Answered, schedule::Dispatch},
    wire,
};
pub use config::CoreConfig;
pub use ctd::service::Types;
pub use graphql::service::GraphQl;
pub use import::Import;
pub use media::{
    image::{Image, Picture},
    incoming::Incoming,
    leftovers::Sweep,
    renders::{Made, Pieces},
    service::Media,
};
pub use object::service::Objects;
pub use openapi::service::OpenApi;
pub use publish::service::Publishing;
pub use readiness::Part;
pub use search::service::Searching;
pub use statistics::{Renderings, Statistics};
pub use webhook::{
    consult::AskReceiver,
    service::{Outgoing, Recorded, Webhooks},
};
pub use workflow::service::Workflows;

/// Time as an input, and the clock of the machine.
pub mod clock {
    pub use cms_model::clock::{Clock, FixedClock, Timestamp};
    pub use cms_system::clock::SystemClock;
}

/// Identifiers: where new ones come from, and the form of object ids.
pub mod ids {
    pub use cms_model::ids::{
        CountingIds, ID_PATTERN, IdSource, MAX_ID_CHARS, has_only_id_characters,
    };
    pub use cms_system::ids::RandomIds;
}
