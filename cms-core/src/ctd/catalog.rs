//! All content types at one moment, ready to be used.
//!
//! A [`Catalog`] never changes. [`CatalogCell`] holds the newest one and checks, in the snapshot
//! that a caller reads, whether it is still true; so it is right in every process on the folder.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use super::{
    builtin::WEBHOOKS,
    model::{Definition, Property},
    schema::{self, CompiledSchema},
};
use crate::{
    clock::Timestamp,
    dates,
    error::{Error, Result},
    store::{CtdRow, Reader, Writer, list_sql::Target, slots::Slots},
    wire::{ctd::ContentType, workflow::Workflow},
    workflow::model::WorkflowSet,
};

/// One content type, parsed and compiled.
pub(crate) struct Type {
    pub(crate) pk: i64,
    pub(crate) uid: String,
    pub(crate) definition: Definition,
    /// In the order of the form.
    pub(crate) properties: Vec<Property>,
    pub(crate) schema: CompiledSchema,
    pub(crate) workflow: Arc<Workflow>,
    pub(crate) slots: Slots,
    rev: i64,
    created_at: Timestamp,
    updated_at: Option<Timestamp>,
}

impl Type {
    pub(crate) fn new(row: CtdRow, workflows: &WorkflowSet) -> Self {
        let found = workflows.find(&row.definition.workflow_id);
        let workflow = found.unwrap_or_else(|| workflows.default_one());
        let properties = row.definition.properties();
        let schema = schema::compile(&properties, &row.definition);
        Self {
            pk: row.pk,
            uid: row.uid,
            workflow: Arc::clone(workflow),
            slots: Slots::of(&properties),
            properties,
            schema,
            definition: row.definition,
            rev: row.rev,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }

    /// Tells whether objects of the type are content, which is found by searching.
    pub(crate) fn is_searched(&self) -> bool {
        self.name() != WEBHOOKS
    }

    /// Schema revision at which the type was written.
    pub(crate) fn rev(&self) -> i64 {
        self.rev
    }

    /// The type as lists address it.
    pub(crate) fn list_target(&self) -> Target<'_> {
        Target { ctd: self.pk, name: self.name(), properties: &self.properties }
    }

    pub(crate) fn name(&self) -> &str {
        &self.definition.name
    }

    /// The type as the API shows it.
    pub(crate) fn to_wire(&self) -> ContentType {
        let definition = &self.definition;
        ContentType {
            id: self.uid.clone(),
            name: definition.name.clone(),
            label: definition.label.clone(),
            workflow_id: definition.workflow_id.clone(),
            draft_public: definition.draft_public,
            internal: definition.internal,
            schema_definition: definition.schema_definition.clone().into(),
            meta_definition: definition.meta_definition.clone().into(),
            slugs: definition.slugs.clone(),
            featured_image: definition.featured_image.clone(),
            deleted_at: None,
            created_at: dates::definition_date(self.created_at),
            updated_at: self.updated_at.map(dates::definition_date),
        }
    }

    pub(crate) fn created_at(&self) -> Timestamp {
        self.created_at
    }

    pub(crate) fn updated_at(&self) -> Option<Timestamp> {
        self.updated_at
    }
}

/// All types.
#[derive(Default)]
pub(crate) struct Catalog {
    pub(crate) rev: i64,
    /// By name.
    types: Vec<Arc<Type>>,
    by_name: HashMap<String, Arc<Type>>,
    pub(crate) workflows: WorkflowSet,
}

impl Catalog {
    /// Reads what is stored, and keeps what `previous` already had compiled.
    fn load(reader: &Reader<'_>, rev: i64, previous: &Self) -> Result<Self> {
        let known: HashMap<i64, &Arc<Type>> =
            previous.types.iter().map(|known| (known.pk, known)).collect();
        let workflows = WorkflowSet::with(reader.workflows()?);
        let mut types = Vec::new();
        for (pk, rev) in reader.ctd_revisions()? {
            match known.get(&pk) {
                Some(known) if known.rev == rev => types.push(Arc::clone(known)),
                _ => types.push(Arc::new(Type::new(reader.ctd(pk)?, &workflows))),
            }
        }
        let by_name =
            types.iter().map(|known| (known.name().to_owned(), Arc::clone(known))).collect();
        Ok(Self { rev, types, by_name, workflows })
    }

    /// All types, by name.
    pub(crate) fn types(&self) -> &[Arc<Type>] {
        &self.types
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Type>> {
        self.by_name.get(name)
    }

    /// Returns the type of this name.
    pub(crate) fn get(&self, name: &str) -> Result<&Arc<Type>> {
        self.find(name).ok_or_else(|| Error::no_type(name))
    }

    /// Finds a type by name, by id, or by a label that only one type has (contract 2.3).
    pub(crate) fn look_up(&self, name: &str) -> Result<&Arc<Type>> {
        if let Some(found) = self.find(name) {
            return Ok(found);
        }
        if let Some(found) = self.types.iter().find(|known| known.uid == name) {
            return Ok(found);
        }
        let mut labelled = self.types.iter().filter(|known| known.definition.label == name);
        match (labelled.next(), labelled.next()) {
            (Some(found), None) => Ok(found),
            _ => Err(Error::no_type(name)),
        }
    }
}

/// The newest catalog of this process.
#[derive(Default)]
pub(crate) struct CatalogCell(RwLock<Arc<Catalog>>);

impl CatalogCell {
    /// Returns the catalog that is true in a snapshot.
    pub(crate) fn at(&self, reader: &Reader<'_>) -> Result<Arc<Catalog>> {
        self.at_revision(reader, reader.revisions()?.schema)
    }

    /// As [`Self::at`], for a caller that has already read the revision.
    pub(crate) fn at_revision(&self, reader: &Reader<'_>, rev: i64) -> Result<Arc<Catalog>> {
        let held = self.held();
        if held.rev == rev {
            return Ok(held);
        }
        let loaded = Arc::new(Catalog::load(reader, rev, &held)?);
        let mut newest = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // An older snapshot must not replace what is known to be newer.
        if newest.rev < rev {
            *newest = Arc::clone(&loaded);
        }
        Ok(loaded)
    }

    /// Returns the catalog that is true inside a write transaction. It is not kept: what the
    /// transaction changed may yet be rolled back, and its revision be used again.
    pub(crate) fn within(&self, writer: &Writer<'_>) -> Result<Arc<Catalog>> {
        let rev = writer.revisions()?.schema;
        let held = self.held();
        if held.rev == rev { Ok(held) } else { Ok(Arc::new(Catalog::load(writer, rev, &held)?)) }
    }

    /// Returns the newest catalog that this process knows, which may be out of date.
    pub(crate) fn held(&self) -> Arc<Catalog> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}
