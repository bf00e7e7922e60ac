//! The description of the API in words: what parameters and schemas cannot say.

/// Returns the description, in Markdown.
pub(super) fn text(describes_sessions: bool) -> String {
    let sessions = if describes_sessions { SESSIONS } else { "" };
    format!("{CONTENT}{sessions}")
}

const CONTENT: &str = r#"Create, read, change and search content over HTTP with JSON bodies.

## Filters

`filters` of a list is a JSON object from property path to condition; all conditions must match:
`{"kind":{"type":"equals","filter":["tea","coffee"]},"price":{"type":"inRange","filter":5,"filter2":10}}`.

| `type` | `filter` | Matches if |
|---|---|---|
| `equals` | a string, number or boolean, or a list of them | the value equals it, or one of the list |
| `notEqual` | the same | the value differs from all of them, or is missing |
| `contains`, `startsWith`, `endsWith` | a text, or a list of them | the text contains it, begins or ends with it, in any letter case |
| `notContains` | the same | the text does not contain it, or is missing |
| `lessThan`, `lessThanOrEqual`, `greaterThan`, `greaterThanOrEqual` | a number, a date or a text | the value is below or above it |
| `inRange` | the lower bound; `filter2` is the upper one | the value is one of the bounds or between them |
| `empty`, `notEmpty` | is not needed | the value is missing, `null`, `""` or `[]`; or it is not |
| `overlaps` | a value, or a list | a list value has at least one of them |
| `includes` | a value, or a list | a list value has all of them |

Paths are dotted and go into lists: `title`, `internal.createdAt`, `location.lat`, `tags[*].dataUrl`,
`opening[0].day`; `*` is any property. `author.country` is a property of linked objects; `internal.incoming`,
`internal.incoming[*].contentType`, `.property` and `.dataUrl` are the links from other objects.

## Links

A relation is a list of links `{"type":"internal","dataUrl":"/api/v1/content/{type}/{id}"}` to objects that
exist. With the type `external`, `dataUrl` is any text. `hydrate=1` replaces the links with the linked objects,
`hydrate=2` also replaces the links in these objects; a link to an object that the caller does not see is not replaced. An object
that others link to cannot be deleted.

## Blocks

The value of a block property is `{"time":1700000000000,"version":"2.30","blocks":[...]}`. Each block has an `id`, a
`type` and its `data`: `{"id":"a1","type":"paragraph","data":{"text":"Some <b>text</b>"}}`. A content type may
restrict the types of blocks; `paragraph` is always allowed. `data` is stored as it is sent.
"#;

const SESSIONS: &str = r"
## Sessions

A user who is signed in sends the cookie `cms_session` (`__Host-cms_session` over HTTPS) instead of a key. POST,
PUT, PATCH and DELETE that this cookie authenticates need the header `X-CMS-Request: 1`, as does a sign-in.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::filter::filter_types;

    #[test]
    fn guide_names_every_filter_type() {
        for name in filter_types() {
            assert!(text(false).contains(&format!("`{name}`")), "{name}");
        }
        assert!(!text(false).contains("cookie") && text(true).contains("`cms_session`"));
    }
}
