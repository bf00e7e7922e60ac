//! The title of an object, shown in lists and relation pickers, see
//! docs/reference/objects.md#object-format

use serde_json::{Map, Value};

use crate::{content_type::model::Property, limits};

/// Joins the values of the title properties, in the order of the form, by one space.
pub fn object_title(properties: &[Property], object: &Map<String, Value>) -> String {
    let parts = properties.iter().filter(|property| property.title_part);
    let parts = parts.filter_map(|property| object.get(&property.name).map(text));
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// Returns the title as lists without content have it: its length is limited, because such lists have up to 1,000 titles.
pub fn listed_title(title: &str) -> String {
    title.chars().take(limits::MAX_LISTED_TITLE_CHARS).collect()
}

/// A value as text; several selected options are separated by commas.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => {
            let number = number.to_string();
            number.strip_suffix(".0").unwrap_or(&number).to_owned()
        }
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::content_type::model::{InputType, SchemaType};

    fn part(name: &str, schema_type: SchemaType, input_type: InputType) -> Property {
        Property { title_part: true, ..Property::plain(name, schema_type, input_type) }
    }

    #[test]
    fn title_joins_non_empty_values() {
        let mut properties = [
            part("name", SchemaType::String, InputType::Text),
            part("year", SchemaType::Number, InputType::Number),
            part("colors", SchemaType::Array, InputType::Select),
            part("note", SchemaType::String, InputType::Text),
        ];
        properties[3].title_part = false;
        let rows = [
            (
                json!({"colors": ["red", "blue"], "year": 2021.0, "name": "Car"}),
                "Car 2021 red, blue",
            ),
            (json!({"name": "", "year": 0.5, "note": "x"}), "0.5"),
            (json!({"note": "x"}), ""),
        ];
        for (object, expected) in rows {
            assert_eq!(object_title(&properties, object.as_object().unwrap()), expected);
        }
    }
}
