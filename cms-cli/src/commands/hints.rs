//! Hints for errors whose messages, which are fixed by the API, do not name the allowed values.

use std::collections::BTreeMap;

use cms_core::{
    Error, FieldErrors, MessageCode,
    wire::{content_type::ContentType, key::Rule, user::UserListRequest},
};
use serde_json::{Map, Value};

use super::open;
use crate::{
    failure::{Failure, FailureKind},
    project::{TYPE_NAME_RULE, did_you_mean, is_type_name, nearest},
    settings::{Settings, TargetAddress},
    target::Target,
};

const WEBHOOK_TYPE: &str = "_webhooks";
/// Maximum number of objects whose enabled transitions are requested.
const MAX_STATE_REQUESTS: usize = 20;

/// The syntax of rules of scoped keys.
pub(super) const RULE_HINT: &str = "for example --rule post:r --rule '*:cru': letters of create, read, update and delete for a \
     type, or for all";

/// Adds a hint to an error about something that does not exist.
pub(super) fn add_not_found_hint(failure: Failure, settings: &Settings) -> Failure {
    let url = match &settings.target {
        Some(TargetAddress::Server { url, .. }) => Some(url.trim_end_matches('/')),
        _ => None,
    };
    let FailureKind::Target(Error::NotFound { what, name }) = &failure.kind else { return failure };
    let url_hint = url.and_then(base_url_hint);
    let hint = match *what {
        // Requests that concern the whole server do not name it.
        "server" if name.is_empty() => {
            let error = Error::not_found(what, url.unwrap_or_default());
            return Failure::from(error).hints(url_hint);
        }
        "content type" => type_hint(name, settings),
        "user" => "`cms user list` lists the users with their e-mail addresses and ids".to_owned(),
        "key" => "`cms key list` lists the keys with their ids".to_owned(),
        "webhook" => "`cms webhook list` lists the webhooks with their ids".to_owned(),
        "workflow" => "`cms workflow list` lists the workflows".to_owned(),
        _ => return failure,
    };
    let near = similar(what, name, settings).map(|near| format!("did you mean {near}?"));
    let url_hint = url_hint.filter(|_| *what == "content type");
    failure.hints(url_hint).hints(near).hint(hint)
}

/// A hint for a URL that has the path of the API or of the admin page.
pub(super) fn base_url_hint(url: &str) -> Option<String> {
    let paths = ["/api/v1", "/api", "/admin"];
    let (server, path) = paths.iter().find_map(|path| Some((url.strip_suffix(path)?, path)))?;
    Some(format!("if the server is not mounted at {path}: use {server}, without {path}"))
}

/// The key, user, webhook or workflow with a similar name.
fn similar(what: &str, name: &str, settings: &Settings) -> Option<String> {
    let target = open(settings, false).ok()?;
    // Each name with the id or e-mail address that commands take.
    let known: Vec<(String, String)> = match what {
        "key" => target.keys().ok()?.into_iter().map(|key| (key.name, key.id)).collect(),
        "user" => {
            let users = target.users(&UserListRequest::default()).ok()?;
            users.into_iter().map(|user| (user.email.clone(), user.email)).collect()
        }
        "webhook" => {
            let webhooks = target.webhooks().ok()?.into_iter();
            webhooks
                .flat_map(|one| [(one.id.clone(), one.id.clone()), (one.name, one.id)])
                .collect()
        }
        "workflow" => {
            target.workflows().ok()?.into_iter().map(|flow| (flow.id.clone(), flow.id)).collect()
        }
        _ => return None,
    };
    let near = nearest(name, known.iter().map(|(name, _)| name.as_str()))?;
    let (_, id) = known.iter().find(|(name, _)| name == near)?;
    Some(if id == near { format!("\"{id}\"") } else { format!("\"{id}\", the {what} \"{near}\"") })
}

/// Hints about properties in `--filters`, `--order-by` and `--field` that a type does not have: the
/// server ignores them.
pub(super) fn unknown_properties(
    target: &dyn Target,
    content_type: &str,
    paths: &[&str],
    filters: Option<&str>,
) -> Vec<String> {
    let filters: Map<String, Value> =
        filters.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let names = property_names(paths.iter().copied().chain(filters.keys().map(String::as_str)));
    if names.is_empty() {
        return Vec::new();
    }
    let Ok(found) = target.get_type(content_type) else { return Vec::new() };
    let known: Vec<&str> = declared(&found).collect();
    unknown(names, &known, |name| format!("the type \"{content_type}\" has no property \"{name}\""))
}

/// Hints about properties that none of the searched types has. Without named types, all types are
/// searched.
pub(super) fn unknown_search_properties(
    target: &dyn Target,
    content_types: &[String],
    paths: &[&str],
) -> Vec<String> {
    let mut names = property_names(paths.iter().copied());
    // `_geo_distance` is no property.
    names.retain(|name| !name.starts_with('_'));
    if names.is_empty() {
        return Vec::new();
    }
    let Ok(types) = target.types() else { return Vec::new() };
    let searched = types
        .iter()
        .filter(|found| content_types.is_empty() || content_types.contains(&found.name));
    let known: Vec<&str> = searched.flat_map(declared).collect();
    unknown(names, &known, |name| format!("no type of this search has a property \"{name}\""))
}

/// Hints about types in rules of a key that do not exist: the rules are stored, because a type may
/// be created later.
pub(super) fn unknown_rule_types(target: &dyn Target, rules: &[Rule]) -> Vec<String> {
    if rules.is_empty() {
        return Vec::new();
    }
    let types = target.types().unwrap_or_default();
    if types.is_empty() {
        return Vec::new();
    }
    let known: Vec<&str> = types.iter().map(|found| found.name.as_str()).collect();
    let names = rules.iter().map(|rule| rule.content_type.as_str()).filter(|name| *name != "*");
    unknown(names, &known, |name| format!("content type \"{name}\" of a rule does not exist"))
}

/// Describes the unknown names, each with the most similar known name.
fn unknown<'n>(
    names: impl IntoIterator<Item = &'n str>,
    known: &[&str],
    describe: impl Fn(&str) -> String,
) -> Vec<String> {
    let missing = names.into_iter().filter(|name| !known.contains(name));
    missing.map(|name| describe(name) + &did_you_mean(name, known.iter().copied())).collect()
}

/// The properties at the beginning of paths, each once, without those that every object has.
fn property_names<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
    let mut names: Vec<&str> = Vec::new();
    for path in paths {
        let path: &str = path.strip_prefix("$.").unwrap_or(path);
        let name = path.split(['.', '[', '^']).next().unwrap_or_default();
        if !["", "*", "id", "internal"].contains(&name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The names of the properties of a type.
fn declared(content_type: &ContentType) -> impl Iterator<Item = &str> {
    let properties = content_type.meta_definition["propertiesConfig"].as_object();
    properties.into_iter().flat_map(Map::keys).map(String::as_str)
}

/// Adds a hint to the error of an unknown key: which server does not know it, or how to replace it in
/// the profile.
pub(super) fn add_login_hint(failure: Failure, settings: &Settings) -> Failure {
    let Some(TargetAddress::Server { url, key, profile }) = &settings.target else {
        return failure;
    };
    let hint = match (&failure.kind, profile, key) {
        (FailureKind::Target(Error::Unauthenticated), Some(name), _) => {
            format!("`cms login {url} --name {name}` stores another key in the profile")
        }
        (FailureKind::Target(Error::Unauthenticated), None, Some(_)) => {
            format!("{url} does not know this key: check CMS_KEY or --key-file")
        }
        _ => return failure,
    };
    Failure { hints: vec![hint], ..failure }
}

fn type_hint(name: &str, settings: &Settings) -> String {
    if !is_type_name(name) {
        return format!("type name \"{name}\" is not valid: {TYPE_NAME_RULE}");
    }
    let types = open(settings, false).ok().and_then(|target| target.types().ok());
    let types = types.unwrap_or_default();
    match nearest(name, types.iter().map(|content_type| content_type.name.as_str())) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => "`cms ctd list` lists the content types".to_owned(),
    }
}

/// Adds the syntax of rules to an error about a key without rules.
pub(super) fn add_rule_hint(error: Error) -> Failure {
    let lacks_rules = matches!(&error, Error::Invalid(errors) if !errors.at("rules").is_empty());
    Failure::from(error).hints(lacks_rules.then_some(RULE_HINT))
}

/// Adds the filter types to an error about a missing or unknown filter type.
pub(super) fn add_filter_hint(error: Error) -> Failure {
    let is_about_type = matches!(&error, Error::Invalid(errors)
        if errors.codes().any(|code| code == Some(MessageCode::FilterType)));
    let hint = || format!("filter types are {}", cms_core::filter_types().join(", "));
    Failure::from(error).hints(is_about_type.then(hint))
}

/// Returns hints about an object that was refused: the allowed URLs of a webhook, and properties of similar names instead
/// of undeclared ones.
pub(super) fn object_hints(content_type: &ContentType, errors: &FieldErrors) -> Vec<String> {
    let name = &content_type.name;
    let is_about_url = name == WEBHOOK_TYPE && !errors.at("url").is_empty();
    let url_hint = is_about_url.then(|| {
        "a webhook needs an https:// URL; start the server with --webhook-allow-http to allow \
         http:// (CMS_WEBHOOK_ALLOW_HTTP=true, also for commands with --data)"
            .to_owned()
    });
    let is_undeclared =
        |message: &String| MessageCode::of(message) == Some(MessageCode::Undeclared);
    let undeclared = errors.iter().filter(|(_, messages)| messages.iter().any(is_undeclared));
    let undeclared = undeclared.map(|(path, _)| path).filter(|path| !path.contains(['.', '[']));
    let known: Vec<&str> = declared(content_type).collect();
    let similar = undeclared.filter_map(|path| {
        let near = nearest(path, known.iter().copied())?;
        Some(format!("the type \"{name}\" has no property \"{path}\", did you mean \"{near}\"?"))
    });
    url_hint.into_iter().chain(similar).collect()
}

/// Adds hints to the error of a refused object.
pub(super) fn add_object_hints(target: &dyn Target, content_type: &str, error: Error) -> Failure {
    let hints = match &error {
        Error::Invalid(errors) => {
            target.get_type(content_type).ok().map(|ty| object_hints(&ty, errors))
        }
        _ => None,
    };
    Failure::from(error).hints(hints.unwrap_or_default())
}

/// Returns hints with the enabled transitions of the objects for which `transition` was refused.
pub(super) fn transition_hints(
    target: &dyn Target,
    content_type: &str,
    transition: &str,
    refused: &[(String, Error)],
) -> Vec<String> {
    let is_about_action =
        |error: &Error| matches!(error, Error::Invalid(errors) if !errors.at("action").is_empty());
    let mut states = BTreeMap::new();
    for (id, _) in
        refused.iter().filter(|(_, error)| is_about_action(error)).take(MAX_STATE_REQUESTS)
    {
        if let Ok(found) = target.workflow_state(content_type, id) {
            let enabled = found.enabled_transitions.into_iter().map(|transition| transition.name);
            states.entry(found.state).or_insert_with(|| enabled.collect::<Vec<_>>());
        }
    }
    let hints = states.into_iter().map(|(state, enabled)| match enabled.as_slice() {
        [] => format!("no transition is enabled in state \"{state}\""),
        names => {
            let near = nearest(transition, names.iter().map(String::as_str));
            let near = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
            format!("transitions enabled in state \"{state}\": {}{near}", names.join(", "))
        }
    });
    hints.collect()
}
