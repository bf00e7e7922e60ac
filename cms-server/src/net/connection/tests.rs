use axum::http::{Request, Response};
use futures_util::stream;
use http_body_util::BodyExt;
use hyper::{body::Incoming, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::watch,
    task::JoinHandle,
};

use super::*;
use crate::server::{CLOSE_TIMEOUT, serve_connection};

const BUDGET: usize = 16_000_000;
const RATE: u64 = 1000;

/// Serves one connection; the response to `/<n>` has `n` bytes, the one to `/slow` comes byte by byte.
struct Server {
    process: Arc<MemoryBudget>,
    served: JoinHandle<()>,
    _running: watch::Sender<()>,
}

impl Server {
    fn start(min_rate: u64) -> (Self, DuplexStream) {
        let process = Arc::new(MemoryBudget::new(BUDGET));
        let (client, stream) = duplex(4096);
        let connection = Arc::new(Connection::new(&process, &process, None));
        let (running, draining) = watch::channel(());
        let requests = Arc::clone(&connection);
        let respond = move |request: Request<Body>| {
            let connection = Arc::clone(&requests);
            async move {
                let running = connection.start_request();
                Response::new(running.respond(body(request.uri().path()), connection.reservation()))
            }
        };
        let served = tokio::spawn(serve_connection(
            stream,
            connection,
            MinTransferRate(min_rate),
            draining,
            respond,
        ));
        (Self { process, served, _running: running }, client)
    }

    /// Waits until the connection is closed; returns how long that took.
    async fn closed(&mut self) -> Duration {
        let start = Instant::now();
        (&mut self.served).await.unwrap();
        start.elapsed()
    }
}

fn body(path: &str) -> Body {
    if let Ok(bytes) = path[1..].parse() {
        return Body::from(vec![b'x'; bytes]);
    }
    Body::from_stream(stream::unfold(3, |left: usize| async move {
        time::sleep(Duration::from_mins(4)).await;
        left.checked_sub(1).map(|left| (Ok::<_, std::io::Error>("x"), left))
    }))
}

/// An HTTP/2 client with a flow control window of this size for each stream.
async fn http2(stream: DuplexStream, window: u32) -> http2::SendRequest<Body> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(window).timer(TokioTimer::new());
    let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

async fn get(sender: &mut http2::SendRequest<Body>, path: &str) -> Incoming {
    sender.ready().await.unwrap();
    let request = Request::get(format!("http://x{path}")).body(Body::empty()).unwrap();
    sender.send_request(request).await.unwrap().into_body()
}

#[tokio::test(start_paused = true)]
async fn unread_responses_count_until_read_or_reset() {
    let (server, stream) = Server::start(RATE);
    let mut sender = http2(stream, 0).await;
    let mut responses = Vec::new();
    for number in 1..=10 {
        responses.push(get(&mut sender, "/9000").await);
        assert_eq!(server.process.used(), number * 9000);
    }
    drop(responses);
    time::sleep(Duration::from_secs(1)).await;
    assert_eq!(server.process.used(), 0, "the streams were reset");

    let (server, stream) = Server::start(RATE);
    let mut sender = http2(stream, 100_000).await;
    for _ in 0..3 {
        assert_eq!(
            get(&mut sender, "/90000").await.collect().await.unwrap().to_bytes().len(),
            90_000
        );
    }
    time::sleep(Duration::from_secs(1)).await;
    assert_eq!(server.process.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn connections_close_when_a_response_is_not_read() {
    let (mut server, stream) = Server::start(0);
    let mut sender = http2(stream, 0).await;
    let _unread = get(&mut sender, "/9000").await;
    let time = server.closed().await;
    let latest = STALL_TIMEOUT + CLOSE_TIMEOUT + 2 * CHECK_INTERVAL;
    assert!(time >= STALL_TIMEOUT && time <= latest, "{time:?}");
    assert_eq!(server.process.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn connections_close_sooner_while_memory_is_scarce() {
    let (mut server, stream) = Server::start(0);
    let others = Reservation::of(&server.process);
    others.grow(BUDGET / 2).unwrap();
    let mut sender = http2(stream, 0).await;
    let _unread = get(&mut sender, "/9000").await;
    let time = server.closed().await;
    let latest = SCARCE_STALL_TIMEOUT + CLOSE_TIMEOUT + 2 * CHECK_INTERVAL;
    assert!(time >= SCARCE_STALL_TIMEOUT && time <= latest, "{time:?}");
}

/// Minimum rate, bytes of the response, bytes that the client reads every ten seconds, whether it
/// gets the complete response.
#[tokio::test(start_paused = true)]
async fn responses_must_be_read_at_the_minimum_rate() {
    let table = [
        (RATE, 500_000, 500, false),
        (RATE, 500_000, 20_000, true),
        (RATE, 2_000_000, 20_000, false),
        (RATE, 2_000_000, 400_000, true),
        (0, 500_000, 500, true),
    ];
    for (rate, length, read, gets_all) in table {
        let (_server, mut stream) = Server::start(rate);
        stream
            .write_all(format!("GET /{length} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let mut chunk = vec![0; read];
        let mut sum = 0;
        while sum < length {
            let Ok(Ok(_)) =
                time::timeout(Duration::from_mins(5), stream.read_exact(&mut chunk)).await
            else {
                break;
            };
            sum += read;
            time::sleep(Duration::from_secs(10)).await;
        }
        assert_eq!(sum >= length, gets_all, "{rate} {length} {read}: {sum}");
    }
}

/// Time in which the server has nothing to send does not count.
#[tokio::test(start_paused = true)]
async fn slow_responses_do_not_close_a_connection() {
    let (_server, stream) = Server::start(RATE);
    let mut sender = http2(stream, 100_000).await;
    let body = get(&mut sender, "/slow").await.collect().await.unwrap().to_bytes();
    assert_eq!(&body[..], b"xxx");
}

#[tokio::test(start_paused = true)]
async fn connections_close_without_requests() {
    for first_bytes in ["", "P", "GET /9 HTTP/1.1\r\nhost:"] {
        let (mut server, mut stream) = Server::start(RATE);
        stream.write_all(first_bytes.as_bytes()).await.unwrap();
        let time = server.closed().await;
        assert!(
            time <= IDLE_TIMEOUT + CLOSE_TIMEOUT + 2 * CHECK_INTERVAL,
            "{first_bytes} {time:?}"
        );
    }
    let (mut server, stream) = Server::start(RATE);
    let mut sender = http2(stream, 100_000).await;
    time::sleep(IDLE_TIMEOUT / 2).await;
    get(&mut sender, "/9").await.collect().await.unwrap();
    let time = server.closed().await;
    let latest = IDLE_TIMEOUT + CLOSE_TIMEOUT + 2 * CHECK_INTERVAL;
    assert!(time >= IDLE_TIMEOUT && time <= latest, "{time:?}");
}

/// When the server stops, a complete request gets its response; an incomplete one does not delay
/// the shutdown.
#[tokio::test(start_paused = true)]
async fn connections_drain_without_waiting_for_an_incomplete_request() {
    let (server, mut stream) = Server::start(RATE);
    let Server { served, _running: running, process: _ } = server;
    stream.write_all(b"GET /9 HTTP/1.1\r\nhost:").await.unwrap();
    time::sleep(Duration::from_secs(1)).await;
    drop(running);
    time::timeout(Duration::from_secs(2), served).await.unwrap().unwrap();

    let (server, stream) = Server::start(RATE);
    let Server { served, _running: running, process: _ } = server;
    let mut sender = http2(stream, 100_000).await;
    let body = get(&mut sender, "/slow").await;
    drop(running);
    assert_eq!(&body.collect().await.unwrap().to_bytes()[..], b"xxx");
    drop(sender);
    time::timeout(Duration::from_secs(2), served).await.unwrap().unwrap();
}
