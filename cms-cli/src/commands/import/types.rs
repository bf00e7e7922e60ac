//! The types and workflows of an exported folder: which of them are applied, and in which order
//! objects come.

use cms_core::{
    Error,
    wire::{
        content_type::ContentType,
        object::ListRequest,
        plan::{ApplyRequest, PlanAction, PlanRequest},
    },
};
use serde_json::{Map, Value, json};

use super::{
    super::{plan_text, switch::Switches},
    Job,
};
use crate::{
    content::folder::{self, TypeFolder},
    failure::{Failure, Result},
    printer::Printer,
    target::{Edition, Target},
};

const PICTURES: &str = "featuredImage";

/// Makes the workflows and types that are missing, and with `update` brings the others up to date. Built-in types
/// that nobody has touched are brought up to date in any case: a new space has them too, so they
/// cannot be missing.
pub(super) fn apply(
    target: &dyn Target,
    folders: &[TypeFolder],
    workflows: Vec<Map<String, Value>>,
    update: bool,
    dry_run: bool,
    printer: &mut Printer,
) -> Result<()> {
    let payloads = folders.iter().filter(|f| !folder::is_system(&f.name)).map(|folder| {
        let mut payload = folder.payload.clone();
        // Objects are not there yet, so nothing can link to them.
        payload.remove(PICTURES);
        payload
    });
    let mut wanted =
        PlanRequest { workflows, content_types: payloads.collect(), ..PlanRequest::default() };
    let plan = target.plan(&wanted)?;
    let mut left = Vec::new();
    let changed = plan.workflows.iter().filter(|w| w.action == PlanAction::Update && !update);
    for workflow in changed {
        let id = &workflow.id;
        wanted.workflows.retain(|definition| definition.get("id") != Some(&json!(id)));
        left.push(format!("workflow \"{id}\""));
    }
    for content_type in plan.content_types.iter().filter(|t| t.action == PlanAction::Update) {
        if !update && !is_pristine(target, &content_type.name)? {
            let name = &content_type.name;
            wanted.content_types.retain(|payload| name_of(payload) != name);
            left.push(format!("type \"{name}\""));
        }
    }
    for name in &left {
        printer.note(&format!("the {name} is another here; --update-existing changes it"))?;
    }
    let plan = if left.is_empty() { plan } else { target.plan(&wanted)? };
    if !plan.has_changes() {
        return Ok(());
    }
    let switches = Switches::find(target, &wanted, &plan)?;
    printer.note(plan_text::render(&plan, &wanted, &switches).trim_end())?;
    if let Some(error) = plan_text::blocked(&plan) {
        return Err(error.into());
    }
    if !dry_run {
        let request = ApplyRequest { wanted, token: Some(plan.token), allow_data_loss: None };
        target.apply(&request).map_err(|error| {
            let is_loss = matches!(error, Error::DataLoss(_));
            let failure = Failure::from(error);
            if is_loss {
                failure.hint("`cms ctd apply DIR --allow-data-loss` changes the types alone")
            } else {
                failure
            }
        })?;
    }
    Ok(())
}

/// Sets the pictures of types, once the media objects are there. Nothing else of a type changes.
pub(super) fn apply_pictures(
    target: &dyn Target,
    folders: &[TypeFolder],
    update: bool,
) -> Result<()> {
    let mut wanted = PlanRequest::default();
    for folder in folders.iter().filter(|folder| !folder::is_system(&folder.name)) {
        let Some(Value::Array(pictures)) = folder.payload.get(PICTURES) else { continue };
        if pictures.is_empty() {
            continue;
        }
        let present = target.get_type(&folder.name)?;
        if update || present.featured_image.is_empty() {
            let mut payload = folder::definition(&present);
            payload.insert(PICTURES.to_owned(), json!(pictures));
            wanted.content_types.push(payload);
        }
    }
    if !wanted.content_types.is_empty() {
        target.apply(&ApplyRequest { wanted, ..ApplyRequest::default() })?;
    }
    Ok(())
}

/// A built-in type without objects that was never changed.
fn is_pristine(target: &dyn Target, name: &str) -> Result<bool> {
    let present = target.get_type(name)?;
    Ok(folder::is_builtin(name)
        && present.updated_at.is_none()
        && target.objects(name, &ListRequest::default(), Edition::Current)?.total_count == 0)
}

fn name_of(payload: &Map<String, Value>) -> &str {
    payload.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// A type that a dry run has not made, as far as reading its objects needs it.
pub(super) fn unmade(folder: &TypeFolder) -> ContentType {
    let part = |key: &str| folder.payload.get(key).cloned().unwrap_or(Value::Null);
    ContentType {
        id: String::new(),
        name: folder.name.clone(),
        label: folder.name.clone(),
        workflow_id: String::new(),
        draft_public: false,
        internal: false,
        schema_definition: part("schemaDefinition"),
        meta_definition: part("metaDefinition"),
        slugs: Vec::new(),
        featured_image: Vec::new(),
        deleted_at: None,
        created_at: String::new(),
        updated_at: None,
    }
}

/// Puts types after those that they link to; where they link in a circle, what they need at once
/// comes before what can wait.
pub(super) fn ordered(mut jobs: Vec<Job>) -> Vec<Job> {
    let mut ordered: Vec<Job> = Vec::new();
    while !jobs.is_empty() {
        let is_free = |job: &Job, only_required: bool| {
            let links = links(&job.content_type, only_required);
            let mut others = jobs.iter().map(|other| &other.content_type.name);
            !others.any(|name| *name != job.content_type.name && links.contains(name))
        };
        let next = [false, true]
            .into_iter()
            .find_map(|only_required| jobs.iter().position(|job| is_free(job, only_required)));
        ordered.push(jobs.remove(next.unwrap_or(0)));
    }
    ordered
}

/// Names of the types that a type links to, inside lists too.
fn links(content_type: &ContentType, only_required: bool) -> Vec<String> {
    let required = &content_type.schema_definition["required"];
    let configs = content_type.meta_definition["propertiesConfig"].as_object();
    let mut names = Vec::new();
    for (name, config) in configs.into_iter().flatten() {
        let counts = !only_required
            || required.as_array().is_some_and(|required| required.contains(&json!(name)));
        if counts {
            targets(config, &mut names);
        }
    }
    names
}

fn targets(config: &Value, names: &mut Vec<String>) {
    let target = config["validation"]["relationContenttype"].as_str();
    names.extend(target.map(str::to_owned));
    for nested in config["items"]["propertiesConfig"].as_object().into_iter().flatten() {
        targets(nested.1, names);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::content::folder::MediaFiles;

    fn job(name: &str, relations: &[(&str, bool)]) -> Job {
        let required: Vec<&str> =
            relations.iter().filter(|(_, required)| *required).map(|(to, _)| *to).collect();
        let configs: Map<String, Value> = relations
            .iter()
            .map(|(to, _)| ((*to).to_owned(), json!({"validation": {"relationContenttype": to}})))
            .collect();
        let payload = json!({
            "schemaDefinition": {"required": required},
            "metaDefinition": {"propertiesConfig": configs},
        });
        let Value::Object(payload) = payload else { unreachable!() };
        let folder = TypeFolder {
            name: name.to_owned(),
            payload,
            pages: Vec::new(),
            deleted: Vec::new(),
            files: MediaFiles::default(),
        };
        Job {
            content_type: unmade(&folder),
            sources: Vec::new(),
            deleted: HashSet::new(),
            files: MediaFiles::default(),
        }
    }

    fn order(jobs: Vec<Job>) -> Vec<String> {
        ordered(jobs).into_iter().map(|job| job.content_type.name).collect()
    }

    #[test]
    fn types_come_after_those_they_link_to() {
        let jobs =
            vec![job("a", &[("b", false), ("a", false)]), job("b", &[("c", true)]), job("c", &[])];
        assert_eq!(order(jobs), ["c", "b", "a"]);
    }

    #[test]
    fn in_a_circle_required_links_decide() {
        let jobs = vec![job("a", &[("b", true)]), job("b", &[("a", false)])];
        assert_eq!(order(jobs), ["b", "a"]);
        let jobs = vec![job("a", &[("b", true)]), job("b", &[("a", true)])];
        assert_eq!(order(jobs), ["a", "b"]);
    }
}
