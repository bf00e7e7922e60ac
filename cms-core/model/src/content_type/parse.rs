//! Parses the payload of a content type write into a [`Definition`], or into all its validation
//! errors, see docs/reference/content-types.md#validation-errors
//!
//! `properties` validates the properties. The service checks that the name is free and that
//! featured images exist.

mod conversion;
mod properties;
#[cfg(test)]
mod tests;
mod values;

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use self::properties::{Level, SchemaMembers, not_in_schema};
use super::{
    model::{Definition, InputType, SINGLE_PATH, UNIQUE_TOGETHER},
    preview::{self, PREVIEW_URL_PATH},
    schema::LINK_TYPES,
};
use crate::{
    error::FieldErrors,
    limits,
    message::{self, DUPLICATES, NOT_IN_DATABASE, NOT_VALID},
    object::link,
    read::{optional, read, required, strings},
    wire::content_type::Slug,
    workflow::model::{DEFAULT_WORKFLOW, WorkflowSet},
};

const ABSTRACT_SCHEMA: &str = "#/components/schemas/AbstractContentTypeSchemaDefinition";

/// Parses a payload. An update may omit keys; it keeps those of `base`, the stored definition, see
/// docs/reference/content-types.md#replace-a-content-type
pub fn definition(
    payload: &Map<String, Value>,
    base: Option<&Definition>,
    workflows: &WorkflowSet,
) -> Result<Definition, FieldErrors> {
    let errors = &mut FieldErrors::default();
    let name = name(payload, errors);
    let label = non_empty(payload, "label", errors);
    let schema: Option<&Map<_, _>> = required(payload, "schemaDefinition", "", errors);
    let meta: Option<&Map<_, _>> = required(payload, "metaDefinition", "", errors);
    let needed = schema.map(|schema| strings(schema, "required", "schemaDefinition", errors));
    let schemas = schema.and_then(|schema| properties(schema, errors));
    let content = SchemaMembers { schemas, required: needed.unwrap_or_default(), meta };
    Level::top(base.is_some()).check(&content, errors);
    check_unique_count(meta, errors);
    check_unique_together(meta, schemas, errors);
    meta.and_then(|meta| optional::<bool>(meta, "applyDefaults", "metaDefinition", errors));
    check_admin(meta, errors);

    let workflow_id = workflow(payload, base, workflows, errors);
    let draft_public = optional(payload, "draftPublic", "", errors)
        .unwrap_or_else(|| base.is_some_and(|base| base.draft_public));
    if draft_public && workflow_id != DEFAULT_WORKFLOW {
        errors.add("draftPublic", "Draft & Public cannot be combined with a custom workflow");
    }
    let internal = optional(payload, "internal", "", errors)
        .unwrap_or_else(|| base.is_some_and(|base| base.internal));
    let slugs = slugs(payload, base, schemas, errors);
    let featured_image = featured_image(payload, base, errors);

    match (name, label, schema, meta) {
        (Some(name), Some(label), Some(schema), Some(meta)) if errors.is_empty() => {
            let mut schema_definition = schema.clone();
            schema_definition.entry("required").or_insert_with(|| Value::Array(Vec::new()));
            schema_definition.entry("additionalProperties").or_insert(Value::Bool(false));
            let definition = Definition {
                name: name.to_owned(),
                label: label.to_owned(),
                workflow_id: workflow_id.to_owned(),
                draft_public,
                internal,
                schema_definition,
                meta_definition: meta.clone(),
                slugs,
                featured_image,
            };
            conversion::check(&definition, base, errors);
            values::check(&definition, base, errors);
            if errors.is_empty() { Ok(definition) } else { Err(std::mem::take(errors)) }
        }
        _ => Err(std::mem::take(errors)),
    }
}

/// Limits the unique properties and combinations: each costs a lookup per write.
fn check_unique_count(meta: Option<&Map<String, Value>>, errors: &mut FieldErrors) {
    let configs = meta.and_then(|meta| meta.get("propertiesConfig")).and_then(Value::as_object);
    let configs = configs.into_iter().flat_map(Map::values);
    let maximum = limits::MAX_UNIQUE_PROPERTIES;
    let groups = meta.and_then(|meta| meta.get(UNIQUE_TOGETHER)?.as_array()).map_or(0, Vec::len);
    if configs.filter(|config| config["unique"] == true).count() + groups > maximum {
        let message = format!("Too many unique properties, limit: {maximum}");
        errors.add("metaDefinition.propertiesConfig", message);
    }
}

/// Validates the groups of properties whose values together are unique.
fn check_unique_together(
    meta: Option<&Map<String, Value>>,
    schemas: Option<&Map<String, Value>>,
    errors: &mut FieldErrors,
) {
    let groups = meta.and_then(|meta| optional(meta, UNIQUE_TOGETHER, "metaDefinition", errors));
    let groups: &[Value] = groups.unwrap_or_default();
    let path = format!("metaDefinition.{UNIQUE_TOGETHER}");
    let mut seen = HashSet::new();
    for (index, group) in groups.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let Some(items) = read::<&[Value]>(group, &path, errors) else { continue };
        if items.len() < 2 {
            errors.add(&path, message::too_few(2));
        } else if items.len() > limits::MAX_COMBINED_PROPERTIES {
            errors.add(&path, message::too_many(limits::MAX_COMBINED_PROPERTIES));
        }
        let mut names = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let Some(name) = read::<&str>(item, format!("{path}[{index}]"), errors) else {
                continue;
            };
            if schemas.is_some_and(|schemas| !schemas.contains_key(name)) {
                errors.add(&path, not_in_schema(name));
            } else if input_type_of(meta, name) == Some(InputType::Block.as_str()) {
                errors.add(&path, NOT_VALID);
            }
            if !names.insert(name) {
                errors.add(&path, DUPLICATES);
            }
        }
        if !seen.insert(names) {
            errors.add(format!("metaDefinition.{UNIQUE_TOGETHER}"), DUPLICATES);
        }
    }
}

fn input_type_of<'a>(meta: Option<&'a Map<String, Value>>, name: &str) -> Option<&'a str> {
    meta?.get("propertiesConfig")?.get(name)?.get("inputType")?.as_str()
}

/// Validates the settings in `admin`; other hints for forms are not validated.
fn check_admin(meta: Option<&Map<String, Value>>, errors: &mut FieldErrors) {
    let setting = |name: &str| meta.and_then(|meta| meta.get("admin")?.get(name));
    if setting("single").is_some_and(|single| !single.is_boolean()) {
        errors.add(SINGLE_PATH, NOT_VALID);
    }
    if setting("previewUrl").is_some_and(|url| !url.as_str().is_some_and(preview::is_valid)) {
        errors.add(PREVIEW_URL_PATH, NOT_VALID);
    }
}

fn name<'a>(payload: &'a Map<String, Value>, errors: &mut FieldErrors) -> Option<&'a str> {
    let name = non_empty(payload, "name", errors)?;
    if !name.bytes().all(|b| b == b'_' || b.is_ascii_lowercase()) {
        errors.add("name", NOT_VALID);
    }
    Some(name)
}

fn non_empty<'a>(
    payload: &'a Map<String, Value>,
    key: &str,
    errors: &mut FieldErrors,
) -> Option<&'a str> {
    let text: &str = required(payload, key, "", errors)?;
    errors.check_length(key, text, 1..=limits::MAX_NAME_CHARS);
    Some(text)
}

/// Validates the structure of `schemaDefinition` and returns its properties.
///
/// Several errors have two messages, for compatibility.
fn properties<'a>(
    schema: &'a Map<String, Value>,
    errors: &mut FieldErrors,
) -> Option<&'a Map<String, Value>> {
    const PATH: &str = "schemaDefinition";
    if schema.get("type").is_some_and(|kind| kind != "object") {
        errors.add(format!("{PATH}.type"), NOT_VALID);
    }
    if schema.get("additionalProperties").is_some_and(|allowed| *allowed != Value::Bool(false)) {
        errors.add(format!("{PATH}.additionalProperties"), NOT_VALID);
    }
    let Some([reference, own]) = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
    else {
        let path = format!("{PATH}.allOf");
        errors.add(&path, "Invalid schema definition for content type (must have 2 elements)");
        errors.add(
            path,
            format!("Invalid schema definition for content type. Schema definition should have 2 elements: reference to {ABSTRACT_SCHEMA} and object with properties list."),
        );
        return None;
    };
    if reference["$ref"] != ABSTRACT_SCHEMA {
        let path = format!("{PATH}.allOf.0.$ref");
        errors.add(&path, "Invalid schema definition (needs the abstract schema reference)");
        errors.add(
            path,
            format!("Invalid schema definition for content type. Schema definition should have reference to {ABSTRACT_SCHEMA}."),
        );
    }
    let properties = own["properties"].as_object();
    if properties.is_none() {
        let path = format!("{PATH}.allOf.1.$ref");
        errors.add(&path, "Invalid schema definition (needs an object with properties)");
        errors.add(
            path,
            "Invalid schema definition for content type. Schema definition should have object with properties list.",
        );
    }
    properties
}

fn workflow<'a>(
    payload: &'a Map<String, Value>,
    base: Option<&'a Definition>,
    workflows: &WorkflowSet,
    errors: &mut FieldErrors,
) -> &'a str {
    let sent = optional(payload, "workflowId", "", errors);
    if sent.is_some_and(|id| workflows.find(id).is_none()) {
        errors.add("workflowId", NOT_IN_DATABASE);
    }
    sent.unwrap_or_else(|| base.map_or(DEFAULT_WORKFLOW, |base| &base.workflow_id))
}

/// Parses the slug rules of the payload, or takes the stored ones, and validates them against the new
/// properties.
fn slugs(
    payload: &Map<String, Value>,
    base: Option<&Definition>,
    schemas: Option<&Map<String, Value>>,
    errors: &mut FieldErrors,
) -> Vec<Slug> {
    let mut slugs = Vec::new();
    if payload.contains_key("slugs") {
        let rules: &[Value] = optional(payload, "slugs", "", errors).unwrap_or_default();
        let rules = rules.iter().enumerate();
        slugs.extend(rules.filter_map(|(index, rule)| Some((index, slug(index, rule, errors)?))));
    } else if let Some(base) = base {
        slugs.extend(base.slugs.iter().cloned().enumerate());
    }
    let is_known = |name: &String| schemas.is_none_or(|schemas| schemas.contains_key(name));
    for (index, rule) in slugs.iter().filter(|(_, rule)| rule.active) {
        for (role, name) in [("source", &rule.source), ("target", &rule.target)] {
            if !is_known(name) {
                errors.add(
                    format!("slugs[{index}].{role}"),
                    format!("Field \"{name}\" used as slug {role} does not exist in the type definition."),
                );
            }
        }
    }
    let rules = slugs.into_iter().map(|(_, rule)| rule);
    rules.filter(|rule| is_known(&rule.source) && is_known(&rule.target)).collect()
}

fn slug(index: usize, rule: &Value, errors: &mut FieldErrors) -> Option<Slug> {
    let path = format!("slugs[{index}]");
    let rule: &Map<_, _> = read(rule, &path, errors)?;
    let active = optional(rule, "active", &path, errors).unwrap_or(true);
    let source = slug_field(rule, "source", &path, errors);
    let target = slug_field(rule, "target", &path, errors);
    Some(Slug { source: source?, target: target?, active })
}

fn slug_field(
    rule: &Map<String, Value>,
    key: &str,
    path: &str,
    errors: &mut FieldErrors,
) -> Option<String> {
    let name = match rule.get(key) {
        None | Some(Value::Null) => "",
        Some(name) => read(name, format!("{path}.{key}"), errors)?,
    };
    if name.is_empty() {
        errors.add(format!("{path}.{key}"), format!("Slug {key} is required."));
    }
    (!name.is_empty()).then(|| name.to_owned())
}

/// Links to `_media` objects; the service checks later that they exist.
fn featured_image(
    payload: &Map<String, Value>,
    base: Option<&Definition>,
    errors: &mut FieldErrors,
) -> Vec<Value> {
    const KEY: &str = "featuredImage";
    if !payload.contains_key(KEY) {
        return base.map(|base| base.featured_image.clone()).unwrap_or_default();
    }
    let links: &[Value] = optional(payload, KEY, "", errors).unwrap_or_default();
    for (index, link) in links.iter().enumerate() {
        let path = format!("{KEY}[{index}]");
        let Some(link) = read::<&Map<_, _>>(link, &path, errors) else { continue };
        let url: Option<&str> = required(link, "dataUrl", &path, errors);
        match link.get("type") {
            None => errors.add(format!("{path}.type"), message::required("type")),
            Some(kind) if LINK_TYPES.iter().all(|known| kind != known) => {
                errors.add(format!("{path}.type"), message::not_in_enumeration(&LINK_TYPES));
            }
            Some(kind) => {
                let target = url.and_then(link::parse);
                let is_media = target.is_some_and(|target| target.content_type == "_media");
                if url.is_some() && (kind != "internal" || !is_media) {
                    errors.add(KEY, NOT_IN_DATABASE);
                }
            }
        }
    }
    links.to_vec()
}
