//! What a command can ask, whether a running server or the data folder itself answers.
//!
//! Arguments and results are those of the API ([`cms_core::wire`]), errors those of the core. Only
//! [`direct`] and [`remote`] know which of the two it is; loops, progress and output are the
//! commands' business.

mod direct;
mod remote;

use cms_core::{
    Result,
    wire::{
        batch::BatchReport,
        ctd::ContentType,
        key::{CreatedKey, Key, NewKey},
        list::List,
        object::ListRequest,
        plan::{ApplyRequest, Plan, PlanRequest},
        publish::PublishAction,
        search::{Job, JobCreated, SearchRequest},
        workflow::{Workflow, WorkflowState},
    },
};
use serde_json::{Map, Value, json};

#[cfg(feature = "serve")]
pub(crate) use direct::{Direct, open_folder};

use crate::{failure, settings::Place};

/// Which versions of objects a list or a search shows, where the type has Draft & Public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edition {
    /// What readers get: the published versions.
    Published,
    /// The current version of every object, whatever its status.
    Current,
}

/// Tells how far a change is, from any thread.
pub(crate) type Rewriting = Box<dyn Fn() -> Option<(u64, u64)> + Send>;

/// Content, types, workflows and keys of one space. Objects of every publishing status are visible,
/// unless a list or a search is asked for published ones.
pub(crate) trait Target {
    /// Names the target, and the key that is used, for people.
    fn describe(&self) -> Result<String>;

    /// All types, ordered by name.
    fn types(&self) -> Result<Vec<ContentType>>;
    fn get_type(&self, name: &str) -> Result<ContentType>;
    fn delete_type(&self, name: &str) -> Result<()>;
    fn plan(&self, request: &PlanRequest) -> Result<Plan>;
    fn apply(&self, request: &ApplyRequest) -> Result<Plan>;
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
    /// Creates objects, and replaces existing ones when asked to; saves what can be saved.
    fn import(
        &self,
        content_type: &str,
        elements: &[Value],
        update_existing: bool,
    ) -> Result<BatchReport>;

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

    fn keys(&self) -> Result<Vec<Key>>;
    fn create_key(&self, new: &NewKey) -> Result<CreatedKey>;
    fn revoke_key(&self, id: &str) -> Result<()>;
}

/// Opens the target that the settings name. Only a command that changes something makes a folder.
pub(crate) fn open(place: &Place, changes: bool) -> failure::Result<Box<dyn Target>> {
    Ok(match place {
        Place::Folder(folder) => Box::new(direct::Direct::open(folder, changes)?),
        Place::Server { url, key } => Box::new(remote::Remote::new(url, key.as_deref())?),
    })
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
