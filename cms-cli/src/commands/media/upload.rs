//! `cms media upload`: many files at once, the same bytes only once.
//!
//! Files of the same bytes make a group. A group is looked for in the library first, and only what is
//! not there is uploaded; so whatever ended the command, the same one goes on.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use cms_core::{
    Error, limits,
    paging::Page,
    wire::{media::UploadRequest, object::ListRequest},
};
use serde_json::{Map, Value, json};

use super::{
    super::{NOTHING_CHANGED, changing, counted, interrupt, many::reason, parallel},
    TYPE, extension, is_refused, usual_kind,
};
use crate::{
    cli::{MediaKind, UploadArgs},
    content::{
        paths,
        stream::{self, Pace},
    },
    failure::{self, Failure, Outcome, Result},
    printer::Printer,
    report::{Column, column},
    settings::Settings,
    target::{Edition, Target},
};

const TAG: &str = "_tag";
/// Refused files that are shown as lines; the list has all of them.
const SHOWN: usize = 20;

const COLUMNS: [Column; 4] = [
    column("FILE", "/file"),
    column("ID", "/id"),
    column("URL", "/url"),
    column("OUTCOME", "/outcome"),
];

/// Files of the same bytes that are to become the same kind of media object.
struct Group {
    /// Places in the list of files, in its order.
    files: Vec<usize>,
    size: u64,
    kind: &'static str,
    /// Known where files of one size had to be told apart.
    digest: Option<stream::Digest>,
    /// What the library has of these bytes.
    stored: Option<Stored>,
}

/// Where the bytes of a file are.
#[derive(Clone, Default)]
struct Stored {
    id: Value,
    url: Value,
}

/// What became of a file.
enum Fate {
    Uploaded(Stored),
    /// The bytes were there before.
    Kept(Stored),
    /// A dry run would upload it.
    New,
    Refused(Error),
}

pub(super) fn run(args: UploadArgs, settings: &Settings, printer: &mut Printer) -> Result<Outcome> {
    let files = paths::files(&args.files)?;
    let dry_run = args.dry_run.dry_run;
    let target = changing(settings, printer, dry_run)?;
    let pace = Pace::new(interrupt());
    let work = Work {
        target: &*target,
        files: &files,
        threads: usize::from(args.parallel),
        pace: &pace,
        uploaded: AtomicU64::new(0),
    };
    let groups = work.looked_up(work.groups(args.kind)?, printer)?;
    let is_new = groups.iter().any(|group| group.stored.is_none());
    let tags = if is_new { work.tags(&args.tags, dry_run, printer)? } else { Vec::new() };
    let like = UploadRequest {
        save: true,
        alt: args.alt,
        title: args.title,
        tags,
        ..UploadRequest::default()
    };
    let fates = if dry_run {
        rehearsed(&groups)
    } else {
        let uploaded = work.upload(&groups, &like, printer);
        uploaded.map_err(|failure| match work.uploaded.load(Ordering::Relaxed) {
            0 => failure,
            done => failure.hint(format!(
                "{} uploaded before that; the same command goes on",
                counted(done, "file")
            )),
        })?
    };
    tell(&files, fates, dry_run, printer)
}

struct Work<'a> {
    target: &'a dyn Target,
    files: &'a [PathBuf],
    threads: usize,
    pace: &'a Pace,
    uploaded: AtomicU64,
}

impl Work<'_> {
    /// Puts files of the same bytes together. Only those of the same size have to be read for that.
    fn groups(&self, kind: Option<MediaKind>) -> Result<Vec<Group>> {
        let mut alike: HashMap<(u64, &str), Vec<usize>> = HashMap::new();
        for (number, path) in self.files.iter().enumerate() {
            let meta = path.metadata();
            let meta = meta.map_err(|error| Failure::unreadable(path.display(), error))?;
            let kind = kind.map_or_else(|| usual_kind(path), MediaKind::as_str);
            alike.entry((meta.len(), kind)).or_default().push(number);
        }
        let mut groups = Vec::new();
        for ((size, kind), files) in alike {
            if files.len() == 1 || size == 0 {
                let alone = files.into_iter().map(|number| vec![number]);
                let group = |files| Group { files, size, kind, digest: None, stored: None };
                groups.extend(alone.map(group));
                continue;
            }
            let mut same: HashMap<_, Vec<usize>> = HashMap::new();
            for number in files {
                match stream::digest(&self.files[number], self.pace) {
                    Ok(digest) => same.entry(digest).or_default().push(number),
                    // Interrupted before anything was done: nothing has its turn.
                    Err(_) if self.pace.stop.load(Ordering::Relaxed) => return Ok(Vec::new()),
                    Err(failure) => return Err(failure),
                }
            }
            groups.extend(same.into_iter().map(|(digest, files)| Group {
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

    /// Finds out what the library has. Groups that had no turn are left out.
    fn looked_up(&self, groups: Vec<Group>, printer: &Printer) -> Result<Vec<Group>> {
        let total = groups.iter().map(|group| group.size).sum();
        let mut progress = printer.bytes("compare", total);
        let mut alike: BTreeMap<_, Vec<Group>> = BTreeMap::new();
        for group in groups {
            alike.entry((group.size, group.kind)).or_default().push(group);
        }
        let alike: Vec<_> = alike.into_iter().collect();
        let job = |(like, groups): &((u64, &str), Vec<Group>)| {
            let found = self.in_library(*like, groups)?;
            self.pace.advance(like.0 * groups.len() as u64);
            Ok(found)
        };
        let look = || progress.advance_to(self.pace.done());
        let found = parallel::each(&alike, self.threads, &self.pace.stop, job, look)?;
        let mut looked_up = Vec::new();
        for ((_, groups), found) in alike.into_iter().zip(found) {
            let found = groups.into_iter().zip(found.unwrap_or_default());
            looked_up.extend(found.map(|(group, stored)| Group { stored, ..group }));
        }
        looked_up.sort_by_key(|group| group.files[0]);
        Ok(looked_up)
    }

    /// Compares with the media objects of the same size and type. Each file is read once, and none
    /// when there is no such object.
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
        each_object(self.target, TYPE, &filters, &mut |object| {
            if wanted.is_empty() {
                for (place, group) in groups.iter().enumerate() {
                    let digest = match group.digest {
                        Some(digest) => digest,
                        None => stream::digest(&self.files[group.files[0]], self.pace)?,
                    };
                    wanted.insert(digest, place);
                }
            }
            let id = object["id"].as_str().unwrap_or_default();
            let digest = match self.target.file(id, extension(object)) {
                Ok(mut stored) => stream::stored_digest(&mut *stored, self.pace)?,
                Err(Error::NotFound { .. }) => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            if let Some(place) = wanted.remove(&digest) {
                found[place] = Some(Stored::new(object));
            }
            Ok(wanted.is_empty())
        })?;
        Ok(found)
    }

    /// Finds the ids of tags by their names, and makes those that are missing.
    fn tags(&self, names: &[String], dry_run: bool, printer: &mut Printer) -> Result<Vec<String>> {
        let mut ids = Vec::new();
        for name in names {
            let mut id = None;
            let filters = json!({"name": {"type": "equals", "filter": name}});
            each_object(self.target, TAG, &filters, &mut |tag| {
                // The filter does not look at the case of letters.
                let is_meant = tag["name"] == **name;
                if is_meant {
                    id = tag["id"].as_str().map(str::to_owned);
                }
                Ok(is_meant)
            })?;
            if id.is_none() && dry_run {
                printer.note(&format!("would make the tag \"{name}\""))?;
                continue;
            }
            let id = if let Some(id) = id {
                id
            } else {
                let tag = Map::from_iter([("name".to_owned(), json!(name))]);
                let made = self.target.create_object(TAG, tag)?;
                made["id"].as_str().unwrap_or_default().to_owned()
            };
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// Uploads the groups that are not in the library; the others are kept.
    fn upload(&self, groups: &[Group], like: &UploadRequest, printer: &Printer) -> Result<Fates> {
        let new = groups.iter().filter(|group| group.stored.is_none());
        let total = new.map(|group| group.size).sum();
        let pace = Pace::new(Arc::clone(&self.pace.stop));
        let mut progress = printer.bytes("upload", total);
        let job = |group: &Group| self.settle(group, like, &pace);
        let look = || progress.advance_to(pace.done());
        let fates = parallel::each(groups, self.threads, &pace.stop, job, look)?;
        Ok(fates.into_iter().flatten().flatten().collect())
    }

    /// Uploads one file of a group, the first one that is not refused.
    fn settle(
        &self,
        group: &Group,
        like: &UploadRequest,
        pace: &Pace,
    ) -> Result<Vec<(usize, Fate)>> {
        let mut stored = group.stored.clone();
        let mut fates = Vec::new();
        for &number in &group.files {
            if let Some(stored) = &stored {
                fates.push((number, Fate::Kept(stored.clone())));
                continue;
            }
            let path = &self.files[number];
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let request = UploadRequest {
                file_name: name.into_owned(),
                kind: Some(group.kind.to_owned()),
                ..like.clone()
            };
            let fate = match self.target.upload(stream::outgoing(path, pace)?, &request) {
                Ok(object) => {
                    self.uploaded.fetch_add(1, Ordering::Relaxed);
                    Fate::Uploaded(stored.insert(Stored::new(&object)).clone())
                }
                Err(error) if is_refused(&error) => Fate::Refused(error),
                Err(error) => return Err(error.into()),
            };
            fates.push((number, fate));
        }
        Ok(fates)
    }
}

/// What became of files, by their place in the list.
type Fates = BTreeMap<usize, Fate>;

/// What would become of the files.
fn rehearsed(groups: &[Group]) -> Fates {
    let mut fates = Fates::new();
    for group in groups {
        let fate = |place| match (&group.stored, place) {
            (None, 0) => Fate::New,
            (stored, _) => Fate::Kept(stored.clone().unwrap_or_default()),
        };
        fates.extend(group.files.iter().enumerate().map(|(place, &number)| (number, fate(place))));
    }
    fates
}

fn tell(files: &[PathBuf], fates: Fates, dry_run: bool, printer: &mut Printer) -> Result<Outcome> {
    let is_interrupted = fates.len() < files.len();
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    let mut kept = 0;
    for (number, fate) in fates {
        let file = files[number].display().to_string();
        let (outcome, stored, reason) = match fate {
            Fate::Uploaded(stored) => ("uploaded", stored, None),
            Fate::Kept(stored) => ("kept", stored, None),
            Fate::New => ("new", Stored::default(), None),
            Fate::Refused(error) => {
                let reason = reason(&error);
                if refused.len() < SHOWN {
                    printer.note(&format!("refused {file}: {reason}"))?;
                } else if refused.len() == SHOWN {
                    printer.note("more are refused; only the output has their reasons")?;
                }
                refused.push(error);
                ("refused", Stored::default(), Some(reason))
            }
        };
        kept += usize::from(outcome == "kept");
        let Stored { id, url } = stored;
        rows.push(
            json!({"file": file, "id": id, "url": url, "outcome": outcome, "reason": reason}),
        );
    }
    printer.rows(&rows, &COLUMNS)?;
    let verb = if dry_run { "would upload" } else { "uploaded" };
    let (uploaded, refusals) = (rows.len() - kept - refused.len(), refused.len());
    printer.note(&format!("{verb} {uploaded}, kept {kept}, refused {refusals}"))?;
    if is_interrupted {
        printer.note("interrupted; the same command goes on")?;
    }
    if dry_run {
        printer.note(NOTHING_CHANGED)?;
    }
    Ok(match refused.first() {
        _ if is_interrupted => Outcome::Partly,
        None => Outcome::Done,
        Some(error) if refused.len() == rows.len() => Outcome::Refused(failure::exit_code(error)),
        Some(_) => Outcome::Partly,
    })
}

impl Stored {
    fn new(object: &Value) -> Self {
        Self { id: object["id"].clone(), url: object["url"].clone() }
    }
}

/// Looks at the objects that match, one after the other, until `each` says that it is enough.
fn each_object(
    target: &dyn Target,
    content_type: &str,
    filters: &Value,
    each: &mut dyn FnMut(&Value) -> Result<bool>,
) -> Result<()> {
    for number in 1.. {
        let page = Page { number, limit: limits::MAX_PAGE_SIZE };
        let filters = Some(filters.to_string());
        let request = ListRequest { page, filters, ..ListRequest::default() };
        let list = target.objects(content_type, &request, Edition::Current)?;
        for object in &list.data {
            if each(object)? {
                return Ok(());
            }
        }
        if u64::from(number) >= list.total_pages {
            break;
        }
    }
    Ok(())
}
