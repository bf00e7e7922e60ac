//! Identifiers of content types, which are distinct in one file.

use std::collections::HashSet;

/// The suffixes of the identifiers that are declared for a content type: `Post`, `PostCreate` and
/// `PostUpdate`.
const SUFFIXES: [&str; 3] = ["", "Create", "Update"];

/// Names that every file declares, and global types that the declarations use.
const TAKEN: [&str; 10] = [
    "Link",
    "Internal",
    "GeoPoint",
    "Blocks",
    "Block",
    "BlockData",
    "ListItem",
    "Input",
    "ContentTypes",
    "Exclude",
];

/// Returns the identifiers of content types: `contact_form` is `ContactForm`. If it is taken, `_` is
/// appended.
pub(super) fn identifiers<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken: HashSet<String> = TAKEN.map(str::to_owned).into();
    names
        .map(|name| {
            let mut identifier = crate::openapi::names::pascal_case(name);
            let declared =
                |identifier: &str| SUFFIXES.map(|suffix| format!("{identifier}{suffix}"));
            while identifier.is_empty()
                || declared(&identifier).iter().any(|one| taken.contains(one))
            {
                identifier.push('_');
            }
            taken.extend(declared(&identifier));
            identifier
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_distinct() {
        let names = ["_", "_media", "author", "author_create", "contact_form", "link", "media"];
        assert_eq!(
            identifiers(names.into_iter()),
            ["_", "Media", "Author", "AuthorCreate_", "ContactForm", "Link_", "Media_"]
        );
    }
}
