//! Project files: the content types, workflows and keys that a space should have.
//!
//! [`load`] reads files and folders and reports every mistake in them with its place. [`expand`]
//! turns the short form of a type into the API's form, [`shorten`] the other way round; [`workflow`]
//! does both for workflows; [`read`] walks documents, [`places`] remembers where parts stand. What is done with a project is in `commands::apply`.

mod expand;
mod places;
mod read;
mod shorten;
#[cfg(test)]
mod tests;
mod workflow;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use cms_core::wire::{
    content_type::ContentType,
    key::{KeyKind, NewKey, Rule},
    workflow::Workflow,
};
use serde_json::{Map, Value, json};

use self::{
    expand::{Expander, Reference},
    read::{Faults, Node, Source},
};
pub(crate) use self::{
    places::Places,
    read::{did_you_mean, nearest},
    workflow::{DEFAULT as DEFAULT_WORKFLOW, is_built_in},
};
use crate::{
    failure::{Failure, Fault, Kind, Result},
    yaml,
};

/// JSON Schema of a project file.
pub(crate) const SCHEMA: &str = include_str!("schema.json");

const PROJECT_KEYS: [&str; 4] = ["version", "contentTypes", "workflows", "keys"];
const KEY_KEYS: [&str; 3] = ["name", "kind", "rules"];

/// What project files ask for.
#[derive(Debug, Default)]
pub(crate) struct Project {
    /// Payloads as the API takes them.
    pub(crate) types: Vec<Map<String, Value>>,
    pub(crate) workflows: Vec<Map<String, Value>>,
    /// Payloads of keys.
    pub(crate) keys: Vec<Map<String, Value>>,
    pub(crate) places: Places,
}

/// What a target has already, and files may refer to.
#[derive(Default)]
pub(crate) struct Present {
    /// Names of types.
    pub(crate) types: Vec<String>,
    /// Ids of workflows.
    pub(crate) workflows: Vec<String>,
}

/// Reads project files, folders of them, and `-`.
pub(crate) fn load(paths: &[PathBuf], present: &Present) -> Result<Project> {
    let mut loader = Loader::default();
    for path in paths {
        loader.path(path)?;
    }
    loader.check_references(present);
    loader.finish()
}

/// Reads a file, or `-`, that describes one workflow.
pub(crate) fn load_workflow(path: &Path) -> Result<Map<String, Value>> {
    let mut loader = Loader::default();
    let (name, text) = read_text(path)?;
    let source = loader.parse(&name, &text);
    let definition = source.map(|source| workflow::expand(&source.root(), loader.faults()));
    loader.finish()?;
    Ok(definition.unwrap_or_default())
}

/// Writes content types, and the workflows of the operator among others, as a project file.
pub(crate) fn print(types: &[ContentType], workflows: &[Workflow]) -> String {
    let types: Vec<Value> = types.iter().map(shorten::content_type).collect();
    let mut project = json!({ "version": 1, "contentTypes": types });
    let own = own(workflows);
    if !own.is_empty() {
        project["workflows"] = Value::Array(own);
    }
    yaml::print(&project)
}

/// Writes the workflows of the operator among others as a project file, if there are any.
pub(crate) fn print_workflows(workflows: &[Workflow]) -> Option<String> {
    let own = own(workflows);
    (!own.is_empty()).then(|| yaml::print(&json!({ "version": 1, "workflows": own })))
}

fn own(workflows: &[Workflow]) -> Vec<Value> {
    let own = workflows.iter().filter(|known| !is_built_in(&known.id));
    own.map(workflow::shorten).collect()
}

/// Reads the letters of create, read, update and delete into a rule.
pub(crate) fn rule(content_type: &str, letters: &str) -> std::result::Result<Rule, String> {
    let mut rule = Rule { content_type: content_type.to_owned(), ..Rule::default() };
    if letters.is_empty() {
        return Err(format!("no rights on \"{content_type}\": letters of crud are expected"));
    }
    for letter in letters.chars() {
        match letter {
            'c' => rule.create = true,
            'r' => rule.read = true,
            'u' => rule.update = true,
            'd' => rule.delete = true,
            other => {
                return Err(format!(
                    "\"{other}\" in \"{letters}\" is no right: letters of crud are expected"
                ));
            }
        }
    }
    Ok(rule)
}

/// Reads the name of a key kind as the command line spells it.
fn key_kind(text: &str) -> Option<KeyKind> {
    KeyKind::parse(&text.replace('-', "_"))
}

#[derive(Default)]
struct Loader {
    project: Project,
    expander: Expander,
}

impl Loader {
    fn path(&mut self, path: &Path) -> Result<()> {
        if path.is_dir() {
            for file in project_files(path)? {
                self.file(&file)?;
            }
            return Ok(());
        }
        self.file(path)
    }

    fn file(&mut self, path: &Path) -> Result<()> {
        let (name, text) = read_text(path)?;
        self.text(&name, &text, path.parent());
        Ok(())
    }

    /// One document: a project, one type, or a list of types. `folder` is where `file:` starts.
    fn text(&mut self, name: &str, text: &str, folder: Option<&Path>) {
        let Some(source) = self.parse(name, text) else { return };
        let root = source.root();
        if root.value.is_array() {
            for node in root.items() {
                self.content_type(&node, folder);
            }
        } else if root.get("name").is_some() {
            self.content_type(&root, folder);
        } else if root.value.is_null() {
            self.faults().value(&root, "there is nothing in it");
        } else if self.faults().is_mapping(&root) {
            self.sections(&root, folder);
        }
    }

    fn parse(&mut self, name: &str, text: &str) -> Option<Source> {
        match yaml::parse(text) {
            Ok(document) => {
                let source = Source { name: name.to_owned(), document };
                for (mark, key) in &source.document.repeated {
                    let place = source.place(Some(*mark));
                    let message = format!("the key \"{key}\" stands here twice");
                    self.faults().0.push(Fault { place, message });
                }
                Some(source)
            }
            Err(error) => {
                let mark = error.mark.map(|mark| format!(":{}:{}", mark.line, mark.column));
                let place = format!("{name}{}", mark.unwrap_or_default());
                self.faults().0.push(Fault { place, message: error.message });
                None
            }
        }
    }

    fn sections(&mut self, root: &Node<'_>, folder: Option<&Path>) {
        self.faults().unknown_keys(root, &PROJECT_KEYS);
        match root.get("version") {
            None => self.faults().value(root, "\"version\" is missing: write \"version: 1\""),
            Some(version) if version.value != 1 => {
                let message = format!("version {} is not known, only 1 is", version.value);
                self.faults().value(&version, message);
            }
            Some(_) => {}
        }
        if let Some(types) =
            root.get("contentTypes").filter(|types| self.faults().is_sequence(types))
        {
            for node in types.items() {
                self.content_type(&node, folder);
            }
        }
        let workflows = root.get("workflows");
        if let Some(workflows) = workflows.filter(|list| self.faults().is_sequence(list)) {
            for node in workflows.items() {
                self.workflow(&node);
            }
        }
        if let Some(keys) = root.get("keys").filter(|keys| self.faults().is_sequence(keys)) {
            for node in keys.items() {
                self.key(&node);
            }
        }
    }

    /// A type, or `file:` with the path of one.
    fn content_type(&mut self, node: &Node<'_>, folder: Option<&Path>) {
        let Some(file) = node.get("file") else {
            let payload = self.expander.content_type(node);
            self.add(node, payload);
            return;
        };
        self.faults().unknown_keys(node, &["file"]);
        let Some(name) = self.faults().text(node, "file") else { return };
        let path = folder.unwrap_or(Path::new("")).join(name);
        match fs::read_to_string(&path) {
            Ok(text) => {
                if let Some(source) = self.parse(&path.display().to_string(), &text) {
                    let root = source.root();
                    let payload = self.expander.content_type(&root);
                    self.add(&root, payload);
                }
            }
            Err(error) => {
                self.faults().value(&file, format!("cannot read {}: {error}", path.display()));
            }
        }
    }

    fn add(&mut self, node: &Node<'_>, payload: Map<String, Value>) {
        if let Some(name) = payload.get("name").and_then(Value::as_str).filter(|n| !n.is_empty()) {
            let place = node.place();
            if !is_type_name(name) {
                let at = node.get("name").unwrap_or_else(|| node.clone());
                let message = format!("type name \"{name}\" is not valid: {TYPE_NAME_RULE}");
                self.faults().value(&at, message);
            }
            if let Some(first) = self.project.places.get(name) {
                let message = format!("the type \"{name}\" is already described at {first}");
                self.faults().value(node, message);
                return;
            }
            let places = &mut self.project.places;
            places.put(name, place);
            let configs = node.get("metaDefinition").and_then(|meta| meta.get("propertiesConfig"));
            for properties in node.get("properties").into_iter().chain(configs) {
                places.put_members(name, &properties);
            }
        }
        self.project.types.push(payload);
    }

    fn workflow(&mut self, node: &Node<'_>) {
        let definition = workflow::expand(node, self.faults());
        let id = definition.get("id").and_then(Value::as_str).unwrap_or_default();
        let name = format!("workflows.{id}");
        if let Some(first) = self.project.places.get(&name) {
            let message = format!("the workflow \"{id}\" is already described at {first}");
            self.faults().value(node, message);
            return;
        }
        self.project.places.put(&name, node.place());
        self.project.workflows.push(definition);
    }

    fn key(&mut self, node: &Node<'_>) {
        let faults = self.faults();
        if !faults.is_mapping(node) {
            return;
        }
        faults.unknown_keys(node, &KEY_KEYS);
        let name = faults.required_text(node, "name").unwrap_or_default().to_owned();
        let kind_name = faults.required_text(node, "kind").unwrap_or_default();
        let kind = key_kind(kind_name).unwrap_or(KeyKind::Scoped);
        if key_kind(kind_name).is_none() && !kind_name.is_empty() {
            let known = ["read-only", "read-write", "scoped", "admin"];
            let near = did_you_mean(kind_name, known);
            let place = node.get("kind").unwrap_or_else(|| node.clone());
            faults.value(&place, format!("unknown kind of key \"{kind_name}\"{near}"));
        }
        let mut rules = Vec::new();
        if let Some(wanted) = node.get("rules").filter(|rules| faults.is_mapping(rules)) {
            for (content_type, letters) in wanted.members() {
                match rule(content_type, letters.value.as_str().unwrap_or_default()) {
                    Ok(rule) => rules.push(rule),
                    Err(message) => faults.value(&letters, message),
                }
            }
        }
        if (kind == KeyKind::Scoped) == rules.is_empty() {
            faults.value(node, "a scoped key needs rules, and no other kind has them");
        }
        let key = NewKey { name, kind, rules };
        if let Value::Object(payload) = json!(key) {
            self.project.keys.push(payload);
        }
    }

    /// Relations may point to a type, and types name a workflow, of the files or of the target.
    fn check_references(&mut self, present: &Present) {
        fn names<'p>(payloads: &'p [Map<String, Value>], key: &str) -> Vec<&'p str> {
            payloads.iter().filter_map(|payload| payload.get(key)?.as_str()).collect()
        }
        let mut types = names(&self.project.types, "name");
        types.extend(present.types.iter().map(String::as_str));
        let mut workflows = names(&self.project.workflows, "id");
        workflows.extend(present.workflows.iter().map(String::as_str));
        workflows.extend(workflow::BUILT_IN);
        let relations = std::mem::take(&mut self.expander.relations);
        let assigned = std::mem::take(&mut self.expander.workflows);
        for (what, known, references) in
            [("content type", types, relations), ("workflow", workflows, assigned)]
        {
            for Reference { name, place } in references {
                if !known.contains(&name.as_str()) {
                    let near = did_you_mean(&name, known.iter().copied());
                    let message = format!("there is no {what} \"{name}\"{near}");
                    self.expander.faults.0.push(Fault { place, message });
                }
            }
        }
    }

    fn finish(self) -> Result<Project> {
        if self.expander.faults.0.is_empty() {
            Ok(self.project)
        } else {
            Err(Kind::Faults(self.expander.faults.0).into())
        }
    }

    fn faults(&mut self) -> &mut Faults {
        &mut self.expander.faults
    }
}

/// What a name of a content type is made of.
pub(crate) const TYPE_NAME_RULE: &str = "use lower-case letters (a to z) and \"_\"";

/// Tells whether a content type can have this name.
pub(crate) fn is_type_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())
}

/// Reads a file, or standard input where `-` stands; returns the name that messages give it.
pub(crate) fn read_text(path: &Path) -> Result<(String, String)> {
    if path == Path::new("-") {
        let text = io::read_to_string(io::stdin())
            .map_err(|error| Failure::unreadable("standard input", error))?;
        return Ok(("<stdin>".to_owned(), text));
    }
    let text =
        fs::read_to_string(path).map_err(|error| Failure::unreadable(path.display(), error))?;
    Ok((path.display().to_string(), text))
}

/// The project files of a folder, and the type definitions of an exported one, ordered by name.
fn project_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error| Failure::unreadable(folder.display(), error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let definition = path.join(crate::content::folder::DEFINITION);
        if path.is_dir() && definition.is_file() {
            files.push(definition);
        } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json") {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::usage(format!("no project file in {}", folder.display())));
    }
    Ok(files)
}
