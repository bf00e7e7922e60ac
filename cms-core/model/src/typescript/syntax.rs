//! Prints parts of TypeScript: comments, literals, names and object types.

use std::fmt::Write as _;

const INDENT: &str = "  ";

/// A member of an object type.
pub(super) struct Member {
    name: String,
    is_optional: bool,
    /// Paragraphs of its comment.
    notes: Vec<String>,
    value: String,
}

impl Member {
    pub(super) fn new(name: &str, is_optional: bool, notes: Vec<String>, value: String) -> Self {
        Self { name: name.to_owned(), is_optional, notes, value }
    }

    pub(super) fn required(name: &str, value: String) -> Self {
        Self::new(name, false, Vec::new(), value)
    }
}

/// Prints an object type. `level` is the level of indentation of the line that its `{` ends.
pub(super) fn object(members: &[Member], level: usize) -> String {
    let mut text = "{\n".to_owned();
    for Member { name, is_optional, notes, value } in members {
        text.push_str(&comment(notes, level + 1));
        let mark = if *is_optional { "?" } else { "" };
        writeln!(text, "{}{}{mark}: {value};", INDENT.repeat(level + 1), key(name))
            .expect("a String takes any text");
    }
    text + &INDENT.repeat(level) + "}"
}

/// Prints a documentation comment of paragraphs, with a line break at its end; nothing without text.
pub(super) fn comment(notes: &[String], level: usize) -> String {
    let text = notes.join("\n\n").replace("\r\n", "\n").replace("*/", "*\\/");
    let blank = |c: char| if c.is_control() { ' ' } else { c };
    let lines: Vec<String> =
        text.split('\n').map(|line| line.chars().map(blank).collect::<String>()).collect();
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let indent = INDENT.repeat(level);
    match lines.as_slice() {
        [""] => String::new(),
        [line] => format!("{indent}/** {} */\n", line.trim_start()),
        lines => {
            let lines = lines.iter().map(|line| match *line {
                "" => format!("{indent} *\n"),
                line => format!("{indent} * {line}\n"),
            });
            format!("{indent}/**\n{}{indent} */\n", lines.collect::<String>())
        }
    }
}

/// Prints a union of texts.
pub(super) fn union(texts: &[impl AsRef<str>]) -> String {
    texts.iter().map(|text| quoted(text.as_ref())).collect::<Vec<_>>().join(" | ")
}

/// Prints a text as a literal.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Prints the name of a member: reserved words need no quotes there.
fn key(name: &str) -> String {
    let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    if name.chars().all(is_word) && name.starts_with(|c: char| !c.is_ascii_digit()) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comment_cannot_end_early() {
        let comment = |texts: &[&str], level| {
            super::comment(&texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>(), level)
        };
        assert_eq!(comment(&["a */ b"], 0), "/** a *\\/ b */\n");
        let lines = comment(&["a", "*\u{0}/\r\n\tb */"], 1);
        assert_eq!(lines, "  /**\n   * a\n   *\n   * * /\n   *  b *\\/\n   */\n");
        assert_eq!(comment(&[], 0), "");
    }

    #[test]
    fn names_that_are_no_identifiers_are_quoted() {
        for (name, printed) in [
            ("a", "a"),
            ("_1", "_1"),
            ("class", "class"),
            ("1st", "\"1st\""),
            ("", "\"\""),
            ("a-b", "\"a-b\""),
        ] {
            assert_eq!(key(name), printed);
        }
    }
}
