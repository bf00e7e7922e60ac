//! The settings of a server, as plain data: the command line reads flags, files and environment.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use cms_core::BackupSchedule;

use crate::consistency::Consistency;
pub use crate::net::rate_limit::Rate;
use crate::openid::OpenIdConfig;
use crate::telemetry::log_writer::LogWriter;

/// The clients that may read the metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetricsAccess {
    /// All clients, also those without a key.
    #[default]
    Public,
    /// Admins: an admin key, or a session of an admin.
    Admin,
    /// No client: the path does not exist.
    Off,
}

/// Settings that may change while the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReloadableSettings {
    /// Slower reads are logged with their query; `None` logs no reads.
    pub slow_query: Option<Duration>,
    /// Request rate limit of one key.
    pub key_rate: Option<Rate>,
    /// Request rate limit of one address, over all its keys.
    pub address_rate: Option<Rate>,
}

impl Default for ReloadableSettings {
    fn default() -> Self {
        let slow_query = Some(Duration::from_millis(250));
        Self { slow_query, key_rate: None, address_rate: None }
    }
}

/// Settings of one server; start from [`ServerConfig::default`].
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Port 0 lets the system choose one.
    pub listen: SocketAddr,
    /// The public URL of the API: `https://cms.example.com`. None means the host of each request.
    pub public_url: Option<String>,
    /// Use the `X-Forwarded-*` headers of a proxy for scheme, host and client address.
    pub trust_proxy: bool,
    /// Largest JSON body, in bytes.
    pub body_limit: usize,
    /// Largest body that uploads a file, in bytes. It is more than the limit of a file, so that the
    /// error for a file that is too large can name the size of the file.
    pub upload_limit: u64,
    /// Threads that drive connections.
    pub workers: usize,
    /// Concurrent reads of the database; at most two thirds of them are searches.
    pub reads: usize,
    /// Concurrent writes. The core commits waiting writes together, so more of them make larger
    /// groups.
    pub writes: usize,
    /// Concurrent work on images. Slow renders and uploads take at most half: they hold a decoded
    /// file in memory for seconds.
    pub images: usize,
    /// Concurrent reads of stored files, one chunk each.
    pub files: usize,
    /// Maximum number of passwords that are hashed concurrently.
    pub passwords: usize,
    /// Permits to receive large bodies: an upload takes one, a JSON body of more than a megabyte two.
    pub bodies: usize,
    /// Concurrent streams of changes; more are refused.
    pub subscribers: usize,
    /// Memory budget of all responses in memory, in bytes; requests over it are refused.
    pub response_memory: usize,
    /// Maximum memory of cached responses, in bytes; 0 for none.
    pub response_cache: usize,
    /// Open connections; more wait in the queue of the system.
    pub connections: usize,
    /// Open connections of one client address, 0 for any number; more are closed. `None`, the default,
    /// limits only public addresses, because many clients may share a private one; with a trusted proxy,
    /// no address is limited.
    pub connections_per_address: Option<usize>,
    /// Webhooks may have addresses of private networks and of this machine.
    pub webhook_private: bool,
    /// Minimum average transfer rate of a client in bytes per second; 0 for no minimum.
    pub min_transfer_rate: u64,
    /// How long a body may take to arrive.
    pub request_timeout: Duration,
    pub metrics: MetricsAccess,
    pub reloadable: ReloadableSettings,
    /// Destination of the log, for its metrics.
    pub log: Option<LogWriter>,
    /// How long running requests may take to finish when the server stops.
    pub grace: Duration,
    /// Scheduled backups.
    pub backups: Option<BackupSchedule>,
    /// How current the reads of a node of a cluster are; none: strict, and within 2 s for images
    /// and files.
    pub read_consistency: Option<Consistency>,
    /// Sign-in by OpenID Connect.
    pub openid: Option<OpenIdConfig>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            public_url: None,
            trust_proxy: false,
            body_limit: 128 * 1024 * 1024,
            upload_limit: 64 * 1024 * 1024,
            workers: cores,
            reads: (6 * cores).max(12),
            writes: 64,
            images: (2 * cores).max(4),
            files: 32,
            passwords: cores,
            bodies: 8,
            subscribers: 256,
            response_memory: 256 * 1024 * 1024,
            response_cache: 64 * 1024 * 1024,
            connections: 10_000,
            connections_per_address: None,
            webhook_private: false,
            min_transfer_rate: 4096,
            request_timeout: Duration::from_mins(10),
            metrics: MetricsAccess::default(),
            reloadable: ReloadableSettings::default(),
            log: None,
            grace: Duration::from_secs(20),
            backups: None,
            read_consistency: None,
            openid: None,
        }
    }
}
