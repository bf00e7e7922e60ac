//! Presence in a stream of changes: the events that a client has not seen.

use std::collections::HashMap;

use cms_core::{Caller, Cms, Result, wire::presence::Presence};
use serde::Serialize;

/// The presences that a client knows.
#[derive(Default)]
pub(crate) struct PresenceEvents {
    revision: Option<u64>,
    /// By author and tab.
    known: HashMap<(Option<String>, String), Presence>,
}

/// The data of an event.
#[derive(Serialize)]
struct Event<'p> {
    #[serde(flatten)]
    presence: &'p Presence,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ended: bool,
}

impl PresenceEvents {
    /// Returns the events since the previous call.
    pub(crate) fn next(
        &mut self,
        cms: &Cms,
        caller: &Caller,
        content_types: Option<&[String]>,
    ) -> Result<Vec<u8>> {
        let seen = cms.presences().changed_since(caller, content_types, None, self.revision)?;
        let Some(seen) = seen else { return Ok(Vec::new()) };
        self.revision = Some(seen.revision);
        let mut before = std::mem::take(&mut self.known);
        let mut events = Vec::new();
        for presence in seen.presences {
            let key = (presence.by.id.clone(), presence.tab.clone());
            let known = before.remove(&key);
            let moved = known.as_ref().filter(|known| !is_same_object(known, &presence));
            if let Some(known) = moved {
                push(&mut events, known, true);
            }
            // A repeated presence causes no event.
            if moved.is_some() || known.is_none_or(|known| known.property != presence.property) {
                push(&mut events, &presence, false);
            }
            self.known.insert(key, presence);
        }
        for presence in before.into_values() {
            push(&mut events, &presence, true);
        }
        Ok(events)
    }
}

fn is_same_object(one: &Presence, other: &Presence) -> bool {
    one.content_type == other.content_type && one.id == other.id
}

/// Appends an event without an id: the position in the stream stays.
fn push(events: &mut Vec<u8>, presence: &Presence, ended: bool) {
    let data = serde_json::to_string(&Event { presence, ended });
    let data = data.expect("a presence has string keys only");
    events.extend_from_slice(format!("event: presence\ndata: {data}\n\n").as_bytes());
}
