//! Matches and their order: tables over a few documents.

use std::ops::Bound;

use cms_model::{
    content_type::model::{InputType, Property, SchemaType},
    object::model::{Internal, Status, StoredObject},
    query::value::TWO_TO_63,
    search::query::{
        self, Circle, Facet, FieldCondition, HitOrder, PatternToken, Point, PropertyOrder,
        ScalarValue, Search, SearchQuery, SortBy, WeightedField, WildcardPattern,
    },
};
use serde_json::{Value, json};
use tantivy::{Index, Searcher, Term, merge_policy::NoMergePolicy};

use super::{MIN_MATCHES_FOR_SKIPPING, Page, SearchResults, SearchRun, SearchScope, run};
use crate::{
    document::document,
    schema::{self, Fields, Flags},
};

/// An object to index.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) pk: i64,
    pub(super) flags: Flags,
    pub(super) created: i64,
    pub(super) data: Value,
}

pub(super) fn item(pk: i64, data: Value) -> Item {
    let flags = Flags { ctd: 1, current: true, published: true, approved: true };
    Item { pk, flags, created: 0, data }
}

/// An index of several segments, some of whose documents are deleted.
pub(super) struct Corpus {
    searcher: Searcher,
    fields: Fields,
}

impl Corpus {
    pub(super) fn new(segments: &[&[Item]], deleted: &[i64]) -> Self {
        let (schema, fields) = schema::schema();
        let index = Index::create_in_ram(schema);
        schema::register(&index);
        let mut writer = index.writer_with_num_threads(1, 15_000_000).unwrap();
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let properties = [Property::plain("place", SchemaType::Object, InputType::Geo)];
        for segment in segments {
            for item in *segment {
                let stored = stored(item);
                let document = document(&fields, &properties, &stored, "post", item.flags, item.pk);
                writer.add_document(document).unwrap();
            }
            writer.commit().unwrap();
        }
        for pk in deleted {
            writer.delete_term(Term::from_field_u64(fields.pk, pk.unsigned_abs()));
        }
        writer.commit().unwrap();
        Self { searcher: index.reader().unwrap().searcher(), fields }
    }

    pub(super) fn run(&self, search: &Search, scope: &SearchScope) -> SearchResults {
        run(&self.searcher, &self.fields, search, scope, 0, 1000).unwrap().unwrap()
    }

    /// Returns one page. Uses skipping in segments with at least `min_matches_for_skipping` matches.
    pub(super) fn page(
        &self,
        search: &Search,
        scope: &SearchScope,
        page: Page,
        min_matches_for_skipping: u32,
    ) -> SearchResults {
        let pass = SearchRun::new(&self.searcher, &self.fields, search, scope, page).unwrap();
        pass.run(min_matches_for_skipping).unwrap().unwrap()
    }

    fn pks(&self, search: &Search) -> Vec<i64> {
        pks(&self.run(search, &SearchScope::default()))
    }

    fn finds(&self, query: SearchQuery) -> Vec<i64> {
        self.pks(&Search { query, ..everything() })
    }

    fn score(&self, query: SearchQuery) -> f32 {
        self.run(&Search { query, ..everything() }, &SearchScope::default()).hits[0].score
    }
}

fn stored(item: &Item) -> StoredObject<'static> {
    StoredObject {
        pk: item.pk,
        id: format!("id-{}", item.pk).into(),
        internal: Internal {
            created_at: item.created,
            updated_at: item.created,
            version: 1,
            version_at: item.created,
            status: Status::Public,
            public_version: None,
            published_at: None,
            workflow_state: "saved".into(),
            workflow_public_version: None,
            workflow_published_at: None,
            owner: None,
            editor: None,
            title: "".into(),
            deleted_at: None,
            schedule: None,
        },
        data: item.data.to_string().into(),
    }
}

pub(super) fn everything() -> Search {
    Search {
        query: SearchQuery::All,
        fields: None,
        filter: SearchQuery::All,
        post_filter: SearchQuery::All,
        circles: Vec::new(),
        order: HitOrder::Score { then: None },
        decay_old: false,
        facets: Vec::new(),
    }
}

pub(super) fn pks(found: &SearchResults) -> Vec<i64> {
    found.hits.iter().map(|hit| hit.pk).collect()
}

pub(super) fn field(path: &str, test: FieldCondition) -> SearchQuery {
    SearchQuery::Field { path: Some(path.to_owned()), condition: test }
}

pub(super) fn word(word: &str) -> SearchQuery {
    SearchQuery::Field { path: None, condition: FieldCondition::Word(word.to_owned()) }
}

fn fuzzy(word: &str, edits: u8) -> SearchQuery {
    SearchQuery::Field {
        path: None,
        condition: FieldCondition::Fuzzy { word: word.to_owned(), edits },
    }
}

fn pattern(text: &str) -> FieldCondition {
    let piece = |c| match c {
        '*' => PatternToken::AnyChars,
        '?' => PatternToken::AnyChar,
        c => PatternToken::Char(c),
    };
    FieldCondition::Wildcard(WildcardPattern(text.chars().map(piece).collect()))
}

fn phrase(words: &str) -> FieldCondition {
    FieldCondition::Phrase(words.split(' ').map(str::to_owned).collect())
}

pub(super) fn any_of(should: Vec<SearchQuery>) -> SearchQuery {
    SearchQuery::Boolean { must: Vec::new(), should, must_not: Vec::new() }
}

pub(super) fn all_of(must: Vec<SearchQuery>) -> SearchQuery {
    SearchQuery::Boolean { must, should: Vec::new(), must_not: Vec::new() }
}

pub(super) fn then(by: SortBy, descending: bool, missing_first: bool) -> HitOrder {
    HitOrder::Score { then: Some(PropertyOrder { by, descending, missing_first }) }
}

pub(super) fn by(path: &str) -> SortBy {
    SortBy::Path { path: path.to_owned(), as_text: false }
}

fn scope() -> SearchScope {
    SearchScope::default()
}

#[test]
fn conditions_match_expected_objects() {
    let long = format!("start {}", "filling ".repeat(100));
    let corpus = Corpus::new(
        &[
            &[
                item(1, json!({"title": "Red house", "body": "a quiet place", "price": 12})),
                item(2, json!({"title": "House of red bricks", "price": 12.5, "open": true})),
            ],
            &[
                item(3, json!({"title": "Blue", "body": long, "tags": ["red", "house"]})),
                item(4, json!({"list": [{"name": "12"}, {"name": "Größe"}], "open": false})),
            ],
        ],
        &[],
    );
    let word_at = |path: &str, word: &str| field(path, FieldCondition::Word(word.to_owned()));
    let not = |query| SearchQuery::Boolean { must: vec![], should: vec![], must_not: vec![query] };
    let number = |number| FieldCondition::Equals(ScalarValue::Number(number));
    let table = [
        ("everything", SearchQuery::All, vec![1, 2, 3, 4]),
        ("nothing", SearchQuery::None, vec![]),
        ("a word of all text", word("red"), vec![1, 2, 3]),
        ("a part of a word", word("hous"), vec![]),
        ("a word of an id", word("id"), vec![1, 2, 3, 4]),
        ("a word of a field", word_at("title", "red"), vec![1, 2]),
        ("a word of another field", word_at("body", "red"), vec![]),
        ("a word of an unknown field", word_at("nothing", "red"), vec![]),
        ("a path that is none", word_at("ti\0sred", "red"), vec![]),
        ("no path", word_at("", "red"), vec![]),
        ("a word in a list", word_at("list.name", "größe"), vec![4]),
        ("a number that is a word", word_at("price", "12"), vec![1]),
        ("a word that is no number", word_at("list.name", "12"), vec![4]),
        ("a boolean that is a word", word_at("open", "true"), vec![2]),
        ("a word of internal.status", word_at("internal.status", "public"), vec![1, 2, 3, 4]),
        ("internal.status is not found without a field", word("public"), vec![]),
        ("a phrase", SearchQuery::Field { path: None, condition: phrase("red house") }, vec![1]),
        ("not across values", field("tags", phrase("red house")), vec![]),
        ("a phrase of a field", field("title", phrase("of red bricks")), vec![2]),
        ("a phrase of one word", field("title", phrase("bricks")), vec![2]),
        ("any end", SearchQuery::Field { path: None, condition: pattern("hou*") }, vec![1, 2, 3]),
        ("any start", field("title", pattern("*ue")), vec![3]),
        ("one character", field("list.name", pattern("gr??e")), vec![4]),
        ("not two", field("list.name", pattern("gr?e")), vec![]),
        ("stars within", field("title", pattern("*r*ck*")), vec![2]),
        ("a wildcard in another field", field("body", pattern("*ue")), vec![]),
        ("an integer", field("price", FieldCondition::Equals(ScalarValue::Integer(12))), vec![1]),
        ("an integer as a float", field("price", number(12.0)), vec![1]),
        ("a float", field("price", number(12.5)), vec![2]),
        ("false", field("open", FieldCondition::Equals(ScalarValue::Bool(false))), vec![4]),
        ("a value", field("price", FieldCondition::Exists), vec![1, 2]),
        ("a long value", field("body", FieldCondition::Exists), vec![1, 3]),
        ("a value below", field("list", FieldCondition::Exists), vec![4]),
        ("no value", not(field("price", FieldCondition::Exists)), vec![3, 4]),
        ("both", all_of(vec![word("red"), word("quiet")]), vec![1]),
        ("any", any_of(vec![word("quiet"), word("blue")]), vec![1, 3]),
        ("one typing error", fuzzy("quite", 1), vec![1]),
        ("too many of them", fuzzy("quitex", 1), vec![]),
        ("two of them", fuzzy("quitex", 2), vec![1]),
    ];
    for (what, query, expected) in table {
        let mut found = corpus.finds(query.clone());
        found.sort_unstable();
        assert_eq!(found, expected, "{what}");
        let filtered = Search { filter: query, ..everything() };
        let found = corpus.run(&filtered, &scope());
        assert_eq!(pks(&found), expected, "{what}, as a filter");
        #[expect(clippy::float_cmp, reason = "filters add nothing")]
        let all_one = found.hits.iter().all(|hit| hit.score == 1.0);
        assert!(all_one, "{what}, as a filter");
    }
}

#[test]
fn hits_are_ordered_by_score() {
    let corpus = Corpus::new(
        &[
            &[
                item(1, json!({"title": "apple", "body": "about pears and plums and cherries"})),
                item(2, json!({"title": "pear", "body": "apple apple"})),
                item(3, json!({"title": "plum", "body": "pear"})),
            ],
            &[
                item(4, json!({"title": "aple", "body": "some long text about nothing at all"})),
                item(5, json!({"title": "cherry"})),
            ],
        ],
        &[],
    );
    let weighted = |fields: &[(&str, f32)], query| {
        let fields = fields.iter();
        let fields = fields
            .map(|(path, weight)| WeightedField { path: (*path).to_owned(), weight: *weight });
        corpus.pks(&Search { query, fields: Some(fields.collect()), ..everything() })
    };
    assert_eq!(corpus.finds(word("apple")), [2, 1], "more often");
    assert_eq!(weighted(&[("title", 5.0), ("body", 1.0)], word("apple")), [1, 2]);
    assert_eq!(weighted(&[("title", 1.0), ("body", 9.0)], word("apple")), [2, 1]);
    assert_eq!(weighted(&[("title", 1.0)], word("apple")), [1]);
    assert!(weighted(&[("nothing", 1.0)], word("apple")).is_empty());
    assert!(weighted(&[], word("apple")).is_empty());
    assert_eq!(corpus.finds(fuzzy("apple", 1)), [2, 1, 4], "the word itself before its errors");
    let boosted = SearchQuery::Boost(Box::new(word("cherry")), 9.0);
    assert_eq!(corpus.finds(any_of(vec![word("apple"), boosted])), [5, 2, 1]);
    let must_and_should = SearchQuery::Boolean {
        must: vec![word("pear")],
        should: vec![word("plum")],
        must_not: vec![],
    };
    assert_eq!(corpus.finds(must_and_should), [3, 2]);
    let but = SearchQuery::Boolean {
        must: vec![],
        should: vec![word("apple"), word("pear")],
        must_not: vec![word("plum")],
    };
    assert_eq!(corpus.finds(but), [2, 1]);

    let twice = corpus.score(SearchQuery::Boost(Box::new(word("cherry")), 2.0));
    assert!((twice - 2.0 * corpus.score(word("cherry"))).abs() < 1e-5);
    let worst_first =
        Search { query: word("apple"), order: HitOrder::ScoreAscending, ..everything() };
    assert_eq!(corpus.pks(&worst_first), [1, 2]);
}

#[test]
fn score_counts_deleted_documents_until_segments_are_merged() {
    let [apple, pear, deleted] = [(1, "apple"), (2, "pear"), (3, "apple")]
        .map(|(pk, name)| item(pk, json!({ "name": name })));
    let before = Corpus::new(&[&[apple.clone(), pear.clone(), deleted]], &[3]);
    let after = Corpus::new(&[&[apple, pear]], &[]);
    let scores = [&before, &after].map(|corpus| {
        assert_eq!(corpus.finds(word("apple")), [1]);
        corpus.score(word("apple"))
    });
    assert!(scores[0] < scores[1], "{scores:?}");
}

#[test]
fn scores_are_multiplied_by_type_and_age() {
    let day = 86_400;
    let aged = |pk, ctd, created| {
        let mut item = item(pk, json!({"title": "word"}));
        item.flags.ctd = ctd;
        item.created = created;
        item
    };
    let corpus =
        Corpus::new(&[&[aged(1, 1, 0), aged(2, 2, 180 * day), aged(3, 2, 200 * day)]], &[]);
    let scope = |boosts| SearchScope { boosts, now: 180 * day, ..SearchScope::default() };
    let scores = |search: &Search, scope: &SearchScope| {
        let found = corpus.run(search, scope);
        found.hits.iter().map(|hit| (hit.pk, hit.score)).collect::<Vec<_>>()
    };
    let decaying = Search { decay_old: true, ..everything() };
    assert_eq!(scores(&everything(), &scope(vec![])), [(1, 1.0), (2, 1.0), (3, 1.0)]);
    assert_eq!(scores(&everything(), &scope(vec![(2, 3.0)])), [(2, 3.0), (3, 3.0), (1, 1.0)]);
    assert_eq!(scores(&decaying, &scope(vec![])), [(2, 1.0), (3, 1.0), (1, 0.5)]);
    assert_eq!(scores(&decaying, &scope(vec![(1, 4.0)])), [(1, 2.0), (2, 1.0), (3, 1.0)]);
    let words = Search { query: word("word"), ..decaying };
    assert_eq!(pks(&corpus.run(&words, &scope(vec![(2, 0.25)]))), [1, 2, 3]);
}

#[test]
fn scope_limits_types_and_versions() {
    let shown = |pk, ctd, current, published, approved| Item {
        flags: Flags { ctd, current, published, approved },
        ..item(pk, json!({"title": "word"}))
    };
    let items = [
        shown(1, 1, true, true, false),
        shown(2, 1, true, false, true),
        shown(3, 1, false, true, true),
        shown(4, 2, true, true, false),
        shown(5, 300, true, true, true),
    ];
    let many: Vec<Item> = (10..40).map(|pk| shown(pk, 7, false, false, false)).collect();
    let (few, crowd) = (Corpus::new(&[&items], &[]), Corpus::new(&[&items, &many], &[4]));
    let published = SearchScope { published: true, ..SearchScope::default() };
    let table = [
        (SearchScope::default(), vec![1, 2, 4, 5]),
        (published.clone(), vec![1, 3, 4, 5]),
        (SearchScope { ctds: Some(vec![1]), ..SearchScope::default() }, vec![1, 2]),
        (SearchScope { ctds: Some(vec![]), ..SearchScope::default() }, vec![]),
        (SearchScope { ctds: Some(vec![300, 2]), ..published.clone() }, vec![4, 5]),
        (SearchScope { approved_only: vec![1], ..published }, vec![3, 4, 5]),
    ];
    for (scope, expected) in table {
        for query in [SearchQuery::All, word("word")] {
            let search = Search { query, ..everything() };
            assert_eq!(pks(&few.run(&search, &scope)), expected, "{scope:?}");
            let alive: Vec<i64> = expected.iter().copied().filter(|pk| *pk != 4).collect();
            let found = crowd.run(&search, &scope);
            assert_eq!((found.total, pks(&found)), (alive.len() as u64, alive), "{scope:?}");
        }
    }
}

#[test]
fn ties_are_broken_by_value_then_date_then_row() {
    let dated = |pk, created, data| Item { created, ..item(pk, data) };
    let corpus = Corpus::new(
        &[
            &[
                dated(1, 5, json!({"v": "b"})),
                dated(2, 3, json!({"v": "A"})),
                dated(3, 3, json!({"v": "a"})),
                dated(4, 9, json!({"v": ""})),
            ],
            &[
                dated(5, 1, json!({"v": 10})),
                dated(6, 1, json!({"v": [9.5, 1]})),
                dated(7, 2, json!({"v": true})),
                dated(8, 0, json!({"w": 1})),
            ],
        ],
        &[],
    );
    let ordered = |order| corpus.pks(&Search { order, ..everything() });
    assert_eq!(ordered(HitOrder::Score { then: None }), [8, 5, 6, 7, 2, 3, 1, 4]);
    assert_eq!(ordered(then(by("v"), false, false)), [6, 5, 7, 2, 3, 1, 8, 4]);
    assert_eq!(ordered(then(by("v"), true, false)), [1, 2, 3, 7, 5, 6, 8, 4]);
    assert_eq!(ordered(then(by("v"), false, true)), [8, 4, 6, 5, 7, 2, 3, 1]);
    assert_eq!(ordered(then(by("nothing"), true, true)), [8, 5, 6, 7, 2, 3, 1, 4]);
    let as_text = SortBy::Path { path: "v".to_owned(), as_text: true };
    assert_eq!(ordered(then(as_text, false, false)), [5, 6, 2, 3, 1, 7, 8, 4]);
    assert_eq!(ordered(then(by("internal.createdAt"), true, false)), [4, 1, 2, 3, 7, 5, 6, 8]);

    let random = ordered(HitOrder::Random(7));
    assert_eq!(ordered(HitOrder::Random(7)), random);
    assert_ne!(ordered(HitOrder::Random(8)), random);
}

#[test]
fn circles_match_points_within_the_radius() {
    let at = |pk, lat, lon| item(pk, json!({"place": {"lat": lat, "lon": lon}}));
    let corpus = Corpus::new(
        &[&[at(1, 52.0, 21.0), at(2, 52.0, 22.0)], &[at(3, 0.0, 179.999), item(4, json!({}))]],
        &[],
    );
    let circle =
        |lat, lon, meters| Circle { path: "place".to_owned(), center: Point { lat, lon }, meters };
    let within = |circles| {
        corpus.pks(&Search { circles, order: then(SortBy::Distance, false, false), ..everything() })
    };
    assert_eq!(within(vec![circle(52.0, 21.0, 1000.0)]), [1]);
    assert_eq!(within(vec![circle(52.0, 21.9, 100_000.0)]), [2, 1]);
    assert_eq!(within(vec![circle(52.0, 21.9, 100_000.0), circle(52.0, 21.0, 10.0)]), [1]);
    assert_eq!(within(vec![circle(0.0, -179.999, 300.0)]), [3], "across the date line");
    let nowhere = Circle { path: "nowhere".to_owned(), ..circle(0.0, 0.0, 1e9) };
    assert!(within(vec![nowhere]).is_empty());
}

#[test]
fn aggregations_count_values_once_per_object() {
    let corpus = Corpus::new(
        &[
            &[
                item(1, json!({"tags": ["a", "B", "a"], "n": 1})),
                item(2, json!({"tags": "a", "n": [1.0, 2.5, 1]})),
            ],
            &[item(3, json!({"tags": ["b", "B"], "n": 3})), item(4, json!({"tags": true}))],
        ],
        &[],
    );
    let facet = |field: &str, numeric| Facet {
        field: format!("{field}.sent"),
        path: field.to_owned(),
        numeric,
    };
    let facets =
        vec![facet("tags", false), facet("n", true), facet("tags", true), facet("n", false)];
    let search = Search {
        post_filter: field("tags", FieldCondition::Word("b".to_owned())),
        facets,
        ..everything()
    };
    let found = corpus.run(&search, &scope());
    assert_eq!((found.total, pks(&found)), (2, vec![1, 3]), "post filters apply to hits");
    let aggregations = serde_json::to_value(&found.aggregations).unwrap();
    let aggregation = |field: &str, buckets: Value| {
        json!({
            "field": field, "doc_count_error_upper_bound": 0, "sum_other_doc_count": 0,
            "buckets": buckets,
        })
    };
    let bucket = |key: Value, count: u64| json!({"key": key, "doc_count": count});
    assert_eq!(
        aggregations,
        json!([
            aggregation(
                "tags.sent",
                json!([bucket("B".into(), 2), bucket("a".into(), 2), bucket("b".into(), 1)])
            ),
            aggregation(
                "n.sent",
                json!([bucket(1.into(), 2), bucket(2.5.into(), 1), bucket(3.into(), 1)])
            ),
            aggregation("tags.sent", json!([])),
            aggregation("n.sent", json!([])),
        ])
    );
}

#[test]
fn integers_beyond_53_bits_are_exact_beside_floats_without_fraction() {
    const LIMIT: i64 = 1 << 53;
    let corpus = Corpus::new(
        &[
            &[
                item(1, json!({"n": LIMIT + 1, "max": i64::MAX})),
                item(2, json!({"n": LIMIT, "max": i64::MAX - 1})),
                item(3, json!({"n": 1.0})),
            ],
            &[item(4, json!({"n": [-0.0, 1e3]})), item(5, json!({"n": LIMIT + 2}))],
        ],
        &[],
    );
    let order = |descending| then(by("n"), descending, false);
    let ordered = |descending| corpus.pks(&Search { order: order(descending), ..everything() });
    assert_eq!(ordered(false), [4, 3, 2, 1, 5]);
    assert_eq!(ordered(true), [5, 1, 2, 3, 4]);

    let bound = |scalar| query::Value { number: Some(scalar), text: String::new() };
    let above = |scalar| FieldCondition::Range {
        from: Bound::Excluded(bound(scalar)),
        to: Bound::Unbounded,
    };
    let equal = FieldCondition::Equals;
    let (integer, real) = (ScalarValue::Integer, ScalarValue::Number);
    let table = [
        ("n", above(integer(LIMIT)), vec![1, 5]),
        ("n", equal(integer(LIMIT + 1)), vec![1]),
        ("n", equal(real(TWO_TO_63 / 1024.0)), vec![2]),
        ("n", equal(integer(0)), vec![4]),
        ("max", equal(integer(i64::MAX)), vec![1]),
        ("max", equal(real(TWO_TO_63)), vec![]),
        ("max", FieldCondition::Word("9223372036854775807".to_owned()), vec![1]),
        ("max", FieldCondition::Word("9223372036854775808".to_owned()), vec![]),
    ];
    for (path, condition, expected) in table {
        assert_eq!(corpus.finds(field(path, condition.clone())), expected, "{path} {condition:?}");
    }

    let facet = Facet { field: "n".to_owned(), path: "n".to_owned(), numeric: true };
    let found = corpus.run(&Search { facets: vec![facet], ..everything() }, &scope());
    let buckets = &found.aggregations[0].buckets;
    let keys: Vec<&Value> = buckets.iter().map(|bucket| &bucket.key).collect();
    assert_eq!(json!(keys), json!([0, 1, 1000, LIMIT, LIMIT + 1, LIMIT + 2]));
}

#[test]
fn number_of_two_to_63_is_found_by_equality() {
    let corpus = Corpus::new(&[&[item(1, json!({"n": TWO_TO_63})), item(2, json!({"n": 1}))]], &[]);
    let equal = FieldCondition::Equals(ScalarValue::Number(TWO_TO_63));
    assert_eq!(corpus.finds(field("n", equal)), [1]);
}

#[test]
fn aggregations_return_at_most_a_thousand_buckets() {
    let items: Vec<Item> =
        (0..1200).map(|pk| item(pk, json!({"n": pk, "s": [format!("{pk:04}"), "x"]}))).collect();
    let corpus = Corpus::new(&[&items], &[]);
    let facet =
        |path: &str, numeric| Facet { field: path.to_owned(), path: path.to_owned(), numeric };
    let search = Search { facets: vec![facet("n", true), facet("s", false)], ..everything() };
    let found =
        corpus.page(&search, &scope(), Page { offset: 0, limit: 0 }, MIN_MATCHES_FOR_SKIPPING);
    assert_eq!((found.total, found.hits.len()), (1200, 0));
    let [numbers, texts] = found.aggregations.as_slice() else { panic!("two") };
    assert_eq!((numbers.buckets.len(), numbers.sum_other_doc_count), (1000, 200));
    assert_eq!(numbers.buckets[999].key, 999);
    assert_eq!((texts.buckets.len(), texts.sum_other_doc_count), (1000, 201));
    assert_eq!((&texts.buckets[0].key, texts.buckets[0].doc_count), (&"x".into(), 1200));
    assert_eq!(texts.buckets[999].key, "0998");
}

#[test]
fn pages_continue_in_the_same_order() {
    let items: Vec<Item> = (1..=10).map(|pk| item(pk, json!({"title": "word"}))).collect();
    let corpus = Corpus::new(&[&items[..4], &items[4..]], &[]);
    for query in [SearchQuery::All, word("word")] {
        let search = Search { query, ..everything() };
        let page = |offset, limit, many| {
            pks(&corpus.page(&search, &scope(), Page { offset, limit }, many))
        };
        for many in [0, MIN_MATCHES_FOR_SKIPPING] {
            assert_eq!(page(0, 3, many), [1, 2, 3]);
            assert_eq!(page(3, 3, many), [4, 5, 6]);
            assert_eq!(page(9, 3, many), [10]);
            assert!(page(10, 3, many).is_empty());
            assert!(page(0, 0, many).is_empty());
        }
        let found = corpus.page(&search, &scope(), Page { offset: 4, limit: 1 }, 0);
        assert_eq!(found.total, 10);
        let hit = &found.hits[0];
        assert_eq!((hit.pk, hit.ctd, hit.indexed), (5, 1, 5));
    }
}

#[test]
fn totals_are_capped_at_the_last_page() {
    let items: Vec<Item> = (1..=10_050).map(|pk| item(pk, json!({"title": "word"}))).collect();
    let corpus = Corpus::new(&[&items[..5000], &items[5000..]], &[1]);
    for query in [SearchQuery::All, word("word"), field("title", pattern("w*"))] {
        let search = Search { query, ..everything() };
        let found = corpus.run(&search, &scope());
        assert_eq!((found.total, found.hits.len()), (10_000, 1000));
        assert_eq!(pks(&found), (2..=1001).collect::<Vec<_>>());
    }
}
