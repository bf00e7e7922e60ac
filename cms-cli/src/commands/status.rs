//! `cms status`: version, readiness and size of a server or a data directory.

use serde_json::{Map, Value, json};

use super::{count_objects, counted, open_to_read};
use crate::{
    failure::{Outcome, Result},
    printer::Printer,
    settings::Settings,
    text_output::{self, Column, column},
};

const COLUMNS: [Column; 2] = [column("TYPE", "/name"), column("OBJECTS", "/objects")];

/// The state of a part that works.
const READY: &str = "ok";

pub(super) fn run(settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let target = open_to_read(settings)?;
    let context = target.auth_context()?;
    let parts = target.parts()?;
    let is_ready = parts.values().all(|state| state == READY);
    let mut types = Vec::new();
    let mut objects = 0;
    for (name, rights) in &context.rights.content_types {
        if rights.contains('r') {
            let count = count_objects(&*target, name, None)?;
            objects += count;
            types.push(json!({ "name": name, "objects": count }));
        }
    }
    let value = json!({
        "version": context.version,
        "ready": is_ready,
        "parts": parts,
        "objects": objects,
        "contentTypes": types,
    });
    printer.value(&value, || describe(&context.version, &parts, &types, objects))?;
    Ok(if is_ready { Outcome::Done } else { Outcome::NotReady })
}

fn describe(version: &str, parts: &Map<String, Value>, types: &[Value], objects: u64) -> String {
    let mut summary = Map::from_iter([("version".to_owned(), json!(version))]);
    summary.extend(parts.clone());
    let (objects, readable) = (counted(objects, "object"), counted(types.len() as u64, "type"));
    summary.insert("content".to_owned(), json!(format!("{objects} of {readable}")));
    format!("{}\n{}", text_output::members(&summary.into()), text_output::table(types, &COLUMNS))
}
