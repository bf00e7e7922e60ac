//! Rules that a type sets for its objects: defaults, unique combinations, and rules that stored
//! values no longer meet.

use std::thread;

use cms_core::{
    Cms, CoreConfig, Error,
    paging::PageRequest,
    testing::TestCms,
    wire::{
        batch::BatchElements,
        check::CheckRequest,
        plan::{ApplyRequest, PlanRequest, ProjectPlan, PropertyChange},
        trash::{RestoreRequest, TrashRequest},
    },
};
use serde_json::{Map, Value, json};

use crate::support::{
    add_property, article, create_batch, database, local, map, publish, rows, with_type,
};

fn create(test: &TestCms, object: Value) -> Result<Value, Error> {
    let created = test.cms.objects().create(&local(), "article", map(object))?;
    Ok(created.to_value())
}

fn refusal(result: Result<impl Sized, Error>) -> Value {
    match result {
        Err(Error::Invalid(errors)) => json!(errors),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("the request succeeded"),
    }
}

fn plan(test: &TestCms, definition: &Map<String, Value>) -> ProjectPlan {
    let content_types = vec![definition.clone()];
    let request = PlanRequest { content_types, ..PlanRequest::default() };
    test.cms.types().plan(&local(), &request).unwrap()
}

/// Articles with a language; `title` is not unique alone.
fn translated() -> Map<String, Value> {
    let mut definition = article();
    definition["metaDefinition"]["propertiesConfig"]["title"]["unique"] = json!(false);
    add_property(&mut definition, "language", json!({ "type": "string" }), "select");
    definition
}

fn unique_together(definition: &mut Map<String, Value>, groups: Value) {
    definition["metaDefinition"]["uniqueTogether"] = groups;
}

/// A data directory with translated articles, whose title and language are unique together.
fn with_combination(draft_public: bool) -> (TestCms, Map<String, Value>) {
    let (test, mut definition) = (TestCms::new(), translated());
    unique_together(&mut definition, json!([["title", "language"], ["rank", "language"]]));
    definition.insert("draftPublic".to_owned(), json!(draft_public));
    test.cms.types().create(&local(), definition.clone()).unwrap();
    (test, definition)
}

fn is_sound(cms: &Cms) -> bool {
    let check = cms.check(&CheckRequest::default()).unwrap();
    assert!(check.findings.is_empty(), "{:?}", check.findings);
    check.is_sound()
}

#[test]
fn combination_is_unique_and_its_parts_are_not() {
    let (test, _) = with_combination(false);
    let objects = test.cms.objects();
    for (id, title, language, rank) in
        [("a", "Tea", "en", 1), ("b", "Tea", "de", 1), ("c", "tea", "en", 2), ("d", "Pot", "en", 3)]
    {
        create(&test, json!({"id": id, "title": title, "language": language, "rank": rank}))
            .unwrap();
    }
    let used = json!({ "title": ["This value is already used together with language"] });
    assert_eq!(refusal(create(&test, json!({"title": "Tea", "language": "de"}))), used);
    assert_eq!(
        refusal(create(&test, json!({"title": "Tea", "language": "de", "rank": 1.0}))),
        json!({
            "title": ["This value is already used together with language"],
            "rank": ["This value is already used together with language"],
        })
    );
    // Empty values never clash.
    for _ in 0..2 {
        create(&test, json!({"title": "Tea"})).unwrap();
        create(&test, json!({"title": "Tea", "language": ""})).unwrap();
    }
    let patched = |id, patch| objects.patch(&local(), "article", id, map(patch));
    assert_eq!(refusal(patched("d", json!({"title": "Tea"}))), used);
    patched("a", json!({"title": "Tea", "rank": 9})).unwrap();
    patched("d", json!({"title": "Tea", "language": "fr"})).unwrap();
    let elements =
        [json!({"title": "Cup", "language": "en"}), json!({"title": "Cup", "language": "en"})];
    let report = create_batch(&test.cms, "article", &elements);
    assert_eq!((report.batch_success_count, report.batch_error_count), (1, 1));
    assert_eq!(json!(report.errors[0].errors), used);
    assert!(is_sound(&test.cms));

    let index = rows(&test, "SELECT DISTINCT slot_count FROM object");
    assert_eq!(index, ["5"], "three properties and two combinations");
}

#[test]
fn unique_values_are_compared_without_regard_to_their_notation() {
    let mut definition = article();
    definition["metaDefinition"]["propertiesConfig"]["related"]["unique"] = json!(true);
    let test = with_type(definition);
    for id in ["my tag", "other"] {
        create(&test, json!({"id": id, "title": id})).unwrap();
    }
    let related = |address: &str| json!([{"type": "internal", "dataUrl": format!("/api/v1/content/article/{address}")}]);
    create(&test, json!({"title": "a", "related": related("my tag")})).unwrap();
    for address in ["my tag", "my%20tag", "MY TAG"] {
        let refused =
            create(&test, json!({"title": format!("{address}!"), "related": related(address)}));
        let errors = refusal(refused);
        assert_eq!(errors["related"], json!(["This value is already used"]), "{address}");
    }
    create(&test, json!({"title": "b", "related": related("other")})).unwrap();
    assert!(is_sound(&test.cms));
}

#[test]
fn concurrent_writers_cannot_share_a_combination() {
    const WRITERS: usize = 8;
    let (test, _) = with_combination(false);
    let created: usize = thread::scope(|scope| {
        let writer = |number: usize| {
            let test = &test;
            move || {
                let wins = |language: &&str| {
                    let id = format!("{number}-{language}");
                    create(test, json!({"id": id, "title": "Tea", "language": language})).is_ok()
                };
                ["en", "de", "fr"].iter().filter(|language| wins(language)).count()
            }
        };
        let threads: Vec<_> = (0..WRITERS).map(|number| scope.spawn(writer(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(created, 3);
    assert!(is_sound(&test.cms));
}

#[test]
fn combination_of_a_published_version_stays_used() {
    let (test, _) = with_combination(true);
    let tea = |id| json!({"id": id, "title": "Tea", "language": "en"});
    create(&test, tea("a")).unwrap();
    publish(&test.cms, "article", "a");
    let change = map(json!({"language": "de"}));
    test.cms.objects().patch(&local(), "article", "a", change).unwrap();
    let used = json!({ "title": ["This value is already used together with language"] });
    assert_eq!(refusal(create(&test, tea("b"))), used);
    publish(&test.cms, "article", "a");
    create(&test, tea("b")).unwrap();
}

#[test]
fn copies_and_restored_objects_keep_combinations_unique() {
    let (test, _) = with_combination(false);
    let objects = test.cms.objects();
    create(&test, json!({"id": "a", "title": "Tea", "language": "en", "rank": 1})).unwrap();
    let none = map(json!({"relatedObjectsToDuplicate": []}));
    let copy = objects.duplicate(&local(), "article", "a", &none).unwrap().to_value();
    assert_ne!(copy["title"], "Tea");
    assert_eq!((&copy["language"], copy.get("rank")), (&json!("en"), None));

    objects.delete(&local(), "article", "a").unwrap();
    create(&test, json!({"id": "b", "title": "Tea", "language": "en"})).unwrap();
    let page = PageRequest { number: 1, limit: 10 };
    let trash = TrashRequest { page, ..TrashRequest::default() };
    let entry = test.cms.trash().list(&local(), &trash).unwrap().data[0].entry.clone();
    let restored = test.cms.trash().restore(&local(), &entry, RestoreRequest::default());
    let used = json!({ "title": ["This value is already used together with language"] });
    assert_eq!(refusal(restored), used);
}

/// A combination that becomes unique is checked against the objects, in the plan and in the change.
#[test]
fn plan_reports_objects_with_the_same_combination() {
    let (test, mut definition) = (TestCms::new(), translated());
    let types = test.cms.types();
    types.create(&local(), definition.clone()).unwrap();
    for (id, language) in [("a", "en"), ("b", "en"), ("c", "de"), ("d", "en"), ("e", ""), ("f", "")]
    {
        create(&test, json!({"id": id, "title": "Tea", "language": language})).unwrap();
    }
    unique_together(&mut definition, json!([["title", "language"]]));
    let planned = plan(&test, &definition);
    let message = "This value is already used together with language, by 2 objects: b, d";
    let blockers = &planned.content_types[0].blockers;
    assert_eq!(blockers.at("title"), [message]);
    let errors = refusal(types.update(&local(), "article", definition.clone()));
    assert_eq!(errors["title"], json!([message]));

    let objects = test.cms.objects();
    for (id, language) in [("b", "fr"), ("d", "it")] {
        let patch = map(json!({ "language": language }));
        objects.patch(&local(), "article", id, patch).unwrap();
    }
    assert_eq!(plan(&test, &definition).summary.blockers, 0);
    types.update(&local(), "article", definition.clone()).unwrap();
    let used = json!({ "title": ["This value is already used together with language"] });
    assert_eq!(refusal(create(&test, json!({"title": "Tea", "language": "it"}))), used);
    assert!(is_sound(&test.cms));

    // Converted values are checked, too: as a number, every language is the same.
    let mut changed = definition.clone();
    changed["schemaDefinition"]["allOf"][1]["properties"]["language"] = json!({"type": "number"});
    changed["metaDefinition"]["propertiesConfig"]["language"]["inputType"] = json!("number");
    let planned = plan(&test, &changed);
    assert!(planned.content_types[0].blockers.at("title")[0].contains("by 5 objects"));

    unique_together(&mut definition, json!([]));
    types.update(&local(), "article", definition).unwrap();
    create(&test, json!({"title": "Tea", "language": "it"})).unwrap();
    assert!(is_sound(&test.cms));
}

/// An earlier version stored `uniqueTogether` and ignored it: the combinations of such a type are
/// indexed at the start.
#[test]
fn combination_of_an_older_directory_is_indexed() {
    let (test, _) = with_combination(false);
    // SQL must not change a replica.
    if test.is_node() {
        return;
    }
    create(&test, json!({"id": "a", "title": "Tea", "language": "en"})).unwrap();
    {
        let database = database(&test);
        let indexes =
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND name GLOB '*_slot_*'";
        for index in rows(&test, indexes) {
            database.execute_batch(&format!("DROP INDEX {index}")).unwrap();
        }
        database
            .execute_batch(
                "UPDATE object SET slot_count = 3, slots = json_remove(slots, '$.\"3\"', '$.\"4\"');
                 UPDATE local SET derived = 3",
            )
            .unwrap();
    }
    let cms = Cms::open(CoreConfig::new(test.path())).unwrap();
    assert!(is_sound(&cms));
    let clash = map(json!({"title": "Tea", "language": "en"}));
    let used = json!({ "title": ["This value is already used together with language"] });
    assert_eq!(refusal(cms.objects().create(&local(), "article", clash)), used);
}

/// Earlier versions had a second index per slot, for lists in descending order.
#[test]
fn descending_indexes_of_an_older_directory_are_dropped() {
    let (test, _) = with_combination(true);
    // SQL must not change a replica.
    if test.is_node() {
        return;
    }
    let indexes = "SELECT name FROM sqlite_schema WHERE type = 'index' AND name GLOB '*_slot_*'";
    let expected = rows(&test, indexes);
    let database = database(&test);
    database
        .execute_batch(
            "CREATE INDEX object_slot_0_desc ON object (ctd);
             CREATE INDEX published_slot_20_desc ON published (ctd);
             UPDATE local SET derived = 4",
        )
        .unwrap();
    drop(database);
    let cms = Cms::open(CoreConfig::new(test.path())).unwrap();
    assert_eq!(rows(&test, indexes), expected);
    assert!(is_sound(&cms));
}

/// Articles whose properties have defaults.
fn with_defaults(applies: bool) -> TestCms {
    let (test, mut definition) = (TestCms::new(), translated());
    add_property(&mut definition, "rows", json!({}), "object");
    let properties = &mut definition["schemaDefinition"]["allOf"][1]["properties"];
    properties["title"]["default"] = json!("Untitled");
    properties["rank"]["default"] = json!(7);
    properties["language"]["default"] = json!("");
    properties["rows"] = json!({
        "type": "array", "items": {"type": "object", "required": ["unit"], "properties": {
            "unit": {"type": "string", "default": "g"}, "amount": {"type": "number"}}},
    });
    definition["metaDefinition"]["propertiesConfig"]["rows"]["items"] = json!({
        "order": ["unit", "amount"], "propertiesConfig": {
            "unit": {"label": "Unit", "inputType": "text"},
            "amount": {"label": "Amount", "inputType": "number"}},
    });
    definition["metaDefinition"]["applyDefaults"] = json!(applies);
    test.cms.types().create(&local(), definition).unwrap();
    test
}

fn properties(object: &Value) -> Value {
    let mut object = object.clone();
    for key in ["id", "internal"] {
        object.as_object_mut().unwrap().remove(key);
    }
    object
}

/// Defaults of the items of a list can make a short object many times as long.
#[test]
fn fast_create_is_refused_if_items_have_defaults() {
    let new = || map(json!({ "title": "Soup", "rows": [{}, {}] }));
    for applies in [false, true] {
        let test = with_defaults(applies);
        let created = test.cms.objects().begin_create(&local().fast_only(), "article", new());
        assert_eq!(matches!(created, Err(Error::WouldBlock)), applies);
    }
}

#[test]
fn defaults_are_applied_to_new_objects_only() {
    let test = with_defaults(true);
    let objects = test.cms.objects();
    let created =
        create(&test, json!({"id": "a", "rows": [{"amount": 1}, {"unit": "kg"}]})).unwrap();
    let filled = json!({
        "title": "Untitled", "rank": 7, "rows": [{"amount": 1, "unit": "g"}, {"unit": "kg"}],
    });
    assert_eq!(properties(&created), filled);
    assert_eq!(created["internal"]["objectTitle"], "Untitled");
    let sent = json!({"id": "b", "title": "B", "rank": 0, "language": "en", "rows": []});
    assert_eq!(create(&test, sent.clone()).unwrap()["rank"], 0);

    let replaced = objects.replace(&local(), "article", "b", map(json!({"title": "C"}))).unwrap();
    assert_eq!(properties(&replaced.to_value()), json!({"title": "C"}));
    let patch = map(json!({"rows": [{"amount": 2}]}));
    let errors = refusal(objects.patch(&local(), "article", "b", patch));
    assert_eq!(errors, json!({"rows[0].unit": ["The property unit is required"]}));

    let elements = [json!({"id": "b", "title": "D"}), json!({"id": "e"})];
    let batch = BatchElements::of(&elements);
    let report = objects.batch_create(&local(), "article", &batch, true).unwrap();
    assert_eq!(report.batch_error_count, 0, "{:?}", report.errors);
    let ranks = ["b", "e"].map(|id| {
        let object = objects.get(&local(), "article", id, 0).unwrap().to_value();
        object.get("rank").cloned()
    });
    assert_eq!(ranks, [None, Some(json!(7))], "the first object existed");

    let none = map(json!({"relatedObjectsToDuplicate": []}));
    let copy = objects.duplicate(&local(), "article", "b", &none).unwrap().to_value();
    assert_eq!(copy.get("rank"), None);
}

#[test]
fn defaults_are_not_applied_by_default() {
    let test = with_defaults(false);
    let errors = refusal(create(&test, json!({"id": "a"})));
    assert_eq!(errors, json!({"title": ["The property title is required"]}));
    let created = create(&test, json!({"id": "a", "title": "A"})).unwrap();
    assert_eq!(properties(&created), json!({"title": "A"}));
}

fn language(definition: &mut Map<String, Value>, options: Value) {
    definition["metaDefinition"]["propertiesConfig"]["language"]["options"] = options;
}

/// An object with a removed option keeps it until it is written.
#[test]
fn plan_counts_values_of_removed_options() {
    let (test, mut definition) = (TestCms::new(), translated());
    language(&mut definition, json!(["en", "de", "fr"]));
    let types = test.cms.types();
    types.create(&local(), definition.clone()).unwrap();
    for number in 0..30 {
        let language = if number < 25 { "de" } else { "en" };
        let object = json!({"id": format!("a{number:02}"), "title": "A", "language": language});
        create(&test, object).unwrap();
    }
    create(&test, json!({"id": "none", "title": "A"})).unwrap();
    language(&mut definition, json!(["en", "fr", "it"]));
    let planned = plan(&test, &definition);
    let property = &planned.content_types[0].properties[0];
    assert_eq!((property.name.as_str(), property.change), ("language", PropertyChange::Settings));
    assert_eq!((property.kept, property.failed, property.invalid), (30, 0, 25));
    assert_eq!(property.samples.len(), 20);
    assert_eq!(json!(property.samples[0]), json!({"id": "a00", "before": "de", "after": "de"}));
    assert_eq!((planned.summary.values_invalid, planned.summary.blockers), (25, 0));

    let wanted = PlanRequest { content_types: vec![definition.clone()], ..PlanRequest::default() };
    let apply = ApplyRequest { wanted, ..ApplyRequest::default() };
    let applied = types.apply(&local(), &apply).unwrap();
    assert_eq!(applied.content_types, planned.content_types);
    let patch = |patch| test.cms.objects().patch(&local(), "article", "a00", map(patch));
    let errors = refusal(patch(json!({"title": "B"})));
    assert_eq!(errors, json!({"language": ["The value does not match possible options"]}));
    patch(json!({"title": "B", "language": "it"})).unwrap();

    // A change of other settings has nothing to report, nor a change that allows more.
    definition["metaDefinition"]["propertiesConfig"]["language"]["label"] = json!("Sprache");
    assert_eq!(plan(&test, &definition).summary.values_invalid, 0);
    language(&mut definition, json!(["en", "fr", "it", "de"]));
    assert_eq!(plan(&test, &definition).summary.values_invalid, 0);
}

#[test]
fn plan_counts_values_that_other_rules_no_longer_allow() {
    let (test, mut definition) = (TestCms::new(), translated());
    test.cms.types().create(&local(), definition.clone()).unwrap();
    let text = |number: usize| "x".repeat(number);
    for number in 1..=9 {
        create(&test, json!({"title": text(number), "rank": number})).unwrap();
    }
    let properties = &mut definition["schemaDefinition"]["allOf"][1]["properties"];
    properties["title"]["maxLength"] = json!(6);
    properties["rank"]["minimum"] = json!(3);
    let planned = plan(&test, &definition);
    let counts: Vec<_> = planned.content_types[0]
        .properties
        .iter()
        .map(|property| (property.name.as_str(), property.kept, property.invalid))
        .collect();
    assert_eq!(counts, [("title", 9, 3), ("rank", 9, 2)]);
    test.cms.types().update(&local(), "article", definition.clone()).unwrap();
    let errors = refusal(create(&test, json!({"title": text(7)})));
    assert_eq!(errors, json!({"title": ["Must be at most 6 characters long"]}));
    create(&test, json!({"title": "äöüßéñ"})).unwrap();

    // Texts become a choice: those outside the options are kept.
    definition["metaDefinition"]["propertiesConfig"]["title"]["inputType"] = json!("radio");
    definition["metaDefinition"]["propertiesConfig"]["title"]["options"] = json!(["x", "xx"]);
    let planned = plan(&test, &definition);
    let title = &planned.content_types[0].properties[0];
    assert_eq!((title.change, title.kept, title.invalid), (PropertyChange::Type, 10, 5));
}

/// A type that an earlier version stored with errors can be changed in other parts.
#[test]
fn stored_errors_of_values_are_not_reported_again() {
    let (test, mut definition) = (TestCms::standalone(), translated());
    let types = test.cms.types();
    types.create(&local(), definition.clone()).unwrap();
    {
        let database = database(&test);
        database
            .execute_batch(
                "UPDATE ctd SET definition = json_set(definition,
                     '$.schemaDefinition.allOf[1].properties.rank.default', 'many',
                     '$.metaDefinition.propertiesConfig.language.options', json('[\"en\",\"en\"]'))
                 WHERE name = 'article';
                 UPDATE meta SET schema_rev = schema_rev + 1",
            )
            .unwrap();
    }
    create(&test, json!({"title": "A", "language": "en"})).unwrap();
    definition["schemaDefinition"]["allOf"][1]["properties"]["rank"]["default"] = json!("many");
    language(&mut definition, json!(["en", "en"]));
    definition["label"] = json!("Articles");
    types.update(&local(), "article", definition.clone()).unwrap();

    let duplicates = "There are no duplicates allowed in the array";
    let mut changed = definition.clone();
    language(&mut changed, json!(["en", "en", "de"]));
    assert_eq!(
        refusal(types.update(&local(), "article", changed)),
        json!({ "metaDefinition.propertiesConfig.language.options": [duplicates] })
    );
    let number = "String value found, but a number is required";
    let rank = "schemaDefinition.allOf[1].properties.rank.default";
    let mut changed = definition.clone();
    changed["schemaDefinition"]["allOf"][1]["properties"]["rank"]["default"] = json!("few");
    assert_eq!(refusal(types.update(&local(), "article", changed)), json!({ rank: [number] }));
    // Defaults that are about to be used have to be valid.
    definition["metaDefinition"]["applyDefaults"] = json!(true);
    let errors = refusal(types.update(&local(), "article", definition));
    assert_eq!(errors[rank], json!([number]));
}
