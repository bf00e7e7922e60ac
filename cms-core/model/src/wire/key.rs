//! API keys as the management endpoints show them (contract 10, 10.1).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{FieldErrors, Result},
    message,
};

/// What a key may do at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyKind {
    /// Every read, nothing else.
    ReadOnly,
    /// Content and content types.
    ReadWrite,
    /// What its rules give, never content types.
    Scoped,
    /// Everything, keys included.
    Admin,
}

impl KeyKind {
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::ReadWrite, Self::Scoped, Self::Admin];

    /// The name on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::ReadWrite => "read_write",
            Self::Scoped => "scoped",
            Self::Admin => "admin",
        }
    }

    /// Reads [`Self::as_str`] back.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// One rule of a scoped key; several rules add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the four rights of the contract")]
pub struct Rule {
    /// Name of a content type, or `*` for all.
    pub ctd: String,
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
    /// Tells whether the rule speaks of this type.
    pub fn covers(&self, content_type: &str) -> bool {
        self.covers_all_types() || self.ctd == content_type
    }

    /// Tells whether the rule speaks of every type.
    pub fn covers_all_types(&self) -> bool {
        self.ctd == "*"
    }
}

/// A key as lists show it: never the token.
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

/// A key that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewKey {
    pub name: String,
    pub kind: KeyKind,
    #[serde(default)]
    pub rules: Vec<Rule>,
}

impl NewKey {
    /// Reads a payload.
    ///
    /// # Errors
    /// [`crate::error::Error::Invalid`] with the messages of contract 3.6 for what is missing or of the wrong
    /// kind; whether the values make sense is for the service to say.
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
        let ctd = match rule.get("ctd") {
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
        Self { ctd, create, read, update, delete }
    }
}

/// Notes a value that is missing or of the wrong kind, and stands in for it.
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

/// A key at the only moment at which its token is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedKey {
    #[serde(flatten)]
    pub item: Key,
    /// The token to send as `X-AUTH-TOKEN`.
    pub key: String,
}
