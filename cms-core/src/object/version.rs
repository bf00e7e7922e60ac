//! Lists and returns versions of an object (see docs/reference/objects.md#versions). Versions are
//! never removed, so their numbers are 1 to the latest without gaps.

use cms_model::{
    auth::scope::Access,
    clock::Timestamp,
    content_type::catalog::CompiledType,
    context::Caller,
    dates,
    error::{Error, Result},
    object::{model::StoredObject, render, view::View},
    paging::Page,
    wire::object::{Direction, Json},
};
use cms_store::{KeyRow, Reader};
use serde::Serialize;

use super::service::{Objects, find, to_json};

impl Objects<'_> {
    /// Lists the versions of an object in the list envelope.
    pub fn versions(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        page: Page,
        direction: Direction,
    ) -> Result<Json> {
        self.read(caller, name, Access::READ, |reader, _, content_type| {
            let view = View::for_object(caller, content_type);
            let current = find(reader, content_type, view, id)?;
            let mut latest = current.internal.version;
            let (total, versions) = if View::shows_single_version(caller, content_type) {
                let shown = shown_version(reader, content_type, view, id)?;
                latest = shown.internal.version;
                (1, if page.offset() == 0 { vec![shown] } else { Vec::new() })
            } else {
                let skipped = i64::try_from(page.offset()).unwrap_or(i64::MAX).min(latest);
                let count = (latest - skipped).min(i64::from(page.limit));
                let (first, last) = match direction {
                    Direction::Ascending => (skipped + 1, skipped + count),
                    Direction::Descending => (latest - skipped - count + 1, latest - skipped),
                };
                let mut versions = reader.replaced_versions(current.pk, first, last)?;
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
            let mut people = People { reader, known: Vec::new() };
            for (index, version) in versions.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                item(&mut out, content_type, version, latest, &mut people)?;
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
            let unknown =
                || Error::NotFound { what: "version", name: format!("{name}/{id}/{version}") };
            let digits = version.strip_prefix("version-").unwrap_or(version);
            let is_number = digits.bytes().all(|b| b.is_ascii_digit());
            let number: i64 = digits.parse().ok().filter(|_| is_number).ok_or_else(unknown)?;
            let found = if View::shows_single_version(caller, content_type) {
                let shown = shown_version(reader, content_type, view, id)?;
                Some(shown).filter(|shown| shown.internal.version == number)
            } else if number == current.internal.version {
                Some(current)
            } else {
                reader.replaced_version(current.pk, number)?
            };
            Ok(to_json(content_type, &view.mask(found.ok_or_else(unknown)?)))
        })
    }
}

/// Returns the version of an object that a view contains.
fn shown_version(
    reader: &Reader<'_>,
    content_type: &CompiledType,
    view: View,
    id: &str,
) -> Result<StoredObject<'static>> {
    let shown = reader.object(view.edition, content_type.pk, id, |stored| {
        view.admits_state(&stored.internal).then(|| stored.into_owned())
    })?;
    shown.flatten().ok_or_else(|| Error::object_not_found(content_type.name(), id))
}

/// Appends one entry of the list.
fn item(
    out: &mut Vec<u8>,
    content_type: &CompiledType,
    stored: &StoredObject<'_>,
    latest: i64,
    people: &mut People<'_>,
) -> Result<()> {
    let internal = &stored.internal;
    let date = |seconds: i64| dates::definition_date(Timestamp(seconds * 1_000_000));
    out.extend_from_slice(b"{\"id\":");
    render::string(out, &stored.id);
    out.extend_from_slice(b",\"internal\":");
    render::internal(out, content_type.name(), internal);
    let rest = Rest {
        version: internal.version,
        current: internal.version == latest,
        created_at: date(internal.version_at),
        updated_at: date(internal.updated_at),
        deleted_at: None,
        owner: people.get(internal.owner)?,
        editor: people.get(internal.editor)?,
    };
    let rest = serde_json::to_vec(&rest).map_err(|error| Error::Internal(Box::new(error)))?;
    out.push(b',');
    out.extend_from_slice(&rest[1..]);
    Ok(())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rest {
    version: i64,
    current: bool,
    created_at: String,
    updated_at: String,
    deleted_at: Option<String>,
    owner: Person,
    editor: Person,
}

/// The key of the change, in the form that clients expect for a user.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Person {
    id: String,
    username: String,
    email: &'static str,
    first_name: &'static str,
    last_name: &'static str,
    roles: [&'static str; 1],
    language: &'static str,
    enabled: bool,
    reset_password_at: Option<String>,
    deleted_at: Option<String>,
    created_at: String,
    updated_at: String,
}

impl Person {
    fn new(id: String, username: String, at: String) -> Self {
        Self {
            id,
            username,
            email: "",
            first_name: "",
            last_name: "",
            roles: ["ROLE_HEADLESS_ADMIN"],
            language: "en",
            enabled: true,
            reset_password_at: None,
            deleted_at: None,
            created_at: at.clone(),
            updated_at: at,
        }
    }
}

/// The keys named in one response, each read once.
struct People<'a> {
    reader: &'a Reader<'a>,
    known: Vec<(Option<i64>, Person)>,
}

impl People<'_> {
    fn get(&mut self, pk: Option<i64>) -> Result<Person> {
        if let Some((_, person)) = self.known.iter().find(|(known, _)| *known == pk) {
            return Ok(person.clone());
        }
        let key = pk.map(|pk| self.reader.key(pk)).transpose()?.flatten();
        let person = if let Some(KeyRow { uid, name, created_at, .. }) = key {
            Person::new(uid, name, dates::definition_date(created_at))
        } else {
            // Written locally in the data directory, without a key.
            let local = Caller::local();
            let (id, name) = (local.actor().id.clone(), local.actor().name.clone());
            Person::new(id, name, dates::definition_date(Timestamp(0)))
        };
        self.known.push((pk, person.clone()));
        Ok(person)
    }
}
