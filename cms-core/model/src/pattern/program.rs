//! Compiles a tree to instructions of the backtracking matcher.
//!
//! Repetitions are counted while matching, not unrolled, so a program is not much longer than its
//! pattern. The body of a look-behind is compiled backwards, as ECMA 262 defines.

use std::ops::Range;

use regex_syntax::hir::ClassUnicode;

use super::parse::{Ast, ParsedPattern, Repeat};

/// Position of an instruction.
pub(super) type ProgramAddress = u32;

#[derive(Debug)]
pub(super) enum Instruction {
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
    /// Stores the position in a slot. Each capturing group has two slots: start and end.
    Save(u32),
    /// Unsets slots: first, and one past the last.
    UnsetSlots(u32, u32),
    Jump(ProgramAddress),
    /// Tries the next instruction and `other`.
    Try {
        other: ProgramAddress,
        other_first: bool,
    },
    /// Sets a counter to zero.
    ResetCounter(u32),
    /// Starts another iteration at the next instruction, or leaves the loop.
    Loop {
        counter: u32,
        min: u32,
        max: u32,
        greedy: bool,
        exit: ProgramAddress,
    },
    /// Counts an iteration.
    CountIteration(u32),
    /// A look-around: the instructions up to `end`, which succeed at [`Instruction::Done`].
    Look {
        negated: bool,
        end: ProgramAddress,
    },
    /// Consumes the text of a group.
    BackReference {
        group: u32,
        backward: bool,
    },
    Done,
}

#[derive(Debug)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    pub(super) slots: usize,
    pub(super) counters: usize,
    /// A match can only start at the start of the text.
    pub(super) is_anchored: bool,
}

impl Program {
    pub(super) fn new(parsed: &ParsedPattern) -> Self {
        let mut compiler =
            Compiler { parsed, instructions: Vec::new(), counters: 0, backward: false };
        compiler.node(&parsed.node);
        compiler.instructions.push(Instruction::Done);
        Self {
            instructions: compiler.instructions,
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
    parsed: &'a ParsedPattern,
    instructions: Vec<Instruction>,
    counters: u32,
    backward: bool,
}

impl Compiler<'_> {
    fn node(&mut self, node: &Ast) {
        let backward = self.backward;
        match node {
            Ast::Empty => {}
            Ast::Class(class) => {
                self.instructions.push(Instruction::Take { set: Set::new(class), backward });
            }
            Ast::Start => self.instructions.push(Instruction::Start),
            Ast::End => self.instructions.push(Instruction::End),
            Ast::WordBoundary { negated } => {
                self.instructions.push(Instruction::WordBoundary { negated: *negated });
            }
            // Groups without references are not captured.
            Ast::Capture(group, node) if !self.is_referenced(*group..group + 1) => {
                self.node(node);
            }
            Ast::Capture(group, node) => {
                let (first, last) = if backward { (1, 0) } else { (0, 1) };
                self.instructions.push(Instruction::Save(group * 2 + first));
                self.node(node);
                self.instructions.push(Instruction::Save(group * 2 + last));
            }
            Ast::Sequence(nodes) if backward => nodes.iter().rev().for_each(|n| self.node(n)),
            Ast::Sequence(nodes) => nodes.iter().for_each(|node| self.node(node)),
            Ast::Alternatives(nodes) => self.alternatives(nodes),
            Ast::Repeat(repeat) => self.repeat(repeat),
            Ast::Look { node, is_behind, negated } => {
                let look = self.push(Instruction::Done);
                self.backward = *is_behind;
                self.node(node);
                self.backward = backward;
                self.instructions.push(Instruction::Done);
                self.instructions[look] = Instruction::Look { negated: *negated, end: self.here() };
            }
            Ast::BackReference(group) => {
                self.instructions.push(Instruction::BackReference { group: *group, backward });
            }
            Ast::NamedReference(name) => {
                let group = self.parsed.groups[name];
                self.instructions.push(Instruction::BackReference { group, backward });
            }
        }
    }

    fn alternatives(&mut self, nodes: &[Ast]) {
        let mut ends = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.node(node);
            } else {
                let start = self.push(Instruction::Done);
                self.node(node);
                ends.push(self.push(Instruction::Done));
                self.instructions[start] =
                    Instruction::Try { other: self.here(), other_first: false };
            }
        }
        for end in ends {
            self.instructions[end] = Instruction::Jump(self.here());
        }
    }

    fn repeat(&mut self, repeat: &Repeat) {
        let &Repeat { ref node, min, max, greedy, captures } = repeat;
        let backward = self.backward;
        if let Ast::Class(class) = &**node {
            self.instructions.push(Instruction::Run {
                set: Set::new(class),
                min,
                max,
                greedy,
                backward,
            });
            return;
        }
        // Counters cost memory per iteration; most loops need none.
        let needs_counter = is_nullable(node) || min > 1 || (max != 1 && max != u32::MAX);
        if needs_counter {
            let counter = self.counters;
            self.counters += 1;
            self.instructions.push(Instruction::ResetCounter(counter));
            let start = self.push(Instruction::Done);
            self.instructions.push(Instruction::CountIteration(counter));
            self.body(node, captures);
            self.instructions.push(Instruction::Jump(address(start)));
            let exit = self.here();
            self.instructions[start] = Instruction::Loop { counter, min, max, greedy, exit };
        } else if min == 1 {
            let start = self.here();
            self.body(node, captures);
            if max == u32::MAX {
                self.instructions.push(Instruction::Try { other: start, other_first: greedy });
            }
        } else {
            let start = self.push(Instruction::Done);
            self.body(node, captures);
            if max == u32::MAX {
                self.instructions.push(Instruction::Jump(address(start)));
            }
            self.instructions[start] =
                Instruction::Try { other: self.here(), other_first: !greedy };
        }
    }

    fn body(&mut self, node: &Ast, (from, to): (u32, u32)) {
        if self.is_referenced(from..to) {
            self.instructions.push(Instruction::UnsetSlots(from * 2, to * 2));
        }
        self.node(node);
    }

    fn is_referenced(&self, groups: Range<u32>) -> bool {
        self.parsed.references.iter().any(|group| groups.contains(group))
    }

    fn push(&mut self, step: Instruction) -> usize {
        self.instructions.push(step);
        self.instructions.len() - 1
    }

    fn here(&self) -> ProgramAddress {
        address(self.instructions.len())
    }
}

fn address(index: usize) -> ProgramAddress {
    ProgramAddress::try_from(index).expect("patterns are at most 64 KiB long")
}

/// Returns whether a node may match the empty text.
fn is_nullable(node: &Ast) -> bool {
    match node {
        Ast::Class(_) => false,
        Ast::Capture(_, node) => is_nullable(node),
        Ast::Sequence(nodes) => nodes.iter().all(is_nullable),
        Ast::Alternatives(nodes) => nodes.iter().any(is_nullable),
        Ast::Repeat(Repeat { node, min, .. }) => *min == 0 || is_nullable(node),
        _ => true,
    }
}

/// Returns whether a node matches only at the start of a text.
fn is_anchored(node: &Ast) -> bool {
    match node {
        Ast::Start => true,
        Ast::Capture(_, node) => is_anchored(node),
        Ast::Sequence(nodes) => nodes.first().is_some_and(is_anchored),
        Ast::Alternatives(nodes) => nodes.iter().all(is_anchored),
        _ => false,
    }
}
