//! Conditions as SQL terms.
//!
//! | condition on | term |
//! |---|---|
//! | a scalar property | a comparison with the two columns of its index (key and original text), if that gives the exact result |
//! | `internal.createdAt`, `internal.updatedAt` against dates | the column |
//! | `id`, equality | the column |
//! | the address of links, equality | table `link`, see [`super::links`] |
//! | a value that is the same for all objects | `TRUE` or `FALSE` |
//! | any other value | `matches` and similar functions, which call [`cms_model::query::eval`] |

use cms_model::{
    content_type::model::{Property, SchemaType},
    dates,
    query::{
        ListQuery,
        eval::{ConditionMatcher, boolean_texts},
        filter::{Condition, Operator},
        order::{self, SortKey},
        path::{InternalField, PathRoot, PropertyPath},
        value::{self, Number},
    },
};
use rusqlite::types::Value as Sql;
use serde_json::Value;

use super::Builder;
use crate::{functions::sql_key, slots};

/// 0001-01-01, in seconds since the epoch: the earliest date for which [`edges`] returns the days around it.
const MIN_SECONDS_WITH_EDGES: i64 = -62_135_596_800;
/// 9999-01-01, in seconds since the epoch: from this date on, [`edges`] returns nothing.
const END_SECONDS_WITH_EDGES: i64 = 253_370_764_800;

/// One term of WHERE.
#[derive(Debug)]
pub(super) struct Term {
    pub(super) sql: String,
    pub(super) access_method: AccessMethod,
}

/// Returns whether all objects that match have the same value at a path, because of a condition.
pub(super) fn has_single_value(path: &PropertyPath, query: &ListQuery, terms: &[Term]) -> bool {
    of_conditions(query, terms).any(|(condition, term)| {
        term.access_method == AccessMethod::IndexPoint && condition.path == *path
    })
}

/// Pairs the conditions of a list with their SQL terms.
pub(super) fn of_conditions<'t>(
    query: &'t ListQuery,
    terms: &'t [Term],
) -> impl Iterator<Item = (&'t Condition, &'t Term)> {
    query.conditions.iter().zip(&terms[terms.len() - query.conditions.len()..])
}

/// How the objects of a term are found; the greatest value is the cheapest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AccessMethod {
    /// Reads every object.
    FullScan,
    /// Reads every entry of an index.
    IndexScan,
    /// Reads one or a few ranges of an index.
    IndexRange,
    /// Reads primary keys from another table.
    PrimaryKeys,
    /// Reads the entries of one key in the index of a property.
    IndexPoint,
}

pub(super) fn join(terms: &[Term]) -> String {
    terms.iter().map(|term| term.sql.as_str()).collect::<Vec<_>>().join(" AND ")
}

/// How values of a property with one scalar per object compare.
#[derive(Clone, Copy, PartialEq)]
enum SqlScalar {
    Text,
    Number,
    Boolean,
}

impl SqlScalar {
    fn of(property: &Property) -> Option<Self> {
        match property.schema_type {
            SchemaType::String => Some(Self::Text),
            SchemaType::Number | SchemaType::Integer => Some(Self::Number),
            SchemaType::Boolean => Some(Self::Boolean),
            SchemaType::Array | SchemaType::Object | SchemaType::Null => None,
        }
    }
}

/// The JSON text of a field of `internal` as in responses; none when all objects of a type have the
/// same value.
pub(super) fn internal_json(field: InternalField) -> Option<&'static str> {
    Some(match field {
        InternalField::ContentType | InternalField::DeletedAt => return None,
        InternalField::CreatedAt => "date_json(created_at)",
        InternalField::UpdatedAt => "date_json(updated_at)",
        InternalField::WorkflowState => "json_quote(workflow_state)",
        InternalField::ObjectTitle => "json_quote(title)",
        InternalField::LatestVersion => "CAST(version AS TEXT)",
        InternalField::WorkflowPublicVersion => {
            "ifnull(CAST(workflow_public_version AS TEXT), '\"\"')"
        }
        InternalField::WorkflowPublishedAt => "ifnull(date_json(workflow_published_at), '-1')",
        InternalField::Status => "json_quote(status)",
        InternalField::PublicVersion => "ifnull(CAST(public_version AS TEXT), '-1')",
        InternalField::PublishedAt => "ifnull(date_json(published_at), '\"\"')",
        InternalField::ScheduledAt => "date_json(scheduled_at)",
        InternalField::ScheduledAtTimeZone => {
            "iif(scheduled_zone IS NULL, NULL, json_quote(scheduled_zone))"
        }
    })
}

impl Builder<'_> {
    /// All terms of a list; those of its conditions come last, in their order.
    pub(super) fn terms(&mut self, query: &ListQuery) -> Vec<Term> {
        let sql = format!("ctd = {}", self.listed.ctd);
        let mut terms = vec![Term { sql, access_method: AccessMethod::FullScan }];
        if let Some(ids) = &query.ids {
            let ids = self.bind_json(ids);
            let sql = format!("id IN (SELECT value FROM json_each({ids}))");
            terms.push(Term { sql, access_method: AccessMethod::IndexRange });
        }
        if query.only_approved {
            // Must equal the condition of the index `object_approved`.
            let sql = "workflow_state = 'public'".to_owned();
            terms.push(Term { sql, access_method: AccessMethod::IndexRange });
        }
        for linked in &query.linked {
            let (sql, access_method) = self.linked_object_term(linked, query.edition);
            terms.push(Term { sql, access_method });
        }
        for condition in &query.conditions {
            let term = self.term(condition);
            terms.push(term);
        }
        terms
    }

    fn term(&mut self, condition: &Condition) -> Term {
        let (sql, access_method) = match &condition.path.root {
            PathRoot::Unknown | PathRoot::Incoming => {
                (constant(condition, None), AccessMethod::FullScan)
            }
            PathRoot::Any { .. } => (self.matches(condition, "data"), AccessMethod::FullScan),
            PathRoot::Id => match self.id(condition) {
                Some(sql) => (sql, AccessMethod::IndexRange),
                None => (self.matches_text(condition, "id"), AccessMethod::IndexScan),
            },
            PathRoot::Internal(field) => self.internal(condition, *field),
            PathRoot::Property(name) => self.property(condition, name),
        };
        Term { sql, access_method }
    }

    /// The fallback for any condition: calls [`cms_model::query::eval`].
    fn matches(&mut self, condition: &Condition, json: &str) -> String {
        let condition = self.bind_json(condition);
        format!("matches({condition}, {json})")
    }

    /// The same for plain text instead of JSON.
    pub(super) fn matches_text(&mut self, condition: &Condition, text: &str) -> String {
        let condition = self.bind_json(condition);
        format!("matches_text({condition}, {text})")
    }

    /// The same for a property of an object.
    fn matches_property(&mut self, condition: &Condition) -> String {
        format!("matches_property({}, data)", self.bind_json(condition))
    }

    /// Equality of ids: the index finds any letter case, then the text is compared exactly.
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

    fn internal(&mut self, condition: &Condition, field: InternalField) -> (String, AccessMethod) {
        let column = match field {
            InternalField::CreatedAt => Some("created_at"),
            InternalField::UpdatedAt => Some("updated_at"),
            _ => None,
        };
        if let Some(sql) = column.and_then(|column| self.date_column(condition, column)) {
            return (sql, AccessMethod::IndexRange);
        }
        let sql = match internal_json(field) {
            Some(json) => self.matches(condition, json),
            None if field == InternalField::ContentType => {
                constant(condition, Some(&Value::from(self.listed.name)))
            }
            None => constant(condition, Some(&Value::from(""))),
        };
        (sql, AccessMethod::FullScan)
    }

    /// Ordered comparison of a column of whole seconds with dates.
    fn date_column(&mut self, condition: &Condition, column: &str) -> Option<String> {
        let bounds = bounds(condition).filter(|_| condition.dates)?;
        let mut terms = Vec::new();
        for (operator, bound) in bounds {
            let bound = bound.as_str().and_then(dates::parse_lenient)?;
            let seconds = match operator {
                "<" | ">=" => bound.seconds_rounded_up(),
                _ => bound.seconds(),
            };
            terms.push(format!("{column} {operator} {}", self.bind(Sql::Integer(seconds))));
        }
        Some(terms.join(" AND "))
    }

    fn property(&mut self, condition: &Condition, name: &str) -> (String, AccessMethod) {
        let indexed = self.indexed.get(name).filter(|_| condition.path.steps.is_empty());
        let scalar = indexed.and_then(|(_, property)| SqlScalar::of(property));
        if let Some(term) = scalar.and_then(|scalar| self.scalar(condition, name, scalar)) {
            return term;
        }
        if scalar == Some(SqlScalar::Text) {
            let text = stored_text(self.slot(name));
            return (self.matches_text(condition, &text), AccessMethod::IndexScan);
        }
        // An object matches a negated condition if it does not match the positive one, which may depend on
        // its links.
        let negated = condition
            .operator
            .negates()
            .map(|operator| Condition { operator, ..condition.clone() });
        let positive = negated.as_ref().unwrap_or(condition);
        let Some(may_match) = self.link_address_term(positive) else {
            return (self.matches_property(condition), AccessMethod::FullScan);
        };
        let sql = format!("{may_match} AND {}", self.matches_property(positive));
        match negated {
            Some(_) => (format!("NOT ({sql})"), AccessMethod::FullScan),
            None => (sql, AccessMethod::PrimaryKeys),
        }
    }

    /// A condition on a property with one scalar per object, as a term on its index; none when the
    /// index cannot decide it.
    fn scalar(
        &mut self,
        condition: &Condition,
        name: &str,
        scalar: SqlScalar,
    ) -> Option<(String, AccessMethod)> {
        let key = slots::key(self.slot(name));
        match condition.operator {
            Operator::Empty => Some((format!("{key} IS NULL"), AccessMethod::IndexPoint)),
            Operator::NotEmpty => Some((format!("{key} IS NOT NULL"), AccessMethod::IndexRange)),
            Operator::Equals => self.equality(condition, name, scalar),
            Operator::NotEqual => {
                let (equality, _) = self.equality(condition, name, scalar)?;
                Some((format!("({equality}) IS NOT TRUE"), AccessMethod::IndexScan))
            }
            Operator::Contains => {
                let part = self.bind(text_needle(condition, scalar)?);
                Some((format!("instr({key}, {part}) > 0"), AccessMethod::IndexScan))
            }
            Operator::NotContains => {
                let part = self.bind(text_needle(condition, scalar)?);
                Some((format!("(instr({key}, {part}) > 0) IS NOT TRUE"), AccessMethod::IndexScan))
            }
            Operator::EndsWith => {
                let part = self.bind(text_needle(condition, scalar)?);
                Some((format!("substr({key}, -length({part})) = {part}"), AccessMethod::IndexScan))
            }
            Operator::StartsWith => {
                let lower = text_needle(condition, scalar)?;
                let upper = after_prefix(&lower);
                let (lower, upper) = (self.bind(lower), self.bind(upper));
                Some((format!("{key} >= {lower} AND {key} < {upper}"), AccessMethod::IndexRange))
            }
            Operator::LessThan
            | Operator::LessThanOrEqual
            | Operator::GreaterThan
            | Operator::GreaterThanOrEqual
            | Operator::InRange => self.comparison(condition, name, scalar),
            Operator::Overlaps | Operator::Includes => None,
        }
    }

    fn equality(
        &mut self,
        condition: &Condition,
        name: &str,
        scalar: SqlScalar,
    ) -> Option<(String, AccessMethod)> {
        let slot = self.slot(name);
        let (key, original_text) = (slots::key(slot), slots::original_text_if_different(slot));
        let values = match scalar {
            // A stored text may equal a number or a boolean in the condition, but their keys differ: only texts can be
            // looked up.
            SqlScalar::Text if condition.values.iter().all(Value::is_string) => {
                condition.values.clone()
            }
            SqlScalar::Text => return None,
            _ => condition.values.iter().flat_map(|value| equal_values(value, scalar)).collect(),
        };
        if let [value] = values.as_slice() {
            let exact = order::original_text(value).map_or(Sql::Null, Sql::Text);
            let (value, exact) = (self.bind(sql_key(SortKey::of(value))), self.bind(exact));
            return Some((
                format!("{key} = {value} AND {original_text} IS {exact}"),
                AccessMethod::IndexPoint,
            ));
        }
        let keys: Vec<String> = values.iter().map(Value::to_string).collect();
        let keys = self.bind_json(&keys);
        let mut sql = format!("{key} IN (SELECT sort_key(value) FROM json_each({keys}))");
        if scalar == SqlScalar::Text {
            let texts = self.bind_json(&values);
            let exact = stored_text(slot);
            sql = format!("{sql} AND {exact} IN (SELECT value FROM json_each({texts}))");
        }
        Some((sql, AccessMethod::IndexRange))
    }

    /// Ordered comparison: numbers by key, text by original text, dates within the range of keys
    /// that can contain them.
    fn comparison(
        &mut self,
        condition: &Condition,
        name: &str,
        scalar: SqlScalar,
    ) -> Option<(String, AccessMethod)> {
        let bounds = bounds(condition)?;
        let are_numbers = bounds.iter().all(|(_, bound)| Number::of(bound).is_some());
        let are_texts = bounds.iter().all(|(_, bound)| Number::of(bound).is_none());
        let (column, access_method) = match scalar {
            SqlScalar::Number if are_numbers => {
                (slots::key(self.slot(name)), AccessMethod::IndexRange)
            }
            SqlScalar::Text if are_texts && condition.dates => {
                return self.date_range(condition, name);
            }
            SqlScalar::Text if are_texts => (stored_text(self.slot(name)), AccessMethod::IndexScan),
            _ => return None,
        };
        let mut terms = Vec::new();
        for (operator, bound) in bounds {
            let bound = match Number::of(bound) {
                Some(number) => sql_key(Some(SortKey::Number(number))),
                None => Sql::Text(value::text(bound).into_owned()),
            };
            terms.push(format!("{column} {operator} {}", self.bind(bound)));
        }
        Some((terms.join(" AND "), access_method))
    }

    /// Dates are stored as text with time zones. Around the bound are two edges, two days before and after
    /// it: a text before the lower edge is a date before the bound, a text after the upper edge is a date
    /// after it. Only dates between the edges are parsed.
    ///
    /// Text that is not a date compares as text with the bound (see docs/reference/filters.md#comparison).
    /// For it, the edges are right as well, because lower edge < bound < upper edge as text. The key is the text
    /// in lower case. It compares with an edge as the text does, because the digits and `-` of an edge are
    /// less than letters of either case.
    fn date_range(&mut self, condition: &Condition, name: &str) -> Option<(String, AccessMethod)> {
        let slot = self.slot(name);
        let key = slots::key(slot);
        let (mut possible, mut sure) = (Vec::new(), Vec::new());
        for (operator, bound) in bounds(condition)? {
            let (before, after) = edges(bound.as_str()?)?;
            let (before, after) = (self.bind(before), self.bind(after));
            if operator.starts_with('<') {
                possible.push(format!("{key} < {after}"));
                sure.push(format!("{key} < {before}"));
            } else {
                possible.push(format!("{key} >= {before}"));
                sure.push(format!("{key} >= {after}"));
            }
        }
        let matches = self.matches_text(condition, &stored_text(slot));
        let (possible, sure) = (possible.join(" AND "), sure.join(" AND "));
        Some((format!("{possible} AND ({sure} OR {matches})"), AccessMethod::IndexRange))
    }
}

/// The keys of the days two days before and after a date in the stored format.
fn edges(date: &str) -> Option<(Sql, Sql)> {
    const TWO_DAYS: i64 = 2 * 86_400;
    dates::parse_date(date.get(..10)?)?;
    let seconds = dates::parse_date(date)?.seconds();
    let day = |seconds: i64| {
        let mut text = Vec::new();
        dates::push_object_date(seconds, &mut text);
        text.truncate(10);
        Sql::Blob(text)
    };
    // Two days before an earlier date, or after a later one, the year may not have four digits, and
    // texts are not in the order of the dates. So these dates are compared as parsed dates only.
    (MIN_SECONDS_WITH_EDGES..END_SECONDS_WITH_EDGES)
        .contains(&seconds)
        .then(|| (day(seconds - TWO_DAYS), day(seconds + TWO_DAYS)))
}

/// The comparisons of an ordered condition.
fn bounds(condition: &Condition) -> Option<Vec<(&'static str, &Value)>> {
    let first = condition.values.first()?;
    Some(match (condition.operator, &condition.upper) {
        (Operator::LessThan, _) => vec![("<", first)],
        (Operator::LessThanOrEqual, _) => vec![("<=", first)],
        (Operator::GreaterThan, _) => vec![(">", first)],
        (Operator::GreaterThanOrEqual, _) => vec![(">=", first)],
        (Operator::InRange, Some(upper)) => vec![(">=", first), ("<=", upper)],
        _ => return None,
    })
}

/// A condition with the same result for all objects.
fn constant(condition: &Condition, value: Option<&Value>) -> String {
    if ConditionMatcher::new(condition).matches(value) { "TRUE" } else { "FALSE" }.to_owned()
}

/// The stored text of a property, from the columns of its index; NULL when empty.
fn stored_text(slot: usize) -> String {
    format!(
        "ifnull({}, CAST({} AS TEXT))",
        slots::original_text_if_different(slot),
        slots::key(slot)
    )
}

/// The single search text of a condition, as a key. None for an empty text: every value contains it, but a
/// search for an empty key finds nothing.
fn text_needle(condition: &Condition, scalar: SqlScalar) -> Option<Sql> {
    match condition.values.as_slice() {
        [needle] if scalar == SqlScalar::Text && !value::is_empty(needle) => {
            Some(Sql::Blob(value::fold(&value::text(needle)).into_bytes()))
        }
        _ => None,
    }
}

/// The first key after all keys with a prefix. No UTF-8 byte is 0xFF, so the last byte has a
/// successor.
fn after_prefix(key: &Sql) -> Sql {
    let mut next = key.clone();
    if let Sql::Blob(bytes) = &mut next
        && let Some(last) = bytes.last_mut()
    {
        *last += 1;
    }
    next
}

/// The values of a number or boolean property that equal the value of a condition.
fn equal_values(value: &Value, scalar: SqlScalar) -> Vec<Value> {
    match (scalar, value) {
        (SqlScalar::Number, value) => match Number::of(value) {
            Some(Number::Integer(integer)) => vec![Value::from(integer)],
            Some(Number::Real(real)) => vec![Value::from(real)],
            None => Vec::new(),
        },
        (SqlScalar::Boolean, Value::Bool(boolean)) => vec![Value::from(*boolean)],
        (SqlScalar::Boolean, Value::String(text)) => [false, true]
            .into_iter()
            .filter(|boolean| boolean_texts(*boolean).contains(&&**text))
            .map(Value::from)
            .collect(),
        _ => Vec::new(),
    }
}
