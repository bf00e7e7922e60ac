//! Compiles a tree to instructions of the backtracking matcher.
//!
//! Repetitions are counted while matching and not unrolled, so a program is never much longer than
//! its pattern. The body of a look-behind is compiled backwards: ECMA 262 matches it so.

use std::ops::Range;

use regex_syntax::hir::ClassUnicode;

use super::parse::{Node, Parsed, Repeat};

/// Position of an instruction.
pub(super) type Address = u32;

#[derive(Debug)]
pub(super) enum Step {
    /// Consumes one code point.
    Take {
        set: Set,
        backward: bool,
    },
    /// Consumes code points of a set, as many as possible or as few.
    Run {
        set: Set,
        min: u32,
        max: u32,
        greedy: bool,
        backward: bool,
    },
    Start,
    End,
    WordBoundary {
        negated: bool,
    },
    /// Notes the position in a slot: two for each capturing group, its start and its end.
    Save(u32),
    /// Forgets the slots from, and up to but without.
    Reset(u32, u32),
    Jump(Address),
    /// Goes on at the next instruction, or at `other` should that fail.
    Try {
        other: Address,
    },
    /// Goes on at `other`, or at the next instruction should that fail.
    TryOther {
        other: Address,
    },
    /// Sets a counter to zero.
    Count(u32),
    /// Begins another iteration at the next instruction, or leaves a loop.
    Loop {
        counter: u32,
        min: u32,
        max: u32,
        greedy: bool,
        exit: Address,
    },
    /// Counts an iteration.
    Iterate(u32),
    /// Looks around by the instructions up to `end`, which succeed by [`Step::Done`].
    Look {
        negated: bool,
        end: Address,
    },
    /// Consumes what a group captured.
    BackReference {
        group: u32,
        backward: bool,
    },
    Done,
}

#[derive(Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) slots: usize,
    pub(super) counters: usize,
    /// No match begins behind the start of the text.
    pub(super) is_anchored: bool,
}

impl Program {
    pub(super) fn new(parsed: &Parsed) -> Self {
        let mut compiler = Compiler { parsed, steps: Vec::new(), counters: 0, backward: false };
        compiler.node(&parsed.node);
        compiler.steps.push(Step::Done);
        Self {
            steps: compiler.steps,
            slots: (parsed.captures as usize + 1) * 2,
            counters: compiler.counters as usize,
            is_anchored: is_anchored(&parsed.node),
        }
    }
}

/// A set of code points.
#[derive(Debug)]
pub(super) struct Set {
    ascii: u128,
    /// The ranges beyond ASCII, ascending.
    others: Box<[(char, char)]>,
}

impl Set {
    fn new(class: &ClassUnicode) -> Self {
        let mut ascii = 0;
        for range in class.ranges() {
            for value in u32::from(range.start())..=u32::from(range.end()).min(127) {
                ascii |= 1 << value;
            }
        }
        let others = class.ranges().iter().filter(|range| !range.end().is_ascii());
        Self { ascii, others: others.map(|range| (range.start(), range.end())).collect() }
    }

    pub(super) fn contains(&self, c: char) -> bool {
        if c.is_ascii() {
            return self.ascii >> u32::from(c) & 1 == 1;
        }
        let behind = self.others.partition_point(|(_, end)| *end < c);
        self.others.get(behind).is_some_and(|(start, _)| *start <= c)
    }
}

struct Compiler<'a> {
    parsed: &'a Parsed,
    steps: Vec<Step>,
    counters: u32,
    backward: bool,
}

impl Compiler<'_> {
    fn node(&mut self, node: &Node) {
        let backward = self.backward;
        match node {
            Node::Empty => {}
            Node::Class(class) => self.steps.push(Step::Take { set: Set::new(class), backward }),
            Node::Start => self.steps.push(Step::Start),
            Node::End => self.steps.push(Step::End),
            Node::WordBoundary { negated } => {
                self.steps.push(Step::WordBoundary { negated: *negated });
            }
            // What nothing refers to need not be captured.
            Node::Capture(group, node) if !self.is_referenced(*group..group + 1) => self.node(node),
            Node::Capture(group, node) => {
                let (first, last) = if backward { (1, 0) } else { (0, 1) };
                self.steps.push(Step::Save(group * 2 + first));
                self.node(node);
                self.steps.push(Step::Save(group * 2 + last));
            }
            Node::Sequence(nodes) if backward => {
                for node in nodes.iter().rev() {
                    self.node(node);
                }
            }
            Node::Sequence(nodes) => {
                for node in nodes {
                    self.node(node);
                }
            }
            Node::Alternatives(nodes) => self.alternatives(nodes),
            Node::Repeat(repeat) => self.repeat(repeat),
            Node::Look { node, is_behind, negated } => {
                let look = self.push(Step::Done);
                self.backward = *is_behind;
                self.node(node);
                self.backward = backward;
                self.steps.push(Step::Done);
                self.steps[look] = Step::Look { negated: *negated, end: self.here() };
            }
            Node::BackReference(group) => {
                self.steps.push(Step::BackReference { group: *group, backward });
            }
            Node::NamedReference(name) => {
                let group = self.parsed.groups[name];
                self.steps.push(Step::BackReference { group, backward });
            }
        }
    }

    fn alternatives(&mut self, nodes: &[Node]) {
        let mut ends = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.node(node);
            } else {
                let start = self.push(Step::Done);
                self.node(node);
                ends.push(self.push(Step::Done));
                self.steps[start] = Step::Try { other: self.here() };
            }
        }
        for end in ends {
            self.steps[end] = Step::Jump(self.here());
        }
    }

    fn repeat(&mut self, repeat: &Repeat) {
        let &Repeat { ref node, min, max, greedy, captures } = repeat;
        let backward = self.backward;
        if let Node::Class(class) = &**node {
            self.steps.push(Step::Run { set: Set::new(class), min, max, greedy, backward });
            return;
        }
        // Counters cost memory with every iteration; most loops need none.
        let counts = is_nullable(node) || min > 1 || (max != 1 && max != u32::MAX);
        if counts {
            let counter = self.counters;
            self.counters += 1;
            self.steps.push(Step::Count(counter));
            let start = self.push(Step::Done);
            self.steps.push(Step::Iterate(counter));
            self.body(node, captures);
            self.steps.push(Step::Jump(address(start)));
            let exit = self.here();
            self.steps[start] = Step::Loop { counter, min, max, greedy, exit };
        } else if min == 1 {
            let start = self.here();
            self.body(node, captures);
            if max == u32::MAX {
                self.steps.push(if greedy {
                    Step::TryOther { other: start }
                } else {
                    Step::Try { other: start }
                });
            }
        } else {
            let start = self.push(Step::Done);
            self.body(node, captures);
            if max == u32::MAX {
                self.steps.push(Step::Jump(address(start)));
            }
            let other = self.here();
            self.steps[start] = if greedy { Step::Try { other } } else { Step::TryOther { other } };
        }
    }

    fn body(&mut self, node: &Node, (from, to): (u32, u32)) {
        if self.is_referenced(from..to) {
            self.steps.push(Step::Reset(from * 2, to * 2));
        }
        self.node(node);
    }

    fn is_referenced(&self, groups: Range<u32>) -> bool {
        self.parsed.references.iter().any(|group| groups.contains(group))
    }

    fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    fn here(&self) -> Address {
        address(self.steps.len())
    }
}

fn address(index: usize) -> Address {
    Address::try_from(index).expect("patterns are at most 64 KiB long")
}

/// Tells whether a node may match nothing.
fn is_nullable(node: &Node) -> bool {
    match node {
        Node::Class(_) => false,
        Node::Capture(_, node) => is_nullable(node),
        Node::Sequence(nodes) => nodes.iter().all(is_nullable),
        Node::Alternatives(nodes) => nodes.iter().any(is_nullable),
        Node::Repeat(Repeat { node, min, .. }) => *min == 0 || is_nullable(node),
        _ => true,
    }
}

/// Tells whether a node matches only at the start of a text.
fn is_anchored(node: &Node) -> bool {
    match node {
        Node::Start => true,
        Node::Capture(_, node) => is_anchored(node),
        Node::Sequence(nodes) => nodes.first().is_some_and(is_anchored),
        Node::Alternatives(nodes) => nodes.iter().all(is_anchored),
        _ => false,
    }
}
