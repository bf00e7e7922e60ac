//! Where the parts of a project stand in its files.
//!
//! A part has the name of what it describes: `post`, `post.title`, `post.title.pattern`,
//! `workflows.editorial`. Paths of the API's answers lead to these names in [`Locations::find`].

use std::collections::BTreeMap;

use super::read::Node;

/// Parts by name, each with `file:line:column`.
#[derive(Debug, Default)]
pub(crate) struct Locations(BTreeMap<String, String>);

impl Locations {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(super) fn put(&mut self, name: &str, location: String) {
        self.0.insert(plain(name), location);
    }

    /// Notes everything inside a node.
    pub(super) fn put_members(&mut self, name: &str, node: &Node<'_>) {
        for (key, member) in node.members() {
            let name = format!("{name}.{key}");
            self.put(&name, member.key_location());
            self.put_members(&name, &member);
        }
    }

    /// Finds the part of a type that a path of the API leads to, or the nearest one around it.
    pub(crate) fn find(&self, content_type: &str, path: &str) -> Option<(String, &str)> {
        let mut name = plain(&format!("{content_type}.{path}"));
        loop {
            if let Some(location) = self.0.get(&name) {
                return Some((name, location));
            }
            name.truncate(name.rfind('.')?);
        }
    }
}

/// A name without the parts of the API's form that say nothing.
fn plain(path: &str) -> String {
    let path = path.replace('[', ".").replace(']', "");
    [".schemaDefinition.allOf.1.properties", ".metaDefinition.propertiesConfig"]
        .into_iter()
        .fold(path, |path, part| path.replace(part, ""))
        .replace(".items.propertiesConfig.", ".items.")
        .replace(".items.properties.", ".items.")
}
