//! Lists, creates, updates, deletes and purges content types (see docs/reference/content-types.md).
//!
//! [`super::change`] updates a type and its stored objects; [`super::plan`] plans and applies
//! several types.

use std::{cmp::Ordering, sync::Arc};

use cms_model::{
    content_type::{
        builtin::{MEDIA, WEBHOOKS},
        catalog::{Catalog, CompiledType},
        model::SINGLE_PATH,
        parse, resolve,
    },
    context::{Caller, Stamp},
    error::{Error, FieldErrors, Result},
    message,
    object::link,
    query::value::fold,
    wire::{
        content_type::{ContentType, TypeListRequest, TypeOrder},
        key::Rule,
        list::List,
        object::Direction,
    },
};
use cms_store::{Event, Reader, WriteTransaction};
use serde_json::{Map, Value};

use super::change;
use crate::{cms::service, progress::Progress};

/// Names of system types, which clients cannot create or change (see
/// docs/reference/content-types.md#replace-a-content-type). No type `_plugin_settings` exists: its name
/// is reserved (docs/reference/content-types.md#validation-errors).
pub(crate) const SYSTEM_TYPES: [&str; 4] = ["_media", "_tag", "_webhooks", "_plugin_settings"];

service! {
    /// Operations on content type definitions.
    Types, types
}

impl Types<'_> {
    /// Lists the types that the caller may see (see
    /// docs/reference/content-types.md#list-content-types).
    pub fn list(&self, caller: &Caller, request: &TypeListRequest) -> Result<List<ContentType>> {
        let catalog = self.cms.current_catalog()?;
        let mut found: Vec<&Arc<CompiledType>> = catalog
            .types()
            .iter()
            .filter(|content_type| {
                caller.sees_type(content_type.name()) && is_requested(content_type, request)
            })
            .collect();
        found.sort_by(|a, b| {
            let order = compare(a, b, request.order_by);
            if request.direction == Direction::Descending { order.reverse() } else { order }
        });
        let total = found.len() as u64;
        let data = request.page.of(found).map(|content_type| content_type.to_wire()).collect();
        Ok(List::new(request.page, total, data))
    }

    /// Returns one type by name, id or unambiguous label (see
    /// docs/reference/content-types.md#get-a-content-type).
    pub fn get(&self, caller: &Caller, name: &str) -> Result<ContentType> {
        Ok(self.visible(caller, name)?.to_wire())
    }

    /// Returns one type with resolved references (see
    /// docs/reference/content-types.md#get-a-content-type): with `strict` only the schema.
    pub fn get_resolved(&self, caller: &Caller, name: &str, strict: bool) -> Result<Value> {
        let found = self.visible(caller, name)?;
        if strict {
            return Ok(resolve::strict_schema(&found.definition));
        }
        let mut content_type = found.to_wire();
        content_type.schema_definition = resolve::resolved_schema(&found.definition);
        serde_json::to_value(content_type).map_err(Error::internal)
    }

    /// Creates a type (see docs/reference/content-types.md#validation-errors).
    pub fn create(&self, caller: &Caller, payload: Map<String, Value>) -> Result<ContentType> {
        self.cms.config.require_type_change(caller)?;
        let config = self.cms.config.clone();
        let stamp = caller.stamp(config.clock.now());
        self.cms.write_with_catalog(move |writer, catalog| {
            let definition = check(writer, catalog, &payload, None)?;
            let count = catalog.types().len() as u64;
            if config.max_types.is_some_and(|max| count >= max) {
                return Err(Error::Forbidden);
            }
            let rev = writer.bump_content_types()?;
            let pk = change::create(writer, &config.ids.uuid(), &definition, rev, stamp)?;
            Ok(CompiledType::new(writer.ctd(pk)?, &catalog.workflows).to_wire())
        })
    }

    /// Replaces a definition (see docs/reference/content-types.md#replace-a-content-type).
    pub fn update(
        &self,
        caller: &Caller,
        name: &str,
        payload: Map<String, Value>,
    ) -> Result<ContentType> {
        self.write(caller, name, move |writer, catalog, before, stamp| {
            require_changeable(before)?;
            let definition = check(writer, catalog, &payload, Some(before))?;
            let rev = writer.bump_content_types()?;
            let progress = Progress::default();
            change::update(writer, catalog, before, &definition, rev, stamp, &progress)?
                .blockers
                .into_result()?;
            Ok(CompiledType::new(writer.ctd(before.pk)?, &catalog.workflows).to_wire())
        })
    }

    /// Deletes a type without live objects that no rule of a key or user names (see
    /// docs/reference/content-types.md#delete-and-purge).
    pub fn delete(&self, caller: &Caller, name: &str) -> Result<()> {
        self.write(caller, name, |writer, _, content_type, stamp| {
            require_changeable(content_type)?;
            let reasons = deletion_blockers(writer, content_type)?;
            if !reasons.is_empty() {
                return Err(Error::Rejected(reasons.into_iter().map(Into::into).collect()));
            }
            writer.bump_content_types()?;
            change::delete(writer, content_type, stamp)
        })
    }

    /// Deletes all objects of a type, and on request the type (see
    /// docs/reference/content-types.md#delete-and-purge).
    pub fn purge(&self, caller: &Caller, name: &str, delete_schema: bool) -> Result<()> {
        // A request may also name the type by its id or label.
        let (name, at) = self.write(caller, name, move |writer, _, content_type, stamp| {
            if delete_schema {
                require_changeable(content_type)?;
                let reasons = actors_that_name(writer, content_type)?;
                if !reasons.is_empty() {
                    return Err(Error::Rejected(reasons.into_iter().map(Into::into).collect()));
                }
            }
            writer.trash_all(content_type.pk, stamp)?;
            writer.append_type_to_journal(
                Event::TypePurged,
                stamp,
                (content_type.pk, content_type.name()),
            )?;
            if delete_schema {
                writer.bump_content_types()?;
                change::delete(writer, content_type, stamp)?;
            }
            Ok((content_type.name().to_owned(), stamp.at))
        })?;
        self.cms.after_purge(&name, at);
        Ok(())
    }

    /// Changes one type in a write transaction, after all checks (see
    /// docs/reference/http.md#order-of-checks).
    fn write<T: Send + 'static>(
        &self,
        caller: &Caller,
        name: &str,
        write: impl FnOnce(&WriteTransaction<'_>, &Catalog, &Arc<CompiledType>, Stamp) -> Result<T>
        + Send
        + 'static,
    ) -> Result<T> {
        caller.require_write()?;
        let stamp = caller.stamp(self.cms.now());
        let is_allowed = self.cms.config.require_type_change(caller);
        let name = name.to_owned();
        self.cms.write_with_catalog(move |writer, catalog| {
            let content_type = catalog.look_up(&name)?;
            is_allowed?;
            write(writer, catalog, content_type, stamp)
        })
    }

    /// Deletes all objects of all types that are not system types (see
    /// docs/reference/content-types.md#delete-and-purge).
    pub fn purge_space(&self, caller: &Caller, space: &str) -> Result<()> {
        self.cms.config.require_type_change(caller)?;
        let stamp = caller.stamp(self.cms.now());
        let space = space.to_owned();
        self.cms.write_with_catalog(move |writer, catalog| {
            if writer.space_ids()?.space != space {
                return Err(Error::not_found("space", space));
            }
            for content_type in
                catalog.types().iter().filter(|content_type| !is_system(content_type.name()))
            {
                writer.trash_all(content_type.pk, stamp)?;
                let purged = (content_type.pk, content_type.name());
                writer.append_type_to_journal(Event::TypePurged, stamp, purged)?;
            }
            Ok(())
        })
    }

    fn visible(&self, caller: &Caller, name: &str) -> Result<Arc<CompiledType>> {
        let catalog = self.cms.current_catalog()?;
        let found = catalog.look_up(name)?;
        caller.require_type_visible(found.name())?;
        Ok(Arc::clone(found))
    }
}

fn is_system(name: &str) -> bool {
    SYSTEM_TYPES.contains(&name)
}

/// Rejects a change of a type that the server depends on.
pub(super) fn require_changeable(content_type: &CompiledType) -> Result<()> {
    if is_system(content_type.name()) { Err(Error::Forbidden) } else { Ok(()) }
}

/// Parses a payload and adds the validation errors that need the database.
pub(super) fn check(
    reader: &Reader<'_>,
    catalog: &Catalog,
    payload: &Map<String, Value>,
    before: Option<&Arc<CompiledType>>,
) -> Result<cms_model::content_type::model::Definition> {
    let base = before.map(|content_type| &content_type.definition);
    let parsed = parse::definition(payload, base, &catalog.workflows);
    let name = payload.get("name").and_then(Value::as_str);
    let is_taken = name
        .filter(|name| before.is_none_or(|content_type| content_type.name() != *name))
        .is_some_and(|name| is_system(name) || catalog.find(name).is_some());
    let mut stored = FieldErrors::default();
    if is_taken {
        stored.add("name", message::ALREADY_USED);
    }
    let wants_single =
        payload.get("metaDefinition").is_some_and(|meta| meta["admin"]["single"] == true);
    if let Some(content_type) = before.filter(|_| wants_single) {
        let live = reader.type_state(content_type.pk)?.live;
        if live > 1 {
            let message =
                format!("This content type has {live} objects, a single content type allows one");
            stored.add(SINGLE_PATH, message);
        }
    }
    if !has_images(reader, catalog, payload)? {
        stored.add("featuredImage", message::NOT_IN_DATABASE);
    }
    match parsed {
        Ok(mut definition) if stored.is_empty() => {
            // A type keeps its name, because links contain it (see
            // docs/reference/content-types.md#replace-a-content-type).
            if let Some(before) = before {
                before.name().clone_into(&mut definition.name);
            }
            Ok(definition)
        }
        Ok(_) => Err(Error::Invalid(stored)),
        Err(mut errors) => {
            errors.merge(stored);
            Err(Error::Invalid(errors))
        }
    }
}

/// Returns whether every featured image exists; the parser checks the form of the links.
fn has_images(
    reader: &Reader<'_>,
    catalog: &Catalog,
    payload: &Map<String, Value>,
) -> Result<bool> {
    let links = payload.get("featuredImage").and_then(Value::as_array);
    for target in links.into_iter().flatten().filter_map(link::internal).filter_map(link::parse) {
        let media =
            catalog.find(target.content_type).filter(|content_type| content_type.name() == MEDIA);
        let exists = match media {
            Some(media) => reader.object_pk(media.pk, &target.id)?.is_some(),
            None => false,
        };
        if !exists {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the reasons why a type cannot be deleted (see
/// docs/reference/content-types.md#delete-and-purge).
pub(super) fn deletion_blockers(
    writer: &WriteTransaction<'_>,
    content_type: &CompiledType,
) -> Result<Vec<String>> {
    let mut reasons = actors_that_name(writer, content_type)?;
    if writer.type_state(content_type.pk)?.live > 0 {
        reasons.push("Content Type has objects, you can't remove it!".to_owned());
    }
    Ok(reasons)
}

fn actors_that_name(
    writer: &WriteTransaction<'_>,
    content_type: &CompiledType,
) -> Result<Vec<String>> {
    let is_named =
        |rules: &[Rule]| rules.iter().any(|rule| rule.content_type == content_type.name());
    let used_by = |who: String| format!("This content type definition is used by {who}");
    let (keys, users) = (writer.keys()?, writer.users()?);
    let keys = keys.iter().filter(|key| is_named(&key.rules));
    let users = users.iter().map(|user| &user.profile).filter(|user| is_named(&user.rules));
    let keys = keys.map(|key| used_by(format!("Api Key: {}", key.name)));
    Ok(keys.chain(users.map(|user| used_by(format!("User: {}", user.email)))).collect())
}

fn is_requested(content_type: &CompiledType, request: &TypeListRequest) -> bool {
    let definition = &content_type.definition;
    let contains = |text: &str, part: &Option<String>| {
        part.as_ref().is_none_or(|part| fold(text).contains(&fold(part)))
    };
    contains(&definition.name, &request.name)
        && contains(&definition.label, &request.label)
        && request.internal.is_none_or(|internal| internal == definition.internal)
        // Listed only with `internal=1`: a client that lists all types does not expect it (see
        // docs/reference/content-types.md#built-in-types).
        && (definition.name != WEBHOOKS || request.internal == Some(true))
        && request
            .names
            .as_ref()
            .is_none_or(|names| names.iter().any(|n| n.eq_ignore_ascii_case(&definition.name)))
}

/// Names are unique, so they break ties of the requested order.
fn compare(a: &CompiledType, b: &CompiledType, order: TypeOrder) -> Ordering {
    let key = match order {
        TypeOrder::Name => Ordering::Equal,
        TypeOrder::Id => a.uid.cmp(&b.uid),
        TypeOrder::Label => a.definition.label.cmp(&b.definition.label),
        TypeOrder::CreatedAt => a.created_at.cmp(&b.created_at),
        TypeOrder::UpdatedAt => a.updated_at.cmp(&b.updated_at),
    };
    key.then_with(|| a.name().cmp(b.name()))
}
