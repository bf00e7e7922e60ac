//! The path of a value in an object, in the syntax of error maps, see
//! docs/reference/http.md#property-paths-in-errors

use std::fmt;

/// A linked list towards the root. It is formatted only for an error, so that valid objects cost no
/// allocation.
#[derive(Clone, Copy, Debug)]
pub enum ValuePath<'a> {
    Root,
    Key(&'a ValuePath<'a>, &'a str),
    Index(&'a ValuePath<'a>, usize),
}

impl<'a> ValuePath<'a> {
    #[must_use]
    pub fn key(&'a self, name: &'a str) -> Self {
        Self::Key(self, name)
    }

    #[must_use]
    pub fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }
}

impl fmt::Display for ValuePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, name) => f.write_str(name),
            Self::Key(parent, name) => write!(f, "{parent}.{name}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}
