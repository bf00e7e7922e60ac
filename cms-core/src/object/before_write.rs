//! Calls the synchronous webhooks of a write before it is queued (see
//! docs/reference/webhooks.md#synchronous-webhooks).
//!
//! The data that they return is validated and written like the payload of a client.

use std::collections::HashSet;

use bytes::Bytes;
use cms_model::{
    auth::scope::Access,
    context::Caller,
    error::{Error, FieldErrors, Result, split_invalid},
    object::view::View,
    publish::right::ChangeKind,
    wire::{batch::BatchElements, object},
};
use serde_json::{Map, Value};

use super::service::{Objects, find_map, find_to_change};
use crate::hooks::WriteEvent;

/// An element of a batch to be written, or its errors.
pub(super) type ElementResult = std::result::Result<Bytes, FieldErrors>;

impl Objects<'_> {
    /// Calls the synchronous webhooks about a new object.
    pub(super) fn before_create(
        &self,
        caller: &Caller,
        name: &str,
        payload: Map<String, Value>,
    ) -> Result<Map<String, Value>> {
        match self.cms.before_write(caller, name, WriteEvent::Create)? {
            Some(mut calls) => calls.call(payload),
            None => Ok(payload),
        }
    }

    /// Calls the synchronous webhooks about a change of an object, which must exist.
    pub(super) fn before_edit(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        payload: Map<String, Value>,
    ) -> Result<Map<String, Value>> {
        match self.cms.before_write(caller, name, WriteEvent::Update)? {
            Some(mut calls) => {
                self.require(caller, name, id, (Access::UPDATE, ChangeKind::Edit))?;
                calls.call_with_id(id, payload)
            }
            None => Ok(payload),
        }
    }

    /// Calls the synchronous webhooks about the deletion of an object, which must exist.
    pub(super) fn before_deletion(&self, caller: &Caller, name: &str, id: &str) -> Result<()> {
        if let Some(mut calls) = self.cms.before_write(caller, name, WriteEvent::Delete)? {
            self.require(caller, name, id, (Access::DELETE, ChangeKind::Delete))?;
            calls.call_with_id(id, Map::new())?;
        }
        Ok(())
    }

    /// Calls the synchronous webhooks about elements that create or replace objects, except the
    /// elements at the given positions.
    pub(super) fn before_batch(
        &self,
        caller: &Caller,
        name: &str,
        elements: &BatchElements,
        (update_existing, refused): (bool, &HashSet<usize>),
    ) -> Result<Vec<ElementResult>> {
        let mut about_new = self.cms.before_write(caller, name, WriteEvent::Create)?;
        let mut about_existing = if update_existing {
            self.cms.before_write(caller, name, WriteEvent::Update)?
        } else {
            None
        };
        if about_new.is_none() && about_existing.is_none() {
            return Ok(elements.texts().iter().cloned().map(Ok).collect());
        }
        let call = |(index, text): (usize, &Bytes)| {
            let unchanged = || Ok(Ok(text.clone()));
            if refused.contains(&index) {
                return unchanged();
            }
            let Ok(payload) = object::read(text) else { return unchanged() };
            let is_there = |id| self.has(caller, name, id, Access::CREATE | Access::UPDATE);
            let exists = match payload.get("id").and_then(Value::as_str) {
                Some(id) if update_existing => is_there(id)?,
                _ => false,
            };
            let calls = if exists { &mut about_existing } else { &mut about_new };
            match calls {
                Some(calls) => element_result(calls.call(payload)),
                None => unchanged(),
            }
        };
        elements.texts().iter().enumerate().map(call).collect()
    }

    /// Calls the synchronous webhooks about elements that change objects. One unknown id ends the batch
    /// without a call.
    pub(super) fn before_patches(
        &self,
        caller: &Caller,
        name: &str,
        elements: &BatchElements,
    ) -> Result<Vec<ElementResult>> {
        let Some(mut calls) = self.cms.before_write(caller, name, WriteEvent::Update)? else {
            return Ok(elements.texts().iter().cloned().map(Ok).collect());
        };
        for text in elements.texts() {
            if let Some(Value::String(id)) = object::id_of(text)
                && !self.has(caller, name, &id, Access::UPDATE)?
            {
                return Err(Error::object_not_found(name, &id));
            }
        }
        let call = |text: &Bytes| match object::read(text) {
            Ok(payload) if payload.get("id").is_some_and(Value::is_string) => {
                element_result(calls.call(payload))
            }
            _ => Ok(Ok(text.clone())),
        };
        elements.texts().iter().map(call).collect()
    }

    /// Calls the synchronous webhooks about deletions; one rejection ends the batch.
    pub(super) fn before_deletions(
        &self,
        caller: &Caller,
        name: &str,
        ids: &[String],
    ) -> Result<()> {
        let Some(mut calls) = self.cms.before_write(caller, name, WriteEvent::Delete)? else {
            return Ok(());
        };
        for id in ids {
            if self.has(caller, name, id, Access::DELETE)? {
                calls.call_with_id(id, Map::new())?;
            }
        }
        Ok(())
    }

    fn require(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        (needs, change): (Access, ChangeKind),
    ) -> Result<()> {
        self.read(caller, name, needs, |reader, _, content_type| {
            find_to_change(reader, content_type, caller, id, change).map(drop)
        })
    }

    fn has(&self, caller: &Caller, name: &str, id: &str, needs: Access) -> Result<bool> {
        let found = self.read(caller, name, needs, |reader, _, content_type| {
            find_map(reader, content_type, View::for_object(caller, content_type), id, |_| ())
        });
        match found {
            Ok(()) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Keeps the validation errors of an element: they do not prevent the others from being written.
fn element_result(response: Result<Map<String, Value>>) -> Result<ElementResult> {
    Ok(split_invalid(response)?.map(|payload| Value::Object(payload).to_string().into()))
}
