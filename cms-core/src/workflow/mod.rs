//! Workflows (contract 5): [`service`] carries out what [`cms_model::workflow`] decides.

pub(crate) mod service;
