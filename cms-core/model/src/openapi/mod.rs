//! The OpenAPI document (see docs/reference/openapi.md).
//!
//! [`document`] converts content types and the rights of the caller to a representation that does not
//! depend on the version of OpenAPI ([`ir`]): [`content`] converts one type, [`property`] one
//! property, [`objects`] has the operations on objects. [`components`], [`system`] and
//! [`management`] add the parts of every server. [`v3`] and [`v2`] print it with [`schema`],
//! [`guide`] and [`mod@print`].

pub mod components;
pub mod content;
pub mod document;
pub mod guide;
pub mod ir;
pub mod management;
pub mod names;
pub mod objects;
pub mod parameters;
pub mod print;
pub mod property;
pub mod schema;
pub mod system;
pub mod v2;
pub mod v3;
