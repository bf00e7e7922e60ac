//! Filters and order of lists, see docs/reference/filters.md
//!
//! [`filter`] parses conditions, [`path`] property paths; [`linked`] resolves conditions on linked
//! objects; [`eval`] evaluates a condition on a value, [`order`] computes the sort key of a value,
//! [`value`] has shared conversions of JSON values. This module works on values in memory and knows no
//! SQL; `cms-store` translates a [`ListQuery`] to SQL and calls [`eval`] and [`order`] where no index
//! helps.

pub mod eval;
pub mod filter;
pub mod linked;
pub mod order;
pub mod path;
pub mod value;

use crate::{
    content_type::model::Property,
    object::model::Edition,
    paging::{ListRange, PageRequest},
};
use filter::Condition;
use linked::LinkedCondition;
use path::{InternalField, PathRoot, PropertyPath};

/// A query for objects of one type.
#[derive(Clone, Debug)]
pub struct ListQuery {
    /// All conditions must hold.
    pub conditions: Vec<Condition>,
    /// These must hold too. They depend on objects of other types, and on the rights of the caller.
    pub linked: Vec<LinkedCondition>,
    pub order: PropertyPath,
    pub descending: bool,
    /// Objects without a value of the sort key come first instead of last, in either direction.
    pub empty_first: bool,
    /// Only these ids, in any letter case; none means no restriction.
    pub ids: Option<Vec<String>>,
    pub edition: Edition,
    /// Only objects whose workflow state is `public`.
    pub only_approved: bool,
    pub range: ListRange,
}

impl ListQuery {
    /// Returns whether the list contains all objects of an edition. The store has a counter of these.
    pub fn is_unrestricted(&self) -> bool {
        self.conditions.is_empty()
            && self.linked.is_empty()
            && self.ids.is_none()
            && !self.only_approved
    }

    /// Parses `order_by`; none means the date of creation.
    pub fn order(order_by: Option<&str>, properties: &[Property]) -> PropertyPath {
        order_by.filter(|path| !path.is_empty()).map_or_else(
            || PathRoot::Internal(InternalField::CreatedAt).into(),
            |path| PropertyPath::parse(path, properties),
        )
    }
}

impl Default for ListQuery {
    fn default() -> Self {
        Self {
            conditions: Vec::new(),
            linked: Vec::new(),
            order: Self::order(None, &[]),
            descending: false,
            empty_first: false,
            ids: None,
            edition: Edition::Current,
            only_approved: false,
            range: PageRequest::default().into(),
        }
    }
}
