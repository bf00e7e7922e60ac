//! Batch create and batch patch: elements and report, see docs/reference/objects.md#batches

use std::{fmt, marker::PhantomData};

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeSeed, IgnoredAny, SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

use super::object;
use crate::error::{Error, FieldErrors, Result};

/// The elements of a batch as JSON text. Each is parsed when it is processed: a parsed value takes
/// many times the memory of its text.
#[derive(Clone, Debug)]
pub struct BatchElements(Vec<Bytes>);

impl BatchElements {
    /// Splits a JSON array into its elements, `maximum` plus one at most.
    ///
    /// # Errors
    /// [`Error::BadRequest`] when it is no JSON array, [`Error::ObjectTooLarge`] when an element is
    /// too large.
    pub fn read(text: &Bytes, maximum: usize) -> Result<Self> {
        let elements: Vec<&RawValue> = read_array_prefix(text, maximum)?;
        let find = |element: &RawValue| {
            object::require_length(element.get().as_bytes())?;
            Ok(text.slice_ref(element.get().as_bytes()))
        };
        elements.into_iter().map(find).collect::<Result<_>>().map(Self)
    }

    /// Creates a batch from parsed values.
    pub fn of(values: &[Value]) -> Self {
        Self(values.iter().map(|value| Bytes::from(value.to_string())).collect())
    }

    pub fn texts(&self) -> &[Bytes] {
        &self.0
    }
}

/// Parses the first elements of a JSON array, `maximum` plus one at most; the rest is only checked
/// for syntax.
///
/// # Errors
/// [`Error::BadRequest`] when it is no JSON array of such elements.
pub fn read_array_prefix<'de, T: Deserialize<'de>>(
    text: &'de [u8],
    maximum: usize,
) -> Result<Vec<T>> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let first = ArrayPrefix { maximum, element: PhantomData };
    let elements = first.deserialize(&mut reader).map_err(|_| Error::malformed_json())?;
    reader.end().map_err(|_| Error::malformed_json())?;
    Ok(elements)
}

struct ArrayPrefix<T> {
    maximum: usize,
    element: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for ArrayPrefix<T> {
    type Value = Vec<T>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Vec<T>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ArrayPrefix<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut sequence: A,
    ) -> std::result::Result<Vec<T>, A::Error> {
        let mut elements = Vec::new();
        while elements.len() <= self.maximum {
            match sequence.next_element()? {
                Some(element) => elements.push(element),
                None => return Ok(elements),
            }
        }
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(elements)
    }
}

/// Counts of saved and rejected elements, and the errors.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BatchReport {
    pub batch_total_count: usize,
    pub batch_success_count: usize,
    pub batch_error_count: usize,
    pub errors: Vec<BatchError>,
    /// Errors that concern more than one element: present only when ids repeat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
}

/// A rejected element.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchError {
    /// The id as sent; empty when the element had none.
    pub id: String,
    /// The element as sent, as compact JSON.
    pub data: Box<RawValue>,
    pub errors: FieldErrors,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

    #[test]
    fn batch_elements_are_split_up_to_a_limit() {
        let found = |text: &str| {
            let elements = BatchElements::read(&Bytes::from(text.to_owned()), 2);
            let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
            elements.map(|found| found.texts().iter().map(text).collect::<Vec<_>>())
        };
        let deep = format!("[{}{}]", "[".repeat(10_000), "]".repeat(10_000));
        for (text, expected) in [
            ("[]", &[][..]),
            (" [ 1 , { \"id\" : \"a\" } ] ", &["1", "{ \"id\" : \"a\" }"]),
            ("[1,2,3]", &["1", "2", "3"]),
            ("[1,2,3,4,{\"a\":[5]}]", &["1", "2", "3"]),
            (&deep, &[&deep[1..deep.len() - 1]]),
        ] {
            assert_eq!(found(text).unwrap(), expected, "{text:.50}");
        }
        for text in ["", "{}", "1", "[1", "[1,]", "[1,2,3,4,}]", "[1]2", "[1,2,3]]", "[\"\u{1}\"]"]
        {
            assert!(matches!(found(text), Err(Error::BadRequest(_))), "{text}");
        }
        let is_malformed =
            |text: &[u8]| BatchElements::read(&Bytes::copy_from_slice(text), 2).is_err();
        assert!(is_malformed(b"[\"\xff\"]"));
    }

    #[test]
    fn batch_element_that_is_too_large_is_not_parsed() {
        let padding = " ".repeat(limits::MAX_OBJECT_TEXT_BYTES);
        let element = format!("{{\"a\":{{\"id\":1}},\"id\":{padding}\"b\"}}");
        match BatchElements::read(&format!("[{{}}, {element}]").into(), 2).unwrap_err() {
            Error::ObjectTooLarge { id, bytes } => {
                assert_eq!((&*id, bytes), ("b", element.len()));
            }
            other => panic!("{other:?}"),
        }
    }
}
