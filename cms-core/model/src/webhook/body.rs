//! What a webhook is sent about something that happened (contract 11.2, 11.3).

use crate::object::render;

/// What happened to what.
#[derive(Clone, Copy, Debug)]
pub struct Happening<'a> {
    pub action: &'a str,
    pub content_type: &'a str,
    /// Id of the object or of the type.
    pub id: &'a str,
    /// Version of the object; none for types and tests.
    pub version: Option<i64>,
}

impl Happening<'_> {
    /// Address of what it happened to.
    pub fn reference(&self) -> String {
        let (name, id) = (self.content_type, self.id);
        match self.version {
            Some(version) => format!("/api/v1/content/{name}/{id}/version/{version}"),
            None if name.is_empty() => String::new(),
            None => format!("/api/v1/internal/contenttype/{name}"),
        }
    }

    /// The body; without a payload, which is JSON, only the id is told.
    pub fn body(&self, webhook: &str, payload: Option<&[u8]>) -> String {
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

    #[test]
    fn bodies_are_those_of_the_contract() {
        let happening =
            |action, content_type, id, version| Happening { action, content_type, id, version };
        let product = br#"{"id":"product-1","name":"Premium pack"}"#;
        for (told, payload, expected) in [
            (
                happening("Create", "product", "product-1", Some(1)),
                Some(&product[..]),
                r#"{"webhookId":"w","action":"Create","contentTypeName":"product","ref":"/api/v1/content/product/product-1/version/1","payload":{"id":"product-1","name":"Premium pack"}}"#,
            ),
            (
                happening("Delete", "product", "say \"a\"", Some(3)),
                None,
                r#"{"webhookId":"w","action":"Delete","contentTypeName":"product","ref":"/api/v1/content/product/say \"a\"/version/3","payload":{"id":"say \"a\""}}"#,
            ),
            (
                happening("Delete", "product", "some-uid", None),
                None,
                r#"{"webhookId":"w","action":"Delete","contentTypeName":"product","ref":"/api/v1/internal/contenttype/product","payload":{"id":"some-uid"}}"#,
            ),
            (
                happening("Test", "", "test", None),
                None,
                r#"{"webhookId":"w","action":"Test","contentTypeName":"","ref":"","payload":{"id":"test"}}"#,
            ),
        ] {
            assert_eq!(told.body("w", payload), expected);
        }
    }
}
