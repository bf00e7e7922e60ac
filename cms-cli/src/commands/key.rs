//! `cms key`: list, create and revoke API keys.

use cms_core::{
    Error,
    wire::key::{CreatedKey, NewKey, Rule},
};
use serde_json::{Value, json};

use super::{
    NOTHING_CHANGED,
    hints::{self, RULE_HINT},
    open_to_read, open_to_write,
};
use crate::{
    cli::KeyCommand,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    project,
    report::{Column, column},
    settings::Settings,
    target::Target,
};

const COLUMNS: [Column; 6] = [
    column("ID", "/id"),
    column("NAME", "/name"),
    column("KIND", "/kind"),
    column("RULES", "/rules"),
    column("CREATED", "/createdAt"),
    column("LAST USED", "/lastUsedAt"),
];

pub(super) fn run(
    command: KeyCommand,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    match command {
        KeyCommand::List => list(&*open_to_read(settings)?, printer)?,
        KeyCommand::Create { name, kind, rules, dry_run } => {
            let new = NewKey { name, kind, rules: parse_rules(&rules)? };
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            if dry_run.dry_run {
                printer
                    .note(&format!("would create the key \"{}\"\n{NOTHING_CHANGED}", new.name))?;
            } else {
                let created = target.create_key(&new).map_err(hints::add_rule_hint)?;
                show_created(&created, printer)?;
            }
        }
        KeyCommand::Revoke { id, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            if dry_run.dry_run {
                if !target.keys()?.iter().any(|key| key.id == id) {
                    return Err(Error::NotFound { what: "key", name: id }.into());
                }
                printer.note(&format!("would revoke the key {id}\n{NOTHING_CHANGED}"))?;
            } else {
                settings.confirm(&format!("revoke the key {id}?"))?;
                target.revoke_key(&id)?;
                printer.note(&format!("the key {id} is revoked"))?;
            }
        }
    }
    Ok(Outcome::Done)
}

fn list(target: &dyn Target, printer: &mut Printer) -> Result<()> {
    let keys: Vec<Value> = target.keys()?.into_iter().map(|key| json!(key)).collect();
    if printer.is_table() {
        let readable = keys.into_iter().map(|mut key| {
            key["kind"] = json!(key["kind"].as_str().unwrap_or_default().replace('_', "-"));
            key["rules"] = json!(letters(&key["rules"]));
            key
        });
        return printer.rows(&readable.collect::<Vec<_>>(), &COLUMNS);
    }
    printer.rows(&keys, &COLUMNS)
}

/// Prints a new key: its token alone on standard output, so that a script can keep it.
fn show_created(created: &CreatedKey, printer: &mut Printer) -> Result<()> {
    printer.note(&format!(
        "created the key \"{}\" ({}); the key itself is shown only this once:",
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
