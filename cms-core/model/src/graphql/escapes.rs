//! Replaces escapes that the parser does not support: surrogate pairs in strings (`\uD83D\uDE00`), and three quotes in
//! a block string (`\"""`).

use std::{borrow::Cow, iter};

use serde_json::Value;

/// Characters of an escaped surrogate pair.
const PAIR_CHARS: usize = 12;

/// The quotes of a block string.
const QUOTES: &str = r#"""""#;

/// The only escape of block strings.
const ESCAPED_QUOTES: &str = r#"\""""#;

/// Replaces escaped surrogate pairs in strings by their character, and block strings with escaped quotes by
/// ordinary strings. Space after the string keeps the positions of what follows. Invalid escapes are left to the
/// parser.
pub fn replace_escapes(query: &str) -> Cow<'_, str> {
    if !query.contains("\\u") && !query.contains(ESCAPED_QUOTES) {
        return Cow::Borrowed(query);
    }
    let mut replaced = String::with_capacity(query.len());
    let mut rest = query;
    while let Some(start) = rest.find(['"', '#']) {
        let (before, token) = rest.split_at(start);
        replaced.push_str(before);
        let (token, after) = token.split_at(token_length(token));
        if token.starts_with('#') {
            replaced.push_str(token);
        } else if token.starts_with(QUOTES) {
            push_block(&mut replaced, token);
        } else {
            push_joined(&mut replaced, token);
        }
        rest = after;
    }
    replaced.push_str(rest);
    Cow::Owned(replaced)
}

/// Returns the bytes of the comment, block string or string at the start of a text. Without an end, a string
/// extends to the end of the line, a block string to the end of the text.
pub(super) fn token_length(text: &str) -> usize {
    let end = if text.starts_with('#') {
        text.find(['\n', '\r'])
    } else if let Some(content) = text.strip_prefix("\"\"\"") {
        let mut quotes = content.match_indices("\"\"\"");
        let end = quotes.find(|(at, _)| !content[..*at].ends_with('\\'));
        end.map(|(at, quotes)| quotes.len() + at + quotes.len())
    } else {
        let mut is_escaped = false;
        let mut characters = text.char_indices().skip(1);
        let end = characters.find(|(_, character)| {
            let is_end = !is_escaped && *character == '"' || ['\n', '\r'].contains(character);
            is_escaped = !is_escaped && *character == '\\';
            is_end
        });
        end.map(|(at, _)| at + 1)
    };
    end.unwrap_or(text.len())
}

/// Appends a block string. One with escaped quotes becomes an ordinary string.
fn push_block(replaced: &mut String, block: &str) {
    let content = block.strip_prefix(QUOTES).and_then(|rest| rest.strip_suffix(QUOTES));
    let has_end = |content: &&str| !content.ends_with('\\') && content.contains(ESCAPED_QUOTES);
    let Some(content) = content.filter(has_end) else {
        replaced.push_str(block);
        return;
    };
    // A string of JSON is one of GraphQL.
    let string = Value::from(block_value(content)).to_string();
    let line_breaks = block.matches('\n').count();
    let last_line = block.rsplit('\n').next().unwrap_or(block).chars().count();
    let used = if line_breaks == 0 { string.chars().count() } else { 0 };
    replaced.push_str(&string);
    replaced.extend(iter::repeat_n('\n', line_breaks));
    replaced.extend(iter::repeat_n(' ', last_line.saturating_sub(used)));
}

/// The value of a block string: without common indentation, and without blank lines at its start and end.
fn block_value(content: &str) -> String {
    let content = content.replace("\r\n", "\n").replace('\r', "\n").replace(ESCAPED_QUOTES, QUOTES);
    let indentation = |line: &str| line.find(|character| character != ' ' && character != '\t');
    let (first, more) = content.split_once('\n').unwrap_or((&content, ""));
    let common = more.split('\n').filter_map(indentation).min().unwrap_or_default();
    let more = more.split('\n').map(|line| line.get(common..).unwrap_or_default());
    let lines: Vec<&str> = iter::once(first).chain(more).collect();
    let is_filled = |line: &&str| indentation(line).is_some();
    let start = lines.iter().position(is_filled).unwrap_or(lines.len());
    let end = lines.iter().rposition(is_filled).map_or(start, |last| last + 1);
    lines[start..end].join("\n")
}

/// Appends a string with its quotes.
fn push_joined(joined: &mut String, string: &str) {
    let mut rest = string;
    let mut removed = 0;
    while let Some(start) = rest.find('\\') {
        let (before, escape) = rest.split_at(start);
        joined.push_str(before);
        if let Some(character) = surrogate_pair(escape) {
            joined.push(character);
            removed += PAIR_CHARS - 1;
            rest = &escape[PAIR_CHARS..];
        } else {
            // The escaped character may be a backslash.
            let end = escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end);
            joined.push_str(&escape[..end]);
            rest = &escape[end..];
        }
    }
    joined.push_str(rest);
    joined.extend(iter::repeat_n(' ', removed));
}

/// Parses the escaped surrogate pair at the start of a text.
fn surrogate_pair(text: &str) -> Option<char> {
    let unit = |from: usize| {
        let digits = text.get(from..from + PAIR_CHARS / 2)?.strip_prefix("\\u")?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)
    };
    let units = [unit(0)?, unit(PAIR_CHARS / 2)?];
    let character = char::decode_utf16(units).next()?.ok()?;
    (character.len_utf16() == units.len()).then_some(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surrogate_pairs_are_joined_in_strings_only() {
        let gap = " ".repeat(11);
        for (query, expected) in [
            (r#"{ a(b: "x\uD83D\uDE00y") }"#, format!("{{ a(b: \"x😀y\"{gap}) }}")),
            (r#""\ud83d\ude00\uD834\udd1e""#, format!("\"😀𝄞\"{gap}{gap}")),
            ("\"\\u00e9\" # \"\n\"\\uD83D\\uDE00\"", format!("\"\\u00e9\" # \"\n\"😀\"{gap}")),
            (r#"""" "" \uD83D\uDE00 """ "\uD83D\uDE00""#, {
                format!("\"\"\" \"\" \\uD83D\\uDE00 \"\"\" \"😀\"{gap}")
            }),
            (r#"["" "\"\uD83D\uDE00"]"#, format!("[\"\" \"\\\"😀\"{gap}]")),
        ] {
            assert_eq!(replace_escapes(query), expected, "{query}");
        }
        for unchanged in [
            "{ a }",
            r"# \uD83D\uDE00",
            r#""\\uD83D\uDE00""#,
            r#""\\uD83D\\uDE00""#,
            r#""\uD83D""#,
            r#""\uDE00\uD83D""#,
            r#""\uD83D\u0041""#,
            r#""\u0041\u0042""#,
            r#""\uD83D\u+E00""#,
            r#""\uD83Dé\uDE00""#,
            r#""\uD83D\uDE0"#,
            r#""\"#,
            "\"\n\\uD83D\\uDE00",
            r#"""" \uD83D\uDE00"#,
            r#""""\"""" "\uD83D\uDE00""#,
            r"\uD83D\uDE00",
        ] {
            assert_eq!(replace_escapes(unchanged), unchanged);
        }
    }
    #[test]
    fn block_strings_with_escaped_quotes_become_strings() {
        for (block, value) in [
            (r#"a \""" b"#, r#"a """ b"#),
            ("\n  one \\\"\"\"\n    two\n\n  \u{7}\\\n ", "one \"\"\"\n  two\n\n\u{7}\\"),
            ("  x\\\"\"\"\r\n\ty\r\tz", "  x\"\"\"\ny\nz"),
        ] {
            let query = format!("{{a(b: {QUOTES}{block}{QUOTES}) c}}");
            let replaced = replace_escapes(&query);
            let rest = replaced.strip_prefix("{a(b: ").unwrap();
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            assert_eq!(values.next().unwrap().unwrap(), value, "{query}");
            assert!(rest[values.byte_offset()..].trim_start() == ") c}", "{replaced}");
            let column = |text: &str| text.lines().last().map(|line| line.find(')'));
            assert_eq!(column(&replaced), column(&query));
        }
    }
}
