//! Selects the content types and workflows that an import applies, and sets featured images.

use serde_json::{Map, Value, json};

use cms_model::{
    content_type::builtin_types,
    error::Result,
    wire::{
        content_type::{ContentType, WRITABLE_KEYS},
        plan::{PlanAction, PlanRequest, ProjectPlan},
    },
};

use crate::content_type::service::SYSTEM_TYPES;

const FEATURED_IMAGE: &str = "featuredImage";

/// Returns whether a name is that of a system type, or is reserved for one. Imports and exports leave
/// out these types, because they cannot be changed.
pub fn is_system_type(name: &str) -> bool {
    SYSTEM_TYPES.contains(&name)
}

/// Returns whether a new space contains a content type of this name.
pub fn is_builtin_type(name: &str) -> bool {
    builtin_types().iter().any(|builtin| builtin["name"] == name)
}

/// Returns whether a content type is still as a new space contains it.
pub fn is_unchanged_builtin_type(content_type: &ContentType) -> bool {
    builtin_types().contains(&Value::Object(definition(content_type)))
}

/// Returns the payload that creates a content type again: without its id and its dates.
pub fn definition(content_type: &ContentType) -> Map<String, Value> {
    let all = json!(content_type);
    WRITABLE_KEYS.into_iter().map(|key| (key.to_owned(), all[key].clone())).collect()
}

/// Removes from a request the workflows and content types that exist with another definition, so that
/// the existing definitions stay, and returns their names. A content type for which `is_pristine`
/// returns true stays in the request: a built-in type exists even in a new space, so an import may
/// replace it while it is unchanged.
pub fn select_definitions(
    request: &mut PlanRequest,
    plan: &ProjectPlan,
    mut is_pristine: impl FnMut(&str) -> Result<bool>,
) -> Result<Vec<String>> {
    let mut kept = Vec::new();
    for workflow in plan.workflows.iter().filter(|w| w.action == PlanAction::Update) {
        let id = &workflow.id;
        request.workflows.retain(|definition| definition.get("id") != Some(&json!(id)));
        kept.push(format!("workflow \"{id}\""));
    }
    for content_type in plan.content_types.iter().filter(|t| t.action == PlanAction::Update) {
        let name = &content_type.name;
        if !is_pristine(name)? {
            request.content_types.retain(|payload| payload.get("name") != Some(&json!(name)));
            kept.push(format!("type \"{name}\""));
        }
    }
    Ok(kept)
}

/// Returns the payloads that set the featured images of content types; nothing else of a type
/// changes. Images of existing types stay unless `update` is set.
pub fn featured_image_updates<'p>(
    payloads: impl Iterator<Item = &'p Map<String, Value>>,
    present: &[ContentType],
    update: bool,
) -> Vec<Map<String, Value>> {
    let mut updates = Vec::new();
    for payload in payloads {
        let Some(Value::Array(images)) = payload.get(FEATURED_IMAGE) else { continue };
        let same_name =
            |content_type: &&ContentType| payload.get("name") == Some(&json!(content_type.name));
        let Some(content_type) = present.iter().find(same_name) else { continue };
        if !images.is_empty() && (update || content_type.featured_image.is_empty()) {
            let mut definition = definition(content_type);
            definition.insert(FEATURED_IMAGE.to_owned(), json!(images));
            updates.push(definition);
        }
    }
    updates
}

/// The content type that a dry run would create or change: only the parts that its objects need.
pub fn planned_type(payload: &Map<String, Value>, stored: Option<&ContentType>) -> ContentType {
    let part = |key: &str| payload.get(key).cloned().unwrap_or(Value::Null);
    let name = part("name").as_str().unwrap_or_default().to_owned();
    let unchanged = stored
        .cloned()
        .unwrap_or_else(|| ContentType { label: name.clone(), ..ContentType::default() });
    ContentType {
        name,
        schema_definition: part("schemaDefinition"),
        meta_definition: part("metaDefinition"),
        slugs: serde_json::from_value(part("slugs")).unwrap_or_default(),
        ..unchanged
    }
}
