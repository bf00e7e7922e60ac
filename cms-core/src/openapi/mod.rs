//! The description of the API for programs (contract 9).
//!
//! [`describe`] turns content types and what a key may do into a description that no version of
//! OpenAPI has a say in ([`ir`]): [`content`] the part of one type, [`property`] that of one property,
//! [`components`] and [`system`] what every server has. The printers are [`v3`] and [`v2`], over
//! [`schema`] and [`mod@print`]. Nothing of that knows where types are stored; [`service`] does.

mod components;
mod content;
mod describe;
mod ir;
mod names;
mod print;
mod property;
mod schema;
pub(crate) mod service;
mod system;
mod v2;
mod v3;
