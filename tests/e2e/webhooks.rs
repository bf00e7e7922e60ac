//! Webhooks against receivers that behave and receivers that do not: order, kills, redirects, and
//! addresses that must not be reached.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    thread,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    receiver::{Manner, Received, Receiver, fine, wait_until},
    support::{Place, Server},
};

const REACHING: [&str; 2] = ["--webhook-allow-private", "--webhook-allow-http"];

/// Makes a webhook for new and changed tags.
fn listen(place: &Place, url: &str, more: &Value) {
    let mut webhook = json!({
        "id": "hook", "name": "Hook", "type": "async", "url": url, "enabled": true,
        "content_type_definitions": [{ "content_type_definition_name": "_tag" }],
        "actions": [{ "action": "Create" }, { "action": "Update" }, { "action": "Delete" }],
    });
    webhook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    place.write("hook.json", &webhook.to_string());
    let ran = place.run(&["object", "create", "_webhooks", "hook.json"]);
    assert_eq!(ran.exit, 0, "{}", ran.whole());
}

fn tag(place: &Place, id: &str) {
    place.write("tag.json", &json!({ "id": id, "name": id }).to_string());
    let ran = place.run(&["object", "create", "_tag", "tag.json"]);
    assert_eq!(ran.exit, 0, "{}", ran.whole());
}

fn log(place: &Place) -> Vec<Value> {
    let ran = place.run(&["webhook", "log", "hook", "--limit", "300", "--json"]);
    assert_eq!(ran.exit, 0, "{}", ran.whole());
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Waits until the newest entry of the log has been tried; returns it.
fn newest(place: &Place) -> Value {
    wait_until(|| log(place).first().is_some_and(|entry| entry["attempts"] != 0));
    log(place).remove(0)
}

/// Ids of what was received, each once, in order.
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
    Server::start_in(folder, &REACHING)
}

#[test]
fn a_receiver_is_told_and_can_check_who_tells() {
    let folder = TempDir::new().unwrap();
    let server = serve_in(folder.path());
    let place = Place::with_server(&server);
    let receiver = Receiver::start(fine());
    let headers = json!([{ "header_name": "X-Own", "header_value": "a b" }]);
    listen(&place, &receiver.url, &json!({ "headers": headers }));
    tag(&place, "green");
    let told = receiver.wait_for(1).remove(0);
    assert_eq!(told.header("x-own"), "a b");
    assert_eq!(told.header("content-type"), "application/json");
    let body = told.json();
    assert_eq!(body["action"], "Create");
    assert_eq!(body["ref"], "/api/v1/content/_tag/green/version/1");
    assert_eq!(body["payload"]["name"], "green");

    // The signature is the one that the shown secret gives.
    let listed = place.run(&["webhook", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let secret = listed[0]["secret"].as_str().unwrap().to_owned();
    let script = "import sys,hmac,base64,hashlib\n\
        secret,id,at,body=sys.argv[1:]\n\
        key=base64.b64decode(secret.removeprefix('whsec_'))\n\
        tag=hmac.new(key,f'{id}.{at}.{body}'.encode(),hashlib.sha256).digest()\n\
        print('v1,'+base64.b64encode(tag).decode())";
    let [id, at] = ["webhook-id", "webhook-timestamp"].map(|name| told.header(name));
    let computed = std::process::Command::new("python3")
        .args(["-c", script, &secret, id, at, &told.body])
        .output();
    if let Ok(computed) = computed {
        let computed = String::from_utf8(computed.stdout).unwrap();
        assert_eq!(computed.trim(), told.header("webhook-signature"));
    }
    let entry = newest(&place);
    assert_eq!((&entry["status"], &entry["response"]["body"]), (&json!("done"), &json!("thanks")));
}

/// One delivery that a receiver did not take held back all others for days.
#[test]
fn a_failing_delivery_holds_back_its_own_object_alone() {
    let folder = TempDir::new().unwrap();
    let server = serve_in(folder.path());
    let place = Place::with_server(&server);
    let receiver = Receiver::start(Manner::Answer(500, "not now".to_owned()));
    listen(&place, &receiver.url, &json!({}));
    tag(&place, "a1");
    wait_until(|| log(&place).first().is_some_and(|entry| entry["attempts"] == 1));
    assert_eq!(log(&place)[0]["response"], json!({ "status": 500, "body": "not now" }));
    for manner in [Manner::CutOff, Manner::Redirect(receiver.url.clone())] {
        receiver.behave(manner);
        let before = receiver.received().len();
        assert_eq!(place.run(&["webhook", "replay", "hook"]).exit, 0);
        receiver.wait_for(before + 1);
    }
    wait_until(|| log(&place)[0]["status"] == "error");
    assert_eq!(log(&place)[0]["error"], "the answer has status 307");
    assert_eq!(receiver.received().len(), 3, "nobody follows to another place");
    receiver.behave(fine());
    place.write("change.json", r#"{ "name": "Changed" }"#);
    let change = ["object", "update", "_tag", "a1", "change.json", "--patch"];
    assert_eq!(place.run(&change).exit, 0);
    for id in ["a2", "a3", "a4"] {
        tag(&place, id);
    }
    wait_until(|| log(&place).iter().filter(|entry| entry["status"] == "done").count() == 3);
    assert_eq!(ids(&receiver.received()), ["a1", "a2", "a3", "a4"], "a1 is not due yet");
    let count = |name: &str| server.metric(&format!("cms_webhook_{name}"));
    assert_eq!(["deliveries_waiting", "endpoints_down"].map(count), ["2", "0"]);
    assert_ne!(count("oldest_delivery_seconds"), "0");
    place.run(&["webhook", "replay", "hook"]);
    wait_until(|| log(&place).iter().all(|entry| entry["status"] == "done"));
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
    assert_eq!(["deliveries_waiting", "oldest_delivery_seconds"].map(count), ["0", "0"]);
}

/// The server is killed again and again, with requests under way, and the receiver fails meanwhile.
#[test]
fn a_killed_server_goes_on_where_it_was() {
    const TAGS: usize = 40;
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::start(fine());
    for round in 0..5 {
        let server = serve_in(folder.path());
        let place = Place::with_server(&server);
        if round == 0 {
            listen(&place, &receiver.url, &json!({}));
        }
        let is_failing = round % 2 == 1;
        receiver.behave(if is_failing { Manner::Answer(503, String::new()) } else { fine() });
        let tags: Vec<Value> = (0..TAGS)
            .map(|number| format!("tag-{number:03}"))
            .map(|id| json!({ "id": id, "name": format!("{id} in {round}") }))
            .collect();
        place.write("tags.json", &json!(tags).to_string());
        let before = receiver.received().len();
        let ran = place.run(&["import", "_tag", "tags.json", "--update-existing"]);
        assert_eq!(ran.exit, 0, "{}", ran.whole());
        // What failed waits for seconds.
        assert_eq!(place.run(&["webhook", "replay", "hook"]).exit, 0);
        // In the middle of it, more or less.
        receiver.wait_for(before + if is_failing { 1 } else { 10 });
        server.stop();
    }
    let server = serve_in(folder.path());
    let place = Place::with_server(&server);
    let pending = || {
        let listed = place.run(&["webhook", "list", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        listed[0]["pending"].clone()
    };
    wait_until(|| pending() == 0);
    // Each object by itself: all of its versions, in order; the same may have come again.
    let mut taken: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for request in receiver.received().iter().filter(|request| request.taken) {
        let reference = request.json()["ref"].as_str().unwrap().to_owned();
        let (id, version) = reference.rsplit_once("/version/").unwrap();
        let versions = taken.entry(id.to_owned()).or_default();
        if versions.last().is_none_or(|last| last != version) {
            versions.push(version.to_owned());
        }
    }
    assert_eq!(taken.len(), TAGS);
    for (id, versions) in taken {
        assert_eq!(versions, ["1", "2", "3", "4", "5"], "{id}");
    }
}

/// A receiver that takes its time holds up neither writes nor other receivers.
#[test]
fn a_slow_receiver_is_waited_for_by_nobody_else() {
    let folder = TempDir::new().unwrap();
    let server = serve_in(folder.path());
    let place = Place::with_server(&server);
    let (slow, quick) = (Receiver::start(Manner::Silence), Receiver::start(fine()));
    listen(&place, &slow.url, &json!({}));
    listen(&place, &quick.url, &json!({ "id": "quick" }));
    for number in 0..5 {
        tag(&place, &format!("tag-{number}"));
    }
    assert_eq!(ids(&quick.wait_for(5)).len(), 5);
    assert_eq!(slow.wait_for(4).len(), 4, "it has not responded to the first yet");
}

/// More writes wait for a blocking webhook than may be under way. Others go on, and those that
/// cannot even wait are sent away.
#[test]
fn a_slow_blocking_webhook_is_waited_for_by_nobody_else() {
    let folder = TempDir::new().unwrap();
    let server = serve_in(folder.path());
    let place = Place::with_server(&server);
    let receiver = Receiver::start(Manner::Silence);
    listen(&place, &receiver.url, &json!({ "type": "sync" }));
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
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer.split(' ').nth(1).unwrap().to_owned()
        })
    };
    let waiting: Vec<_> = (0..80).map(post).collect();
    receiver.wait_for(64);
    place.write("form.json", r#"{ "name": "A", "email": "a@example.com" }"#);
    let ran = place.run(&["object", "create", "contact_form", "form.json"]);
    assert_eq!(ran.exit, 0, "{}", ran.whole());
    assert!(waiting.iter().any(|thread| !thread.is_finished()), "they wait for five seconds");
    let mut statuses: Vec<String> =
        waiting.into_iter().map(|thread| thread.join().unwrap()).collect();
    statuses.sort();
    assert_eq!(statuses.len(), 80);
    assert_eq!(statuses.iter().filter(|status| *status == "400").count(), 64, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| *status == "503").count(), 16, "{statuses:?}");
}

/// Secrets are for receivers and administrators, not for whoever reads logs.
#[test]
fn no_secret_is_logged() {
    let folder = TempDir::new().unwrap();
    let mut arguments = REACHING.to_vec();
    arguments.extend(["--log", "trace"]);
    let server = Server::start_in(folder.path(), &arguments);
    let place = Place::with_server(&server);
    let receiver = Receiver::start(fine());
    let url = receiver.url.replace("http://", "http://user:password-in-url@");
    let headers = json!([{ "header_name": "Authorization", "header_value": "Bearer of-header" }]);
    listen(&place, &url, &json!({ "headers": headers }));
    tag(&place, "green");
    receiver.wait_for(1);
    let asked = json!({ "id": "asked", "type": "sync", "headers": headers });
    receiver.behave(Manner::Answer(200, "no JSON".to_owned()));
    listen(&place, &url, &asked);
    place.write("tag.json", r#"{ "id": "red", "name": "Red" }"#);
    assert_eq!(place.run(&["object", "create", "_tag", "tag.json"]).exit, 6);
    receiver.behave(Manner::CutOff);
    assert_eq!(place.run(&["webhook", "test", "hook"]).exit, 0);
    wait_until(|| log(&place)[0]["attempts"] == 1);
    let listed = place.run(&["webhook", "list", "--json"]).ok();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let secret = listed[0]["secret"].as_str().unwrap();
    let signature = receiver.received()[0].header("webhook-signature").to_owned();
    let logged = server.logged();
    assert!(logged.contains("/api/v1/internal/webhook"), "{logged}");
    for hidden in [secret, &secret[6..], &signature[3..], "of-header", "password-in-url"] {
        assert!(!logged.contains(hidden), "{hidden} in {logged}");
    }
}

/// By default nothing but the public internet is reached, whatever an address looks like.
#[test]
fn this_machine_and_its_network_are_out_of_reach() {
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::start(fine());
    let port = receiver.url.trim_end_matches("/hook").rsplit(':').next().unwrap().to_owned();
    let server = Server::start_in(folder.path(), &["--webhook-allow-http"]);
    let place = Place::with_server(&server);
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
            listen(&place, &url, &json!({}));
            tag(&place, "green");
        } else {
            place.write("change.json", &json!({ "url": url }).to_string());
            place.run(&["object", "update", "_webhooks", "hook", "change.json", "--patch"]);
        }
        wait_until(|| {
            log(&place).first().is_some_and(|entry| entry["attempts"] == json!(number + 1))
        });
        let error = log(&place)[0]["error"].as_str().unwrap().to_owned();
        assert!(error.ends_with("is not an address of the public internet"), "{host}: {error}");
    }
    assert!(receiver.received().is_empty());
    drop(server);

    let server = Server::start_in(folder.path(), &["--webhook-allow-private"]);
    let place = Place::with_server(&server);
    assert_eq!(place.run(&["webhook", "replay", "hook"]).exit, 0);
    wait_until(|| log(&place)[0]["error"] == "the address is not https");
    place.write("change.json", &json!({ "url": receiver.url }).to_string());
    let ran = place.run(&["object", "update", "_webhooks", "hook", "change.json", "--patch"]);
    assert_eq!(ran.exit, 6, "{}", ran.whole());
    assert!(receiver.received().is_empty());
}

#[test]
fn commands_on_a_folder_are_told_by_the_next_server() {
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::start(fine());
    let server = serve_in(folder.path());
    listen(&Place::with_server(&server), &receiver.url, &json!({}));
    server.stop();
    let place = Place::with_data_in(folder.path());
    tag(&place, "green");
    assert_eq!(place.run(&["webhook", "test", "hook"]).exit, 0);
    assert!(receiver.received().is_empty());
    let _server = serve_in(folder.path());
    let actions: Vec<Value> =
        receiver.wait_for(2).iter().map(|told| told.json()["action"].clone()).collect();
    assert_eq!(actions.len(), 2);
    assert!(actions.contains(&json!("Create")) && actions.contains(&json!("Test")));
}

/// Asked before a write, a receiver changes it, refuses it, or is in the way.
#[test]
fn a_blocking_webhook_changes_and_refuses_writes() {
    let folder = TempDir::new().unwrap();
    let server = serve_in(folder.path());
    let place = Place::with_server(&server);
    let answer = |status, body: Value| Manner::Answer(status, body.to_string());
    let receiver = Receiver::start(answer(200, json!({ "payload": { "name": "Changed" } })));
    listen(&place, &receiver.url, &json!({ "type": "sync" }));
    tag(&place, "green");
    let asked = receiver.received().remove(0);
    assert!(asked.header("webhook-signature").starts_with("v1,"));
    assert_eq!(
        asked.json(),
        json!({
            "type": "request", "subject": "content-object", "event": "pre-create",
            "sequenceNumber": 0, "contentTypeName": "_tag",
            "userInfo": { "id": "", "firstName": "", "lastName": "", "apiKeyName": "admin" },
            "payload": { "id": "green", "name": "green" },
        })
    );
    let stored = || {
        let ran = place.run(&["object", "get", "_tag", "green", "--json"]);
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["name"].clone()
    };
    assert_eq!(stored(), "Changed");

    place.write("change.json", r#"{ "name": "Other" }"#);
    let change = ["object", "update", "_tag", "green", "change.json", "--json"];
    // What a webhook makes of the data is validated like any other.
    receiver.behave(answer(200, json!({ "payload": { "name": 5 } })));
    let refused = |expected: Value| {
        let ran = place.run(&change);
        assert_eq!((ran.exit, serde_json::from_str::<Value>(&ran.stdout).unwrap()), (6, expected));
    };
    refused(json!({ "name": ["Integer value found, but a string is required"] }));
    assert_eq!(receiver.received().last().unwrap().json()["event"], "pre-update");
    receiver.behave(answer(400, json!({ "response": { "errors": { "name": ["Too dull"] } } })));
    refused(json!({ "name": ["Too dull"] }));
    receiver.behave(answer(400, json!({ "response": { "errors": ["No", "Never"] } })));
    refused(json!({ "__webhook": ["No", "Never"] }));
    let failed =
        |reason: &str| json!({ "__webhook": [format!("Error processing Hook webhook: {reason}")] });
    receiver.behave(Manner::Answer(200, "<html>".to_owned()));
    refused(failed("Could not decode JSON, syntax error - malformed JSON."));
    receiver.behave(Manner::Redirect("http://127.0.0.1:1/".to_owned()));
    refused(failed("Unexpected status 307."));
    receiver.behave(Manner::Silence);
    refused(failed("no answer in time."));

    receiver.behave(answer(400, json!({ "response": { "errors": { "name": ["Stays"] } } })));
    place.write("many.json", r#"[{ "id": "green", "name": "A" }, { "id": "red", "name": "B" }]"#);
    let ran = place.run(&["import", "_tag", "many.json", "--update-existing"]);
    assert_eq!(ran.exit, 7, "{}", ran.whole());
    let events: Vec<Value> = receiver
        .received()
        .iter()
        .rev()
        .take(2)
        .map(|asked| asked.json()["event"].clone())
        .collect();
    assert_eq!(events, ["pre-create", "pre-update"]);
    let ran = place.run(&["object", "delete", "_tag", "green", "--yes"]);
    assert_eq!(ran.exit, 6, "{}", ran.whole());
    assert_eq!(receiver.received().last().unwrap().json()["payload"], json!({ "id": "green" }));
    assert_eq!(stored(), "Changed");
    // Nobody is asked about webhooks themselves.
    let before = receiver.received().len();
    assert_eq!(place.run(&["object", "delete", "_webhooks", "hook", "--yes"]).exit, 0);
    assert_eq!(receiver.received().len(), before);
}
