//! What the core promises, through its public names only.

mod objects;
