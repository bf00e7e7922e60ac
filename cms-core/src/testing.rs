//! For tests of this and other crates: a store in a temporary directory, with a fixed clock and
//! ids.

mod site;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use cms_model::{
    clock::{Clock, FixedClock},
    context::Caller,
    error::Result,
    ids::CountingIds,
    wire::key::{CreatedKey, KeyKind, NewKey, Rule},
};
use cms_system::clock::SystemClock;
use serde_json::Value;
use tempfile::TempDir;

pub use cms_media::testing::{images, read_image};
pub use cms_model::testing::{ObjectValidator, START, fixture, map, read_search, table};
pub use cms_store::cluster::memory::{ConnectionBreak, MemoryDatabase};
pub use site::Site;

use crate::{
    ClusterConfig, Cms, CoreConfig, Duty, SessionClient, backup::restore::DATABASE,
    user::sessions::open,
};

impl Cms {
    /// Authenticates a key as a request does.
    pub fn caller_of_key(&self, token: &str) -> Result<Caller> {
        self.keys().authenticate(token, &*self.commit_state()?)
    }

    /// Authenticates the cookie of a session as a request does.
    pub fn caller_of_session(&self, cookie: &str) -> Result<Caller> {
        self.keys().authenticate_session(cookie, &*self.commit_state()?)
    }
}

/// The database of an empty data directory: to create one takes 50 ms, and a run of all tests needs
/// thousands.
struct EmptyDatabase {
    content: Vec<u8>,
    /// How many ids it contains.
    ids: u64,
}

static EMPTY_DATABASE: LazyLock<EmptyDatabase> = LazyLock::new(EmptyDatabase::create);

impl EmptyDatabase {
    fn create() -> Self {
        let folder = TempDir::new().expect("a temporary directory can be created");
        let ids = Arc::new(CountingIds::default());
        let config = config(&folder, &Arc::new(FixedClock::at(START)), &ids);
        let database = config.folder.join(DATABASE);
        drop(Cms::open(config).expect("an empty data directory opens"));
        let content = fs::read(database).expect("the database can be read");
        Self { content, ids: ids.issued() }
    }

    /// Creates a data directory.
    fn copy(&self, folder: &Path, ids: &CountingIds) {
        fs::create_dir(folder).expect("the directory can be created");
        fs::write(folder.join(DATABASE), &self.content).expect("the database can be written");
        ids.skip(self.ids);
    }
}

/// The settings of a data directory of tests.
fn config(folder: &TempDir, clock: &Arc<FixedClock>, ids: &Arc<CountingIds>) -> CoreConfig {
    let mut config = CoreConfig::new(folder.path().join("data"));
    config.clock = Arc::clone(clock) as _;
    config.ids = Arc::clone(ids) as _;
    config
}

/// An open temporary data directory, removed on drop.
pub struct TestCms {
    pub cms: Arc<Cms>,
    pub clock: Arc<FixedClock>,
    folder: TempDir,
}

impl TestCms {
    /// Opens an empty data directory.
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// Opens an empty data directory with changed settings.
    ///
    /// With the environment variable `CMS_TEST_CLUSTER` it is the replica of a node, and its shared
    /// tables are compared with the shared database after each commit, as long as they have fewer than
    /// 2,000 rows together.
    pub fn with(change: impl FnOnce(&mut CoreConfig)) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a setting of the tests")]
        let is_node = std::env::var_os("CMS_TEST_CLUSTER").is_some();
        Self::open(|config| {
            if is_node {
                let database = Arc::new(MemoryDatabase::comparing());
                config.cluster = Some(ClusterConfig::new(database, "test"));
            }
            change(config);
        })
    }

    /// Opens a second node of the same cluster, with the same files, if `CMS_TEST_CLUSTER` is 2: for tests
    /// that write on one node and read on the other.
    pub fn second_node(&self) -> Option<Arc<Cms>> {
        #[expect(clippy::disallowed_methods, reason = "a setting of the tests")]
        let nodes = std::env::var("CMS_TEST_CLUSTER").ok()?;
        if nodes != "2" || !self.is_node() {
            return None;
        }
        let folder = self.folder.path().join("second");
        fs::create_dir(&folder).expect("the directory can be created");
        // The nodes of a cluster share a bucket: here, a directory.
        #[cfg(unix)]
        std::os::unix::fs::symlink(self.path().join("media"), folder.join("media"))
            .expect("a link can be created");
        let config = CoreConfig { folder, ..self.cms.config().clone() };
        Some(Arc::new(Cms::open(config).expect("the replica opens")))
    }

    /// Opens an empty data directory that is no replica: several processes may open it, a replica only one.
    pub fn standalone() -> Self {
        Self::open(|_| {})
    }

    fn open(change: impl FnOnce(&mut CoreConfig)) -> Self {
        let folder = TempDir::new().expect("a temporary directory can be created");
        let clock = Arc::new(FixedClock::at(START));
        let ids = Arc::new(CountingIds::default());
        let mut config = config(&folder, &clock, &ids);
        change(&mut config);
        // With ids of another source, directories differ from each other.
        let counts_ids = Arc::ptr_eq(&config.ids, &(Arc::clone(&ids) as _));
        if config.cluster.is_none() && counts_ids {
            EMPTY_DATABASE.copy(&config.folder, &ids);
        }
        let cms = Arc::new(Cms::open(config).expect("an empty data directory opens"));
        if let Some(cluster) = cms.cluster() {
            cluster.catch_up().expect("the shared database responds");
        }
        let test = Self { cms, clock, folder };
        test.renew_duties();
        test
    }

    /// Returns whether this is the replica of a node: then no other process may open or change it.
    pub fn is_node(&self) -> bool {
        self.cms.config().cluster.is_some()
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Sets the clock to the system time plus some seconds, because the times of files are system
    /// times.
    pub fn to_real_time(&self, ahead: i64) {
        let seconds = SystemClock.now().seconds() - self.clock.now().seconds();
        self.run_for(seconds + ahead);
    }

    /// Advances the clock as in a running server, with periodic clean-ups.
    pub fn run_for(&self, seconds: i64) {
        let day = 86_400;
        let steps = (0..seconds / day).map(|_| day).chain([seconds % day]);
        for step in steps {
            self.clock.advance(step);
            self.renew_duties();
            self.cms.clean_up().expect("the clean-up succeeds");
        }
    }

    /// Does what a server does every five seconds.
    fn renew_duties(&self) {
        if let Some(cluster) = self.cms.cluster() {
            cluster.renew_duties(&Duty::ALL).expect("the shared database responds");
        }
    }

    /// Creates a key with rights: pairs of a type and letters of `crud`.
    #[track_caller]
    pub fn create_key(&self, name: &str, kind: KeyKind, rights: &[(&str, &str)]) -> CreatedKey {
        let rule = |(content_type, letters): &(&str, &str)| Rule {
            content_type: (*content_type).to_owned(),
            create: letters.contains('c'),
            read: letters.contains('r'),
            update: letters.contains('u'),
            delete: letters.contains('d'),
        };
        let rules = rights.iter().map(rule).collect();
        let new = NewKey { name: name.to_owned(), kind, rules };
        self.cms.keys().create(&Caller::local(), &new).expect("the key is valid")
    }

    /// Creates a user without a password; returns the value of the cookie of a new session.
    pub fn session(&self, payload: &Value) -> String {
        let payload = payload.as_object().expect("a user is an object");
        let created = self.cms.users().create(&Caller::local(), payload, "http://localhost");
        self.open_session(&created.expect("the user is valid").user.email)
    }

    /// Opens a session of a user without a password; returns the value of its cookie.
    pub fn open_session(&self, email: &str) -> String {
        let email = email.to_owned();
        let config = self.cms.config().clone();
        let opened = self.cms.store.write(move |writer| {
            let user = writer.user_with_email(&email)?.expect("the user exists");
            open(writer, &config, user.pk, SessionClient::default())
        });
        opened.expect("a session can be opened")
    }

    /// Closes the data directory and keeps its content.
    pub fn into_folder(self) -> TempDir {
        self.folder
    }
}

impl Default for TestCms {
    fn default() -> Self {
        Self::new()
    }
}
