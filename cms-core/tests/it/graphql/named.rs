//! Queries that are named by their hashes.

use std::fmt::Write;

use cms_core::{
    Caller, Cms,
    wire::graphql::{GraphQlRequest, GraphQlResponse},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Legacy, V2, content};

/// `{ postList { id } }`, `{ post { totalCount } }` and `{ nothing { id } }`.
const LEGACY_HASH: &str = "d796a4fd76e35c7cdf63656b8f8c8c383bdff2f72e66dd0a967659e7bd8b6ce4";
const V2_HASH: &str = "6c71c89b24b1865ef50a0e5e84b71db52c4678d6617e6edb7bf3714f3499bbf5";
const WRONG_HASH: &str = "4460ed9b730545f13980e40c17889a743319d9e6fc341e70691bf7a9631a24a5";

fn body(answer: &GraphQlResponse) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

/// What is said to a query with its hash; an empty query is not sent.
fn ask(cms: &Cms, version: super::GraphQlVersion, query: &str, hash: &str) -> (u16, Value) {
    let (query, hash) = (query.to_owned(), Some(hash.to_owned()));
    let request = GraphQlRequest { query, hash, ..GraphQlRequest::default() };
    let answer = cms.graphql().execute(&Caller::local(), version, &request).unwrap();
    (answer.status, body(&answer))
}

fn message(answer: &(u16, Value)) -> (u16, &str, &str) {
    let error = &answer.1["errors"][0];
    let code = error["extensions"]["code"].as_str().unwrap();
    (answer.0, error["message"].as_str().unwrap(), code)
}

#[test]
fn a_query_has_a_name_once_it_was_sent_and_found_good() {
    let test = content::folder();
    let unknown = (200, "PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND");
    let table =
        [(Legacy, "{ postList { id } }", LEGACY_HASH), (V2, "{ post { totalCount } }", V2_HASH)];
    for (version, query, hash) in table {
        assert_eq!(message(&ask(&test.cms, version, "", hash)), unknown);
        let sent = ask(&test.cms, version, query, hash);
        assert!(sent.0 == 200 && sent.1["data"].is_object(), "{sent:?}");
        assert_eq!(ask(&test.cms, version, "", hash), sent);
    }
    // The name stands for the text, which may be wrong elsewhere.
    assert_eq!(message(&ask(&test.cms, V2, "", LEGACY_HASH)).0, 404);
    // What is wrong gets no name.
    assert_eq!(message(&ask(&test.cms, Legacy, "{ nothing { id } }", WRONG_HASH)).0, 404);
    assert_eq!(message(&ask(&test.cms, Legacy, "", WRONG_HASH)), unknown);
}

#[test]
fn long_queries_have_names_too() {
    let test = content::folder();
    let query = format!("{{ postList {{ id }} }} #{}", "x".repeat(60_000));
    let mut hash = String::new();
    for byte in Sha256::digest(&query) {
        write!(hash, "{byte:02x}").unwrap();
    }
    let sent = ask(&test.cms, Legacy, &query, &hash);
    assert_eq!(sent.0, 200);
    assert_eq!(ask(&test.cms, Legacy, "", &hash), sent);
}

#[test]
fn a_hash_of_something_else_is_refused() {
    let test = content::folder();
    let refused = ask(&test.cms, Legacy, "{ postList { id } }", V2_HASH);
    let mismatch = (400, "provided sha does not match query", "BAD_REQUEST");
    assert_eq!(message(&refused), mismatch);
    assert_eq!(message(&ask(&test.cms, V2, "", V2_HASH)).0, 200, "and not kept");
}

#[test]
fn what_names_a_query_is_read_as_clients_send_it() {
    let read = |persisted: Value| {
        let body = json!({ "extensions": { "persistedQuery": persisted, "other": 1 } });
        GraphQlRequest::read(body.to_string().as_bytes()).map_err(|answer| body_message(&answer))
    };
    let known = read(json!({ "version": 1, "sha256Hash": "abc" })).unwrap();
    assert_eq!((known.query.as_str(), known.hash.as_deref()), ("", Some("abc")));
    let table = [
        (json!({ "version": 2, "sha256Hash": "a" }), "Unsupported persisted query version"),
        (json!({ "sha256Hash": "a" }), "Unsupported persisted query version"),
        (json!({ "version": 1 }), "The property sha256Hash must be a string"),
        (json!({ "version": 1, "sha256Hash": 5 }), "The property sha256Hash must be a string"),
        (json!("a"), "The property persistedQuery must be an object"),
        (json!(null), "The property query is required"),
    ];
    for (persisted, message) in table {
        assert_eq!(read(persisted.clone()), Err(message.to_owned()), "{persisted}");
    }
}

fn body_message(answer: &GraphQlResponse) -> String {
    body(answer)["errors"][0]["message"].as_str().unwrap().to_owned()
}
