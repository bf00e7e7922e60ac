//! Whether a server is ready, by its public route `/readyz`.

use std::{io::Read, time::Duration};

use cms_core::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    Remote,
    http::{RESPONSE_TIMEOUT, root_cause},
    other_program,
    path::READINESS,
};

/// Longest response that is read: the response of another program may be endless.
const MAX_RESPONSE_BYTES: u64 = 64 * 1024;

/// The response of a server, ready or not.
#[derive(Deserialize)]
pub(crate) struct Readiness {
    status: String,
    /// "ok" or "not ready" by the name of the part.
    parts: Map<String, Value>,
}

impl Readiness {
    fn is_known(&self) -> bool {
        ["ok", "not ready"].contains(&self.status.as_str())
    }

    /// A message that names the parts that are not ready; none if the server is ready.
    pub(crate) fn problem(&self) -> Option<String> {
        let parts = self.parts.iter().filter(|(_, state)| *state != "ok");
        let names: Vec<_> = parts.map(|(name, _)| name.as_str()).collect();
        (self.status != "ok").then(|| format!("not ready: {}", names.join(", ")))
    }
}

impl Remote {
    /// The states of the parts, ready or not.
    pub(super) fn part_states(&self) -> Result<Map<String, Value>> {
        let readiness = self.readiness(RESPONSE_TIMEOUT)?;
        let unreachable = |reason| Error::Unreachable(format!("{}: {reason}", self.base()));
        readiness.map(|readiness| readiness.parts).map_err(unreachable)
    }

    /// Sends one request, without the key. The inner error is the reason why no server has responded.
    pub(crate) fn readiness(
        &self,
        timeout: Duration,
    ) -> Result<std::result::Result<Readiness, String>> {
        let url = format!("{}{READINESS}", self.base());
        let response = match self.client()?.get(url).timeout(timeout).send() {
            Ok(response) => response,
            Err(error) if error.is_timeout() => return Ok(Err("no response in time".to_owned())),
            Err(error) => return Ok(Err(root_cause(&error))),
        };
        let status = response.status();
        let mut body = Vec::new();
        let read = response.take(MAX_RESPONSE_BYTES).read_to_end(&mut body);
        let parsed = serde_json::from_slice(&body).ok().filter(Readiness::is_known);
        Ok(parsed.ok_or_else(|| match read {
            Ok(_) => other_program::describe(status.as_u16(), &body),
            Err(_) => "the connection was closed".to_owned(),
        }))
    }
}
