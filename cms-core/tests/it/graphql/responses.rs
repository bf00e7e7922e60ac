//! Complete responses, as transcripts of queries.

use std::fmt::Write;

use cms_core::{
    Caller,
    wire::graphql::{GraphQlRequest, GraphQlVersion},
};
use serde_json::json;

use super::{Legacy, V2, content, execute, execute_as};
use crate::support::map;

/// Queries and responses, with members in the order of the response.
fn transcript(version: GraphQlVersion, queries: &[&str]) -> String {
    let test = content::folder();
    let mut out = String::new();
    for query in queries {
        let request = GraphQlRequest { query: (*query).to_owned(), ..GraphQlRequest::default() };
        let response = test.cms.graphql().execute(&Caller::local(), version, &request).unwrap();
        let body = String::from_utf8(response.body).unwrap();
        serde_json::from_str::<serde_json::Value>(&body).unwrap_or_else(|e| panic!("{e}: {body}"));
        writeln!(out, "{query}\n  {} {body}\n", response.status).unwrap();
    }
    out
}

#[test]
fn legacy_responses() {
    insta::assert_snapshot!(transcript(
        Legacy,
        &[
            r#"{ post(id: "FULL") { id title rank hot words colours date _2nd _note _note_ } }"#,
            r#"{ post(id: "full") { place { lat lon } trim { top } any { dataUrl type } author { name } } }"#,
            r#"{ post(id: "full") { body { time version blocks { id type data tunes } } parts { heading _language } } }"#,
            r#"{ post(id: "full") { internal { status createdAt updatedAt deletedAt contentType objectTitle latestVersion workflowState publishedAt publicVersion __typename } } }"#,
            r#"{ post(id: "bare") { id rank words colours date _2nd place { lat } body { time } author { id } any { type } parts { heading } trim { top } } }"#,
            r#"{ post(field: "title", value: "Bare") { id } author(field: "name", value: "Bob") { id __typename } }"#,
            r#"{ postList(order_by: "rank", order_direction: "desc") { id } }"#,
            "{ postList(page: 2, limit: 2) { title } none: postList(page: 9) { id } }",
            "{ postList(page: 0, limit: 0) { title } }",
            r#"{ postList(filter: "{\"rank\":{\"type\":\"greaterThan\",\"filter\":1}}") { id related { title author { name posts { id } } } } }"#,
            r#"{ a: post(id: "linked") { parts { sources { id } } } b: __typename _mediaList { id } }"#,
            "query Q { postList(limit: 1) { ...F ... on post { rank ... { hot } } } } fragment F on post { title title rank @skip(if: true) }",
            r#"{ post(id: "nope") { id } other: post(id: "full") { id } post_2: post(id: "no") { id } }"#,
            "{ post { id } }",
            r#"{ post(field: "rank", value: "1") { id } }"#,
            r#"{ post(field: "title") { id } }"#,
            r#"{ postList(filter: "{") { id } }"#,
            r#"{ postList(filter: "{\"rank\":{\"type\":\"like\",\"filter\":1}}") { id } }"#,
            "{ unknown { id } }",
            "{ post(id: \"full\") { title: id title } }",
            "{ post(id: \"full\") { unknown } }",
            "{ postList { id ",
            "",
        ]
    ));
}

#[test]
fn v2_responses() {
    insta::assert_snapshot!(transcript(
        V2,
        &[
            "{ post { edges { node { id title rank hot } } pageInfo { hasNextPage } totalCount } }",
            "{ post(first: 1) { totalCount pageInfo { hasNextPage __typename } edges { node { id } __typename } __typename } }",
            "{ post(first: 1, offset: 2) { pageInfo { hasNextPage } edges { node { id } } } }",
            "{ post(offset: 7) { totalCount edges { node { id } } } }",
            "{ post(first: 0, offset: -1) { edges { node { id } } } }",
            "{ post { edges { node { date trim { top } parts { heading } } } } }",
            r#"{ post(id: "FULL") { totalCount edges { node { id } } } }"#,
            r#"{ post(id: "nope") { totalCount edges { node { id } } pageInfo { hasNextPage } } }"#,
            r#"{ post(field: "title", value: "Bare") { edges { node { id } } } }"#,
            r#"{ post(field: "title", value: "Bare", id: "full") { totalCount } }"#,
            r#"{ post(field: "title", value: "Bare", filter: {title: {type: "startsWith", filter: "b"}}) { totalCount } }"#,
            r#"{ post(field: "title", value: "Bare", filter: {title: {type: "startsWith", filter: "f"}}) { totalCount } }"#,
            r#"{ post(order_by: "rank", order_direction: "DESC") { edges { node { rank } } } }"#,
            r#"{ post(filter: {rank: {type: "inRange", filter: "1", filter2: "2"}, hot: {type: "equals", filter: "true"}}) { edges { node { id } } } }"#,
            r#"{ post(filter: {title: {type: "equals", filter: "[\"Bare\", \"Full\"]"}}) { edges { node { id } } } }"#,
            r#"{ post(filter: {author: {type: "equals", filter: "/api/v1/content/author/bob"}}) { edges { node { id } } } }"#,
            r#"{ post(filter: {_note_: {type: "equals", filter: "two"}, _2nd: {type: "notEmpty", filter: ""}}) { edges { node { id } } } }"#,
            r#"{ post(filter: {words: {type: "overlaps", filter: "[\"b\", \"c\"]"}}) { edges { node { id } } } }"#,
            r#"{ post(filter: {title: {type: "like", filter: ""}}) { totalCount } }"#,
            r#"{ post(filter: {title: {type: "inRange", filter: "a"}}) { totalCount } }"#,
            "{ post(first: 1) { a: edges { x: node { id } } b: edges { node { title author { id } } } a: edges { node { rank } } } }",
            "{ post(first: 1) { edges @include(if: false) { node { id } } } }",
            r#"{ author(id: "ann") { edges { node { posts { title related { id related { id } } author { name } } } } } }"#,
        ]
    ));
}

#[test]
fn variables_are_read_as_declared() {
    let test = content::folder();
    let query = "query Q($id: String!, $first: Int = 1, $filter: postFilterInput, $all: Boolean = true) \
                 { post(id: $id, first: $first, filter: $filter) { edges { node { id rank @include(if: $all) } } } }";
    let table = [
        json!({ "id": "full" }),
        json!({ "id": "full", "all": false, "filter": null, "unknown": 1 }),
        json!({ "id": "full", "filter": { "rank": { "type": "lessThan", "filter": "1" } } }),
        json!({}),
        json!({ "id": null }),
        json!({ "id": 5 }),
        json!({ "id": "full", "first": 1.5 }),
        json!({ "id": "full", "first": 3_000_000_000_u64 }),
        json!({ "id": "full", "all": "yes" }),
        json!({ "id": "full", "filter": 5 }),
        json!({ "id": "full", "filter": { "rank": { "type": 5 }, "x": {} } }),
    ];
    let mut out = String::new();
    for variables in table {
        let (status, body) =
            execute_as(&test.cms, &Caller::local(), V2, query, map(variables.clone()));
        writeln!(out, "{variables}\n  {status} {body}").unwrap();
    }
    insta::assert_snapshot!(out);
}

#[test]
fn operation_is_selected_by_name() {
    let test = content::folder();
    let execute = |query: &str, name: Option<&str>| {
        let request = GraphQlRequest {
            query: query.to_owned(),
            operation_name: name.map(str::to_owned),
            ..GraphQlRequest::default()
        };
        let response = test.cms.graphql().execute(&Caller::local(), V2, &request).unwrap();
        (response.status, String::from_utf8(response.body).unwrap())
    };
    let two = "query A { post { totalCount } } query B { author { totalCount } }";
    let count = |body: &str| (200, format!(r#"{{"data":{body}}}"#));
    assert_eq!(execute(two, Some("A")), count(r#"{"post":{"totalCount":3}}"#));
    assert_eq!(execute(two, Some("B")), count(r#"{"author":{"totalCount":2}}"#));
    assert_eq!(execute("query A { __typename }", None), count(r#"{"__typename":"Query"}"#));
    let refused = |message: &str| {
        let code = r#""extensions":{"code":"BAD_REQUEST"}"#;
        (400, format!(r#"{{"errors":[{{"message":"{message}",{code}}}]}}"#))
    };
    let many = "Must provide operation name if query contains multiple operations.";
    assert_eq!(execute(two, None), refused(many));
    assert_eq!(execute(two, Some("C")), refused(r#"Unknown operation named \"C\"."#));
    assert_eq!(execute("{ __typename }", Some("C")), refused(r#"Unknown operation named \"C\"."#));
}

/// An emoji may be escaped as two UTF-16 units; positions of errors behind it stay right.
#[test]
fn string_may_contain_an_escaped_surrogate_pair() {
    let test = content::folder();
    let author = map(json!({ "id": "smile", "name": "\u{1F600}" }));
    test.cms.objects().create(&Caller::local(), "author", author).unwrap();
    for (version, query) in [
        (
            Legacy,
            r#"{ authorList(filter: "{\"name\":{\"type\":\"equals\",\"filter\":\"\uD83D\ude00\"}}") { id } }"#,
        ),
        (Legacy, r#"{ author(field: "name", value: "\uD83D\uDE00") { id } }"#),
        (V2, r#"{ author(field: "name", value: "\uD83D\uDE00") { edges { node { id } } } }"#),
    ] {
        let (status, body) = execute(&test.cms, version, query);
        assert_eq!((status, body.to_string().contains("smile")), (200, true), "{query}: {body}");
        let wrong = query.replace(" id ", " unknown ");
        let (status, body) = execute(&test.cms, version, &wrong);
        let column = wrong.find("unknown").unwrap() + 1;
        let locations = json!([{ "line": 1, "column": column }]);
        assert_eq!((status, &body["errors"][0]["locations"]), (400, &locations), "{wrong}");
    }
}

#[test]
fn introspection_is_placed_where_it_was_selected() {
    let test = content::folder();
    let query = "{ a: post(id: \"full\") { id } s: __schema { queryType { name } } \
                 t: __type(name: \"cms___geo\") { fields { name } } z: __typename }";
    let (status, body) = execute(&test.cms, Legacy, query);
    let geo = json!({ "fields": [{ "name": "lat" }, { "name": "lon" }] });
    let schema = json!({ "queryType": { "name": "Query" } });
    let expected =
        json!({ "data": { "a": { "id": "full" }, "s": schema, "t": geo, "z": "Query" } });
    assert_eq!((status, body.to_string()), (200, expected.to_string()));
}

#[test]
fn schemas_match_their_snapshots() {
    let test = content::folder();
    let local = Caller::local();
    insta::assert_snapshot!("legacy_schema", test.cms.graphql().schema(&local, Legacy).unwrap());
    insta::assert_snapshot!("v2_schema", test.cms.graphql().schema(&local, V2).unwrap());
}
