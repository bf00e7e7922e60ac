//! Project files: the content types, workflows and keys that a space should have.
//!
//! [`load`] reads files and directories and reports all errors with their locations. [`expand`]
//! converts the short form of a type to the API form, [`shorten`] converts it back; [`workflow`]
//! does both for workflows. [`node`] reads documents, [`locations`] keeps the locations of
//! definitions. `commands::apply` applies a project.

mod expand;
mod label;
mod locations;
mod node;
mod shorten;
#[cfg(test)]
mod tests;
mod workflow;

use std::{
    fs, io,
    path::{Path, PathBuf},
    rc::Rc,
};

use cms_core::wire::{
    content_type::ContentType,
    key::{KeyKind, NewKey, Rule},
    workflow::Workflow,
};
use serde_json::{Map, Value, json};

use self::{
    expand::{Expander, Reference},
    node::{Diagnostics, YamlNode},
};
pub(crate) use self::{
    locations::Locations,
    node::{did_you_mean, nearest},
    workflow::is_built_in,
};
use crate::{
    content::BYTE_ORDER_MARK,
    failure::{Diagnostic, Failure, FailureKind, Result},
    yaml::{self, YamlDocument},
};

/// JSON Schema of a project file.
pub(crate) const SCHEMA: &str = include_str!("schema.json");

const PROJECT_KEYS: [&str; 4] = ["version", "contentTypes", "workflows", "keys"];
const KEY_KEYS: [&str; 3] = ["name", "kind", "rules"];

/// The contents of project files.
#[derive(Debug, Default)]
pub(crate) struct Project {
    /// Payloads of content types in the API form.
    pub(crate) types: Vec<Map<String, Value>>,
    pub(crate) workflows: Vec<Map<String, Value>>,
    /// Payloads of keys.
    pub(crate) keys: Vec<Map<String, Value>>,
    pub(crate) locations: Locations,
}

/// The existing definitions of a target, which files may refer to.
#[derive(Default)]
pub(crate) struct ExistingDefinitions {
    /// Names of types.
    pub(crate) types: Vec<String>,
    /// Ids of workflows.
    pub(crate) workflows: Vec<String>,
}

/// Reads project files, directories of them, or `-`.
pub(crate) fn load(paths: &[PathBuf], existing: &ExistingDefinitions) -> Result<Project> {
    let mut loader = Loader::default();
    for path in paths {
        loader.path(path)?;
    }
    loader.check_references(existing);
    loader.finish()
}

/// Reads one workflow from a file or `-`.
pub(crate) fn load_workflow(path: &Path) -> Result<Map<String, Value>> {
    let mut loader = Loader::default();
    let (name, text) = read_text(path)?;
    let document = loader.parse(&name, text);
    let definition =
        document.map(|document| workflow::expand(&YamlNode::root(&document), loader.diagnostics()));
    loader.finish()?;
    Ok(definition.unwrap_or_default())
}

/// Formats content types and custom workflows as a project file.
pub(crate) fn print(types: &[ContentType], workflows: &[Workflow]) -> String {
    let types: Vec<Value> = types.iter().map(shorten::content_type).collect();
    let mut project = json!({ "version": 1, "contentTypes": types });
    let own = custom(workflows);
    if !own.is_empty() {
        project["workflows"] = Value::Array(own);
    }
    yaml::print(&project)
}

/// Formats custom workflows as a project file, if there are any.
pub(crate) fn print_workflows(workflows: &[Workflow]) -> Option<String> {
    let own = custom(workflows);
    (!own.is_empty()).then(|| yaml::print(&json!({ "version": 1, "workflows": own })))
}

fn custom(workflows: &[Workflow]) -> Vec<Value> {
    let own = workflows.iter().filter(|workflow| !is_built_in(&workflow.id));
    own.map(workflow::shorten).collect()
}

/// Parses the letters of create, read, update and delete into a rule.
pub(crate) fn rule(content_type: &str, letters: &str) -> std::result::Result<Rule, String> {
    let mut rule = Rule { content_type: content_type.to_owned(), ..Rule::default() };
    if letters.is_empty() {
        return Err(format!("rights on \"{content_type}\" are empty: use letters of \"crud\""));
    }
    for letter in letters.chars() {
        match letter {
            'c' => rule.create = true,
            'r' => rule.read = true,
            'u' => rule.update = true,
            'd' => rule.delete = true,
            other => {
                return Err(format!(
                    "right \"{other}\" in \"{letters}\" is not valid: use letters of \"crud\""
                ));
            }
        }
    }
    Ok(rule)
}

/// Formats the rights of a rule in JSON as letters.
pub(crate) fn rule_letters(rule: &Value) -> String {
    let rights = ["create", "read", "update", "delete"].into_iter();
    rights.filter(|right| rule[*right] == true).map(|right| &right[..1]).collect()
}

/// The kinds of keys.
pub(crate) const KEY_KINDS: [&str; 4] = ["read-only", "read-write", "scoped", "admin"];

/// Parses the kind of a key.
pub(crate) fn key_kind(text: &str) -> Option<KeyKind> {
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
        self.text(&name, text, path.parent());
        Ok(())
    }

    /// Reads a document: a project, one type, or a list of types. Paths in `file:` are relative to
    /// `folder`.
    fn text(&mut self, name: &str, text: String, folder: Option<&Path>) {
        let Some(document) = self.parse(name, text) else { return };
        let root = YamlNode::root(&document);
        if root.value.is_array() {
            for node in root.items() {
                self.content_type(&node, folder);
            }
        } else if root.get("cmsPlan").is_some() {
            let message = "this is a saved plan: give it alone to `cms ctd apply`";
            self.diagnostics().error_at(&root, message);
        } else if root.get("name").is_some() {
            self.content_type(&root, folder);
        } else if root.value.is_null() {
            self.diagnostics().error_at(&root, "the file is empty");
        } else if self.diagnostics().is_mapping(&root) {
            self.sections(&root, folder);
        }
    }

    fn parse(&mut self, name: &str, text: String) -> Option<Rc<YamlDocument>> {
        match YamlDocument::parse(name, text) {
            Ok(document) => Some(Rc::new(document)),
            Err(diagnostic) => {
                self.diagnostics().0.push(diagnostic);
                None
            }
        }
    }

    fn sections(&mut self, root: &YamlNode<'_>, folder: Option<&Path>) {
        self.diagnostics().unknown_keys(root, &PROJECT_KEYS);
        match root.get("version") {
            None => self.diagnostics().error_at(root, "\"version\" is missing: add \"version: 1\""),
            Some(version) if version.value != 1 => {
                let message = format!("version {} is not supported: use 1", version.value);
                self.diagnostics().error_at(&version, message);
            }
            Some(_) => {}
        }
        for node in self.section(root, "contentTypes") {
            self.content_type(&node, folder);
        }
        for node in self.section(root, "workflows") {
            self.workflow(&node);
        }
        for node in self.section(root, "keys") {
            self.key(&node);
        }
    }

    /// The elements of a list.
    fn section<'a>(&mut self, root: &YamlNode<'a>, key: &str) -> Vec<YamlNode<'a>> {
        let list = root.get(key).filter(|list| self.diagnostics().is_sequence(list));
        list.iter().flat_map(YamlNode::items).collect()
    }

    /// Reads a type, or the file that `file:` names.
    fn content_type(&mut self, node: &YamlNode<'_>, folder: Option<&Path>) {
        let Some(file) = node.get("file") else {
            let payload = self.expander.content_type(node);
            self.add(node, payload);
            return;
        };
        self.diagnostics().unknown_keys(node, &["file"]);
        let Some(name) = self.diagnostics().text(node, "file") else { return };
        let path = folder.unwrap_or(Path::new("")).join(name);
        match fs::read_to_string(&path) {
            Ok(text) => {
                if let Some(document) = self.parse(&path.display().to_string(), text) {
                    let root = YamlNode::root(&document);
                    let payload = self.expander.content_type(&root);
                    self.add(&root, payload);
                }
            }
            Err(error) => {
                self.diagnostics()
                    .error_at(&file, format!("cannot read {}: {error}", path.display()));
            }
        }
    }

    fn add(&mut self, node: &YamlNode<'_>, payload: Map<String, Value>) {
        if let Some(name) = payload.get("name").and_then(Value::as_str).filter(|n| !n.is_empty()) {
            if !is_type_name(name) {
                let message = format!("type name \"{name}\" is not valid: {TYPE_NAME_RULE}");
                self.diagnostics().error_at(&node.at("name"), message);
            }
            if let Some(first) = self.project.locations.get(name) {
                let message = format!("type \"{name}\" is already defined at {first}");
                self.diagnostics().error_at(node, message);
                return;
            }
            let locations = &mut self.project.locations;
            locations.put(name, node.location());
            let configs = node.get("metaDefinition").and_then(|meta| meta.get("propertiesConfig"));
            for properties in node.get("properties").into_iter().chain(configs) {
                locations.put_members(name, &properties);
            }
        }
        self.project.types.push(payload);
    }

    fn workflow(&mut self, node: &YamlNode<'_>) {
        let definition = workflow::expand(node, self.diagnostics());
        let id = definition.get("id").and_then(Value::as_str).unwrap_or_default();
        let name = format!("workflows.{id}");
        if let Some(first) = self.project.locations.get(&name) {
            let message = format!("workflow \"{id}\" is already defined at {first}");
            self.diagnostics().error_at(node, message);
            return;
        }
        self.project.locations.put(&name, node.location());
        self.project.workflows.push(definition);
    }

    fn key(&mut self, node: &YamlNode<'_>) {
        let diagnostics = self.diagnostics();
        if !diagnostics.is_mapping(node) {
            return;
        }
        diagnostics.unknown_keys(node, &KEY_KEYS);
        let name = diagnostics.required_text(node, "name").unwrap_or_default().to_owned();
        let kind_name = diagnostics.required_text(node, "kind").unwrap_or_default();
        let kind = key_kind(kind_name).unwrap_or(KeyKind::Scoped);
        if key_kind(kind_name).is_none() && !kind_name.is_empty() {
            let near = node::one_of(kind_name, &KEY_KINDS);
            let message = format!("unknown kind of key \"{kind_name}\"{near}");
            diagnostics.error_at(&node.at("kind"), message);
        }
        let mut rules = Vec::new();
        if let Some(wanted) = node.get("rules").filter(|rules| diagnostics.is_mapping(rules)) {
            for (content_type, letters) in wanted.members() {
                match rule(content_type, letters.value.as_str().unwrap_or_default()) {
                    Ok(rule) => rules.push(rule),
                    Err(message) => diagnostics.error_at(&letters, message),
                }
            }
        }
        if (kind == KeyKind::Scoped) == rules.is_empty() {
            diagnostics.error_at(
                node,
                "\"rules\" do not match the kind: a scoped key needs them, other keys have none",
            );
        }
        let key = NewKey { name, kind, rules };
        if let Value::Object(payload) = json!(key) {
            self.project.keys.push(payload);
        }
    }

    /// Checks that the types of relations and the workflows of types exist in the files or on the
    /// target.
    fn check_references(&mut self, existing: &ExistingDefinitions) {
        fn names<'p>(payloads: &'p [Map<String, Value>], key: &str) -> Vec<&'p str> {
            payloads.iter().filter_map(|payload| payload.get(key)?.as_str()).collect()
        }
        let mut types = names(&self.project.types, "name");
        types.extend(existing.types.iter().map(String::as_str));
        let mut workflows = names(&self.project.workflows, "id");
        workflows.extend(existing.workflows.iter().map(String::as_str));
        workflows.extend(workflow::BUILT_IN);
        let relations = std::mem::take(&mut self.expander.relations);
        let assigned = std::mem::take(&mut self.expander.workflows);
        for (what, known, references) in
            [("content type", types, relations), ("workflow", workflows, assigned)]
        {
            for Reference { name, location } in references {
                if !known.contains(&name.as_str()) {
                    let near = did_you_mean(&name, known.iter().copied());
                    let message = format!("unknown {what} \"{name}\"{near}");
                    let location = location.to_string();
                    self.expander.diagnostics.0.push(Diagnostic { location, message });
                }
            }
        }
    }

    fn finish(self) -> Result<Project> {
        if self.expander.diagnostics.0.is_empty() {
            Ok(self.project)
        } else {
            Err(FailureKind::InvalidInput(self.expander.diagnostics.0).into())
        }
    }

    fn diagnostics(&mut self) -> &mut Diagnostics {
        &mut self.expander.diagnostics
    }
}

/// The rule for names of content types.
pub(crate) const TYPE_NAME_RULE: &str = "use lower-case letters (a to z) and \"_\"";

/// Returns whether the name of a content type is valid.
pub(crate) fn is_type_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())
}

/// Reads a file, or standard input for `-`; returns its name for messages and the text.
pub(crate) fn read_text(path: &Path) -> Result<(String, String)> {
    let (name, text) = if path == Path::new("-") {
        let text = io::read_to_string(io::stdin())
            .map_err(|error| Failure::unreadable("standard input", error))?;
        ("<stdin>".to_owned(), text)
    } else {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| Failure::unreadable(&name, error))?;
        (name, text)
    };
    let text = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    Ok((name, text))
}

/// Finds the project files of a directory and the type definitions of an export, ordered by name.
/// JSON Schemas for editors (`*.schema.json`) are skipped.
fn project_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error| Failure::unreadable(folder.display(), error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let definition = path.join(crate::content::folder::DEFINITION);
        if path.to_string_lossy().ends_with(".schema.json") {
            continue;
        }
        if path.is_dir() && definition.is_file() {
            files.push(definition);
        } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json") {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::usage(format!("{} has no project files", folder.display())));
    }
    Ok(files)
}
