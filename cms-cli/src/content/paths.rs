//! Expands names, directories and patterns to files.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

use glob::{MatchOptions, Pattern};

use crate::failure::{Failure, Result};

const PATTERN_CHARACTERS: [char; 3] = ['*', '?', '['];

/// Like a shell: a leading dot must be given explicitly.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// Finds the files, each once, in the order of the names; within a directory or a pattern by path.
pub(crate) fn files(names: &[String]) -> Result<Vec<PathBuf>> {
    let mut files = Files::default();
    for name in names {
        let path = Path::new(name);
        if path.exists() {
            files.add(path)?;
        } else if name.contains(PATTERN_CHARACTERS) {
            files.add_matches(name)?;
        } else {
            return Err(Failure::unreadable(name, "the file does not exist"));
        }
    }
    Ok(files.found)
}

#[derive(Default)]
struct Files {
    found: Vec<PathBuf>,
    known: HashSet<PathBuf>,
}

impl Files {
    /// Adds a file, or all files below a directory.
    fn add(&mut self, path: &Path) -> Result<()> {
        if path.is_dir() {
            let below = Walk { with_hidden: false, max_depth: usize::MAX, ..Walk::default() };
            for file in below.paths(path)?.into_iter().filter(|path| path.is_file()) {
                self.add(&file)?;
            }
            return Ok(());
        }
        if !path.is_file() {
            return Err(Failure::unreadable(
                path.display(),
                "it is neither a file nor a directory",
            ));
        }
        let unreadable = |error| Failure::unreadable(path.display(), error);
        if self.known.insert(fs::canonicalize(path).map_err(unreadable)?) {
            self.found.push(path.to_owned());
        }
        Ok(())
    }

    fn add_matches(&mut self, text: &str) -> Result<()> {
        let pattern = Pattern::new(text)
            .map_err(|error| Failure::usage(format!("pattern \"{text}\" is not valid: {error}")))?;
        let parts: Vec<&str> = text.split('/').collect();
        let plain = parts.iter().take_while(|part| !part.contains(PATTERN_CHARACTERS)).count();
        let folder = parts[..plain].join("/");
        let walk = Walk {
            with_hidden: parts[plain..].iter().any(|part| part.starts_with('.')),
            max_depth: if parts.contains(&"**") { usize::MAX } else { parts.len() - plain },
            ..Walk::default()
        };
        let folder =
            if plain == 1 && folder.is_empty() { Path::new("/") } else { Path::new(&folder) };
        let paths = if folder.as_os_str().is_empty() || folder.is_dir() {
            walk.paths(folder)?
        } else {
            Vec::new()
        };
        let mut matching =
            paths.iter().filter(|path| pattern.matches_path_with(path, OPTIONS)).peekable();
        if matching.peek().is_none() {
            return Err(Failure::usage(format!("no file matches \"{text}\"")));
        }
        matching.try_for_each(|path| self.add(path))
    }
}

/// Lists what is below a directory.
#[derive(Default)]
struct Walk {
    /// Also names with a leading dot.
    with_hidden: bool,
    max_depth: usize,
    /// Directories that were entered: links can form a cycle.
    entered: HashSet<PathBuf>,
    found: Vec<PathBuf>,
}

impl Walk {
    /// Files and directories, by path. An empty path is the current directory.
    fn paths(mut self, folder: &Path) -> Result<Vec<PathBuf>> {
        self.enter(folder, 1)?;
        Ok(self.found)
    }

    fn enter(&mut self, folder: &Path, depth: usize) -> Result<()> {
        let readable = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let unreadable = |error| Failure::unreadable(readable.display(), error);
        if !self.entered.insert(fs::canonicalize(readable).map_err(unreadable)?) {
            return Ok(());
        }
        let entries = fs::read_dir(readable).map_err(unreadable)?;
        let names = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>();
        let mut names = names.map_err(unreadable)?;
        names.retain(|name| self.with_hidden || !name.as_encoded_bytes().starts_with(b"."));
        names.sort();
        for name in names {
            let path = folder.join(name);
            let enters = depth < self.max_depth && path.is_dir();
            self.found.push(path.clone());
            if enters {
                self.enter(&path, depth + 1)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn names_directories_and_patterns_expand_to_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        for name in ["b.jpg", "a.png", "[x].jpg", ".hidden", "deep/c.jpg", "deep/.d/e.jpg", "z/"] {
            let path = folder.path().join(name);
            if name.ends_with('/') {
                fs::create_dir_all(path).unwrap();
            } else {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, name).unwrap();
            }
        }
        let table: [(&[&str], &[&str]); 8] = [
            (&["b.jpg", "a.png", "./b.jpg", "b.jpg"], &["b.jpg", "a.png"]),
            (&["."], &["[x].jpg", "a.png", "b.jpg", "deep/c.jpg"]),
            (&["*.jpg"], &["[x].jpg", "b.jpg"]),
            (&["**/*.jpg"], &["[x].jpg", "b.jpg", "deep/c.jpg"]),
            (&["d*"], &["deep/c.jpg"]),
            (&["[x].jpg"], &["[x].jpg"]),
            (&[".hidden", "b.jpg", "b.*"], &[".hidden", "b.jpg"]),
            (&["z"], &[]),
        ];
        let below = |name: &&str| format!("{root}/{name}");
        for (names, wanted) in table {
            let names: Vec<String> = names.iter().map(below).collect();
            let found = files(&names).unwrap();
            let found = found.iter().map(|path| path.strip_prefix(root).unwrap());
            assert_eq!(found.collect::<Vec<_>>(), wanted.iter().map(Path::new).collect::<Vec<_>>());
        }
        let path = |name: &str| format!("{root}/{name}");
        std::os::unix::fs::symlink(".", folder.path().join("deep/loop")).unwrap();
        std::os::unix::fs::symlink("..", folder.path().join("deep/up")).unwrap();
        let broken = std::ffi::OsStr::from_bytes(b"deep/caf\xe9.jpg");
        fs::write(folder.path().join(broken), "x").unwrap();
        assert_eq!(files(&[path("deep")]).unwrap().len(), 5, "each once, below a link too");
        assert_eq!(files(&[path("deep/**/c*.jpg")]).unwrap().len(), 1);
        for name in ["none", "*.gif", "[", "none/**/*"] {
            assert_eq!(files(&[below(&name)]).unwrap_err().exit_code(), 2, "{name}");
        }
    }
}
