//! `cms user`: manages the people who sign in.

use std::{fs, path::Path};

use cms_core::{
    Error, email_key,
    wire::user::{CreatedUser, User, UserListRequest},
};
use serde_json::{Map, Value, json};

use super::{hints, key::parse_rules, open_to_read, open_to_write, print_dry_run};
use crate::{
    cli::{CustomRights, UserCommand},
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::Target,
    text_output::{Column, column},
};

const COLUMNS: [Column; 7] = [
    column("E-MAIL", "/email"),
    column("NAME", "/name"),
    column("ROLE", "/role"),
    column("PUBLISHES", "/mayPublish"),
    column("DISABLED", "/disabled"),
    column("LAST SEEN", "/lastSeenAt"),
    column("ID", "/id"),
];

pub(super) fn run(command: UserCommand, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    match command {
        UserCommand::List { role } => {
            let role = role.map(|role| role.as_str().to_owned());
            let request = UserListRequest { role, ..UserListRequest::default() };
            printer.rows(&open_to_read(settings)?.users(&request)?, &COLUMNS)?;
        }
        UserCommand::Get { user } => {
            printer.members(&find(&*open_to_read(settings)?, &user)?)?;
        }
        UserCommand::Create { email, name, role, custom, password_file, link, dry_run } => {
            let mut payload = members(&custom)?;
            payload.insert("email".to_owned(), json!(email));
            payload.insert("name".to_owned(), json!(name));
            payload.insert("role".to_owned(), json!(role));
            if let Some(file) = password_file {
                payload.insert("password".to_owned(), json!(first_line(&file)?));
            }
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            if dry_run.dry_run {
                return print_dry_run(printer, &format!("create the user {email}"));
            }
            let created = target.create_user(&payload, &link.public_url);
            show_created(&created.map_err(hints::add_rule_hint)?, printer)?;
        }
        UserCommand::Update { user, email, name, role, custom, disable, enable, dry_run } => {
            let mut payload = members(&custom)?;
            let given = [
                ("email", email.map(|email| json!(email))),
                ("name", name.map(|name| json!(name))),
                ("role", role.map(|role| json!(role))),
                ("disabled", (disable || enable).then(|| json!(disable))),
            ];
            let given = given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
            payload.extend(given);
            if payload.is_empty() {
                return Err(Failure::usage("nothing to change").hint(
                    "use --email, --name, --role, --rule, --may-publish, --disable or --enable",
                ));
            }
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            let found = find(&*target, &user)?;
            if dry_run.dry_run {
                return print_dry_run(printer, &format!("update the user {}", found.email));
            }
            let updated = target.update_user(&found.id, &payload);
            printer.members(&updated.map_err(hints::add_rule_hint)?)?;
        }
        UserCommand::Delete { users, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            let mut found: Vec<User> = Vec::new();
            for user in &users {
                let user = find(&*target, user)?;
                if found.iter().all(|other| other.id != user.id) {
                    found.push(user);
                }
            }
            let names = found.iter().map(|user| user.email.as_str()).collect::<Vec<_>>().join(", ");
            if dry_run.dry_run {
                return print_dry_run(printer, &format!("delete {names}"));
            }
            settings.confirm(&format!("delete {names}?"))?;
            for user in found {
                target.delete_user(&user.id)?;
                printer.note(&format!("the user {} is deleted", user.email))?;
            }
        }
        UserCommand::Link { user, kind, link, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            let found = find(&*target, &user)?;
            if dry_run.dry_run {
                return print_dry_run(printer, &format!("create a link for {}", found.email));
            }
            let created = target.create_user_link(&found.id, kind, &link.public_url)?;
            let kind = created.kind.as_str();
            printer.note(&format!(
                "{kind} link for {}, valid until {}; it is shown only this once:",
                found.email, created.expires_at
            ))?;
            printer.value(&json!(created), || format!("{}\n", created.url))?;
        }
        UserCommand::SignOut { user, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            let found = find(&*target, &user)?;
            if dry_run.dry_run {
                return print_dry_run(printer, &format!("sign out {}", found.email));
            }
            target.sign_out_user(&found.id)?;
            printer.note(&format!("all sessions of {} are ended", found.email))?;
        }
    }
    Ok(Outcome::Done)
}

/// Finds a user by e-mail address or id.
fn find(target: &dyn Target, wanted: &str) -> Result<User> {
    if !wanted.contains('@') {
        return Ok(target.user(wanted)?);
    }
    let key = email_key(wanted);
    let request = UserListRequest { q: Some(key.clone()), ..UserListRequest::default() };
    let users = target.users(&request)?;
    let found = users.into_iter().find(|user| email_key(&user.email) == key);
    Ok(found.ok_or_else(|| Error::not_found("user", wanted))?)
}

/// Prints a new user: the link alone on standard output, so that a script can pass it on.
fn show_created(created: &CreatedUser, printer: &Printer) -> Result<()> {
    let User { email, id, .. } = &created.user;
    let what = match &created.link {
        Some(link) => format!(
            "the invitation is valid until {} and is shown only this once:",
            link.expires_at
        ),
        None => "the user can sign in".to_owned(),
    };
    printer.note(&format!("created the user {email} ({id}); {what}"))?;
    let url = created.link.as_ref().map(|link| format!("{}\n", link.url));
    printer.value(&json!(created), || url.unwrap_or_default())
}

/// The members of a request that apply only to users with role custom.
fn members(custom: &CustomRights) -> Result<Map<String, Value>> {
    let mut members = Map::new();
    if !custom.rules.is_empty() {
        members.insert("rules".to_owned(), json!(parse_rules(&custom.rules)?));
    }
    if let Some(may_publish) = custom.may_publish {
        members.insert("mayPublish".to_owned(), json!(may_publish));
    }
    Ok(members)
}

fn first_line(file: &Path) -> Result<String> {
    let text =
        fs::read_to_string(file).map_err(|error| Failure::unreadable(file.display(), error))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
