//! Converts an object to a document of the index (see docs/reference/search.md#words): every
//! string, number and boolean.
//!
//! The properties of the type define which part of a value is indexed: the text of a richtext without its
//! tags, the data of blocks, the target of a link. Values without a property definition are indexed
//! unchanged.

use cms_model::{
    content_type::model::{InputType, Property},
    object::model::{Internal, StoredObject},
    query::value::Number,
    search::{
        analysis::{self, Markup},
        geo,
        query::Point,
        word::{self, INTERNAL},
    },
};
use serde_json::{Map, Value};
use tantivy::{
    TantivyDocument,
    schema::{Field, OwnedValue},
};

use super::{
    column::simplest,
    schema::{self, FOLDED_BYTES, Fields, Flags},
};

/// Creates the document of one edition of an object; `indexed` is the time in milliseconds.
pub(super) fn document(
    fields: &Fields,
    properties: &[Property],
    stored: &StoredObject<'_>,
    content_type: &str,
    flags: Flags,
    indexed: i64,
) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    document.add_u64(fields.pk, stored.pk.unsigned_abs());
    document.add_u64(fields.ctd, flags.ctd.unsigned_abs());
    document.add_u64(fields.flags, flags.pack());
    document.add_i64(fields.created, stored.internal.created_at);
    document.add_i64(fields.indexed, indexed);
    let mut builder = DocumentBuilder { words: fields.words, document, paths: Paths::default() };
    builder.text("id", &stored.id, Markup::Plain);
    let data: Map<String, Value> = serde_json::from_str(&stored.data).unwrap_or_default();
    builder.object("", &data, properties);
    builder.internal(content_type, &stored.internal);
    let DocumentBuilder { mut document, paths, .. } = builder;
    for (field, values) in [
        (fields.scalars, paths.scalars),
        (fields.exact, paths.exact),
        (fields.folded, paths.folded),
        (fields.geo, paths.geo),
    ] {
        if !values.is_empty() {
            document.add_field_value(field, &OwnedValue::Object(values));
        }
    }
    document
}

/// Values by path, for the JSON fields.
#[derive(Default)]
struct Paths {
    scalars: Vec<(String, OwnedValue)>,
    exact: Vec<(String, OwnedValue)>,
    folded: Vec<(String, OwnedValue)>,
    geo: Vec<(String, OwnedValue)>,
}

/// A document under construction.
struct DocumentBuilder {
    words: Field,
    document: TantivyDocument,
    paths: Paths,
}

impl DocumentBuilder {
    /// Metadata of an object, matched only by conditions that name it. Dates are seconds.
    fn internal(&mut self, content_type: &str, internal: &Internal<'_>) {
        let texts = [
            ("contentType", content_type),
            ("status", internal.status.as_str()),
            ("workflowState", &internal.workflow_state),
            ("objectTitle", &internal.title),
        ];
        for (name, text) in texts {
            self.text(&format!("{INTERNAL}{name}"), text, Markup::Plain);
        }
        let numbers = [
            ("createdAt", Some(internal.created_at)),
            ("updatedAt", Some(internal.updated_at)),
            ("latestVersion", Some(internal.version)),
            ("publicVersion", internal.public_version),
            ("publishedAt", internal.published_at),
            ("workflowPublicVersion", internal.workflow_public_version),
            ("workflowPublishedAt", internal.workflow_published_at),
            ("scheduledAt", internal.schedule.as_ref().map(|schedule| schedule.at)),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                self.value(&format!("{INTERNAL}{name}"), OwnedValue::I64(number));
            }
        }
    }

    fn object(&mut self, path: &str, object: &Map<String, Value>, properties: &[Property]) {
        for (name, value) in object {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let property = properties.iter().find(|property| property.name == *name);
            self.any(&path, value, property);
        }
    }

    fn any(&mut self, path: &str, value: &Value, property: Option<&Property>) {
        let input_type = property.map(|property| property.input_type);
        match value {
            Value::Array(items) => {
                for item in items {
                    self.any(path, item, property);
                }
            }
            Value::Object(object) => match input_type {
                Some(InputType::Datasource) => self.link(path, object),
                Some(InputType::Block) => self.blocks(path, object),
                Some(InputType::Geo) => {
                    self.point(path, object);
                    self.object(path, object, &[]);
                }
                _ => self.object(path, object, property.map_or(&[], |p| &p.nested)),
            },
            leaf => self.leaf(path, leaf, markup(input_type)),
        }
    }

    /// A scalar value.
    fn leaf(&mut self, path: &str, leaf: &Value, markup: Markup) {
        match leaf {
            Value::Bool(value) => self.scalar(path, OwnedValue::Bool(*value), &value.to_string()),
            Value::Number(number) => {
                self.scalar(path, number_value(number), &number.to_string());
            }
            Value::String(text) => self.text(path, text, markup),
            Value::Null | Value::Array(_) | Value::Object(_) => {}
        }
    }

    /// A number or a boolean, and its text.
    fn scalar(&mut self, path: &str, value: OwnedValue, text: &str) {
        self.value(path, value);
        self.document.add_text(self.words, word::scalar(text));
    }

    fn value(&mut self, path: &str, value: OwnedValue) {
        if path.len() > schema::PATH_BYTES {
            return;
        }
        self.paths.scalars.push((path.to_owned(), value.clone()));
        self.paths.exact.push((path.to_owned(), value));
    }

    fn text(&mut self, path: &str, text: &str, markup: Markup) {
        if path.contains(word::SEPARATORS) || path.len() > schema::PATH_BYTES {
            return;
        }
        let seen = analysis::plain_text(text, markup);
        self.document.add_text(self.words, word::text(path, &seen));
        self.paths.folded.push((path.to_owned(), OwnedValue::Str(folded(text))));
        if text.len() <= schema::EXACT_BYTES {
            self.paths.exact.push((path.to_owned(), OwnedValue::Str(text.to_owned())));
        } else {
            self.document.add_text(self.words, word::long_text(path));
        }
    }

    /// Indexes the target of a link (`dataUrl`), but not its member `type`, which is `internal` in most links.
    /// The path is that of the property, because the query parser removes a final `.dataUrl` from paths.
    fn link(&mut self, path: &str, link: &Map<String, Value>) {
        if let Some(Value::String(url)) = link.get("dataUrl") {
            self.text(path, url, Markup::Plain);
        }
    }

    /// The data of blocks at the path of their property. Types and ids of blocks are not content.
    fn blocks(&mut self, path: &str, editor: &Map<String, Value>) {
        for block in editor.get("blocks").and_then(Value::as_array).into_iter().flatten() {
            self.block_data(path, &block["data"]);
        }
    }

    fn block_data(&mut self, path: &str, data: &Value) {
        match data {
            Value::Array(items) => items.iter().for_each(|item| self.block_data(path, item)),
            Value::Object(object) => object.values().for_each(|item| self.block_data(path, item)),
            leaf => self.leaf(path, leaf, Markup::Html),
        }
    }

    fn point(&mut self, path: &str, value: &Map<String, Value>) {
        let degrees = |name: &str| value.get(name).and_then(Value::as_f64);
        if let (Some(lat), Some(lon)) = (degrees("lat"), degrees("lon")) {
            let packed = geo::pack(Point { lat, lon });
            self.paths.geo.push((path.to_owned(), OwnedValue::I64(packed)));
        }
    }
}

/// The prefix of the lower-case form of a text, which defines its order.
fn folded(text: &str) -> String {
    // Lower case takes at least a third of the bytes, so this is always enough. The lower-case form
    // of a capital sigma depends on the next characters, hence a few more.
    let beginning = &text[..text.floor_char_boundary(4 * FOLDED_BYTES)];
    let mut folded = beginning.to_lowercase();
    folded.truncate(folded.floor_char_boundary(FOLDED_BYTES));
    folded
}

fn markup(input_type: Option<InputType>) -> Markup {
    match input_type {
        Some(InputType::RichText | InputType::Block) => Markup::Html,
        Some(InputType::TextMarkdown | InputType::Markdown) => Markup::Markdown,
        _ => Markup::Plain,
    }
}

/// Integers are stored as such, also with a fraction of 0: one float in a column makes all of its
/// numbers floats.
fn number_value(number: &serde_json::Number) -> OwnedValue {
    match Number::of_json(number).map(simplest) {
        Some(Number::Integer(integer)) => OwnedValue::I64(integer),
        Some(Number::Real(real)) => OwnedValue::F64(real),
        None => OwnedValue::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_texts_end_at_a_character_boundary_within_512_bytes() {
        let cases = [
            (String::new(), String::new()),
            ("AbC".to_owned(), "abc".to_owned()),
            ("X".repeat(512), "x".repeat(512)),
            ("X".repeat(513), "x".repeat(512)),
            // The character with bytes 512 and 513 does not fit.
            ("X".repeat(511) + "Éa", "x".repeat(511)),
            ("É".repeat(300), "é".repeat(256)),
            // Three bytes become one, and two become three.
            ("\u{212a}".repeat(600), "k".repeat(512)),
            ("\u{130}".repeat(300), "i\u{307}".repeat(170) + "i"),
            ("ΑΣ".to_owned(), "ας".to_owned()),
        ];
        for (text, wanted) in cases {
            assert_eq!(folded(&text), wanted, "{text}");
        }
    }
}
