//! Queries that would cost too much, and how soon they are refused.

mod queries;

use std::time::{Duration, Instant};

use self::queries::{aliases, nested, queries};
use super::{Legacy, V2, ask, content};

/// Generous, because tests run on busy machines and without optimisation.
const SOON: Duration = Duration::from_secs(1);

#[test]
fn what_costs_too_much_is_refused_at_once() {
    let test = content::folder();
    for (name, query) in &queries() {
        for version in [Legacy, V2] {
            let started = Instant::now();
            let query =
                if version == V2 { query.replace("postList", "post") } else { query.clone() };
            let (status, body) = ask(&test.cms, version, &query);
            let (time, error) = (started.elapsed(), &body["errors"][0]);
            assert_eq!(status, 400, "{name}: {body}");
            let code = error["extensions"]["code"].as_str().unwrap();
            // In the other version some of them are wrong in the first place.
            assert!(code == "QUERY_TOO_COMPLEX" || version == V2, "{name}: {body}");
            assert!(time < SOON, "{name}: {time:?}");
        }
    }
}

#[test]
fn fragments_that_contain_themselves_are_refused() {
    let test = content::folder();
    let (status, body) = ask(
        &test.cms,
        Legacy,
        "{ postList { ...a } } fragment a on post { ...b } fragment b on post { related { ...a } }",
    );
    let message = "Cannot spread fragment \"a\" within itself via \"b\".";
    assert_eq!((status, &body["errors"][0]["message"]), (400, &message.into()));
}

#[test]
fn as_much_as_is_allowed_is_answered() {
    let test = content::folder();
    let many = aliases(100, "postList { id }");
    assert_eq!(ask(&test.cms, Legacy, &format!("{{ {many} }}")).0, 200);
    let related = nested("related {", "}", 10);
    assert_eq!(ask(&test.cms, Legacy, &related).0, 200);
    let edges = related.replace("postList {", "post { edges { node {") + "} }";
    assert_eq!(ask(&test.cms, V2, &edges).0, 200);
}
