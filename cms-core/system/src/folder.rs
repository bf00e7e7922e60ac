//! Private directories and files: only their owner may read them.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

/// Creates a directory and its missing parents. An existing one stays unchanged.
pub fn create(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns the names of the entries of a directory.
pub fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// Makes the creation, removal and renaming of entries of a directory durable.
pub fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Returns the paths of the entries of a directory; none when it does not exist.
pub fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Writes a file and replaces an earlier one, so that no incomplete file is ever read. Its content
/// is durable; [`sync`] makes the replacement durable.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    // Another process may write the same file.
    let unfinished = path.with_added_extension(format!("{}.part", std::process::id()));
    let write = || {
        let mut file = File::create(&unfinished)?;
        file.write_all(content)?;
        file.sync_data()?;
        fs::rename(&unfinished, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&unfinished)))
}

/// Ignores the error that a file or directory does not exist; returns all other errors.
pub fn ignore_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Creates a file that only its owner may read, also in a directory that other users may read.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn new_files_are_private() {
        let outside = tempfile::tempdir().unwrap();
        let path = outside.path().join("file");
        create_private(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        create_private(&path).unwrap_err();
    }

    #[test]
    fn new_directories_are_private_and_existing_ones_unchanged() {
        let outside = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let open = outside.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        create(&open).unwrap();
        assert_eq!(mode(&open), 0o755);
        let new = open.join("a/b");
        create(&new).unwrap();
        assert_eq!((mode(&new), mode(&open)), (0o700, 0o755));
        fs::write(open.join("file"), "").unwrap();
        assert!(create(&open.join("file/below")).is_err());
    }
}
