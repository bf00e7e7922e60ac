//! The rules of sign-in by OpenID Connect: from the claims of an ID token to a user, see
//! docs/reference/sessions.md#openid-connect
//!
//! Nothing here verifies tokens, sends requests or reads the database.

use serde_json::{Map, Value};

use super::profile::{self, Profile};
use crate::{clock::Timestamp, limits, wire::user::Role};

/// Where the browser goes after the sign-in unless the request names a page.
const DEFAULT_RETURN: &str = "/admin";

/// Which people may sign in, and their roles.
#[derive(Clone, Debug, Default)]
pub struct OpenIdRules {
    /// Domains of e-mail addresses, in lower case; empty for all.
    pub allowed_domains: Vec<String>,
    /// The role of new users; none creates no users.
    pub default_role: Option<Role>,
    /// Path of the claim whose values decide the role.
    pub role_claim: Option<String>,
    pub role_map: Vec<(String, Role)>,
}

/// A sign-in between the redirect to the issuer and the callback.
pub struct OpenIdSignIn {
    pub nonce: String,
    /// The code verifier of PKCE.
    pub verifier: String,
    /// The page to return to.
    pub return_to: String,
    pub expires_at: Timestamp,
}

/// A person whom the issuer has identified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub issuer: String,
    pub subject: String,
    pub email: String,
    /// The name of a new user.
    pub name: String,
    /// The role that the claims map to.
    pub role: Option<Role>,
}

crate::named_enum! {
    /// Why a sign-in was refused, in the URL of the sign-in page.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OpenIdError {
        /// The issuer reports an error.
        Denied => "openid_denied",
        /// The state is unknown, expired, used, or of another browser.
        State => "openid_state",
        /// A request to the issuer failed.
        Unavailable => "openid_unavailable",
        /// The ID token is not valid.
        Token => "openid_token",
        /// There is no verified e-mail address.
        Email => "openid_email",
        /// The domain of the e-mail address is not allowed.
        Domain => "openid_domain",
        /// There is no such user, and none is created.
        User => "openid_user",
        /// The user is disabled.
        Disabled => "openid_disabled",
    }
}

impl OpenIdRules {
    /// Reads the claims of a verified ID token.
    ///
    /// # Errors
    /// [`OpenIdError::Token`], [`OpenIdError::Email`] or [`OpenIdError::Domain`].
    pub fn identity(
        &self,
        issuer: &str,
        claims: &Map<String, Value>,
    ) -> Result<Identity, OpenIdError> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::trim);
        let subject = text("sub").filter(|subject| !subject.is_empty());
        let subject = subject.filter(|subject| subject.len() <= limits::MAX_SUBJECT_BYTES);
        let subject = subject.ok_or(OpenIdError::Token)?;
        let is_verified = claims.get("email_verified") == Some(&Value::Bool(true));
        let email = text("email").filter(|email| is_verified && profile::is_email(email));
        let email = email.ok_or(OpenIdError::Email)?;
        if !self.allows_domain_of(email) {
            return Err(OpenIdError::Domain);
        }
        let name = text("name").filter(|name| profile::is_name(name));
        let name = name.unwrap_or_else(|| email.split('@').next().unwrap_or(email));
        Ok(Identity {
            issuer: issuer.to_owned(),
            subject: subject.to_owned(),
            email: email.to_owned(),
            name: name.to_owned(),
            role: self.role(claims),
        })
    }

    /// The settings of a new user; none when only existing users may sign in.
    pub fn new_user(&self, identity: &Identity) -> Option<Profile> {
        let role = identity.role.unwrap_or(self.default_role?);
        Some(Profile::new(identity.email.clone(), identity.name.clone(), role))
    }

    fn allows_domain_of(&self, email: &str) -> bool {
        let domain = email.rsplit('@').next().unwrap_or_default().to_lowercase();
        self.allowed_domains.is_empty() || self.allowed_domains.contains(&domain)
    }

    /// The role with the most rights that a value of the claim maps to.
    fn role(&self, claims: &Map<String, Value>) -> Option<Role> {
        let claim = claim(claims, self.role_claim.as_deref()?)?;
        let values: Vec<&str> = match claim {
            Value::String(value) => vec![value],
            Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
            _ => return None,
        };
        let is_mapped = |role: &Role| {
            self.role_map.iter().any(|(value, mapped)| mapped == role && values.contains(&&**value))
        };
        Role::ALL.into_iter().find(is_mapped)
    }
}

/// The claim at a dotted path. A claim whose own name has dots, such as a URL, comes first.
fn claim<'c>(claims: &'c Map<String, Value>, path: &str) -> Option<&'c Value> {
    claims.get(path).or_else(|| {
        let (first, rest) = path.split_once('.')?;
        claim(claims.get(first)?.as_object()?, rest)
    })
}

/// Returns the page to return to: `wanted` if it is below `/admin/`, otherwise `/admin`.
pub fn return_path(wanted: Option<&str>) -> &str {
    let is_page = |path: &&str| *path == DEFAULT_RETURN || path.starts_with("/admin/");
    let wanted = wanted.filter(|path| path.len() <= limits::MAX_RETURN_PATH_BYTES);
    wanted.filter(is_page).unwrap_or(DEFAULT_RETURN)
}

/// When a sign-in that begins now expires.
pub fn expires_at(now: Timestamp) -> Timestamp {
    Timestamp(now.0 + limits::OPENID_SIGN_IN_SECONDS * 1_000_000)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn identity(rules: &OpenIdRules, claims: Value) -> Result<Identity, OpenIdError> {
        let Value::Object(claims) = claims else { panic!("claims are an object") };
        rules.identity("https://id.example.com", &claims)
    }

    #[test]
    fn identity_needs_a_subject_and_a_verified_email_address() {
        let rules = OpenIdRules::default();
        let found = identity(
            &rules,
            json!({"sub": "7", "email": " Ada@Example.com", "email_verified": true, "name": "Ada"}),
        );
        let expected = Identity {
            issuer: "https://id.example.com".to_owned(),
            subject: "7".to_owned(),
            email: "Ada@Example.com".to_owned(),
            name: "Ada".to_owned(),
            role: None,
        };
        assert_eq!(found, Ok(expected));
        for (claims, error) in [
            (json!({"email": "a@b", "email_verified": true}), OpenIdError::Token),
            (json!({"sub": "", "email": "a@b", "email_verified": true}), OpenIdError::Token),
            (
                json!({"sub": "x".repeat(256), "email": "a@b", "email_verified": true}),
                OpenIdError::Token,
            ),
            (json!({"sub": "7", "email_verified": true}), OpenIdError::Email),
            (json!({"sub": "7", "email": "a@b"}), OpenIdError::Email),
            (json!({"sub": "7", "email": "a@b", "email_verified": false}), OpenIdError::Email),
            (json!({"sub": "7", "email": "a@b", "email_verified": "true"}), OpenIdError::Email),
            (json!({"sub": "7", "email": "nobody", "email_verified": true}), OpenIdError::Email),
            (json!({"sub": "7", "email": "a b@c", "email_verified": true}), OpenIdError::Email),
        ] {
            assert_eq!(identity(&rules, claims.clone()), Err(error), "{claims}");
        }
    }

    #[test]
    fn name_falls_back_to_the_email_address() {
        for (name, expected) in [
            (json!("Ada Moor"), "Ada Moor"),
            (json!(" "), "ada"),
            (json!("a\nb"), "ada"),
            (json!("x".repeat(256)), "ada"),
            (json!(7), "ada"),
            (Value::Null, "ada"),
        ] {
            let claims =
                json!({"sub": "7", "email": "ada@b", "email_verified": true, "name": name});
            assert_eq!(identity(&OpenIdRules::default(), claims).unwrap().name, expected);
        }
    }

    #[test]
    fn domain_is_compared_as_a_whole_and_in_any_letter_case() {
        let rules =
            OpenIdRules { allowed_domains: vec!["example.com".to_owned()], ..Default::default() };
        for (email, is_allowed) in [
            ("a@example.com", true),
            ("a@EXAMPLE.com", true),
            ("a@sub.example.com", false),
            ("a@badexample.com", false),
            ("a@example.com.org", false),
            ("a@example", false),
        ] {
            let claims = json!({"sub": "7", "email": email, "email_verified": true});
            let error = identity(&rules, claims).err();
            assert_eq!(error, (!is_allowed).then_some(OpenIdError::Domain), "{email}");
        }
    }

    #[test]
    fn role_is_the_first_that_a_value_maps_to() {
        let role = |path: &str, claims: Value| {
            let rules = OpenIdRules {
                role_claim: Some(path.to_owned()),
                role_map: vec![
                    ("all".to_owned(), Role::Viewer),
                    ("web".to_owned(), Role::Editor),
                    ("desk".to_owned(), Role::Editor),
                    ("root".to_owned(), Role::Admin),
                ],
                ..Default::default()
            };
            let Value::Object(claims) = claims else { panic!("claims are an object") };
            rules.role(&claims)
        };
        for (path, claims, expected) in [
            ("groups", json!({"groups": ["all", "desk"]}), Some(Role::Editor)),
            ("groups", json!({"groups": ["all", "root", "web"]}), Some(Role::Admin)),
            ("groups", json!({"groups": "all"}), Some(Role::Viewer)),
            ("groups", json!({"groups": ["All", 7, null]}), None),
            ("groups", json!({"groups": {"web": true}}), None),
            ("groups", json!({}), None),
            ("access.roles", json!({"access": {"roles": ["web"]}}), Some(Role::Editor)),
            ("access.roles", json!({"access": ["web"]}), None),
            ("https://x.org/roles", json!({"https://x.org/roles": ["web"]}), Some(Role::Editor)),
            ("a.b.c", json!({"a": {"b.c": "web"}}), Some(Role::Editor)),
        ] {
            assert_eq!(role(path, claims.clone()), expected, "{path} {claims}");
        }
    }

    #[test]
    fn new_user_has_the_mapped_role_or_the_default() {
        let claims = json!({"sub": "7", "email": "a@b", "email_verified": true, "groups": "web"});
        let mut rules = OpenIdRules { default_role: Some(Role::Viewer), ..Default::default() };
        let role = |rules: &OpenIdRules| {
            let identity = identity(rules, claims.clone()).unwrap();
            rules.new_user(&identity).map(|profile| profile.role)
        };
        assert_eq!(role(&rules), Some(Role::Viewer));
        rules.role_claim = Some("groups".to_owned());
        rules.role_map = vec![("web".to_owned(), Role::Author)];
        assert_eq!(role(&rules), Some(Role::Author));
        rules.default_role = None;
        assert_eq!(role(&rules), None);
    }

    #[test]
    fn return_path_is_a_page_of_this_server() {
        let long = format!("/admin/{}", "x".repeat(2048));
        for (wanted, expected) in [
            (None, "/admin"),
            (Some("/admin"), "/admin"),
            (Some("/admin/post?a=b#c"), "/admin/post?a=b#c"),
            (Some("/administration"), "/admin"),
            (Some("//evil.example"), "/admin"),
            (Some("https://evil.example/admin/"), "/admin"),
            (Some("admin/"), "/admin"),
            (Some(""), "/admin"),
            (Some(&*long), "/admin"),
        ] {
            assert_eq!(return_path(wanted), expected);
        }
    }
}
