//! The services of cms on one data directory.
//!
//! This crate has no async code, no HTTP, no terminal, and reads no environment: the server, the
//! command line and tests use it the same way. The layers below are crates:
//!
//! | crate | content |
//! |---|---|
//! | [`cms_model`] | values, and functions from values to values |
//! | [`cms_media`] | files, images, the rendering pipeline |
//! | [`cms_search`] | the search index |
//! | [`cms_store`] | SQLite: all its SQL |
//! | [`cms_system`] | time, random ids, private files, locks |
//! | here | [`Cms`] and its services: [`Objects`], [`WorkingCopies`], [`Publishing`], [`Previews`], [`Workflows`], [`Bulk`], [`Trash`], [`Types`], [`SharedViews`], [`Media`], [`Searching`], [`GraphQl`], [`OpenApi`], [`Keys`], [`Users`], [`Sessions`], [`UserSettings`], [`Presences`], [`Changes`], [`ActivityLog`], [`Webhooks`], [`Backups`], [`import`] |

mod activity;
mod auth;
mod backup;
mod bulk;
mod change;
mod check;
mod clean_up;
mod cluster;
mod cms;
mod config;
mod content_type;
mod graphql;
mod hooks;
pub mod import;
mod media;
mod object;
mod openapi;
mod presence;
mod preview;
mod progress;
mod publish;
mod readiness;
mod retention;
mod search;
mod shared_view;
mod statistics;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod trash;
mod user;
mod webhook;
mod workflow;
mod working_copy;

pub use activity::service::ActivityLog;
pub use auth::service::{FirstKeys, Keys};
pub use backup::{
    restore::{restore, verify_backup},
    schedule::{BackupDestination, BackupSchedule},
    service::{Backups, DatabaseCopy},
};
pub use bulk::service::Bulk;
pub use change::service::Changes;
pub use check::{EnsureRunning, check_file};
pub use cluster::{
    Cluster, Duty, Transferred, WriterNode, count_transfer, create_cluster, export_cluster,
};
pub use cms::Cms;
pub use cms_media::{
    incoming::Incoming,
    renders::{FileChunks, RenderedImage},
    upload::MediaKind,
};
pub use cms_model::workflow::model::DEFAULT_WORKFLOW;
pub use cms_model::{
    TRACE_TARGET,
    auth::scope::{Access, Permission},
    content_type::{builtin_types, is_property_name, preview::parse_origin, slug::slug},
    context::{Actor, ActorKind, Caller, Credential, Rights, Visibility},
    dates,
    error::{self, Error, FieldErrors, Result},
    limits,
    memory::{MemoryBudget, Reservation},
    message::{MessageCode, Reason},
    object::model::Edition,
    paging,
    query::filter::filter_types,
    settings::{Durability, MediaStorage, NewDatabase, S3Bucket},
    typescript,
    user::openid::{Identity, OpenIdError, OpenIdRules, OpenIdSignIn},
    user::profile::{READ_ONLY as READ_ONLY_USER_MEMBERS, email_key},
    webhook::{exchange::Exchange, schedule::Dispatch, synchronous::WebhookOutcome},
    wire,
};
pub use cms_store::{
    CommitState, Dependencies, PendingCommit, Schemas, SharedMigration, TypesRead,
    cluster::{
        compare::Difference,
        database::{DutyHolder, Head, HeadCheck, NodeState, Position, SharedDatabase},
        open::compare_directory,
    },
};
pub use config::{ClusterConfig, CoreConfig};
pub use content_type::service::Types;
pub use graphql::service::GraphQl;
pub use media::{
    image::{Image, ImageBody},
    orphaned_files::OrphanCleanUp,
    service::Media,
};
pub use object::{read::RenderedObjects, service::Objects, write::Edit};
pub use openapi::service::OpenApi;
pub use presence::service::{Presences, VisiblePresences};
pub use preview::service::Previews;
pub use progress::Progress;
pub use publish::service::Publishing;
pub use readiness::ReadinessPart;
pub use search::service::Searching;
pub use shared_view::service::SharedViews;
pub use statistics::{Renderings, Statistics};
pub use trash::service::Trash;
pub use user::{
    openid::OpenIdStart,
    service::Users,
    sessions::{SessionClient, Sessions, SignedIn},
    settings::UserSettings,
};
pub use webhook::{
    service::{AttemptReport, Outgoing, Webhooks},
    state::WebhookTransport,
};
pub use workflow::service::Workflows;
pub use working_copy::service::WorkingCopies;

/// Time as an input, and the clock of the machine.
pub mod clock {
    pub use cms_model::clock::{Clock, FixedClock, Timestamp};
    pub use cms_system::clock::SystemClock;
}

/// Private directories, and lock files.
pub use cms_system::{folder, lock};

/// Identifiers: where new ones come from, and the form of object ids.
pub mod ids {
    pub use cms_model::ids::{CountingIds, ID_PATTERN, IdSource, is_uuid};
    pub use cms_system::ids::RandomIds;
}
