//! Queries that would cost too much, and how soon they are refused.

use std::time::{Duration, Instant};

use super::{Legacy, V2, ask, content};

/// Generous, because tests run on busy machines and without optimisation.
const SOON: Duration = Duration::from_secs(1);

fn nested(open: &str, close: &str, times: usize) -> String {
    format!("{{ postList {{ {} id {} }} }}", open.repeat(times), close.repeat(times))
}

fn numbered(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().join(" ")
}

fn aliases(count: usize, field: &str) -> String {
    numbered(count, |number| format!("a{number}: {field}"))
}

#[test]
fn what_costs_too_much_is_refused_at_once() {
    let test = content::folder();
    let doubling =
        numbered(40, |n| format!("fragment f{n} on post {{ id ...f{0} ...f{0} }}", n + 1));
    let chain = numbered(2000, |n| format!("fragment f{n} on post {{ ...f{} }}", n + 1));
    let table = [
        ("long", format!("{{ postList {{ id }} }} #{}", "x".repeat(70_000))),
        ("deep selections", nested("related {", "}", 30_000)),
        ("sixteen levels", nested("parts { sources {", "} }", 8)),
        (
            "deep lists",
            format!("{{ postList(page: {}1{}) {{ id }} }}", "[".repeat(10_000), "]".repeat(10_000)),
        ),
        ("unclosed", "{".repeat(60_000)),
        (
            "deep types",
            format!(
                "query($a: {}Int{}) {{ postList {{ id }} }}",
                "[".repeat(10_000),
                "]".repeat(10_000)
            ),
        ),
        ("eleven relations", nested("related {", "}", 11)),
        (
            "doubling fragments",
            format!("{{ postList {{ ...f0 }} }} {doubling} fragment f40 on post {{ id }}"),
        ),
        (
            "long chain",
            format!("{{ postList {{ ...f0 }} }} {chain} fragment f2000 on post {{ id }}"),
        ),
        ("aliases", format!("{{ {} }}", aliases(2000, "postList { id }"))),
        ("root aliases", format!("{{ {} }}", aliases(101, "postList { id }"))),
        ("directives", format!("{{ postList {{ id {} }} }}", "@a ".repeat(20_000))),
        (
            "introspection in circles",
            "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }"
                .to_owned(),
        ),
        (
            "introspection again and again",
            format!("{{ {} }}", aliases(20, "__schema { types { name } }")),
        ),
    ];
    for (name, query) in &table {
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
