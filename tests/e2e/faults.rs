//! A server that is busy, broken or gone: what is repeated, and how commands end.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc::{self, Receiver},
    thread,
};

use super::support::{Place, Ran};

const BUSY: &str = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Answers each request with the next text, and then goes away. Returns its address and the request
/// lines that it read.
fn stub(answers: Vec<String>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (said, heard) = mpsc::channel();
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            said.send(request_line(&stream)).ok();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    (url, heard)
}

/// Reads a whole request and returns its first line.
fn request_line(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if header == "\r\n" {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    first.trim().trim_end_matches(" HTTP/1.1").to_owned()
}

fn answer(status: u16, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// Runs a command against a stub; returns how it went and what the stub was asked.
fn run(command: &[&str], answers: &[String]) -> (Ran, Vec<String>) {
    let (url, heard) = stub(answers.to_vec());
    let place = Place::empty();
    place.write("key", "a-key");
    place.write("object.json", "{}");
    let mut arguments = vec!["--server", &url, "--key-file", "key"];
    arguments.extend(command);
    let ran = place.run(&arguments);
    (ran, heard.try_iter().collect())
}

#[test]
fn reads_are_repeated_while_a_server_is_busy() {
    let list = r#"{"total_count":0,"total_pages":0,"current_page":1,"count":0,"data":[]}"#;
    let busy = BUSY.to_owned();
    let (ran, asked) = run(&["key", "list"], &[busy.clone(), busy.clone(), answer(200, list)]);
    assert_eq!((ran.exit, asked.len()), (0, 3), "{}", ran.whole());

    let (ran, asked) = run(&["key", "list"], &vec![busy; 9]);
    assert_eq!((ran.exit, asked.len()), (9, 4), "{}", ran.whole());
}

#[test]
fn writes_are_never_repeated() {
    let who = r#"{"organization":{"id":"o","name":"d"},"space":{"id":"s","name":"d"},
        "user":{"id":"u","username":"k","roles":[]},
        "apiKey":{"name":"k","type":"read_write","rules":[]}}"#;
    let answers = [answer(200, who), BUSY.to_owned(), BUSY.to_owned()];
    let (ran, asked) = run(&["object", "create", "post", "object.json"], &answers);
    assert_eq!(ran.exit, 9, "{}", ran.whole());
    assert_eq!(asked, ["GET /api/auth-context", "POST /api/v1/content/post"]);
}

#[test]
fn broken_answers_end_with_the_exit_code_that_fits() {
    let table = [
        (answer(500, r#"{"code":500,"message":"Internal Server Error"}"#), 1),
        (answer(200, "<html>"), 1),
        (answer(302, ""), 1),
        (answer(401, r#"{"code":401,"message":"Unauthorized"}"#), 3),
        (answer(403, r#"{"code":403,"message":"no"}"#), 3),
        (answer(404, "not even JSON"), 4),
        ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".to_owned(), 9),
        (String::new(), 9),
    ];
    for (text, exit) in table {
        let (ran, _) = run(&["ctd", "get", "post"], std::slice::from_ref(&text));
        assert_eq!(ran.exit, exit, "{text}\n{}", ran.whole());
    }
}

/// Who asks, and a job that somebody asks for.
fn job_asked_for() -> Vec<String> {
    let who = r#"{"organization":{"id":"o","name":"d"},"space":{"id":"s","name":"d"},
        "user":{"id":"u","username":"k","roles":[]},
        "apiKey":{"name":"k","type":"admin","rules":[]}}"#;
    vec![answer(200, who), answer(202, r#"{"id":"7"}"#)]
}

fn job(state: &str, error: &str) -> String {
    let head = r#"{"id":"7","kind":"reindex","state":""#;
    answer(200, &format!("{head}{state}\",\"done\":0,\"total\":9{error}}}"))
}

/// What keeps a server from making its index is shown, and ends the command.
#[test]
fn an_index_that_cannot_be_made_ends_the_command() {
    let mut answers = job_asked_for();
    let failed = job("running", r#","error":"the disk is full""#);
    answers.extend([job("waiting", ""), job("running", ""), failed]);
    let (ran, asked) = run(&["reindex"], &answers);
    assert_eq!(ran.exit, 1, "{}", ran.whole());
    assert!(ran.stderr.contains("error: index rebuild failed: the disk is full\n"));
    let job = "GET /api/v1/internal/job/7";
    let wanted = ["GET /api/auth-context", "POST /api/v1/internal/reindex", job, job, job];
    assert_eq!(asked, wanted);
}

/// Who does not want to wait leaves the job to the server.
#[test]
fn waiting_for_an_index_can_be_interrupted() {
    let mut answers = job_asked_for();
    let asked = answers.len() + 2;
    answers.extend(vec![job("running", ""); 1000]);
    let (url, heard) = stub(answers);
    let place = Place::empty();
    place.write("key", "a-key");
    let mut child = place.start(&["--server", &url, "--key-file", "key", "reindex"]);
    for _ in 0..asked {
        heard.recv().unwrap();
    }
    let (exit, said) = place.shell(&format!("kill -INT {}", child.id()));
    assert_eq!((exit, &*said), (0, ""));
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

/// An export that fails on its way leaves the earlier one as it is.
#[test]
fn a_failed_export_leaves_the_earlier_one_alone() {
    let content_type = serde_json::json!({
        "id": "t", "name": "note", "label": "Note", "workflowId": "generic", "draftPublic": false,
        "internal": false, "schemaDefinition": {}, "metaDefinition": {}, "slugs": [],
        "featuredImage": [], "deletedAt": null, "createdAt": "", "updatedAt": null,
    });
    let list = |pages: u64, data: serde_json::Value| {
        let list = serde_json::json!({"total_count": 2 * pages, "total_pages": pages,
            "current_page": 1, "count": 1, "data": [data]});
        answer(200, &list.to_string())
    };
    let page = list(2, serde_json::json!({"id": "new"}));
    let (url, _) = stub(vec![list(1, content_type), page.clone(), page, answer(500, "{}")]);
    let place = Place::empty();
    place.write("key", "a-key");
    let files = ["ContentTypeDefinition.json", "contentObjectNote000001.json", "picture.png"]
        .map(|name| format!("out/ContentTypeNote/{name}"));
    for file in &files {
        place.write(file, "as it was");
    }
    let ran = place.run(&["--server", &url, "--key-file", "key", "export", "out"]);
    assert_eq!(ran.exit, 1, "{}", ran.whole());
    for file in &files {
        assert_eq!(std::fs::read_to_string(place.path(file)).unwrap(), "as it was", "{file}");
    }
    assert_eq!(std::fs::read_dir(place.path("out")).unwrap().count(), 1, "a draft is left");
}
