//! Links between objects, see docs/reference/objects.md#links
//!
//! The services check that targets exist; [`super::rules`] has the rules that need no storage.

use std::{borrow::Cow, collections::BTreeSet};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::path::ValuePath;
use crate::{
    content_type::model::{InputType, Property},
    ids::has_only_id_characters,
};

const CONTENT: &str = "/api/v1/content/";

/// Characters of an id that are encoded in links from files.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// The target of a well-formed internal `dataUrl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTarget<'a> {
    pub content_type: &'a str,
    /// Percent-decoded; ids are compared case-insensitively.
    pub id: Cow<'a, str>,
}

/// Parses `/api/v1/content/<type>/<id>`; the id may be raw or percent-encoded.
pub fn parse(data_url: &str) -> Option<LinkTarget<'_>> {
    let (content_type, id) = data_url.strip_prefix(CONTENT)?.split_once('/')?;
    let is_name = |name: &str| name.bytes().all(|b| b == b'_' || b.is_ascii_lowercase());
    let id = percent_decode_str(id).decode_utf8().ok()?;
    (!content_type.is_empty()
        && is_name(content_type)
        && !id.is_empty()
        && has_only_id_characters(&id))
    .then_some(LinkTarget { content_type, id })
}

/// Returns whether an id has only characters that no link percent-encodes.
pub fn needs_no_encoding(id: &str) -> bool {
    utf8_percent_encode(id, ENCODED).next() == Some(id)
}

/// Builds a link to an object.
pub fn to(content_type: &str, id: &str) -> Value {
    json!({ "type": "internal", "dataUrl": format!("{CONTENT}{content_type}/{id}") })
}

/// Builds a link from a text in a file: the id of an object of this type, or the path of any object.
pub fn from_text(content_type: &str, text: &str) -> Value {
    if text.starts_with(CONTENT) {
        return json!({ "type": "internal", "dataUrl": text });
    }
    to(content_type, &utf8_percent_encode(text, ENCODED).to_string())
}

/// A link in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkRef {
    /// Path of the relation, for messages.
    pub path: String,
    pub content_type: String,
    /// Percent-decoded.
    pub id: String,
}

impl LinkRef {
    /// Type and id of the target.
    pub fn target(&self) -> (&str, &str) {
        (&self.content_type, &self.id)
    }
}

/// Returns the well-formed internal links of an object at any depth.
pub fn links(properties: &[Property], object: &Map<String, Value>) -> Vec<LinkRef> {
    let mut found = Vec::new();
    visit(properties, object, &ValuePath::Root, &mut |path, data_url| {
        found.extend(parse(data_url).map(|target| LinkRef {
            path: path.to_string(),
            content_type: target.content_type.to_owned(),
            id: target.id.into_owned(),
        }));
    });
    found
}

/// Calls `found` with the address of every internal link of an object and the path of its relation.
pub fn visit(
    properties: &[Property],
    object: &Map<String, Value>,
    parent: &ValuePath,
    found: &mut impl FnMut(&ValuePath<'_>, &str),
) {
    for property in properties.iter().filter(|property| property.may_link()) {
        let Some(value) = object.get(&property.name) else { continue };
        let path = parent.key(&property.name);
        match (property.input_type, value) {
            (InputType::Datasource, Value::Array(items)) => {
                for data_url in items.iter().filter_map(internal) {
                    found(&path, data_url);
                }
            }
            (InputType::Object, Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    if let Value::Object(item) = item {
                        visit(&property.nested, item, &path.index(index), found);
                    }
                }
            }
            (InputType::Custom, Value::Object(value)) => {
                visit(&property.nested, value, &path, found);
            }
            _ => {}
        }
    }
}

/// The paths of the relations in lists and in custom objects: `parts.link`.
pub fn nested_relations(properties: &[Property]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for property in properties {
        let below = property.nested.iter().filter(|below| below.relation.is_some());
        let names = below.map(|below| below.name.clone()).chain(nested_relations(&property.nested));
        found.extend(names.map(|name| format!("{}.{name}", property.name)));
    }
    found
}

/// Returns whether one of these values is an internal link to an object, or a list with such a link.
pub fn any_is_to(values: &[&Value], content_type: &str, id: &str) -> bool {
    let links = values.iter().flat_map(|value| match value {
        Value::Array(links) => links.as_slice(),
        link => std::slice::from_ref(*link),
    });
    links
        .filter_map(internal)
        .filter_map(parse)
        .any(|target| target.content_type == content_type && target.id.eq_ignore_ascii_case(id))
}

/// Returns the `dataUrl` of an internal link.
pub fn internal(link: &Value) -> Option<&str> {
    (link["type"] == "internal").then(|| link["dataUrl"].as_str()).flatten()
}
