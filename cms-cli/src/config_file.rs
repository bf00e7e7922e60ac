//! `cms.toml`: the settings of `cms serve` in a file, each under the name of its flag.
//!
//! A setting of the file becomes the flag of that name, unless the flag or its environment variable
//! is set. So names, values and defaults of settings are declared once, for clap.

mod renamed;
#[cfg(test)]
mod table;

use std::{
    collections::BTreeMap, env, ffi::OsString, fs, io::ErrorKind, ops::Range, path::PathBuf,
};

use clap::{
    ArgAction, ArgMatches, CommandFactory, FromArgMatches,
    error::{ContextKind, ContextValue},
    parser::ValueSource,
};
use toml::de::{DeTable, DeValue};

use crate::{
    cli::{Cli, Command},
    failure::{Diagnostic, Failure, FailureKind, Result},
    printer,
    project::did_you_mean,
    settings::CONFIG_FILE,
};

/// The command that reads the file.
const COMMAND: &str = "serve";
/// The data directory unless another one is set.
pub(crate) const DEFAULT_DIRECTORY: &str = "cms-data";
/// Global options that are settings of the server too.
const GLOBAL_SETTINGS: [&str; 2] = ["data", "media"];
/// The flag that names the file; the file itself must not contain it.
const CONFIG: &str = "config";

/// Merges the file into the arguments of a command that reads it; `matches` are these arguments.
pub(crate) fn merge(cli: Cli, matches: &ArgMatches) -> Result<Cli> {
    if !matches!(cli.command, Command::Serve(_)) {
        return Ok(cli);
    }
    let (cli, warnings) = complete(env::args_os().collect(), matches.clone())?;
    for warning in &warnings {
        printer::error_line(warning);
    }
    Ok(cli)
}

/// Reads the arguments of this process, its environment, and the file.
pub(crate) fn read() -> Result<Cli> {
    let arguments: Vec<OsString> = env::args_os().collect();
    let matches = parse(&arguments)?;
    let (cli, _) = complete(arguments, matches)?;
    Ok(cli)
}

/// Completes arguments by the variables of renamed settings, and by the file; returns them with
/// warnings about renamed settings.
fn complete(mut arguments: Vec<OsString>, mut matches: ArgMatches) -> Result<(Cli, Vec<String>)> {
    let mut warnings = renamed::flag_warnings(&arguments);
    if let Some(given) = matches.subcommand_matches(COMMAND) {
        let renamed = renamed::variables(given, &mut warnings);
        if !renamed.is_empty() {
            arguments.extend(renamed);
            matches = parse(&arguments)?;
        }
    }
    if let Some((path, is_in_directory)) = file(&matches) {
        let text = fs::read_to_string(&path)
            .map_err(|error| Failure::unreadable(path.display(), error))?;
        let extra = flags(&text, &matches, is_in_directory, &mut warnings).map_err(|errors| {
            let errors = errors.into_iter().map(|(line, message)| Diagnostic {
                location: format!("{}:{line}", path.display()),
                message,
            });
            Failure::from(FailureKind::InvalidInput(errors.collect()))
        })?;
        matches = parse(&[arguments, extra].concat())?;
    }
    let mut cli =
        Cli::from_arg_matches(&matches).map_err(|error| Failure::usage(first_line(&error)))?;
    if let Command::Serve(args) = &mut cli.command {
        args.values = values(&matches);
    }
    Ok((cli, warnings))
}

fn parse(arguments: &[OsString]) -> Result<ArgMatches> {
    Cli::command()
        .try_get_matches_from(arguments)
        .map_err(|error| Failure::usage(first_line(&error)))
}

/// The file to read, and whether it is the one in the data directory.
fn file(matches: &ArgMatches) -> Option<(PathBuf, bool)> {
    let server = matches.subcommand_matches(COMMAND)?;
    if let Some(path) = server.get_one::<PathBuf>(CONFIG) {
        return Some((path.clone(), false));
    }
    let folder = server.get_one::<OsString>("data").filter(|folder| !folder.is_empty());
    let path =
        folder.map_or_else(|| PathBuf::from(DEFAULT_DIRECTORY), PathBuf::from).join(CONFIG_FILE);
    // A file that exists but cannot be read is an error: it may contain limits.
    let is_missing = fs::symlink_metadata(&path)
        .is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory));
    (!is_missing).then_some((path, true))
}

/// The settings of a file, as clap declares them.
pub(crate) fn settings() -> Vec<clap::Arg> {
    let root = Cli::command();
    let server = root.find_subcommand(COMMAND).expect("the command line has this command");
    let shared =
        root.get_arguments().filter(|arg| GLOBAL_SETTINGS.contains(&arg.get_id().as_str()));
    let own = server.get_arguments().filter(|arg| {
        let name = arg.get_long().unwrap_or("help");
        !["help", CONFIG].contains(&name)
    });
    own.chain(shared).cloned().collect()
}

fn name(setting: &clap::Arg) -> &str {
    setting.get_long().expect("every setting has a long name")
}

/// Converts a file to flags, without those that are set already; or returns its errors by line.
fn flags(
    text: &str,
    given: &ArgMatches,
    is_in_directory: bool,
    warnings: &mut Vec<String>,
) -> std::result::Result<Vec<OsString>, Vec<(usize, String)>> {
    let line = |span: Range<usize>| text[..span.start].matches('\n').count() + 1;
    let table = DeTable::parse(text)
        .map_err(|error| vec![(error.span().map_or(1, &line), error.message().to_owned())])?;
    let settings = settings();
    let given = given.subcommand_matches(COMMAND).expect("the file is read for this command");
    let (mut flags, mut errors) = (Vec::new(), Vec::new());
    for (key, value) in table.get_ref() {
        let wanted = renamed::current(key.get_ref(), warnings);
        let result = match settings.iter().find(|setting| name(setting) == wanted) {
            None => {
                let near = did_you_mean(wanted, settings.iter().map(name));
                Err(format!("unknown setting \"{wanted}\"{near}"))
            }
            Some(_) if is_in_directory && key.get_ref() == "data" => {
                Err("remove data: this file is in the data directory already".to_owned())
            }
            Some(setting) => read_setting(setting, value.get_ref()).map(|read| {
                let source = given.value_source(setting.get_id().as_str());
                if matches!(source, None | Some(ValueSource::DefaultValue)) {
                    flags.extend(read);
                }
            }),
        };
        errors.extend(result.err().map(|message| (line(key.span()), message)));
    }
    errors.sort();
    if errors.is_empty() { Ok(flags) } else { Err(errors) }
}

/// Converts a value to flags.
fn read_setting(
    setting: &clap::Arg,
    value: &DeValue<'_>,
) -> std::result::Result<Vec<OsString>, String> {
    let name = name(setting);
    let is_list = matches!(setting.get_action(), ArgAction::Append);
    let is_switch = matches!(setting.get_action(), ArgAction::SetTrue);
    let flags = match value {
        DeValue::Boolean(is_on) if is_switch => {
            is_on.then(|| format!("--{name}")).into_iter().collect()
        }
        _ if is_switch => return Err(format!("{name} needs true or false")),
        DeValue::Array(values) if is_list => values
            .iter()
            .map(|value| Ok(format!("--{name}={}", plain(value.get_ref()).ok_or("")?)))
            .collect::<std::result::Result<Vec<_>, &str>>()
            .map_err(|_| format!("{name} needs a list of strings"))?,
        value => match plain(value) {
            Some(text) => vec![format!("--{name}={text}")],
            None => return Err(format!("{name} does not accept this type of value")),
        },
    };
    let flags: Vec<OsString> = flags.into_iter().map(OsString::from).collect();
    // Clap checks each value alone, so that the error has its line.
    let alone = ["cms", COMMAND].map(OsString::from);
    match Cli::command().try_get_matches_from([&alone[..], &flags].concat()) {
        Ok(_) => Ok(flags),
        Err(error) => Err(first_line(&error)),
    }
}

/// The text of a scalar value.
fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            i128::from_str_radix(&digits, number.radix()).ok().map(|number| number.to_string())
        }
        _ => None,
    }
}

/// The message of clap in one line, with the possible values of a setting, and without the password in a URL
/// that it repeats.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let message = without_password(line.strip_prefix("error: ").unwrap_or(line));
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) if !values.is_empty() => {
            format!("{message}: use one of {}", values.join(", "))
        }
        _ => message,
    }
}

/// A text for a message or the log, without the user and password of a URL in it.
pub(crate) fn without_password(text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        (Some(start), Some(end)) if start < end => {
            format!("{}***{}", &text[..start + 3], &text[end..])
        }
        _ => text.to_owned(),
    }
}

/// Every setting of the server with a value.
fn values(matches: &ArgMatches) -> BTreeMap<String, String> {
    let Some(server) = matches.subcommand_matches(COMMAND) else { return BTreeMap::new() };
    let value = |setting: clap::Arg| {
        let raw = server.get_raw(setting.get_id().as_str())?;
        let texts: Vec<_> = raw.map(|text| text.to_string_lossy().into_owned()).collect();
        Some((name(&setting).to_owned(), texts.join(", ")))
    };
    settings().into_iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[&str], text: &str) -> std::result::Result<Vec<String>, Vec<(usize, String)>> {
        let arguments = ["cms", "serve"].iter().chain(given);
        let matches = Cli::command().try_get_matches_from(arguments).unwrap();
        let flags = flags(text, &matches, true, &mut Vec::new())?;
        Ok(flags.into_iter().map(|flag| flag.into_string().unwrap()).collect())
    }

    #[test]
    fn settings_become_flags() {
        let table: &[(&[&str], &str, &[&str])] = &[
            (&[], "", &[]),
            (&[], "listen = \"127.0.0.1:9\"", &["--listen=127.0.0.1:9"]),
            (&[], "listen = 8080", &["--listen=8080"]),
            (&[], "body-limit = 1_000", &["--body-limit=1000"]),
            (&[], "body-limit = \"64 MiB\"", &["--body-limit=64 MiB"]),
            (&[], "trust-proxy = true", &["--trust-proxy"]),
            (&[], "trust-proxy = false", &[]),
            (&[], "apply = [\"a\", \"b\"]", &["--apply=a", "--apply=b"]),
            (
                &[],
                "key-rate = 100\naddress-rate = \"5/9\"",
                &["--address-rate=5/9", "--key-rate=100"],
            ),
            // A flag takes precedence, even with the default value.
            (&["--slow-query", "250"], "slow-query = 9", &[]),
            (&["--slow-query", "1"], "slow-query = 9\nleast-rate = 0", &["--min-transfer-rate=0"]),
        ];
        for (given, text, wanted) in table {
            let mut flags = read(given, text).unwrap();
            flags.sort();
            assert_eq!(flags, *wanted, "{text}");
        }
    }

    #[test]
    fn errors_have_their_line() {
        let table = [
            ("# a comment\n\nlissen = 1", 3, "did you mean \"listen\"?"),
            ("\nport = 1", 2, "unknown setting \"port\""),
            ("[server]\nlisten = 1", 1, "unknown setting \"server\""),
            ("listen = \"here\"", 1, "here"),
            ("body-limit = true", 1, "body-limit"),
            ("body-limit = -1", 1, "-1"),
            ("upload-limit = \"64 apples\"", 1, "64MiB"),
            ("render-cache = \"lots\"", 1, "64MiB"),
            ("trust-proxy = \"yes\"", 1, "true or false"),
            ("max-connections = 18446744073709551615", 1, "1 to 1000000"),
            ("max-subscribers = 0", 1, "1 to 1000000"),
            ("traces = \"http://me:secret@host\"", 1, "'http://***@host'"),
            ("key-rate = 0", 1, "RATE/BURST"),
            ("durability = \"fast\"", 1, ": use one of full, normal"),
            ("apply = [1.5]", 1, "a list of strings"),
            ("data = \"x\"", 1, "remove data"),
            ("config = \"x\"", 1, "unknown setting \"config\""),
            ("json = true", 1, "unknown setting \"json\""),
            ("listen = ", 1, ""),
            ("slow-query = 1\nslow-query = 2", 2, "duplicate"),
        ];
        for (text, line, message) in table {
            let errors = read(&[], text).unwrap_err();
            assert_eq!(errors.len(), 1, "{text}: {errors:?}");
            assert_eq!(errors[0].0, line, "{text}: {errors:?}");
            assert!(errors[0].1.contains(message), "{text}: {errors:?}");
        }
        assert_eq!(read(&[], "a = 1\nb = 2").unwrap_err().len(), 2, "all errors");
    }
}
