use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::{
    content_type::model::{InputType, Relation, SchemaType},
    object::{
        link,
        model::{Internal, Schedule, Status},
    },
};

fn properties() -> Vec<Property> {
    let plain = Property::plain;
    let relation = |name: &str| Property {
        relation: Some(Relation { target: None, multiple: true }),
        ..plain(name, SchemaType::Array, InputType::Datasource)
    };
    let parts = Property {
        nested: vec![plain("a", SchemaType::String, InputType::Text), relation("links")],
        ..plain("parts", SchemaType::Array, InputType::Object)
    };
    vec![
        plain("a", SchemaType::String, InputType::Text),
        plain("b", SchemaType::Object, InputType::Custom),
        plain("place", SchemaType::Object, InputType::Geo),
        relation("links"),
        parts,
    ]
}

fn stored(data: &str) -> StoredObject<'_> {
    StoredObject {
        pk: 1,
        id: "the \"id\"".into(),
        internal: Internal {
            created_at: 0,
            updated_at: 1,
            deleted_at: None,
            version: 2,
            version_at: 1,
            status: Status::Modified,
            public_version: Some(1),
            published_at: Some(1),
            workflow_state: "saved".into(),
            workflow_public_version: None,
            workflow_published_at: None,
            owner: None,
            editor: None,
            title: "A \"title\"".into(),
            schedule: Some(Schedule { at: 9, zone: Cow::Borrowed("UTC") }),
        },
        data: data.into(),
    }
}

fn read(paths: &[String]) -> Option<Projection> {
    let catalog = Catalog::default();
    let scope = PathScope { catalog: &catalog, caller: &Caller::local(), hydrate: 1 };
    Projection::read("fields", paths, |names| scope.declares(&properties(), names)).unwrap()
}

/// The projected text, and what it refers to.
fn projected(paths: &[String], object: &StoredObject<'_>) -> (String, References) {
    let mut out = Vec::new();
    let references = if let Some(projection) = read(paths) {
        let content_type = ("page", &properties()[..]);
        projection.object(0, &mut out, content_type, object, true)
    } else {
        render::object(&mut out, "page", object);
        References::default()
    };
    (String::from_utf8(out).unwrap(), references)
}

/// The rules on parsed values: what paths select of the value of a property.
fn select(value: &Value, property: Option<&Property>, paths: &[&[String]]) -> Option<Value> {
    let is_relation = property.is_some_and(|property| property.relation.is_some());
    if is_relation || paths.iter().any(|path| path.is_empty()) {
        return Some(value.clone());
    }
    match value {
        Value::Array(elements) => {
            let selected = elements.iter().filter_map(|element| select(element, property, paths));
            Some(selected.collect())
        }
        Value::Object(object) => {
            let nested = property.map_or(&[][..], |property| &property.nested);
            Some(Value::Object(select_members(object, nested, paths)))
        }
        _ => None,
    }
}

fn select_members(
    object: &Map<String, Value>,
    properties: &[Property],
    paths: &[&[String]],
) -> Map<String, Value> {
    let member = |(name, value): (&String, &Value)| {
        let below: Vec<&[String]> =
            paths.iter().filter(|path| path[0] == *name).map(|path| &path[1..]).collect();
        let property = properties.iter().find(|property| property.name == *name);
        let selected = if below.is_empty() { None } else { select(value, property, &below) };
        selected.map(|value| (name.clone(), value))
    };
    object.iter().filter_map(member).collect()
}

/// Parses the complete object, selects, and prints.
fn reference(paths: &[String], object: &StoredObject<'_>) -> String {
    let mut complete = Vec::new();
    render::object(&mut complete, "page", object);
    let complete: Map<String, Value> = serde_json::from_slice(&complete).unwrap();
    if paths.iter().any(|path| path == "*") || paths.is_empty() {
        return Value::Object(complete).to_string();
    }
    let catalog = Catalog::default();
    let scope = PathScope { catalog: &catalog, caller: &Caller::local(), hydrate: 1 };
    let mut paths: Vec<Vec<String>> = paths.iter().filter_map(|path| names(path)).collect();
    paths.retain(|path| scope.declares(&properties(), path));
    for path in &mut paths {
        // `*` selects the complete value.
        path.truncate(path.iter().position(|name| name == "*").unwrap_or(path.len()));
    }
    paths.push(vec!["id".to_owned()]);
    let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
    Value::Object(select_members(&complete, &properties(), &paths)).to_string()
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        "[\"\\\\,:{}\\[\\]a-cé\n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[ab]|links|id|internal|\"", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_links() -> impl Strategy<Value = Value> {
    let link = prop_oneof![
        "[a-z]{1,3}".prop_map(|id| link::to("page", &id)),
        Just(json!({ "type": "external", "dataUrl": "https://example.com/" })),
    ];
    prop::collection::vec(link, 0..3).prop_map(Value::from)
}

prop_compose! {
    fn any_object()(
        a in any_value(), b in any_value(), parts in any_value(), links in any_links(),
        inner in any_links(), order in any::<bool>(),
    ) -> Value {
        let place = json!({ "lat": 1.5, "lon": 2 });
        let parts = json!([{ "a": a, "links": inner, "x": 1 }, parts]);
        if order {
            json!({ "a": a, "b": b, "place": place, "links": links, "parts": parts })
        } else {
            json!({ "parts": parts, "links": links, "b": b, "place": place, "a": a })
        }
    }
}

fn any_path() -> impl Strategy<Value = String> {
    let name = "a|b|place|links|parts|id|internal|nope|lat|lon|\\*|\"";
    let step = prop_oneof![
        name.prop_map(|name| name),
        "(a|b|parts|links)(\\[\\*\\]|\\[0\\]){1,2}",
        "createdAt|scheduledAt|objectTitle"
    ];
    (any::<bool>(), prop::collection::vec(step, 0..4)).prop_map(|(is_rooted, steps)| {
        let root = if is_rooted { "$." } else { "" };
        format!("{root}{}", steps.join("."))
    })
}

proptest! {
    #[test]
    fn projection_equals_selection_from_a_parsed_object(
        object in any_object(),
        paths in prop::collection::vec(any_path(), 1..5),
    ) {
        let paths: Vec<String> = paths.iter().map(|path| path.replace("$.*", "*")).collect();
        let text = object.to_string();
        let stored = stored(&text);
        let (projected, References { links, .. }) = projected(&paths, &stored);
        prop_assert_eq!(&projected, &reference(&paths, &stored), "{:?}", paths);
        for (link, _) in links {
            let span = &projected[link.span.clone()];
            prop_assert_eq!(
                scan::internal_link(span),
                Some((link.content_type, link.id)),
                "{}", span
            );
        }
    }
}

fn paths(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|&path| path.to_owned()).collect()
}

#[test]
fn parts_have_id_and_selected_members() {
    let links = json!([link::to("page", "one")]);
    let data = json!({
        "a": "A", "b": {"x": {"y": 1, "z": [2]}}, "place": {"lat": 1, "lon": 2}, "links": links,
        "parts": [{"a": "P", "links": links}, {"links": []}, {"c": 1}],
    });
    let all = json!({
        "createdAt": "1970-01-01T00:00:00+00:00", "updatedAt": "1970-01-01T00:00:01+00:00",
    });
    let created = json!({ "createdAt": all["createdAt"] });
    let cases = [
        (&["id"][..], json!({})),
        (&["nope", "internal.nope", "place.alt", "parts.nope", "a..b", "[0]"], json!({})),
        (&["a"], json!({ "a": "A" })),
        (&["$.a", "a[*]"], json!({ "a": "A" })),
        // A text has no members.
        (&["a.x"], json!({})),
        (&["place"], json!({ "place": data["place"] })),
        (&["place.lat", "a"], json!({ "a": "A", "place": { "lat": 1 } })),
        (&["place.lat", "place"], json!({ "place": data["place"] })),
        (&["b.x.z"], json!({ "b": { "x": { "z": [2] } } })),
        (&["b.y"], json!({ "b": {} })),
        (&["parts[*].a"], json!({ "parts": [{ "a": "P" }, {}, {}] })),
        (&["parts[1].a"], json!({ "parts": [{ "a": "P" }, {}, {}] })),
        (&["parts.links"], json!({ "parts": [{ "links": links }, { "links": [] }, {}] })),
        // A link that is not replaced with its object is complete.
        (&["links.internal.objectTitle"], json!({ "links": links })),
        (&["links[*].dataUrl"], json!({ "links": links })),
        (&["internal.createdAt"], json!({ "internal": created })),
        (&["internal.createdAt.x"], json!({ "internal": {} })),
        (&["internal.updatedAt", "internal.createdAt"], json!({ "internal": all })),
    ];
    for (named, expected) in cases {
        let text = data.to_string();
        let (projected, _) = projected(&paths(named), &stored(&text));
        let mut projected: Map<String, Value> = serde_json::from_str(&projected).unwrap();
        assert_eq!(projected.shift_remove("id"), Some(json!("the \"id\"")));
        assert_eq!(Value::Object(projected), expected, "{named:?}");
    }
    assert!(read(&paths(&["a", "*"])).is_none());
    assert!(read(&[]).is_none());
}

#[test]
fn parts_need_the_columns_of_their_properties() {
    use Columns::{All, IndexedProperties as Indexed, WithoutProperties};
    let indexed = IndexedProperties::without_combinations(&properties());
    let columns = |named: &[&str]| {
        let projection = read(&paths(named)).unwrap();
        projection.columns(projection.root(), &indexed)
    };
    assert_eq!(columns(&["id", "internal", "internal.createdAt", "nope"]), WithoutProperties);
    assert_eq!(columns(&["id", "a"]), Indexed);
    assert_eq!(columns(&["a", "place.lat"]), All);
    let projection = read(&paths(&["links.internal.objectTitle", "parts.links"])).unwrap();
    let mut out = Vec::new();
    let linked = json!([link::to("page", "one")]);
    let data = json!({ "links": linked, "parts": [{ "links": linked }] }).to_string();
    let content_type = ("page", &properties()[..]);
    let References { links, .. } =
        projection.object(0, &mut out, content_type, &stored(&data), true);
    let [(_, first), (_, second)] = links[..] else { panic!("{links:?}") };
    let parts = [first, second];
    assert!(matches!(parts, [Part::Node(_), Part::Complete]), "{parts:?}");
    let columns = parts.map(|part| projection.columns(part, &indexed));
    assert_eq!(columns, [WithoutProperties, All]);
}

#[test]
fn unknown_paths_are_those_that_no_type_declares() {
    let named = paths(&[
        "a",
        "titel",
        "a.x",
        "place.lat",
        "place.alt",
        "parts[*].a",
        "parts.b",
        "b.any.thing",
        "links.any.thing",
        "internal",
        "internal.createdAt",
        "internal.created_at",
        "id",
        "*",
        "",
        "*.a",
        "a[",
    ]);
    let catalog = Catalog::default();
    let scope = PathScope { catalog: &catalog, caller: &Caller::local(), hydrate: 2 };
    let unknown = unknown_paths(&named, |names| scope.declares(&properties(), names));
    let expected = ["titel", "place.alt", "parts.b", "internal.created_at", "", "*.a", "a["];
    assert_eq!(unknown, expected);
}

#[test]
fn number_of_paths_is_limited() {
    let many = |count: usize| Projection::read("fields", &vec!["a".to_owned(); count], |_| true);
    assert!(many(100).is_ok());
    let Err(Error::Invalid(errors)) = many(101) else { panic!("accepted") };
    assert_eq!(errors.at("fields"), ["Too many fields, limit: 100"]);
}

#[test]
fn internal_of_a_part_has_the_members_of_the_complete_object() {
    let stored = stored("{}");
    let named: Vec<String> =
        InternalField::ALL.iter().map(|field| format!("internal.{}", field.as_str())).collect();
    let mut complete = Vec::new();
    render::object(&mut complete, "page", &stored);
    assert_eq!(projected(&named, &stored).0.as_bytes(), complete);
    assert_eq!(projected(&paths(&["internal"]), &stored).0.as_bytes(), complete);
}

/// Authors are inserted into the text at their positions.
#[test]
fn authors_are_returned_only_where_a_path_names_them() {
    let stored = stored(r#"{"a":1,"place":{"lat":1,"lon":2}}"#);
    let mut complete = Vec::new();
    render::object(&mut complete, "page", &stored);
    let complete: Value = serde_json::from_slice(&complete).unwrap();
    let with = |fields: &[&str], base: &Value| {
        let mut base = base.clone();
        for field in fields {
            base["internal"][*field] = json!("X");
        }
        base
    };
    let id = json!({ "id": complete["id"] });
    let internal = json!({ "id": complete["id"], "internal": complete["internal"] });
    let cases = [
        (&["internal.createdBy"][..], with(&["createdBy"], &id)),
        (&["internal.updatedBy", "internal.createdBy"], with(&["createdBy", "updatedBy"], &id)),
        (&["internal", "internal.updatedBy"], with(&["updatedBy"], &internal)),
        (&["*", "internal.updatedBy", "place.lat"], with(&["updatedBy"], &complete)),
    ];
    for (named, expected) in cases {
        let (mut text, references) = projected(&paths(named), &stored);
        for (at, _) in references.authors.iter().rev() {
            text.insert_str(*at, "\"X\"");
        }
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value, expected, "{named:?}");
    }
    let (_, references) = projected(&paths(&["internal", "a"]), &stored);
    assert_eq!(references.authors, []);
}
