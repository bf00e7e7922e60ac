//! Pages of a list in descending order of an indexed property, from the ascending index.
//!
//! Objects with equal values are in creation order in either direction. A backward scan of the
//! index has them in the opposite order, and sorting them costs as much as the largest group of
//! equal values. So the statement goes from group to group in descending order, and reads each group
//! forwards:
//!
//! - `first` is the value of the first object of the page, found by a backward scan;
//! - `groups` are this value and the next smaller ones, each found by a lookup when the page needs
//!   it;
//! - the offset within the first group is the offset of the page less the objects of all groups
//!   before it, which are counted within the index.
//!
//! A second index per slot would save about 20 microseconds per page, and make every write of an
//! object a fifth more expensive.

use super::slots;

/// Smaller than every value, and greater than every value: numbers, then texts of booleans, then
/// blobs of UTF-8.
const BEFORE_ALL: &str = "-9e999";
const AFTER_ALL: &str = "x'ff'";

/// What a page is read from.
pub(super) struct DescendingPage<'a> {
    pub(super) table: &'a str,
    /// Name of the index of the slot.
    pub(super) index: &'a str,
    pub(super) slot: usize,
    /// The complete WHERE clause of the list.
    pub(super) condition: &'a str,
    pub(super) empty_first: bool,
    /// Placeholders.
    pub(super) limit: &'a str,
    pub(super) offset: &'a str,
}

impl DescendingPage<'_> {
    /// Selects the primary keys of the page as `found`, in its order.
    pub(super) fn sql(&self) -> String {
        let Self { table, index, condition, empty_first, limit, offset, .. } = self;
        let key = slots::key(self.slot);
        let source = format!("{table} INDEXED BY \"{index}\"");
        // Ranges of the sort value itself would compete with those of the groups for the index: the
        // unary plus makes an expression that no index contains. `edges` takes their place.
        let filter = condition.replace(&key, &format!("+{key}"));
        let has_range = filter != *condition;
        let (edges, from, to) = if has_range {
            let edge = |order: &str| {
                format!(
                    "(SELECT {key} FROM {source} WHERE {condition} AND {key} IS NOT NULL \
                     ORDER BY {key} {order} LIMIT 1)"
                )
            };
            let edges = format!(
                "edges(lowest, highest) AS MATERIALIZED (SELECT {}, {}), ",
                edge("ASC"),
                edge("DESC")
            );
            let from = format!(" AND {key} >= (SELECT lowest FROM edges)");
            (edges, from, format!(" AND {key} <= (SELECT highest FROM edges)"))
        } else {
            Default::default()
        };
        let count =
            |range: &str| format!("(SELECT count(*) FROM {source} WHERE {filter} AND {range})");
        let first = "(SELECT value FROM first)";
        let (empties, below, continues, is_shown, before) = if *empty_first {
            let empty = count(&format!("{key} IS NULL"));
            let greater = count(&format!("{key} > {first}{to}"));
            (
                "FIRST",
                format!("ifnull(groups.value, {AFTER_ALL})"),
                "groups.value IS NOT NULL OR is_first",
                " AND (groups.value IS NOT NULL OR is_first)",
                format!("iif({first} IS NULL, 0, {empty} + {greater})"),
            )
        } else {
            let greater = count(&format!("{key} > ifnull({first}, {BEFORE_ALL}){to}"));
            ("LAST", "groups.value".to_owned(), "groups.value IS NOT NULL", "", greater)
        };
        format!(
            "WITH RECURSIVE first(value) AS MATERIALIZED (SELECT {key} FROM {source} \
             WHERE {condition} ORDER BY {key} DESC NULLS {empties} LIMIT 1 OFFSET {offset}), \
             {edges}groups(value, is_first) AS (SELECT value, TRUE FROM first UNION ALL \
             SELECT (SELECT {key} FROM {source} WHERE {filter} AND {key} < {below}{from} \
             ORDER BY {key} DESC LIMIT 1), FALSE FROM groups WHERE {continues}) \
             SELECT {table}.pk AS found FROM groups CROSS JOIN {source} \
             ON {filter} AND {key} IS groups.value{is_shown} \
             LIMIT {limit} OFFSET {offset} - {before}"
        )
    }
}
