//! Searching and making the index anew: on a folder, on a server, and beside one.

use std::{fs, path::Path};

use serde_json::Value;

use super::support::{Place, Ran, Server};

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

/// Makes four books, a draft and a published piece of news.
fn library(place: &Place) {
    place.write("types.yaml", TYPES);
    place.write("books.ndjson", BOOKS);
    place.write("news.ndjson", NEWS);
    for command in [
        "ctd apply types.yaml",
        "import book books.ndjson",
        "import news news.ndjson",
        "publish news autumn",
    ] {
        place.run(&command.split(' ').collect::<Vec<_>>()).ok();
    }
}

/// The same library in both kinds of places.
fn libraries(server: &Server) -> [Place; 2] {
    let places = [Place::with_data(), Place::with_server(server)];
    places.iter().for_each(library);
    places
}

fn search(place: &Place, arguments: &[&str]) -> Ran {
    place.run(&[&["search"], arguments].concat())
}

fn answer(place: &Place, arguments: &[&str]) -> Value {
    serde_json::from_str(&search(place, &[&["--json"], arguments].concat()).ok()).unwrap()
}

/// The ids of the hits, in their order.
fn found(place: &Place, arguments: &[&str]) -> Vec<String> {
    let printed = search(place, &[&["-o", "ndjson"], arguments].concat()).ok();
    let hits = printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    hits.map(|hit| hit["item"]["id"].as_str().unwrap().to_owned()).collect()
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

#[test]
fn each_flag_says_what_is_found() {
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
    for place in libraries(&server) {
        for (arguments, wanted) in table {
            assert_eq!(sorted(found(&place, arguments)), *wanted, "cms search {arguments:?}");
        }
    }
}

#[test]
fn each_flag_says_in_which_order() {
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
    for place in libraries(&server) {
        for (arguments, wanted) in table {
            let arguments = [&books, *arguments].concat();
            assert_eq!(found(&place, &arguments), *wanted, "cms search {arguments:?}");
        }
        // The heavier one of two types comes first.
        let boosted = |boost| found(&place, &["*", "--boost", boost, "--limit", "1"]);
        assert_eq!(boosted("news=2.5"), ["autumn"]);
        assert_ne!(boosted("book=2.5"), ["autumn"]);
        let aged = answer(&place, &["*", "--type", "news", "--decay-old"]);
        assert!(aged["data"][0]["score"].as_f64().unwrap() > 0.9, "{aged}");
        // One order per seed, the same on all pages.
        let page =
            |seed, page| found(&place, &["*", "--random", seed, "--limit", "2", "--page", page]);
        let whole = found(&place, &["*", "--random", "-7.5", "--limit", "6"]);
        assert_eq!([page("-7.5", "1"), page("-7.5", "2"), page("-7.5", "3")].concat(), whole);
        let seeds = ["1", "2", "3", "4", "5", "6", "7", "8"];
        assert!(seeds.iter().any(|seed| page(seed, "1") != page("-7.5", "1")));
    }
}

#[test]
fn hits_and_facets_are_shown_in_every_form() {
    let server = Server::start();
    let ordered = ["*", "--type", "book", "--order-by", "price"];
    for place in libraries(&server) {
        let facets = ["--facet", "kind", "--numeric-facet", "price", "--post-filter", "kind=novel"];
        let ran = search(&place, &[&ordered[..], &facets, &["--limit", "1"]].concat());
        assert_eq!(
            ran.whole(),
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
        let csv = search(&place, &[&ordered[..], &["-o", "csv", "--limit", "2", "-q"]].concat());
        assert_eq!(
            csv.whole(),
            "exit 0\n--- stdout\nscore,type,id,title\n1.0,book,mill,A mill in the hills\n\
             1.0,book,tide,The tide and the mill\n--- stderr\n"
        );
        let none = search(&place, &["nothing"]);
        assert_eq!(none.whole(), "exit 0\n--- stdout\nSCORE  TYPE  ID  TITLE\n--- stderr\n");
        let yaml = search(&place, &["salt", "-o", "yaml"]).ok();
        assert!(yaml.starts_with("- item:\n    id: salt\n"), "{yaml}");

        let whole = answer(&place, &[&ordered[..], &["--facet", "kind"]].concat());
        let keys: Vec<_> = whole.as_object().unwrap().keys().collect();
        let wanted = ["total_count", "count", "total_pages", "current_page", "summary", "data"];
        assert_eq!(keys, wanted);
        assert_eq!(whole["summary"]["aggregations"][0]["buckets"][0]["key"], "novel");
        let item = &whole["data"][0]["item"];
        assert_eq!((&item["id"], &item["price"]), (&"mill".into(), &8.into()));
        assert!(item["next"][0].get("title").is_none(), "{item}");
        let hydrated = answer(&place, &["hills", "--hydrate", "1"]);
        assert_eq!(hydrated["data"][0]["item"]["next"][0]["title"], "Maps of all tides");
        assert_eq!(answer(&place, &["*"]), answer(&place, &["*"]), "JSON is stable");
    }
}

#[test]
fn wrong_searches_end_with_the_exit_code_that_fits() {
    let server = Server::start();
    let table: &[(&[&str], i32, &str)] = &[
        (&["*", "--near", "place=far"], 6, "  geo_filters: Invalid geo filter query provided."),
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
    for place in libraries(&server) {
        for (arguments, exit, message) in table {
            let ran = search(&place, arguments);
            assert_eq!(ran.exit, *exit, "cms search {arguments:?}: {}", ran.whole());
            assert!(ran.stderr.contains(message), "{message}: {}", ran.whole());
            assert_eq!(ran.stdout, "");
        }
        let ran = search(&place, &["*", "--near", "place=far", "--json"]);
        let body: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.exit, body["geo_filters"].is_array()), (6, true), "{}", ran.whole());
    }
    let nowhere = search(&Place::with_data(), &["*"]);
    assert_eq!(nowhere.exit, 4, "{}", nowhere.whole());
}

#[test]
fn keys_see_what_they_may_read_and_only_an_administrator_makes_the_index() {
    let server = Server::start();
    let admin = Place::with_server(&server);
    library(&admin);
    let create = |kind: &[&str]| {
        let name = format!("{}-key", kind[0]);
        let created = admin.run(&[&["key", "create", &name, "--kind"], kind].concat()).ok();
        Place::with_key(&server, created.trim())
    };
    let scoped = create(&["scoped", "--rule", "news:r"]);
    assert_eq!(found(&scoped, &["tide"]), ["autumn"]);
    assert_eq!(search(&scoped, &["tide", "--type", "book"]).exit, 3);
    let writer = create(&["read-write"]);
    assert_eq!(sorted(found(&writer, &["tide"])), ["autumn", "tide"]);
    for arguments in [&["reindex"][..], &["reindex", "book"], &["reindex", "--no-wait"]] {
        let refused = writer.run(arguments);
        assert_eq!((refused.exit, &*refused.stdout), (3, ""), "{}", refused.whole());
    }
    let unknown = search(&Place::with_key(&server, "unknown"), &["tide"]);
    assert_eq!(unknown.exit, 3, "{}", unknown.whole());
}

/// What either of them writes, both find at once, and an index that is made anew on the folder's
/// side is made by the server.
#[test]
fn the_command_line_searches_beside_a_running_server() {
    let folder = Place::with_data();
    library(&folder);
    assert_eq!(sorted(found(&folder, &["tide"])), ["autumn", "tide"]);
    let server = Server::start_in(&folder.path(""), &[]);
    let remote = Place::with_server(&server);
    remote.write("more.json", r#"{"id":"more","title":"More of the tide"}"#);
    folder.write("again.json", r#"{"id":"again","title":"The tide again"}"#);
    let both = |wanted: &[&str]| {
        for place in [&folder, &remote] {
            assert_eq!(sorted(found(place, &["tide"])), wanted);
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
fn an_index_is_made_anew() {
    let server = Server::start();
    for place in libraries(&server) {
        let ran = place.run(&["reindex"]);
        assert_eq!(ran.stdout, "indexed 6 objects\n", "{}", ran.whole());
        assert!(ran.stderr.starts_with("target: "), "{}", ran.whole());
        let job = place.run(&["reindex", "book", "news", "--json"]).ok();
        let job: Value = serde_json::from_str(&job).unwrap();
        assert_eq!(
            (&job["state"], &job["done"], &job["total"]),
            (&"done".into(), &6.into(), &6.into())
        );
        assert_eq!(place.run(&["reindex", "book", "-q"]).ok(), "indexed 4 objects\n");

        let planned = place.run(&["reindex", "book", "--dry-run"]);
        let notes = "would rebuild the index of book\nnothing was changed\n";
        assert!(planned.stderr.ends_with(notes), "{}", planned.whole());
        let unknown = place.run(&["reindex", "book", "nws"]);
        let message = "error: content type \"nws\" not found\nhint: did you mean \"news\"?\n";
        assert!(unknown.stderr.ends_with(message), "{}", unknown.whole());
        assert_eq!((planned.exit, unknown.exit), (0, 4));

        let job = place.run(&["reindex", "--no-wait"]).ok();
        assert!(job.starts_with("job "), "{job}");
        assert_eq!(sorted(found(&place, &["tide"])), ["autumn", "tide"]);
    }
    let nowhere = Place::with_data();
    assert_eq!(nowhere.run(&["reindex"]).exit, 4);
    assert!(!nowhere.path("data").exists());
}

/// The name of the index that searches use.
fn generation(place: &Place) -> String {
    fs::read_to_string(place.path("data/index/current")).unwrap()
}

#[test]
fn a_folder_heals_its_index() {
    let place = Place::with_data();
    library(&place);
    let all = found(&place, &["*"]);
    assert_eq!(all.len(), 5);
    let first = generation(&place);
    place.run(&["reindex"]).ok();
    assert_ne!(generation(&place), first, "all types at once make a new index");
    fs::remove_dir_all(place.path("data/index")).unwrap();
    assert_eq!(sorted(found(&place, &["*"])), sorted(all));
    // Work that nobody waited for is done by the next who does.
    place.run(&["reindex", "--no-wait"]).ok();
    let before = generation(&place);
    place.run(&["reindex", "book"]).ok();
    assert_ne!(generation(&place), before);
}

#[test]
fn a_server_answers_from_the_old_index_until_the_new_one_is_complete() {
    let folder = Place::with_data();
    library(&folder);
    let count = 2000;
    let rows = (0..count).map(|n| format!("{{\"id\":\"n{n}\",\"title\":\"Number {n}\"}}\n"));
    folder.write("rows.ndjson", &rows.collect::<String>());
    folder.run(&["import", "book", "rows.ndjson"]).ok();
    let server = Server::start_in(&folder.path(""), &[]);
    let remote = Place::with_server(&server);
    let all = || answer(&remote, &["number", "--limit", "1"])["total_count"].clone();
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
    assert_eq!(left.count(), 1, "the old index is gone");
}
