//! Hints for errors whose messages, which are fixed by the API, do not name the allowed values.

use std::collections::BTreeMap;

use cms_core::{Error, FieldErrors, MessageCode};

use super::open;
use crate::{
    failure::{Failure, FailureKind},
    project::{TYPE_NAME_RULE, is_type_name, nearest},
    settings::Settings,
    target::Target,
};

const WEBHOOK_TYPE: &str = "_webhooks";
/// Objects whose enabled transitions are requested.
const MAX_STATE_REQUESTS: usize = 20;

/// The syntax of rules of scoped keys.
pub(super) const RULE_HINT: &str = "for example --rule post:r --rule '*:cru': letters of create, read, update and delete for a \
     type, or for all";

/// Adds a hint to an error about something that does not exist.
pub(super) fn add_not_found_hint(failure: Failure, settings: &Settings) -> Failure {
    let FailureKind::Target(Error::NotFound { what, name }) = &failure.kind else { return failure };
    let hint = match *what {
        "content type" => type_hint(name, settings),
        "user" => "`cms user list` lists the users with their e-mail addresses and ids".to_owned(),
        "key" => "`cms key list` lists the keys with their ids".to_owned(),
        "webhook" => "`cms webhook list` lists the webhooks with their ids".to_owned(),
        "workflow" => "`cms workflow list` lists the workflows".to_owned(),
        _ => return failure,
    };
    failure.hint(hint)
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
    let failure = Failure::from(error);
    if lacks_rules { failure.hint(RULE_HINT) } else { failure }
}

/// Adds the filter types to an error about a missing or unknown one.
pub(super) fn add_filter_hint(error: Error) -> Failure {
    let is_about_type = matches!(&error, Error::Invalid(errors)
        if errors.codes().any(|code| code == Some(MessageCode::FilterType)));
    let failure = Failure::from(error);
    if is_about_type {
        failure.hint(format!("filter types are {}", cms_core::filter_types().join(", ")))
    } else {
        failure
    }
}

/// Returns the allowed URLs, for a webhook that was refused because of its URL.
pub(super) fn webhook_hint(content_type: &str, errors: &FieldErrors) -> Option<String> {
    (content_type == WEBHOOK_TYPE && !errors.at("url").is_empty()).then(|| {
        "a webhook needs an https:// URL; start the server with --webhook-allow-http to allow \
         http:// (CMS_WEBHOOK_ALLOW_HTTP=true, also for commands with --data)"
            .to_owned()
    })
}

/// Adds the allowed URLs to an error about a webhook.
pub(super) fn add_object_hint(content_type: &str, error: Error) -> Failure {
    let hint = match &error {
        Error::Invalid(errors) => webhook_hint(content_type, errors),
        _ => None,
    };
    let failure = Failure::from(error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Returns the enabled transitions of objects that refused another one.
pub(super) fn transition_hints(
    target: &dyn Target,
    content_type: &str,
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
        names => format!("transitions enabled in state \"{state}\": {}", names.join(", ")),
    });
    hints.collect()
}
