//! Messages of commands about changes, refusals and invalid values, the same on both targets.

use serde_json::{Value, json};

use super::support::{Cli, files, on_both_targets};

/// The hints of a command that ended with this code.
fn hints(cli: &Cli, command: &[&str], exit: i32) -> Vec<String> {
    let output = cli.run(command);
    output.exits(exit);
    output
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("hint: "))
        .map(str::to_owned)
        .collect()
}

const KIT: &str = "version: 1
contentTypes:
  - name: kit
    properties:
      title: {type: text}
      parts: {type: object, items: {name: {type: text}, amount: {type: number}, note: {type: text}}}
";

#[test]
fn plan_shows_nested_properties_by_their_paths() {
    on_both_targets(|cli| {
        cli.write("kit.yaml", KIT);
        cli.write(
            "rows.yaml",
            "- {id: a, parts: [{name: Bolt, amount: 2}, {name: Nut}]}\n- {id: b}\n",
        );
        cli.run(&["ctd", "apply", "kit.yaml"]).ok();
        cli.run(&["import", "kit", "rows.yaml"]).ok();

        let changed =
            KIT.replace("amount:", "count:").replace("note: {type: text}", "note: {type: number}");
        cli.write("kit.yaml", &changed);
        let planned = cli.run(&["ctd", "plan", "kit.yaml"]);
        let lines = [
            "~ kit",
            "    ~ parts         nested properties  1 value lost: a [{\"name\":\"Bolt\",\"amount\":2},{\"name\":\"...",
            "    + parts.count   number",
            "    ~ parts.note    text -> number",
            "    - parts.amount  removed",
        ];
        assert!(planned.stdout.starts_with(&(lines.join("\n") + "\n")), "{}", planned.transcript());
        let hint = "hint: if amount was renamed, add \"renamedFrom: amount\" at \
                    kit.parts.items.count (kit.yaml:6:57) to keep its values\n";
        planned.stderr_contains(hint);

        cli.write(
            "kit.yaml",
            &KIT.replace("amount: {type: number", "count: {type: number, renamedFrom: amount"),
        );
        let planned = cli.run(&["ctd", "plan", "kit.yaml"]);
        let lines = [
            "~ kit",
            "    ~ parts        nested properties    1 converted",
            "    > parts.count  renamed from amount",
        ];
        for line in lines {
            assert!(planned.stdout.contains(line), "{line}: {}", planned.transcript());
        }
        assert!(!planned.stderr.contains("hint:"), "{}", planned.transcript());
        cli.run(&["ctd", "apply", "kit.yaml"]).ok();
        let object: Value = cli.run(&["object", "get", "kit", "a", "--json"]).exits(0).json();
        assert_eq!(object["parts"], json!([{"name": "Bolt", "count": 2}, {"name": "Nut"}]));
    });
}

#[test]
fn unknown_types_are_reported_with_a_similar_name() {
    on_both_targets(|cli| {
        cli.copy(&files());
        cli.run(&["ctd", "apply", "shop.yaml"]).ok();
        for command in [
            "ctd get prodct",
            "ctd delete prodct --dry-run",
            "object list prodct",
            "object get prodct x",
            "object create prodct new.json",
            "object delete prodct x",
            "import prodct rows.json",
            "publish prodct x",
            "workflow run prodct x _draft_review",
            "search * --type prodct",
        ] {
            let command: Vec<&str> = command.split(' ').collect();
            assert_eq!(hints(cli, &command, 4), ["did you mean \"product\"?"], "{command:?}");
        }
        assert_eq!(
            hints(cli, &["ctd", "get", "warehouse"], 4),
            ["`cms ctd list` lists the content types"]
        );
        assert_eq!(
            hints(cli, &["ctd", "get", "blogPost"], 4),
            ["type name \"blogPost\" is not valid: use lower-case letters (a to z) and \"_\""]
        );
    });
}

#[test]
fn unknown_filter_types_are_reported_with_all_filter_types() {
    on_both_targets(|cli| {
        cli.initialize();
        let types = "filter types are equals, notEqual, contains, notContains, startsWith, endsWith, \
                     lessThan, lessThanOrEqual, greaterThan, greaterThanOrEqual, inRange, empty, \
                     notEmpty, overlaps, includes";
        for filter in [r#"{"name":{"type":"like","filter":"a"}}"#, r#"{"name":{"filter":"a"}}"#] {
            for list in [&["object", "list", "_tag"][..], &["media", "list"]] {
                let command = [list, &["--filters", filter]].concat();
                assert_eq!(hints(cli, &command, 6), [types], "{command:?}");
            }
        }
        let message = "filters: Unknown filter type like for name";
        let output = cli.run(&["media", "list", "--filters", r#"{"name":{"type":"like"}}"#]);
        output.stderr_contains(message);
        assert!(hints(cli, &["object", "list", "_tag", "--filters", "{"], 6).is_empty());
    });
}

#[test]
fn webhooks_without_tls_are_refused_with_the_permitting_setting() {
    on_both_targets(|cli| {
        let hook = json!({"id": "h", "name": "H", "url": "http://127.0.0.1:9", "type": "async",
            "executionMode": "url", "actions": [], "content_type_definitions": []});
        cli.write("hook.json", &hook.to_string());
        cli.write("hooks.ndjson", &format!("{hook}\n"));
        let expected = "a webhook needs an https:// URL; start the server with --webhook-allow-http \
                      to allow http:// (CMS_WEBHOOK_ALLOW_HTTP=true, also for commands with --data)";
        assert_eq!(hints(cli, &["object", "create", "_webhooks", "hook.json"], 6), [expected]);
        let imported = hints(cli, &["import", "_webhooks", "hooks.ndjson"], 7);
        assert!(imported.contains(&expected.to_owned()), "{imported:?}");
    });
}

#[test]
fn data_directory_permits_webhooks_without_tls_as_its_server_does() {
    let cli = Cli::with_variables(vec![
        ("CMS_DATA", "data".to_owned()),
        ("CMS_WEBHOOK_ALLOW_HTTP", "true".to_owned()),
    ]);
    let hook = json!({"id": "h", "name": "H", "url": "http://127.0.0.1:9", "type": "async",
        "executionMode": "url", "actions": [], "content_type_definitions": []});
    cli.write("hook.json", &hook.to_string());
    cli.run(&["object", "create", "_webhooks", "hook.json"]).exits(0);
}

#[test]
fn refused_workflow_actions_are_reported_with_the_enabled_ones() {
    on_both_targets(|cli| {
        cli.copy(&files());
        cli.run(&["ctd", "apply", "desk.yaml"]).ok();
        cli.run(&["import", "memo", "items.ndjson"]).ok();
        cli.run(&["workflow", "run", "memo", "a", "_draft_review"]).ok();
        assert_eq!(
            hints(cli, &["workflow", "run", "memo", "a", "b", "c", "_publish"], 6),
            [
                "transitions enabled in state \"draft\": _draft_review",
                "transitions enabled in state \"review\": _review_draft, _review_public"
            ]
        );
        cli.run(&["workflow", "run", "memo", "a", "_review_public"]).ok();
        assert_eq!(
            hints(cli, &["workflow", "run", "memo", "a", "_draft_review"], 6),
            ["no transition is enabled in state \"public\""]
        );
    });
}

#[test]
fn import_lists_refusals_with_line_and_reason() {
    on_both_targets(|cli| {
        cli.copy(&files());
        cli.run(&["ctd", "apply", "shop.yaml"]).ok();
        let required = json!({"title": ["The property title is required"]});
        let cases: [(&str, &str, Value); 4] = [
            (
                "rows.ndjson",
                "{\"id\":\"ok\",\"title\":\"A\"}\n\n{\"id\":\"x\"}\nno JSON\n",
                json!([
                    {"contentType": "product", "place": "rows.ndjson:4:2", "id": null,
                        "errors": {"data": ["expected ident"]}},
                    {"contentType": "product", "place": "rows.ndjson:3", "id": "x", "errors": required},
                ]),
            ),
            (
                "rows.json",
                "[{\"id\":\"ok2\",\"title\":\"B\"},{\"id\":\"x\"}]",
                json!([
                    {"contentType": "product", "place": "rows.json[2]", "id": "x", "errors": required},
                ]),
            ),
            (
                "rows.csv",
                "id,title\r\nok3,\"C\r\nC\"\r\n\r\nx,\r\n",
                json!([
                    {"contentType": "product", "place": "rows.csv:5", "id": "x", "errors": required},
                ]),
            ),
            (
                "rows.yaml",
                "- id: ok4\r\n  title: D\r\n- id: x\r\n",
                json!([
                    {"contentType": "product", "place": "rows.yaml:3", "id": "x", "errors": required},
                ]),
            ),
        ];
        for (file, text, refusals) in cases {
            cli.write(file, text);
            let output = cli.run(&["import", "product", file, "--json"]);
            output.exits(7);
            let report: Value = output.json();
            assert_eq!(report["refusals"], refusals, "{file}");
            assert_eq!(report["created"], 1, "{file}");
        }
    });
}

#[test]
fn export_refuses_folders_with_other_files() {
    on_both_targets(|cli| {
        cli.copy(&files());
        cli.run(&["ctd", "apply", "shop.yaml"]).ok();
        cli.write("notes/readme.txt", "mine");
        let refused = cli.run(&["export", "notes"]);
        assert_eq!(
            (refused.exit, refused.stderr.as_str()),
            (
                2,
                "error: notes is not empty and has no earlier export\n\
                 hint: choose an empty folder, or use --force, which keeps files with other names\n"
            )
        );
        assert_eq!(cli.run(&["export", "notes", "--dry-run"]).exit, 2);
        assert!(!cli.path("notes/ContentTypeProduct").exists());

        cli.run(&["export", "notes", "--force"]).ok();
        assert!(cli.path("notes/readme.txt").exists());
        // Now it contains an earlier export.
        cli.run(&["export", "notes"]).ok();
        std::fs::create_dir(cli.path("empty")).unwrap();
        cli.run(&["export", "empty"]).ok();
        cli.run(&["export", "new/folder"]).ok();
    });
}

/// Some terminals report no width.
#[test]
fn help_survives_a_width_of_0() {
    let usual = Cli::empty().run(&["--help"]).ok();
    let cli = Cli::with_variables(vec![("COLUMNS", "0".to_owned())]);
    assert_eq!(cli.run(&["--help"]).ok(), usual);
}
