//! The parts of a printed document that all versions of OpenAPI share.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{
    guide,
    ir::{Document, Operation, Security},
    v2, v3,
};
use crate::wire::openapi::OpenApiVersion as Version;

/// Prints a document.
pub(super) fn print(document: &Document, version: Version) -> serde_json::Result<Vec<u8>> {
    match version {
        Version::V2 => serde_json::to_vec(&v2::document(document)),
        Version::V30 | Version::V31 => serde_json::to_vec(&v3::document(document, version)),
    }
}

const KEY: &str = "HeaderApiKeyAuth";
const SESSION: &str = "SessionCookie";

/// The `info` object.
pub(super) fn info(document: &Document) -> Value {
    json!({
        "title": "Content API",
        "version": "2.0.1",
        "description": guide::text(document.sessions),
    })
}

/// The security schemes, by name.
pub(super) fn security_schemes(document: &Document, version: Version) -> Value {
    let mut schemes = json!({ KEY: { "type": "apiKey", "in": "header", "name": "X-AUTH-TOKEN" } });
    if document.sessions && knows_cookies(version) {
        schemes[SESSION] = json!({ "type": "apiKey", "in": "cookie", "name": "cms_session" });
    }
    schemes
}

/// The default security requirement of operations.
pub(super) fn security(document: &Document, version: Version) -> Value {
    if document.sessions && knows_cookies(version) {
        json!([{ KEY: [] }, { SESSION: [] }])
    } else {
        json!([{ KEY: [] }])
    }
}

/// The security requirement of an operation that has its own.
pub(super) fn security_of(operation: &Operation, version: Version) -> Option<Value> {
    match operation.security {
        Security::Default => None,
        Security::Session if knows_cookies(version) => Some(json!([{ SESSION: [] }])),
        Security::Public | Security::Session => Some(json!([])),
    }
}

/// Swagger 2.0 has no schemes for cookies.
fn knows_cookies(version: Version) -> bool {
    version != Version::V2
}

/// The list of tags.
pub(super) fn tags(document: &Document) -> Value {
    document.tags.iter().map(|tag| json!({ "name": tag })).collect()
}

/// Tags by heading.
pub(super) fn tag_groups(document: &Document) -> Value {
    let groups = document.tag_groups.iter();
    groups.map(|(name, tags)| json!({ "name": name, "tags": tags })).collect()
}

/// Operations by path and method.
pub(super) struct Paths<'a> {
    pub(super) operations: &'a [Operation],
    pub(super) version: Version,
}

impl Serialize for Paths<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let version = self.version;
        let paths = self.operations.chunk_by(|one, next| one.path == next.path);
        serializer.collect_map(
            paths.map(|operations| (&operations[0].path, Methods { operations, version })),
        )
    }
}

/// The operations of one path.
struct Methods<'a> {
    operations: &'a [Operation],
    version: Version,
}

impl Serialize for Methods<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let operations = self.operations.iter();
        match self.version {
            Version::V2 => {
                serializer.collect_map(operations.map(|known| (known.method, v2::operation(known))))
            }
            Version::V30 | Version::V31 => serializer.collect_map(
                operations.map(|known| (known.method, v3::operation(known, self.version))),
            ),
        }
    }
}

/// An object with one key.
pub(super) struct Single<T>(pub(super) &'static str, pub(super) T);

impl<T: Serialize> Serialize for Single<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, &self.1)])
    }
}

/// Entries of an object, in order.
pub(super) struct Entries<K, V>(pub(super) Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Entries<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
