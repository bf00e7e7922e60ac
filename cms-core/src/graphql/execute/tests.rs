use cms_model::{
    context::Caller,
    wire::graphql::{GraphQlRequest, GraphQlVersion},
};
use cms_store::counting::statements;
use serde_json::{Value, json};

use crate::testing::{TestCms, map};

/// A data directory with this number of posts, each linked to the next two and to one of two tags.
fn folder(posts: usize) -> TestCms {
    let test = TestCms::new();
    let local = Caller::local();
    let links = json!({ "type": "array", "items": { "$ref": "#/components/schemas/DataSource" } });
    let to = |target: &str| {
        let validation = json!({ "relationContenttype": target, "relationMultiple": true });
        json!({ "label": "L", "inputType": "datasource", "validation": validation })
    };
    let definition = json!({
        "name": "post", "label": "Post",
        "schemaDefinition": { "type": "object", "allOf": [
            { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
            { "type": "object", "properties": { "next": links, "tags": links } },
        ], "required": [], "additionalProperties": false },
        "metaDefinition": { "order": ["next", "tags"],
            "propertiesConfig": { "next": to("post"), "tags": to("_tag") } },
    });
    test.cms.types().create(&local, map(definition)).unwrap();
    let create = |name: &str, object: Value| {
        test.cms.objects().create(&local, name, map(object)).unwrap();
    };
    for id in ["even", "odd"] {
        create("_tag", json!({ "id": id, "name": id }));
    }
    let link = |name: &str, id: String| json!({ "type": "internal", "dataUrl": format!("/api/v1/content/{name}/{id}") });
    for number in (0..posts).rev() {
        let next = (number + 1..posts).take(2).map(|next| link("post", next.to_string()));
        let tag = if number % 2 == 0 { "even" } else { "odd" };
        let tags = json!([link("_tag", tag.to_owned())]);
        let next: Vec<Value> = next.collect();
        create("post", json!({ "id": number.to_string(), "next": next, "tags": tags }));
    }
    test
}

fn cost(test: &TestCms, query: &str) -> (u16, usize) {
    let request = GraphQlRequest { query: query.to_owned(), ..GraphQlRequest::default() };
    let before = statements();
    let response = test.cms.graphql().execute(&Caller::local(), GraphQlVersion::Legacy, &request);
    (response.unwrap().status, statements() - before)
}

#[test]
fn statements_are_one_per_level_and_type() {
    let test = folder(20);
    let plain = cost(&test, "{ postList { id } }");
    let plus = |more: usize| (200, plain.1 + more);
    let table = [
        ("{ postList { tags { name } } }", 1),
        ("{ postList { next { id } } }", 1),
        ("{ postList { a: next { id } b: next { tags { id } } } }", 2),
        ("{ postList { next { id tags { id } } tags { id } } }", 3),
        ("{ postList { next { next { next { id } } } } }", 3),
        ("{ postList(page: 9) { next { tags { id } } } }", 0),
    ];
    for (query, more) in table {
        let (status, statements) = cost(&test, query);
        // An empty page reads nothing.
        let expected = if more == 0 { (200, plain.1 - 1) } else { plus(more) };
        assert_eq!((status, statements), expected, "{query}");
    }
}

#[test]
fn statements_do_not_depend_on_the_number_of_posts() {
    let (many, one) = (folder(100), folder(1));
    let table = [
        ("{ postList(limit: 100) { id next { id tags { name } } tags { name } } }", 3),
        ("{ postList(limit: 100) { tags { name } next { tags { id } next { id } } } }", 4),
    ];
    for (query, relations) in table {
        let cost = |test| {
            let warm = cost(test, query);
            assert_eq!(warm.0, 200, "{query}");
            cost(test, query).1
        };
        let plain = "{ postList(limit: 100) { id } }";
        let list = self::cost(&many, plain).1.min(self::cost(&many, plain).1);
        assert_eq!(cost(&many), list + relations, "{query}");
        // The last post links only to its tag.
        assert!(cost(&one) <= list + relations);
    }
}

#[test]
fn objects_are_counted_once_per_occurrence() {
    let test = folder(20);
    let nested = |times: usize| {
        format!("{{ postList {{ {} id {} }} }}", "next { ".repeat(times), "}".repeat(times))
    };
    // Twenty posts are read once on each level, and rendered twice as often as on the level before.
    assert_eq!(cost(&test, &nested(7)).0, 200);
    assert_eq!(cost(&test, &nested(10)).0, 400);
}
