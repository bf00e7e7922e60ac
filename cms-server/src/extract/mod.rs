//! What a request says, taken out of its head and body.

pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod conditions;
pub(crate) mod form;
pub(crate) mod query;
pub(crate) mod validators;
pub(crate) mod visibility;
