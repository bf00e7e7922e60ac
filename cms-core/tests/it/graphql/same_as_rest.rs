//! Any selection of fields equals these fields in a hydrated list.

use cms_core::{Caller, testing::TestCms, wire::object::ListRequest};
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::{Legacy, V2, content, execute};

/// A field, its name in the REST API, and its content.
type Field = (&'static str, &'static str, Inside);

enum Inside {
    Nothing,
    Fields(&'static [Field]),
    /// Links, hydrated up to the depth.
    Objects(fn() -> &'static [Field]),
}

use Inside::{Fields, Nothing, Objects};

static INTERNAL: &[Field] = &[
    ("status", "status", Nothing),
    ("createdAt", "createdAt", Nothing),
    ("updatedAt", "updatedAt", Nothing),
    ("deletedAt", "deletedAt", Nothing),
    ("contentType", "contentType", Nothing),
    ("objectTitle", "objectTitle", Nothing),
    ("latestVersion", "latestVersion", Nothing),
    ("workflowState", "workflowState", Nothing),
    ("publishedAt", "publishedAt", Nothing),
    ("publicVersion", "publicVersion", Nothing),
];
static AUTHOR: &[Field] = &[
    ("id", "id", Nothing),
    ("name", "name", Nothing),
    ("internal", "internal", Fields(INTERNAL)),
    ("posts", "posts", Objects(|| POST)),
];
static POST: &[Field] = &[
    ("id", "id", Nothing),
    ("internal", "internal", Fields(INTERNAL)),
    ("title", "title", Nothing),
    ("rank", "rank", Nothing),
    ("hot", "hot", Nothing),
    ("words", "words", Nothing),
    ("colours", "colours", Nothing),
    ("date", "date", Nothing),
    ("place", "place", Fields(&[("lat", "lat", Nothing), ("lon", "lon", Nothing)])),
    ("author", "author", Objects(|| AUTHOR)),
    ("related", "related", Objects(|| POST)),
    (
        "parts",
        "parts",
        Fields(&[
            ("heading", "heading", Nothing),
            ("_language", "__language", Nothing),
            ("sources", "sources", Objects(|| POST)),
        ]),
    ),
    ("trim", "trim", Fields(&[("top", "top", Nothing)])),
    ("_2nd", "2nd", Nothing),
    ("_note", "_note", Nothing),
    ("_note_", "__note", Nothing),
];

/// A selected field with its selection.
struct Chosen(&'static Field, Vec<Chosen>);

/// Selects fields by generated numbers, with relations `depth` levels deep.
fn choose(
    fields: &'static [Field],
    numbers: &mut impl Iterator<Item = u8>,
    depth: u8,
) -> Vec<Chosen> {
    let mut chosen = Vec::new();
    for field in fields {
        if numbers.next().is_none_or(|number| number > 90) {
            continue;
        }
        let inside = match field.2 {
            Nothing => Vec::new(),
            Fields(inside) => choose(inside, numbers, depth),
            Objects(_) if depth == 0 => continue,
            Objects(inside) => choose(inside(), numbers, depth - 1),
        };
        if matches!(field.2, Nothing) || !inside.is_empty() {
            chosen.push(Chosen(field, inside));
        }
    }
    chosen
}

fn query(chosen: &[Chosen]) -> String {
    let field = |Chosen((name, ..), inside): &Chosen| {
        let inside =
            if inside.is_empty() { String::new() } else { format!(" {{ {} }}", query(inside)) };
        format!("{name}{inside}")
    };
    chosen.iter().map(field).collect::<Vec<_>>().join(" ")
}

/// The selected fields of an object, or of each object in a list.
fn pick(value: &Value, chosen: &[Chosen]) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| pick(item, chosen)).collect(),
        Value::Object(fields) => {
            let field = |Chosen((name, shown, _), inside): &Chosen| {
                let value = fields.get(*shown).unwrap_or(&Value::Null);
                let value = if inside.is_empty() { value.clone() } else { pick(value, inside) };
                ((*name).to_owned(), value)
            };
            Value::Object(chosen.iter().map(field).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn rest(test: &TestCms) -> Value {
    let request = ListRequest { hydrate: 2, ..ListRequest::default() };
    let list = test.cms.objects().list(&Caller::local(), "post", &request).unwrap();
    list.to_value()["data"].take()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn selections_equal_hydrated_lists(
        numbers in prop::collection::vec(any::<u8>(), 400),
    ) {
        thread_local!(static FOLDER: (TestCms, Value) = {
            let test = content::folder();
            let shown = rest(&test);
            (test, shown)
        });
        let chosen = choose(POST, &mut numbers.into_iter(), 2);
        prop_assume!(!chosen.is_empty());
        let fields = query(&chosen);
        FOLDER.with(|(test, shown)| {
            let expected = pick(shown, &chosen);
            let (_, body) = execute(&test.cms, Legacy, &format!("{{ postList {{ {fields} }} }}"));
            prop_assert_eq!(body["data"]["postList"].to_string(), expected.to_string());
            // In version 2 required fields are never null; the list is the same.
            let fields = format!("{{ post {{ edges {{ node {{ {fields} }} }} }} }}");
            let (_, body) = execute(&test.cms, V2, &fields);
            let nodes = body["data"]["post"]["edges"].as_array().unwrap();
            let nodes: Vec<&Value> = nodes.iter().map(|edge| &edge["node"]).collect();
            prop_assert_eq!(serde_json::json!(nodes).to_string(), expected.to_string());
            Ok(())
        })?;
    }
}
