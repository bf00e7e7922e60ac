//! Content objects: list, get, create, replace, patch, delete, batches, versions, duplicate.

use serde_json::{Map, Value};

use crate::{
    cms::Cms,
    context::Caller,
    error::Result,
    paging::Page,
    wire::{
        batch::BatchReport,
        object::{Direction, Json, ListRequest},
    },
};

/// Operations on content objects. The second argument names the content type.
pub struct Objects<'a> {
    pub(crate) cms: &'a Cms,
}

impl Objects<'_> {
    /// Lists objects in the list envelope (contract 3.2).
    pub fn list(&self, _caller: &Caller, _type: &str, _request: &ListRequest) -> Result<Json> {
        todo!()
    }

    /// Returns one object, its links replaced by objects down to `hydrate` levels.
    pub fn get(&self, _caller: &Caller, _type: &str, _id: &str, _hydrate: u8) -> Result<Json> {
        todo!()
    }

    /// Creates an object (contract 3.6).
    pub fn create(
        &self,
        _caller: &Caller,
        _type: &str,
        _object: Map<String, Value>,
    ) -> Result<Json> {
        todo!()
    }

    /// Replaces an object (contract 3.6).
    pub fn replace(
        &self,
        _caller: &Caller,
        _type: &str,
        _id: &str,
        _object: Map<String, Value>,
    ) -> Result<Json> {
        todo!()
    }

    /// Replaces the given properties of an object (contract 3.6).
    pub fn patch(
        &self,
        _caller: &Caller,
        _type: &str,
        _id: &str,
        _changes: Map<String, Value>,
    ) -> Result<Json> {
        todo!()
    }

    /// Deletes an object that nothing links to (contract 3.8).
    pub fn delete(&self, _caller: &Caller, _type: &str, _id: &str) -> Result<()> {
        todo!()
    }

    /// Creates many objects, and replaces existing ones when asked to (contract 3.9).
    pub fn batch_create(
        &self,
        _caller: &Caller,
        _type: &str,
        _elements: Vec<Value>,
        _update_existing: bool,
    ) -> Result<BatchReport> {
        todo!()
    }

    /// Patches many objects (contract 3.9).
    pub fn batch_patch(
        &self,
        _caller: &Caller,
        _type: &str,
        _elements: Vec<Value>,
    ) -> Result<BatchReport> {
        todo!()
    }

    /// Deletes what can be deleted; returns how many, or the reasons for the rest (contract 3.8).
    pub fn batch_delete(&self, _caller: &Caller, _type: &str, _ids: &[String]) -> Result<u64> {
        todo!()
    }

    /// Lists ids deleted after a date, oldest deletion first (contract 3.8).
    pub fn removed(
        &self,
        _caller: &Caller,
        _type: &str,
        _deleted_after: Option<&str>,
    ) -> Result<Vec<String>> {
        todo!()
    }

    /// Lists the versions of an object in the list envelope (contract 3.10).
    pub fn versions(
        &self,
        _caller: &Caller,
        _type: &str,
        _id: &str,
        _page: Page,
        _direction: Direction,
    ) -> Result<Json> {
        todo!()
    }

    /// Returns an object as it was in a version: `<n>` or `version-<n>` (contract 3.10).
    pub fn version(
        &self,
        _caller: &Caller,
        _type: &str,
        _id: &str,
        _version: &str,
    ) -> Result<Json> {
        todo!()
    }

    /// Copies an object under a new id (contract 3.11).
    pub fn duplicate(
        &self,
        _caller: &Caller,
        _type: &str,
        _id: &str,
        _payload: &Map<String, Value>,
    ) -> Result<Json> {
        todo!()
    }
}
