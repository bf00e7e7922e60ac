//! Lists and returns versions of an object (see docs/reference/objects.md#versions). Versions are
//! removed only with their object, so their numbers are 1 to the latest without gaps.

use std::collections::HashMap;

use cms_model::{
    auth::scope::Access,
    clock::Timestamp,
    content_type::catalog::CompiledType,
    context::{Caller, LOCAL_ID},
    dates,
    error::{Error, Result},
    memory::BufferReservation,
    object::{model::StoredObject, render, view::View},
    paging::PageRequest,
    read,
    wire::{
        author::{Author, AuthorKind},
        object::{Direction, Json},
        user::Role,
    },
};
use cms_store::{ActorRow, Reader};
use serde::Serialize;
use serde_json::value::RawValue;

use super::service::{Objects, find, find_shown_version, to_json};

impl Objects<'_> {
    /// Lists the versions of an object in the list envelope.
    pub fn versions(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        page: PageRequest,
        direction: Direction,
    ) -> Result<Json> {
        self.read(caller, name, Access::READ, |reader, _, content_type| {
            let view = View::for_object(caller, content_type);
            let current = find(reader, content_type, view, id)?;
            let mut latest = current.internal.version;
            let mut buffered = BufferReservation::new(&caller.memory);
            let (total, versions) = if View::hides_history(caller, content_type) {
                let shown = find_shown_version(reader, content_type, view, id)?;
                latest = shown.internal.version;
                (1, if page.offset() == 0 { vec![shown] } else { Vec::new() })
            } else {
                let skipped = i64::try_from(page.offset()).unwrap_or(i64::MAX).min(latest);
                let count = (latest - skipped).min(i64::from(page.limit));
                let (first, last) = match direction {
                    Direction::Ascending => (skipped + 1, skipped + count),
                    Direction::Descending => (latest - skipped - count + 1, latest - skipped),
                };
                let (mut versions, mut bytes) = (Vec::new(), 0);
                reader.replaced_versions(current.pk, first, last, |version| {
                    // The title, which nothing else limits, is in the version and in the response.
                    let size = render::object_bytes(&version);
                    bytes += size;
                    render::require_bounded(bytes)?;
                    buffered.add(2 * size)?;
                    versions.push(version.into_owned());
                    Ok(())
                })?;
                if last == latest && count > 0 {
                    versions.push(current);
                }
                if direction == Direction::Descending {
                    versions.reverse();
                }
                (u64::try_from(latest).unwrap_or_default(), versions)
            };
            let mut out = Vec::new();
            render::push_list_head(&mut out, page, total, versions.len() as u64);
            let authors = Authors::read(reader, caller, content_type, &versions)?;
            for (index, version) in versions.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                authors.push_item(&mut out, version, latest)?;
            }
            out.extend_from_slice(b"]}");
            Ok(Json(out))
        })
    }

    /// Returns a version of an object: `<n>` or `version-<n>`.
    pub fn version(&self, caller: &Caller, name: &str, id: &str, version: &str) -> Result<Json> {
        self.read(caller, name, Access::READ, |reader, _, content_type| {
            let view = View::for_object(caller, content_type);
            let current = find(reader, content_type, view, id)?;
            let unknown = || Error::not_found("version", format!("{name}/{id}/{version}"));
            let digits = version.strip_prefix("version-").unwrap_or(version);
            let number = read::digits(digits).ok_or_else(unknown)?;
            let found = if View::hides_history(caller, content_type) {
                let shown = find_shown_version(reader, content_type, view, id)?;
                Some(shown).filter(|shown| shown.internal.version == number)
            } else if number == current.internal.version {
                Some(current)
            } else {
                reader.any_version(current.pk, number)?
            };
            Ok(to_json(content_type, &view.mask(found.ok_or_else(unknown)?)))
        })
    }
}

/// The authors of the versions in one response, and what each version changed.
struct Authors<'a> {
    content_type: &'a CompiledType,
    caller: &'a Caller,
    actors: HashMap<i64, ActorRow>,
    /// By version: the names of the changed properties as a JSON array.
    changed: HashMap<i64, String>,
}

impl<'a> Authors<'a> {
    fn read(
        reader: &Reader<'_>,
        caller: &'a Caller,
        content_type: &'a CompiledType,
        versions: &[StoredObject<'_>],
    ) -> Result<Self> {
        let internals = versions.iter().map(|version| &version.internal);
        let pks: Vec<i64> = internals.flat_map(|i| [i.owner, i.editor]).flatten().collect();
        let actors = reader.actors(&pks)?.into_iter().map(|row| (row.pk, row)).collect();
        let numbers = || versions.iter().map(|version| version.internal.version);
        let changed = match (versions.first(), numbers().min(), numbers().max()) {
            (Some(first), Some(from), Some(to)) => reader.changed_properties(first.pk, from, to)?,
            _ => HashMap::new(),
        };
        Ok(Self { content_type, caller, actors, changed })
    }

    /// Appends one entry of the list.
    fn push_item(&self, out: &mut Vec<u8>, stored: &StoredObject<'_>, latest: i64) -> Result<()> {
        let internal = &stored.internal;
        let date = |seconds: i64| dates::microsecond_date(Timestamp(seconds * 1_000_000));
        out.extend_from_slice(b"{\"id\":");
        render::string(out, &stored.id);
        out.extend_from_slice(b",\"internal\":");
        render::internal(out, self.content_type.name(), internal);
        let changed = self.changed.get(&internal.version).cloned();
        let details = VersionDetails {
            version: internal.version,
            current: internal.version == latest,
            created_at: date(internal.version_at),
            updated_at: date(internal.updated_at),
            deleted_at: None,
            owner: self.person(internal.owner),
            editor: self.person(internal.editor),
            by: self.row(internal.editor).map_or_else(Author::local, |row| {
                row.by.clone().shown_to(self.caller, self.content_type.name())
            }),
            changed: changed.map(RawValue::from_string).transpose().map_err(Error::internal)?,
        };
        let details = serde_json::to_vec(&details).map_err(Error::internal)?;
        out.push(b',');
        out.extend_from_slice(&details[1..]);
        Ok(())
    }

    fn row(&self, actor: Option<i64>) -> Option<&ActorRow> {
        actor.and_then(|pk| self.actors.get(&pk))
    }

    fn person(&self, actor: Option<i64>) -> Person {
        match self.row(actor) {
            Some(row) => Person::new(row, self.caller, self.content_type),
            // Written by a command on the data directory, without a key.
            None => Person::key(LOCAL_ID, Author::local().name, Timestamp(0)),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VersionDetails {
    version: i64,
    current: bool,
    created_at: String,
    updated_at: String,
    deleted_at: Option<String>,
    owner: Person,
    editor: Person,
    by: Author,
    /// None for versions that were written before this was recorded.
    changed: Option<Box<RawValue>>,
}

/// The author of a version, in the form that clients expect for a user.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Person {
    id: String,
    username: String,
    email: String,
    first_name: String,
    last_name: &'static str,
    roles: [String; 1],
    language: &'static str,
    enabled: bool,
    reset_password_at: Option<String>,
    deleted_at: Option<String>,
    created_at: String,
    updated_at: String,
}

impl Person {
    /// A key.
    fn key(id: &str, name: String, created_at: Timestamp) -> Self {
        let at = dates::microsecond_date(created_at);
        Self {
            id: id.to_owned(),
            username: name,
            email: String::new(),
            first_name: String::new(),
            last_name: "",
            roles: [Role::Admin.api_name()],
            language: "en",
            enabled: true,
            reset_password_at: None,
            deleted_at: None,
            created_at: at.clone(),
            updated_at: at,
        }
    }

    fn new(row: &ActorRow, caller: &Caller, content_type: &CompiledType) -> Self {
        // The id of a user stays for callers that must not see the name.
        let id = row.by.id.as_deref().unwrap_or(LOCAL_ID);
        let by = row.by.clone().shown_to(caller, content_type.name());
        let person = Self::key(id, by.name.clone(), row.created_at);
        if by.kind != AuthorKind::User {
            return person;
        }
        let user = row.user.as_ref();
        let sees_email = caller.is_admin() || caller.has_session();
        Self {
            first_name: by.name,
            email: user.filter(|_| sees_email).map(|user| user.email.clone()).unwrap_or_default(),
            roles: [user.map_or(Role::Viewer, |user| user.role).api_name()],
            enabled: user.is_some_and(|user| !user.disabled),
            ..person
        }
    }
}
