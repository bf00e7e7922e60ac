//! The query string of a request: decoded pairs of name and value. A name may occur several times.
//!
//! Nothing in a query string is an error here: a `%` without two hexadecimal digits stays unchanged,
//! and bytes that are not UTF-8 become U+FFFD.

use std::borrow::Cow;

use axum::http::{HeaderValue, request::Parts};
use percent_encoding::percent_decode_str;

use crate::{net::raw_query::RawQuery, response::ignored_names};

/// The parameter of the key; every route knows it.
pub(crate) const KEY_PARAMETER: &str = "auth_token";

/// Returns the query string as the client sent it, also with characters that a URI may not contain.
pub(crate) fn query_string(parts: &Parts) -> &str {
    match parts.extensions.get::<RawQuery>() {
        Some(RawQuery(text)) => text,
        None => parts.uri.query().unwrap_or(""),
    }
}

/// The property paths that a request names in its parameters and no content type declares.
#[derive(Default)]
pub(crate) struct UnknownPaths {
    /// In the JSON of `filters`.
    pub(crate) filters: Vec<String>,
    /// Values of the array `fields` or `item_fields`.
    pub(crate) fields: Vec<String>,
}

/// Names and values in request order, decoded.
pub(crate) struct Query<'a> {
    pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Query<'a> {
    /// Parses the query string of a request.
    pub(crate) fn of(parts: &'a Parts) -> Self {
        Self::parse(query_string(parts))
    }

    pub(crate) fn parse(text: &'a str) -> Self {
        let pairs = text
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (decoded(name), decoded(value)))
            .collect();
        Self { pairs }
    }

    /// Returns a value; of several, the last one.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|(n, _)| n == name).map(|(_, value)| value.as_ref())
    }

    /// Returns a value that is not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Returns the values of an array: `name[]`, `name[0]` or `name`; none when it is absent.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<String>> {
        let mut values = self.pairs.iter().filter(|(n, _)| is_element(n, name)).peekable();
        values.peek()?;
        Some(values.map(|(_, value)| value.clone().into_owned()).collect())
    }

    /// Returns the values of an array that are not empty.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let values = self.list(name).unwrap_or_default().into_iter();
        values.filter(|value| !value.is_empty()).collect()
    }

    /// Returns the entries of a map, `name[key]`, in request order.
    pub(crate) fn map(&self, name: &str) -> Vec<(String, String)> {
        let entry = |(n, value): &(Cow<'_, str>, Cow<'_, str>)| {
            Some((key(n, name)?.to_owned(), value.clone().into_owned()))
        };
        self.pairs.iter().filter_map(entry).collect()
    }

    /// Returns a header value with the names of the parameters that a route does not know. If the route
    /// knows `filters`, `fields` or `item_fields`, the value has the unknown paths in these parameters.
    pub(crate) fn ignored(&self, known: &[&str], unknown: &UnknownPaths) -> Option<HeaderValue> {
        // Each unknown path is listed once, however often a request has the parameter.
        let mut filters = unknown.filters.iter();
        let mut names = Vec::new();
        for (name, value) in self.pairs.iter().filter(|(name, _)| name != KEY_PARAMETER) {
            if !is_known(name, known) {
                names.push(Cow::Borrowed(name.as_ref()));
            } else if name == "filters" {
                names.extend(filters.by_ref().map(|path| Cow::Owned(format!("filters[{path}]"))));
            } else if unknown.fields.iter().any(|path| path == value) {
                let arrays = ["fields", "item_fields"].into_iter();
                let array = arrays.filter(|array| is_element(name, array));
                names.extend(array.map(|array| Cow::Owned(format!("{array}[{value}]"))));
            }
        }
        ignored_names::header_value(names.iter().map(AsRef::as_ref))
    }

    /// Returns the pairs that a route knows. The API key is never among them, however it is encoded.
    pub(crate) fn known(&self, known: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.pairs.iter().map(|(name, value)| (name.as_ref(), value.as_ref()));
        pairs.filter(|(name, _)| is_known(name, known))
    }
}

/// Returns whether a route knows a name. In `known`, a `[]` at the end marks an array, `[*]` a map.
fn is_known(name: &str, known: &[&str]) -> bool {
    known.iter().any(|k| match (k.strip_suffix("[]"), k.strip_suffix("[*]")) {
        (Some(array), _) => is_element(name, array),
        (_, Some(map)) => key(name, map).is_some(),
        _ => name == *k,
    })
}

/// Returns whether a parameter belongs to an array.
pub(crate) fn is_element(parameter: &str, array: &str) -> bool {
    let Some(rest) = parameter.strip_prefix(array) else { return false };
    rest.is_empty()
        || rest
            .strip_prefix('[')
            .and_then(|r| r.strip_suffix(']'))
            .is_some_and(|index| index.bytes().all(|b| b.is_ascii_digit()))
}

/// The key of a parameter that belongs to a map.
fn key<'n>(parameter: &'n str, map: &str) -> Option<&'n str> {
    let key = parameter.strip_prefix(map)?.strip_prefix('[')?.strip_suffix(']')?;
    (!key.is_empty()).then_some(key)
}

/// Decodes form encoding: `+` is a space, then percent-encoding.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('+') {
        return percent_decode_str(text).decode_utf8_lossy();
    }
    let spaced = text.replace('+', " ");
    Cow::Owned(percent_decode_str(&spaced).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_value_is_decoded_and_the_last_one_counts() {
        let query = Query::parse("a=1&&a=2&b=x+y%26z&c&d=a=b&e=100%&f=%ff&g=%22%7B%7D%22&=x");
        let texts = ["a", "b", "c", "d", "e", "f", "g", "", "h"].map(|name| query.get(name));
        let wanted = [
            Some("2"),
            Some("x y&z"),
            Some(""),
            Some("a=b"),
            Some("100%"),
            Some("\u{fffd}"),
            Some("\"{}\""),
            Some("x"),
            None,
        ];
        assert_eq!(texts, wanted);
        assert_eq!(query.text("c"), None);
    }

    #[test]
    fn query_array_has_three_forms() {
        let list = |text: &str| Query::parse(text).list("ids");
        assert_eq!(list("ids[]=a&ids[]=b").unwrap(), ["a", "b"]);
        assert_eq!(list("ids%5B%5D=a&ids[1]=b").unwrap(), ["a", "b"]);
        assert_eq!(list("ids=a").unwrap(), ["a"]);
        assert_eq!(list("ids[]=").unwrap(), [""]);
        assert_eq!(list("ids[x]=a&idsx=b&id=c"), None);
    }

    #[test]
    fn query_map_has_its_keys_in_brackets() {
        let query = Query::parse("f[a.b]=1&f%5Bl[*].c%5D=2&f=3&f[]=4&fx[a]=5&f[a.b]=6");
        let pairs = query.map("f");
        let pairs: Vec<_> =
            pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("a.b", "1"), ("l[*].c", "2"), ("a.b", "6")]);
        let ignored = query
            .ignored(&["f[*]"], &UnknownPaths::default())
            .map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(ignored.as_deref(), Some("f,f[],fx[a]"));
    }

    #[test]
    fn unknown_parameters_are_listed() {
        let ignored = |text: &str| {
            let value = Query::parse(text).ignored(&["page", "ids[]"], &UnknownPaths::default());
            value.map(|v| v.to_str().unwrap().to_owned())
        };
        assert_eq!(ignored("page=1&ids[0]=a&ids[]=b&auth_token=t"), None);
        assert_eq!(ignored("z=1&page[]=1&z=2&ids[a]=b").as_deref(), Some("z,page[],ids[a]"));
    }

    #[test]
    fn unknown_filters_are_listed_after_filters() {
        let filters = vec!["a.b".to_owned(), "c,d".to_owned()];
        let unknown = UnknownPaths { filters, ..UnknownPaths::default() };
        let ignored = |text: &str, known: &[&str]| {
            let value = Query::parse(text).ignored(known, &unknown);
            value.map(|v| v.to_str().unwrap().to_owned())
        };
        let both = ignored("y=1&filters={}&z=2&filters={}", &["filters"]);
        assert_eq!(both.as_deref(), Some("y,filters[a.b],filters[c%2Cd],z"));
        assert_eq!(ignored("filters={}", &[]).as_deref(), Some("filters"));
        assert_eq!(ignored("page=1", &["page"]), None);
    }

    #[test]
    fn unknown_fields_are_listed_in_request_order() {
        let fields = vec!["a.b".to_owned(), "c".to_owned()];
        let unknown = UnknownPaths { fields, ..UnknownPaths::default() };
        let ignored = |text: &str, known: &[&str]| {
            let value = Query::parse(text).ignored(known, &unknown);
            value.map(|v| v.to_str().unwrap().to_owned())
        };
        let text = "fields[]=c&x=1&fields[1]=a.b&fields[]=d&page=c&fields=c";
        let listed = ignored(text, &["fields[]", "page"]);
        assert_eq!(listed.as_deref(), Some("fields[c],x,fields[a.b]"));
        let listed = ignored("item_fields[]=c&fields[]=c", &["item_fields[]"]);
        assert_eq!(listed.as_deref(), Some("item_fields[c],fields[]"));
    }
}
