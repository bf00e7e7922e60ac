//! Matches by backtracking and counts the steps: for patterns with look-around or back references, and
//! for automata that are too large for [`super::linear`].
//!
//! A stack of frames holds the alternatives to try and the changes to undo. Only look-around
//! recurses, as deep as the pattern nests it.

use parking_lot::{Mutex, MutexGuard};

use super::{
    Exhausted, StepBudget,
    program::{Instruction, Program, ProgramAddress, Set},
};

/// Maximum number of frames of 16 bytes. A match that needs more exhausts the budget.
const MAX_FRAMES: usize = 2 << 20;
/// A match with at least this number of frames locks [`LONG_MATCH`]: long matches run one at a time,
/// which limits the memory of the process. Matches inside a write transaction never have that many
/// frames, see [`StepBudget::per_write`].
const LONG_MATCH_FRAMES: usize = 1 << 18;
static LONG_MATCH: Mutex<()> = Mutex::new(());

/// Value of an unset slot.
const UNSET: u32 = u32::MAX;

type Result<T> = std::result::Result<T, Exhausted>;

/// Returns whether a program matches anywhere in a text; false when the budget is exhausted.
pub(super) fn is_match(program: &Program, text: &str, budget: &mut StepBudget) -> bool {
    if u32::try_from(text.len()).is_err() {
        return false;
    }
    let mut matcher = Matcher {
        program,
        text,
        budget,
        slots: vec![UNSET; program.slots],
        counters: vec![Counter::default(); program.counters],
        frames: Vec::new(),
        long_match_lock: None,
    };
    matcher.search().unwrap_or(false)
}

struct Matcher<'a> {
    program: &'a Program,
    text: &'a str,
    budget: &'a mut StepBudget,
    slots: Vec<u32>,
    counters: Vec<Counter>,
    frames: Vec<Frame>,
    long_match_lock: Option<MutexGuard<'static, ()>>,
}

/// Iterations of a loop, and the start of the last one.
#[derive(Clone, Copy, Default)]
struct Counter {
    iterations: u32,
    start: u32,
}

enum Frame {
    /// An alternative to try.
    Try(ProgramAddress, u32),
    /// A greedy run that can release this many code points.
    GiveBack(ProgramAddress, u32, u32),
    /// A lazy run that can consume this many more code points.
    TakeMore(ProgramAddress, u32, u32),
    /// The former value of a slot.
    Slot(u32, u32),
    /// The former value of a counter.
    Counter(u32, Counter),
}

impl Matcher<'_> {
    fn search(&mut self) -> Result<bool> {
        let mut at = 0;
        loop {
            if self.run(0, at)? {
                return Ok(true);
            }
            match self.text[at as usize..].chars().next() {
                Some(c) if !self.program.is_anchored => at += len(c),
                _ => return Ok(false),
            }
        }
    }

    /// Runs instructions up to [`Instruction::Done`], or until there are no alternatives.
    fn run(&mut self, start: ProgramAddress, at: u32) -> Result<bool> {
        let base = self.frames.len();
        let mut state = Some((start, at));
        while let Some((address, at)) = state {
            self.budget.take(1)?;
            let step = &self.program.instructions[address as usize];
            if matches!(step, Instruction::Done) {
                return Ok(true);
            }
            state = match self.step(step, address, at)? {
                Some(next) => Some(next),
                None => self.backtrack(base)?,
            };
        }
        Ok(false)
    }

    /// Executes one instruction; none if it fails.
    fn step(
        &mut self,
        step: &Instruction,
        address: ProgramAddress,
        at: u32,
    ) -> Result<Option<(ProgramAddress, u32)>> {
        let next = address + 1;
        let holds = match *step {
            Instruction::Take { ref set, backward } => {
                return Ok(self.take(set, at, backward).map(|at| (next, at)));
            }
            Instruction::Run { ref set, min, max, greedy, backward } => {
                let maximum = if greedy { max } else { min };
                let (taken, end) = self.take_run(set, at, maximum, backward)?;
                if taken < min {
                    return Ok(None);
                }
                if greedy && taken > min {
                    self.push(Frame::GiveBack(address, end, taken - min))?;
                } else if !greedy && max > min {
                    self.push(Frame::TakeMore(address, end, max - min))?;
                }
                return Ok(Some((next, end)));
            }
            Instruction::Start => at == 0,
            Instruction::End => at as usize == self.text.len(),
            Instruction::WordBoundary { negated } => {
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let before = self.beside(at, true).is_some_and(is_word);
                let after = self.beside(at, false).is_some_and(is_word);
                (before != after) != negated
            }
            Instruction::Save(slot) => {
                self.set_slot(slot, at)?;
                true
            }
            Instruction::UnsetSlots(from, to) => {
                self.budget.take(u64::from(to - from))?;
                for slot in from..to {
                    if self.slots[slot as usize] != UNSET {
                        self.set_slot(slot, UNSET)?;
                    }
                }
                true
            }
            Instruction::Jump(address) => return Ok(Some((address, at))),
            Instruction::Try { other, other_first: false } => {
                return self.try_both(next, other, at);
            }
            Instruction::Try { other, other_first: true } => return self.try_both(other, next, at),
            Instruction::ResetCounter(counter) => {
                self.set_counter(counter, Counter::default())?;
                true
            }
            Instruction::Loop { counter, min, max, greedy, exit } => {
                let Counter { iterations, start } = self.counters[counter as usize];
                if iterations > min && start == at {
                    // An optional iteration must not match the empty text.
                    return Ok(None);
                }
                if iterations < min {
                    true
                } else if iterations >= max {
                    return Ok(Some((exit, at)));
                } else if greedy {
                    return self.try_both(next, exit, at);
                } else {
                    return self.try_both(exit, next, at);
                }
            }
            Instruction::CountIteration(counter) => {
                let iterations = self.counters[counter as usize].iterations.saturating_add(1);
                self.set_counter(counter, Counter { iterations, start: at })?;
                true
            }
            Instruction::Look { negated, end } => {
                return Ok(self.look_around(next, at, negated)?.then_some((end, at)));
            }
            Instruction::BackReference { group, backward } => {
                return Ok(self.repeat_group(group, at, backward)?.map(|at| (next, at)));
            }
            Instruction::Done => true,
        };
        Ok(holds.then_some((next, at)))
    }

    fn try_both(
        &mut self,
        first: ProgramAddress,
        second: ProgramAddress,
        at: u32,
    ) -> Result<Option<(ProgramAddress, u32)>> {
        self.push(Frame::Try(second, at))?;
        Ok(Some((first, at)))
    }

    /// Undoes the changes since the last alternative, and tries it.
    fn backtrack(&mut self, base: usize) -> Result<Option<(ProgramAddress, u32)>> {
        while self.frames.len() > base {
            self.budget.take(1)?;
            match self.frames.pop() {
                Some(Frame::Try(address, at)) => return Ok(Some((address, at))),
                Some(Frame::GiveBack(address, at, count)) => {
                    if let Some(next) = self.give_back(address, at, count)? {
                        return Ok(Some(next));
                    }
                }
                Some(Frame::TakeMore(address, at, count)) => {
                    let program = self.program;
                    let Instruction::Run { set, backward, .. } =
                        &program.instructions[address as usize]
                    else {
                        return Ok(None);
                    };
                    let Some(at) = self.take(set, at, *backward) else { continue };
                    if count > 1 {
                        self.frames.push(Frame::TakeMore(address, at, count - 1));
                    }
                    return Ok(Some((address + 1, at)));
                }
                Some(undo) => self.undo(&undo),
                None => {}
            }
        }
        Ok(None)
    }

    /// Releases code points of a greedy run one by one until the next instruction may succeed.
    fn give_back(
        &mut self,
        address: ProgramAddress,
        mut at: u32,
        mut count: u32,
    ) -> Result<Option<(ProgramAddress, u32)>> {
        let program = self.program;
        let Instruction::Run { backward, .. } = program.instructions[address as usize] else {
            return Ok(None);
        };
        let next = &program.instructions[address as usize + 1];
        while count > 0 {
            self.budget.take(1)?;
            count -= 1;
            let width = self.beside(at, !backward).map_or(0, len);
            at = if backward { at + width } else { at - width };
            let may_hold = match next {
                Instruction::Take { set, backward } => self.take(set, at, *backward).is_some(),
                _ => true,
            };
            if may_hold {
                if count > 0 {
                    self.frames.push(Frame::GiveBack(address, at, count));
                }
                return Ok(Some((address + 1, at)));
            }
        }
        Ok(None)
    }

    fn undo(&mut self, frame: &Frame) {
        match *frame {
            Frame::Slot(slot, value) => self.slots[slot as usize] = value,
            Frame::Counter(counter, value) => self.counters[counter as usize] = value,
            _ => {}
        }
    }

    /// Returns whether a look-around succeeds. The matcher never backtracks into a look-around, so its
    /// alternatives are dropped. Its captures stay, and are undone together with those around it.
    fn look_around(&mut self, body: ProgramAddress, at: u32, negated: bool) -> Result<bool> {
        let base = self.frames.len();
        let matched = self.run(body, at)?;
        if matched && negated {
            for frame in self.frames.split_off(base).iter().rev() {
                self.undo(frame);
            }
        } else if matched {
            let mut kept = base;
            for index in base..self.frames.len() {
                if matches!(self.frames[index], Frame::Slot(..) | Frame::Counter(..)) {
                    self.frames.swap(kept, index);
                    kept += 1;
                }
            }
            self.frames.truncate(kept);
        }
        Ok(matched != negated)
    }

    /// Consumes the text of a group again. A group without a capture is the empty text.
    fn repeat_group(&mut self, group: u32, at: u32, backward: bool) -> Result<Option<u32>> {
        let (start, end) = (self.slots[group as usize * 2], self.slots[group as usize * 2 + 1]);
        if start == UNSET || end == UNSET {
            return Ok(Some(at));
        }
        self.budget.take(u64::from(end - start))?;
        let captured = &self.text[start as usize..end as usize];
        let (before, after) = self.text.split_at(at as usize);
        Ok(if backward {
            before.ends_with(captured).then(|| at - (end - start))
        } else {
            after.starts_with(captured).then(|| at + (end - start))
        })
    }

    fn take(&self, set: &Set, at: u32, backward: bool) -> Option<u32> {
        let c = self.beside(at, backward).filter(|c| set.contains(*c))?;
        Some(if backward { at - len(c) } else { at + len(c) })
    }

    /// Consumes code points of a set, `maximum` at most.
    fn take_run(&mut self, set: &Set, at: u32, maximum: u32, backward: bool) -> Result<(u32, u32)> {
        let (mut taken, mut end) = (0, at);
        while taken < maximum
            && let Some(next) = self.take(set, end, backward)
        {
            self.budget.take(1)?;
            (taken, end) = (taken + 1, next);
        }
        Ok((taken, end))
    }

    /// The code point before or after a position.
    fn beside(&self, at: u32, before: bool) -> Option<char> {
        if before {
            self.text[..at as usize].chars().next_back()
        } else {
            self.text[at as usize..].chars().next()
        }
    }

    fn set_slot(&mut self, slot: u32, value: u32) -> Result<()> {
        let former = std::mem::replace(&mut self.slots[slot as usize], value);
        self.push(Frame::Slot(slot, former))
    }

    fn set_counter(&mut self, counter: u32, value: Counter) -> Result<()> {
        let former = std::mem::replace(&mut self.counters[counter as usize], value);
        self.push(Frame::Counter(counter, former))
    }

    fn push(&mut self, frame: Frame) -> Result<()> {
        if self.frames.len() >= LONG_MATCH_FRAMES && self.long_match_lock.is_none() {
            self.long_match_lock = Some(LONG_MATCH.lock());
        }
        if self.frames.len() >= MAX_FRAMES {
            return self.budget.take(u64::MAX);
        }
        self.frames.push(frame);
        Ok(())
    }
}

fn len(c: char) -> u32 {
    u32::try_from(c.len_utf8()).unwrap_or_default()
}
