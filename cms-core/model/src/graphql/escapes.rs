//! Escapes of a surrogate pair (`\uD83D\uDE00`) in the strings of a query. The parser only knows escapes of
//! single characters.

use std::borrow::Cow;

/// Characters of an escaped surrogate pair.
const PAIR_CHARS: usize = 12;

/// Replaces escaped surrogate pairs in strings by their character. Spaces after the string keep the
/// columns of what follows. Block strings have no escapes, and invalid escapes are left to the parser.
pub fn join_surrogate_pairs(query: &str) -> Cow<'_, str> {
    if !query.contains("\\u") {
        return Cow::Borrowed(query);
    }
    let mut joined = String::with_capacity(query.len());
    let mut rest = query;
    while let Some(start) = rest.find(['"', '#']) {
        let (before, token) = rest.split_at(start);
        joined.push_str(before);
        let (token, after) = token.split_at(token_length(token));
        if token.starts_with('#') || token.starts_with("\"\"\"") {
            joined.push_str(token);
        } else {
            push_joined(&mut joined, token);
        }
        rest = after;
    }
    joined.push_str(rest);
    Cow::Owned(joined)
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
    joined.extend(std::iter::repeat_n(' ', removed));
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
            assert_eq!(join_surrogate_pairs(query), expected, "{query}");
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
            assert_eq!(join_surrogate_pairs(unchanged), unchanged);
        }
    }
}
