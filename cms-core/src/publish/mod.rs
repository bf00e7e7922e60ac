//! Publishing (see docs/reference/publishing.md): [`service`] applies the rules of
//! [`cms_model::publish`], [`schedules`] lists scheduled publications.

mod schedules;
pub(crate) mod service;
