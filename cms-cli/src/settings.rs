//! The settings that commands share, from flags and environment variables. No other module reads these
//! variables.

use std::{
    env, fs,
    io::{self, ErrorKind, IsTerminal},
    path::{Path, PathBuf},
};

use clap::{ArgMatches, ValueEnum as _, parser::ValueSource};
use cms_core::{Error, MediaStorage, NewDatabase, S3Bucket};
use serde::Deserialize;

use crate::{
    cli::{Cli, Command, CtdCommand, Global, MediaCommand, OutputFormat, TypesCommand},
    content::BYTE_ORDER_MARK,
    failure::{Failure, FailureKind, Result},
    printer,
    profiles::{Profile, Profiles},
};

/// Name of the configuration file of the server in a data directory.
pub(crate) const CONFIG_FILE: &str = "cms.toml";

/// The flag and the variable of the storage of media files, for messages.
const MEDIA_FLAG: (&str, &str) = ("--media", "CMS_MEDIA");

/// Settings of all commands.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Settings {
    pub(crate) target: Option<TargetAddress>,
    /// Storage of media files.
    pub(crate) media: MediaStorage,
    /// Create a database even if the directory has media or an index, but their database is missing.
    new_database: bool,
    /// Allow webhooks without TLS, as the server setting `webhook-allow-http` does.
    pub(crate) http_webhooks: bool,
    pub(crate) format: OutputFormat,
    pub(crate) quiet: bool,
    /// There is a terminal to ask for confirmation, and `--yes` is not set.
    pub(crate) may_prompt: bool,
    /// `--yes` is set.
    pub(crate) yes: bool,
}

/// The server or the data directory that a command works on.
pub(crate) enum TargetAddress {
    Directory(PathBuf),
    Server { url: String, key: Option<String>, profile: Option<String> },
}

impl Settings {
    /// Reads the global flags and the environment.
    pub(crate) fn resolve(cli: &Cli, matches: &ArgMatches) -> Result<Self> {
        let global = &cli.global;
        let is_flag = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        let target = target(global, &cli.command, is_flag)?;
        let media = match (&target, &cli.command) {
            // A server has its own setting, and these commands use no files.
            (Some(TargetAddress::Server { .. }), _) => MediaStorage::DataDirectory,
            (None, command) if has_no_target(command) => MediaStorage::DataDirectory,
            // Its flags have the settings of its file already, which need not be the one in the directory.
            #[cfg(feature = "serve")]
            (_, Command::Serve(_)) => media(global.media.as_deref(), MEDIA_FLAG, variable)?,
            (Some(TargetAddress::Directory(folder)), _) if global.media.is_none() => media(
                media_in_file(folder)?.as_deref(),
                ("media in cms.toml", "CMS_MEDIA"),
                variable,
            )?,
            _ => media(global.media.as_deref(), MEDIA_FLAG, variable)?,
        };
        Ok(Self {
            target,
            media,
            new_database: global.new_database,
            http_webhooks: is_on("CMS_WEBHOOK_ALLOW_HTTP"),
            format: format(global, &cli.command),
            quiet: global.quiet,
            may_prompt: !global.yes && io::stdin().is_terminal(),
            yes: global.yes,
        })
    }

    /// The condition under which a command that changes something creates a database.
    pub(crate) fn new_database(&self) -> NewDatabase {
        if self.new_database { NewDatabase::Always } else { NewDatabase::InNewDirectory }
    }

    /// Asks for confirmation on a terminal, unless `--yes` is set; an error if the user declines.
    pub(crate) fn confirm(&self, question: &str) -> Result<()> {
        if self.may_prompt { printer::confirm(question) } else { Ok(()) }
    }
}

/// The output format; for some commands, `-o` names a file instead.
fn format(global: &Global, command: &Command) -> OutputFormat {
    let names_file = matches!(
        command,
        Command::Ctd(CtdCommand::Export { .. })
            | Command::Media(MediaCommand::Get { .. })
            | Command::Openapi(_)
            | Command::Types(_)
    );
    match &global.o {
        _ if global.json => OutputFormat::Json,
        Some(name) if !names_file => OutputFormat::from_str(name, false).unwrap_or_default(),
        _ => OutputFormat::default(),
    }
}

/// Commands that use neither a server nor a data directory.
fn has_no_target(command: &Command) -> bool {
    if let Command::Types(TypesCommand::Typescript(args)) = command {
        return !args.paths.is_empty();
    }
    matches!(
        command,
        Command::Init(_)
            | Command::Login(_)
            | Command::Logout(_)
            | Command::Ctd(CtdCommand::Schema)
            | Command::Validate(_)
            | Command::Completions { .. }
            | Command::Man { .. }
    )
}

/// Finds the target: a flag, else a variable, else the default profile. `is_flag` returns whether an
/// argument was given as a flag.
fn target(
    global: &Global,
    command: &Command,
    is_flag: impl Fn(&str) -> bool,
) -> Result<Option<TargetAddress>> {
    // An empty variable counts as unset.
    let server = global.server.clone().filter(|url| !url.is_empty());
    let folder = global.data.clone().filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let profile = global.profile.clone().filter(|name| !name.is_empty());
    match command {
        // The server has a default data directory.
        #[cfg(feature = "serve")]
        Command::Serve(_) => return Ok(folder.map(TargetAddress::Directory)),
        #[cfg(feature = "cluster")]
        Command::Cluster(_) => return Ok(folder.map(TargetAddress::Directory)),
        command if has_no_target(command) => return Ok(None),
        _ => {}
    }
    let mut named = Vec::new();
    named.extend(server.as_ref().map(|_| "server"));
    named.extend(folder.as_ref().map(|_| "data"));
    named.extend(profile.as_ref().map(|_| "profile"));
    let has_flag = named.iter().any(|name| is_flag(name));
    named.retain(|name| !has_flag || is_flag(name));
    if let [first, second, ..] = named.as_slice() {
        let both = if has_flag {
            format!("--{first} and --{second} cannot be used together")
        } else {
            let [first, second] = [first, second].map(|name| name.to_uppercase());
            format!("CMS_{first} and CMS_{second} are both set")
        };
        return Err(Failure::usage(both)
            .hint("use one of --server, --data and --profile: a flag overrides the variables"));
    }
    match (named.pop(), server) {
        (Some("data"), _) => Ok(folder.map(TargetAddress::Directory)),
        (Some("server"), Some(url)) => {
            Ok(Some(TargetAddress::Server { url, key: key(global)?, profile: None }))
        }
        _ => from_profile(profile.as_deref(), global),
    }
}

/// The server of a profile, or of the default one. `CMS_KEY` may be a key of another server, so only
/// --key-file replaces the key of the profile.
fn from_profile(name: Option<&str>, global: &Global) -> Result<Option<TargetAddress>> {
    let profiles = Profiles::load()?;
    match profiles.as_ref().map(|profiles| profiles.get(name)).transpose()?.flatten() {
        Some((name, Profile { url, key: stored })) => {
            let file = global.key_file.as_ref().map(|_| key(global)).transpose()?.flatten();
            let key = file.or_else(|| Some(stored.clone()));
            let (url, profile) = (url.clone(), Some(name.to_owned()));
            Ok(Some(TargetAddress::Server { url, key, profile }))
        }
        None => Err(Failure::usage("neither a server nor a data directory is given").hint(
            "use --server URL or --data DIR (or set CMS_SERVER or CMS_DATA), or `cms login URL` once",
        )),
    }
}

/// The key for a server. It is never an argument, because other users can read the arguments of a
/// process.
fn key(global: &Global) -> Result<Option<String>> {
    let text = match &global.key_file {
        Some(file) => Some(
            fs::read_to_string(file).map_err(|error| Failure::unreadable(file.display(), error))?,
        ),
        None => variable("CMS_KEY"),
    };
    let key = text.as_deref().and_then(token);
    if key.is_none() && global.key_file.is_some() {
        // The file may be a secret that is not mounted: do not fall back to another key.
        return Err(Failure::from(FailureKind::Target(Error::Unauthenticated))
            .hint("the file of --key-file is empty"));
    }
    key.as_deref().map(require_key_characters).transpose()?;
    Ok(key)
}

/// Refuses a text that cannot be a key, for example a file that contains more than the token.
pub(crate) fn require_key_characters(key: &str) -> Result<()> {
    if key.contains(|c: char| c.is_whitespace() || c.is_control() || !c.is_ascii()) {
        return Err(Failure::usage(
            "the key contains spaces or other characters that a key cannot contain",
        )
        .hint("give the token alone, without its name"));
    }
    Ok(())
}

/// Trims a token from a variable or a file. A file often ends with a line break, which no HTTP header
/// can contain.
pub(crate) fn token(text: &str) -> Option<String> {
    let token = text.trim_start_matches(BYTE_ORDER_MARK).trim();
    (!token.is_empty()).then(|| token.to_owned())
}

/// Returns the setting `media` of the configuration file in a data directory: commands on the directory need it, too.
fn media_in_file(data_directory: &Path) -> Result<Option<String>> {
    #[derive(Deserialize)]
    struct ConfigFile {
        media: Option<String>,
    }
    let path = data_directory.join(CONFIG_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(Failure::unreadable(path.display(), error)),
    };
    let file: ConfigFile = toml::from_str(&text)
        .map_err(|error| Failure::unreadable(path.display(), error.message()))?;
    Ok(file.media)
}

/// Finds the storage of media files. Secrets come from the environment only.
fn media(
    url: Option<&str>,
    (flag, variable_name): (&str, &str),
    variable: impl Fn(&str) -> Option<String>,
) -> Result<MediaStorage> {
    let Some(url) = url.filter(|url| !url.is_empty()) else {
        return Ok(MediaStorage::DataDirectory);
    };
    let (name, prefix) = bucket(url).ok_or_else(|| {
        // The message does not repeat the URL, because it may contain a key.
        Failure::usage(format!("{flag} (or {variable_name}) is not a valid storage URL"))
            .hint("use s3://BUCKET or s3://BUCKET/PREFIX")
    })?;
    let needed = |name| {
        variable(name).ok_or_else(|| {
            Failure::usage(format!("{name} is not set, but {flag} names a bucket"))
                .hint("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        })
    };
    let endpoint = variable("AWS_ENDPOINT_URL");
    let is_url = |url: &String| {
        let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let is_first = |c: char| c.is_ascii_alphanumeric() || c == '[';
        host.is_some_and(|host| host.starts_with(is_first) && !host.contains(['@', '?', '#']))
    };
    if endpoint.as_ref().is_some_and(|url| !is_url(url)) {
        return Err(Failure::usage("AWS_ENDPOINT_URL is not a valid URL")
            .hint("use https://HOST, or http://HOST for a connection without TLS"));
    }
    Ok(MediaStorage::S3(S3Bucket {
        name: name.to_owned(),
        prefix: prefix.to_owned(),
        endpoint,
        region: variable("AWS_REGION").unwrap_or_else(|| "us-east-1".to_owned()),
        access_key_id: needed("AWS_ACCESS_KEY_ID")?,
        secret_access_key: needed("AWS_SECRET_ACCESS_KEY")?,
    }))
}

/// Reads the directory or bucket of backups.
#[cfg(feature = "serve")]
pub(crate) fn backup_destination(url: &str) -> Result<cms_core::BackupDestination> {
    use cms_core::BackupDestination::{Folder, S3};
    if !url.starts_with("s3://") {
        if url.contains("://") {
            let reason = format!(
                "--backup-to \"{url}\" is neither a directory nor a URL that begins with s3://"
            );
            return Err(Failure::usage(reason).hint("use a directory, or s3://BUCKET/PREFIX"));
        }
        return Ok(Folder(url.into()));
    }
    match media(Some(url), ("--backup-to", "CMS_BACKUP_TO"), variable)? {
        MediaStorage::S3(bucket) => Ok(S3(bucket)),
        MediaStorage::DataDirectory => Ok(Folder(url.into())),
    }
}

/// Reads bucket and prefix. Characters that S3 encodes differently in paths and signatures are
/// refused.
fn bucket(url: &str) -> Option<(&str, &str)> {
    let path = url.strip_prefix("s3://")?;
    let path = path.strip_suffix('/').unwrap_or(path);
    let is_plain = |part: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-=".contains(c);
        !["", ".", ".."].contains(&part) && part.chars().all(is_plain)
    };
    path.split('/').all(is_plain).then(|| path.split_once('/').unwrap_or((path, "")))
}

/// Reads a variable that has no flag, such as one with a key. Clap reads the others.
#[expect(clippy::disallowed_methods, reason = "clap has no variables without flags")]
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|text| !text.is_empty())
}

/// Reads a boolean variable like the server does.
fn is_on(name: &str) -> bool {
    let text = variable(name).unwrap_or_default().to_ascii_lowercase();
    ["y", "yes", "t", "true", "on", "1"].contains(&text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str, variables: &[(&str, &str)]) -> std::result::Result<MediaStorage, String> {
        let variable = |wanted: &str| {
            let found = variables.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        };
        media(Some(url), MEDIA_FLAG, variable).map_err(|failure| format!("{failure:?}"))
    }

    /// The file that `--config` names is the only one that a server reads.
    #[cfg(feature = "serve")]
    #[test]
    fn commands_on_a_directory_read_its_media_setting_and_servers_do_not() {
        use clap::{CommandFactory as _, FromArgMatches as _};

        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(CONFIG_FILE), "media = \"not a bucket\"\n").unwrap();
        let resolve = |command: &[&str]| {
            let directory = folder.path().to_str().unwrap();
            let arguments = [&["cms", "--data", directory], command].concat();
            let matches = Cli::command().try_get_matches_from(arguments).unwrap();
            let resolved = Settings::resolve(&Cli::from_arg_matches(&matches).unwrap(), &matches);
            resolved.map(|settings| settings.media).map_err(|failure| format!("{failure:?}"))
        };
        assert_eq!(resolve(&["serve", "--config", "other.toml"]), Ok(MediaStorage::DataDirectory));
        assert_eq!(resolve(&["key", "list", "--media", ""]), Ok(MediaStorage::DataDirectory));
        let refused = resolve(&["key", "list"]).unwrap_err();
        assert!(refused.contains("media in cms.toml"), "{refused}");
    }

    #[test]
    fn media_url_is_a_bucket_with_a_prefix() {
        for (url, parts) in [
            ("s3://site", Some(("site", ""))),
            ("s3://site/", Some(("site", ""))),
            ("s3://my.site-2/a/b=1/", Some(("my.site-2", "a/b=1"))),
            ("s3://", None),
            ("s3:///a", None),
            ("s3://site//a", None),
            ("s3://site/a//", None),
            ("s3://site/../b", None),
            ("s3://site/a?b", None),
            ("s3://key:secret@site", None),
            ("S3://site", None),
            ("https://site/a", None),
            ("/srv/media", None),
        ] {
            assert_eq!(bucket(url), parts, "{url}");
        }
    }

    #[test]
    fn bucket_needs_a_key_and_has_default_settings() {
        let key = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "wont-tell")];
        let MediaStorage::S3(bucket) = read("s3://site/a", &key).unwrap() else {
            panic!("a bucket is no folder")
        };
        assert_eq!(bucket.to_string(), "s3://site/a");
        assert_eq!((bucket.region.as_str(), bucket.endpoint.as_deref()), ("us-east-1", None));
        assert!(!format!("{bucket:?}").contains("wont-tell"), "{bucket:?}");

        for missing in 0..key.len() {
            let (name, _) = key[missing];
            let error = read("s3://site", &key[1 - missing..2 - missing]).unwrap_err();
            assert!(error.contains(name), "{error}");
            assert!(!error.contains("wont-tell"), "{error}");
        }
    }

    #[test]
    fn endpoint_is_a_url_without_credentials() {
        let read_endpoint = |endpoint| {
            let key = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "wont-tell")];
            read("s3://site", &[key[0], key[1], ("AWS_ENDPOINT_URL", endpoint)])
        };
        for good in ["https://s3.example", "http://127.0.0.1:9000", "http://[::1]:9000/"] {
            assert!(read_endpoint(good).is_ok(), "{good}");
        }
        for bad in [
            "s3.example",
            "127.0.0.1:9000",
            "ftp://s3.example",
            "https://",
            "http:///a",
            "https://id:key@s3.example",
        ] {
            let error = read_endpoint(bad).unwrap_err();
            assert!(error.contains("AWS_ENDPOINT_URL"), "{bad}: {error}");
            assert!(!error.contains("id:key"), "{bad}: {error}");
        }
    }

    #[test]
    fn media_files_without_a_url_stay_in_the_data_directory() {
        assert_eq!(media(None, MEDIA_FLAG, |_| None).unwrap(), MediaStorage::DataDirectory);
        assert_eq!(read("", &[]), Ok(MediaStorage::DataDirectory));
    }
}
