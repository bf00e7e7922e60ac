//! Pages of a list in descending order of an indexed property, from the ascending index.
//!
//! The objects with one value are a group. A list shows each group oldest first, whatever its direction,
//! but a backward scan of the index returns it newest first. To sort a group, SQLite would have to read all
//! of it, and it may be large. So the statement visits the groups in descending order of their values, and
//! reads each group forwards:
//!
//! - `first` is the entry at the offset of the page in a backward scan of the index. The page starts in its
//!   group.
//! - `groups` are the value of `first` and the next smaller values. Each is found by a lookup when the page
//!   needs it.
//! - In the group of `first`, the page skips the objects that earlier pages show. Their number is that of the entries
//!   of the group that the backward scan passed before `first`. A list shows a group oldest first, so the page skips
//!   as many of its oldest objects: if the scan passed three entries of the group, its three oldest objects.
//!
//! A second index per slot would save 25 to 45 microseconds per page, and take a sixth of the processor
//! time of a create (docs/decisions/0018-one-index-per-slot.md).

use super::slots;

/// Greater than every key. Keys are sorted as numbers, then texts of booleans, then blobs of UTF-8, which never
/// contain this byte.
const AFTER_ALL: &str = "x'ff'";

/// The parts of the statement of a page.
pub(super) struct DescendingPage<'a> {
    pub(super) table: &'a str,
    /// Name of the index of the slot.
    pub(super) index: &'a str,
    pub(super) slot: usize,
    /// The complete WHERE clause of the list.
    pub(super) condition: &'a str,
    pub(super) empty_first: bool,
    /// Placeholders in the SQL text, such as `?3`.
    pub(super) limit: &'a str,
    pub(super) offset: &'a str,
}

impl DescendingPage<'_> {
    /// Selects the primary keys of the page as `found`, in its order.
    pub(super) fn sql(&self) -> String {
        let Self { table, index, condition, empty_first, limit, offset, .. } = self;
        let key = slots::key(self.slot);
        let source = format!("{table} INDEXED BY \"{index}\"");
        // SQLite could use conditions on the sort value itself to read the index, instead of the
        // conditions that limit it to a group. The unary plus makes them expressions that no index
        // contains; the lower bound `lowest` replaces them.
        let filter = condition.replace(&key, &format!("+{key}"));
        let (lowest, from) = if filter == *condition {
            Default::default()
        } else {
            let lowest = format!(
                "lowest(value) AS MATERIALIZED (SELECT {key} FROM {source} WHERE {condition} \
                 AND {key} IS NOT NULL ORDER BY {key} LIMIT 1), "
            );
            (lowest, format!(" AND {key} >= (SELECT value FROM lowest)"))
        };
        let (empties, below, has_next, is_shown) = if *empty_first {
            (
                "FIRST",
                format!("ifnull(groups.value, {AFTER_ALL})"),
                "groups.value IS NOT NULL OR is_first",
                " AND (groups.value IS NOT NULL OR is_first)",
            )
        } else {
            ("LAST", "groups.value".to_owned(), "groups.value IS NOT NULL", "")
        };
        format!(
            "WITH RECURSIVE first(value, created, object) AS MATERIALIZED (\
             SELECT {key}, created_at, pk FROM {source} WHERE {condition} \
             ORDER BY {key} DESC NULLS {empties}, created_at DESC, pk DESC \
             LIMIT 1 OFFSET {offset}), \
             {lowest}groups(value, is_first) AS (SELECT value, TRUE FROM first UNION ALL \
             SELECT (SELECT {key} FROM {source} WHERE {filter} AND {key} < {below}{from} \
             ORDER BY {key} DESC LIMIT 1), FALSE FROM groups WHERE {has_next}) \
             SELECT pk AS found FROM groups CROSS JOIN {source} \
             ON {filter} AND {key} IS groups.value{is_shown} \
             LIMIT {limit} OFFSET (SELECT count(*) FROM first CROSS JOIN {source} ON {filter} \
             AND {key} IS first.value AND (created_at, pk) > (first.created, first.object))"
        )
    }
}
