//! A receiver of webhooks with a configurable behaviour.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::Value;

use super::support::wait_for;

/// The receiver's reaction to a request.
#[derive(Clone)]
pub(crate) enum Behavior {
    /// Responds with a status and a body.
    Respond(u16, String),
    /// Reads the request and closes the connection.
    Close,
    /// Reads the request and sends no response.
    Hang,
    /// Redirects the client to another URL.
    Redirect(String),
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// Names are in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// The receiver responds with success.
    pub(crate) accepted: bool,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A small HTTP server that records its requests.
pub(crate) struct Receiver {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
    behavior: Arc<Mutex<Behavior>>,
    ended: Arc<AtomicBool>,
}

impl Receiver {
    pub(crate) fn start(behavior: Behavior) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let receiver = Self {
            url,
            received: Arc::default(),
            behavior: Arc::new(Mutex::new(behavior)),
            ended: Arc::default(),
        };
        let (received, behavior) = (Arc::clone(&receiver.received), Arc::clone(&receiver.behavior));
        let ended = Arc::clone(&receiver.ended);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let (received, behavior) = (Arc::clone(&received), Arc::clone(&behavior));
                thread::spawn(move || serve(stream, &received, &behavior));
            }
        });
        receiver
    }

    pub(crate) fn behave(&self, behavior: Behavior) {
        *self.behavior.lock().unwrap() = behavior;
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits for `count` requests; returns all.
    pub(crate) fn wait_for(&self, count: usize) -> Vec<Received> {
        wait_until(|| self.received().len() >= count);
        self.received()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

fn serve(stream: TcpStream, received: &Mutex<Vec<Received>>, behavior: &Mutex<Behavior>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim().is_empty() => break,
                Ok(_) => {}
            }
            if let Some((name, value)) = line.trim().split_once(": ") {
                headers.push((name.to_ascii_lowercase(), value.to_owned()));
            }
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let body = String::from_utf8(body).unwrap();
        let behavior = behavior.lock().unwrap().clone();
        let accepted = matches!(behavior, Behavior::Respond(200, _));
        received.lock().unwrap().push(Received { headers, body, accepted });
        let (status, more, body) = match behavior {
            Behavior::Close => return,
            Behavior::Hang => {
                // Longer than the server waits for a response.
                thread::sleep(Duration::from_secs(20));
                return;
            }
            Behavior::Respond(status, body) => (status, String::new(), body),
            Behavior::Redirect(to) => (307, format!("location: {to}\r\n"), String::new()),
        };
        let response =
            format!("HTTP/1.1 {status} X\r\n{more}content-length: {}\r\n\r\n{body}", body.len());
        if writer.write_all(response.as_bytes()).is_err() {
            return;
        }
    }
}

pub(crate) fn success() -> Behavior {
    Behavior::Respond(200, "thanks".to_owned())
}

/// Polls a condition, for at most a minute.
#[track_caller]
pub(crate) fn wait_until(is_met: impl FnMut() -> bool) {
    wait_for(Duration::from_mins(1), "the condition is met within a minute", is_met);
}
