//! Searches and rebuilds of the index: on both targets, and beside a running server.

use std::{fs, path::Path};

use serde_json::Value;

use super::{
    receiver::wait_until,
    support::{Cli, CommandOutput, Server, both_targets},
};

const TYPES: &str = "version: 1
contentTypes:
  - name: book
    properties:
      title: {type: text, required: true, titlePart: true}
      kind: {type: select, options: [novel, atlas]}
      price: {type: number}
      place: {type: geo}
      chapters: {type: object, items: {name: {type: text}}}
      next: {type: datasource, to: book}
  - name: news
    draftPublic: true
    properties: {title: {type: text, required: true, titlePart: true}}
";

const BOOKS: &str = r#"{"id":"tide","title":"The tide and the mill","kind":"novel","price":12,"place":{"lat":52.5,"lon":13.4}}
{"id":"mill","title":"A mill in the hills","kind":"novel","price":8,"place":{"lat":52.4,"lon":13.06},"next":[{"type":"internal","dataUrl":"/api/v1/content/book/map"}]}
{"id":"map","title":"Maps of all tides","kind":"atlas","price":30,"place":{"lat":48.86,"lon":2.35}}
{"id":"salt","title":"Salt","chapters":[{"name":"Evaporation"}]}
"#;

const NEWS: &str = r#"{"id":"spring","title":"Spring tide"}
{"id":"autumn","title":"Autumn tide"}
"#;

/// Creates four `book` objects, and a draft and a published `news` object.
fn library(cli: &Cli) {
    cli.write("types.yaml", TYPES);
    cli.write("books.ndjson", BOOKS);
    cli.write("news.ndjson", NEWS);
    for command in [
        "ctd apply types.yaml",
        "import book books.ndjson",
        "import news news.ndjson",
        "publish news autumn",
    ] {
        cli.run_line(command).ok();
    }
}

/// The same library in both targets.
fn libraries(server: &Server) -> [Cli; 2] {
    let targets = both_targets(server);
    targets.iter().for_each(library);
    targets
}

fn search(cli: &Cli, arguments: &[&str]) -> CommandOutput {
    cli.run(&[&["search"], arguments].concat())
}

fn response(cli: &Cli, arguments: &[&str]) -> Value {
    search(cli, &[&["--json"], arguments].concat()).exits(0).json()
}

/// The ids of the hits, in their order.
fn found(cli: &Cli, arguments: &[&str]) -> Vec<String> {
    let printed = search(cli, &[&["-o", "ndjson"], arguments].concat()).ok();
    let hits = printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    hits.map(|hit| hit["item"]["id"].as_str().unwrap().to_owned()).collect()
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

#[test]
fn search_flags_select_hits() {
    let server = Server::start();
    let table: &[(&[&str], &[&str])] = &[
        (&["tide"], &["autumn", "tide"]),
        (&["tide", "--preview"], &["autumn", "spring", "tide"]),
        (&["TIDE hills"], &["autumn", "mill", "tide"]),
        (&["+tide +mill"], &["tide"]),
        (&["--type", "book", "--", "-tide"], &["map", "mill", "salt"]),
        (&["\"map\""], &["map", "mill"]),
        (&["nothing"], &[]),
        (&["*", "--type", "book"], &["map", "mill", "salt", "tide"]),
        (&["*", "--type", "book", "--type", "news"], &["autumn", "map", "mill", "salt", "tide"]),
        (&["*", "--filter", "kind=novel"], &["mill", "tide"]),
        (&["*", "--filter", "price=>=12"], &["map", "tide"]),
        (&["*", "--filter", "price=>=12", "--filter", "kind=atlas"], &["map"]),
        (&["*", "--filter", "chapters.name=evaporation"], &["salt"]),
        (&["*", "--post-filter", "kind=atlas"], &["map"]),
        (&["*", "--near", "place=60km,52.5,13.4"], &["mill", "tide"]),
        (&["*", "--near", "place=1m,52.5,13.4"], &["tide"]),
        (&["the mill", "--mode", "exact"], &["tide"]),
        (&["tidee", "--mode", "fuzzy"], &["autumn", "map", "tide"]),
        (&["novel"], &["mill", "tide"]),
        (&["novel", "--field", "title"], &[]),
        (&["novel", "--field", "title", "--field", "kind^2"], &["mill", "tide"]),
    ];
    for cli in libraries(&server) {
        for (arguments, expected) in table {
            assert_eq!(sorted(found(&cli, arguments)), *expected, "cms search {arguments:?}");
        }
    }
}

#[test]
fn search_flags_order_hits() {
    let server = Server::start();
    let books = ["*", "--type", "book"];
    let table: &[(&[&str], &[&str])] = &[
        (&["--order-by", "price"], &["mill", "tide", "map", "salt"]),
        (&["--order-by", "price", "--desc"], &["map", "tide", "mill", "salt"]),
        (&["--order-by", "price", "--missing-first"], &["salt", "mill", "tide", "map"]),
        (&["--order-by", "price.keyword"], &["tide", "map", "mill", "salt"]),
        (&["--order-by", "price", "--limit", "3", "--page", "2"], &["salt"]),
        (&["--order-by", "price", "--limit", "1000", "--page", "11"], &[]),
        (
            &["--near", "place=60km,52.5,13.4", "--order-by", "_geo_distance", "--desc"],
            &["mill", "tide"],
        ),
    ];
    for cli in libraries(&server) {
        for (arguments, expected) in table {
            let arguments = [&books, *arguments].concat();
            assert_eq!(found(&cli, &arguments), *expected, "cms search {arguments:?}");
        }
        // Objects of the boosted type come first.
        let boosted = |boost| found(&cli, &["*", "--boost", boost, "--limit", "1"]);
        assert_eq!(boosted("news=2.5"), ["autumn"]);
        assert_ne!(boosted("book=2.5"), ["autumn"]);
        let aged = response(&cli, &["*", "--type", "news", "--decay-old"]);
        assert!(aged["data"][0]["score"].as_f64().unwrap() > 0.9, "{aged}");
        // Each seed has one order, the same on all pages.
        let page =
            |seed, page| found(&cli, &["*", "--random", seed, "--limit", "2", "--page", page]);
        let all = found(&cli, &["*", "--random", "-7.5", "--limit", "6"]);
        assert_eq!([page("-7.5", "1"), page("-7.5", "2"), page("-7.5", "3")].concat(), all);
        let seeds = ["1", "2", "3", "4", "5", "6", "7", "8"];
        assert!(seeds.iter().any(|seed| page(seed, "1") != page("-7.5", "1")));
    }
}

#[test]
fn hits_and_facets_are_printed_in_every_format() {
    let server = Server::start();
    let ordered = ["*", "--type", "book", "--order-by", "price"];
    for cli in libraries(&server) {
        let facets = ["--facet", "kind", "--numeric-facet", "price", "--post-filter", "kind=novel"];
        let output = search(&cli, &[&ordered[..], &facets, &["--limit", "1"]].concat());
        assert_eq!(
            output.transcript(),
            "exit 0
--- stdout
SCORE  TYPE  ID    TITLE
1.0    book  mill  A mill in the hills

FIELD  VALUE  COUNT
kind   novel  2
kind   atlas  1
price  8      1
price  12     1
price  30     1
--- stderr
1 of 2; --page and --limit show more
"
        );
        let csv = search(&cli, &[&ordered[..], &["-o", "csv", "--limit", "2", "-q"]].concat());
        assert_eq!(
            csv.transcript(),
            "exit 0\n--- stdout\nscore,type,id,title\n1.0,book,mill,A mill in the hills\n\
             1.0,book,tide,The tide and the mill\n--- stderr\n"
        );
        let none = search(&cli, &["nothing"]);
        assert_eq!(none.transcript(), "exit 0\n--- stdout\nSCORE  TYPE  ID  TITLE\n--- stderr\n");
        let yaml = search(&cli, &["salt", "-o", "yaml"]).ok();
        assert!(yaml.starts_with("- item:\n    id: salt\n"), "{yaml}");

        let all = response(&cli, &[&ordered[..], &["--facet", "kind"]].concat());
        let keys: Vec<_> = all.as_object().unwrap().keys().collect();
        let names = ["total_count", "count", "total_pages", "current_page", "summary", "data"];
        assert_eq!(keys, names);
        assert_eq!(all["summary"]["aggregations"][0]["buckets"][0]["key"], "novel");
        let item = &all["data"][0]["item"];
        assert_eq!((&item["id"], &item["price"]), (&"mill".into(), &8.into()));
        assert!(item["next"][0].get("title").is_none(), "{item}");
        let hydrated = response(&cli, &["hills", "--hydrate", "1"]);
        assert_eq!(hydrated["data"][0]["item"]["next"][0]["title"], "Maps of all tides");
        assert_eq!(response(&cli, &["*"]), response(&cli, &["*"]), "JSON is stable");
    }
}

#[test]
fn invalid_searches_end_with_the_matching_exit_code() {
    let server = Server::start();
    let table: &[(&[&str], i32, &str)] = &[
        (&["*", "--near", "place=far"], 6, "  geo_filters: Invalid geo filter query provided."),
        (&["*", "--near", "place=far"], 6, "hint: a distance needs --near PROPERTY="),
        (&["*", "--near", "place"], 2, "use NAME=VALUE"),
        (&["*", "--filter", "=novel"], 2, "use NAME=VALUE"),
        (&["*", "--order-by", "_geo_distance"], 6, "  order_by: _geo_distance requires"),
        (&["*", "--order-by", "chapters.name"], 6, "  order_by: Ordering by fields nested"),
        (&["*", "--desc"], 2, "--order-by"),
        (&["*", "--order-by", "price", "--random", "1"], 2, "cannot be used with"),
        (&["*", "--random", "dice"], 2, "'dice'"),
        (&["*", "--boost", "book=0"], 2, "a factor greater than 0"),
        (&["*", "--mode", "vague"], 2, "'vague'"),
        (&["*", "--limit", "1001"], 2, "'1001'"),
        (&["*", "--fields", "title"], 2, "--field"),
        (&[], 2, "<QUERY>"),
        (&["*", "--type", "bok"], 4, "\"bok\" not found\nhint: did you mean \"book\"?\n"),
        (&["*", "--type", "book", "--type", "something"], 4, "\"something\" not found\n"),
    ];
    for cli in libraries(&server) {
        for (arguments, exit, message) in table {
            let output = search(&cli, arguments);
            assert_eq!(output.exit, *exit, "cms search {arguments:?}: {}", output.transcript());
            assert!(output.stderr.contains(message), "{message}: {}", output.transcript());
            assert_eq!(output.stdout, "");
        }
        let output = search(&cli, &["*", "--near", "place=far", "--json"]);
        let body: Value = output.json();
        assert_eq!(
            (output.exit, body["geo_filters"].is_array()),
            (6, true),
            "{}",
            output.transcript()
        );
    }
    search(&Cli::with_data(), &["*"]).exits(4);
}

#[test]
fn keys_find_readable_types_and_only_admin_keys_rebuild_the_index() {
    let server = Server::start();
    let admin = Cli::with_server(&server);
    library(&admin);
    let create = |kind: &[&str]| {
        let name = format!("{}-key", kind[0]);
        let created = admin.run(&[&["key", "create", &name, "--kind"], kind].concat()).ok();
        Cli::with_key(&server, created.trim())
    };
    let scoped = create(&["scoped", "--rule", "news:r"]);
    assert_eq!(found(&scoped, &["tide"]), ["autumn"]);
    assert_eq!(search(&scoped, &["tide", "--type", "book"]).exit, 3);
    let writer = create(&["read-write"]);
    assert_eq!(sorted(found(&writer, &["tide"])), ["autumn", "tide"]);
    for arguments in [&["reindex"][..], &["reindex", "book"], &["reindex", "--no-wait"]] {
        let refused = writer.run(arguments);
        assert_eq!((refused.exit, &*refused.stdout), (3, ""), "{}", refused.transcript());
    }
    search(&Cli::with_key(&server, "unknown"), &["tide"]).exits(3);
}

/// Command and server find the writes of each other immediately, and the server runs the rebuild that
/// a command on the data directory requests.
#[test]
fn command_line_searches_beside_a_running_server() {
    let folder = Cli::with_data();
    library(&folder);
    assert_eq!(sorted(found(&folder, &["tide"])), ["autumn", "tide"]);
    let server = Server::start_in(&folder.path(""), &[]);
    let remote = Cli::with_server(&server);
    remote.write("more.json", r#"{"id":"more","title":"More of the tide"}"#);
    folder.write("again.json", r#"{"id":"again","title":"The tide again"}"#);
    let both = |expected: &[&str]| {
        for cli in [&folder, &remote] {
            assert_eq!(sorted(found(cli, &["tide"])), expected);
        }
    };
    both(&["autumn", "tide"]);
    remote.run(&["object", "create", "book", "more.json"]).ok();
    both(&["autumn", "more", "tide"]);
    folder.run(&["object", "create", "book", "again.json"]).ok();
    both(&["again", "autumn", "more", "tide"]);
    folder.run(&["publish", "news", "spring"]).ok();
    remote.run(&["object", "delete", "book", "tide"]).ok();
    folder.run(&["object", "delete", "book", "more"]).ok();
    both(&["again", "autumn", "spring"]);
    assert_eq!(folder.run(&["reindex"]).ok(), "indexed 6 objects\n");
    both(&["again", "autumn", "spring"]);
    server.stop();
    assert_eq!(sorted(found(&folder, &["tide"])), ["again", "autumn", "spring"]);
}

#[test]
fn search_reports_an_index_that_is_behind() {
    let folder = Cli::with_data();
    library(&folder);
    assert_eq!(sorted(found(&folder, &["tide"])), ["autumn", "tide"]);
    // As another process that is about to write the index.
    let lock = fs::File::open(folder.path("data/index/lock")).unwrap();
    lock.lock().unwrap();
    let server = Server::start_in(&folder.path(""), &["--search-wait", "0"]);
    let remote = Cli::with_server(&server);
    folder.write("again.json", r#"{"id":"again","title":"The tide again"}"#);
    folder.run(&["object", "create", "book", "again.json"]).ok();
    let output = search(&remote, &["again"]);
    assert_eq!(
        output.transcript(),
        "exit 0\n--- stdout\nSCORE  TYPE  ID  TITLE\n--- stderr\n\
         the search index does not include all changes yet: repeat the search later\n"
    );
    assert_eq!(response(&remote, &["again"])["summary"]["incomplete_results"], true);
    drop(lock);
    wait_until(|| response(&remote, &["again"])["summary"].get("incomplete_results").is_none());
    assert_eq!(found(&remote, &["again"]), ["again"]);
}

#[test]
fn index_is_rebuilt_on_both_targets() {
    let server = Server::start();
    for cli in libraries(&server) {
        let output = cli.run(&["reindex"]);
        output.prints("indexed 6 objects\n");
        assert!(output.stderr.starts_with("target: "), "{}", output.transcript());
        let job: Value = cli.run(&["reindex", "book", "news", "--json"]).exits(0).json();
        assert_eq!(
            (&job["state"], &job["done"], &job["total"]),
            (&"done".into(), &6.into(), &6.into())
        );
        assert_eq!(cli.run(&["reindex", "book", "-q"]).ok(), "indexed 4 objects\n");

        let planned = cli.run(&["reindex", "book", "--dry-run"]);
        let notes = "would rebuild the index of book\nnothing was changed\n";
        assert!(planned.stderr.ends_with(notes), "{}", planned.transcript());
        let unknown = cli.run(&["reindex", "book", "nws"]);
        let message = "error: content type \"nws\" not found\nhint: did you mean \"news\"?\n";
        assert!(unknown.stderr.ends_with(message), "{}", unknown.transcript());
        assert_eq!((planned.exit, unknown.exit), (0, 4));

        let job = cli.run(&["reindex", "--no-wait"]).ok();
        assert!(job.starts_with("job "), "{job}");
        assert_eq!(sorted(found(&cli, &["tide"])), ["autumn", "tide"]);
    }
    let nowhere = Cli::with_data();
    assert_eq!(nowhere.run(&["reindex"]).exit, 4);
    assert!(!nowhere.path("data").exists());
}

/// The name of the open index generation.
fn generation(cli: &Cli) -> String {
    fs::read_to_string(cli.path("data/index/current")).unwrap()
}

#[test]
fn index_of_a_data_directory_is_repaired_by_the_next_search() {
    let cli = Cli::with_data();
    library(&cli);
    let all = found(&cli, &["*"]);
    assert_eq!(all.len(), 5);
    let first = generation(&cli);
    cli.run(&["reindex"]).ok();
    assert_ne!(generation(&cli), first, "a rebuild of all types creates a new index");
    fs::remove_dir_all(cli.path("data/index")).unwrap();
    assert_eq!(sorted(found(&cli, &["*"])), sorted(all));
    // The next search or rebuild finishes a rebuild that nobody waited for.
    cli.run(&["reindex", "--no-wait"]).ok();
    let before = generation(&cli);
    cli.run(&["reindex", "book"]).ok();
    assert_ne!(generation(&cli), before);
}

#[test]
fn old_index_serves_searches_until_the_new_one_is_complete() {
    let folder = Cli::with_data();
    library(&folder);
    let count = 2000;
    let rows = (0..count).map(|n| format!("{{\"id\":\"n{n}\",\"title\":\"Number {n}\"}}\n"));
    folder.write("rows.ndjson", &rows.collect::<String>());
    folder.run(&["import", "book", "rows.ndjson"]).ok();
    let server = Server::start_in(&folder.path(""), &["--search-wait", "60000"]);
    let remote = Cli::with_server(&server);
    let all = || response(&remote, &["number", "--limit", "1"])["total_count"].clone();
    assert_eq!(all(), count);
    let before = generation(&folder);
    let mut reindex = remote.start(&["reindex"]);
    let ended = loop {
        assert_eq!(all(), count);
        if let Some(ended) = reindex.try_wait().unwrap() {
            break ended;
        }
    };
    assert!(ended.success());
    assert_ne!(generation(&folder), before);
    assert_eq!(all(), count);
    let left = fs::read_dir(folder.path("data/index")).unwrap();
    let is_generation = |name: &str| name.parse::<u64>().is_ok();
    let left = left.filter(|entry| {
        let path = entry.as_ref().unwrap().path();
        path.file_name().and_then(|name| Path::new(name).to_str()).is_some_and(is_generation)
    });
    assert_eq!(left.count(), 1, "the old index is removed");
}
