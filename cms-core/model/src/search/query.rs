//! A search as a value: [`super::parse`] reads it from a request, cms-search converts it to a query
//! of the engine. This module knows neither grammar nor engine.

use std::ops::Bound;

use crate::query::value::Number;

/// A complete search, except for the parts that depend on the caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    pub query: SearchQuery,
    /// Fields to search for words without a field of their own; none means all text.
    pub fields: Option<Vec<WeightedField>>,
    /// Does not change scores.
    pub filter: SearchQuery,
    /// Not applied to aggregations.
    pub post_filter: SearchQuery,
    pub circles: Vec<Circle>,
    pub order: HitOrder,
    pub decay_old: bool,
    pub facets: Vec<Facet>,
}

/// A field, and the factor of its scores.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedField {
    pub path: String,
    pub weight: f32,
}

/// A query that an object matches.
///
/// Paths are dotted, without indexes: `list[*].name` is `list.name`. Words are in the form that
/// [`super::analysis`] gives them.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchQuery {
    /// Matches everything, with score 1.
    All,
    /// Matches nothing.
    None,
    /// A condition on one field; without a path, on the fields of the search.
    Field { path: Option<String>, condition: FieldCondition },
    /// All of `must`, none of `must_not`; without `must`, at least one of `should`.
    Boolean { must: Vec<SearchQuery>, should: Vec<SearchQuery>, must_not: Vec<SearchQuery> },
    /// Another query with its scores multiplied.
    Boost(Box<SearchQuery>, f32),
}

/// A condition on the values of one field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldCondition {
    /// A complete word; also a number or a boolean with this text.
    Word(String),
    /// A word with at most `edits` typing errors.
    Fuzzy { word: String, edits: u8 },
    /// A sequence of words.
    Phrase(Vec<String>),
    /// One word of the value.
    Wildcard(WildcardPattern),
    /// A number or a boolean that is the complete value.
    Equals(ScalarValue),
    /// Compares numbers by value, texts in lower case.
    Range { from: Bound<Value>, to: Bound<Value> },
    /// Any value.
    Exists,
}

/// A word with wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WildcardPattern(pub Vec<PatternToken>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternToken {
    Char(char),
    /// `?`
    AnyChar,
    /// `*`
    AnyChars,
}

/// A number or a boolean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarValue {
    Bool(bool),
    Integer(i64),
    Number(f64),
}

impl ScalarValue {
    /// Parses a number or a boolean.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "true" => Some(Self::Bool(true)),
            "false" => Some(Self::Bool(false)),
            _ => Number::parse(text).map(|number| match number {
                Number::Integer(integer) => Self::Integer(integer),
                Number::Real(real) => Self::Number(real),
            }),
        }
    }
}

/// A bound of a range: its text in lower case, and its value if it is a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub text: String,
    pub number: Option<ScalarValue>,
}

/// Objects with a point of a geo property within a distance, the border included.
#[derive(Clone, Debug, PartialEq)]
pub struct Circle {
    pub path: String,
    pub center: Point,
    pub meters: f64,
}

/// A point on earth, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub lat: f64,
    pub lon: f64,
}

/// The order of hits (see docs/reference/search.md#order); the date of creation decides ties.
#[derive(Clone, Debug, PartialEq)]
pub enum HitOrder {
    /// By score, best first, then by `then`.
    Score { then: Option<PropertyOrder> },
    /// By score, lowest first.
    ScoreAscending,
    /// By a hash of the seed and the object.
    Random(u64),
}

/// An order by a property.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyOrder {
    pub by: SortBy,
    pub descending: bool,
    pub missing_first: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SortBy {
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
