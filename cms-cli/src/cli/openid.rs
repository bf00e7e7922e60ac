//! Settings of sign-in by OpenID Connect.

use clap::Args;
use cms_core::{OpenIdRules, wire::user::Role};
use cms_server::OpenIdConfig;

use super::openapi::is_host_and_path;

/// The variable of the client secret, which has no flag.
pub(crate) const SECRET_VARIABLE: &str = "CMS_OPENID_CLIENT_SECRET";

const MAX_LABEL_CHARS: usize = 100;

/// Who signs in by OpenID Connect.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the names of the flags")]
pub(crate) struct OpenIdArgs {
    /// Let users sign in at this OpenID Connect issuer, for example `https://id.example.com`. The
    /// client secret is read from `CMS_OPENID_CLIENT_SECRET`.
    #[arg(long, value_name = "URL", env = "CMS_OPENID_ISSUER", value_parser = issuer)]
    pub(crate) openid_issuer: Option<String>,
    /// Set the client id that the issuer has assigned; required with --openid-issuer.
    #[arg(long, value_name = "ID", env = "CMS_OPENID_CLIENT_ID")]
    pub(crate) openid_client_id: Option<String>,
    /// Allow e-mail addresses of these domains only; may be repeated, or separated by commas.
    #[arg(long, value_name = "DOMAIN", env = "CMS_OPENID_ALLOWED_DOMAINS", value_delimiter = ',',
        value_parser = domain)]
    pub(crate) openid_allowed_domains: Vec<String>,
    /// Create users with this role at their first sign-in: developer, editor, author or viewer.
    /// Default: only existing users may sign in.
    #[arg(long, value_name = "ROLE", env = "CMS_OPENID_DEFAULT_ROLE", value_parser = default_role)]
    pub(crate) openid_default_role: Option<Role>,
    /// Set the role of users at each sign-in by this claim of the ID token, a dotted path such as
    /// `groups` or `realm_access.roles`; with --openid-role-map.
    #[arg(long, value_name = "PATH", env = "CMS_OPENID_ROLE_CLAIM")]
    pub(crate) openid_role_claim: Option<String>,
    /// Map a value of the claim to a role; may be repeated, or separated by commas. Of several
    /// roles, the first of admin, developer, editor, author and viewer is used.
    #[arg(long, value_name = "VALUE=ROLE", env = "CMS_OPENID_ROLE_MAP", value_delimiter = ',',
        value_parser = mapping)]
    pub(crate) openid_role_map: Vec<(String, Role)>,
    /// Set the text of the button on the sign-in page.
    #[arg(long, value_name = "TEXT", default_value = "Single sign-on", env = "CMS_OPENID_LABEL",
        value_parser = label)]
    pub(crate) openid_label: String,
}

impl OpenIdArgs {
    /// The settings of the server; none without an issuer.
    ///
    /// # Errors
    /// A setting is missing that another setting requires.
    pub(crate) fn config(
        &self,
        client_secret: Option<String>,
    ) -> Result<Option<OpenIdConfig>, &'static str> {
        let Some(issuer) = self.openid_issuer.clone() else { return Ok(None) };
        let client_id = self.openid_client_id.clone().filter(|id| !id.is_empty());
        let client_id = client_id.ok_or("openid-issuer requires openid-client-id")?;
        match (&self.openid_role_claim, self.openid_role_map.is_empty()) {
            (Some(_), true) => return Err("openid-role-claim requires openid-role-map"),
            (None, false) => return Err("openid-role-map requires openid-role-claim"),
            _ => {}
        }
        Ok(Some(OpenIdConfig {
            issuer,
            client_id,
            client_secret,
            label: self.openid_label.clone(),
            rules: OpenIdRules {
                allowed_domains: self.openid_allowed_domains.clone(),
                default_role: self.openid_default_role,
                role_claim: self.openid_role_claim.clone(),
                role_map: self.openid_role_map.clone(),
            },
        }))
    }
}

/// Parses the URL of an issuer. Returns it unchanged: the issuer in tokens must be equal to it.
fn issuer(text: &str) -> Result<String, String> {
    let is_allowed = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(rest), _) => is_host_and_path(rest),
        (_, Some(rest)) => is_host_and_path(rest) && is_loopback(rest),
        _ => false,
    };
    if is_allowed {
        Ok(text.to_owned())
    } else {
        Err("use https://HOST, with a port or path if there is one; http:// is for this machine \
             only"
            .to_owned())
    }
}

/// Returns whether a URL without its scheme names this machine.
fn is_loopback(rest: &str) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn domain(text: &str) -> Result<String, String> {
    let domain = text.trim().to_lowercase();
    let is_plain = |c: char| c.is_alphanumeric() || "-.".contains(c);
    if !domain.is_empty() && domain.chars().all(is_plain) && !domain.starts_with('.') {
        Ok(domain)
    } else {
        Err("use a domain such as example.com".to_owned())
    }
}

/// Parses the role of users whom their first sign-in creates.
fn default_role(text: &str) -> Result<Role, String> {
    match Role::parse(text) {
        Some(Role::Admin | Role::Custom) | None => {
            Err("use developer, editor, author or viewer".to_owned())
        }
        Some(role) => Ok(role),
    }
}

/// Parses a value of a claim and its role. The value may contain an equals sign.
fn mapping(text: &str) -> Result<(String, Role), String> {
    let mapping = text.rsplit_once('=').and_then(|(value, role)| {
        let role = Role::parse(role.trim()).filter(|role| *role != Role::Custom)?;
        Some((value.trim().to_owned(), role))
    });
    mapping.filter(|(value, _)| !value.is_empty()).ok_or_else(|| {
        "use VALUE=ROLE, with the role admin, developer, editor, author or viewer".to_owned()
    })
}

fn label(text: &str) -> Result<String, String> {
    if (1..=MAX_LABEL_CHARS).contains(&text.chars().count()) {
        Ok(text.to_owned())
    } else {
        Err(format!("use 1 to {MAX_LABEL_CHARS} characters"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuer_uses_tls_unless_it_is_on_this_machine() {
        for text in [
            "https://id.example.com",
            "https://id.example.com:8443/realms/cms/",
            "http://localhost:3000",
            "http://127.0.0.2/x",
            "http://[::1]:3000",
        ] {
            assert_eq!(issuer(text).as_deref(), Ok(text));
        }
        for text in [
            "",
            "id.example.com",
            "http://id.example.com",
            "http://localhost.example.com",
            "http://10.0.0.1",
            "https://",
            "https:///x",
            "https://id.example.com?x",
            "https://id.example.com#x",
            "https://me@id.example.com",
            "ftp://localhost",
        ] {
            assert!(issuer(text).is_err(), "{text}");
        }
    }

    #[test]
    fn roles_that_need_an_admin_are_refused() {
        assert_eq!(default_role("editor"), Ok(Role::Editor));
        for text in ["admin", "custom", "Editor", ""] {
            assert!(default_role(text).is_err(), "{text}");
        }
        assert_eq!(mapping("a=b=admin"), Ok(("a=b".to_owned(), Role::Admin)));
        for text in ["a=custom", "=admin", "admin", "a=", ""] {
            assert!(mapping(text).is_err(), "{text}");
        }
        assert_eq!(domain(" Example.COM").as_deref(), Ok("example.com"));
        for text in ["", "@example.com", "a b", "*.example.com", ".example.com"] {
            assert!(domain(text).is_err(), "{text}");
        }
    }
}
