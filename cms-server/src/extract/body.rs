//! The body of a request: media type, size, transfer rate, and JSON syntax.

use std::{io, time::Duration};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{HeaderMap, header},
};
use cms_core::{Error, Result, limits, wire::json::has_more_values};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::time;

use crate::{
    net::{
        permits::Permit,
        transfer_rate::{LARGE_BYTES, STALL_TIMEOUT, TransferRate},
    },
    state::App,
};

/// Maximum number of bytes of an unread body that are discarded, and the timeout for it.
const MAX_DISCARDED_BYTES: u64 = 64 * 1024;
const DISCARD_TIMEOUT: Duration = Duration::from_secs(1);

/// Refuses a body whose media type is not JSON.
pub(crate) fn require_json(headers: &HeaderMap) -> Result<()> {
    require_media_type(headers, "application/json")
}

/// Refuses a body of another media type.
pub(crate) fn require_media_type(headers: &HeaderMap, media_type: &str) -> Result<()> {
    let value = headers.get(header::CONTENT_TYPE).map_or(&b""[..], |v| v.as_bytes());
    let essence = value.split(|b| *b == b';').next().unwrap_or_default().trim_ascii();
    if essence.eq_ignore_ascii_case(media_type.as_bytes()) {
        Ok(())
    } else {
        Err(Error::UnsupportedMedia)
    }
}

/// Reads a body that must arrive at the minimum transfer rate.
pub(crate) struct BodyReader<'b> {
    body: &'b mut Body,
    transfer: TransferRate,
}

impl<'b> BodyReader<'b> {
    pub(crate) fn new(app: &App, body: &'b mut Body) -> Self {
        Self { body, transfer: app.min_transfer_rate.start() }
    }

    /// Waits for the next chunk; none at the end.
    ///
    /// # Errors
    /// When the client is too slow, or the connection is closed.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let start = time::Instant::now();
            let next = time::timeout(self.transfer.time_left(STALL_TIMEOUT), self.body.frame());
            let Some(frame) = next.await? else {
                return Ok(None);
            };
            let Ok(data) = frame.map_err(io::Error::other)?.into_data() else { continue };
            self.transfer.record(data.len(), start.elapsed());
            return Ok(Some(data));
        }
    }
}

/// A body in memory. The permit of a large body is released together with the body.
#[derive(Default)]
pub(crate) struct BufferedBody {
    pub(crate) bytes: Bytes,
    _permit: Option<Permit>,
}

/// Returns whether a body turns out to be empty. Only a body of unknown length is read.
async fn is_empty(app: &App, body: &mut Body) -> bool {
    body.size_hint().lower() == 0 && matches!(BodyReader::new(app, body).next().await, Ok(None))
}

/// Reads a JSON body, and returns how long it took. A request without a body needs no media type.
pub(crate) async fn read_json(
    app: &App,
    headers: &HeaderMap,
    body: &mut Body,
    limit: usize,
) -> (Result<BufferedBody>, Duration) {
    if body.is_end_stream() {
        return (Ok(BufferedBody::default()), Duration::ZERO);
    }
    if let Err(error) = require_json(headers) {
        let is_empty = is_empty(app, body).await;
        let read = if is_empty { Ok(BufferedBody::default()) } else { Err(error) };
        return (read, Duration::ZERO);
    }
    let started = time::Instant::now();
    let json = read(app, body, limit).await;
    (json, started.elapsed())
}

/// Reads a complete body of at most `limit` bytes.
pub(crate) async fn read(app: &App, body: &mut Body, limit: usize) -> Result<BufferedBody> {
    let reading = buffer(app, BodyReader::new(app, body), limit);
    time::timeout(app.config.request_timeout, reading).await.map_err(|_| Error::malformed_json())?
}

async fn buffer(app: &App, mut reader: BodyReader<'_>, limit: usize) -> Result<BufferedBody> {
    let declared = usize::try_from(reader.body.size_hint().lower()).unwrap_or(usize::MAX);
    if declared > limit {
        return Err(Error::BodyTooLarge);
    }
    let mut first = Bytes::new();
    let mut all = Vec::new();
    let mut permit = None;
    while let Some(data) = reader.next().await.map_err(|_| Error::malformed_json())? {
        let length = first.len() + all.len() + data.len();
        if length > limit {
            return Err(Error::BodyTooLarge);
        }
        if permit.is_none() && length.max(declared) > LARGE_BYTES {
            permit = Some(app.permits.acquire_large_body().await?);
            reader.transfer.set_held_bytes(length.max(declared));
        }
        if first.is_empty() && all.is_empty() {
            // Small bodies arrive in one chunk, which is not copied.
            first = data;
            continue;
        }
        if all.is_empty() {
            // A declared length is no reason to allocate more before the bytes arrive.
            all.reserve(declared.min(LARGE_BYTES).max(first.len() + data.len()));
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&data);
    }
    let bytes = if all.is_empty() { first } else { all.into() };
    Ok(BufferedBody { bytes, _permit: permit })
}

/// Discards the rest of a short body that arrives without delay, so that its connection stays usable. Returns
/// whether the body has ended.
pub(crate) async fn discard(body: &mut Body) -> bool {
    if body.is_end_stream() {
        return true;
    }
    if body.size_hint().lower() > MAX_DISCARDED_BYTES {
        return false;
    }
    let mut left = MAX_DISCARDED_BYTES;
    let discarding = async {
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.data_ref().map_or(0, Bytes::len) as u64;
            match left.checked_sub(length) {
                Some(rest) => left = rest,
                None => return false,
            }
        }
        true
    };
    // A slow client loses the connection.
    time::timeout(DISCARD_TIMEOUT, discarding).await.unwrap_or(false)
}

/// Parses a body that is a JSON object.
///
/// # Errors
/// [`Error::BodyTooLarge`] if it has too many values.
pub(crate) fn object(body: &[u8]) -> Result<Map<String, Value>> {
    if has_more_values(body, limits::MAX_JSON_VALUES) {
        return Err(Error::BodyTooLarge);
    }
    serde_json::from_slice(body).map_err(|_| Error::malformed_json())
}

/// Parses a body that is a JSON object or empty.
pub(crate) fn object_or_empty(body: &[u8]) -> Result<Map<String, Value>> {
    if body.is_empty() { Ok(Map::new()) } else { object(body) }
}

/// Returns the parsed members of a body. An error in them is returned only if the addressed resource
/// exists: 404 comes first (see docs/reference/http.md#order-of-checks).
pub(crate) fn parsed_or_not_found<T>(
    read: Result<T>,
    exists: impl FnOnce() -> Result<()>,
) -> Result<T> {
    read.or_else(|error| exists().and(Err(error)))
}

/// Deserializes an object; the error message names what is not valid.
pub(crate) fn deserialize<T: DeserializeOwned>(object: Map<String, Value>) -> Result<T> {
    serde_json::from_value(Value::Object(object))
        .map_err(|error| Error::BadRequest(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, sync::Arc};

    use cms_core::testing::TestCms;
    use futures_util::stream;

    use super::*;
    use crate::config::ServerConfig;

    /// A large body holds a permit that others wait for.
    #[tokio::test(start_paused = true)]
    async fn large_body_needs_a_higher_rate() {
        let core = TestCms::new();
        let config = ServerConfig {
            min_transfer_rate: 100,
            request_timeout: Duration::from_hours(10),
            ..ServerConfig::default()
        };
        let app = App::new(&config, Arc::clone(&core.cms));
        // bytes of the first chunk, bytes of each chunk that follows after ten seconds, whether all
        // arrive
        for (first, chunk, arrives) in [
            (0, 2000, true),
            (LARGE_BYTES / 2, 2000, true),
            (LARGE_BYTES + 1, 2000, false),
            (LARGE_BYTES + 1, 40_000, true),
        ] {
            let chunks = stream::unfold(0, move |number: usize| async move {
                if number > 0 {
                    time::sleep(Duration::from_secs(10)).await;
                }
                let length = if number == 0 { first } else { chunk };
                (number < 100).then(|| (Ok::<_, Infallible>(vec![b' '; length]), number + 1))
            });
            let mut body = Body::from_stream(chunks);
            let read = read(&app, &mut body, usize::MAX).await;
            assert_eq!(read.is_ok(), arrives, "{first} {chunk}");
            assert!(read.is_err() || read.unwrap().bytes.len() == first + 99 * chunk);
        }
    }
}
