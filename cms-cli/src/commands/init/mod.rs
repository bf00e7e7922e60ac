//! `cms init`: writes a project folder, then starts a server on it.
//!
//! [`template`] has the files. The server is another run of this program, with the arguments that the
//! README of the project shows.

mod template;

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use cms_core::Error;
use serde_json::json;

use super::print_dry_run;
use crate::{
    cli::{InitArgs, Template},
    failure::{Failure, Outcome, Result},
    printer::{self, Printer},
    settings::Settings,
};

pub(super) fn run(args: &InitArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let may_prompt = settings.may_prompt && !args.dry_run.dry_run;
    let folder = match &args.dir {
        Some(dir) => dir.clone(),
        None if may_prompt => printer::prompt("project folder", ".")?.into(),
        None => PathBuf::from("."),
    };
    let template = match args.template {
        Some(template) => template,
        None if may_prompt => chosen(&printer::prompt("template (blog, empty)", "blog")?)?,
        None => Template::Blog,
    };
    let files = template::files(template);
    let names = top_names(&files);
    refuse_existing(&folder, &names, template)?;
    if args.dry_run.dry_run {
        return print_dry_run(
            printer,
            &format!("create in {}: {}", folder.display(), names.join(", ")),
        );
    }
    write_all(&folder, &files)?;
    let serve = serve_arguments(template).join(" ");
    let value = json!({ "folder": folder, "files": names, "serve": format!("cms {serve}") });
    printer.value(&value, String::new)?;
    printer.note(&format!("created in {}: {}", folder.display(), names.join(", ")))?;
    if cfg!(feature = "serve") && !args.no_serve {
        let opens = may_prompt
            && printer::is_yes(&printer::prompt("start the server and open it? (y, n)", "y")?);
        if opens || !may_prompt {
            printer.flush()?;
            return start(&folder, template, opens);
        }
    }
    let enter = if folder == Path::new(".") {
        String::new()
    } else {
        format!("cd {} && ", folder.display())
    };
    printer.note(&format!("start the server with: {enter}cms {serve}"))?;
    Ok(Outcome::Done)
}

fn chosen(text: &str) -> Result<Template> {
    <Template as clap::ValueEnum>::from_str(text, true).map_err(|_| {
        Failure::usage(format!("there is no template \"{text}\"")).hint("use blog or empty")
    })
}

/// The arguments of the server on the project, in its folder.
fn serve_arguments(template: Template) -> Vec<&'static str> {
    let mut arguments = vec!["serve", "--apply", "project.yaml"];
    if template == Template::Blog {
        arguments.extend(["--import", template::CONTENT]);
    }
    arguments
}

/// The names of the files, with the folder of content as one.
fn top_names(files: &[(&'static str, String)]) -> Vec<&'static str> {
    let names = files.iter().map(|(name, _)| {
        if name.starts_with(template::CONTENT) { template::CONTENT } else { *name }
    });
    let mut names: Vec<_> = names.collect();
    names.dedup();
    names
}

/// Fails when the folder contains one of the files.
fn refuse_existing(folder: &Path, names: &[&str], template: Template) -> Result<()> {
    let is_missing = |path: &Path| fs::symlink_metadata(path).is_err();
    if !is_missing(folder) && !folder.is_dir() {
        return Err(Failure::usage(format!("{} is not a folder", folder.display()))
            .hint("use another name: cms init DIR"));
    }
    let existing = names.iter().copied().filter(|name| !is_missing(&folder.join(name)));
    let existing: Vec<&str> = existing.collect();
    if existing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{} already contains {}: nothing was changed",
        folder.display(),
        existing.join(", ")
    );
    let serve = serve_arguments(template).join(" ");
    Err(Failure::from(Error::Conflict(message)).hint(format!(
        "create the project in another folder with `cms init DIR`, or start its server with `cms {serve}`"
    )))
}

/// Writes all files; after an error, removes those that were written. Created folders stay.
fn write_all(folder: &Path, files: &[(&'static str, String)]) -> Result<()> {
    let mut written = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        if let Err(error) = write_new(&path, text, &mut written) {
            for path in &written {
                fs::remove_file(path).ok();
            }
            return Err(Failure::unwritable(path.display(), error)
                .hint("use a folder that you may write to: cms init DIR"));
        }
    }
    Ok(())
}

fn write_new(path: &Path, text: &str, written: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // Never over a file that appeared meanwhile.
    let mut file = File::create_new(path)?;
    written.push(path.to_owned());
    file.write_all(text.as_bytes())
}

/// Replaces this process by the server of the project, or starts it as a child process.
#[cfg(feature = "serve")]
fn start(folder: &Path, template: Template, opens: bool) -> Result<Outcome> {
    use crate::config_file::DEFAULT_DIRECTORY;

    let failed = |error| Failure::local(format!("cannot start the server: {error}"));
    let mut server = std::process::Command::new(std::env::current_exe().map_err(failed)?);
    server.current_dir(folder).args(serve_arguments(template));
    // Overrides a variable that names another data directory.
    server.args(["--data", DEFAULT_DIRECTORY]);
    if opens {
        server.arg("--open");
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // The server takes over this process, so it gets the signals directly.
        Err(failed(server.exec()))
    }
    #[cfg(not(unix))]
    {
        let status = server.status().map_err(failed)?;
        let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        Ok(if code == 0 { Outcome::Done } else { Outcome::Refused(code) })
    }
}

#[cfg(not(feature = "serve"))]
fn start(_: &Path, _: Template, _: bool) -> Result<Outcome> {
    Err(Failure::usage("this build has no server").hint("use --no-serve"))
}
