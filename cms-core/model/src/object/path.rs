//! Where a value stands within an object, spelt as error maps spell it (contract 1.5).

use std::fmt;

/// A chain of steps towards the root. Nothing is written until a path is shown, so walking an
/// object that has no fault costs nothing.
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
