//! Plan and apply of a project: content types, workflows and keys, see
//! docs/reference/content-types.md#plan-and-apply

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{FieldErrors, Result},
    message,
    read::{optional, read, strings},
};

/// The desired state: payloads in the format of the create endpoints.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRequest {
    /// Workflows; they are applied before the types.
    #[serde(default)]
    pub workflows: Vec<Map<String, Value>>,
    #[serde(default)]
    pub content_types: Vec<Map<String, Value>>,
    /// Keys; an existing key gets the rules of the request. Requires an admin.
    #[serde(default)]
    pub keys: Vec<Map<String, Value>>,
    /// Delete types that the request does not contain, except built-in ones.
    #[serde(default)]
    pub prune: bool,
}

/// A request to apply a plan.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplyRequest {
    #[serde(flatten)]
    pub wanted: PlanRequest,
    /// Token of the plan that the client has reviewed; the request fails when the state has changed
    /// since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_data_loss: Option<DataLossConsent>,
}

/// Checks the JSON types in the payload of a plan or apply.
///
/// # Errors
/// [`crate::error::Error::Invalid`].
pub fn check_payload(payload: &Map<String, Value>) -> Result<()> {
    let mut errors = FieldErrors::default();
    for key in ["workflows", "contentTypes", "keys"] {
        let items: &[Value] = optional(payload, key, "", &mut errors).unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            read::<&Map<String, Value>>(item, format!("{key}[{index}]"), &mut errors);
        }
    }
    let prunes = optional::<bool>(payload, "prune", "", &mut errors);
    // A misspelt key must not delete all types without objects.
    if prunes == Some(true) && !payload.contains_key("contentTypes") {
        errors.add("contentTypes", message::required("contentTypes"));
    }
    optional::<&str>(payload, "token", "", &mut errors);
    if !payload.get("allowDataLoss").is_some_and(Value::is_boolean) {
        strings(payload, "allowDataLoss", "", &mut errors);
    }
    errors.into_result()
}

/// Consent to the loss of stored values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DataLossConsent {
    All(bool),
    /// Only of these properties, `type.property`.
    Only(Vec<String>),
}

/// The progress of a plan or an apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanProgress {
    #[serde(rename = "type")]
    pub content_type: String,
    pub phase: PlanPhase,
    pub done: u64,
    pub total: u64,
}

crate::named_enum! {
    /// The work on a type.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum PlanPhase {
        /// Objects are converted.
        Objects => "objects",
        /// Indexes are built, only by an apply.
        Indexes => "indexes",
    }
}

/// The effects of an apply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectPlan {
    /// Digest of the desired and the current state.
    pub token: String,
    pub summary: PlanSummary,
    #[serde(default)]
    pub workflows: Vec<WorkflowPlan>,
    pub content_types: Vec<TypePlan>,
    #[serde(default)]
    pub keys: Vec<KeyPlan>,
}

impl ProjectPlan {
    /// The errors that prevent an apply, by the names in its response.
    pub fn blockers(&self) -> impl Iterator<Item = (String, &FieldErrors)> {
        let workflows = self.workflows.iter().map(|w| (format!("workflows.{}", w.id), &w.blockers));
        let types = self.content_types.iter().map(|t| (t.name.clone(), &t.blockers));
        let keys = self.keys.iter().map(|k| (format!("keys.{}", k.name), &k.blockers));
        workflows.chain(types).chain(keys).filter(|(_, blockers)| !blockers.is_empty())
    }

    /// Returns whether an apply would change anything.
    pub fn has_changes(&self) -> bool {
        self.content_types.iter().any(|t| t.action != PlanAction::None)
            || self.workflows.iter().any(|w| w.action != PlanAction::None)
            || self.keys.iter().any(|k| k.action != PlanAction::None)
    }
}

/// Totals of all types.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanSummary {
    pub create: u64,
    pub update: u64,
    pub delete: u64,
    pub objects_rewritten: u64,
    pub values_lost: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub values_invalid: u64,
    pub blockers: u64,
}

impl PlanSummary {
    /// Returns the totals of a plan that rewrites a number of objects.
    pub fn of(plan: &ProjectPlan, objects_rewritten: u64) -> Self {
        let types = &plan.content_types;
        let count = |action| types.iter().filter(|planned| planned.action == action).count() as u64;
        let properties = || types.iter().flat_map(|planned| &planned.properties);
        Self {
            create: count(PlanAction::Create),
            update: count(PlanAction::Update),
            delete: count(PlanAction::Delete),
            objects_rewritten,
            values_lost: properties().map(|property| property.lost).sum(),
            values_invalid: properties().map(|property| property.invalid).sum(),
            blockers: plan.blockers().count() as u64,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The effect on one workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkflowPlan {
    pub id: String,
    pub action: PlanAction,
    /// The validation errors that prevent an apply.
    pub blockers: FieldErrors,
}

/// The effect on one key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyPlan {
    pub name: String,
    pub action: PlanAction,
    /// The validation errors that prevent an apply.
    pub blockers: FieldErrors,
    /// Token of a new key: only in the response of the apply that created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// The effect on one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypePlan {
    pub name: String,
    pub action: PlanAction,
    /// The change can break clients that read the API.
    pub breaking: bool,
    /// The validation errors that prevent an apply.
    pub blockers: FieldErrors,
    pub properties: Vec<PropertyPlan>,
}

/// The action on a type, workflow or key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanAction {
    Create,
    Update,
    Delete,
    None,
}

/// The effect on one property and its stored values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PropertyPlan {
    pub name: String,
    pub change: PropertyChange,
    /// Old `type/inputType`; null for an added property.
    pub from: Option<String>,
    /// New `type/inputType`; null for a removed property.
    pub to: Option<String>,
    /// Old name of a renamed property.
    #[serde(rename = "renamedFrom", default, skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// Number of unchanged values.
    pub kept: u64,
    /// Number of values that are converted without loss or added.
    pub converted: u64,
    /// Number of values that are lost completely or in part.
    #[serde(rename = "emptied")]
    pub lost: u64,
    /// Number of values, or missing values, that are not valid under the new definition and prevent the change.
    pub failed: u64,
    /// Number of values that stay although they are no longer valid, such as removed options. They do not prevent the
    /// change: the next write of their object has to replace them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub invalid: u64,
    /// Samples: first failed, then lost, then invalid, then converted values.
    pub samples: Vec<ValueSample>,
    /// Changes of nested properties; their values are counted with the property.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<NestedPlan>,
}

impl PropertyPlan {
    /// A plan without values.
    pub fn new(
        name: &str,
        change: PropertyChange,
        from: Option<String>,
        to: Option<String>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            change,
            from,
            to,
            renamed_from: None,
            kept: 0,
            converted: 0,
            lost: 0,
            failed: 0,
            invalid: 0,
            samples: Vec::new(),
            nested: Vec::new(),
        }
    }
}

/// The effect on a property of list items or of a nested object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NestedPlan {
    /// Path, for example `parts.count`.
    pub name: String,
    pub change: PropertyChange,
    /// Old `type/inputType`; null for an added property.
    pub from: Option<String>,
    /// New `type/inputType`; null for a removed property.
    pub to: Option<String>,
    /// Old name of a renamed property.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
}

/// The type of a property's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PropertyChange {
    Add,
    Remove,
    Type,
    Settings,
}

/// A stored value before and after; a missing value is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueSample {
    pub id: String,
    pub before: Value,
    pub after: Value,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prune_requires_content_types() {
        let check = |payload: Value| check_payload(payload.as_object().unwrap()).is_ok();
        assert!(check(json!({"prune": true, "contentTypes": []})));
        assert!(check(json!({"prune": false})) && check(json!({})));
        assert!(!check(json!({"prune": true, "contentType": []})));
    }
}
