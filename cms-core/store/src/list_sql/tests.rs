//! Compares SQL lists with plain code, for generated objects, conditions and orders.

use std::cmp::Ordering;

use cms_model::{
    content_type::indexed::IndexedProperties,
    dates,
    object::model::Edition,
    paging::PageRequest,
    query::{
        ListQuery,
        eval::ConditionMatcher,
        filter::{self, Operator},
        order::SortKey,
        path::{InternalField, PathRoot, PropertyPath},
    },
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Map, Value, json};

use self::support::{CTD, Stored, database, insert, list, listed, properties, run};
use super::{ListCounts, page, unique_lookup};

mod plans;
mod support;

/// Few different texts, so that conditions often match; some differ only in letter case.
const TEXTS: [&str; 24] = [
    "", "a", "A", "b", "B", "ab", "Ab", "aB", "abc", "10", "9", "010", "1e1", "-1", "true", "1",
    "0", "Ω", "ω", "Σς", "ΣΣ", "%_\\", "'\"\n", "\u{0}x",
];
const DATES: [&str; 18] = [
    "2020-01-19",
    "2020-01-20",
    "2020-01-21T00:30+23:59",
    "2020-01-24T23:30-23:59",
    "2020-01-25",
    "2020-01-2x",
    "2020-0a-22",
    "2020-01-22 \u{e9}",
    "2020-01-22",
    "2020-01-22T14:34",
    "2020-01-22T23:30:00-05:00",
    "2020-01-23T04:30:00Z",
    "2020-01-23",
    "2020",
    "soon",
    "",
    "2020-01-22t14:34",
    "2019-12-31T23:59:59.999",
];
const NUMBERS: [f64; 9] = [0.0, -0.0, 1.0, 9.0, 10.0, 10.5, -1.0, 1e18, 1e300];
const ADDRESSES: [&str; 5] = [
    "/api/v1/content/_media/a",
    "/api/v1/content/_media/A",
    "/api/v1/content/_media/a%20b",
    "/api/v1/content/_media/a b",
    "/api/v1/content/tag/a",
];
const PATHS: [&str; 35] = [
    "Title",
    "Title",
    "slug",
    "slug",
    "views",
    "views",
    "live",
    "at",
    "at",
    "body",
    "tags",
    "links",
    "geo",
    "geo.lat",
    "rows",
    "rows[*].name",
    "rows[0].name",
    "rows[*].day",
    "rows[*].links",
    "rows[*].links[*].dataUrl",
    "links[*].dataUrl",
    "tags[*]",
    "tags[1]",
    "$.Title",
    "*",
    "id",
    "id",
    "id",
    "unknown",
    "Title.deeper",
    "views[0]",
    "internal.createdAt",
    "internal.updatedAt",
    "internal.nothing",
    "workflow_state",
];

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![4 => select(&TEXTS[..]).prop_map(str::to_owned), 1 => "[a-cA-C]{0,3}"]
}

fn any_number() -> impl Strategy<Value = Value> {
    prop_oneof![
        select(&NUMBERS[..]).prop_map(Value::from),
        (-2_i64..12).prop_map(Value::from),
        select(vec![i64::MAX, i64::MAX - 1, i64::MIN, 9_007_199_254_740_993]).prop_map(Value::from),
    ]
}

fn any_link() -> impl Strategy<Value = Value> {
    select(&ADDRESSES[..]).prop_map(|address| json!({"dataUrl": address, "type": "internal"}))
}

fn any_data() -> impl Strategy<Value = Value> {
    let row = (any_text(), select(&DATES[..]), vec(any_link(), 0..2))
        .prop_map(|(name, day, links)| json!({"name": name, "day": day, "links": links}));
    (
        option::of(any_text()),
        option::of(any_text()),
        option::of(any_number()),
        option::of(any::<bool>()),
        option::of(select(&DATES[..])),
        option::of(any_text()),
        option::of(vec(any_text(), 0..3)),
        option::of(vec(any_link(), 0..3)),
        option::of(any_number()),
        option::of(vec(row, 0..3)),
    )
        .prop_map(|(title, slug, views, live, at, body, tags, links, lat, rows)| {
            let values = [
                ("Title", title.map(Value::from)),
                ("slug", slug.map(Value::from)),
                ("views", views),
                ("live", live.map(Value::from)),
                ("at", at.map(Value::from)),
                ("body", body.map(Value::from)),
                ("tags", tags.map(Value::from)),
                ("links", links.map(Value::from)),
                ("geo", lat.map(|lat| json!({"lat": lat, "lon": 1}))),
                ("rows", rows.map(Value::from)),
            ];
            let present = values.into_iter().filter_map(|(name, v)| Some((name.to_owned(), v?)));
            Value::Object(present.collect::<Map<_, _>>())
        })
}

fn any_object() -> impl Strategy<Value = Stored> {
    (
        (0_i64..3, 0_i64..3, 1_i64..3, option::of(1_i64..3), option::of(0_i64..3)),
        (select(vec!["public", "draft"]), select(vec!["saved", "public"]), any_text()),
        any_data(),
    )
        .prop_map(
            |((created, updated, version, public, published), (status, state, title), data)| {
                Stored {
                    id: String::new(),
                    created_at: 1_579_703_676 + created,
                    updated_at: 1_579_703_676 + updated,
                    version,
                    status,
                    public_version: public,
                    published_at: published.map(|seconds| 1_579_703_676 + seconds),
                    workflow_state: state,
                    title,
                    data,
                }
            },
        )
}

fn any_path() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(&PATHS[..]).prop_map(str::to_owned),
        1 => select(&InternalField::ALL[..]).prop_map(|field| format!("internal.{}", field.as_str())),
    ]
}

fn any_operand() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => any_text().prop_map(Value::from),
        3 => any_number(),
        1 => any::<bool>().prop_map(Value::from),
        2 => select(&DATES[..]).prop_map(Value::from),
        1 => select(&ADDRESSES[..]).prop_map(Value::from),
        1 => select(vec!["\"2020-01-22 14:34:37\"", "@1579703677", "2020-01-22T14:34:37+00:00",
            "2020-01-22T14:34:37.5Z", "O0", "o3"]).prop_map(Value::from),
    ]
}

/// Values that often change the result at a path.
fn operand_for(path: &str) -> BoxedStrategy<Value> {
    let dates = || select(&DATES[..]).prop_map(Value::from);
    let near = match path {
        "views" | "geo.lat" => any_number().boxed(),
        "at" | "rows[*].day" => dates().boxed(),
        "id" => select(vec!["o0", "O0", "o1", "O1", "o2", "O3"]).prop_map(Value::from).boxed(),
        "links" | "links[*].dataUrl" | "rows[*].links" | "rows[*].links[*].dataUrl" => {
            select(&ADDRESSES[..]).prop_map(Value::from).boxed()
        }
        _ if path.ends_with("At") => prop_oneof![
            (0_i64..4, select(vec!["", ".5"])).prop_map(|(second, fraction)| {
                Value::from(format!("2020-01-22 14:34:{}{fraction}", 35 + second))
            }),
            (0_i64..4).prop_map(|second| Value::from(format!("@{}", 1_579_703_675 + second))),
            (0_i64..4).prop_map(|second| {
                Value::from(format!("2020-01-22T14:34:{}+00:00", 35 + second))
            }),
        ]
        .boxed(),
        _ => any_text().prop_map(Value::from).boxed(),
    };
    prop_oneof![3 => near, 1 => any_operand()].boxed()
}

/// A condition as a client sends it.
fn any_filter() -> impl Strategy<Value = (String, Value)> {
    any_path()
        .prop_flat_map(|path| {
            let operand = operand_for(&path);
            let operands = vec(operand.clone(), 0..4);
            let operator = prop_oneof![
                1 => Just(Operator::Equals),
                4 => select(&Operator::ALL[..]),
            ];
            (Just(path), operator, operands, any::<bool>(), operand)
        })
        .prop_map(|(path, operator, operands, as_list, upper)| {
            let filter = match operands.first() {
                Some(single) if operator.is_ordered() || !as_list => single.clone(),
                None if operator.is_ordered() => Value::from("a"),
                _ => Value::from(operands),
            };
            (path, json!({"type": operator.as_str(), "filter": filter, "filter2": upper}))
        })
}

fn any_query() -> impl Strategy<Value = ListQuery> {
    (
        vec(any_filter(), 0..3),
        option::of(any_path()),
        any::<[bool; 2]>(),
        option::weighted(0.2, vec(select(vec!["o0", "O1", "o5", "O9", "x'y"]), 0..4)),
        select(Edition::ALL.to_vec()),
        prop::bool::weighted(0.2),
        (1_u32..4, 1_u32..30),
    )
        .prop_map(
            |(filters, order, [descending, empty_first], ids, edition, only_approved, page)| {
                let properties = properties();
                let filters = Value::Object(filters.into_iter().collect());
                ListQuery {
                    linked: Vec::new(),
                    conditions: filter::parse(&filters.to_string(), &properties)
                        .unwrap_or_else(|errors| panic!("{errors:?}: {filters}")),
                    order: ListQuery::order(order.as_deref(), &properties),
                    descending,
                    empty_first,
                    ids: ids.map(|ids| ids.into_iter().map(str::to_owned).collect()),
                    edition,
                    only_approved,
                    range: PageRequest { number: page.0, limit: page.1 }.into(),
                }
            },
        )
}

/// The value at the root of a path, as in responses.
fn root(object: &Stored, root: &PathRoot) -> Option<Value> {
    let date = |seconds: i64| {
        let mut text = Vec::new();
        dates::push_object_date(seconds, &mut text);
        Value::from(String::from_utf8(text).unwrap())
    };
    match root {
        PathRoot::Id => Some(Value::from(object.id.as_str())),
        PathRoot::Any { .. } => Some(object.data.clone()),
        PathRoot::Unknown | PathRoot::Incoming => None,
        PathRoot::Property(name) => object.data.get(name).cloned(),
        PathRoot::Internal(field) => Some(match field {
            InternalField::ContentType => Value::from("post"),
            InternalField::CreatedAt => date(object.created_at),
            InternalField::UpdatedAt => date(object.updated_at),
            InternalField::DeletedAt | InternalField::WorkflowPublicVersion => Value::from(""),
            InternalField::WorkflowState => Value::from(object.workflow_state),
            InternalField::ObjectTitle => Value::from(object.title.as_str()),
            InternalField::LatestVersion => Value::from(object.version),
            InternalField::WorkflowPublishedAt => Value::from(-1),
            InternalField::Status => Value::from(object.status),
            InternalField::PublicVersion => Value::from(object.public_version.unwrap_or(-1)),
            InternalField::PublishedAt => object.published_at.map_or(Value::from(""), date),
            InternalField::ScheduledAt | InternalField::ScheduledAtTimeZone => Value::Null,
        }),
    }
}

/// The expected list: ids of the page in order, and the total.
fn expected(objects: &[Stored], query: &ListQuery) -> (Vec<String>, usize) {
    let matchers: Vec<(PathRoot, ConditionMatcher)> = query
        .conditions
        .iter()
        .map(|condition| (condition.path.root.clone(), ConditionMatcher::new(condition)))
        .collect();
    let key =
        |object: &Stored, path: &PropertyPath| SortKey::at(path, root(object, &path.root).as_ref());
    let mut found: Vec<(usize, &Stored)> = objects
        .iter()
        .enumerate()
        .filter(|(_, object)| {
            query
                .ids
                .as_ref()
                .is_none_or(|ids| ids.iter().any(|id| id.eq_ignore_ascii_case(&object.id)))
                && (query.edition == Edition::Current || object.status == "public")
                && (!query.only_approved || object.workflow_state == "public")
                && matchers.iter().all(|(at, m)| m.matches(root(object, at).as_ref()))
        })
        .collect();
    found.sort_by(|(pk_a, a), (pk_b, b)| {
        let by_key = match (key(a, &query.order), key(b, &query.order)) {
            (Some(a), Some(b)) if query.descending => b.cmp(&a),
            (Some(a), Some(b)) => a.cmp(&b),
            (None, None) => Ordering::Equal,
            (a, b) if query.empty_first => a.is_some().cmp(&b.is_some()),
            (a, b) => a.is_none().cmp(&b.is_none()),
        };
        by_key.then(a.created_at.cmp(&b.created_at)).then(pk_a.cmp(pk_b))
    });
    let offset = usize::try_from(query.range.offset).unwrap();
    let limit = usize::try_from(query.range.limit).unwrap();
    let page = found.iter().skip(offset).take(limit).map(|(_, object)| object.id.clone());
    (page.collect(), found.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sql_agrees_with_plain_code(
        mut objects in vec(any_object(), 0..40),
        queries in vec(any_query(), 12),
    ) {
        let properties = properties();
        let connection = database(&properties);
        for (number, object) in objects.iter_mut().enumerate() {
            object.id = format!("{}{number}", if number % 2 == 0 { "o" } else { "O" });
            insert(&connection, &properties, object);
        }
        for query in &queries {
            let (expected_ids, expected_total) = expected(&objects, query);
            // Every access path returns the same page.
            for matching in [0, 1_000_000] {
                let counts = ListCounts { matching, total: 1_000_000 };
                let (ids, total) = list(&connection, query, counts, &properties);
                prop_assert_eq!(&ids, &expected_ids, "{:?}", query);
                prop_assert_eq!(usize::try_from(total).unwrap(), expected_total, "{:?}", query);
            }
        }
    }
}

#[test]
fn unique_values_conflict_when_equal() {
    let mut properties = properties();
    for property in &mut properties {
        property.unique = true;
    }
    let connection = database(&properties);
    let stored = json!({"slug": "Ab", "views": 5, "tags": ["x", "y"], "geo": {"lat": 1, "lon": 2}});
    insert(
        &connection,
        &properties,
        &Stored { id: "a".to_owned(), data: stored, ..Stored::default() },
    );
    let pk = connection
        .query_row("SELECT pk FROM object WHERE ctd = ?1", [CTD], |row| row.get::<_, i64>(0))
        .unwrap();
    let slots = IndexedProperties::without_combinations(&properties);
    let clashes = |property, value: &Value, except| {
        let slot = slots.find(property).unwrap_or_else(|| panic!("{property} has no slot"));
        Edition::ALL.map(|edition| {
            unique_lookup(edition, CTD, slot, value, except).is_some_and(|lookup| {
                !run(&connection, &lookup, |row| row.get::<_, i64>(0)).is_empty()
            })
        })
    };
    let table = [
        ("slug", json!("Ab"), true),
        ("slug", json!("ab"), false),
        ("slug", json!("Ab "), false),
        ("slug", json!(""), false),
        ("slug", json!(null), false),
        ("views", json!(5), true),
        ("views", json!(5.0), true),
        ("views", json!(5.5), false),
        ("views", json!("5"), false),
        ("tags", json!(["x", "y"]), true),
        ("tags", json!(["y", "x"]), false),
        ("tags", json!(["X", "y"]), false),
        ("tags", json!([]), false),
        ("geo", json!({"lon": 2, "lat": 1}), true),
        ("geo", json!({"lon": 1, "lat": 2}), false),
    ];
    for (property, value, expected) in table {
        assert_eq!(clashes(property, &value, None), [expected; 2], "{property} {value}");
        let itself = clashes(property, &value, Some(pk));
        assert_eq!(itself, [false; 2], "{property} {value}: the object itself");
    }
}

#[test]
fn client_values_are_never_part_of_the_sql() {
    let properties = properties();
    let connection = database(&properties);
    let hostile = "x'\"; DROP TABLE object; --";
    for operator in Operator::ALL {
        let filters = PATHS.iter().map(|path| (*path).to_owned()).chain([
            hostile.to_owned(),
            format!("rows[*].{hostile}"),
            format!("internal.{hostile}"),
        ]);
        for path in filters {
            let condition =
                json!({"type": operator.as_str(), "filter": hostile, "filter2": hostile});
            let query = ListQuery {
                conditions: filter::parse(&json!({&path: condition}).to_string(), &properties)
                    .unwrap(),
                order: ListQuery::order(Some(&path), &properties),
                ids: Some(vec![hostile.to_owned()]),
                ..ListQuery::default()
            };
            let counts = ListCounts { matching: 1, total: 1 };
            let page = page(&query, listed(&properties), counts, "id").statement;
            assert!(!page.sql.contains("DROP"), "{}", page.sql);
            assert_eq!(list(&connection, &query, counts, &properties), (Vec::new(), 0));
        }
    }
}
