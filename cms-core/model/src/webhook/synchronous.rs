//! Requests of synchronous webhooks before a write, and their responses (see
//! docs/reference/webhooks.md#synchronous-webhooks).

use serde_json::{Map, Value, json};

use super::model::Webhook;
use crate::{
    context::{Actor, ActorKind},
    error::FieldErrors,
};

/// The key of messages that concern no property.
const WEBHOOK_KEY: &str = "__webhook";

/// The result of a request to a receiver.
#[derive(Clone, Debug)]
pub enum WebhookOutcome {
    /// Status and body of the response.
    Response(u16, Vec<u8>),
    /// The reason why there was no response.
    NoResponse(String),
}

impl WebhookOutcome {
    /// Whether the receiver accepted the request.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Response(200..=299, _))
    }
}

crate::named_enum! {
    /// The write that a synchronous webhook may change or reject, by its name in `actions`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WriteEvent {
        Create => "Create",
        Update => "Update",
        Delete => "Delete",
    }
}

/// Why a write is rejected.
#[derive(Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The receiver rejects the write.
    ByReceiver(FieldErrors),
    /// The response is missing or invalid.
    Failed(FieldErrors),
}

/// The body of the request.
pub fn request_body(
    event: WriteEvent,
    sequence: usize,
    content_type: &str,
    actor: &Actor,
    payload: &Map<String, Value>,
) -> String {
    let (id, first_name, key) = match actor.kind {
        ActorKind::User { .. } => (&*actor.id, &*actor.name, ""),
        ActorKind::Key(_) | ActorKind::Local => ("", "", &*actor.name),
    };
    json!({
        "type": "request",
        "subject": "content-object",
        "event": format!("pre-{}", event.as_str().to_lowercase()),
        "sequenceNumber": sequence,
        "contentTypeName": content_type,
        "userInfo": {"id": id, "firstName": first_name, "lastName": "", "apiKeyName": key},
        "payload": payload,
    })
    .to_string()
}

/// Reads a response: the data to write instead of the payload.
pub fn read_response(
    webhook: &Webhook,
    event: WriteEvent,
    outcome: WebhookOutcome,
) -> Result<Map<String, Value>, Rejection> {
    let failed = |reason: &str| {
        let message = format!("Error processing {} webhook: {reason}", webhook.name);
        Rejection::Failed(FieldErrors::one(WEBHOOK_KEY, message))
    };
    let (status, body) = match outcome {
        WebhookOutcome::Response(status, body) => (status, body),
        WebhookOutcome::NoResponse(reason) => return Err(failed(&format!("{reason}."))),
    };
    if status != 200 && status != 400 {
        return Err(failed(&format!("Unexpected status {status}.")));
    }
    let Ok(Value::Object(mut response)) = serde_json::from_slice(&body) else {
        return Err(failed("Could not decode JSON, syntax error - malformed JSON."));
    };
    if status == 400 {
        let within = response.get("response").and_then(|nested| nested.get("errors"));
        let errors = within.or_else(|| response.get("errors")).and_then(errors);
        return Err(
            errors.map_or_else(|| failed("The response has no errors."), Rejection::ByReceiver)
        );
    }
    match response.get_mut("payload").map(Value::take) {
        Some(Value::Object(payload)) => Ok(payload),
        // A deletion writes no data.
        _ if event == WriteEvent::Delete => Ok(Map::new()),
        _ => Err(failed("The response has no payload.")),
    }
}

/// Reads errors: a map by property path, or a list of messages that concern no property.
fn errors(found: &Value) -> Option<FieldErrors> {
    let mut errors = FieldErrors::default();
    let mut add = |path: &str, messages: &Value| {
        let one = std::slice::from_ref(messages);
        for message in messages.as_array().map_or(one, Vec::as_slice) {
            match message.as_str() {
                Some(text) => errors.add(path, text),
                None => errors.add(path, message.to_string()),
            }
        }
    };
    match found {
        Value::Object(map) => map.iter().for_each(|(path, messages)| add(path, messages)),
        Value::Array(_) => add(WEBHOOK_KEY, found),
        _ => return None,
    }
    (!errors.is_empty()).then_some(errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{key::KeyKind, user::Role};

    fn webhook() -> Webhook {
        let object = json!({"name": "Wall", "type": "sync", "url": "https://a"});
        Webhook::read(1, "wall", object.as_object().unwrap())
    }

    #[test]
    fn request_body_matches_the_documentation() {
        let payload = json!({"name": "A"});
        let user = ActorKind::User { role: Role::Editor, email: "ada@example.com".to_owned() };
        for (kind, name, user_info) in [
            (
                ActorKind::Key(KeyKind::ReadWrite),
                "web",
                r#"{"id":"","firstName":"","lastName":"","apiKeyName":"web"}"#,
            ),
            (
                user,
                "Ada Moor",
                r#"{"id":"7","firstName":"Ada Moor","lastName":"","apiKeyName":""}"#,
            ),
        ] {
            let actor = Actor {
                pk: Some(1),
                id: "7".to_owned(),
                name: name.to_owned(),
                kind,
                rules: Vec::new(),
                may_publish: true,
            };
            let payload = payload.as_object().unwrap();
            let body = request_body(WriteEvent::Create, 0, "product", &actor, payload);
            let expected = [
                r#"{"type":"request","subject":"content-object","event":"pre-create","#,
                r#""sequenceNumber":0,"contentTypeName":"product","userInfo":"#,
                user_info,
                r#","payload":{"name":"A"}}"#,
            ];
            assert_eq!(body, expected.concat());
        }
    }

    #[test]
    fn responses_change_reject_or_fail_a_write() {
        let with = |status, body: &str| WebhookOutcome::Response(status, body.into());
        let failed = |reason: &str| {
            Err(json!({"__webhook": [format!("Error processing Wall webhook: {reason}")]}))
        };
        let malformed = || failed("Could not decode JSON, syntax error - malformed JSON.");
        for (event, outcome, expected) in [
            (WriteEvent::Create, with(200, r#"{"payload":{"a":1}}"#), Ok(json!({"a": 1}))),
            (
                WriteEvent::Update,
                with(200, r#"{"payload":[]}"#),
                failed("The response has no payload."),
            ),
            (WriteEvent::Delete, with(200, r#"{"response":{}}"#), Ok(json!({}))),
            (WriteEvent::Create, with(200, "oops"), malformed()),
            (WriteEvent::Create, with(200, "[]"), malformed()),
            (WriteEvent::Create, with(200, ""), malformed()),
            (
                WriteEvent::Create,
                WebhookOutcome::Response(200, b"{\"payload\":{\"a\":\"\xe9\"}}".to_vec()),
                malformed(),
            ),
            (WriteEvent::Create, with(500, r#"{"payload":{}}"#), failed("Unexpected status 500.")),
            (WriteEvent::Create, with(302, ""), failed("Unexpected status 302.")),
            (
                WriteEvent::Create,
                with(400, r#"{"response":{"errors":{"name":["Too dull","Too long"]}}}"#),
                Err(json!({"name": ["Too dull", "Too long"]})),
            ),
            (
                WriteEvent::Delete,
                with(400, r#"{"errors":{"list[0].name":"No"}}"#),
                Err(json!({"list[0].name": ["No"]})),
            ),
            (
                WriteEvent::Create,
                with(400, r#"{"response":{"errors":["No","Never"]}}"#),
                Err(json!({"__webhook": ["No", "Never"]})),
            ),
            (
                WriteEvent::Create,
                with(400, r#"{"errors":[]}"#),
                failed("The response has no errors."),
            ),
            (WriteEvent::Create, with(400, "no"), malformed()),
            (
                WriteEvent::Create,
                WebhookOutcome::NoResponse("no response within the timeout".to_owned()),
                failed("no response within the timeout."),
            ),
        ] {
            let shown = format!("{outcome:?}");
            let read =
                read_response(&webhook(), event, outcome).map(Value::Object).map_err(|rejection| {
                    match rejection {
                        Rejection::ByReceiver(errors) | Rejection::Failed(errors) => json!(errors),
                    }
                });
            assert_eq!(read, expected, "{shown}");
        }
    }
}
