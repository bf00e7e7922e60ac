//! A search as a value: what [`super::parse`] reads from a request and cms-search turns into
//! a query of the engine. Knows neither grammar nor engine.

use std::ops::Bound;

/// A whole search, as far as it does not depend on who asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    pub query: Query,
    /// Where words without a field of their own are looked for; none means in all text.
    pub fields: Option<Vec<Weighted>>,
    /// Does not count for scores.
    pub filter: Query,
    /// Aggregations do not see it.
    pub post_filter: Query,
    pub circles: Vec<Circle>,
    pub order: Order,
    pub decay_old: bool,
    pub facets: Vec<Facet>,
}

/// A field, and what its scores are multiplied by.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted {
    pub path: String,
    pub weight: f32,
}

/// What an object must match.
///
/// Paths are dotted, without indexes: `list[*].name` is `list.name`. Words are in the form that
/// [`super::analysis`] gives them.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Everything, with score 1.
    All,
    /// Nothing.
    None,
    /// A condition on one field; without one, on the fields of the search.
    Field { path: Option<String>, test: Test },
    /// Everything that `must` and nothing that `must_not`; when there is no `must`, some `should`.
    Boolean { must: Vec<Query>, should: Vec<Query>, must_not: Vec<Query> },
    /// The scores of another query, multiplied.
    Boost(Box<Query>, f32),
}

/// A condition on the values of one field.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// A whole word; also a number or a boolean that reads like it.
    Word(String),
    /// A word with at most so many typing errors.
    Fuzzy { word: String, edits: u8 },
    /// Words in a row.
    Phrase(Vec<String>),
    /// One word of the value.
    Wildcard(Pattern),
    /// The whole value, which is a number or a boolean.
    Equals(Scalar),
    /// Numbers by value, texts by their lower case.
    Range { from: Bound<Value>, to: Bound<Value> },
    /// Any value at all.
    Exists,
}

/// Parts of a word with `*` and `?` between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(pub Vec<Piece>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    Char(char),
    /// `?`
    One,
    /// `*`
    Many,
}

/// A value that is no text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Bool(bool),
    Integer(i64),
    Number(f64),
}

/// A bound of a range: its text in lower case, and the number that it reads as.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub text: String,
    pub number: Option<Scalar>,
}

/// Objects with a point of a geo property within a distance, the border included.
#[derive(Clone, Debug, PartialEq)]
pub struct Circle {
    pub path: String,
    pub center: Point,
    pub meters: f64,
}

/// A place on earth, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub lat: f64,
    pub lon: f64,
}

/// How hits are ordered (contract 6.3). After all of it comes the date of creation.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// By score, best first, then by `then`.
    Score { then: Option<Then> },
    /// By score, worst first.
    WorstFirst,
    /// By a number that follows from the seed and the object.
    Random(u64),
}

/// An order by values.
#[derive(Clone, Debug, PartialEq)]
pub struct Then {
    pub by: By,
    pub descending: bool,
    pub missing_first: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum By {
    /// The first value at a path; numbers as text when `as_text`.
    Path { path: String, as_text: bool },
    /// The distance to the center of the first circle.
    Distance,
}

/// What an aggregation counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Facet {
    /// As sent.
    pub field: String,
    pub path: String,
    pub numeric: bool,
}
