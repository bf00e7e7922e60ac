//! The rules for new passwords, see docs/reference/sessions.md#passwords

use std::{collections::HashSet, sync::LazyLock};

use unicode_normalization::UnicodeNormalization;

use crate::{error::FieldErrors, limits, user::profile};

const EQUALS_EMAIL: &str = "The password must not be the e-mail address";
const TOO_COMMON: &str = "This password is too common";

/// Passwords that attackers try first, in lower case. Shorter ones are refused for their length.
static COMMON: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("common_passwords.txt").lines().collect());

/// Converts a password to NFC before it is hashed: browsers send the same text in different forms.
pub fn normalized(password: &str) -> String {
    password.nfc().collect()
}

/// Checks a new password of the user with this e-mail address.
pub fn check(password: &str, email: &str, path: &str, errors: &mut FieldErrors) {
    let password = normalized(password);
    let allowed = limits::MIN_PASSWORD_CHARS..=limits::MAX_PASSWORD_CHARS;
    errors.check_length(path, &password, allowed);
    let lower = password.to_lowercase();
    if lower == normalized(&profile::email_key(email)) {
        errors.add(path, EQUALS_EMAIL);
    }
    if COMMON.contains(&*lower) {
        errors.add(path, TOO_COMMON);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_checked_by_each_rule() {
        let long = "x".repeat(256);
        let too_long = "ä".repeat(257);
        for (password, expected) in [
            ("a very good one", &[][..]),
            ("elevenchars", &["Must be at least 12 characters long"]),
            ("", &["Must be at least 12 characters long"]),
            ("zwölf-zeichen", &[]),
            (&long, &[]),
            (&too_long, &["Must be at most 256 characters long"]),
            ("Ada@Example.COM", &[EQUALS_EMAIL]),
            ("PasswordPassword", &[TOO_COMMON]),
            ("123456789012", &[TOO_COMMON]),
            // Twelve characters, of which six combine with the others.
            (
                "u\u{308}u\u{308}u\u{308}u\u{308}u\u{308}u\u{308}",
                &["Must be at least 12 characters long"],
            ),
        ] {
            let mut errors = FieldErrors::default();
            check(password, "ada@example.com", "password", &mut errors);
            assert_eq!(errors.at("password"), expected, "{password}");
        }
    }

    #[test]
    fn common_passwords_are_lower_case_and_long_enough() {
        assert!(COMMON.len() > 300);
        for password in COMMON.iter() {
            assert_eq!(normalized(&password.to_lowercase()), *password);
            assert!(password.chars().count() >= limits::MIN_PASSWORD_CHARS, "{password}");
        }
    }
}
