//! Text with U+0000, which PostgreSQL refuses.
//!
//! U+0000 is stored as U+0010 `0`, and U+0010 as U+0010 U+0010. All other text is stored unchanged.

const ESCAPE: char = '\u{10}';

/// Escapes a text for storage.
pub(crate) fn escape(text: String) -> String {
    if memchr::memchr2(0, ESCAPE as u8, text.as_bytes()).is_none() {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => escaped.extend([ESCAPE, '0']),
            ESCAPE => escaped.extend([ESCAPE, ESCAPE]),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Restores the text from its stored form. An incomplete escape sequence, which only other programs write, stays
/// unchanged.
pub(crate) fn unescape(stored: &str) -> String {
    if memchr::memchr(ESCAPE as u8, stored.as_bytes()).is_none() {
        return stored.to_owned();
    }
    let mut text = String::with_capacity(stored.len());
    let mut characters = stored.chars();
    while let Some(character) = characters.next() {
        if character != ESCAPE {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('0') => text.push('\0'),
            Some(ESCAPE) | None => text.push(ESCAPE),
            Some(other) => text.extend([ESCAPE, other]),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_has_no_nul() {
        assert_eq!(escape("a\0b\u{10}0".to_owned()), "a\u{10}0b\u{10}\u{10}0");
        assert_eq!(unescape("\u{10}x\u{10}"), "\u{10}x\u{10}");
    }

    proptest::proptest! {
        #[test]
        fn unescape_inverts_escape(text in "[\\x00\\x100a\u{e9}]{0,12}") {
            let stored = escape(text.clone());
            proptest::prop_assert!(!stored.contains('\0'));
            proptest::prop_assert_eq!(unescape(&stored), text);
        }

        #[test]
        fn text_without_control_characters_is_unchanged(text in "\\PC*") {
            proptest::prop_assert_eq!(escape(text.clone()), text);
        }
    }
}
