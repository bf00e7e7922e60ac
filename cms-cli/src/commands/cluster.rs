//! `cms cluster`: the shared database of several nodes. `cms serve` opens it by [`open_database`].

use std::{fmt::Write as _, path::Path, sync::Arc};

use cms_cluster::{PostgresDatabase, PostgresSettings, Tls};
use cms_core::{
    CoreConfig, Duty, Error, MediaStorage, NewDatabase, NodeState, SharedDatabase, Transferred,
    compare_directory, count_transfer, create_cluster, export_cluster,
};
use serde_json::json;
use tempfile::TempDir;

use super::{NOTHING_CHANGED, counted, waiting::with_spinner};
use crate::{
    cli::{ClusterCommand, DatabaseArgs, DatabaseTls},
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::{self, Settings, TargetAddress},
    target::open_directory,
};

/// The variables of the shared database that have no flag, or may contain a password.
const PASSWORD_VARIABLE: &str = "CMS_DATABASE_PASSWORD";
const URL_VARIABLE: &str = "CMS_DATABASE";

/// A node looks at the head ten times a second, and is not ready if it could not for five seconds.
const MAX_STALENESS_MS: i64 = 5000;

/// Number of differences that are listed.
const MAX_LISTED: usize = 20;

pub(super) fn run(
    command: ClusterCommand,
    settings: &Settings,
    printer: &mut Printer,
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

/// Opens the shared database, if one is named. `node` names the connections and commits of this process.
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

/// The bucket of media files: nodes share nothing else.
pub(super) fn require_bucket(media: &MediaStorage) -> Result<()> {
    if matches!(media, MediaStorage::S3(_)) {
        return Ok(());
    }
    Err(Failure::usage("a cluster needs --media s3://BUCKET: its nodes share no disk")
        .hint("set --media, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"))
}

fn status(args: &DatabaseArgs, printer: &mut Printer) -> Result<Outcome> {
    let database = database(args)?;
    let snapshot = database.snapshot(None)?;
    let head = snapshot.head().clone();
    drop(snapshot);
    let (nodes, duties) = (database.nodes()?, database.duties()?);
    let live = || nodes.iter().filter(|node| node.is_live);
    let is_behind = |node: &&NodeState| node.report.staleness_ms > MAX_STALENESS_MS;
    let behind = live().filter(is_behind).count();
    let held = |duty: Duty| duties.iter().find(|holder| holder.duty == duty.as_str());
    // Nobody makes backups where no node has a destination for them.
    let unheld: Vec<&str> = Duty::ALL
        .into_iter()
        .filter(|duty| *duty != Duty::Backups && held(*duty).is_none())
        .map(Duty::as_str)
        .collect();
    let node_name = |id: &str| {
        let node = nodes.iter().find(|node| node.report.id == id);
        node.map_or_else(|| id.to_owned(), |node| node.report.name.clone())
    };
    let shown: Vec<_> = nodes
        .iter()
        .map(|node| {
            let report = &node.report;
            let duties: Vec<&str> = duties
                .iter()
                .filter(|holder| holder.node == report.id)
                .map(|holder| holder.duty.as_str())
                .collect();
            json!({
                "name": report.name,
                "version": report.version,
                "schema": report.knows,
                "address": report.address,
                "applied": report.applied,
                "index": report.index_seq,
                "stalenessMs": report.staleness_ms,
                "seenAt": node.seen_at.0,
                "live": node.is_live,
                "duties": duties,
            })
        })
        .collect();
    let value = json!({
        "cluster": head.cluster,
        "commit": head.position.commit,
        "schema": head.schema,
        "nodes": shown,
    });
    printer.value(&value, || {
        let mut text = format!("commit {}, schema {}\n", head.position.commit, head.schema);
        for node in &nodes {
            let report = &node.report;
            let state = if !node.is_live {
                "silent".to_owned()
            } else if is_behind(&node) {
                format!("{} commits behind", head.position.commit - report.applied)
            } else {
                "current".to_owned()
            };
            writeln!(text, "{}  {}  {state}", report.name, report.version).ok();
        }
        for holder in &duties {
            writeln!(text, "{}: {}", holder.duty, node_name(&holder.node)).ok();
        }
        text
    })?;
    if behind > 0 || !unheld.is_empty() {
        if !unheld.is_empty() {
            printer.note(&format!("no node does: {}", unheld.join(", ")))?;
        }
        return Ok(Outcome::CheckFailed);
    }
    Ok(Outcome::Done)
}

fn init(
    args: &DatabaseArgs,
    from: Option<&Path>,
    is_dry_run: bool,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    require_bucket(&settings.media)?;
    let database = database(args)?;
    // Without a directory the content is that of a new one.
    let new = TempDir::new().map_err(|error| Failure::local(error.to_string()))?;
    let folder = from.map_or_else(|| new.path().join("data"), Path::to_owned);
    let new_database = if from.is_some() { NewDatabase::Never } else { NewDatabase::Always };
    let cms = open_directory(CoreConfig { new_database, ..CoreConfig::new(folder) })?;
    if is_dry_run {
        if database.is_created()? {
            return Err(Error::Conflict("the database has a cluster already".to_owned()).into());
        }
        report(&count_transfer(&cms)?, printer)?;
        printer.note(NOTHING_CHANGED)?;
        return Ok(Outcome::Done);
    }
    let copied = with_spinner("copy", printer, || create_cluster(&cms, &database, &settings.media));
    report(&copied?, printer)?;
    if let Some(from) = from {
        printer.note(&format!(
            "{} can only be read now: `cms cluster export` makes a directory that can be changed",
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
    printer: &mut Printer,
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

fn compare(args: &DatabaseArgs, settings: &Settings, printer: &mut Printer) -> Result<Outcome> {
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

fn report(copied: &Transferred, printer: &mut Printer) -> Result<()> {
    let Transferred { objects, files, bytes } = *copied;
    let value = json!({ "objects": objects, "files": files, "bytes": bytes });
    printer.value(&value, || {
        let (objects, files) = (counted(objects, "object"), counted(files, "file"));
        format!("{objects}, {files}, {}\n", counted(bytes, "byte"))
    })
}
