//! Batches as large as they may come: what they take of memory is little more than their text.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use crate::support::{Server, client};

/// Batches at once, as many as a server takes.
const AT_ONCE: usize = 4;
const ELEMENTS: usize = 100;
/// Entries of the list in each element.
const ENTRIES: usize = 4000;
/// Most memory that the server may have had, in kilobytes, for four batches of 8 MB and the index of
/// their words. As values, these would take more than a gigabyte.
const MEMORY: u64 = 400 * 1024;

#[test]
fn large_batches_take_little_more_memory_than_their_text() {
    let server = Server::start();
    let text = json!({ "type": "string" });
    let input = json!({ "label": "", "inputType": "text", "unique": false });
    let made = post(&server, "internal/contenttype", &json!({
        "name": "table",
        "label": "Table",
        "schemaDefinition": {
            "type": "object",
            "additionalProperties": false,
            "required": [],
            "allOf": [
                { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
                { "type": "object", "properties": { "rows": { "type": "array", "items": {
                    "type": "object", "properties": { "a": text, "b": text },
                } } } },
            ],
        },
        "metaDefinition": {
            "order": ["rows"],
            "propertiesConfig": { "rows": {
                "label": "", "inputType": "object", "unique": false,
                "items": { "order": ["a", "b"], "propertiesConfig": { "a": input, "b": input } },
            } },
        },
    }).to_string());
    assert_eq!(made["name"], "table", "{made}");
    let rows: Vec<_> = (0..ENTRIES).map(|row| json!({ "a": row.to_string(), "b": "" })).collect();
    let batch = Value::from(vec![json!({ "rows": rows }); ELEMENTS]).to_string();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let report = post(&server, "content/table/batch", &batch);
                assert_eq!(report["batch_success_count"], ELEMENTS, "{report:.500}");
            });
        }
    });
    if let Some(peak) = server.memory_peak() {
        assert!(peak < MEMORY, "{peak} KB for {} KB", AT_ONCE * batch.len() / 1024);
    }
}

fn post(server: &Server, path: &str, body: &str) -> Value {
    let client = client().timeout(Duration::from_mins(5)).build().unwrap();
    let request = client.post(format!("{}/api/v1/{path}", server.url));
    let request = request.header("content-type", "application/json").body(body.to_owned());
    let answer = request.header("X-AUTH-TOKEN", &server.key).send().unwrap().bytes().unwrap();
    serde_json::from_slice(&answer).unwrap()
}
