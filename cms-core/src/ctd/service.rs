//! Content type definitions: create, list, get, update, delete, purge, plan and apply.

use serde_json::{Map, Value};

use crate::{
    cms::Cms,
    context::Caller,
    error::Result,
    wire::{
        ctd::{ContentType, TypeListRequest},
        list::List,
        plan::{ApplyRequest, Plan, PlanRequest},
    },
};

/// Operations on content type definitions.
pub struct Types<'a> {
    pub(crate) cms: &'a Cms,
}

impl Types<'_> {
    /// Lists the types that the caller may see (contract 2.2).
    pub fn list(&self, _caller: &Caller, _request: &TypeListRequest) -> Result<List<ContentType>> {
        todo!()
    }

    /// Returns one type by name, id or unambiguous label (contract 2.3).
    pub fn get(&self, _caller: &Caller, _name: &str) -> Result<ContentType> {
        todo!()
    }

    /// Returns one type with its references resolved (contract 2.3): with `strict` only the schema.
    pub fn get_resolved(&self, _caller: &Caller, _name: &str, _strict: bool) -> Result<Value> {
        todo!()
    }

    /// Creates a type (contract 2.4).
    pub fn create(&self, _caller: &Caller, _payload: Map<String, Value>) -> Result<ContentType> {
        todo!()
    }

    /// Replaces a definition (contract 2.6).
    pub fn update(
        &self,
        _caller: &Caller,
        _name: &str,
        _payload: Map<String, Value>,
    ) -> Result<ContentType> {
        todo!()
    }

    /// Deletes a type that has no live objects and that no key names (contract 2.7).
    pub fn delete(&self, _caller: &Caller, _name: &str) -> Result<()> {
        todo!()
    }

    /// Removes all objects of a type, and on demand the type (contract 2.7).
    pub fn purge(&self, _caller: &Caller, _name: &str, _delete_schema: bool) -> Result<()> {
        todo!()
    }

    /// Removes all objects of all types that are not system types (contract 2.7).
    pub fn purge_space(&self, _caller: &Caller, _space: &str) -> Result<()> {
        todo!()
    }

    /// Tells what an apply would do (contract 2.8).
    pub fn plan(&self, _caller: &Caller, _request: &PlanRequest) -> Result<Plan> {
        todo!()
    }

    /// Carries out a project, all or nothing (contract 2.8, 14).
    pub fn apply(&self, _caller: &Caller, _request: &ApplyRequest) -> Result<Plan> {
        todo!()
    }
}
