//! stub
use crate::ctd::model::Property;
use serde_json::{Map, Value};
pub(crate) fn object_title(_p: &[Property], _o: &Map<String, Value>) -> String { String::new() }
