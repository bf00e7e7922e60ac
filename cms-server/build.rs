//! Builds the admin page with npm, and writes the table of its files that the crate embeds.
//!
//! Without Node or npm, or without a package registry, `missing.html` is embedded instead and the build
//! succeeds, unless `CMS_REQUIRE_ADMIN` is set. Nothing is written into the source tree.

#![expect(clippy::disallowed_methods, reason = "cargo passes its settings in the environment")]

use std::{
    env,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// Oldest version of Node that builds the page.
const MIN_NODE: (u32, u32) = (20, 19);
/// Folders of `admin/` without sources of the page.
const NOT_SOURCES: [&str; 3] = ["node_modules", "dist", "test"];
/// The client, which is generated from `api.json`.
const GENERATED: &str = "src/api/schema.d.ts";
const REQUIRE_ADMIN_VARIABLE: &str = "CMS_REQUIRE_ADMIN";
/// The variable that names the program, such as clippy, that cargo runs instead of `rustc`.
const RUSTC_WRAPPER_VARIABLE: &str = "RUSTC_WORKSPACE_WRAPPER";

/// Why there is no page.
enum Failure {
    /// A program or a registry is missing: the build may succeed on another machine, or later.
    Missing(String),
    /// The sources are wrong.
    Broken(String),
}

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={REQUIRE_ADMIN_VARIABLE}");
    println!("cargo::rerun-if-env-changed={RUSTC_WRAPPER_VARIABLE}");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    if env::var_os("CARGO_FEATURE_ADMIN").is_none() {
        return Ok(());
    }
    let sources = Path::new("admin");
    let table = out.join("admin_files.rs");
    let required =
        env::var_os(REQUIRE_ADMIN_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0");
    let is_clippy = env::var_os(RUSTC_WRAPPER_VARIABLE)
        .is_some_and(|program| Path::new(&program).ends_with("clippy-driver"));
    // Before the files are watched: an edit of the page is no reason to check the crate again.
    if is_clippy && !required {
        return write_missing(&table, sources, "clippy does not need it");
    }
    for file in files(sources, &NOT_SOURCES)? {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    match build(sources, &out.join("admin")) {
        Ok(dist) => write_table(&table, &dist)?,
        Err(Failure::Missing(reason)) if !required => {
            println!("cargo::warning=admin page not built: {reason}");
            // A file that never exists: cargo runs this program again with the next build.
            println!("cargo::rerun-if-changed={}", out.join("retry").display());
            write_missing(&table, sources, &reason)?;
        }
        Err(Failure::Missing(reason) | Failure::Broken(reason)) => {
            // Each directive is one line.
            for line in format!("admin page not built: {reason}").lines() {
                println!("cargo::error={line}");
            }
        }
    }
    Ok(())
}

/// Copies the sources, installs the packages and builds; returns the folder with the built files.
fn build(sources: &Path, work: &Path) -> Result<PathBuf, Failure> {
    check_node()?;
    let changed_packages =
        copy_sources(sources, work).map_err(|error| Failure::Broken(error.to_string()))?;
    if changed_packages || !work.join("node_modules/.package-lock.json").exists() {
        run(work, "npm", &["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"])
            .map_err(|output| packages_failure(&output))?;
    }
    run(work, "npm", &["run", "build"])
        .map_err(|output| Failure::Broken(format!("npm run build failed:\n{output}")))?;
    Ok(work.join("dist"))
}

fn check_node() -> Result<(), Failure> {
    let version = run(Path::new("."), "node", &["--version"])
        .map_err(|_| Failure::Missing("Node is not installed".to_owned()))?;
    let version = version.trim();
    let mut numbers = version.trim_start_matches('v').split('.').map(|number| number.parse().ok());
    let found = numbers.next().flatten().zip(numbers.next().flatten());
    if found.is_none_or(|found| found < MIN_NODE) {
        let (major, minor) = MIN_NODE;
        let reason = format!("Node {major}.{minor} or newer is needed, found {version}");
        return Err(Failure::Missing(reason));
    }
    run(Path::new("."), "npm", &["--version"])
        .map(drop)
        .map_err(|_| Failure::Missing("npm is not installed".to_owned()))
}

/// Runs a program and returns its output; on failure, what it printed.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Codes of npm for a lock file that is damaged, does not match, or names other content.
const LOCK_FILE_ERRORS: [&str; 3] = ["EUSAGE", "EJSONPARSE", "EINTEGRITY"];

fn packages_failure(output: &str) -> Failure {
    if LOCK_FILE_ERRORS.iter().any(|code| output.contains(code)) {
        return Failure::Broken(format!("npm ci failed:\n{output}"));
    }
    let last_line = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Failure::Missing(format!("npm ci failed: {last_line}"))
}

/// Makes `work` equal to the sources, except for `node_modules`; returns whether the packages changed.
fn copy_sources(sources: &Path, work: &Path) -> io::Result<bool> {
    fs::create_dir_all(work)?;
    let lock = "package-lock.json";
    let changed = fs::read(sources.join(lock))? != fs::read(work.join(lock)).unwrap_or_default();
    for entry in fs::read_dir(work)? {
        let path = entry?.path();
        if path.ends_with("node_modules") {
            continue;
        }
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    for file in files(sources, &NOT_SOURCES)? {
        let target = work.join(file.strip_prefix(sources).map_err(io::Error::other)?);
        fs::create_dir_all(target.parent().unwrap_or(work))?;
        fs::copy(file, target)?;
    }
    Ok(changed)
}

/// All files below a folder, sorted, without some folders at its top and generated files.
fn files(folder: &Path, except: &[&str]) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if !except.iter().any(|name| path.ends_with(name)) {
                found.extend(files(&path, &[])?);
            }
        } else if !path.ends_with(GENERATED) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Writes the table of a built page: path below `/admin/`, and bytes.
fn write_table(table: &Path, dist: &Path) -> io::Result<()> {
    let mut rows = String::new();
    for file in files(dist, &[])? {
        let name = file.strip_prefix(dist).map_err(io::Error::other)?;
        let (name, file) = (name.display().to_string(), file.display().to_string());
        writeln!(rows, "    ({name:?}, include_bytes!({file:?})),").map_err(io::Error::other)?;
    }
    write_rows(table, true, &rows)
}

/// Writes a table with one file: a page that says why the admin page is missing.
fn write_missing(table: &Path, sources: &Path, reason: &str) -> io::Result<()> {
    let escaped = reason.replace('&', "&amp;").replace('<', "&lt;");
    let page = fs::read_to_string(sources.join("missing.html"))?.replace("{reason}", &escaped);
    write_rows(table, false, &format!("    (\"index.html\", {page:?}.as_bytes()),\n"))
}

fn write_rows(table: &Path, built: bool, rows: &str) -> io::Result<()> {
    fs::write(
        table,
        format!(
            "/// Whether the page was built; if not, the table has a page that says why.\n\
             pub const BUILT: bool = {built};\n\
             /// Path below `/admin/`, and content, of every file.\n\
             pub(super) static FILES: &[(&str, &[u8])] = &[\n{rows}];\n"
        ),
    )
}
