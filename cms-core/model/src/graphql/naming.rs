//! Names of the content model as names of GraphQL, which has fewer (contract 8.3).
//!
//! Names that begin with `__` are the language's own, and none begins with a digit. What is repaired
//! may clash with a name that was good as it stood; then it gets a `_` at its end, and the good one
//! stays.

use std::collections::HashSet;

/// Makes a name legal that has letters, digits and `_` only.
pub fn legal(name: &str) -> String {
    let rest = name.trim_start_matches('_');
    match name.len() - rest.len() {
        0 if rest.starts_with(|first: char| first.is_ascii_digit()) => format!("_{rest}"),
        0 | 1 => name.to_owned(),
        _ => format!("_{rest}"),
    }
}

/// Returns legal names for all of `names`, no two of them equal and none of them in `taken`.
pub(crate) fn distinct<'n>(
    names: impl IntoIterator<Item = &'n str>,
    taken: &mut HashSet<String>,
) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    // Those that need no repair come first: they are what people expect to find.
    let mut found: Vec<Option<String>> = names
        .iter()
        .map(|name| Some(legal(name)).filter(|legal| legal == name && taken.insert(legal.clone())))
        .collect();
    for (name, found) in names.iter().zip(&mut found) {
        found.get_or_insert_with(|| free(legal(name), taken));
    }
    found.into_iter().flatten().collect()
}

/// Returns the name, with as many `_` at its end as it takes to be a new one.
pub(crate) fn free(mut name: String, taken: &mut HashSet<String>) -> String {
    while !taken.insert(name.clone()) {
        // Two of them alone would begin a name of the language.
        name.push(if name == "_" { '0' } else { '_' });
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_repaired() {
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
            assert_eq!(legal(name), expected, "{name}");
        }
    }

    #[test]
    fn names_that_clash_are_told_apart() {
        let names = ["__a", "id", "_a", "2", "_2", "___a", "internal"];
        let mut taken = ["id", "internal"].map(str::to_owned).into();
        let found = distinct(names, &mut taken);
        assert_eq!(found, ["_a_", "id_", "_a", "_2_", "_2", "_a__", "internal_"]);
    }

    proptest::proptest! {
        #[test]
        fn whatever_the_names_they_are_legal_and_distinct(
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
