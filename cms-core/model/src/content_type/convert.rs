//! What becomes of a stored value when its property becomes another one: the specification's
//! "Content Type schema change effects" with contract 2.6, 2.8 and 14, as functions from values to
//! values.
//!
//! Types fall into kinds: text (text, textarea, both markdowns, richtext, email, dateTime), radio,
//! select, number, boolean, strings (array/select and simpleList), items, links, geo, block, custom.
//!
//! | from | to | result |
//! |---|---|---|
//! | text, radio, select | text, radio, select | the same |
//! | text, radio, select | number, boolean, with `convert: parse` | what the text reads as |
//! | text, radio, number, boolean | strings | the value as text, alone in a list, if it is an option |
//! | number, boolean | text, radio, select | the value as text |
//! | strings | text | joined with `, ` |
//! | strings | radio, select | the first one |
//! | items | strings | one text per item, those among the options |
//! | links | text, radio, select | the addresses, joined with `, ` |
//! | geo | text, radio, select | `lat: <lat>, lon: <lon>` |
//! | items, nested custom | the same kind | each nested property by this table |
//! | any other | the same kind | the same |
//! | | another kind | the constant of the new kind, also where there was no value |
//!
//! Every value meets one [`Fate`]. Who is converted, and what is stored, is for [`super::rewrite`].

use serde_json::{Map, Number, Value, json};

use super::{
    diff::{converts, source},
    model::{InputType, Property, SchemaType},
};
use crate::query::value::{self, Number as Comparable};

/// What a change does to one stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It stays as it is.
    Kept,
    /// It is another value now and nothing of the old one is lost; also a value where none was.
    Converted,
    /// Something of a value that was not empty is lost.
    Emptied,
}

/// A value after a change, and how it fared; no fate where there was and is no value.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted {
    pub value: Option<Value>,
    pub fate: Option<Fate>,
}

impl Converted {
    fn new(before: Option<&Value>, after: Option<Value>, is_lost: bool) -> Self {
        let fate = match (before, &after) {
            (None, None) => None,
            (Some(before), Some(after)) if before == after => Some(Fate::Kept),
            _ if is_lost => Some(Fate::Emptied),
            _ => Some(Fate::Converted),
        };
        Self { value: after, fate }
    }
}

/// Converts what is stored of a property; `old` is none when the property is a new one.
pub fn convert(old: Option<&Property>, new: &Property, stored: Option<&Value>) -> Converted {
    let Step { value, is_lost } = match old {
        Some(old) => carry_over(old, new, stored),
        None => Step::whole(stored.cloned()),
    };
    let backfill =
        new.migration.backfill.as_ref().filter(|_| new.required && lacks(value.as_ref()));
    Converted::new(stored, backfill.cloned().or(value), is_lost)
}

/// What becomes of the value of a property that is removed.
pub fn remove(old: &Property, stored: Option<&Value>) -> Converted {
    Converted::new(stored, None, stored.is_some_and(|value| Kind::of(old).says_something(value)))
}

/// Tells whether an object lacks a value: it has none, or an empty one.
pub fn lacks(value: Option<&Value>) -> bool {
    value.is_none_or(value::is_empty)
}

/// A value on its way, and whether something was lost.
struct Step {
    value: Option<Value>,
    is_lost: bool,
}

impl Step {
    fn whole(value: Option<Value>) -> Self {
        Self { value, is_lost: false }
    }
}

/// Types that the matrix treats alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
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

impl Kind {
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

    /// What a value becomes that cannot be carried over.
    fn constant(self) -> Value {
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

    /// A value without which nothing is lost: an empty one, a block value without blocks.
    fn says_something(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Block, value) => !value::is_empty(&value["blocks"]),
            (_, Value::Object(members)) => !members.is_empty(),
            (_, value) => !value::is_empty(value),
        }
    }
}

/// The table at the top.
fn carry_over(old: &Property, new: &Property, stored: Option<&Value>) -> Step {
    use Kind::{Boolean, Custom, Geo, Items, Links, Number, Radio, Select, Strings, Text};
    let (from, to) = (Kind::of(old), Kind::of(new));
    let reset = || Step {
        value: Some(to.constant()),
        is_lost: stored.is_some_and(|value| from.says_something(value)),
    };
    let text = |text: Option<String>| match text {
        Some(text) => Step::whole(Some(text.into())),
        None => reset(),
    };
    match (from, to) {
        (Text | Radio | Select, Number | Boolean) if new.migration.parse => {
            let read = stored.and_then(Value::as_str).and_then(|text| match to {
                Number => read_number(text, new.schema_type == SchemaType::Integer),
                _ => read_boolean(text).map(Value::Bool),
            });
            read.map_or_else(reset, |value| Step::whole(Some(value)))
        }
        (Items, Items) => nested_of(stored, |value| convert_items(old, new, value)),
        (Custom, Custom) if old.is_nested_object() && new.is_nested_object() => {
            nested_of(stored, |value| convert_members(old, new, value))
        }
        (Text | Radio | Select, Text | Radio | Select) => Step::whole(stored.cloned()),
        (from, to) if from == to => Step::whole(stored.cloned()),
        (Text | Radio | Number | Boolean, Strings) => {
            let Some(value) = stored else { return Step::whole(None) };
            scalar_text(value).map_or_else(reset, |text| strings(new, vec![text]))
        }
        (Items, Strings) => {
            let Some(value) = stored else { return Step::whole(None) };
            let Some(items) = value.as_array() else { return reset() };
            strings(new, items.iter().map(item_text).collect())
        }
        (Number | Boolean | Geo | Links | Strings, Text | Radio | Select) => {
            let Some(value) = stored else { return Step::whole(None) };
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

/// A list of strings, those that the property does not offer left out.
fn strings(new: &Property, values: Vec<String>) -> Step {
    let is_option = |value: &String| new.options.is_empty() || new.options.contains(value);
    let (kept, dropped): (Vec<String>, Vec<String>) = values.into_iter().partition(is_option);
    Step { value: Some(kept.into()), is_lost: dropped.iter().any(|value| !value.is_empty()) }
}

/// The first of a list; of an empty list, nothing.
fn first(list: &Value) -> Step {
    let values = list.as_array().map(Vec::as_slice).unwrap_or_default();
    Step { value: values.first().cloned(), is_lost: values.len() > 1 }
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

/// Shortest decimal form, never an exponent.
fn number_text(number: &Number) -> String {
    match number.as_f64() {
        // Adding zero takes the sign from a negative one.
        Some(fraction) if number.is_f64() => (fraction + 0.0).to_string(),
        _ => number.to_string(),
    }
}

/// A coordinate that is missing is left out.
fn geo_text(value: &Value) -> Option<String> {
    let place = value.as_object()?;
    let part = |name| match place.get(name) {
        Some(Value::Number(number)) => Some(format!("{name}: {}", number_text(number))),
        _ => None,
    };
    let parts: Vec<String> = ["lat", "lon"].into_iter().filter_map(part).collect();
    Some(parts.join(", "))
}

/// Reads a number as filters do, in the range of a long; whole ones become integers.
fn read_number(text: &str, whole: bool) -> Option<Value> {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    let text = text.trim();
    match Comparable::parse(text)? {
        Comparable::Integer(integer) => Some(integer.into()),
        Comparable::Real(real) if !(-TWO_TO_63..TWO_TO_63).contains(&real) => None,
        // More digits than a number keeps would be lost.
        Comparable::Real(real) if decimal(text) != decimal(&real.to_string()) => None,
        #[expect(clippy::cast_possible_truncation, reason = "whole, and in range")]
        Comparable::Real(real) if real.fract() == 0.0 => Some((real as i64).into()),
        Comparable::Real(_) if whole => None,
        Comparable::Real(real) => Number::from_f64(real).map(Value::Number),
    }
}

/// The digits of a number in decimal notation without zeros around them, and the power of ten of
/// the last one; none when there is no such power.
fn decimal(text: &str) -> Option<(bool, String, i64)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let is_negative = mantissa.starts_with('-');
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches(['+', '-']));
    let significant = digits.trim_end_matches('0');
    let dropped = i64::try_from(digits.len() - significant.len()).ok()?;
    let power = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(dropped)?;
    let significant = significant.trim_start_matches('0').to_owned();
    if significant.is_empty() {
        return Some((false, significant, 0));
    }
    Some((is_negative, significant, power))
}

/// Reads a boolean in the spellings that filters take for one.
fn read_boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Converts inside a value; nothing happens where there is none.
fn nested_of(stored: Option<&Value>, convert: impl Fn(&Value) -> (Value, bool)) -> Step {
    let Some(value) = stored else { return Step::whole(None) };
    let (value, is_lost) = convert(value);
    Step { value: Some(value), is_lost }
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

/// Converts the members of an item or a custom value; undeclared ones stay.
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
        let converted = match change {
            Some((new, old)) if old.is_none_or(|old| converts(old, new)) => {
                convert(*old, new, Some(value))
            }
            Some(_) => Converted::new(Some(value), Some(value.clone()), false),
            None => match old.nested.iter().find(|old| old.name == *name) {
                Some(old) => remove(old, Some(value)),
                None => Converted::new(Some(value), Some(value.clone()), false),
            },
        };
        is_lost |= converted.fate == Some(Fate::Emptied);
        if let Some(value) = converted.value {
            after.insert(change.map_or(name, |(new, _)| &new.name).clone(), value);
        }
    }
    for (new, old) in changes {
        let was = old.map_or(&new.name, |old| &old.name);
        if !before.contains_key(was)
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
