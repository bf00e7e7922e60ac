//! `cms serve`: opens the folder, makes the first keys, applies files, and runs the server.

use std::{
    io::{self, IsTerminal},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use cms_core::{
    BackupPlan, CoreConfig, Durability, Error, FirstKeys,
    wire::key::{CreatedKey, KeyKind},
};
use cms_server::ServerConfig;
use tracing_subscriber::EnvFilter;

use super::{apply, import};
use crate::{
    cli::{DurabilityChoice, LogFormat, ServeArgs},
    failure::{Failure, Kind, Outcome, Result},
    printer::Printer,
    settings::{self, Place, Settings},
    target::{self, Direct},
};

/// The folder when nothing else is said.
const FOLDER: &str = "cms-data";

/// What a request that uploads a file holds besides the file, at most.
const OTHER_FIELDS: u64 = 1024 * 1024;

pub(super) fn run(args: &ServeArgs, settings: &Settings, printer: &mut Printer) -> Result<Outcome> {
    start_log(args.log_format, &args.log_level)?;
    let mut config = ServerConfig {
        listen: args.listen,
        public_url: args.public_url.clone(),
        trust_proxy: args.trust_proxy,
        ..ServerConfig::default()
    };
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
    let target = Direct::over(Arc::clone(&cms));
    if !args.apply.is_empty() {
        apply::at_start(&target, &args.apply, printer)?;
    }
    if let Some(folder) = &args.import {
        import::at_start(&target, folder, printer)?;
    }
    drop(target);

    let running = bound.serve(cms).map_err(|error| cannot_listen(args.listen, &error))?;
    printer.note(&format!("listening on http://{}", running.address()))?;
    running.run_until_signal().map_err(|error| cannot_listen(args.listen, &error))?;
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

/// Sends the log to standard error. `level` is a level or a filter such as `cms=debug`.
fn start_log(format: LogFormat, level: &str) -> Result<()> {
    // Migrations tell each of their steps; their errors are ours to report.
    let filter = EnvFilter::try_new(format!("refinery_core=warn,{level}"))
        .map_err(|error| Failure::usage(format!("\"{level}\" is no log level: {error}")))?;
    // A log that cannot be written is no reason to fail: saying so on the same output would panic.
    let log = tracing_subscriber::fmt().log_internal_errors(false);
    let log = log.with_env_filter(filter).with_writer(io::stderr);
    match format {
        LogFormat::Text => log.with_ansi(io::stderr().is_terminal()).init(),
        LogFormat::Json => log.json().init(),
    }
    Ok(())
}

fn core_config(args: &ServeArgs, settings: &Settings) -> CoreConfig {
    let folder = match &settings.place {
        Some(Place::Folder(folder)) => folder.clone(),
        _ => FOLDER.into(),
    };
    let mut config = CoreConfig::new(folder);
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
