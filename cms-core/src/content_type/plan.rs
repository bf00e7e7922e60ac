//! Plans and applies changes of several types (see docs/reference/content-types.md#plan-and-apply).
//!
//! A plan begins with a write transaction, which takes milliseconds: it checks the definitions of
//! types, changes workflows and keys, and is rolled back. Then the plan converts the objects in a read
//! snapshot, without storing them. An apply changes workflows, keys, types and their objects in one
//! write transaction.
//!
//! The token of a plan names the state that its write transaction saw, by counters that only grow. If an
//! apply finds the same token, nothing was written since then: the read snapshot of the plan had this state
//! too, and the apply does exactly what the plan reports.

use std::{collections::HashSet, sync::Arc};

use cms_model::{
    auth::key::hex,
    content_type::{
        builtin,
        catalog::{Catalog, CompiledType},
        model::Definition,
    },
    context::{Caller, Stamp},
    error::{Error, FieldErrors, Result, split_invalid},
    message,
    wire::{
        key::KeyKind,
        plan::{
            ApplyRequest, DataLossConsent, KeyPlan, PlanAction, PlanRequest, PlanSummary,
            ProjectPlan, PropertyChange, PropertyPlan, TypePlan, WorkflowPlan,
        },
    },
    workflow::model::{is_built_in, parse},
};
use cms_store::WriteTransaction;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{
    change::{self, TypeUpdate},
    service::{Types, check, deletion_blockers, require_changeable},
};
use crate::{
    CoreConfig, auth, content_type::catalog_cache::CatalogCache, progress::Progress, workflow,
};

/// Attempts of a plan while other callers change content types.
const MAX_PLAN_ATTEMPTS: u32 = 5;

impl Types<'_> {
    /// Returns the plan of a project.
    pub fn plan(&self, caller: &Caller, request: &PlanRequest) -> Result<ProjectPlan> {
        self.plan_with_progress(caller, request, &Progress::default())
    }

    /// As [`Self::plan`], and reports the progress.
    ///
    /// # Errors
    /// [`Error::Busy`] when it is cancelled, or content types change again and again.
    pub fn plan_with_progress(
        &self,
        caller: &Caller,
        request: &PlanRequest,
        progress: &Progress,
    ) -> Result<ProjectPlan> {
        require_rights(caller, request)?;
        for _ in 0..MAX_PLAN_ATTEMPTS {
            let run = Run { is_plan: true, ..Run::new(self, caller, request, Arc::default()) };
            let draft = self.cms.store.dry_run(move |writer| run.carry_out(writer))?;
            let Some(mut plan) = self.complete(draft, progress)? else { continue };
            for planned in &mut plan.keys {
                // The key was rolled back, so its secret must not be returned.
                planned.key = None;
            }
            return Ok(plan);
        }
        Err(Error::Busy("other callers change content types".to_owned()))
    }

    /// Completes a plan with the effects on objects; none if content types have changed since.
    fn complete(&self, draft: IncompletePlan, progress: &Progress) -> Result<Option<ProjectPlan>> {
        let IncompletePlan { mut plan, updates, catalog, rev } = draft;
        if updates.is_empty() {
            return Ok(Some(plan));
        }
        self.cms.store.read_without_timeout(
            || false,
            |reader| {
                if reader.revisions()?.content_types != rev {
                    return Ok(None);
                }
                let mut rewritten = 0;
                for PendingUpdate { index, before, definition } in updates {
                    let update =
                        change::plan_update(reader, &catalog, &before, &definition, progress)?;
                    rewritten += update.objects_rewritten;
                    plan.content_types[index] = type_plan(before.name(), update);
                }
                plan.summary = PlanSummary::of(&plan, rewritten);
                Ok(Some(plan))
            },
        )
    }

    /// Applies a project, all or nothing; returns the applied plan.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a stale token, [`Error::Blocked`] when the plan has blockers,
    /// [`Error::DataLoss`] when values would be lost without consent.
    pub fn apply(&self, caller: &Caller, request: &ApplyRequest) -> Result<ProjectPlan> {
        self.apply_with_progress(caller, request, Arc::default())
    }

    /// As [`Self::apply`], and reports the progress.
    pub fn apply_with_progress(
        &self,
        caller: &Caller,
        request: &ApplyRequest,
        progress: Arc<Progress>,
    ) -> Result<ProjectPlan> {
        self.cms.config.require_type_change(caller)?;
        require_rights(caller, &request.wanted)?;
        let run = Run::new(self, caller, &request.wanted, progress);
        let (token, consent) = (request.token.clone(), request.allow_data_loss.clone());
        self.cms.store.write(move |writer| {
            if let Some(token) = token {
                // Checked first: with a stale token, the work below would be useless.
                let catalog = run.catalog_cache.within(writer)?;
                if token != run.fingerprint(writer, &catalog)? {
                    return Err(Error::Conflict("The plan is stale".to_owned()));
                }
            }
            let plan = run.carry_out(writer)?.plan;
            let blocked: Vec<_> =
                plan.blockers().map(|(name, errors)| (name, errors.clone())).collect();
            if !blocked.is_empty() {
                return Err(Error::Blocked(blocked));
            }
            let lost = lost_without_consent(&plan, consent.as_ref());
            if !lost.is_empty() {
                return Err(Error::DataLoss(lost));
            }
            Ok(plan)
        })
    }
}

/// Requires the right to administer content types, and for a request with keys the right of an admin.
fn require_rights(caller: &Caller, wanted: &PlanRequest) -> Result<()> {
    caller.require_type_admin()?;
    if wanted.keys.is_empty() { Ok(()) } else { caller.require_admin() }
}

/// One plan or apply over the types.
struct Run {
    wanted: PlanRequest,
    /// Leaves stored types and objects unchanged.
    is_plan: bool,
    catalog_cache: Arc<CatalogCache>,
    config: CoreConfig,
    stamp: Stamp,
    progress: Arc<Progress>,
}

/// A plan, complete except for the objects of updated types.
struct IncompletePlan {
    plan: ProjectPlan,
    /// Empty after an apply.
    updates: Vec<PendingUpdate>,
    /// The stored types, with the workflows of the request.
    catalog: Arc<Catalog>,
    /// The revision of the stored types.
    rev: i64,
}

/// An update of a type whose effects on objects are not known yet.
struct PendingUpdate {
    /// Position of the type in the plan.
    index: usize,
    before: Arc<CompiledType>,
    definition: Definition,
}

impl Run {
    fn new(
        types: &Types<'_>,
        caller: &Caller,
        wanted: &PlanRequest,
        progress: Arc<Progress>,
    ) -> Self {
        let config = types.cms.config.clone();
        Self {
            wanted: wanted.clone(),
            is_plan: false,
            catalog_cache: Arc::clone(&types.cms.catalog),
            stamp: caller.stamp(config.clock.now()),
            config,
            progress,
        }
    }

    /// Applies the changes of workflows, keys and, unless this is a plan, types; reports the effects
    /// on each.
    fn carry_out(&self, writer: &WriteTransaction<'_>) -> Result<IncompletePlan> {
        let stored = self.catalog_cache.within(writer)?;
        let token = self.fingerprint(writer, &stored)?;
        let mut workflows = self.define_workflows(writer, &stored)?;
        // Keys come before the types: a key with a rule for a type blocks its deletion.
        let keys = self.put_keys(writer)?;
        let catalog = self.catalog_cache.within(writer)?;
        let rev = catalog.rev + 1;
        let mut types = Vec::new();
        let mut updates = Vec::new();
        let mut rewritten = 0;
        let mut named = HashSet::new();
        for payload in &self.wanted.content_types {
            let name = payload.get("name").and_then(Value::as_str).unwrap_or_default();
            if !named.insert(name) {
                let errors = FieldErrors::one("name", message::ALREADY_USED);
                types.push(type_plan_without_changes(name, PlanAction::None, errors));
                continue;
            }
            let Some(before) = catalog.find(name) else {
                types.push(self.create(writer, &catalog, name, payload, rev)?);
                continue;
            };
            match changed_definition(writer, &catalog, before, payload)? {
                DefinitionChange::None(planned) => types.push(planned),
                DefinitionChange::To(definition) if self.is_plan => {
                    let no_errors = FieldErrors::default();
                    let index = types.len();
                    types.push(type_plan_without_changes(name, PlanAction::Update, no_errors));
                    updates.push(PendingUpdate { index, before: Arc::clone(before), definition });
                }
                DefinitionChange::To(definition) => {
                    let progress = &self.progress;
                    let stamp = self.stamp;
                    let update = change::update(
                        writer,
                        &catalog,
                        before,
                        &definition,
                        rev,
                        stamp,
                        progress,
                    )?;
                    rewritten += update.objects_rewritten;
                    types.push(type_plan(name, update));
                }
            }
        }
        if self.wanted.prune {
            for content_type in catalog.types() {
                if !named.contains(content_type.name()) && !builtin::is_builtin(content_type.name())
                {
                    types.push(self.delete(writer, content_type)?);
                }
            }
        }
        self.check_quota(&catalog, &mut types);
        if !self.is_plan && types.iter().any(|planned| planned.action != PlanAction::None) {
            writer.bump_content_types()?;
        }
        self.check_states(writer, &mut workflows, &updates)?;
        let summary = PlanSummary::default();
        let mut plan = ProjectPlan { token, summary, workflows, content_types: types, keys };
        plan.summary = PlanSummary::of(&plan, rewritten);
        Ok(IncompletePlan { plan, updates, catalog, rev: stored.rev })
    }

    /// Applies the changes of workflows, and reports the effects on each.
    fn define_workflows(
        &self,
        writer: &WriteTransaction<'_>,
        catalog: &Catalog,
    ) -> Result<Vec<WorkflowPlan>> {
        let mut planned: Vec<WorkflowPlan> = Vec::new();
        for payload in &self.wanted.workflows {
            let id = payload.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            let before = catalog.workflows.find(&id);
            let mut action = if before.is_some() { PlanAction::Update } else { PlanAction::Create };
            let mut blockers = FieldErrors::default();
            if planned.iter().any(|other| other.id == id) || is_built_in(&id) {
                blockers.add("id", message::ALREADY_USED);
            } else {
                match parse(payload) {
                    Err(errors) => blockers = errors,
                    Ok(wanted) if before.is_some_and(|before| **before == wanted) => {
                        action = PlanAction::None;
                    }
                    Ok(wanted) => workflow::service::put(writer, catalog, &wanted, self.stamp)?,
                }
            }
            planned.push(WorkflowPlan { id, action, blockers });
        }
        Ok(planned)
    }

    /// Applies the changes of keys, and reports the effects on each.
    fn put_keys(&self, writer: &WriteTransaction<'_>) -> Result<Vec<KeyPlan>> {
        let mut planned: Vec<KeyPlan> = Vec::new();
        for payload in &self.wanted.keys {
            let name = payload.get("name").and_then(Value::as_str).unwrap_or_default();
            if planned.iter().any(|other| other.name == name) {
                planned.push(KeyPlan {
                    name: name.to_owned(),
                    action: PlanAction::None,
                    blockers: FieldErrors::one("name", message::ALREADY_USED),
                    key: None,
                });
            } else {
                planned.push(auth::service::put(writer, payload, &self.config, self.stamp)?);
            }
        }
        Ok(planned)
    }

    /// Blocks the update of a workflow if the new definition lacks the state of an object. Types that
    /// get another workflow by the same plan are not checked: their objects move to states of that
    /// workflow.
    fn check_states(
        &self,
        writer: &WriteTransaction<'_>,
        workflows: &mut [WorkflowPlan],
        updates: &[PendingUpdate],
    ) -> Result<()> {
        let updated = |planned: &&mut WorkflowPlan| planned.action == PlanAction::Update;
        let mut updated = workflows.iter_mut().filter(updated).peekable();
        // Return early: reading the catalog compiles all types that this plan changes.
        if updated.peek().is_none() {
            return Ok(());
        }
        let catalog = self.catalog_cache.within(writer)?;
        let changes_workflow = |pk| {
            updates.iter().any(|PendingUpdate { before, definition, .. }| {
                before.pk == pk && before.definition.workflow_id != definition.workflow_id
            })
        };
        for planned in updated {
            if let Some(before) = catalog.workflows.find(&planned.id) {
                let keeps_workflow = |pk| !changes_workflow(pk);
                let lost =
                    workflow::service::lost_states(writer, &catalog, before, keeps_workflow)?;
                planned.blockers.merge(lost);
            }
        }
        Ok(())
    }

    fn create(
        &self,
        writer: &WriteTransaction<'_>,
        catalog: &Catalog,
        name: &str,
        payload: &Map<String, Value>,
        rev: i64,
    ) -> Result<TypePlan> {
        let definition = match split_invalid(check(writer, catalog, payload, None))? {
            Ok(definition) => definition,
            Err(errors) => {
                return Ok(type_plan_without_changes(name, PlanAction::Create, errors));
            }
        };
        if !self.is_plan {
            change::create(writer, &self.config.ids.uuid(), &definition, rev, self.stamp)?;
        }
        let properties = definition.properties().into_iter().map(|property| {
            let kind = Some(property.kind());
            PropertyPlan::new(&property.name, PropertyChange::Add, None, kind)
        });
        Ok(TypePlan {
            properties: properties.collect(),
            ..type_plan_without_changes(name, PlanAction::Create, FieldErrors::default())
        })
    }

    fn delete(
        &self,
        writer: &WriteTransaction<'_>,
        content_type: &CompiledType,
    ) -> Result<TypePlan> {
        let mut blockers = FieldErrors::default();
        for reason in deletion_blockers(writer, content_type)? {
            blockers.add("ctd", reason);
        }
        if blockers.is_empty() && !self.is_plan {
            change::delete(writer, content_type, self.stamp)?;
        }
        Ok(TypePlan {
            breaking: true,
            ..type_plan_without_changes(content_type.name(), PlanAction::Delete, blockers)
        })
    }

    /// Rejects a plan that exceeds the configured limit of types.
    fn check_quota(&self, stored: &Catalog, types: &mut [TypePlan]) {
        let Some(max) = self.config.max_types else { return };
        let count = |action| {
            let of_action = |planned: &&TypePlan| planned.action == action;
            let valid = types.iter().filter(of_action).filter(|p| p.blockers.is_empty());
            valid.count() as u64
        };
        let (created, deleted) = (count(PlanAction::Create), count(PlanAction::Delete));
        let mut over = (stored.types().len() as u64 + created - deleted).saturating_sub(max);
        for planned in types.iter_mut().rev().filter(|p| p.action == PlanAction::Create) {
            if over > 0 {
                over -= 1;
                planned.blockers.add("name", Error::Forbidden.to_string());
            }
        }
    }

    /// Returns the token of a plan: a digest of the project and of the stored state that it is compared
    /// with.
    fn fingerprint(&self, writer: &WriteTransaction<'_>, catalog: &Catalog) -> Result<String> {
        let mut digest = Sha256::new();
        update_with(&mut digest, &self.wanted)?;
        digest.update(catalog.rev.to_le_bytes());
        for key in writer.keys()? {
            // Scoped keys block the deletion of types; other keys matter only when the project has
            // keys.
            if key.kind == KeyKind::Scoped || !self.wanted.keys.is_empty() {
                update_with(&mut digest, &(key.name, key.kind, key.rules))?;
            }
        }
        // Rules of users block the deletion of types, too.
        for user in writer.users()?.into_iter().filter(|user| !user.profile.rules.is_empty()) {
            update_with(&mut digest, &(user.profile.email, user.profile.rules))?;
        }
        for content_type in catalog.types() {
            digest.update(content_type.pk.to_le_bytes());
            digest.update(writer.type_state(content_type.pk)?.changes.to_le_bytes());
        }
        Ok(hex(&digest.finalize()[..16]))
    }
}

/// Adds a value as JSON to a digest.
fn update_with(digest: &mut Sha256, value: &impl Serialize) -> Result<()> {
    digest.update(serde_json::to_vec(value).map_err(Error::internal)?);
    Ok(())
}

/// What a project changes in the definition of an existing type.
enum DefinitionChange {
    To(Definition),
    /// Nothing, or the wanted definition is not valid: the complete plan of the type.
    None(TypePlan),
}

fn changed_definition(
    writer: &WriteTransaction<'_>,
    catalog: &Catalog,
    before: &Arc<CompiledType>,
    payload: &Map<String, Value>,
) -> Result<DefinitionChange> {
    let unchanged = |action, errors| {
        Ok(DefinitionChange::None(type_plan_without_changes(before.name(), action, errors)))
    };
    match check(writer, catalog, payload, Some(before)) {
        Err(Error::Invalid(errors)) => unchanged(PlanAction::Update, errors),
        Err(error) => Err(error),
        Ok(definition) if definition == before.definition => {
            unchanged(PlanAction::None, FieldErrors::default())
        }
        Ok(_) if require_changeable(before).is_err() => unchanged(
            PlanAction::Update,
            FieldErrors::one("name", "This content type cannot be changed"),
        ),
        Ok(definition) => Ok(DefinitionChange::To(definition)),
    }
}

/// The plan of an updated type.
fn type_plan(name: &str, update: TypeUpdate) -> TypePlan {
    let TypeUpdate { properties, blockers, breaking, .. } = update;
    TypePlan { name: name.to_owned(), action: PlanAction::Update, breaking, blockers, properties }
}

/// The plan of a type without changes to properties: an unchanged, invalid or deleted one.
fn type_plan_without_changes(name: &str, action: PlanAction, blockers: FieldErrors) -> TypePlan {
    TypePlan { name: name.to_owned(), action, breaking: false, blockers, properties: Vec::new() }
}

/// Returns the properties, as `type.property`, that lose values without consent.
fn lost_without_consent(plan: &ProjectPlan, consent: Option<&DataLossConsent>) -> Vec<String> {
    let agreed = |name: &String| match consent {
        None => false,
        Some(DataLossConsent::All(all)) => *all,
        Some(DataLossConsent::Only(names)) => names.contains(name),
    };
    plan.content_types
        .iter()
        .flat_map(|planned| {
            let losing = planned.properties.iter().filter(|property| property.lost > 0);
            losing.map(|property| format!("{}.{}", planned.name, property.name))
        })
        .filter(|name| !agreed(name))
        .collect()
}
