//! `cms ctd plan` and `cms ctd apply`: project files become the types, workflows and keys of a space.
//!
//! Plan and apply are one request each: the target computes what would happen, so both kinds of
//! target say the same. A saved plan holds what was asked for and the token of the answer; applying
//! it is refused when anything changed since.

use std::{fs, path::Path};

use cms_core::{
    Error,
    wire::plan::{ApplyRequest, DataLossConsent, KeyPlan, PlanRequest, ProjectPlan},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    NOTHING_CHANGED, changing, cure, plan_text, planning, switch::Switches, watch::watched,
};
use crate::{
    cli::{ALL_VALUES, ApplyArgs, PlanArgs, ProjectArgs},
    failure::{Failure, Kind, Outcome, Result},
    printer::Printer,
    project::{self, Places, Present, Project},
    report,
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
}

const SAVED_PLAN: u32 = 2;

const NOTHING_TO_CHANGE: &str = "nothing to change";

/// What to do when a server that starts would lose values.
#[cfg(feature = "serve")]
const CONSENT_HINT: &str = "`cms ctd apply FILE --allow-data-loss` on the data folder agrees to that; then start the server";

/// What was asked for, and what it would do.
struct Draft {
    wanted: PlanRequest,
    plan: ProjectPlan,
    switches: Switches,
    places: Places,
    /// Token of the saved plan that is to be carried out. Who applies files wants what they say,
    /// also when somebody writes an object meanwhile; consent to losses is checked in any case.
    token: Option<String>,
}

impl Draft {
    /// Asks the target what a project would do.
    fn new(target: &dyn Target, project: Project, prune: bool, printer: &Printer) -> Result<Self> {
        let Project { types, workflows, keys, places } = project;
        let wanted = PlanRequest { workflows, content_types: types, keys, prune };
        let plan = watched(target, printer, || target.plan(&wanted))?;
        let switches = Switches::find(target, &wanted, &plan)?;
        Ok(Self { wanted, plan, switches, places, token: None })
    }

    /// Applies what is wanted; a saved plan only as long as nothing changed since.
    fn carry_out(
        self,
        target: &dyn Target,
        allow_data_loss: Option<DataLossConsent>,
        printer: &Printer,
    ) -> Result<ProjectPlan> {
        if let Some(error) = plan_text::blocked(&self.plan) {
            let mut failure = Failure::from(error);
            failure.hints = self.hints();
            return Err(failure.hint(NOTHING_CHANGED));
        }
        if !self.plan.has_changes() {
            return Ok(self.plan);
        }
        let cures = self.hints();
        let request = ApplyRequest { wanted: self.wanted, token: self.token, allow_data_loss };
        watched(target, printer, || target.apply(&request)).map_err(|error| {
            let mut failure = Failure::from(error);
            if matches!(failure.kind, Kind::Target(Error::DataLoss(_))) {
                failure.hints.splice(0..0, cures);
            }
            failure
        })
    }

    fn hints(&self) -> Vec<String> {
        cure::hints(&self.plan, &self.wanted, &self.places)
    }

    fn text(&self) -> String {
        plan_text::render(&self.plan, &self.wanted, &self.switches)
    }
}

pub(super) fn plan(args: &PlanArgs, settings: &Settings, printer: &mut Printer) -> Result<Outcome> {
    let target = planning(settings, printer)?;
    let project = load(&args.project, &*target)?;
    let draft = Draft::new(&*target, project, args.project.prune, printer)?;
    printer.value(&json!(draft.plan), || draft.text())?;
    if let Some(path) = &args.out {
        save(path, &draft)?;
    }
    for hint in draft.hints() {
        printer.note(&report::hint(&hint))?;
    }
    let has_changes = draft.plan.has_changes() || draft.plan.summary.blockers > 0;
    printer.note(if has_changes { NOTHING_CHANGED } else { NOTHING_TO_CHANGE })?;
    Ok(match draft.plan.summary.blockers {
        0 if args.exit_code && draft.plan.has_changes() => Outcome::Changes,
        0 => Outcome::Done,
        _ => Outcome::Blocked,
    })
}

pub(super) fn apply(
    args: ApplyArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    let target = if args.dry_run.dry_run {
        planning(settings, printer)?
    } else {
        changing(settings, printer, false)?
    };
    let draft = if let Some(saved) = saved(&args.project.files)? {
        if args.project.prune {
            let reason = "--prune belongs to `cms ctd plan`: a saved plan says whether types go";
            return Err(Failure::usage(reason.to_owned()));
        }
        let PlanRequest { workflows, content_types, keys, prune } = saved.wanted;
        let places = Places::default();
        let project = Project { types: content_types, workflows, keys, places };
        let mut draft = Draft::new(&*target, project, prune, printer)?;
        if draft.plan.token != saved.token {
            return Err(Failure::from(Error::Conflict("The plan is stale".to_owned()))
                .hint("make a new one with `cms ctd plan`"));
        }
        draft.token = Some(saved.token);
        draft
    } else {
        let project = load(&args.project, &*target)?;
        Draft::new(&*target, project, args.project.prune, printer)?
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
    let draft = Draft::new(target, project, false, printer)?;
    if draft.plan.has_changes() {
        printer.note(draft.text().trim_end())?;
        let done = match draft.carry_out(target, None, printer) {
            Err(mut failure) if matches!(failure.kind, Kind::Target(Error::DataLoss(_))) => {
                // The server has no flag that agrees to that.
                failure.hints = vec![CONSENT_HINT.to_owned()];
                return Err(failure);
            }
            done => done?,
        };
        show_keys(&done.keys, printer)?;
    }
    Ok(())
}

fn show_and_carry_out(
    target: &dyn Target,
    draft: Draft,
    allow_data_loss: Option<DataLossConsent>,
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
    let has_changes = draft.plan.has_changes();
    let done = draft.carry_out(target, allow_data_loss, printer)?;
    if printer.is_table() {
        show_keys(&done.keys, printer)?;
    } else {
        printer.value(&json!(done), String::new)?;
    }
    printer.note(if has_changes { "applied" } else { NOTHING_TO_CHANGE })
}

/// Prints new keys on standard output, as lines that a script can read.
fn show_keys(planned: &[KeyPlan], printer: &mut Printer) -> Result<()> {
    let created = planned.iter().filter_map(|key| Some((&key.name, key.key.as_ref()?)));
    let lines: Vec<String> = created.map(|(name, key)| format!("{name}={key}\n")).collect();
    if !lines.is_empty() {
        printer.note("new keys, shown only this once:")?;
    }
    printer.text(&lines.concat())
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

fn consent(names: Vec<String>) -> Option<DataLossConsent> {
    if names.is_empty() {
        None
    } else if names.iter().any(|name| name == ALL_VALUES) {
        Some(DataLossConsent::All(true))
    } else {
        Some(DataLossConsent::Only(names))
    }
}

fn save(path: &Path, draft: &Draft) -> Result<()> {
    let saved = SavedPlan {
        cms_plan: SAVED_PLAN,
        token: draft.plan.token.clone(),
        wanted: draft.wanted.clone(),
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
