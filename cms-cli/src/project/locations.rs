//! The locations of definitions in project files, by name: `post`, `post.title`,
//! `post.title.pattern`, `workflows.editorial`. [`Locations::find`] maps paths of API errors to
//! these names.

use std::collections::BTreeMap;

use super::node::YamlNode;
use crate::yaml::Location;

/// Locations by name.
#[derive(Debug, Default)]
pub(crate) struct Locations(BTreeMap<String, Location>);

impl Locations {
    pub(crate) fn get(&self, name: &str) -> Option<&Location> {
        self.0.get(name)
    }

    pub(super) fn put(&mut self, name: &str, location: Location) {
        self.0.insert(plain(name), location);
    }

    /// Adds all members of a node.
    pub(super) fn put_members(&mut self, name: &str, node: &YamlNode<'_>) {
        for (key, member) in node.members() {
            let name = format!("{name}.{key}");
            self.put(&name, member.key_location());
            self.put_members(&name, &member);
        }
    }

    /// Finds the definition of a path in an API error, or the nearest one around it.
    pub(crate) fn find(&self, content_type: &str, path: &str) -> Option<(String, &Location)> {
        let mut name = plain(&format!("{content_type}.{path}"));
        loop {
            if let Some(location) = self.0.get(&name) {
                return Some((name, location));
            }
            name.truncate(name.rfind('.')?);
        }
    }
}

/// The name without the structural parts of an API path.
fn plain(path: &str) -> String {
    let path = path.replace('[', ".").replace(']', "");
    [".schemaDefinition.allOf.1.properties", ".metaDefinition.propertiesConfig"]
        .into_iter()
        .fold(path, |path, part| path.replace(part, ""))
        .replace(".items.propertiesConfig.", ".items.")
        .replace(".items.properties.", ".items.")
}
