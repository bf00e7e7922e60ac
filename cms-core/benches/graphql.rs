//! The cost of the first request after a change of types, and of rejecting expensive queries.
//! `cargo bench -p cms-core --features testing --bench graphql`

#![expect(clippy::unwrap_used, reason = "a bench may panic if its content cannot be created")]

#[path = "../tests/it/graphql/content.rs"]
mod content;
#[path = "../../benches/src/corpus.rs"]
#[expect(dead_code, reason = "each bench uses a part")]
mod corpus;
#[path = "../tests/it/graphql/hostile/queries.rs"]
mod queries;
#[path = "../tests/it/support.rs"]
#[expect(dead_code, reason = "each bench uses a part")]
mod support;

use cms_core::{
    Caller,
    clock::Clock,
    testing::TestCms,
    wire::graphql::{GraphQlRequest, GraphQlResponse, GraphQlVersion},
};
use divan::Bencher;
use serde_json::{Map, Value};

const TYPES: usize = 200;
const VERSIONS: [GraphQlVersion; 2] = [GraphQlVersion::Legacy, GraphQlVersion::V2];

fn main() {
    divan::main();
}

/// One of two hundred types has changed: reads the types, and writes the text of the schema.
#[divan::bench(args = VERSIONS)]
fn schema_after_a_change(bencher: Bencher, version: GraphQlVersion) {
    let (folder, local) = (folder(), Caller::local());
    let schema = || folder.cms.graphql().schema(&local, version).expect("types have a schema");
    assert!(schema().contains(&format!("type {} ", name(TYPES - 1))));
    bencher.with_inputs(|| change(&folder)).bench_local_values(|()| schema());
}

/// The same for a query, which does not need the text of the schema.
#[divan::bench(args = VERSIONS)]
fn query_after_a_change(bencher: Bencher, version: GraphQlVersion) {
    let folder = folder();
    assert_eq!(execute(&folder, version, "{ __typename }").status, 200);
    let query = || execute(&folder, version, "{ __typename }");
    bencher.with_inputs(|| change(&folder)).bench_local_values(|()| query());
}

#[divan::bench(args = queries::queries().into_iter().map(|(name, _)| name))]
fn refusal(bencher: Bencher, name: &str) {
    let folder = content::folder();
    let query = queries::queries().into_iter().find(|(known, _)| *known == name);
    let query = query.expect("it has this name").1;
    let refuse = || execute(&folder, GraphQlVersion::Legacy, &query);
    assert_eq!(refuse().status, 400);
    bencher.bench_local(refuse);
}

fn execute(folder: &TestCms, version: GraphQlVersion, query: &str) -> GraphQlResponse {
    let request = GraphQlRequest { query: query.to_owned(), ..GraphQlRequest::default() };
    let response = folder.cms.graphql().execute(&Caller::local(), version, &request);
    response.expect("the folder can be read")
}

fn folder() -> TestCms {
    let folder = TestCms::new();
    for number in 0..TYPES {
        let definition = post(&name(number));
        folder.cms.types().create(&Caller::local(), definition).expect("the type is valid");
    }
    folder
}

/// Names of types have no digits.
fn name(number: usize) -> String {
    let letter = |index: usize| char::from(b"abcdefghijklmnopqrstuvwxyz"[index % 26]);
    format!("post_{}{}", letter(number / 26), letter(number))
}

/// Changes the label of a type, which no schema contains: the schema is rebuilt nevertheless.
fn change(folder: &TestCms) {
    let mut definition = post(&name(0));
    folder.clock.advance(1);
    let label = format!("Posts at {:?}", folder.clock.now());
    definition.insert("label".to_owned(), label.into());
    folder.cms.types().update(&Caller::local(), &name(0), definition).expect("the type is valid");
}

/// The type of the corpus under another name.
fn post(name: &str) -> Map<String, Value> {
    let mut types = corpus::types().into_iter();
    let post = types.find(|definition| definition["name"] == "post");
    let Some(Value::Object(mut definition)) = post else { panic!("the corpus has posts") };
    definition.insert("name".to_owned(), name.into());
    definition
}
