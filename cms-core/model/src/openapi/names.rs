//! Names that the description gives to content types: no two types share one.

use std::collections::HashSet;

/// Names of one content type in the description.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Names {
    /// Begins the ids of its operations.
    pub(super) operation: String,
    /// Schema of a list of its objects.
    pub(super) list: String,
}

/// Names content types, which come in the order of their names.
pub(super) fn names<'a>(types: impl Iterator<Item = &'a str>) -> Vec<Names> {
    let mut taken = HashSet::new();
    types
        .map(|name| {
            let mut operation = capitalised(name);
            while operation.is_empty() || !taken.insert(operation.clone()) {
                operation.push_str(name);
            }
            Names { operation, list: list(name) }
        })
        .collect()
}

/// `contact_form` becomes `ContactForm` (contract 9.3).
fn capitalised(name: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    name.split('_').map(capital).collect()
}

/// The schemas that are there for every API have capitals or end in `Item`; one of them has a name
/// that the list of a type could have.
fn list(name: &str) -> String {
    let list = format!("{name}List");
    if list == super::components::VERSIONS_LIST { format!("{list}_") } else { list }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_names_of_its_own() {
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
