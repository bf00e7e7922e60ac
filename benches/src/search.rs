//! The search index of the baseline: the words of the posts, and their primary keys.

use std::path::Path;

use tantivy::{
    Index, IndexReader, TantivyDocument, Term,
    collector::{Count, TopDocs},
    query::{BooleanQuery, TermQuery},
    schema::{FAST, Field, IndexRecordOption, Schema, TEXT},
};

use crate::corpus;

/// The folder beside the database.
pub(crate) const FOLDER: &str = "bare-index";
const WRITER_BYTES: usize = 96 * 1024 * 1024;

/// Indexes the posts in a new folder. Their primary keys are their numbers plus one.
pub(crate) fn create(folder: &Path, posts: usize) {
    let mut schema = Schema::builder();
    let text = schema.add_text_field("text", TEXT);
    let pk = schema.add_u64_field("pk", FAST);
    std::fs::create_dir(folder).expect("the folder is new");
    let index = Index::create_in_dir(folder, schema.build()).expect("the folder is empty");
    let mut writer = index.writer(WRITER_BYTES).expect("nobody else writes");
    for number in 0..posts {
        let post = corpus::post(number);
        let mut document = TantivyDocument::default();
        for property in ["title", "category", "excerpt", "body"] {
            document.add_text(text, post[property].as_str().unwrap_or_default());
        }
        document.add_u64(pk, number as u64 + 1);
        writer.add_document(document).expect("the disk has space");
    }
    writer.commit().expect("the disk has space");
    writer.wait_merging_threads().expect("merges succeed");
}

/// The index open for searches.
pub(crate) struct SearchIndex {
    reader: IndexReader,
    text: Field,
}

impl SearchIndex {
    pub(crate) fn open(folder: &Path) -> Self {
        let index = Index::open_in_dir(folder).expect("it was created");
        let text = index.schema().get_field("text").expect("it is in the schema");
        Self { reader: index.reader().expect("it can be read"), text }
    }

    /// Returns the primary keys of the 20 best posts with any of the words, and the number of all.
    pub(crate) fn best(&self, words: &str) -> (Vec<i64>, usize) {
        let term = |word| Term::from_field_text(self.text, word);
        let query = |word| Box::new(TermQuery::new(term(word), IndexRecordOption::WithFreqs)) as _;
        let query = BooleanQuery::union(words.split([' ', '+']).map(query).collect());
        let searcher = self.reader.searcher();
        let best = TopDocs::with_limit(20).order_by_score();
        let (best, count) = searcher.search(&query, &(best, Count)).expect("the query is valid");
        let pk = |address: tantivy::DocAddress| {
            let segment = searcher.segment_reader(address.segment_ord);
            let pks = segment.fast_fields().u64("pk").expect("it is a column");
            pks.first(address.doc_id)
                .and_then(|pk| i64::try_from(pk).ok())
                .expect("every post has one")
        };
        (best.into_iter().map(|(_, address)| pk(address)).collect(), count)
    }
}
