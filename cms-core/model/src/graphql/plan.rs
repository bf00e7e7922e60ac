//! The plan of a query: a tree without fragments, aliases and variables, which is traversed once
//! per object. [`compile()`] builds it from a valid query.

mod compile;

pub use self::compile::compile;
use super::{input::Values, model::ValueShape};
use crate::query::path::InternalField;

/// The plan of one operation.
pub struct Plan {
    /// In the order of the response.
    pub roots: Vec<Root>,
    /// Relations. They are resolved by ascending `level`; a [`SelectedField`] refers to them by index.
    pub relations: Vec<PlannedRelation>,
}

/// A root field.
pub struct Root {
    pub key: String,
    pub action: Action,
}

pub enum Action {
    TypeName,
    Introspection,
    One { content_type: String, arguments: Values, selection: Selection },
    List { content_type: String, arguments: Values, selection: Selection },
    Connection { content_type: String, arguments: Values, parts: Vec<Keyed<ConnectionField>> },
}

/// A field with its response key, as JSON text with the colon.
pub struct Keyed<T> {
    pub key: Vec<u8>,
    pub field: KeyedField<T>,
}

/// A field of an object type.
pub enum KeyedField<T> {
    /// `__typename`, with its value as JSON.
    TypeName(Vec<u8>),
    /// A field that the type declares.
    Declared(T),
}

/// A field of a connection.
pub enum ConnectionField {
    /// The selections of `node`.
    Edges(Vec<Keyed<Selection>>),
    PageInfo(Vec<Keyed<HasNextPage>>),
    TotalCount,
}

/// The only field of `pageInfo`.
pub struct HasNextPage;

/// A relation to resolve.
pub struct PlannedRelation {
    pub content_type: String,
    pub selection: Selection,
    /// Number of relations that contain it.
    pub level: usize,
}

/// The selected fields of an object.
#[derive(Default)]
pub struct Selection {
    pub fields: Vec<Keyed<SelectedField>>,
    /// Names of the stored members that the fields need; fields refer to them by index.
    pub members: Vec<String>,
}

pub enum SelectedField {
    Id,
    Internal(Vec<Keyed<InternalField>>),
    /// A stored value.
    Member {
        member: usize,
        shape: ValueShape,
        required: bool,
        inner: Selection,
    },
    /// The objects that links point to.
    Relation {
        member: usize,
        relation: usize,
    },
}
