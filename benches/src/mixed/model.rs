//! The expected states of a writer's objects. No other writer changes them, so each response can be
//! checked.

use std::collections::HashMap;

/// An object, numbered by its writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObjectState {
    /// The last acknowledged write; none while the object may not exist.
    acknowledged: Option<u64>,
    /// The last write that was sent.
    sent: u64,
    deletion: Deletion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deletion {
    None,
    Sent,
    Acknowledged,
}

/// Objects by id.
#[derive(Clone, Debug, Default)]
pub(super) struct Model(HashMap<String, ObjectState>);

impl Model {
    /// Records that a write is sent; returns its number, which the object contains.
    pub(super) fn record_write(&mut self, id: &str) -> u64 {
        let new = ObjectState { acknowledged: None, sent: 0, deletion: Deletion::None };
        let state = self.0.entry(id.to_owned()).or_insert(new);
        state.sent += 1;
        state.sent
    }

    pub(super) fn record_deletion(&mut self, id: &str) {
        self.state(id).deletion = Deletion::Sent;
    }

    /// Records that the last write or deletion was acknowledged.
    pub(super) fn record_acknowledgement(&mut self, id: &str) {
        let state = self.state(id);
        match state.deletion {
            Deletion::None => state.acknowledged = Some(state.sent),
            _ => state.deletion = Deletion::Acknowledged,
        }
    }

    /// Records that the last write or deletion was refused, so that it had no effect.
    pub(super) fn record_rejection(&mut self, id: &str) {
        let state = self.state(id);
        match state.deletion {
            Deletion::None => state.sent -= 1,
            _ => state.deletion = Deletion::None,
        }
        if state.sent == 0 {
            self.0.remove(id);
        }
    }

    /// Checks the state of an object that was read: the number of its last write, or none if it
    /// does not exist. Afterwards no write is under way.
    pub(super) fn check_read(&mut self, id: &str, found: Option<u64>) -> Result<(), String> {
        let state = self.state(id);
        let (is_right, known) = (state.allows(found), *state);
        match found {
            Some(number) => {
                *state =
                    ObjectState { acknowledged: found, sent: number, deletion: Deletion::None };
            }
            None if state.acknowledged.is_none() => drop(self.0.remove(id)),
            None => state.deletion = Deletion::Acknowledged,
        }
        if is_right { Ok(()) } else { Err(format!("{id} is {found:?}, known: {known:?}")) }
    }

    /// Checks an object of a backup. This model is older than the backup, `later` is newer.
    pub(super) fn is_in_copy(&self, id: &str, copied: Option<u64>, later: &Self) -> bool {
        let was_deleted = later.0.get(id).is_none_or(|state| state.deletion != Deletion::None);
        let state = self.0[id];
        match copied {
            Some(number) => {
                state.deletion != Deletion::Acknowledged && state.acknowledged <= Some(number)
            }
            None => state.acknowledged.is_none() || was_deleted,
        }
    }

    /// Ids of all objects, including deleted ones.
    pub(super) fn ids(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Ids of objects that certainly exist.
    pub(super) fn live(&self) -> Vec<&str> {
        let is_live = |state: &ObjectState| {
            state.deletion == Deletion::None && state.acknowledged == Some(state.sent)
        };
        self.0.iter().filter(|(_, state)| is_live(state)).map(|(id, _)| id.as_str()).collect()
    }

    fn state(&mut self, id: &str) -> &mut ObjectState {
        self.0.get_mut(id).expect("only written objects are read")
    }
}

impl ObjectState {
    fn allows(&self, found: Option<u64>) -> bool {
        match found {
            Some(number) => {
                self.deletion != Deletion::Acknowledged
                    && self.acknowledged.unwrap_or(1) <= number
                    && number <= self.sent
            }
            None => self.deletion != Deletion::None || self.acknowledged.is_none(),
        }
    }
}
