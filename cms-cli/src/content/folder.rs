//! The layout of an exported folder, the one in which the reference product exports.
//!
//! One folder per type, `ContentType<Name>` or for system types `InternalContentType<Name>`. In it
//! the definition, the objects as JSON lines in one or more files `contentObject<Name>*.json`, and
//! the bytes of media beside them. Beside the types stands, where there are any, [`WORKFLOWS`].

use std::{
    fs,
    path::{Path, PathBuf},
};

use cms_core::wire::ctd::{ContentType, WRITABLE_KEYS};
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

/// The folder of one type, as it was found.
pub(crate) struct TypeFolder {
    pub(crate) name: String,
    /// The definition as the API takes it.
    pub(crate) payload: Map<String, Value>,
    /// Files of objects, in order.
    pub(crate) pages: Vec<PathBuf>,
    /// Files that belong to media objects.
    pub(crate) media: usize,
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
    let mut pages = Vec::new();
    let mut media = 0;
    for entry in entries(path)?.into_iter().filter(|entry| entry.is_file()) {
        if is_page(&entry) {
            pages.push(entry);
        } else if !entry.ends_with(DEFINITION) {
            media += 1;
        }
    }
    // Page 10 comes after page 9, also where numbers are not padded.
    pages.sort_by_key(|page| (page.as_os_str().len(), page.clone()));
    Ok(TypeFolder { name, payload, pages, media })
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

fn is_page(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(OBJECTS_PREFIX) && path.extension().is_some_and(|e| e == "json")
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

/// Types that the server makes and nobody can change (contract 2.6, 12).
const SYSTEM_TYPES: [&str; 4] = ["_media", "_tag", "_webhooks", "_plugin_settings"];

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

/// Moves the files of a type over earlier ones, and only then removes pages that are no more.
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

/// Removes what an earlier export wrote into the folder of a type; media stay.
fn clear(type_folder: &Path, kept: &[PathBuf]) -> Result<()> {
    for path in entries(type_folder)? {
        let is_ours = path.is_file() && (is_page(&path) || path.ends_with(DEFINITION));
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
            // Media that are still in it keep the folder.
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
    }
}
