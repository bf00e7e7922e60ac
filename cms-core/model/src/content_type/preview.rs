//! The preview URL of a content type, see docs/reference/preview.md#preview-url
//!
//! The URL is a template with placeholders. Scheme, host and port must not contain placeholders, so
//! content cannot choose the server that gets a token.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use url::Url;

use super::is_property_name;
use crate::limits;

/// Path of the template in a definition.
pub const PREVIEW_URL_PATH: &str = "metaDefinition.admin.previewUrl";

/// All characters except the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns whether a text is an absolute `http` or `https` URL, a path on this server, or empty.
pub fn is_valid(template: &str) -> bool {
    if template.is_empty() {
        return true;
    }
    let is_plain = !template.chars().any(|c| c.is_control() || c == '\\');
    let is_absolute_url = || match Url::parse(template) {
        Ok(url) => matches!(url.scheme(), "http" | "https") && has_fixed_authority(template),
        Err(_) => false,
    };
    template.chars().count() <= limits::MAX_PREVIEW_URL_CHARS
        && is_plain
        && (is_path(template) || is_absolute_url())
}

/// Returns whether the URL has a host, and host and port have no placeholders. `https:host` and
/// `https:/host`, which browsers accept as well, are refused.
fn has_fixed_authority(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    let rest = ["https://", "http://"].iter().find_map(|scheme| lower.strip_prefix(scheme));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    authority.is_some_and(|text| !text.is_empty() && !text.contains(['{', '}']))
}

/// `//host` is another server.
fn is_path(template: &str) -> bool {
    template.starts_with('/') && !template.starts_with("//")
}

/// The URL of an object: the template with its placeholders replaced, on this server if the
/// template is a path. `object` has the properties of the current version.
pub fn url_of(
    template: &str,
    base_url: &str,
    token: &str,
    id: &str,
    object: &Map<String, Value>,
) -> String {
    let mut url =
        if is_path(template) { base_url.trim_end_matches('/').to_owned() } else { String::new() };
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        url.push_str(before);
        rest = after;
        match after.split_once('}') {
            Some((name, after)) if is_property_name(name) => {
                let value = match name {
                    "token" => token.to_owned(),
                    "id" => id.to_owned(),
                    name => object.get(name).map(text).unwrap_or_default(),
                };
                url.extend(utf8_percent_encode(&value, RESERVED));
                rest = after;
            }
            _ => url.push('{'),
        }
    }
    url + rest
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => String::new(),
    }
}

/// Returns the origin of an `http://` or `https://` URL, as browsers write it.
pub fn origin(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let is_http = matches!(url.scheme(), "http" | "https");
    is_http.then(|| url.origin().ascii_serialization())
}

/// Reads an origin of the setting `preview-origins`: a URL without path, query and user.
pub fn parse_origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|_| has_fixed_authority(text))?;
    let is_bare = url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    origin(text).filter(|_| is_bare)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn preview_url_is_absolute_or_a_path() {
        let long = |length: usize| format!("/{}", "x".repeat(length - 1));
        for (template, expected) in [
            ("", true),
            ("/preview/{id}?token={token}", true),
            ("https://www.example.com/{slug}?t={token}#top", true),
            ("http://localhost:3000", true),
            (&long(2048), true),
            (&long(2049), false),
            ("//evil.example/x", false),
            ("/\\evil.example", false),
            ("/a\nb", false),
            ("https:evil.example", false),
            ("https:/evil.example", false),
            ("https://{host}.example.com/", false),
            ("https://example.com:{port}/", false),
            ("https://", false),
            ("https:///evil.example", false),
            ("https:{title}://example.com", false),
            ("HTTPS://example.com", true),
            ("ftp://example.com/", false),
            ("javascript:alert(1)", false),
            ("preview/{id}", false),
            (" https://example.com", false),
        ] {
            assert_eq!(is_valid(template), expected, "{template}");
        }
    }

    #[test]
    fn placeholders_are_replaced_and_encoded() {
        let object = json!({
            "slug": "a b/ü&?#", "year": 2021, "live": true, "none": null, "tags": ["x"], "__x": "y",
        });
        let object = object.as_object().unwrap();
        for (template, expected) in [
            ("/p/{slug}", "https://cms.example/p/a%20b%2F%C3%BC%26%3F%23"),
            ("https://w.example/{id}?t={token}", "https://w.example/one%202?t=pv_a-_1"),
            ("/{year}/{live}/{none}/{tags}/{other}/{__x}", "https://cms.example/2021/true////y"),
            ("/{}/{a b}/{slug", "https://cms.example/{}/{a b}/{slug"),
            ("/{{id}}", "https://cms.example/{one%202}"),
        ] {
            let url = url_of(template, "https://cms.example/", "pv_a-_1", "one 2", object);
            assert_eq!(url, expected, "{template}");
        }
    }

    #[test]
    fn origin_is_written_as_browsers_do() {
        for (text, expected) in [
            ("https://WWW.Example.com:443", Some("https://www.example.com")),
            ("http://localhost:3000/", Some("http://localhost:3000")),
            ("https://example.com/path", None),
            ("https://a@example.com", None),
            ("https://example.com?x", None),
            ("example.com", None),
            ("https:example.com", None),
            ("ftp://example.com", None),
            ("*", None),
        ] {
            assert_eq!(parse_origin(text).as_deref(), expected, "{text}");
        }
    }
}
