//! Webhooks with working and failing receivers: order, kills, redirects, and forbidden addresses.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    thread,
};

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    receiver::{Behavior, Received, Receiver, success, wait_until},
    support::{Cli, Server},
};

const ALLOW_ALL_URLS: [&str; 2] = ["--webhook-allow-private", "--webhook-allow-http"];

/// Creates a webhook for created, updated and deleted tags.
fn listen(cli: &Cli, url: &str, more: &Value) {
    let mut webhook = json!({
        "id": "hook", "name": "Hook", "type": "async", "url": url, "enabled": true,
        "content_type_definitions": [{ "content_type_definition_name": "_tag" }],
        "actions": [{ "action": "Create" }, { "action": "Update" }, { "action": "Delete" }],
    });
    webhook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    cli.write("hook.json", &webhook.to_string());
    cli.run(&["object", "create", "_webhooks", "hook.json"]).exits(0);
}

fn tag(cli: &Cli, id: &str) {
    cli.write("tag.json", &json!({ "id": id, "name": id }).to_string());
    cli.run(&["object", "create", "_tag", "tag.json"]).exits(0);
}

fn log(cli: &Cli) -> Vec<Value> {
    let output = cli.run(&["webhook", "log", "hook", "--limit", "300", "--json"]);
    output.exits(0);
    output.json()
}

/// Waits until the newest delivery of the log was attempted; returns it.
fn newest(cli: &Cli) -> Value {
    wait_until(|| log(cli).first().is_some_and(|entry| entry["attempts"] != 0));
    log(cli).remove(0)
}

/// Ids of received objects, each once, in order.
fn ids(received: &[Received]) -> Vec<String> {
    let mut ids: Vec<String> = received
        .iter()
        .map(|request| request.json()["payload"]["id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids.dedup();
    ids
}

fn serve_in(folder: &Path) -> Server {
    Server::start_in(folder, &ALLOW_ALL_URLS)
}

#[test]
fn delivery_is_sent_once_and_signed() {
    let folder = TempDir::new().unwrap();
    let server = serve_in(folder.path());
    let cli = Cli::with_server(&server);
    let receiver = Receiver::start(success());
    let headers = json!([{ "header_name": "X-Own", "header_value": "a b" }]);
    listen(&cli, &receiver.url, &json!({ "headers": headers }));
    tag(&cli, "green");
    let delivery = receiver.wait_for(1).remove(0);
    assert_eq!(delivery.header("x-own"), "a b");
    assert_eq!(delivery.header("content-type"), "application/json");
    let body = delivery.json();
    assert_eq!(body["action"], "Create");
    assert_eq!(body["ref"], "/api/v1/content/_tag/green/version/1");
    assert_eq!(body["payload"]["name"], "green");

    // The signature is computed with the printed secret.
    let listed = cli.run(&["webhook", "list", "--json"]);
    let listed: Value = listed.json();
    let secret = listed[0]["secret"].as_str().unwrap().to_owned();
    let script = "import sys,hmac,base64,hashlib\n\
        secret,id,at,body=sys.argv[1:]\n\
        key=base64.b64decode(secret.removeprefix('whsec_'))\n\
        tag=hmac.new(key,f'{id}.{at}.{body}'.encode(),hashlib.sha256).digest()\n\
        print('v1,'+base64.b64encode(tag).decode())";
    let [id, at] = ["webhook-id", "webhook-timestamp"].map(|name| delivery.header(name));
    let computed = std::process::Command::new("python3")
        .args(["-c", script, &secret, id, at, &delivery.body])
        .output();
    if let Ok(computed) = computed {
        let computed = String::from_utf8(computed.stdout).unwrap();
        assert_eq!(computed.trim(), delivery.header("webhook-signature"));
    }
    let entry = newest(&cli);
    assert_eq!((&entry["status"], &entry["response"]["body"]), (&json!("done"), &json!("thanks")));
    assert!(entry["durationMs"].is_u64(), "{entry}");
    let fields = entry["requestHeaders"]["fields"].as_array().unwrap();
    let text = |field: &Value, key: &str| field[key].as_str().unwrap().to_owned();
    let logged: BTreeMap<_, _> =
        fields.iter().map(|field| (text(field, "name"), text(field, "value"))).collect();
    let mut sent = BTreeMap::from_iter(delivery.headers);
    // The client adds these when it writes the request.
    for of_transport in ["host", "content-length"] {
        sent.remove(of_transport).unwrap();
    }
    sent.insert("x-own".to_owned(), "********".to_owned());
    assert_eq!(logged, sent);
    let received =
        json!({ "fields": [{ "name": "content-length", "value": "6" }], "truncated": false });
    assert_eq!(entry["response"]["headers"], received);
}

/// In an earlier version, a failing delivery blocked all others for days.
#[test]
fn failing_delivery_blocks_only_its_own_object() {
    let folder = TempDir::new().unwrap();
    let server = serve_in(folder.path());
    let cli = Cli::with_server(&server);
    let receiver = Receiver::start(Behavior::Respond(500, "not now".to_owned()));
    listen(&cli, &receiver.url, &json!({}));
    tag(&cli, "a1");
    wait_until(|| log(&cli).first().is_some_and(|entry| entry["attempts"] == 1));
    let response = &log(&cli)[0]["response"];
    assert_eq!((&response["status"], &response["body"]), (&json!(500), &json!("not now")));
    for behavior in [Behavior::Close, Behavior::Redirect(receiver.url.clone())] {
        receiver.behave(behavior);
        let before = receiver.received().len();
        assert_eq!(cli.run(&["webhook", "replay", "hook"]).exit, 0);
        receiver.wait_for(before + 1);
    }
    wait_until(|| log(&cli)[0]["status"] == "error");
    assert_eq!(log(&cli)[0]["error"], "the response has status 307");
    assert_eq!(receiver.received().len(), 3, "redirects are not followed");
    receiver.behave(success());
    cli.write("change.json", r#"{ "name": "Changed" }"#);
    let change = ["object", "update", "_tag", "a1", "change.json", "--patch"];
    assert_eq!(cli.run(&change).exit, 0);
    for id in ["a2", "a3", "a4"] {
        tag(&cli, id);
    }
    wait_until(|| log(&cli).iter().filter(|entry| entry["status"] == "done").count() == 3);
    assert_eq!(ids(&receiver.received()), ["a1", "a2", "a3", "a4"], "a1 is not due yet");
    let count = |name: &str| server.metric(&format!("cms_webhook_{name}"));
    assert_eq!(["deliveries_pending", "endpoints_down"].map(count), ["2", "0"]);
    assert_ne!(count("oldest_delivery_seconds"), "0");
    cli.run(&["webhook", "replay", "hook"]);
    wait_until(|| log(&cli).iter().all(|entry| entry["status"] == "done"));
    let received = receiver.received();
    let first: Vec<&str> = received
        .iter()
        .filter(|request| request.json()["ref"] == "/api/v1/content/_tag/a1/version/1")
        .map(|request| request.header("webhook-id"))
        .collect();
    assert!(first.len() == 4 && first.iter().all(|id| *id == first[0]), "{first:?}");
    let last: Vec<Value> = received[received.len() - 2..]
        .iter()
        .map(|request| request.json()["ref"].clone())
        .collect();
    let versions = [1, 2].map(|version| format!("/api/v1/content/_tag/a1/version/{version}"));
    assert_eq!(last, versions);
    let attempts = |result: &str| count(&format!("attempts_total{{result=\"{result}\"}}"));
    assert_eq!(["delivered", "rejected", "no_response"].map(attempts), ["5", "2", "1"]);
    assert_eq!(["deliveries_pending", "oldest_delivery_seconds"].map(count), ["0", "0"]);
}

/// The server is killed several times with requests under way, and the receiver fails meanwhile.
#[test]
fn deliveries_continue_after_the_server_is_killed() {
    const TAGS: usize = 40;
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::start(success());
    for round in 0..5 {
        let server = serve_in(folder.path());
        let cli = Cli::with_server(&server);
        if round == 0 {
            listen(&cli, &receiver.url, &json!({}));
        }
        let is_failing = round % 2 == 1;
        receiver.behave(if is_failing { Behavior::Respond(503, String::new()) } else { success() });
        let tags: Vec<Value> = (0..TAGS)
            .map(|number| format!("tag-{number:03}"))
            .map(|id| json!({ "id": id, "name": format!("{id} in {round}") }))
            .collect();
        cli.write("tags.json", &json!(tags).to_string());
        let before = receiver.received().len();
        cli.run(&["import", "_tag", "tags.json", "--update-existing"]).exits(0);
        // A failed delivery waits for seconds.
        assert_eq!(cli.run(&["webhook", "replay", "hook"]).exit, 0);
        // Kill while deliveries are under way.
        receiver.wait_for(before + if is_failing { 1 } else { 10 });
        server.stop();
    }
    let server = serve_in(folder.path());
    let cli = Cli::with_server(&server);
    let pending = || {
        let listed = cli.run(&["webhook", "list", "--json"]);
        let listed: Value = listed.json();
        listed[0]["pending"].clone()
    };
    wait_until(|| pending() == 0);
    // Per object: all versions in order; a version may be delivered twice.
    let mut accepted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for request in receiver.received().iter().filter(|request| request.accepted) {
        let reference = request.json()["ref"].as_str().unwrap().to_owned();
        let (id, version) = reference.rsplit_once("/version/").unwrap();
        let versions = accepted.entry(id.to_owned()).or_default();
        if versions.last().is_none_or(|last| last != version) {
            versions.push(version.to_owned());
        }
    }
    assert_eq!(accepted.len(), TAGS);
    for (id, versions) in accepted {
        assert_eq!(versions, ["1", "2", "3", "4", "5"], "{id}");
    }
}

/// A slow receiver blocks neither writes nor other receivers.
#[test]
fn slow_receiver_blocks_neither_writes_nor_other_receivers() {
    let folder = TempDir::new().unwrap();
    let server = serve_in(folder.path());
    let cli = Cli::with_server(&server);
    let (slow, quick) = (Receiver::start(Behavior::Hang), Receiver::start(success()));
    listen(&cli, &slow.url, &json!({}));
    listen(&cli, &quick.url, &json!({ "id": "quick" }));
    for number in 0..5 {
        tag(&cli, &format!("tag-{number}"));
    }
    assert_eq!(ids(&quick.wait_for(5)).len(), 5);
    assert_eq!(slow.wait_for(4).len(), 4, "it has not responded to the first yet");
}

/// More writes wait for a synchronous webhook than permitted. Writes over the limit are refused, and
/// writes of other types continue.
#[test]
fn slow_synchronous_webhook_blocks_no_other_writes() {
    let folder = TempDir::new().unwrap();
    let server = serve_in(folder.path());
    let cli = Cli::with_server(&server);
    let receiver = Receiver::start(Behavior::Hang);
    listen(&cli, &receiver.url, &json!({ "type": "sync" }));
    let post = |number: usize| {
        let address = server.url.trim_start_matches("http://").to_owned();
        let key = server.key.clone();
        let body = json!({ "id": format!("tag-{number}"), "name": "A" }).to_string();
        thread::spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            let head = format!(
                "POST /api/v1/content/_tag HTTP/1.1\r\nhost: cms\r\nx-auth-token: {key}\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\n\
                 connection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(head.as_bytes()).unwrap();
            let mut response = String::new();
            stream.read_to_string(&mut response).unwrap();
            response.split(' ').nth(1).unwrap().to_owned()
        })
    };
    let waiting: Vec<_> = (0..80).map(post).collect();
    receiver.wait_for(64);
    cli.write("form.json", r#"{ "name": "A", "email": "a@example.com" }"#);
    cli.run(&["object", "create", "contact_form", "form.json"]).exits(0);
    assert!(waiting.iter().any(|thread| !thread.is_finished()), "they wait for five seconds");
    let mut statuses: Vec<String> =
        waiting.into_iter().map(|thread| thread.join().unwrap()).collect();
    statuses.sort();
    assert_eq!(statuses.len(), 80);
    assert_eq!(statuses.iter().filter(|status| *status == "400").count(), 64, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| *status == "503").count(), 16, "{statuses:?}");
}

#[test]
fn bulk_job_continues_after_a_stop_of_the_server_during_a_webhook_call() {
    let folder = TempDir::new().unwrap();
    let server = serve_in(folder.path());
    let cli = Cli::with_server(&server);
    for number in 0..5 {
        tag(&cli, &format!("tag-{number}"));
    }
    let receiver = Receiver::start(Behavior::Hang);
    listen(&cli, &receiver.url, &json!({ "type": "sync" }));
    let job = json!({ "action": "delete", "all": true, "expect": 5 });
    let created = server.post("content/_tag/bulk", job.to_string());
    receiver.wait_for(1);
    server.terminate();
    receiver.behave(Behavior::Respond(200, r#"{"payload": {}}"#.to_owned()));
    let server = serve_in(folder.path());
    let path = format!("/api/v1/job/{}", created["id"].as_str().unwrap());
    let job = || -> Value { serde_json::from_str(&server.get(&path).text().unwrap()).unwrap() };
    wait_until(|| job()["state"] == "done");
    assert_eq!((&job()["succeeded"], &job()["refused"]), (&json!(5), &json!(0)), "{}", job());
}

/// Secrets are for receivers and administrators, not for readers of the log.
#[test]
fn secrets_of_webhooks_are_not_logged() {
    let folder = TempDir::new().unwrap();
    let mut arguments = ALLOW_ALL_URLS.to_vec();
    arguments.extend(["--log", "trace"]);
    let server = Server::start_in(folder.path(), &arguments);
    let cli = Cli::with_server(&server);
    let receiver = Receiver::start(success());
    let url = receiver.url.replace("http://", "http://user:password-in-url@");
    let headers = json!([{ "header_name": "Authorization", "header_value": "Bearer of-header" }]);
    listen(&cli, &url, &json!({ "headers": headers }));
    tag(&cli, "green");
    receiver.wait_for(1);
    let request = json!({ "id": "asked", "type": "sync", "headers": headers });
    receiver.behave(Behavior::Respond(200, "no JSON".to_owned()));
    listen(&cli, &url, &request);
    cli.write("tag.json", r#"{ "id": "red", "name": "Red" }"#);
    assert_eq!(cli.run(&["object", "create", "_tag", "tag.json"]).exit, 6);
    receiver.behave(Behavior::Close);
    assert_eq!(cli.run(&["webhook", "test", "hook"]).exit, 0);
    wait_until(|| log(&cli)[0]["attempts"] == 1);
    let listed: Value = cli.run(&["webhook", "list", "--json"]).exits(0).json();
    let secret = listed[0]["secret"].as_str().unwrap();
    let signature = receiver.received()[0].header("webhook-signature").to_owned();
    let logged = server.logged();
    assert!(logged.contains("/api/v1/internal/webhook"), "{logged}");
    for hidden in [secret, &secret[6..], &signature[3..], "of-header", "password-in-url"] {
        assert!(!logged.contains(hidden), "{hidden} in {logged}");
    }
}

/// By default only the public internet is reached, however an address is written.
#[test]
fn private_addresses_are_not_reached_by_default() {
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::start(success());
    let port = receiver.url.trim_end_matches("/hook").rsplit(':').next().unwrap().to_owned();
    let server = Server::start_in(folder.path(), &["--webhook-allow-http"]);
    let cli = Cli::with_server(&server);
    let addresses = [
        "127.0.0.1",
        "localhost",
        "0.0.0.0",
        "0x7f.1",
        "2130706433",
        "169.254.169.254",
        "10.0.0.1",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[fe80::1]",
    ];
    for (number, host) in addresses.iter().enumerate() {
        let url = format!("http://{host}:{port}/");
        if number == 0 {
            listen(&cli, &url, &json!({}));
            tag(&cli, "green");
        } else {
            cli.write("change.json", &json!({ "url": url }).to_string());
            cli.run(&["object", "update", "_webhooks", "hook", "change.json", "--patch"]);
        }
        wait_until(|| {
            log(&cli).first().is_some_and(|entry| entry["attempts"] == json!(number + 1))
        });
        let error = log(&cli)[0]["error"].as_str().unwrap().to_owned();
        assert!(error.ends_with("is not an address of the public internet"), "{host}: {error}");
    }
    assert!(receiver.received().is_empty());
    drop(server);

    let server = Server::start_in(folder.path(), &["--webhook-allow-private"]);
    let cli = Cli::with_server(&server);
    assert_eq!(cli.run(&["webhook", "replay", "hook"]).exit, 0);
    wait_until(|| log(&cli)[0]["error"] == "the address is not https");
    cli.write("change.json", &json!({ "url": receiver.url }).to_string());
    cli.run(&["object", "update", "_webhooks", "hook", "change.json", "--patch"]).exits(6);
    assert!(receiver.received().is_empty());
}

#[test]
fn changes_by_commands_are_delivered_by_the_next_server() {
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::start(success());
    let server = serve_in(folder.path());
    listen(&Cli::with_server(&server), &receiver.url, &json!({}));
    server.stop();
    let cli = Cli::with_data_in(folder.path());
    tag(&cli, "green");
    assert_eq!(cli.run(&["webhook", "test", "hook"]).exit, 0);
    assert!(receiver.received().is_empty());
    let _server = serve_in(folder.path());
    let actions: Vec<Value> =
        receiver.wait_for(2).iter().map(|delivery| delivery.json()["action"].clone()).collect();
    assert_eq!(actions.len(), 2);
    assert!(actions.contains(&json!("Create")) && actions.contains(&json!("Test")));
}

/// The server was stopped for longer than a delivery is retried.
#[test]
fn delivery_is_attempted_after_an_outage_of_days() {
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::start(Behavior::Respond(500, String::new()));
    let server = serve_in(folder.path());
    let cli = Cli::with_server(&server);
    listen(&cli, &receiver.url, &json!({}));
    tag(&cli, "green");
    assert_eq!(newest(&cli)["status"], "pending");
    server.stop();
    let database = Connection::open(folder.path().join("data/cms.db")).unwrap();
    let days = 4 * 86_400 * 1_000_000_i64;
    let update = "UPDATE webhook_delivery SET due_since = due_since - ?1, due_at = due_at - ?1";
    assert_eq!(database.execute(update, [days]).unwrap(), 1);
    drop(database);
    receiver.behave(success());
    let server = serve_in(folder.path());
    receiver.wait_for(2);
    let cli = Cli::with_server(&server);
    wait_until(|| log(&cli)[0]["status"] == "done");
}

/// A synchronous webhook changes a write, rejects it, or fails.
#[test]
fn synchronous_webhook_changes_and_rejects_writes() {
    let folder = TempDir::new().unwrap();
    let server = serve_in(folder.path());
    let cli = Cli::with_server(&server);
    let response = |status, body: Value| Behavior::Respond(status, body.to_string());
    let receiver = Receiver::start(response(200, json!({ "payload": { "name": "Changed" } })));
    listen(&cli, &receiver.url, &json!({ "type": "sync" }));
    tag(&cli, "green");
    let request = receiver.received().remove(0);
    assert!(request.header("webhook-signature").starts_with("v1,"));
    assert_eq!(
        request.json(),
        json!({
            "type": "request", "subject": "content-object", "event": "pre-create",
            "sequenceNumber": 0, "contentTypeName": "_tag",
            "userInfo": { "id": "", "firstName": "", "lastName": "", "apiKeyName": "admin" },
            "payload": { "id": "green", "name": "green" },
        })
    );
    let stored = || {
        let output = cli.run(&["object", "get", "_tag", "green", "--json"]);
        output.json::<Value>()["name"].clone()
    };
    assert_eq!(stored(), "Changed");

    cli.write("change.json", r#"{ "name": "Other" }"#);
    let change = ["object", "update", "_tag", "green", "change.json", "--json"];
    // The data that a webhook returns is validated.
    receiver.behave(response(200, json!({ "payload": { "name": 5 } })));
    let refused = |expected: Value| {
        let output = cli.run(&change);
        assert_eq!((output.exit, output.json::<Value>()), (6, expected));
    };
    refused(json!({ "name": ["Integer value found, but a string is required"] }));
    assert_eq!(receiver.received().last().unwrap().json()["event"], "pre-update");
    receiver.behave(response(400, json!({ "response": { "errors": { "name": ["Too dull"] } } })));
    refused(json!({ "name": ["Too dull"] }));
    receiver.behave(response(400, json!({ "response": { "errors": ["No", "Never"] } })));
    refused(json!({ "__webhook": ["No", "Never"] }));
    let failed =
        |reason: &str| json!({ "__webhook": [format!("Error processing Hook webhook: {reason}")] });
    receiver.behave(Behavior::Respond(200, "<html>".to_owned()));
    refused(failed("Could not decode JSON, syntax error - malformed JSON."));
    receiver.behave(response(200, json!({ "payload": "x".repeat(4 << 20) })));
    refused(failed("the response is larger than 4 MiB."));
    receiver.behave(Behavior::Redirect("http://127.0.0.1:1/".to_owned()));
    refused(failed("Unexpected status 307."));
    receiver.behave(Behavior::Hang);
    refused(failed("no response within the timeout."));

    receiver.behave(response(400, json!({ "response": { "errors": { "name": ["Stays"] } } })));
    cli.write("many.json", r#"[{ "id": "green", "name": "A" }, { "id": "red", "name": "B" }]"#);
    cli.run(&["import", "_tag", "many.json", "--update-existing"]).exits(7);
    let events: Vec<Value> = receiver
        .received()
        .iter()
        .rev()
        .take(2)
        .map(|request| request.json()["event"].clone())
        .collect();
    assert_eq!(events, ["pre-create", "pre-update"]);
    cli.run(&["object", "delete", "_tag", "green", "--yes"]).exits(6);
    assert_eq!(receiver.received().last().unwrap().json()["payload"], json!({ "id": "green" }));
    assert_eq!(stored(), "Changed");
    // Changes of webhooks call no webhook.
    let before = receiver.received().len();
    assert_eq!(cli.run(&["object", "delete", "_webhooks", "hook", "--yes"]).exit, 0);
    assert_eq!(receiver.received().len(), before);
}
