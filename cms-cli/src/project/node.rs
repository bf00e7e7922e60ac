//! The nodes of a document with their locations, and errors in them.
//!
//! Knows the types of values and "did you mean", but not the keys of project files: those are in
//! [`super::expand`], [`super::load`] and [`super::workflow`].

use std::rc::Rc;

use cms_core::is_property_name;
use serde_json::Value;

use crate::{
    failure::Diagnostic,
    text_output::short_json,
    yaml::{self, Location, YamlDocument},
};

/// One value of a document.
#[derive(Clone)]
pub(crate) struct YamlNode<'a> {
    document: &'a Rc<YamlDocument>,
    pointer: String,
    pub(crate) value: &'a Value,
}

impl<'a> YamlNode<'a> {
    /// The root value of a document.
    pub(crate) fn root(document: &'a Rc<YamlDocument>) -> Self {
        Self { document, pointer: String::new(), value: &document.value }
    }

    /// The member `key` of a mapping.
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        self.value.get(key).map(|value| self.child(key, value))
    }

    /// The member `key`, or the mapping itself when it has none: the node that a message is about.
    pub(crate) fn at(&self, key: &str) -> Self {
        self.get(key).unwrap_or_else(|| self.clone())
    }

    /// The members of a mapping, in order.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&'a str, Self)> {
        let members = self.value.as_object().into_iter().flatten();
        members.map(|(key, value)| (key.as_str(), self.child(key, value)))
    }

    /// The elements of a sequence.
    pub(crate) fn items(&self) -> impl Iterator<Item = Self> {
        let items = self.value.as_array().into_iter().flatten().enumerate();
        items.map(|(index, value)| self.child(&index.to_string(), value))
    }

    fn child(&self, key: &str, value: &'a Value) -> Self {
        Self { document: self.document, pointer: yaml::member(&self.pointer, key), value }
    }

    pub(crate) fn location(&self) -> Location {
        Location::of_value(self.document, &self.pointer)
    }

    pub(crate) fn key_location(&self) -> Location {
        Location::of_key(self.document, &self.pointer)
    }
}

/// Each line number takes a pass over the file; further errors name the file only.
const MAX_LOCATED_ERRORS: usize = 200;

/// Errors in project files, in the order of their detection.
#[derive(Default)]
pub(crate) struct Diagnostics(pub(crate) Vec<Diagnostic>);

impl Diagnostics {
    /// Adds an error at a value.
    pub(crate) fn error_at(&mut self, node: &YamlNode<'_>, message: impl Into<String>) {
        self.add(&node.location(), message.into());
    }

    pub(crate) fn check_property_name(&mut self, name: &str, node: &YamlNode<'_>) {
        if !is_property_name(name) {
            let rule = "use letters (a to z, A to Z), digits and \"_\"";
            self.error_at(node, format!("property name \"{name}\" is not valid: {rule}"));
        }
    }

    fn add(&mut self, location: &Location, message: String) {
        let location = if self.0.len() < MAX_LOCATED_ERRORS {
            location.to_string()
        } else {
            location.file_name().to_owned()
        };
        self.0.push(Diagnostic { location, message });
    }

    /// Adds an error for every unknown key of a mapping.
    pub(crate) fn unknown_keys(&mut self, node: &YamlNode<'_>, known: &[&str]) {
        for (key, member) in node.members() {
            if !known.contains(&key) {
                let near = did_you_mean(key, known.iter().copied());
                let message = format!("unknown key \"{key}\"{near}");
                self.add(&member.key_location(), message);
            }
        }
    }

    /// Requires a mapping; returns whether the value is one.
    pub(crate) fn is_mapping(&mut self, node: &YamlNode<'_>) -> bool {
        self.expect(node, node.value.is_object(), "a mapping")
    }

    /// Requires a sequence; returns whether the value is one.
    pub(crate) fn is_sequence(&mut self, node: &YamlNode<'_>) -> bool {
        self.expect(node, node.value.is_array(), "a list")
    }

    fn expect(&mut self, node: &YamlNode<'_>, holds: bool, wanted: &str) -> bool {
        if !holds {
            self.error_at(node, format!("{} is not valid: use {wanted}", short_json(node.value)));
        }
        holds
    }

    /// Returns the text of a member; none if it is absent, or has another type, which is an error.
    pub(crate) fn text<'a>(&mut self, node: &YamlNode<'a>, key: &str) -> Option<&'a str> {
        let member = node.get(key)?;
        let text = member.value.as_str();
        self.expect(&member, text.is_some(), "text");
        text
    }

    /// The text of a required member that must not be empty.
    pub(crate) fn required_text<'a>(&mut self, node: &YamlNode<'a>, key: &str) -> Option<&'a str> {
        match node.get(key) {
            None => {
                self.error_at(node, format!("\"{key}\" is missing"));
                None
            }
            Some(member) if member.value == "" => {
                self.error_at(&member, format!("\"{key}\" is empty"));
                None
            }
            Some(_) => self.text(node, key),
        }
    }

    /// A boolean member; absent is false.
    pub(crate) fn flag(&mut self, node: &YamlNode<'_>, key: &str) -> bool {
        let Some(member) = node.get(key) else { return false };
        self.expect(&member, member.value.is_boolean(), "true or false");
        member.value == true
    }

    /// A member whose value is a whole number, such as the number of items.
    pub(crate) fn count(&mut self, node: &YamlNode<'_>, key: &str) -> Option<u64> {
        let member = node.get(key)?;
        let count = member.value.as_u64();
        self.expect(&member, count.is_some(), "a whole number");
        count
    }

    /// A member with a list of texts.
    pub(crate) fn texts<'a>(&mut self, node: &YamlNode<'a>, key: &str) -> Option<Vec<&'a str>> {
        let member = node.get(key)?;
        if !self.is_sequence(&member) {
            return None;
        }
        let mut texts = Vec::new();
        for item in member.items() {
            self.expect(&item, item.value.is_string(), "text");
            texts.extend(item.value.as_str());
        }
        Some(texts)
    }
}

/// `, did you mean "..."?` when one of the names is similar, else nothing.
pub(crate) fn did_you_mean<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    nearest(name, known).map_or_else(String::new, |other| format!(", did you mean \"{other}\"?"))
}

/// The same, or `: use one of ...` with all names.
pub(super) fn one_of(name: &str, known: &[&str]) -> String {
    match did_you_mean(name, known.iter().copied()) {
        near if near.is_empty() => format!(": use one of {}", known.join(", ")),
        near => near,
    }
}

/// The most similar name, if one is similar enough.
pub(crate) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let distances = known.into_iter().map(|other| (strsim::osa_distance(name, other), other));
    distances
        .filter(|(distance, other)| *distance <= (name.len().max(other.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other)
}
