//! Effects of object changes on journal, versions, and links.

use cms_core::{
    Caller, Cms, CoreConfig, Error,
    paging::PageRequest,
    testing::TestCms,
    wire::{
        batch::BatchElements,
        key::KeyKind,
        object::{Direction, ListRequest},
        plan::PlanRequest,
    },
};
use serde_json::{Value, json};

use crate::support::{add_property, article, create_object, key, link, map, rows, with_type};

fn with_articles() -> (TestCms, Caller) {
    let (test, local) = (with_type(article()), Caller::local());
    (test, local)
}

/// The limit counts what a write adds, so objects beyond a limit that was lowered can still be changed.
#[test]
fn writes_add_no_objects_beyond_the_limit() {
    let test = TestCms::with(|config| {
        config.max_objects = Some(2);
        config.cluster = None;
    });
    let local = Caller::local();
    test.cms.types().create(&local, article()).unwrap();
    let batch_in = |cms: &Cms, ids: &[&str]| {
        let elements: Vec<Value> = ids.iter().map(|id| json!({ "id": id, "title": id })).collect();
        cms.objects().batch_create(&local, "article", &BatchElements::of(&elements), true)
    };
    let batch = |ids: &[&str]| batch_in(&test.cms, ids);
    batch(&["a"]).unwrap();
    assert!(matches!(batch(&["b", "c"]), Err(Error::Forbidden)));
    batch(&["a", "b"]).unwrap();
    let lowered = CoreConfig { max_objects: Some(1), ..CoreConfig::new(test.path()) };
    let lowered = Cms::open(lowered).unwrap();
    let (objects, batch) = (lowered.objects(), |ids: &[&str]| batch_in(&lowered, ids));
    let full = |result: Result<(), Error>| assert!(matches!(result, Err(Error::Forbidden)));
    full(batch(&["c"]).map(drop));
    full(objects.create(&local, "article", map(json!({ "title": "C" }))).map(drop));
    batch(&[]).unwrap();
    batch(&["a", "b"]).unwrap();
    let refused = [json!({ "id": "d" })];
    let report = objects.batch_create(&local, "article", &BatchElements::of(&refused), false);
    assert_eq!(report.unwrap().errors.len(), 1);
}

/// The journal has every change once and in order, and no refused requests.
#[test]
fn journal_has_every_change_once() {
    let (test, local) = with_articles();
    let (objects, types) = (test.cms.objects(), test.cms.types());
    let start = rows(&test, "SELECT max(seq) FROM journal")[0].clone();
    let create = |payload: Value| objects.create(&local, "article", map(payload));
    create(json!({ "id": "a", "title": "A" })).unwrap();
    create(json!({ "id": "b", "title": "A" })).unwrap_err();
    create(json!({ "id": "b", "title": "B", "related": [link("article", "a")] })).unwrap();
    let patch = |payload: Value| objects.patch(&local, "article", "a", map(payload));
    patch(json!({})).unwrap();
    patch(json!({ "rank": "high" })).unwrap_err();
    objects.replace(&local, "article", "a", map(json!({ "title": "A2" }))).unwrap();
    objects.delete(&local, "article", "a").unwrap_err();
    let batch = ["c", "a", "d"].map(|id| json!({ "id": id, "title": id })).to_vec();
    objects.batch_create(&local, "article", &BatchElements::of(&batch), false).unwrap();
    objects.batch_create(&local, "article", &BatchElements::of(&batch), true).unwrap();
    let missing = vec![json!({ "id": "c" }), json!({ "id": "gone" })];
    objects.batch_patch(&local, "article", &BatchElements::of(&missing)).unwrap_err();
    objects.get(&local, "article", "a", 1).unwrap();
    types.plan(&local, &PlanRequest { prune: true, ..PlanRequest::default() }).unwrap();
    let ids = ["a", "b", "c", "gone"].map(str::to_owned);
    objects.batch_delete(&local, "article", &ids).unwrap_err();
    types.delete(&local, "article").unwrap_err();
    types.purge(&local, "article", false).unwrap();
    types.delete(&local, "article").unwrap();

    // The primary keys of the objects a, b, c, d are 1 to 4.
    let journal = format!("SELECT kind, object FROM journal WHERE seq > {start} ORDER BY seq");
    let expected = [
        "object.create 1",
        "object.create 2",
        "object.update 1",
        "object.update 1",
        "object.create 3",
        "object.create 4",
        "object.update 3",
        "object.update 1",
        "object.update 4",
        "object.delete 1",
        "object.delete 2",
        "object.delete 3",
        "type.purge null",
        "type.delete null",
    ];
    assert_eq!(rows(&test, &journal), expected);
    assert_eq!(rows(&test, "SELECT count(DISTINCT nonce) = count(*) FROM journal"), ["1"]);
}

/// A version keeps its properties, title, date and author.
#[test]
fn versions_keep_their_properties_title_and_author() {
    let (test, local) = with_articles();
    let objects = test.cms.objects();
    let (_, web) = key(&test, "web", KeyKind::ReadWrite);
    create_object(&test.cms, "article", json!({ "id": "a", "title": "Old", "rank": 1 }));
    test.clock.advance(60);
    objects.patch(&web, "article", "a", map(json!({ "title": "New" }))).unwrap();
    test.clock.advance(60);
    objects.replace(&local, "article", "a", map(json!({ "title": "Newest" }))).unwrap();

    let versions =
        objects.versions(&local, "article", "a", PageRequest::default(), Direction::Descending);
    let versions = versions.unwrap().to_value();
    let list: Vec<Value> = versions["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            json!([
                item["version"],
                item["current"],
                item["createdAt"],
                item["owner"]["username"],
                item["editor"]["username"],
                item["internal"]["objectTitle"]
            ])
        })
        .collect();
    assert_eq!(
        list,
        [
            json!([3, true, "2026-01-02T03:06:05.000000+0000", "local", "local", "Newest"]),
            json!([2, false, "2026-01-02T03:05:05.000000+0000", "local", "web", "New"]),
            json!([1, false, "2026-01-02T03:04:05.000000+0000", "local", "local", "Old"]),
        ]
    );
    let version =
        |number: &str| objects.version(&local, "article", "a", number).unwrap().to_value();
    let properties =
        |object: Value| json!([object["title"], object["rank"], object["internal"]["updatedAt"]]);
    assert_eq!(properties(version("1")), json!(["Old", 1, "2026-01-02T03:04:05+00:00"]));
    assert_eq!(properties(version("version-2")), json!(["New", 1, "2026-01-02T03:05:05+00:00"]));
    assert_eq!(properties(version("3")), json!(["Newest", null, "2026-01-02T03:06:05+00:00"]));
}

/// The links of an object are those of its current version, each target once.
#[test]
fn links_follow_the_current_version() {
    let (test, local) = with_articles();
    let objects = test.cms.objects();
    for id in ["x", "two words"] {
        objects.create(&local, "_tag", map(json!({ "id": id, "name": id }))).unwrap();
    }
    objects.create(&local, "article", map(json!({ "id": "a", "title": "A" }))).unwrap();
    let external = json!({ "type": "external", "dataUrl": "https://example.org" });
    let steps = [
        (json!({ "related": [link("_tag", "x"), external] }), vec!["_tag x"]),
        (json!({ "rank": 1 }), vec!["_tag x"]),
        (
            json!({ "parts": [{ "sources": [link("_tag", "X"), link("_tag", "two%20words")] }] }),
            vec!["_tag two words", "_tag x"],
        ),
        (
            json!({ "related": [link("article", "a")] }),
            vec!["_tag two words", "_tag X", "article a"],
        ),
        (json!({ "related": [], "parts": [{ "sources": [external] }, {}] }), vec![]),
    ];
    let links = "SELECT target_type, target_id FROM link ORDER BY target_type, target_id";
    for (patch, expected) in steps {
        objects.patch(&local, "article", "a", map(patch.clone())).unwrap();
        assert_eq!(rows(&test, links), expected, "{patch}");
    }
    // A refused change changes no link, and a deleted object has none.
    objects.patch(&local, "article", "a", map(json!({ "related": [link("_tag", "x")] }))).unwrap();
    let gone = json!({ "related": [link("_tag", "gone")] });
    let refused = objects.patch(&local, "article", "a", map(gone)).unwrap_err();
    assert!(matches!(refused, Error::Invalid(_)), "{refused:?}");
    assert!(matches!(objects.delete(&local, "_tag", "x").unwrap_err(), Error::Rejected(_)));
    assert_eq!(rows(&test, links), ["_tag x"]);
    objects.delete(&local, "article", "a").unwrap();
    assert_eq!(rows(&test, links), [""; 0]);
    objects.delete(&local, "_tag", "x").unwrap();
}

/// A deleted object is kept with its versions for sixty days; its id is free immediately.
#[test]
fn trash_is_emptied_after_sixty_days() {
    let (test, local) = with_articles();
    let objects = test.cms.objects();
    for title in ["First", "Second"] {
        objects.create(&local, "article", map(json!({ "id": "a", "title": title }))).unwrap();
        objects.patch(&local, "article", "a", map(json!({ "rank": 1 }))).unwrap();
        objects.delete(&local, "article", "a").unwrap();
        test.run_for(86_400);
    }
    let kept =
        "SELECT title, (SELECT count(*) FROM object_version WHERE object = trash.pk) FROM trash";
    assert_eq!(rows(&test, kept), ["First 1", "Second 1"]);
    assert_eq!(objects.deleted_ids(&local, "article", None).unwrap(), ["a"]);
    test.run_for(58 * 86_400);
    assert_eq!(rows(&test, kept), ["First 1", "Second 1"]);
    test.clock.advance(1);
    test.cms.clean_up().unwrap();
    assert_eq!(rows(&test, kept), ["Second 1"]);
    test.run_for(43_200);
    test.run_for(43_200);
    assert_eq!(
        rows(&test, "SELECT pk FROM trash UNION SELECT object FROM object_version"),
        [""; 0]
    );
}

/// An earlier version read such an object twice, the second time without its links, which were then
/// missing.
#[test]
fn object_on_both_hydration_levels_keeps_its_links_hydrated() {
    let (test, local) = with_articles();
    let objects = test.cms.objects();
    for (id, targets) in [("a", &[][..]), ("b", &["a"]), ("c", &["b"]), ("d", &["b", "c"])] {
        let related: Vec<Value> = targets.iter().map(|id| link("article", id)).collect();
        let new = map(json!({ "id": id, "title": id, "related": related }));
        objects.create(&local, "article", new).unwrap();
    }
    let text = objects.get(&local, "article", "d", 2).unwrap().0;
    let hydrated: Value = serde_json::from_slice(&text).unwrap();
    let second = [&hydrated["related"][0], &hydrated["related"][1]].map(|o| &o["related"][0]["id"]);
    assert_eq!(second, [&json!("a"), &json!("b")]);
}

/// A list of few, but large objects is not rendered on a thread that serves connections.
#[test]
fn list_of_large_objects_is_not_on_the_fast_path() {
    let (test, local) = with_articles();
    let objects = test.cms.objects();
    let request = ListRequest {
        page: PageRequest { number: 1, limit: 20 },
        empty_first: false,
        descending: false,
        hydrate: 0,
        filters: None,
        order_by: None,
        ids: None,
        fields: Vec::new(),
    };
    for (count, is_fast) in [(1, true), (4, false)] {
        for number in 0..count {
            let id = format!("{count}-{number}");
            let title = format!("{id}{}", "x".repeat(60_000));
            let object = json!({ "id": id, "title": title });
            objects.create(&local, "article", map(object)).unwrap();
        }
        // This read caches the plan of the list for the fast read.
        let length = objects.list(&local, "article", &request).unwrap().0.len();
        assert!(length > count * 60_000, "{length} bytes");
        let listed = objects.list(&local.clone().fast_only(), "article", &request);
        assert_eq!(listed.is_ok(), is_fast, "{count} objects");
    }
}

#[test]
fn read_only_slug_is_generated_on_creation_only() {
    let mut definition = article();
    add_property(&mut definition, "slug", json!({ "type": "string" }), "text");
    definition["metaDefinition"]["propertiesConfig"]["slug"]["readonly"] = json!(true);
    let rule = json!({ "source": "title", "target": "slug", "active": true });
    definition.insert("slugs".to_owned(), json!([rule]));
    for (lenient, expected) in [(false, ["first", "first"]), (true, ["second", "third"])] {
        let (test, local) = (TestCms::with(|c| c.lenient_readonly = lenient), Caller::local());
        test.cms.types().create(&local, definition.clone()).unwrap();
        create_object(&test.cms, "article", json!({ "id": "a", "title": "First" }));
        let objects = test.cms.objects();
        let title = |title: &str| map(json!({ "title": title }));
        let patched = objects.patch(&local, "article", "a", title("Second")).unwrap();
        let replaced = objects.replace(&local, "article", "a", title("Third")).unwrap();
        let slugs = [patched, replaced].map(|object| object.to_value()["slug"].clone());
        assert_eq!(slugs, expected);
    }
}
