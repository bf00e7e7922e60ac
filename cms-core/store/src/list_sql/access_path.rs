//! Chooses the access path of a page: scan the index of the order and check each object until the
//! page is full, or use an index of the conditions and sort the matches.
//!
//! SQLite keeps no statistics here and would guess. The number of matching objects is known before
//! a page is read, and gives the cost of both paths. If the conditions have an index, the cheaper
//! path reads at worst about sqrt(n x m) index entries, where n is offset plus limit of the page,
//! and m the number of objects of the type.

use cms_model::query::{ListQuery, path::PathRoot};

use super::{
    ListCounts, ListedType, SortValue, slot_of,
    terms::{self, AccessMethod, Term},
};
use crate::{object::table_of, slots};

/// Cost of fetching and parsing one object, in index entries read.
const ENTRIES_PER_OBJECT: u64 = 16;

/// The access path of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AccessPath {
    /// Scan this index, which has the order.
    OrderIndex(String),
    /// Use an index of a condition, then sort.
    ConditionIndex,
    /// No index has the order: SQLite chooses an index, and sorts.
    Any,
}

pub(super) fn choose(
    query: &ListQuery,
    listed: ListedType<'_>,
    terms: &[Term],
    counts: ListCounts,
) -> AccessPath {
    let order = SortValue::of(query, listed);
    let Some(index) = order_index(query, order) else { return AccessPath::Any };
    let access_method = best(terms);
    let by_creation = matches!(order, SortValue::CreatedAt | SortValue::Nothing);
    if by_creation
        && let Some(name) = single_value_property(query, terms)
        && let Some(slot) = slot_of(listed, name)
    {
        // In that index, objects with one value are in creation order.
        return AccessPath::OrderIndex(slots::index_name(query.edition, slot));
    }
    // The index of a condition on the sort value has its matches in the order of the list.
    let sort_value_method = terms::of_conditions(query, terms)
        .filter(|(condition, _)| condition.path == query.order)
        .map(|(_, term)| term.access_method)
        .max();
    if access_method == AccessMethod::FullScan
        || sort_value_method >= Some(AccessMethod::IndexRange)
        || sort_value_method == Some(access_method)
    {
        return AccessPath::OrderIndex(index);
    }
    let needed = query.range.offset.saturating_add(u64::from(query.range.limit));
    let order_index_cost = needed.saturating_mul(counts.total) / counts.matching.max(1);
    let candidates =
        if access_method == AccessMethod::IndexScan { counts.total } else { counts.matching };
    let condition_index_cost =
        if by_creation { candidates / ENTRIES_PER_OBJECT } else { candidates };
    if order_index_cost.min(counts.total) < condition_index_cost {
        AccessPath::OrderIndex(index)
    } else {
        AccessPath::ConditionIndex
    }
}

/// Returns the estimated cost of a page, in index entries read.
pub(super) fn cost(
    path: &AccessPath,
    query: &ListQuery,
    terms: &[Term],
    counts: ListCounts,
) -> u64 {
    let needed = query.range.offset.saturating_add(u64::from(query.range.limit));
    let access_method = best(terms);
    let has_conditions = !query.conditions.is_empty() || query.ids.is_some();
    let entries = match path {
        AccessPath::OrderIndex(_) => needed.saturating_mul(counts.total) / counts.matching.max(1),
        AccessPath::ConditionIndex if access_method == AccessMethod::IndexScan => counts.total,
        AccessPath::ConditionIndex => counts.matching,
        AccessPath::Any if has_conditions && access_method > AccessMethod::IndexScan => {
            counts.matching
        }
        AccessPath::Any => counts.total,
    };
    let reads_objects = match path {
        AccessPath::OrderIndex(_) => has_conditions && access_method == AccessMethod::FullScan,
        AccessPath::ConditionIndex | AccessPath::Any => true,
    };
    let entries = entries.min(counts.total);
    if reads_objects { entries.saturating_mul(ENTRIES_PER_OBJECT) } else { entries }
}

/// Returns the best way to find the objects that meet all terms.
pub(super) fn best(terms: &[Term]) -> AccessMethod {
    terms.iter().map(|term| term.access_method).max().unwrap_or(AccessMethod::FullScan)
}

/// A property that a condition limits to one value.
fn single_value_property<'q>(query: &'q ListQuery, terms: &'q [Term]) -> Option<&'q str> {
    terms::of_conditions(query, terms).find_map(|(condition, term)| match &condition.path.root {
        PathRoot::Property(name) if term.access_method == AccessMethod::IndexPoint => {
            Some(name.as_str())
        }
        _ => None,
    })
}

/// The index that has the order, if any.
fn order_index(query: &ListQuery, order: SortValue) -> Option<String> {
    let descending = query.descending;
    let name = match order {
        SortValue::CreatedAt if descending => "newest",
        SortValue::CreatedAt | SortValue::Nothing => "created",
        SortValue::UpdatedAt if descending => "updated_desc",
        SortValue::UpdatedAt => "updated",
        SortValue::Id => "id",
        SortValue::Slot(slot) => return Some(slots::index_name(query.edition, slot)),
        SortValue::Json(_) | SortValue::Path => return None,
    };
    Some(format!("{}_{name}", table_of(query.edition)))
}
