//! The layout of an exported folder, the one in which the reference product exports.
//!
//! One folder per type, `ContentType<Name>` or for system types `InternalContentType<Name>`. In it
//! the definition, the objects as JSON lines in one or more files `contentObject<Name>*.json`, and
//! beside media objects their files, `<id>.<extension>`. Beside the types stands, where there are any, [`WORKFLOWS`].

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use cms_core::wire::content_type::{ContentType, WRITABLE_KEYS};
use serde_json::{Map, Value, json};

use crate::failure::{Failure, Result};

/// The file with the definition of a type.
pub(crate) const DEFINITION: &str = "ContentTypeDefinition.json";

/// The project file with the workflows of the operator, which types may name.
pub(crate) const WORKFLOWS: &str = "workflows.yaml";

/// An export that is not finished.
const DRAFT: &str = ".cms-export";
const TYPE_PREFIX: &str = "ContentType";
const INTERNAL_PREFIX: &str = "InternalContentType";
const OBJECTS_PREFIX: &str = "contentObject";
/// Begins the names of files that no import reads unless it keeps dates.
const DELETED_PREFIX: &str = "deletedObject";

/// The folder of one type, as it was found.
pub(crate) struct TypeFolder {
    pub(crate) name: String,
    /// The definition as the API takes it.
    pub(crate) payload: Map<String, Value>,
    /// Files of objects, in order.
    pub(crate) pages: Vec<PathBuf>,
    /// Files of deleted objects, in order.
    pub(crate) deleted: Vec<PathBuf>,
    /// Files of media objects.
    pub(crate) files: MediaFiles,
}

/// The type of media objects.
const MEDIA: &str = "_media";
/// Extension of a file whose own one cannot be part of a name.
const NO_EXTENSION: &str = "bin";

/// Files of media objects, by their names in lower case.
#[derive(Clone, Default)]
pub(crate) struct MediaFiles(BTreeMap<String, PathBuf>);

impl MediaFiles {
    /// Takes the file of an object out, whatever its extension is when there is none of the right one.
    pub(crate) fn take(&mut self, id: &str, extension: &str) -> Option<PathBuf> {
        let right = file_name(id, extension).to_lowercase();
        self.0.remove(&right).or_else(|| {
            let id = id.to_lowercase();
            let is_its = |name: &str| name.split('.').next() == Some(&id);
            let mut from = self.0.range(id.clone()..);
            let name = from.next().map(|(name, _)| name.clone()).filter(|name| is_its(name))?;
            self.0.remove(&name)
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.values().map(PathBuf::as_path)
    }
}

/// Name of the file of a media object. An extension is free text, so not every one can be part of it.
pub(crate) fn file_name(id: &str, extension: &str) -> String {
    let is_plain = !extension.is_empty() && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    format!("{id}.{}", if is_plain { extension } else { NO_EXTENSION })
}

/// Finds the types in an exported folder, ordered by name.
pub(crate) fn read(folder: &Path) -> Result<Vec<TypeFolder>> {
    let mut types = Vec::new();
    for path in entries(folder)? {
        if path.join(DEFINITION).is_file() {
            types.push(read_type(&path)?);
        }
    }
    if types.is_empty() {
        return Err(Failure::usage(format!("{} holds no exported types", folder.display())).hint(
            format!(
                "a folder is expected as `cms export` writes it: DIR/ContentType*/{DEFINITION}"
            ),
        ));
    }
    types.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(types)
}

fn read_type(path: &Path) -> Result<TypeFolder> {
    let file = path.join(DEFINITION);
    let text = fs::read(&file).map_err(|error| Failure::unreadable(file.display(), error))?;
    let definition: Map<String, Value> = serde_json::from_slice(&text)
        .map_err(|error| Failure::unreadable(file.display(), error))?;
    let Some(name) = definition.get("name").and_then(Value::as_str) else {
        return Err(Failure::unreadable(file.display(), "the type has no name"));
    };
    let name = name.to_owned();
    let payload = definition.into_iter().filter(|(key, _)| WRITABLE_KEYS.contains(&key.as_str()));
    let payload = payload.collect();
    let (mut pages, mut deleted) = (Vec::new(), Vec::new());
    let mut files = MediaFiles::default();
    for entry in entries(path)?.into_iter().filter(|entry| entry.is_file()) {
        let file = entry.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if is_page(&entry, OBJECTS_PREFIX) {
            pages.push(entry);
        } else if is_page(&entry, DELETED_PREFIX) {
            deleted.push(entry);
        } else if name == MEDIA && !entry.ends_with(DEFINITION) && !file.starts_with('.') {
            files.0.insert(file, entry);
        }
    }
    // Page 10 comes after page 9, also where numbers are not padded.
    for pages in [&mut pages, &mut deleted] {
        pages.sort_by_key(|page| (page.as_os_str().len(), page.clone()));
    }
    Ok(TypeFolder { name, payload, pages, deleted, files })
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

fn is_page(path: &Path, prefix: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(prefix) && path.extension().is_some_and(|e| e == "json")
}

/// Names the folder of each type. Two types never share one, whatever their names.
pub(crate) fn names(types: &[&ContentType]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for content_type in types {
        let prefix = if content_type.internal { INTERNAL_PREFIX } else { TYPE_PREFIX };
        let mut name = format!("{prefix}{}", title(&content_type.name));
        if names.iter().any(|taken| taken.eq_ignore_ascii_case(&name)) {
            name = format!("{name}_{}", content_type.name);
        }
        names.push(name);
    }
    names
}

/// Name of a file of objects; only types with several files number them.
pub(crate) fn page_name(content_type: &str, number: u64, pages: u64) -> String {
    let name = title(content_type);
    if pages <= 1 {
        format!("{OBJECTS_PREFIX}{name}.json")
    } else {
        format!("{OBJECTS_PREFIX}{name}{number:06}.json")
    }
}

/// Name of the file of deleted objects.
pub(crate) fn deleted_name(content_type: &str) -> String {
    format!("{DELETED_PREFIX}{}.json", title(content_type))
}

/// Types that the server makes and nobody can change (contract 2.6, 12).
const SYSTEM_TYPES: [&str; 4] = [MEDIA, "_tag", "_webhooks", "_plugin_settings"];

/// Tells whether a type is the server's own.
pub(crate) fn is_system(name: &str) -> bool {
    SYSTEM_TYPES.contains(&name)
}

/// Tells whether a new space has a type of this name.
pub(crate) fn is_builtin(name: &str) -> bool {
    cms_core::builtin_types().iter().any(|builtin| builtin["name"] == name)
}

/// Tells whether a type is as every new space has it.
pub(crate) fn is_untouched_builtin(content_type: &ContentType) -> bool {
    cms_core::builtin_types().contains(&Value::Object(definition(content_type)))
}

/// A definition without what the next space makes anew: id and dates.
pub(crate) fn definition(content_type: &ContentType) -> Map<String, Value> {
    let all = json!(content_type);
    WRITABLE_KEYS.into_iter().map(|key| (key.to_owned(), all[key].clone())).collect()
}

/// Tells whether an export may write into a folder: it is missing, empty, or holds an earlier export.
pub(crate) fn may_hold_export(folder: &Path) -> Result<bool> {
    if !folder.exists() {
        return Ok(true);
    }
    let entries = entries(folder)?;
    let is_exported = |entry: &PathBuf| entry.ends_with(DRAFT) || entry.join(DEFINITION).is_file();
    Ok(entries.is_empty() || entries.iter().any(is_exported))
}

/// Where an export is written before it takes the place of an earlier one; removed with this value.
pub(crate) struct Draft(PathBuf);

impl Draft {
    /// Makes an empty draft in the folder of an export.
    pub(crate) fn new(folder: &Path) -> Result<Self> {
        let path = folder.join(DRAFT);
        if path.exists() {
            // Of an export that was killed.
            fs::remove_dir_all(&path)
                .map_err(|error| Failure::unwritable(path.display(), error))?;
        }
        fs::create_dir_all(&path).map_err(|error| Failure::unwritable(path.display(), error))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Puts the types of this name, and the workflows, in the place of earlier ones.
    pub(crate) fn publish(self, folder: &Path, names: &[String]) -> Result<()> {
        for name in names {
            replace(&self.0.join(name), &folder.join(name))?;
        }
        let (workflows, place) = (self.0.join(WORKFLOWS), folder.join(WORKFLOWS));
        let moved = if workflows.exists() {
            fs::rename(&workflows, &place)
        } else if place.exists() {
            fs::remove_file(&place)
        } else {
            Ok(())
        };
        moved.map_err(|error| Failure::unwritable(place.display(), error))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // The next export removes what is left.
        fs::remove_dir_all(&self.0).ok();
    }
}

/// Moves the files of a type over earlier ones, and only then removes files that are no more.
fn replace(draft: &Path, type_folder: &Path) -> Result<()> {
    let unwritable = |error| Failure::unwritable(type_folder.display(), error);
    fs::create_dir_all(type_folder).map_err(unwritable)?;
    let mut kept = Vec::new();
    for file in entries(draft)? {
        let place = type_folder.join(file.file_name().unwrap_or_default());
        fs::rename(&file, &place).map_err(unwritable)?;
        kept.push(place);
    }
    clear(type_folder, &kept)
}

/// Tells whether an export wrote the file of a media object there.
fn is_media_file(path: &Path) -> bool {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let folder = format!("{INTERNAL_PREFIX}{}", title(MEDIA)).to_lowercase();
    name(path).starts_with("_media-")
        && path.parent().is_some_and(|parent| name(parent).starts_with(&folder))
}

/// Removes what an earlier export wrote into the folder of a type; other files stay.
fn clear(type_folder: &Path, kept: &[PathBuf]) -> Result<()> {
    for path in entries(type_folder)? {
        let is_ours = path.is_file()
            && (is_page(&path, OBJECTS_PREFIX)
                || is_page(&path, DELETED_PREFIX)
                || path.ends_with(DEFINITION)
                || is_media_file(&path));
        if is_ours && !kept.contains(&path) {
            fs::remove_file(&path).map_err(|error| Failure::unwritable(path.display(), error))?;
        }
    }
    Ok(())
}

/// Removes the types of an earlier export that are not among the names.
pub(crate) fn clear_others(folder: &Path, names: &[String]) -> Result<()> {
    for path in entries(folder)? {
        let is_named = names.iter().any(|name| path.ends_with(name));
        if !is_named && path.join(DEFINITION).is_file() {
            clear(&path, &[])?;
            // Other files that are still in it keep the folder.
            fs::remove_dir(&path).ok();
        }
    }
    Ok(())
}

/// `contact_form` is `ContactForm`, `_media` is `Media`.
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
    fn types_and_pages_have_the_names_of_the_layout() {
        for (name, wanted) in [
            ("blogpost", "Blogpost"),
            ("contact_form", "ContactForm"),
            ("_media", "Media"),
            ("__", ""),
        ] {
            assert_eq!(title(name), wanted);
        }
        assert_eq!(page_name("_media", 1, 1), "contentObjectMedia.json");
        assert_eq!(page_name("post", 2, 12), "contentObjectPost000002.json");
        for (extension, wanted) in
            [("jpg", "a.jpg"), ("JPG", "a.JPG"), ("", "a.bin"), ("../../b", "a.bin")]
        {
            assert_eq!(file_name("a", extension), wanted);
        }
    }

    #[test]
    fn media_objects_find_their_files() {
        let names = ["_media-1.jpg", "_media-1.png", "_media-10.gif", "_media-2", "readme.md"];
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
        assert_eq!(files.len(), 1);
    }
}
