//! A plan as people read it: what happens to each workflow, each type, each property and its values.

use std::fmt::Write as _;

use cms_core::{
    Error, FieldErrors,
    wire::plan::{Action, Change, Plan, PropertyPlan, TypePlan, WorkflowPlan},
};

use super::{counted, switch::Switches};
use crate::report::cell;

/// Samples of values that cannot be converted.
const SAMPLES: usize = 3;

/// Returns the plan as lines, the last one with the sums.
pub(super) fn render(plan: &Plan, switches: &Switches) -> String {
    let mut text = String::new();
    for workflow in &plan.workflows {
        workflow_lines(&mut text, workflow);
    }
    let changed = plan.content_types.iter().filter(|t| t.action != Action::None);
    for content_type in changed {
        type_lines(&mut text, content_type, switches);
    }
    let sums = &plan.summary;
    let workflows =
        |action| plan.workflows.iter().filter(|workflow| workflow.action == action).count() as u64;
    write!(
        text,
        "plan: {} to create, {} to change, {} to delete",
        sums.create + workflows(Action::Create),
        sums.update + workflows(Action::Update),
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
    text
}

/// What is in the way of applying a plan, if anything is.
pub(super) fn blocked(plan: &Plan) -> Option<Error> {
    let workflows = plan.workflows.iter().map(|w| (format!("workflows.{}", w.id), &w.blockers));
    let types = plan.content_types.iter().map(|t| (t.name.clone(), &t.blockers));
    let blocked: Vec<_> = workflows
        .chain(types)
        .filter(|(_, blockers)| !blockers.is_empty())
        .map(|(name, blockers)| (name, blockers.clone()))
        .collect();
    (!blocked.is_empty()).then_some(Error::Blocked(blocked))
}

fn workflow_lines(text: &mut String, plan: &WorkflowPlan) {
    let sign = match plan.action {
        Action::Create => '+',
        Action::Delete => '-',
        Action::None if plan.blockers.is_empty() => return,
        Action::Update | Action::None => '~',
    };
    writeln!(text, "{sign} workflow {}", plan.id).ok();
    blocker_lines(text, &plan.blockers);
}

fn type_lines(text: &mut String, plan: &TypePlan, switches: &Switches) {
    let name = &plan.name;
    match plan.action {
        Action::Create => {
            let properties = counted(plan.properties.len() as u64, "property");
            writeln!(text, "+ {name}  {}", properties.replace("propertys", "properties")).ok();
        }
        Action::Delete => {
            writeln!(text, "- {name}").ok();
        }
        Action::Update => {
            writeln!(text, "~ {name}").ok();
            property_lines(text, &plan.properties);
            for line in switches.of(name) {
                writeln!(text, "    ~ {line}").ok();
            }
        }
        Action::None => {}
    }
    blocker_lines(text, &plan.blockers);
}

fn blocker_lines(text: &mut String, blockers: &FieldErrors) {
    for (path, messages) in blockers.iter() {
        for message in messages {
            writeln!(text, "    ! {path}  BLOCKED: {message}").ok();
        }
    }
}

fn property_lines(text: &mut String, properties: &[PropertyPlan]) {
    let lines: Vec<[String; 3]> = properties
        .iter()
        .map(|property| [property.name.clone(), what(property), effect(property)])
        .collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let (name_width, what_width) = (width(0).unwrap_or(0), width(1).unwrap_or(0));
    for (property, [name, what, effect]) in properties.iter().zip(&lines) {
        let sign = match property.change {
            Change::Add => '+',
            Change::Remove => '-',
            Change::Type | Change::Settings => '~',
        };
        let line = format!("    {sign} {name:name_width$}  {what:what_width$}  {effect}");
        writeln!(text, "{}", line.trim_end()).ok();
    }
}

fn what(property: &PropertyPlan) -> String {
    match (property.change, &property.from, &property.to) {
        (Change::Remove, ..) => "removed".to_owned(),
        (Change::Settings, ..) => "settings".to_owned(),
        (Change::Add, _, Some(to)) => input_type(to).to_owned(),
        (Change::Type, Some(from), Some(to)) if input_type(from) != input_type(to) => {
            format!("{} -> {}", input_type(from), input_type(to))
        }
        (_, from, to) => [from, to].into_iter().flatten().cloned().collect::<Vec<_>>().join(" -> "),
    }
}

/// `text` of `string/text`.
fn input_type(pair: &str) -> &str {
    pair.rsplit('/').next().unwrap_or(pair)
}

fn effect(property: &PropertyPlan) -> String {
    let mut effects = Vec::new();
    if property.kept > 0 {
        effects.push(format!("{} kept", counted(property.kept, "value")));
    }
    if property.converted > 0 {
        effects.push(format!("{} converted", property.converted));
    }
    if property.emptied > 0 {
        effects.push(format!("{} lost", counted(property.emptied, "value")));
    }
    if property.failed > 0 {
        effects.push(failed(property));
    }
    effects.join(", ")
}

/// How many objects would not be valid, and the values that make them so.
fn failed(property: &PropertyPlan) -> String {
    let samples: Vec<String> = property
        .samples
        .iter()
        .filter(|sample| !sample.before.is_null())
        .take(SAMPLES)
        .map(|sample| format!("{} \"{}\"", sample.id, cell(&sample.before)))
        .collect();
    if samples.is_empty() {
        format!("{} would lack a value", counted(property.failed, "object"))
    } else {
        format!("{} cannot be converted: {}", property.failed, samples.join(", "))
    }
}
