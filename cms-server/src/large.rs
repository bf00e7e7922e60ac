//! Large answers: how much of them is in memory at once, and for how long.
//!
//! An answer is put together before it is sent. A large one counts until its client has taken it, and
//! its client has to be quicker than others; when there are too many, a request gets 503.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::{Body, Bytes, HttpBody};
use cms_core::{Result, limits};
use hyper::body::{Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

use crate::{pace::Taking, state::App};

/// Bytes in which large answers are counted; smaller ones are not large.
pub(crate) const UNIT: usize = 1024 * 1024;

/// Makes the body of a large answer, which has a turn until it is sent.
///
/// # Errors
/// [`cms_core::Error::Busy`] when too much is being sent already.
pub(crate) fn body(app: &App, bytes: Bytes) -> Result<Body> {
    let turn = app.permits.large_answer(bytes.len().div_ceil(UNIT))?;
    let taking = Taking::new(app.pace.hurried());
    Ok(Body::new(Large { rest: bytes, taking, _turn: turn }))
}

struct Large {
    rest: Bytes,
    taking: Taking,
    _turn: OwnedSemaphorePermit,
}

impl HttpBody for Large {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        self.taking.taken();
        if self.taking.is_slow() {
            return Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into())));
        }
        let piece = usize::try_from(limits::PIECE_BYTES).unwrap_or(UNIT).min(self.rest.len());
        self.taking.offered(piece);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use cms_core::testing::TestCms;
    use http_body_util::BodyExt;
    use tokio::time;

    use super::*;
    use crate::config::ServerConfig;

    const BYTES: usize = 2 * UNIT + 1;

    fn app(large_answers: usize) -> (TestCms, App) {
        let core = TestCms::new();
        let config = ServerConfig { large_answers, least_rate: 100, ..ServerConfig::default() };
        let app = App::new(&config, Arc::clone(&core.cms));
        (core, app)
    }

    fn bytes() -> Bytes {
        vec![b'x'; BYTES].into()
    }

    #[tokio::test]
    async fn answers_count_until_they_are_sent() {
        let (_core, app) = app(5);
        let first = body(&app, bytes()).unwrap();
        assert_eq!(first.size_hint().exact(), Some(BYTES as u64));
        assert!(body(&app, bytes()).is_err());
        assert_eq!(first.collect().await.unwrap().to_bytes(), bytes());
        drop(body(&app, bytes()).unwrap());
        let (_core, small) = self::app(1);
        assert!(body(&small, bytes()).is_ok(), "one may always be sent");
    }

    /// A piece of 256 KiB takes 82 seconds at 3,200 bytes a second.
    #[tokio::test(start_paused = true)]
    async fn answers_must_be_taken_soon() {
        let (_core, app) = app(3);
        for (pause, gets_all) in [(60, true), (100, false)] {
            let mut body = body(&app, bytes()).unwrap();
            let mut taken = 0;
            while let Some(Ok(frame)) = body.frame().await {
                taken += frame.into_data().unwrap().len();
                time::sleep(Duration::from_secs(pause)).await;
            }
            assert_eq!(taken == BYTES, gets_all, "{pause}: {taken}");
        }
    }
}
