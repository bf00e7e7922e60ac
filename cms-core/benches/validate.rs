//! The cost of validating an object. `cargo bench -p cms-core --features testing validate`
//!
//! The object is a post of 2 KB with ten properties, valid and with one validation error.

use cms_core::testing::ObjectValidator;
use divan::Bencher;
use serde_json::{Map, Value, json};

fn main() {
    divan::main();
}

#[divan::bench]
fn valid_post(bencher: Bencher) {
    let (validator, post) = (validator(), post());
    assert!(validator.errors(&post, None).is_empty());
    bencher.bench_local(|| validator.errors(divan::black_box(&post), None));
}

#[divan::bench]
fn post_with_an_error(bencher: Bencher) {
    let (validator, mut post) = (validator(), post());
    post.insert("slug".to_owned(), json!("not a slug"));
    assert!(!validator.errors(&post, None).is_empty());
    bencher.bench_local(|| validator.errors(divan::black_box(&post), None));
}

/// Parsing a payload, and building the validators for its first object.
#[divan::bench]
fn first_use_of_a_type(bencher: Bencher) {
    let (payload, post) = (payload(), post());
    bencher.bench_local(|| ObjectValidator::new(&payload).errors(&post, None));
}

/// Parsing a payload, which compiles every pattern once to check that it is valid.
#[divan::bench]
fn parse_of_a_type(bencher: Bencher) {
    let payload = payload();
    bencher.bench_local(|| ObjectValidator::new(divan::black_box(&payload)));
}

fn validator() -> ObjectValidator {
    ObjectValidator::new(&payload())
}

fn post() -> Map<String, Value> {
    let post = json!({
        "id": "post-1",
        "title": "A walk along the river",
        "slug": "a-walk-along-the-river",
        "excerpt": "Twelve kilometres of reeds and herons.",
        "body": "Lorem ipsum dolor sit amet. ".repeat(60),
        "category": "travel",
        "published": "2021-12-12T12:00",
        "rating": 4.5,
        "featured": true,
        "author": [{"type": "internal", "dataUrl": "/api/v1/content/author/ada"}],
        "place": {"lat": 52.1, "lon": 21.0},
    });
    post.as_object().expect("a post is an object").clone()
}

fn payload() -> Value {
    let text = json!({"type": "string"});
    let number = json!({"type": "number"});
    let place = json!({"type": "object", "properties": {"lat": number, "lon": number}});
    let links = json!({"type": "array", "items": {"$ref": "#/components/schemas/DataSource"}});
    let date =
        "^([12]\\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01]))T?(([0-1]?[0-9]|2[0-3]):[0-5][0-9])?$";
    let properties = [
        ("title", "text", text.clone()),
        ("slug", "text", json!({"type": "string", "minLength": 1, "pattern": "^[a-zA-Z0-9-_]*$"})),
        ("excerpt", "textarea", text.clone()),
        ("body", "richtext", text.clone()),
        ("category", "select", text),
        ("published", "dateTime", json!({"type": "string", "pattern": date})),
        ("rating", "number", number),
        ("featured", "checkbox", json!({"type": "boolean"})),
        ("author", "datasource", links),
        ("place", "geo", place),
    ];
    let order: Vec<&str> = properties.iter().map(|(name, ..)| *name).collect();
    let (mut schemas, mut configs) = (Map::new(), Map::new());
    for (name, input_type, schema) in properties {
        schemas.insert(name.to_owned(), schema);
        let config = json!({
            "label": name,
            "inputType": input_type,
            "options": ["travel", "food"],
            "validation": {"relationContenttype": "author"},
        });
        configs.insert(name.to_owned(), config);
    }
    json!({
        "name": "post",
        "label": "Post",
        "schemaDefinition": {"required": ["title", "slug", "body"], "allOf": [
            {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
            {"type": "object", "properties": schemas},
        ]},
        "metaDefinition": {"order": order, "propertiesConfig": configs},
    })
}
