//! The life of an object: create, get, edit, versions, delete.

use cms_core::{Caller, testing::TestCms, wire::object::ListRequest};
use serde_json::{Map, Value, json};

fn map(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn article() -> Map<String, Value> {
    map(json!({
        "name": "article", "label": "Article",
        "schemaDefinition": {
            "type": "object",
            "allOf": [
                {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
                {"type": "object", "properties": {
                    "title": {"type": "string", "minLength": 1},
                    "rank": {"type": "number"},
                    "related": {"type": "array", "items": {"$ref": "#/components/schemas/DataSource"}},
                }},
            ],
            "required": ["title"], "additionalProperties": false,
        },
        "metaDefinition": {
            "order": ["title", "rank", "related"],
            "propertiesConfig": {
                "title": {"label": "Title", "inputType": "text", "unique": true, "isTitlePart": true},
                "rank": {"label": "Rank", "inputType": "number", "unique": false},
                "related": {"label": "Related", "inputType": "datasource", "unique": false,
                    "validation": {"relationContenttype": "article", "relationMultiple": true}},
            },
        },
    }))
}

#[test]
fn smoke() {
    let test = TestCms::new();
    let caller = Caller::local();
    let objects = test.cms.objects();
    test.cms.types().create(&caller, article()).unwrap();
    let one = objects
        .create(&caller, "article", map(json!({"id": "one", "title": "One", "rank": 1})))
        .unwrap();
    println!("{}", one.to_value());
    let link = json!({"type": "internal", "dataUrl": "/api/v1/content/article/ONE"});
    let two = json!({"id": "two", "title": "Two", "rank": 2, "related": [link]});
    objects.create(&caller, "article", map(two)).unwrap();
    println!("{}", objects.get(&caller, "article", "TWO", 1).unwrap().to_value());
    let list = ListRequest {
        filters: Some(r#"{"rank":{"type":"greaterThan","filter":0}}"#.into()),
        order_by: Some("title".into()),
        descending: true,
        hydrate: 2,
        ..Default::default()
    };
    println!("{}", objects.list(&caller, "article", &list).unwrap().to_value());
    println!(
        "{}",
        objects.patch(&caller, "article", "one", map(json!({"rank": 5}))).unwrap().to_value()
    );
    println!("{}", objects.version(&caller, "article", "one", "1").unwrap().to_value());
    println!(
        "{}",
        objects
            .versions(&caller, "article", "one", Default::default(), Default::default())
            .unwrap()
            .to_value()
    );
    println!("{:?}", objects.delete(&caller, "article", "one"));
    println!("{:?}", objects.create(&caller, "article", map(json!({"id":"two", "title": "One", "related": [{"type":"internal","dataUrl":"/api/v1/content/article/nix"}], "x": 1}))));
    println!(
        "{:?}",
        objects.batch_create(
            &caller,
            "article",
            vec![
                json!({"id":"a","title":"A"}),
                json!({"id":"A","title":"B"}),
                json!(3),
                json!({"id":"two","title":"Two!"})
            ],
            true
        )
    );
    println!(
        "{:?}",
        objects.batch_delete(&caller, "article", &["one".into(), "two".into(), "zzz".into()])
    );
    println!("{:?}", objects.removed(&caller, "article", None));
    println!(
        "{:?}",
        objects
            .duplicate(&caller, "article", "a", &map(json!({"relatedObjectsToDuplicate":[]})))
            .map(|j| j.to_value().to_string())
    );
    let mut changed = article();
    changed["schemaDefinition"]["allOf"][1]["properties"].as_object_mut().unwrap().remove("rank");
    changed["metaDefinition"]["propertiesConfig"].as_object_mut().unwrap().remove("rank");
    changed["metaDefinition"]["order"] = json!(["title", "related"]);
    println!(
        "{:#?}",
        test.cms.types().plan(
            &caller,
            &cms_core::wire::plan::PlanRequest {
                content_types: vec![changed.clone()],
                prune: false
            }
        )
    );
    test.cms.types().update(&caller, "article", changed).unwrap();
    println!("{}", objects.list(&caller, "article", &ListRequest::default()).unwrap().to_value());
}
