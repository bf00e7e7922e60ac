//! Converts names of the content model to valid GraphQL names (see
//! docs/reference/graphql.md#types).
//!
//! GraphQL reserves names that begin with `__` and allows no leading digit. If a converted name
//! equals another name, it gets a `_` at its end; names that need no conversion are kept.

use std::collections::HashSet;

/// Converts a name of letters, digits and `_` to a valid GraphQL name. Valid names that are joined may need it,
/// too: `_` and `_a` make a reserved name.
pub fn valid_name(name: &str) -> String {
    let rest = name.trim_start_matches('_');
    match name.len() - rest.len() {
        0 if rest.starts_with(|first: char| first.is_ascii_digit()) => format!("_{rest}"),
        0 | 1 => name.to_owned(),
        _ => format!("_{rest}"),
    }
}

/// Returns valid, distinct names that are not in `taken`, and adds them to `taken`.
pub(crate) fn distinct<'n>(
    names: impl IntoIterator<Item = &'n str>,
    taken: &mut HashSet<String>,
) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    // Names that need no conversion are kept, so they are assigned first.
    let mut found: Vec<Option<String>> = names
        .iter()
        .map(|name| {
            Some(valid_name(name)).filter(|valid| valid == name && taken.insert(valid.clone()))
        })
        .collect();
    for (name, found) in names.iter().zip(&mut found) {
        found.get_or_insert_with(|| unique(valid_name(name), taken));
    }
    found.into_iter().flatten().collect()
}

/// Appends `_` to a name until it is not in `taken`.
pub(crate) fn unique(mut name: String, taken: &mut HashSet<String>) -> String {
    while !taken.insert(name.clone()) {
        // `__` would begin a reserved name.
        name.push(if name == "_" { '0' } else { '_' });
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_converted_to_valid_names() {
        let table = [
            ("title", "title"),
            ("_media", "_media"),
            ("_", "_"),
            ("__translations", "_translations"),
            ("____a", "_a"),
            ("__", "_"),
            ("2nd", "_2nd"),
            ("_2nd", "_2nd"),
            ("aB_9", "aB_9"),
        ];
        for (name, expected) in table {
            assert_eq!(valid_name(name), expected, "{name}");
        }
    }

    #[test]
    fn names_that_clash_become_distinct() {
        let names = ["__a", "id", "_a", "2", "_2", "___a", "internal"];
        let mut taken = ["id", "internal"].map(str::to_owned).into();
        let found = distinct(names, &mut taken);
        assert_eq!(found, ["_a_", "id_", "_a", "_2_", "_2", "_a__", "internal_"]);
    }

    proptest::proptest! {
        #[test]
        fn names_are_always_valid_and_distinct(
            names in proptest::collection::hash_set("[_0a]{1,5}", 0..20),
        ) {
            let found = distinct(names.iter().map(String::as_str), &mut HashSet::new());
            let different: HashSet<&String> = found.iter().collect();
            proptest::prop_assert_eq!(different.len(), names.len());
            for name in found {
                proptest::prop_assert!(!name.starts_with("__"), "{name}");
                proptest::prop_assert!(!name.starts_with('0'));
            }
        }
    }
}
