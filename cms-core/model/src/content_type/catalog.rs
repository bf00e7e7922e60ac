//! An immutable snapshot of all content types, parsed and compiled.
//!
//! The services load and cache it; this module knows neither storage nor caches.

use std::{collections::HashMap, fmt, sync::Arc};

use super::{
    builtin::WEBHOOKS,
    indexed::IndexedProperties,
    model::{Definition, Property},
    schema::{self, PropertySchema},
};
use crate::{
    clock::Timestamp,
    dates,
    error::{Error, Result},
    limits,
    wire::{content_type::ContentType, workflow::Workflow},
    workflow::model::WorkflowSet,
};

/// A content type as it is stored.
#[derive(Clone, Debug)]
pub struct StoredContentType {
    pub pk: i64,
    pub uid: String,
    pub definition: Definition,
    /// Schema revision at which the type was written.
    pub rev: i64,
    pub created_at: Timestamp,
    pub updated_at: Option<Timestamp>,
}

/// One content type, parsed and compiled.
pub struct CompiledType {
    pub pk: i64,
    pub uid: String,
    pub definition: Definition,
    /// In the order of the form.
    pub properties: Vec<Property>,
    /// In the order of the properties.
    pub schemas: Vec<PropertySchema>,
    pub workflow: Arc<Workflow>,
    pub indexed: IndexedProperties,
    /// Schema revision at which the type was written.
    pub rev: i64,
    pub created_at: Timestamp,
    pub updated_at: Option<Timestamp>,
}

impl fmt::Debug for CompiledType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl CompiledType {
    pub fn new(stored: StoredContentType, workflows: &WorkflowSet) -> Self {
        let found = workflows.find(&stored.definition.workflow_id);
        let workflow = found.unwrap_or_else(|| workflows.default_workflow());
        let properties = stored.definition.properties();
        let schemas = schema::compile(&properties, &stored.definition);
        Self {
            pk: stored.pk,
            uid: stored.uid,
            workflow: Arc::clone(workflow),
            indexed: IndexedProperties::of_type(&stored.definition, &properties),
            properties,
            schemas,
            definition: stored.definition,
            rev: stored.rev,
            created_at: stored.created_at,
            updated_at: stored.updated_at,
        }
    }

    /// Returns whether objects of the type are in the search index.
    pub fn is_searchable(&self) -> bool {
        self.name() != WEBHOOKS
    }

    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The unique properties, with their slots.
    pub fn unique_properties(&self) -> impl Iterator<Item = (usize, &Property)> {
        let unique = self.properties.iter().filter(|property| property.unique);
        unique.filter_map(|property| Some((self.indexed.find(&property.name)?, property)))
    }

    /// The type as the API returns it.
    pub fn to_wire(&self) -> ContentType {
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
            created_at: dates::microsecond_date(self.created_at),
            updated_at: self.updated_at.map(dates::microsecond_date),
        }
    }
}

/// All types at one schema revision.
#[derive(Default)]
pub struct Catalog {
    pub rev: i64,
    /// Sorted by name.
    types: Vec<Arc<CompiledType>>,
    by_name: HashMap<String, Arc<CompiledType>>,
    pub workflows: WorkflowSet,
}

impl Catalog {
    /// `types` are sorted by name.
    pub fn new(rev: i64, types: Vec<Arc<CompiledType>>, workflows: WorkflowSet) -> Self {
        let by_name = types
            .iter()
            .map(|content_type| (content_type.name().to_owned(), Arc::clone(content_type)))
            .collect();
        Self { rev, types, by_name, workflows }
    }

    /// All types, sorted by name.
    pub fn types(&self) -> &[Arc<CompiledType>] {
        &self.types
    }

    pub fn find(&self, name: &str) -> Option<&Arc<CompiledType>> {
        self.by_name.get(name)
    }

    pub fn find_by_pk(&self, pk: i64) -> Option<&Arc<CompiledType>> {
        self.types.iter().find(|content_type| content_type.pk == pk)
    }

    /// The number of slots with an index: the maximum number of indexed values of a type, and not less than
    /// [`limits::MAX_INDEXED_PROPERTIES`].
    pub fn slot_count(&self) -> usize {
        let counts = self.types.iter().map(|content_type| content_type.indexed.count());
        counts.max().unwrap_or_default().max(limits::MAX_INDEXED_PROPERTIES)
    }

    /// Like [`Self::find`], with an error for unknown names.
    pub fn get(&self, name: &str) -> Result<&Arc<CompiledType>> {
        self.find(name).ok_or_else(|| Error::type_not_found(name))
    }

    /// Finds a type by name, by id, or by a unique label, see
    /// docs/reference/content-types.md#get-a-content-type
    pub fn look_up(&self, name: &str) -> Result<&Arc<CompiledType>> {
        let by_id = || self.types.iter().find(|content_type| content_type.uid == name);
        if let Some(found) = self.find(name).or_else(by_id) {
            return Ok(found);
        }
        let mut labelled =
            self.types.iter().filter(|content_type| content_type.definition.label == name);
        match (labelled.next(), labelled.next()) {
            (Some(found), None) => Ok(found),
            _ => Err(Error::type_not_found(name)),
        }
    }
}
