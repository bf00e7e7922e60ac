//! Requests for content objects. Objects themselves travel as JSON text: they are stored that way.

use serde::{Deserialize, Serialize};

use crate::paging::Page;

/// JSON text of one answer, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(pub Vec<u8>);

impl Json {
    /// Reads the text as a value.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_slice(&self.0).expect("the core writes valid JSON")
    }
}

/// `GET /api/v1/content/{name}` (contract 3.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    pub page: Page,
    /// Property path; none means `internal.createdAt`.
    pub order_by: Option<String>,
    pub descending: bool,
    /// Objects without the order value go first.
    pub empty_first: bool,
    /// 0 to 2.
    pub hydrate: u8,
    /// The `filters` parameter as sent, JSON text.
    pub filters: Option<String>,
    /// Only these ids; none means no restriction.
    pub ids: Option<Vec<String>>,
}

/// Order of a list of versions or types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    #[default]
    Ascending,
    Descending,
}
