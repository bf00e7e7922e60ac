//! What a blocking webhook is asked before a write, and what its answer means (contract 11.4).

use serde_json::{Map, Value, json};

use super::model::Webhook;
use crate::error::FieldErrors;

/// The key of messages that are about no property.
const WHOLE: &str = "__webhook";

/// What came of a request.
#[derive(Clone, Debug)]
pub enum Answered {
    /// Status and body of an answer.
    With(u16, String),
    /// There was none, and why.
    Nothing(String),
}

impl Answered {
    /// Tells whether the receiver took what it was sent.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::With(200..=299, _))
    }
}

/// What is about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Create,
    Update,
    Delete,
}

impl Event {
    /// The action that a webhook names to be asked.
    pub fn action(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::Update => "Update",
            Self::Delete => "Delete",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Create => "pre-create",
            Self::Update => "pre-update",
            Self::Delete => "pre-delete",
        }
    }
}

/// Why a write must not happen.
#[derive(Debug, PartialEq, Eq)]
pub enum No {
    /// The webhook says so.
    Refused(FieldErrors),
    /// The webhook did not answer as it should.
    Failed(FieldErrors),
}

/// The body of the question.
pub fn question(
    event: Event,
    sequence: usize,
    content_type: &str,
    key: &str,
    payload: &Map<String, Value>,
) -> String {
    json!({
        "type": "request",
        "subject": "content-object",
        "event": event.name(),
        "sequenceNumber": sequence,
        "contentTypeName": content_type,
        "userInfo": {"id": "", "firstName": "", "lastName": "", "apiKeyName": key},
        "payload": payload,
    })
    .to_string()
}

/// Reads an answer: the data to be written instead of what was sent.
pub fn read(webhook: &Webhook, event: Event, answered: Answered) -> Result<Map<String, Value>, No> {
    let failed = |reason: &str| {
        let message = format!("Error processing {} webhook: {reason}", webhook.name);
        No::Failed(FieldErrors::one(WHOLE, message))
    };
    let (status, body) = match answered {
        Answered::With(status, body) => (status, body),
        Answered::Nothing(reason) => return Err(failed(&format!("{reason}."))),
    };
    if status != 200 && status != 400 {
        return Err(failed(&format!("Unexpected status {status}.")));
    }
    let Ok(Value::Object(mut answer)) = serde_json::from_str(&body) else {
        return Err(failed("Could not decode JSON, syntax error - malformed JSON."));
    };
    if status == 400 {
        let within = answer.get("response").and_then(|response| response.get("errors"));
        let errors = within.or_else(|| answer.get("errors")).and_then(errors);
        return Err(errors.map_or_else(|| failed("The answer has no errors."), No::Refused));
    }
    match answer.get_mut("payload").map(Value::take) {
        Some(Value::Object(payload)) => Ok(payload),
        // There is nothing to write instead.
        _ if event == Event::Delete => Ok(Map::new()),
        _ => Err(failed("The answer has no payload.")),
    }
}

/// Reads errors: a map as property paths, a list as messages about the whole.
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
        Value::Array(_) => add(WHOLE, found),
        _ => return None,
    }
    (!errors.is_empty()).then_some(errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook() -> Webhook {
        let object = json!({"name": "Wall", "type": "sync", "url": "https://a"});
        Webhook::read(1, "wall", object.as_object().unwrap())
    }

    #[test]
    fn a_question_has_the_shape_of_the_contract() {
        let payload = json!({"name": "A"});
        let asked = question(Event::Create, 0, "product", "web", payload.as_object().unwrap());
        assert_eq!(
            asked,
            r#"{"type":"request","subject":"content-object","event":"pre-create","sequenceNumber":0,"contentTypeName":"product","userInfo":{"id":"","firstName":"","lastName":"","apiKeyName":"web"},"payload":{"name":"A"}}"#
        );
    }

    #[test]
    fn answers_change_refuse_or_fail() {
        let with = |status, body: &str| Answered::With(status, body.to_owned());
        let failed = |reason: &str| {
            Err(json!({"__webhook": [format!("Error processing Wall webhook: {reason}")]}))
        };
        let malformed = || failed("Could not decode JSON, syntax error - malformed JSON.");
        for (event, answered, expected) in [
            (Event::Create, with(200, r#"{"payload":{"a":1}}"#), Ok(json!({"a": 1}))),
            (Event::Update, with(200, r#"{"payload":[]}"#), failed("The answer has no payload.")),
            (Event::Delete, with(200, r#"{"response":{}}"#), Ok(json!({}))),
            (Event::Create, with(200, "oops"), malformed()),
            (Event::Create, with(200, "[]"), malformed()),
            (Event::Create, with(200, ""), malformed()),
            (Event::Create, with(500, r#"{"payload":{}}"#), failed("Unexpected status 500.")),
            (Event::Create, with(302, ""), failed("Unexpected status 302.")),
            (
                Event::Create,
                with(400, r#"{"response":{"errors":{"name":["Too dull","Too long"]}}}"#),
                Err(json!({"name": ["Too dull", "Too long"]})),
            ),
            (
                Event::Delete,
                with(400, r#"{"errors":{"list[0].name":"No"}}"#),
                Err(json!({"list[0].name": ["No"]})),
            ),
            (
                Event::Create,
                with(400, r#"{"response":{"errors":["No","Never"]}}"#),
                Err(json!({"__webhook": ["No", "Never"]})),
            ),
            (Event::Create, with(400, r#"{"errors":[]}"#), failed("The answer has no errors.")),
            (Event::Create, with(400, "no"), malformed()),
            (
                Event::Create,
                Answered::Nothing("no answer in time".to_owned()),
                failed("no answer in time."),
            ),
        ] {
            let shown = format!("{answered:?}");
            let read =
                read(&webhook(), event, answered).map(Value::Object).map_err(|no| match no {
                    No::Refused(errors) | No::Failed(errors) => json!(errors),
                });
            assert_eq!(read, expected, "{shown}");
        }
    }
}
