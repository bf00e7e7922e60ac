//! The inputs of a write besides its payload. This module does not know the written object.

use cms_model::{
    context::{Caller, Stamp},
    error::FieldErrors,
    object::dates::KeptDates,
};
use serde_json::{Map, Value};

/// The inputs of a write besides the payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// Time and actor of the write.
    pub(crate) stamp: Stamp,
    /// `readonly` is not enforced, so that only forms apply it.
    pub(crate) lenient_readonly: bool,
    /// Webhooks may have `http://` URLs.
    pub(crate) http_webhooks: bool,
    /// Objects keep the dates of the request.
    pub(crate) keeps_dates: bool,
}

impl Context {
    pub(crate) fn new(caller: &Caller, config: &crate::CoreConfig) -> Self {
        Self {
            stamp: caller.stamp(config.clock.now()),
            lenient_readonly: config.lenient_readonly,
            http_webhooks: config.http_webhooks,
            keeps_dates: false,
        }
    }

    /// Returns the context of a request that may set dates of objects.
    pub(crate) fn keeping_dates(self, caller: &Caller) -> Self {
        Self { keeps_dates: caller.keeps_dates, ..self }
    }

    /// Takes `internal` out of a request. Only its dates are used, and only if the request keeps
    /// dates.
    pub(super) fn take_dates(
        &self,
        payload: &mut Map<String, Value>,
        created_at: i64,
        errors: &mut FieldErrors,
    ) -> KeptDates {
        let internal = payload.shift_remove("internal").filter(|_| self.keeps_dates);
        KeptDates::read(internal.as_ref(), created_at, self.stamp.at, errors)
    }
}
