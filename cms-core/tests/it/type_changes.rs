//! Changes of types that have objects: refused ones, and those that keep all values.

use cms_core::{
    Caller, Error, FieldErrors,
    testing::TestCms,
    wire::plan::{
        ApplyRequest, DataLossConsent, PlanRequest, ProjectPlan, PropertyChange, PropertyPlan,
    },
};
use serde_json::{Map, Value, json};

use crate::support::{
    add_property, article, article_with, dump, link, map, publish, remove_property, rows, with_type,
};

const NOT_CONFORMING: &str = "Existing objects do not conform to the new schema, and updating them automatically is impossible (e.g., Text -> Relationship). Ensure you're not changing a field type that is also required - if so, disable required for the field you're changing.";

/// A change of a definition.
type Edit = fn(&mut Map<String, Value>);

/// The articles `a` and `b`; `b` has a title only.
fn with_articles() -> (TestCms, Caller) {
    let (test, local) = (with_type(article()), Caller::local());
    let objects = test.cms.objects();
    objects.create(&local, "article", map(json!({"id": "b", "title": "B"}))).unwrap();
    let parts = json!([{"sources": [link("article", "b")]}, {}]);
    let links = [link("article", "b")];
    let full = json!({"id": "a", "title": "A", "rank": 1.5, "related": links, "parts": parts});
    objects.create(&local, "article", map(full)).unwrap();
    (test, local)
}

fn config<'a>(definition: &'a mut Map<String, Value>, name: &str) -> &'a mut Value {
    &mut definition["metaDefinition"]["propertiesConfig"][name]
}

fn retype(definition: &mut Map<String, Value>, name: &str, schema: Value, input: &str) {
    remove_property(definition, name);
    add_property(definition, name, schema, input);
}

fn request(definition: &Map<String, Value>) -> PlanRequest {
    PlanRequest { content_types: vec![definition.clone()], ..PlanRequest::default() }
}

fn apply(test: &TestCms, definition: &Map<String, Value>) -> ProjectPlan {
    let request = ApplyRequest {
        wanted: request(definition),
        allow_data_loss: Some(DataLossConsent::All(true)),
        ..ApplyRequest::default()
    };
    test.cms.types().apply(&Caller::local(), &request).unwrap()
}

fn property<'p>(plan: &'p ProjectPlan, name: &str) -> &'p PropertyPlan {
    plan.content_types[0].properties.iter().find(|property| property.name == name).unwrap()
}

fn data(test: &TestCms, id: &str) -> Value {
    let found = rows(test, &format!("SELECT data FROM object WHERE id = '{id}'"));
    serde_json::from_str(&found[0]).unwrap()
}

/// Applies a change that is refused; returns the errors, and checks that nothing changed.
fn refusal(change: Edit) -> FieldErrors {
    let (test, local) = with_articles();
    let before = dump(&test);
    let mut definition = article();
    change(&mut definition);
    let Err(Error::Invalid(errors)) = test.cms.types().update(&local, "article", definition) else {
        panic!("the change is possible");
    };
    assert_eq!(dump(&test), before);
    errors
}

#[test]
fn nonconforming_change_is_refused_with_all_reasons() {
    let cases: [(&str, Edit, Value); 8] = [
        (
            "a required text becomes a relation",
            |new| {
                let item = json!({"$ref": "#/components/schemas/DataSource"});
                let links = json!({"type": "array", "items": item});
                retype(new, "title", links, "datasource");
                config(new, "title")["validation"] = json!({"relationContenttype": ""});
            },
            json!({"title": ["The property title is required"], "ctd": [NOT_CONFORMING]}),
        ),
        (
            "a property becomes required",
            |new| new["schemaDefinition"]["required"] = json!(["title", "rank"]),
            json!({"rank": ["The property rank is required"], "ctd": [NOT_CONFORMING]}),
        ),
        (
            "a required property is added",
            |new| {
                add_property(new, "color", json!({"type": "string"}), "text");
                new["schemaDefinition"]["required"] = json!(["title", "color"]);
            },
            json!({"color": ["The property color is required"], "ctd": [NOT_CONFORMING]}),
        ),
        (
            "converted values do not match",
            |new| {
                retype(new, "rank", json!({"type": "string", "pattern": "^[a-z]$"}), "text");
            },
            json!({"rank": ["Does not match the regex pattern ^[a-z]$"], "ctd": [NOT_CONFORMING]}),
        ),
        (
            "a fraction becomes an integer",
            |new| retype(new, "rank", json!({"type": "integer"}), "number"),
            json!({"rank": ["Double value found, but an integer is required"], "ctd": [NOT_CONFORMING]}),
        ),
        (
            "a nested property becomes required",
            |new| {
                let list = &mut new["schemaDefinition"]["allOf"][1]["properties"]["parts"];
                list["items"]["required"] = json!(["sources"]);
            },
            json!({"parts[1].sources": ["The property sources is required"], "ctd": [NOT_CONFORMING]}),
        ),
        (
            "a nested backfill links to nothing",
            |new| {
                let list = &mut new["schemaDefinition"]["allOf"][1]["properties"]["parts"];
                list["items"]["required"] = json!(["sources"]);
                let nested = &mut config(new, "parts")["items"]["propertiesConfig"]["sources"];
                nested["backfill"] = json!([link("article", "gone")]);
            },
            json!({
                "metaDefinition.propertiesConfig.parts.items.propertiesConfig.sources.backfill":
                    ["This value is not valid."],
                "ctd": [NOT_CONFORMING],
            }),
        ),
        (
            "a backfill links to nothing",
            |new| {
                new["schemaDefinition"]["required"] = json!(["title", "related"]);
                config(new, "related")["backfill"] = json!([link("article", "gone")]);
            },
            json!({
                "metaDefinition.propertiesConfig.related.backfill": ["This value is not valid."],
                "ctd": [NOT_CONFORMING],
            }),
        ),
    ];
    for (name, change, errors) in cases {
        assert_eq!(json!(refusal(change)), errors, "{name}");
    }
}

/// The targets of links are checked only if `validation` changes.
#[test]
fn missing_link_targets_are_reported_when_validation_changes() {
    let (test, local) = with_articles();
    let types = test.cms.types();
    types.create(&local, article_with(json!({ "name": "other" }))).unwrap();
    let objects = test.cms.objects();
    objects.create(&local, "other", map(json!({"id": "o", "title": "O"}))).unwrap();
    let gone = link("other", "o");
    let parts = json!([{}, {"sources": [gone]}]);
    let links = [gone, link("article", "a")];
    objects.patch(&local, "article", "a", map(json!({"related": links, "parts": parts}))).unwrap();
    types.purge(&local, "other", false).unwrap();

    let mut definition = article();
    config(&mut definition, "related")["label"] = json!("Renamed");
    types.update(&local, "article", definition.clone()).unwrap();

    config(&mut definition, "related")["validation"]["relationContenttype"] = json!("article");
    let nested = &mut config(&mut definition, "parts")["items"]["propertiesConfig"]["sources"];
    nested["validation"]["relationContenttype"] = json!("article");
    let errors = types.update(&local, "article", definition).unwrap_err();
    let Error::Invalid(errors) = errors else { panic!("{errors}") };
    let message = ["Object: /api/v1/content/other/o doesn't exists "];
    let expected = json!({
        "co.related": message, "co.parts[1].sources": message, "ctd": [NOT_CONFORMING],
    });
    assert_eq!(json!(errors), expected);
}

#[test]
fn renamed_property_keeps_its_values_once() {
    let (test, local) = with_articles();
    let types = test.cms.types();
    let mut definition = article();
    remove_property(&mut definition, "rank");
    add_property(&mut definition, "place", json!({"type": "string"}), "text");
    config(&mut definition, "place")["renamedFrom"] = json!("rank");
    let plan = apply(&test, &definition);
    let renamed = property(&plan, "place");
    assert_eq!(
        (renamed.change, renamed.renamed_from.as_deref()),
        (PropertyChange::Type, Some("rank"))
    );
    assert_eq!((renamed.kept, renamed.converted, renamed.lost), (0, 1, 0));
    assert_eq!(plan.content_types[0].properties.len(), 1, "{plan:?}");
    assert!(plan.content_types[0].breaking);
    assert_eq!(data(&test, "a")["place"], json!("1.5"));
    assert_eq!(data(&test, "b"), json!({"title": "B"}));

    // `renamedFrom` stays without effect, even if another property gets the old name.
    assert!(!types.plan(&local, &request(&definition)).unwrap().has_changes());
    add_property(&mut definition, "rank", json!({"type": "number"}), "number");
    apply(&test, &definition);
    test.cms.objects().patch(&local, "article", "a", map(json!({"rank": 7}))).unwrap();
    remove_property(&mut definition, "rank");
    let plan = apply(&test, &definition);
    assert_eq!(property(&plan, "rank").lost, 1);
    assert_eq!(data(&test, "a")["place"], json!("1.5"));
    // The definition is valid without a property of the old name, too.
    with_type(definition);
}

#[test]
fn backfill_sets_missing_values_only() {
    let (test, _) = with_articles();
    let mut definition = article();
    add_property(&mut definition, "color", json!({"type": "string"}), "text");
    config(&mut definition, "color")["backfill"] = json!("red");
    config(&mut definition, "rank")["backfill"] = json!(9);
    config(&mut definition, "title")["backfill"] = json!("nobody needs it");
    definition["schemaDefinition"]["required"] = json!(["title", "rank", "color"]);
    let plan = apply(&test, &definition);
    let counts = |name| {
        let planned = property(&plan, name);
        (planned.kept, planned.converted, planned.lost, planned.failed)
    };
    assert_eq!(counts("rank"), (1, 1, 0, 0));
    assert_eq!(counts("color"), (0, 2, 0, 0));
    assert_eq!(counts("title"), (2, 0, 0, 0));
    assert_eq!(data(&test, "b"), json!({"title": "B", "rank": 9, "color": "red"}));
    assert_eq!(data(&test, "a")["rank"], json!(1.5));
}

/// Values that cannot be converted come first among the samples.
#[test]
fn samples_list_unconvertible_values_first() {
    let (test, local) = (TestCms::new(), Caller::local());
    let mut definition = article();
    retype(&mut definition, "rank", json!({"type": "string"}), "text");
    test.cms.types().create(&local, definition).unwrap();
    for number in 0..30 {
        let rank = if number < 28 { number.to_string() } else { "call us".to_owned() };
        let object = json!({"id": format!("a{number}"), "title": number.to_string(), "rank": rank});
        test.cms.objects().create(&local, "article", map(object)).unwrap();
    }
    let mut definition = article();
    config(&mut definition, "rank")["convert"] = json!("parse");
    let plan = apply(&test, &definition);
    let rank = property(&plan, "rank");
    assert_eq!((rank.kept, rank.converted, rank.lost), (0, 28, 2));
    let samples: Vec<_> = rank.samples.iter().map(|sample| sample.id.as_str()).collect();
    assert_eq!(samples.len(), 20);
    assert_eq!(samples[..4], ["a28", "a29", "a0", "a1"]);
    assert_eq!(rank.samples[0].after, json!(0));
}

/// An article whose published version has a rank and a link, unlike the current one.
fn with_published_article() -> (TestCms, Caller, Map<String, Value>) {
    let (test, local) = (TestCms::new(), Caller::local());
    let definition = article_with(json!({ "draftPublic": true }));
    test.cms.types().create(&local, definition.clone()).unwrap();
    let objects = test.cms.objects();
    objects.create(&local, "article", map(json!({"id": "b", "title": "B"}))).unwrap();
    let full = json!({"id": "a", "title": "A", "rank": 1, "related": [link("article", "b")]});
    objects.create(&local, "article", map(full)).unwrap();
    publish(&test.cms, "article", "a");
    objects.replace(&local, "article", "a", map(json!({"title": "A"}))).unwrap();
    (test, local, definition)
}

#[test]
fn values_of_published_versions_are_counted() {
    let (test, local, mut definition) = with_published_article();
    remove_property(&mut definition, "rank");
    let plan = test.cms.types().plan(&local, &request(&definition)).unwrap();
    assert_eq!(property(&plan, "rank").lost, 1);
    let request = ApplyRequest { wanted: request(&definition), ..ApplyRequest::default() };
    let refused = test.cms.types().apply(&local, &request);
    assert!(matches!(refused, Err(Error::DataLoss(names)) if names == ["article.rank"]));
}

#[test]
fn published_versions_must_have_newly_required_values() {
    let (test, local, mut definition) = with_published_article();
    let objects = test.cms.objects();
    for (id, rank) in
        [("a", json!({"title": "A", "rank": 2})), ("b", json!({"title": "B", "rank": 3}))]
    {
        objects.replace(&local, "article", id, map(rank)).unwrap();
    }
    definition["schemaDefinition"]["required"] = json!(["title", "rank"]);
    let plan = test.cms.types().plan(&local, &request(&definition)).unwrap();
    assert_eq!(property(&plan, "rank").failed, 0);

    publish(&test.cms, "article", "b");
    objects.replace(&local, "article", "b", map(json!({"title": "B"}))).unwrap();
    publish(&test.cms, "article", "b");
    objects.replace(&local, "article", "b", map(json!({"title": "B", "rank": 4}))).unwrap();
    let plan = test.cms.types().plan(&local, &request(&definition)).unwrap();
    assert_eq!(property(&plan, "rank").failed, 1);
}

#[test]
fn published_versions_do_not_block_turning_draft_and_public_off() {
    let (test, local, mut definition) = with_published_article();
    let objects = test.cms.objects();
    objects.replace(&local, "article", "a", map(json!({"title": "A", "rank": 2}))).unwrap();
    objects.replace(&local, "article", "b", map(json!({"title": "B", "rank": 3}))).unwrap();
    publish(&test.cms, "article", "b");
    objects.replace(&local, "article", "b", map(json!({"title": "B"}))).unwrap();
    publish(&test.cms, "article", "b");
    objects.replace(&local, "article", "b", map(json!({"title": "B", "rank": 4}))).unwrap();
    definition["schemaDefinition"]["required"] = json!(["title", "rank"]);
    definition.insert("draftPublic".to_owned(), json!(false));
    let plan = test.cms.types().plan(&local, &request(&definition)).unwrap();
    assert_eq!((property(&plan, "rank").failed, plan.summary.blockers), (0, 0));
    apply(&test, &definition);
    assert_eq!([data(&test, "a")["rank"].clone(), data(&test, "b")["rank"].clone()], [2, 4]);
}

#[test]
fn targets_of_a_removed_relation_can_be_deleted() {
    let (test, local, mut definition) = with_published_article();
    let objects = test.cms.objects();
    assert!(matches!(objects.delete(&local, "article", "b"), Err(Error::Rejected(_))));
    remove_property(&mut definition, "related");
    apply(&test, &definition);
    assert_eq!(rows(&test, "SELECT target_id FROM link"), [""; 0]);
    objects.delete(&local, "article", "b").unwrap();
}

#[test]
fn samples_of_failed_conversions_show_stored_values() {
    let (test, local) = with_articles();
    let mut definition = article();
    add_property(&mut definition, "note", json!({"type": "string"}), "text");
    apply(&test, &definition);
    let empty = map(json!({"title": "B", "note": ""}));
    test.cms.objects().replace(&local, "article", "b", empty).unwrap();
    definition["schemaDefinition"]["required"] = json!(["title", "note"]);
    let plan = test.cms.types().plan(&local, &request(&definition)).unwrap();
    let samples = json!(property(&plan, "note").samples);
    let expected = json!([
        {"id": "b", "before": "", "after": ""},
        {"id": "a", "before": null, "after": null},
    ]);
    assert_eq!(samples, expected);
}

/// An article with the list `rows`, whose items have the property `part`.
fn with_rows(part: &Value, input_type: &str, required: bool) -> Map<String, Value> {
    let mut definition = article();
    let names: &[&str] = if required { &["part"] } else { &[] };
    let item = json!({ "type": "object", "properties": { "part": part }, "required": names });
    add_property(&mut definition, "rows", json!({ "type": "array", "items": item }), "object");
    let any = json!({ "relationContenttype": "", "relationMultiple": true });
    let config = json!({ "label": "Part", "inputType": input_type, "validation": any });
    definition["metaDefinition"]["propertiesConfig"]["rows"]["items"] =
        json!({ "order": ["part"], "propertiesConfig": { "part": config } });
    definition
}

#[test]
fn empty_list_is_no_value_of_a_required_property_in_a_list() {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let links = json!({ "type": "array", "items": { "$ref": "#/components/schemas/DataSource" } });
    let cases = [
        (
            "a text has no links",
            with_rows(&text, "text", true),
            json!("v"),
            with_rows(&links, "datasource", true),
        ),
        (
            "becomes required",
            with_rows(&texts, "simpleList", false),
            json!([]),
            with_rows(&texts, "simpleList", true),
        ),
    ];
    for (case, before, part, after) in cases {
        let (test, local) = (with_type(before), Caller::local());
        let object = json!({ "id": "a", "title": "A", "rows": [{ "part": part }] });
        test.cms.objects().create(&local, "article", map(object)).unwrap();
        let changed = test.cms.types().update(&local, "article", after);
        let Err(Error::Invalid(errors)) = changed else { panic!("{case}: {changed:?}") };
        assert!(!errors.at("rows[0].part").is_empty(), "{case}: {errors:?}");
    }
}

/// The published version of `a` links to `b`, its current version does not.
#[test]
fn targets_of_a_relation_removed_with_draft_and_public_can_be_deleted() {
    let (test, local, mut definition) = with_published_article();
    let objects = test.cms.objects();
    objects.replace(&local, "article", "a", map(json!({"title": "A"}))).unwrap();
    remove_property(&mut definition, "related");
    definition.insert("draftPublic".to_owned(), json!(false));
    apply(&test, &definition);
    objects.delete(&local, "article", "b").unwrap();
}

/// Values of undeclared properties of list items are kept, and may be links.
#[test]
fn targets_of_a_relation_declared_for_stored_values_cannot_be_deleted() {
    let links = json!({ "type": "array", "items": { "$ref": "#/components/schemas/DataSource" } });
    let related = with_rows(&links, "datasource", false);
    let mut other = with_rows(&json!({ "type": "string" }), "text", false);
    let rename = |definition: &mut Map<String, Value>| {
        let text = Value::Object(definition.clone()).to_string().replace("\"part\"", "\"other\"");
        *definition = serde_json::from_str(&text).unwrap();
    };
    rename(&mut other);
    let (test, local) = (with_type(other.clone()), Caller::local());
    let objects = test.cms.objects();
    objects.create(&local, "article", map(json!({ "id": "b", "title": "B" }))).unwrap();
    let rows = json!([{ "part": [link("article", "b")] }]);
    objects
        .create(&local, "article", map(json!({ "id": "a", "title": "A", "rows": rows })))
        .unwrap();
    apply(&test, &related);
    assert!(matches!(objects.delete(&local, "article", "b"), Err(Error::Rejected(_))));
    assert_eq!(rows_of_links(&test), ["b"]);
}

fn rows_of_links(test: &TestCms) -> Vec<String> {
    rows(test, "SELECT target_id FROM link")
}

#[test]
fn unique_relation_of_a_copy_links_to_the_copied_target() {
    let (_, local, mut definition) = with_published_article();
    definition.insert("draftPublic".to_owned(), json!(false));
    definition["metaDefinition"]["propertiesConfig"]["related"]["unique"] = json!(true);
    let test = with_type(definition);
    let objects = test.cms.objects();
    objects.create(&local, "article", map(json!({ "id": "b", "title": "B" }))).unwrap();
    let related = json!([link("article", "b")]);
    let object = json!({ "id": "a", "title": "A", "related": related });
    objects.create(&local, "article", map(object)).unwrap();
    let wanted = map(json!({ "relatedObjectsToDuplicate": ["b"] }));
    let copy = objects.duplicate(&local, "article", "a", &wanted).unwrap().to_value();
    let target = copy["related"][0]["dataUrl"].as_str().unwrap();
    assert_ne!(target, "/api/v1/content/article/b");
    assert_eq!(rows_of_links(&test).len(), 2);
}

#[test]
fn object_may_not_exceed_the_maximum_size_by_a_change_of_its_type() {
    let errors = refusal(|definition| {
        add_property(definition, "added", json!({ "type": "string" }), "text");
        definition["schemaDefinition"]["required"] = json!(["title", "added"]);
        config(definition, "added")["backfill"] = json!("x".repeat(1_048_400));
    });
    let messages = [
        "Content Object size limit exceeded by an object with ID: a. Requested size 1.00 MB, limit: 1 MB)",
        NOT_CONFORMING,
    ];
    assert_eq!(json!(errors), json!({ "ctd": messages }));
}
