//! `cms whoami`: the key or user of the command and its rights.

use cms_core::wire::context::AuthContext;
use serde_json::{Value, json};

use super::open_to_read;
use crate::{
    failure::{Outcome, Result},
    printer::Printer,
    settings::Settings,
    text_output::{self, Column, column},
};

const RIGHTS_COLUMNS: [Column; 2] = [column("TYPE", "/type"), column("RIGHTS", "/rights")];

pub(super) fn run(settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let target = open_to_read(settings)?;
    let context = target.auth_context()?;
    let value = json!(context);
    let target = if printer.is_table() { target.describe()? } else { String::new() };
    printer.value(&value, || describe(&target, &context, &value))?;
    Ok(Outcome::Done)
}

fn describe(target: &str, context: &AuthContext, value: &Value) -> String {
    // A preview token has no kind of its own: neither a key nor a role.
    let role = value["apiKey"]["type"].as_str().or(value["user"]["role"].as_str());
    let rights = &context.rights;
    let summary = json!({
        "target": target,
        "name": context.by.name,
        "kind": value["by"]["kind"],
        "role": role.unwrap_or_default().replace('_', "-"),
        "admin": yes_or_no(rights.admin),
        "change types": yes_or_no(rights.change_types),
        "publish": yes_or_no(rights.publish),
    });
    let types = rights.content_types.iter();
    let rows: Vec<Value> =
        types.map(|(name, letters)| json!({ "type": name, "rights": letters })).collect();
    format!("{}\n{}", text_output::members(&summary), text_output::table(&rows, &RIGHTS_COLUMNS))
}

fn yes_or_no(is_allowed: bool) -> &'static str {
    if is_allowed { "yes" } else { "no" }
}
