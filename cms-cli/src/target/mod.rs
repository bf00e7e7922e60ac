//! What a command can ask, whether a running server or the data folder itself answers.
//!
//! Arguments and results are those of the API ([`cms_core::wire`]), errors those of the core. Only
//! [`direct`] and [`remote`] know which of the two it is; loops, progress and output are the
//! commands' business.

mod direct;
mod remote;

use std::io::{self, Read, Write};

use cms_core::{
    Error, Result,
    paging::Page,
    wire::{
        batch::BatchReport,
        check::{CheckReport, CheckRequest},
        content_type::ContentType,
        graphql::{GraphQlRequest, GraphQlVersion},
        key::{CreatedKey, Key, NewKey},
        list::List,
        media::UploadRequest,
        object::ListRequest,
        openapi::OpenApiRequest,
        plan::{ApplyRequest, PlanRequest, ProjectPlan},
        publish::PublishAction,
        search::{Job, JobCreated, SearchRequest},
        webhook::{Delivery, ReplayRequest, Replayed, Webhook},
        workflow::{Workflow, WorkflowState},
    },
};
use serde_json::{Map, Value, json};

#[cfg(feature = "serve")]
pub(crate) use direct::{Direct, open_folder};

use crate::{
    failure,
    settings::{Place, Settings},
};

/// Which versions of objects a list or a search shows, where the type has Draft & Public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edition {
    /// What readers get: the published versions.
    Published,
    /// The current version of every object, whatever its status.
    Current,
}

/// How objects of an import are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ImportMode {
    /// Objects that exist are replaced; else they are refused.
    pub(crate) update_existing: bool,
    /// Objects get the dates that `internal` says.
    pub(crate) keep_dates: bool,
}

/// A file on its way to a target, read as it is sent.
pub(crate) struct Outgoing {
    pub(crate) content: Box<dyn Read + Send>,
    /// Bytes that there are to read.
    pub(crate) size: u64,
}

/// Tells how far a change is, from any thread.
pub(crate) type Rewriting = Box<dyn Fn() -> Option<(u64, u64)> + Send>;

/// Content, types, files, workflows and keys of one space. Objects of every publishing status are
/// visible, unless a list or a search is asked for published ones. Several threads may ask at once.
pub(crate) trait Target: Sync {
    /// Names the target, and the key that is used, for people.
    fn describe(&self) -> Result<String>;

    /// All types, ordered by name.
    fn types(&self) -> Result<Vec<ContentType>>;
    fn get_type(&self, name: &str) -> Result<ContentType>;
    fn delete_type(&self, name: &str) -> Result<()>;
    fn plan(&self, request: &PlanRequest) -> Result<ProjectPlan>;
    fn apply(&self, request: &ApplyRequest) -> Result<ProjectPlan>;
    /// Something that says how many objects a plan or an apply has rewritten, and of how many;
    /// none where that cannot be known.
    fn rewriting(&self) -> Option<Rewriting>;

    fn objects(
        &self,
        content_type: &str,
        request: &ListRequest,
        edition: Edition,
    ) -> Result<List<Value>>;
    fn object(&self, content_type: &str, id: &str, hydrate: u8) -> Result<Value>;
    fn create_object(&self, content_type: &str, object: Map<String, Value>) -> Result<Value>;
    fn replace_object(
        &self,
        content_type: &str,
        id: &str,
        object: Map<String, Value>,
    ) -> Result<Value>;
    fn patch_object(
        &self,
        content_type: &str,
        id: &str,
        changes: Map<String, Value>,
    ) -> Result<Value>;
    /// Deletes all that can be deleted; returns how many, or the reasons for the rest.
    fn delete_objects(&self, content_type: &str, ids: &[String]) -> Result<u64>;
    /// Ids of deleted objects that nobody created anew.
    fn deleted(&self, content_type: &str) -> Result<Vec<String>>;
    /// All versions, oldest first.
    fn versions(&self, content_type: &str, id: &str) -> Result<Vec<Value>>;
    fn version(&self, content_type: &str, id: &str, version: u64) -> Result<Value>;
    /// Deleted objects, oldest deletion first. A server does not list them.
    fn trash(&self, content_type: &str, page: Page) -> Result<List<Value>>;
    /// Creates objects, and replaces existing ones when asked to; saves what can be saved.
    fn import(
        &self,
        content_type: &str,
        elements: &[Value],
        mode: ImportMode,
    ) -> Result<BatchReport>;

    /// Stores a file; returns its media object.
    fn upload(&self, file: Outgoing, request: &UploadRequest) -> Result<Value>;
    /// The stored file of a media object. What fails while it is read is an [`cms_core::Error`] within
    /// the error of the reader, see [`reading_failed`].
    fn file(&self, id: &str, extension: &str) -> Result<Box<dyn Read + '_>>;

    /// Publishes, unpublishes or archives an object; with `cascade` also those it links to.
    fn act(&self, content_type: &str, id: &str, action: PublishAction, cascade: bool)
    -> Result<()>;
    /// The same for many objects, whatever their statuses; for none when one of them is unknown.
    fn act_on_many(&self, content_type: &str, ids: &[String], action: PublishAction) -> Result<()>;

    /// All workflows, built-in ones first.
    fn workflows(&self) -> Result<Vec<Workflow>>;
    fn create_workflow(&self, definition: Map<String, Value>) -> Result<Workflow>;
    fn replace_workflow(&self, id: &str, definition: Map<String, Value>) -> Result<Workflow>;
    fn delete_workflow(&self, id: &str) -> Result<()>;
    /// Where an object stands, and where it can go from there.
    fn workflow_state(&self, content_type: &str, id: &str) -> Result<WorkflowState>;
    /// Carries out a transition; returns where the object stands then.
    fn run_transition(&self, content_type: &str, id: &str, action: &str) -> Result<WorkflowState>;

    /// Searches; returns the answer of the API.
    fn search(&self, request: &SearchRequest, edition: Edition) -> Result<Value>;
    /// Asks for a new search index of some types, or of all when none is named.
    fn reindex(&self, content_types: &[String]) -> Result<JobCreated>;
    /// Says how far a job is. Asked again and again it gets done, whether a server runs or not.
    fn job(&self, id: &str) -> Result<Job>;

    /// Writes a copy of everything, made of one moment after the call. What is written when this
    /// fails is no backup.
    fn backup(&self, output: &mut dyn Write) -> Result<()>;

    /// Looks for what does not fit together, and mends what can be mended when asked to.
    fn check(&self, request: &CheckRequest) -> Result<CheckReport>;

    /// The description of the API. A server says itself where it is found.
    fn openapi(&self, request: &OpenApiRequest) -> Result<Value>;

    /// The schema of the content in the schema language of GraphQL.
    fn graphql_schema(&self, version: GraphQlVersion) -> Result<String>;
    /// Answers a query. That there is something wrong with it is an answer, too.
    fn graphql(
        &self,
        version: GraphQlVersion,
        request: &GraphQlRequest,
        edition: Edition,
    ) -> Result<Value>;

    fn keys(&self) -> Result<Vec<Key>>;
    fn create_key(&self, new: &NewKey) -> Result<CreatedKey>;
    fn revoke_key(&self, id: &str) -> Result<()>;

    /// All webhooks, oldest first.
    fn webhooks(&self) -> Result<Vec<Webhook>>;
    /// What a webhook was and will be told, newest first.
    fn webhook_log(&self, id: &str, limit: u32) -> Result<Vec<Delivery>>;
    fn replay_webhook(&self, id: &str, request: &ReplayRequest) -> Result<Replayed>;
    fn test_webhook(&self, id: &str) -> Result<Delivery>;
}

/// Opens the target that the settings name. Only a command that changes something creates a folder.
pub(crate) fn open(
    place: &Place,
    settings: &Settings,
    changes: bool,
) -> failure::Result<Box<dyn Target>> {
    Ok(match place {
        Place::Folder(folder) => Box::new(direct::Direct::open(folder, settings, changes)?),
        Place::Server { url, key } => Box::new(remote::Remote::new(url, key.as_deref())?),
    })
}

/// Opens a data directory that does not exist yet as an empty one, without creating it; none where
/// the place is any other.
pub(crate) fn open_new(place: &Place) -> failure::Result<Option<Box<dyn Target>>> {
    Ok(match place {
        Place::Folder(folder) if direct::is_new(folder) => {
            Some(Box::new(direct::Direct::empty(folder)?))
        }
        _ => None,
    })
}

/// What went wrong when a stored file was read.
pub(crate) fn reading_failed(error: io::Error) -> Error {
    error.downcast().unwrap_or_else(|error| Error::Internal(Box::new(error)))
}

/// What a target is told about the types of a new search index.
fn reindex_payload(content_types: &[String]) -> Map<String, Value> {
    if content_types.is_empty() {
        return Map::new();
    }
    Map::from_iter([("contentTypes".to_owned(), json!(content_types))])
}

/// Gathers the pages of a list, asking for one after the other.
fn all_pages<T>(mut page: impl FnMut(u32) -> Result<List<T>>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for number in 1.. {
        let list = page(number)?;
        all.extend(list.data);
        if u64::from(number) >= list.total_pages {
            break;
        }
    }
    Ok(all)
}
