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
    },
};
use serde_json::{Map, Value};

#[cfg(feature = "serve")]
pub(crate) use direct::Direct;

use crate::{failure, settings::Place};

/// Content, types and keys of one space. Objects of every publishing status are visible.
pub(crate) trait Target {
    /// Names the target, and the key that is used, for people.
    fn describe(&self) -> Result<String>;

    /// All types, ordered by name.
    fn types(&self) -> Result<Vec<ContentType>>;
    fn get_type(&self, name: &str) -> Result<ContentType>;
    fn delete_type(&self, name: &str) -> Result<()>;
    fn plan(&self, request: &PlanRequest) -> Result<Plan>;
    fn apply(&self, request: &ApplyRequest) -> Result<Plan>;

    fn objects(&self, content_type: &str, request: &ListRequest) -> Result<List<Value>>;
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
    fn delete_object(&self, content_type: &str, id: &str) -> Result<()>;
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
