//! Parsing JSON text that contains objects of the maximum nesting.
//!
//! The parser accepts 128 levels of nesting. A single object may use all of them, so the parser would reject a list
//! that contains such an object.

use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde_json::{Result, Value, from_str, from_value, value::RawValue};

/// Maximum number of levels around an object: a list whose objects have hydrated links takes six.
const MAX_OUTER_LEVELS: usize = 8;

/// Parses JSON text. The outer levels do not count towards the limit of the parser.
pub fn from_slice<T: DeserializeOwned>(text: &[u8]) -> Result<T> {
    serde_json::from_slice(text).or_else(|error| {
        let value = str::from_utf8(text).ok().and_then(|text| parse(text, MAX_OUTER_LEVELS).ok());
        value.and_then(|value| from_value(value).ok()).ok_or(error)
    })
}

/// Parses the outer levels one by one, and what they contain separately.
fn parse(text: &str, outer_levels: usize) -> Result<Value> {
    let inner = |text: &RawValue| parse(text.get(), outer_levels - 1);
    match text.trim_start().as_bytes().first() {
        Some(b'{') if outer_levels > 0 => {
            let members: IndexMap<String, Box<RawValue>> = from_str(text)?;
            members.iter().map(|(name, value)| Ok((name.clone(), inner(value)?))).collect()
        }
        Some(b'[') if outer_levels > 0 => {
            let elements: Vec<Box<RawValue>> = from_str(text)?;
            elements.iter().map(|element| inner(element)).collect()
        }
        _ => from_str(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outer_levels_do_not_count_towards_the_limit() {
        let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let object = format!("{{\"a\":{}}}", nested(126));
        assert!(from_str::<Value>(&object).is_ok());
        for text in [
            format!("{{\"count\":1,\"data\":[{object}]}}"),
            format!("{{\"b\":null,\"internal\":{{\"published\":{object}}}}}"),
            format!("[[[[[[{object}]]]]]]"),
        ] {
            assert!(from_str::<Value>(&text).is_err());
            assert_eq!(from_slice::<Value>(text.as_bytes()).unwrap().to_string(), text);
        }
        assert!(from_slice::<Value>(nested(200).as_bytes()).is_err());
    }

    #[test]
    fn error_is_that_of_the_parser() {
        for text in ["", "{\"a\":[1,}", "[1] 2", "\u{7f}"] {
            let error = from_str::<Value>(text).unwrap_err().to_string();
            assert_eq!(from_slice::<Value>(text.as_bytes()).unwrap_err().to_string(), error);
        }
        let error = from_slice::<Vec<u8>>(b"[1,{}]").unwrap_err();
        assert!(error.is_data() && error.line() == 1);
    }
}
