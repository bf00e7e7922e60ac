//! `cms media upload`: files in parallel, files with the same content only once.
//!
//! Files with the same content form a group. Only groups that the library does not contain are
//! uploaded, so the command can be repeated after any interruption.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use cms_core::{
    Error, MediaKind, limits,
    wire::{media::UploadRequest, object::ListRequest},
};
use serde_json::{Map, Value, json};

use super::{
    super::{NOTHING_CHANGED, counted, interrupt, open_to_write, parallel},
    TYPE, default_kind, extension, is_refused,
};
use crate::{
    cli::UploadArgs,
    content::{
        paths,
        stream::{self, Transfer},
    },
    failure::{self, Failure, Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::{Edition, Target, find_in_pages},
    text_output::{Column, column},
};

const TAG: &str = "_tag";
/// Refused files that are printed as lines; the list has all of them.
const MAX_PRINTED: usize = 20;

const COLUMNS: [Column; 4] = [
    column("FILE", "/file"),
    column("ID", "/id"),
    column("URL", "/url"),
    column("OUTCOME", "/outcome"),
];

/// Files with the same content and the same type of media object.
struct Group {
    /// Indices in the list of files, ascending.
    files: Vec<usize>,
    size: u64,
    kind: &'static str,
    /// Known if several files have the same size.
    digest: Option<stream::Digest>,
    /// The media object in the library with this content.
    stored: Option<Stored>,
}

/// The media object of a file.
#[derive(Clone, Default)]
struct Stored {
    id: Value,
    url: Value,
}

/// The outcome of a file.
enum FileOutcome {
    Uploaded(Stored),
    /// The library contained the content before.
    Existing(Stored),
    /// A dry run would upload the file.
    New,
    Refused(Error),
}

pub(super) fn run(args: UploadArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let files = paths::files(&args.files)?;
    let dry_run = args.dry_run.dry_run;
    let target = open_to_write(settings, printer, dry_run)?;
    let transfer = Transfer::new(interrupt());
    let work = Work {
        target: &*target,
        files: &files,
        threads: usize::from(args.parallel),
        transfer: &transfer,
        uploaded: AtomicU64::new(0),
    };
    let groups = work.with_stored(work.groups(args.kind)?, printer)?;
    let is_new = groups.iter().any(|group| group.stored.is_none());
    let tags = if is_new { work.tags(&args.tags, dry_run, printer)? } else { Vec::new() };
    let template = UploadRequest {
        save: true,
        alt: args.alt,
        title: args.title,
        tags,
        ..UploadRequest::default()
    };
    let outcomes = if dry_run {
        dry_run_outcomes(&groups)
    } else {
        let uploaded = work.upload(&groups, &template, printer);
        uploaded.map_err(|failure| match work.uploaded.load(Ordering::Relaxed) {
            0 => failure,
            done => failure.hint(format!(
                "{} uploaded before that; run the same command to continue",
                counted(done, "file")
            )),
        })?
    };
    print(&files, outcomes, dry_run, printer)
}

struct Work<'a> {
    target: &'a dyn Target,
    files: &'a [PathBuf],
    threads: usize,
    transfer: &'a Transfer,
    uploaded: AtomicU64,
}

impl Work<'_> {
    /// Groups files by content. Only files of the same size are read for that.
    fn groups(&self, kind: Option<MediaKind>) -> Result<Vec<Group>> {
        let mut same_size: HashMap<(u64, &str), Vec<usize>> = HashMap::new();
        for (number, path) in self.files.iter().enumerate() {
            let meta = path.metadata();
            let meta = meta.map_err(|error| Failure::unreadable(path.display(), error))?;
            let kind = kind.map_or_else(|| default_kind(path), MediaKind::as_str);
            same_size.entry((meta.len(), kind)).or_default().push(number);
        }
        let mut groups = Vec::new();
        for ((size, kind), files) in same_size {
            if files.len() == 1 || size == 0 {
                let alone = files.into_iter().map(|number| vec![number]);
                let group = |files| Group { files, size, kind, digest: None, stored: None };
                groups.extend(alone.map(group));
                continue;
            }
            let mut same_content: HashMap<_, Vec<usize>> = HashMap::new();
            for number in files {
                match stream::digest(&self.files[number], self.transfer) {
                    Ok(digest) => same_content.entry(digest).or_default().push(number),
                    // Interrupted before anything was uploaded.
                    Err(_) if self.transfer.stop.load(Ordering::Relaxed) => return Ok(Vec::new()),
                    Err(failure) => return Err(failure),
                }
            }
            groups.extend(same_content.into_iter().map(|(digest, files)| Group {
                files,
                size,
                kind,
                digest: Some(digest),
                stored: None,
            }));
        }
        groups.sort_by_key(|group| group.files[0]);
        Ok(groups)
    }

    /// Finds the groups that the library contains. Groups that were not compared before an
    /// interruption are left out.
    fn with_stored(&self, groups: Vec<Group>, printer: &Printer) -> Result<Vec<Group>> {
        let total = groups.iter().map(|group| group.size).sum();
        let mut progress = printer.byte_progress("compare", total);
        let mut same_size: BTreeMap<_, Vec<Group>> = BTreeMap::new();
        for group in groups {
            same_size.entry((group.size, group.kind)).or_default().push(group);
        }
        let same_size: Vec<_> = same_size.into_iter().collect();
        let find = |((size, kind), groups): &((u64, &str), Vec<Group>)| {
            let found = self.in_library((*size, *kind), groups)?;
            self.transfer.advance(size * groups.len() as u64);
            Ok(found)
        };
        let update = || progress.advance_to(self.transfer.done());
        let found = parallel::map(&same_size, self.threads, &self.transfer.stop, find, update)?;
        let mut with_stored = Vec::new();
        for ((_, groups), found) in same_size.into_iter().zip(found) {
            let found = groups.into_iter().zip(found.unwrap_or_default());
            with_stored.extend(found.map(|(group, stored)| Group { stored, ..group }));
        }
        with_stored.sort_by_key(|group| group.files[0]);
        Ok(with_stored)
    }

    /// Compares groups with the media objects of the same size and type. Files are read only when
    /// there is such an object, and once.
    fn in_library(
        &self,
        (size, kind): (u64, &str),
        groups: &[Group],
    ) -> Result<Vec<Option<Stored>>> {
        let filters = json!({
            "size": {"type": "equals", "filter": size},
            "type": {"type": "equals", "filter": kind},
        });
        let mut found = vec![None; groups.len()];
        let mut wanted: HashMap<stream::Digest, usize> = HashMap::new();
        find_object(self.target, TYPE, &filters, |object| {
            if wanted.is_empty() {
                for (index, group) in groups.iter().enumerate() {
                    let digest = match group.digest {
                        Some(digest) => digest,
                        None => stream::digest(&self.files[group.files[0]], self.transfer)?,
                    };
                    wanted.insert(digest, index);
                }
            }
            let id = object["id"].as_str().unwrap_or_default();
            let digest = match self.target.file(id, extension(&object)) {
                Ok(mut stored) => stream::stored_digest(&mut *stored, self.transfer)?,
                // The file is missing or damaged.
                Err(Error::NotFound { .. } | Error::Internal(_)) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            if let Some(index) = wanted.remove(&digest) {
                found[index] = Some(Stored::new(&object));
            }
            Ok(wanted.is_empty().then_some(()))
        })?;
        Ok(found)
    }

    /// Finds the ids of tags by their names, and creates missing tags.
    fn tags(&self, names: &[String], dry_run: bool, printer: &Printer) -> Result<Vec<String>> {
        let mut ids = Vec::new();
        for name in names {
            let filters = json!({"name": {"type": "equals", "filter": name}});
            let id_of = |tag: Value| Ok(tag["id"].as_str().map(str::to_owned));
            let id = find_object(self.target, TAG, &filters, id_of)?;
            if id.is_none() && dry_run {
                printer.note(&format!("would create the tag \"{name}\""))?;
                continue;
            }
            let id = if let Some(id) = id {
                id
            } else {
                let tag = Map::from_iter([("name".to_owned(), json!(name))]);
                let created = self.target.create_object(TAG, tag)?;
                created["id"].as_str().unwrap_or_default().to_owned()
            };
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// Uploads the groups that the library does not contain.
    fn upload(
        &self,
        groups: &[Group],
        template: &UploadRequest,
        printer: &Printer,
    ) -> Result<Outcomes> {
        let new = groups.iter().filter(|group| group.stored.is_none());
        let total = new.map(|group| group.size).sum();
        let transfer = Transfer::new(Arc::clone(&self.transfer.stop));
        let mut progress = printer.byte_progress("upload", total);
        let upload = |group: &Group| self.upload_group(group, template, &transfer);
        let update = || progress.advance_to(transfer.done());
        let outcomes = parallel::map(groups, self.threads, &transfer.stop, upload, update)?;
        Ok(outcomes.into_iter().flatten().flatten().collect())
    }

    /// Uploads the files of a group until one of them is accepted.
    fn upload_group(
        &self,
        group: &Group,
        template: &UploadRequest,
        transfer: &Transfer,
    ) -> Result<Vec<(usize, FileOutcome)>> {
        let mut stored = group.stored.clone();
        let mut outcomes = Vec::new();
        for &number in &group.files {
            if let Some(stored) = &stored {
                outcomes.push((number, FileOutcome::Existing(stored.clone())));
                continue;
            }
            let path = &self.files[number];
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let request = UploadRequest {
                file_name: name.into_owned(),
                kind: Some(group.kind.to_owned()),
                ..template.clone()
            };
            let outcome = match self.target.upload(stream::open_upload(path, transfer)?, &request) {
                Ok(object) => {
                    self.uploaded.fetch_add(1, Ordering::Relaxed);
                    FileOutcome::Uploaded(stored.insert(Stored::new(&object)).clone())
                }
                Err(error) if is_refused(&error) => FileOutcome::Refused(error),
                Err(error) => return Err(error.into()),
            };
            outcomes.push((number, outcome));
        }
        Ok(outcomes)
    }
}

/// Outcomes by the index of the file.
type Outcomes = BTreeMap<usize, FileOutcome>;

/// The outcomes of a dry run.
fn dry_run_outcomes(groups: &[Group]) -> Outcomes {
    let mut outcomes = Outcomes::new();
    for group in groups {
        let outcome = |index| match (&group.stored, index) {
            (None, 0) => FileOutcome::New,
            (stored, _) => FileOutcome::Existing(stored.clone().unwrap_or_default()),
        };
        outcomes.extend(
            group.files.iter().enumerate().map(|(index, &number)| (number, outcome(index))),
        );
    }
    outcomes
}

fn print(
    files: &[PathBuf],
    outcomes: Outcomes,
    dry_run: bool,
    printer: &Printer,
) -> Result<Outcome> {
    let is_interrupted = outcomes.len() < files.len();
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    let mut existing = 0;
    for (number, outcome) in outcomes {
        let file = files[number].display().to_string();
        let (name, stored, reason) = match outcome {
            FileOutcome::Uploaded(stored) => ("uploaded", stored, None),
            FileOutcome::Existing(stored) => ("existing", stored, None),
            FileOutcome::New => ("new", Stored::default(), None),
            FileOutcome::Refused(error) => {
                let reason = error.reason();
                if refused.len() < MAX_PRINTED {
                    printer.note(&format!("refused {file}: {reason}"))?;
                } else if refused.len() == MAX_PRINTED {
                    printer.note("more are refused; only the output has their reasons")?;
                }
                refused.push(error);
                ("refused", Stored::default(), Some(reason))
            }
        };
        existing += usize::from(name == "existing");
        let Stored { id, url } = stored;
        rows.push(json!({"file": file, "id": id, "url": url, "outcome": name, "reason": reason}));
    }
    printer.rows(&rows, &COLUMNS)?;
    let verb = if dry_run { "would upload" } else { "uploaded" };
    let (uploaded, refusals) = (rows.len() - existing - refused.len(), refused.len());
    printer.note(&format!("{verb} {uploaded}, existing {existing}, refused {refusals}"))?;
    if is_interrupted {
        printer.note("interrupted; run the same command to continue")?;
    }
    if dry_run {
        printer.note(NOTHING_CHANGED)?;
    }
    Ok(match refused.first() {
        _ if is_interrupted => Outcome::Partial,
        None => Outcome::Done,
        Some(error) if refused.len() == rows.len() => Outcome::Refused(failure::exit_code(error)),
        Some(_) => Outcome::Partial,
    })
}

impl Stored {
    fn new(object: &Value) -> Self {
        Self { id: object["id"].clone(), url: object["url"].clone() }
    }
}

/// Calls `visit` for each matching object until it returns a value.
fn find_object<V>(
    target: &dyn Target,
    content_type: &str,
    filters: &Value,
    visit: impl FnMut(Value) -> Result<Option<V>>,
) -> Result<Option<V>> {
    let list = |page| {
        let filters = Some(filters.to_string());
        let request = ListRequest { page, filters, ..ListRequest::default() };
        target.objects(content_type, &request, Edition::Current)
    };
    find_in_pages(limits::MAX_PAGE_SIZE, list, visit)
}
