//! Webhooks and their deliveries in the management endpoints, see docs/reference/webhooks.md

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{FieldErrors, Result},
    limits, message,
};

/// A webhook with its secret, for administrators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookStatus {
    pub id: String,
    pub name: String,
    /// `async`, `sync` or `ctd`.
    #[serde(rename = "type")]
    pub kind: String,
    pub url: String,
    pub enabled: bool,
    /// Number of pending deliveries.
    pub pending: u64,
    /// The last attempt of a pending delivery failed.
    pub failing: bool,
    /// While all deliveries pause because the endpoint is unavailable: the time of the next attempt
    /// of the oldest one.
    #[serde(default)]
    pub paused_until: Option<String>,
    /// The secret with which receivers verify signatures.
    pub secret: String,
}

/// A delivery in the log of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    pub id: i64,
    /// The value of the header `webhook-id`.
    pub message: String,
    pub action: String,
    pub content_type_name: String,
    #[serde(rename = "ref")]
    pub reference: String,
    /// `pending`, `done`, `error` (failed at least three times, will be retried) or `failed` (not
    /// retried).
    pub status: String,
    pub attempts: u32,
    pub created_at: String,
    pub attempted_at: Option<String>,
    /// None when there are no more attempts.
    pub next_attempt_at: Option<String>,
    /// Duration of the last attempt, until the end of the response or the failure.
    #[serde(default)]
    pub duration_ms: Option<u64>,
    /// Headers of the last attempt, except those of the transport. Values that authenticate the sender
    /// are masked.
    #[serde(default)]
    pub request_headers: Option<LoggedHeaders>,
    /// The beginning of the request body of the last attempt.
    pub request: Option<String>,
    pub response: Option<DeliveryResponse>,
    /// Why the last attempt failed.
    pub error: Option<String>,
}

/// The response of a receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryResponse {
    pub status: u16,
    #[serde(default)]
    pub headers: Option<LoggedHeaders>,
    /// The beginning of the body.
    pub body: String,
}

/// Headers in the log, in lower case and in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedHeaders {
    pub fields: Vec<LoggedHeader>,
    /// Further headers are missing.
    pub truncated: bool,
}

/// A header in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedHeader {
    pub name: String,
    pub value: String,
}

/// The deliveries to send again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayRequest {
    /// Ids of deliveries; none means all failed ones. In both cases all pending ones become due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<i64>>,
}

impl ReplayRequest {
    /// Parses a payload.
    pub fn from_payload(payload: &Map<String, Value>) -> Result<Self> {
        let Some(ids) = payload.get("ids") else { return Ok(Self::default()) };
        let mut errors = FieldErrors::default();
        let items = ids.as_array().map_or(&[][..], Vec::as_slice);
        if !ids.is_array() {
            errors.add("ids", message::wrong_type(ids, "array"));
        }
        if items.len() > limits::MAX_WEBHOOK_REPLAYS {
            errors.add("ids", message::too_many(limits::MAX_WEBHOOK_REPLAYS));
        }
        let mut ids = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match item.as_i64() {
                Some(id) => ids.push(id),
                None => errors.add(format!("ids[{index}]"), message::wrong_type(item, "integer")),
            }
        }
        errors.into_result()?;
        Ok(Self { ids: Some(ids) })
    }
}

/// The number of deliveries that a replay has made due: the named ones, or without ids all that were
/// failed or pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    pub replayed: u64,
}
