//! The fields of the index.
//!
//! Fields of the engine are fixed when an index is created, properties are not. So properties are paths
//! inside JSON fields, and their paths are part of every word. One document represents one edition of
//! an object, or both when they are equal.
//!
//! | field | content | use |
//! |---|---|---|
//! | `pk` | primary key of the object | replacing and deleting documents, fetching hits |
//! | `ctd` | primary key of its type | restricting to types, deleting all documents of a type |
//! | `flags` | the primary key of the type and [`Flags`], as one number | visibility check with one read |
//! | `created`, `indexed` | seconds and milliseconds since the epoch | order and decay, `@timestamp` |
//! | `words` | words of every value, each with its path ([`cms_model::search::word`]) | words, with and without a field |
//! | `scalars` | path → numbers, booleans | equality |
//! | `exact` | path → complete values: numbers, booleans, short texts | aggregations, order, ranges |
//! | `folded` | path → prefixes of texts in lower case | order and ranges of texts, as in lists |
//! | `geo` | path → points ([`cms_model::search::geo::pack`]) | distances |

use tantivy::{
    Index,
    schema::{
        FAST, Field, INDEXED, IndexRecordOption, JsonObjectOptions, Schema, TextFieldIndexing,
        TextOptions,
    },
    tokenizer::TextAnalyzer,
};

use super::tokenizer::WordTokenizer;

/// Incremented when an index created by an older version would give other results.
pub(super) const FORMAT: u32 = 3;

/// Maximum size of a text that is indexed as one value, in bytes. Aggregations leave longer texts out.
pub(super) const EXACT_BYTES: usize = 512;
/// Maximum size of a path, in bytes. Keys in JSON values have any length, and each word is stored with its path.
pub(super) const PATH_BYTES: usize = 512;
/// Bytes of the lower-case form of a text that define its order.
pub(super) const FOLDED_BYTES: usize = 512;

/// Names of the fields, as the engine names columns.
pub(super) mod name {
    pub(crate) const PK: &str = "pk";
    pub(crate) const CTD: &str = "ctd";
    pub(crate) const FLAGS: &str = "flags";
    pub(crate) const CREATED: &str = "created";
    pub(crate) const INDEXED: &str = "indexed";
    pub(crate) const WORDS: &str = "words";
    pub(crate) const SCALARS: &str = "scalars";
    pub(crate) const EXACT: &str = "exact";
    pub(crate) const FOLDED: &str = "folded";
    pub(crate) const GEO: &str = "geo";
}

/// Handles of the fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) pk: Field,
    pub(super) ctd: Field,
    pub(super) flags: Field,
    pub(super) created: Field,
    pub(super) indexed: Field,
    pub(super) words: Field,
    pub(super) scalars: Field,
    pub(super) exact: Field,
    pub(super) folded: Field,
    pub(super) geo: Field,
}

/// Creates the schema; the order of the fields is the same in every index of one [`FORMAT`].
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(name::WORDS)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let words = TextOptions::default().set_indexing_options(indexing);
    let basic = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::Basic);
    let paths = JsonObjectOptions::default().set_expand_dots_enabled();
    let columns = paths.clone().set_fast("raw");
    let fields = Fields {
        pk: builder.add_u64_field(name::PK, INDEXED | FAST),
        ctd: builder.add_u64_field(name::CTD, INDEXED),
        flags: builder.add_u64_field(name::FLAGS, FAST),
        created: builder.add_i64_field(name::CREATED, FAST),
        indexed: builder.add_i64_field(name::INDEXED, FAST),
        words: builder.add_text_field(name::WORDS, words),
        scalars: builder.add_json_field(name::SCALARS, paths.set_indexing_options(basic)),
        exact: builder.add_json_field(name::EXACT, columns.clone()),
        folded: builder.add_json_field(name::FOLDED, columns.clone()),
        geo: builder.add_json_field(name::GEO, columns),
    };
    (builder.build(), fields)
}

/// Registers the tokenizer of an index.
pub(super) fn register(index: &Index) {
    index
        .tokenizers()
        .register(name::WORDS, TextAnalyzer::builder(WordTokenizer::default()).build());
}

/// The editions of an object that a document represents, and other facts about its visibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    /// Primary key of the type.
    pub ctd: i64,
    /// The document has the current version.
    pub current: bool,
    /// The document has the published version.
    pub published: bool,
    /// The workflow state is `public`.
    pub approved: bool,
}

impl Flags {
    pub const CURRENT: u64 = 1;
    pub const PUBLISHED: u64 = 2;
    pub const APPROVED: u64 = 4;

    pub fn pack(self) -> u64 {
        let bit = |is_set, bit| if is_set { bit } else { 0 };
        self.ctd.unsigned_abs() << 3
            | bit(self.current, Self::CURRENT)
            | bit(self.published, Self::PUBLISHED)
            | bit(self.approved, Self::APPROVED)
    }

    /// The primary key of the type in a packed number.
    pub fn ctd(packed: u64) -> i64 {
        i64::try_from(packed >> 3).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_keep_the_type() {
        let flags = Flags { ctd: 77, current: true, published: false, approved: true };
        assert_eq!(Flags::ctd(flags.pack()), 77);
        assert_eq!(flags.pack() & 7, Flags::CURRENT | Flags::APPROVED);
    }
}
