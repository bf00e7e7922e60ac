//! `cms login` and `cms logout`: profiles with the URLs and keys of servers.

use std::io::{self, IsTerminal, Read};

use cms_core::Error;
use serde_json::json;

use super::{hints, print_dry_run};
use crate::{
    cli::{LoginArgs, LogoutArgs},
    failure::{Failure, FailureKind, Outcome, Result},
    printer::{self, Printer},
    profiles::{self, Profile, Profiles},
    settings::require_key_characters,
    target::{Remote, Target as _},
};

/// Longest key that is read.
const MAX_KEY_BYTES: u64 = 4096;

pub(super) fn login(args: &LoginArgs, printer: &Printer) -> Result<Outcome> {
    let url = args.address.trim_end_matches('/');
    // Checks the URL before anybody types a key.
    Remote::new(url, Some(""))?;
    let name = args.name.as_deref().unwrap_or(profiles::default_name(url));
    profiles::check_name(name)?;
    let mut profiles = load()?;
    let key = read_key(url)?;
    let context = Remote::new(url, Some(&key))?.auth_context().map_err(|error| match error {
        Error::Unauthenticated => Failure::from(FailureKind::Target(error))
            .hint(format!("{url} does not know this key; `cms key list` on it lists its keys")),
        other => wrong_server(other, url),
    })?;
    if args.dry_run.dry_run {
        let path = profiles.path().display();
        return print_dry_run(
            printer,
            &format!("store the profile \"{name}\" in {path}: {url} (key \"{}\")", context.by.name),
        );
    }
    profiles.update(|profiles| {
        profiles.insert(name, Profile { url: url.to_owned(), key });
        Ok(())
    })?;
    let value = json!({ "profile": name, "server": url, "key": context.by.name });
    printer.value(&value, String::new)?;
    printer.note(&format!(
        "profile \"{name}\" is the default now: {url} (key \"{}\"), stored in {}",
        context.by.name,
        profiles.path().display()
    ))?;
    Ok(Outcome::Done)
}

pub(super) fn logout(args: &LogoutArgs, printer: &Printer) -> Result<Outcome> {
    let mut profiles = load()?;
    if args.dry_run.dry_run {
        let name = profiles.remove(args.name.as_deref())?;
        return print_dry_run(
            printer,
            &format!("remove the profile \"{name}\" from {}", profiles.path().display()),
        );
    }
    let name = profiles.update(|profiles| profiles.remove(args.name.as_deref()))?;
    printer.value(&json!({ "removed": name }), String::new)?;
    printer.note(&format!("profile \"{name}\" is removed; its key stays valid"))?;
    Ok(Outcome::Done)
}

/// The error of a URL that has no API.
fn wrong_server(error: Error, url: &str) -> Failure {
    let error = match error {
        Error::NotFound { what, .. } => Error::not_found(what, url),
        other => other,
    };
    Failure::from(error).hints(hints::base_url_hint(url.trim_end_matches('/')))
}

fn load() -> Result<Profiles> {
    Profiles::load()?.ok_or_else(|| {
        Failure::usage("neither XDG_CONFIG_HOME nor HOME is set").hint("set one of them")
    })
}

/// Reads the key from the terminal, without echo, or from standard input.
fn read_key(url: &str) -> Result<String> {
    let key = if io::stdin().is_terminal() {
        printer::prompt_secret(&format!("key for {url}"))?
    } else {
        io::read_to_string(io::stdin().take(MAX_KEY_BYTES))
            .map_err(|error| Failure::unreadable("standard input", error))?
    };
    let key = key.trim();
    if key.is_empty() {
        return Err(Failure::from(FailureKind::Target(Error::Unauthenticated)).hint(
            "there is no key on standard input: cms login URL < FILE, or run it on a terminal",
        ));
    }
    require_key_characters(key)?;
    Ok(key.to_owned())
}
