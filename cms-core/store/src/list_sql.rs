//! Lists as SQL: compiles a [`ListQuery`] of one type to statements with bound parameters.
//!
//! [`count`] counts the objects on all pages. [`page`] returns complete rows; it takes that count,
//! because the access path depends on it. [`unique_lookup`] finds another object with the same
//! value. The SQL text contains only the primary key of the type and slot numbers; client values are
//! bound. So each type has few statements, and SQL injection is impossible.
//!
//! Conditions that an index can evaluate exactly use its columns ([`super::slots`]). The others call
//! [`super::functions`], which run the code of [`cms_model::query`]. [`terms`] compiles conditions;
//! [`access_path`] chooses between an index of the order and an index of a condition. A statement first
//! selects the primary keys of a page: so SQLite sorts keys instead of objects, and skips earlier
//! pages within an index.

mod access_path;
mod descending;
mod links;
mod terms;

use std::collections::{BTreeSet, HashMap};

use cms_model::{
    content_type::{catalog::CompiledType, indexed::indexed, model::Property},
    object::model::Edition,
    query::{
        ListQuery,
        order::{self, SortKey},
        path::{InternalField, PathRoot},
    },
};
use rusqlite::types::Value as Sql;
use serde_json::Value;

use super::{functions::sql_key, object::table_of, slots};
use access_path::AccessPath;
use descending::DescendingPage;
use terms::{AccessMethod, Term};

/// The type of a list.
#[derive(Clone, Copy)]
pub(crate) struct ListedType<'a> {
    /// Primary key of the type.
    pub ctd: i64,
    pub name: &'a str,
    pub properties: &'a [Property],
}

impl<'a> From<&'a CompiledType> for ListedType<'a> {
    fn from(content_type: &'a CompiledType) -> Self {
        Self {
            ctd: content_type.pk,
            name: content_type.name(),
            properties: &content_type.properties,
        }
    }
}

/// The number of objects that match a list, and of all objects in its edition. They only choose the
/// access path: a wrong number costs time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListCounts {
    pub matching: u64,
    pub total: u64,
}

/// A statement with its parameter values, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    pub sql: String,
    pub parameters: Vec<Sql>,
}

/// A page statement and its cost.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PageStatement {
    pub statement: Statement,
    /// Cost in index entries read.
    pub cost: u64,
}

/// Selects one page of a list, in its order. `columns` is the select list over the table of the
/// edition.
pub(crate) fn page(
    query: &ListQuery,
    listed: ListedType<'_>,
    counts: ListCounts,
    columns: &str,
) -> PageStatement {
    let mut builder = Builder::new(listed);
    let terms = builder.terms(query);
    let path = access_path::choose(query, listed, &terms, counts);
    let cost = access_path::cost(&path, query, &terms, counts);
    let (hint, sign) = match &path {
        AccessPath::OrderIndex(index) => (format!(" INDEXED BY \"{index}\""), ""),
        // With a unary plus, the order is an expression that no index contains. So SQLite uses the
        // index of a condition, not that of the order.
        AccessPath::ConditionIndex => (String::new(), "+"),
        AccessPath::Any => (String::new(), ""),
    };
    let has_single_value = terms::has_single_value(&query.order, query, &terms);
    let order =
        if has_single_value { "created_at, pk".to_owned() } else { builder.order(query, sign) };
    let condition = builder.condition(&terms, matches!(path, AccessPath::OrderIndex(_)));
    let limit = builder.bind(Sql::Integer(i64::from(query.range.limit)));
    let offset = i64::try_from(query.range.offset).unwrap_or(i64::MAX);
    let offset = builder.bind(Sql::Integer(offset));
    let table = table_of(query.edition);
    let found = match (&path, SortValue::of(query, listed)) {
        (AccessPath::OrderIndex(index), SortValue::Slot(slot))
            if query.descending && !has_single_value && may_repeat(&condition) =>
        {
            let (condition, limit, offset) = (&condition, &limit, &offset);
            let empty_first = query.empty_first;
            DescendingPage { table, index, slot, condition, empty_first, limit, offset }.sql()
        }
        _ => format!(
            "SELECT pk AS found FROM {table}{hint} WHERE {condition} \
             ORDER BY {order} LIMIT {limit} OFFSET {offset}"
        ),
    };
    // The cross join keeps the order of the inner list: SQLite does not reorder its sides.
    let sql = format!("SELECT {columns} FROM ({found}) CROSS JOIN {table} ON {table}.pk = found");
    PageStatement { statement: Statement { sql, parameters: builder.parameters }, cost }
}

/// Maximum number of subqueries in a condition that a statement contains several times.
const MAX_REPEATED_SUBQUERIES: usize = 20;

/// Returns whether a statement may contain a condition several times: SQLite refuses to plan statements with more than
/// 1,000 tables and indexes, and conditions on linked objects have up to five per content type.
fn may_repeat(condition: &str) -> bool {
    condition.matches("SELECT").count() <= MAX_REPEATED_SUBQUERIES
}

/// Counts the objects on all pages of a list.
pub(crate) fn count(query: &ListQuery, listed: ListedType<'_>) -> Statement {
    links::count_of_linked(query, listed)
        .unwrap_or_else(|| all_pages(query, listed, ("count(*)", "")))
}

/// Selects the primary keys of the objects on all pages of a list, in creation order.
pub(crate) fn pks(query: &ListQuery, listed: ListedType<'_>) -> Statement {
    all_pages(query, listed, ("pk", " ORDER BY created_at, pk"))
}

fn all_pages(
    query: &ListQuery,
    listed: ListedType<'_>,
    (columns, order): (&str, &str),
) -> Statement {
    let mut builder = Builder::new(listed);
    let terms = builder.terms(query);
    // A full scan reads objects in the order in which they are stored: without the hint, SQLite may
    // choose an index with another order.
    let table = table_of(query.edition);
    let hint = if access_path::best(&terms) == AccessMethod::FullScan {
        format!(" INDEXED BY {table}_created")
    } else {
        String::new()
    };
    let condition = builder.condition(&terms, false);
    let sql = format!("SELECT {columns} FROM {table}{hint} WHERE {condition}{order}");
    Statement { sql, parameters: builder.parameters }
}

/// Finds an object other than `except` with the same value in the slot of a unique property; none
/// when the value is empty, because empty values do not conflict (see
/// docs/reference/objects.md#unique-values).
pub(crate) fn unique_lookup(
    edition: Edition,
    ctd: i64,
    slot: usize,
    value: &Value,
    except: Option<i64>,
) -> Option<Statement> {
    let parameters = vec![
        sql_key(Some(SortKey::of(value)?)),
        order::original_text(value).map_or(Sql::Null, Sql::Text),
        except.map_or(Sql::Null, Sql::Integer),
    ];
    let (key, original_text) = (slots::key(slot), slots::original_text_if_different(slot));
    let (table, condition) = (table_of(edition), slots::condition(slot));
    let sql = format!(
        "SELECT pk FROM {table} WHERE ctd = {ctd} AND {condition} AND {key} = ?1 \
         AND {original_text} IS ?2 AND pk IS NOT ?3 LIMIT 1"
    );
    Some(Statement { sql, parameters })
}

/// The sort value of a list, and where it is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SortValue {
    CreatedAt,
    UpdatedAt,
    Id,
    /// A column that no index contains, as an expression of its JSON.
    Json(&'static str),
    /// An indexed property.
    Slot(usize),
    /// A value within the text of the object.
    Path,
    /// No object has the sort value: the list is in creation order.
    Nothing,
}

impl SortValue {
    fn of(query: &ListQuery, listed: ListedType<'_>) -> Self {
        let is_root = query.order.steps.is_empty();
        match &query.order.root {
            PathRoot::Id if is_root => Self::Id,
            PathRoot::Internal(InternalField::CreatedAt) if is_root => Self::CreatedAt,
            PathRoot::Internal(InternalField::UpdatedAt) if is_root => Self::UpdatedAt,
            PathRoot::Internal(field) if is_root => {
                terms::internal_json(*field).map_or(Self::Nothing, Self::Json)
            }
            PathRoot::Property(name) if is_root => {
                slot_of(listed, name).map_or(Self::Path, Self::Slot)
            }
            PathRoot::Property(_) => Self::Path,
            PathRoot::Any { .. }
            | PathRoot::Unknown
            | PathRoot::Incoming
            | PathRoot::Id
            | PathRoot::Internal(_) => Self::Nothing,
        }
    }
}

/// Returns the slot of a property, if it is indexed.
fn slot_of(listed: ListedType<'_>, name: &str) -> Option<usize> {
    indexed(listed.properties).position(|property| property.name == name)
}

/// Collects parameters while the SQL text is built.
struct Builder<'a> {
    listed: ListedType<'a>,
    /// The indexed properties by name, with their slots.
    indexed: HashMap<&'a str, (usize, &'a Property)>,
    /// The slots that the SQL text uses.
    used: BTreeSet<usize>,
    parameters: Vec<Sql>,
}

impl<'a> Builder<'a> {
    fn new(listed: ListedType<'a>) -> Self {
        let indexed = indexed(listed.properties).enumerate();
        let indexed =
            indexed.map(|(slot, property)| (property.name.as_str(), (slot, property))).collect();
        Self { listed, indexed, used: BTreeSet::new(), parameters: Vec::new() }
    }

    /// Binds a value and returns its placeholder.
    fn bind(&mut self, value: Sql) -> String {
        self.parameters.push(value);
        format!("?{}", self.parameters.len())
    }

    /// Returns the slot of an indexed property, and records that the SQL text uses it.
    fn slot(&mut self, property: &str) -> usize {
        let (slot, _) = self.indexed[property];
        self.used.insert(slot);
        slot
    }

    /// The complete WHERE clause: the terms, and the conditions that let SQLite use the slot
    /// indexes. `uses_order_index`: the statement reads an index in the order of the list.
    fn condition(&self, terms: &[Term], uses_order_index: bool) -> String {
        let mut condition = terms::join(terms);
        if !uses_order_index && access_path::best(terms) == AccessMethod::PrimaryKeys {
            // The first term is `ctd = …`: the unary plus excludes the indexes that start with `ctd`.
            condition.insert(0, '+');
        }
        for slot in &self.used {
            condition.push_str(" AND ");
            condition.push_str(&slots::condition(*slot));
        }
        condition
    }

    fn bind_json(&mut self, value: &impl serde::Serialize) -> String {
        let json = serde_json::to_string(value).expect("all keys in queries are strings");
        self.bind(Sql::Text(json))
    }

    /// The terms of ORDER BY, each prefixed with `sign`.
    fn order(&mut self, query: &ListQuery, sign: &str) -> String {
        let direction = if query.descending { "DESC" } else { "ASC" };
        let empties = if query.empty_first { "FIRST" } else { "LAST" };
        let ties = format!("{sign}created_at, {sign}pk");
        let key = match SortValue::of(query, self.listed) {
            SortValue::CreatedAt => return format!("{sign}created_at {direction}, {sign}pk"),
            SortValue::UpdatedAt => return format!("{sign}updated_at {direction}, {ties}"),
            // Ids are unique, and their collation is the order of lower-case text.
            SortValue::Id => return format!("{sign}id {direction}"),
            SortValue::Nothing => return ties,
            SortValue::Json(json) => format!("sort_key({json})"),
            SortValue::Slot(slot) => {
                self.used.insert(slot);
                slots::key(slot)
            }
            SortValue::Path => {
                let path = self.bind_json(&query.order);
                format!("path_key({path}, data)")
            }
        };
        format!("{sign}{key} {direction} NULLS {empties}, {ties}")
    }
}

#[cfg(test)]
mod tests;
