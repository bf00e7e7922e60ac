//! `cms types`: the same file from both targets and from project files, and kept up to date.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::Child,
    time::Duration,
};

use super::support::{Cli, Server, both_targets, client, fixtures, wait_for};

const TYPES: [&str; 2] = ["types", "typescript"];

fn types(cli: &Cli, arguments: &[&str]) -> String {
    cli.run(&[&TYPES[..], arguments].concat()).ok()
}

/// Kills the process on drop.
struct Watch(Child);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Waits until a file contains a text.
#[track_caller]
fn shows(cli: &Cli, file: &str, text: &str) {
    wait_for(Duration::from_secs(30), &format!("{file} has no {text}"), || {
        fs::read_to_string(cli.path(file)).is_ok_and(|stored| stored.contains(text))
    });
}

#[test]
fn types_are_the_same_on_both_targets_and_offline() {
    let server = Server::start();
    let targets = both_targets(&server);
    let project = fixtures().join("project.yaml");
    let project = project.to_str().unwrap();
    let offline = types(&Cli::empty(), &[project]);
    for cli in &targets {
        cli.run(&["ctd", "apply", project]).ok();
        assert_eq!(types(cli, &[]), offline);
    }
    let example = fixtures().join("../clients/typescript/example/cms.ts");
    let example = fs::read_to_string(example).unwrap();
    assert!(
        example == offline,
        "out of date: cms types typescript fixtures/project.yaml -o clients/typescript/example/cms.ts"
    );

    // A scoped key sees only the types that it may read.
    let key =
        targets[1].run(&["key", "create", "web", "--kind", "scoped", "--rule", "post:r"]).ok();
    let reader = Cli::with_key(&server, key.trim());
    let post = types(&reader, &[]);
    assert!(post.contains("interface Post ") && !post.contains("interface Product "), "{post}");
}

#[test]
fn file_that_would_not_change_is_not_written() {
    let cli = Cli::empty();
    cli.write("one.yaml", "{name: one, properties: {a: {type: text}}}\n");
    let write = || cli.run(&[&TYPES[..], &["one.yaml", "-o", "cms.ts"]].concat());
    write().exits(0).prints("").stderr_contains("the types are in cms.ts");
    let written = fs::metadata(cli.path("cms.ts")).unwrap().modified().unwrap();
    let again = write();
    assert_eq!((again.exit, again.stderr.as_str()), (0, ""));
    assert_eq!(fs::metadata(cli.path("cms.ts")).unwrap().modified().unwrap(), written);
    assert_eq!(types(&cli, &["one.yaml"]), fs::read_to_string(cli.path("cms.ts")).unwrap());
}

#[test]
fn wrong_projects_and_arguments_are_errors() {
    let cli = Cli::empty();
    cli.write("one.yaml", "{name: one, properties: {a: {type: txt}}}\n");
    let run = |arguments: &[&str]| cli.run(&[&TYPES[..], arguments].concat());
    run(&["one.yaml"]).exits(6).prints("").stderr_contains("one.yaml:1:");
    run(&["none.yaml"]).exits(2).stderr_contains("none.yaml");
    run(&[]).exits(2).stderr_contains("neither a server nor a data directory");
    run(&["one.yaml", "--watch"]).exits(2).stderr_contains("--output");
    run(&["-", "--watch", "-o", "cms.ts"]).exits(2).stderr_contains("standard input");
    cli.write("one.yaml", "{name: one, properties: {a: {type: text}}}\n");
    run(&["one.yaml", "-o", "none/cms.ts"]).exits(1).stderr_contains("cannot write none/cms.ts");
}

#[test]
fn watch_follows_project_files_through_errors() {
    let cli = Cli::empty();
    let text = |kind: &str| format!("{{name: one, properties: {{a: {{type: {kind}}}}}}}\n");
    cli.write("types/one.yaml", &text("text"));
    cli.write("project.yaml", "version: 1\ncontentTypes: [{file: types/one.yaml}]\n");
    let watch = [&TYPES[..], &["project.yaml", "-o", "cms.ts", "--watch"]].concat();
    let mut watch = Watch(cli.start_with_log(&watch));
    let mut log = BufReader::new(watch.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    shows(&cli, "cms.ts", "  a?: string;");
    cli.write("types/one.yaml", &text("txt"));
    assert!(log.any(|line| line.contains("types/one.yaml:1:")));
    shows(&cli, "cms.ts", "  a?: string;");
    cli.write("types/one.yaml", &text("number"));
    shows(&cli, "cms.ts", "  a?: number;");
}

#[test]
fn watch_follows_both_targets() {
    let server = Server::start();
    for cli in both_targets(&server) {
        cli.apply("one.yaml", "{name: one, properties: {a: {type: text}}}\n");
        let _watch = Watch(cli.start(&[&TYPES[..], &["-o", "cms.ts", "--watch"]].concat()));
        shows(&cli, "cms.ts", "  a?: string;");
        cli.apply("two.yaml", "{name: two, properties: {b: {type: checkbox}}}\n");
        shows(&cli, "cms.ts", "  b?: boolean;");
    }
}

/// Number of requests to a route, by the metrics of the server.
fn requests(server: &Server, route: &str) -> usize {
    let metrics = client().build().unwrap().get(format!("{}/metrics", server.url)).send().unwrap();
    let count = format!("_count{{method=\"GET\",route=\"{route}\"}} ");
    let metrics = metrics.text().unwrap();
    let found = metrics.lines().find_map(|line| line.split_once(&count));
    found.map_or(0, |(_, count)| count.parse().unwrap())
}

#[test]
fn watch_reads_types_only_after_their_change() {
    let server = Server::start();
    let cli = Cli::with_server(&server);
    cli.apply("one.yaml", "{name: one, properties: {a: {type: text}}}\n");
    let _watch = Watch(cli.start(&[&TYPES[..], &["-o", "cms.ts", "--watch"]].concat()));
    shows(&cli, "cms.ts", "  a?: string;");
    let (changes, types) = ("/api/v1/changes", "/api/v1/internal/contenttype");
    let polls_reach = |count: usize| {
        let limit = Duration::from_mins(1);
        wait_for(limit, "the change feed is read", || requests(&server, changes) >= count);
    };
    polls_reach(2);
    let before = requests(&server, types);
    // A change of an object is no change of types.
    cli.write("object.yaml", "a: b\n");
    cli.run(&["object", "create", "one", "object.yaml"]).ok();
    polls_reach(requests(&server, changes) + 2);
    assert_eq!(requests(&server, types), before);
    cli.apply("two.yaml", "{name: two, properties: {b: {type: checkbox}}}\n");
    shows(&cli, "cms.ts", "  b?: boolean;");
}
