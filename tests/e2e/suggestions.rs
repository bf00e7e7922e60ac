//! Misspelt names: messages suggest a similar name, the same on both targets.

use super::support::{Cli, PUBLISHING_PROJECT, on_both_targets};

const FILTER: &str = r#"{"titel":{"type":"contains","filter":"a"},"internal.status":{"type":"equals","filter":"draft"},"next[*].dataUrl":{"type":"empty"}}"#;

fn prepare(cli: &Cli) {
    cli.write("project.yaml", PUBLISHING_PROJECT);
    cli.write("hook.json", r#"{"id":"website","name":"Front page","type":"async","url":"https://example.com","enabled":true,"content_type_definitions":[{"content_type_definition_name":"post"}],"actions":[{"action":"Publish"}]}"#);
    for command in [
        "ctd apply project.yaml",
        "object create _webhooks hook.json",
        "key create website --kind read-only",
        "user create mia@example.com --role editor --name Mia",
    ] {
        cli.run_line(command).ok();
    }
    cli.run_with(&["object", "create", "note", "-"], r#"{"id":"one","title":"One"}"#).ok();
}

#[test]
fn misspelt_names_have_suggestions() {
    on_both_targets(|cli| {
        prepare(cli);
        for (command, exit, hint) in [
            ("object list pots", 4, "did you mean \"post\"?"),
            (
                "object list post --order-by titel",
                0,
                "the type \"post\" has no property \"titel\", did you mean \"title\"?",
            ),
            (
                "object list post --field nxt.internal.objectTitle",
                0,
                "has no property \"nxt\", did you mean \"next\"?",
            ),
            ("object list post --field abc", 0, "the type \"post\" has no property \"abc\"\n"),
            (
                "object list post --filters FILTER",
                0,
                "has no property \"titel\", did you mean \"title\"?",
            ),
            (
                "publish post --filters FILTER --dry-run",
                6,
                "has no property \"titel\", did you mean \"title\"?",
            ),
            ("media list --order-by sise", 0, "has no property \"sise\", did you mean \"size\"?"),
            ("workflow run note one _draft_revew", 6, "did you mean \"_draft_review\"?"),
            ("workflow delete editoral", 4, "did you mean \"editorial\"?"),
            ("key rotate websit", 4, ", the key \"website\"?"),
            ("webhook log websit", 4, "did you mean \"website\"?"),
            ("webhook log Frontpage", 4, "did you mean \"website\", the webhook \"Front page\"?"),
            ("user get mia@exampel.com", 4, "did you mean \"mia@example.com\"?"),
        ] {
            let words: Vec<_> = command
                .split(' ')
                .map(|word| if word == "FILTER" { FILTER } else { word })
                .collect();
            let output = cli.run(&words);
            output.exits(exit).stderr_contains(hint);
            assert_eq!(
                output.stderr.matches("hint: the type").count(),
                usize::from(hint.contains("no property")),
                "{}",
                output.transcript()
            );
        }
        // Names that every object has.
        for path in ["id", "internal.updatedAt", "*", "$.title"] {
            let output = cli.run(&["object", "list", "post", "--field", path, "--order-by", path]);
            output.exits(0);
            assert!(!output.stderr.contains("hint"), "{}", output.transcript());
        }
    });
}

/// Without suggestions, a search without hits or a key without rights would not show the reason.
#[test]
fn misspelt_names_of_searches_and_rules_have_suggestions() {
    on_both_targets(|cli| {
        prepare(cli);
        let search = "search * --type post";
        let title =
            "hint: no type of this search has a property \"titel\", did you mean \"title\"?\n";
        for flags in [
            "--filters titel=One",
            "--post-filter titel=One",
            "--facet titel",
            "--field titel^5",
            "--order-by titel",
            "--item-field titel",
        ] {
            let command = format!("{search} {flags}");
            let output = cli.run_line(&command);
            output.exits(0).stderr_contains(title);
        }
        let create = ["key", "create", "app", "--kind", "scoped", "--rule"];
        let hint = "hint: content type \"pots\" of a rule does not exist, did you mean \"post\"?\n";
        cli.run(&[&create[..], &["pots:r"]].concat()).exits(0).stderr_contains(hint);
        cli.run(&["key", "update", "app", "--rule", "pots:r"]).exits(0).stderr_contains(hint);
        let known = ["--item-field internal.objectTitle", "--field title^5", "--facet title", ""];
        for command in known.map(|flags| format!("search * {flags}")) {
            let output = cli.run(&command.split_whitespace().collect::<Vec<_>>());
            output.exits(0);
            assert!(!output.stderr.contains("hint"), "{}", output.transcript());
        }
        for rule in ["post:r", "*:r"] {
            let output = cli.run(&["key", "create", rule, "--kind", "scoped", "--rule", rule]);
            assert!(!output.stderr.contains("hint"), "{}", output.transcript());
        }
    });
}

#[test]
fn misspelt_properties_of_refused_objects_have_suggestions() {
    on_both_targets(|cli| {
        prepare(cli);
        cli.write("rows.csv", "id,titel,abc\na,One,x\nb,Two,y\n");
        cli.write("object.json", r#"{"titel":"One","abc":1}"#);
        let hint = "hint: the type \"note\" has no property \"titel\", did you mean \"title\"?\n";
        for (command, exit) in [
            ("import note rows.csv", 7),
            ("object create note object.json", 6),
            ("object create note object.json --dry-run", 6),
            ("object update note one object.json --patch", 6),
            ("object validate note object.json", 6),
        ] {
            let output = cli.run_line(command);
            output.exits(exit).stderr_contains(hint);
            assert_eq!(
                output.stderr.matches("has no property").count(),
                1,
                "{}",
                output.transcript()
            );
        }
    });
}

#[test]
fn filters_of_searches_have_the_name_of_other_commands() {
    let cli = Cli::with_data();
    prepare(&cli);
    for flag in ["--filter", "--filters"] {
        cli.run(&["search", "*", "--type", "note", flag, "title=One", "-o", "csv"]).exits(0);
    }
}
