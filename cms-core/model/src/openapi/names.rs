//! Names of content types in the document, which are distinct.

use std::collections::HashSet;

/// Names of one content type in the document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Names {
    /// The prefix of its operation ids.
    pub(super) operation: String,
    /// The name of the schema of its list.
    pub(super) list: String,
}

/// Returns the names of content types, which are sorted by name.
pub(super) fn names<'a>(types: impl Iterator<Item = &'a str>) -> Vec<Names> {
    let mut taken = HashSet::new();
    types
        .map(|name| {
            let mut operation = pascal_case(name);
            while operation.is_empty() || !taken.insert(operation.clone()) {
                operation.push_str(name);
            }
            Names { operation, list: list(name) }
        })
        .collect()
}

/// `contact_form` becomes `ContactForm` (see docs/reference/openapi.md#paths-of-a-type).
pub(crate) fn pascal_case(name: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    name.split('_').map(capital).collect()
}

/// Returns the name of the schema of the list of a type, such as `postList`. That of a type `versions`
/// must not be `versionsList`, which is a shared schema. Names of other shared schemas start with a
/// capital or do not end in `List`.
fn list(name: &str) -> String {
    let list = format!("{name}List");
    if list == super::components::VERSIONS_LIST { format!("{list}_") } else { list }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_are_distinct() {
        let types =
            ["_", "_media", "a_b", "contact_form", "media", "mediamedia", "post", "versions"];
        let named = names(types.into_iter());
        let operations: Vec<&str> = named.iter().map(|names| names.operation.as_str()).collect();
        assert_eq!(
            operations,
            [
                "_",
                "Media",
                "AB",
                "ContactForm",
                "Mediamedia",
                "Mediamediamediamedia",
                "Post",
                "Versions"
            ]
        );
        assert_eq!(named[6].list, "postList");
        assert_eq!(named[7].list, "versionsList_");
    }
}
