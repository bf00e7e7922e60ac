//! Agreement with the reference implementation, if Node and its package `graphql` are installed:
//! `npm install graphql`, and its folder `node_modules` in `NODE_PATH`.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use cms_core::{Caller, testing::TestCms, wire::graphql::GraphQlVersion};
use serde_json::{Value, json};

use super::{Legacy, V2, content, execute};

/// The introspection query that tools send.
const INTROSPECTION: &str = "query IntrospectionQuery { __schema { queryType { name } mutationType { name } \
    subscriptionType { name } types { ...FullType } directives { name description locations \
    args { ...InputValue } } } } \
    fragment FullType on __Type { kind name description fields(includeDeprecated: true) { name \
    description args { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason } \
    inputFields { ...InputValue } interfaces { ...TypeRef } enumValues(includeDeprecated: true) { \
    name description isDeprecated deprecationReason } possibleTypes { ...TypeRef } } \
    fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue } \
    fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { kind name \
    ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name \
    ofType { kind name } } } } } } } } } }";

/// Valid and invalid queries for the legacy schema.
const LEGACY_QUERIES: &[&str] = &[
    "{ post(id: \"a\") { id } }",
    "{ postList { id ...F } } fragment F on post { title related { ...G } } fragment G on post { id }",
    "{ postList(page: 1.0) { id } }",
    "{ postList { id @skip(if: null) } }",
    "{ postList { id @include(if: 1) } }",
    "query A($a: Int) { postList(page: $a) { id } }",
    "query A($a: Int!) { postList(page: $a) { id } }",
    "query A($a: String) { postList(page: $a) { id } }",
    "query A($a: [Int]) { postList(page: $a) { id } }",
    "query A($a: Nope) { postList(page: $a) { id } }",
    "query A($a: [Nope] = [1]) { postList(page: $a) { id } }",
    "query A($a: post) { postList(page: $a) { id } }",
    "query A($a: Int, $a: Int) { postList(page: $a) { id } }",
    "query A($a: Int = \"x\") { postList(page: $a) { id } }",
    "query A($a: Int! = null) { postList(page: $a) { id } }",
    "query A($a: Int) { postList { id } }",
    "query A { postList(page: $a) { id } }",
    "{ postList(page: $a) { id } }",
    "query A { postList { ...F } } fragment F on post { id @skip(if: $a) }",
    "query A($a: Boolean) { postList { id @skip(if: $a) } }",
    "query A($a: Boolean = false) { postList { id @skip(if: $a) } }",
    "{ postList { nope } }",
    "{ postList { author { nope { x(a: 1) } } } }",
    "{ postList { id { x } } }",
    "{ postList { author } }",
    "{ postList }",
    "{ post(id: 5) { id } }",
    "{ post(id: null) { id } }",
    "{ post(id: [\"a\"]) { id } }",
    "{ post(id: {a: 1}) { id } }",
    "{ post(id: red) { id } }",
    "{ postList(page: 1.5) { id } }",
    "{ postList(page: \"1\") { id } }",
    "{ postList(page: 3000000000) { id } }",
    "{ postList(page: true) { id } }",
    "{ post(nope: 1) { id } }",
    "{ post(id: \"a\", id: \"b\") { id } }",
    "{ post(id: \"a\") { id(x: 1) } }",
    "{ post(id: \"a\") { ...Nope } }",
    "{ post(id: \"a\") { ...F } } fragment F on author { id }",
    "{ post(id: \"a\") { ... on author { id } } }",
    "{ post(id: \"a\") { ... on Nope { id } } }",
    "{ post(id: \"a\") { ... on String { id } } }",
    "{ post(id: \"a\") { ...F } } fragment F on Nope { id }",
    "{ post(id: \"a\") { ...F } } fragment F on Int { id }",
    "{ post(id: \"a\") { id } } fragment F on post { id }",
    "{ post(id: \"a\") { ...F } } fragment F on post { ...F }",
    "{ post(id: \"a\") { ...F } } fragment F on post { ...G } fragment G on post { ...F }",
    "{ post(id: \"a\") { ...F } } fragment F on post { related { ...G } } fragment G on post { related { ...H } } fragment H on post { related { ...F } }",
    "{ post(id: \"a\") { id @nope } }",
    "{ post(id: \"a\") { id @nope(a: 1) } }",
    "{ post(id: \"a\") { id @skip } }",
    "{ post(id: \"a\") { id @skip(if: 1) } }",
    "{ post(id: \"a\") { id @skip(if: true, x: 1) } }",
    "{ post(id: \"a\") { id @skip(if: true) @skip(if: true) } }",
    "{ post(id: \"a\") { id @skip(if: true) @include(if: true) } }",
    "{ post(id: \"a\") { id @deprecated } }",
    "query A @skip(if: true) { post(id: \"a\") { id } }",
    "{ post(id: \"a\") { ...F } } fragment F on post @skip(if: true) { id }",
    "{ post(id: \"a\") { title: id title } }",
    "{ post(id: \"a\") { id id title: title title } }",
    "{ post(id: \"a\") { id } post(id: \"b\") { id } }",
    "{ post(id: \"a\") { id } post(id: \"a\") { title } }",
    "{ post(id: \"a\") { id @skip(if: true) id: title } }",
    "{ __typename @include(if: true) post(id: \"a\") { __typename } }",
    "{ __typename { x } }",
    "{ __typename(a: 1) }",
    "{ __type { name } }",
    "{ __type(name: 5) { name } }",
    "{ __type(name: \"post\") { fields(includeDeprecated: true) { name nope } kind { x } } }",
    "{ __schema { types } }",
    "{ __schema(a: 1) { types { name } } }",
    "{ post(id: \"a\") { __schema { types { name } } } }",
    "{ post(id: \"a\") { body { blocks { data tunes } } } }",
    "{ post(id: \"a\") { body { blocks { data { x } } } } }",
    "{ post(id: \"a\") { ...F @skip(if: true) ... @include(if: false) { id } } } fragment F on post { id }",
];

const V2_QUERIES: &[&str] = &[
    "{ post { edges { node { id } } pageInfo { hasNextPage } totalCount } }",
    "query A($f: postFilterInput) { post(filter: $f) { totalCount } }",
    "query A($f: authorFilterInput) { post(filter: $f) { totalCount } }",
    "query A($t: String!) { post(filter: {title: {type: $t, filter: \"a\"}}) { totalCount } }",
    "query A($t: String) { post(filter: {title: {type: $t, filter: \"a\"}}) { totalCount } }",
    "query A($t: FieldFilterInput) { post(filter: {title: $t}) { totalCount } }",
    "query A($t: Int) { post(filter: {nope: {type: $t}}) { totalCount } }",
    "{ post(filter: {title: {type: \"equals\"}}) { totalCount } }",
    "{ post(filter: {title: {type: \"equals\", filter: 5}}) { totalCount } }",
    "{ post(filter: {title: {type: null, filter: \"\"}}) { totalCount } }",
    "{ post(filter: {nope: {type: \"equals\", filter: \"\"}}) { totalCount } }",
    "{ post(filter: {title: {type: \"equals\", filter: \"\", nope: 1}}) { totalCount } }",
    "{ post(filter: 5) { totalCount } }",
    "{ post(filter: \"a\") { totalCount } }",
    "{ post(filter: [1]) { totalCount } }",
    "{ post(filter: {title: 5}) { totalCount } }",
    "{ post(filter: null, first: null) { totalCount } }",
    "{ post { edges { id } } }",
    "{ post { edges } }",
    "{ post { totalCount { x } } }",
    "{ post { ...F } } fragment F on postConnection { edges { ...G } } fragment G on postEdge { node { id } }",
    "{ post { edges { node { id } node { id: title } } } }",
];

/// The messages of the reference implementation; none if it is not installed.
fn run_reference(question: &Value) -> Option<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/graphql/reference.js");
    let node =
        Command::new("node").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut node) = node else { return None };
    let text = question.to_string();
    let mut input = node.stdin.take().unwrap();
    // Fails if the script ends early, which its exit code reports.
    let writer = std::thread::spawn(move || drop(input.write_all(text.as_bytes())));
    let output = node.wait_with_output().unwrap();
    writer.join().unwrap();
    if output.status.code() == Some(77) {
        return None;
    }
    assert!(output.status.success(), "the script failed");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn described(test: &TestCms, version: GraphQlVersion) -> Value {
    let (status, body) = execute(&test.cms, version, INTROSPECTION);
    assert_eq!(status, 200, "{body}");
    let sdl = test.cms.graphql().schema(&Caller::local(), version).unwrap();
    json!({ "sdl": sdl, "introspection": body["data"] })
}

#[test]
fn validation_agrees_with_the_reference_implementation() {
    let test = content::folder();
    let versions = [(Legacy, LEGACY_QUERIES), (V2, V2_QUERIES)];
    let queries: Vec<Value> = (0_usize..)
        .zip(versions)
        .flat_map(|(schema, (_, queries))| {
            queries.iter().map(move |query| json!({ "schema": schema, "query": query }))
        })
        .collect();
    let schemas = versions.map(|(version, _)| described(&test, version));
    let Some(messages) = run_reference(&json!({ "schemas": schemas, "queries": queries,
        "introspection": INTROSPECTION }))
    else {
        eprintln!("skipped: needs `node` and, in NODE_PATH, the package `graphql`");
        return;
    };
    assert_eq!(messages["differences"], json!([[], []]));

    let mut wrong = Vec::new();
    let selected = versions
        .iter()
        .flat_map(|(version, queries)| queries.iter().map(move |query| (*version, *query)));
    for ((version, query), theirs) in selected.zip(messages["errors"].as_array().unwrap()) {
        let (_, body) = execute(&test.cms, version, query);
        // The reference does not know errors of our own checks of values.
        let errors = body["errors"].as_array().into_iter().flatten().filter(|error| {
            ["GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED"]
                .contains(&error["extensions"]["code"].as_str().unwrap())
        });
        let messages = errors.map(|error| error["message"].as_str().unwrap());
        let ours: Vec<&str> = messages
            .filter(|message| {
                !message.ends_with("\" was not provided.") || message.starts_with("Field")
            })
            .collect();
        let mut theirs: Vec<&str> =
            theirs.as_array().unwrap().iter().map(|message| message.as_str().unwrap()).collect();
        let mut sorted = ours.clone();
        sorted.sort_unstable();
        theirs.sort_unstable();
        // Our message about conflicting fields is shorter.
        let is_below = theirs.iter().any(|message| message.contains("because subfields"));
        if sorted != theirs && (!is_below || ours.is_empty()) {
            wrong.push(format!("{query}\n  ours   {ours:?}\n  theirs {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
