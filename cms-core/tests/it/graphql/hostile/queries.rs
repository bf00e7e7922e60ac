//! Queries over the limits of complexity, each named after its excess, for tests and benchmarks.

/// Posts within each other.
pub(crate) fn nested(open: &str, close: &str, times: usize) -> String {
    format!("{{ postList {{ {} id {} }} }}", open.repeat(times), close.repeat(times))
}

fn numbered(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().join(" ")
}

/// The same field many times.
pub(crate) fn aliases(count: usize, field: &str) -> String {
    numbered(count, |number| format!("a{number}: {field}"))
}

/// Queries of the first version of the API. For the second, replace `postList` by `post`.
pub(crate) fn queries() -> Vec<(&'static str, String)> {
    let doubling =
        numbered(40, |n| format!("fragment f{n} on post {{ id ...f{0} ...f{0} }}", n + 1));
    let chain = numbered(1500, |n| format!("fragment f{n} on post {{ ...f{} }}", n + 1));
    vec![
        ("long", format!("{{ postList {{ id }} }} #{}", "x".repeat(70_000))),
        ("deep selections", nested("related {", "}", 3000)),
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
            format!("{{ postList {{ ...f0 }} }} {chain} fragment f1500 on post {{ id }}"),
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
    ]
}
