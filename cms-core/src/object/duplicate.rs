//! Copies an object, with the related objects that the caller names (see
//! docs/reference/objects.md#duplicate).

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use cms_model::{
    auth::scope::Access,
    content_type::{
        builtin::MEDIA,
        catalog::{Catalog, CompiledType},
        indexed::combination_in,
        model::{InputType, Property, SchemaType},
    },
    context::Caller,
    error::{Error, FieldErrors, Result},
    ids::IdSource,
    message,
    object::{
        link, model::StoredObject, path::ValuePath, scan, validate::validate_patterns, view::View,
    },
    pattern::StepBudget,
    read,
    wire::object::Json,
};
use cms_store::WriteTransaction;
use serde_json::{Map, Value};

use super::{
    service::{Objects, find_shown_version, to_json, with_quota},
    write::{self, Context, PreparedObject},
};

const RELATED_OBJECTS: &str = "relatedObjectsToDuplicate";

/// Types whose objects all copies share.
const SHARED_TYPES: [&str; 2] = ["_media", "_tag"];

impl Objects<'_> {
    /// Copies an object under a new id. Related objects that the caller names are copied and
    /// linked, the others are shared.
    pub fn duplicate(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        payload: &Map<String, Value>,
    ) -> Result<Json> {
        self.content_type(caller, name, Access::DUPLICATE)?;
        if name == MEDIA {
            let reason = "A media object cannot be duplicated: upload its file again";
            return Err(Error::Rejected(vec![reason.into()]));
        }
        if let Some(response) = self.stored_response(caller)? {
            return Ok(Json(response));
        }
        self.read(caller, name, Access::DUPLICATE, |reader, _, content_type| {
            find_shown_version(reader, content_type, View::for_object(caller, content_type), id)
                .map(drop)
        })?;
        let related = related_ids(payload)?;
        let config = &self.cms.config;
        let (owned_caller, id, context) =
            (caller.clone(), id.to_owned(), Context::new(caller, config));
        let (ids, quota) = (Arc::clone(&config.ids), config.max_objects);
        let response = self.begin_once(caller, name, move |writer, catalog, content_type| {
            let view = View::for_object(&owned_caller, content_type);
            let stored = find_shown_version(writer, content_type, view, &id)?;
            let copier =
                Copier { writer, catalog, caller: &owned_caller, context: &context, ids: &*ids };
            let stored = with_quota(writer, quota, || {
                let data = copier.copy_related(content_type, &stored.data, &related)?;
                copier.insert(content_type, &write::parse(&stored.data)?, write::parse(&data)?)
            })?;
            Ok(to_json(content_type, &stored).0)
        })?;
        response.wait().map(Json)
    }
}

/// Creates copies inside one transaction.
struct Copier<'a> {
    writer: &'a WriteTransaction<'a>,
    catalog: &'a Catalog,
    caller: &'a Caller,
    context: &'a Context,
    ids: &'a dyn IdSource,
}

impl Copier<'_> {
    /// Copies the requested objects that a stored text links to; returns the text with links to the
    /// copies.
    fn copy_related(
        &self,
        content_type: &CompiledType,
        data: &str,
        wanted: &[String],
    ) -> Result<String> {
        let mut copies = HashMap::new();
        let mut redirected = String::with_capacity(data.len());
        let mut end = 0;
        for found in scan::links(data, &content_type.properties) {
            let is_wanted = wanted.iter().any(|id| id.eq_ignore_ascii_case(&found.id));
            if !is_wanted || SHARED_TYPES.contains(&found.content_type.as_str()) {
                continue;
            }
            let key = (found.content_type.clone(), found.id.to_ascii_lowercase());
            let copy = match copies.entry(key) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(self.copy(&found.content_type, &found.id)?),
            };
            redirected.push_str(&data[end..found.span.start]);
            redirected.push_str(&link::to(&found.content_type, copy).to_string());
            end = found.span.end;
        }
        redirected.push_str(&data[end..]);
        Ok(redirected)
    }

    /// Copies one object, whose links stay as they are; returns the id of the copy.
    fn copy(&self, name: &str, id: &str) -> Result<String> {
        self.caller.require(Access::CREATE | Access::READ, name)?;
        let content_type = self.catalog.get(name)?;
        let view = View::for_object(self.caller, content_type);
        let stored = find_shown_version(self.writer, content_type, view, id)?;
        let object = write::parse(&stored.data)?;
        let copy = self.insert(content_type, &object, object.clone())?;
        Ok(copy.id.into_owned())
    }

    /// Inserts a copy of an object, whose links may lead to other objects already.
    fn insert(
        &self,
        content_type: &CompiledType,
        original: &Map<String, Value>,
        mut object: Map<String, Value>,
    ) -> Result<StoredObject<'static>> {
        let mut changed = properties_to_change(content_type, &object);
        changed.retain(|property| object.get(&property.name) == original.get(&property.name));
        make_unique(&changed, &mut object, &self.ids.token()[..6]).into_result()?;
        let id = self.ids.uuid();
        let errors = check_changed_patterns(content_type, &changed, &object)?;
        let empty = Map::new();
        let mut prepared = PreparedObject::of(
            content_type,
            id,
            (Some(&empty), &object),
            errors,
            self.context,
            None,
        )?;
        prepared.check_id(self.writer, content_type)?;
        prepared.check_against_database(self.writer, self.catalog, content_type, None)?;
        write::insert(self.writer, content_type, prepared.into_valid()?, self.context)
    }
}

/// Checks the patterns of the values that a copy changes. The others were checked when they were
/// stored; a second check would only block other writes for longer.
fn check_changed_patterns(
    content_type: &CompiledType,
    changed: &[&Property],
    object: &Map<String, Value>,
) -> Result<FieldErrors> {
    let mut budget = StepBudget::per_write();
    let mut errors = FieldErrors::default();
    for (property, schema) in content_type.properties.iter().zip(&content_type.schemas) {
        let is_changed = changed.iter().any(|changed| changed.name == property.name);
        if let Some(value) = object.get(&property.name).filter(|_| is_changed) {
            let root = ValuePath::Root;
            let path = root.key(&property.name);
            validate_patterns(schema.patterns(), value, &path, &mut budget, &mut errors);
        }
    }
    write::require_steps_left(&budget)?;
    Ok(errors)
}

/// Changes values that must be unique: texts get a suffix, others are removed.
fn make_unique(
    changed: &[&Property],
    object: &mut Map<String, Value>,
    suffix: &str,
) -> FieldErrors {
    let mut errors = FieldErrors::default();
    for property in changed {
        match object.get_mut(&property.name) {
            None => {}
            Some(Value::String(text)) if text.is_empty() => {}
            Some(Value::String(text)) if property.unique || !has_fixed_format(property) => {
                text.push('-');
                text.push_str(suffix);
            }
            Some(_) if property.required => {
                errors.add(property.name.as_str(), message::ALREADY_USED);
            }
            Some(_) => {
                object.shift_remove(&property.name);
            }
        }
    }
    errors
}

/// The properties whose values a copy changes: unique ones, and one of each unique combination that
/// has no such property: a text, else an optional property, else the first.
fn properties_to_change<'t>(
    content_type: &'t CompiledType,
    object: &Map<String, Value>,
) -> Vec<&'t Property> {
    let properties = &content_type.properties;
    let mut changed: Vec<_> = properties.iter().filter(|property| property.unique).collect();
    for (_, names) in content_type.indexed.combinations() {
        let is_changed = changed.iter().any(|property| names.contains(&property.name));
        if is_changed || combination_in(names, object).is_none() {
            continue;
        }
        let members =
            || names.iter().filter_map(|name| properties.iter().find(|p| p.name == *name));
        let is_text = |property: &&Property| {
            property.schema_type == SchemaType::String && !has_fixed_format(property)
        };
        let best = members().find(is_text).or_else(|| members().find(|p| !p.required));
        changed.extend(best.or_else(|| members().next()));
    }
    changed
}

/// Returns whether a value with a suffix would be invalid: it is one of several options, or a date.
fn has_fixed_format(property: &Property) -> bool {
    let input_type = property.input_type;
    matches!(input_type, InputType::Radio | InputType::Select | InputType::DateTime)
}

/// Parses the ids of the related objects to copy.
fn related_ids(payload: &Map<String, Value>) -> Result<Vec<String>> {
    let mut errors = FieldErrors::default();
    if !payload.contains_key(RELATED_OBJECTS) {
        errors.add(RELATED_OBJECTS, message::required(RELATED_OBJECTS));
    }
    let ids = read::strings(payload, RELATED_OBJECTS, "", &mut errors);
    let ids = ids.into_iter().map(str::to_owned).collect();
    errors.into_result()?;
    Ok(ids)
}
