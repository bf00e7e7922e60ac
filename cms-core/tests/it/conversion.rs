//! Plans of generated type changes, compared with the stored objects after the apply, in all
//! current and published versions.

use std::collections::{BTreeMap, BTreeSet};

use cms_core::{
    Caller, Durability, Error, Visibility,
    testing::{ObjectValidator, TestCms, fixture},
    wire::{
        object::ListRequest,
        plan::{ApplyRequest, DataLossConsent, PlanRequest, PropertyChange, PropertyPlan},
        publish::PublishAction,
    },
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Map, Value, json};

use crate::support::{dump, link, map, rows};

/// A property of a generated type.
#[derive(Clone, Debug)]
struct GeneratedProperty {
    name: &'static str,
    kind: String,
    required: bool,
    title_part: bool,
    /// `renamedFrom`, `convert`, `backfill`.
    more: Map<String, Value>,
}

/// A change of a property.
#[derive(Clone, Debug)]
enum Step {
    Keep,
    Remove,
    /// Another kind, with or without `convert: parse`.
    ChangeKind(String, bool),
    /// Renamed to capital letters, as the same or another kind.
    Rename(Option<String>),
    /// Toggles `required`, with or without a backfill.
    Require(bool),
    ToggleTitlePart,
}

const NAMES: [(&str, &str); 4] = [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D")];

fn kinds() -> BTreeMap<String, (Value, Value)> {
    let text = std::fs::read(fixture("tables/conversions.json")).unwrap();
    let mut table: Value = serde_json::from_slice(&text).unwrap();
    serde_json::from_value(table["kinds"].take()).unwrap()
}

fn any_kind() -> impl Strategy<Value = String> {
    select(kinds().into_keys().collect::<Vec<_>>())
}

/// Valid values of a kind; the first one is not empty.
fn values(kind: &str) -> Vec<Value> {
    let target = link("other", "x");
    match kind {
        "number/number" => vec![json!(7), json!(0), json!(7.5)],
        "integer/number" => vec![json!(7), json!(-1)],
        "boolean/checkbox" => vec![json!(true), json!(false)],
        "array/select" => vec![json!(["a"]), json!(["b", "7"]), json!([])],
        "array/simpleList" => vec![json!(["a"]), json!(["x", "7", "true"]), json!([])],
        "array/object" => vec![json!([{"t": "x"}, {}]), json!([{"t": "y", "u": 1}]), json!([])],
        "array/datasource" => vec![json!([target]), json!([]), json!([target, link("other", "y")])],
        "object/geo" => vec![json!({"lat": 52.1, "lon": 21}), json!({})],
        "object/block" => {
            vec![json!({"time": 1, "blocks": [{"id": "p", "type": "paragraph"}], "version": "2"})]
        }
        "object/custom" => vec![json!({"top": 1}), json!({})],
        "string/radio" | "string/select" => vec![json!("a"), json!("b")],
        _ => vec![json!("a"), json!("7"), json!("12.50"), json!("true"), json!("x, é \"y\"")],
    }
}

fn any_properties() -> impl Strategy<Value = Vec<GeneratedProperty>> {
    let property = (any_kind(), option::weighted(0.3, Just(())), any::<bool>());
    vec(property, 1..=NAMES.len()).prop_map(|properties| {
        let properties = properties.into_iter().zip(NAMES);
        let properties =
            properties.map(|((kind, required, title_part), (name, _))| GeneratedProperty {
                name,
                kind,
                required: required.is_some(),
                title_part,
                more: Map::new(),
            });
        properties.collect()
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Keep),
        1 => Just(Step::Remove),
        4 => (any_kind(), any::<bool>()).prop_map(|(kind, parse)| Step::ChangeKind(kind, parse)),
        2 => option::of(any_kind()).prop_map(Step::Rename),
        1 => any::<bool>().prop_map(Step::Require),
        1 => Just(Step::ToggleTitlePart),
    ]
}

fn changed(properties: &[GeneratedProperty], steps: &[Step]) -> Vec<GeneratedProperty> {
    let mut changed = vec![GeneratedProperty {
        name: "rest",
        kind: "string/text".to_owned(),
        required: false,
        title_part: false,
        more: Map::new(),
    }];
    for ((property, step), (_, capital)) in properties.iter().zip(steps).zip(NAMES) {
        let mut new = property.clone();
        match step {
            Step::Keep => {}
            Step::Remove => continue,
            Step::ChangeKind(kind, parse) => {
                new.kind.clone_from(kind);
                if *parse {
                    new.more.insert("convert".to_owned(), json!("parse"));
                }
            }
            Step::Rename(kind) => {
                new.name = capital;
                new.kind = kind.clone().unwrap_or(new.kind);
                new.more.insert("renamedFrom".to_owned(), json!(property.name));
            }
            Step::Require(backfill) => {
                new.required = !new.required;
                if *backfill {
                    new.more.insert("backfill".to_owned(), values(&new.kind)[0].clone());
                }
            }
            Step::ToggleTitlePart => new.title_part = !new.title_part,
        }
        changed.push(new);
    }
    changed
}

fn payload(properties: &[GeneratedProperty], draft_public: bool) -> Map<String, Value> {
    let kinds = kinds();
    let (mut schemas, mut configs) = (Map::new(), Map::new());
    for property in properties {
        let (schema, mut config) = kinds[&property.kind].clone();
        config["label"] = json!(property.name);
        config["inputType"] = json!(property.kind.split_once('/').unwrap().1);
        config["isTitlePart"] = json!(property.title_part);
        config.as_object_mut().unwrap().extend(property.more.clone());
        schemas.insert(property.name.to_owned(), schema);
        configs.insert(property.name.to_owned(), config);
    }
    let order: Vec<_> = properties.iter().map(|property| property.name).collect();
    let required =
        properties.iter().filter(|property| property.required).map(|property| property.name);
    map(json!({
        "name": "thing",
        "label": "Thing",
        "draftPublic": draft_public,
        "schemaDefinition": {
            "allOf": [
                {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
                {"type": "object", "properties": schemas},
            ],
            "required": required.collect::<Vec<_>>(),
        },
        "metaDefinition": {"order": order, "propertiesConfig": configs},
    }))
}

/// One object: indexes of its values, none for no value; whether it is published; and a later edit.
type StoredObject = (Vec<Option<usize>>, bool, Option<Vec<Option<usize>>>);

fn any_object() -> impl Strategy<Value = StoredObject> {
    let picks = || vec(option::weighted(0.8, 0..5_usize), NAMES.len());
    (picks(), any::<bool>(), option::of(picks()))
}

fn object(properties: &[GeneratedProperty], picks: &[Option<usize>]) -> Map<String, Value> {
    let properties = properties.iter().zip(picks);
    let picked = properties.filter_map(|(property, pick)| {
        let pick = if property.required { pick.or(Some(0)) } else { *pick }?;
        let values = values(&property.kind);
        Some((property.name.to_owned(), values[pick % values.len()].clone()))
    });
    picked.collect()
}

/// A data directory with the type `thing`, its objects, and two objects to link to.
fn folder(properties: &[GeneratedProperty], given: &[StoredObject], draft_public: bool) -> TestCms {
    let test = TestCms::with(|config| config.durability = Durability::Normal);
    let (types, local) = (test.cms.types(), Caller::local());
    let mut other = payload(&[], false);
    other["name"] = json!("other");
    other["schemaDefinition"]["allOf"][1]["properties"] = json!({"t": {"type": "string"}});
    let config =
        json!({"order": ["t"], "propertiesConfig": {"t": {"label": "T", "inputType": "text"}}});
    other["metaDefinition"] = config;
    types.create(&local, other).unwrap();
    types.create(&local, payload(properties, draft_public)).unwrap();
    let objects = test.cms.objects();
    for id in ["x", "y"] {
        objects.create(&local, "other", map(json!({"id": id}))).unwrap();
    }
    for (number, (picks, published, edit)) in given.iter().enumerate() {
        let id = format!("thing-{number}");
        let mut new = object(properties, picks);
        new.insert("id".to_owned(), json!(id));
        objects.create(&local, "thing", new).unwrap();
        if draft_public && *published {
            let publishing = test.cms.publishing();
            publishing.set_status(&local, "thing", &id, PublishAction::Publish, false).unwrap();
        }
        if let Some(picks) = edit {
            objects.replace(&local, "thing", &id, object(properties, picks)).unwrap();
        }
    }
    test
}

/// A current or published version.
#[derive(Clone, Debug)]
struct Version {
    /// Everything that a change of the type keeps.
    facts: Value,
    title: String,
    data: Map<String, Value>,
}

/// The current versions, and different published ones, in the order of their rows.
fn versions(test: &TestCms) -> Vec<Version> {
    let columns = "json_array(json_array(o.pk, o.id, o.version, o.updated_at, o.status), o.title, json(o.data))";
    let of_things = "WHERE o.ctd = (SELECT pk FROM ctd WHERE name = 'thing')";
    let current = format!("SELECT {columns} FROM object o {of_things} ORDER BY pk");
    let published = format!(
        "SELECT {columns} FROM published o {of_things}
         AND version <> (SELECT version FROM object WHERE object.pk = o.pk) ORDER BY pk"
    );
    let rows = rows(test, &current).into_iter().chain(rows(test, &published));
    rows.map(|row| {
        let (facts, title, data) = serde_json::from_str(&row).unwrap();
        Version { facts, title, data }
    })
    .collect()
}

/// Compares the row of a plan with the versions before and after the apply.
fn check_property(planned: &PropertyPlan, before: &[Version], after: &[Version]) {
    let source = planned.renamed_from.as_ref().unwrap_or(&planned.name);
    let mut kept = 0;
    let mut changed = Vec::new();
    for (before, after) in before.iter().zip(after) {
        let was = before.data.get(source);
        let is = after.data.get(&planned.name).filter(|_| planned.change != PropertyChange::Remove);
        if was != is {
            let value = |value: Option<&Value>| value.cloned().unwrap_or_default();
            changed.push((before.facts[1].to_string(), value(was), value(is)));
        } else if was.is_some() {
            kept += 1;
        }
    }
    assert_eq!(planned.kept, kept, "{planned:?}");
    assert_eq!(planned.converted + planned.lost, changed.len() as u64, "{planned:?}");
    assert_eq!(planned.failed, 0, "{planned:?}");
    // Kept values that are no option are samples too.
    let samples = planned.samples.iter().filter(|sample| sample.before != sample.after);
    let samples = samples.map(|s| (json!(s.id).to_string(), s.before.clone(), s.after.clone()));
    let sorted = |mut all: Vec<(String, Value, Value)>| {
        all.sort_by_key(|(id, before, after)| (id.clone(), before.to_string(), after.to_string()));
        all
    };
    assert_eq!(sorted(samples.collect()), sorted(changed), "{planned:?}");
}

/// The title of an object, for the generated values.
fn title(properties: &[GeneratedProperty], data: &Map<String, Value>) -> String {
    let title_kinds =
        ["string/text", "string/textarea", "string/email", "string/select", "string/dateTime"];
    let text = |property: &GeneratedProperty| match data.get(property.name)? {
        Value::String(text) if title_kinds.contains(&property.kind.as_str()) => Some(text.clone()),
        Value::Number(number) if property.kind.ends_with("number") => Some(number.to_string()),
        Value::Array(texts) if property.kind == "array/select" => {
            let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
            Some(texts.join(", "))
        }
        _ => None,
    };
    let parts = properties.iter().filter(|property| property.title_part).filter_map(text);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Checks data derived from the versions: titles, links, indexes, and the public view.
fn check_derived(test: &TestCms, properties: &[GeneratedProperty], versions: &[Version]) {
    let mut links = BTreeSet::new();
    for version in versions {
        assert_eq!(version.title, title(properties, &version.data), "{version:?}");
        let targets = properties.iter().filter(|property| property.kind == "array/datasource");
        let targets = targets.filter_map(|property| version.data.get(property.name)?.as_array());
        for target in targets.flatten() {
            let id = target["dataUrl"].as_str().unwrap().rsplit('/').next().unwrap();
            links.insert(format!("other {id} {}", version.facts[0]));
        }
    }
    let noted = rows(test, "SELECT target_type, target_id, object FROM link");
    assert_eq!(noted.into_iter().collect::<BTreeSet<_>>(), links);

    let visibility = Visibility { preview: true, public_only: false };
    let preview = Caller::local().with_visibility(visibility);
    let objects = test.cms.objects();
    let current =
        rows(test, "SELECT count(*) FROM object WHERE id LIKE 'thing-%'")[0].parse().unwrap();
    for version in &versions[..current] {
        let is_plain =
            |value: &Value| !value.is_object() && !value.is_array() && *value != json!("");
        for (name, value) in version.data.iter().filter(|(_, value)| is_plain(value)) {
            let filters = json!({name: {"type": "equals", "filter": value}}).to_string();
            let request = ListRequest { filters: Some(filters), ..ListRequest::default() };
            let found = objects.list(&preview, "thing", &request).unwrap().to_value();
            let mut found = found["data"].as_array().unwrap().iter();
            assert!(found.any(|object| object["id"] == version.facts[1]), "{name} {version:?}");
        }
    }
    for version in &versions[current..] {
        let id = version.facts[1].as_str().unwrap();
        let number = version.facts[2].to_string();
        let mut old = map(objects.version(&preview, "thing", id, &number).unwrap().to_value());
        old.retain(|key, _| key != "id" && key != "internal");
        assert_eq!(old, version.data);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn plan_predicts_the_conversion_of_every_value(
        properties in any_properties(),
        steps in vec(any_step(), NAMES.len()),
        given in vec(any_object(), 1..6),
        draft_public: bool,
    ) {
        let (test, local) = (folder(&properties, &given, draft_public), Caller::local());
        let types = test.cms.types();
        let new = changed(&properties, &steps);
        let request = PlanRequest {
            content_types: vec![payload(&new, draft_public)],
            ..PlanRequest::default()
        };
        let (before, stored) = (versions(&test), dump(&test));
        let plan = types.plan(&local, &request).unwrap();
        prop_assert_eq!(&dump(&test), &stored);

        let apply = ApplyRequest {
            wanted: request.clone(),
            token: Some(plan.token.clone()),
            allow_data_loss: Some(DataLossConsent::All(true)),
        };
        let applied = types.apply(&local, &apply);
        let planned = &plan.content_types[0];
        if !planned.blockers.is_empty() {
            let Err(Error::Blocked(blocked)) = applied else { panic!("{applied:?}") };
            prop_assert_eq!(&blocked, &[("thing".to_owned(), planned.blockers.clone())]);
            prop_assert!(planned.properties.iter().any(|property| property.failed > 0));
            prop_assert_eq!(&dump(&test), &stored);
            return Ok(());
        }
        prop_assert_eq!(&applied.unwrap(), &plan);

        let after = versions(&test);
        let validator = ObjectValidator::new(&payload(&new, draft_public).into());
        let mut rewritten = BTreeSet::new();
        prop_assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            prop_assert_eq!(&before.facts, &after.facts);
            if before.data != after.data || before.title != after.title {
                rewritten.insert(before.facts[0].to_string());
            }
            let errors = validator.errors(&after.data, None);
            let is_option = |messages: &[String]| messages == ["The value does not match possible options"];
            prop_assert!(errors.iter().all(|(_, messages)| is_option(messages)), "{errors:?}");
        }
        prop_assert_eq!(plan.summary.objects_rewritten, rewritten.len() as u64);
        for property in &planned.properties {
            check_property(property, &before, &after);
        }
        let described: Vec<_> = planned.properties.iter().map(|p| &p.name).collect();
        for name in before.iter().flat_map(|version| version.data.keys()) {
            let is_left = after.iter().any(|version| version.data.contains_key(name));
            let is_described = described.contains(&name)
                || planned.properties.iter().any(|p| p.renamed_from.as_ref() == Some(name));
            prop_assert!(is_left || is_described, "{name} is gone");
        }
        check_derived(&test, &new, &after);
        let again = types.plan(&local, &request).unwrap();
        prop_assert!(!again.has_changes(), "{again:?}");
    }
}
