//! `cms serve`: opens the folder, makes the first keys, applies files, and runs the server.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, IsTerminal},
    net::SocketAddr,
    panic,
    sync::Arc,
    time::Duration,
};

use cms_core::{
    BackupPlan, CoreConfig, Durability, Error, FirstKeys, TRACE_TARGET,
    wire::key::{CreatedKey, KeyKind},
};
use cms_server::{LogWriter, MetricsAccess, ServerConfig, Traces, Tunables};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::LevelFilter,
    fmt,
    layer::{Filter, SubscriberExt},
    reload,
    util::SubscriberInitExt,
};

use super::{apply, import};
use crate::{
    cli::{Command, DurabilityChoice, LogFormat, MetricsChoice, ServeArgs},
    config_file::{self, FOLDER},
    failure::{Failure, Kind, Outcome, Result},
    printer::Printer,
    report,
    settings::{self, Place, Settings},
    target::{self, Direct},
};

/// Settings that count from the moment on in which they are read again.
const RELOADED: [&str; 4] = ["log", "slow-query", "key-rate", "address-rate"];

/// How long the end of the command waits for whoever reads the log.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// What a request that uploads a file holds besides the file, at most.
const OTHER_FIELDS: u64 = 1024 * 1024;

pub(super) fn run(args: &ServeArgs, settings: &Settings, printer: &mut Printer) -> Result<Outcome> {
    let traces = args.traces.as_deref().map(Traces::to).transpose().map_err(Failure::usage)?;
    let (set_level, log) = start_log(args.log_format, &args.log_level, traces.as_ref())?;
    let log = FlushLog(log);
    let mut known = config_file::read()?.values;
    let mut config = ServerConfig {
        listen: args.listen,
        public_url: args.public_url.clone(),
        trust_proxy: args.trust_proxy,
        least_rate: args.least_rate,
        request_timeout: Duration::from_secs(args.request_timeout),
        metrics: match args.metrics {
            MetricsChoice::Public => MetricsAccess::Public,
            MetricsChoice::Admin => MetricsAccess::Admin,
            MetricsChoice::Off => MetricsAccess::Off,
        },
        tunables: tunables(args),
        log: Some(log.0.clone()),
        connections_per_address: args.connections_per_address,
        ..ServerConfig::default()
    };
    if let Some(connections) = args.max_connections {
        config.connections = connections;
    }
    if let Some(bytes) = args.response_memory {
        config.response_memory = bytes;
    }
    if let Some(subscribers) = args.max_subscribers {
        config.subscribers = subscribers;
    }
    if let Some(limit) = args.body_limit {
        config.body_limit = limit;
    }
    config.webhook_private = args.webhooks.webhook_allow_private;
    let largest_file = args.media_file_limit.unwrap_or_default();
    config.upload_limit = args
        .upload_limit
        .unwrap_or(config.upload_limit)
        .max(largest_file.saturating_add(OTHER_FIELDS));
    if let Some(place) = args.backups.to.as_ref().filter(|place| !place.is_empty()) {
        config.backups = Some(BackupPlan {
            to: settings::backup_place(place)?,
            every: args.backups.every,
            keep: args.backups.keep.into(),
        });
    }
    let bound = cms_server::bind(config).map_err(|error| cannot_listen(args.listen, &error))?;
    let cms = Arc::new(target::open_folder(core_config(args, settings))?);
    cms.media().connect().map_err(no_media)?;
    show_keys(&cms.keys().ensure_first(&first_keys())?, printer)?;
    if !args.apply.is_empty() {
        apply::at_start(&Direct::over(Arc::clone(&cms)), &args.apply, printer)?;
    }
    if let Some(folder) = &args.import {
        import::at_start(&cms, folder, printer)?;
    }
    for folder in cms.unfinished_imports()? {
        printer.note(&format!(
            "the import of {folder} was interrupted and is not complete: --import {folder} resumes it"
        ))?;
    }

    let running = bound.serve(cms).map_err(|error| cannot_listen(args.listen, &error))?;
    log.0.flush(FLUSH_TIMEOUT);
    printer.note(&format!("listening on http://{}", running.address()))?;
    let reload = || reload(&mut known, &set_level);
    running.run_until_signal(reload).map_err(|error| cannot_listen(args.listen, &error))?;
    Ok(Outcome::Done)
}

/// An address that another program has may be free later.
fn cannot_listen(address: SocketAddr, error: &io::Error) -> Failure {
    let message = format!("cannot listen on {address}: {error}");
    if error.kind() == io::ErrorKind::AddrInUse {
        Failure::from(Kind::Target(Error::Busy(message)))
            .hint("another program listens there: stop it, or choose another address with --listen")
    } else {
        Failure::usage(message).hint("choose another address with --listen")
    }
}

/// Sets what is logged.
type SetLevel = Box<dyn Fn(&str) -> Result<()>>;

/// Sends the log to standard error, and spans where they go. `level` is a level or a filter such as
/// `cms=debug`.
fn start_log(
    format: LogFormat,
    level: &str,
    traces: Option<&Traces>,
) -> Result<(SetLevel, LogWriter)> {
    let (filter_now, handle) = reload::Layer::new(filter(level)?);
    let report = |lines: u64| tracing::warn!(lines, "log lines dropped: nobody read the log");
    let writer = LogWriter::start(io::stderr(), report)
        .map_err(|error| Failure::local(format!("cannot start a thread for the log: {error}")))?;
    tracing_subscriber::registry().with(layers(format, filter_now, traces, &writer)).init();
    // The usual message of a panic would wait for whoever reads standard error.
    panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a thread panicked")));
    let set_level = move |level: &str| {
        let failed = |error: reload::Error| Failure::local(error.to_string());
        handle.reload(filter(level)?).map_err(failed)
    };
    Ok((Box::new(set_level), writer))
}

/// Writes out what of the log still waits, when the command ends.
struct FlushLog(LogWriter);

impl Drop for FlushLog {
    fn drop(&mut self) {
        self.0.flush(FLUSH_TIMEOUT);
    }
}

/// What hears of events and spans. A list, since an `Option` that is none would want every span, and so
/// make the server pay for them.
fn layers(
    format: LogFormat,
    filter: impl Filter<Registry> + Send + Sync + 'static,
    traces: Option<&Traces>,
    writer: &LogWriter,
) -> Vec<Box<dyn Layer<Registry> + Send + Sync>> {
    // A log that cannot be written is no reason to fail: saying so on the same output would panic.
    let writer = writer.clone();
    let log = fmt::layer().log_internal_errors(false).with_writer(move || writer.clone());
    let log = match format {
        LogFormat::Text => log.with_ansi(io::stderr().is_terminal()).with_filter(filter).boxed(),
        LogFormat::Json => log.json().with_filter(filter).boxed(),
    };
    let traces = traces.map(|traces| traces.layer().boxed());
    [log].into_iter().chain(traces).collect()
}

fn filter(level: &str) -> Result<EnvFilter> {
    // A word alone could also be the name of a part of the program, of which there would be no other
    // line then: it is a level with a mistake in it.
    let is_known = |word: &str| word.parse::<LevelFilter>().is_ok();
    let is_word = |part: &&str| !part.contains(['=', '[']);
    if let Some(word) =
        level.split(',').map(str::trim).find(|part| is_word(part) && !is_known(part))
    {
        return Err(Failure::usage(format!("\"{word}\" is no log level"))
            .hint("use error, warn, info, debug, trace or off, or PART=LEVEL"));
    }
    // Migrations tell each of their steps; their errors are ours to report. Spans are no lines.
    EnvFilter::try_new(format!("refinery_core=warn,{TRACE_TARGET}=off,{level}"))
        .map_err(|error| Failure::usage(format!("\"{level}\" is no log level: {error}")))
}

fn tunables(args: &ServeArgs) -> Tunables {
    Tunables {
        slow_query: (args.slow_query > 0).then(|| Duration::from_millis(args.slow_query)),
        key_rate: args.key_rate,
        address_rate: args.address_rate,
    }
}

/// Reads the settings again, and says of each that changed whether it counts from now on.
fn reload(known: &mut BTreeMap<String, String>, set_level: &SetLevel) -> Option<Tunables> {
    let read = config_file::read().and_then(|given| match given.cli.command {
        Command::Serve(args) => set_level(&args.log_level).map(|()| (args, given.values)),
        _ => Err(Failure::local("the command line changed")),
    });
    let (args, now) = match read {
        Ok(read) => read,
        Err(failure) => {
            let reasons = report::failure_body(&failure).to_string();
            tracing::error!(reasons, "the settings cannot be read: nothing changes");
            return None;
        }
    };
    let names: BTreeSet<String> = known.keys().chain(now.keys()).cloned().collect();
    for setting in names.iter().filter(|name| known.get(*name) != now.get(*name)) {
        let (from, to) = (known.get(setting), now.get(setting));
        if RELOADED.contains(&setting.as_str()) {
            tracing::info!(%setting, ?from, ?to, "a setting changed");
        } else {
            tracing::warn!(%setting, ?from, ?to, "a setting changed that needs a restart");
        }
    }
    tracing::info!("the settings were read again");
    known.retain(|name, _| !RELOADED.contains(&name.as_str()));
    known.extend(now.into_iter().filter(|(name, _)| RELOADED.contains(&name.as_str())));
    Some(tunables(&args))
}

fn core_config(args: &ServeArgs, settings: &Settings) -> CoreConfig {
    let folder = match &settings.place {
        Some(Place::Folder(folder)) => folder.clone(),
        _ => FOLDER.into(),
    };
    let mut config = CoreConfig::new(folder);
    config.new_database = settings.new_database();
    config.durability = match args.durability {
        DurabilityChoice::Full => Durability::Full,
        DurabilityChoice::Normal => Durability::Normal,
    };
    if let Some(limit) = args.batch_limit {
        config.batch_limit = limit;
    }
    if let Some(wait) = args.search_wait {
        config.search_wait = Duration::from_millis(wait);
    }
    if let Some(limit) = args.media_file_limit {
        config.media_file_limit = limit;
    }
    if let Some(space) = args.render_cache {
        config.render_cache = space;
    }
    config.max_types = args.max_types;
    config.max_objects = args.max_objects;
    config.lenient_readonly = args.lenient_readonly;
    config.http_webhooks = args.webhooks.webhook_allow_http;
    config.media = settings.media.clone();
    config
}

/// Keys that the operator set.
fn first_keys() -> FirstKeys {
    let set = settings::variable;
    FirstKeys {
        admin: set(variable(KeyKind::Admin)),
        read_write: set(variable(KeyKind::ReadWrite)),
        read_only: set(variable(KeyKind::ReadOnly)),
    }
}

/// The variable that sets a first key, and under which it is shown.
fn variable(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Admin => "CMS_ADMIN_KEY",
        KeyKind::ReadWrite => "CMS_RW_KEY",
        KeyKind::ReadOnly => "CMS_RO_KEY",
        KeyKind::Scoped => "CMS_KEY",
    }
}

/// Better no server than one that can take no files.
fn no_media(error: Error) -> Failure {
    let hint = match error {
        Error::Conflict(_) => "give each data folder a bucket or a prefix of its own",
        _ => {
            "--media names the bucket, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and \
              AWS_ENDPOINT_URL say how to reach it"
        }
    };
    match error {
        Error::Internal(reason) => Failure::usage(reason.to_string()).hint(hint),
        other => Failure::from(other).hint(hint),
    }
}

/// Prints new keys on standard output, as lines that a shell can read.
fn show_keys(keys: &[CreatedKey], printer: &mut Printer) -> Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    printer.note("first start: these are the keys, and they are shown only this once")?;
    for key in keys {
        printer.text(&format!("{}={}\n", variable(key.item.kind), key.key))?;
    }
    printer.flush()
}

#[cfg(test)]
mod tests {
    use tracing::{info_span, subscriber};

    use super::*;

    #[test]
    fn spans_cost_nothing_where_nobody_traces() {
        let collector = Traces::to("http://127.0.0.1:9").unwrap();
        for (traces, are_wanted) in [(None, false), (Some(&collector), true)] {
            for format in [LogFormat::Text, LogFormat::Json] {
                let writer = LogWriter::start(io::sink(), |_| {}).unwrap();
                let layers = layers(format, filter("info").unwrap(), traces, &writer);
                let begins = || !info_span!(target: TRACE_TARGET, "request").is_disabled();
                let begun =
                    subscriber::with_default(tracing_subscriber::registry().with(layers), begins);
                assert_eq!(begun, are_wanted, "{format:?}");
            }
        }
    }
}
