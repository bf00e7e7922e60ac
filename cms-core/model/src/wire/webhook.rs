//! Webhooks and their log as the management endpoints show them (an extension of contract 11).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{FieldErrors, Result},
    limits, message,
};

/// A webhook, as administrators see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    pub id: String,
    pub name: String,
    /// `async`, `sync` or `ctd`.
    #[serde(rename = "type")]
    pub kind: String,
    pub url: String,
    pub enabled: bool,
    /// Deliveries that are yet to be sent.
    pub pending: u64,
    /// The last attempt of some of them failed.
    pub failing: bool,
    /// What receivers check signatures with.
    pub secret: String,
}

/// One entry of the log of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    pub id: i64,
    /// What is sent as `webhook-id`.
    pub message: String,
    pub action: String,
    pub content_type_name: String,
    #[serde(rename = "ref")]
    pub reference: String,
    /// `pending`, `done`, `error` (failed at least three times, and will be tried again) or `failed`
    /// (given up).
    pub status: String,
    pub attempts: u32,
    pub created_at: String,
    pub attempted_at: Option<String>,
    /// None when nothing more is tried.
    pub next_attempt_at: Option<String>,
    /// The beginning of the body of the last attempt.
    pub request: Option<String>,
    pub response: Option<DeliveryResponse>,
    /// Why there was no answer, or not the right one.
    pub error: Option<String>,
}

/// What a receiver answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryResponse {
    pub status: u16,
    /// The beginning of it.
    pub body: String,
}

/// Which deliveries are to be sent again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayRequest {
    /// None means those that were given up, and whatever waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<i64>>,
}

impl ReplayRequest {
    /// Reads a payload.
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

/// How many deliveries are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    pub replayed: u64,
}
