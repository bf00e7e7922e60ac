//! Converts a stored value when the type of its property changes, see
//! docs/reference/content-types.md#conversion-of-stored-values
//!
//! Types fall into classes: text (text, textarea, both markdowns, richtext, email, dateTime),
//! radio, select, number, boolean, strings (array/select and simpleList), items, links, geo, block,
//! custom.
//!
//! | from | to | result |
//! |---|---|---|
//! | text, radio, select | text, radio, select | the same |
//! | text, radio, select | number, boolean, with `convert: parse` | the parsed text |
//! | text, radio, number, boolean | strings | a list with the value as text, if it is an option |
//! | number, boolean | text, radio, select | the value as text |
//! | strings | text | joined with `, ` |
//! | strings | radio, select | the first one |
//! | items | strings | one text per item, if it is an option |
//! | links | text, radio, select | the addresses, joined with `, ` |
//! | geo | text, radio, select | `lat: <lat>, lon: <lon>` |
//! | items, nested custom | the same class | each nested property by this table |
//! | any other | the same class | the same |
//! | any other | another class | the default value of the new class, also without an old value |
//!
//! [`super::rewrite`] selects and stores the values.

use serde_json::{Map, Number, Value, json};

use super::{
    diff::{converts, source},
    model::{InputType, Property, SchemaType},
};
use crate::query::value::{self, Number as Comparable, TWO_TO_63};

/// The effect of a change on one stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueOutcome {
    /// The value is unchanged.
    Kept,
    /// The value was added, or changed without loss.
    Converted,
    /// A part of a non-empty value is lost.
    Lost,
}

/// A value after a change, and the effect: none if there is neither an old nor a new value.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted {
    pub value: Option<Value>,
    pub outcome: Option<ValueOutcome>,
}

impl Converted {
    fn new(before: Option<&Value>, after: Option<Value>, is_lost: bool) -> Self {
        let outcome = match (before, &after) {
            (None, None) => None,
            (Some(before), Some(after)) if before == after => Some(ValueOutcome::Kept),
            _ if is_lost => Some(ValueOutcome::Lost),
            _ => Some(ValueOutcome::Converted),
        };
        Self { value: after, outcome }
    }
}

/// Converts a stored value; `old` is none for an added property.
pub fn convert(old: Option<&Property>, new: &Property, stored: Option<&Value>) -> Converted {
    let (value, is_lost) = match old {
        Some(old) => carry_over(old, new, stored),
        None => (stored.cloned(), false),
    };
    let backfill = new
        .conversion
        .backfill
        .as_ref()
        .filter(|_| new.required && is_none_or_empty(value.as_ref()));
    Converted::new(stored, backfill.cloned().or(value), is_lost)
}

/// The effect of removing a property on a stored value.
pub fn remove(old: &Property, stored: Option<&Value>) -> Converted {
    Converted::new(stored, None, stored.is_some_and(|value| ValueClass::of(old).has_content(value)))
}

/// Returns whether a value is missing or empty.
pub fn is_none_or_empty(value: Option<&Value>) -> bool {
    value.is_none_or(value::is_empty)
}

/// A converted value, and whether a part was lost.
type CarriedValue = (Option<Value>, bool);

/// Types with the same conversion rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueClass {
    Text,
    Radio,
    Select,
    Number,
    Boolean,
    Strings,
    Items,
    Links,
    Geo,
    Block,
    Custom,
}

impl ValueClass {
    fn of(property: &Property) -> Self {
        match property.input_type {
            InputType::Text
            | InputType::RichText
            | InputType::Textarea
            | InputType::TextMarkdown
            | InputType::Markdown
            | InputType::Email
            | InputType::DateTime => Self::Text,
            InputType::Radio => Self::Radio,
            InputType::Select if property.schema_type == SchemaType::Array => Self::Strings,
            InputType::Select => Self::Select,
            InputType::Number => Self::Number,
            InputType::Checkbox => Self::Boolean,
            InputType::SimpleList => Self::Strings,
            InputType::Object => Self::Items,
            InputType::Datasource => Self::Links,
            InputType::Geo => Self::Geo,
            InputType::Block => Self::Block,
            InputType::Custom => Self::Custom,
        }
    }

    /// The value when the old one cannot be converted.
    fn default_value(self) -> Value {
        match self {
            Self::Text | Self::Radio | Self::Select => json!(""),
            Self::Number => json!(0),
            Self::Boolean => json!(false),
            Self::Strings | Self::Items | Self::Links => json!([]),
            Self::Geo => json!({"lat": 0, "lon": 0}),
            Self::Block => json!({"time": 0, "blocks": [], "version": ""}),
            Self::Custom => json!({}),
        }
    }

    /// Returns whether removing the value loses something: it is not empty and not a block value
    /// without blocks.
    fn has_content(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Block, value) => !value::is_empty(&value["blocks"]),
            (_, Value::Object(members)) => !members.is_empty(),
            (_, value) => !value::is_empty(value),
        }
    }
}

/// Implements the table of the module documentation.
fn carry_over(old: &Property, new: &Property, stored: Option<&Value>) -> CarriedValue {
    use ValueClass::{Boolean, Custom, Geo, Items, Links, Number, Radio, Select, Strings, Text};
    let (from, to) = (ValueClass::of(old), ValueClass::of(new));
    let reset = || (Some(to.default_value()), stored.is_some_and(|value| from.has_content(value)));
    let text = |text: Option<String>| text.map_or_else(reset, |text| (Some(text.into()), false));
    match (from, to) {
        (Text | Radio | Select, Number | Boolean) if new.conversion.parse => {
            let read = stored.and_then(Value::as_str).and_then(|text| match to {
                Number => parse_number(text, new.schema_type == SchemaType::Integer),
                _ => parse_boolean(text).map(Value::Bool),
            });
            read.map_or_else(reset, |value| (Some(value), false))
        }
        (Items, Items) => nested_of(stored, |value| convert_items(old, new, value)),
        (Custom, Custom) if new.is_nested_object() && old.schema_type == SchemaType::Object => {
            nested_of(stored, |value| convert_members(old, new, value))
        }
        (Text | Radio | Select, Text | Radio | Select) => (stored.cloned(), false),
        (from, to) if from == to => (stored.cloned(), false),
        (Text | Radio | Number | Boolean, Strings) => {
            let Some(value) = stored else { return (None, false) };
            scalar_text(value).map_or_else(reset, |text| strings(new, vec![text]))
        }
        (Items, Strings) => {
            let Some(value) = stored else { return (None, false) };
            let Some(items) = value.as_array() else { return reset() };
            strings(new, items.iter().map(item_text).collect())
        }
        (Number | Boolean | Geo | Links | Strings, Text | Radio | Select) => {
            let Some(value) = stored else { return (None, false) };
            match (from, to) {
                (Strings, Radio | Select) => first(value),
                (Strings, _) => text(joined(value, Value::as_str)),
                (Links, _) => text(joined(value, |link| link["dataUrl"].as_str())),
                (Geo, _) => text(geo_text(value)),
                _ => text(scalar_text(value)),
            }
        }
        _ => reset(),
    }
}

/// Keeps the strings that are options of the property; without options, all strings.
fn strings(new: &Property, values: Vec<String>) -> CarriedValue {
    let is_option = |value: &String| new.options.is_empty() || new.options.contains(value);
    let (kept, dropped): (Vec<String>, Vec<String>) = values.into_iter().partition(is_option);
    (Some(kept.into()), dropped.iter().any(|value| !value.is_empty()))
}

/// The first element of a list; no value for an empty list.
fn first(list: &Value) -> CarriedValue {
    let values = list.as_array().map(Vec::as_slice).unwrap_or_default();
    (values.first().cloned(), values.len() > 1)
}

fn joined(list: &Value, text: impl Fn(&Value) -> Option<&str>) -> Option<String> {
    let texts: Vec<&str> = list.as_array()?.iter().filter_map(text).collect();
    Some(texts.join(", "))
}

fn item_text(item: &Value) -> String {
    item.as_str().map_or_else(|| item.to_string(), str::to_owned)
}

/// Text, number or boolean as text.
fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number_text(number)),
        Value::Bool(boolean) => Some(boolean.to_string()),
        _ => None,
    }
}

/// Shortest decimal notation without exponent.
fn number_text(number: &Number) -> String {
    match number.as_f64() {
        // Adding zero turns -0 into 0.
        Some(fraction) if number.is_f64() => (fraction + 0.0).to_string(),
        _ => number.to_string(),
    }
}

/// Coordinates as text, without missing ones.
fn geo_text(value: &Value) -> Option<String> {
    let point = value.as_object()?;
    let part = |name| match point.get(name) {
        Some(Value::Number(number)) => Some(format!("{name}: {}", number_text(number))),
        _ => None,
    };
    let parts: Vec<String> = ["lat", "lon"].into_iter().filter_map(part).collect();
    Some(parts.join(", "))
}

/// Parses a number in the range of `i64`. Spaces around it are ignored; a number without a fraction
/// becomes an integer.
fn parse_number(text: &str, only_integers: bool) -> Option<Value> {
    let text = text.trim();
    match Comparable::parse(text)? {
        Comparable::Integer(integer) => Some(integer.into()),
        Comparable::Real(real) if !(-TWO_TO_63..TWO_TO_63).contains(&real) => None,
        // Digits beyond the precision of a float would be lost.
        Comparable::Real(real) if decimal(text) != decimal(&real.to_string()) => None,
        #[expect(clippy::cast_possible_truncation, reason = "an integer in range")]
        Comparable::Real(real) if real.fract() == 0.0 => Some((real as i64).into()),
        Comparable::Real(_) if only_integers => None,
        Comparable::Real(real) => Number::from_f64(real).map(Value::Number),
    }
}

/// Sign, significant digits, and the power of ten of the last digit of a number in decimal
/// notation; none when the exponent is out of range.
fn decimal(text: &str) -> Option<(bool, String, i64)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let is_negative = mantissa.starts_with('-');
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", integer.trim_start_matches(['+', '-']));
    let significant = digits.trim_end_matches('0');
    let dropped = i64::try_from(digits.len() - significant.len()).ok()?;
    let power = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(dropped)?;
    let significant = significant.trim_start_matches('0').to_owned();
    if significant.is_empty() {
        return Some((false, significant, 0));
    }
    Some((is_negative, significant, power))
}

/// Parses a boolean in any letter case. Spaces around it are ignored.
fn parse_boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Converts nested values, if there is a value.
fn nested_of(stored: Option<&Value>, convert: impl Fn(&Value) -> (Value, bool)) -> CarriedValue {
    let (value, is_lost) = stored.map(convert).unzip();
    (value, is_lost.unwrap_or_default())
}

fn convert_items(old: &Property, new: &Property, list: &Value) -> (Value, bool) {
    let Value::Array(items) = list else { return (list.clone(), false) };
    let mut is_lost = false;
    let items = items.iter().map(|item| {
        let (item, lost) = convert_members(old, new, item);
        is_lost |= lost;
        item
    });
    (items.collect::<Vec<_>>().into(), is_lost)
}

/// Converts the members of an item or a custom value. Undeclared ones stay unchanged, except one with
/// the new name of a renamed property: the value of that property replaces it.
fn convert_members(old: &Property, new: &Property, value: &Value) -> (Value, bool) {
    let Value::Object(before) = value else { return (value.clone(), false) };
    if new.nested.is_empty() {
        return (value.clone(), false);
    }
    let changes: Vec<(&Property, Option<&Property>)> = new
        .nested
        .iter()
        .map(|property| (property, source(property, &old.nested, &new.nested)))
        .collect();
    let (mut after, mut is_lost) = (Map::new(), false);
    for (name, value) in before {
        let change =
            changes.iter().find(|(new, old)| old.map_or(&new.name, |old| &old.name) == name);
        let declared = old.nested.iter().find(|old| old.name == *name);
        let is_replaced = |(new, old): &(&Property, Option<&Property>)| {
            new.name == *name && old.is_some_and(|old| before.contains_key(&old.name))
        };
        if change.is_none() && declared.is_none() && changes.iter().any(is_replaced) {
            is_lost |= !value::is_empty(value);
            continue;
        }
        let converted = match (change, declared) {
            (Some((new, old)), _) if old.is_none_or(|old| converts(old, new)) => {
                convert(*old, new, Some(value))
            }
            (None, Some(old)) => remove(old, Some(value)),
            _ => Converted::new(Some(value), Some(value.clone()), false),
        };
        is_lost |= converted.outcome == Some(ValueOutcome::Lost);
        if let Some(value) = converted.value {
            after.insert(change.map_or(name, |(new, _)| &new.name).clone(), value);
        }
    }
    for (new, old) in changes {
        let old_name = old.map_or(&new.name, |old| &old.name);
        if !before.contains_key(old_name)
            && old.is_none_or(|old| converts(old, new))
            && let Some(value) = convert(old, new, None).value
        {
            after.insert(new.name.clone(), value);
        }
    }
    (after.into(), is_lost)
}

#[cfg(test)]
mod tests;
