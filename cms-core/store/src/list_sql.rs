//! Lists as SQL: a [`ListQuery`] of one type becomes statements with bound parameters.
//!
//! [`count`] gives the number of objects on all pages; [`page`] gives full rows and wants to know
//! that number, because the way to the page depends on it; [`unique_lookup`] finds another object
//! with the same value. Only the number of the type and the numbers of slots stand in
//! the text; what a client sent is bound. So a type has few
//! texts and nothing can be injected.
//!
//! What an index can answer exactly is put in terms of its columns ([`super::slots`]); the
//! rest goes through [`super::functions`], which run the very code of [`cms_model::query`]. [`terms`]
//! does this for conditions, [`walk`] chooses between an index of the order and one of the
//! conditions. Pages are found on primary keys first: a sorter then holds keys instead of objects,
//! and skipped pages are skipped within an index.

mod terms;
mod walk;

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
use terms::Term;
use walk::Walk;

/// The type that a list is of.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    /// Row of the type.
    pub ctd: i64,
    pub name: &'a str,
    pub properties: &'a [Property],
}

impl<'a> From<&'a CompiledType> for Target<'a> {
    fn from(content_type: &'a CompiledType) -> Self {
        Self {
            ctd: content_type.pk,
            name: content_type.name(),
            properties: &content_type.properties,
        }
    }
}

/// How many objects a list has, and how many the edition has. A guess makes a page slower, not wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub matching: u64,
    pub live: u64,
}

/// A statement with the values of its parameters, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    pub sql: String,
    pub parameters: Vec<Sql>,
}

/// A page, and what it takes to read it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Page {
    pub statement: Statement,
    /// Entries of an index that are read in the same time.
    pub cost: u64,
}

/// Selects one page of a list, in its order. `columns` is the select list over the
/// table of the edition.
pub(crate) fn page(query: &ListQuery, target: Target<'_>, size: Size, columns: &str) -> Page {
    let mut builder = Builder::new(target);
    let terms = builder.terms(query);
    let walk = walk::choose(query, target, &terms, size);
    let cost = walk::cost(&walk, query, &terms, size);
    let (hint, sign) = match walk {
        Walk::Along(index) => (format!(" INDEXED BY \"{index}\""), ""),
        // A sign makes an expression that no index has.
        Walk::Conditions => (String::new(), "+"),
        Walk::Free => (String::new(), ""),
    };
    let order = if terms::is_fixed(&query.order, query, &terms) {
        "created_at, pk".to_owned()
    } else {
        builder.order(query, sign)
    };
    let condition = builder.condition(&terms);
    let limit = builder.bind(Sql::Integer(i64::from(query.slice.limit)));
    let offset = i64::try_from(query.slice.offset).unwrap_or(i64::MAX);
    let offset = builder.bind(Sql::Integer(offset));
    let table = table_of(query.edition);
    // The cross join keeps the order of the inner list: SQLite never swaps its sides.
    let sql = format!(
        "SELECT {columns} FROM (SELECT pk AS found FROM {table}{hint} WHERE {condition} \
         ORDER BY {order} LIMIT {limit} OFFSET {offset}) CROSS JOIN {table} ON {table}.pk = found"
    );
    Page { statement: Statement { sql, parameters: builder.parameters }, cost }
}

/// Counts the objects on all pages of a list.
pub(crate) fn count(query: &ListQuery, target: Target<'_>) -> Statement {
    let mut builder = Builder::new(target);
    let terms = builder.terms(query);
    // Where all objects must be read, they are read in the order in which they are stored.
    let table = table_of(query.edition);
    let hint = if walk::reads_objects(&terms) {
        format!(" INDEXED BY {table}_created")
    } else {
        String::new()
    };
    let condition = builder.condition(&terms);
    let sql = format!("SELECT count(*) FROM {table}{hint} WHERE {condition}");
    Statement { sql, parameters: builder.parameters }
}

/// Finds an object other than `except` that has the same value in the slot of a unique property;
/// none when the value is empty, because those never clash (contract 3.6).
pub(crate) fn unique_lookup(
    edition: Edition,
    ctd: i64,
    slot: usize,
    value: &Value,
    except: Option<i64>,
) -> Option<Statement> {
    let parameters = vec![
        sql_key(Some(SortKey::of(value)?)),
        order::spelling(value).map_or(Sql::Null, Sql::Text),
        except.map_or(Sql::Null, Sql::Integer),
    ];
    let (key, spelling) = (slots::key(slot), slots::spelling(slot));
    let (table, condition) = (table_of(edition), slots::condition(slot));
    let sql = format!(
        "SELECT pk FROM {table} WHERE ctd = {ctd} AND {condition} AND {key} = ?1 \
         AND {spelling} IS ?2 AND pk IS NOT ?3 LIMIT 1"
    );
    Some(Statement { sql, parameters })
}

/// Collects parameters while the text is put together.
struct Builder<'a> {
    target: Target<'a>,
    /// The properties that have an index, by name, with their slots.
    indexed: HashMap<&'a str, (usize, &'a Property)>,
    /// The slots that the text speaks of.
    used: BTreeSet<usize>,
    parameters: Vec<Sql>,
}

impl<'a> Builder<'a> {
    fn new(target: Target<'a>) -> Self {
        let indexed = indexed(target.properties).enumerate();
        let indexed =
            indexed.map(|(slot, property)| (property.name.as_str(), (slot, property))).collect();
        Self { target, indexed, used: BTreeSet::new(), parameters: Vec::new() }
    }

    /// Binds a value and returns how the text refers to it.
    fn bind(&mut self, value: Sql) -> String {
        self.parameters.push(value);
        format!("?{}", self.parameters.len())
    }

    /// Returns the slot of a property that has one, and notes that the text speaks of it.
    fn slot(&mut self, property: &str) -> usize {
        let (slot, _) = self.indexed[property];
        self.used.insert(slot);
        slot
    }

    /// All of WHERE: the terms, and what lets SQLite use the indexes of their slots.
    fn condition(&self, terms: &[Term]) -> String {
        let mut condition = terms::join(terms);
        for slot in &self.used {
            condition.push_str(" AND ");
            condition.push_str(&slots::condition(*slot));
        }
        condition
    }

    fn bind_json(&mut self, value: &impl serde::Serialize) -> String {
        let json = serde_json::to_string(value).expect("queries have no keys but strings");
        self.bind(Sql::Text(json))
    }

    /// The terms of ORDER BY, each with a sign before it.
    fn order(&mut self, query: &ListQuery, sign: &str) -> String {
        let direction = if query.descending { "DESC" } else { "ASC" };
        let empties = if query.empty_first { "FIRST" } else { "LAST" };
        let ties = format!("{sign}created_at, {sign}pk");
        let path = &query.order;
        let key = match (&path.root, path.steps.is_empty()) {
            (PathRoot::Internal(InternalField::CreatedAt), true) => {
                return format!("{sign}created_at {direction}, {sign}pk");
            }
            (PathRoot::Internal(InternalField::UpdatedAt), true) => {
                return format!("{sign}updated_at {direction}, {ties}");
            }
            // Ids are unique, and their collation is the order of lower-case text.
            (PathRoot::Id, true) => return format!("{sign}id {direction}"),
            (PathRoot::Internal(field), true) => {
                terms::internal_json(*field).map(|json| format!("sort_key({json})"))
            }
            (PathRoot::Property(name), true) if self.indexed.contains_key(name.as_str()) => {
                Some(slots::key(self.slot(name)))
            }
            (PathRoot::Property(_), _) => {
                let path = self.bind_json(path);
                Some(format!("path_key({path}, data)"))
            }
            (PathRoot::Any | PathRoot::Nowhere, _)
            | (PathRoot::Id | PathRoot::Internal(_), false) => None,
        };
        match key {
            Some(key) => format!("{sign}{key} {direction} NULLS {empties}, {ties}"),
            None => ties,
        }
    }
}

#[cfg(test)]
mod plans;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tests;
