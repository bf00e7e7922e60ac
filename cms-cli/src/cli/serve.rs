//! Arguments of `cms serve`.

use std::{collections::BTreeMap, path::PathBuf};

use clap::{
    Args, ValueEnum,
    builder::{BoolishValueParser, PossibleValuesParser, RangedU64ValueParser, TypedValueParser},
};
use cms_core::{Durability, limits};
use cms_server::Rate;

use super::{
    openapi::base_url,
    openid::OpenIdArgs,
    values::{body_limit, listen_address, memory_size, origin, response_memory, size},
};

/// Run the server.
///
/// The first start creates the data directory and three keys. They are printed once, on standard
/// output, as lines that a shell can read (`CMS_ADMIN_KEY=...`); everything else goes to standard
/// error. Keys from the environment are used instead and are not printed.
///
/// While there is no user, each start prints a link that creates the first one
/// (`CMS_SETUP_URL=...`). If `CMS_ADMIN_EMAIL` and `CMS_ADMIN_PASSWORD` are set, the start creates
/// that user instead.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Every setting with a value, by name; filled in when the configuration file is merged.
    #[arg(skip)]
    pub(crate) values: BTreeMap<String, String>,
    /// Listen on this address and port; port 0 selects a free one.
    ///
    /// `localhost:8080`, `:8080` and `8080` mean `127.0.0.1:8080`: only this machine can connect.
    /// `0.0.0.0:8080` listens on all networks.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", env = "CMS_LISTEN",
        value_parser = listen_address)]
    pub(crate) listen: std::net::SocketAddr,
    /// Open the admin page in the browser of this machine once the server listens; while there is no
    /// user, at the link that creates the first one.
    #[arg(long, env = "CMS_OPEN", value_parser = BoolishValueParser::new())]
    pub(crate) open: bool,
    /// Use this public URL in responses, for example `https://cms.example.com`, instead of the host
    /// of each request.
    #[arg(long, value_name = "URL", env = "CMS_PUBLIC_URL", value_parser = base_url)]
    pub(crate) public_url: Option<String>,
    /// Trust X-Forwarded-Host, X-Forwarded-Proto and the last address of X-Forwarded-For; only
    /// behind a proxy that sets them.
    #[arg(long, env = "CMS_TRUST_PROXY", value_parser = BoolishValueParser::new())]
    pub(crate) trust_proxy: bool,
    /// Apply this project file before listening; may be repeated.
    #[arg(long, value_name = "FILE", env = "CMS_APPLY")]
    pub(crate) apply: Vec<PathBuf>,
    /// Import this content folder before listening; existing objects do not change, and an
    /// interrupted import is resumed.
    #[arg(long, value_name = "DIR", env = "CMS_IMPORT")]
    pub(crate) import: Option<PathBuf>,
    /// Set the durability of commits: `full` survives a power failure, `normal` is faster.
    #[arg(long, default_value = "full", env = "CMS_DURABILITY",
        value_parser = PossibleValuesParser::new(Durability::ALL.map(Durability::as_str))
            .try_map(|text| Durability::parse(&text).ok_or("unknown durability")))]
    pub(crate) durability: Durability,
    /// Set the maximum size of a request body, in bytes or with a unit like all sizes: `64MB`,
    /// `64MiB`.
    #[arg(long, value_name = "SIZE", env = "CMS_BODY_LIMIT", value_parser = body_limit)]
    pub(crate) body_limit: Option<usize>,
    /// Set the maximum number of elements in a batch.
    #[arg(long, value_name = "N", env = "CMS_BATCH_LIMIT",
        value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) batch_limit: Option<usize>,
    /// Set how long a search waits until the index contains earlier writes, in milliseconds.
    #[arg(long, value_name = "MS", env = "CMS_SEARCH_WAIT",
        value_parser = clap::value_parser!(u64).range(..=60_000))]
    pub(crate) search_wait: Option<u64>,
    /// Set the maximum size of an uploaded file.
    #[arg(long, value_name = "SIZE", env = "CMS_MEDIA_FILE_LIMIT", value_parser = size)]
    pub(crate) media_file_limit: Option<u64>,
    /// Set the maximum size of an upload request; raised automatically to fit --media-file-limit.
    #[arg(long, value_name = "SIZE", env = "CMS_UPLOAD_LIMIT", value_parser = size)]
    pub(crate) upload_limit: Option<u64>,
    /// Set the maximum disk space for rendered images.
    #[arg(long, value_name = "SIZE", env = "CMS_RENDER_CACHE", value_parser = size)]
    pub(crate) render_cache: Option<u64>,
    #[command(flatten)]
    pub(crate) backups: super::BackupScheduleArgs,
    /// Set the maximum number of content types, including built-in ones.
    #[arg(long, value_name = "N", env = "CMS_MAX_TYPES")]
    pub(crate) max_types: Option<u64>,
    /// Set the maximum number of objects of all types.
    #[arg(long, value_name = "N", env = "CMS_MAX_OBJECTS")]
    pub(crate) max_objects: Option<u64>,
    /// Set the number of days for which the activity log is kept.
    #[arg(long, value_name = "DAYS", default_value_t = limits::DEFAULT_ACTIVITY_DAYS,
        env = "CMS_ACTIVITY_DAYS",
        value_parser = clap::value_parser!(i64)
            .range(limits::MIN_ACTIVITY_DAYS..=limits::MAX_ACTIVITY_DAYS))]
    pub(crate) activity_days: i64,
    /// Allow the API to change read-only properties.
    #[arg(long, env = "CMS_LENIENT_READONLY", value_parser = BoolishValueParser::new())]
    pub(crate) lenient_readonly: bool,
    /// Refuse requests with a session that change content types. Requests with a key may still change
    /// them, and requests for a plan are not refused.
    #[arg(long, env = "CMS_TYPES_READONLY", value_parser = BoolishValueParser::new())]
    pub(crate) types_readonly: bool,
    #[command(flatten)]
    pub(crate) webhooks: WebhookAccess,
    /// Allow the admin page to show previews of this front end in a frame, for example
    /// `https://www.example.com`; may be repeated. The variable has origins separated by commas.
    #[arg(long, value_name = "ORIGIN", env = "CMS_PREVIEW_ORIGINS", value_delimiter = ',',
        value_parser = origin)]
    pub(crate) preview_origins: Vec<String>,

    #[command(flatten)]
    pub(crate) openid: OpenIdArgs,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub(crate) node: super::NodeArgs,
    /// Set the maximum number of open connections; further ones wait until one is closed.
    #[arg(long, value_name = "N", env = "CMS_MAX_CONNECTIONS", value_parser = limit)]
    pub(crate) max_connections: Option<usize>,
    /// Set the maximum number of connections of one client address, or IPv6 /64 network; further ones are
    /// closed. 0 disables the limit. Default: 128 for public addresses, unless --trust-proxy is
    /// set.
    #[arg(long, value_name = "N", env = "CMS_CONNECTIONS_PER_ADDRESS")]
    pub(crate) connections_per_address: Option<usize>,
    /// Set the memory budget for responses, at least 16 MiB; requests over the budget are refused.
    #[arg(long, value_name = "SIZE", env = "CMS_RESPONSE_MEMORY", value_parser = response_memory)]
    pub(crate) response_memory: Option<usize>,
    /// Set the maximum memory for cached responses to reads of content; 0 disables the cache, and that
    /// of linked objects.
    #[arg(long, value_name = "SIZE", env = "CMS_RESPONSE_CACHE", value_parser = memory_size)]
    pub(crate) response_cache: Option<usize>,
    /// Set the maximum number of simultaneous change streams; further ones are refused.
    #[arg(long, value_name = "N", env = "CMS_MAX_SUBSCRIBERS", value_parser = limit)]
    pub(crate) max_subscribers: Option<usize>,
    /// Set the timeout for receiving a request body, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, env = "CMS_REQUEST_TIMEOUT",
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) request_timeout: u64,
    /// Set the minimum average transfer rate of a client in bytes per second. The time that a
    /// transfer waits for the client may exceed the time that its bytes take at this rate by 30
    /// seconds; then it is aborted. 0 disables the limit.
    #[arg(long, alias = "least-rate", value_name = "SIZE", default_value = "4096",
        env = "CMS_MIN_TRANSFER_RATE", value_parser = size)]
    pub(crate) min_transfer_rate: u64,
    /// Limit the requests per second of one key: RATE, or RATE/BURST like `100/500`. Further ones get
    /// status 429.
    #[arg(long, value_name = "RATE", env = "CMS_KEY_RATE")]
    pub(crate) key_rate: Option<Rate>,
    /// Limit the requests per second of one client address, or IPv6 /64 network, like --key-rate.
    #[arg(long, value_name = "RATE", env = "CMS_ADDRESS_RATE")]
    pub(crate) address_rate: Option<Rate>,
    /// Set the access to /metrics.
    #[arg(long, default_value = "public", env = "CMS_METRICS")]
    pub(crate) metrics: MetricsChoice,
    /// Log reads that take longer than this, in milliseconds, with their parameters; 0 logs none.
    #[arg(long, value_name = "MS", default_value_t = 250, env = "CMS_SLOW_QUERY")]
    pub(crate) slow_query: u64,
    /// Send traces to this OpenTelemetry collector over HTTP, for example `http://127.0.0.1:4318`.
    #[arg(long, value_name = "URL", env = "CMS_TRACES", value_parser = base_url)]
    pub(crate) traces: Option<String>,
    /// Read settings from this file; flags and environment variables override it. Default:
    /// `cms.toml` in the data directory, if it exists.
    #[arg(long, value_name = "FILE", env = "CMS_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Set the format of the log on standard error.
    #[arg(long, default_value = "text", env = "CMS_LOG_FORMAT")]
    pub(crate) log_format: LogFormat,
    /// Set the log level: error, warn, info, debug, trace, or a filter such as `cms=debug`.
    #[arg(long = "log", value_name = "LEVEL", default_value = "info", env = "CMS_LOG")]
    pub(crate) log_level: String,
}

/// Which URLs of webhooks are allowed besides public https:// ones.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct WebhookAccess {
    /// Allow webhook URLs in private networks and on this machine.
    #[arg(long, env = "CMS_WEBHOOK_ALLOW_PRIVATE", value_parser = BoolishValueParser::new())]
    pub(crate) webhook_allow_private: bool,
    /// Allow webhook URLs without TLS, `http://`.
    #[arg(long, env = "CMS_WEBHOOK_ALLOW_HTTP", value_parser = BoolishValueParser::new())]
    pub(crate) webhook_allow_http: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetricsChoice {
    /// Everyone.
    Public,
    /// Admin keys and sessions of admins.
    Admin,
    /// No access.
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Parses a limit on simultaneous connections or streams.
fn limit(text: &str) -> Result<usize, String> {
    const MAX: usize = 1_000_000;
    match text.parse() {
        Ok(number @ 1..=MAX) => Ok(number),
        _ => Err(format!("use a number from 1 to {MAX}")),
    }
}
