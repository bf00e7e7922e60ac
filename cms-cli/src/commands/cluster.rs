//! `cms cluster`: the shared database of several nodes. `cms serve` opens it by [`open_database`].

use std::{fmt::Write as _, fs, path::Path, sync::Arc, time::Duration};

use cms_cluster::{PostgresDatabase, PostgresSettings, Tls};
use cms_core::{
    ClusterConfig, CoreConfig, Duty, DutyHolder, Error, Head, MediaStorage, NewDatabase, NodeState,
    SharedDatabase, Transferred, compare_directory, count_transfer, create_cluster, export_cluster,
};
use cms_server::Consistency;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{NOTHING_CHANGED, counted, progress::with_spinner};
use crate::{
    cli::{ClusterCommand, DatabaseArgs, DatabaseTls, ServeArgs},
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::{self, Settings, TargetAddress},
    target::open_directory,
};

/// The password of the shared database. It has no flag.
const PASSWORD_VARIABLE: &str = "CMS_DATABASE_PASSWORD";
/// The URL of the shared database. It may contain a password.
const URL_VARIABLE: &str = "CMS_DATABASE";

/// A node with a larger staleness is not ready, see docs/reference/cluster.md#terms. A node checks the
/// head ten times a second.
const MAX_STALENESS_MS: i64 = 5000;

/// Number of differences that are listed.
const MAX_LISTED: usize = 20;

pub(super) fn run(
    command: ClusterCommand,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    match command {
        ClusterCommand::Status { database } => status(&database, printer),
        ClusterCommand::Init { database, from, dry_run } => {
            init(&database, from.as_deref(), dry_run.dry_run, settings, printer)
        }
        ClusterCommand::Export { dir, database, with_media } => {
            export(&dir, &database, with_media, settings, printer)
        }
        ClusterCommand::Compare { database } => compare(&database, settings, printer),
    }
}

/// Opens the shared database, if one is named. `node` names the connections and commits of this
/// process.
pub(super) fn open_database(
    args: &DatabaseArgs,
    node: &str,
) -> Result<Option<Arc<dyn SharedDatabase>>> {
    let Some(url) = args.database.as_ref().filter(|url| !url.is_empty()) else { return Ok(None) };
    let refused = |error: Error| match error {
        Error::BadRequest(reason) => Failure::usage(reason),
        other => Failure::from(other),
    };
    let has_password = PostgresSettings::parse(url, None).map_err(refused)?.password.is_some();
    if has_password && settings::variable(URL_VARIABLE).as_ref() != Some(url) {
        return Err(Failure::usage("--database has a password, which other users can read")
            .hint(format!("set it in {PASSWORD_VARIABLE}, or the URL in {URL_VARIABLE}")));
    }
    let settings = PostgresSettings::parse(url, settings::variable(PASSWORD_VARIABLE));
    let mut settings = settings.map_err(refused)?;
    if args.database_tls.is_some() || args.database_ca.is_some() {
        let tls = match args.database_tls {
            Some(DatabaseTls::Require) => Tls::Require,
            Some(DatabaseTls::Off) => Tls::Off,
            Some(DatabaseTls::VerifyFull) | None => Tls::VerifyFull,
        };
        settings = settings.with_tls(tls, args.database_ca.clone()).map_err(refused)?;
    }
    Ok(Some(Arc::new(PostgresDatabase::open(settings).map_err(refused)?.with_node(node))))
}

fn database(args: &DatabaseArgs) -> Result<Arc<dyn SharedDatabase>> {
    open_database(args, "cms cluster")?.ok_or_else(|| {
        Failure::usage("no database is given").hint("use --database postgres://USER@HOST/DB")
    })
}

/// Requires that media files are in a bucket: nodes share no disk.
pub(super) fn require_bucket(media: &MediaStorage) -> Result<()> {
    if matches!(media, MediaStorage::S3(_)) {
        return Ok(());
    }
    Err(Failure::usage("a cluster needs --media s3://BUCKET: its nodes share no disk")
        .hint("set --media, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"))
}

/// The cluster of which this server is a node, if a database is named.
pub(super) fn node(args: &ServeArgs, settings: &Settings) -> Result<Option<ClusterConfig>> {
    let name = args.node.node_name.clone().unwrap_or_else(host_name);
    let Some(database) = open_database(&args.node.database, &name)? else {
        return Ok(None);
    };
    require_bucket(&settings.media)?;
    if args.backups.to.as_ref().is_some_and(|to| !to.is_empty() && !to.starts_with("s3://")) {
        return Err(Failure::usage(
            "--backup-to of a node has to be a bucket: its disk may be lost",
        )
        .hint("use --backup-to s3://BUCKET/PREFIX"));
    }
    let holds_upgrade = args.node.hold_upgrade;
    let address = args.node.node_address.clone();
    let read_bound = args.node.read_consistency.map_or(Duration::ZERO, Consistency::bound);
    let config = ClusterConfig::new(database, name);
    Ok(Some(ClusterConfig { address, holds_upgrade, read_bound, ..config }))
}

/// The name of this machine, or `node` if the system has no file with the name.
fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Some(name.trim()).filter(|name| !name.is_empty()).unwrap_or("node").to_owned()
}

fn status(args: &DatabaseArgs, printer: &Printer) -> Result<Outcome> {
    let database = database(args)?;
    let snapshot = database.snapshot(None)?;
    let head = snapshot.head().clone();
    drop(snapshot);
    let (engine, nodes, duties) =
        (database.database_info()?, database.nodes()?, database.duties()?);
    let states = nodes.iter().map(|node| state(node, &head));
    let has_problem = states.clone().any(|state| matches!(state, State::Stale | State::Outdated));
    let held = |duty: Duty| duties.iter().find(|holder| holder.duty == duty.as_str());
    // `backups` has no holder if no node has a destination for backups.
    let unheld: Vec<&str> = Duty::ALL
        .into_iter()
        .filter(|duty| *duty != Duty::Backups && held(*duty).is_none())
        .map(Duty::as_str)
        .collect();
    let node_name = |id: &str| {
        let node = nodes.iter().find(|node| node.report.id == id);
        node.map_or_else(|| id.to_owned(), |node| node.report.name.clone())
    };
    let upgrade_waits_for = upgrade_waits_for(&nodes, head.schema);
    let shown: Vec<_> = nodes.iter().map(|node| node_item(node, &duties)).collect();
    let value = json!({
        "cluster": head.cluster,
        "commit": head.position.commit,
        "schema": head.schema,
        "engine": engine.version,
        "bytes": engine.bytes,
        "upgradeWaitsFor": upgrade_waits_for,
        "nodes": shown,
    });
    printer.value(&value, || {
        let mut text = format!(
            "commit {}, schema {}, {}, {}\n",
            head.position.commit,
            head.schema,
            engine.version,
            counted(engine.bytes.unsigned_abs(), "byte")
        );
        for (node, state) in nodes.iter().zip(states) {
            let report = &node.report;
            let state = match state {
                State::Silent => "silent".to_owned(),
                State::Outdated => format!("outdated: knows schema {}", report.accepted_schema),
                State::Stale if report.staleness_ms == i64::MAX => {
                    "no successful head check yet".to_owned()
                }
                State::Stale => {
                    format!("last successful head check {} s ago", report.staleness_ms / 1000)
                }
                State::Current => "current".to_owned(),
            };
            let consistency = read_consistency(report.read_bound_ms);
            writeln!(text, "{}  {}  {consistency}  {state}", report.name, report.version).ok();
        }
        for holder in &duties {
            writeln!(text, "{}: {}", holder.duty, node_name(&holder.node)).ok();
        }
        if !upgrade_waits_for.is_empty() {
            writeln!(text, "the upgrade waits for: {}", upgrade_waits_for.join(", ")).ok();
        }
        text
    })?;
    if !unheld.is_empty() {
        printer.note(&format!("duties without a holder: {}", unheld.join(", ")))?;
    }
    Ok(if has_problem || !unheld.is_empty() { Outcome::CheckFailed } else { Outcome::Done })
}

/// What the last report of a node says.
enum State {
    Silent,
    /// It does not know the schema of the cluster.
    Outdated,
    /// Its newest successful head check is too old.
    Stale,
    Current,
}

fn state(node: &NodeState, head: &Head) -> State {
    if !node.is_live {
        State::Silent
    } else if node.report.accepted_schema < head.schema {
        State::Outdated
    } else if node.report.staleness_ms > MAX_STALENESS_MS {
        State::Stale
    } else {
        State::Current
    }
}

fn node_item(node: &NodeState, duties: &[DutyHolder]) -> Value {
    let report = &node.report;
    let duties: Vec<&str> = duties
        .iter()
        .filter(|holder| holder.node == report.id)
        .map(|holder| holder.duty.as_str())
        .collect();
    json!({
        "name": report.name,
        "version": report.version,
        "schema": report.accepted_schema,
        "address": report.address,
        "readConsistency": read_consistency(report.read_bound_ms),
        "applied": report.applied,
        "index": report.index_seq,
        "stalenessMs": report.staleness_ms,
        "seenAt": node.seen_at.0,
        "live": node.is_live,
        "duties": duties,
    })
}

/// The setting `read-consistency` of a node whose reads may have this staleness.
fn read_consistency(bound_ms: i64) -> String {
    if bound_ms == 0 { "strict".to_owned() } else { format!("within={bound_ms}ms") }
}

/// The live nodes that block the upgrade to a newer schema, which other live nodes know.
fn upgrade_waits_for(nodes: &[NodeState], schema: i64) -> Vec<&str> {
    let live = || nodes.iter().filter(|node| node.is_live).map(|node| &node.report);
    if live().all(|report| report.accepted_schema <= schema) {
        return Vec::new();
    }
    live()
        .filter(|report| report.accepted_schema <= schema)
        .map(|report| report.name.as_str())
        .collect()
}

fn init(
    args: &DatabaseArgs,
    from: Option<&Path>,
    is_dry_run: bool,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    require_bucket(&settings.media)?;
    let database = database(args)?;
    // Without `--from`, the cluster gets the content of a new data directory.
    let new = TempDir::new().map_err(|error| Failure::local(error.to_string()))?;
    let folder = from.map_or_else(|| new.path().join("data"), Path::to_owned);
    let new_database = if from.is_some() { NewDatabase::Never } else { NewDatabase::Always };
    let cms = open_directory(CoreConfig { new_database, ..CoreConfig::new(folder) })?;
    if is_dry_run {
        if database.is_created()? {
            let reason = "the database has a cluster already: the command can only complete a move of this \
                          data directory that was interrupted";
            return Err(Error::Conflict(reason.to_owned()).into());
        }
        report(&count_transfer(&cms)?, printer)?;
        printer.note(NOTHING_CHANGED)?;
        return Ok(Outcome::Done);
    }
    let copied = with_spinner("copy", printer, || create_cluster(&cms, &database, &settings.media));
    report(&copied?, printer)?;
    if let Some(from) = from {
        printer.note(&format!(
            "{} is read-only now: `cms cluster export` creates a directory that can be changed",
            from.display()
        ))?;
    }
    Ok(Outcome::Done)
}

fn export(
    folder: &Path,
    args: &DatabaseArgs,
    with_media: bool,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    if with_media {
        require_bucket(&settings.media)?;
    }
    let database = database(args)?;
    let media = with_media.then_some(&settings.media);
    let copied = with_spinner("copy", printer, || export_cluster(folder, &*database, media));
    let (position, copied) = copied?;
    report(&copied, printer)?;
    printer.note(&format!("the content is that of commit {}", position.commit))?;
    Ok(Outcome::Done)
}

fn compare(args: &DatabaseArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let Some(TargetAddress::Directory(folder)) = &settings.target else {
        return Err(Failure::usage("no data directory is given").hint("use --data DIR"));
    };
    let database = database(args)?;
    let compared = with_spinner("compare", printer, || compare_directory(folder, &*database));
    let differences = compared?;
    let rows: Vec<_> = differences
        .iter()
        .map(|difference| json!({ "table": difference.table, "key": difference.key }))
        .collect();
    printer.value(&json!({ "differences": rows }), || {
        if differences.is_empty() {
            return "no differences\n".to_owned();
        }
        let mut text = String::new();
        for difference in differences.iter().take(MAX_LISTED) {
            writeln!(text, "{} {}", difference.table, difference.key).ok();
        }
        text + &format!("{} differ\n", counted(differences.len() as u64, "row"))
    })?;
    Ok(if differences.is_empty() { Outcome::Done } else { Outcome::CheckFailed })
}

fn report(copied: &Transferred, printer: &Printer) -> Result<()> {
    let Transferred { objects, files, bytes } = *copied;
    let value = json!({ "objects": objects, "files": files, "bytes": bytes });
    printer.value(&value, || {
        let (objects, files) = (counted(objects, "object"), counted(files, "file"));
        format!("{objects}, {files}, {}\n", counted(bytes, "byte"))
    })
}
