//! The operations of a target: a running server or a data directory.
//!
//! Arguments and results are those of the API ([`cms_core::wire`]), errors those of the core. Only
//! [`direct`] and [`remote`] know how a target does its work; loops, progress and output belong to the
//! commands.

mod direct;
mod remote;

use std::{
    fs,
    io::{self, ErrorKind, Read, Write},
    path::Path,
    sync::Arc,
};

use cms_core::{
    Error, Progress, Result,
    import::ImportTarget,
    paging::PageRequest,
    wire::{
        activity::{ActivityPage, ActivityRequest},
        bulk::{BulkJob, BulkResponse},
        check::{CheckReport, CheckRequest},
        content_type::ContentType,
        context::AuthContext,
        graphql::{GraphQlRequest, GraphQlVersion},
        key::{CreatedKey, Key, KeyUpdate, NewKey},
        list::List,
        media::UploadRequest,
        object::{IncomingLinks, ObjectRequest, ValidateRequest},
        openapi::OpenApiRequest,
        plan::{ApplyRequest, PlanRequest, ProjectPlan},
        preview::{Preview, PreviewRequest},
        publish::PublishAction,
        schedule::ScheduledObject,
        search::{ReindexCreated, ReindexJob, SearchRequest},
        session::LinkKind,
        trash::{EmptiedTrash, EmptyTrashRequest, RestoreRequest, TrashItem, TrashRequest},
        user::{CreatedUser, Link, User, UserListRequest},
        webhook::{Delivery, ReplayRequest, Replayed, WebhookStatus},
        workflow::{Workflow, WorkflowState},
    },
};
use serde_json::{Map, Value, json};

pub(crate) use cms_core::Edition;
#[cfg(feature = "serve")]
pub(crate) use direct::{Direct, open_directory};
pub(crate) use remote::Remote;

use crate::{
    failure,
    settings::{CONFIG_FILE, Settings, TargetAddress},
};

/// A file that is read while it is uploaded.
pub(crate) struct FileUpload {
    /// Reads the file from its beginning.
    pub(crate) open: Box<dyn Fn() -> io::Result<Box<dyn Read + Send>>>,
    /// Bytes in the file.
    pub(crate) size: u64,
}

/// Content, types, files, workflows and keys of one space. Objects of every status are visible,
/// except in lists and searches of published versions. Several threads may use it at the same time.
pub(crate) trait Target: ImportTarget + Sync {
    /// Names the target and the key for messages.
    fn describe(&self) -> Result<String>;

    /// The caller and its rights.
    fn auth_context(&self) -> Result<AuthContext>;
    /// The parts by name, as in `/readyz`: "ok", or why one is not ready. A server gives
    /// no reasons.
    fn parts(&self) -> Result<Map<String, Value>>;

    /// All types, ordered by name.
    fn types(&self) -> Result<Vec<ContentType>>;
    /// Returns whether content types may have changed since a position in the change feed, and sets the
    /// position to the newest change. A target that does not read the feed always returns true.
    fn types_may_differ(&self, _position: &mut Option<String>) -> bool {
        true
    }
    fn get_type(&self, name: &str) -> Result<ContentType>;
    fn delete_type(&self, name: &str) -> Result<()>;
    fn plan(&self, request: &PlanRequest, progress: &Progress) -> Result<ProjectPlan>;
    fn apply(&self, request: &ApplyRequest, progress: &Arc<Progress>) -> Result<ProjectPlan>;

    fn object(&self, content_type: &str, id: &str, request: &ObjectRequest) -> Result<Value>;
    fn create_object(&self, content_type: &str, object: Map<String, Value>) -> Result<Value>;
    /// Replaces an object; with `patch` only the given properties.
    fn update_object(
        &self,
        content_type: &str,
        id: &str,
        object: Map<String, Value>,
        patch: bool,
    ) -> Result<Value>;
    /// Fails as a write of the object would, and writes nothing.
    fn validate_object(
        &self,
        content_type: &str,
        object: Map<String, Value>,
        request: &ValidateRequest,
    ) -> Result<()>;
    /// A page of the objects that link to an object.
    fn incoming(&self, content_type: &str, id: &str, page: PageRequest) -> Result<IncomingLinks>;
    /// Deletes objects; returns how many, or the reasons for those that cannot be deleted.
    fn delete_objects(&self, content_type: &str, ids: &[String]) -> Result<u64>;
    /// Ids of deleted objects that were not created again.
    fn deleted_ids(&self, content_type: &str) -> Result<Vec<String>>;
    /// All versions, oldest first.
    fn versions(&self, content_type: &str, id: &str) -> Result<Vec<Value>>;
    fn version(&self, content_type: &str, id: &str, version: u64) -> Result<Value>;

    /// Deletions, newest first.
    fn trash(&self, request: &TrashRequest) -> Result<List<TrashItem>>;
    /// One deletion with its object.
    fn trash_entry(&self, entry: &str) -> Result<Value>;
    fn restore(&self, entry: &str, request: &RestoreRequest) -> Result<Value>;
    /// Removes a deleted object permanently.
    fn remove_trash(&self, entry: &str) -> Result<()>;
    /// Removes some of the oldest deleted objects permanently.
    fn empty_trash(&self, request: &EmptyTrashRequest) -> Result<EmptiedTrash>;

    /// Stores a file; returns its media object.
    fn upload(&self, file: FileUpload, request: &UploadRequest) -> Result<Value>;
    /// Opens the stored file of a media object. Errors of the reader contain a [`cms_core::Error`],
    /// see [`read_error`].
    fn file(&self, id: &str, extension: &str) -> Result<Box<dyn Read + '_>>;

    /// Publishes, unpublishes or archives an object; with `cascade` also the objects that it links
    /// to.
    fn set_status(
        &self,
        content_type: &str,
        id: &str,
        action: PublishAction,
        cascade: bool,
    ) -> Result<()>;

    /// Scheduled publications of some types, or of all when none is named, earliest first.
    fn schedules(&self, content_types: &[String]) -> Result<Vec<ScheduledObject>>;
    /// Schedules the publication of an object at a local time of a zone; returns the object.
    fn schedule(&self, content_type: &str, id: &str, at: &str, zone: &str) -> Result<Value>;
    /// Cancels the scheduled publication of an object, if any.
    fn unschedule(&self, content_type: &str, id: &str) -> Result<()>;

    fn create_workflow(&self, definition: Map<String, Value>) -> Result<Workflow>;
    fn replace_workflow(&self, id: &str, definition: Map<String, Value>) -> Result<Workflow>;
    fn delete_workflow(&self, id: &str) -> Result<()>;
    /// The state of an object and its enabled transitions.
    fn workflow_state(&self, content_type: &str, id: &str) -> Result<WorkflowState>;

    /// Searches; returns the response of the API.
    fn search(&self, request: &SearchRequest, edition: Edition) -> Result<Value>;
    /// Starts to rebuild the search index of some types, or of all when none is named.
    fn reindex(&self, content_types: &[String]) -> Result<ReindexCreated>;
    /// Returns the state of a rebuild. On a data directory, each call does a part of the work.
    fn reindex_job(&self, id: &str) -> Result<ReindexJob>;

    /// Starts a bulk job, or shows what it would do.
    fn bulk(&self, content_type: &str, request: &Map<String, Value>) -> Result<BulkResponse>;
    /// All bulk jobs, newest first.
    fn bulk_jobs(&self) -> Result<Vec<BulkJob>>;
    fn bulk_job(&self, id: &str) -> Result<BulkJob>;
    fn stop_bulk_job(&self, id: &str) -> Result<()>;
    /// Runs a part of the bulk jobs on a data directory; returns whether this process has more to run.
    /// A server runs its jobs itself.
    fn advance_bulk_jobs(&self) -> Result<bool>;

    /// Writes a backup of the state at one instant, which is not earlier than the call. After an error,
    /// the output is incomplete.
    fn backup(&self, output: &mut dyn Write) -> Result<()>;

    /// Checks data integrity, and repairs it if requested.
    fn check(&self, request: &CheckRequest) -> Result<CheckReport>;

    /// The OpenAPI document. A server uses its own URL.
    fn openapi(&self, request: &OpenApiRequest) -> Result<Value>;

    /// Creates a preview token. A server uses its own URL.
    fn preview(&self, request: &PreviewRequest, base_url: &str) -> Result<Preview>;

    /// The schema in the GraphQL schema definition language.
    fn graphql_schema(&self, version: GraphQlVersion) -> Result<String>;
    /// Runs a query; returns the response, also with errors of the query.
    fn graphql(
        &self,
        version: GraphQlVersion,
        request: &GraphQlRequest,
        edition: Edition,
    ) -> Result<Value>;

    fn keys(&self) -> Result<Vec<Key>>;
    fn create_key(&self, new: &NewKey) -> Result<CreatedKey>;
    fn update_key(&self, id: &str, update: &KeyUpdate) -> Result<Key>;
    /// Replaces the token of a key; the old one stays valid for `grace_hours`.
    fn rotate_key(&self, id: &str, grace_hours: i64) -> Result<CreatedKey>;
    fn revoke_key(&self, id: &str) -> Result<()>;

    /// A page of the activity log, newest first.
    fn activity(&self, request: &ActivityRequest) -> Result<ActivityPage>;
    /// All users that a request selects; its page is ignored.
    fn users(&self, request: &UserListRequest) -> Result<Vec<User>>;
    fn user(&self, id: &str) -> Result<User>;
    /// Creates a user. A server creates sign-in links with its own public URL.
    fn create_user(&self, payload: &Map<String, Value>, public_url: &str) -> Result<CreatedUser>;
    fn update_user(&self, id: &str, payload: &Map<String, Value>) -> Result<User>;
    fn delete_user(&self, id: &str) -> Result<()>;
    fn create_user_link(&self, id: &str, kind: Option<LinkKind>, public_url: &str) -> Result<Link>;
    fn sign_out_user(&self, id: &str) -> Result<()>;

    /// All webhooks, oldest first.
    fn webhooks(&self) -> Result<Vec<WebhookStatus>>;
    /// The sent and pending deliveries of a webhook, newest first.
    fn webhook_log(&self, id: &str, limit: u32) -> Result<Vec<Delivery>>;
    fn replay_webhook(&self, id: &str, request: &ReplayRequest) -> Result<Replayed>;
    fn test_webhook(&self, id: &str) -> Result<Delivery>;
}

/// Opens the target of the settings. Only a command that changes something creates a data
/// directory.
pub(crate) fn open(
    address: &TargetAddress,
    settings: &Settings,
    changes: bool,
) -> failure::Result<Box<dyn Target>> {
    Ok(match address {
        TargetAddress::Directory(folder) => {
            Box::new(direct::Direct::open(folder, settings, changes)?)
        }
        TargetAddress::Server { url, key, profile } => {
            Box::new(Remote::new(url, key.as_deref())?.of_profile(profile.as_deref()))
        }
    })
}

/// Opens a temporary empty data directory instead of one that does not exist yet; none for any other
/// target.
pub(crate) fn open_new(address: &TargetAddress) -> failure::Result<Option<Box<dyn Target>>> {
    Ok(match address {
        TargetAddress::Directory(folder) if is_new(folder) => {
            Some(Box::new(direct::Direct::empty(folder)?))
        }
        _ => None,
    })
}

/// Returns whether a data directory is missing, empty, or contains settings only.
fn is_new(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(entries) => entries.flatten().all(|entry| entry.file_name() == CONFIG_FILE),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Opens an empty data directory among the temporary files of the system. Dropping the target removes
/// it.
pub(crate) fn temporary() -> failure::Result<Box<dyn Target>> {
    Ok(Box::new(direct::Direct::empty(Path::new("temporary"))?))
}

/// The error of reading a stored file.
pub(crate) fn read_error(error: io::Error) -> Error {
    error.downcast().unwrap_or_else(|error| Error::Internal(Box::new(error)))
}

/// The payload that starts to rebuild the search index.
fn reindex_payload(content_types: &[String]) -> Map<String, Value> {
    if content_types.is_empty() {
        return Map::new();
    }
    Map::from_iter([("contentTypes".to_owned(), json!(content_types))])
}

/// The payload that schedules a publication.
fn schedule_payload(at: &str, zone: &str) -> Map<String, Value> {
    let members = [("scheduledAt", at), ("timeZone", zone)];
    members.map(|(name, text)| (name.to_owned(), json!(text))).into_iter().collect()
}

/// The payload that creates a link for a user.
fn link_payload(kind: Option<LinkKind>) -> Map<String, Value> {
    kind.map(|kind| ("kind".to_owned(), json!(kind))).into_iter().collect()
}

/// Requests all pages of a list.
pub(crate) fn all_pages<T>(
    limit: u32,
    list: impl FnMut(PageRequest) -> Result<List<T>>,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    find_in_pages(limit, list, |item| {
        all.push(item);
        Ok::<_, Error>(None::<()>)
    })?;
    Ok(all)
}

/// Requests the pages of a list until `visit` returns a value for one of their items.
pub(crate) fn find_in_pages<T, V, E: From<Error>>(
    limit: u32,
    mut list: impl FnMut(PageRequest) -> Result<List<T>>,
    mut visit: impl FnMut(T) -> std::result::Result<Option<V>, E>,
) -> std::result::Result<Option<V>, E> {
    for number in 1.. {
        let page = list(PageRequest { number, limit })?;
        for item in page.data {
            if let Some(found) = visit(item)? {
                return Ok(Some(found));
            }
        }
        if u64::from(number) >= page.total_pages {
            break;
        }
    }
    Ok(None)
}
