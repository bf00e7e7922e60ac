//! The workflows that a type can name (contract 5.1): where its objects start, and whether they
//! can be public.

/// Workflow of types that name none.
pub(crate) const DEFAULT: &str = "generic";

/// A workflow as far as storing an object needs it.
pub(crate) struct Workflow {
    pub(crate) id: &'static str,
    /// State of a new object.
    pub(crate) initial_state: &'static str,
    /// Whether a state named `public` marks approved content.
    pub(crate) has_public_state: bool,
}

const BUILT_IN: [Workflow; 2] = [
    Workflow { id: DEFAULT, initial_state: "saved", has_public_state: false },
    Workflow { id: "publishing", initial_state: "draft", has_public_state: true },
];

/// Returns the workflow of this id.
pub(crate) fn find(id: &str) -> Option<&'static Workflow> {
    BUILT_IN.iter().find(|workflow| workflow.id == id)
}
