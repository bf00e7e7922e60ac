//! Signs users in, by password or by the code of a link, and manages their sessions (see
//! docs/reference/sessions.md).
//!
//! Limits on failed attempts and on simultaneous computations belong to the server.

use cms_model::{
    auth::key::{encode, token_hash},
    clock::Timestamp,
    context::{Caller, Credential, Stamp},
    dates,
    error::{Error, FieldErrors, Result},
    limits, message,
    paging::PageRequest,
    read::{refuse_others, required},
    user::{password, profile::Profile, session::Lifetime},
    wire::{
        list::List,
        session::{
            self, CodeInfo, CurrentSession, LinkKind, PasswordChange, SessionItem, SessionTimes,
            SignInMethods,
        },
        user::Link,
    },
};
use cms_store::{ManagementEvent, Reader, SessionRow, SignInLinkRow, UserRow, WriteTransaction};
use serde_json::{Map, Value};

use super::{
    passwords,
    service::{insert, new_link, page, session_of},
};
use crate::{CoreConfig, cms::service};

const LINK_EXPIRED: &str = "This link has expired or was already used";
const WITHOUT_PASSWORD: &str = "This user has no password";

service! {
    /// Sign-in, and the sessions of the caller.
    Sessions, sessions
}

/// The client that signs in, as the session shows it.
#[derive(Clone, Debug, Default)]
pub struct SessionClient {
    pub address: String,
    pub user_agent: String,
}

/// A new session.
#[derive(Debug)]
pub struct SignedIn {
    /// The value of the cookie, which is not stored.
    pub cookie: String,
    pub session: CurrentSession,
    /// The claims of the issuer have given the user another role, also in earlier sessions.
    pub changed_role: bool,
}

impl SignedIn {
    /// Seconds until a new session ends in any case.
    pub fn max_age() -> i64 {
        let start = Timestamp(0);
        Lifetime { created_at: start, last_seen_at: start }.ends_at().seconds()
    }
}

impl Sessions<'_> {
    /// Returns the ways to sign in.
    pub fn methods(&self) -> Result<SignInMethods> {
        Ok(SignInMethods { password: true, open_id: None, setup: !self.has_users()? })
    }

    /// Signs a user in by password. Hashes the password (slow), also for an unknown e-mail address.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`], whatever the reason.
    pub fn sign_in(&self, email: &str, password: &str, client: &SessionClient) -> Result<SignedIn> {
        let user = self.cms.store.read_autocommit(|reader| reader.user_with_email(email))?;
        let password_hash = user.as_ref().filter(|user| !user.profile.disabled);
        let password_hash = password_hash.and_then(|user| user.password.clone());
        let is_right =
            passwords::verify(password, password_hash.as_deref().unwrap_or(passwords::DUMMY_HASH))?;
        let (Some(user), Some(password_hash), true) = (&user, password_hash, is_right) else {
            let user = user.as_ref().map_or("", |user| user.uid.as_str());
            tracing::info!(user, method = "password", address = client.address, "sign-in failed");
            return Err(Error::Unauthenticated);
        };
        let config = self.cms.config.clone();
        let renewed = passwords::is_outdated(&password_hash)
            .then(|| passwords::hash(password, config.ids.secret()))
            .transpose()?;
        let (pk, session_client) = (user.pk, client.clone());
        let cookie = self.cms.store.write(move |writer| {
            let user = writer.user(pk)?.filter(|user| {
                !user.profile.disabled && user.password.as_ref() == Some(&password_hash)
            });
            let user = user.ok_or(Error::Unauthenticated)?;
            if let Some(renewed) = renewed {
                writer.set_password(pk, &renewed)?;
            }
            open(writer, &config, user.pk, session_client)
        })?;
        self.signed_in(cookie, "password", client)
    }

    /// Signs a user in by the code of a sign-in link. Sets the password of the user, or with the set-up
    /// link creates the first user. Hashes the password (slow).
    ///
    /// # Errors
    /// [`Error::Invalid`]: at `code` for a code that is unknown, expired or used, else for the
    /// other members; then the code stays valid.
    pub fn sign_in_with_code(
        &self,
        code: &str,
        members: &Map<String, Value>,
        client: &SessionClient,
    ) -> Result<SignedIn> {
        let (hash, now) = (token_hash(code), self.cms.now());
        let found = self.cms.store.read(|reader| find_link(reader, hash, now));
        let (link, user) = found.inspect_err(|_| {
            tracing::info!(method = "link", address = client.address, "sign-in failed");
        })?;
        let mut errors = FieldErrors::default();
        let (new, secret) = if let Some(user) = &user {
            let secret = session::new_password(members, &mut errors);
            if let Some(secret) = &secret {
                password::check(secret, &user.profile.email, "password", &mut errors);
            }
            (None, secret.unwrap_or_default())
        } else {
            let (profile, secret) = first_admin(members, &mut errors);
            (Some(profile), secret)
        };
        errors.into_result()?;
        let (config, session_client) = (self.cms.config.clone(), client.clone());
        let password_hash = passwords::hash(&secret, config.ids.secret())?;
        let cookie = self.cms.store.write(move |writer| {
            let (_, user) = find_link(writer, hash, now)?;
            let user = match (user, new) {
                (Some(user), _) => {
                    writer.remove_sign_in_links_of(Some(user.pk))?;
                    writer.set_password(user.pk, &password_hash)?;
                    end_all(writer, &user, None, "password")?;
                    user.pk
                }
                (None, Some(profile)) => {
                    let stamp = |pk| Stamp { at: now, actor: Some(pk) };
                    insert(writer, &config, &profile, Some(&password_hash), stamp)?
                }
                (None, None) => return Err(expired()),
            };
            open(writer, &config, user, session_client)
        })?;
        self.signed_in(cookie, link.kind.as_str(), client)
    }

    /// Returns the purpose of a code.
    ///
    /// # Errors
    /// [`Error::Invalid`] at `code`.
    pub fn code(&self, code: &str) -> Result<CodeInfo> {
        let (hash, now) = (token_hash(code), self.cms.now());
        let (link, user) = self.cms.store.read(|reader| find_link(reader, hash, now))?;
        let (email, name) =
            user.map(|user| (user.profile.email, user.profile.name)).unwrap_or_default();
        let expires_at = dates::microsecond_date(link.expires_at);
        Ok(CodeInfo { kind: link.kind, email, name, expires_at })
    }

    /// Returns the session of the caller.
    pub fn current(&self, caller: &Caller) -> Result<CurrentSession> {
        let (_, pk) = session_of(caller)?;
        let row = self.cms.store.read_autocommit(|reader| reader.session(pk))?;
        let row = row.ok_or(Error::Unauthenticated)?;
        // This request is the most recent use.
        let session = times(row, self.cms.now());
        Ok(CurrentSession { context: self.cms.auth_context(caller)?, session })
    }

    /// Ends the session of the caller.
    pub fn sign_out(&self, caller: &Caller, client: &SessionClient) -> Result<()> {
        let (_, pk) = session_of(caller)?;
        self.cms.store.write(move |writer| {
            if writer.remove_session(pk)? { writer.bump_auth() } else { Ok(()) }
        })?;
        let user = &caller.actor.id;
        tracing::info!(%user, method = "sign-out", address = client.address, "session ended");
        Ok(())
    }

    /// Changes the password of the caller, and ends the other sessions. Hashes two passwords (slow).
    ///
    /// # Errors
    /// [`Error::Invalid`] at `currentPassword` when that is wrong.
    pub fn change_password(
        &self,
        caller: &Caller,
        change: &PasswordChange,
        client: &SessionClient,
    ) -> Result<()> {
        let (pk, session) = session_of(caller)?;
        let user = self.cms.store.read_autocommit(|reader| reader.user(pk))?;
        let user = user.ok_or(Error::Unauthenticated)?;
        let Some(password_hash) = user.password.clone() else {
            return Err(Error::Rejected(vec![WITHOUT_PASSWORD.into()]));
        };
        let mut errors = FieldErrors::default();
        if !passwords::verify(&change.current, &password_hash)? {
            errors.add("currentPassword", message::NOT_VALID);
            let (user, address) = (&user.uid, &client.address);
            tracing::info!(%user, method = "password", address, "sign-in failed");
        }
        password::check(&change.new, &user.profile.email, "newPassword", &mut errors);
        errors.into_result()?;
        let new = passwords::hash(&change.new, self.cms.config.ids.secret())?;
        self.cms.store.write(move |writer| {
            let user = writer.user(pk)?.ok_or(Error::Unauthenticated)?;
            if user.password.as_ref() != Some(&password_hash) {
                return Err(Error::invalid("currentPassword", message::NOT_VALID));
            }
            writer.set_password(pk, &new)?;
            end_all(writer, &user, Some(session), "password")
        })
    }

    /// Lists the sessions of the user who calls, last used first.
    pub fn list(&self, caller: &Caller, wanted: PageRequest) -> Result<List<SessionItem>> {
        let (user, _) = session_of(caller)?;
        self.items(user, caller, wanted)
    }

    /// Ends one session of the user who calls.
    pub fn end(&self, caller: &Caller, id: &str) -> Result<()> {
        let ((user, _), now) = (session_of(caller)?, self.cms.now());
        let (id, uid) = (id.to_owned(), caller.actor.id.clone());
        self.cms.store.write(move |writer| {
            let sessions = writer.sessions_of(user)?;
            let found = sessions.iter().find(|row| row.id == id && row.lifetime.is_valid(now));
            let found = found.ok_or_else(|| Error::not_found("session", &id))?;
            writer.remove_session(found.pk)?;
            tracing::info!(user = %uid, method = "ended", "session ended");
            writer.bump_auth()
        })
    }

    /// Ends the other sessions of the user who calls.
    pub fn end_others(&self, caller: &Caller) -> Result<()> {
        let (user, session) = session_of(caller)?;
        self.cms.store.write(move |writer| {
            let user = writer.user(user)?.ok_or(Error::Unauthenticated)?;
            end_all(writer, &user, Some(session), "ended")
        })
    }

    /// Creates the link that creates the first user, in place of the earlier one; none once there
    /// is a user.
    pub fn new_set_up_link(&self, public_url: &str) -> Result<Option<Link>> {
        if self.has_users()? {
            return Ok(None);
        }
        let (config, public_url) = (self.cms.config.clone(), public_url.to_owned());
        self.cms.store.write(move |writer| {
            if writer.user_count()? > 0 {
                return Ok(None);
            }
            new_link(writer, &config, LinkKind::Setup, None, &public_url).map(Some)
        })
    }

    /// Creates the first user, unless there is one.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an e-mail address or a password that the rules refuse.
    pub fn create_first_admin(&self, email: &str, password: &str) -> Result<()> {
        if self.has_users()? {
            return Ok(());
        }
        let name = email.trim().split('@').next().unwrap_or_default();
        let mut errors = FieldErrors::default();
        let profile = Profile::first_admin(email, name, &mut errors);
        password::check(password, &profile.email, "password", &mut errors);
        errors.into_result()?;
        let config = self.cms.config.clone();
        let password_hash = passwords::hash(password, config.ids.secret())?;
        let stamp = Caller::local().stamp(self.cms.now());
        self.cms.store.write(move |writer| {
            if writer.user_count()? > 0 {
                return Ok(());
            }
            insert(writer, &config, &profile, Some(&password_hash), |_| stamp).map(drop)
        })
    }

    /// The sessions of a user, as the caller sees them.
    pub(super) fn items(
        &self,
        user: i64,
        caller: &Caller,
        wanted: PageRequest,
    ) -> Result<List<SessionItem>> {
        let (seen, now) = (self.cms.keys.seen(), self.cms.now());
        let mut rows = self.cms.store.read_autocommit(|reader| reader.sessions_of(user))?;
        for row in &mut rows {
            let last = &mut row.lifetime.last_seen_at;
            *last = seen.get(&row.pk).copied().unwrap_or(*last).max(*last);
        }
        rows.retain(|row| row.lifetime.is_valid(now));
        rows.sort_by_key(|row| (-row.lifetime.last_seen_at.0, -row.pk));
        let item = |row: SessionRow| SessionItem {
            current: caller.credential == Credential::Session(row.pk),
            id: row.id,
            created_at: dates::microsecond_date(row.lifetime.created_at),
            last_seen_at: dates::microsecond_date(row.lifetime.last_seen_at),
            expires_at: dates::microsecond_date(row.lifetime.expires_at()),
            ends_at: dates::microsecond_date(row.lifetime.ends_at()),
            address: row.address,
            user_agent: row.user_agent,
        };
        Ok(page(rows.into_iter().map(item).collect(), wanted))
    }

    pub(super) fn signed_in(
        &self,
        cookie: String,
        method: &str,
        client: &SessionClient,
    ) -> Result<SignedIn> {
        let caller = self.cms.keys().authenticate_session(&cookie, &*self.cms.commit_state()?)?;
        let (user, address) = (&caller.actor.id, &client.address);
        tracing::info!(%user, method, address, "sign-in succeeded");
        Ok(SignedIn { session: self.current(&caller)?, cookie, changed_role: false })
    }

    fn has_users(&self) -> Result<bool> {
        self.cms.store.read_autocommit(|reader| Ok(reader.user_count()? > 0))
    }
}

/// Opens a session for a user; returns the value of the cookie, always a new one.
pub(crate) fn open(
    writer: &WriteTransaction<'_>,
    config: &CoreConfig,
    user: i64,
    client: SessionClient,
) -> Result<String> {
    let (cookie, now) = (encode(&config.ids.secret()), config.clock.now());
    let row = SessionRow {
        pk: 0,
        id: config.ids.uuid(),
        user,
        lifetime: Lifetime { created_at: now, last_seen_at: now },
        address: client.address,
        user_agent: client.user_agent.chars().take(limits::MAX_USER_AGENT_CHARS).collect(),
    };
    writer.insert_session(&row, token_hash(&cookie), limits::MAX_SESSIONS_PER_USER)?;
    let stamp = Stamp { at: now, actor: Some(user) };
    let user = writer.user(user)?.ok_or(Error::Unauthenticated)?;
    let (event, name) = (ManagementEvent::SessionCreated, &user.profile.name);
    writer.append_management_to_journal(event, stamp, &user.uid, name)?;
    Ok(cookie)
}

/// Ends the sessions of a user except one.
pub(super) fn end_all(
    writer: &WriteTransaction<'_>,
    user: &UserRow,
    except: Option<i64>,
    method: &str,
) -> Result<()> {
    let count = writer.remove_sessions_of(user.pk, except)?;
    if count > 0 {
        tracing::info!(user = %user.uid, method, count, "session ended");
    }
    writer.bump_auth()
}

/// Finds the link of a code, and its user, who is missing for the set-up link only.
fn find_link(
    reader: &Reader<'_>,
    hash: [u8; 32],
    now: Timestamp,
) -> Result<(SignInLinkRow, Option<UserRow>)> {
    let link = reader.sign_in_link_with_hash(hash)?.filter(|link| now < link.expires_at);
    let link = link.ok_or_else(expired)?;
    let Some(pk) = link.user else { return Ok((link, None)) };
    match reader.user(pk)?.filter(|user| !user.profile.disabled) {
        Some(user) => Ok((link, Some(user))),
        None => Err(expired()),
    }
}

fn expired() -> Error {
    Error::invalid("code", LINK_EXPIRED)
}

/// Reads the first user and the password from the body of a sign-in.
fn first_admin(members: &Map<String, Value>, errors: &mut FieldErrors) -> (Profile, String) {
    refuse_others(members, &["code", "email", "name", "password"], "", errors);
    let mut text = |key| required::<&str>(members, key, "", errors);
    let (email, name, secret) = (text("email"), text("name"), text("password"));
    let mut wrong = FieldErrors::default();
    let profile =
        Profile::first_admin(email.unwrap_or_default(), name.unwrap_or_default(), &mut wrong);
    if let Some(secret) = secret {
        password::check(secret, &profile.email, "password", &mut wrong);
    }
    // A missing member gets only the error that it is missing.
    wrong.retain(|path| members.contains_key(path) && errors.at(path).is_empty());
    errors.merge(wrong);
    (profile, secret.unwrap_or_default().to_owned())
}

fn times(row: SessionRow, seen: Timestamp) -> SessionTimes {
    let last_seen_at = seen.max(row.lifetime.last_seen_at);
    let lifetime = Lifetime { last_seen_at, ..row.lifetime };
    SessionTimes {
        id: row.id,
        created_at: dates::microsecond_date(lifetime.created_at),
        last_seen_at: dates::microsecond_date(lifetime.last_seen_at),
        expires_at: dates::microsecond_date(lifetime.expires_at()),
        ends_at: dates::microsecond_date(lifetime.ends_at()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::TestCms;

    #[test]
    fn session_beyond_the_maximum_ends_the_least_recently_used_one() {
        let core = TestCms::new();
        let user = json!({ "email": "a@x", "name": "A", "role": "viewer" });
        let first = core.session(&user);
        core.cms.caller_of_session(&first).unwrap();
        let hash = token_hash(&first);
        let left = core.cms.store.write(move |writer| {
            let known = writer.session_with_hash(hash)?.unwrap();
            for (id, seconds) in [("b", 20), ("c", 10), ("d", 30)] {
                let at = Timestamp(known.lifetime.created_at.0 + seconds * 1_000_000);
                let lifetime = Lifetime { created_at: at, last_seen_at: at };
                let row = SessionRow { id: id.to_owned(), lifetime, ..known.clone() };
                writer.insert_session(&row, token_hash(id), 2)?;
            }
            writer.sessions_of(known.user)
        });
        let left: Vec<_> = left.unwrap().into_iter().map(|row| row.id).collect();
        assert_eq!(left, ["d", "b"]);
        let refused = core.cms.caller_of_session(&first);
        assert!(matches!(refused, Err(Error::Unauthenticated)));
    }
}
