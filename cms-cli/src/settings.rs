//! Flags and environment resolved into what a command needs to know. Nothing later reads either.

use std::{
    env, fs,
    io::{self, IsTerminal},
    path::PathBuf,
};

use crate::{
    cli::{Cli, Command, CtdCommand, Format, Global, MediaCommand},
    failure::{Failure, Result},
    printer,
};

/// What all commands share.
pub(crate) struct Settings {
    pub(crate) place: Option<Place>,
    pub(crate) format: Format,
    pub(crate) quiet: bool,
    /// Ask before something is deleted.
    ask: bool,
}

/// Where a command works.
pub(crate) enum Place {
    Folder(PathBuf),
    Server { url: String, key: Option<String> },
}

impl Settings {
    /// Reads the global flags and the environment.
    pub(crate) fn resolve(cli: &Cli) -> Result<Self> {
        let global = &cli.global;
        Ok(Self {
            place: place(global, &cli.command)?,
            format: format(global, &cli.command),
            quiet: global.quiet,
            ask: !global.yes && io::stdin().is_terminal(),
        })
    }

    /// Asks, when there is somebody to ask.
    pub(crate) fn confirm(&self, question: &str) -> Result<()> {
        if self.ask { printer::confirm(question) } else { Ok(()) }
    }
}

/// The form of the output; where `-o` names a file, it says nothing of that.
fn format(global: &Global, command: &Command) -> Format {
    let names_file = matches!(
        command,
        Command::Ctd(CtdCommand::Export { .. }) | Command::Media(MediaCommand::Get { .. })
    );
    match &global.o {
        _ if global.json => Format::Json,
        Some(name) if !names_file => Format::parse(name).unwrap_or_default(),
        _ => Format::default(),
    }
}

/// Finds out where the command works.
fn place(global: &Global, command: &Command) -> Result<Option<Place>> {
    // A variable that is set to nothing says nothing.
    let server = global.server.clone().filter(|url| !url.is_empty());
    let data = global.data.clone().filter(|folder| !folder.is_empty());
    let folder = data.map(PathBuf::from);
    match command {
        // The server is what others work on: it has a folder, or the default one.
        #[cfg(feature = "serve")]
        Command::Serve(_) => return Ok(folder.map(Place::Folder)),
        Command::Ctd(CtdCommand::Schema) | Command::Completions { .. } | Command::Man { .. } => {
            return Ok(None);
        }
        Command::Ctd(_)
        | Command::Object(_)
        | Command::Import(_)
        | Command::Export(_)
        | Command::Publish(_)
        | Command::Unpublish(_)
        | Command::Archive(_)
        | Command::Workflow(_)
        | Command::Media(_)
        | Command::Search(_)
        | Command::Reindex(_)
        | Command::Check(_)
        | Command::Key(_) => {}
    }
    match (server, folder) {
        (Some(_), Some(_)) => Err(Failure::usage("both a server and a data folder are given")
            .hint("use one of --server and --data (or CMS_SERVER and CMS_DATA)")),
        (None, None) => Err(Failure::usage("neither a server nor a data folder is given")
            .hint("use --server URL or --data DIR (or set CMS_SERVER or CMS_DATA)")),
        (Some(url), None) => Ok(Some(Place::Server { url, key: key(global)? })),
        (None, Some(folder)) => Ok(Some(Place::Folder(folder))),
    }
}

/// The key for a server. It never stands in an argument, where other users could read it.
fn key(global: &Global) -> Result<Option<String>> {
    let text = match &global.key_file {
        Some(file) => Some(
            fs::read_to_string(file).map_err(|error| Failure::unreadable(file.display(), error))?,
        ),
        None => variable("CMS_KEY"),
    };
    Ok(text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()))
}

/// Reads a variable that holds a key. Clap reads the others; keys must not become flags.
#[expect(clippy::disallowed_methods, reason = "clap has no variables without flags")]
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|text| !text.is_empty())
}
