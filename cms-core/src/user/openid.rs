//! Signs users in by OpenID Connect, see docs/reference/sessions.md#openid-connect
//!
//! Requests to the issuer and the verification of its tokens belong to the server.

use cms_model::{
    auth::key::{encode, token_hash},
    context::Stamp,
    error::{Error, Result},
    limits,
    user::{
        openid::{self, Identity, OpenIdError, OpenIdRules, OpenIdSignIn},
        profile::{Profile, keeps_an_admin},
    },
    wire::user::Role,
};
use cms_store::{ManagementEvent, UserRow, WriteTransaction};

use super::{
    service::insert,
    sessions::{SessionClient, Sessions, SignedIn, open},
};

/// The secrets of a sign-in that begins, for the browser and the issuer.
pub struct OpenIdStart {
    pub state: String,
    /// The value of the cookie.
    pub browser: String,
    pub nonce: String,
    /// The code verifier of PKCE.
    pub verifier: String,
}

impl Sessions<'_> {
    /// Begins a sign-in of a browser, which ends on a page of this server.
    pub fn start_openid(&self, return_to: Option<&str>) -> Result<OpenIdStart> {
        let config = &self.cms.config;
        let secret = || encode(&config.ids.secret());
        let start =
            OpenIdStart { state: secret(), browser: secret(), nonce: secret(), verifier: secret() };
        let sign_in = OpenIdSignIn {
            nonce: start.nonce.clone(),
            verifier: start.verifier.clone(),
            return_to: openid::return_path(return_to).to_owned(),
            expires_at: openid::expires_at(config.clock.now()),
        };
        let (state, browser) = (token_hash(&start.state), token_hash(&start.browser));
        self.cms.store.write(move |writer| {
            let maximum = limits::MAX_OPENID_SIGN_INS;
            writer.insert_openid_sign_in(state, browser, &sign_in, maximum)
        })?;
        Ok(start)
    }

    /// Returns what was stored for a sign-in of this browser, once.
    pub fn take_openid(&self, state: &str, browser: &str) -> Result<Option<OpenIdSignIn>> {
        let (state, browser) = (token_hash(state), token_hash(browser));
        let now = self.cms.now();
        let taken =
            self.cms.store.write(move |writer| writer.take_openid_sign_in(state, browser))?;
        Ok(taken.filter(|sign_in| now < sign_in.expires_at))
    }

    /// Signs in the user of an identity: the linked one, else the one with the e-mail address, else
    /// a new one.
    pub fn sign_in_with_openid(
        &self,
        identity: Identity,
        rules: &OpenIdRules,
        client: &SessionClient,
    ) -> Result<std::result::Result<SignedIn, OpenIdError>> {
        let (config, owned_client) = (self.cms.config.clone(), client.clone());
        let new = rules.new_user(&identity);
        let cookie = self.cms.store.write(move |writer| {
            let at = config.clock.now();
            let by_themselves = |pk| Stamp { at, actor: Some(pk) };
            let found = match find(writer, &identity)? {
                Some(user) if user.profile.disabled => {
                    return Ok(Err((OpenIdError::Disabled, user.uid)));
                }
                Some(user) => user.pk,
                None => match new {
                    Some(profile) if writer.user_count()? < limits::MAX_USERS => {
                        insert(writer, &config, &profile, None, by_themselves)?
                    }
                    _ => return Ok(Err((OpenIdError::User, String::new()))),
                },
            };
            let changed_role = update(writer, found, &identity, by_themselves(found))?;
            let cookie = open(writer, &config, found, owned_client)?;
            Ok(Ok((cookie, changed_role)))
        })?;
        match cookie {
            Ok((cookie, changed_role)) => {
                let signed_in = self.signed_in(cookie, "openid", client)?;
                Ok(Ok(SignedIn { changed_role, ..signed_in }))
            }
            Err((error, user)) => {
                let (reason, address) = (error.as_str(), &client.address);
                tracing::info!(%user, method = "openid", reason, address, "sign-in failed");
                Ok(Err(error))
            }
        }
    }
}

fn find(writer: &WriteTransaction<'_>, identity: &Identity) -> Result<Option<UserRow>> {
    match writer.user_with_openid(&identity.issuer, &identity.subject)? {
        Some(user) => Ok(Some(user)),
        None => writer.user_with_email(&identity.email),
    }
}

/// Links the user, and gives them the role of the claims. Returns whether they had another role.
fn update(
    writer: &WriteTransaction<'_>,
    pk: i64,
    identity: &Identity,
    stamp: Stamp,
) -> Result<bool> {
    let user = writer.user(pk)?.ok_or_else(|| Error::internal("a user is missing"))?;
    writer.set_openid(pk, &identity.issuer, &identity.subject)?;
    let Some(role) = identity.role.filter(|role| *role != user.profile.role) else {
        return Ok(false);
    };
    let has_other_admin = writer.has_other_usable_admin(pk)?;
    let is_kept = keeps_an_admin(user.is_usable_admin(), role == Role::Admin, has_other_admin);
    if !is_kept {
        tracing::warn!(user = %user.uid, role = role.as_str(), "role mapping skipped");
        return Ok(false);
    }
    let profile = Profile { role, rules: Vec::new(), may_publish: false, ..user.profile };
    writer.set_profile(pk, &profile)?;
    writer.append_management_to_journal(
        ManagementEvent::UserUpdated,
        stamp,
        &user.uid,
        &profile.name,
    )?;
    writer.bump_auth()?;
    Ok(true)
}
