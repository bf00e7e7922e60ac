//! Content objects: the stored form ([`model`]), validation ([`validate`], [`rules`], [`path`]),
//! links ([`link`], [`scan`]), titles ([`title`]), kept dates ([`dates`]), rendering ([`render`],
//! [`projection`]), replaced values ([`replace`]), visibility ([`view`]), lists ([`list`]), the
//! state after a return from the trash ([`restore`]).

pub mod dates;
pub mod link;
pub mod list;
pub mod model;
pub mod path;
pub mod projection;
pub mod render;
pub mod replace;
pub mod restore;
pub mod rules;
pub mod scan;
pub mod title;
pub mod validate;
pub mod view;
