//! `cms activity`: shows who changed what.

use cms_core::{
    Error, ids, limits,
    wire::{activity::ActivityRequest, user::UserListRequest},
};

use super::{open_to_read, require_types};
use crate::{
    cli::ActivityArgs,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::Target,
    text_output::{Column, column},
};

const COLUMNS: [Column; 8] = [
    column("AT", "/at"),
    column("ACTION", "/action"),
    column("TYPE", "/contentType"),
    column("ID", "/id"),
    column("VERSION", "/version"),
    column("TITLE", "/objectTitle"),
    column("PROPERTIES", "/properties"),
    column("BY", "/by/name"),
];

pub(super) fn run(args: ActivityArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let target = open_to_read(settings)?;
    require_types(&*target, &args.types)?;
    let by = args.by.map(|by| actor_id(&*target, by)).transpose()?;
    let list = |names: Vec<String>| (!names.is_empty()).then_some(names);
    let mut request = ActivityRequest {
        content_types: list(args.types),
        id: args.id,
        by,
        actions: list(args.actions),
        from: args.from,
        to: args.to,
        before: None,
        limit: 0,
    };
    let wanted = args.limit as usize;
    let mut rows = Vec::new();
    // A page may be short, because the server scans a limited number of changes per page.
    while rows.len() < wanted {
        let missing = u32::try_from(wanted - rows.len()).unwrap_or(u32::MAX);
        request.limit = missing.min(limits::MAX_PAGE_SIZE);
        let page = target.activity(&request)?;
        rows.extend(page.data);
        match page.next {
            Some(next) => request.before = Some(ActivityRequest::cursor(&next)?),
            None => break,
        }
    }
    printer.rows(&rows, &COLUMNS)?;
    Ok(Outcome::Done)
}

/// Returns the id of the user or key with this name. An id is returned without a request, so that
/// removed users and keys are found, too.
fn actor_id(target: &dyn Target, name: String) -> Result<String> {
    if ids::is_uuid(&name.to_ascii_lowercase()) {
        return Ok(name);
    }
    let keys = target.keys()?.into_iter().filter(|key| key.name == name).map(|key| key.id);
    let request = UserListRequest { q: Some(name.clone()), ..UserListRequest::default() };
    let users = target.users(&request)?.into_iter();
    let users = users.filter(|user| user.name == name || user.email == name).map(|user| user.id);
    let mut found = keys.chain(users);
    match (found.next(), found.next()) {
        (Some(id), None) => Ok(id),
        (None, _) => Err(Error::not_found("user or key", name).into()),
        (Some(_), Some(_)) => {
            Err(Failure::usage(format!("several users and keys have the name \"{name}\""))
                .hint("use an id, from `cms user list` or `cms key list`"))
        }
    }
}
