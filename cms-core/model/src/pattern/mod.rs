//! Regular expressions of properties (`pattern`): ECMA 262 syntax, matching with limited work.
//!
//! `parse` parses a pattern to a tree. Regular patterns run on a lazy DFA (`linear`); patterns
//! with look-around or back references, and automata that are too large for the DFA, on a
//! backtracking matcher (`backtrack`, `program`), which never exceeds its [`StepBudget`]. The DFA
//! needs no budget: its work is linear.
//!
//! This module knows no content types. Matches are unanchored, as JSON Schema requires.

mod backtrack;
mod linear;
mod parse;
mod program;

use crate::limits::{
    FAST_PATTERN_STEPS, PATTERN_STEPS_PER_BYTE, PATTERN_STEPS_PER_OBJECT, PATTERN_STEPS_PER_WRITE,
};

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    linear: Option<linear::LinearMatcher>,
    program: program::Program,
}

/// The pattern is not valid ECMA 262 syntax, or uses a part of it that is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSupported;

impl Pattern {
    /// Compiles a pattern.
    pub fn new(pattern: &str) -> Result<Self, NotSupported> {
        let parsed = parse::parse(pattern)?;
        let linear = linear::LinearMatcher::new(&parsed.node);
        Ok(Self { linear, program: program::Program::new(&parsed) })
    }

    /// Returns whether the pattern matches anywhere in a text. A match that needs more steps than the
    /// budget has left counts as no match.
    pub fn is_match(&self, text: &str, budget: &mut StepBudget) -> bool {
        let matched = self.linear.as_ref().and_then(|linear| linear.is_match(text));
        matched.unwrap_or_else(|| backtrack::is_match(&self.program, text, budget))
    }
}

/// Returns whether a pattern can be used.
pub fn is_supported(pattern: &str) -> bool {
    parse::parse(pattern).is_ok()
}

/// The remaining steps for matching. A step is an instruction or one examined character.
#[derive(Debug)]
pub struct StepBudget {
    left: u64,
    /// Every object gets a new budget by its size.
    per_object: bool,
    is_exhausted: bool,
}

impl StepBudget {
    /// A budget for validation outside of a write: each object gets its own by its size, so the
    /// bytes of a request limit its work.
    pub fn per_object() -> Self {
        Self::of_bytes(0)
    }

    /// The budget of one object or value of this size.
    pub fn of_bytes(bytes: usize) -> Self {
        let mut budget = Self { left: 0, per_object: true, is_exhausted: false };
        budget.start_object(bytes);
        budget
    }

    /// A budget for one write, which blocks all other writes.
    pub fn per_write() -> Self {
        Self { left: PATTERN_STEPS_PER_WRITE, per_object: false, is_exhausted: false }
    }

    /// A budget for validation on a thread that serves connections.
    pub fn fast() -> Self {
        Self { left: FAST_PATTERN_STEPS, per_object: false, is_exhausted: false }
    }

    /// Starts the validation of an object of this size.
    pub fn start_object(&mut self, bytes: usize) {
        if self.per_object {
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            self.left = PATTERN_STEPS_PER_OBJECT + bytes.saturating_mul(PATTERN_STEPS_PER_BYTE);
        }
    }

    /// Returns whether a match was aborted.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    fn take(&mut self, steps: u64) -> Result<(), Exhausted> {
        if let Some(left) = self.left.checked_sub(steps) {
            self.left = left;
            return Ok(());
        }
        self.left = 0;
        self.is_exhausted = true;
        Err(Exhausted)
    }
}

/// The budget has no steps left.
struct Exhausted;

#[cfg(test)]
mod tests;
