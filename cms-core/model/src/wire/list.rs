//! The envelope of lists, see docs/reference/http.md#pagination

use serde::{Deserialize, Serialize};

use crate::paging::PageRequest;

/// Returns whether `names`, the names that a request selects, contain `name`; none selects all names.
pub fn is_named(names: Option<&[String]>, name: &str) -> bool {
    names.is_none_or(|names| names.iter().any(|wanted| wanted == name))
}

/// One page of a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct List<T> {
    /// Number of entries on all pages.
    pub total_count: u64,
    pub total_pages: u64,
    pub current_page: u32,
    /// Number of entries on this page.
    pub count: u64,
    pub data: Vec<T>,
}

impl<T> List<T> {
    /// Wraps one page of `total` entries.
    pub fn new(page: PageRequest, total: u64, data: Vec<T>) -> Self {
        Self {
            total_count: total,
            total_pages: page.page_count(total),
            current_page: page.number,
            count: data.len() as u64,
            data,
        }
    }

    /// Wraps a list with one page.
    pub fn single_page(data: Vec<T>) -> Self {
        let total = data.len() as u64;
        Self {
            total_count: total,
            total_pages: u64::from(total > 0),
            current_page: 1,
            count: total,
            data,
        }
    }
}
