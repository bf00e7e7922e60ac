//! Shutdown of a server, also with an unread log.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, ChildStderr},
    time::{Duration, Instant},
};

use super::support::{Cli, Server, client, wait_for};

/// Waits until a process has ended; panics after `timeout`.
#[track_caller]
fn require_ended(child: &mut Child, timeout: Duration) {
    let message = format!("the process has not ended after {timeout:?}");
    wait_for(timeout, &message, || child.try_wait().unwrap().is_some());
}

/// Only complete requests get the grace period of 20 seconds.
#[test]
fn shutdown_does_not_wait_for_incomplete_requests() {
    let cli = Cli::empty();
    let server = Server::start_in(&cli.path(""), &[]);
    let address = server.url.strip_prefix("http://").unwrap();
    let mut open = Vec::new();
    for begun in
        ["", "GET /healthz HT", "GET /healthz HTTP/1.1\r\nhost: x\r\n", "PRI * HTTP/2.0\r\n"]
    {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(begun.as_bytes()).unwrap();
        open.push(stream);
    }
    client().build().unwrap().get(format!("{}/healthz", server.url)).send().unwrap();
    let start = Instant::now();
    server.terminate();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

/// Reads the log of a server until it listens; returns the address.
fn listening(stderr: &mut BufReader<ChildStderr>) -> String {
    let mut line = String::new();
    loop {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "the server listens");
        if let Some((_, address)) = line.trim_end().split_once("listening on http://") {
            return address.to_owned();
        }
    }
}

#[test]
fn unread_log_blocks_neither_requests_nor_shutdown() {
    let cli = Cli::with_data();
    for ends_unread in [false, true] {
        let mut child = cli.start_with_log(&["serve", "--listen", "127.0.0.1:0", "--log", "debug"]);
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let address = listening(&mut stderr);
        let client = client().build().unwrap();
        // More than the pipe and the log queue hold.
        let long = "x".repeat(900);
        let mut dropped = 0.0;
        while dropped == 0.0 {
            for _ in 0..200 {
                client.get(format!("http://{address}/{long}")).send().unwrap();
            }
            let metrics = client.get(format!("http://{address}/metrics")).send().unwrap().text();
            let name = "cms_log_lines_dropped_total ";
            let count =
                metrics.unwrap().lines().find_map(|line| line.strip_prefix(name)?.parse().ok());
            dropped = count.unwrap();
        }
        if !ends_unread {
            let says = |line: &str| line.contains("log lines dropped");
            assert!(stderr.by_ref().lines().any(|line| says(&line.unwrap())));
        }
        let pid = child.id().to_string();
        std::process::Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap();
        require_ended(&mut child, Duration::from_secs(15));
        assert!(child.wait().unwrap().success());
    }
}
