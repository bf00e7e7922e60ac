//! Conversions of JSON values for comparison: to numbers, text and link addresses; emptiness.

use std::{borrow::Cow, cmp::Ordering};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// A number with exact comparison of integers and floats.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Integer(i64),
    /// Never NaN.
    Real(f64),
}

impl Number {
    /// Converts a number, or a string with a number.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Self::of_json(number),
            Value::String(text) => Self::parse(text),
            _ => None,
        }
    }

    pub fn of_json(number: &serde_json::Number) -> Option<Self> {
        number.as_i64().map(Self::Integer).or_else(|| number.as_f64().map(Self::Real))
    }

    /// Parses decimal notation; none when the number is out of range.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() || !text.bytes().all(|byte| b"0123456789+-.eE".contains(&byte)) {
            return None;
        }
        if let Ok(integer) = text.parse() {
            return Some(Self::Integer(integer));
        }
        text.parse().ok().filter(|real: &f64| real.is_finite()).map(Self::Real)
    }
}

impl Ord for Number {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (*self, *other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(&b),
            (Self::Real(a), Self::Real(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            (Self::Integer(a), Self::Real(b)) => compare_mixed(a, b),
            (Self::Real(a), Self::Integer(b)) => compare_mixed(b, a).reverse(),
        }
    }
}

impl PartialOrd for Number {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

/// One more than `i64::MAX`; its negation is `i64::MIN`.
pub const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// Compares without converting the integer to a float, which would lose digits.
fn compare_mixed(integer: i64, real: f64) -> Ordering {
    if real >= TWO_TO_63 {
        return Ordering::Less;
    }
    if real < -TWO_TO_63 {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "in range, and the fraction is compared")]
    let truncated = real.trunc() as i64;
    integer.cmp(&truncated).then_with(|| 0.0.partial_cmp(&real.fract()).unwrap_or(Ordering::Equal))
}

/// Lower case, character by character, so that a prefix of a text folds to a prefix of the folded
/// text; rules that depend on the context do not guarantee that.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.chars().flat_map(char::to_lowercase).collect()
    }
}

/// A value in the form that equal values have in common: floats without a fraction as integers, objects with sorted
/// members, and internal links with the [`link_address`] of their target.
pub fn canonical(value: &Value) -> Value {
    match value {
        Value::Number(number) => integer(number).map_or_else(|| value.clone(), Value::from),
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(members) => {
            let is_link = members.get("type").is_some_and(|kind| kind == "internal");
            let canonical_member = |(name, member): (&String, &Value)| match member {
                Value::String(address) if is_link && name == "dataUrl" => {
                    (name.clone(), Value::from(link_address(address)))
                }
                member => (name.clone(), canonical(member)),
            };
            let mut sorted: Map<String, Value> = members.iter().map(canonical_member).collect();
            sorted.sort_keys();
            Value::Object(sorted)
        }
        other => other.clone(),
    }
}

/// The integer that a number like `1.0` equals.
fn integer(number: &serde_json::Number) -> Option<i64> {
    let real = number.as_f64().filter(|real| number.is_f64() && real.fract() == 0.0)?;
    format!("{real:.0}").parse().ok()
}

/// Returns whether a value is empty; missing values are empty too.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// The text of a value: a string unchanged, other values as compact JSON.
pub fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Normalizes the address of a link for comparison: decodes the id and converts it to lower case.
pub fn link_address(address: &str) -> Cow<'_, str> {
    const PREFIX: &str = "/api/v1/content/";
    let parts = address.strip_prefix(PREFIX).and_then(|rest| rest.split_once('/'));
    parts.map_or(Cow::Borrowed(address), |(content_type, id)| {
        let id = percent_decode_str(id).decode_utf8_lossy();
        Cow::Owned(format!("{PREFIX}{content_type}/{}", fold(&id)))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn canonical_values_are_equal_if_the_values_are() {
        let link = |kind: &str, address: &str| json!([{ "type": kind, "dataUrl": address }]);
        let stored = link("internal", "/api/v1/content/tag/My%20Tag");
        for (a, b, is_equal) in [
            (json!(1), json!(1.0), true),
            (json!("a"), json!("A"), false),
            (json!({"lat": 52, "lon": 21}), json!({"lon": 21.0, "lat": 52.0}), true),
            (json!([{"a": [1], "b": 2}]), json!([{"b": 2, "a": [1.0]}]), true),
            (json!([1, 2]), json!([2, 1]), false),
            (stored.clone(), link("internal", "/api/v1/content/tag/my tag"), true),
            (stored, link("external", "/api/v1/content/tag/my tag"), false),
            (link("external", "/A"), link("external", "/a"), false),
            (json!({"dataUrl": "/A"}), json!({"dataUrl": "/a"}), false),
        ] {
            let texts = [&a, &b].map(|value| canonical(value).to_string());
            assert_eq!(texts[0] == texts[1], is_equal, "{texts:?}");
        }
    }
}
