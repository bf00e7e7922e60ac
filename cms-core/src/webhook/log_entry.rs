//! Entries of the delivery log: their rows in the store, and their form in the API.

use cms_model::{
    clock::Timestamp,
    dates,
    error::{Error, Result},
    limits,
    webhook::{change_batch, model::Webhook, payload::EventPayload, schedule::EndpointState},
    wire::webhook::{Delivery, DeliveryResponse, LoggedHeaders},
};
use cms_store::{DeliveryEvent, DeliveryRow};

/// Returns whether a delivery has several changes.
pub(super) fn is_batch(event: &DeliveryEvent) -> bool {
    event.type_name == change_batch::QUEUE
}

pub(super) fn event_payload(event: &DeliveryEvent) -> EventPayload<'_> {
    EventPayload {
        action: &event.action,
        content_type: if is_batch(event) { "" } else { &event.type_name },
        id: &event.id_or_changes,
        version: event.version,
    }
}

/// `endpoint` is the state of the endpoint of the webhook.
pub(super) fn to_wire(row: DeliveryRow, webhook: &Webhook, endpoint: EndpointState) -> Delivery {
    let is_next = row.is_pending && webhook.receives_deliveries();
    let due_at = Timestamp(row.due_at.0.max(row.event.at.0));
    let due_at = match endpoint {
        EndpointState::Up => due_at,
        EndpointState::Down { resume_at, .. } => due_at.max(resume_at),
    };
    Delivery {
        id: row.pk,
        reference: event_payload(&row.event).reference(),
        content_type_name: event_payload(&row.event).content_type.to_owned(),
        message: row.event.message,
        action: row.event.action.into_owned(),
        status: row.state,
        attempts: row.attempts,
        created_at: dates::microsecond_date(row.event.at),
        attempted_at: row.attempted_at.map(dates::microsecond_date),
        next_attempt_at: is_next.then(|| dates::microsecond_date(due_at)),
        duration_ms: row.duration_ms,
        request_headers: from_json(row.request_headers),
        request: row.request,
        response: row.status.map(|status| DeliveryResponse {
            status,
            headers: from_json(row.response_headers),
            body: row.response.unwrap_or_default(),
        }),
        error: row.error,
    }
}

pub(super) fn to_json(headers: Option<LoggedHeaders>) -> Result<Option<String>> {
    let json = headers.map(|headers| serde_json::to_string(&headers)).transpose();
    json.map_err(Error::internal)
}

fn from_json(headers: Option<String>) -> Option<LoggedHeaders> {
    headers.and_then(|headers| serde_json::from_str(&headers).ok())
}

/// Truncates a text to the limit of the log.
pub(super) fn truncated(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(limits::MAX_WEBHOOK_LOG_BODY_BYTES));
    text
}
