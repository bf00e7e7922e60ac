//! Hits of searches and their order: each parameter and mode on the same few recipes.

use std::fmt::Write;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, object};

/// The recipes, oldest first, each created a month after the one before.
fn recipes() -> Vec<Value> {
    let at = |lat: f64, lon: f64| json!({ "lat": lat, "lon": lon });
    vec![
        json!({ "id": "soup", "title": "Fish soup", "body": "<p>Boil the <b>fish</b> with leek.</p>",
            "minutes": 40, "vegan": false, "tags": ["fish", "warm"], "place": at(52.52, 13.405) }),
        json!({ "id": "salad", "title": "Green salad", "body": "<p>Wash the leaves. No fish.</p>",
            "minutes": 10, "vegan": true, "tags": ["green"], "place": at(48.137, 11.575) }),
        json!({ "id": "stew", "title": "Stew", "body": "<p>Fish, fish and more fish in a pot.</p>",
            "minutes": 90, "vegan": false, "tags": ["fish"], "place": at(53.551, 9.994) }),
        json!({ "id": "bread", "title": "Caf\u{e9} bread", "body": "<p>Flour, water and time.</p>",
            "minutes": 180, "vegan": true, "tags": [] }),
        json!({ "id": "cake", "title": "Apple cake", "body": "<p>Peel the apples, boil them soft.</p>",
            "vegan": true, "tags": ["Warm", "sweet"], "place": at(52.4, 13.1) }),
        json!({ "id": "pie-9", "title": "Fish pie", "body": "<p>As the fish soup, but baked.</p>",
            "minutes": 9, "vegan": false, "tags": ["fish", "baked"] }),
    ]
}

fn recipe_type() -> Value {
    let text = json!({ "type": "string" });
    let input = |kind: &str| json!({ "label": kind, "inputType": kind, "unique": false });
    let mut tags = input("select");
    tags["multiple"] = json!(true);
    tags["options"] = json!(["fish", "warm", "Warm", "green", "sweet", "baked"]);
    json!({
        "name": "recipe",
        "label": "Recipe",
        "schemaDefinition": {
            "type": "object",
            "allOf": [
                { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
                { "type": "object", "properties": {
                    "title": text,
                    "body": text,
                    "minutes": { "type": "number" },
                    "vegan": { "type": "boolean" },
                    "tags": { "type": "array", "items": { "type": "string" } },
                    "place": { "type": "object", "additionalProperties": false, "properties": {
                        "lat": { "type": "number" }, "lon": { "type": "number" },
                    } },
                } },
            ],
            "required": ["title"],
            "additionalProperties": false,
        },
        "metaDefinition": {
            "order": ["title", "body", "minutes", "vegan", "tags", "place"],
            "propertiesConfig": {
                "title": input("text"), "body": input("richtext"), "minutes": input("number"),
                "vegan": input("checkbox"), "tags": tags, "place": input("geo"),
            },
        },
    })
}

/// Parameters, and the ids of the hits in order.
const CASES: &[(&str, &[&str])] = &[
    // q: any word. A word in several fields, several times, or in a short object scores higher.
    ("q=fish", &["pie-9", "soup", "stew", "salad"]),
    ("q=FISH", &["pie-9", "soup", "stew", "salad"]),
    ("q=fishes", &[]),
    ("q=caf\u{e9}", &["bread"]),
    ("q=cafe", &[]),
    ("q=leek leaves", &["salad", "soup"]),
    ("q=b", &[]),
    // A number contains the 9, too.
    ("q=pie-9", &["pie-9", "stew"]),
    ("q=", &["soup", "salad", "stew", "bread", "cake", "pie-9"]),
    ("q=*", &["soup", "salad", "stew", "bread", "cake", "pie-9"]),
    // The query language.
    ("q=\"fish soup\"", &["soup", "pie-9"]),
    ("q=\"soup fish\"", &[]),
    ("q=fish AND leek", &["soup"]),
    ("q=leek OR flour", &["bread", "soup"]),
    ("q=fish NOT soup", &["stew", "salad"]),
    ("q=+fish -soup", &["stew", "salad"]),
    ("q=(leek OR pot) AND fish", &["soup", "stew"]),
    ("q=title:fish&order_by=id", &["pie-9", "soup"]),
    ("q=body:fish -title:fish", &["stew", "salad"]),
    ("q=le*", &["soup", "salad"]),
    ("q=l?ek", &["soup"]),
    ("q=*oil", &["soup", "cake"]),
    ("q=minutes:[10 TO 40]", &["soup", "salad"]),
    ("q=minutes:{10 TO 40]", &["soup"]),
    ("q=minutes:>=90", &["stew", "bread"]),
    ("q=title:[a TO c]", &["cake"]),
    ("q=leek leaves^9", &["salad", "soup"]),
    ("q=leek^9 leaves", &["soup", "salad"]),
    ("q=aple~", &["cake"]),
    ("q=aple~0", &[]),
    ("q=\\\"fish", &["pie-9", "soup", "stew", "salad"]),
    ("q=(fish", &["pie-9", "soup", "stew", "salad"]),
    ("q=internal.contentType:recipe AND leek", &["soup"]),
    ("q=recipe", &[]),
    // Modes.
    ("q=fish soup&query_mode=exact", &["soup", "pie-9"]),
    ("q=fish AND soup&query_mode=exact", &[]),
    ("q=lekk flouer&query_mode=fuzzy", &["bread", "soup"]),
    ("q=fihs&query_mode=fuzzy", &["pie-9", "soup", "stew", "salad"]),
    ("q=fihs", &[]),
    ("q=leek&query_mode=none", &["soup"]),
    // fields[]
    ("q=fish&fields[]=title&order_by=id", &["pie-9", "soup"]),
    ("q=boil&fields[]=title&fields[]=body", &["soup", "cake"]),
    ("q=apple apples&fields[]=title^9&fields[]=body", &["cake"]),
    ("q=soup leaves&fields[]=body&fields[]=title^0.01", &["pie-9", "salad", "soup"]),
    ("q=fish&fields[]=nothing", &[]),
    ("q=warm&fields[]=tags", &["soup", "cake"]),
    // filters and post_filters
    ("q=*&filters[vegan]=true", &["salad", "bread", "cake"]),
    ("q=*&filters[minutes]=40", &["soup"]),
    ("q=*&filters[title]=soup fish", &["soup"]),
    ("q=*&filters[title]=\"soup fish\"", &[]),
    ("q=*&filters[body]=leaves OR flour", &["salad", "bread"]),
    ("q=*&filters[minutes]=>9&filters[vegan]=false", &["soup", "stew"]),
    ("q=*&filters[tags]=fish&post_filters[minutes]=<41", &["soup", "pie-9"]),
    ("q=*&filters[internal.createdAt]=>=2026-05-01", &["bread", "cake", "pie-9"]),
    ("q=*&filters[internal.status]=public&filters[id]=stew", &["stew"]),
    ("q=fish&filters[vegan]=true", &["salad"]),
    // geo_filters: Berlin, Munich, Hamburg, Potsdam
    ("q=*&geo_filters[place]=geo_distance,30km,52.52,13.405", &["soup", "cake"]),
    ("q=*&geo_filters[place]=geo_distance,20mi,52.52,13.405", &["soup", "cake"]),
    ("q=*&geo_filters[place]=geo_distance,30000,52.52,13.405", &["soup", "cake"]),
    ("q=*&geo_filters[place]=geo_distance,10nmi,52.52,13.405", &["soup"]),
    (
        "q=*&geo_filters[place]=geo_distance,300km,52.5,13.4&order_by=_geo_distance",
        &["soup", "cake", "stew"],
    ),
    (
        "q=*&geo_filters[place]=geo_distance,300km,52.5,13.4&order_by=_geo_distance&order_direction=desc",
        &["stew", "cake", "soup"],
    ),
    // order_by
    ("q=*&order_by=minutes", &["pie-9", "salad", "soup", "stew", "bread", "cake"]),
    (
        "q=*&order_by=minutes&order_direction=desc",
        &["bread", "stew", "soup", "salad", "pie-9", "cake"],
    ),
    (
        "q=*&order_by=minutes&order_missing=_first",
        &["cake", "pie-9", "salad", "soup", "stew", "bread"],
    ),
    ("q=*&order_by=minutes.keyword", &["salad", "bread", "soup", "pie-9", "stew", "cake"]),
    ("q=*&order_by=title", &["cake", "bread", "pie-9", "soup", "salad", "stew"]),
    ("q=*&order_by=nothing", &["soup", "salad", "stew", "bread", "cake", "pie-9"]),
    (
        "q=*&order_by=internal.createdAt&order_direction=desc",
        &["pie-9", "cake", "bread", "stew", "salad", "soup"],
    ),
    ("q=fish&order_by=minutes", &["pie-9", "soup", "stew", "salad"]),
    ("q=fish&order_by=_score&order_direction=asc", &["salad", "stew", "soup", "pie-9"]),
    ("q=fish&order_by=_score&order_direction=desc", &["pie-9", "soup", "stew", "salad"]),
    // decay_old: the pie is half a year younger than the soup.
    ("q=boil", &["soup", "cake"]),
    ("q=boil&decay_old=true", &["cake", "soup"]),
    // Other types.
    ("q=fish one&content_type[]=post", &["one"]),
    (
        "q=leek one&content_type[]=post&content_type[]=recipe&indices_boost[post]=9",
        &["one", "soup"],
    ),
    (
        "q=leek one&content_type[]=post&content_type[]=recipe&indices_boost[recipe]=9",
        &["soup", "one"],
    ),
    ("q=*&content_type[]=nothing", &[]),
];

#[tokio::test]
async fn search_parameters_find_the_expected_order() {
    let app = TestApp::new();
    let definition = object(&recipe_type());
    app.core.cms.types().create(&cms_core::Caller::local(), definition).unwrap();
    for recipe in recipes() {
        app.core.clock.advance(30 * 86_400);
        app.create("recipe", &recipe).await;
    }
    let mut differences = String::new();
    for (parameters, wanted) in CASES {
        let types = if parameters.contains("content_type") { "" } else { "&content_type[]=recipe" };
        let path = format!("/api/v1/search?{}{types}", encoded(parameters));
        let found = app.get_as(CallerKind::ReadOnly, &path).await;
        assert_eq!(found.status, 200, "{parameters}: {:?}", found.json());
        let body = found.json();
        let hits = body["data"].as_array().unwrap();
        let ids: Vec<_> = hits.iter().map(|hit| hit["item"]["id"].as_str().unwrap()).collect();
        if ids != *wanted || body["total_count"] != wanted.len() {
            writeln!(differences, "{parameters}: found {ids:?}, expected {wanted:?}").unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

#[tokio::test]
async fn random_seed_orders_all_pages() {
    let app = TestApp::new();
    for number in 0..30 {
        app.create("post", &json!({ "id": format!("p{number}"), "title": "A post" })).await;
    }
    let order = async |parameters: &str| {
        let path = format!("/api/v1/search?q=post&content_type[]=post&{parameters}");
        let body = app.get(&path).await.json();
        let hits = body["data"].as_array().unwrap();
        hits.iter().map(|hit| hit["item"]["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = order("random_seed=7&limit=100&order_by=title").await;
    assert_eq!(order("random_seed=7&limit=100").await, all);
    assert_ne!(order("random_seed=8&limit=100").await, all);
    assert_ne!(order("limit=100").await, all);
    let mut pages = order("random_seed=7&limit=16").await;
    pages.extend(order("random_seed=7&limit=16&page=2").await);
    assert_eq!(pages, all);
}

/// Parameters as a client sends them.
fn encoded(parameters: &str) -> String {
    let pairs = parameters.split('&').filter_map(|pair| pair.split_once('='));
    let encoded = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
    let pairs = pairs.map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}
