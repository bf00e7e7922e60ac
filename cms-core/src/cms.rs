//! [`Cms`]: an open data directory and its services.

use std::sync::Arc;

use cms_media::{
    files::Files,
    renders::{RecentRenders, Renders, recent_renders},
};
use cms_model::{
    auth::scope::{Access, Permission},
    clock::Timestamp,
    content_type::{
        builtin::{self, MEDIA, WEBHOOKS},
        catalog::Catalog,
        indexed::IndexedProperties,
        model::Definition,
    },
    context::{Caller, Stamp},
    error::{Error, Result},
    limits,
};
use cms_store::{
    CommitState, DERIVED_DATA_VERSION, Event, PendingCommit, Reader, Store, WriteTransaction,
};

use crate::{
    CoreConfig,
    auth::key_ring::KeyRing,
    cluster::{clock::ClusterClock, node::Node},
    content_type::{catalog_cache::CatalogCache, change},
    graphql::schema_cache::{self, SchemaCache},
    object::linked_objects::LinkedObjects,
    openapi::cache::DocumentCache,
    presence::table::PresenceTable,
    search::indexer::Indexer,
    webhook::state::WebhookState,
};

/// An open data directory.
///
/// Cheap to share behind an [`Arc`]; every method takes `&self` and may be called from any thread.
pub struct Cms {
    pub(crate) config: CoreConfig,
    pub(crate) store: Store,
    pub(crate) catalog: Arc<CatalogCache>,
    pub(crate) keys: KeyRing,
    pub(crate) linked_objects: LinkedObjects,
    pub(crate) graphql_schemas: SchemaCache,
    pub(crate) index: Indexer,
    pub(crate) files: Files,
    pub(crate) renders: Renders,
    pub(crate) recent_renders: RecentRenders,
    pub(crate) openapi_documents: DocumentCache,
    pub(crate) webhooks: WebhookState,
    pub(crate) presence: PresenceTable,
    /// This process as a node; none outside of a cluster.
    pub(crate) node: Option<Arc<Node>>,
}

/// Declares a service, which contains a reference to a [`Cms`], and the method of `Cms` that returns it.
macro_rules! service {
    ($(#[$documentation:meta])+ $service:ident, $method:ident) => {
        $(#[$documentation])+
        pub struct $service<'a> {
            pub(crate) cms: &'a $crate::cms::Cms,
        }

        impl $crate::cms::Cms {
            $(#[$documentation])+
            pub fn $method(&self) -> $service<'_> {
                $service { cms: self }
            }
        }
    };
}
pub(crate) use service;

impl Cms {
    /// Opens a data directory, creates it if [`CoreConfig::new_database`] allows that, and migrates its
    /// database.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] when the database was written by a newer version or is in use by
    /// an older one, [`crate::Error::Busy`] when another process migrates it,
    /// [`crate::Error::Internal`] when the directory cannot be used.
    pub fn open(mut config: CoreConfig) -> Result<Self> {
        let store = config.open_store()?;
        let node = config.cluster.as_ref().map(|cluster| {
            let clock = Arc::new(ClusterClock::new(Arc::clone(&config.clock)));
            Node::new(cluster, clock)
        });
        if let Some(node) = &node {
            config.clock = Arc::clone(&node.clock) as _;
        }
        if store.read_autocommit(|reader| Ok(reader.revisions_if_any()?.is_none()))? {
            let config = config.clone();
            store.write(move |transaction| set_up(transaction, &config))?;
        } else if store
            .read_autocommit(|reader| Ok(reader.derived_data_version()? < DERIVED_DATA_VERSION))?
        {
            store.write(change::rebuild_derived_data)?;
        }
        if store.read_autocommit(|reader| Ok(reader.webhook_key()?.is_empty()))? {
            let config = config.clone();
            store.write(move |transaction| add_webhooks(transaction, &config))?;
        }
        for name in [MEDIA, WEBHOOKS] {
            if store.read_autocommit(|reader| Ok(outdated(reader, name)?.is_some()))? {
                let stamp = Stamp { at: config.clock.now(), actor: None };
                store.write(move |transaction| add_missing_property(transaction, name, stamp))?;
            }
        }
        let space = store.read_autocommit(|reader| Ok(reader.space_ids()?.space))?;
        Ok(Self {
            index: Indexer::new(&config.folder),
            files: Files::new(config.files(), space),
            renders: Renders::new(config.folder.join("cache/images"), config.render_cache),
            recent_renders: recent_renders(),
            linked_objects: LinkedObjects::new(config.linked_object_cache),
            node: node.map(Arc::new),
            config,
            store,
            catalog: Arc::default(),
            keys: KeyRing::default(),
            openapi_documents: DocumentCache::default(),
            graphql_schemas: SchemaCache::default(),
            webhooks: WebhookState::default(),
            presence: PresenceTable::default(),
        })
    }

    /// Checks the rights of the caller before the body is read (see
    /// docs/reference/http.md#order-of-checks). The content types are those of the snapshot in
    /// which the key or session was looked up.
    ///
    /// # Errors
    /// [`crate::Error::Forbidden`] when the caller may not do it, [`crate::Error::NotFound`] when
    /// there is no such type.
    pub fn authorise(&self, caller: &Caller, permission: Permission<'_>) -> Result<()> {
        match permission {
            Permission::AnyCaller => Ok(()),
            Permission::Session if caller.has_session() => Ok(()),
            Permission::Session => Err(Error::Forbidden),
            Permission::AnyWriter => caller.require_write(),
            Permission::Admin => caller.require_admin(),
            Permission::PlanTypes => caller.require_type_admin(),
            Permission::AdministerTypes => self.config.require_type_change(caller),
            Permission::ChangeType { content_type } => {
                caller.require_write()?;
                self.catalog_of(caller)?.look_up(content_type)?;
                self.config.require_type_change(caller)
            }
            Permission::GraphQl => {
                let catalog = self.catalog_of(caller)?;
                let shown = schema_cache::visible_types(&catalog, caller).next();
                shown.map(|_| ()).ok_or(Error::Forbidden)
            }
            Permission::ReadType { content_type } => {
                let catalog = self.catalog_of(caller)?;
                caller.require_type_visible(catalog.look_up(content_type)?.name())
            }
            Permission::Views { content_type, needs } => {
                caller.require_write_for(needs)?;
                let catalog = self.catalog_of(caller)?;
                caller.require(needs, catalog.look_up(content_type)?.name())
            }
            Permission::Bulk { content_type } => {
                caller.require_write()?;
                self.catalog_of(caller)?.get(content_type)?;
                let changes = [Access::UPDATE, Access::DELETE].map(|access| Access::READ | access);
                let may = changes.into_iter().any(|needs| caller.may(needs, content_type));
                if may { Ok(()) } else { Err(Error::Forbidden) }
            }
            Permission::Publish { content_type } => self.publishing().require(caller, content_type),
            Permission::Content { content_type, needs } => {
                self.objects().content_type(caller, content_type, needs).map(drop)
            }
        }
    }

    /// Returns the state of the newest commit.
    pub fn commit_state(&self) -> Result<Arc<CommitState>> {
        self.store.commit_state()
    }

    /// Returns whether a state is still that of the newest commit. If so, everything that was read
    /// since belongs to it.
    pub fn is_newest(&self, state: &CommitState) -> bool {
        self.store.is_newest(state)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.config.clock.now()
    }

    /// The content types of the snapshot in which the caller was read; the current ones for
    /// the local caller.
    pub(crate) fn catalog_of(&self, caller: &Caller) -> Result<Arc<Catalog>> {
        match &caller.catalog {
            Some(catalog) => Ok(Arc::clone(catalog)),
            None => self.current_catalog(),
        }
    }

    /// The current content types.
    pub(crate) fn current_catalog(&self) -> Result<Arc<Catalog>> {
        self.store.read(|reader| self.catalog.at(reader))
    }

    /// Reads with the content types of the same snapshot.
    pub(crate) fn read_with_catalog<T>(
        &self,
        read: impl FnOnce(&Reader<'_>, &Catalog) -> Result<T>,
    ) -> Result<T> {
        self.store.read(|reader| read(reader, &*self.catalog.at(reader)?))
    }

    /// Runs a write with the content types as read inside the write transaction.
    pub(crate) fn write_with_catalog<T: Send + 'static>(
        &self,
        write: impl FnOnce(&WriteTransaction<'_>, &Catalog) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.begin_write_with_catalog(write)?.wait()
    }

    /// Queues a write as [`Self::write_with_catalog`] does.
    pub(crate) fn begin_write_with_catalog<T: Send + 'static>(
        &self,
        write: impl FnOnce(&WriteTransaction<'_>, &Catalog) -> Result<T> + Send + 'static,
    ) -> Result<PendingCommit<T>> {
        let cache = Arc::clone(&self.catalog);
        self.store.begin_write(move |transaction| write(transaction, &*cache.within(transaction)?))
    }

    /// Calls a function after each commit of this process, until the listener is dropped. It runs
    /// on the thread that commits, also after a failed commit, while other writes wait: it must only
    /// notify another thread.
    pub fn on_commit(&self, listener: &Arc<dyn Fn() + Send + Sync>) {
        self.store.on_commit(listener);
    }

    /// The settings of this data directory.
    pub fn config(&self) -> &CoreConfig {
        &self.config
    }
}

/// Initializes a new database with its ids and the built-in types.
fn set_up(writer: &WriteTransaction<'_>, config: &CoreConfig) -> Result<()> {
    if writer.revisions_if_any()?.is_some() {
        return Ok(());
    }
    writer.set_up(&config.ids.uuid(), &config.ids.uuid(), config.clock.now())?;
    writer.create_slot_indexes(limits::MAX_INDEXED_PROPERTIES, |_, _| {})?;
    let (rev, stamp) =
        (writer.bump_content_types()?, Stamp { at: config.clock.now(), actor: None });
    for definition in builtin::definitions() {
        change::create(writer, &config.ids.uuid(), &definition, rev, stamp)?;
    }
    Ok(())
}

/// Adds the key of webhook secrets to a new database, and also the type of webhooks to one of an
/// older version.
fn add_webhooks(writer: &WriteTransaction<'_>, config: &CoreConfig) -> Result<()> {
    if !writer.webhook_key()?.is_empty() {
        return Ok(());
    }
    writer.set_webhook_key(&config.ids.token())?;
    if writer.ctd_named(WEBHOOKS)?.is_some() {
        return Ok(());
    }
    let (rev, stamp) =
        (writer.bump_content_types()?, Stamp { at: config.clock.now(), actor: None });
    let definition = builtin::webhooks_definition();
    change::create(writer, &config.ids.uuid(), &definition, rev, stamp).map(drop)
}

/// If a stored built-in type lacks a property, as in a data directory of an older version, returns its
/// definition without and with the property.
fn outdated(reader: &Reader<'_>, name: &str) -> Result<Option<(i64, Definition, Definition)>> {
    let Some(pk) = reader.ctd_named(name)? else { return Ok(None) };
    let before = reader.ctd(pk)?.definition;
    let mut after = before.clone();
    Ok(builtin::add_missing_property(&mut after).then_some((pk, before, after)))
}

/// Adds the property that a built-in type lacks. No object has a value of it, so none is rewritten, but
/// it may have an index.
fn add_missing_property(writer: &WriteTransaction<'_>, name: &str, stamp: Stamp) -> Result<()> {
    let Some((pk, before, after)) = outdated(writer, name)? else { return Ok(()) };
    let rev = writer.bump_content_types()?;
    let slots = IndexedProperties::of_type(&after, &after.properties());
    if slots != IndexedProperties::of_type(&before, &before.properties()) {
        writer.create_slot_indexes(slots.count(), |_, _| {})?;
        writer.fill_slots(pk, &slots, after.editions())?;
    }
    writer.update_ctd(pk, &after, rev, stamp.at)?;
    writer.append_type_to_journal(Event::TypeUpdated, stamp, (pk, name))
}
