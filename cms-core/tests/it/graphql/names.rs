//! Types whose names clash with generated names of other types, and with names of GraphQL.

use std::collections::HashSet;

use cms_core::{Caller, testing::TestCms};
use serde_json::json;

use super::{
    Legacy, V2,
    content::{definition, input, text},
    execute,
};
use crate::support::map;

/// Types whose names clash once they are valid in GraphQL: with each other, or with the joined names of
/// a type and its property, such as `a` and `parts`.
const NAMES: [&str; 11] = [
    "a",
    "a_b",
    "a_parts",
    "a_parts_",
    "_a",
    "__a",
    "__schema",
    "query",
    "cms___internal",
    "_",
    "__",
];

fn folder() -> TestCms {
    let test = TestCms::new();
    let local = Caller::local();
    for name in NAMES {
        let items = json!({ "type": "object", "properties": { "heading": text() } });
        let parts = json!({ "type": "array", "items": items });
        let configs = json!({ "heading": { "label": "H", "inputType": "text" } });
        let parts_config = json!({ "inputType": "object",
            "items": { "order": ["heading"], "propertiesConfig": configs } });
        let properties = [
            ("title", text(), input("text")),
            ("__title", text(), input("text")),
            ("2nd", text(), input("text")),
            ("parts", parts.clone(), parts_config.clone()),
            // With the type `_`, a name of introspection.
            ("Schema", parts.clone(), parts_config.clone()),
            // The second version has `a_bEdge`, for the type `a_b`.
            ("bEdge", parts, parts_config),
        ];
        test.cms.types().create(&local, definition(name, &[], &properties)).unwrap();
        test.cms.objects().create(&local, name, map(json!({ "id": "x" }))).unwrap();
    }
    test
}

#[test]
fn types_with_clashing_names_can_be_queried() {
    let test = folder();
    for version in [Legacy, V2] {
        let sdl = test.cms.graphql().schema(&Caller::local(), version).unwrap();
        let names: Vec<&str> = sdl
            .lines()
            .filter_map(|line| line.strip_prefix("type ").or_else(|| line.strip_prefix("input ")))
            .collect();
        let different: HashSet<&&str> = names.iter().collect();
        assert_eq!(names.len(), different.len(), "{names:?}");
        assert!(!names.iter().any(|name| name.starts_with("__")), "{names:?}");
        let introspection = "{ __schema { queryType { name } } }";
        assert_eq!(execute(&test.cms, version, introspection).0, 200);

        let query = sdl.split("type Query {").nth(1).unwrap().split('}').next().unwrap();
        let roots: Vec<&str> = query
            .lines()
            .filter_map(|line| Some(line.trim().split_once('(')?.0))
            .filter(|root| version == V2 || line_is_list(query, root))
            .collect();
        let mut found = HashSet::new();
        for root in roots {
            let selection = "{ id internal { contentType } parts { heading } bEdge { heading } title _title _2nd }";
            let (text, pointer) = if version == V2 {
                (
                    format!("{{ x: {root}{{ edges {{ node {selection} }} }} }}"),
                    "/data/x/edges/0/node",
                )
            } else {
                (format!("{{ x: {root}{selection} }}"), "/data/x/0")
            };
            // Built-in types do not have the property `parts`.
            let (status, body) = execute(&test.cms, version, &text);
            assert!(status == 200 || body.to_string().contains("\"parts\\\""), "{root}: {body}");
            let name = body.pointer(pointer).map(|node| node["internal"]["contentType"].clone());
            found.extend(name.and_then(|name| name.as_str().map(str::to_owned)));
        }
        assert_eq!(found, NAMES.map(str::to_owned).into(), "{query}");
    }
}

/// Whether a root field returns a list.
fn line_is_list(query: &str, root: &str) -> bool {
    let start = format!("{root}(");
    query.lines().any(|line| line.trim().starts_with(&start) && line.trim().ends_with(']'))
}
