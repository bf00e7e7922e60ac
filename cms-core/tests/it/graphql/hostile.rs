//! Queries over the limits of complexity are refused quickly.

mod queries;

use std::time::{Duration, Instant};

use cms_core::Caller;
use serde_json::{Value, json};

use self::queries::{aliases, nested, queries};
use super::{Legacy, V2, content, execute, execute_as};
use crate::support::{link, map};

/// Generous, because tests run on busy machines and without optimisation.
const TIME_LIMIT: Duration = Duration::from_secs(1);

#[test]
fn expensive_queries_are_refused_immediately() {
    let test = content::folder();
    for (name, query) in &queries() {
        for version in [Legacy, V2] {
            let started = Instant::now();
            let query =
                if version == V2 { query.replace("postList", "post") } else { query.clone() };
            let (status, body) = execute(&test.cms, version, &query);
            let (time, error) = (started.elapsed(), &body["errors"][0]);
            assert_eq!(status, 400, "{name}: {body}");
            let code = error["extensions"]["code"].as_str().unwrap();
            // In version 2 some of them are invalid for another reason.
            assert!(code == "QUERY_TOO_COMPLEX" || version == V2, "{name}: {body}");
            assert!(time < TIME_LIMIT, "{name}: {time:?}");
        }
    }
}

/// A text of a quarter of the limit for arguments, used five times.
#[test]
fn long_variable_counts_at_each_use() {
    let test = content::folder();
    let variables = map(json!({ "a": "x".repeat(256 * 1024) }));
    let query = |times| {
        let fields = (0..times).map(|number| format!("p{number}: post(id: $a) {{ id }}"));
        format!("query($a: String) {{ {} }}", fields.collect::<Vec<_>>().join(" "))
    };
    let execute =
        |query: &str| execute_as(&test.cms, &Caller::local(), Legacy, query, variables.clone());
    assert_eq!(execute(&query(4)).0, 200);
    let (status, body) = execute(&query(5));
    assert_eq!(
        (status, &body["errors"][0]["extensions"]["code"]),
        (400, &"QUERY_TOO_COMPLEX".into())
    );
}

/// Few objects can be a large response, too.
#[test]
fn long_value_counts_each_time_it_is_selected() {
    let test = content::folder();
    let long = json!({ "title": "x".repeat(500_000) });
    test.cms.objects().patch(&Caller::local(), "post", "full", map(long)).unwrap();
    let titles = |count| aliases(count, "title");
    for (version, start, end) in [
        (Legacy, "{ post(id: \"full\") {", "} }"),
        (Legacy, "{ postList {", "} }"),
        (V2, "{ post { edges { node {", "} } } }"),
        (Legacy, "{ post(id: \"linked\") { related {", "} } }"),
    ] {
        assert_eq!(execute(&test.cms, version, &format!("{start} {} {end}", titles(10))).0, 200);
        let (status, body) =
            execute(&test.cms, version, &format!("{start} {} {end}", titles(1000)));
        let code = &body["errors"][0]["extensions"]["code"];
        assert_eq!((status, code), (400, &"QUERY_TOO_COMPLEX".into()), "{start}");
    }
}

#[test]
fn links_count_for_each_alias_of_their_relation() {
    let test = content::folder();
    let local = Caller::local();
    let links: Vec<Value> = (0..300)
        .map(|number| {
            let author = map(json!({ "id": number.to_string(), "name": number.to_string() }));
            test.cms.objects().create(&local, "author", author).unwrap();
            link("author", &number.to_string())
        })
        .collect();
    test.cms.objects().patch(&local, "post", "full", map(json!({ "author": links }))).unwrap();
    let query =
        |start: &str, count| format!("{start} {{ {} }} }}", aliases(count, "author { id }"));
    for start in ["{ post(id: \"full\")", "{ postList", "{ post(id: \"linked\") { related"] {
        let end = if start.ends_with("related") { "}" } else { "" };
        let (status, body) = execute(&test.cms, Legacy, &(query(start, 340) + end));
        let message = "Query follows too many links, limit: 100000";
        assert_eq!((status, &body["errors"][0]["message"]), (400, &message.into()), "{start}");
        let message = "Query resolves too many objects, limit: 10000";
        let (status, body) = execute(&test.cms, Legacy, &(query(start, 40) + end));
        assert_eq!((status, &body["errors"][0]["message"]), (400, &message.into()), "{start}");
    }
}

#[test]
fn recursive_fragments_are_refused() {
    let test = content::folder();
    let (status, body) = execute(
        &test.cms,
        Legacy,
        "{ postList { ...a } } fragment a on post { ...b } fragment b on post { related { ...a } }",
    );
    let message = "Cannot spread fragment \"a\" within itself via \"b\".";
    assert_eq!((status, &body["errors"][0]["message"]), (400, &message.into()));
}

#[test]
fn queries_at_the_limit_are_executed() {
    let test = content::folder();
    let many = aliases(100, "postList { id }");
    assert_eq!(execute(&test.cms, Legacy, &format!("{{ {many} }}")).0, 200);
    let related = nested("related {", "}", 10);
    assert_eq!(execute(&test.cms, Legacy, &related).0, 200);
    let edges = related.replace("postList {", "post { edges { node {") + "} }";
    assert_eq!(execute(&test.cms, V2, &edges).0, 200);
}
