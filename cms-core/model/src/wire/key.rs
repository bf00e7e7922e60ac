//! API keys in the management endpoints, see docs/reference/keys.md#management-endpoints

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{FieldErrors, Result},
    limits, message, read,
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
    /// Returns whether the rule applies to a type.
    pub fn covers(&self, content_type: &str) -> bool {
        self.covers_all_types() || self.content_type == content_type
    }

    /// Returns whether the rule names one type, which need not exist yet, or all types.
    fn names_types(&self) -> bool {
        let is_name = |b: u8| b.is_ascii_lowercase() || b == b'_';
        let name = &self.content_type;
        self.covers_all_types() || !name.is_empty() && name.bytes().all(is_name)
    }

    /// Returns whether the rule applies to all types.
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
    /// Time until which the token before the last rotation is accepted, too.
    #[serde(default)]
    pub previous_valid_until: Option<String>,
}

/// A key to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewKey {
    pub name: String,
    pub kind: KeyKind,
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// A change of a key; a part that is none stays unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KeyUpdate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A key never changes its kind; another kind is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<KeyKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<Rule>>,
}

impl KeyUpdate {
    /// The members of a key that an update ignores.
    pub const READ_ONLY: [&str; 4] = ["id", "createdAt", "lastUsedAt", "previousValidUntil"];

    /// Parses a payload.
    ///
    /// # Errors
    /// [`crate::error::Error::Invalid`] for invalid values and unknown members.
    pub fn from_payload(payload: &Map<String, Value>) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let name = read::optional(payload, "name", "", &mut errors).map(str::to_owned);
        if let Some(name) = &name {
            check_name(name, &mut errors);
        }
        let kind = read_kind(payload, &mut errors);
        let rules = read_rules(payload, &mut errors);
        let known = [&["name", "kind", "rules"][..], &Self::READ_ONLY].concat();
        read::refuse_others(payload, &known, "", &mut errors);
        errors.into_result()?;
        Ok(Self { name, kind, rules })
    }
}

/// Reads the number of hours for which a replaced token stays valid.
///
/// # Errors
/// [`crate::error::Error::Invalid`] for other values and unknown members.
pub fn grace_hours(payload: &Map<String, Value>) -> Result<i64> {
    const MEMBER: &str = "graceHours";
    let mut errors = FieldErrors::default();
    let hours = payload.get(MEMBER).map_or(0, |hours| {
        read::read::<read::Integer>(hours, MEMBER, &mut errors);
        hours.as_i64().unwrap_or(i64::MAX)
    });
    if errors.is_empty() && hours < 0 {
        errors.add(MEMBER, message::below_minimum(0));
    } else if errors.is_empty() && hours > limits::MAX_GRACE_HOURS {
        errors.add(MEMBER, message::above_maximum(limits::MAX_GRACE_HOURS));
    }
    read::refuse_others(payload, &[MEMBER], "", &mut errors);
    errors.into_result()?;
    Ok(hours)
}

impl NewKey {
    /// Parses a payload.
    ///
    /// # Errors
    /// [`crate::error::Error::Invalid`] for missing and invalid values.
    pub fn from_payload(payload: &Map<String, Value>) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let name = read::required_text(payload, "name", &mut errors);
        if errors.is_empty() {
            check_name(&name, &mut errors);
        }
        read::required::<&str>(payload, "kind", "", &mut errors);
        let kind = read_kind(payload, &mut errors);
        let rules = read_rules(payload, &mut errors).unwrap_or_default();
        if let Some(kind) = kind
            && errors.at("rules").is_empty()
        {
            check_rule_count(kind, &rules, &mut errors);
        }
        errors.into_result()?;
        Ok(Self { name, kind: kind.unwrap_or(KeyKind::ReadOnly), rules })
    }

    /// Returns the errors of its values, for a key that was not read from a payload.
    pub fn validate(&self) -> FieldErrors {
        let mut errors = FieldErrors::default();
        check_name(&self.name, &mut errors);
        check_rule_count(self.kind, &self.rules, &mut errors);
        for (index, rule) in self.rules.iter().enumerate() {
            rule.check_type_name(&format!("rules[{index}]"), &mut errors);
        }
        errors
    }
}

fn check_name(name: &str, errors: &mut FieldErrors) {
    if name.trim().is_empty() {
        errors.add("name", message::too_short(1));
    }
    if name.chars().count() > limits::MAX_NAME_CHARS {
        errors.add("name", message::too_long(limits::MAX_NAME_CHARS));
    }
    if name.chars().any(char::is_control) {
        errors.add("name", message::NOT_VALID);
    }
}

fn check_rule_count(kind: KeyKind, rules: &[Rule], errors: &mut FieldErrors) {
    let is_scoped = kind == KeyKind::Scoped;
    if is_scoped && rules.is_empty() {
        errors.add("rules", message::too_few(1));
    }
    if !is_scoped && !rules.is_empty() {
        errors.add("rules", "Only scoped keys have rules");
    }
}

fn read_kind(payload: &Map<String, Value>, errors: &mut FieldErrors) -> Option<KeyKind> {
    let kind = KeyKind::parse(read::optional(payload, "kind", "", errors)?);
    if kind.is_none() {
        errors.add("kind", message::not_in_enumeration(&KeyKind::ALL.map(KeyKind::as_str)));
    }
    kind
}

/// Reads the optional `rules` of a key or a user.
pub(crate) fn read_rules(
    payload: &Map<String, Value>,
    errors: &mut FieldErrors,
) -> Option<Vec<Rule>> {
    let rules: &[Value] = read::optional(payload, "rules", "", errors)?;
    let rule = |(index, rule)| Rule::read(rule, &format!("rules[{index}]"), errors);
    Some(rules.iter().enumerate().map(rule).collect())
}

impl Rule {
    /// Parses a rule at a path of a payload.
    fn read(rule: &Value, path: &str, errors: &mut FieldErrors) -> Self {
        let Some(rule) = read::read::<&Map<String, Value>>(rule, path, errors) else {
            return Self::default();
        };
        let content_type = read::required::<&str>(rule, "ctd", path, errors);
        let mut right = |key| read::optional(rule, key, path, errors).unwrap_or_default();
        let (create, read) = (right("create"), right("read"));
        let (update, delete) = (right("update"), right("delete"));
        let known = ["ctd", "create", "read", "update", "delete"];
        read::refuse_others(rule, &known, path, errors);
        let is_read = content_type.is_some();
        let content_type = content_type.unwrap_or_default().to_owned();
        let rule = Self { content_type, create, read, update, delete };
        if is_read {
            rule.check_type_name(path, errors);
        }
        rule
    }

    fn check_type_name(&self, path: &str, errors: &mut FieldErrors) {
        if !self.names_types() {
            errors.add(format!("{path}.ctd"), message::NOT_VALID);
        }
    }
}

/// A new key with its token, which is not shown again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedKey {
    #[serde(flatten)]
    pub item: Key,
    /// The token to send as `X-AUTH-TOKEN`.
    pub key: String,
}
