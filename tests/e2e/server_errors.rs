//! A server that is busy, broken or unreachable: which requests are retried, and how commands end.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc::{self, Receiver},
    thread,
};

use super::support::{Cli, CommandOutput};

const BUSY: &str = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// The response of `GET /api/auth-context`.
const AUTH_CONTEXT: &str = r#"{"organization":{"id":"o","name":"d"},"space":{"id":"s","name":"d"},
    "user":{"id":"u","username":"k","roles":[]},
    "apiKey":{"name":"k","type":"read_write","rules":[]}}"#;

/// The request line and the `Idempotency-Key` of a request.
type Received = (String, Option<String>);

/// A server that sends one response per request and then ends. Returns its address and the requests
/// that it read.
fn stub(responses: Vec<String>) -> (String, Receiver<Received>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (output, received) = mpsc::channel();
    thread::spawn(move || {
        for response in responses {
            let (mut stream, _) = listener.accept().unwrap();
            output.send(read_request(&stream)).ok();
            stream.write_all(response.as_bytes()).unwrap();
        }
    });
    (url, received)
}

/// Reads a request with its body.
fn read_request(stream: &TcpStream) -> Received {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    let (mut length, mut key) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let header = header.trim().to_ascii_lowercase();
        match header.split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap(),
            Some(("idempotency-key", value)) => key = Some(value.to_owned()),
            Some(_) => {}
            None => break,
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    (first.trim().trim_end_matches(" HTTP/1.1").to_owned(), key)
}

fn response(status: u16, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// Runs a command against a stub; returns the output and the request lines.
fn run(command: &[&str], responses: &[String]) -> (CommandOutput, Vec<String>) {
    let (output, requests) = run_with_keys(command, responses);
    (output, requests.into_iter().map(|(line, _)| line).collect())
}

fn run_with_keys(command: &[&str], responses: &[String]) -> (CommandOutput, Vec<Received>) {
    let (url, received) = stub(responses.to_vec());
    let cli = Cli::empty();
    cli.write("key", "a-key");
    cli.write("object.json", "{}");
    let mut arguments = vec!["--server", &url, "--key-file", "key"];
    arguments.extend(command);
    let output = cli.run(&arguments);
    (output, received.try_iter().collect())
}

#[test]
fn reads_are_retried_while_the_server_is_busy() {
    let list = r#"{"total_count":0,"total_pages":0,"current_page":1,"count":0,"data":[]}"#;
    let busy = BUSY.to_owned();
    let (output, requests) =
        run(&["key", "list"], &[busy.clone(), busy.clone(), response(200, list)]);
    assert_eq!((output.exit, requests.len()), (0, 3), "{}", output.transcript());

    let (output, requests) = run(&["key", "list"], &vec![busy; 9]);
    assert_eq!((output.exit, requests.len()), (9, 4), "{}", output.transcript());
}

/// The server has not carried out a request that it refuses with 429.
#[test]
fn writes_are_repeated_after_too_many_requests() {
    let limited = BUSY.replace("503 Service Unavailable", "429 Too Many Requests");
    let who = || response(200, AUTH_CONTEXT);
    let create = ["object", "create", "post", "object.json"];
    let created = response(200, r#"{"id":"a"}"#);
    let (output, requests) =
        run_with_keys(&create, &[who(), limited.clone(), limited.clone(), created]);
    output.exits(0);
    let keys: Vec<_> = requests[1..].iter().map(|(_, key)| key.clone()).collect();
    assert_eq!(keys, vec![keys[0].clone(); 3]);

    let (output, requests) = run(&create, &[vec![who()], vec![limited; 9]].concat());
    assert_eq!((output.exit, requests.len()), (9, 5), "{}", output.transcript());
}

#[test]
fn writes_are_not_retried_while_the_server_is_busy() {
    let responses = [response(200, AUTH_CONTEXT), BUSY.to_owned(), BUSY.to_owned()];
    let (output, requests) = run(&["object", "create", "post", "object.json"], &responses);
    output.exits(9);
    assert_eq!(requests, ["GET /api/auth-context", "POST /api/v1/content/post"]);
}

/// The repeated request has the same `Idempotency-Key`, so that the server creates one object.
#[test]
fn creation_is_repeated_once_when_its_outcome_is_unknown() {
    let unknown = || response(504, r#"{"code":504,"message":"Commit outcome unknown"}"#);
    let who = || response(200, AUTH_CONTEXT);
    let create = ["object", "create", "post", "object.json"];
    let created = response(200, r#"{"id":"a"}"#);
    let (output, requests) = run_with_keys(&create, &[who(), unknown(), created]);
    output.exits(0);
    let [_, (first, key), (second, repeated)] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!(first, "POST /api/v1/content/post");
    assert_eq!((second, repeated), (first, key));
    assert!(key.as_ref().is_some_and(|key| key.len() >= 32), "{key:?}");

    let (output, requests) = run_with_keys(&create, &[who(), unknown(), unknown(), unknown()]);
    output.exits(1);
    assert_eq!(requests.len(), 3);
}

/// The server may have carried out a request whose response is lost.
#[test]
fn lost_response_to_a_write_is_an_unknown_outcome() {
    let (lost, who) = (String::new, || response(200, AUTH_CONTEXT));
    let create = ["object", "create", "post", "object.json"];
    let created = response(200, r#"{"id":"a"}"#);
    let (output, requests) = run_with_keys(&create, &[who(), lost(), created]);
    output.exits(0);
    assert_eq!(requests[1], requests[2]);
    assert!(requests[1].1.is_some(), "{requests:?}");

    let hint = "check the content before you repeat the command";
    let (output, requests) = run(&create, &[who(), lost(), lost(), lost()]);
    output.exits(1).stderr_contains(hint);
    assert_eq!(requests.len(), 3);
    let (output, requests) = run(&["key", "list"], &[lost()]);
    output.exits(9);
    assert_eq!(requests.len(), 1);
}

#[test]
fn broken_responses_end_with_the_matching_exit_code() {
    let table = [
        (response(500, r#"{"code":500,"message":"Internal Server Error"}"#), 1),
        // Proxies and other programs.
        (response(200, "<html>"), 9),
        (response(200, "hello"), 9),
        (response(302, ""), 9),
        (response(404, "not even JSON"), 9),
        (response(404, r#"{"detail":"Not Found"}"#), 9),
        // JSON of another form.
        (response(200, "{}"), 1),
        (response(401, r#"{"code":401,"message":"Unauthorized"}"#), 3),
        (response(403, r#"{"code":403,"message":"no"}"#), 3),
        (response(404, r#"{"code":404,"message":"Not found"}"#), 4),
        ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".to_owned(), 9),
        (String::new(), 9),
    ];
    for (text, exit) in table {
        let (output, _) = run(&["ctd", "get", "post"], std::slice::from_ref(&text));
        assert_eq!(output.exit, exit, "{text}\n{}", output.transcript());
    }
}

/// The responses of a server that starts a reindex job.
fn reindex_job() -> Vec<String> {
    let who = r#"{"organization":{"id":"o","name":"d"},"space":{"id":"s","name":"d"},
        "user":{"id":"u","username":"k","roles":[]},
        "apiKey":{"name":"k","type":"admin","rules":[]}}"#;
    vec![response(200, who), response(202, r#"{"id":"7"}"#)]
}

fn job(state: &str, error: &str) -> String {
    let head = r#"{"id":"7","kind":"reindex","state":""#;
    response(200, &format!("{head}{state}\",\"done\":0,\"total\":9{error}}}"))
}

/// The error of a failed job is printed and ends the command.
#[test]
fn failed_index_rebuild_ends_the_command() {
    let mut responses = reindex_job();
    let failed = job("running", r#","error":"the disk is full""#);
    responses.extend([job("waiting", ""), job("running", ""), failed]);
    let (output, requests) = run(&["reindex"], &responses);
    output.exits(1);
    assert!(output.stderr.contains("error: index rebuild failed: the disk is full\n"));
    let job = "GET /api/v1/internal/job/7";
    let expected = ["GET /api/auth-context", "POST /api/v1/internal/reindex", job, job, job];
    assert_eq!(requests, expected);
}

/// An interrupt ends the command; the job continues.
#[test]
fn reindex_can_be_interrupted_while_it_waits() {
    let mut responses = reindex_job();
    let requests = responses.len() + 2;
    responses.extend(vec![job("running", ""); 1000]);
    let (url, received) = stub(responses);
    let cli = Cli::empty();
    cli.write("key", "a-key");
    let mut child = cli.start(&["--server", &url, "--key-file", "key", "reindex"]);
    for _ in 0..requests {
        received.recv().unwrap();
    }
    let (exit, output) = cli.shell(&format!("kill -INT {}", child.id()));
    assert_eq!((exit, &*output), (0, ""));
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

/// An export that fails after its start, or whose type is changed meanwhile, does not change the earlier
/// one.
#[test]
fn failed_export_keeps_the_earlier_one() {
    let content_type = |updated_at: Option<&str>| {
        serde_json::json!({
            "id": "t", "name": "note", "label": "Note", "workflowId": "generic", "draftPublic": false,
            "internal": false, "schemaDefinition": {}, "metaDefinition": {}, "slugs": [],
            "featuredImage": [], "deletedAt": null, "createdAt": "", "updatedAt": updated_at,
        })
    };
    let list = |data: serde_json::Value| {
        let list = serde_json::json!({"total_count": 1, "total_pages": 1, "current_page": 1,
            "count": 1, "data": [data]});
        response(200, &list.to_string())
    };
    let page = list(serde_json::json!({"id": "new", "internal": {}}));
    let workflows =
        response(200, r#"{"total_count":0,"total_pages":0,"current_page":1,"count":0,"data":[]}"#);
    // The responses in the order of the requests: the type, all types, the number of objects, the list of their ids,
    // and the objects.
    let definition = response(200, &content_type(None).to_string());
    let start = [definition, list(content_type(None)), page.clone(), page.clone(), page.clone()];
    let broken = [response(500, "{}")];
    let changed = [page, workflows, list(content_type(Some("2026-01-02T03:04:05+00:00")))];
    let reason = "the type note was changed during the export; out did not change";
    for (end, reason) in [(&broken[..], "500"), (&changed, reason)] {
        let (url, _) = stub([&start[..], end].concat());
        let cli = Cli::empty();
        cli.write("key", "a-key");
        let files = ["ContentTypeDefinition.json", "contentObjectNote000001.json", "picture.png"]
            .map(|name| format!("out/ContentTypeNote/{name}"));
        for file in &files {
            cli.write(file, "as it was");
        }
        let failed =
            cli.run(&["--server", &url, "--key-file", "key", "export", "out", "--type", "note"]);
        failed.exits(1).stderr_contains(reason);
        for file in &files {
            assert_eq!(std::fs::read_to_string(cli.path(file)).unwrap(), "as it was", "{file}");
        }
        assert_eq!(
            std::fs::read_dir(cli.path("out")).unwrap().count(),
            1,
            "temporary files are left"
        );
    }
}
