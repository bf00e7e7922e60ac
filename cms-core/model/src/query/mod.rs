//! Which objects of a type a list holds, and in which order (contract 3.2 to 3.4).
//!
//! [`filter`] reads conditions, [`path`] what they and the order look at, [`eval`] decides whether
//! one value meets a condition, [`order`] gives the key that a value sorts by, [`value`] has the
//! readings of JSON values that these share. Everything here works on values in memory and knows
//! no SQL; `store::list_sql` turns a [`ListQuery`] into statements and falls back on [`eval`] and
//! [`order`] where an index cannot help, so both readings are one.

pub mod eval;
pub mod filter;
pub mod order;
pub mod path;
pub mod value;

use crate::{
    content_type::model::Property,
    object::model::Edition,
    paging::{ListRange, Page},
};
use filter::Condition;
use path::{InternalField, PathRoot, PropertyPath};

/// One list of objects of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct ListQuery {
    /// All of them must hold.
    pub conditions: Vec<Condition>,
    pub order: PropertyPath,
    pub descending: bool,
    /// Objects without an order value go first instead of last, in either direction.
    pub empty_first: bool,
    /// Only these ids, in any letter case; none means no restriction.
    pub ids: Option<Vec<String>>,
    pub edition: Edition,
    /// Only objects whose workflow state is `public`.
    pub only_approved: bool,
    pub slice: ListRange,
}

impl ListQuery {
    /// Tells whether the list is a whole edition, whose length is known.
    pub fn is_unrestricted(&self) -> bool {
        self.conditions.is_empty() && self.ids.is_none() && !self.only_approved
    }

    /// Reads `order_by`; none means the date of creation (contract 3.2).
    pub fn order(order_by: Option<&str>, properties: &[Property]) -> PropertyPath {
        order_by.filter(|path| !path.is_empty()).map_or_else(
            || PropertyPath {
                root: PathRoot::Internal(InternalField::CreatedAt),
                steps: Vec::new(),
            },
            |path| PropertyPath::parse(path, properties),
        )
    }
}

impl Default for ListQuery {
    fn default() -> Self {
        Self {
            conditions: Vec::new(),
            order: Self::order(None, &[]),
            descending: false,
            empty_first: false,
            ids: None,
            edition: Edition::Current,
            only_approved: false,
            slice: Page::default().into(),
        }
    }
}
