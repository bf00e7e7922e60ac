//! The envelope of every list (contract 1.9).

use serde::{Deserialize, Serialize};

use crate::paging::Page;

/// One page of a list, in the envelope's key order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct List<T> {
    /// Entries on all pages.
    pub total_count: u64,
    pub total_pages: u64,
    pub current_page: u32,
    /// Entries on this page.
    pub count: u64,
    pub data: Vec<T>,
}

impl<T> List<T> {
    /// Wraps one page of `total` entries.
    pub fn new(page: Page, total: u64, data: Vec<T>) -> Self {
        Self {
            total_count: total,
            total_pages: page.count(total),
            current_page: page.number,
            count: data.len() as u64,
            data,
        }
    }

    /// Wraps a list that has only one page.
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
