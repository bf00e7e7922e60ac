//! Settings of sign-in by OpenID Connect.

use std::fmt;

use cms_core::OpenIdRules;

/// An issuer, and the users that may sign in there.
#[derive(Clone)]
pub struct OpenIdConfig {
    /// The URL of the issuer, as its discovery document names it.
    pub issuer: String,
    pub client_id: String,
    /// None for a public client.
    pub client_secret: Option<String>,
    /// Text of the button on the sign-in page.
    pub label: String,
    pub rules: OpenIdRules,
}

impl fmt::Debug for OpenIdConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { issuer, client_id, label, rules, .. } = self;
        f.debug_struct("OpenIdConfig")
            .field("issuer", issuer)
            .field("client_id", client_id)
            .field("label", label)
            .field("rules", rules)
            .finish_non_exhaustive()
    }
}
