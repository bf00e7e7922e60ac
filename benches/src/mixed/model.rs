//! What one writer knows of its objects: nobody else changes them, so each answer can be judged.

use std::collections::HashMap;

/// An object, numbered by its writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// The last write that was acknowledged; none as long as it is not known to be there.
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
pub(super) struct Model(HashMap<String, Known>);

impl Model {
    /// Notes that a write is sent; returns its number, which the object carries.
    pub(super) fn sends(&mut self, id: &str) -> u64 {
        let new = Known { acknowledged: None, sent: 0, deletion: Deletion::None };
        let known = self.0.entry(id.to_owned()).or_insert(new);
        known.sent += 1;
        known.sent
    }

    pub(super) fn sends_deletion(&mut self, id: &str) {
        self.known(id).deletion = Deletion::Sent;
    }

    /// The last thing that was sent is done.
    pub(super) fn acknowledges(&mut self, id: &str) {
        let known = self.known(id);
        match known.deletion {
            Deletion::None => known.acknowledged = Some(known.sent),
            _ => known.deletion = Deletion::Acknowledged,
        }
    }

    /// The last thing that was sent was refused, so it did not happen.
    pub(super) fn refuses(&mut self, id: &str) {
        let known = self.known(id);
        match known.deletion {
            Deletion::None => known.sent -= 1,
            _ => known.deletion = Deletion::None,
        }
        if known.sent == 0 {
            self.0.remove(id);
        }
    }

    /// Judges what an object was found to be: the number of its last write, or none when it is not
    /// there. Whatever was under way before is settled then.
    pub(super) fn finds(&mut self, id: &str, found: Option<u64>) -> Result<(), String> {
        let known = self.known(id);
        let (is_right, what) = (known.allows(found), *known);
        match found {
            Some(number) => {
                *known = Known { acknowledged: found, sent: number, deletion: Deletion::None };
            }
            None if known.acknowledged.is_none() => drop(self.0.remove(id)),
            None => known.deletion = Deletion::Acknowledged,
        }
        if is_right { Ok(()) } else { Err(format!("{id} is {found:?}, known: {what:?}")) }
    }

    /// Judges an object of a copy that was made later than this model.
    pub(super) fn is_in_copy(&self, id: &str, copied: Option<u64>, later: &Self) -> bool {
        let was_deleted = later.0.get(id).is_none_or(|known| known.deletion != Deletion::None);
        let known = self.0[id];
        match copied {
            Some(number) => {
                known.deletion != Deletion::Acknowledged && known.acknowledged <= Some(number)
            }
            None => known.acknowledged.is_none() || was_deleted,
        }
    }

    /// Ids of all objects, those that are gone among them.
    pub(super) fn ids(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Ids of objects that are there for certain.
    pub(super) fn live(&self) -> Vec<&str> {
        let is_live = |known: &Known| {
            known.deletion == Deletion::None && known.acknowledged == Some(known.sent)
        };
        self.0.iter().filter(|(_, known)| is_live(known)).map(|(id, _)| id.as_str()).collect()
    }

    fn known(&mut self, id: &str) -> &mut Known {
        self.0.get_mut(id).expect("only what was written is asked for")
    }
}

impl Known {
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
