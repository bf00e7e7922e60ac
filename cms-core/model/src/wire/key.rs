//! API keys in the management endpoints, see docs/reference/keys.md#management-endpoints

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{FieldErrors, Result},
    message,
};

crate::named_enum! {
    /// The kind of a key: the maximum of its rights.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum KeyKind {
        /// All reads, no writes.
        ReadOnly => "read_only",
        /// Reads and writes of content and content types.
        ReadWrite => "read_write",
        /// The rights of its rules, never content types.
        Scoped => "scoped",
        /// All rights, management of keys included.
        Admin => "admin",
    }
}

/// One rule of a scoped key; several rules add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the four rights of the API")]
pub struct Rule {
    /// Name of a content type, or `*` for all.
    #[serde(rename = "ctd")]
    pub content_type: String,
    #[serde(default)]
    pub create: bool,
    #[serde(default)]
    pub read: bool,
    #[serde(default)]
    pub update: bool,
    #[serde(default)]
    pub delete: bool,
}

impl Rule {
    /// Tells whether the rule applies to a type.
    pub fn covers(&self, content_type: &str) -> bool {
        self.covers_all_types() || self.content_type == content_type
    }

    /// Tells whether the rule applies to all types.
    pub fn covers_all_types(&self) -> bool {
        self.content_type == "*"
    }
}

/// A key without its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    pub id: String,
    pub name: String,
    pub kind: KeyKind,
    pub rules: Vec<Rule>,
    pub created_at: String,
    pub last_used_at: Option<String>,
}

/// A key to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewKey {
    pub name: String,
    pub kind: KeyKind,
    #[serde(default)]
    pub rules: Vec<Rule>,
}

impl NewKey {
    /// Parses a payload.
    ///
    /// # Errors
    /// [`crate::error::Error::Invalid`] for missing values and values of another type. The service
    /// validates the values.
    pub fn from_payload(payload: &Map<String, Value>) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let name = match payload.get("name") {
            Some(Value::String(name)) => name.clone(),
            found => missing(found, "name", "name", "string", &mut errors),
        };
        let kind = match payload.get("kind") {
            Some(Value::String(kind)) => KeyKind::parse(kind).unwrap_or_else(|| {
                let known = KeyKind::ALL.map(KeyKind::as_str);
                errors.add("kind", message::not_in_enumeration(&known));
                KeyKind::ReadOnly
            }),
            found => {
                missing::<String>(found, "kind", "kind", "string", &mut errors);
                KeyKind::ReadOnly
            }
        };
        let rules = match payload.get("rules") {
            None => Vec::new(),
            Some(Value::Array(rules)) => rules
                .iter()
                .enumerate()
                .map(|(index, rule)| Rule::read(rule, &format!("rules[{index}]"), &mut errors))
                .collect(),
            found => missing(found, "rules", "rules", "array", &mut errors),
        };
        errors.into_result()?;
        Ok(Self { name, kind, rules })
    }
}

impl Rule {
    fn read(rule: &Value, path: &str, errors: &mut FieldErrors) -> Self {
        let Value::Object(rule) = rule else {
            return missing(Some(rule), path, "", "object", errors);
        };
        let at = |key: &str| format!("{path}.{key}");
        let content_type = match rule.get("ctd") {
            Some(Value::String(name)) => name.clone(),
            found => missing(found, &at("ctd"), "ctd", "string", errors),
        };
        let mut right = |key: &str| match rule.get(key) {
            None => false,
            Some(Value::Bool(given)) => *given,
            found => missing(found, &at(key), key, "boolean", errors),
        };
        let (create, read) = (right("create"), right("read"));
        let (update, delete) = (right("update"), right("delete"));
        for key in rule.keys() {
            if !["ctd", "create", "read", "update", "delete"].contains(&key.as_str()) {
                errors.add(at(key), message::undeclared(key));
            }
        }
        Self { content_type, create, read, update, delete }
    }
}

/// Adds the error for a value that is missing or of another type, and returns a default.
fn missing<T: Default>(
    found: Option<&Value>,
    path: &str,
    name: &str,
    expected: &str,
    errors: &mut FieldErrors,
) -> T {
    errors.add(
        path,
        match found {
            None => message::required(name),
            Some(found) => message::wrong_type(found, expected),
        },
    );
    T::default()
}

/// A new key with its token, which is not shown again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedKey {
    #[serde(flatten)]
    pub item: Key,
    /// The token to send as `X-AUTH-TOKEN`.
    pub key: String,
}
