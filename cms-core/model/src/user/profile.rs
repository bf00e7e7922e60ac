//! The settings of a user: applies a request to the stored settings and reports all errors.

use serde_json::{Map, Value};

use crate::{
    error::FieldErrors,
    limits, message,
    read::{optional, refuse_others},
    wire::{
        key::{Rule, read_rules},
        user::Role,
    },
};

const RULES_REQUIRE_CUSTOM_ROLE: &str = "Only users with role custom have rules";
const SETTING_REQUIRES_CUSTOM_ROLE: &str = "Only users with role custom have this setting";

/// The members that a request sets.
const MEMBERS: [&str; 6] = ["email", "name", "role", "rules", "mayPublish", "disabled"];
/// The members of a user that requests cannot set. An update ignores them, because clients send back
/// what they read.
pub const READ_ONLY: [&str; 6] =
    ["id", "hasPassword", "openId", "pendingLink", "createdAt", "lastSeenAt"];

/// The settings of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub email: String,
    pub name: String,
    pub role: Role,
    /// Only users with role custom have rules.
    pub rules: Vec<Rule>,
    /// Set for role custom only; false for other roles, whose right is [`Role::publishes`].
    pub may_publish: bool,
    pub disabled: bool,
}

impl Profile {
    pub(super) fn new(email: String, name: String, role: Role) -> Self {
        Self { email, name, role, rules: Vec::new(), may_publish: false, disabled: false }
    }

    /// Reads a new user. The result is valid only without errors. `password` is read elsewhere.
    pub fn create(payload: &Map<String, Value>, errors: &mut FieldErrors) -> Self {
        for key in ["email", "name", "role"] {
            if !payload.contains_key(key) {
                errors.add(key, message::required(key));
            }
        }
        let known: Vec<&str> = MEMBERS.into_iter().chain(["password"]).collect();
        refuse_others(payload, &known, "", errors);
        Self::new(String::new(), String::new(), Role::Viewer).apply(payload, errors)
    }

    /// Applies the members of a request. The result is valid only without errors.
    #[must_use]
    pub fn update(self, payload: &Map<String, Value>, errors: &mut FieldErrors) -> Self {
        let known: Vec<&str> = MEMBERS.into_iter().chain(READ_ONLY).collect();
        refuse_others(payload, &known, "", errors);
        self.apply(payload, errors)
    }

    /// The first admin.
    pub fn first_admin(email: &str, name: &str, errors: &mut FieldErrors) -> Self {
        Self::new(checked_email(email, errors), checked_name(name, errors), Role::Admin)
    }

    fn apply(self, payload: &Map<String, Value>, errors: &mut FieldErrors) -> Self {
        let text = |key: &str, errors: &mut FieldErrors| optional::<&str>(payload, key, "", errors);
        let email = text("email", errors).map(|email| checked_email(email, errors));
        let name = text("name", errors).map(|name| checked_name(name, errors));
        let sent_role = text("role", errors);
        let role = sent_role.and_then(Role::parse);
        if sent_role.is_some() && role.is_none() {
            errors.add("role", message::not_in_enumeration(&Role::ALL.map(Role::as_str)));
        }
        let known_role = role.is_some() || !payload.contains_key("role");
        let role = role.unwrap_or(self.role);
        let rules = read_rules(payload, errors);
        let may_publish: Option<bool> = optional(payload, "mayPublish", "", errors);
        let disabled = optional(payload, "disabled", "", errors).unwrap_or(self.disabled);
        let (rules, may_publish) = match role.publishes() {
            None => (rules.unwrap_or(self.rules), may_publish.unwrap_or(self.may_publish)),
            Some(publishes) => {
                if known_role && rules.is_some_and(|rules| !rules.is_empty()) {
                    errors.add("rules", RULES_REQUIRE_CUSTOM_ROLE);
                }
                if known_role && may_publish.is_some_and(|wanted| wanted != publishes) {
                    errors.add("mayPublish", SETTING_REQUIRES_CUSTOM_ROLE);
                }
                (Vec::new(), false)
            }
        };
        if role == Role::Custom && rules.is_empty() && errors.at("rules").is_empty() {
            errors.add("rules", message::too_few(1));
        }
        Self {
            email: email.unwrap_or(self.email),
            name: name.unwrap_or(self.name),
            role,
            rules,
            may_publish,
            disabled,
        }
    }

    /// The publishing right.
    pub fn publishes(&self) -> bool {
        self.role.publishes().unwrap_or(self.may_publish)
    }
}

/// The form of an e-mail address that is unique: letter case does not distinguish users.
pub fn email_key(email: &str) -> String {
    email.trim().to_lowercase()
}

fn checked_email(email: &str, errors: &mut FieldErrors) -> String {
    let email = email.trim();
    if !has_email_form(email) {
        errors.add("email", message::NOT_VALID);
    }
    errors.check_length("email", email, 0..=limits::MAX_EMAIL_CHARS);
    email.to_owned()
}

/// Text on both sides of one `@`, without white space.
fn has_email_form(email: &str) -> bool {
    email.split_once('@').is_some_and(|(user, domain)| {
        !user.is_empty() && !domain.is_empty() && !domain.contains('@')
    }) && !email.contains(char::is_whitespace)
}

/// Returns whether [`Profile`] accepts an e-mail address, and its part before the `@` as a name.
pub(super) fn is_email(email: &str) -> bool {
    has_email_form(email)
        && email.chars().count() <= limits::MAX_EMAIL_CHARS
        && !email.contains(char::is_control)
}

/// Returns whether [`Profile`] accepts a name.
pub(super) fn is_name(name: &str) -> bool {
    let mut errors = FieldErrors::default();
    checked_name(name, &mut errors);
    errors.is_empty()
}

fn checked_name(name: &str, errors: &mut FieldErrors) -> String {
    errors.check_length("name", name, 1..=limits::MAX_NAME_CHARS);
    if name.chars().any(char::is_control) {
        errors.add("name", message::NOT_VALID);
    }
    name.to_owned()
}

/// Returns whether a change of a user keeps at least one admin who can sign in, or the user was no such admin.
/// Without such an admin, users can only be managed with access to the data directory.
pub fn keeps_an_admin(was_usable: bool, stays_usable: bool, others_are_usable: bool) -> bool {
    !was_usable || stays_usable || others_are_usable
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn created(payload: &Value) -> (Profile, Value) {
        let mut errors = FieldErrors::default();
        let profile = Profile::create(&object(payload), &mut errors);
        (profile, json!(errors))
    }

    #[test]
    fn new_user_reports_all_errors_together() {
        let long = "x".repeat(256);
        let roles = r#"Does not have a value in the enumeration ["admin","developer","editor","author","viewer","custom"]"#;
        for (payload, errors) in [
            (
                json!({}),
                json!({
                    "email": ["The property email is required"],
                    "name": ["The property name is required"],
                    "role": ["The property role is required"],
                }),
            ),
            (
                json!({"email": "a@", "name": "", "role": "boss", "id": 1, "rules": [{"ctd": "a"}]}),
                json!({
                    "id": ["The property id is not defined and the definition does not allow additional properties"],
                    "email": ["This value is not valid."],
                    "name": ["Must be at least 1 characters long"],
                    "role": [roles],
                }),
            ),
            (
                json!({"email": 1, "name": "a\nb", "role": "editor", "mayPublish": false, "rules": [{"ctd": "a"}]}),
                json!({
                    "email": ["Integer value found, but a string is required"],
                    "name": ["This value is not valid."],
                    "rules": ["Only users with role custom have rules"],
                    "mayPublish": ["Only users with role custom have this setting"],
                }),
            ),
            (
                json!({"email": format!("{long}@x"), "name": long, "role": "custom"}),
                json!({
                    "email": ["Must be at most 254 characters long"],
                    "name": ["Must be at most 255 characters long"],
                    "rules": ["There must be a minimum of 1 items in the array"],
                }),
            ),
            (
                json!({"email": "a@b@c", "name": "a", "role": "custom", "rules": [1, {"ctd": "A"}, {"ctd": "a", "read": 1}], "disabled": "no"}),
                json!({
                    "email": ["This value is not valid."],
                    "rules[0]": ["Integer value found, but an object is required"],
                    "rules[1].ctd": ["This value is not valid."],
                    "rules[2].read": ["Integer value found, but a boolean is required"],
                    "disabled": ["String value found, but a boolean is required"],
                }),
            ),
        ] {
            assert_eq!(created(&payload).1, errors, "{payload}");
        }
    }

    #[test]
    fn email_address_has_two_sides_and_no_space() {
        for (email, valid) in [
            ("a@b", true),
            (" ada@example.com\n", true),
            ("Ädä@exämple", true),
            ("@b", false),
            ("a@", false),
            ("a b@c", false),
            ("a@b\u{a0}c", false),
            ("@", false),
            ("", false),
        ] {
            let (profile, errors) =
                created(&json!({"email": email, "name": "A", "role": "viewer"}));
            assert_eq!(errors == json!({}), valid, "{email}: {errors}");
            assert_eq!(profile.email, email.trim());
        }
    }

    #[test]
    fn rights_of_role_custom_are_removed_with_the_role() {
        let (custom, errors) = created(&json!({
            "email": "a@b", "name": "A", "role": "custom", "mayPublish": true,
            "rules": [{"ctd": "post", "read": true}],
        }));
        assert_eq!(errors, json!({}));
        assert!(custom.publishes());
        let update = |profile: &Profile, payload: &Value| {
            let mut errors = FieldErrors::default();
            let updated = profile.clone().update(&object(payload), &mut errors);
            (updated, json!(errors))
        };
        let (editor, errors) =
            update(&custom, &json!({"role": "editor", "mayPublish": true, "id": "1"}));
        assert_eq!((errors, editor.publishes(), editor.may_publish), (json!({}), true, false));
        assert!(editor.rules.is_empty());
        assert_eq!(
            update(&editor, &json!({"role": "custom"})).1,
            json!({"rules": ["There must be a minimum of 1 items in the array"]})
        );
        assert_eq!(
            update(&custom, &json!({"name": "B"})).0,
            Profile { name: "B".to_owned(), ..custom }
        );
    }

    #[test]
    fn last_admin_remains() {
        for (was_usable, stays_usable, others_are_usable, kept) in [
            (true, false, false, false),
            (true, false, true, true),
            (true, true, false, true),
            (false, false, false, true),
        ] {
            assert_eq!(keeps_an_admin(was_usable, stays_usable, others_are_usable), kept);
        }
    }
}
