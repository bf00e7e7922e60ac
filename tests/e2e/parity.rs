//! The same commands on both targets: same output, same exit code.

use super::support::{Server, both_targets, files, fixtures, masked};

/// Commands in order; `FIXTURES` is the folder of fixtures. No command lists keys, because a server
/// also has its first keys.
const COMMANDS: [&str; 217] = [
    "ctd list",
    "ctd plan FIXTURES/project.yaml",
    "ctd plan FIXTURES/project.yaml --json --exit-code",
    "ctd apply FIXTURES/project.yaml --dry-run",
    "ctd apply FIXTURES/project.yaml",
    "ctd apply FIXTURES/project.yaml",
    "ctd list -o ndjson",
    "ctd get product",
    "ctd get product --json",
    "ctd get nosuch",
    "ctd get nosuch --json",
    "ctd export",
    "import FIXTURES/content --dry-run",
    "import FIXTURES/content",
    "import FIXTURES/content",
    "import FIXTURES/content --update-existing --json",
    "object list product",
    "object list product --all -o csv",
    "object list product --page 2 --limit 5 --json",
    "object list post --order-by published --desc --limit 3",
    "object list post --filters {\"title\":{\"type\":\"contains\",\"filter\":\"a\"}} -o yaml",
    "object list post --filters {",
    "object list nosuch",
    "object list product --field name --field internal.status --limit 3",
    "object list product --field price --field nope -o csv",
    "object get product hand-mill --field maker.name --hydrate 1 --json",
    "object get author none --field name",
    "search * --type product --order-by name --limit 3 --item-field price -o csv",
    "search * --type product --order-by name --limit 3 --item-field internal.objectTitle --json",
    "object incoming author yusuf",
    "object incoming author yusuf --json",
    "object incoming author none",
    "object incoming nosuch none",
    "object validate product one.json",
    "object validate product one.json --json",
    "object validate product one.json --id none",
    "object validate product one.json --patch",
    "object validate nosuch one.json",
    "object validate _tag tag.json",
    "media list",
    "media list --order-by size --desc --limit 3 -o csv",
    "media list --json --all",
    "media get nosuch",
    "media get nosuch --json",
    "media get _media-22cc5c6b-553d-4af8-8274-b555f6a2fa3c",
    "media get _media-22cc5c6b-553d-4af8-8274-b555f6a2fa3c -o -",
    "media upload FIXTURES/content/InternalContentTypeMedia --dry-run",
    "media upload FIXTURES/content/**/*.png FIXTURES/media/still.* --dry-run --tag new --json",
    "media upload FIXTURES/project.yaml",
    "media upload FIXTURES/nosuch",
    "check",
    "check --json",
    "check --repair",
    "search * --type product --order-by name --limit 3",
    "search * --type post --order-by title --facet tags.dataUrl --page 2 --limit 2 --json",
    "search * --filter kind=coffee --numeric-facet price --order-by price --desc -o csv",
    "search nowhere",
    "search * --type prodct",
    "search * --near location=far",
    "search * --near location=far --json",
    "reindex",
    "reindex product post",
    "reindex prodct --json",
    "reindex product --dry-run",
    "object get author none",
    "object create product one.json",
    "object create product one.json --json",
    "object create nosuch one.json",
    "object create _tag tag.json",
    "object create _tag tag.json",
    "object get _tag green -o yaml",
    "object update _tag green other.yaml",
    "object update _tag green other.yaml --patch --json",
    "object update _tag none other.yaml",
    "object versions _tag green",
    "object get _tag green --version 1",
    "object get _tag green --version 9",
    "object delete _tag green none",
    "object delete _tag green",
    "object delete _tag none",
    "trash list",
    "trash list --type _tag --limit 1",
    "trash list --type nosuch",
    "trash restore _tag green --dry-run",
    "trash restore _tag green --as blue",
    "trash restore _tag green --draft",
    "trash restore _tag none --json",
    "object delete _tag blue --yes",
    "trash remove _tag blue --entry 9999",
    "trash remove _tag blue --dry-run",
    "trash remove _tag blue --yes",
    "trash empty --type _tag --older-than 30d --dry-run",
    "trash empty --older-than soon",
    "ctd apply desk.yaml",
    "ctd plan other-desk.yaml",
    "ctd export -o desk-out.yaml",
    "ctd plan desk-out.yaml --exit-code",
    "ctd apply single.yaml --json",
    "ctd get home --json",
    "object create home home.json",
    "object create home home.json",
    "object create home home.json --dry-run",
    "ctd export",
    "ctd delete home",
    "import article items.ndjson",
    "import memo items.ndjson",
    "object list article",
    "object list article --preview -o csv",
    "publish article a b",
    "publish article a none",
    "publish article none --json",
    "publish memo a",
    "publish nosuch a",
    "publish article c --hydrate 1",
    "object update article a change.yaml --patch",
    "object list article --json",
    "object list article --preview --json",
    "schedule list",
    "schedule set article a --at 2099-01-02T09:00 --zone Europe/Warsaw",
    "schedule set article c --at 2099-01-01T09:00 --zone UTC --json",
    "schedule set article c --at yesterday --zone Mars",
    "schedule set article none --at 2099-01-01T09:00 --zone UTC --dry-run",
    "schedule list --type article --type memo",
    "schedule list --type nosuch",
    "schedule remove article c none --dry-run",
    "schedule remove article c none",
    "schedule remove memo a",
    "schedule list",
    "unpublish article b",
    "archive article b --hydrate 1",
    "archive article b c -o ndjson",
    "object list article --preview",
    "ctd plan other-desk.yaml",
    "workflow list",
    "workflow list --json",
    "workflow state memo a",
    "workflow state memo none",
    "workflow state nosuch a --json",
    "workflow run memo a b _draft_review",
    "workflow run memo a _draft_review --json",
    "workflow run memo a c none _review_public",
    "workflow state memo a -o yaml",
    "publish article --all --dry-run",
    "publish article --all",
    "publish article a --all",
    "publish article --all --yes",
    "archive article --filters {\"title\":{\"type\":\"contains\",\"filter\":\"a\"}} --expect 99",
    "archive article --filters { --yes",
    "object update article change.yaml --patch --all --dry-run --json",
    "object update article change.yaml --patch --all --yes --json",
    "object update article change.yaml --all --yes",
    "workflow run memo _draft_review --all --yes",
    "workflow run memo a _draft_review --all",
    "workflow run memo _draft_review",
    "workflow run memo nosuch --all --yes",
    "object delete article --q nowhere --yes",
    "object delete article --all --yes",
    "object list article --preview",
    "job list",
    "job get none",
    "job stop none",
    "workflow define flow.json --json",
    "workflow define flow.yaml",
    "workflow define faulty-flow.yaml",
    "workflow delete editorial",
    "workflow delete short",
    "workflow delete short",
    "workflow delete generic",
    "ctd apply smaller-desk.yaml",
    "ctd apply smaller-desk.yaml --json",
    "ctd delete product",
    "ctd delete contact_form",
    "ctd delete _tag",
    "user create ada@example.com --name Ada --role custom",
    "user create ada@example.com --name Ada --role custom --rule article:crud --password-file password --dry-run",
    "user create ada@example.com --name Ada --role custom --rule article:crud --password-file password",
    "user create Ada@Example.com --name Ada --role boss",
    "user create Ada@Example.com --name Ada --role author",
    "user create ben@example.com --name Ben --role author --password-file password --json",
    "user list",
    "user list --role author --json",
    "user get ADA@example.com",
    "user get nobody@example.com",
    "user get none --json",
    "user update ada@example.com --may-publish --name Countess --json",
    "user update ada@example.com --may-publish=false --disable -o yaml",
    "user update ada@example.com --role editor --rule article:r",
    "user update ada@example.com",
    "user link none",
    "user link ben@example.com --dry-run",
    "user link ada@example.com",
    "user sign-out ben@example.com",
    "user delete ben@example.com none@example.com --dry-run",
    "user delete ben@example.com ada@example.com",
    "user list",
    "key create web --kind scoped --rule product:r",
    "key create web --kind scoped",
    "key revoke none",
    "key update web --name shop",
    "key update shop",
    "key update none --name x",
    "key rotate shop --grace 24h",
    "key rotate shop --grace 9d",
    "key rotate none",
    "activity --type memo --limit 5",
    "activity --type article --action publish --action archive",
    "activity --id none --json",
    "activity --type nosuch",
    "activity --by nobody",
    "activity --from 2020-01-01 --to 2020-01-02T00:00:00+01:00",
    "activity --type memo --from 2020-01-01 --limit 2",
    "activity --from soon --to never",
    "webhook list",
    "webhook log none",
    "webhook replay none --json",
    "webhook test none",
    "export out",
];

/// A type with at most one object, and hints for forms.
const SINGLE: &str = "\
version: 1
contentTypes:
  - name: home
    single: true
    admin: {group: Site}
    properties: {text: {type: text, admin: {width: half}}}
";

#[test]
fn commands_print_the_same_on_both_targets() {
    let server = Server::start();
    let targets = both_targets(&server);
    for cli in &targets {
        cli.copy(&files());
        cli.write("one.json", r#"{"id": "one", "price": "dear", "nope": null}"#);
        cli.write("tag.json", r#"{"id": "green", "name": "Green"}"#);
        cli.write("other.yaml", "name: Blue\n");
        cli.write("password", "a good password\n");
        cli.write("single.yaml", SINGLE);
        cli.write("home.json", r#"{"text": "Welcome"}"#);
        // The data directory of a server exists from the start.
        cli.initialize();
    }
    for command in COMMANDS {
        let command = command.replace("FIXTURES", fixtures().to_str().unwrap());
        let [direct, remote] = targets.each_ref().map(|cli| cli.run_line(&command));
        // The author of a change differs: the operator, or a key.
        let responses = [direct, remote].map(|output| {
            (
                output.exit,
                masked(&output.stdout)
                    .replace("\"local\"", "\"admin\"")
                    .replace("local\n", "admin\n"),
            )
        });
        assert_eq!(responses[0], responses[1], "cms {command}");
    }
}

/// Messages distinguish missing types and objects, although the API returns the same 404 for both.
#[test]
fn missing_types_and_objects_are_named_on_both_targets() {
    let server = Server::start();
    let targets = both_targets(&server);
    for cli in &targets {
        cli.write("one.json", "{}");
        cli.initialize();
    }
    let missing_type = "error: content type \"nosuch\" not found\n";
    let table = [
        ("object get nosuch x", missing_type),
        ("object get nosuch x --version 1", missing_type),
        ("object versions nosuch x", missing_type),
        ("object update nosuch x one.json", missing_type),
        ("object update nosuch x one.json --patch", missing_type),
        ("object delete nosuch x", missing_type),
        ("workflow state nosuch x", missing_type),
        ("publish nosuch x", missing_type),
        ("object get _tag x", "error: object \"_tag/x\" not found\n"),
        ("object update _tag x one.json", "error: object \"_tag/x\" not found\n"),
        ("object versions _tag x", "error: object \"_tag/x\" not found\n"),
        ("workflow state _tag x", "error: object \"_tag/x\" not found\n"),
    ];
    for (command, expected) in table {
        for cli in &targets {
            let output = cli.run_line(command);
            output.exits(4);
            assert!(output.stderr.contains(expected), "cms {command}: {}", output.transcript());
        }
    }
}
