//! Evaluates conditions on values, see docs/reference/filters.md#comparison
//!
//! A path with `[*]` and an array property have several values: a condition holds when any value
//! meets it, a negated one when no value meets the positive form.

use std::{cmp::Ordering, collections::HashSet};

use aho_corasick::AhoCorasick;
use serde_json::Value;

use super::{
    filter::{Condition, Operator},
    path::{PathRoot, PropertyPath},
    value::{self, Number, fold, is_empty},
};
use crate::{clock::Timestamp, dates};

/// A condition, prepared to be evaluated on many values.
#[derive(Debug)]
pub struct ConditionMatcher {
    path: PropertyPath,
    test: Test,
    negated: bool,
    dates: bool,
}

#[derive(Debug)]
enum Test {
    Empty,
    NotEmpty,
    EqualsAny(Needles),
    /// The text of the value contains one of several texts, in lower case. One pass over the text finds
    /// all of them.
    ContainsAny(AhoCorasick),
    /// The text of the value meets one of these, in lower case.
    Text(fn(&str, &str) -> bool, Vec<String>),
    /// The value is within all of these.
    Within(Vec<Bound>),
    Overlaps(Needles),
    Includes {
        /// All values that the array must contain, and one entry per value.
        all: Needles,
        each: Vec<Needles>,
    },
}

impl ConditionMatcher {
    pub fn new(condition: &Condition) -> Self {
        let values = &condition.values;
        let folded =
            || -> Vec<String> { values.iter().map(|value| fold(&value::text(value))).collect() };
        let text = |meets: fn(&str, &str) -> bool| Test::Text(meets, folded());
        let ordered = |accepts| Test::Within(vec![Bound::new(accepts, values.first())]);
        let test = match condition.operator {
            Operator::Empty => Test::Empty,
            Operator::NotEmpty => Test::NotEmpty,
            Operator::Equals | Operator::NotEqual => Test::EqualsAny(Needles::new(values)),
            Operator::Contains | Operator::NotContains => {
                // A single text is found faster without an automaton. Without one (also if there are too many texts for
                // it), the texts are searched one after the other.
                let several = (values.len() > 1).then(|| AhoCorasick::new(folded()).ok()).flatten();
                several.map_or_else(|| text(|text, part| text.contains(part)), Test::ContainsAny)
            }
            Operator::StartsWith => text(|text, start| text.starts_with(start)),
            Operator::EndsWith => text(|text, end| text.ends_with(end)),
            Operator::LessThan => ordered(Ordering::is_lt),
            Operator::LessThanOrEqual => ordered(Ordering::is_le),
            Operator::GreaterThan => ordered(Ordering::is_gt),
            Operator::GreaterThanOrEqual => ordered(Ordering::is_ge),
            Operator::InRange => Test::Within(vec![
                Bound::new(Ordering::is_ge, values.first()),
                Bound::new(Ordering::is_le, condition.upper.as_ref()),
            ]),
            Operator::Overlaps => Test::Overlaps(Needles::new(values)),
            Operator::Includes => Test::Includes {
                all: Needles::new(values),
                each: values
                    .iter()
                    .map(|value| Needles::new(std::slice::from_ref(value)))
                    .collect(),
            },
        };
        Self {
            path: condition.path.clone(),
            test,
            negated: condition.operator.negates().is_some(),
            dates: condition.dates,
        }
    }

    pub fn path(&self) -> &PropertyPath {
        &self.path
    }

    /// Evaluates the condition on the value at the root of the path; for `*`, on the object with
    /// all properties.
    pub fn matches(&self, root: Option<&Value>) -> bool {
        let holds = if let PathRoot::Any { except } = &self.path.root {
            let properties = root.and_then(Value::as_object).into_iter().flatten();
            let mut properties = properties.into_iter().filter(|(name, _)| !except.contains(name));
            properties.any(|(_, value)| self.holds_for(&[value]))
        } else {
            self.holds_for(&self.path.resolve(root))
        };
        holds != self.negated
    }

    /// Evaluates the condition on all values at the path.
    fn holds_for(&self, found: &[&Value]) -> bool {
        match &self.test {
            Test::Empty => found.iter().all(|value| is_empty(value)),
            Test::NotEmpty => !found.iter().all(|value| is_empty(value)),
            Test::Overlaps(needles) => {
                self.arrays(found).any(|elements| elements.iter().any(|e| self.equals(needles, e)))
            }
            Test::Includes { all, each } => self.arrays(found).any(|mut elements| {
                // First drops elements that equal none of the values: otherwise each value would be compared with every
                // element.
                elements.retain(|element| self.equals(all, element));
                each.iter().all(|needle| elements.iter().any(|e| self.equals(needle, e)))
            }),
            _ => found.iter().any(|value| match value {
                Value::Array(elements) => elements.iter().any(|element| self.holds(element)),
                single => self.holds(single),
            }),
        }
    }

    /// The arrays among the values; for a path with `[*]`, one array of all values.
    fn arrays<'v>(&self, found: &[&'v Value]) -> impl Iterator<Item = Vec<&'v Value>> {
        let arrays: Vec<Vec<&Value>> = if self.path.has_wildcard() {
            let flat = found.iter().flat_map(|value| match value {
                Value::Array(elements) => elements.iter().collect(),
                single => vec![*single],
            });
            vec![flat.collect()]
        } else {
            found.iter().filter_map(|value| value.as_array()).map(|a| a.iter().collect()).collect()
        };
        arrays.into_iter().filter(|elements| !elements.is_empty())
    }

    /// Evaluates the condition on one value; an empty value meets none.
    fn holds(&self, value: &Value) -> bool {
        if is_empty(value) {
            return false;
        }
        match &self.test {
            Test::EqualsAny(needles) => self.equals(needles, value),
            Test::ContainsAny(parts) => parts.is_match(&*fold(&value::text(value))),
            Test::Text(meets, needles) => {
                let text = fold(&value::text(value));
                needles.iter().any(|needle| meets(&text, needle))
            }
            Test::Within(bounds) => {
                bounds.iter().all(|bound| (bound.accepts)(bound.compare(value, self.dates)))
            }
            Test::Empty | Test::NotEmpty | Test::Overlaps(_) | Test::Includes { .. } => false,
        }
    }

    fn equals(&self, needles: &Needles, value: &Value) -> bool {
        needles.contain(value, self.path.is_link_address())
    }
}

/// Values to find: equality with any of them is a match.
#[derive(Debug)]
struct Needles {
    texts: HashSet<String>,
    /// The same texts as normalized link addresses.
    addresses: HashSet<String>,
    /// The numbers, sorted.
    numbers: Vec<Number>,
    /// The numbers and the texts that are numbers, sorted.
    numeric: Vec<Number>,
    booleans: Vec<bool>,
}

impl Needles {
    fn new(values: &[Value]) -> Self {
        let texts: HashSet<String> =
            values.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let sorted = |numbers: &mut dyn Iterator<Item = Number>| {
            let mut numbers: Vec<Number> = numbers.collect();
            numbers.sort_unstable();
            numbers
        };
        Self {
            addresses: texts.iter().map(|text| value::link_address(text).into_owned()).collect(),
            numbers: sorted(
                &mut values.iter().filter(|value| value.is_number()).filter_map(Number::of),
            ),
            numeric: sorted(&mut values.iter().filter_map(Number::of)),
            booleans: values.iter().filter_map(Value::as_bool).collect(),
            texts,
        }
    }

    /// Numbers also equal texts of the same number, booleans also `"true"`, `"false"`, `"1"`,
    /// `"0"`; texts are compared exactly, links by their target.
    fn contain(&self, value: &Value, is_address: bool) -> bool {
        match value {
            Value::String(text) => {
                self.texts.contains(text)
                    || (is_address && self.has_address(text))
                    || Number::parse(text).is_some_and(|n| self.numbers.binary_search(&n).is_ok())
                    || self
                        .booleans
                        .iter()
                        .any(|boolean| boolean_texts(*boolean).contains(&&**text))
            }
            Value::Number(_) => {
                Number::of(value).is_some_and(|n| self.numeric.binary_search(&n).is_ok())
            }
            Value::Bool(boolean) => {
                self.booleans.contains(boolean)
                    || boolean_texts(*boolean).iter().any(|text| self.texts.contains(*text))
            }
            Value::Object(link) => {
                link.get("dataUrl").and_then(Value::as_str).is_some_and(|url| self.has_address(url))
            }
            Value::Null | Value::Array(_) => false,
        }
    }

    fn has_address(&self, address: &str) -> bool {
        self.addresses.contains(&*value::link_address(address))
    }
}

/// The texts that equal a boolean.
pub fn boolean_texts(boolean: bool) -> [&'static str; 2] {
    if boolean { ["true", "1"] } else { ["false", "0"] }
}

/// The bound of an ordered comparison.
#[derive(Debug)]
struct Bound {
    /// Returns whether the operator accepts this ordering of a value relative to the bound.
    accepts: fn(Ordering) -> bool,
    number: Option<Number>,
    date: Option<Timestamp>,
    text: String,
}

impl Bound {
    fn new(accepts: fn(Ordering) -> bool, value: Option<&Value>) -> Self {
        // The parser guarantees a value.
        let value = value.unwrap_or(&Value::Null);
        Self {
            accepts,
            number: Number::of(value),
            date: value.as_str().and_then(dates::parse_lenient),
            text: value::text(value).into_owned(),
        }
    }

    /// Compares as numbers if both are numbers or texts that are numbers, else as dates if both are
    /// dates and `as_dates` is set, else as text by code point.
    fn compare(&self, value: &Value, as_dates: bool) -> Ordering {
        if let (Some(number), Some(bound)) = (Number::of(value), self.number) {
            return number.cmp(&bound);
        }
        let date = as_dates.then(|| value.as_str().and_then(dates::parse_date)).flatten();
        if let (Some(date), Some(bound)) = (date, self.date) {
            return date.cmp(&bound);
        }
        value::text(value).as_ref().cmp(&self.text)
    }
}

#[cfg(test)]
mod tests;
