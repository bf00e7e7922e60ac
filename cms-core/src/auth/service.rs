//! Creates, lists, changes and revokes keys, and authenticates tokens (see docs/reference/keys.md).

use std::sync::{Arc, atomic::Ordering};

use cms_model::{
    auth::key::token_hash,
    clock::Timestamp,
    content_type::catalog::Catalog,
    context::{Caller, Credential, Stamp},
    dates,
    error::{Error, FieldErrors, Result, split_invalid},
    message,
    wire::{
        key::{CreatedKey, Key, KeyKind, KeyUpdate, NewKey, Rule},
        list::List,
        plan::{KeyPlan, PlanAction},
    },
};
use cms_store::{CommitState, KeyRow, ManagementEvent, Reader, WriteTransaction};
use serde_json::{Map, Value};

use super::{key_ring::KeyTable, session_cache::SessionEntry};
use crate::{CoreConfig, cms::service};

/// The kind of a key cannot change: clients rely on its rights.
const OTHER_KIND: &str = "This key exists with another kind";

service! {
    /// Operations on API keys.
    Keys, keys
}

/// Tokens that the operator sets for the three first keys; none means a generated one.
#[derive(Clone, Default)]
pub struct FirstKeys {
    pub admin: Option<String>,
    pub read_write: Option<String>,
    pub read_only: Option<String>,
}

impl FirstKeys {
    /// Kind, name and configured token of each key.
    fn each(&self) -> [(KeyKind, &'static str, Option<&String>); 3] {
        [
            (KeyKind::Admin, "admin", self.admin.as_ref()),
            (KeyKind::ReadWrite, "read-write", self.read_write.as_ref()),
            (KeyKind::ReadOnly, "read-only", self.read_only.as_ref()),
        ]
    }
}

fn to_wire(row: KeyRow) -> Key {
    Key {
        id: row.uid,
        name: row.name,
        kind: row.kind,
        rules: row.rules,
        created_at: dates::microsecond_date(row.created_at),
        last_used_at: row.last_used_at.map(dates::microsecond_date),
        previous_valid_until: row.previous.map(|(_, until)| dates::microsecond_date(until)),
    }
}

impl Keys<'_> {
    /// Returns the caller to which a token belongs, with the content types of the same snapshot. Uses
    /// the cached keys and types if they are as new as `newest`, the state of the newest commit
    /// ([`crate::Cms::commit_state`]).
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] for an unknown or revoked token.
    pub fn authenticate(&self, token: &str, newest: &CommitState) -> Result<Caller> {
        let (table, catalog) = match self.cached(newest) {
            Some(cached) => cached,
            None => self.cms.store.read(|reader| self.load(reader))?,
        };
        let now = self.cms.now();
        let entry = table.by_hash.get(&token_hash(token)).filter(|entry| entry.is_valid_at(now));
        let Some(entry) = entry else { return self.cms.previews().authenticate(token) };
        entry.used.store(now.0, Ordering::Relaxed);
        Ok(Caller { catalog: Some(catalog), ..Caller::new(Arc::clone(&entry.actor)) })
    }

    /// Finds the user that the cookie of a session belongs to, as [`Self::authenticate`] does, and
    /// records the use of the session.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] for an unknown or ended session.
    pub fn authenticate_session(&self, cookie: &str, newest: &CommitState) -> Result<Caller> {
        let (caller, entry) = self.session(cookie, newest)?;
        entry.record_use(self.cms.now());
        Ok(caller)
    }

    /// Finds the user of a session again during a long-running request (a stream); this does not
    /// count as use of the session.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] for a session that has ended.
    pub fn recheck_session(&self, cookie: &str, newest: &CommitState) -> Result<Caller> {
        self.session(cookie, newest).map(|(caller, _)| caller)
    }

    fn session(&self, cookie: &str, newest: &CommitState) -> Result<(Caller, Arc<SessionEntry>)> {
        let (hash, now) = (token_hash(cookie), self.cms.now());
        let cached = self
            .cached(newest)
            .and_then(|(table, catalog)| Some((table.sessions.find(&hash, now)?, catalog)));
        let (entry, catalog) = match cached {
            Some(cached) => cached,
            None => self.cms.store.read(|reader| {
                let (table, catalog) = self.load(reader)?;
                Ok((table.sessions.load(reader, hash, now)?, catalog))
            })?,
        };
        let (catalog, credential) = (Some(catalog), Credential::Session(entry.pk));
        let caller = Caller { catalog, credential, ..Caller::new(Arc::clone(&entry.actor)) };
        Ok((caller, entry))
    }

    /// Returns the cached keys and content types, if both are current.
    fn cached(&self, newest: &CommitState) -> Option<(Arc<KeyTable>, Arc<Catalog>)> {
        let revisions = newest.revisions();
        let catalog = Some(self.cms.catalog.cached());
        let catalog = catalog.filter(|catalog| catalog.rev == revisions.content_types);
        self.cms.keys.cached(revisions).zip(catalog)
    }

    /// Returns the keys and the content types of a snapshot.
    fn load(&self, reader: &Reader<'_>) -> Result<(Arc<KeyTable>, Arc<Catalog>)> {
        let (keys, revisions) = (&self.cms.keys, reader.revisions()?);
        let table = keys.cached(revisions).map_or_else(|| keys.load(reader), Ok)?;
        Ok((table, self.cms.catalog.at_revision(reader, revisions.content_types)?))
    }

    /// Creates the first keys of a new data directory, and sets their configured tokens. Returns
    /// the keys with generated tokens, which are shown only once.
    pub fn ensure_first(&self, wanted: &FirstKeys) -> Result<Vec<CreatedKey>> {
        let wanted = wanted.clone();
        let config = self.cms.config.clone();
        let stamp = Caller::local().stamp(config.clock.now());
        self.cms.store.write(move |writer| {
            let present = writer.keys()?;
            let is_new = !writer.has_any_key()?;
            let mut shown = Vec::new();
            let mut changed = false;
            for (kind, name, token) in wanted.each() {
                let hash = token.map(|token| token_hash(token));
                let has_token = |row: &&KeyRow| {
                    let previous = row.previous.map(|(previous, _)| previous);
                    hash.is_some() && (hash == Some(row.hash) || hash == previous)
                };
                let of_kind = || present.iter().filter(|row| row.kind == kind);
                let named = of_kind().find(|row| row.name == name);
                // A first key that was renamed is found by its token.
                let renamed = of_kind().find(has_token).filter(|row| row.name != name);
                let is_taken = hash.map(|hash| writer.has_other_key(kind, hash)).transpose()?;
                if is_taken.unwrap_or(false) || (named.is_some() && renamed.is_some()) {
                    return Err(Error::Conflict(format!(
                        "the token set for the first key \"{name}\" belongs to another key or was revoked"
                    )));
                }
                match (named.or(renamed), hash) {
                    (Some(row), Some(hash)) if row.hash != hash => {
                        writer.set_key_hash(row.pk, hash, None)?;
                        record(writer, ManagementEvent::KeyRotated, stamp, row)?;
                        changed = true;
                    }
                    (None, _) if is_new || token.is_some() => {
                        if present.iter().any(|row| row.name == name) {
                            return Err(Error::Conflict(format!(
                                "the first key \"{name}\" cannot be created, because another key has this \
                                 name: rename that key"
                            )));
                        }
                        let fresh = token.cloned().unwrap_or_else(|| config.ids.token());
                        let new = NewKey { name: name.to_owned(), kind, rules: Vec::new() };
                        let row = new_row(&new, &fresh, config.ids.uuid(), stamp.at);
                        insert(writer, &row, stamp)?;
                        changed = true;
                        if token.is_none() {
                            shown.push(CreatedKey { item: to_wire(row), key: fresh });
                        }
                    }
                    _ => {}
                }
            }
            if changed {
                writer.bump_auth()?;
            }
            Ok(shown)
        })
    }

    /// Lists the valid keys, oldest first.
    pub fn list(&self, caller: &Caller) -> Result<List<Key>> {
        caller.require_admin()?;
        let now = self.cms.now();
        self.cms.store.read_autocommit(|reader| {
            let keys = reader.keys()?.into_iter().map(|row| to_wire(without_expired(row, now)));
            Ok(List::single_page(keys.collect()))
        })
    }

    /// Checks that a key exists.
    pub fn require(&self, caller: &Caller, id: &str) -> Result<()> {
        caller.require_admin()?;
        self.cms.store.read_autocommit(|reader| find(reader, id).map(drop))
    }

    /// Creates a key. Only the response has its token.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the name is empty or used, when a scoped key has no rules, or when
    /// another kind has some.
    pub fn create(&self, caller: &Caller, new: &NewKey) -> Result<CreatedKey> {
        caller.require_admin()?;
        new.validate().into_result()?;
        let config = &self.cms.config;
        let (token, stamp) = (config.ids.token(), caller.stamp(config.clock.now()));
        let row = new_row(new, &token, config.ids.uuid(), stamp.at);
        let row = self.cms.store.write(move |writer| {
            if writer.keys()?.iter().any(|key| key.name == row.name) {
                return Err(Error::invalid("name", message::ALREADY_USED));
            }
            insert(writer, &row, stamp)?;
            writer.bump_auth()?;
            Ok(row)
        })?;
        Ok(CreatedKey { item: to_wire(row), key: token })
    }

    /// Revokes a key by id, effective with the next request.
    pub fn revoke(&self, caller: &Caller, id: &str) -> Result<()> {
        caller.require_admin()?;
        let (id, stamp) = (id.to_owned(), caller.stamp(self.cms.now()));
        self.cms.store.write(move |writer| {
            let row = find(writer, &id)?;
            writer.revoke_key(row.pk, stamp.at)?;
            record(writer, ManagementEvent::KeyDeleted, stamp, &row)?;
            writer.remove_working_copies_of(row.pk)?;
            writer.remove_preview_tokens_of(row.pk)?;
            writer.bump_auth()
        })
    }

    /// Changes name and rules of a key, effective with the next request.
    ///
    /// # Errors
    /// [`Error::Invalid`] as for a new key, and for another kind.
    pub fn update(&self, caller: &Caller, id: &str, update: &KeyUpdate) -> Result<Key> {
        caller.require_admin()?;
        let (id, update) = (id.to_owned(), update.clone());
        let stamp = caller.stamp(self.cms.now());
        self.cms.store.write(move |writer| {
            let mut row = find(writer, &id)?;
            let wanted = NewKey {
                name: update.name.unwrap_or_else(|| row.name.clone()),
                kind: row.kind,
                rules: update.rules.unwrap_or_else(|| row.rules.clone()),
            };
            let mut errors = wanted.validate();
            if update.kind.is_some_and(|kind| kind != row.kind) {
                errors.add("kind", OTHER_KIND);
            }
            let is_other = |key: &KeyRow| key.name == wanted.name && key.pk != row.pk;
            if writer.keys()?.iter().any(is_other) {
                errors.add("name", message::ALREADY_USED);
            }
            errors.into_result()?;
            if wanted.name != row.name || !has_rules(&row, &wanted.rules) {
                (row.name, row.rules) = (wanted.name, wanted.rules);
                writer.update_key(row.pk, &row.name, &row.rules)?;
                record(writer, ManagementEvent::KeyUpdated, stamp, &row)?;
                writer.bump_auth()?;
            }
            Ok(to_wire(without_expired(row, stamp.at)))
        })
    }

    /// Replaces the token of a key. The previous token is accepted for `grace_hours`, earlier ones no
    /// longer. Only the response has the new token.
    pub fn rotate(&self, caller: &Caller, id: &str, grace_hours: i64) -> Result<CreatedKey> {
        caller.require_admin()?;
        let config = &self.cms.config;
        let (id, token) = (id.to_owned(), config.ids.token());
        let (hash, stamp) = (token_hash(&token), caller.stamp(config.clock.now()));
        let row = self.cms.store.write(move |writer| {
            let mut row = find(writer, &id)?;
            let until = Timestamp(stamp.at.0 + grace_hours * 3_600_000_000);
            let until = (grace_hours > 0).then_some(until);
            writer.set_key_hash(row.pk, hash, until)?;
            record(writer, ManagementEvent::KeyRotated, stamp, &row)?;
            writer.bump_auth()?;
            row.previous = until.map(|until| (row.hash, until));
            Ok(row)
        })?;
        Ok(CreatedKey { item: to_wire(row), key: token })
    }
}

fn record(
    writer: &WriteTransaction<'_>,
    event: ManagementEvent,
    stamp: Stamp,
    key: &KeyRow,
) -> Result<()> {
    writer.append_management_to_journal(event, stamp, &key.uid, &key.name)
}

/// Finds a valid key by its id.
fn find(reader: &Reader<'_>, id: &str) -> Result<KeyRow> {
    let found = reader.keys()?.into_iter().find(|row| row.uid == id);
    found.ok_or_else(|| Error::not_found("key", id))
}

/// Removes the previous token of a key when it is no longer valid.
fn without_expired(mut row: KeyRow, now: Timestamp) -> KeyRow {
    row.previous = row.previous.filter(|(_, until)| now < *until);
    row
}

fn insert(writer: &WriteTransaction<'_>, row: &KeyRow, stamp: Stamp) -> Result<()> {
    writer.insert_key(row)?;
    record(writer, ManagementEvent::KeyCreated, stamp, row)
}

/// Creates a key of a project, or sets the rules of the key with this name.
pub(crate) fn put(
    writer: &WriteTransaction<'_>,
    payload: &Map<String, Value>,
    config: &CoreConfig,
    stamp: Stamp,
) -> Result<KeyPlan> {
    let name = payload.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut planned =
        KeyPlan { name, action: PlanAction::Create, blockers: FieldErrors::default(), key: None };
    let wanted = match split_invalid(NewKey::from_payload(payload))? {
        Ok(wanted) => wanted,
        Err(errors) => return Ok(KeyPlan { blockers: errors, ..planned }),
    };
    let present = writer.keys()?;
    match present.iter().find(|key| key.name == wanted.name) {
        None => {
            let token = config.ids.token();
            insert(writer, &new_row(&wanted, &token, config.ids.uuid(), stamp.at), stamp)?;
            planned.key = Some(token);
        }
        Some(key) if key.kind != wanted.kind => {
            planned.action = PlanAction::Update;
            planned.blockers.add("kind", OTHER_KIND);
        }
        Some(key) if has_rules(key, &wanted.rules) => {
            planned.action = PlanAction::None;
            return Ok(planned);
        }
        Some(key) => {
            planned.action = PlanAction::Update;
            writer.update_key(key.pk, &key.name, &wanted.rules)?;
            record(writer, ManagementEvent::KeyUpdated, stamp, key)?;
        }
    }
    writer.bump_auth()?;
    Ok(planned)
}

/// Whether a key has these rules, in any order.
fn has_rules(key: &KeyRow, rules: &[Rule]) -> bool {
    key.rules.len() == rules.len() && key.rules.iter().all(|rule| rules.contains(rule))
}

fn new_row(new: &NewKey, token: &str, uid: String, at: Timestamp) -> KeyRow {
    KeyRow {
        pk: 0,
        uid,
        name: new.name.clone(),
        kind: new.kind,
        rules: new.rules.clone(),
        hash: token_hash(token),
        created_at: at,
        last_used_at: None,
        previous: None,
    }
}
