//! The definition of a webhook: an object of the type `_webhooks` (see docs/reference/webhooks.md).

use serde_json::{Map, Value};
use url::Url;

use super::mask::MASK;
use crate::{content_type::builtin::DEBOUNCE, error::FieldErrors, message};

/// Values of `executionMode`; the first is the default.
pub const EXECUTION_MODES: [&str; 2] = ["url", "code"];
/// Values of `actions`.
pub const ACTIONS: [&str; 8] = [
    "Create",
    "Update",
    "Delete",
    "Publish",
    "Unpublish",
    "Archive",
    "Custom",
    "WorkflowTransition",
];

crate::named_enum! {
    /// When a webhook is called.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WebhookKind {
        /// After an object was written.
        Object => "async",
        /// Before an object is written; the receiver may change or reject it.
        Synchronous => "sync",
        /// After a content type was written.
        Type => "ctd",
    }
}

/// One webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Primary key of its object; never reused.
    pub pk: i64,
    pub id: String,
    pub name: String,
    pub kind: WebhookKind,
    pub url: String,
    /// Sent with each request.
    pub headers: Vec<(String, String)>,
    pub enabled: bool,
    /// Changes are delivered together after this number of seconds without a change; 0 delivers each
    /// change alone.
    pub debounce_seconds: i64,
    actions: Vec<String>,
    /// Names of content types; empty means all.
    types: Vec<String>,
}

impl Webhook {
    /// Returns whether the webhook is enabled and not synchronous.
    pub fn receives_deliveries(&self) -> bool {
        self.enabled && self.kind != WebhookKind::Synchronous
    }

    /// Reads the properties of a stored object.
    pub fn read(pk: i64, id: &str, object: &Map<String, Value>) -> Self {
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let header = |item: &Value| {
            let [name, value] = ["header_name", "header_value"].map(|key| item[key].as_str());
            Some((name.filter(|name| !name.is_empty())?.to_owned(), value?.to_owned()))
        };
        Self {
            pk,
            id: id.to_owned(),
            name: text("name").to_owned(),
            kind: WebhookKind::parse(text("type")).unwrap_or(WebhookKind::Object),
            url: text("url").to_owned(),
            headers: items(object, "headers").filter_map(header).collect(),
            enabled: object.get("enabled").and_then(Value::as_bool).unwrap_or(true),
            debounce_seconds: object.get(DEBOUNCE).and_then(Value::as_i64).unwrap_or(0),
            actions: texts(object, "actions", "action"),
            types: texts(object, "content_type_definitions", "content_type_definition_name"),
        }
    }

    /// Whether the webhook is called for an action on objects of a type.
    pub fn matches(&self, action: &str, content_type: &str) -> bool {
        self.enabled
            && self.actions.iter().any(|wanted| wanted == action)
            && (self.types.is_empty() || self.types.iter().any(|wanted| wanted == content_type))
    }
}

fn items<'a>(object: &'a Map<String, Value>, list: &str) -> impl Iterator<Item = &'a Value> {
    object.get(list).and_then(Value::as_array).into_iter().flatten()
}

fn texts(object: &Map<String, Value>, list: &str, key: &str) -> Vec<String> {
    items(object, list).filter_map(|item| item[key].as_str()).map(str::to_owned).collect()
}

/// Checks the rules of webhooks that the schema of their type cannot express. A disabled webhook may
/// have an `http:` URL even without `allow_http`: so every stored webhook can be disabled.
pub fn validate(object: &Map<String, Value>, allow_http: bool) -> FieldErrors {
    let is_disabled = object.get("enabled") == Some(&Value::Bool(false));
    let allow_http = allow_http || is_disabled;
    let mut errors = FieldErrors::default();
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    if text("executionMode") == Some("code") {
        if text("type") != Some("sync") {
            errors.add("executionMode", message::NOT_VALID);
        }
        if !object.contains_key("code") {
            errors.add("code", message::required("code"));
        }
    } else {
        match object.get("url") {
            None => errors.add("url", message::required("url")),
            Some(Value::String(url)) if url.is_empty() => errors.add("url", message::too_short(1)),
            Some(Value::String(url)) if !is_webhook_url(url, allow_http) => {
                errors.add("url", message::NOT_VALID);
            }
            // Schema validation reports other values.
            Some(_) => {}
        }
    }
    // This server does not run code of webhooks.
    if text("code").is_some_and(|code| !code.is_empty() || text("executionMode") == Some("code")) {
        errors.add("code", message::NOT_VALID);
    }
    for (index, item) in items(object, "headers").enumerate() {
        // A mask without a stored value is invalid.
        let is_valid = |value: &str| is_header_value(value) && value != MASK;
        if item["header_value"].as_str().is_some_and(|value| !is_valid(value)) {
            errors.add(format!("headers[{index}].header_value"), message::NOT_VALID);
        }
    }
    errors
}

fn is_webhook_url(text: &str, allow_http: bool) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let has_scheme = url.scheme() == "https" || allow_http && url.scheme() == "http";
    has_scheme && url.has_host()
}

/// Whether a value is printable ASCII, which all receivers decode alike.
fn is_header_value(value: &str) -> bool {
    value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn errors(object: &Value, allow_http: bool) -> Value {
        json!(validate(object.as_object().unwrap(), allow_http))
    }

    #[test]
    fn webhooks_are_validated() {
        let invalid = json!(["This value is not valid."]);
        for (object, expected) in [
            (json!({"url": "https://example.com/hook?a=b"}), json!({})),
            (json!({"url": "https://[2001:db8::1]:8443"}), json!({})),
            (
                json!({"type": "ctd", "executionMode": "url", "url": "https://a", "code": ""}),
                json!({}),
            ),
            (json!({}), json!({"url": ["The property url is required"]})),
            (json!({"url": ""}), json!({"url": ["Must be at least 1 characters long"]})),
            (json!({"url": "http://example.com"}), json!({"url": invalid})),
            (json!({"url": "file:///etc/passwd"}), json!({"url": invalid})),
            (json!({"url": "https://"}), json!({"url": invalid})),
            (json!({"url": "example.com"}), json!({"url": invalid})),
            // Schema validation rejects the number.
            (json!({"url": 5}), json!({})),
            (json!({"url": "https://a", "code": "x"}), json!({"code": invalid})),
            (
                json!({"type": "sync", "executionMode": "code", "code": "x"}),
                json!({"code": invalid}),
            ),
            (
                json!({"type": "sync", "executionMode": "code", "code": ""}),
                json!({"code": invalid}),
            ),
            (
                json!({"type": "sync", "executionMode": "code"}),
                json!({"code": ["The property code is required"]}),
            ),
            (
                json!({"executionMode": "code", "code": "x"}),
                json!({"executionMode": invalid, "code": invalid}),
            ),
            (
                json!({"url": "https://a", "headers": [
                    {"header_name": "X-A", "header_value": "Bearer abc def"},
                    {"header_name": "X-B", "header_value": "a\r\nX-C: d"},
                ]}),
                json!({"headers[1].header_value": invalid}),
            ),
        ] {
            assert_eq!(errors(&object, false), expected, "{object}");
        }
        assert_eq!(errors(&json!({"url": "http://example.com"}), true), json!({}));
        assert_eq!(
            errors(&json!({"url": "http://example.com", "enabled": false}), false),
            json!({})
        );
        assert_eq!(errors(&json!({"url": "ftp://example.com"}), true), json!({"url": invalid}));
    }

    /// Actions and types of a webhook; an event; whether the webhook matches it.
    #[test]
    fn webhooks_match_actions_and_types() {
        for (actions, types, enabled, action, content_type, expected) in [
            (&["Create"][..], &[][..], None, "Create", "post", true),
            (&["Create"], &[], Some(true), "Update", "post", false),
            (&["Create"], &[], Some(false), "Create", "post", false),
            (&["Create", "Delete"], &["post", "tag"], None, "Delete", "tag", true),
            (&["Create"], &["post"], None, "Create", "author", false),
            (&[], &[], None, "Create", "post", false),
            (&["WorkflowTransition"], &[], None, "WorkflowTransition", "post", true),
        ] {
            let list = |key: &str, values: &[&str]| {
                values.iter().map(|value| json!({key: value})).collect::<Value>()
            };
            let mut object = json!({
                "name": "a",
                "actions": list("action", actions),
                "content_type_definitions": list("content_type_definition_name", types),
            });
            if let Some(enabled) = enabled {
                object["enabled"] = json!(enabled);
            }
            let webhook = Webhook::read(1, "one", object.as_object().unwrap());
            assert_eq!(webhook.matches(action, content_type), expected, "{object} {action}");
        }
    }

    #[test]
    fn stored_objects_are_read() {
        let object = json!({
            "name": "Build", "type": "sync", "url": "https://a/b", "enabled": true,
            "headers": [
                {"header_name": "X-A", "header_value": "1"},
                {"header_name": "", "header_value": "2"},
                {"header_name": "X-B"},
            ],
        });
        let webhook = Webhook::read(7, "hook", object.as_object().unwrap());
        assert_eq!((webhook.kind, webhook.kind.as_str()), (WebhookKind::Synchronous, "sync"));
        assert_eq!(webhook.headers, [("X-A".to_owned(), "1".to_owned())]);
        assert_eq!((webhook.pk, &*webhook.id, &*webhook.name), (7, "hook", "Build"));
    }
}
