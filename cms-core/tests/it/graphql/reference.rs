//! Agreement with the reference implementation.
