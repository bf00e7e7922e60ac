//! Content with a property of every kind, and names that are invalid in GraphQL.

use cms_core::{Caller, testing::TestCms};
use serde_json::{Map, Value, json};

use crate::support::{link, map};

/// A property: its name, schema, and config besides the label.
pub(crate) type Property = (&'static str, Value, Value);

pub(crate) fn text() -> Value {
    json!({ "type": "string" })
}

pub(crate) fn links() -> Value {
    json!({ "type": "array", "items": { "$ref": "#/components/schemas/DataSource" } })
}

fn to(target: &str) -> Value {
    let validation = json!({ "relationContenttype": target, "relationMultiple": true });
    json!({ "inputType": "datasource", "validation": validation })
}

pub(crate) fn input(name: &str) -> Value {
    json!({ "inputType": name })
}

fn split(properties: &[Property]) -> (Map<String, Value>, Map<String, Value>, Vec<&'static str>) {
    let mut configs = Map::new();
    for (name, _, config) in properties {
        let mut config = config.clone();
        config["label"] = json!(name);
        configs.insert((*name).to_owned(), config);
    }
    let schemas = properties.iter().map(|(name, schema, _)| ((*name).to_owned(), schema.clone()));
    (schemas.collect(), configs, properties.iter().map(|(name, ..)| *name).collect())
}

pub(crate) fn definition(
    name: &str,
    required: &[&str],
    properties: &[Property],
) -> Map<String, Value> {
    let (schemas, configs, order) = split(properties);
    map(json!({
        "name": name,
        "label": name,
        "schemaDefinition": {
            "type": "object",
            "allOf": [
                { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
                { "type": "object", "properties": schemas },
            ],
            "required": required,
            "additionalProperties": false,
        },
        "metaDefinition": { "order": order, "propertiesConfig": configs },
    }))
}

/// The definition of `post`.
fn post() -> Map<String, Value> {
    let (items, configs, order) = split(&[
        ("heading", text(), input("text")),
        ("__language", text(), input("text")),
        ("sources", links(), to("post")),
    ]);
    let parts = json!({ "type": "array", "items": { "type": "object", "properties": items } });
    let part_configs = json!({ "inputType": "object",
        "items": { "order": order, "propertiesConfig": configs } });
    let (edges, configs, order) = split(&[("top", json!({ "type": "number" }), input("number"))]);
    let trim = json!({ "type": "object", "properties": edges, "required": ["top"] });
    let trim_configs =
        json!({ "inputType": "custom", "order": order, "propertiesConfig": configs });
    let number = || json!({ "type": "number" });
    let geo = json!({ "type": "object", "properties": { "lat": number(), "lon": number() },
        "additionalProperties": false });
    let block = json!({ "type": "object", "additionalProperties": false, "properties": {
        "time": number(), "version": text(), "blocks": { "type": "array", "items": {
            "type": "object", "properties": { "id": text(), "type": text(), "data": {
                "type": "object", "properties": { "text": text() }, "additionalProperties": true,
            } },
        } },
    } });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let colours = json!({ "inputType": "select", "multiple": true, "options": ["red", "blue"] });
    let title = json!({ "inputType": "text", "unique": true, "isTitlePart": true });
    definition(
        "post",
        &["title", "rank", "hot"],
        &[
            ("title", text(), title),
            ("rank", number(), input("number")),
            ("hot", json!({ "type": "boolean" }), input("checkbox")),
            ("words", texts(), input("simpleList")),
            ("colours", texts(), colours),
            ("date", text(), input("dateTime")),
            ("place", geo, input("geo")),
            ("body", block, input("block")),
            ("author", links(), to("author")),
            ("related", links(), to("post")),
            ("any", links(), to("")),
            ("parts", parts, part_configs),
            ("trim", trim, trim_configs),
            ("2nd", text(), input("text")),
            ("__note", text(), input("text")),
            ("_note", text(), input("text")),
        ],
    )
}

/// A data directory with two types and a few objects that link to each other.
pub(crate) fn folder() -> TestCms {
    let test = TestCms::new();
    let local = Caller::local();
    let name = json!({ "inputType": "text", "unique": true });
    let properties = [("name", text(), name), ("posts", links(), to("post"))];
    let author = definition("author", &["name"], &properties);
    test.cms.types().create(&local, author).unwrap();
    test.cms.types().create(&local, post()).unwrap();

    let create = |name: &str, object: Value| {
        test.clock.advance(1);
        test.cms.objects().create(&local, name, map(object)).unwrap();
    };
    create("author", json!({ "id": "ann", "name": "Ann \"A\" Ö" }));
    create("author", json!({ "id": "Bob", "name": "Bob" }));
    let block = json!({ "id": "b1", "type": "header", "data": { "text": "H", "level": 2 } });
    create(
        "post",
        json!({
            "id": "full", "title": "Full", "rank": 1.5, "hot": true, "words": ["a", "b"],
            "colours": ["red"], "date": "2026-01-02", "place": { "lat": 52.5, "lon": -1 },
            "body": { "time": 17, "version": "2.1", "blocks": [block] },
            "author": [link("author", "ANN"), link("author", "bob")],
            "any": [link("author", "ann"), { "type": "external", "dataUrl": "https://example.com" }],
            "parts": [{ "heading": "One", "__language": "en" }, { "more": { "x": 1 } }],
            "trim": { "top": 3 }, "2nd": "second", "__note": "two", "_note": "one",
        }),
    );
    create("post", json!({ "id": "bare", "title": "Bare", "rank": 0, "hot": false }));
    create(
        "post",
        json!({
            "id": "linked", "title": "Linked", "rank": 7, "hot": false, "words": ["c"],
            "related": [link("post", "full"), link("post", "bare")],
            "author": [link("author", "ann")],
            "parts": [{ "heading": "Two", "sources": [link("post", "full")] }],
        }),
    );
    let posts = json!({ "posts": [link("post", "linked")] });
    test.cms.objects().patch(&local, "author", "ann", map(posts)).unwrap();
    test
}
