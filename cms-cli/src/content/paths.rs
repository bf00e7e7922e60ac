//! Expands names, directories and patterns to files.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use glob::{MatchOptions, Pattern};

use crate::failure::{Failure, Result};

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
        } else if name.contains(['*', '?', '[']) {
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
            let folder = Pattern::escape(&path.display().to_string());
            return self.add_all(&format!("{folder}/**/*"), Path::is_file);
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

    fn add_matches(&mut self, pattern: &str) -> Result<()> {
        let before = self.known.len();
        self.add_all(pattern, |_| true)?;
        if self.known.len() == before && !self.matches_known(pattern) {
            return Err(Failure::usage(format!("no file matches \"{pattern}\"")));
        }
        Ok(())
    }

    fn matches_known(&self, pattern: &str) -> bool {
        let pattern = Pattern::new(pattern);
        pattern.is_ok_and(|p| self.found.iter().any(|path| p.matches_path_with(path, OPTIONS)))
    }

    fn add_all(&mut self, pattern: &str, is_wanted: impl Fn(&Path) -> bool) -> Result<()> {
        let paths = glob::glob_with(pattern, OPTIONS).map_err(|error| {
            Failure::usage(format!("pattern \"{pattern}\" is not valid: {error}"))
        })?;
        for path in paths {
            let path = path.map_err(|error| {
                Failure::unreadable(error.path().display().to_string(), error.error())
            })?;
            if is_wanted(&path) {
                self.add(&path)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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
        for name in ["none", "*.gif", "[", "none/**/*"] {
            assert_eq!(files(&[below(&name)]).unwrap_err().exit_code(), 2, "{name}");
        }
    }
}
