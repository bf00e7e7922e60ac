//! Profiles: servers with their keys, in a file that only its owner can read. `cms login` writes it.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use cms_core::{Error, lock};
use serde::Deserialize;
use serde_json::json;
use tempfile::NamedTempFile;

use crate::{
    failure::{Diagnostic, Failure, Result},
    project::nearest,
    settings::variable,
};

/// The file in the folder of configuration files of the user.
const FILE: &str = "cms/profiles.toml";
/// Extension of the lock file beside it.
const LOCK_EXTENSION: &str = "lock";
const MAX_NAME_CHARS: usize = 100;

/// The profiles of the user.
pub(crate) struct Profiles {
    path: PathBuf,
    content: Content,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    /// The profile of commands without a target.
    default: Option<String>,
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
}

/// A server and its key.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    pub(crate) url: String,
    pub(crate) key: String,
}

impl Profiles {
    /// Reads the file; a missing file has no profiles. Returns `None` if no variable names its folder.
    pub(crate) fn load() -> Result<Option<Self>> {
        path(variable).map(Self::read).transpose()
    }

    fn read(path: PathBuf) -> Result<Self> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Failure::unreadable(path.display(), error)),
        };
        if is_readable_by_others(&path) {
            let path = path.display();
            return Err(Failure::usage(format!(
                "{path} contains keys, but other users may read or change it"
            ))
            .hint(format!("run `chmod 600 '{path}'`, and rotate the keys if others used them")));
        }
        let content = toml::from_str(&text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text[..start].matches('\n').count() + 1;
            let location = format!("{}:{line}", path.display());
            Diagnostic { location, message: error.message().to_owned() }
        })?;
        Ok(Self { path, content })
    }

    /// Returns a profile, or the default one, with its name.
    pub(crate) fn get(&self, name: Option<&str>) -> Result<Option<(&str, &Profile)>> {
        let Some(name) = name.or(self.content.default.as_deref()) else { return Ok(None) };
        let found = self.content.profiles.get_key_value(name);
        let (name, profile) = found.ok_or_else(|| self.unknown(name))?;
        Ok(Some((name, profile)))
    }

    fn unknown(&self, name: &str) -> Failure {
        let names: Vec<&str> = self.content.profiles.keys().map(String::as_str).collect();
        let near = nearest(name, names.iter().copied());
        let failure = Failure::from(Error::not_found("profile", name));
        match near {
            Some(near) => failure.hint(format!("did you mean \"{near}\"?")),
            None if names.is_empty() => failure.hint("`cms login URL` creates a profile"),
            None => failure.hint(format!("profiles are {}", names.join(", "))),
        }
    }

    /// Adds or replaces a profile, which becomes the default.
    pub(crate) fn insert(&mut self, name: &str, profile: Profile) {
        self.content.profiles.insert(name.to_owned(), profile);
        self.content.default = Some(name.to_owned());
    }

    /// Removes a profile, or the default one; returns its name.
    pub(crate) fn remove(&mut self, name: Option<&str>) -> Result<String> {
        let found = self.get(name)?.map(|(name, _)| name.to_owned());
        let name = found.ok_or_else(|| self.unknown("default"))?;
        self.content.profiles.remove(&name);
        self.content.default.take_if(|default| *default == name);
        Ok(name)
    }

    /// Reads the file again, changes and replaces it, while no other process does so.
    pub(crate) fn update<T>(&mut self, change: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let path = self.path.with_extension(LOCK_EXTENSION);
        let folder = path.parent().unwrap_or(Path::new("."));
        let unwritable = |error| Failure::unwritable(path.display(), error);
        fs::create_dir_all(folder).map_err(unwritable)?;
        let lock = lock::open(&path)?;
        lock.lock().map_err(unwritable)?;
        *self = Self::read(self.path.clone())?;
        let changed = change(self)?;
        self.save()?;
        Ok(changed)
    }

    /// Replaces the file.
    fn save(&self) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let write = || {
            // Readable by its owner only.
            let mut file = NamedTempFile::new_in(folder)?;
            file.write_all(self.content.to_toml().as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&self.path)?;
            io::Result::Ok(())
        };
        write().map_err(|error| Failure::unwritable(self.path.display(), error))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Content {
    /// Formats the file. Every JSON string is a valid TOML string, too.
    fn to_toml(&self) -> String {
        let mut text = String::new();
        if let Some(default) = &self.default {
            writeln!(text, "default = {}", json!(default)).ok();
        }
        for (name, Profile { url, key }) in &self.profiles {
            writeln!(
                text,
                "\n[profiles.{}]\nurl = {}\nkey = {}",
                json!(name),
                json!(url),
                json!(key)
            )
            .ok();
        }
        text
    }
}

/// The path of the file, see the XDG Base Directory Specification.
fn path(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let folder = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".config")))?;
    Some(folder.join(FILE))
}

#[cfg(unix)]
fn is_readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

/// On other systems, the folder of a user is closed to other users.
#[cfg(not(unix))]
fn is_readable_by_others(_: &Path) -> bool {
    false
}

/// The name of the profile for a URL: its host, with the port.
pub(crate) fn default_name(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

/// Checks a name.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._:-[]".contains(c);
    if !name.is_empty() && name.len() <= MAX_NAME_CHARS && name.chars().all(is_allowed) {
        return Ok(());
    }
    Err(Failure::usage(format!("profile name \"{name}\" is not valid"))
        .hint("use 1 to 100 ASCII letters, digits and characters of `._:-[]`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_as_written() {
        let profile = |n: u8| {
            let (url, key) = (format!("http://h:{n}"), format!("a\"b\\c{}{n}", '\u{1}'));
            Profile { url, key }
        };
        let profiles = [("h:1", profile(1)), ("[::1]:2", profile(2)), ("x.y", profile(3))];
        let content = Content {
            default: Some("h:1".to_owned()),
            profiles: profiles.into_iter().map(|(name, one)| (name.to_owned(), one)).collect(),
        };
        let read: Content = toml::from_str(&content.to_toml()).unwrap();
        assert_eq!((read.default, read.profiles), (content.default, content.profiles));
        let empty: Content = toml::from_str(&Content::default().to_toml()).unwrap();
        assert!(empty.profiles.is_empty());
    }

    #[test]
    fn file_is_in_the_configuration_folder() {
        let at = |set: &[(&str, &str)]| {
            let find = |name: &str| set.iter().find(|(one, _)| *one == name);
            path(|name| find(name).map(|(_, value)| (*value).to_owned()))
        };
        let (xdg, home) = (("XDG_CONFIG_HOME", "/x"), ("HOME", "/h"));
        assert_eq!(at(&[xdg, home]).unwrap(), Path::new("/x/cms/profiles.toml"));
        assert_eq!(at(&[home]).unwrap(), Path::new("/h/.config/cms/profiles.toml"));
        let relative = ("XDG_CONFIG_HOME", "x");
        assert_eq!(at(&[relative, home]).unwrap(), Path::new("/h/.config/cms/profiles.toml"));
        assert_eq!(at(&[]), None);
    }

    #[test]
    fn name_of_a_profile_is_the_host() {
        for (url, name) in [
            ("https://cms.example.com", "cms.example.com"),
            ("http://127.0.0.1:8080/", "127.0.0.1:8080"),
            ("http://[::1]:8080/p/q", "[::1]:8080"),
        ] {
            assert_eq!(default_name(url), name);
            assert!(check_name(name).is_ok());
        }
        for name in ["", "a b", "a/b", "ä", &"a".repeat(101)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
