//! `cms serve`: opens the data directory, creates the first keys, applies files, and runs the
//! server.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, IsTerminal, Write},
    mem,
    net::SocketAddr,
    panic,
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use cms_core::{
    BackupSchedule, Cms, CoreConfig, Error, FirstKeys, TRACE_TARGET,
    wire::key::{CreatedKey, KeyKind},
};
use cms_server::{LogWriter, MetricsAccess, ReloadableSettings, ServerConfig, StopReason, Traces};
use tempfile::NamedTempFile;
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::LevelFilter,
    fmt,
    layer::{Filter, SubscriberExt},
    reload,
    util::SubscriberInitExt,
};

#[cfg(feature = "cluster")]
use super::cluster;
use super::{IS_SERVING, apply, import};
use crate::{
    cli::{Command, LogFormat, MetricsChoice, OPENID_SECRET_VARIABLE, ServeArgs},
    config_file::{self, DEFAULT_DIRECTORY},
    failure::{Failure, FailureKind, Outcome, Result},
    printer::Printer,
    settings::{self, Settings, TargetAddress},
    target::{self, Direct},
    text_output,
};

/// Settings that a reload changes without a restart.
const RELOADABLE: [&str; 4] = ["log", "slow-query", "key-rate", "address-rate"];

/// Maximum time that the command waits for the log to be written before it ends.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum time for the threads of a server to end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// If `media-file-limit` is set, `upload-limit` exceeds it by at least this number of bytes: space for
/// the other fields of the form.
const UPLOAD_MARGIN_BYTES: u64 = 1024 * 1024;

pub(super) fn run(args: &ServeArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let traces =
        args.traces.as_deref().map(Traces::export_to).transpose().map_err(Failure::usage)?;
    let (set_level, log) = start_log(args.log_format, &args.log_level, traces.as_ref())?;
    let log = FlushLog(log);
    let mut known = args.values.clone();
    let mut config = ServerConfig { log: Some(log.0.clone()), ..server_config(args)? };
    loop {
        let end = serve(args, settings, &mut config, &mut known, &set_level, &log.0, printer)?;
        if end == StopReason::Terminated {
            return Ok(Outcome::Done);
        }
        // Binds the same address again; with port 0, this binds another free port.
        printer.note("the replica cannot follow the database of the cluster: copying it again")?;
    }
}

/// The settings of the server, except its log.
fn server_config(args: &ServeArgs) -> Result<ServerConfig> {
    let defaults = ServerConfig::default();
    let mut config = ServerConfig {
        listen: args.listen,
        public_url: args.public_url.clone(),
        trust_proxy: args.trust_proxy,
        min_transfer_rate: args.min_transfer_rate,
        request_timeout: Duration::from_secs(args.request_timeout),
        metrics: match args.metrics {
            MetricsChoice::Public => MetricsAccess::Public,
            MetricsChoice::Admin => MetricsAccess::Admin,
            MetricsChoice::Off => MetricsAccess::Off,
        },
        reloadable: reloadable(args),
        #[cfg(feature = "cluster")]
        read_consistency: args.node.read_consistency,
        connections_per_address: args.connections_per_address,
        connections: args.max_connections.unwrap_or(defaults.connections),
        response_memory: args.response_memory.unwrap_or(defaults.response_memory),
        response_cache: args.response_cache.unwrap_or(defaults.response_cache),
        subscribers: args.max_subscribers.unwrap_or(defaults.subscribers),
        body_limit: args.body_limit.unwrap_or(defaults.body_limit),
        webhook_private: args.webhooks.webhook_allow_private,
        upload_limit: {
            let file = args.media_file_limit.map(|file| file.saturating_add(UPLOAD_MARGIN_BYTES));
            args.upload_limit.unwrap_or(defaults.upload_limit).max(file.unwrap_or_default())
        },
        openid: args
            .openid
            .config(settings::variable(OPENID_SECRET_VARIABLE))
            .map_err(Failure::usage)?,
        ..defaults
    };
    if let Some(to) = args.backups.to.as_ref().filter(|to| !to.is_empty()) {
        config.backups = Some(BackupSchedule {
            destination: settings::backup_destination(to)?,
            every: args.backups.every,
            keep: args.backups.keep.into(),
        });
    }
    Ok(config)
}

/// Opens the data directory and serves it until the server ends. `config` gets the settings that were
/// reloaded meanwhile.
fn serve(
    args: &ServeArgs,
    settings: &Settings,
    config: &mut ServerConfig,
    known: &mut BTreeMap<String, String>,
    set_level: &SetLevel,
    log: &LogWriter,
    printer: &Printer,
) -> Result<StopReason> {
    let core = core_config(args, settings)?;
    let cannot_listen = |error| cannot_listen(args.listen, &error);
    let bound = cms_server::bind(config.clone()).map_err(cannot_listen)?;
    let is_restart = IS_SERVING.swap(false, Ordering::Relaxed);
    let bound = if is_restart { bound.exit_on_signal() } else { bound };
    // A node may need minutes to copy the database of the cluster.
    let bound = if core.cluster.is_some() { bound.respond_while_starting() } else { bound };
    let cms = Arc::new(target::open_directory(core)?);
    if let Some(cluster) = cms.cluster() {
        // Before the first write: without `catch_up`, that write would apply all missed commits while it holds the
        // lock of the cluster; without `report`, which corrects the clock, its date could be wrong.
        cluster.catch_up()?;
        cluster.report()?;
    }
    cms.media().connect().map_err(media_failure)?;
    show_keys(&cms.keys().ensure_first(&first_keys())?, printer).map_err(|failure| {
        failure.hint("the keys are stored: `cms key rotate NAME --data DIR` creates new tokens")
    })?;
    let set_up = ensure_first_user(&cms, args.public_url.as_deref(), bound.address(), printer)?;
    if !args.apply.is_empty() {
        apply::at_start(&Direct::new(Arc::clone(&cms)), &args.apply, printer)?;
    }
    if let Some(folder) = &args.import {
        import::at_start(&cms, folder, printer)?;
    }
    for folder in cms.unfinished_imports()? {
        printer.note(&format!(
            "the import of {folder} is not complete: resume it with --import {folder}"
        ))?;
    }

    let running = bound.serve(Arc::clone(&cms)).map_err(cannot_listen)?;
    IS_SERVING.store(true, Ordering::Relaxed);
    log.flush(FLUSH_TIMEOUT);
    printer.note(&format!("listening on http://{}", running.address()))?;
    let _redirect = if args.open { open_page(set_up, running.address(), printer)? } else { None };
    let reload = || {
        let reloaded = reload(known, set_level)?;
        config.reloadable = reloaded;
        Some(reloaded)
    };
    let end = running
        .run_until_signal(reload)
        .map_err(|error| Failure::local(format!("cannot listen for signals: {error}")))?;
    wait_until_closed(&cms);
    Ok(end)
}

/// Waits until the threads of the server have released the data directory.
fn wait_until_closed(cms: &Arc<Cms>) {
    let deadline = Instant::now() + CLOSE_TIMEOUT;
    while Arc::strong_count(cms) > 1 && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
}

/// The error of an unusable address. If another program uses the address, it may be free later, so the
/// error is `Busy`.
fn cannot_listen(address: SocketAddr, error: &io::Error) -> Failure {
    let message = format!("cannot listen on {address}: {error}");
    if error.kind() == io::ErrorKind::AddrInUse {
        Failure::from(FailureKind::Target(Error::Busy(message)))
            .hint("another program uses the address: stop it, or choose another one with --listen")
    } else {
        Failure::usage(message).hint("choose another address with --listen")
    }
}

/// Changes the log level.
type SetLevel = Box<dyn Fn(&str) -> Result<()>>;

/// Starts logging to standard error, and traces. `level` is a level or a filter such as
/// `cms=debug`.
fn start_log(
    format: LogFormat,
    level: &str,
    traces: Option<&Traces>,
) -> Result<(SetLevel, LogWriter)> {
    let (filter_now, handle) = reload::Layer::new(filter(level)?);
    let report = |lines: u64| tracing::warn!(lines, "log lines dropped: standard error is blocked");
    let writer = LogWriter::start(io::stderr(), report)
        .map_err(|error| Failure::local(format!("cannot start a thread for the log: {error}")))?;
    tracing_subscriber::registry().with(layers(format, filter_now, traces, &writer)).init();
    // The default hook would block while standard error is blocked.
    panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a thread panicked")));
    let set_level = move |level: &str| {
        let failed = |error: reload::Error| Failure::local(error.to_string());
        handle.reload(filter(level)?).map_err(failed)
    };
    Ok((Box::new(set_level), writer))
}

/// Flushes the log when the command ends.
struct FlushLog(LogWriter);

impl Drop for FlushLog {
    fn drop(&mut self) {
        self.0.flush(FLUSH_TIMEOUT);
    }
}

/// The layers of logs and traces. A list, because an `Option` without a layer would enable every
/// span.
fn layers(
    format: LogFormat,
    filter: impl Filter<Registry> + Send + Sync + 'static,
    traces: Option<&Traces>,
    writer: &LogWriter,
) -> Vec<Box<dyn Layer<Registry> + Send + Sync>> {
    // Reporting a failed write on the same output would panic.
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
    // A single word could name a module, and disable the log of all others; more likely, it is a
    // misspelt level.
    let is_known = |word: &str| word.parse::<LevelFilter>().is_ok();
    let is_word = |part: &&str| !part.contains(['=', '[']);
    if let Some(word) =
        level.split(',').map(str::trim).find(|part| is_word(part) && !is_known(part))
    {
        return Err(Failure::usage(format!("log level \"{word}\" is not valid"))
            .hint("use error, warn, info, debug, trace or off, or MODULE=LEVEL"));
    }
    // Migrations log each step, and their errors are logged by the store. Spans are no log lines.
    EnvFilter::try_new(format!("refinery_core=warn,{TRACE_TARGET}=off,{level}"))
        .map_err(|error| Failure::usage(format!("log level \"{level}\" is not valid: {error}")))
}

fn reloadable(args: &ServeArgs) -> ReloadableSettings {
    ReloadableSettings {
        slow_query: (args.slow_query > 0).then(|| Duration::from_millis(args.slow_query)),
        key_rate: args.key_rate,
        address_rate: args.address_rate,
    }
}

/// Reads the settings again, and logs for each changed one whether it needs a restart.
fn reload(
    known: &mut BTreeMap<String, String>,
    set_level: &SetLevel,
) -> Option<ReloadableSettings> {
    let read = config_file::read().and_then(|given| {
        let Command::Serve(args) = given.command else {
            return Err(Failure::local("the command line changed"));
        };
        let config = server_config(&args)?;
        set_level(&args.log_level)?;
        Ok((args, config.reloadable))
    });
    let (mut args, reloadable) = match read {
        Ok(read) => read,
        Err(failure) => {
            let reasons = text_output::failure_body(&failure).to_string();
            tracing::error!(reasons, "settings reload failed");
            return None;
        }
    };
    let now = mem::take(&mut args.values);
    let names: BTreeSet<String> = known.keys().chain(now.keys()).cloned().collect();
    for setting in names.iter().filter(|name| known.get(*name) != now.get(*name)) {
        let [from, to] = [&*known, &now]
            .map(|all| all.get(setting).map(|value| config_file::without_password(value)));
        if RELOADABLE.contains(&setting.as_str()) {
            tracing::info!(%setting, ?from, ?to, "setting changed");
        } else {
            tracing::warn!(%setting, ?from, ?to, "setting changed, restart required");
        }
    }
    tracing::info!("settings reloaded");
    known.retain(|name, _| !RELOADABLE.contains(&name.as_str()));
    known.extend(now.into_iter().filter(|(name, _)| RELOADABLE.contains(&name.as_str())));
    Some(reloadable)
}

fn core_config(args: &ServeArgs, settings: &Settings) -> Result<CoreConfig> {
    let folder = match &settings.target {
        Some(TargetAddress::Directory(folder)) => folder.clone(),
        _ => DEFAULT_DIRECTORY.into(),
    };
    let defaults = CoreConfig::new(folder);
    Ok(CoreConfig {
        #[cfg(feature = "cluster")]
        cluster: cluster::node(args, settings)?,
        new_database: settings.new_database(),
        durability: args.durability,
        batch_limit: args.batch_limit.unwrap_or(defaults.batch_limit),
        search_wait: args.search_wait.map_or(defaults.search_wait, Duration::from_millis),
        linked_object_cache: match args.response_cache {
            Some(0) => 0,
            _ => defaults.linked_object_cache,
        },
        media_file_limit: args.media_file_limit.unwrap_or(defaults.media_file_limit),
        render_cache: args.render_cache.unwrap_or(defaults.render_cache),
        max_types: args.max_types,
        max_objects: args.max_objects,
        lenient_readonly: args.lenient_readonly,
        types_readonly: args.types_readonly,
        activity_days: args.activity_days,
        http_webhooks: args.webhooks.webhook_allow_http,
        preview_origins: args.preview_origins.clone(),
        media: settings.media.clone(),
        ..defaults
    })
}

/// Keys from the environment.
fn first_keys() -> FirstKeys {
    let set = |name| settings::variable(name).as_deref().and_then(settings::token);
    FirstKeys {
        admin: set(variable(KeyKind::Admin)),
        read_write: set(variable(KeyKind::ReadWrite)),
        read_only: set(variable(KeyKind::ReadOnly)),
    }
}

/// The variable of a first key, in the environment and in the output.
fn variable(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Admin => "CMS_ADMIN_KEY",
        KeyKind::ReadWrite => "CMS_RW_KEY",
        KeyKind::ReadOnly => "CMS_RO_KEY",
        KeyKind::Scoped => "CMS_KEY",
    }
}

/// The error of unusable file storage.
fn media_failure(error: Error) -> Failure {
    let hint = match error {
        Error::Conflict(_) => "use another bucket or prefix for each data directory",
        _ => {
            "check the bucket in --media, and AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and \
              AWS_ENDPOINT_URL"
        }
    };
    match error {
        Error::Internal(reason) => Failure::usage(reason.to_string()).hint(hint),
        other => Failure::from(other).hint(hint),
    }
}

/// Prints new keys on standard output, as lines that a shell can read.
fn show_keys(keys: &[CreatedKey], printer: &Printer) -> Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    printer.note("first start: these are the keys; they are shown only once")?;
    for key in keys {
        printer.text(&format!("{}={}\n", variable(key.item.kind), key.key))?;
    }
    printer.flush()
}

/// Creates the first user from the environment, or prints and returns the link that creates one.
fn ensure_first_user(
    cms: &Cms,
    public_url: Option<&str>,
    listen: SocketAddr,
    printer: &Printer,
) -> Result<Option<String>> {
    const VARIABLES: [&str; 2] = ["CMS_ADMIN_EMAIL", "CMS_ADMIN_PASSWORD"];
    let sessions = cms.sessions();
    if !sessions.methods()?.setup {
        return Ok(None);
    }
    match VARIABLES.map(settings::variable) {
        [Some(email), Some(password)] => {
            sessions.create_first_admin(&email, &password).map_err(|error| match error {
                Error::Invalid(errors) => {
                    let names = [("email", VARIABLES[0]), ("password", VARIABLES[1])];
                    let wrong = names.into_iter().filter(|(path, _)| !errors.at(path).is_empty());
                    let wrong =
                        wrong.map(|(path, name)| format!("{name}: {}", errors.at(path).join("; ")));
                    Failure::usage(wrong.collect::<Vec<_>>().join(", "))
                }
                other => other.into(),
            })?;
            printer.note(&format!("first start: the user {email} is created"))?;
            return Ok(None);
        }
        [None, None] => {}
        _ => {
            return Err(Failure::usage(format!("only one of {} is set", VARIABLES.join(" and ")))
                .hint("set both to create the first user, or none"));
        }
    }
    if !cms_server::HAS_ADMIN_PAGE {
        // The link would open a page that this build does not have.
        printer.note(
            "there is no user yet, and this build has no admin page: `cms user create` creates one",
        )?;
        return Ok(None);
    }
    let url = public_url.map_or_else(|| local_url(listen), str::to_owned);
    match sessions.new_set_up_link(&url) {
        Ok(Some(link)) => {
            printer
                .note("there is no user yet: this link creates the first one, within 24 hours")?;
            printer.text(&format!("CMS_SETUP_URL={}\n", link.url))?;
            printer.flush()?;
            Ok(Some(link.url))
        }
        Ok(None) => Ok(None),
        // A server that is only read needs no user, so this does not stop the start.
        Err(error) => {
            tracing::warn!(%error, "set-up link not created");
            Ok(None)
        }
    }
}

/// Opens the admin page in the browser. A set-up link is a secret, and all users of a machine can read
/// the arguments of its processes. So the browser opens a file that only this user can read, and the
/// file redirects to the link. The file exists as long as the returned value.
fn open_page(
    set_up: Option<String>,
    listen: SocketAddr,
    printer: &Printer,
) -> Result<Option<NamedTempFile>> {
    let page = format!("{}/admin", local_url(listen));
    let opened = match set_up {
        None => open::that_detached(&page).map(|()| None),
        Some(link) => redirect_to(&link)
            .and_then(|file| open::that_detached(file.path()).map(|()| Some(file))),
    };
    opened.or_else(|error| {
        printer.note(&format!("cannot open a browser: {error}; open {page} yourself"))?;
        Ok(None)
    })
}

/// Creates a file, readable by its owner only, that redirects a browser to `url`. The URL is not
/// escaped, so it must not contain special characters of HTML.
fn redirect_to(url: &str) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("cms-").suffix(".html").tempfile()?;
    write!(file, "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={url}\">")?;
    file.flush()?;
    Ok(file)
}

/// The URL of a server for a browser on this machine.
fn local_url(listen: SocketAddr) -> String {
    if listen.ip().is_unspecified() {
        format!("http://localhost:{}", listen.port())
    } else {
        format!("http://{listen}")
    }
}

#[cfg(test)]
mod tests {
    use tracing::{info_span, subscriber};

    use super::*;

    #[test]
    fn set_up_url_can_be_opened_in_a_browser() {
        for (listen, url) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("0.0.0.0:80", "http://localhost:80"),
            ("[::]:8080", "http://localhost:8080"),
            ("[::1]:8080", "http://[::1]:8080"),
            ("192.0.2.1:1", "http://192.0.2.1:1"),
        ] {
            assert_eq!(local_url(listen.parse().unwrap()), url);
        }
    }

    #[test]
    fn spans_are_disabled_without_traces() {
        let collector = Traces::export_to("http://127.0.0.1:9").unwrap();
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
