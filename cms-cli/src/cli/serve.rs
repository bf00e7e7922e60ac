//! `cms serve` as clap reads it.

use std::path::PathBuf;

use clap::{Args, ValueEnum, builder::BoolishValueParser};
use cms_server::Rate;

use super::{
    openapi::base_url,
    values::{listen_address, memory_size, response_memory, size},
};

/// Run the server.
///
/// The first start makes the data folder and three keys. They are printed once, on standard
/// output, as lines that a shell can read (`CMS_ADMIN_KEY=...`); everything else goes to standard
/// error. Keys set through the environment are used as they are and are not printed.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on; port 0 takes a free one.
    ///
    /// `localhost:8080`, `:8080` and `8080` mean `127.0.0.1:8080`: only this machine can connect.
    /// `0.0.0.0:8080` listens on all networks.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", env = "CMS_LISTEN",
        value_parser = listen_address)]
    pub(crate) listen: std::net::SocketAddr,
    /// Where clients find the API, for example `https://cms.example.com`, instead of where each of
    /// them asks.
    #[arg(long, value_name = "URL", env = "CMS_PUBLIC_URL", value_parser = base_url)]
    pub(crate) public_url: Option<String>,
    /// Believe X-Forwarded-Host, X-Forwarded-Proto and the last address of X-Forwarded-For: only
    /// behind a proxy that sets them.
    #[arg(long, env = "CMS_TRUST_PROXY", value_parser = BoolishValueParser::new())]
    pub(crate) trust_proxy: bool,
    /// Apply these project files before listening.
    #[arg(long, value_name = "FILE", env = "CMS_APPLY")]
    pub(crate) apply: Vec<PathBuf>,
    /// Import this content folder before listening; objects that exist are left alone, and an import
    /// that was interrupted is resumed.
    #[arg(long, value_name = "DIR", env = "CMS_IMPORT")]
    pub(crate) import: Option<PathBuf>,
    /// How a commit reaches the disk: `full` survives a power cut, `normal` is faster.
    #[arg(long, default_value = "full", env = "CMS_DURABILITY")]
    pub(crate) durability: DurabilityChoice,
    /// Largest request body: bytes, or with a unit, as all sizes: `64MB`, `64MiB`.
    #[arg(long, value_name = "SIZE", env = "CMS_BODY_LIMIT", value_parser = memory_size)]
    pub(crate) body_limit: Option<usize>,
    /// Most elements of one batch call.
    #[arg(long, value_name = "N", env = "CMS_BATCH_LIMIT")]
    pub(crate) batch_limit: Option<usize>,
    /// How long a search waits for the index to show what was written before, in milliseconds.
    #[arg(long, value_name = "MS", env = "CMS_SEARCH_WAIT", 
        value_parser = clap::value_parser!(u64).range(..=60_000))]
    pub(crate) search_wait: Option<u64>,
    /// Largest file that may be uploaded.
    #[arg(long, value_name = "SIZE", env = "CMS_MEDIA_FILE_LIMIT", value_parser = size)]
    pub(crate) media_file_limit: Option<u64>,
    /// Largest request that uploads a file; at least what the largest file needs.
    #[arg(long, value_name = "SIZE", env = "CMS_UPLOAD_LIMIT", value_parser = size)]
    pub(crate) upload_limit: Option<u64>,
    /// Most disk space for images rendered in other sizes.
    #[arg(long, value_name = "SIZE", env = "CMS_RENDER_CACHE", value_parser = size)]
    pub(crate) render_cache: Option<u64>,
    #[command(flatten)]
    pub(crate) backups: super::ScheduleArgs,
    /// Most content types, built-in ones included.
    #[arg(long, value_name = "N", env = "CMS_MAX_TYPES")]
    pub(crate) max_types: Option<u64>,
    /// Most objects of all types.
    #[arg(long, value_name = "N", env = "CMS_MAX_OBJECTS")]
    pub(crate) max_objects: Option<u64>,
    /// Let the API change read-only properties.
    #[arg(long, env = "CMS_LENIENT_READONLY", value_parser = BoolishValueParser::new())]
    pub(crate) lenient_readonly: bool,
    #[command(flatten)]
    pub(crate) webhooks: WebhookReach,
    /// Open connections; more wait to be accepted.
    #[arg(long, value_name = "N", env = "CMS_MAX_CONNECTIONS", value_parser = many)]
    pub(crate) max_connections: Option<usize>,
    /// Open connections of one client address, of IPv6 of one /64 network; more are closed. 0 for any
    /// number. Without it, 128 for public addresses, unless a proxy is trusted.
    #[arg(long, value_name = "N", env = "CMS_CONNECTIONS_PER_ADDRESS")]
    pub(crate) connections_per_address: Option<usize>,
    /// Memory for responses that are made or unsent, at least 16 MiB; more are refused.
    #[arg(long, value_name = "SIZE", env = "CMS_RESPONSE_MEMORY", value_parser = response_memory)]
    pub(crate) response_memory: Option<usize>,
    /// Streams of changes at the same time; more are refused.
    #[arg(long, value_name = "N", env = "CMS_MAX_SUBSCRIBERS", value_parser = many)]
    pub(crate) max_subscribers: Option<usize>,
    /// How long the body of a request may take to arrive, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, env = "CMS_REQUEST_TIMEOUT",
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) request_timeout: u64,
    /// Bytes per second that a client must send or take on average, after 30 seconds of waiting; 0 for
    /// any.
    #[arg(long, value_name = "SIZE", default_value = "4096", env = "CMS_LEAST_RATE",
        value_parser = size)]
    pub(crate) least_rate: u64,
    /// Requests per second of one key, or RATE/BURST: `100/500`. More are answered with 429.
    #[arg(long, value_name = "RATE", env = "CMS_KEY_RATE")]
    pub(crate) key_rate: Option<Rate>,
    /// The same for one address, whatever key it has; of IPv6, for one /64 network.
    #[arg(long, value_name = "RATE", env = "CMS_ADDRESS_RATE")]
    pub(crate) address_rate: Option<Rate>,
    /// Who may read /metrics.
    #[arg(long, default_value = "public", env = "CMS_METRICS")]
    pub(crate) metrics: MetricsChoice,
    /// Log reads that take longer, in milliseconds, with what they asked for; 0 logs none.
    #[arg(long, value_name = "MS", default_value_t = 250, env = "CMS_SLOW_QUERY")]
    pub(crate) slow_query: u64,
    /// Send traces to this collector of OpenTelemetry, over HTTP: `http://127.0.0.1:4318`.
    #[arg(long, value_name = "URL", env = "CMS_TRACES", value_parser = base_url)]
    pub(crate) traces: Option<String>,
    /// Read settings from this file, where neither a flag nor a variable says otherwise; without it,
    /// from `cms.toml` in the data folder when there is one.
    #[arg(long, value_name = "FILE", env = "CMS_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Form of the log on standard error.
    #[arg(long, default_value = "text", env = "CMS_LOG_FORMAT")]
    pub(crate) log_format: LogFormat,
    /// What is logged: error, warn, info, debug, trace, or a filter such as `cms=debug`.
    #[arg(long = "log", value_name = "LEVEL", default_value = "info", env = "CMS_LOG")]
    pub(crate) log_level: String,
}

/// Where webhooks may be, beyond the public internet.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct WebhookReach {
    /// Let webhooks have addresses of private networks and of this machine.
    #[arg(long, env = "CMS_WEBHOOK_ALLOW_PRIVATE", value_parser = BoolishValueParser::new())]
    pub(crate) webhook_allow_private: bool,
    /// Let webhooks have addresses without TLS, `http://`.
    #[arg(long, env = "CMS_WEBHOOK_ALLOW_HTTP", value_parser = BoolishValueParser::new())]
    pub(crate) webhook_allow_http: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DurabilityChoice {
    Full,
    Normal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetricsChoice {
    /// Whoever reaches the server.
    Public,
    /// Who has an admin key.
    Admin,
    /// Nobody.
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// A number of things at the same time.
fn many(text: &str) -> Result<usize, String> {
    const MOST: usize = 1_000_000;
    match text.parse() {
        Ok(number @ 1..=MOST) => Ok(number),
        _ => Err(format!("a number from 1 to {MOST} is expected")),
    }
}
