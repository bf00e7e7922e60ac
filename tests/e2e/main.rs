//! End to end: the built `cms`, as a user or a script runs it, and the rules of the layout.

mod commands;
mod faults;
mod parity;
mod spaces;
mod support;
mod tidy;
