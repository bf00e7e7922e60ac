//! A load generator: connections that send the next request when the last one is answered.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Makes the bytes of the request with this number.
pub(crate) type MakeRequest = Arc<dyn Fn(u64) -> Vec<u8> + Send + Sync>;

/// Sends requests over `connections` for a while; returns answers per second.
///
/// # Panics
/// On an answer that is not 200: a fast error is no result.
pub(crate) async fn run(
    address: &str,
    connections: usize,
    time: Duration,
    next: &Arc<AtomicU64>,
    make: &MakeRequest,
) -> f64 {
    let start = Instant::now();
    let end = start + time;
    let tasks: Vec<_> = (0..connections)
        .map(|_| {
            let (address, next, make) = (address.to_owned(), Arc::clone(next), Arc::clone(make));
            tokio::spawn(async move { connection(&address, end, &next, &make).await })
        })
        .collect();
    let mut answers = 0;
    for task in tasks {
        answers += task.await.expect("a connection does not panic");
    }
    f64::from(answers) / start.elapsed().as_secs_f64()
}

async fn connection(address: &str, end: Instant, next: &AtomicU64, make: &MakeRequest) -> u32 {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    stream.set_nodelay(true).expect("a TCP socket has this option");
    let mut buffer = vec![0_u8; 256 * 1024];
    let mut answers = 0;
    while Instant::now() < end {
        let request = make(next.fetch_add(1, Ordering::Relaxed));
        stream.write_all(&request).await.expect("the server reads");
        read_answer(&mut stream, &mut buffer).await;
        answers += 1;
    }
    answers
}

async fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) {
    let mut filled = 0;
    let mut expected = None;
    while expected.is_none_or(|expected| filled < expected) {
        if filled == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        let count = stream.read(&mut buffer[filled..]).await.expect("the server answers");
        assert!(count > 0, "the server closed the connection");
        filled += count;
        if expected.is_none() {
            expected = answer_length(&buffer[..filled]);
        }
    }
}

/// Returns the length of head and body once the head is complete.
fn answer_length(bytes: &[u8]) -> Option<usize> {
    let head_end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..head_end]).expect("heads are text");
    assert!(head.starts_with("HTTP/1.1 200"), "not a success: {head}");
    let length = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse::<usize>().ok())
        .expect("answers have a length");
    Some(head_end + length)
}

pub(crate) fn get(path: &str, key: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: bench\r\nX-AUTH-TOKEN: {key}\r\n\r\n").into_bytes()
}

pub(crate) fn post(path: &str, key: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nHost: bench\r\nX-AUTH-TOKEN: {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
