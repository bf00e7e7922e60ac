//! Entries of the trash, see docs/reference/trash.md

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::author::Author;
use crate::{
    clock::Timestamp,
    error::{FieldErrors, Result},
    message::{self, wrong_type},
    object::validate::validate_id,
    paging::PageRequest,
    read::{date, read, strings},
};

/// A deleted object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrashItem {
    pub entry: String,
    pub content_type: String,
    pub id: String,
    pub object_title: String,
    pub version: i64,
    pub deleted_at: String,
    pub expires_at: String,
    pub by: Author,
    /// A live object has this id.
    pub id_taken: bool,
}

/// The entries to list; none means no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrashRequest {
    pub page: PageRequest,
    pub content_types: Option<Vec<String>>,
    /// A part of the title or the id.
    pub text: Option<String>,
    pub deleted_after: Option<String>,
    pub deleted_before: Option<String>,
    /// Id of a user or key.
    pub by: Option<String>,
}

impl TrashRequest {
    /// Parses `deletedAfter` and `deletedBefore`; a missing one does not limit the range.
    pub fn range(&self) -> Result<(Timestamp, Timestamp)> {
        let mut errors = FieldErrors::default();
        let mut read = |name, text: &Option<String>, default| {
            date(text.as_deref(), name, &mut errors).unwrap_or(Timestamp(default))
        };
        let after = read("deletedAfter", &self.deleted_after, i64::MIN);
        let before = read("deletedBefore", &self.deleted_before, i64::MAX);
        errors.into_result()?;
        Ok((after, before))
    }
}

/// How to restore an entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RestoreRequest {
    /// The id of the restored object, instead of its id before the deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The properties of the restored object, as a new version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    /// Restore without the published version, as for a caller without the publishing right.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub draft: bool,
}

impl RestoreRequest {
    /// Parses a payload.
    pub fn from_payload(payload: Map<String, Value>) -> Result<Self> {
        let (mut request, mut errors) = (Self::default(), FieldErrors::default());
        for (name, value) in payload {
            match (name.as_str(), value) {
                ("id", value) => {
                    errors.merge(validate_id(&value));
                    request.id = value.as_str().map(str::to_owned);
                }
                ("data", Value::Object(data)) => request.data = Some(data),
                ("data", value) => errors.add("data", wrong_type(&value, "object")),
                ("draft", value) => {
                    request.draft = read(&value, "draft", &mut errors).unwrap_or_default();
                }
                _ => errors.add(name.as_str(), message::undeclared(&name)),
            }
        }
        errors.into_result()?;
        Ok(request)
    }
}

/// The entries to remove from the trash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmptyTrashRequest {
    /// None means all types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_types: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_before: Option<String>,
}

impl EmptyTrashRequest {
    /// Parses a payload.
    pub fn from_payload(payload: &Map<String, Value>) -> Result<Self> {
        let (mut request, mut errors) = (Self::default(), FieldErrors::default());
        for (name, value) in payload {
            match name.as_str() {
                "contentTypes" => {
                    let names = strings(payload, name, "", &mut errors);
                    request.content_types = Some(names.into_iter().map(str::to_owned).collect());
                }
                "deletedBefore" => {
                    if let Some(text) = read::<&str>(value, name, &mut errors) {
                        date(Some(text), name, &mut errors);
                        request.deleted_before = Some(text.to_owned());
                    }
                }
                _ => errors.add(name.as_str(), message::undeclared(name)),
            }
        }
        errors.into_result()?;
        Ok(request)
    }

    /// The time before which entries are removed.
    pub fn before(&self) -> Result<Timestamp> {
        let mut errors = FieldErrors::default();
        let before = date(self.deleted_before.as_deref(), "deletedBefore", &mut errors);
        errors.into_result()?;
        Ok(before.unwrap_or(Timestamp(i64::MAX)))
    }
}

/// The result of one request to empty the trash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmptiedTrash {
    pub removed_count: u64,
    /// More entries match: the request has to be repeated.
    pub more: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{error::Error, testing::map};

    fn errors<T: std::fmt::Debug>(result: Result<T>) -> Value {
        match result {
            Err(Error::Invalid(errors)) => json!(errors),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn restore_requests_are_read() {
        let request = RestoreRequest::from_payload(map(json!({"id": "b", "data": {"a": 1}})));
        let data = Some(map(json!({"a": 1})));
        assert_eq!(
            request.unwrap(),
            RestoreRequest { id: Some("b".to_owned()), data, draft: false }
        );
        assert_eq!(
            errors(RestoreRequest::from_payload(map(json!({"id": 5, "data": [], "other": 1})))),
            json!({
                "id": ["Integer value found, but a string is required"],
                "data": ["Array value found, but an object is required"],
                "other": ["The property other is not defined and the definition does not allow additional properties"],
            })
        );
    }

    #[test]
    fn empty_trash_requests_are_read() {
        let payload = map(json!({"contentTypes": ["post"], "deletedBefore": "@5"}));
        let request = EmptyTrashRequest::from_payload(&payload).unwrap();
        assert_eq!(request.before().unwrap(), Timestamp(5_000_000));
        let payload = json!({"contentTypes": [1], "deletedBefore": "soon", "x": 1});
        assert_eq!(
            errors(EmptyTrashRequest::from_payload(&map(payload))),
            json!({
                "contentTypes[0]": ["Integer value found, but a string is required"],
                "deletedBefore": ["Wrong date format"],
                "x": ["The property x is not defined and the definition does not allow additional properties"],
            })
        );
    }

    #[test]
    fn list_requests_report_both_dates() {
        let request = TrashRequest {
            deleted_after: Some("never".to_owned()),
            deleted_before: Some("soon".to_owned()),
            ..TrashRequest::default()
        };
        let wrong = ["Wrong date format"];
        assert_eq!(errors(request.range()), json!({"deletedAfter": wrong, "deletedBefore": wrong}));
    }
}
