//! The same posts in a bare index of the engine, without cms. The stored posts of the hits are fetched
//! too, because a search returns them.

use std::path::Path;

use tantivy::{
    Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, SegmentReader, TantivyDocument, Term,
    aggregation::{AggContextParams, AggregationCollector, agg_req::Aggregations},
    collector::{Count, TopDocs},
    query::{
        BooleanQuery, FuzzyTermQuery, Query, TermQuery,
        doc_predicate_query::{DocPredicateQuery, FunctionPredicate},
    },
    schema::{FAST, Field, IndexRecordOption, STORED, STRING, Schema, TEXT, Value as _},
};

use crate::corpus::Post;

/// The memory per thread that the index of cms uses.
const MEMORY_PER_THREAD: usize = 48 * 1024 * 1024;
const EARTH_RADIUS_METERS: f64 = 6_371_008.8;

#[derive(Clone, Copy)]
struct Fields {
    id: Field,
    text: Field,
    category: Field,
    tags: Field,
    rank: Field,
    lat: Field,
    lon: Field,
    data: Field,
}

pub(crate) struct Bare {
    reader: IndexReader,
    writer: IndexWriter,
    fields: Fields,
}

impl Bare {
    pub(crate) fn create(folder: &Path) -> Self {
        let mut schema = Schema::builder();
        let fields = Fields {
            id: schema.add_text_field("id", STRING),
            text: schema.add_text_field("text", TEXT),
            category: schema.add_text_field("category", STRING | FAST),
            tags: schema.add_text_field("tags", STRING | FAST),
            rank: schema.add_u64_field("rank", FAST),
            lat: schema.add_f64_field("lat", FAST),
            lon: schema.add_f64_field("lon", FAST),
            data: schema.add_bytes_field("data", STORED),
        };
        let index = Index::create_in_dir(folder, schema.build()).expect("the folder is empty");
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        let writer = index.writer_with_num_threads(threads, threads * MEMORY_PER_THREAD);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        Self {
            writer: writer.expect("nobody else writes"),
            reader: reader.expect("it was just made"),
            fields,
        }
    }

    pub(crate) fn add(&self, post: &Post) {
        let fields = self.fields;
        let mut document = TantivyDocument::default();
        document.add_text(fields.id, &post.id);
        document.add_text(fields.text, &post.title);
        document.add_text(fields.text, &post.body);
        document.add_text(fields.category, &post.category);
        post.tags.iter().for_each(|tag| document.add_text(fields.tags, tag));
        document.add_u64(fields.rank, post.rank);
        document.add_f64(fields.lat, post.lat);
        document.add_f64(fields.lon, post.lon);
        document.add_bytes(fields.data, post.to_json().to_string().as_bytes());
        self.writer.add_document(document).expect("the disk has room");
    }

    pub(crate) fn commit(&mut self) {
        self.writer.commit().expect("the disk has room");
        self.reader.reload().expect("it was just written");
    }

    /// Waits for merges, so that none runs during the measurement.
    pub(crate) fn finish(self) -> BareReader {
        self.writer.wait_merging_threads().expect("merges succeed");
        self.reader.reload().expect("it was just written");
        BareReader { searcher: self.reader.searcher(), fields: self.fields }
    }
}

/// A bare index that is only read.
pub(crate) struct BareReader {
    searcher: Searcher,
    fields: Fields,
}

impl BareReader {
    pub(crate) fn words(&self, words: &[String]) -> Shown {
        self.best(&self.union(words))
    }

    pub(crate) fn fuzzy(&self, words: &[String]) -> Shown {
        let term = |word: &String| Term::from_field_text(self.fields.text, word);
        let edits = |word: &String| if word.len() > 5 { 2 } else { 1 };
        let query = |word| Box::new(FuzzyTermQuery::new(term(word), edits(word), true)) as _;
        self.best(&BooleanQuery::union(words.iter().map(query).collect()))
    }

    pub(crate) fn facets(&self, words: &[String]) -> Shown {
        let terms = |field: &str| serde_json::json!({ "terms": { "field": field, "size": 1000 } });
        let wanted = serde_json::json!({
            "category": terms("category"), "tags": terms("tags"), "rank": terms("rank"),
        });
        let wanted: Aggregations = serde_json::from_value(wanted).expect("the request is valid");
        let facets = AggregationCollector::from_aggs(wanted, AggContextParams::default());
        let best = TopDocs::with_limit(20).order_by_score();
        let (best, count, facets) =
            self.searcher.search(&self.union(words), &(best, Count, facets)).expect("it is valid");
        std::hint::black_box(serde_json::to_vec(&facets).expect("results are valid JSON"));
        self.shown(count, best.into_iter().map(|(_, address)| address))
    }

    pub(crate) fn near(&self, words: &[String], (lat, lon): (f64, f64), meters: f64) -> Shown {
        let near = FunctionPredicate::from(move |segment: &SegmentReader| {
            let distance = distance(segment, (lat, lon));
            Ok(move |document| distance(document) <= meters)
        });
        let query = BooleanQuery::intersection(vec![
            Box::new(self.union(words)),
            Box::new(DocPredicateQuery::from(near)),
        ]);
        let nearest = TopDocs::with_limit(20).tweak_score(move |segment: &SegmentReader| {
            let distance = distance(segment, (lat, lon));
            move |document, _| -distance(document)
        });
        let (nearest, count) =
            self.searcher.search(&query, &(nearest, Count)).expect("it is valid");
        self.shown(count, nearest.into_iter().map(|(_, address)| address))
    }

    fn union(&self, words: &[String]) -> BooleanQuery {
        let term = |word: &String| Term::from_field_text(self.fields.text, word);
        let query = |word| Box::new(TermQuery::new(term(word), IndexRecordOption::WithFreqs)) as _;
        BooleanQuery::union(words.iter().map(query).collect())
    }

    fn best(&self, query: &dyn Query) -> Shown {
        let best = TopDocs::with_limit(20).order_by_score();
        let (best, count) = self.searcher.search(query, &(best, Count)).expect("it is valid");
        self.shown(count, best.into_iter().map(|(_, address)| address))
    }

    fn shown(&self, count: usize, found: impl Iterator<Item = tantivy::DocAddress>) -> Shown {
        let mut bytes = Vec::new();
        for address in found {
            let document: TantivyDocument = self.searcher.doc(address).expect("it was found");
            let data = document.get_first(self.fields.data).and_then(|data| data.as_bytes());
            bytes.extend_from_slice(data.expect("every post has data"));
        }
        Shown { count, bytes: bytes.len() }
    }
}

/// The number of matches of a search, and the size of its hits.
pub(crate) struct Shown {
    pub(crate) count: usize,
    pub(crate) bytes: usize,
}

/// The distance of documents from a point, in metres.
fn distance(
    segment: &SegmentReader,
    (lat, lon): (f64, f64),
) -> impl Fn(u32) -> f64 + Send + Sync + use<> {
    let column = |name| segment.fast_fields().column_first_or_default::<f64>(name);
    let lats = column("lat").expect("it is a column");
    let lons = column("lon").expect("it is a column");
    move |document| {
        let (other_lat, other_lon) = (lats.get_val(document), lons.get_val(document));
        let half_lat = ((other_lat - lat).to_radians() / 2.0).sin();
        let half_lon = ((other_lon - lon).to_radians() / 2.0).sin();
        let cosines = lat.to_radians().cos() * other_lat.to_radians().cos();
        let chord = half_lat * half_lat + cosines * half_lon * half_lon;
        2.0 * EARTH_RADIUS_METERS * chord.sqrt().asin()
    }
}
