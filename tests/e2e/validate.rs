//! `cms validate`: projects and content folders, valid and with errors, without any target.

use std::fs;

use serde_json::{Value, json};

use super::support::{Cli, fixtures};

const PROJECT: &str = "\
version: 1
contentTypes:
  - name: page
    draftPublic: true
    properties:
      title: {type: text, required: true, titlePart: true, pattern: '^[A-Z]'}
      size: {type: select, options: [S, M]}
      count: {type: number}
      related: {type: datasource, to: page, many: true}
";

/// A folder with a project and its exported content.
fn exported() -> Cli {
    let cli = Cli::empty();
    cli.write("project.yaml", PROJECT);
    let related = r#"[{"type":"internal","dataUrl":"/api/v1/content/page/shipping"}]"#;
    cli.write(
        "pages.ndjson",
        &format!(
            "{{\"id\":\"imprint\",\"title\":\"Imprint\",\"related\":{related}}}\n\
             {{\"id\":\"shipping\",\"title\":\"Shipping\",\"size\":\"M\",\"count\":3}}\n"
        ),
    );
    for command in
        ["ctd apply project.yaml --data sample", "import page pages.ndjson --data sample --dry-run"]
    {
        cli.run_line(command).exits(0);
    }
    cli.run(&["import", "page", "pages.ndjson", "--data", "sample"]).ok();
    cli.run(&["publish", "page", "imprint", "--data", "sample"]).ok();
    cli.run(&["export", "content", "--data", "sample"]).ok();
    cli
}

/// Replaces a text in the objects of the exported folder.
fn edit(cli: &Cli, old: &str, new: &str) {
    let file = cli.path("content/ContentTypePage/contentObjectPage.json");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(old), "{old}: {text}");
    fs::write(&file, text.replacen(old, new, 1)).unwrap();
}

#[test]
fn validate_can_be_repeated_and_leaves_no_files() {
    let cli = exported();
    let before = fs::read_dir(cli.path("")).unwrap().count();
    for _ in 0..2 {
        let project = cli.run(&["validate", "project.yaml"]);
        project.exits(0).prints("valid: 1 content type, 0 objects, 0 media files\n");
        let content = cli.run(&["validate", "content"]);
        content.exits(0).prints("valid: 1 content type, 2 objects, 0 media files\n");
        content.stderr_contains("using the types of project.yaml");
        cli.run(&["validate", "project.yaml", "content"]).exits(0);
    }
    assert_eq!(fs::read_dir(cli.path("")).unwrap().count(), before);

    let [project, content] = ["project.yaml", "content"].map(|name| fixtures().join(name));
    cli.run(&["validate", project.to_str().unwrap(), content.to_str().unwrap()]).exits(0);
}

#[test]
fn all_errors_of_projects_have_a_position() {
    let cli = Cli::empty();
    let faulty = PROJECT.replace("type: number", "type: nummer").replace("to: page", "to: pge");
    cli.write("project.yaml", &faulty);
    let output = cli.run(&["validate", "project.yaml"]);
    output.exits(6).prints("");
    output.stderr_contains("project.yaml:8:").stderr_contains("project.yaml:9:");
    output.stderr_contains("did you mean \"page\"");

    let json: Value = cli.run(&["validate", ".", "--json"]).json();
    assert!(json.to_string().contains("project.yaml:8:"), "{json}");

    // An error that only the apply finds.
    cli.write("project.yaml", &PROJECT.replace("'^[A-Z]'", "'['"));
    cli.run(&["validate", "project.yaml"]).exits(6);
    cli.write("project.yaml", "version: [1");
    cli.run(&["validate", "project.yaml"]).exits(6).stderr_contains("project.yaml:2:");
}

#[test]
fn errors_of_objects_have_file_and_line() {
    for (old, new, message) in [
        ("\"title\":\"Imprint\"", "\"other\":1", "title"),
        ("\"title\":\"Imprint\"", "\"title\":\"imprint\"", "title"),
        ("\"size\":\"M\"", "\"size\":\"XL\"", "size"),
        ("\"count\":3", "\"count\":\"three\"", "count"),
        ("\"count\":3", "\"colour\":\"red\"", "colour"),
        ("content/page/shipping", "content/pge/shipping", "related"),
    ] {
        let cli = exported();
        edit(&cli, old, new);
        for _ in 0..2 {
            let output = cli.run(&["validate", "content"]);
            output.exits(6).stderr_contains("contentObjectPage.json:").stderr_contains(message);
            assert!(output.stdout.contains("not valid: "), "{}", output.transcript());
        }
        let json = cli.run(&["validate", "content", "--json"]);
        json.exits(6);
        let json: Value = json.json();
        // An object that links to a refused one is refused too.
        let refusals = json["refusals"].as_array().unwrap();
        assert_eq!(json["refused"], json!(refusals.len()), "{json}");
        assert!(refusals.iter().any(|refusal| refusal.to_string().contains(message)), "{json}");
    }
}

#[test]
fn syntax_errors_of_object_files_have_a_position() {
    let cli = exported();
    edit(&cli, "{\"id\"", "{\"id");
    let output = cli.run(&["validate", "content"]);
    output.exits(6).stderr_contains("contentObjectPage.json:1:7): ");
}

#[test]
fn content_is_validated_against_the_types_of_the_project() {
    let cli = exported();
    cli.write("project.yaml", &PROJECT.replace("[S, M]", "[S, L]"));
    cli.run(&["validate", "content"]).exits(6).stderr_contains("size");
    cli.write("other.yaml", PROJECT);
    cli.run(&["validate", "content", "other.yaml"]).exits(0);
    fs::remove_file(cli.path("project.yaml")).unwrap();
    cli.run(&["validate", "content"]).exits(0);
}

#[test]
fn missing_files_and_definitions_are_usage_errors() {
    let cli = exported();
    cli.run(&["validate"]).exits(2);
    cli.run(&["validate", "nosuch.yaml"]).exits(2).stderr_contains("nosuch.yaml");
    let definition = cli.path("content/ContentTypePage/ContentTypeDefinition.json");
    fs::write(&definition, "{\n  \"name\": \"page\",\n").unwrap();
    cli.run(&["validate", "content"]).exits(6).stderr_contains("ContentTypeDefinition.json:");
    fs::remove_file(&definition).unwrap();
    let output = cli.run(&["validate", "content"]);
    output.exits(2).stderr_contains("has objects, but no ContentTypeDefinition.json");
}
