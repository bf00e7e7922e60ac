//! An object as a file contains it: its id, its dates and its published version.

use cms_model::{clock::Timestamp, dates::parse_lenient};
use serde_json::Value;

/// Content type and id of an object. The id is in lower case: ids compare without case.
pub(super) type ObjectAddress = (String, String);

/// The status of an object that was edited after it was published.
pub(super) const MODIFIED: &str = "modified";

/// An object of an import.
#[derive(Clone, Debug)]
pub struct ImportObject {
    /// Where the object comes from, for messages: file and line, or file and number of the element.
    pub location: String,
    pub value: Value,
    /// Create the object from its published version; the current version follows later.
    pub(super) from_published: bool,
    /// The object belongs in the trash.
    pub(super) is_deleted: bool,
}

impl ImportObject {
    pub fn new(location: String, value: Value) -> Self {
        Self { location, value, from_published: false, is_deleted: false }
    }

    /// Applies the dates of the object to its published version too, and notes whether it is deleted.
    ///
    /// A change or deletion before the creation gets the date of the step before it, because the server accepts only
    /// ordered dates: an object has such dates if the clock of its server was set back.
    pub(super) fn keep_dates(&mut self) {
        let Some(Value::Object(internal)) = self.value.get_mut("internal") else { return };
        self.is_deleted = internal.get("deletedAt").is_some_and(|at| at != "");
        let mut earliest: Option<(Timestamp, Value)> = None;
        for name in ["createdAt", "updatedAt", "deletedAt"] {
            let Some(value) = internal.get_mut(name) else { continue };
            let Some(at) = value.as_str().and_then(parse_lenient) else { continue };
            match &earliest {
                Some((earliest, date)) if at < *earliest => *value = date.clone(),
                _ => earliest = Some((at, value.clone())),
            }
        }
        let dates =
            ["createdAt", "updatedAt"].map(|name| Some((name, internal.get(name)?.clone())));
        let dates = dates.into_iter().flatten().map(|(name, at)| (name.to_owned(), at));
        let dates = Value::Object(dates.collect());
        if let Some(Value::Object(published)) = internal.get_mut("published") {
            published.entry("internal").or_insert(dates);
        }
    }

    pub fn id(&self) -> Option<&str> {
        self.value.get("id")?.as_str()
    }

    /// The version with which the object is created; for a modified object the published one, if it can be used.
    pub(super) fn version_to_create(&self) -> &Value {
        match self.published() {
            Some(Ok(published)) if self.from_published => published,
            _ => &self.value,
        }
    }

    /// The published version of a modified object, or the reason why it cannot be used.
    pub(super) fn published(&self) -> Option<Result<&Value, String>> {
        let internal = self.value.get("internal")?;
        if internal["status"] != MODIFIED {
            return None;
        }
        let published = &internal["published"];
        let id = self.id().unwrap_or_default();
        Some(match published.get("id") {
            _ if published.is_null() => Err("the published version is missing".to_owned()),
            _ if !published.is_object() => Err(format!("{published} where a mapping is expected")),
            None => Err("the id is missing".to_owned()),
            Some(Value::String(other)) if other.to_lowercase() == id.to_lowercase() => {
                Ok(published)
            }
            Some(other) => Err(format!("the id is {other}, not \"{id}\"")),
        })
    }

    /// A text of the object's `internal` part; empty when it is missing.
    pub(super) fn internal(&self, member: &str) -> &str {
        self.value["internal"][member].as_str().unwrap_or_default()
    }
}

/// The address of an object.
pub(super) fn address(content_type: &str, id: &str) -> ObjectAddress {
    (content_type.to_owned(), id.to_lowercase())
}
