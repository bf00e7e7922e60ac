//! [`Cms`]: an open data directory and its services.

use std::sync::Arc;

use cms_model::{
    auth::scope::Permission,
    clock::Timestamp,
    context::Caller,
    ctd::{
        builtin::{self, WEBHOOKS},
        catalog::Catalog,
    },
    error::{Error, Result},
    limits,
    wire::context::{ApiKey, AuthContext, Named, User},
};

use crate::graphql::schema_cache::{self, SchemaCache};

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
    openapi::service::DocumentCache,
    progress::Progress,
    search::indexer::Indexer,
    store::{DERIVED, Store, Writer},
    webhook::service::WebhookState,
};

/// An open data directory.
///
/// Cheap to share behind an [`Arc`]; every method takes `&self` and may be called from any thread.
pub struct Cms {
    pub(crate) config: CoreConfig,
    pub(crate) store: Store,
    pub(crate) catalog: Arc<CatalogCache>,
    pub(crate) keys: KeyRing,
    /// Progress of rewriting objects after a change of their type.
    pub(crate) rewriting: Arc<Progress>,
    /// Cached numbers of objects that match a filter.
    pub(crate) counts: Remembered<u64>,
    /// Cached plans of list queries.
    pub(crate) plans: Remembered<Arc<Plan>>,
    pub(crate) graphql_schemas: SchemaCache,
    pub(crate) index: Indexer,
    pub(crate) files: Files,
    pub(crate) renders: Renders,
    pub(crate) recent_renders: Recent,
    pub(crate) openapi_documents: DocumentCache,
    pub(crate) webhooks: WebhookState,
}

impl Cms {
    /// Opens a data directory, creates it if missing, and migrates its database.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] when the database was written by a newer version or is in use by an
    /// older one, [`crate::Error::Busy`] when another process migrates it, [`crate::Error::Internal`] when the
    /// directory cannot be used.
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
            openapi_documents: DocumentCache::default(),
            graphql_schemas: SchemaCache::default(),
            webhooks: WebhookState::default(),
        })
    }

    /// Checks the rights of the key before the body is read (see docs/reference/http.md#order-of-checks).
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
                let shown = schema_cache::visible_types(&catalog, caller).next();
                shown.map(|_| ()).ok_or(Error::Forbidden)
            }),
            Permission::ReadType { content_type } => self.store.read(|reader| {
                let catalog = self.catalog.at(reader)?;
                caller.require_sight(catalog.look_up(content_type)?.name())
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

    /// The current content types.
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

    /// GraphQL queries.
    pub fn graphql(&self) -> GraphQl<'_> {
        GraphQl { cms: self }
    }

    /// The change feed.
    pub fn changes(&self) -> Changes<'_> {
        Changes { cms: self }
    }

    /// Uploaded files and images.
    pub fn media(&self) -> Media<'_> {
        Media { cms: self }
    }

    /// Backups.
    pub fn backups(&self) -> Backups<'_> {
        Backups { cms: self }
    }

    /// The OpenAPI document.
    pub fn openapi(&self) -> OpenApi<'_> {
        OpenApi { cms: self }
    }

    /// Content type definitions.
    pub fn types(&self) -> Types<'_> {
        Types { cms: self }
    }

    /// Webhooks and their deliveries.
    pub fn webhooks(&self) -> Webhooks<'_> {
        Webhooks { cms: self }
    }

    /// API keys.
    pub fn keys(&self) -> Keys<'_> {
        Keys { cms: self }
    }

    /// Returns the numbers of rewritten and of all objects while a change of their type is planned or
    /// applied.
    pub fn rewriting(&self) -> Option<(u64, u64)> {
        self.rewriting.get()
    }

    /// Returns server, space and key of the caller (see docs/reference/http.md#check-a-key).
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

    /// Cleans up: removes expired deleted objects and journal rows that are no longer needed, and stores
    /// the last use of keys. A server calls it every minute and when it stops.
    pub fn housekeep(&self) -> Result<()> {
        let now = self.retention_time()?;
        let expired = Timestamp(now.0 - limits::TRASH_DAYS * 86_400_000_000);
        let forgotten = Timestamp(now.0 - limits::JOURNAL_DAYS * 86_400_000_000);
        let told = self.webhooks().clean_up()?;
        let needed = self.index.needs_from().unwrap_or(0).min(told);
        let used = self.keys.take_used();
        let answered = idempotency::since(now);
        let has_expired = self.store.peek(|reader| {
            Ok(reader.has_trash_before(expired)?
                || reader.has_journal_before(needed, forgotten)?
                || reader.has_stale_answers(answered, limits::IDEMPOTENCY_ANSWERS)?)
        })?;
        if used.is_empty() && !has_expired {
            return Ok(());
        }
        self.store.write(move |writer| {
            for (pk, at) in used {
                writer.set_key_used(pk, at)?;
            }
            writer.forget_journal(needed, forgotten)?;
            writer.forget_answers(answered, limits::IDEMPOTENCY_ANSWERS)?;
            writer.empty_trash(expired)
        })
    }

    /// Calls a function after each commit of this process, until the listener is dropped. It runs on the
    /// writer thread, so it must only notify another thread.
    pub fn on_commit(&self, listener: &Arc<dyn Fn() + Send + Sync>) {
        self.store.on_commit(listener);
    }

    /// The settings of this data directory.
    pub fn config(&self) -> &CoreConfig {
        &self.config
    }
}

/// Initializes a new database with its ids and the built-in types.
fn set_up(writer: &Writer<'_>, config: &CoreConfig) -> Result<()> {
    if writer.revisions_if_any()?.is_some() {
        return Ok(());
    }
    writer.set_up(&config.ids.uuid(), &config.ids.uuid(), config.clock.now())?;
    writer.ensure_slots(limits::INDEXED_PROPERTIES)?;
    let (rev, at) = (writer.bump_schema()?, config.clock.now());
    for definition in builtin::definitions() {
        change::create(writer, &config.ids.uuid(), &definition, rev, at)?;
    }
    Ok(())
}

/// Adds the webhook type and the key of webhook secrets to databases of older versions.
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
