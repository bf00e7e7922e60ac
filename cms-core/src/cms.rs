//! [`Cms`]: one open data folder, and the services that work on it.

use std::sync::Arc;

use cms_model::{
    auth::scope::Permission,
    clock::Timestamp,
    content_type::{
        builtin::{self, WEBHOOKS},
        catalog::Catalog,
    },
    context::Caller,
    error::{Error, Result},
    limits,
    wire::context::{ApiKey, AuthContext, Named, User},
};

use crate::graphql::schemas::{self, Schemas};

use crate::{
    Backups, Changes, CoreConfig, GraphQl, Keys, Media, Objects, OpenApi, Publishing, Searching,
    Types, Webhooks, Workflows,
    auth::service::KeyRing,
    ctd::{catalog_cache::CatalogCache, change},
    media::{
        files::Files,
        renders::{Recent, Renders},
    },
    object::{idempotency, remember::Remembered, service::Plan},
    openapi::service::Descriptions,
    progress::Progress,
    search::indexer::Indexer,
    store::{DERIVED, Store, Writer},
    webhook::service::Deliveries,
};

/// One open data folder.
///
/// Cheap to share behind an [`Arc`]; every method takes `&self` and may be called from any thread.
pub struct Cms {
    pub(crate) config: CoreConfig,
    pub(crate) store: Store,
    pub(crate) catalog: Arc<CatalogCache>,
    pub(crate) keys: KeyRing,
    /// Objects that a change of their type rewrites.
    pub(crate) rewriting: Arc<Progress>,
    /// How many objects a filter matches.
    pub(crate) counts: Remembered<u64>,
    /// How a list is read.
    pub(crate) plans: Remembered<Arc<Plan>>,
    pub(crate) schemas: Schemas,
    pub(crate) index: Indexer,
    pub(crate) files: Files,
    pub(crate) renders: Renders,
    pub(crate) recent_renders: Recent,
    pub(crate) descriptions: Descriptions,
    pub(crate) webhooks: Deliveries,
}

impl Cms {
    /// Opens a data folder, makes it when missing, and brings its database up to date.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] when the database was written by a newer version or is in use by an
    /// older one, [`crate::Error::Busy`] when another process migrates it, [`crate::Error::Internal`] when the
    /// folder cannot be used.
    pub fn open(config: CoreConfig) -> Result<Self> {
        let store = Store::open(&config)?;
        if store.peek(|reader| Ok(reader.revisions_if_any()?.is_none()))? {
            let config = config.clone();
            store.write(move |writer| set_up(writer, &config))?;
        } else if store.peek(|reader| Ok(reader.derived()? < DERIVED))? {
            store.write(change::derive)?;
        }
        if store.peek(|reader| Ok(reader.webhook_key()?.is_empty()))? {
            let config = config.clone();
            store.write(move |writer| add_webhooks(writer, &config))?;
        }
        let space = store.peek(|reader| Ok(reader.names()?.1))?;
        Ok(Self {
            index: Indexer::new(&config.folder),
            files: Files::new(&config, space),
            renders: Renders::new(config.folder.join("cache/images"), config.render_cache),
            recent_renders: Recent::default(),
            config,
            store,
            catalog: Arc::default(),
            keys: KeyRing::default(),
            rewriting: Arc::default(),
            counts: Remembered::default(),
            plans: Remembered::default(),
            descriptions: Descriptions::default(),
            schemas: Schemas::default(),
            webhooks: Deliveries::default(),
        })
    }

    /// Checks key kind, type and scope in the contract's order (1.4), before a body is read.
    ///
    /// # Errors
    /// [`crate::Error::Forbidden`] when the key does not allow it, [`crate::Error::NotFound`] when there is no
    /// such type.
    pub fn authorise(&self, caller: &Caller, permission: Permission<'_>) -> Result<()> {
        match permission {
            Permission::AnyKey => Ok(()),
            Permission::Manage => caller.require_admin(),
            Permission::AdministerTypes => caller.require_type_admin(),
            Permission::ChangeType { content_type } => {
                caller.require_write()?;
                self.store.read(|reader| {
                    self.catalog.at(reader)?.look_up(content_type)?;
                    caller.require_type_admin()
                })
            }
            Permission::Query => self.store.read(|reader| {
                let catalog = self.catalog.at(reader)?;
                let shown = schemas::shown(&catalog, caller).next();
                shown.map(|_| ()).ok_or(Error::Forbidden)
            }),
            Permission::ReadType { content_type } => self.store.read(|reader| {
                let catalog = self.catalog.at(reader)?;
                caller.require_type_visible(catalog.look_up(content_type)?.name())
            }),
            Permission::Content { content_type, needs } => {
                if needs.is_write() {
                    caller.require_write()?;
                }
                self.store.read(|reader| {
                    self.catalog.at(reader)?.get(content_type)?;
                    caller.require(needs, content_type)
                })
            }
        }
    }

    /// The types as they are now.
    pub(crate) fn current_catalog(&self) -> Result<Arc<Catalog>> {
        self.store.read(|reader| self.catalog.at(reader))
    }

    /// Content objects.
    pub fn objects(&self) -> Objects<'_> {
        Objects { cms: self }
    }

    /// Publishing of content objects.
    pub fn publishing(&self) -> Publishing<'_> {
        Publishing { cms: self }
    }

    /// Workflows, and the states of content objects.
    pub fn workflows(&self) -> Workflows<'_> {
        Workflows { cms: self }
    }

    /// Full-text search.
    pub fn search(&self) -> Searching<'_> {
        Searching { cms: self }
    }

    /// Queries in the language GraphQL.
    pub fn graphql(&self) -> GraphQl<'_> {
        GraphQl { cms: self }
    }

    /// What changed.
    pub fn changes(&self) -> Changes<'_> {
        Changes { cms: self }
    }

    /// Uploaded files and pictures.
    pub fn media(&self) -> Media<'_> {
        Media { cms: self }
    }

    /// Backups.
    pub fn backups(&self) -> Backups<'_> {
        Backups { cms: self }
    }

    /// The description of the API for programs.
    pub fn openapi(&self) -> OpenApi<'_> {
        OpenApi { cms: self }
    }

    /// Content type definitions.
    pub fn types(&self) -> Types<'_> {
        Types { cms: self }
    }

    /// Webhooks, and what they are told.
    pub fn webhooks(&self) -> Webhooks<'_> {
        Webhooks { cms: self }
    }

    /// API keys.
    pub fn keys(&self) -> Keys<'_> {
        Keys { cms: self }
    }

    /// Says how many objects a change of their type has rewritten, and of how many, while there is
    /// such a change, planned or carried out.
    pub fn rewriting(&self) -> Option<(u64, u64)> {
        self.rewriting.get()
    }

    /// Says which server, space and key this is (contract 1.13).
    pub fn auth_context(&self, caller: &Caller) -> Result<AuthContext> {
        let named = |id| Named { id, name: "default".to_owned() };
        let (organization, space) = self.store.peek(|reader| {
            let (organization, space) = reader.names()?;
            Ok((named(organization), named(space)))
        })?;
        let actor = caller.actor();
        Ok(AuthContext {
            organization,
            space,
            user: User {
                id: actor.id.clone(),
                username: actor.name.clone(),
                roles: vec!["ROLE_HEADLESS_ADMIN".to_owned()],
            },
            api_key: ApiKey {
                name: actor.name.clone(),
                kind: actor.kind,
                rules: actor.rules.clone(),
            },
        })
    }

    /// Does what is due from time to time: forgets objects deleted long ago and the part of the
    /// journal that nobody needs, and writes down when keys were used. A server calls it every
    /// minute and when it stops.
    pub fn housekeep(&self) -> Result<()> {
        let now = self.retention_time()?;
        let expired = Timestamp(now.0 - limits::TRASH_RETENTION_DAYS * 86_400_000_000);
        let forgotten = Timestamp(now.0 - limits::JOURNAL_RETENTION_DAYS * 86_400_000_000);
        let told = self.webhooks().housekeep()?;
        let needed = self.index.needs_from().unwrap_or(0).min(told);
        let used = self.keys.take_used();
        let answered = idempotency::since(now);
        let has_expired = self.store.peek(|reader| {
            Ok(reader.has_trash_before(expired)?
                || reader.has_journal_before(needed, forgotten)?
                || reader.has_stale_answers(answered, limits::MAX_IDEMPOTENCY_RESPONSES)?)
        })?;
        if used.is_empty() && !has_expired {
            return Ok(());
        }
        self.store.write(move |writer| {
            for (pk, at) in used {
                writer.set_key_used(pk, at)?;
            }
            writer.forget_journal(needed, forgotten)?;
            writer.forget_answers(answered, limits::MAX_IDEMPOTENCY_RESPONSES)?;
            writer.empty_trash(expired)
        })
    }

    /// Has a function called after each commit of this process, for as long as its owner keeps it.
    /// It runs on the thread that committed, which others wait for: it must only tell somebody.
    pub fn on_commit(&self, listener: &Arc<dyn Fn() + Send + Sync>) {
        self.store.on_commit(listener);
    }

    /// The settings this folder was opened with.
    pub fn config(&self) -> &CoreConfig {
        &self.config
    }
}

/// Fills a new database: its names, and the built-in types.
fn set_up(writer: &Writer<'_>, config: &CoreConfig) -> Result<()> {
    if writer.revisions_if_any()?.is_some() {
        return Ok(());
    }
    writer.set_up(&config.ids.uuid(), &config.ids.uuid(), config.clock.now())?;
    writer.ensure_slots(limits::MAX_INDEXED_PROPERTIES)?;
    let (rev, at) = (writer.bump_schema()?, config.clock.now());
    for definition in builtin::definitions() {
        change::create(writer, &config.ids.uuid(), &definition, rev, at)?;
    }
    Ok(())
}

/// Adds what folders of older versions lack: the type of webhooks, and a key for their secrets.
fn add_webhooks(writer: &Writer<'_>, config: &CoreConfig) -> Result<()> {
    if !writer.webhook_key()?.is_empty() {
        return Ok(());
    }
    writer.set_webhook_key(&config.ids.token())?;
    if writer.ctd_named(WEBHOOKS)?.is_some() {
        return Ok(());
    }
    let (rev, at) = (writer.bump_schema()?, config.clock.now());
    let definition = builtin::webhooks_definition();
    change::create(writer, &config.ids.uuid(), &definition, rev, at).map(drop)
}
