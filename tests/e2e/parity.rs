//! The same commands on a data folder and on a server: same output, same exit code.

use super::support::{Place, Server, files, fixtures, masked};

/// Commands, one after the other; `FIXTURES` is the folder of fixtures. Those on keys speak only of
/// keys that they made: a served folder has its first ones.
const COMMANDS: [&str; 115] = [
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
    "ctd apply desk.yaml",
    "ctd plan other-desk.yaml",
    "ctd export -o desk-out.yaml",
    "ctd plan desk-out.yaml --exit-code",
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
    "key create web --kind scoped --rule product:r",
    "key create web --kind scoped",
    "key revoke none",
    "webhook list",
    "webhook log none",
    "webhook replay none --json",
    "webhook test none",
    "export out",
];

#[test]
fn both_targets_give_the_same_answers() {
    let server = Server::start();
    let places = [Place::with_data(), Place::with_server(&server)];
    for place in &places {
        place.copy(&files());
        place.write("one.json", r#"{"id": "one", "price": "dear", "nope": null}"#);
        place.write("tag.json", r#"{"id": "green", "name": "Green"}"#);
        place.write("other.yaml", "name: Blue\n");
        // A served folder exists from the start.
        place.run(&["key", "create", "first", "--kind", "read-only"]).ok();
    }
    for command in COMMANDS {
        let command = command.replace("FIXTURES", fixtures().to_str().unwrap());
        let arguments: Vec<&str> = command.split(' ').collect();
        let [direct, remote] = places.each_ref().map(|place| place.run(&arguments));
        // Who acts differs by nature: the operator, or a key.
        let answers = [direct, remote].map(|ran| {
            (
                ran.exit,
                masked(&ran.stdout).replace("\"local\"", "\"admin\"").replace("local\n", "admin\n"),
            )
        });
        assert_eq!(answers[0], answers[1], "cms {command}");
    }
}

/// What is not there is named alike, although the API answers a missing type as a missing object.
#[test]
fn both_targets_name_what_is_missing() {
    let server = Server::start();
    let places = [Place::with_data(), Place::with_server(&server)];
    for place in &places {
        place.write("one.json", "{}");
        place.run(&["key", "create", "first", "--kind", "read-only"]).ok();
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
    for (command, wanted) in table {
        for place in &places {
            let ran = place.run(&command.split(' ').collect::<Vec<_>>());
            assert_eq!(ran.exit, 4, "{}", ran.whole());
            assert!(ran.stderr.contains(wanted), "cms {command}: {}", ran.whole());
        }
    }
}
