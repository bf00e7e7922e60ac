//! A client of the change stream that reconnects regularly.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::{client::Connection, server::KEY};

/// Time after which a connection is closed.
const CONNECTION_TIME: Duration = Duration::from_secs(7);

/// Numbers of the received changes, in the order of arrival.
pub(super) type Seen = Arc<Mutex<Vec<u64>>>;

/// Reads a page of changes after a position; without one, the current position.
pub(super) async fn read_changes(
    connection: &mut Connection,
    since: Option<&str>,
) -> io::Result<Page> {
    let since = since.map(|since| format!("?limit=1000&since={since}")).unwrap_or_default();
    let request = crate::client::get(&format!("/api/v1/changes{since}"), KEY);
    let (status, body) = connection.exchange(&request).await?;
    assert_eq!(status, 200, "changes are returned");
    let page: Value = serde_json::from_slice(body).expect("pages are JSON");
    let numbers = page["data"].as_array().expect("a page has data");
    Ok(Page {
        numbers: numbers.iter().map(|change| change["seq"].as_u64().expect("a number")).collect(),
        next: page["next"].as_str().expect("a position").to_owned(),
        more: page["more"] == true,
    })
}

/// A page of changes, and the next position.
pub(super) struct Page {
    pub(super) numbers: Vec<u64>,
    pub(super) next: String,
    pub(super) more: bool,
}

/// Follows the stream until the end of the run, and reconnects whenever the connection ends.
pub(super) async fn follow(address: String, mut after: String, seen: Seen, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        // The next connection continues after the last complete event.
        if timeout(CONNECTION_TIME, read(&address, &mut after, &seen)).await.is_ok() {
            sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn read(address: &str, after: &mut String, seen: &Seen) -> io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "GET /api/v1/changes HTTP/1.0\r\nHost: bench\r\nX-AUTH-TOKEN: {KEY}\r\n\
         Accept: text/event-stream\r\nLast-Event-ID: {after}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut lines = BufReader::new(stream).lines();
    let (mut id, mut number) = (None, None);
    while let Some(line) = lines.next_line().await? {
        if let Some(text) = line.strip_prefix("id:") {
            id = Some(text.trim().to_owned());
        } else if let Some(text) = line.strip_prefix("data:") {
            let change: Value = serde_json::from_str(text).expect("changes are JSON");
            number = change["seq"].as_u64();
        } else if line.is_empty() {
            // The event is complete.
            seen.lock().expect("no holder panics").extend(number.take());
            if let Some(id) = id.take() {
                *after = id;
            }
        }
    }
    Ok(())
}
