//! Files over a real socket: clients that send or read slowly, or disconnect.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use cms_core::{FirstKeys, testing::TestCms};
use cms_server::{RunningServer, ServerConfig, serve};

use crate::media::{field, file, form};

const KEY: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
const FORM: &str = "multipart/form-data; boundary=a-line";

fn start(config: &ServerConfig) -> (TestCms, RunningServer) {
    let core = TestCms::new();
    let first = FirstKeys { read_write: Some(KEY.to_owned()), ..FirstKeys::default() };
    core.cms.keys().ensure_first(&first).unwrap();
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let running = serve(ServerConfig { listen, ..config.clone() }, Arc::clone(&core.cms)).unwrap();
    (core, running)
}

fn connect(running: &RunningServer) -> TcpStream {
    let stream = TcpStream::connect(running.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

fn write_head(stream: &mut TcpStream, line: &str, headers: &str) {
    let head = format!("{line} HTTP/1.1\r\nhost: x\r\nx-auth-token: {KEY}\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
}

/// Reads a head; returns the status and the length of the body.
fn read_head(stream: &mut impl BufRead) -> (u16, usize) {
    let mut lines = stream.lines().map(Result::unwrap);
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let lines = lines.take_while(|line| !line.is_empty());
    let lengths = lines.filter_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    (status, lengths.last().unwrap())
}

fn read(stream: &mut impl BufRead) -> (u16, Vec<u8>) {
    let (status, length) = read_head(stream);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (status, body)
}

fn upload_head(stream: &mut TcpStream, length: usize) {
    let headers = format!("content-type: {FORM}\r\ncontent-length: {length}\r\n");
    write_head(stream, "POST /api/media", &headers);
}

/// Uploads a text of this many bytes; returns the path of the file.
fn upload(running: &RunningServer, length: usize) -> String {
    let text = vec![b'a'; length];
    let body = form(&[field("type", "file"), file("a.txt", "", &text)]);
    let mut stream = connect(running);
    upload_head(&mut stream, body.len());
    stream.write_all(&body).unwrap();
    let (status, response) = read(&mut BufReader::new(stream));
    assert_eq!(status, 200);
    let object: serde_json::Value = serde_json::from_slice(&response).unwrap();
    object["url"].as_str().unwrap().to_owned()
}

/// Slow readers hold no permit, and get the complete file.
#[test]
fn slow_readers_delay_no_other_client() {
    let (_core, running) = start(&ServerConfig { files: 1, ..ServerConfig::default() });
    let length = 9_000_000;
    let path = upload(&running, length);
    let get = format!("GET {path}");
    let mut slow: Vec<_> = (0..5)
        .map(|_| {
            let mut stream = connect(&running);
            write_head(&mut stream, &get, "");
            let mut stream = BufReader::new(stream);
            assert_eq!(read_head(&mut stream), (200, length));
            stream
        })
        .collect();
    let mut quick = connect(&running);
    write_head(&mut quick, &get, "");
    assert_eq!(read(&mut BufReader::new(quick)), (200, vec![b'a'; length]));
    for stream in &mut slow {
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        assert!(body.iter().all(|&byte| byte == b'a'));
    }
    running.shutdown();
}

/// A form may arrive in any chunks, also cut within a boundary.
#[test]
fn upload_may_arrive_in_small_chunks() {
    let (_core, running) = start(&ServerConfig { bodies: 2, ..ServerConfig::default() });
    let text = b"a text with \r\n--a-lin and \r\n-- in it";
    let body = form(&[file("a.txt", "", text), field("type", "file")]);
    for size in [1, 7, 50] {
        let mut stream = connect(&running);
        upload_head(&mut stream, body.len());
        for chunk in body.chunks(size) {
            stream.write_all(chunk).unwrap();
            // Chunks without a pause would arrive as one.
            thread::sleep(Duration::from_millis(1));
        }
        let (status, response) = read(&mut BufReader::new(stream));
        let object: serde_json::Value = serde_json::from_slice(&response).unwrap();
        assert_eq!((status, &object["size"]), (200, &text.len().into()), "{size}");
    }
    running.shutdown();
}

/// A client that sends the complete request first must not lose the response.
#[test]
fn refused_upload_gets_its_response() {
    let (_core, running) = start(&ServerConfig::default());
    for _ in 0..5 {
        let mut stream = connect(&running);
        let length = 5_000_000;
        let head = format!(
            "POST /api/media HTTP/1.1\r\nhost: x\r\nx-auth-token: wrong\r\ncontent-type: {FORM}\r\n\
             content-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b'a'; length]).unwrap();
        assert_eq!(read(&mut BufReader::new(stream)).0, 401);
    }
}

/// The file of an aborted upload is removed, and its permit is released.
#[test]
fn aborted_upload_is_removed() {
    let (core, running) = start(&ServerConfig { bodies: 1, ..ServerConfig::default() });
    let incoming = core.path().join("incoming");
    let count = || fs::read_dir(&incoming).into_iter().flatten().count();
    let started = Instant::now();
    let wait_for = |wanted: usize| {
        while count() != wanted {
            assert!(started.elapsed() < Duration::from_secs(20), "never {wanted} files");
            thread::sleep(Duration::from_millis(5));
        }
    };
    let body = form(&[file("a.txt", "", &vec![b'a'; 600_000])]);
    let mut stream = connect(&running);
    upload_head(&mut stream, body.len());
    stream.write_all(&body[..500_000]).unwrap();
    wait_for(1);
    drop(stream);
    wait_for(0);
    upload(&running, 10);
    running.shutdown();
}

/// A refused upload gets its error before the client sends the body.
#[test]
fn refused_upload_gets_no_100_continue() {
    let (_core, running) = start(&ServerConfig::default());
    let expect = "expect: 100-continue\r\ncontent-length: 30000000\r\n";
    let mut stream = connect(&running);
    stream
        .write_all(format!("POST /api/media HTTP/1.1\r\nhost: x\r\n{expect}\r\n").as_bytes())
        .unwrap();
    assert_eq!(read_head(&mut BufReader::new(stream)).0, 401);
    let mut stream = connect(&running);
    write_head(&mut stream, "POST /api/media", &format!("content-type: text/plain\r\n{expect}"));
    assert_eq!(read_head(&mut BufReader::new(stream)).0, 415);
    let mut stream = connect(&running);
    write_head(&mut stream, "POST /api/media", &format!("content-type: {FORM}\r\n{expect}"));
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
    running.shutdown();
}
