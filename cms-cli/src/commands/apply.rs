//! `cms ctd plan` and `cms ctd apply`: apply project files to the types, workflows and keys of a
//! space.
//!
//! Plan and apply are one request each: the target computes the plan, so both kinds of target
//! agree. A saved plan contains the request and the token of the plan; applying it fails when
//! anything changed since.

use std::{fs, path::Path};

use cms_core::{
    Error, Progress,
    wire::plan::{
        ApplyRequest, DataLossConsent, KeyPlan, PlanAction, PlanRequest, ProjectPlan, TypePlan,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    NOTHING_CHANGED, open_to_plan, open_to_write, plan_hints, plan_text,
    progress::with_plan_progress, publishing_changes::PublishingChanges,
};
use crate::{
    cli::{ALL_VALUES, ApplyArgs, PlanArgs, ProjectArgs},
    failure::{Failure, FailureKind, Outcome, Result},
    printer::Printer,
    project::{self, ExistingDefinitions, Locations, Project},
    settings::Settings,
    target::Target,
};

/// The file that `--out` writes.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SavedPlan {
    /// Version of this format; distinguishes a plan from a project file.
    cms_plan: u32,
    token: String,
    wanted: PlanRequest,
}

const SAVED_PLAN_VERSION: u32 = 2;

const NOTHING_TO_CHANGE: &str = "nothing to change";

/// The hint when `cms serve --apply` would lose values.
#[cfg(feature = "serve")]
const DATA_LOSS_HINT: &str = "apply with `cms ctd apply FILE --allow-data-loss` on the data directory, then start the server";

/// A request with its plan.
struct PlannedProject {
    wanted: PlanRequest,
    plan: ProjectPlan,
    publishing_changes: PublishingChanges,
    locations: Locations,
    /// Token of the saved plan to apply; none for project files, which are applied even if objects
    /// have changed since the plan was shown. `--allow-data-loss` is checked in any case.
    token: Option<String>,
}

impl PlannedProject {
    /// Plans a project on the target.
    fn new(target: &dyn Target, project: Project, prune: bool, printer: &Printer) -> Result<Self> {
        let Project { types, workflows, keys, locations } = project;
        let wanted = PlanRequest { workflows, content_types: types, keys, prune };
        let plan = with_plan_progress(printer, |progress| target.plan(&wanted, progress))?;
        let publishing_changes = PublishingChanges::find(target, &wanted, &plan)?;
        Ok(Self { wanted, plan, publishing_changes, locations, token: None })
    }

    /// Applies the request; a saved plan only if nothing changed since.
    fn apply(
        self,
        target: &dyn Target,
        allow_data_loss: Option<DataLossConsent>,
        printer: &Printer,
    ) -> Result<ProjectPlan> {
        if let Some(error) = plan_text::blocked(&self.plan) {
            return Err(Failure::from(error).hints(self.hints()).hint(NOTHING_CHANGED));
        }
        if !self.plan.has_changes() {
            return Ok(self.plan);
        }
        let hints = self.hints();
        let request = ApplyRequest { wanted: self.wanted, token: self.token, allow_data_loss };
        let applied = with_plan_progress(printer, |progress| target.apply(&request, progress));
        applied.map_err(|error| {
            let mut failure = Failure::from(error);
            if matches!(failure.kind, FailureKind::Target(Error::DataLoss(_))) {
                failure.hints.splice(0..0, hints);
            }
            failure
        })
    }

    /// The types that an apply deletes, as text; none if it deletes none, or cannot be carried out.
    fn deleted_types(&self) -> Option<String> {
        let is_deleted = |planned: &&TypePlan| planned.action == PlanAction::Delete;
        let deleted = self.plan.content_types.iter().filter(is_deleted);
        let names: Vec<String> = deleted.map(|planned| format!("\"{}\"", planned.name)).collect();
        let is_possible = self.plan.summary.blockers == 0 && !names.is_empty();
        let types = if names.len() == 1 { "the content type" } else { "the content types" };
        is_possible.then(|| format!("{types} {}", names.join(", ")))
    }

    /// The outcome of a command that only shows the plan.
    fn outcome(&self) -> Outcome {
        if self.plan.summary.blockers == 0 { Outcome::Done } else { Outcome::Blocked }
    }

    fn hints(&self) -> Vec<String> {
        plan_hints::hints(&self.plan, &self.wanted, &self.locations)
    }

    fn text(&self) -> String {
        plan_text::render(&self.plan, &self.wanted, &self.publishing_changes)
    }
}

pub(super) fn plan(args: &PlanArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let target = open_to_plan(settings, printer)?;
    let project = load(&args.project, &*target)?;
    let planned = PlannedProject::new(&*target, project, args.project.prune, printer)?;
    printer.value(&json!(planned.plan), || planned.text())?;
    if let Some(path) = &args.out {
        save(path, &planned)?;
    }
    printer.hints(planned.hints())?;
    let has_changes = planned.plan.has_changes() || planned.plan.summary.blockers > 0;
    printer.note(if has_changes { NOTHING_CHANGED } else { NOTHING_TO_CHANGE })?;
    Ok(match planned.outcome() {
        Outcome::Done if args.exit_code && planned.plan.has_changes() => Outcome::HasChanges,
        outcome => outcome,
    })
}

pub(super) fn apply(args: ApplyArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let target = if args.dry_run.dry_run {
        open_to_plan(settings, printer)?
    } else {
        open_to_write(settings, printer, false)?
    };
    let mut planned = if let Some(saved) = saved(&args.project.files)? {
        if args.project.prune {
            let reason = "--prune cannot be combined with a saved plan: pass it to `cms ctd plan`";
            return Err(Failure::usage(reason.to_owned()));
        }
        let PlanRequest { workflows, content_types, keys, prune } = saved.wanted;
        let locations = Locations::default();
        let project = Project { types: content_types, workflows, keys, locations };
        let mut planned = PlannedProject::new(&*target, project, prune, printer)?;
        if planned.plan.token != saved.token {
            return Err(Failure::from(Error::Conflict("The plan is stale".to_owned()))
                .hint("create a new one with `cms ctd plan`"));
        }
        planned.token = Some(saved.token);
        planned
    } else {
        let project = load(&args.project, &*target)?;
        PlannedProject::new(&*target, project, args.project.prune, printer)?
    };
    if args.dry_run.dry_run {
        printer.value(&json!(planned.plan), || planned.text())?;
        printer.hints(planned.hints())?;
        printer.note(NOTHING_CHANGED)?;
        return Ok(planned.outcome());
    }
    let has_changes = planned.plan.has_changes();
    if printer.is_table() {
        printer.styled(&planned.text())?;
    }
    // A saved plan was shown before.
    if planned.token.is_none()
        && let Some(types) = planned.deleted_types()
    {
        printer.flush()?;
        settings.confirm(&format!("delete {types}?"))?;
        // Types that others have created since the plan must not be deleted.
        planned.token = Some(planned.plan.token.clone());
    }
    let done = planned.apply(&*target, data_loss(args.allow_data_loss), printer)?;
    if printer.is_table() {
        show_keys(&done.keys, printer)?;
    } else {
        printer.value(&json!(done), String::new)?;
    }
    printer.note(if has_changes { "applied" } else { NOTHING_TO_CHANGE })?;
    Ok(Outcome::Done)
}

/// Applies project files before the server starts. Standard output is for keys, so the plan goes to
/// standard error.
#[cfg(feature = "serve")]
pub(super) fn at_start(
    target: &dyn Target,
    files: &[std::path::PathBuf],
    printer: &Printer,
) -> Result<()> {
    let project = project::load(files, &existing(target)?)?;
    let planned = PlannedProject::new(target, project, false, printer)?;
    if planned.plan.has_changes() {
        printer.note(planned.text().trim_end())?;
        let done = match planned.apply(target, None, printer) {
            Err(mut failure) if matches!(failure.kind, FailureKind::Target(Error::DataLoss(_))) => {
                // The server has no flag that allows this.
                failure.hints = vec![DATA_LOSS_HINT.to_owned()];
                return Err(failure);
            }
            done => done?,
        };
        show_keys(&done.keys, printer)?;
    }
    Ok(())
}

/// Applies project files to a temporary target, as validation; loss of values is impossible there.
pub(super) fn into_empty_target(
    target: &dyn Target,
    files: &[std::path::PathBuf],
    printer: &Printer,
) -> Result<()> {
    let project = project::load(files, &existing(target)?)?;
    PlannedProject::new(target, project, false, printer)?.apply(target, None, printer)?;
    Ok(())
}

/// Prints new keys on standard output, as lines that a script can read.
fn show_keys(planned: &[KeyPlan], printer: &Printer) -> Result<()> {
    let created = planned.iter().filter_map(|key| Some((&key.name, key.key.as_ref()?)));
    let lines: Vec<String> = created.map(|(name, key)| format!("{name}={key}\n")).collect();
    if !lines.is_empty() {
        printer.note("new keys, shown only this once:")?;
    }
    printer.text(&lines.concat())
}

fn load(args: &ProjectArgs, target: &dyn Target) -> Result<Project> {
    project::load(&args.files, &existing(target)?).or_else(|failure| {
        // A scoped key sees only some types, so references to the others are reported as errors. If
        // such a key has no right to plan, this empty plan fails, and its error is the one to report.
        target.plan(&PlanRequest::default(), &Progress::default())?;
        Err(failure)
    })
}

/// The existing definitions that files may refer to.
fn existing(target: &dyn Target) -> Result<ExistingDefinitions> {
    let types = target.types()?.into_iter().map(|content_type| content_type.name);
    let workflows = target.workflows()?.into_iter().map(|workflow| workflow.id);
    Ok(ExistingDefinitions { types: types.collect(), workflows: workflows.collect() })
}

fn data_loss(names: Vec<String>) -> Option<DataLossConsent> {
    if names.is_empty() {
        None
    } else if names.iter().any(|name| name == ALL_VALUES) {
        Some(DataLossConsent::All(true))
    } else {
        Some(DataLossConsent::Only(names))
    }
}

fn save(path: &Path, planned: &PlannedProject) -> Result<()> {
    let saved = SavedPlan {
        cms_plan: SAVED_PLAN_VERSION,
        token: planned.plan.token.clone(),
        wanted: planned.wanted.clone(),
    };
    let text = serde_json::to_string_pretty(&saved).expect("a plan is plain data");
    fs::write(path, text).map_err(|error| Failure::unwritable(path.display(), error))
}

/// Reads a saved plan, if the only file is one.
fn saved(files: &[std::path::PathBuf]) -> Result<Option<SavedPlan>> {
    let [file] = files else { return Ok(None) };
    // Standard input and named pipes can be read only once, by `project::load`.
    if !file.is_file() {
        return Ok(None);
    }
    let text = fs::read(file).map_err(|error| Failure::unreadable(file.display(), error))?;
    Ok(serde_json::from_slice(&text)
        .ok()
        .filter(|saved: &SavedPlan| saved.cms_plan == SAVED_PLAN_VERSION))
}
