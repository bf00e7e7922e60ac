//! Plan and apply of content types (contract 2.8, 14).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{FieldErrors, Result},
    message,
};

/// What is wanted: content type payloads as `POST` takes them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRequest {
    /// Definitions of workflows as the management endpoints take them; they come before the types.
    #[serde(default)]
    pub workflows: Vec<Map<String, Value>>,
    #[serde(default)]
    pub content_types: Vec<Map<String, Value>>,
    /// Keys as the management endpoint takes them; one that exists gets the rules. Naming any
    /// takes an admin key.
    #[serde(default)]
    pub keys: Vec<Map<String, Value>>,
    /// Also delete types that are not named, built-in ones never.
    #[serde(default)]
    pub prune: bool,
}

/// A plan request that is to be carried out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplyRequest {
    #[serde(flatten)]
    pub wanted: PlanRequest,
    /// Token of the plan that was looked at; refused when anything changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_data_loss: Option<DataLossConsent>,
}

/// Checks that the parts of a plan or apply payload are of the right kinds.
///
/// # Errors
/// [`crate::error::Error::Invalid`] with the messages of contract 3.6.
pub fn check_payload(payload: &Map<String, Value>) -> Result<()> {
    let mut errors = FieldErrors::default();
    let mut check = |path: &str, value: &Value, is_right: bool, expected: &str| {
        if !is_right {
            errors.add(path, message::wrong_type(value, expected));
        }
    };
    for key in ["workflows", "contentTypes", "keys"] {
        let Some(items) = payload.get(key) else { continue };
        check(key, items, items.is_array(), "array");
        for (index, item) in items.as_array().into_iter().flatten().enumerate() {
            check(&format!("{key}[{index}]"), item, item.is_object(), "object");
        }
    }
    if let Some(prune) = payload.get("prune") {
        check("prune", prune, prune.is_boolean(), "boolean");
    }
    if let Some(token) = payload.get("token") {
        check("token", token, token.is_string(), "string");
    }
    if let Some(consent) = payload.get("allowDataLoss") {
        check("allowDataLoss", consent, consent.is_boolean() || consent.is_array(), "array");
        for (index, item) in consent.as_array().into_iter().flatten().enumerate() {
            check(&format!("allowDataLoss[{index}]"), item, item.is_string(), "string");
        }
    }
    errors.into_result()
}

/// Consent to losing stored values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DataLossConsent {
    All(bool),
    /// Names `type.property`.
    Only(Vec<String>),
}

/// What an apply does, or would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectPlan {
    /// Digest of the wanted state and of the state it was computed against.
    pub token: String,
    pub summary: PlanSummary,
    #[serde(default)]
    pub workflows: Vec<WorkflowPlan>,
    pub content_types: Vec<TypePlan>,
    #[serde(default)]
    pub keys: Vec<KeyPlan>,
}

impl ProjectPlan {
    /// What is in the way of an apply: the names that its answer uses, with their faults.
    pub fn blockers(&self) -> impl Iterator<Item = (String, &FieldErrors)> {
        let workflows = self.workflows.iter().map(|w| (format!("workflows.{}", w.id), &w.blockers));
        let types = self.content_types.iter().map(|t| (t.name.clone(), &t.blockers));
        let keys = self.keys.iter().map(|k| (format!("keys.{}", k.name), &k.blockers));
        workflows.chain(types).chain(keys).filter(|(_, blockers)| !blockers.is_empty())
    }

    /// Tells whether an apply would change anything.
    pub fn has_changes(&self) -> bool {
        self.content_types.iter().any(|t| t.action != PlanAction::None)
            || self.workflows.iter().any(|w| w.action != PlanAction::None)
            || self.keys.iter().any(|k| k.action != PlanAction::None)
    }
}

/// Counts over all types.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanSummary {
    pub create: u64,
    pub update: u64,
    pub delete: u64,
    pub objects_rewritten: u64,
    pub values_lost: u64,
    pub blockers: u64,
}

/// What happens to one workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkflowPlan {
    pub id: String,
    pub action: PlanAction,
    /// The map that an apply would answer; empty when nothing is in the way.
    pub blockers: FieldErrors,
}

/// What happens to one key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyPlan {
    pub name: String,
    pub action: PlanAction,
    /// The map that an apply would answer; empty when nothing is in the way.
    pub blockers: FieldErrors,
    /// Token of a new key: only in the answer of the apply that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// What happens to one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypePlan {
    pub name: String,
    pub action: PlanAction,
    /// Readers of the API can notice.
    pub breaking: bool,
    /// The map that an apply would answer; empty when nothing is in the way.
    pub blockers: FieldErrors,
    pub properties: Vec<PropertyPlan>,
}

/// The fate of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanAction {
    Create,
    Update,
    Delete,
    None,
}

/// What happens to one property and its stored values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PropertyPlan {
    pub name: String,
    pub change: PropertyChange,
    /// `type/inputType` before; null for an added property.
    pub from: Option<String>,
    /// `type/inputType` after; null for a removed property.
    pub to: Option<String>,
    /// Old name of the property whose values move to this one.
    #[serde(rename = "renamedFrom", default, skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// Values that stay as they are.
    pub kept: u64,
    /// Values that are others now and have lost nothing, and values where none were.
    pub converted: u64,
    /// Values of which something is lost.
    pub emptied: u64,
    /// Values, or missing values, that are not valid from now on.
    pub failed: u64,
    /// Some of what changes: first what fails, then what is lost, then what is converted.
    pub samples: Vec<ValueSample>,
    /// What changes inside the property; its counts are those of the property.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<NestedPlan>,
}

/// What happens to a property of list items or of a nested object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NestedPlan {
    /// Its path: `parts.count`.
    pub name: String,
    pub change: PropertyChange,
    /// `type/inputType` before; null for an added property.
    pub from: Option<String>,
    /// `type/inputType` after; null for a removed property.
    pub to: Option<String>,
    /// Old name of the property whose values move to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
}

/// The kind of change of a property.
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
