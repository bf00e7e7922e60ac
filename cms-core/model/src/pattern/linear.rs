//! Matches regular patterns with a lazy DFA: about a nanosecond per byte.

use regex_automata::{
    Input,
    hybrid::dfa::{Cache, DFA},
    nfa::thompson,
    util::pool::Pool,
};
use regex_syntax::hir::{Class, Hir, Look, Repetition};

use super::parse::{Ast, Repeat};

/// Maximum size of the NFA.
const MAX_NFA_BYTES: usize = 1 << 20;
/// Size of the cache of DFA states.
const CACHE_BYTES: usize = 1 << 19;
/// Number of times that the cache may be cleared before [`MIN_BYTES_PER_STATE`] applies.
const MIN_CACHE_CLEARS: usize = 2;
/// Minimum number of bytes of text per computed state. With fewer, the backtracking matcher is used
/// instead: computing so many states would be slower, and no step budget limits it.
const MIN_BYTES_PER_STATE: usize = 64;

type NewCache =
    Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

#[derive(Debug)]
pub(super) struct LinearMatcher {
    dfa: std::sync::Arc<DFA>,
    caches: Pool<Cache, NewCache>,
}

impl LinearMatcher {
    /// Compiles a pattern; none if it is not regular or too large.
    pub(super) fn new(node: &Ast) -> Option<Self> {
        let hir = to_hir(node)?;
        let mut compiler = thompson::Compiler::new();
        compiler.configure(
            thompson::Config::new()
                .nfa_size_limit(Some(MAX_NFA_BYTES))
                .which_captures(thompson::WhichCaptures::None),
        );
        let nfa = compiler.build_from_hir(&hir).ok()?;
        let config = DFA::config()
            .cache_capacity(CACHE_BYTES)
            .minimum_cache_clear_count(Some(MIN_CACHE_CLEARS))
            .minimum_bytes_per_state(Some(MIN_BYTES_PER_STATE));
        let dfa = std::sync::Arc::new(DFA::builder().configure(config).build_from_nfa(nfa).ok()?);
        let of_cache = std::sync::Arc::clone(&dfa);
        let new_cache: NewCache = Box::new(move || of_cache.create_cache());
        Some(Self { dfa, caches: Pool::new(new_cache) })
    }

    /// Returns whether the pattern matches anywhere; none if that takes too many states.
    pub(super) fn is_match(&self, text: &str) -> Option<bool> {
        let input = Input::new(text).earliest(true);
        let found = self.dfa.try_search_fwd(&mut self.caches.get(), &input);
        found.ok().map(|found| found.is_some())
    }
}

/// Converts a syntax tree to a tree of `regex_syntax`; none if it has look-around or back references.
fn to_hir(node: &Ast) -> Option<Hir> {
    Some(match node {
        Ast::Empty => Hir::empty(),
        Ast::Class(class) => Hir::class(Class::Unicode(class.clone())),
        Ast::Start => Hir::look(Look::Start),
        Ast::End => Hir::look(Look::End),
        Ast::WordBoundary { negated: false } => Hir::look(Look::WordAscii),
        Ast::WordBoundary { negated: true } => Hir::look(Look::WordAsciiNegate),
        // Captures have no effect on whether a text matches.
        Ast::Capture(_, node) => to_hir(node)?,
        Ast::Sequence(nodes) => Hir::concat(nodes.iter().map(to_hir).collect::<Option<_>>()?),
        Ast::Alternatives(nodes) => {
            Hir::alternation(nodes.iter().map(to_hir).collect::<Option<_>>()?)
        }
        Ast::Repeat(Repeat { node, min, max, greedy, .. }) => Hir::repetition(Repetition {
            min: *min,
            max: (*max != u32::MAX).then_some(*max),
            greedy: *greedy,
            sub: Box::new(to_hir(node)?),
        }),
        Ast::Look { .. } | Ast::BackReference(_) | Ast::NamedReference(_) => return None,
    })
}
