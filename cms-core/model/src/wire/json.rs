//! Parsing JSON text that contains objects of the maximum nesting.
//!
//! The parser accepts 127 levels of nesting. A single object may use all of them, so the parser would reject a list
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

/// Returns whether JSON text has more values than a number. Each value takes up to 72 bytes of memory when it is parsed,
/// whatever its length, so the number of values limits the memory.
pub fn has_more_values(text: &[u8], maximum: usize) -> bool {
    // A value takes two bytes of text, with the comma or bracket before it.
    if text.len() / 2 <= maximum {
        return false;
    }
    let (mut values, mut in_string, mut is_escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values > maximum
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

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (text, values) in [
            (r#"["a,b,[{",1]"#, 3),
            (r#"{"a":[0,0],"b":{}}"#, 6),
            (r#"["\"",",","\\",0]"#, 5),
            ("[0,0,0,0]", 5),
            ("  12345678  ", 1),
        ] {
            assert!(!has_more_values(text.as_bytes(), values), "{text}");
            assert_eq!(
                has_more_values(text.as_bytes(), values - 1),
                text.len() / 2 >= values,
                "{text}"
            );
        }
    }
}
