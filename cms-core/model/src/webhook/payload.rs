//! The body of a delivery (see docs/reference/webhooks.md#deliveries).

use crate::{object::render, wire::author::Author};

/// The event that a delivery reports.
#[derive(Clone, Copy, Debug)]
pub struct EventPayload<'a> {
    pub action: &'a str,
    pub content_type: &'a str,
    /// Id of the object or of the type.
    pub id: &'a str,
    /// Version of the object; none for types and test deliveries.
    pub version: Option<i64>,
}

impl EventPayload<'_> {
    /// Path of the object version or the type.
    pub fn reference(&self) -> String {
        let (name, id) = (self.content_type, self.id);
        match self.version {
            Some(version) => format!("/api/v1/content/{name}/{id}/version/{version}"),
            None if name.is_empty() => String::new(),
            None => format!("/api/v1/internal/contenttype/{name}"),
        }
    }

    /// The body with a JSON payload; without one, the payload has only the id.
    pub fn body(&self, webhook: &str, by: &Author, payload: Option<&[u8]>) -> String {
        let mut out = Vec::with_capacity(payload.map_or(0, <[u8]>::len) + 256);
        for (key, value) in [
            ("{\"webhookId\":", webhook),
            (",\"action\":", self.action),
            (",\"contentTypeName\":", self.content_type),
            (",\"ref\":", &self.reference()),
        ] {
            out.extend_from_slice(key.as_bytes());
            render::string(&mut out, value);
        }
        out.extend_from_slice(b",\"by\":");
        serde_json::to_writer(&mut out, by).expect("an author is valid JSON");
        out.extend_from_slice(b",\"payload\":");
        if let Some(payload) = payload {
            out.extend_from_slice(payload);
        } else {
            out.extend_from_slice(b"{\"id\":");
            render::string(&mut out, self.id);
            out.push(b'}');
        }
        out.push(b'}');
        String::from_utf8(out).expect("JSON that this program wrote is UTF-8")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::author::AuthorKind;

    #[test]
    fn bodies_match_the_documentation() {
        let event_payload =
            |action, content_type, id, version| EventPayload { action, content_type, id, version };
        let product = br#"{"id":"product-1","name":"Premium pack"}"#;
        for (event, payload, expected) in [
            (
                event_payload("Create", "product", "product-1", Some(1)),
                Some(&product[..]),
                r#"{"webhookId":"w","action":"Create","contentTypeName":"product","ref":"/api/v1/content/product/product-1/version/1","by":{"kind":"user","id":"u","name":"Ada"},"payload":{"id":"product-1","name":"Premium pack"}}"#,
            ),
            (
                event_payload("Delete", "product", "say \"a\"", Some(3)),
                None,
                r#"{"webhookId":"w","action":"Delete","contentTypeName":"product","ref":"/api/v1/content/product/say \"a\"/version/3","by":{"kind":"user","id":"u","name":"Ada"},"payload":{"id":"say \"a\""}}"#,
            ),
            (
                event_payload("Delete", "product", "some-uid", None),
                None,
                r#"{"webhookId":"w","action":"Delete","contentTypeName":"product","ref":"/api/v1/internal/contenttype/product","by":{"kind":"user","id":"u","name":"Ada"},"payload":{"id":"some-uid"}}"#,
            ),
            (
                event_payload("Test", "", "test", None),
                None,
                r#"{"webhookId":"w","action":"Test","contentTypeName":"","ref":"","by":{"kind":"user","id":"u","name":"Ada"},"payload":{"id":"test"}}"#,
            ),
        ] {
            let by =
                Author { kind: AuthorKind::User, id: Some("u".to_owned()), name: "Ada".to_owned() };
            assert_eq!(event.body("w", &by, payload), expected);
        }
    }
}
