//! The streams of one HTTP/2 connection: answers must be taken, and somebody must ask.
//!
//! On HTTP/1 a client that takes nothing shows at the socket, and `stream` sees to it. On HTTP/2 many
//! streams share a socket, and a client that reads all of it may still take nothing of an answer. So
//! each answer is followed here, and a stream is reset when its client is too slow. The HTTP library has
//! no limit for connections on which nobody asks either.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::{
    body::{Frame, SizeHint},
    rt::Executor,
};
use tokio::time::{self, Instant};

use crate::pace::{Pace, Taking};

/// How long a connection may be open without a request.
const IDLE: Duration = Duration::from_mins(5);
/// How often streams and connections are looked at.
const LOOK: Duration = Duration::from_secs(10);
/// Bytes of an answer that are handed over at a time: what the library holds of it.
const PIECE: usize = 16 * 1024;

tokio::task_local! {
    /// The answer of the stream whose task this is.
    static SENDING: Sending;
}

/// Runs the streams of one connection.
#[derive(Clone)]
pub(crate) struct Streams {
    pace: Pace,
    state: Arc<Mutex<State>>,
}

struct State {
    running: usize,
    /// Since when none runs.
    idle: Instant,
    /// Whether this is HTTP/1, which has limits of its own.
    is_exempt: bool,
}

impl Streams {
    pub(crate) fn new(pace: Pace) -> Self {
        let state = State { running: 0, idle: Instant::now(), is_exempt: false };
        Self { pace, state: Arc::new(Mutex::new(state)) }
    }

    /// Says that a request is being answered, by whoever answers it.
    pub(crate) fn answering(&self) -> Answering {
        let sending = SENDING.try_with(Clone::clone).ok();
        self.lock().is_exempt |= sending.is_none();
        Answering(sending)
    }

    /// Waits until nobody has asked for too long.
    pub(crate) async fn idle(&self) {
        loop {
            time::sleep(LOOK).await;
            let (is_exempt, is_idle) = {
                let state = self.lock();
                (state.is_exempt, state.running == 0 && state.idle.elapsed() >= IDLE)
            };
            if is_exempt {
                std::future::pending::<()>().await;
            } else if is_idle {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let sending = Sending::new(self.pace);
        let running = Running::of(self.clone());
        tokio::spawn(async move {
            let _running = running;
            tokio::select! {
                _ = SENDING.scope(sending.clone(), stream) => {}
                // Dropping a stream resets it.
                () = sending.stalled() => tracing::debug!("an answer is not taken"),
            }
        });
    }
}

/// A request that is being answered; on HTTP/1 there is nothing to follow.
pub(crate) struct Answering(Option<Sending>);

impl Answering {
    /// Follows how the answer is taken.
    pub(crate) fn follow(self, answer: Body) -> Body {
        match self.0 {
            Some(sending) => Body::new(Followed { answer, rest: Bytes::new(), sending }),
            None => answer,
        }
    }
}

/// One stream, for as long as it runs.
struct Running(Streams);

impl Running {
    fn of(streams: Streams) -> Self {
        streams.lock().running += 1;
        Self(streams)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.running -= 1;
        state.idle = Instant::now();
    }
}

/// How an answer goes.
#[derive(Clone)]
struct Sending(Arc<Mutex<Taking>>);

impl Sending {
    fn new(pace: Pace) -> Self {
        Self(Arc::new(Mutex::new(Taking::new(pace))))
    }

    fn lock(&self) -> MutexGuard<'_, Taking> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the client has taken too little for too long.
    async fn stalled(&self) {
        loop {
            time::sleep(LOOK).await;
            if self.lock().is_stalled() {
                return;
            }
        }
    }
}

/// An answer in pieces.
struct Followed {
    answer: Body,
    /// What is left of the last frame.
    rest: Bytes,
    sending: Sending,
}

impl HttpBody for Followed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.sending.lock().taken();
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.answer).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                end => return Poll::Ready(end),
            }
        }
        let length = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(length);
        self.sending.lock().offered(length);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.answer.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.rest.is_empty() { self.answer.size_hint() } else { SizeHint::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::atomic::{AtomicBool, Ordering},
    };

    use axum::http::{Request, Response};
    use futures_util::stream;
    use http_body_util::BodyExt;
    use hyper::{body::Incoming, client::conn::http2, server, service::service_fn};
    use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
    use tokio::io::duplex;

    use super::*;
    use crate::pace::STALL;

    const LENGTH: usize = 1_000_000;
    /// Bytes of an answer that a client takes unasked.
    const WINDOW: u32 = 64 * 1024;

    /// Sets the flag when it is gone.
    struct Gone(Arc<AtomicBool>);

    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// An answer that comes as a whole, or byte by byte, one every five minutes.
    fn answer(path: &str, gone: Gone) -> Body {
        if path == "/whole" {
            let frame = stream::once(async move { Ok::<_, Infallible>(vec![b'x'; LENGTH]) });
            return Body::from_stream(stream::StreamExt::inspect(frame, move |_| {
                let _ = &gone;
            }));
        }
        Body::from_stream(stream::unfold(3, move |left: usize| {
            let _ = &gone;
            async move {
                time::sleep(Duration::from_mins(5)).await;
                left.checked_sub(1).map(|left| (Ok::<_, Infallible>("x"), left))
            }
        }))
    }

    struct Connection {
        sender: http2::SendRequest<Body>,
        /// Whether the server still speaks.
        is_open: Arc<AtomicBool>,
        /// Whether the server has let the last answer go.
        gone: Arc<AtomicBool>,
    }

    impl Connection {
        async fn open(least_rate: u64) -> Self {
            let (near, far) = duplex(4096);
            let (is_open, gone) = (Arc::new(AtomicBool::new(true)), Arc::default());
            let streams = Streams::new(Pace { least_rate });
            let (asked, flag) = (streams.clone(), Arc::clone(&gone));
            let service = service_fn(move |request: Request<Incoming>| {
                let (asked, gone) = (asked.clone(), Gone(Arc::clone(&flag)));
                async move {
                    let answering = asked.answering();
                    let answer = answer(request.uri().path(), gone);
                    Ok::<_, Infallible>(Response::new(answering.follow(answer)))
                }
            });
            let open = Arc::clone(&is_open);
            tokio::spawn(async move {
                let mut protocol = server::conn::http2::Builder::new(streams.clone());
                protocol.timer(TokioTimer::new()).keep_alive_interval(Duration::from_mins(1));
                tokio::select! {
                    _ = protocol.serve_connection(TokioIo::new(far), service) => {}
                    () = streams.idle() => {}
                }
                open.store(false, Ordering::Relaxed);
            });
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder.initial_stream_window_size(WINDOW).timer(TokioTimer::new());
            let (sender, connection) = builder.handshake(TokioIo::new(near)).await.unwrap();
            tokio::spawn(connection);
            Self { sender, is_open, gone }
        }

        async fn ask(&mut self, path: &str) -> Incoming {
            self.sender.ready().await.unwrap();
            self.gone.store(false, Ordering::Relaxed);
            let request = Request::get(format!("http://x{path}")).body(Body::empty()).unwrap();
            self.sender.send_request(request).await.unwrap().into_body()
        }
    }

    /// Who takes nothing of an answer loses it, and only it; who takes some gets all.
    #[tokio::test(start_paused = true)]
    async fn answers_must_be_taken() {
        let mut connection = Connection::open(1000).await;
        let mut refused = connection.ask("/whole").await;
        time::sleep(STALL * 2).await;
        assert!(connection.gone.load(Ordering::Relaxed));
        let mut taken = 0;
        while let Some(Ok(frame)) = refused.frame().await {
            taken += frame.into_data().unwrap().len();
        }
        assert!(taken < LENGTH / 2, "{taken}");

        let mut slow = connection.ask("/whole").await;
        let mut taken = 0;
        while let Some(frame) = slow.frame().await {
            taken += frame.unwrap().into_data().unwrap().len();
            time::sleep(Duration::from_secs(5)).await;
        }
        assert_eq!(taken, LENGTH);
        assert!(connection.is_open.load(Ordering::Relaxed));
    }

    /// An answer that the server is slow with is nobody's fault.
    #[tokio::test(start_paused = true)]
    async fn slow_answers_may_take_their_time() {
        let mut connection = Connection::open(1000).await;
        let body = connection.ask("/slow").await.collect().await.unwrap().to_bytes();
        assert_eq!(&body[..], b"xxx");
        assert!(connection.gone.load(Ordering::Relaxed));
    }

    #[tokio::test(start_paused = true)]
    async fn somebody_must_ask() {
        for requests in 0..2 {
            let mut connection = Connection::open(0).await;
            for _ in 0..requests {
                time::sleep(IDLE / 2).await;
                connection.ask("/whole").await.collect().await.unwrap();
            }
            time::sleep(IDLE / 10 * 9).await;
            assert!(connection.is_open.load(Ordering::Relaxed), "{requests}");
            time::sleep(IDLE / 5).await;
            assert!(!connection.is_open.load(Ordering::Relaxed), "{requests}");
        }
        let http1 = Streams::new(Pace { least_rate: 0 });
        http1.answering();
        time::timeout(IDLE * 3, http1.idle()).await.unwrap_err();
    }
}
