//! A plan as people read it: what happens to each workflow, each type, each property and its values.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use cms_core::{
    Error, FieldErrors,
    wire::plan::{Action, Change, Plan, PlanRequest, PropertyPlan, Sample, TypePlan},
};
use serde_json::{Value, json};

use super::{counted, switch::Switches};
use crate::report::cell;

/// Values that a line shows.
const SAMPLES: usize = 3;

const ADDED: Style = AnsiColor::Green.on_default();
const CHANGED: Style = AnsiColor::Yellow.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const MOVED: Style = AnsiColor::Cyan.on_default();
const BLOCKED: Style = AnsiColor::Red.on_default().bold();

/// Returns the plan as lines, the last one with the sums. Whoever prints them takes the colours
/// out where nobody sees them.
pub(super) fn render(plan: &Plan, wanted: &PlanRequest, switches: &Switches) -> String {
    let mut text = String::new();
    for workflow in &plan.workflows {
        part_lines(&mut text, "workflow", &workflow.id, workflow.action, &workflow.blockers);
    }
    for content_type in &plan.content_types {
        type_lines(&mut text, content_type, wanted, switches);
    }
    for key in &plan.keys {
        part_lines(&mut text, "key", &key.name, key.action, &key.blockers);
    }
    sums_line(&mut text, plan);
    text
}

/// What is in the way of applying a plan, if anything is.
pub(super) fn blocked(plan: &Plan) -> Option<Error> {
    let workflows = plan.workflows.iter().map(|w| (format!("workflows.{}", w.id), &w.blockers));
    let types = plan.content_types.iter().map(|t| (t.name.clone(), &t.blockers));
    let keys = plan.keys.iter().map(|k| (format!("keys.{}", k.name), &k.blockers));
    let blocked: Vec<_> = workflows
        .chain(types)
        .chain(keys)
        .filter(|(_, blockers)| !blockers.is_empty())
        .map(|(name, blockers)| (name, blockers.clone()))
        .collect();
    (!blocked.is_empty()).then_some(Error::Blocked(blocked))
}

fn sums_line(text: &mut String, plan: &Plan) {
    let sums = &plan.summary;
    let others = || {
        let workflows = plan.workflows.iter().map(|workflow| workflow.action);
        workflows.chain(plan.keys.iter().map(|key| key.action))
    };
    let others = |action| others().filter(|other| *other == action).count() as u64;
    write!(
        text,
        "plan: {} to create, {} to change, {} to delete",
        sums.create + others(Action::Create),
        sums.update + others(Action::Update),
        sums.delete
    )
    .ok();
    let effects = [
        (sums.objects_rewritten, "object", " rewritten"),
        (sums.values_lost, "value", " lost"),
        (sums.blockers, "blocker", ""),
    ];
    let effects: Vec<String> = effects
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, noun, what)| format!("{}{what}", counted(number, noun)))
        .collect();
    if !effects.is_empty() {
        write!(text, "; {}", effects.join(", ")).ok();
    }
    text.push('\n');
}

/// A sign in its colour.
fn sign(sign: char) -> String {
    let style = match sign {
        '+' => ADDED,
        '-' => REMOVED,
        '>' => MOVED,
        '!' => BLOCKED,
        _ => CHANGED,
    };
    format!("{style}{sign}{style:#}")
}

fn action_sign(action: Action) -> String {
    sign(match action {
        Action::Create => '+',
        Action::Delete => '-',
        Action::Update | Action::None => '~',
    })
}

/// A workflow or a key.
fn part_lines(text: &mut String, what: &str, name: &str, action: Action, blockers: &FieldErrors) {
    if action == Action::None && blockers.is_empty() {
        return;
    }
    writeln!(text, "{} {what} {name}", action_sign(action)).ok();
    blocker_lines(text, blockers.iter());
}

fn type_lines(text: &mut String, plan: &TypePlan, wanted: &PlanRequest, switches: &Switches) {
    let name = &plan.name;
    let sign = action_sign(plan.action);
    match plan.action {
        Action::Create => {
            let properties = counted(plan.properties.len() as u64, "property");
            let properties = properties.replace("propertys", "properties");
            writeln!(text, "{sign} {name}  {properties}").ok();
        }
        Action::Delete => {
            writeln!(text, "{sign} {name}").ok();
        }
        Action::Update => {
            writeln!(text, "{sign} {name}").ok();
            let payloads = &wanted.content_types;
            let payload = payloads.iter().find(|payload| payload.get("name") == Some(&json!(name)));
            property_lines(text, plan, payload.map(|payload| &payload["metaDefinition"]));
            for line in switches.of(name) {
                writeln!(text, "    {} {line}", self::sign('~')).ok();
            }
        }
        Action::None => {}
    }
    let is_told = |path: &str| {
        path == "ctd" || plan.properties.iter().any(|p| p.name == path && p.failed > 0)
    };
    blocker_lines(text, plan.blockers.iter().filter(|(path, _)| !is_told(path)));
}

fn blocker_lines<'b>(text: &mut String, blockers: impl Iterator<Item = (&'b str, &'b [String])>) {
    for (path, messages) in blockers {
        for message in messages {
            let sign = sign('!');
            writeln!(text, "    {sign} {path}  {BLOCKED}BLOCKED{BLOCKED:#}: {message}").ok();
        }
    }
}

fn property_lines(text: &mut String, plan: &TypePlan, meta: Option<&Value>) {
    let config = |name: &str| meta.map(|meta| &meta["propertiesConfig"][name]);
    let lines: Vec<[String; 3]> = plan
        .properties
        .iter()
        .map(|property| {
            let parses = config(&property.name).is_some_and(|config| config["convert"] == "parse");
            [
                property.name.clone(),
                what(property, parses),
                effect(property, parses, &plan.blockers),
            ]
        })
        .collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let (name_width, what_width) = (width(0).unwrap_or(0), width(1).unwrap_or(0));
    for (property, [name, what, effect]) in plan.properties.iter().zip(&lines) {
        let sign = sign(match property.change {
            _ if property.renamed_from.is_some() => '>',
            Change::Add => '+',
            Change::Remove => '-',
            Change::Type | Change::Settings => '~',
        });
        let line = format!("    {sign} {name:name_width$}  {what:what_width$}  {effect}");
        writeln!(text, "{}", line.trim_end()).ok();
    }
}

fn what(property: &PropertyPlan, parses: bool) -> String {
    let kinds = match (&property.from, &property.to) {
        (Some(from), Some(to)) if from == to => None,
        (Some(from), Some(to)) if input_type(from) != input_type(to) => {
            Some(format!("{} -> {}", input_type(from), input_type(to)))
        }
        (Some(from), Some(to)) => Some(format!("{from} -> {to}")),
        (None, Some(to)) => Some(input_type(to).to_owned()),
        (_, None) => Some("removed".to_owned()),
    };
    let mut parts = Vec::new();
    parts.extend(property.renamed_from.as_ref().map(|old| format!("renamed from {old}")));
    let is_converted = kinds.is_some() && property.from.is_some() && property.to.is_some();
    parts.extend(kinds);
    if parts.is_empty() {
        parts.push("settings".to_owned());
    }
    if is_converted && parses {
        parts.push("convert: parse".to_owned());
    }
    parts.join(", ")
}

/// `text` of `string/text`.
fn input_type(pair: &str) -> &str {
    pair.rsplit('/').next().unwrap_or(pair)
}

fn effect(property: &PropertyPlan, parses: bool, blockers: &FieldErrors) -> String {
    let mut effects = Vec::new();
    if property.kept > 0 {
        effects.push(format!("{} kept", counted(property.kept, "value")));
    }
    if property.converted > 0 {
        effects.push(format!("{} converted", property.converted));
    }
    if property.emptied > 0 {
        let lost = counted(property.emptied, "value") + " lost";
        effects.push(if parses { format!("{} cannot be read", property.emptied) } else { lost });
    }
    if property.failed > 0 {
        let objects = counted(property.failed, "object");
        let reasons = blockers.at(&property.name);
        let fault = match reasons {
            [only] if *only == format!("The property {} is required", property.name) => {
                "lack a required value".to_owned()
            }
            _ => format!("not be valid ({})", reasons.join("; ")),
        };
        effects.push(format!("{BLOCKED}BLOCKED{BLOCKED:#}: {objects} would {fault}"));
    }
    let mut effect = effects.join(", ");
    // The samples begin with what is worst.
    if (property.failed > 0 || property.emptied > 0)
        && let Some(samples) = samples(&property.samples)
    {
        effect.push_str(": ");
        effect.push_str(&samples);
    }
    effect
}

/// The first of the values, if any object has one.
fn samples(samples: &[Sample]) -> Option<String> {
    let shown: Vec<String> = samples
        .iter()
        .filter(|sample| !sample.before.is_null())
        .take(SAMPLES)
        .map(|sample| format!("{} \"{}\"", sample.id, cell(&sample.before)))
        .collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}
