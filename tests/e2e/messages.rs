//! What commands say about changes, refusals and values that are not allowed: on a data directory and
//! on a server alike.

use serde_json::{Value, json};

use super::support::{Place, Server, files};

/// Runs the same checks on a data directory and on a server.
fn on_both_targets(check: impl Fn(&Place)) {
    check(&Place::with_data());
    let server = Server::start();
    check(&Place::with_server(&server));
}

/// The hints of a command that ended with this code.
fn hints(place: &Place, command: &[&str], exit: i32) -> Vec<String> {
    let ran = place.run(command);
    assert_eq!(ran.exit, exit, "{}", ran.whole());
    ran.stderr.lines().filter_map(|line| line.strip_prefix("hint: ")).map(str::to_owned).collect()
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
    on_both_targets(|place| {
        place.write("kit.yaml", KIT);
        place.write(
            "rows.yaml",
            "- {id: a, parts: [{name: Bolt, amount: 2}, {name: Nut}]}\n- {id: b}\n",
        );
        place.run(&["ctd", "apply", "kit.yaml"]).ok();
        place.run(&["import", "kit", "rows.yaml"]).ok();

        let changed =
            KIT.replace("amount:", "count:").replace("note: {type: text}", "note: {type: number}");
        place.write("kit.yaml", &changed);
        let planned = place.run(&["ctd", "plan", "kit.yaml"]);
        let lines = [
            "~ kit",
            "    ~ parts         nested properties  1 value lost: a [{\"name\":\"Bolt\",\"amount\":2},{\"name\":\"...",
            "    + parts.count   number",
            "    ~ parts.note    text -> number",
            "    - parts.amount  removed",
        ];
        assert!(planned.stdout.starts_with(&(lines.join("\n") + "\n")), "{}", planned.whole());
        let hint = "hint: if amount was renamed, add \"renamedFrom: amount\" at \
                    kit.parts.items.count (kit.yaml:6:57) to keep its values\n";
        assert!(planned.stderr.contains(hint), "{}", planned.whole());

        place.write(
            "kit.yaml",
            &KIT.replace("amount: {type: number", "count: {type: number, renamedFrom: amount"),
        );
        let planned = place.run(&["ctd", "plan", "kit.yaml"]);
        let lines = [
            "~ kit",
            "    ~ parts        nested properties    1 converted",
            "    > parts.count  renamed from amount",
        ];
        for line in lines {
            assert!(planned.stdout.contains(line), "{line}: {}", planned.whole());
        }
        assert!(!planned.stderr.contains("hint:"), "{}", planned.whole());
        place.run(&["ctd", "apply", "kit.yaml"]).ok();
        let object: Value =
            serde_json::from_str(&place.run(&["object", "get", "kit", "a", "--json"]).ok())
                .unwrap();
        assert_eq!(object["parts"], json!([{"name": "Bolt", "count": 2}, {"name": "Nut"}]));
    });
}

#[test]
fn unknown_types_are_told_with_the_name_that_was_meant() {
    on_both_targets(|place| {
        place.copy(&files());
        place.run(&["ctd", "apply", "shop.yaml"]).ok();
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
            assert_eq!(hints(place, &command, 4), ["did you mean \"product\"?"], "{command:?}");
        }
        assert_eq!(
            hints(place, &["ctd", "get", "warehouse"], 4),
            ["`cms ctd list` lists the content types"]
        );
        assert_eq!(
            hints(place, &["ctd", "get", "blogPost"], 4),
            ["type name \"blogPost\" is not valid: use lower-case letters (a to z) and \"_\""]
        );
    });
}

#[test]
fn unknown_filter_types_are_told_with_those_that_exist() {
    on_both_targets(|place| {
        place.run(&["key", "create", "first", "--kind", "read-only"]).ok();
        let types = "filter types are equals, notEqual, contains, notContains, startsWith, endsWith, \
                     lessThan, lessThanOrEqual, greaterThan, greaterThanOrEqual, inRange, empty, \
                     notEmpty, overlaps, includes";
        for filter in [r#"{"name":{"type":"like","filter":"a"}}"#, r#"{"name":{"filter":"a"}}"#] {
            for list in [&["object", "list", "_tag"][..], &["media", "list"]] {
                let command = [list, &["--filters", filter]].concat();
                assert_eq!(hints(place, &command, 6), [types], "{command:?}");
            }
        }
        let message = "filters: Unknown filter type like for name";
        let ran = place.run(&["media", "list", "--filters", r#"{"name":{"type":"like"}}"#]);
        assert!(ran.stderr.contains(message), "{}", ran.whole());
        assert!(hints(place, &["object", "list", "_tag", "--filters", "{"], 6).is_empty());
    });
}

#[test]
fn webhooks_without_tls_are_told_with_the_setting_that_permits_them() {
    on_both_targets(|place| {
        let hook = json!({"id": "h", "name": "H", "url": "http://127.0.0.1:9", "type": "async",
            "executionMode": "url", "actions": [], "content_type_definitions": []});
        place.write("hook.json", &hook.to_string());
        place.write("hooks.ndjson", &format!("{hook}\n"));
        let wanted = "a webhook needs an https:// URL; start the server with --webhook-allow-http \
                      to allow http:// (CMS_WEBHOOK_ALLOW_HTTP=true, also for commands with --data)";
        assert_eq!(hints(place, &["object", "create", "_webhooks", "hook.json"], 6), [wanted]);
        let imported = hints(place, &["import", "_webhooks", "hooks.ndjson"], 7);
        assert!(imported.contains(&wanted.to_owned()), "{imported:?}");
    });
}

#[test]
fn data_directory_permits_webhooks_without_tls_as_its_server_does() {
    let place = Place::with_variables(vec![
        ("CMS_DATA", "data".to_owned()),
        ("CMS_WEBHOOK_ALLOW_HTTP", "true".to_owned()),
    ]);
    let hook = json!({"id": "h", "name": "H", "url": "http://127.0.0.1:9", "type": "async",
        "executionMode": "url", "actions": [], "content_type_definitions": []});
    place.write("hook.json", &hook.to_string());
    let ran = place.run(&["object", "create", "_webhooks", "hook.json"]);
    assert_eq!(ran.exit, 0, "{}", ran.whole());
}

#[test]
fn refused_workflow_actions_are_told_with_the_enabled_ones() {
    on_both_targets(|place| {
        place.copy(&files());
        place.run(&["ctd", "apply", "desk.yaml"]).ok();
        place.run(&["import", "memo", "items.ndjson"]).ok();
        place.run(&["workflow", "run", "memo", "a", "_draft_review"]).ok();
        assert_eq!(
            hints(place, &["workflow", "run", "memo", "a", "b", "c", "_publish"], 6),
            [
                "actions enabled in state \"draft\": _draft_review",
                "actions enabled in state \"review\": _review_draft, _review_public"
            ]
        );
        place.run(&["workflow", "run", "memo", "a", "_review_public"]).ok();
        assert_eq!(
            hints(place, &["workflow", "run", "memo", "a", "_draft_review"], 6),
            ["no action is enabled in state \"public\""]
        );
    });
}

#[test]
fn import_lists_refusals_with_place_and_reason() {
    on_both_targets(|place| {
        place.copy(&files());
        place.run(&["ctd", "apply", "shop.yaml"]).ok();
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
            place.write(file, text);
            let ran = place.run(&["import", "product", file, "--json"]);
            assert_eq!(ran.exit, 7, "{}", ran.whole());
            let report: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(report["refusals"], refusals, "{file}");
            assert_eq!(report["created"], 1, "{file}");
        }
    });
}

#[test]
fn export_keeps_out_of_folders_with_other_files() {
    on_both_targets(|place| {
        place.copy(&files());
        place.run(&["ctd", "apply", "shop.yaml"]).ok();
        place.write("notes/readme.txt", "mine");
        let refused = place.run(&["export", "notes"]);
        assert_eq!(
            (refused.exit, refused.stderr.as_str()),
            (
                2,
                "error: notes is not empty and has no earlier export\n\
                 hint: choose an empty folder, or use --force, which keeps files with other names\n"
            )
        );
        assert_eq!(place.run(&["export", "notes", "--dry-run"]).exit, 2);
        assert!(!place.path("notes/ContentTypeProduct").exists());

        place.run(&["export", "notes", "--force"]).ok();
        assert!(place.path("notes/readme.txt").exists());
        // Now it holds an earlier export.
        place.run(&["export", "notes"]).ok();
        std::fs::create_dir(place.path("empty")).unwrap();
        place.run(&["export", "empty"]).ok();
        place.run(&["export", "new/folder"]).ok();
    });
}

/// Some terminals do not know their width.
#[test]
fn help_survives_a_width_of_0() {
    let usual = Place::empty().run(&["--help"]).ok();
    let place = Place::with_variables(vec![("COLUMNS", "0".to_owned())]);
    assert_eq!(place.run(&["--help"]).ok(), usual);
}
