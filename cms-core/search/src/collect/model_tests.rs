//! Compares searches with a model in plain code over plain values, for any division into segments.

use std::{cmp::Ordering, collections::BTreeMap, ops::Bound};

use cms_model::{
    query::value::Number,
    search::{
        geo,
        query::{
            self, Circle, Facet, FieldCondition, HitOrder, Point, ScalarValue, Search, SearchQuery,
            SortBy,
        },
    },
};
use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};

use super::{
    Page, SearchScope,
    tests::{Corpus, Item, all_of, any_of, by, everything, field, item, pks, then, word},
};

fn numbers() -> impl Strategy<Value = Value> {
    select(vec![
        json!(-1),
        json!(0),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(2),
        json!(-0.5),
        json!(10),
    ])
}

fn texts() -> impl Strategy<Value = Value> {
    let short = select(vec!["", "a", "A", "b", "ab", "B", "aa", "é", "1"]).prop_map(str::to_owned);
    // Around the length beyond which only the prefix of a text is compared.
    let long = ("[aA]", 509..514_usize, "[abB]?[é1]?");
    let long = long.prop_map(|(letter, count, end)| letter.repeat(count) + &end);
    prop_oneof![8 => short, 1 => long].prop_map(Value::from)
}

/// The comparison key of a text.
fn folded(text: &str) -> String {
    let mut folded = text.to_lowercase();
    while folded.len() > 512 {
        folded.pop();
    }
    folded
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![numbers(), texts(), any::<bool>().prop_map(Value::from), Just(Value::Null)]
}

fn points() -> impl Strategy<Value = Value> {
    (-3..3, -3..3).prop_map(|(lat, lon)| json!({"lat": lat, "lon": lon}))
}

fn objects() -> impl Strategy<Value = Vec<Item>> {
    let object = (
        numbers(),
        texts(),
        values(),
        prop::collection::vec(values(), 0..4),
        prop::option::of(points()),
        0..3_i64,
    );
    prop::collection::vec(object, 1..25).prop_map(|objects| {
        let objects = (1..).zip(objects);
        let items = objects.map(|(pk, (number, text, mixed, list, place, created))| {
            let data = json!({"number": number, "text": text, "mixed": mixed, "list": list, "place": place});
            Item { created, ..item(pk, data) }
        });
        items.collect()
    })
}

fn paths() -> impl Strategy<Value = &'static str> {
    select(vec!["number", "text", "mixed", "list", "place.lat", "nothing"])
}

fn bounds() -> impl Strategy<Value = Bound<query::Value>> {
    let value = prop_oneof![numbers(), texts()].prop_map(|value| match value {
        Value::String(text) => {
            let number = Number::parse(&text).map(scalar);
            query::Value { number, text: text.to_lowercase() }
        }
        value => query::Value {
            text: value.to_string(),
            number: Number::of_json(value.as_number().unwrap()).map(scalar),
        },
    });
    prop_oneof![
        value.clone().prop_map(Bound::Included),
        value.prop_map(Bound::Excluded),
        Just(Bound::Unbounded),
    ]
}

fn scalar(number: Number) -> ScalarValue {
    match number {
        Number::Integer(integer) => ScalarValue::Integer(integer),
        Number::Real(real) => ScalarValue::Number(real),
    }
}

fn filters() -> impl Strategy<Value = SearchQuery> {
    let test = prop_oneof![
        (bounds(), bounds()).prop_map(|(from, to)| FieldCondition::Range { from, to }),
        numbers().prop_map(|value| {
            FieldCondition::Equals(scalar(Number::of_json(value.as_number().unwrap()).unwrap()))
        }),
        any::<bool>().prop_map(|value| FieldCondition::Equals(ScalarValue::Bool(value))),
        Just(FieldCondition::Exists),
    ];
    let leaf = (paths(), test).prop_map(|(path, test)| field(path, test)).boxed();
    prop_oneof![
        2 => Just(SearchQuery::All),
        4 => leaf.clone(),
        1 => (leaf.clone(), leaf.clone()).prop_map(|(a, b)| any_of(vec![a, b])),
        1 => (leaf.clone(), leaf.clone()).prop_map(|(a, b)| all_of(vec![a, b])),
        1 => leaf.prop_map(|a| SearchQuery::Boolean { must: vec![], should: vec![], must_not: vec![a] }),
    ]
}

fn searches() -> impl Strategy<Value = Search> {
    let circle = (-3..3_i32, 0.0..400_000.0_f64).prop_map(|(lat, meters)| Circle {
        path: "place".to_owned(),
        center: Point { lat: lat.into(), lon: 0.25 },
        meters,
    });
    let by = prop_oneof![
        4 => paths().prop_map(by),
        2 => paths().prop_map(|path| SortBy::Path { path: path.to_owned(), as_text: true }),
        1 => Just(SortBy::Distance),
    ];
    let order = (by, any::<bool>(), any::<bool>()).prop_map(|(by, d, m)| then(by, d, m));
    let facets = prop::collection::vec((paths(), any::<bool>()), 0..3);
    let circles = prop::collection::vec(circle, 0..2);
    (filters(), filters(), circles, order, facets).prop_map(
        |(filter, post_filter, circles, order, facets)| {
            let facet = |(path, numeric): (&str, bool)| Facet {
                field: path.to_owned(),
                path: path.to_owned(),
                numeric,
            };
            let facets = facets.into_iter().map(facet).collect();
            Search { filter, post_filter, circles, order, facets, ..everything() }
        },
    )
}

/// The values of an object at a path.
fn leaves(data: &Value, path: &str) -> Vec<Value> {
    let value = path.split('.').try_fold(data, |data, name| data.get(name));
    match value {
        None | Some(Value::Null | Value::Object(_)) => Vec::new(),
        Some(Value::Array(items)) => items.iter().filter(|it| !it.is_null()).cloned().collect(),
        Some(value) => vec![value.clone()],
    }
}

fn number(value: &Value) -> Option<Number> {
    value.as_number().and_then(Number::of_json)
}

fn number_of(scalar: ScalarValue) -> Option<Number> {
    match scalar {
        ScalarValue::Integer(integer) => Some(Number::Integer(integer)),
        ScalarValue::Number(real) => Some(Number::Real(real)),
        ScalarValue::Bool(_) => None,
    }
}

fn matches(query: &SearchQuery, data: &Value) -> bool {
    match query {
        SearchQuery::Boolean { must, should, must_not } => {
            must.iter().all(|query| matches(query, data))
                && (should.is_empty() || should.iter().any(|query| matches(query, data)))
                && !must_not.iter().any(|query| matches(query, data))
        }
        SearchQuery::Field { path: Some(path), condition: test } => {
            leaves(data, path).iter().any(|value| holds(test, value))
        }
        _ => true,
    }
}

fn holds(test: &FieldCondition, value: &Value) -> bool {
    match test {
        FieldCondition::Equals(ScalarValue::Bool(expected)) => value.as_bool() == Some(*expected),
        FieldCondition::Equals(expected) => {
            number(value).is_some() && number(value) == number_of(*expected)
        }
        FieldCondition::Range { from: Bound::Unbounded, to: Bound::Unbounded } => true,
        FieldCondition::Range { from, to } => {
            let within = |side: &dyn Fn(&query::Value) -> Option<Ordering>| {
                let from = match from {
                    Bound::Included(bound) => side(bound).is_some_and(Ordering::is_ge),
                    Bound::Excluded(bound) => side(bound).is_some_and(Ordering::is_gt),
                    Bound::Unbounded => true,
                };
                from && match to {
                    Bound::Included(bound) => side(bound).is_some_and(Ordering::is_le),
                    Bound::Excluded(bound) => side(bound).is_some_and(Ordering::is_lt),
                    Bound::Unbounded => true,
                }
            };
            match (number(value), value.as_str()) {
                (Some(value), _) => within(&|bound| Some(value.cmp(&number_of(bound.number?)?))),
                (_, Some(text)) => within(&|bound| Some(folded(text).cmp(&bound.text))),
                _ => false,
            }
        }
        _ => true,
    }
}

fn place(data: &Value) -> Option<Point> {
    let place = data.get("place")?;
    Some(Point { lat: place.get("lat")?.as_f64()?, lon: place.get("lon")?.as_f64()? })
}

/// A sort value: its kind, then the value.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Key {
    Number(Number),
    Boolean(bool),
    Text(String),
}

fn text_key(text: &str) -> Key {
    Key::Text(folded(text))
}

fn key(search: &Search, data: &Value) -> Option<Key> {
    let HitOrder::Score { then: Some(then) } = &search.order else { return None };
    match &then.by {
        SortBy::Distance => {
            let center = search.circles.first()?.center;
            // With the precision of the index.
            let point = geo::unpack(geo::pack(place(data)?));
            Some(Key::Number(Number::Real(geo::distance(point, center))))
        }
        SortBy::Path { path, as_text } => {
            let values = leaves(data, path);
            let number = values.iter().find_map(|value| number(value).map(|n| (n, value)));
            let boolean = values.iter().find_map(Value::as_bool);
            let text = values.iter().find_map(Value::as_str);
            match (number, boolean, text) {
                (Some((number, value)), ..) if *as_text => Some(text_key(&match number {
                    Number::Real(real) if real.fract() == 0.0 => format!("{real:.0}"),
                    _ => value.to_string(),
                })),
                (Some((number, _)), ..) => Some(Key::Number(number)),
                (_, Some(boolean), _) if *as_text => Some(text_key(&boolean.to_string())),
                (_, Some(boolean), _) => Some(Key::Boolean(boolean)),
                (_, _, Some(text)) if !text.is_empty() => Some(text_key(text)),
                _ => None,
            }
        }
    }
}

fn compare(search: &Search, a: &Item, b: &Item) -> Ordering {
    let HitOrder::Score { then: Some(then) } = &search.order else { return Ordering::Equal };
    let by_key = match (key(search, &a.data), key(search, &b.data)) {
        (Some(a), Some(b)) => {
            let order = a.partial_cmp(&b).unwrap();
            if then.descending { order.reverse() } else { order }
        }
        (Some(_), None) if then.missing_first => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) if then.missing_first => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    by_key.then(a.created.cmp(&b.created)).then(a.pk.cmp(&b.pk))
}

/// Keys with counts, in bucket order.
fn buckets(facet: &Facet, items: &[&Item]) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for item in items {
        let mut seen: Vec<String> = leaves(&item.data, &facet.path)
            .iter()
            .filter_map(|value| match (facet.numeric, number(value), value.as_str()) {
                (true, Some(Number::Real(real)), _) if real.fract() == 0.0 => {
                    Some(format!("{real:.0}"))
                }
                (true, Some(_), _) => Some(value.to_string()),
                (false, _, Some(text)) if text.len() <= 512 => Some(text.to_owned()),
                _ => None,
            })
            .collect();
        seen.sort();
        seen.dedup();
        for key in seen {
            *counts.entry(key).or_default() += 1;
        }
    }
    let mut buckets: Vec<(String, u64)> = counts.into_iter().collect();
    let value = |key: &str| key.parse::<f64>().unwrap();
    buckets.sort_by(|a, b| {
        b.1.cmp(&a.1).then_with(|| {
            if facet.numeric { value(&a.0).total_cmp(&value(&b.0)) } else { a.0.cmp(&b.0) }
        })
    });
    buckets
}

/// Several segments, with deleted documents between the others.
fn scattered(items: &[Item]) -> Corpus {
    let doomed: Vec<Item> =
        (1..).zip(items).map(|(n, it)| Item { pk: 1000 + n, ..it.clone() }).collect();
    let (a, b) = items.split_at(items.len() / 3);
    let (b, c) = b.split_at(b.len() / 2);
    let first: Vec<Item> = a.iter().chain(&doomed).cloned().collect();
    let segments: Vec<&[Item]> =
        [first.as_slice(), c, b].into_iter().filter(|items| !items.is_empty()).collect();
    let deleted: Vec<i64> = doomed.iter().map(|item| item.pk).collect();
    Corpus::new(&segments, &deleted)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn searches_agree_with_plain_code(
        items in objects(),
        searches in prop::collection::vec(searches(), 12),
    ) {
        for corpus in [Corpus::new(&[&items], &[]), scattered(&items)] {
            for search in &searches {
                let is_near = |data: &Value, circle: &Circle| place(data).is_some_and(|point| {
                    geo::distance(geo::unpack(geo::pack(point)), circle.center) <= circle.meters
                });
                let counted: Vec<&Item> = items
                    .iter()
                    .filter(|item| matches(&search.filter, &item.data))
                    .filter(|item| search.circles.iter().all(|it| is_near(&item.data, it)))
                    .collect();
                let mut hits: Vec<&Item> = counted
                    .iter()
                    .filter(|item| matches(&search.post_filter, &item.data))
                    .copied()
                    .collect();
                hits.sort_by(|a, b| compare(search, a, b));
                let expected: Vec<i64> = hits.iter().map(|item| item.pk).collect();

                let found = corpus.run(search, &SearchScope::default());
                prop_assert_eq!(found.total, expected.len() as u64, "{:?}", search);
                prop_assert_eq!(pks(&found), expected, "{:?}", search);
                let page = corpus.page(search, &SearchScope::default(), Page { offset: 1, limit: 2 }, 0);
                let paged: Vec<i64> = pks(&found).into_iter().skip(1).take(2).collect();
                prop_assert_eq!(pks(&page), paged);
                for (facet, aggregation) in search.facets.iter().zip(&found.aggregations) {
                    let shown = |key: &Value| key.as_str().map_or(key.to_string(), str::to_owned);
                    let actual: Vec<(String, u64)> = aggregation
                        .buckets
                        .iter()
                        .map(|bucket| (shown(&bucket.key), bucket.doc_count))
                        .collect();
                    prop_assert_eq!(actual, buckets(facet, &counted), "{:?}", facet);
                }
            }
        }
    }

    /// Skipping hits changes nothing except the last digits of score sums.
    #[test]
    fn skipping_returns_the_same_hits(
        texts in prop::collection::vec("[abc]( [abcd]){0,6}", 300..400),
        words in prop::collection::vec("[abcd]", 1..4),
        needs_all in any::<bool>(),
        descending in any::<bool>(),
        decay_old in any::<bool>(),
        boost in 0.1..3.0_f32,
        limit in 1..30_usize,
        types in 1..=3_i64,
        deletes in any::<bool>(),
    ) {
        let items: Vec<Item> = (1..)
            .zip(&texts)
            .map(|(pk, text)| {
                let mut item = item(pk, json!({"text": text, "n": pk % 5}));
                item.flags.ctd = pk % types + 1;
                item.created = -100_000 * (pk % 50);
                item.flags.approved = pk % 7 != 0;
                item
            })
            .collect();
        let corpus = Corpus::new(&[&items[..200], &items[200..]], if deletes { &[3, 50, 250] } else { &[] });
        let number_of_words = words.len();
        let words = words.iter().map(|it| word(it)).collect();
        let search = Search {
            query: if needs_all { all_of(words) } else { any_of(words) },
            order: then(by("n"), descending, false),
            decay_old,
            ..everything()
        };
        let scope = SearchScope { approved_only: vec![2], boosts: vec![(1, boost)], ..SearchScope::default() };
        let page = Page { offset: 0, limit };
        let skipping = corpus.page(&search, &scope, page, 0);
        let thorough = corpus.page(&search, &scope, page, u32::MAX);
        prop_assert_eq!(skipping.total, thorough.total);
        if number_of_words == 1 {
            prop_assert_eq!(&skipping, &thorough);
        }
        let all = corpus.page(&search, &scope, Page { offset: 0, limit: items.len() }, u32::MAX);
        prop_assert_eq!(&thorough.hits, &all.hits[..thorough.hits.len()]);
        let scores: BTreeMap<i64, f32> = all.hits.iter().map(|hit| (hit.pk, hit.score)).collect();
        prop_assert_eq!(skipping.hits.len(), thorough.hits.len());
        for (skipping, thorough) in skipping.hits.iter().zip(&thorough.hits) {
            prop_assert!((skipping.score - thorough.score).abs() < 1e-5);
            prop_assert!((skipping.score - scores[&skipping.pk]).abs() < 1e-5);
        }
    }
}
