//! The JSON body of a request: content type, size, syntax (contract 1.1, 1.12).

use std::{io, time::Duration};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{HeaderMap, header},
};
use cms_core::{Error, Result};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::{sync::OwnedSemaphorePermit, time};

use crate::{pace::Progress, state::App};

/// How long a client may pause in the middle of a body.
const PAUSE: Duration = Duration::from_secs(30);

/// Bytes from which on a body is large: few of these are held at the same time. Also the most memory
/// that is reserved because a request says how long it is.
const LARGE: usize = 1024 * 1024;

/// Most of an unwanted body that is read away, and for how long.
const DRAINED: u64 = 64 * 1024;
const LINGER: Duration = Duration::from_secs(1);

/// Refuses a body that does not say that it is JSON.
pub(crate) fn require_json(headers: &HeaderMap) -> Result<()> {
    require(headers, "application/json")
}

/// Refuses a body that does not say that it is of a media type.
pub(crate) fn require(headers: &HeaderMap, media_type: &str) -> Result<()> {
    let value = headers.get(header::CONTENT_TYPE).map_or(&b""[..], |v| v.as_bytes());
    let essence = value.split(|b| *b == b';').next().unwrap_or_default().trim_ascii();
    if essence.eq_ignore_ascii_case(media_type.as_bytes()) {
        Ok(())
    } else {
        Err(Error::UnsupportedMedia)
    }
}

/// A body that must come at a pace.
pub(crate) struct Paced<'b> {
    body: &'b mut Body,
    progress: Progress,
}

impl<'b> Paced<'b> {
    pub(crate) fn new(app: &App, body: &'b mut Body) -> Self {
        Self { body, progress: app.pace.start() }
    }

    /// Asks for more of it from now on: the body holds what others wait for.
    fn hurry(&mut self, app: &App) {
        self.progress = app.pace.hurried().start();
    }

    /// Waits for the next piece; none at the end.
    ///
    /// # Errors
    /// When it does not come in time, or the connection is gone.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let asked = time::Instant::now();
            let next = time::timeout(self.progress.patience(PAUSE), self.body.frame());
            let Some(frame) = next.await? else {
                return Ok(None);
            };
            let Ok(data) = frame.map_err(io::Error::other)?.into_data() else { continue };
            self.progress.moved(data.len(), asked.elapsed());
            return Ok(Some(data));
        }
    }
}

/// A whole body. A large one is let go together with its turn.
#[derive(Default)]
pub(crate) struct Whole {
    pub(crate) bytes: Bytes,
    _turn: Option<OwnedSemaphorePermit>,
}

/// Reads a whole body, of at most `limit` bytes.
pub(crate) async fn read(app: &App, body: &mut Body, limit: usize) -> Result<Whole> {
    let reading = read_all(app, Paced::new(app, body), limit);
    time::timeout(app.request_timeout, reading).await.map_err(|_| Error::malformed_json())?
}

async fn read_all(app: &App, mut paced: Paced<'_>, limit: usize) -> Result<Whole> {
    let body = &*paced.body;
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if declared > limit {
        return Err(Error::BodyTooLarge);
    }
    let mut first = Bytes::new();
    let mut all = Vec::new();
    let mut turn = None;
    while let Some(data) = paced.next().await.map_err(|_| Error::malformed_json())? {
        let length = first.len() + all.len() + data.len();
        if length > limit {
            return Err(Error::BodyTooLarge);
        }
        if turn.is_none() && length.max(declared) > LARGE {
            turn = Some(app.permits.large_body().await?);
            paced.hurry(app);
        }
        if first.is_empty() && all.is_empty() {
            // Small bodies come in one piece, which need not be copied.
            first = data;
            continue;
        }
        if all.is_empty() {
            all.reserve(declared.min(LARGE).max(first.len() + data.len()));
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&data);
    }
    Ok(Whole { bytes: if all.is_empty() { first } else { all.into() }, _turn: turn })
}

/// Reads away what nobody wanted of a body, when it is short and comes at once: a connection with
/// unread bytes is closed, and the answer may be lost with it.
pub(crate) async fn drain(body: &mut Body) {
    if body.is_end_stream() || body.size_hint().lower() > DRAINED {
        return;
    }
    let mut left = DRAINED;
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            let taken = frame.data_ref().map_or(0, Bytes::len) as u64;
            match left.checked_sub(taken) {
                Some(less) => left = less,
                None => return,
            }
        }
    };
    // Who sends slowly loses the connection, as before.
    time::timeout(LINGER, reading).await.ok();
}

/// Reads a body that is a JSON object.
pub(crate) fn object(body: &[u8]) -> Result<Map<String, Value>> {
    parse(body)
}

/// Reads a body that is a JSON object, or is not there.
pub(crate) fn object_or_empty(body: &[u8]) -> Result<Map<String, Value>> {
    if body.is_empty() { Ok(Map::new()) } else { parse(body) }
}

/// Reads a structure out of an object; the message says what is wrong with it.
pub(crate) fn structure<T: DeserializeOwned>(object: Map<String, Value>) -> Result<T> {
    serde_json::from_value(Value::Object(object))
        .map_err(|error| Error::BadRequest(error.to_string()))
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|_| Error::malformed_json())
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, sync::Arc};

    use cms_core::testing::TestCms;
    use futures_util::stream;

    use super::*;
    use crate::config::ServerConfig;

    /// A body may come slowly, unless it is large: then others wait for its turn.
    #[tokio::test(start_paused = true)]
    async fn large_bodies_have_to_hurry() {
        let core = TestCms::new();
        let config = ServerConfig {
            least_rate: 100,
            request_timeout: Duration::from_hours(10),
            ..ServerConfig::default()
        };
        let app = App::new(&config, Arc::clone(&core.cms));
        // bytes that come at once, bytes of each piece that follows after ten seconds, whether all come
        for (first, piece, comes) in [
            (0, 2000, true),
            (LARGE / 2, 2000, true),
            (LARGE + 1, 2000, false),
            (LARGE + 1, 40_000, true),
        ] {
            let pieces = stream::unfold(0, move |number: usize| async move {
                if number > 0 {
                    time::sleep(Duration::from_secs(10)).await;
                }
                let length = if number == 0 { first } else { piece };
                (number < 100).then(|| (Ok::<_, Infallible>(vec![b' '; length]), number + 1))
            });
            let mut body = Body::from_stream(pieces);
            let read = read(&app, &mut body, usize::MAX).await;
            assert_eq!(read.is_ok(), comes, "{first} {piece}");
            assert!(read.is_err() || read.unwrap().bytes.len() == first + 99 * piece);
        }
    }
}
