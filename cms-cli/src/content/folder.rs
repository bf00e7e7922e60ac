//! The layout of an exported folder, compatible with exports of other servers of the same API.
//!
//! Each type has a folder `ContentType<Name>`, or `InternalContentType<Name>` for system types. It
//! contains the definition, the objects as JSON lines in one or more files
//! `contentObject<Name>*.json`, and the files of media objects, `<id>.<extension>`. Custom
//! workflows are in [`WORKFLOWS`].

use std::{
    collections::BTreeMap,
    fs::{self, File, Metadata},
    io::ErrorKind::{NotADirectory, NotFound},
    path::{Path, PathBuf},
};

use cms_core::{
    lock,
    wire::content_type::{ContentType, WRITABLE_KEYS},
};
use serde_json::{Map, Value};

use super::{BYTE_ORDER_MARK, stream::is_at, syntax};
use crate::failure::{Diagnostic, Failure, Result};

/// The file with the definition of a type.
pub(crate) const DEFINITION: &str = "ContentTypeDefinition.json";

/// The project file with custom workflows.
pub(crate) const WORKFLOWS: &str = "workflows.yaml";

/// The directory of an unfinished export.
const STAGING: &str = ".cms-export";
/// A file that exists while an export replaces the files of an earlier one.
const INCOMPLETE: &str = ".cms-export.incomplete";
/// A file in the staging directory, locked by the process that exports.
const STAGING_LOCK: &str = "lock";
const TYPE_PREFIX: &str = "ContentType";
const INTERNAL_PREFIX: &str = "InternalContentType";
const OBJECTS_PREFIX: &str = "contentObject";
/// Prefix of files that only `cms import --keep-dates` reads.
const DELETED_PREFIX: &str = "deletedObject";

/// The folder of one type.
pub(crate) struct TypeFolder {
    pub(crate) name: String,
    /// The definition in the API form.
    pub(crate) payload: Map<String, Value>,
    /// Files of objects, in order.
    pub(crate) object_files: Vec<PathBuf>,
    /// Files of deleted objects, in order.
    pub(crate) deleted: Vec<PathBuf>,
    /// Files of media objects.
    pub(crate) files: MediaFiles,
}

/// The type of media objects.
const MEDIA: &str = "_media";
/// Extension of a file whose own extension cannot be part of a file name.
const FALLBACK_EXTENSION: &str = "bin";

/// Files of media objects, by their names in lower case.
#[derive(Clone, Default)]
pub(crate) struct MediaFiles(BTreeMap<String, PathBuf>);

impl MediaFiles {
    /// Removes and returns the file of an object: the file with this extension, otherwise one without or with
    /// another extension.
    pub(crate) fn take(&mut self, id: &str, extension: &str) -> Option<PathBuf> {
        let exact_name = file_name(id, extension).to_lowercase();
        let id = id.to_lowercase();
        let prefix = format!("{id}.");
        let next = self.0.range(prefix.clone()..).next().map(|(name, _)| name.clone());
        let other = next.filter(|name| name.starts_with(&prefix));
        let names = [Some(exact_name), Some(id), other];
        names.into_iter().flatten().find_map(|name| self.0.remove(&name))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.values().map(PathBuf::as_path)
    }
}

impl TypeFolder {
    /// Returns whether the definition has only a name: the type is defined elsewhere.
    pub(crate) fn is_reference(&self) -> bool {
        self.payload.keys().all(|key| key == "name")
    }
}

/// Name of the file of a media object. An extension is free text, so it may be unusable.
pub(crate) fn file_name(id: &str, extension: &str) -> String {
    let is_plain = !extension.is_empty() && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    format!("{id}.{}", if is_plain { extension } else { FALLBACK_EXTENSION })
}

/// Finds the types in an exported folder, ordered by name.
pub(crate) fn read(folder: &Path) -> Result<Vec<TypeFolder>> {
    if folder.join(INCOMPLETE).exists() {
        let message =
            format!("{} has files of two exports: the last one was interrupted", folder.display());
        return Err(Failure::usage(message).hint("repeat `cms export` into this folder"));
    }
    let mut types = Vec::new();
    for path in entries(folder)? {
        // An import must not skip a folder that it cannot read.
        if has_definition(&path)? {
            types.push(read_type(&path)?);
        }
    }
    if types.is_empty() {
        return Err(Failure::usage(format!("{} has no exported types", folder.display()))
            .hint(format!("use a folder that `cms export` wrote: DIR/ContentType*/{DEFINITION}")));
    }
    types.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(types)
}

/// Returns whether a path is a folder in this layout.
pub(crate) fn is_exported(folder: &Path) -> Result<bool> {
    if !is_folder(folder)? {
        return Ok(false);
    }
    Ok(entries(folder)?.iter().any(|path| is_type_folder(path).unwrap_or_default()))
}

/// Finds the folders with objects but without a definition, which [`read`] skips.
pub(crate) fn without_definition(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut missing = Vec::new();
    for path in entries(folder)? {
        if is_type_folder(&path)? && !has_definition(&path)? {
            missing.push(path);
        }
    }
    Ok(missing)
}

fn is_type_folder(path: &Path) -> Result<bool> {
    let is_of_type =
        |file: &PathBuf| is_object_file(file, OBJECTS_PREFIX) || file.ends_with(DEFINITION);
    Ok(is_folder(path)? && entries(path)?.iter().any(is_of_type))
}

fn read_type(path: &Path) -> Result<TypeFolder> {
    let file = path.join(DEFINITION);
    let text = fs::read(&file).map_err(|error| Failure::unreadable(file.display(), error))?;
    let text = text.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(&text);
    let location = file.display().to_string();
    let definition: Map<String, Value> =
        serde_json::from_slice(text).map_err(|error| syntax(&location, &error))?;
    let Some(name) = definition.get("name").and_then(Value::as_str) else {
        return Err(Diagnostic { location, message: "the type has no name".to_owned() }.into());
    };
    let name = name.to_owned();
    let payload = definition.into_iter().filter(|(key, _)| WRITABLE_KEYS.contains(&key.as_str()));
    let payload = payload.collect();
    let (mut object_files, mut deleted) = (Vec::new(), Vec::new());
    let mut files = MediaFiles::default();
    for entry in entries(path)? {
        let file = entry.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_media = name == MEDIA && !entry.ends_with(DEFINITION) && !file.starts_with('.');
        if is_object_file(&entry, OBJECTS_PREFIX) {
            require_file(&entry)?;
            object_files.push(entry);
        } else if is_object_file(&entry, DELETED_PREFIX) {
            require_file(&entry)?;
            deleted.push(entry);
        } else if is_media && entry.is_file() {
            files.0.insert(file, entry);
        }
    }
    // Numerically, also where numbers are not padded.
    for files in [&mut object_files, &mut deleted] {
        files.sort_by_key(|file| (file.as_os_str().len(), file.clone()));
    }
    Ok(TypeFolder { name, payload, object_files, deleted, files })
}

/// Fails for a directory, and for a link that leads to nothing: an import must not skip objects.
fn require_file(path: &Path) -> Result<()> {
    match metadata(path)? {
        Some(found) if found.is_file() => Ok(()),
        _ => Err(Failure::unreadable(path.display(), "it is not a file")),
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error| Failure::unreadable(folder.display(), error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn has_definition(path: &Path) -> Result<bool> {
    Ok(metadata(&path.join(DEFINITION))?.is_some_and(|found| found.is_file()))
}

/// The folders that have a definition. Unreadable ones are those of other programs, such as `lost+found`.
fn with_definition(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = entries(folder)?;
    found.retain(|path| has_definition(path).unwrap_or_default());
    Ok(found)
}

fn is_folder(path: &Path) -> Result<bool> {
    Ok(metadata(path)?.is_some_and(|found| found.is_dir()))
}

/// Returns none if nothing has this path. What cannot be read is an error: an import must not skip it.
fn metadata(path: &Path) -> Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        Err(error) => Err(Failure::unreadable(path.display(), error)),
    }
}

fn is_object_file(path: &Path, prefix: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(prefix) && path.extension().is_some_and(|e| e == "json")
}

/// Names the folder of each of these types; names are unique, also where letter case is ignored. A type in
/// `kept` keeps its folder name, and no other type gets that name.
pub(crate) fn names(types: &[ContentType], kept: &BTreeMap<String, String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for content_type in types {
        if let Some(name) = kept.get(&content_type.name) {
            names.push(name.clone());
            continue;
        }
        let prefix = if content_type.internal { INTERNAL_PREFIX } else { TYPE_PREFIX };
        let mut name = format!("{prefix}{}", title(&content_type.name));
        if names.iter().chain(kept.values()).any(|taken| taken.eq_ignore_ascii_case(&name)) {
            name = format!("{name}_{}", content_type.name);
        }
        names.push(name);
    }
    names
}

/// The name of the folder of each type in an export.
pub(crate) fn folder_names(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut names = BTreeMap::new();
    if folder.exists() {
        for path in with_definition(folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // A type that cannot be read cannot be imported, so it needs no folder name.
            if let Ok(found) = read_type(&path) {
                names.insert(found.name, name);
            }
        }
    }
    Ok(names)
}

/// Name of a file of objects, with a number if the type has several.
pub(crate) fn object_file_name(content_type: &str, number: usize, files: usize) -> String {
    let name = title(content_type);
    if files <= 1 {
        format!("{OBJECTS_PREFIX}{name}.json")
    } else {
        format!("{OBJECTS_PREFIX}{name}{number:06}.json")
    }
}

/// Name of the file of deleted objects.
pub(crate) fn deleted_name(content_type: &str) -> String {
    format!("{DELETED_PREFIX}{}.json", title(content_type))
}

/// Returns whether an export may write to a folder: it is missing, empty, or has an earlier export.
pub(crate) fn may_hold_export(folder: &Path) -> Result<bool> {
    if !folder.exists() {
        return Ok(true);
    }
    let entries = entries(folder)?;
    let is_staging = |entry: &PathBuf| entry.ends_with(STAGING) || entry.ends_with(INCOMPLETE);
    Ok(entries.is_empty() || entries.iter().any(is_staging) || !with_definition(folder)?.is_empty())
}

/// The staging directory of an export, whose files then replace those of an earlier export. Dropping
/// this value removes the directory.
pub(crate) struct StagedExport {
    folder: PathBuf,
    path: PathBuf,
    /// Released when the process ends, however it ends.
    _lock: File,
}

impl StagedExport {
    /// Creates an empty staging directory in the folder of an export; fails while another process
    /// exports into this folder.
    pub(crate) fn new(folder: &Path) -> Result<Self> {
        let path = folder.join(STAGING);
        let lock = lock_staging(folder, &path)?;
        // Remains of a killed export.
        for entry in entries(&path)?.iter().filter(|entry| !entry.ends_with(STAGING_LOCK)) {
            let removed =
                if entry.is_dir() { fs::remove_dir_all(entry) } else { fs::remove_file(entry) };
            removed.map_err(|error| Failure::unwritable(entry.display(), error))?;
        }
        Ok(Self { folder: folder.to_owned(), path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the staged files into the folder, where they replace the types of these names and the
    /// workflows of an earlier export. The folder cannot be imported before [`Self::finish`].
    pub(crate) fn move_into_folder(&self, names: &[String]) -> Result<()> {
        let incomplete = self.folder.join(INCOMPLETE);
        fs::write(&incomplete, "")
            .map_err(|error| Failure::unwritable(incomplete.display(), error))?;
        let has_earlier_export = !with_definition(&self.folder)?.is_empty();
        for name in names {
            replace(&self.path.join(name), &self.folder.join(name))?;
        }
        let (workflows, location) = (self.path.join(WORKFLOWS), self.folder.join(WORKFLOWS));
        let moved = if workflows.exists() {
            fs::rename(&workflows, &location)
        } else if has_earlier_export && location.exists() {
            fs::remove_file(&location)
        } else {
            Ok(())
        };
        moved.map_err(|error| Failure::unwritable(location.display(), error))
    }

    /// Marks the export as complete.
    pub(crate) fn finish(self) -> Result<()> {
        let incomplete = self.folder.join(INCOMPLETE);
        fs::remove_file(&incomplete)
            .map_err(|error| Failure::unwritable(incomplete.display(), error))
    }

    /// The folders of types of an earlier export without these names.
    pub(crate) fn other_types(&self, names: &[String]) -> Result<Vec<PathBuf>> {
        let mut others = with_definition(&self.folder)?;
        others.retain(|path| !names.iter().any(|name| path.ends_with(name)));
        Ok(others)
    }
}

impl Drop for StagedExport {
    fn drop(&mut self) {
        // If this fails, the next export removes the directory.
        fs::remove_dir_all(&self.path).ok();
    }
}

/// Creates the staging directory of a folder, and takes its lock.
fn lock_staging(folder: &Path, staging: &Path) -> Result<File> {
    let path = staging.join(STAGING_LOCK);
    loop {
        fs::create_dir_all(staging)
            .map_err(|error| Failure::unwritable(staging.display(), error))?;
        let Some(lock) = lock::try_lock(&path)? else {
            let folder = folder.display();
            return Err(Failure::local(format!("another export writes to {folder}"))
                .hint("wait until it ends, or choose another folder"));
        };
        // The other export may have ended, and removed the directory, after the file was opened.
        if is_at(&lock, &path).map_err(|error| Failure::unwritable(path.display(), error))? {
            return Ok(lock);
        }
    }
}

/// Moves the files of a type over earlier ones, then removes the other earlier files.
fn replace(staged: &Path, type_folder: &Path) -> Result<()> {
    let unwritable = |error| Failure::unwritable(type_folder.display(), error);
    fs::create_dir_all(type_folder).map_err(unwritable)?;
    let mut kept = Vec::new();
    for file in entries(staged)? {
        let location = type_folder.join(file.file_name().unwrap_or_default());
        fs::rename(&file, &location).map_err(unwritable)?;
        kept.push(location);
    }
    clear(type_folder, &kept)
}

/// Returns whether a path is the file of a media object in an export.
fn is_media_file(path: &Path) -> bool {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let folder = format!("{INTERNAL_PREFIX}{}", title(MEDIA)).to_lowercase();
    name(path).starts_with("_media-")
        && path.parent().is_some_and(|parent| name(parent).starts_with(&folder))
}

/// Removes the files of an earlier export from the folder of a type; other files stay.
fn clear(type_folder: &Path, kept: &[PathBuf]) -> Result<()> {
    for path in entries(type_folder)? {
        let is_exported = path.is_file()
            && (is_object_file(&path, OBJECTS_PREFIX)
                || is_object_file(&path, DELETED_PREFIX)
                || path.ends_with(DEFINITION)
                || is_media_file(&path));
        if is_exported && !kept.contains(&path) {
            fs::remove_file(&path).map_err(|error| Failure::unwritable(path.display(), error))?;
        }
    }
    Ok(())
}

/// Removes types of an earlier export.
pub(crate) fn remove_types(type_folders: &[PathBuf]) -> Result<()> {
    for path in type_folders {
        clear(path, &[])?;
        // Fails when other files remain in the folder.
        fs::remove_dir(path).ok();
    }
    Ok(())
}

/// Converts `contact_form` to `ContactForm`, and `_media` to `Media`.
fn title(name: &str) -> String {
    let mut title = String::new();
    for part in name.split('_') {
        let mut letters = part.chars();
        title.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        title.push_str(letters.as_str());
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_follow_the_layout() {
        for (name, wanted) in [
            ("blogpost", "Blogpost"),
            ("contact_form", "ContactForm"),
            ("_media", "Media"),
            ("__", ""),
        ] {
            assert_eq!(title(name), wanted);
        }
        assert_eq!(object_file_name("_media", 1, 1), "contentObjectMedia.json");
        assert_eq!(object_file_name("post", 2, 12), "contentObjectPost000002.json");
        for (extension, wanted) in
            [("jpg", "a.jpg"), ("JPG", "a.JPG"), ("", "a.bin"), ("../../b", "a.bin")]
        {
            assert_eq!(file_name("a", extension), wanted);
        }
    }

    #[test]
    fn folder_of_another_type_is_not_used() {
        let named =
            |name: &&str| ContentType { name: (*name).to_owned(), ..ContentType::default() };
        let types = |names: &[&str]| names.iter().map(named).collect::<Vec<_>>();
        let kept = BTreeMap::from(
            [("a_b", "ContentTypeAB"), ("page", "Pages")]
                .map(|(a, b)| (a.to_owned(), b.to_owned())),
        );
        for (wanted, kept) in [
            (["ContentTypeAB", "ContentTypeAb_ab", "ContentTypePage"], &BTreeMap::new()),
            (["ContentTypeAB", "ContentTypeAb_ab", "Pages"], &kept),
        ] {
            assert_eq!(names(&types(&["a_b", "ab", "page"]), kept), wanted);
        }
        assert_eq!(
            names(&types(&["a__b", "ab"]), &kept),
            ["ContentTypeAB_a__b", "ContentTypeAb_ab"]
        );
    }

    #[test]
    fn media_files_are_found_by_id() {
        let names = [
            "_media-1.jpg",
            "_media-1.png",
            "_media-10.gif",
            "_media-2",
            "logo-1.png",
            "logo.jpeg",
            "readme.md",
            "v1.2.webp",
        ];
        let files = names.map(|name| (name.to_owned(), PathBuf::from(name)));
        let mut files = MediaFiles(BTreeMap::from(files));
        let mut take = |id: &str, extension: &str| {
            files.take(id, extension).map(|path| path.display().to_string())
        };
        assert_eq!(take("_media-1", "png").as_deref(), Some("_media-1.png"));
        assert_eq!(take("_MEDIA-1", "gif").as_deref(), Some("_media-1.jpg"));
        assert_eq!(take("_media-1", "gif"), None);
        assert_eq!(take("_media-10", "GIF").as_deref(), Some("_media-10.gif"));
        assert_eq!(take("_media-2", "").as_deref(), Some("_media-2"));
        assert_eq!(take("_media", "jpg"), None);
        assert_eq!(take("logo", "jpg").as_deref(), Some("logo.jpeg"));
        assert_eq!(take("v1.2", "jpg").as_deref(), Some("v1.2.webp"));
        assert_eq!(files.len(), 2);
    }

    #[test]
    fn second_export_into_a_folder_is_refused_until_the_first_one_ends() {
        let folder = tempfile::tempdir().unwrap();
        let first = StagedExport::new(folder.path()).unwrap();
        fs::write(first.path().join("a"), "").unwrap();
        let refused = StagedExport::new(folder.path()).err().unwrap();
        assert_eq!(refused.exit_code(), 1);
        assert!(first.path().join("a").exists());
        drop(first);
        assert_eq!(entries(folder.path()).unwrap(), Vec::<PathBuf>::new());

        // Remains of a killed export.
        let remains = folder.path().join(STAGING).join("ContentTypeA");
        fs::create_dir_all(&remains).unwrap();
        let second = StagedExport::new(folder.path()).unwrap();
        assert!(second.path().exists() && !remains.exists());
    }

    #[test]
    fn type_folder_that_cannot_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let of_type = folder.path().join("ContentTypeA");
        fs::create_dir(&of_type).unwrap();
        fs::write(of_type.join(DEFINITION), r#"{"name":"a"}"#).unwrap();
        fs::write(folder.path().join("notes.txt"), "").unwrap();
        assert_eq!(read(folder.path()).unwrap().len(), 1);
        assert!(is_exported(folder.path()).unwrap());

        // A link to itself fails for every user, as a folder without permissions does for most.
        let link = folder.path().join("ContentTypeB");
        std::os::unix::fs::symlink(&link, &link).unwrap();
        let refused = |error: Failure| assert!(format!("{error:?}").contains("ContentTypeB"));
        refused(read(folder.path()).err().unwrap());
        refused(without_definition(folder.path()).unwrap_err());
        assert!(may_hold_export(folder.path()).unwrap());
        assert_eq!(folder_names(folder.path()).unwrap().len(), 1);
    }

    #[test]
    fn export_keeps_workflows_that_no_export_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let workflows = folder.path().join(WORKFLOWS);
        fs::write(&workflows, "workflows: []").unwrap();
        let export = || {
            let staged = StagedExport::new(folder.path()).unwrap();
            let of_type = staged.path().join("ContentTypeA");
            fs::create_dir(&of_type).unwrap();
            fs::write(of_type.join(DEFINITION), "{}").unwrap();
            staged.move_into_folder(&["ContentTypeA".to_owned()]).unwrap();
        };
        export();
        assert!(workflows.exists());
        export();
        assert!(!workflows.exists());
    }
}
