//! Conditions on links, as terms on table `link`.
//!
//! `link` has the links of the current and of the published version of an object, but neither the
//! version nor the property of a link. So it finds the objects that may match; where version or
//! property matters, the data of the object is checked (`links_to`).
//! Conditions name columns without an alias. So in a subquery inside the query of a list, the table of objects to which
//! the conditions belong has no alias, and the other tables of objects have one.

use std::collections::BTreeMap;

use cms_model::{
    object::{link, model::Edition},
    query::{
        ListQuery,
        filter::{Condition, Operator},
        linked::{LinkSources, LinkTargets, LinkedCondition, Links},
        path::{PathStep, PropertyPath},
    },
};
use rusqlite::types::Value as Sql;
use serde_json::Value;

use super::{Builder, ListedType, Statement, terms::AccessMethod};
use crate::object::table_of;

/// When the data of an object decides whether it has a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum DataCheck {
    Never,
    /// If the object is modified: its current and published version may have different links.
    IfModified,
    Always,
}

impl DataCheck {
    fn of(sources: &LinkSources) -> Self {
        if sources.is_partial {
            Self::Always
        } else if sources.content_type.definition.draft_public {
            Self::IfModified
        } else {
            Self::Never
        }
    }
}

/// Source types that one subquery covers. The key has the table, whether only approved objects count,
/// and the [`DataCheck`].
type SourceGroups<'s> = BTreeMap<(&'static str, bool, DataCheck), Vec<&'s LinkSources>>;

impl Builder<'_> {
    /// A term for a condition on the address of links, which is necessary, but not sufficient: it may select further
    /// objects. None if `link` cannot find the objects.
    pub(super) fn link_address_term(&mut self, condition: &Condition) -> Option<String> {
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

    /// A condition on linked objects.
    pub(super) fn linked_object_term(
        &mut self,
        condition: &LinkedCondition,
        edition: Edition,
    ) -> (String, AccessMethod) {
        let (sql, access_method) = match &condition.links {
            Links::Outgoing { path, targets } => self.outgoing(path, targets, edition),
            Links::Incoming { sources, address, .. } => {
                self.incoming(&groups(sources), address.as_ref(), edition)
            }
        };
        if condition.negated {
            (format!("NOT {sql}"), AccessMethod::IndexScan)
        } else {
            (sql, access_method)
        }
    }

    fn outgoing(
        &mut self,
        path: &PropertyPath,
        targets: &[LinkTargets],
        edition: Edition,
    ) -> (String, AccessMethod) {
        if targets.is_empty() {
            return none();
        }
        let (ctd, source) = (self.listed.ctd, table_of(edition));
        let paths = self.bind_json(&BTreeMap::from([(ctd, [path])]));
        let mut selects = Vec::new();
        for LinkTargets { content_type, query } in targets {
            let condition = self.condition_within(query, (&**content_type).into());
            let name = self.bind(Sql::Text(content_type.name().to_owned()));
            let target = table_of(query.edition);
            selects.push(format!(
                "SELECT source.pk FROM (SELECT id AS target FROM {target} WHERE {condition}) \
                 CROSS JOIN link ON link.target_type = {name} AND link.target_id = target \
                 CROSS JOIN {source} AS source ON source.pk = link.object \
                 WHERE source.ctd = {ctd} \
                 AND links_to({paths}, source.ctd, source.data, {name}, target)"
            ));
        }
        found(&selects)
    }

    /// The WHERE clause of a subquery for objects of another type.
    fn condition_within(&mut self, query: &ListQuery, listed: ListedType<'_>) -> String {
        let mut inner = Builder::new(listed);
        inner.parameters = std::mem::take(&mut self.parameters);
        let terms = inner.terms(query);
        let condition = inner.condition(&terms, false);
        self.parameters = inner.parameters;
        condition
    }

    fn incoming(
        &mut self,
        groups: &SourceGroups<'_>,
        address: Option<&Condition>,
        edition: Edition,
    ) -> (String, AccessMethod) {
        if groups.is_empty() {
            return none();
        }
        let (ctd, table) = (self.listed.ctd, table_of(edition));
        let name = self.bind(Sql::Text(self.listed.name.to_owned()));
        let mut selects = Vec::new();
        for ((source, only_approved, check), sources) in groups {
            let pks: Vec<i64> = sources.iter().map(|source| source.content_type.pk).collect();
            let equality = address.filter(|address| address.operator == Operator::Equals);
            let listed = if equality.is_some() { "listed" } else { table };
            let mut conditions = Vec::new();
            if *only_approved {
                conditions.push("source.workflow_state = 'public'".to_owned());
            }
            let paths: BTreeMap<_, _> =
                sources.iter().map(|source| (source.content_type.pk, &source.paths)).collect();
            let mut has_link = |listed: &str| {
                let paths = self.bind_json(&paths);
                format!("links_to({paths}, source.ctd, source.data, {name}, {listed}.id)")
            };
            match check {
                DataCheck::Never => {}
                DataCheck::Always => conditions.push(has_link(listed)),
                DataCheck::IfModified => conditions.push(format!(
                    "((SELECT status FROM object AS current WHERE current.pk = source.pk) \
                     <> 'modified' OR {})",
                    has_link(listed)
                )),
            }
            if let Some(equality) = equality {
                let ids = self.bind_json(&addressed(sources, &equality.values));
                conditions.push("source.pk <> listed.pk".to_owned());
                selects.push(format!(
                    "SELECT listed.pk FROM json_each({ids}) AS address \
                     CROSS JOIN {source} AS source ON source.ctd = address.value ->> 0 \
                     AND source.id = address.value ->> 1 \
                     CROSS JOIN link ON link.object = source.pk AND link.target_type = {name} \
                     CROSS JOIN {table} AS listed ON listed.ctd = {ctd} \
                     AND listed.id = link.target_id \
                     WHERE {}",
                    conditions.join(" AND ")
                ));
                continue;
            }
            if let Some(address) = address {
                let text = "'/api/v1/content/' || (SELECT ctd.name FROM ctd \
                            WHERE ctd.pk = source.ctd) || '/' || source.id";
                conditions.push(self.matches_text(address, text));
            }
            // The linking objects are read only if a condition needs them, or if only published ones count.
            let join = if conditions.is_empty() && *source == table_of(Edition::Current) {
                String::new()
            } else {
                format!("CROSS JOIN {source} AS source ON source.pk = link.object")
            };
            let pks = self.bind_json(&pks);
            conditions.insert(0, of_sources(&pks));
            selects.push(format!(
                "EXISTS (SELECT 1 FROM link {join} \
                 WHERE link.target_type = {name} AND link.target_id = {table}.id AND {})",
                conditions.join(" AND ")
            ));
        }
        if address.is_some_and(|address| address.operator == Operator::Equals) {
            return found(&selects);
        }
        (format!("({})", selects.join(" OR ")), AccessMethod::IndexScan)
    }
}

/// Limits links to those from other objects of these types.
fn of_sources(pks: &str) -> String {
    format!("link.source_ctd IN (SELECT value FROM json_each({pks}))")
}

/// Up to this many objects, one lookup per object is faster than a merge: the merge reads all links to
/// the type, and there may be many links to few objects, such as tags.
/// Tests have objects on both sides of the limit.
const MAX_LOOKUPS: u32 = if cfg!(any(test, feature = "testing")) { 3 } else { 2000 };

/// Counts objects with or without incoming links by merging the index of ids with `link`: several times
/// as fast as a lookup per object. None if the list has other conditions, or if only the data of an
/// object shows whether it has a link.
pub(super) fn count_of_linked(query: &ListQuery, listed: ListedType<'_>) -> Option<Statement> {
    let [condition] = query.linked.as_slice() else { return None };
    let Links::Incoming { sources, address: None, is_complete } = &condition.links else {
        return None;
    };
    let groups = groups(sources);
    let is_certain = |&(_, only_approved, check): &(&str, bool, DataCheck)| {
        !only_approved && check != DataCheck::Always
    };
    let has_others = !query.conditions.is_empty() || query.ids.is_some() || query.only_approved;
    if has_others || groups.is_empty() || !groups.keys().all(is_certain) {
        return None;
    }
    let pks_of = |is_wanted: fn(&str, DataCheck) -> bool| -> Vec<i64> {
        let groups = groups.iter().filter(|((table, _, check), _)| is_wanted(table, *check));
        groups.flat_map(|(_, sources)| sources.iter().map(|it| it.content_type.pk)).collect()
    };
    let mut builder = Builder::new(listed);
    let name = builder.bind(Sql::Text(listed.name.to_owned()));
    let (ctd, table) = (listed.ctd, table_of(query.edition));
    let published = pks_of(|table, _| table == table_of(Edition::Published));
    let counted = if published.is_empty() && *is_complete {
        "link.source_ctd IS NOT NULL".to_owned()
    } else {
        let current = pks_of(|table, _| table == table_of(Edition::Current));
        let mut counted = of_sources(&builder.bind_json(&current));
        if !published.is_empty() {
            let published = builder.bind_json(&published);
            let of_published = of_sources(&published);
            counted = format!(
                "({counted} OR {of_published} AND link.object IN (SELECT pk FROM published \
                 INDEXED BY published_created WHERE ctd IN (SELECT value FROM json_each({published}))))"
            );
        }
        counted
    };
    let (operator, sign) = if condition.negated { ("EXCEPT", "+") } else { ("INTERSECT", "-") };
    let merged = format!(
        "SELECT count(*) FROM (SELECT id FROM {table} INDEXED BY {table}_id WHERE ctd = {ctd} \
         {operator} SELECT target_id FROM link WHERE target_type = {name} AND {counted} \
         ORDER BY 1)"
    );
    // `link` has the links of the current and of the published version of a modified object: a row
    // may belong to the version that the list does not show.
    let modified = pks_of(|_, check| check == DataCheck::IfModified);
    let (linked, _) = builder.incoming(&groups, None, query.edition);
    let correction = if modified.is_empty() {
        String::new()
    } else {
        let modified = builder.bind_json(&modified);
        format!(
            "{sign} (SELECT count(*) FROM (SELECT DISTINCT link.target_id AS target \
             FROM object AS origin CROSS JOIN link \
             ON link.object = origin.pk AND link.target_type = {name} \
             WHERE origin.ctd IN (SELECT value FROM json_each({modified})) \
             AND origin.status = 'modified' \
             AND (origin.ctd <> {ctd} OR origin.id <> link.target_id)) CROSS JOIN {table} \
             ON {table}.ctd = {ctd} AND {table}.id = target WHERE NOT {linked})"
        )
    };
    let not = if condition.negated { "NOT" } else { "" };
    let listed = format!("FROM {table} INDEXED BY {table}_id WHERE ctd = {ctd}");
    let sql = format!(
        "SELECT CASE WHEN (SELECT count(*) FROM (SELECT 1 {listed} LIMIT {MAX_LOOKUPS} + 1)) \
         <= {MAX_LOOKUPS} THEN (SELECT count(*) {listed} AND {not} {linked}) \
         ELSE ({merged}) {correction} END"
    );
    Some(Statement { sql, parameters: builder.parameters })
}

/// A condition that no object meets.
fn none() -> (String, AccessMethod) {
    ("FALSE".to_owned(), AccessMethod::IndexScan)
}

/// The objects whose primary keys the statements select.
fn found(selects: &[String]) -> (String, AccessMethod) {
    (format!("(pk IN ({}))", selects.join(" UNION ALL ")), AccessMethod::PrimaryKeys)
}

fn groups(sources: &[LinkSources]) -> SourceGroups<'_> {
    let mut groups = SourceGroups::new();
    for source in sources {
        let key = (table_of(source.view.edition), source.view.only_approved, DataCheck::of(source));
        groups.entry(key).or_default().push(source);
    }
    groups
}

/// Primary key of the type and id of the objects at these addresses.
fn addressed(sources: &[&LinkSources], values: &[Value]) -> Vec<(i64, String)> {
    let targets = values.iter().filter_map(|value| link::parse(value.as_str()?));
    let known = |name: &str| sources.iter().find(|source| source.content_type.name() == name);
    targets
        .filter_map(|target| {
            Some((known(target.content_type)?.content_type.pk, target.id.into_owned()))
        })
        .collect()
}
