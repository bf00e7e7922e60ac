//! Keys: create, list, revoke, and turn a token into a [`Caller`] (contract 10).

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicI64, Ordering},
    },
};

use cms_model::{
    auth::key::digest,
    clock::Timestamp,
    context::{Actor, Caller},
    dates,
    error::{Error, FieldErrors, Result},
    limits, message,
    wire::{
        key::{CreatedKey, Key, KeyKind, NewKey, Rule},
        list::List,
        plan::{KeyPlan, PlanAction},
    },
};
use serde_json::{Map, Value};

use crate::{
    CoreConfig,
    cms::Cms,
    store::{KeyRow, Reader, Revisions, Writer},
};

/// Clients rely on what a key may do at most.
const OTHER_KIND: &str = "This key exists with another kind";

/// Operations on API keys.
pub struct Keys<'a> {
    pub(crate) cms: &'a Cms,
}

/// Tokens that the operator wants the three first keys to have; none means a new one.
#[derive(Clone, Default)]
pub struct FirstKeys {
    pub admin: Option<String>,
    pub read_write: Option<String>,
    pub read_only: Option<String>,
}

impl FirstKeys {
    /// Kind, name and wanted token of each.
    fn each(&self) -> [(KeyKind, &'static str, Option<&String>); 3] {
        [
            (KeyKind::Admin, "admin", self.admin.as_ref()),
            (KeyKind::ReadWrite, "read-write", self.read_write.as_ref()),
            (KeyKind::ReadOnly, "read-only", self.read_only.as_ref()),
        ]
    }
}

/// The valid keys as this process knows them, by digest.
#[derive(Default)]
pub(crate) struct KeyRing(RwLock<Arc<KeyTable>>);

#[derive(Default)]
struct KeyTable {
    rev: i64,
    by_digest: HashMap<[u8; 32], KeyEntry>,
}

struct KeyEntry {
    actor: Arc<Actor>,
    /// Microseconds since the epoch, or 0 when there is nothing to write down.
    used: AtomicI64,
}

impl KeyRing {
    /// Returns the keys when they are still true.
    fn held(&self, revisions: Revisions) -> Option<Arc<KeyTable>> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (held.rev == revisions.auth).then(|| Arc::clone(&held))
    }

    /// Reads the keys, and keeps what was known about their use.
    fn load(&self, reader: &Reader<'_>) -> Result<Arc<KeyTable>> {
        let rev = reader.revisions()?.auth;
        let held = Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner));
        let entries = reader.keys()?.into_iter().map(|row| {
            let used = held.by_digest.get(&row.hash).map_or(0, KeyEntry::used);
            let hash = row.hash;
            (hash, KeyEntry { actor: Arc::new(actor(row)), used: AtomicI64::new(used) })
        });
        let table = Arc::new(KeyTable { rev, by_digest: entries.collect() });
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&table);
        Ok(table)
    }

    /// Takes what is known about the use of keys since it was taken last.
    pub(crate) fn take_used(&self) -> Vec<(i64, Timestamp)> {
        let held = Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner));
        let used = held.by_digest.values().filter_map(|entry| {
            let at = entry.used.swap(0, Ordering::Relaxed);
            entry.actor.pk.filter(|_| at != 0).map(|pk| (pk, Timestamp(at)))
        });
        used.collect()
    }
}

impl KeyEntry {
    fn used(&self) -> i64 {
        self.used.load(Ordering::Relaxed)
    }
}

fn actor(row: KeyRow) -> Actor {
    Actor { pk: Some(row.pk), id: row.uid, name: row.name, kind: row.kind, rules: row.rules }
}

fn to_wire(row: KeyRow) -> Key {
    Key {
        id: row.uid,
        name: row.name,
        kind: row.kind,
        rules: row.rules,
        created_at: dates::definition_date(row.created_at),
        last_used_at: row.last_used_at.map(dates::definition_date),
    }
}

impl Keys<'_> {
    /// Finds the caller that a token belongs to.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] for an unknown or revoked token.
    pub fn authenticate(&self, token: &str) -> Result<Caller> {
        let digest = digest(token);
        let held = self.cms.store.peek(|reader| Ok(self.cms.keys.held(reader.revisions()?)))?;
        let table = match held {
            Some(table) => table,
            None => self.cms.store.read(|reader| self.cms.keys.load(reader))?,
        };
        let entry = table.by_digest.get(&digest).ok_or(Error::Unauthenticated)?;
        entry.used.store(self.cms.config.clock.now().0, Ordering::Relaxed);
        Ok(Caller::new(Arc::clone(&entry.actor)))
    }

    /// Makes the first keys of a new folder, and gives the first keys the tokens that the operator
    /// set. Returns the keys whose token is new and was not set: they are shown this once.
    pub fn ensure_first(&self, wanted: &FirstKeys) -> Result<Vec<CreatedKey>> {
        let wanted = wanted.clone();
        let config = self.cms.config.clone();
        self.cms.store.write(move |writer| {
            let present = writer.keys()?;
            let is_new = !writer.has_any_key()?;
            let mut shown = Vec::new();
            let mut changed = false;
            for (kind, name, token) in wanted.each() {
                let is_taken = |token: &String| {
                    let digest = digest(token);
                    writer.has_other_key(kind, name, digest)
                };
                if token.map(is_taken).transpose()?.unwrap_or(false) {
                    return Err(Error::Conflict(format!(
                        "the token set for the first key \"{name}\" belongs to another key or was revoked"
                    )));
                }
                let found = present.iter().find(|row| row.kind == kind && row.name == name);
                match (found, token) {
                    (Some(row), Some(token)) if row.hash != digest(token) => {
                        writer.set_key_hash(row.pk, digest(token))?;
                        changed = true;
                    }
                    (None, token) if is_new || token.is_some() => {
                        let fresh = token.cloned().unwrap_or_else(|| config.ids.token());
                        let new = NewKey { name: name.to_owned(), kind, rules: Vec::new() };
                        let row = new_row(&new, &fresh, config.ids.uuid(), config.clock.now());
                        writer.insert_key(&row)?;
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

    /// Lists the keys that are valid, oldest first.
    pub fn list(&self, caller: &Caller) -> Result<List<Key>> {
        caller.require_admin()?;
        self.cms
            .store
            .peek(|reader| Ok(List::single_page(reader.keys()?.into_iter().map(to_wire).collect())))
    }

    /// Makes a key. Its token is in the answer and nowhere else.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the name is empty or used, when a scoped key has no rules, or when
    /// another kind has some.
    pub fn create(&self, caller: &Caller, new: &NewKey) -> Result<CreatedKey> {
        caller.require_admin()?;
        validate(new).into_result()?;
        let config = &self.cms.config;
        let token = config.ids.token();
        let row = new_row(new, &token, config.ids.uuid(), config.clock.now());
        let row = self.cms.store.write(move |writer| {
            if writer.keys()?.iter().any(|known| known.name == row.name) {
                return Err(Error::invalid("name", message::ALREADY_USED));
            }
            writer.insert_key(&row)?;
            writer.bump_auth()?;
            Ok(row)
        })?;
        Ok(CreatedKey { item: to_wire(row), key: token })
    }

    /// Revokes a key by id: it is refused from the next request on.
    pub fn revoke(&self, caller: &Caller, id: &str) -> Result<()> {
        caller.require_admin()?;
        let (id, at) = (id.to_owned(), self.cms.config.clock.now());
        self.cms.store.write(move |writer| {
            if !writer.revoke_key(&id, at)? {
                return Err(Error::NotFound { what: "key", name: id });
            }
            writer.bump_auth()
        })
    }
}

/// Makes a key of a project, or gives the rules to the one that has its name.
pub(crate) fn put(
    writer: &Writer<'_>,
    payload: &Map<String, Value>,
    config: &CoreConfig,
) -> Result<KeyPlan> {
    let name = payload.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut planned =
        KeyPlan { name, action: PlanAction::Create, blockers: FieldErrors::default(), key: None };
    let wanted = NewKey::from_payload(payload).and_then(|new| {
        validate(&new).into_result()?;
        Ok(new)
    });
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(Error::Invalid(errors)) => {
            planned.blockers = errors;
            return Ok(planned);
        }
        Err(error) => return Err(error),
    };
    let present = writer.keys()?;
    match present.iter().find(|known| known.name == wanted.name) {
        None => {
            let token = config.ids.token();
            writer.insert_key(&new_row(&wanted, &token, config.ids.uuid(), config.clock.now()))?;
            planned.key = Some(token);
        }
        Some(known) if known.kind != wanted.kind => {
            planned.action = PlanAction::Update;
            planned.blockers.add("kind", OTHER_KIND);
        }
        Some(known) if has_rules(known, &wanted.rules) => {
            planned.action = PlanAction::None;
            return Ok(planned);
        }
        Some(known) => {
            planned.action = PlanAction::Update;
            writer.set_key_rules(known.pk, &wanted.rules)?;
        }
    }
    writer.bump_auth()?;
    Ok(planned)
}

/// Tells whether a key has these rules, in any order.
fn has_rules(known: &KeyRow, rules: &[Rule]) -> bool {
    known.rules.len() == rules.len() && known.rules.iter().all(|rule| rules.contains(rule))
}

fn new_row(new: &NewKey, token: &str, uid: String, at: Timestamp) -> KeyRow {
    KeyRow {
        pk: 0,
        uid,
        name: new.name.clone(),
        kind: new.kind,
        rules: new.rules.clone(),
        hash: digest(token),
        created_at: at,
        last_used_at: None,
    }
}

fn validate(new: &NewKey) -> FieldErrors {
    let mut errors = FieldErrors::default();
    if new.name.trim().is_empty() {
        errors.add("name", message::too_short(1));
    }
    if new.name.chars().count() > limits::MAX_NAME_CHARS {
        errors.add("name", message::too_long(limits::MAX_NAME_CHARS));
    }
    if new.name.chars().any(char::is_control) {
        errors.add("name", message::NOT_VALID);
    }
    let is_scoped = new.kind == KeyKind::Scoped;
    if is_scoped && new.rules.is_empty() {
        errors.add("rules", "There must be a minimum of 1 items in the array");
    }
    if !is_scoped && !new.rules.is_empty() {
        errors.add("rules", "Only scoped keys have rules");
    }
    for (index, rule) in new.rules.iter().enumerate() {
        if !names_types(rule) {
            errors.add(format!("rules[{index}].ctd"), message::NOT_VALID);
        }
    }
    errors
}

/// A rule names one type, which need not exist yet, or all of them.
fn names_types(rule: &Rule) -> bool {
    rule.content_type == "*"
        || !rule.content_type.is_empty()
            && rule.content_type.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}
