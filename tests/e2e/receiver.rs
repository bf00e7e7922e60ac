//! A receiver of webhooks, as well-behaved as a test wants it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// What a receiver does with a request.
#[derive(Clone)]
pub(crate) enum Manner {
    /// Answers with a status and a body.
    Answer(u16, String),
    /// Reads the request and closes the connection.
    CutOff,
    /// Reads the request and says nothing.
    Silence,
    /// Sends the client elsewhere.
    Redirect(String),
}

/// A request that was received.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// The receiver means to say that it took it.
    pub(crate) taken: bool,
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

/// A server of a few lines, which remembers what it received.
pub(crate) struct Receiver {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
    manner: Arc<Mutex<Manner>>,
    ended: Arc<AtomicBool>,
}

impl Receiver {
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let receiver = Self {
            url,
            received: Arc::default(),
            manner: Arc::new(Mutex::new(manner)),
            ended: Arc::default(),
        };
        let (received, manner) = (Arc::clone(&receiver.received), Arc::clone(&receiver.manner));
        let ended = Arc::clone(&receiver.ended);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let (received, manner) = (Arc::clone(&received), Arc::clone(&manner));
                thread::spawn(move || serve(stream, &received, &manner));
            }
        });
        receiver
    }

    pub(crate) fn behave(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits until so many requests came; returns them.
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

fn serve(stream: TcpStream, received: &Mutex<Vec<Received>>, manner: &Mutex<Manner>) {
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
        let manner = manner.lock().unwrap().clone();
        let taken = matches!(manner, Manner::Answer(200, _));
        received.lock().unwrap().push(Received { headers, body, taken });
        let (status, more, body) = match manner {
            Manner::CutOff => return,
            Manner::Silence => {
                thread::sleep(Duration::from_secs(20));
                return;
            }
            Manner::Answer(status, body) => (status, String::new(), body),
            Manner::Redirect(to) => (307, format!("location: {to}\r\n"), String::new()),
        };
        let answer =
            format!("HTTP/1.1 {status} X\r\n{more}content-length: {}\r\n\r\n{body}", body.len());
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

pub(crate) fn fine() -> Manner {
    Manner::Answer(200, "thanks".to_owned())
}

/// Polls for as long as a slow machine may need.
pub(crate) fn wait_until(is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_mins(1), "waited in vain");
        thread::sleep(Duration::from_millis(20));
    }
}
