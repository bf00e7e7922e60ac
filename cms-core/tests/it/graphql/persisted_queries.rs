//! Persisted queries: a hash instead of the text.

use std::fmt::Write;

use cms_core::{
    Caller, Cms,
    wire::graphql::{GraphQlRequest, GraphQlResponse},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Legacy, V2, content};

/// The hashes of `{ postList { id } }`, `{ post { totalCount } }` and `{ nothing { id } }`.
const LEGACY_HASH: &str = "d796a4fd76e35c7cdf63656b8f8c8c383bdff2f72e66dd0a967659e7bd8b6ce4";
const V2_HASH: &str = "6c71c89b24b1865ef50a0e5e84b71db52c4678d6617e6edb7bf3714f3499bbf5";
const WRONG_HASH: &str = "4460ed9b730545f13980e40c17889a743319d9e6fc341e70691bf7a9631a24a5";

fn body(response: &GraphQlResponse) -> Value {
    serde_json::from_slice(&response.body).unwrap()
}

/// The response to a query with its hash; an empty query is left out.
fn execute(cms: &Cms, version: super::GraphQlVersion, query: &str, hash: &str) -> (u16, Value) {
    let (query, hash) = (query.to_owned(), Some(hash.to_owned()));
    let request = GraphQlRequest { query, hash, ..GraphQlRequest::default() };
    let response = cms.graphql().execute(&Caller::local(), version, &request).unwrap();
    (response.status, body(&response))
}

fn message(response: &(u16, Value)) -> (u16, &str, &str) {
    let error = &response.1["errors"][0];
    let code = error["extensions"]["code"].as_str().unwrap();
    (response.0, error["message"].as_str().unwrap(), code)
}

#[test]
fn valid_query_is_stored_under_its_hash() {
    let test = content::folder();
    let unknown = (200, "PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND");
    let table =
        [(Legacy, "{ postList { id } }", LEGACY_HASH), (V2, "{ post { totalCount } }", V2_HASH)];
    for (version, query, hash) in table {
        assert_eq!(message(&execute(&test.cms, version, "", hash)), unknown);
        let sent = execute(&test.cms, version, query, hash);
        assert!(sent.0 == 200 && sent.1["data"].is_object(), "{sent:?}");
        assert_eq!(execute(&test.cms, version, "", hash), sent);
    }
    // The hash stands for the text, which may be invalid in the other version.
    assert_eq!(message(&execute(&test.cms, V2, "", LEGACY_HASH)).0, 404);
    // Invalid queries are not stored.
    assert_eq!(message(&execute(&test.cms, Legacy, "{ nothing { id } }", WRONG_HASH)).0, 404);
    assert_eq!(message(&execute(&test.cms, Legacy, "", WRONG_HASH)), unknown);
}

#[test]
fn long_queries_are_stored() {
    let test = content::folder();
    let query = format!("{{ postList {{ id }} }} #{}", "x".repeat(60_000));
    let mut hash = String::new();
    for byte in Sha256::digest(&query) {
        write!(hash, "{byte:02x}").unwrap();
    }
    let sent = execute(&test.cms, Legacy, &query, &hash);
    assert_eq!(sent.0, 200);
    assert_eq!(execute(&test.cms, Legacy, "", &hash), sent);
}

#[test]
fn hash_of_another_query_is_refused() {
    let test = content::folder();
    let refused = execute(&test.cms, Legacy, "{ postList { id } }", V2_HASH);
    let mismatch = (400, "provided sha does not match query", "BAD_REQUEST");
    assert_eq!(message(&refused), mismatch);
    assert_eq!(message(&execute(&test.cms, V2, "", V2_HASH)).0, 200, "and it is not stored");
}

#[test]
fn persisted_query_extension_is_parsed() {
    let read = |persisted: Value| {
        let body = json!({ "extensions": { "persistedQuery": persisted, "other": 1 } });
        GraphQlRequest::read(body.to_string().as_bytes())
            .map_err(|response| body_message(&response))
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

fn body_message(response: &GraphQlResponse) -> String {
    body(response)["errors"][0]["message"].as_str().unwrap().to_owned()
}
