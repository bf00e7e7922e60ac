//! What changed, for those who follow the content: the journal as far as a caller may read it.
//!
//! [`service`] reads it; rows are written by whoever changes something, with all that is to be told
//! of the change and with who may learn of it (`object::view`). So nothing has to be looked up of
//! objects and types, which may be gone.

pub(crate) mod service;
