//! The cost of changing a type with 100,000 objects of 1.5 KB (one property from text to number, one
//! removed), and of a bare loop that rewrites the same rows in one transaction.
//! `cargo bench -p cms-core --features testing --bench convert`

use cms_core::{
    Caller, CoreConfig, Durability,
    testing::TestCms,
    wire::{
        batch::BatchElements,
        plan::{ApplyRequest, DataLossConsent, PlanRequest},
    },
};
use divan::Bencher;
use rusqlite::{Connection, params};
use serde_json::{Map, Value, json};

const OBJECTS: usize = 100_000;

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn plan(bencher: Bencher) {
    let folder = folder();
    let wanted = changed();
    bencher.bench_local(|| {
        let plan = folder.cms.types().plan(&Caller::local(), &wanted).expect("the plan is valid");
        assert_eq!(plan.summary.objects_rewritten, OBJECTS as u64);
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn apply(bencher: Bencher) {
    bencher.with_inputs(folder).bench_local_refs(|folder| {
        let request = ApplyRequest {
            wanted: changed(),
            allow_data_loss: Some(DataLossConsent::All(true)),
            ..ApplyRequest::default()
        };
        folder.cms.types().apply(&Caller::local(), &request).expect("nothing is in the way");
    });
}

/// Reads every row, changes one property and removes another, and writes the row back.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn bare_loop(bencher: Bencher) {
    bencher.with_inputs(folder).bench_local_refs(|folder| {
        let rows = Connection::open(folder.path().join("cms.db")).expect("the file opens");
        rows.execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA cache_size = -32000; BEGIN IMMEDIATE",
        )
        .expect("nobody else writes");
        rewrite(&rows);
        rows.execute_batch("COMMIT").expect("the disk has room");
    });
}

fn rewrite(rows: &Connection) {
    let ids = "SELECT pk, data FROM plain";
    let mut read = rows.prepare(ids).expect("the statement is valid");
    let mut write =
        rows.prepare("UPDATE plain SET data = ?2 WHERE pk = ?1").expect("the statement is valid");
    let mut found = read.query([]).expect("it has no parameters");
    while let Some(row) = found.next().expect("rows can be read") {
        let pk: i64 = row.get(0).expect("it is a number");
        let data = row.get_ref(1).and_then(|data| Ok(data.as_str()?)).expect("it is text");
        let mut object: Map<String, Value> = serde_json::from_str(data).expect("it is an object");
        object.insert("price".to_owned(), json!(0));
        object.shift_remove("subtitle");
        let data = serde_json::to_string(&object).expect("it is valid JSON");
        write.execute(params![pk, data]).expect("rows fit");
    }
}

/// A data directory with the objects, and a plain table with the same properties beside them.
fn folder() -> TestCms {
    let folder = TestCms::with(|config: &mut CoreConfig| config.durability = Durability::Full);
    let local = Caller::local();
    let payload = definition(&[
        ("title", "string", "text"),
        ("slug", "string", "text"),
        ("subtitle", "string", "text"),
        ("price", "string", "text"),
        ("rank", "number", "number"),
        ("body", "string", "textarea"),
    ]);
    folder.cms.types().create(&local, payload).expect("the type is valid");
    for first in (0..OBJECTS).step_by(1000) {
        let objects: Vec<Value> = (first..first + 1000).map(object).collect();
        let report = folder.cms.objects().batch_create(
            &local,
            "product",
            &BatchElements::of(&objects),
            false,
        );
        assert_eq!(report.expect("the call is valid").batch_error_count, 0);
    }
    let rows = Connection::open(folder.path().join("cms.db")).expect("the file opens");
    rows.execute_batch(
        "CREATE TABLE plain (pk INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;
         INSERT INTO plain SELECT pk, data FROM object;",
    )
    .expect("the disk has room");
    folder
}

fn object(number: usize) -> Value {
    json!({
        "id": format!("product-{number}"),
        "title": format!("Product {number}"),
        "slug": format!("product-{number}"),
        "subtitle": format!("The {number}th of many"),
        "price": format!("{}.50", number % 1000),
        "rank": number % 5000,
        "body": "Lorem ipsum dolor sit amet. ".repeat(48),
    })
}

/// The type with `price` as a number, parsed from the texts, and without `subtitle`.
fn changed() -> PlanRequest {
    let mut payload = definition(&[
        ("title", "string", "text"),
        ("slug", "string", "text"),
        ("price", "number", "number"),
        ("rank", "number", "number"),
        ("body", "string", "textarea"),
    ]);
    payload["metaDefinition"]["propertiesConfig"]["price"]["convert"] = json!("parse");
    PlanRequest { content_types: vec![payload], ..PlanRequest::default() }
}

fn definition(properties: &[(&str, &str, &str)]) -> Map<String, Value> {
    let (mut schemas, mut configs) = (Map::new(), Map::new());
    for (name, schema_type, input_type) in properties {
        schemas.insert((*name).to_owned(), json!({"type": schema_type}));
        configs.insert((*name).to_owned(), json!({"label": name, "inputType": input_type}));
    }
    let order: Vec<&str> = properties.iter().map(|(name, ..)| *name).collect();
    let payload = json!({
        "name": "product",
        "label": "Product",
        "schemaDefinition": {"allOf": [
            {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
            {"type": "object", "properties": schemas},
        ]},
        "metaDefinition": {"order": order, "propertiesConfig": configs},
    });
    payload.as_object().expect("a payload is an object").clone()
}
