//! Responses that are a stream of server-sent events.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, header},
};
use futures_util::stream;
use tokio::sync::mpsc::Receiver;

use crate::response::Response;

/// Longest time without a message.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// Returns whether a client requests a stream of events.
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut types = values.flat_map(|value| value.split(','));
    types.any(|media_type| {
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        media_type.eq_ignore_ascii_case("text/event-stream")
    })
}

/// Responds with the messages of a channel, until its sender is dropped.
pub(crate) fn response(messages: Receiver<Bytes>) -> Response {
    let next = |mut messages: Receiver<Bytes>| async {
        let message = messages.recv().await?;
        Some((Ok::<_, Infallible>(message), messages))
    };
    Response::events(Body::from_stream(stream::unfold(messages, next)))
}
