//! `cms key`: list, create, change, rotate and revoke API keys.

use cms_core::{
    Error,
    wire::key::{CreatedKey, Key, KeyUpdate, NewKey, Rule},
};
use serde_json::{Value, json};

use super::{
    hints::{self, RULE_HINT},
    open_to_read, open_to_write, print_dry_run,
};
use crate::{
    cli::KeyCommand,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    project,
    settings::Settings,
    target::Target,
    text_output::{Column, column},
};

const COLUMNS: [Column; 6] = [
    column("ID", "/id"),
    column("NAME", "/name"),
    column("KIND", "/kind"),
    column("RULES", "/rules"),
    column("CREATED", "/createdAt"),
    column("LAST USED", "/lastUsedAt"),
];

pub(super) fn run(command: KeyCommand, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    match command {
        KeyCommand::List => list(&*open_to_read(settings)?, printer)?,
        KeyCommand::Create { name, kind, rules, dry_run } => {
            let new = NewKey { name, kind, rules: parse_rules(&rules)? };
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            printer.hints(hints::unknown_rule_types(&*target, &new.rules))?;
            if dry_run.dry_run {
                return print_dry_run(printer, &format!("create the key \"{}\"", new.name));
            }
            let created = target.create_key(&new).map_err(hints::add_rule_hint)?;
            show_token(&created, "created", "its token", printer)?;
        }
        KeyCommand::Update { key, name, rules, dry_run } => {
            let rules = parse_rules(&rules)?;
            if name.is_none() && rules.is_empty() {
                return Err(Failure::usage("nothing to change: use --name or --rule"));
            }
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            let key = find(&*target, &key)?;
            printer.hints(hints::unknown_rule_types(&*target, &rules))?;
            if dry_run.dry_run {
                return print_dry_run(printer, &format!("change the key \"{}\"", key.name));
            }
            let rules = (!rules.is_empty()).then_some(rules);
            let update = KeyUpdate { name, kind: None, rules };
            printer.members(&target.update_key(&key.id, &update)?)?;
        }
        KeyCommand::Rotate { key, grace, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            let key = find(&*target, &key)?;
            if dry_run.dry_run {
                return print_dry_run(printer, &format!("rotate the key \"{}\"", key.name));
            }
            let rotated = target.rotate_key(&key.id, grace.unwrap_or_default())?;
            show_token(&rotated, "rotated", "the new token", printer)?;
            printer.note(&match &rotated.item.previous_valid_until {
                Some(until) => format!("the old token is accepted until {until}"),
                None => "the old token is refused".to_owned(),
            })?;
        }
        KeyCommand::Revoke { key, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            let Key { id, name, .. } = find(&*target, &key)?;
            if dry_run.dry_run {
                return print_dry_run(printer, &format!("revoke the key \"{name}\""));
            }
            settings.confirm(&format!("revoke the key \"{name}\" ({id})?"))?;
            target.revoke_key(&id)?;
            printer.note(&format!("the key \"{name}\" is revoked"))?;
        }
    }
    Ok(Outcome::Done)
}

fn list(target: &dyn Target, printer: &Printer) -> Result<()> {
    let keys = target.keys()?;
    if printer.is_table() {
        let readable = keys.into_iter().map(|key| {
            let mut key = json!(key);
            key["kind"] = json!(key["kind"].as_str().unwrap_or_default().replace('_', "-"));
            key["rules"] = json!(letters(&key["rules"]));
            key
        });
        return printer.rows(&readable.collect::<Vec<_>>(), &COLUMNS);
    }
    printer.rows(&keys, &COLUMNS)
}

/// Finds a key by its id, or by its name.
fn find(target: &dyn Target, key: &str) -> Result<Key> {
    let keys = target.keys()?;
    let found = keys.iter().find(|candidate| candidate.id == key);
    let found = found.or_else(|| keys.iter().find(|candidate| candidate.name == key)).cloned();
    Ok(found.ok_or_else(|| Error::not_found("key", key))?)
}

/// Prints a new token: alone on standard output, so that a script can keep it.
fn show_token(created: &CreatedKey, verb: &str, token: &str, printer: &Printer) -> Result<()> {
    printer.note(&format!(
        "{verb} the key \"{}\" ({}); {token} is shown only this once:",
        created.item.name, created.item.id
    ))?;
    printer.value(&json!(created), || format!("{}\n", created.key))
}

/// Parses rules such as `product:ru`.
pub(super) fn parse_rules(rules: &[String]) -> Result<Vec<Rule>> {
    let parse = |text: &String| {
        let (content_type, letters) = text.rsplit_once(':').ok_or_else(|| {
            Failure::usage(format!("rule \"{text}\" is not valid: use TYPE:RIGHTS")).hint(RULE_HINT)
        })?;
        project::rule(content_type, letters).map_err(Failure::usage)
    };
    rules.iter().map(parse).collect()
}

/// Formats rules as `product:ru`.
fn letters(rules: &Value) -> String {
    let rule = |rule: &Value| {
        let content_type = rule["ctd"].as_str().unwrap_or_default();
        format!("{content_type}:{}", project::rule_letters(rule))
    };
    let rules: Vec<String> = rules.as_array().into_iter().flatten().map(rule).collect();
    rules.join(" ")
}
