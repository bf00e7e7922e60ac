//! Plans and applies changes of several types (see docs/reference/content-types.md#plan-and-apply).
//!
//! Both run the same code in a write transaction: a plan is rolled back, an apply is committed
//! unless it is blocked. So an apply does exactly what its plan reports.

use std::{collections::HashSet, sync::Arc};

use cms_model::{
    content_type::{
        builtin,
        catalog::{Catalog, CompiledType},
    },
    context::{Caller, Stamp},
    error::{Error, FieldErrors, Result},
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
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{
    change,
    service::{Types, check, deletion_blockers, require_changeable},
};
use crate::{
    CoreConfig, auth, content_type::catalog_cache::CatalogCache, progress::Progress, workflow,
};

impl Types<'_> {
    /// Returns the plan of a project.
    pub fn plan(&self, caller: &Caller, request: &PlanRequest) -> Result<ProjectPlan> {
        require_rights(caller, request)?;
        let run = Run::new(self, caller, request);
        let mut plan = self.cms.store.dry_run(move |writer| run.carry_out(writer))?;
        for planned in &mut plan.keys {
            // The key was rolled back, so its secret must not be returned.
            planned.key = None;
        }
        Ok(plan)
    }

    /// Applies a project, all or nothing; returns the applied plan.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a stale token, [`Error::Blocked`] when the plan has blockers,
    /// [`Error::DataLoss`] when values would be lost without consent.
    pub fn apply(&self, caller: &Caller, request: &ApplyRequest) -> Result<ProjectPlan> {
        self.cms.config.require_type_change(caller)?;
        require_rights(caller, &request.wanted)?;
        let run = Run::new(self, caller, &request.wanted);
        let (token, consent) = (request.token.clone(), request.allow_data_loss.clone());
        self.cms.store.write(move |writer| {
            if let Some(token) = token {
                // Checked early, before work that may be long and in vain.
                let catalog = run.catalog_cache.within(writer)?;
                if token != run.fingerprint(writer, &catalog)? {
                    return Err(Error::Conflict("The plan is stale".to_owned()));
                }
            }
            let plan = run.carry_out(writer)?;
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

/// Content types require a key that may administer them, keys an admin key.
fn require_rights(caller: &Caller, wanted: &PlanRequest) -> Result<()> {
    caller.require_type_admin()?;
    if wanted.keys.is_empty() { Ok(()) } else { caller.require_admin() }
}

/// One plan or apply over the types.
struct Run {
    wanted: PlanRequest,
    catalog_cache: Arc<CatalogCache>,
    config: CoreConfig,
    stamp: Stamp,
    rewriting: Arc<Progress>,
}

impl Run {
    fn new(types: &Types<'_>, caller: &Caller, wanted: &PlanRequest) -> Self {
        let config = types.cms.config.clone();
        Self {
            wanted: wanted.clone(),
            catalog_cache: Arc::clone(&types.cms.catalog),
            stamp: caller.stamp(config.clock.now()),
            config,
            rewriting: Arc::clone(&types.cms.rewriting),
        }
    }

    /// Applies the changes of types, and reports the effects on each.
    fn carry_out(&self, writer: &WriteTransaction<'_>) -> Result<ProjectPlan> {
        let catalog = self.catalog_cache.within(writer)?;
        let token = self.fingerprint(writer, &catalog)?;
        let mut workflows = self.define_workflows(writer, &catalog)?;
        // Keys come before the types: a key with a rule for a type blocks its deletion.
        let keys = self.put_keys(writer)?;
        let catalog = self.catalog_cache.within(writer)?;
        let rev = catalog.rev + 1;
        let mut types = Vec::new();
        let mut rewritten = 0;
        let mut named = HashSet::new();
        for payload in &self.wanted.content_types {
            let name = payload.get("name").and_then(Value::as_str).unwrap_or_default();
            if !named.insert(name) {
                types.push(type_plan_without_changes(
                    name,
                    PlanAction::None,
                    FieldErrors::one("name", message::ALREADY_USED),
                ));
                continue;
            }
            match catalog.find(name) {
                Some(before) => {
                    let (planned, objects) = self.change(writer, &catalog, before, payload, rev)?;
                    rewritten += objects;
                    types.push(planned);
                }
                None => types.push(self.create(writer, &catalog, name, payload, rev)?),
            }
        }
        if self.wanted.prune {
            for known in catalog.types() {
                if !named.contains(known.name()) && !builtin::is_builtin(known.name()) {
                    types.push(self.delete(writer, known)?);
                }
            }
        }
        self.check_quota(writer, &mut types)?;
        if types.iter().any(|planned| planned.action != PlanAction::None) {
            writer.bump_schema()?;
        }
        self.check_states(writer, &mut workflows)?;
        let count = |action| types.iter().filter(|planned| planned.action == action).count() as u64;
        let properties = types.iter().flat_map(|planned| &planned.properties);
        let summary = PlanSummary {
            create: count(PlanAction::Create),
            update: count(PlanAction::Update),
            delete: count(PlanAction::Delete),
            objects_rewritten: rewritten,
            values_lost: properties.map(|property| property.lost).sum(),
            blockers: 0,
        };
        let mut plan = ProjectPlan { token, summary, workflows, content_types: types, keys };
        plan.summary.blockers = plan.blockers().count() as u64;
        Ok(plan)
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
            let known = catalog.workflows.find(&id);
            let mut action = if known.is_some() { PlanAction::Update } else { PlanAction::Create };
            let mut blockers = FieldErrors::default();
            if planned.iter().any(|other| other.id == id) || is_built_in(&id) {
                blockers.add("id", message::ALREADY_USED);
            } else {
                match parse(payload) {
                    Err(errors) => blockers = errors,
                    Ok(wanted) if known.is_some_and(|known| **known == wanted) => {
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

    /// Rejects workflows that lack a state of an existing object after all changes.
    fn check_states(
        &self,
        writer: &WriteTransaction<'_>,
        workflows: &mut [WorkflowPlan],
    ) -> Result<()> {
        let updated = |planned: &&mut WorkflowPlan| planned.action == PlanAction::Update;
        let mut updated = workflows.iter_mut().filter(updated).peekable();
        // Reading the types again would compile all changed ones.
        if updated.peek().is_none() {
            return Ok(());
        }
        let catalog = self.catalog_cache.within(writer)?;
        for planned in updated {
            if let Some(known) = catalog.workflows.find(&planned.id) {
                planned.blockers.merge(workflow::service::lost_states(writer, &catalog, known)?);
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
        let definition = match check(writer, catalog, payload, None) {
            Ok(definition) => definition,
            Err(Error::Invalid(errors)) => {
                return Ok(type_plan_without_changes(name, PlanAction::Create, errors));
            }
            Err(error) => return Err(error),
        };
        change::create(writer, &self.config.ids.uuid(), &definition, rev, self.stamp)?;
        let properties = definition.properties().into_iter().map(|property| {
            let kind = Some(property.kind());
            PropertyPlan::new(&property.name, PropertyChange::Add, None, kind)
        });
        Ok(TypePlan {
            name: name.to_owned(),
            action: PlanAction::Create,
            breaking: false,
            blockers: FieldErrors::default(),
            properties: properties.collect(),
        })
    }

    /// Returns the effects on a type, and the number of rewritten objects.
    fn change(
        &self,
        writer: &WriteTransaction<'_>,
        catalog: &Catalog,
        before: &Arc<CompiledType>,
        payload: &Map<String, Value>,
        rev: i64,
    ) -> Result<(TypePlan, u64)> {
        let name = before.name();
        let definition = match check(writer, catalog, payload, Some(before)) {
            Ok(definition) => definition,
            Err(Error::Invalid(errors)) => {
                return Ok((type_plan_without_changes(name, PlanAction::Update, errors), 0));
            }
            Err(error) => return Err(error),
        };
        if definition == before.definition {
            return Ok((
                type_plan_without_changes(name, PlanAction::None, FieldErrors::default()),
                0,
            ));
        }
        if require_changeable(before).is_err() {
            let errors = FieldErrors::one("name", "This content type cannot be changed");
            return Ok((type_plan_without_changes(name, PlanAction::Update, errors), 0));
        }
        let outcome = change::update(
            writer,
            catalog,
            before,
            &definition,
            (rev, self.stamp),
            &self.rewriting,
        )?;
        let planned = TypePlan {
            name: name.to_owned(),
            action: PlanAction::Update,
            breaking: outcome.breaking,
            blockers: outcome.blockers,
            properties: outcome.properties,
        };
        Ok((planned, outcome.objects_rewritten))
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
        if blockers.is_empty() {
            change::delete(writer, content_type, self.stamp)?;
        }
        Ok(TypePlan {
            breaking: true,
            ..type_plan_without_changes(content_type.name(), PlanAction::Delete, blockers)
        })
    }

    /// Rejects a plan that exceeds the configured limit of types.
    fn check_quota(&self, writer: &WriteTransaction<'_>, types: &mut [TypePlan]) -> Result<()> {
        let Some(max) = self.config.max_types else { return Ok(()) };
        let mut over = (writer.ctd_revisions()?.len() as u64).saturating_sub(max);
        for planned in types.iter_mut().rev().filter(|p| p.action == PlanAction::Create) {
            if over > 0 {
                over -= 1;
                planned.blockers.add("name", Error::Forbidden.to_string());
            }
        }
        Ok(())
    }

    /// Returns the digest of the project and of all stored definitions that it is compared with: the
    /// token of the plan.
    fn fingerprint(&self, writer: &WriteTransaction<'_>, catalog: &Catalog) -> Result<String> {
        let mut digest = Sha256::new();
        let wanted =
            serde_json::to_vec(&self.wanted).map_err(|error| Error::Internal(Box::new(error)))?;
        digest.update(&wanted);
        digest.update(catalog.rev.to_le_bytes());
        for key in writer.keys()? {
            // Scoped keys block the deletion of types; other keys matter only when the project has
            // keys.
            if key.kind == KeyKind::Scoped || !self.wanted.keys.is_empty() {
                let fact = serde_json::to_vec(&(key.name, key.kind, key.rules))
                    .map_err(|error| Error::Internal(Box::new(error)))?;
                digest.update(&fact);
            }
        }
        for known in catalog.types() {
            digest.update(known.pk.to_le_bytes());
            digest.update(writer.type_state(known.pk)?.changes.to_le_bytes());
        }
        let digest: [u8; 32] = digest.finalize().into();
        let [first, _] = digest.as_chunks::<16>().0 else {
            unreachable!("32 bytes are two chunks")
        };
        Ok(format!("{:032x}", u128::from_be_bytes(*first)))
    }
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
