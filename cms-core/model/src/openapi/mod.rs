//! The OpenAPI document (contract 9).
//!
//! [`describe`] turns content types and the rights of a key into a description that does not depend on
//! the version of OpenAPI ([`ir`]): [`content`] the part of one type, [`property`] that of one property,
//! [`components`] and [`system`] what every server has. The printers are [`v3`] and [`v2`], over
//! [`schema`] and [`mod@print`].

pub mod components;
pub mod content;
pub mod describe;
pub mod ir;
pub mod names;
pub mod print;
pub mod property;
pub mod schema;
pub mod system;
pub mod v2;
pub mod v3;
