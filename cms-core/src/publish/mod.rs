//! Publishing (contract 4, 13.3): [`service`] carries out what [`cms_model::publish`] decides.

pub(crate) mod service;
