//! Responses that are a stream of server-sent events.

use std::{convert::Infallible, time::Duration};

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::mpsc::Receiver;

use crate::response::Response;

/// Longest time without a message.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// The media type of a stream of events.
pub(crate) const MEDIA_TYPE: &str = "text/event-stream";

/// Responds with the messages of a channel, until its sender is dropped.
pub(crate) fn response(messages: Receiver<Bytes>) -> Response {
    let next = |mut messages: Receiver<Bytes>| async {
        let message = messages.recv().await?;
        Some((Ok::<_, Infallible>(message), messages))
    };
    Response::events(Body::from_stream(stream::unfold(messages, next)))
}
