//! `GET /api/v1/search`, see docs/reference/search.md#parameters, and jobs that rebuild the search
//! index

use serde::{Deserialize, Serialize};

use super::author::Author;
use crate::paging::PageRequest;

/// The parameters of a search, unparsed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchRequest {
    /// The search text. It is required; empty text matches all objects.
    pub q: Option<String>,
    pub page: PageRequest,
    /// Names of types; none means all readable types.
    pub content_types: Option<Vec<String>>,
    /// `path` or `path^weight`; none means all texts, numbers and booleans.
    pub fields: Option<Vec<String>>,
    /// Path and expression of each filter.
    pub filters: Vec<(String, String)>,
    /// Like `filters`, but without effect on aggregations.
    pub post_filters: Vec<(String, String)>,
    /// Path of a geo property, and `geo_distance,<distance><unit>,<lat>,<lon>`.
    pub geo_filters: Vec<(String, String)>,
    /// Path, `_score` or `_geo_distance`; the suffix `.keyword` compares as text.
    pub order_by: Option<String>,
    pub descending: bool,
    /// Objects without a value of the sort key come first.
    pub missing_first: bool,
    pub random_seed: Option<f64>,
    /// Hydration depth, 0 to 2.
    pub hydrate: u8,
    pub mode: QueryMode,
    /// Older objects score lower.
    pub decay_old: bool,
    pub aggregate_by: Vec<String>,
    pub aggregate_by_numeric: Vec<String>,
    /// Name of a type, and the factor for its scores.
    pub boosts: Vec<(String, f32)>,
    /// Paths of the parts of items to return; empty means complete items.
    pub item_fields: Vec<String>,
}

crate::named_enum! {
    /// How the words of `q` match, see docs/reference/search.md#modes
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum QueryMode {
        /// Any word.
        #[default]
        Default => "default",
        /// All words as one phrase; operators are ignored.
        Exact => "exact",
        /// Any word, with a few typing errors.
        Fuzzy => "fuzzy",
    }
}

/// One aggregation of a response, see docs/reference/search.md#facets
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aggregation {
    pub field: String,
    /// Always 0: counts are exact.
    pub doc_count_error_upper_bound: u64,
    /// Number of objects in omitted buckets.
    pub sum_other_doc_count: u64,
    pub buckets: Vec<AggregationBucket>,
}

/// A value, and the number of objects with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AggregationBucket {
    /// A string, or a number in a numeric aggregation.
    pub key: serde_json::Value,
    pub doc_count: u64,
}

/// `POST /api/v1/internal/reindex`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReindexCreated {
    pub id: String,
}

/// `GET /api/v1/internal/job/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReindexJob {
    pub id: String,
    pub kind: String,
    pub state: ReindexState,
    /// Number of processed objects of [`Self::total`].
    pub done: u64,
    pub total: u64,
    /// Error of the last attempt; the job is retried.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// A job in `GET /api/v1/internal/reindex`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedReindexJob {
    #[serde(flatten)]
    pub job: ReindexJob,
    /// None: all types.
    pub content_types: Option<Vec<String>>,
    pub by: Author,
    pub created_at: String,
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReindexState {
    Waiting,
    Running,
    Done,
}
