//! Workflows (see docs/reference/workflows.md): [`service`] applies the rules of
//! [`cms_model::workflow`].

pub(crate) mod service;
