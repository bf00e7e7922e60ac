//! Requests for content objects. Objects are passed as JSON text, as they are stored.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Map, Value};

use crate::{
    error::{Error, Result},
    ids::MAX_ID_CHARS,
    limits,
    paging::PageRequest,
    wire::{json, list::List},
};

/// Parses an object in a request.
///
/// # Errors
/// [`Error::ObjectTooLarge`] when the text is too large to be parsed, [`Error::BadRequest`] when it
/// is no JSON object.
pub fn read(text: &[u8]) -> Result<Map<String, Value>> {
    require_length(text)?;
    serde_json::from_slice(text).map_err(|_| Error::malformed_json())
}

/// Returns whether text is larger than the text of any object, or has more values.
pub(super) fn is_too_large(text: &[u8]) -> bool {
    text.len() > limits::MAX_OBJECT_TEXT_BYTES
        || json::has_more_values(text, limits::MAX_JSON_VALUES)
}

/// Rejects text that [`is_too_large`].
pub(super) fn require_length(text: &[u8]) -> Result<()> {
    let bytes = text.len();
    if !is_too_large(text) {
        return Ok(());
    }
    let id = id_of(text).unwrap_or_default();
    let id = id.as_str().unwrap_or_default().chars().take(MAX_ID_CHARS).collect();
    Err(Error::ObjectTooLarge { id, bytes })
}

/// Returns the value of `id` in the text of an object, without parsing the other values.
pub fn id_of(text: &[u8]) -> Option<Value> {
    serde_json::from_slice(text).ok().and_then(|Id(id)| id)
}

struct Id(Option<Value>);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(IdOfObject)
    }
}

struct IdOfObject;

impl<'de> Visitor<'de> for IdOfObject {
    type Value = Id;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Id, A::Error> {
        let mut id = None;
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            if name == "id" {
                id = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Id(id))
    }
}

/// JSON text of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(pub Vec<u8>);

impl Json {
    /// Parses the text.
    pub fn to_value(&self) -> serde_json::Value {
        json::from_slice(&self.0).expect("the core writes valid JSON")
    }
}

/// `GET /api/v1/content/{name}`, see docs/reference/objects.md#list-objects
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    pub page: PageRequest,
    /// Property path; none means `internal.createdAt`.
    pub order_by: Option<String>,
    pub descending: bool,
    /// Objects without a value of the sort key come first.
    pub empty_first: bool,
    /// Hydration depth, 0 to 2.
    pub hydrate: u8,
    /// The `filters` parameter as sent, JSON text.
    pub filters: Option<String>,
    /// Only these ids; none means no restriction.
    pub ids: Option<Vec<String>>,
    /// Paths of the parts of objects to return; empty means complete objects.
    pub fields: Vec<String>,
}

/// `GET /api/v1/content/{name}/{id}`, see docs/reference/objects.md#get-an-object
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectRequest {
    /// Hydration depth, 0 to 2.
    pub hydrate: u8,
    /// As [`ListRequest::fields`].
    pub fields: Vec<String>,
}

/// `POST /api/v1/content/{name}/validate`, see docs/reference/objects.md#validate
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidateRequest {
    /// The object to change; none creates one.
    pub id: Option<String>,
    /// Only the given properties are changed.
    pub patch: bool,
}

/// `GET /api/v1/content/{name}/{id}/incoming`, see docs/reference/objects.md#incoming-links
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IncomingLinks {
    #[serde(flatten)]
    pub list: List<IncomingLink>,
    /// Objects of types that the caller may not read link to the object too.
    pub hidden: bool,
}

/// An object that links to another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IncomingLink {
    pub content_type: String,
    pub id: String,
    pub object_title: String,
    /// Paths of the first links in the current version, else in the published one.
    pub properties: Vec<String>,
    /// The current version has the link.
    pub current: bool,
    /// The version in the public view has the link.
    pub published: bool,
}

/// Sort direction of a list of versions, types or users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    #[default]
    Ascending,
    Descending,
}
