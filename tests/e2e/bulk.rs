//! Bulk jobs that are interrupted: no object is changed twice or in part.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Cli, Server, both_targets, files, on_both_targets};

const OBJECTS: usize = 4000;
/// Timeout of a job on a busy machine.
const JOB_TIMEOUT: Duration = Duration::from_mins(2);

/// Creates objects of a type.
fn fill(cli: &Cli) {
    cli.copy(&files());
    cli.run(&["ctd", "apply", "shop.yaml"]).ok();
    let row = |n| format!("{}\n", json!({ "id": format!("p{n}"), "title": format!("{n}") }));
    cli.write("many.ndjson", &(0..OBJECTS).map(row).collect::<String>());
    cli.run(&["import", "product", "many.ndjson"]).ok();
    cli.write("price.yaml", "price: 9\n");
}

/// The number of changed objects, and of changes.
fn changes(data: &Path) -> (usize, usize) {
    let database = Connection::open(data.join("cms.db")).unwrap();
    let count = |sql| database.query_row(sql, [], |row| row.get(0)).unwrap();
    (
        count("SELECT count(*) FROM object WHERE version = 2 AND data ->> 'price' = 9"),
        count("SELECT count(*) FROM journal WHERE kind = 'object.update'"),
    )
}

fn jobs(cli: &Cli) -> Vec<Value> {
    cli.run(&["job", "list", "--json"]).exits(0).json()
}

/// Waits until the newest job is in a state, and returns it.
fn wait_for(cli: &Cli, is_reached: impl Fn(&Value) -> bool) -> Value {
    let started = Instant::now();
    loop {
        if let Some(job) = jobs(cli).first().filter(|job| is_reached(job)) {
            return job.clone();
        }
        assert!(started.elapsed() < JOB_TIMEOUT, "{:?}", jobs(cli));
    }
}

#[test]
fn bulk_job_continues_after_its_server_was_killed() {
    let folder = TempDir::new().unwrap();
    let server = Server::start_in(folder.path(), &[]);
    let cli = Cli::with_server(&server);
    fill(&cli);
    let request =
        json!({ "action": "patch", "patch": { "price": 9 }, "all": true, "expect": OBJECTS });
    server.post("content/product/bulk", request.to_string());
    let data = folder.path().join("data");
    let started = Instant::now();
    while changes(&data).0 == 0 {
        assert!(started.elapsed() < JOB_TIMEOUT);
    }
    server.stop();
    let (changed, updates) = changes(&data);
    assert_eq!((changed % 500, updates), (0, changed), "complete transactions");

    let server = Server::start_in(folder.path(), &[]);
    let cli = Cli::with_server(&server);
    let job = wait_for(&cli, |job| job["finishedAt"].is_string());
    let numbers = ["state", "total", "done", "succeeded"].map(|member| job[member].clone());
    assert_eq!(numbers, [json!("done"), json!(OBJECTS), json!(OBJECTS), json!(OBJECTS)]);
    assert_eq!(changes(&data), (OBJECTS, OBJECTS));
}

#[test]
fn bulk_command_is_stopped_by_an_interrupt() {
    let server = Server::start();
    let [direct, remote] = both_targets(&server);
    let targets = [(&direct, direct.path("data")), (&remote, server.data())];
    for (cli, data) in targets {
        fill(cli);
        let command = ["object", "update", "product", "price.yaml", "--patch", "--all", "--yes"];
        let mut child = cli.start(&command);
        let started = Instant::now();
        while changes(&data).0 == 0 {
            assert!(started.elapsed() < JOB_TIMEOUT);
        }
        let signal = ["-s", "INT", &child.id().to_string()].map(str::to_owned);
        assert!(Command::new("kill").args(signal).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(7));
        let job = wait_for(cli, |job| job["finishedAt"].is_string());
        let (changed, updates) = changes(&data);
        assert!(changed < OBJECTS, "{job}");
        assert_eq!((&job["state"], &job["succeeded"]), (&json!("stopped"), &json!(changed)));
        assert_eq!((changed % 500, updates), (0, changed));
    }
}

#[test]
fn bulk_command_needs_a_confirmation() {
    let cli = Cli::with_data();
    cli.copy(&files());
    cli.run(&["ctd", "apply", "shop.yaml"]).ok();
    let all = ["object", "delete", "product", "--all"];
    cli.run(&all).exits(2).stderr_contains("use --expect N");
    let output = cli.run(&[&all[..], &["--expect", "1"]].concat());
    output.exits(5);
    let changed = "error: The number of matching objects has changed: expected 1, found 0";
    output.stderr_contains(changed);
    assert_eq!(cli.run(&[&all[..], &["--expect", "0"]].concat()).ok(), "deleted 0, refused 0\n");
}

/// An unset variable of a script, or a misspelt name, must not select everything.
#[test]
fn selection_without_a_condition_is_refused() {
    on_both_targets(|cli| {
        cli.copy(&files());
        cli.run(&["ctd", "apply", "shop.yaml"]).ok();
        cli.write("one.ndjson", "{\"id\":\"a\",\"title\":\"A\"}\n");
        cli.run(&["import", "product", "one.ndjson"]).ok();
        let titel = r#"{"titel":{"type":"notEqual","filter":"x"}}"#;
        for (selection, exit, part) in [
            (["--q", ""], 2, "use --all"),
            (["--q", " "], 2, "use --all"),
            (["--filters", "{}"], 2, "use --all"),
            (["--filters", titel], 6, "did you mean \"title\"?"),
        ] {
            let delete = ["object", "delete", "product", "--yes"];
            let output = cli.run(&[&delete[..], &selection].concat());
            output.exits(exit).prints("").stderr_contains(part);
        }
        cli.run(&["object", "get", "product", "a"]).exits(0);
    });
}
