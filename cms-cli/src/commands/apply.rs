//! `cms ctd plan` and `cms ctd apply`: project files become the types, workflows and keys of a space.
//!
//! Plan and apply are one request each: the target computes what would happen, so both kinds of
//! target say the same. A saved plan holds what was asked for and the token of the answer; applying
//! it is refused when anything changed since.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use cms_core::{
    Error,
    wire::{
        key::{CreatedKey, NewKey},
        plan::{ApplyRequest, DataLoss, Plan, PlanRequest},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{NOTHING_CHANGED, changing, plan_text, switch::Switches};
use crate::{
    cli::{ALL_VALUES, ApplyArgs, PlanArgs, ProjectArgs},
    failure::{Failure, Outcome, Result},
    printer::Printer,
    project::{self, Present, Project},
    settings::Settings,
    target::Target,
};

/// What `--out` writes.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SavedPlan {
    /// Version of this form; tells a plan from a project file.
    cms_plan: u32,
    token: String,
    wanted: PlanRequest,
    keys: Vec<NewKey>,
}

const SAVED_PLAN: u32 = 1;

/// What to do when a server that starts would lose values.
#[cfg(feature = "serve")]
const CONSENT_HINT: &str = "`cms ctd apply FILE --allow-data-loss` on the data folder agrees to that; then start the server";

/// What was asked for, and what it would do.
struct Draft {
    wanted: PlanRequest,
    plan: Plan,
    switches: Switches,
    /// Keys that do not exist yet.
    keys: Vec<NewKey>,
    /// Where each `type`, `type.property` and `workflows.id` of the files stands.
    places: BTreeMap<String, String>,
}

impl Draft {
    /// Asks the target what a project would do.
    fn new(target: &dyn Target, project: Project, prune: bool) -> Result<Self> {
        let Project { types, workflows, keys, places } = project;
        let wanted = PlanRequest { workflows, content_types: types, prune };
        let plan = target.plan(&wanted)?;
        let switches = Switches::find(target, &wanted, &plan)?;
        let keys = missing_keys(target, keys)?;
        Ok(Self { wanted, plan, switches, keys, places })
    }

    fn has_changes(&self) -> bool {
        self.plan.has_changes() || !self.keys.is_empty()
    }

    /// Applies what was planned, as long as nothing changed since; returns the new keys too.
    fn carry_out(
        self,
        target: &dyn Target,
        allow_data_loss: Option<DataLoss>,
    ) -> Result<(Plan, Vec<CreatedKey>)> {
        if let Some(error) = plan_text::blocked(&self.plan) {
            let mut failure = Failure::from(error);
            failure.hints = self.hints();
            return Err(failure.hint(NOTHING_CHANGED));
        }
        let done = if self.plan.has_changes() {
            let token = Some(self.plan.token);
            target.apply(&ApplyRequest { wanted: self.wanted, token, allow_data_loss })?
        } else {
            self.plan
        };
        let mut created = Vec::new();
        for key in &self.keys {
            created.push(target.create_key(key)?);
        }
        Ok((done, created))
    }

    /// Where in the files that stands what blocks the plan.
    fn hints(&self) -> Vec<String> {
        let mut hints = Vec::new();
        for planned in self.plan.workflows.iter().filter(|planned| !planned.blockers.is_empty()) {
            let place = self.places.get(&format!("workflows.{}", planned.id));
            hints.extend(place.map(|place| format!("workflow {} stands at {place}", planned.id)));
        }
        for planned in &self.plan.content_types {
            for (path, _) in planned.blockers.iter() {
                let mut names =
                    path.split(['.', '[', ']']).map(|part| format!("{}.{part}", planned.name));
                let name = names.find(|name| self.places.contains_key(name));
                let name = name.unwrap_or_else(|| planned.name.clone());
                let hint = self.places.get(&name).map(|place| format!("{name} stands at {place}"));
                hints.extend(hint.filter(|hint| !hints.contains(hint)));
            }
        }
        hints
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for key in &self.keys {
            writeln!(text, "+ key {}", key.name).ok();
        }
        text + &plan_text::render(&self.plan, &self.switches)
    }
}

pub(super) fn plan(args: &PlanArgs, settings: &Settings, printer: &mut Printer) -> Result<Outcome> {
    let target = changing(settings, printer, true)?;
    let project = load(&args.project, &*target)?;
    let draft = Draft::new(&*target, project, args.project.prune)?;
    printer.value(&json!(draft.plan), || draft.text())?;
    if let Some(path) = &args.out {
        save(path, &draft)?;
    }
    for hint in draft.hints() {
        printer.note(&format!("hint: {hint}"))?;
    }
    printer.note(NOTHING_CHANGED)?;
    Ok(match draft.plan.summary.blockers {
        0 if args.exit_code && draft.has_changes() => Outcome::Changes,
        0 => Outcome::Done,
        _ => Outcome::Blocked,
    })
}

pub(super) fn apply(
    args: ApplyArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    let target = changing(settings, printer, args.dry_run.dry_run)?;
    let draft = match saved(&args.project.files)? {
        Some(saved) => {
            let project = Project {
                types: saved.wanted.content_types,
                workflows: saved.wanted.workflows,
                keys: saved.keys,
                places: BTreeMap::new(),
            };
            let draft = Draft::new(&*target, project, saved.wanted.prune)?;
            if draft.plan.token != saved.token {
                return Err(Failure::from(Error::Conflict("The plan is stale".to_owned()))
                    .hint("make a new one with `cms ctd plan`"));
            }
            draft
        }
        None => Draft::new(&*target, load(&args.project, &*target)?, args.project.prune)?,
    };
    show_and_carry_out(
        &*target,
        draft,
        consent(args.allow_data_loss),
        args.dry_run.dry_run,
        printer,
    )?;
    Ok(Outcome::Done)
}

/// Applies project files to a folder that is about to be served. Standard output is for keys, so
/// what is done goes to standard error.
#[cfg(feature = "serve")]
pub(super) fn at_start(
    target: &dyn Target,
    files: &[std::path::PathBuf],
    printer: &mut Printer,
) -> Result<()> {
    let project = project::load(files, &present(target)?)?;
    let draft = Draft::new(target, project, false)?;
    if draft.has_changes() {
        printer.note(draft.text().trim_end())?;
        let keys = match draft.carry_out(target, None) {
            Err(mut failure)
                if matches!(failure.kind, crate::failure::Kind::Target(Error::DataLoss(_))) =>
            {
                // The server has no flag that agrees to that.
                failure.hints = vec![CONSENT_HINT.to_owned()];
                return Err(failure);
            }
            done => done?.1,
        };
        show_keys(&keys, printer)?;
    }
    Ok(())
}

fn show_and_carry_out(
    target: &dyn Target,
    draft: Draft,
    allow_data_loss: Option<DataLoss>,
    dry_run: bool,
    printer: &mut Printer,
) -> Result<()> {
    if printer.is_table() {
        printer.text(&draft.text())?;
    }
    if dry_run {
        if !printer.is_table() {
            printer.value(&json!(draft.plan), String::new)?;
        }
        return printer.note(NOTHING_CHANGED);
    }
    let has_changes = draft.has_changes();
    let (done, created) = draft.carry_out(target, allow_data_loss)?;
    if printer.is_table() {
        show_keys(&created, printer)?;
    } else {
        let mut answer = json!(done);
        if !created.is_empty() {
            answer["keys"] = json!(created);
        }
        printer.value(&answer, String::new)?;
    }
    printer.note(if has_changes { "applied" } else { "nothing to change" })
}

/// Prints new keys on standard output, as lines that a script can read.
fn show_keys(created: &[CreatedKey], printer: &mut Printer) -> Result<()> {
    if !created.is_empty() {
        printer.note("new keys, shown only this once:")?;
    }
    for key in created {
        printer.text(&format!("{}={}\n", key.item.name, key.key))?;
    }
    Ok(())
}

/// The keys of a project that the target lacks. A key that exists with other rights is a mistake:
/// changing it behind the back of those who use it would be worse.
fn missing_keys(target: &dyn Target, wanted: Vec<NewKey>) -> Result<Vec<NewKey>> {
    if wanted.is_empty() {
        return Ok(wanted);
    }
    let present = target.keys()?;
    let mut missing = Vec::new();
    for key in wanted {
        match present.iter().find(|other| other.name == key.name) {
            None => missing.push(key),
            Some(other) if other.kind == key.kind && same_rules(&other.rules, &key.rules) => {}
            Some(other) => {
                let message = format!("the key \"{}\" exists with other rights", key.name);
                return Err(Failure::from(Error::Refused(vec![message])).hint(format!(
                    "revoke it with `cms key revoke {}` to have it made anew, or take it out of the file",
                    other.id
                )));
            }
        }
    }
    Ok(missing)
}

fn same_rules(a: &[cms_core::wire::key::Rule], b: &[cms_core::wire::key::Rule]) -> bool {
    a.len() == b.len() && a.iter().all(|rule| b.contains(rule))
}

fn load(args: &ProjectArgs, target: &dyn Target) -> Result<Project> {
    project::load(&args.files, &present(target)?)
}

/// What files may refer to without describing it.
fn present(target: &dyn Target) -> Result<Present> {
    let types = target.types()?.into_iter().map(|content_type| content_type.name);
    let workflows = target.workflows()?.into_iter().map(|workflow| workflow.id);
    Ok(Present { types: types.collect(), workflows: workflows.collect() })
}

fn consent(names: Vec<String>) -> Option<DataLoss> {
    if names.is_empty() {
        None
    } else if names.iter().any(|name| name == ALL_VALUES) {
        Some(DataLoss::All(true))
    } else {
        Some(DataLoss::Only(names))
    }
}

fn save(path: &Path, draft: &Draft) -> Result<()> {
    let saved = SavedPlan {
        cms_plan: SAVED_PLAN,
        token: draft.plan.token.clone(),
        wanted: draft.wanted.clone(),
        keys: draft.keys.clone(),
    };
    let text = serde_json::to_string_pretty(&saved).expect("a plan is plain data");
    fs::write(path, text).map_err(|error| Failure::unwritable(path.display(), error))
}

/// Reads a saved plan, when that is what the one file is.
fn saved(files: &[std::path::PathBuf]) -> Result<Option<SavedPlan>> {
    let [file] = files else { return Ok(None) };
    // Standard input and named pipes can be read once only, and project::load reads them.
    if !file.is_file() {
        return Ok(None);
    }
    let text = fs::read(file).map_err(|error| Failure::unreadable(file.display(), error))?;
    Ok(serde_json::from_slice(&text).ok().filter(|saved: &SavedPlan| saved.cms_plan == SAVED_PLAN))
}
