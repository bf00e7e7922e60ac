//! A load generator: each connection sends the next request after the last response.

use std::{
    io,
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

/// Creates the bytes of the request with this number.
pub(crate) type MakeRequest = Arc<dyn Fn(u64) -> Vec<u8> + Send + Sync>;

/// What a measurement counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) responses: u32,
    pub(crate) time: Duration,
}

impl Load {
    pub(crate) fn per_second(self) -> f64 {
        f64::from(self.responses) / self.time.as_secs_f64()
    }
}

/// Sends requests over `connections` for the duration `time`.
///
/// # Panics
/// On a response other than 200.
pub(crate) async fn run(
    address: &str,
    connections: usize,
    time: Duration,
    next: &Arc<AtomicU64>,
    make: &MakeRequest,
) -> Load {
    let start = Instant::now();
    let end = start + time;
    let tasks: Vec<_> = (0..connections)
        .map(|_| {
            let (address, next, make) = (address.to_owned(), Arc::clone(next), Arc::clone(make));
            tokio::spawn(async move { connection(&address, end, &next, &make).await })
        })
        .collect();
    let mut responses = 0;
    for task in tasks {
        responses += task.await.expect("a connection does not panic");
    }
    Load { responses, time: start.elapsed() }
}

async fn connection(address: &str, end: Instant, next: &AtomicU64, make: &MakeRequest) -> u32 {
    let mut connection = Connection::open(address).await.expect("the server listens");
    let mut responses = 0;
    while Instant::now() < end {
        let request = make(next.fetch_add(1, Ordering::Relaxed));
        let (status, _) = connection.exchange(&request).await.expect("the server responds");
        assert_eq!(status, 200, "not a success");
        responses += 1;
    }
    responses
}

/// A kept-alive connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 256 * 1024] })
    }

    /// Sends a request; returns status and body of the response.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> io::Result<(u16, &[u8])> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        let mut head = None;
        while head.is_none_or(|head: Head| filled < head.body + head.length) {
            if filled == self.buffer.len() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
            let count = self.stream.read(&mut self.buffer[filled..]).await?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            filled += count;
            head = head.or_else(|| Head::read(&self.buffer[..filled]));
        }
        let head = head.expect("the loop ends with a head");
        Ok((head.status, &self.buffer[head.body..filled]))
    }
}

/// Status, position and length of the body of a response.
#[derive(Clone, Copy)]
struct Head {
    status: u16,
    /// Offset of the body.
    body: usize,
    length: usize,
}

impl Head {
    /// Parses the head once it is complete.
    fn read(bytes: &[u8]) -> Option<Self> {
        let body = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
        let head = std::str::from_utf8(&bytes[..body]).expect("heads are text");
        let status = head.get(9..12).and_then(|status| status.parse().ok());
        let length = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .map_or(0, |(_, value)| value.trim().parse().expect("a length is a number"));
        Some(Self { status: status.expect("responses begin with a status"), body, length })
    }
}

pub(crate) fn get(path: &str, key: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: bench\r\nX-AUTH-TOKEN: {key}\r\n\r\n").into_bytes()
}

pub(crate) fn post(path: &str, key: &str, body: &str) -> Vec<u8> {
    send("POST", path, key, body)
}

/// A request with a JSON body, which may be empty.
pub(crate) fn send(method: &str, path: &str, key: &str, body: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: bench\r\nX-AUTH-TOKEN: {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
