//! Lists, creates, changes and removes users, and creates links for them (see
//! docs/reference/users.md).

use cms_model::{
    auth::key::{encode, token_hash},
    clock::Timestamp,
    context::{Caller, Credential, Stamp},
    dates,
    error::{Error, FieldErrors, Result},
    limits, message,
    paging::PageRequest,
    read::{optional, refuse_others},
    user::{
        list, password,
        profile::{Profile, keeps_an_admin},
        session::link_expires_at,
    },
    wire::{
        list::List,
        session::{LinkKind, SessionItem},
        user::{CreatedUser, Link, PendingLink, User, UserListRequest},
    },
};
use cms_store::{ManagementEvent, Reader, UserRow, WriteTransaction};
use serde_json::{Map, Value};

use super::{passwords, sessions};
use crate::{CoreConfig, cms::service};

const LAST_ADMIN: &str =
    "The last enabled user with role admin cannot be deleted, disabled or given another role";
const DISABLED: &str = "The user is disabled";

service! {
    /// Operations on users, for admins.
    Users, users
}

impl Users<'_> {
    pub fn list(&self, caller: &Caller, request: &UserListRequest) -> Result<List<User>> {
        caller.require_admin()?;
        let now = self.cms.now();
        let users = self.cms.store.read_autocommit(|reader| {
            Ok(reader.users()?.into_iter().map(|row| to_wire(row, now)).collect())
        })?;
        Ok(page(list::select(users, request), request.page))
    }

    pub fn get(&self, caller: &Caller, id: &str) -> Result<User> {
        caller.require_admin()?;
        let row = self.cms.store.read_autocommit(|reader| find(reader, id))?;
        Ok(to_wire(row, self.cms.now()))
    }

    /// Creates a user, with an invitation unless the payload has a password. Hashes the password
    /// (slow).
    ///
    /// # Errors
    /// [`Error::Invalid`] with all errors of the payload, [`Error::Rejected`] for a disabled user who
    /// would get an invitation, [`Error::Forbidden`] when there are too many users.
    pub fn create(
        &self,
        caller: &Caller,
        payload: &Map<String, Value>,
        public_url: &str,
    ) -> Result<CreatedUser> {
        caller.require_admin()?;
        let mut errors = FieldErrors::default();
        let profile = Profile::create(payload, &mut errors);
        let secret: Option<&str> = optional(payload, "password", "", &mut errors);
        if let Some(secret) = secret {
            password::check(secret, &profile.email, "password", &mut errors);
        }
        self.cms.store.read_autocommit(|reader| {
            if reader.user_with_email(&profile.email)?.is_some() {
                errors.add("email", message::ALREADY_USED);
            }
            Ok(())
        })?;
        errors.into_result()?;
        if profile.disabled && secret.is_none() {
            return Err(Error::Rejected(vec![DISABLED.into()]));
        }
        let config = self.cms.config.clone();
        let password_hash =
            secret.map(|secret| passwords::hash(secret, config.ids.secret())).transpose()?;
        let (now, public_url) = (self.cms.now(), public_url.to_owned());
        let stamp = caller.stamp(now);
        self.cms.store.write(move |writer| {
            let pk = insert(writer, &config, &profile, password_hash.as_deref(), |_| stamp)?;
            let invite = || new_link(writer, &config, LinkKind::Invitation, Some(pk), &public_url);
            let link = password_hash.is_none().then(invite).transpose()?;
            Ok(CreatedUser { user: to_wire(stored(writer, pk)?, now), link })
        })
    }

    /// Changes the members of a user that the payload contains.
    ///
    /// # Errors
    /// [`Error::Rejected`] when no admin who can sign in would remain.
    pub fn update(&self, caller: &Caller, id: &str, payload: &Map<String, Value>) -> Result<User> {
        caller.require_admin()?;
        let (id, payload, now) = (id.to_owned(), payload.clone(), self.cms.now());
        let stamp = caller.stamp(now);
        self.cms.store.write(move |writer| {
            let before = find(writer, &id)?;
            let mut errors = FieldErrors::default();
            let profile = before.profile.clone().update(&payload, &mut errors);
            let same_email = writer.user_with_email(&profile.email)?;
            if same_email.is_some_and(|other| other.pk != before.pk) {
                errors.add("email", message::ALREADY_USED);
            }
            errors.into_result()?;
            let after = UserRow { profile, ..before.clone() };
            require_admin_remains(writer, &before, after.is_usable_admin())?;
            writer.set_profile(after.pk, &after.profile)?;
            if after.profile.disabled && !before.profile.disabled {
                writer.revoke_access(after.pk)?;
                tracing::info!(user = %after.uid, method = "disabled", "session ended");
            }
            let (event, name) = (ManagementEvent::UserUpdated, &after.profile.name);
            writer.append_management_to_journal(event, stamp, &after.uid, name)?;
            writer.bump_auth()?;
            Ok(to_wire(stored(writer, after.pk)?, now))
        })
    }

    /// Removes a user, whose name stays in versions and activity.
    ///
    /// # Errors
    /// As [`Self::update`].
    pub fn delete(&self, caller: &Caller, id: &str) -> Result<()> {
        caller.require_admin()?;
        let (id, stamp) = (id.to_owned(), caller.stamp(self.cms.now()));
        self.cms.store.write(move |writer| {
            let user = find(writer, &id)?;
            require_admin_remains(writer, &user, false)?;
            writer.remove_user(user.pk, stamp.at)?;
            let (event, name) = (ManagementEvent::UserDeleted, &user.profile.name);
            writer.append_management_to_journal(event, stamp, &user.uid, name)?;
            tracing::info!(user = %user.uid, method = "removed", "session ended");
            writer.bump_auth()
        })
    }

    /// Creates a sign-in link of a user, in place of the earlier one.
    pub fn create_link(
        &self,
        caller: &Caller,
        id: &str,
        payload: &Map<String, Value>,
        public_url: &str,
    ) -> Result<Link> {
        caller.require_admin()?;
        let (id, payload, public_url) = (id.to_owned(), payload.clone(), public_url.to_owned());
        let config = self.cms.config.clone();
        self.cms.store.write(move |writer| {
            let user = find(writer, &id)?;
            let wanted = link_kind(&payload)?;
            if user.profile.disabled {
                return Err(Error::Rejected(vec![DISABLED.into()]));
            }
            // Without a password there is nothing to reset.
            let is_invited = wanted == Some(LinkKind::Invitation) || user.password.is_none();
            let kind = if is_invited { LinkKind::Invitation } else { LinkKind::Reset };
            new_link(writer, &config, kind, Some(user.pk), &public_url)
        })
    }

    /// Lists the sessions of a user, last used first.
    pub fn sessions(
        &self,
        caller: &Caller,
        id: &str,
        wanted: PageRequest,
    ) -> Result<List<SessionItem>> {
        caller.require_admin()?;
        let user = self.cms.store.read_autocommit(|reader| find(reader, id))?;
        self.cms.sessions().items(user.pk, caller, wanted)
    }

    /// Ends all sessions of a user.
    pub fn end_sessions(&self, caller: &Caller, id: &str) -> Result<()> {
        caller.require_admin()?;
        let id = id.to_owned();
        self.cms.store.write(move |writer| {
            let user = find(writer, &id)?;
            sessions::end_all(writer, &user, None, "admin")
        })
    }
}

/// Inserts a user; `stamp` returns the stamp of the change from the primary key.
///
/// # Errors
/// [`Error::Invalid`] when the e-mail address is used, [`Error::Forbidden`] when there are too many
/// users.
pub(super) fn insert(
    writer: &WriteTransaction<'_>,
    config: &CoreConfig,
    profile: &Profile,
    password_hash: Option<&str>,
    stamp: impl FnOnce(i64) -> Stamp,
) -> Result<i64> {
    if writer.user_with_email(&profile.email)?.is_some() {
        return Err(Error::invalid("email", message::ALREADY_USED));
    }
    if writer.user_count()? >= limits::MAX_USERS {
        return Err(Error::Forbidden);
    }
    // The set-up link creates the first user only.
    writer.remove_sign_in_links_of(None)?;
    let (uid, secret) = (config.ids.uuid(), config.ids.secret());
    let pk = writer.insert_user(&uid, profile, password_hash, secret, config.clock.now())?;
    writer.append_management_to_journal(
        ManagementEvent::UserCreated,
        stamp(pk),
        &uid,
        &profile.name,
    )?;
    Ok(pk)
}

/// Creates a sign-in link of a user, or the set-up link, in place of the earlier one.
pub(super) fn new_link(
    writer: &WriteTransaction<'_>,
    config: &CoreConfig,
    kind: LinkKind,
    user: Option<i64>,
    public_url: &str,
) -> Result<Link> {
    let code = encode(&config.ids.secret());
    let expires_at = link_expires_at(kind, config.clock.now());
    writer.put_sign_in_link(kind, user, token_hash(&code), expires_at)?;
    Ok(Link {
        kind,
        // In the fragment, which browsers do not send.
        url: format!("{}/admin/sign-in#code={code}", public_url.trim_end_matches('/')),
        code,
        expires_at: dates::microsecond_date(expires_at),
    })
}

/// One page of a complete list.
pub(super) fn page<T>(all: Vec<T>, page: PageRequest) -> List<T> {
    List::new(page, all.len() as u64, page.of(all).collect())
}

fn to_wire(row: UserRow, now: Timestamp) -> User {
    let may_publish = row.profile.publishes();
    let Profile { email, name, role, rules, disabled, .. } = row.profile;
    let link = row.link.filter(|(_, expires_at)| now < *expires_at);
    User {
        id: row.uid,
        email,
        name,
        role,
        rules,
        may_publish,
        disabled,
        has_password: row.password.is_some(),
        open_id: row.has_openid,
        pending_link: link.map(|(kind, expires_at)| PendingLink {
            kind,
            expires_at: dates::microsecond_date(expires_at),
        }),
        created_at: dates::microsecond_date(row.created_at),
        last_seen_at: row.last_seen_at.map(dates::microsecond_date),
    }
}

fn link_kind(payload: &Map<String, Value>) -> Result<Option<LinkKind>> {
    let mut errors = FieldErrors::default();
    let known = LinkKind::OF_USERS;
    let text: Option<&str> = optional(payload, "kind", "", &mut errors);
    let kind = text.and_then(|text| known.into_iter().find(|kind| kind.as_str() == text));
    if text.is_some() && kind.is_none() {
        errors.add("kind", message::not_in_enumeration(&known.map(LinkKind::as_str)));
    }
    refuse_others(payload, &["kind"], "", &mut errors);
    errors.into_result()?;
    Ok(kind)
}

fn require_admin_remains(
    writer: &WriteTransaction<'_>,
    before: &UserRow,
    stays_usable: bool,
) -> Result<()> {
    let was_usable = before.is_usable_admin();
    if keeps_an_admin(was_usable, stays_usable, writer.has_other_usable_admin(before.pk)?) {
        Ok(())
    } else {
        Err(Error::Rejected(vec![LAST_ADMIN.into()]))
    }
}

fn find(reader: &Reader<'_>, id: &str) -> Result<UserRow> {
    reader.user_with_id(id)?.ok_or_else(|| Error::not_found("user", id))
}

fn stored(writer: &WriteTransaction<'_>, pk: i64) -> Result<UserRow> {
    writer.user(pk)?.ok_or_else(|| Error::internal("a user is missing"))
}

/// The primary keys of the user and of the session of a caller.
pub(super) fn session_of(caller: &Caller) -> Result<(i64, i64)> {
    match (caller.credential, caller.actor.pk) {
        (Credential::Session(session), Some(user)) => Ok((user, session)),
        _ => Err(Error::Forbidden),
    }
}
