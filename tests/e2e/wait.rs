//! `cms wait`: a ready server, a server that becomes ready, and programs that are no ready server.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    thread,
    time::Duration,
};

use super::{
    cluster::free_address,
    support::{Cli, Server},
};

/// Sends the same response to each request, after a delay before it listens.
fn listen(listener: TcpListener, delay: Duration, status: u16, body: &'static str) {
    thread::spawn(move || {
        thread::sleep(delay);
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let request = BufReader::new(&stream).lines().map_while(Result::ok);
            request.take_while(|line| !line.is_empty()).for_each(drop);
            let length = body.len();
            let html = if body.starts_with('<') { "Content-Type: text/html\r\n" } else { "" };
            let head = format!("HTTP/1.1 {status} X\r\n{html}Content-Length: {length}\r\n");
            write!(stream, "{head}Connection: close\r\n\r\n{body}").ok();
        }
    });
}

/// Starts a program that is not cms, or is not ready, with one response; returns its URL.
pub(crate) fn stub(status: u16, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    listen(listener, Duration::ZERO, status, body);
    url
}

#[test]
fn ready_server_needs_no_key() {
    let server = Server::start();
    let cli = Cli::empty();
    let ready = format!("{} is ready\n", server.url);
    for _ in 0..2 {
        cli.run(&["wait", "--server", &server.url]).exits(0).prints(&ready);
    }
    Cli::with_key(&server, "wrong").run(&["wait", "--timeout", "0s"]).exits(0).prints(&ready);
    let json = cli.run(&["wait", "--server", &server.url, "--json"]).ok();
    let printed: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(printed, serde_json::json!({"server": server.url, "status": "ready"}));
}

#[test]
fn last_reason_is_shown_at_the_timeout() {
    let closed = format!("http://{}", free_address());
    let not_ready = r#"{"code":503,"message":"Service Unavailable","status":"not ready","parts":{"server":"ok","database":"ok","index":"not ready","disk":"not ready"}}"#;
    for (url, reason) in [
        (closed, "efused"),
        (stub(503, not_ready), "is not ready after 1 s: not ready: "),
        (stub(200, "<!doctype html><title>Welcome</title>"), "(status 200, HTML) is not from cms"),
        (stub(502, "<html>Bad Gateway</html>"), "(status 502, HTML) is not from cms"),
        (stub(200, r#"{"status":"ok"}"#), "(status 200) is not from cms"),
        (stub(302, ""), "(status 302) is not from cms"),
    ] {
        let output = Cli::empty().run(&["wait", "--server", &url, "--timeout", "1s"]);
        output.exits(9).prints("").stderr_contains(reason);
    }
    let url = stub(503, not_ready);
    let output = Cli::empty().run(&["wait", "--server", &url, "--timeout", "0s", "--json"]);
    output.exits(9);
    let error: serde_json::Value = output.json();
    assert!(error.to_string().contains("not ready: "), "{error}");
    assert!(error.to_string().contains("index"), "{error}");
    assert!(!error.to_string().contains("database"), "{error}");
}

#[test]
fn wait_lasts_until_the_server_responds() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let ready = r#"{"status":"ok","parts":{"server":"ok"}}"#;
    listen(listener, Duration::from_millis(1500), 200, ready);
    Cli::empty().run(&["wait", "--server", &url, "--timeout", "1m"]).exits(0);
}

#[test]
fn data_directory_and_wrong_timeouts_are_usage_errors() {
    Cli::with_data().run(&["wait"]).exits(2).stderr_contains("needs a server");
    Cli::empty().run(&["wait"]).exits(2).stderr_contains("--server");
    Cli::empty().run(&["wait", "--server", "localhost:8080"]).exits(2);
    for timeout in ["", "60", "1d", "-1s"] {
        let flag = format!("--timeout={timeout}");
        Cli::empty().run(&["wait", "--server", "http://127.0.0.1:1", &flag]).exits(2);
    }
}
