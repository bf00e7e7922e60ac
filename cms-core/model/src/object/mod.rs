//! Content objects: what one is ([`model`]), whether it is valid ([`validate`], [`rules`]), what it links to
//! ([`link`], [`scan`]), how it becomes JSON ([`render`]), and which callers see it ([`view`]), what a list of them is ([`list`]).

pub mod dates;
pub mod link;
pub mod list;
pub mod model;
pub mod path;
pub mod render;
pub mod rules;
pub mod scan;
pub mod title;
pub mod validate;
pub mod view;
