//! The workflows that a type can name (contract 5.1): where its objects start, and whether they
//! can be public.

/// Workflow of types that name none.
pub(crate) const DEFAULT: &str = "generic";

/// A workflow as far as storing an object needs it.
pub(crate) struct Workflow {
    pub(crate) id: &'static str,
    /// The first one is that of a new object.
    pub(crate) states: &'static [&'static str],
}

impl Workflow {
    /// State of a new object.
    pub(crate) fn initial_state(&self) -> &'static str {
        self.states[0]
    }

    /// Tells whether there is the state that marks approved content.
    pub(crate) fn has_public_state(&self) -> bool {
        self.states.contains(&"public")
    }
}

const BUILT_IN: [Workflow; 2] = [
    Workflow { id: DEFAULT, states: &["saved"] },
    Workflow { id: "publishing", states: &["draft", "review", "public", "archive"] },
];

/// Returns the workflow of this id.
pub(crate) fn find(id: &str) -> Option<&'static Workflow> {
    BUILT_IN.iter().find(|workflow| workflow.id == id)
}
