//! stub
use crate::wire::ctd::Slug;
use serde_json::{Map, Value};
pub(crate) fn fill(_rules: &[Slug], _payload: &mut Map<String, Value>) {}
