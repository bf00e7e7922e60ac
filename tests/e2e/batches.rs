//! Batches of the maximum size take little more memory than their text, and imports send batches of the
//! size that the server accepts. Deletions of several batches do not depend on the order of the ids.

use std::thread;

use serde_json::{Value, json};

use crate::support::{Cli, Server};

/// Concurrent batches, as many as a server processes at the same time.
const BATCHES: usize = 4;
const ELEMENTS: usize = 100;
/// Entries of the list in each element.
const ENTRIES: usize = 4000;
/// Limit of the server's memory, in kilobytes, for four batches of 8 MB and their search index. As
/// parsed values, these batches would take more than a gigabyte.
const MAX_MEMORY_KB: u64 = 400 * 1024;

const TABLE: &str = "\
version: 1
contentTypes:
  - name: table
    properties:
      rows: {type: object, items: {a: {type: text}, b: {type: text}}}
";

#[test]
fn batches_take_little_more_memory_than_their_text() {
    let server = Server::start();
    let cli = Cli::with_server(&server);
    cli.apply("table.yaml", TABLE);
    let rows: Vec<_> = (0..ENTRIES).map(|row| json!({ "a": row.to_string(), "b": "" })).collect();
    let batch = Value::from(vec![json!({ "rows": rows }); ELEMENTS]).to_string();
    thread::scope(|scope| {
        for _ in 0..BATCHES {
            scope.spawn(|| {
                let report = server.post("content/table/batch", batch.clone());
                assert_eq!(report["batch_success_count"], ELEMENTS, "{report:.500}");
            });
        }
    });
    if let Some(peak) = server.memory_peak() {
        assert!(peak < MAX_MEMORY_KB, "{peak} KB for {} KB", BATCHES * batch.len() / 1024);
    }
}

#[test]
fn import_sends_batches_within_the_body_limit() {
    const OBJECTS: usize = 60;
    let cli = Cli::empty();
    let server = Server::start_in(&cli.path(""), &["--body-limit", "1MiB"]);
    let cli = Cli::with_server(&server);
    cli.apply("table.yaml", TABLE);
    let object = |number: usize, bytes: usize| {
        let rows = json!([{ "a": "x".repeat(bytes), "b": "" }]);
        format!("{}\n", json!({ "id": format!("t{number}"), "rows": rows }))
    };
    let mut lines: Vec<_> = (0..OBJECTS).map(|number| object(number, 200_000)).collect();
    lines.insert(30, object(OBJECTS, 2_000_000));
    cli.write("tables.ndjson", &lines.concat());
    let output = cli.run(&["import", "table", "tables.ndjson"]);
    output.exits(7).stderr_contains("(tables.ndjson:31): data: ");
    assert!(output.transcript().contains("created 60"), "{}", output.transcript());
}

#[test]
fn linked_objects_of_several_batches_are_deleted() {
    const OBJECTS: usize = 1_600;
    let cli = Cli::with_data();
    cli.apply(
        "chain.yaml",
        "{version: 1, contentTypes: [{name: page, properties: {before: {type: datasource, to: page}}}]}",
    );
    let object = |number: usize| match number.checked_sub(1) {
        Some(before) => json!({ "id": format!("p{number}"), "before": [format!("p{before}")] }),
        None => json!({ "id": "p0" }),
    };
    let lines = (0..OBJECTS).map(|number| format!("{}\n", object(number)));
    cli.write("pages.ndjson", &lines.collect::<String>());
    cli.run(&["import", "page", "pages.ndjson"]).ok();
    let ids: Vec<String> = (0..OBJECTS).map(|number| format!("p{number}")).collect();
    let ids = ids.iter().map(String::as_str);
    let all: Vec<&str> = ["object", "delete", "page"].into_iter().chain(ids.clone()).collect();
    assert_eq!(cli.run(&all).ok(), "deleted 1600, refused 0\n");

    // What other objects link to stays.
    cli.run(&["import", "page", "pages.ndjson"]).ok();
    let but_last: Vec<&str> =
        ["object", "delete", "page"].into_iter().chain(ids.take(OBJECTS - 1)).collect();
    cli.run(&but_last).exits(6);
}
