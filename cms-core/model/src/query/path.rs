//! Property paths: `title`, `internal.createdAt`, `geo.lat`, `categories[*].dataUrl`,
//! `list[0].name`, `id`, `*`, see docs/reference/filters.md#property-paths
//!
//! Parsing never fails: the value at an unknown path is missing.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content_type::model::{InputType, Property};

/// The members of the elements of `internal.incoming`.
const INCOMING_MEMBERS: [&str; 3] = ["contentType", "property", "dataUrl"];

/// A path: its root, and the steps from there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PropertyPath {
    pub root: PathRoot,
    pub steps: Vec<PathStep>,
}

/// The first segment of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathRoot {
    Id,
    Internal(InternalField),
    /// `internal.incoming`: the links of other objects to the object, which are not part of it.
    Incoming,
    /// A declared top-level property.
    Property(String),
    /// `*`: any top-level property except these.
    Any {
        except: Vec<String>,
    },
    /// An unknown path: its value is always missing.
    Unknown,
}

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathStep {
    Key(String),
    Index(usize),
    /// `[*]`: every element.
    Each,
}

crate::named_enum! {
    /// A field of `internal`; only the last two may be missing.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum InternalField {
        ContentType => "contentType",
        CreatedAt => "createdAt",
        UpdatedAt => "updatedAt",
        DeletedAt => "deletedAt",
        WorkflowState => "workflowState",
        ObjectTitle => "objectTitle",
        LatestVersion => "latestVersion",
        WorkflowPublicVersion => "workflowPublicVersion",
        WorkflowPublishedAt => "workflowPublishedAt",
        Status => "status",
        PublicVersion => "publicVersion",
        PublishedAt => "publishedAt",
        ScheduledAt => "scheduledAt",
        ScheduledAtTimeZone => "scheduledAtTimeZone",
    }
}

impl InternalField {
    /// Parses a name, including the deprecated form with underscores.
    pub fn from_parameter(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| {
            let letters = |text: &str| text.replace('_', "").to_ascii_lowercase();
            field.as_str() == name
                || (name.contains('_')
                    && !name.contains(|c: char| c.is_ascii_uppercase())
                    && letters(field.as_str()) == letters(name))
        })
    }

    pub fn is_date(self) -> bool {
        self.as_str().ends_with("At")
    }
}

impl PropertyPath {
    /// Parses a path of a request; paths to undeclared properties are [`PathRoot::Unknown`].
    pub fn parse(text: &str, properties: &[Property]) -> Self {
        let steps = split(text.strip_prefix("$.").unwrap_or(text));
        steps.map_or_else(Self::unknown, |steps| Self::from_steps(steps, properties))
    }

    /// Resolves the first steps of a path.
    pub fn from_steps(steps: Vec<PathStep>, properties: &[Property]) -> Self {
        if matches!(steps.as_slice(), [PathStep::Key(name)] if name == "*") {
            return PathRoot::Any { except: Vec::new() }.into();
        }
        let mut steps = steps.into_iter();
        let Some(PathStep::Key(first)) = steps.next() else { return Self::unknown() };
        let root = if properties.iter().any(|property| property.name == first) {
            PathRoot::Property(first)
        } else {
            match first.as_str() {
                "id" => PathRoot::Id,
                "workflow_state" => PathRoot::Internal(InternalField::WorkflowState),
                "internal" => match steps.next() {
                    Some(PathStep::Key(name)) if name == "incoming" => PathRoot::Incoming,
                    Some(PathStep::Key(name)) => InternalField::from_parameter(&name)
                        .map_or(PathRoot::Unknown, PathRoot::Internal),
                    _ => PathRoot::Unknown,
                },
                _ => PathRoot::Unknown,
            }
        };
        Self { root, steps: steps.collect() }
    }

    /// Returns whether the type declares the path, parsed from `text`. The first segment must be a
    /// property, `id`, `internal` or `*`. Each further segment must be a declared member if its parent
    /// declares members; otherwise any segment is accepted.
    pub fn is_declared(&self, text: &str, properties: &[Property]) -> bool {
        match &self.root {
            PathRoot::Id | PathRoot::Any { .. } | PathRoot::Internal(_) => true,
            PathRoot::Incoming => self.steps.iter().all(|step| match step {
                PathStep::Key(name) => INCOMING_MEMBERS.contains(&name.as_str()),
                PathStep::Index(_) => false,
                PathStep::Each => true,
            }),
            PathRoot::Unknown => text.strip_prefix("$.").unwrap_or(text) == "internal",
            PathRoot::Property(name) => {
                let mut found = named(properties, name);
                for name in self.names() {
                    let Some(property) = found else { return true };
                    let inner = named(&property.nested, name);
                    let fixed = property.input_type.fixed_members();
                    let declares = !fixed.is_empty() || !property.nested.is_empty();
                    if declares && inner.is_none() && !fixed.contains(&name) {
                        return false;
                    }
                    found = inner;
                }
                true
            }
        }
    }

    /// Returns the relation that the path leads to or through, and the number of steps up to its
    /// links.
    pub fn relation<'p>(&self, properties: &'p [Property]) -> Option<(&'p Property, usize)> {
        let PathRoot::Property(name) = &self.root else { return None };
        let mut found = named(properties, name)?;
        for (index, step) in self.steps.iter().enumerate() {
            let PathStep::Key(name) = step else { continue };
            if found.relation.is_some() {
                return Some((found, index));
            }
            found = named(&found.nested, name)?;
        }
        found.relation.is_some().then_some((found, self.steps.len()))
    }

    /// An unknown path.
    pub fn unknown() -> Self {
        PathRoot::Unknown.into()
    }

    /// The names among the steps.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match step {
            PathStep::Key(name) => Some(name.as_str()),
            PathStep::Index(_) | PathStep::Each => None,
        })
    }

    /// Returns whether the path contains `[*]`.
    pub fn has_wildcard(&self) -> bool {
        self.steps.contains(&PathStep::Each)
    }

    /// Returns whether the path ends at the address of links: `categories[*].dataUrl`.
    pub fn is_link_address(&self) -> bool {
        matches!(self.steps.last(), Some(PathStep::Key(name)) if name == "dataUrl")
    }

    /// Returns whether values at the path are compared as dates.
    pub fn is_date<'p>(&self, properties: &'p [Property]) -> bool {
        match &self.root {
            PathRoot::Internal(field) => self.steps.is_empty() && field.is_date(),
            PathRoot::Property(name) => {
                let inner = |found: &'p Property, name| named(&found.nested, name);
                let found = named(properties, name);
                let found = found.and_then(|found| self.names().try_fold(found, inner));
                found.is_some_and(|property| property.input_type == InputType::DateTime)
            }
            PathRoot::Id | PathRoot::Any { .. } | PathRoot::Unknown | PathRoot::Incoming => false,
        }
    }

    /// Returns the values at the path, given the value at its root; missing values are omitted.
    pub fn resolve<'v>(&self, root: Option<&'v Value>) -> Vec<&'v Value> {
        let mut found: Vec<&Value> = root.into_iter().collect();
        for step in &self.steps {
            found = match step {
                PathStep::Key(name) => {
                    found.into_iter().filter_map(|value| value.get(name)).collect()
                }
                PathStep::Index(index) => {
                    found.into_iter().filter_map(|value| value.get(index)).collect()
                }
                PathStep::Each => found.into_iter().filter_map(Value::as_array).flatten().collect(),
            };
        }
        found
    }
}

/// The complete value at a root.
impl From<PathRoot> for PropertyPath {
    fn from(root: PathRoot) -> Self {
        Self { root, steps: Vec::new() }
    }
}

fn named<'p>(properties: &'p [Property], name: &str) -> Option<&'p Property> {
    properties.iter().find(|property| property.name == name)
}

/// Returns the names in `list[*].sub[0]`, without the brackets; none when the syntax is invalid.
pub(crate) fn names(text: &str) -> Option<Vec<String>> {
    let path = PropertyPath { root: PathRoot::Unknown, steps: split(text)? };
    Some(path.names().map(str::to_owned).collect())
}

/// Splits `list[*].sub[0]` into steps; none when the syntax is invalid.
fn split(text: &str) -> Option<Vec<PathStep>> {
    let mut steps = Vec::new();
    for part in text.split('.') {
        let (name, mut brackets) = part.split_at(part.find('[').unwrap_or(part.len()));
        if name.is_empty() {
            return None;
        }
        steps.push(PathStep::Key(name.to_owned()));
        while !brackets.is_empty() {
            let (inside, rest) = brackets.strip_prefix('[')?.split_once(']')?;
            steps.push(match inside {
                "*" => PathStep::Each,
                digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                    PathStep::Index(digits.parse().ok()?)
                }
                _ => return None,
            });
            brackets = rest;
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::content_type::model::SchemaType;

    fn property(name: &str) -> Property {
        Property::plain(name, SchemaType::String, InputType::Text)
    }

    #[test]
    fn paths_have_the_documented_roots() {
        use InternalField::{CreatedAt, ObjectTitle, WorkflowPublishedAt, WorkflowState};
        let title = || PathRoot::Property("title".to_owned());
        let table = [
            ("title", title()),
            ("$.title", title()),
            ("title[0].x", title()),
            ("id", PathRoot::Id),
            ("*", PathRoot::Any { except: Vec::new() }),
            ("$.*", PathRoot::Any { except: Vec::new() }),
            ("internal.createdAt", PathRoot::Internal(CreatedAt)),
            ("internal.created_at", PathRoot::Internal(CreatedAt)),
            ("internal.object_title", PathRoot::Internal(ObjectTitle)),
            ("internal.workflow_published_at", PathRoot::Internal(WorkflowPublishedAt)),
            ("internal.workflow_state", PathRoot::Internal(WorkflowState)),
            ("workflow_state", PathRoot::Internal(WorkflowState)),
            ("internal.createdat", PathRoot::Unknown),
            ("internal.Created_At", PathRoot::Unknown),
            ("internal.incoming", PathRoot::Incoming),
            ("internal.incoming[*].contentType", PathRoot::Incoming),
            ("internal", PathRoot::Unknown),
            ("internal[0]", PathRoot::Unknown),
            ("Title", PathRoot::Unknown),
            ("other", PathRoot::Unknown),
            ("created_at", PathRoot::Unknown),
            ("", PathRoot::Unknown),
            ("$", PathRoot::Unknown),
            ("$.", PathRoot::Unknown),
            (".title", PathRoot::Unknown),
            ("title.", PathRoot::Unknown),
            ("title..x", PathRoot::Unknown),
            ("[0]", PathRoot::Unknown),
            ("title[", PathRoot::Unknown),
            ("title[]x", PathRoot::Unknown),
            ("title[-1]", PathRoot::Unknown),
            ("title[0]x", PathRoot::Unknown),
            ("title[99999999999999999999]", PathRoot::Unknown),
            ("title' OR 1=1 --", PathRoot::Unknown),
        ];
        for (text, root) in table {
            assert_eq!(PropertyPath::parse(text, &[property("title")]).root, root, "{text}");
        }
        let own = PropertyPath::parse("workflow_state", &[property("workflow_state")]);
        assert_eq!(own.root, PathRoot::Property("workflow_state".to_owned()));
    }

    #[test]
    fn paths_are_declared_where_the_type_declares_members() {
        let plain = Property::plain;
        let parts = Property {
            nested: vec![property("name"), plain("place", SchemaType::Object, InputType::Geo)],
            ..plain("parts", SchemaType::Array, InputType::Object)
        };
        let properties = [
            property("title"),
            plain("place", SchemaType::Object, InputType::Geo),
            plain("links", SchemaType::Array, InputType::Datasource),
            plain("free", SchemaType::Object, InputType::Custom),
            parts,
        ];
        let declared = [
            "title",
            "$.title",
            "id",
            "*",
            "$.*",
            "internal",
            "internal.createdAt",
            "internal.created_at",
            "internal.incoming",
            "internal.incoming[*].dataUrl",
            "workflow_state",
            "title[0]",
            "title.anything",
            "place.lat",
            "place.lon",
            "links[*].dataUrl",
            "links[0].type",
            "free",
            "free.anything.below",
            "parts[*].name",
            "parts[0].place.lat",
            "parts.name",
            "parts[*].name.anything",
        ];
        let unknown = [
            "",
            "titel",
            "$.titel",
            "$",
            "Title",
            "title.",
            "[0]",
            "other.lat",
            "internal.nope",
            "internal.incoming[*].id",
            "place.latitude",
            "links[*].title",
            "links[*].data",
            "parts[*].title",
            "parts[*].place.x",
            "ids",
        ];
        for (paths, wanted) in [(&declared[..], true), (&unknown[..], false)] {
            for text in paths {
                let path = PropertyPath::parse(text, &properties);
                assert_eq!(path.is_declared(text, &properties), wanted, "{text}");
            }
        }
    }

    #[test]
    fn paths_resolve_to_values() {
        let value = json!([{"a": {"b": 1}, "c": [{"d": 2}, {"d": 3}]}, {"c": [{"d": 4}]}, 5]);
        let table = [
            ("t", json!([value])),
            ("t[0].a.b", json!([1])),
            ("t[1].a.b", json!([])),
            ("t[*].a.b", json!([1])),
            ("t[*].c[*].d", json!([2, 3, 4])),
            ("t[*].c[0].d", json!([2, 4])),
            ("t[0].c", json!([[{"d": 2}, {"d": 3}]])),
            ("t[2]", json!([5])),
            ("t[2].x", json!([])),
            ("t[2][*]", json!([])),
            ("t.c", json!([])),
        ];
        for (text, expected) in table {
            let path = PropertyPath::parse(text, &[property("t")]);
            assert_eq!(json!(path.resolve(Some(&value))), expected, "{text}");
            assert!(path.resolve(None).is_empty(), "{text}");
        }
    }
}
