//! Bulk jobs: changes of all objects that match filters, see docs/reference/bulk.md

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{author::Author, publish::PublishAction};
use crate::{
    error::{FieldErrors, Result},
    limits, message,
    object::replace::Replacement,
    read::{self, Integer},
};

/// The members of a request.
const MEMBERS: [&str; 9] =
    ["action", "filters", "q", "all", "patch", "replace", "transition", "expect", "dryRun"];

/// What a job does to each object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkAction {
    Publish(PublishAction),
    Delete,
    Patch,
    Transition,
}

impl BulkAction {
    pub const ALL: [Self; 6] = [
        Self::Publish(PublishAction::Publish),
        Self::Publish(PublishAction::Unpublish),
        Self::Publish(PublishAction::Archive),
        Self::Delete,
        Self::Patch,
        Self::Transition,
    ];

    /// The name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Publish(action) => action.as_str(),
            Self::Delete => "delete",
            Self::Patch => "patch",
            Self::Transition => "transition",
        }
    }

    /// Parses the name in the API.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// A request: which objects, and what to do with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkRequest {
    pub action: BulkAction,
    /// As in lists, as JSON; with `q` an object must match both.
    pub filters: Option<String>,
    pub q: Option<String>,
    /// The properties to change; empty for other actions than `patch`, and with `replace`.
    pub patch: Map<String, Value>,
    /// The values to replace, for the action `patch`; empty with the member `patch` and for other
    /// actions.
    pub replace: Vec<Replacement>,
    /// The name of the transition; empty for other actions.
    pub transition: String,
    /// Number of objects that must match; none for a dry run.
    pub expect: Option<u64>,
}

impl BulkRequest {
    /// Parses a payload.
    ///
    /// # Errors
    /// [`crate::error::Error::Invalid`] for members that are missing or not valid.
    pub fn from_payload(payload: &Map<String, Value>) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let action = action(payload, &mut errors);
        let filters = read::optional::<&Map<String, Value>>(payload, "filters", "", &mut errors);
        let q = read::optional::<&str>(payload, "q", "", &mut errors).map(str::to_owned);
        let all = read::optional::<bool>(payload, "all", "", &mut errors) == Some(true);
        let dry_run = read::optional::<bool>(payload, "dryRun", "", &mut errors) == Some(true);
        let selects = payload.contains_key("filters") || payload.contains_key("q");
        if all && selects {
            errors.add("all", message::NOT_VALID);
        } else if !all && !selects {
            errors.add("filters", message::required("filters"));
        }
        let patch = read::optional::<&Map<String, Value>>(payload, "patch", "", &mut errors);
        let replace = replacements(payload, action, &mut errors);
        let patch = match replace {
            Some(_) if payload.contains_key("patch") => {
                errors.add("patch", message::NOT_VALID);
                None
            }
            Some(_) => None,
            None => {
                check_member(payload, "patch", action, BulkAction::Patch, &mut errors);
                patch
            }
        };
        let replace = replace.unwrap_or_default();
        if patch.is_some_and(Map::is_empty) {
            errors.add("patch", message::NOT_VALID);
        }
        let patch = patch.cloned().unwrap_or_default();
        if Value::Object(patch.clone()).to_string().len() > limits::MAX_OBJECT_BYTES {
            errors.add("patch", message::too_long(limits::MAX_OBJECT_BYTES));
        }
        let transition = read::optional::<&str>(payload, "transition", "", &mut errors);
        check_member(payload, "transition", action, BulkAction::Transition, &mut errors);
        let expect = expected(payload, dry_run, &mut errors);
        read::refuse_others(payload, &MEMBERS, "", &mut errors);
        let filters = filters.map(|filters| Value::Object(filters.clone()).to_string());
        let transition = transition.unwrap_or_default().to_owned();
        errors.into_result()?;
        let action = action.expect("a request without an action has an error");
        Ok(Self { action, filters, q, patch, replace, transition, expect })
    }
}

fn action(payload: &Map<String, Value>, errors: &mut FieldErrors) -> Option<BulkAction> {
    let name = read::required::<&str>(payload, "action", "", errors)?;
    let action = BulkAction::parse(name);
    if action.is_none() {
        errors.add("action", message::not_in_enumeration(&BulkAction::ALL.map(BulkAction::as_str)));
    }
    action
}

fn replacements(
    payload: &Map<String, Value>,
    action: Option<BulkAction>,
    errors: &mut FieldErrors,
) -> Option<Vec<Replacement>> {
    const MEMBER: &str = "replace";
    let sent = read::optional::<&[Value]>(payload, MEMBER, "", errors)?;
    if sent.is_empty() || action.is_some_and(|action| action != BulkAction::Patch) {
        errors.add(MEMBER, message::NOT_VALID);
    }
    let parse = |(index, item)| {
        let path = format!("{MEMBER}[{index}]");
        let item = read::read::<&Map<String, Value>>(item, path.as_str(), errors)?;
        Replacement::from_payload(item, &path, errors)
    };
    Some(sent.iter().enumerate().filter_map(parse).collect())
}

/// Checks a member that the action `owner` requires and other actions do not have.
fn check_member(
    payload: &Map<String, Value>,
    name: &str,
    action: Option<BulkAction>,
    owner: BulkAction,
    errors: &mut FieldErrors,
) {
    let is_sent = payload.contains_key(name);
    match action {
        Some(action) if action == owner && !is_sent => errors.add(name, message::required(name)),
        Some(action) if action != owner && is_sent => errors.add(name, message::NOT_VALID),
        _ => {}
    }
}

fn expected(payload: &Map<String, Value>, dry_run: bool, errors: &mut FieldErrors) -> Option<u64> {
    const MEMBER: &str = "expect";
    let Some(value) = payload.get(MEMBER) else {
        if !dry_run {
            errors.add(MEMBER, message::required(MEMBER));
        }
        return None;
    };
    read::read::<Integer>(value, MEMBER, errors)?;
    if value.as_i64().is_some_and(|number| number < 0) {
        errors.add(MEMBER, message::below_minimum(0));
    }
    value.as_u64().filter(|_| !dry_run)
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BulkResponse {
    /// The id of the job.
    Created {
        id: String,
    },
    DryRun(BulkDryRunResponse),
}

/// The response to a dry run; its schema in the OpenAPI document is `BulkPreview`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BulkDryRunResponse {
    pub matched: u64,
    /// The first matches, in creation order.
    pub sample: Vec<BulkSample>,
}

/// What a job would do to an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BulkSample {
    pub id: String,
    pub object_title: String,
    /// The properties that a patch would change.
    pub before: Map<String, Value>,
    pub after: Map<String, Value>,
    pub errors: FieldErrors,
}

crate::named_enum! {
    /// The state of a bulk job, on the wire and in the database.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum BulkJobState {
        Waiting => "waiting",
        Running => "running",
        Done => "done",
        Stopped => "stopped",
        Failed => "failed",
    }
}

impl BulkJobState {
    /// Whether the job has ended.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Stopped | Self::Failed)
    }
}

/// `GET /api/v1/job/{id}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BulkJob {
    pub id: String,
    pub kind: String,
    pub state: BulkJobState,
    pub content_type: String,
    pub action: String,
    pub total: u64,
    /// Number of processed objects, those that were deleted meanwhile included.
    pub done: u64,
    pub succeeded: u64,
    pub refused: u64,
    /// The first refusals; none in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<JobRefusal>>,
    /// Why the job failed.
    pub error: Option<String>,
    pub by: Author,
    pub created_at: String,
    pub finished_at: Option<String>,
}

/// An object that a job did not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRefusal {
    pub id: String,
    pub errors: FieldErrors,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::Error;

    fn errors(payload: &Value) -> Value {
        match BulkRequest::from_payload(payload.as_object().unwrap()) {
            Err(Error::Invalid(errors)) => json!(errors),
            other => panic!("{payload}: {other:?}"),
        }
    }

    #[test]
    fn bulk_request_reports_all_errors() {
        let required = |name: &str| json!([message::required(name)]);
        let not_valid = json!([message::NOT_VALID]);
        for (payload, expected) in [
            (
                json!({}),
                json!({
                    "action": required("action"), "filters": required("filters"),
                    "expect": required("expect"),
                }),
            ),
            (
                json!({ "action": "purge", "all": true, "dryRun": true }),
                json!({ "action": [message::not_in_enumeration(&[
                    "publish", "unpublish", "archive", "delete", "patch", "transition",
                ])] }),
            ),
            (
                json!({ "action": "delete", "all": true, "q": "", "expect": -1 }),
                json!({ "all": not_valid, "expect": [message::below_minimum(0)] }),
            ),
            (
                json!({ "action": "delete", "all": false, "dryRun": true }),
                json!({ "filters": required("filters") }),
            ),
            (
                json!({ "action": "patch", "all": true, "expect": 1 }),
                json!({ "patch": required("patch") }),
            ),
            (
                json!({ "action": "patch", "patch": {}, "all": true, "expect": 1 }),
                json!({ "patch": not_valid }),
            ),
            (
                json!({ "action": "transition", "all": true, "expect": 1 }),
                json!({ "transition": required("transition") }),
            ),
            (
                json!({ "action": "delete", "transition": "a", "patch": { "a": 1 }, "all": true,
                        "expect": 1, "x": 1 }),
                json!({ "transition": not_valid, "patch": not_valid, "x": [message::undeclared("x")] }),
            ),
            (
                json!({ "action": "patch", "patch": { "a": 1 }, "all": true, "expect": 1,
                        "replace": [{ "path": "a", "from": "b", "to": "c" }] }),
                json!({ "patch": not_valid }),
            ),
            (
                json!({ "action": "delete", "all": true, "expect": 1,
                        "replace": [{ "path": "a", "from": "b", "to": "c" }] }),
                json!({ "replace": not_valid }),
            ),
            (
                json!({ "action": "patch", "all": true, "expect": 1, "replace": [] }),
                json!({ "replace": not_valid }),
            ),
            (
                json!({ "action": "patch", "all": true, "expect": 1, "replace": [1, {}] }),
                json!({
                    "replace[0]": ["Integer value found, but an object is required"],
                    "replace[1].path": required("path"), "replace[1].from": required("from"),
                    "replace[1].to": required("to"),
                }),
            ),
            (
                json!({ "action": 1, "filters": "{}", "q": 1, "expect": "1", "dryRun": 1 }),
                json!({
                    "action": ["Integer value found, but a string is required"],
                    "filters": ["String value found, but an object is required"],
                    "q": ["Integer value found, but a string is required"],
                    "expect": ["String value found, but an integer is required"],
                    "dryRun": ["Integer value found, but a boolean is required"],
                }),
            ),
        ] {
            assert_eq!(errors(&payload), expected, "{payload}");
        }
    }

    #[test]
    fn bulk_request_keeps_filters_as_text() {
        let payload = json!({
            "action": "publish", "filters": { "a": { "type": "empty" } }, "q": "x", "expect": 2,
        });
        let request = BulkRequest::from_payload(payload.as_object().unwrap()).unwrap();
        assert_eq!(request.filters.as_deref(), Some(r#"{"a":{"type":"empty"}}"#));
        assert_eq!((request.q.as_deref(), request.expect), (Some("x"), Some(2)));
    }
}
