//! `cms init`: what it writes is valid, is applied and imported twice, and is never overwritten.

use std::{
    fs,
    io::{BufRead, BufReader},
};

use serde_json::{Value, json};

use super::{
    export_import::tree,
    support::{Cli, Server},
};

fn init(cli: &Cli, arguments: &[&str]) {
    let created = cli.run(&[&["init", "--no-serve"], arguments].concat());
    created.exits(0).prints("").stderr_contains("start the server with: ");
}

#[test]
fn second_init_changes_nothing_and_names_what_exists() {
    let cli = Cli::empty();
    init(&cli, &["blog"]);
    let before = tree(&cli.path("blog"));
    assert_eq!(before.len(), 9, "{before:?}");
    for template in ["blog", "empty"] {
        let again = cli.run(&["init", "blog", "--no-serve", "--template", template]);
        again.exits(5).prints("").stderr_contains("blog already contains project.yaml, ");
        again.stderr_contains("README.md").stderr_contains("nothing was changed");
        again.stderr_contains("cms serve --apply project.yaml");
        assert_eq!(tree(&cli.path("blog")), before);
    }
    let json = cli.run(&["init", "blog", "--json"]);
    json.exits(5);
    assert_eq!(json.json::<Value>()["code"], json!(409));

    cli.write("site/README.md", "mine");
    cli.run(&["init", "site"]).exits(5).stderr_contains("site already contains README.md: ");
    assert_eq!(tree(&cli.path("site")).len(), 1);
}

#[test]
fn dry_run_and_refused_folders_write_nothing() {
    let cli = Cli::empty();
    cli.run(&["init", "blog", "--dry-run"]).exits(0).stderr_contains("would create in blog: ");
    cli.write("file", "");
    cli.run(&["init", "file"]).exits(2).stderr_contains("file is not a folder");
    cli.run(&["init", "file/below"]).exits(1).stderr_contains("cannot write file/below/");
    cli.run(&["init", "--template", "shop"]).exits(2).stderr_contains("blog, empty");
    assert_eq!(tree(&cli.path("")).len(), 1);
}

#[test]
fn blog_is_valid_applied_and_imported_twice() {
    let cli = Cli::empty();
    init(&cli, &["--template", "blog"]);
    assert_eq!(
        fs::read_to_string(cli.path("project.schema.json")).unwrap(),
        cli.run(&["ctd", "schema"]).ok()
    );
    let project = fs::read_to_string(cli.path("project.yaml")).unwrap();
    assert!(project.starts_with("# yaml-language-server: $schema=project.schema.json\n"));
    // The JSON Schema in the folder is not a project file.
    for path in [".", "project.yaml", "content"] {
        cli.run(&["validate", path]).exits(0);
    }

    // A start of the server, and its restart.
    let start =
        || Server::start_in(&cli.path(""), &["--apply", "project.yaml", "--import", "content"]);
    let objects = |server: &Server| -> Value {
        let listed =
            Cli::with_server(server).run(&["object", "list", "post", "--preview", "--json"]);
        listed.exits(0).json()
    };
    let first = start();
    let log = first.startup_log.join("\n");
    assert!(log.contains("created 5, ") && log.contains("statuses set 2"), "{log}");
    let posts = objects(&first);
    let status = |post: &Value| post["internal"]["status"].as_str().unwrap().to_owned();
    let statuses: Vec<_> = posts.as_array().unwrap().iter().map(status).collect();
    assert_eq!(statuses, ["public", "public", "draft"]);
    first.terminate();
    let second = start();
    let log = second.startup_log.join("\n");
    assert!(!log.contains("created") && !log.contains("refused"), "{log}");
    assert_eq!(objects(&second), posts);

    // The steps of the workflow, also after a change of the types.
    let server = Cli::with_server(&second);
    for _ in 0..2 {
        let import = [cli.path("project.yaml"), cli.path("content")];
        let [project, content] = import.each_ref().map(|path| path.to_str().unwrap());
        server.run(&["ctd", "plan", project, "--exit-code"]).exits(0);
        let imported = server.run(&["import", content, "--update-existing"]);
        imported.exits(0);
        assert!(imported.stdout.starts_with("created 0, updated 0, unchanged 5, refused 0\n"));
        let text = fs::read_to_string(project).unwrap();
        if !text.contains("minutes") {
            let last = "text: {type: textMarkdown, required: true}\n";
            let longer = format!("{last}      minutes: {{type: integer}}\n");
            fs::write(project, text.replace(last, &longer)).unwrap();
        }
        server.run(&["ctd", "apply", project]).exits(0);
    }
}

#[test]
fn empty_project_is_valid_and_applied() {
    let cli = Cli::empty();
    init(&cli, &["shop", "--template", "empty"]);
    assert!(!cli.path("shop/content").exists());
    cli.run(&["validate", "shop/project.yaml"]).exits(0);
    for _ in 0..2 {
        cli.run(&["ctd", "apply", "shop/project.yaml", "--data", "data"]).exits(0);
    }
    // The example in its comment.
    let project = fs::read_to_string(cli.path("shop/project.yaml")).unwrap();
    let example =
        project.replace(" []", "").replace("\n#  ", "\n  ").replace("\n# A content", "\n#");
    cli.write("example.yaml", &example);
    let valid = cli.run(&["validate", "example.yaml"]).ok();
    assert!(valid.starts_with("valid: 1 content type, "), "{valid}\n{example}");
}

#[test]
fn init_starts_the_server_of_the_project() {
    let cli = Cli::with_variables(vec![
        ("CMS_LISTEN", "127.0.0.1:0".to_owned()),
        // A project has its own data directory.
        ("CMS_DATA", "elsewhere".to_owned()),
    ]);
    let mut child = cli.start_with_log(&["init", "blog"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut log = Vec::new();
    let url = loop {
        let line = lines.next().unwrap_or_else(|| panic!("the server listens: {log:?}"));
        match line.strip_prefix("listening on ") {
            Some(url) => break url.to_owned(),
            None => log.push(line),
        }
    };
    Cli::empty().run(&["wait", "--server", &url]).exits(0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(cli.path("blog/cms-data/cms.db").exists());
    assert!(!cli.path("elsewhere").exists());
}

#[test]
fn definition_with_only_a_name_refers_to_an_existing_type() {
    let cli = Cli::with_data();
    init(&cli, &[]);
    cli.run(&["import", "content", "--data", "data"])
        .exits(4)
        .stderr_contains("content type \"author\" not found");
    cli.run(&["ctd", "apply", "project.yaml"]).exits(0);
    cli.run(&["import", "content", "--dry-run"]).exits(0);
    cli.run(&["import", "content"]).exits(0);
}
