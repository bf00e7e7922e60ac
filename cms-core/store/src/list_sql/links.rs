//! Conditions on links, as terms on table `link`.
//!
//! `link` has the links of the current and of the published version, without their property. It
//! finds the objects; their data decides.

use cms_model::{
    object::link,
    query::{
        filter::{Condition, Operator},
        path::PathStep,
    },
};

use super::Builder;

impl Builder<'_> {
    /// A term that contains all objects that meet a condition on the address of links; none when
    /// `link` cannot find them.
    pub(super) fn linking(&mut self, condition: &Condition) -> Option<String> {
        let (_, steps) = condition.path.relation(self.listed.properties)?;
        match &condition.path.steps[steps..] {
            [] => {}
            [PathStep::Key(name)] if name == "dataUrl" => {}
            _ => return None,
        }
        let values = match condition.operator {
            Operator::Equals | Operator::Overlaps => condition.values.as_slice(),
            Operator::Includes => condition.values.get(..1)?,
            _ => return None,
        };
        let targets: Option<Vec<_>> =
            values.iter().map(|value| link::parse(value.as_str()?)).collect();
        let targets: Vec<_> =
            targets?.into_iter().map(|target| (target.content_type, target.id)).collect();
        let targets = self.bind_json(&targets);
        // The cross join makes SQLite look up each target.
        Some(format!(
            "pk IN (SELECT link.object FROM json_each({targets}) AS target CROSS JOIN link \
             ON target_type = target.value ->> 0 AND target_id = target.value ->> 1)"
        ))
    }
}
