//! Default labels of types and properties. Knows no files.

/// The default label of a name: "Header image" for `headerImage` and `header_image`.
pub(super) fn label(name: &str) -> String {
    let mut label = String::new();
    for c in name.chars() {
        if c == '_' {
            if !label.is_empty() {
                label.push(' ');
            }
        } else if label.is_empty() {
            label.push(c.to_ascii_uppercase());
        } else if c.is_ascii_uppercase() {
            label.push(' ');
            label.push(c.to_ascii_lowercase());
        } else {
            label.push(c);
        }
    }
    label
}
