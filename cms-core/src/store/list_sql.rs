//! Lists as SQL: a [`ListQuery`] of one type becomes statements with bound parameters.
//!
//! [`page`] gives full rows, [`count`] the number of objects on all pages, [`unique_lookup`] finds
//! another object with the same value. Only the number of the type, literally so that partial
//! indexes match, and names of declared properties stand in the text; what a client sent is
//! bound. So a type has few texts and nothing can be injected.
//!
//! What an index can answer exactly is put in terms of its columns ([`super::index_ddl`]); the
//! rest goes through `matches` and `path_key` ([`super::functions`]), which run the very code of
//! [`crate::query`]. Pages are found on primary keys first: a sorter then holds keys instead of
//! objects, and skipped pages are skipped within an index.

use rusqlite::types::Value as Sql;
use serde_json::Value;

use super::{functions::sql_key, index_ddl};
use crate::{
    clock::Timestamp,
    ctd::model::{Property, SchemaType},
    dates,
    query::{
        ListQuery,
        eval::{Matcher, spells},
        filter::{Condition, Operator},
        order::{self, SortKey},
        path::{InternalField, Path, Root},
        value::{self, Number},
    },
};

/// The type that a list is of.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    /// Row of the type.
    pub(crate) ctd: i64,
    pub(crate) name: &'a str,
    pub(crate) properties: &'a [Property],
}

/// A statement with the values of its parameters, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) parameters: Vec<Sql>,
}

/// Selects one page of a list, in its order. `columns` is the select list over table `object`.
pub(crate) fn page(query: &ListQuery, target: Target<'_>, columns: &str) -> Statement {
    let mut builder = Builder { target, parameters: Vec::new() };
    let condition = builder.condition(query);
    let order = builder.order(query);
    let limit = builder.bind(Sql::Integer(i64::from(query.page.limit)));
    let offset = i64::try_from(query.page.offset()).unwrap_or(i64::MAX);
    let offset = builder.bind(Sql::Integer(offset));
    // The cross join keeps the order of the inner list: SQLite never swaps its sides.
    let sql = format!(
        "SELECT {columns} FROM (SELECT pk AS found FROM object WHERE {condition} \
         ORDER BY {order} LIMIT {limit} OFFSET {offset}) CROSS JOIN object ON object.pk = found"
    );
    Statement { sql, parameters: builder.parameters }
}

/// Counts the objects on all pages of a list.
pub(crate) fn count(query: &ListQuery, target: Target<'_>) -> Statement {
    let mut builder = Builder { target, parameters: Vec::new() };
    let condition = builder.condition(query);
    let sql = format!("SELECT count(*) FROM object WHERE {condition}");
    Statement { sql, parameters: builder.parameters }
}

/// Finds an object other than `except` that has the same value in a unique property; none when
/// the value is empty, because those never clash (contract 3.6).
pub(crate) fn unique_lookup(
    ctd: i64,
    property: &str,
    value: &Value,
    except: Option<i64>,
) -> Option<Statement> {
    let parameters = vec![
        sql_key(Some(SortKey::of(value)?)),
        order::spelling(value).map_or(Sql::Null, Sql::Text),
        except.map_or(Sql::Null, Sql::Integer),
    ];
    let (key, spelling) = (index_ddl::key(property), index_ddl::spelling(property));
    let sql = format!(
        "SELECT pk FROM object WHERE ctd = {ctd} AND {key} = ?1 AND {spelling} IS ?2 \
         AND pk IS NOT ?3 LIMIT 1"
    );
    Some(Statement { sql, parameters })
}

/// How the values of a property compare, when there is one scalar per object.
#[derive(Clone, Copy, PartialEq)]
enum Scalar {
    Text,
    Number,
    Boolean,
}

impl Scalar {
    fn of(property: &Property) -> Option<Self> {
        match property.schema_type {
            SchemaType::String => Some(Self::Text),
            SchemaType::Number | SchemaType::Integer => Some(Self::Number),
            SchemaType::Boolean => Some(Self::Boolean),
            SchemaType::Array | SchemaType::Object | SchemaType::Null => None,
        }
    }
}

/// Collects parameters while the text is put together.
struct Builder<'a> {
    target: Target<'a>,
    parameters: Vec<Sql>,
}

impl<'a> Builder<'a> {
    /// Binds a value and returns how the text refers to it.
    fn bind(&mut self, value: Sql) -> String {
        self.parameters.push(value);
        format!("?{}", self.parameters.len())
    }

    fn bind_json(&mut self, value: &impl serde::Serialize) -> String {
        let json = serde_json::to_string(value).expect("queries have no keys but strings");
        self.bind(Sql::Text(json))
    }

    fn condition(&mut self, query: &ListQuery) -> String {
        let mut terms = vec![format!("ctd = {}", self.target.ctd)];
        if let Some(ids) = &query.ids {
            let ids = self.bind_json(ids);
            terms.push(format!("id IN (SELECT value FROM json_each({ids}))"));
        }
        if query.only_public {
            terms.push("status = 'public'".to_owned());
        }
        if query.workflow_public {
            terms.push("workflow_state = 'public'".to_owned());
        }
        terms.extend(query.conditions.iter().map(|condition| self.term(condition)));
        terms.join(" AND ")
    }

    fn order(&mut self, query: &ListQuery) -> String {
        let direction = if query.descending { "DESC" } else { "ASC" };
        let empties = if query.empty_first { "FIRST" } else { "LAST" };
        let path = &query.order;
        let key = match (&path.root, path.steps.is_empty()) {
            (Root::Internal(InternalField::CreatedAt), true) => {
                return format!("created_at {direction}, pk");
            }
            // Ids are unique, and their collation is the order of lower-case text.
            (Root::Id, true) => return format!("id {direction}"),
            (Root::Internal(InternalField::UpdatedAt), true) => {
                return format!("updated_at {direction}, created_at, pk");
            }
            (Root::Internal(field), true) => {
                self.internal(*field).map(|fragment| format!("sort_key({fragment})"))
            }
            (Root::Property(name), true) => Some(index_ddl::key(name)),
            (Root::Property(name), false) => {
                let path = self.bind_json(path);
                Some(format!("path_key({path}, {})", index_ddl::fragment(name)))
            }
            (Root::Any | Root::Nowhere, _) | (Root::Id | Root::Internal(_), false) => None,
        };
        key.map_or_else(
            || "created_at, pk".to_owned(),
            |key| format!("{key} {direction} NULLS {empties}, created_at, pk"),
        )
    }

    /// The JSON text of a field of `internal` as answers show it; none when all objects of a type
    /// have the same.
    fn internal(&self, field: InternalField) -> Option<&'static str> {
        Some(match field {
            InternalField::ContentType | InternalField::DeletedAt => return None,
            InternalField::CreatedAt => "date_fragment(created_at)",
            InternalField::UpdatedAt => "date_fragment(updated_at)",
            InternalField::WorkflowState => "json_quote(workflow_state)",
            InternalField::ObjectTitle => "json_quote(title)",
            InternalField::LatestVersion => "CAST(version AS TEXT)",
            InternalField::WorkflowPublicVersion => {
                "ifnull(CAST(workflow_public_version AS TEXT), '\"\"')"
            }
            InternalField::WorkflowPublishedAt => {
                "ifnull(date_fragment(workflow_published_at), '-1')"
            }
            InternalField::Status => "json_quote(status)",
            InternalField::PublicVersion => "ifnull(CAST(public_version AS TEXT), '-1')",
            InternalField::PublishedAt => "ifnull(date_fragment(published_at), '\"\"')",
        })
    }

    /// Puts one condition into SQL.
    fn term(&mut self, condition: &Condition) -> String {
        match &condition.path.root {
            Root::Nowhere => constant(condition, None),
            Root::Any => self.matches(condition, "data"),
            Root::Id => {
                self.id(condition).unwrap_or_else(|| self.matches(condition, "json_quote(id)"))
            }
            Root::Internal(field) => self.internal_term(condition, *field),
            Root::Property(name) => {
                let scalar = declared(self.target.properties, &condition.path).and_then(Scalar::of);
                scalar
                    .and_then(|scalar| self.scalar(condition, name, scalar))
                    .unwrap_or_else(|| self.matches(condition, &index_ddl::fragment(name)))
            }
        }
    }

    /// The way that always works: asks the code of [`crate::query::eval`].
    fn matches(&mut self, condition: &Condition, fragment: &str) -> String {
        let condition = self.bind_json(condition);
        format!("matches({condition}, {fragment})")
    }

    /// Equality of ids: found by the index in any letter case, then compared exactly.
    fn id(&mut self, condition: &Condition) -> Option<String> {
        let is_equality = condition.operator == Operator::Equals
            && condition.path.steps.is_empty()
            && condition.values.iter().all(Value::is_string);
        is_equality.then(|| {
            let ids = self.bind_json(&condition.values);
            format!(
                "id IN (SELECT value FROM json_each({ids})) \
                 AND id COLLATE BINARY IN (SELECT value FROM json_each({ids}))"
            )
        })
    }

    fn internal_term(&mut self, condition: &Condition, field: InternalField) -> String {
        let column = match field {
            InternalField::ContentType => {
                return constant(condition, Some(&Value::from(self.target.name)));
            }
            InternalField::DeletedAt => return constant(condition, Some(&Value::from(""))),
            InternalField::CreatedAt => Some("created_at"),
            InternalField::UpdatedAt => Some("updated_at"),
            _ => None,
        };
        column.and_then(|column| self.date_column(condition, column)).unwrap_or_else(|| {
            let fragment = self.internal(field).expect("constant fields were answered above");
            self.matches(condition, fragment)
        })
    }

    /// Ordered comparison of a column of whole seconds with dates.
    fn date_column(&mut self, condition: &Condition, column: &str) -> Option<String> {
        if !condition.dates {
            return None;
        }
        let date = |value: &Value| value.as_str().and_then(dates::parse_lenient);
        let lower = date(condition.values.first()?)?;
        let (floor, ceiling) = (lower.seconds(), ceiling(lower));
        Some(match condition.operator {
            Operator::LessThan => format!("{column} < {}", self.bind(Sql::Integer(ceiling))),
            Operator::LessThanOrEqual => format!("{column} <= {}", self.bind(Sql::Integer(floor))),
            Operator::GreaterThan => format!("{column} > {}", self.bind(Sql::Integer(floor))),
            Operator::GreaterThanOrEqual => {
                format!("{column} >= {}", self.bind(Sql::Integer(ceiling)))
            }
            Operator::InRange => {
                let upper = date(condition.upper.as_ref()?)?.seconds();
                let (lower, upper) =
                    (self.bind(Sql::Integer(ceiling)), self.bind(Sql::Integer(upper)));
                format!("{column} BETWEEN {lower} AND {upper}")
            }
            _ => return None,
        })
    }

    /// A condition on a property with one scalar per object, in terms of its index; none when the
    /// key cannot tell.
    fn scalar(&mut self, condition: &Condition, name: &str, scalar: Scalar) -> Option<String> {
        let key = index_ddl::key(name);
        match condition.operator {
            Operator::Empty => Some(format!("{key} IS NULL")),
            Operator::NotEmpty => Some(format!("{key} IS NOT NULL")),
            Operator::Equals => self.equality(condition, name, scalar),
            Operator::NotEqual => self
                .equality(condition, name, scalar)
                .map(|equality| format!("({equality}) IS NOT TRUE")),
            Operator::Contains | Operator::NotContains => {
                let part = text_needle(condition, scalar)?;
                let part = self.bind(Sql::Blob(part));
                Some(if condition.operator == Operator::Contains {
                    format!("instr({key}, {part}) > 0")
                } else {
                    format!("(instr({key}, {part}) > 0) IS NOT TRUE")
                })
            }
            Operator::StartsWith => {
                let lower = text_needle(condition, scalar)?;
                let mut upper = lower.clone();
                // No byte of UTF-8 is 0xFF, so the next one exists.
                *upper.last_mut()? += 1;
                let (lower, upper) = (self.bind(Sql::Blob(lower)), self.bind(Sql::Blob(upper)));
                Some(format!("{key} >= {lower} AND {key} < {upper}"))
            }
            Operator::EndsWith => {
                let part = self.bind(Sql::Blob(text_needle(condition, scalar)?));
                Some(format!("substr({key}, -length({part})) = {part}"))
            }
            Operator::LessThan
            | Operator::LessThanOrEqual
            | Operator::GreaterThan
            | Operator::GreaterThanOrEqual
            | Operator::InRange => self.comparison(condition, name, scalar),
            Operator::Overlaps | Operator::Includes => None,
        }
    }

    fn equality(&mut self, condition: &Condition, name: &str, scalar: Scalar) -> Option<String> {
        let (key, spelling) = (index_ddl::key(name), index_ddl::spelling(name));
        let values = &condition.values;
        // Only strings are told apart by more than their key.
        if scalar == Scalar::Text {
            if !values.iter().all(Value::is_string) {
                return None;
            }
            if let [value] = values.as_slice() {
                let exact = order::spelling(value).map_or(Sql::Null, Sql::Text);
                let (value, exact) = (self.bind(sql_key(SortKey::of(value))), self.bind(exact));
                return Some(format!("{key} = {value} AND {spelling} IS {exact}"));
            }
            let fragments: Vec<String> = values.iter().map(Value::to_string).collect();
            let (fragments, texts) = (self.bind_json(&fragments), self.bind_json(values));
            let exact = exact_text(name);
            return Some(format!(
                "{key} IN (SELECT sort_key(value) FROM json_each({fragments})) \
                 AND {exact} IN (SELECT value FROM json_each({texts}))"
            ));
        }
        let keys: Vec<Value> =
            values.iter().flat_map(|value| equal_scalars(value, scalar)).collect();
        if let [value] = keys.as_slice() {
            let value = self.bind(sql_key(SortKey::of(value)));
            return Some(format!("{key} = {value}"));
        }
        let fragments: Vec<String> = keys.iter().map(Value::to_string).collect();
        let fragments = self.bind_json(&fragments);
        Some(format!("{key} IN (SELECT sort_key(value) FROM json_each({fragments}))"))
    }

    /// Ordered comparison: numbers by their key, text by its exact spelling, dates within the
    /// range of keys that can hold them.
    fn comparison(&mut self, condition: &Condition, name: &str, scalar: Scalar) -> Option<String> {
        let first = condition.values.first()?;
        let bounds = match (condition.operator, &condition.upper) {
            (Operator::InRange, Some(upper)) => vec![(">=", first), ("<=", upper)],
            (Operator::LessThan, _) => vec![("<", first)],
            (Operator::LessThanOrEqual, _) => vec![("<=", first)],
            (Operator::GreaterThan, _) => vec![(">", first)],
            (Operator::GreaterThanOrEqual, _) => vec![(">=", first)],
            _ => return None,
        };
        let are_numbers = bounds.iter().all(|(_, bound)| Number::of(bound).is_some());
        let are_texts = bounds.iter().all(|(_, bound)| Number::of(bound).is_none());
        let column = match scalar {
            Scalar::Number if are_numbers => index_ddl::key(name),
            Scalar::Text if are_texts && !condition.dates => exact_text(name),
            _ => return None,
        };
        let terms: Vec<String> = bounds
            .into_iter()
            .map(|(operator, bound)| {
                let bound = match Number::of(bound) {
                    Some(number) => sql_key(Some(SortKey::Number(number))),
                    None => Sql::Text(value::text(bound).into_owned()),
                };
                format!("{column} {operator} {}", self.bind(bound))
            })
            .collect();
        Some(terms.join(" AND "))
    }
}

/// A condition whose answer is the same for all objects.
fn constant(condition: &Condition, value: Option<&Value>) -> String {
    if Matcher::new(condition).matches(value) { "TRUE" } else { "FALSE" }.to_owned()
}

/// The property that a path names, when it leads no further.
fn declared<'a>(properties: &'a [Property], path: &Path) -> Option<&'a Property> {
    match &path.root {
        Root::Property(name) if path.steps.is_empty() => {
            properties.iter().find(|property| property.name == *name)
        }
        _ => None,
    }
}

/// The text of a property as it was stored, from the columns of its index; NULL when empty.
fn exact_text(name: &str) -> String {
    format!("ifnull({}, CAST({} AS TEXT))", index_ddl::spelling(name), index_ddl::key(name))
}

/// The one text that keys are searched for. An empty one is found in every value, but not by
/// these means.
fn text_needle(condition: &Condition, scalar: Scalar) -> Option<Vec<u8>> {
    match condition.values.as_slice() {
        [needle] if scalar == Scalar::Text => {
            Some(value::fold(&value::text(needle)).into_bytes()).filter(|needle| !needle.is_empty())
        }
        _ => None,
    }
}

/// The values of a number or boolean property that equal a value of a condition.
fn equal_scalars(value: &Value, scalar: Scalar) -> Vec<Value> {
    match (scalar, value) {
        (Scalar::Number, value) => match Number::of(value) {
            Some(Number::Integer(integer)) => vec![Value::from(integer)],
            Some(Number::Real(real)) => vec![Value::from(real)],
            None => Vec::new(),
        },
        (Scalar::Boolean, Value::Bool(boolean)) => vec![Value::from(*boolean)],
        (Scalar::Boolean, Value::String(text)) => [false, true]
            .into_iter()
            .filter(|boolean| spells(*boolean).contains(&&**text))
            .map(Value::from)
            .collect(),
        _ => Vec::new(),
    }
}

/// The first whole second that is not before a point in time.
fn ceiling(at: Timestamp) -> i64 {
    at.seconds() + i64::from(at.0.rem_euclid(1_000_000) != 0)
}
