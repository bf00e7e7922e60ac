//! `GET /api/v1/search` (contract 6.1), and the jobs that make its index anew (contract 10.1).

use serde::{Deserialize, Serialize};

use crate::paging::Page;

/// What is searched for. Texts are as sent; the core reads them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchRequest {
    /// Required by the specification; none is refused, empty means everything.
    pub q: Option<String>,
    pub page: Page,
    /// Names of types; none means all that the key may read.
    pub content_types: Option<Vec<String>>,
    /// `path` or `path^weight`; none means all text.
    pub fields: Option<Vec<String>>,
    /// Path and expression.
    pub filters: Vec<(String, String)>,
    /// Like `filters`, but aggregations do not see them.
    pub post_filters: Vec<(String, String)>,
    /// Path of a geo property, and `geo_distance,<distance><unit>,<lat>,<lon>`.
    pub geo_filters: Vec<(String, String)>,
    /// Path, `_score` or `_geo_distance`; `.keyword` at the end compares as text.
    pub order_by: Option<String>,
    pub descending: bool,
    /// Objects without the order value go first.
    pub missing_first: bool,
    pub random_seed: Option<f64>,
    /// 0 to 2.
    pub hydrate: u8,
    pub mode: QueryMode,
    /// Older objects score lower.
    pub decay_old: bool,
    pub aggregate_by: Vec<String>,
    pub aggregate_by_numeric: Vec<String>,
    /// Name of a type, and what its scores are multiplied by.
    pub boosts: Vec<(String, f32)>,
}

/// How the words of `q` match (contract 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueryMode {
    /// Any word.
    #[default]
    Default,
    /// All words as one phrase; operators mean nothing.
    Exact,
    /// Any word, with a few typing errors.
    Fuzzy,
}

impl QueryMode {
    /// Reads `query_mode`; anything unknown is the default.
    pub fn parse(text: &str) -> Self {
        match text {
            "exact" => Self::Exact,
            "fuzzy" => Self::Fuzzy,
            _ => Self::Default,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Exact => "exact",
            Self::Fuzzy => "fuzzy",
        }
    }
}

/// One aggregation of an answer (contract 6.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aggregation {
    pub field: String,
    /// Always 0: counts are exact.
    pub doc_count_error_upper_bound: u64,
    /// Objects in buckets that are not shown.
    pub sum_other_doc_count: u64,
    pub buckets: Vec<AggregationBucket>,
}

/// A value, and how many objects have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AggregationBucket {
    /// A string, or a number of a numeric aggregation.
    pub key: serde_json::Value,
    pub doc_count: u64,
}

/// `POST /api/v1/internal/reindex`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCreated {
    pub id: String,
}

/// `GET /api/v1/internal/job/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub id: String,
    pub kind: String,
    pub state: JobState,
    /// Objects of [`Self::total`].
    pub done: u64,
    pub total: u64,
    /// Why the last attempt failed; there will be another.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    Waiting,
    Running,
    Done,
}
