//! A plan as text: the changes of workflows, content types, properties and their values.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use cms_core::{
    Error, FieldErrors, MessageCode,
    wire::plan::{
        KeyPlan, NestedPlan, PlanAction, PlanRequest, ProjectPlan, PropertyChange, PropertyPlan,
        TypePlan, ValueSample,
    },
};
use serde_json::{Map, Value, json};

use super::{counted, publishing_changes::PublishingChanges};
use crate::{project, text_output::short_json};

/// Maximum number of values in one line.
const MAX_SAMPLES: usize = 3;

const ADDED: Style = AnsiColor::Green.on_default();
const CHANGED: Style = AnsiColor::Yellow.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const MOVED: Style = AnsiColor::Cyan.on_default();
const BLOCKED: Style = AnsiColor::Red.on_default().bold();

/// Formats a plan as lines, the last one with the totals. The printer removes colours where the
/// output is no terminal.
pub(super) fn render(
    plan: &ProjectPlan,
    wanted: &PlanRequest,
    publishing_changes: &PublishingChanges,
) -> String {
    let mut text = String::new();
    for workflow in &plan.workflows {
        let what = format!("workflow {}", workflow.id);
        part_lines(&mut text, &what, workflow.action, &workflow.blockers);
    }
    for content_type in &plan.content_types {
        type_lines(
            &mut text,
            content_type,
            payload(wanted, &content_type.name),
            publishing_changes,
        );
    }
    for key in &plan.keys {
        part_lines(&mut text, &key_text(key, wanted), key.action, &key.blockers);
    }
    totals_line(&mut text, plan);
    text
}

/// Returns the blockers of a plan as an error.
pub(super) fn blocked(plan: &ProjectPlan) -> Option<Error> {
    let blocked: Vec<_> = plan.blockers().map(|(name, errors)| (name, errors.clone())).collect();
    (!blocked.is_empty()).then_some(Error::Blocked(blocked))
}

fn totals_line(text: &mut String, plan: &ProjectPlan) {
    let totals = &plan.summary;
    let others = || {
        let workflows = plan.workflows.iter().map(|workflow| workflow.action);
        workflows.chain(plan.keys.iter().map(|key| key.action))
    };
    let others = |action| others().filter(|other| *other == action).count() as u64;
    write!(
        text,
        "plan: {} to create, {} to change, {} to delete",
        totals.create + others(PlanAction::Create),
        totals.update + others(PlanAction::Update),
        totals.delete
    )
    .ok();
    let effects = [
        (totals.objects_rewritten, "object", " rewritten"),
        (totals.values_lost, "value", " lost"),
        (totals.values_invalid, "value", " no longer valid"),
        (totals.blockers, "blocker", ""),
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

/// A coloured sign.
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

fn action_sign(action: PlanAction) -> String {
    sign(match action {
        PlanAction::Create => '+',
        PlanAction::Delete => '-',
        PlanAction::Update | PlanAction::None => '~',
    })
}

/// Lines of a workflow or a key.
fn part_lines(text: &mut String, what: &str, action: PlanAction, blockers: &FieldErrors) {
    if action == PlanAction::None && blockers.is_empty() {
        return;
    }
    writeln!(text, "{} {what}", action_sign(action)).ok();
    blocker_lines(text, blockers.iter());
}

/// A key with its new rights.
fn key_text(key: &KeyPlan, wanted: &PlanRequest) -> String {
    let mut text = format!("key {}", key.name);
    let payload = wanted.keys.iter().find(|payload| payload.get("name") == Some(&json!(key.name)));
    let rules = payload.and_then(|payload| payload.get("rules")).and_then(Value::as_array);
    let rules = rules.into_iter().flatten().map(|rule| {
        let content_type = rule["ctd"].as_str().unwrap_or_default();
        format!("{content_type}: {}", project::rule_letters(rule))
    });
    let rules: Vec<String> = rules.collect();
    if !rules.is_empty() {
        write!(text, "  {}", rules.join(", ")).ok();
    }
    text
}

/// The requested definition of a type.
pub(super) fn payload<'w>(wanted: &'w PlanRequest, name: &str) -> Option<&'w Map<String, Value>> {
    wanted.content_types.iter().find(|payload| payload.get("name") == Some(&json!(name)))
}

fn type_lines(
    text: &mut String,
    plan: &TypePlan,
    payload: Option<&Map<String, Value>>,
    publishing_changes: &PublishingChanges,
) {
    let name = &plan.name;
    let sign = action_sign(plan.action);
    match plan.action {
        PlanAction::Create if plan.blockers.is_empty() => {
            let properties = counted(plan.properties.len() as u64, "property");
            writeln!(text, "{sign} {name}  {properties}").ok();
        }
        PlanAction::Create | PlanAction::Delete => {
            writeln!(text, "{sign} {name}").ok();
        }
        PlanAction::Update => {
            writeln!(text, "{sign} {name}").ok();
            property_lines(text, plan, payload);
            for line in publishing_changes.of(name) {
                writeln!(text, "    {} {line}", self::sign('~')).ok();
            }
        }
        PlanAction::None => {}
    }
    let is_printed = |path: &str| {
        let fails = |property: &PropertyPlan| property.name == path && property.failed > 0;
        is_summary(plan, path) || plan.properties.iter().any(fails)
    };
    blocker_lines(text, plan.blockers.iter().filter(|(path, _)| !is_printed(path)));
}

/// Returns whether this blocker only summarises what the blockers of the properties say.
pub(super) fn is_summary(plan: &TypePlan, path: &str) -> bool {
    path == "ctd" && plan.action == PlanAction::Update
}

fn blocker_lines<'b>(text: &mut String, blockers: impl Iterator<Item = (&'b str, &'b [String])>) {
    for (path, messages) in blockers {
        for message in messages {
            let sign = sign('!');
            writeln!(text, "    {sign} {path}  {BLOCKED}BLOCKED{BLOCKED:#}: {message}").ok();
        }
    }
}

fn property_lines(text: &mut String, plan: &TypePlan, payload: Option<&Map<String, Value>>) {
    let mut lines: Vec<(String, [String; 3])> = Vec::new();
    for property in &plan.properties {
        let wanted = RequestedProperty::of(property, payload);
        let effect = effect(property, &wanted, &plan.blockers);
        let sign = change_sign(property.change, property.renamed_from.is_some());
        lines.push((sign, [property.name.clone(), description(property, &wanted), effect]));
        lines.extend(property.nested.iter().map(nested_line));
    }
    let width = |column: usize| lines.iter().map(|(_, line)| line[column].chars().count()).max();
    let (name_width, what_width) = (width(0).unwrap_or(0), width(1).unwrap_or(0));
    for (sign, [name, what, effect]) in &lines {
        let line = format!("    {sign} {name:name_width$}  {what:what_width$}  {effect}");
        writeln!(text, "{}", line.trim_end()).ok();
    }
}

/// The line of a nested property. The line of the outer property describes the values.
fn nested_line(nested: &NestedPlan) -> (String, [String; 3]) {
    let NestedPlan { renamed_from, from, to, .. } = nested;
    let mut parts = renaming_and_type(renamed_from.as_deref(), from.as_deref(), to.as_deref());
    if parts.is_empty() {
        parts.push("settings".to_owned());
    }
    let sign = change_sign(nested.change, nested.renamed_from.is_some());
    (sign, [nested.name.clone(), parts.join(", "), String::new()])
}

fn change_sign(change: PropertyChange, is_renamed: bool) -> String {
    sign(match change {
        _ if is_renamed => '>',
        PropertyChange::Add => '+',
        PropertyChange::Remove => '-',
        PropertyChange::Type | PropertyChange::Settings => '~',
    })
}

/// The requested definition of a property; empty for a removed one.
pub(super) struct RequestedProperty<'w> {
    pub(super) config: &'w Value,
    is_required: bool,
    /// Text is converted to a number or a boolean.
    pub(super) parses: bool,
}

impl<'w> RequestedProperty<'w> {
    pub(super) fn of(property: &PropertyPlan, payload: Option<&'w Map<String, Value>>) -> Self {
        let part = |key: &str| payload.and_then(|payload| payload.get(key)).unwrap_or(&Value::Null);
        let config = &part("metaDefinition")["propertiesConfig"][property.name.as_str()];
        let required = part("schemaDefinition")["required"].as_array();
        Self {
            config,
            is_required: required.is_some_and(|names| names.contains(&json!(property.name))),
            parses: config["convert"] == "parse" && parses_text(property),
        }
    }
}

/// Returns whether the property changes from text to a number or a boolean.
pub(super) fn parses_text(property: &PropertyPlan) -> bool {
    let is_text = property.from.as_deref().is_some_and(|from| from.starts_with("string/"));
    let to = property.to.as_deref().map(input_type);
    is_text && matches!(to, Some("number" | "checkbox"))
}

fn description(property: &PropertyPlan, wanted: &RequestedProperty<'_>) -> String {
    let PropertyPlan { renamed_from, from, to, .. } = property;
    let mut parts = renaming_and_type(renamed_from.as_deref(), from.as_deref(), to.as_deref());
    let is_requested = property.change != PropertyChange::Settings || !is_untouched(property);
    if wanted.is_required && is_requested {
        parts.push("required".to_owned());
    }
    if wanted.parses {
        parts.push("convert: parse".to_owned());
    }
    if fills(property, wanted) {
        parts.push(format!("backfill: {}", short_json(&wanted.config["backfill"])));
    }
    if parts.is_empty() {
        let of_items = !property.nested.is_empty();
        parts.push(if of_items { "nested properties" } else { "settings" }.to_owned());
    }
    parts.join(", ")
}

fn renaming_and_type(
    renamed_from: Option<&str>,
    from: Option<&str>,
    to: Option<&str>,
) -> Vec<String> {
    let mut parts = Vec::new();
    parts.extend(renamed_from.map(|old| format!("renamed from {old}")));
    match (from, to) {
        (Some(from), Some(to)) if from == to => {}
        (Some(from), Some(to)) if input_type(from) != input_type(to) => {
            parts.push(format!("{} -> {}", input_type(from), input_type(to)));
        }
        (Some(from), Some(to)) => parts.push(format!("{from} -> {to}")),
        (None, Some(to)) => parts.push(input_type(to).to_owned()),
        (_, None) => parts.push("removed".to_owned()),
    }
    parts
}

fn is_untouched(property: &PropertyPlan) -> bool {
    property.converted == 0 && property.failed == 0
}

/// Returns whether the change only supplies missing values.
fn fills(property: &PropertyPlan, wanted: &RequestedProperty<'_>) -> bool {
    let has_backfill = wanted.config.get("backfill").is_some();
    has_backfill && property.change != PropertyChange::Type && property.converted > 0
}

/// Returns the input type of a type pair: `text` of `string/text`.
fn input_type(pair: &str) -> &str {
    pair.rsplit('/').next().unwrap_or(pair)
}

fn effect(
    property: &PropertyPlan,
    wanted: &RequestedProperty<'_>,
    blockers: &FieldErrors,
) -> String {
    let mut effects = Vec::new();
    if property.kept > 0 {
        effects.push(format!("{} kept", counted(property.kept, "value")));
    }
    if property.converted > 0 {
        let how = match property.change {
            // Only empty values are removed without loss.
            PropertyChange::Remove => "empty",
            _ if fills(property, wanted) => "filled in",
            _ => "converted",
        };
        effects.push(format!("{} {how}", property.converted));
    }
    if property.lost > 0 {
        effects.push(format!("{} lost", counted(property.lost, "value")));
    }
    if property.invalid > 0 {
        effects.push(format!("{} no longer valid", property.invalid));
    }
    if property.failed > 0 {
        let objects = counted(property.failed, "object");
        effects.push(format!(
            "{BLOCKED}BLOCKED{BLOCKED:#}: {objects} would {}",
            if lacks_values(property, blockers) {
                "lack a required value".to_owned()
            } else {
                format!("not be valid ({})", reasons(&property.name, blockers))
            }
        ));
    }
    let mut effect = effects.join(", ");
    if let Some(samples) = samples(property) {
        write!(effect, ": {samples}").ok();
    }
    effect
}

/// The errors at a property and at its members.
fn reasons(property: &str, blockers: &FieldErrors) -> String {
    let own = blockers.at(property).iter().cloned();
    let is_nested =
        |path: &str| path.strip_prefix(property).is_some_and(|rest| rest.starts_with(['.', '[']));
    let nested = blockers.iter().filter(|(path, _)| is_nested(path));
    let nested = nested.map(|(path, messages)| format!("{path}: {}", messages.join("; ")));
    own.chain(nested).collect::<Vec<_>>().join("; ")
}

/// Returns whether missing values are the only problem.
pub(super) fn lacks_values(property: &PropertyPlan, blockers: &FieldErrors) -> bool {
    let messages = blockers.at(&property.name);
    let is_required = |message: &String| MessageCode::of(message) == Some(MessageCode::Required);
    property.failed > 0 && !messages.is_empty() && messages.iter().all(is_required)
}

/// The first objects with the worst result.
fn samples(property: &PropertyPlan) -> Option<String> {
    let is_converted = property.change == PropertyChange::Type
        && property.failed + property.lost + property.invalid == 0;
    // Samples are sorted by result, the worst first.
    let number = match property {
        _ if is_converted => property.converted,
        PropertyPlan { failed: 0, lost: 0, invalid, .. } => *invalid,
        PropertyPlan { failed: 0, lost, .. } => *lost,
        PropertyPlan { failed, .. } => *failed,
    };
    let worst = usize::try_from(number).unwrap_or(usize::MAX);
    let text = |sample: &ValueSample| match &sample.before {
        before if is_converted => {
            format!("{} {} -> {}", sample.id, short_json(before), short_json(&sample.after))
        }
        Value::Null => sample.id.clone(),
        before => format!("{} {}", sample.id, short_json(before)),
    };
    let mut texts: Vec<String> =
        property.samples.iter().take(worst.min(MAX_SAMPLES)).map(text).collect();
    if worst > texts.len() {
        texts.push("...".to_owned());
    }
    (worst > 0).then(|| texts.join(", "))
}
