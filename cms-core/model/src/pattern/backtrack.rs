//! Matches by backtracking, with a count of steps: for look-around, back references, and automata
//! that are too large for [`super::linear`].
//!
//! What is left to try is a stack of frames, and so is what must be undone first. Only look-around
//! recurses, as deep as a pattern nests it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{
    Exhausted, StepBudget,
    program::{Address, Program, Set, Step},
};

/// Most frames: 16 bytes each. A match that needs more counts as out of budget.
const MAX_FRAMES: usize = 2 << 20;
/// Frames from which on a match is one of the few long ones, which run one after the other: so their
/// memory is bounded for the whole process. A job of the writer never has as many.
const LONG_FRAMES: usize = 1 << 18;
static LONG_MATCH: Mutex<()> = Mutex::new(());

/// Value of a slot that holds no position.
const UNSET: u32 = u32::MAX;

type Result<T> = std::result::Result<T, Exhausted>;

/// Tells whether a program matches anywhere in a text. Out of steps, it does not.
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
        long: None,
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
    long: Option<MutexGuard<'static, ()>>,
}

/// Iterations of a loop, and where the last one began.
#[derive(Clone, Copy, Default)]
struct Counter {
    iterations: u32,
    start: u32,
}

enum Frame {
    /// Another way to go on.
    Try(Address, u32),
    /// A greedy run that can give back so many code points.
    GiveBack(Address, u32, u32),
    /// A lazy run that can take so many more code points.
    TakeMore(Address, u32, u32),
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

    /// Runs instructions up to [`Step::Done`], or until nothing is left to try.
    fn run(&mut self, start: Address, at: u32) -> Result<bool> {
        let base = self.frames.len();
        let mut state = Some((start, at));
        while let Some((address, at)) = state {
            self.budget.take(1)?;
            let step = &self.program.steps[address as usize];
            if matches!(step, Step::Done) {
                return Ok(true);
            }
            state = match self.step(step, address, at)? {
                Some(next) => Some(next),
                None => self.retreat(base)?,
            };
        }
        Ok(false)
    }

    /// Carries out one instruction; none if it fails.
    fn step(&mut self, step: &Step, address: Address, at: u32) -> Result<Option<(Address, u32)>> {
        let next = address + 1;
        let holds = match *step {
            Step::Take { ref set, backward } => {
                return Ok(self.take(set, at, backward).map(|at| (next, at)));
            }
            Step::Run { ref set, min, max, greedy, backward } => {
                let most = if greedy { max } else { min };
                let (taken, end) = self.take_many(set, at, most, backward)?;
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
            Step::Start => at == 0,
            Step::End => at as usize == self.text.len(),
            Step::WordBoundary { negated } => {
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let before = self.beside(at, true).is_some_and(is_word);
                let behind = self.beside(at, false).is_some_and(is_word);
                (before != behind) != negated
            }
            Step::Save(slot) => {
                self.set_slot(slot, at)?;
                true
            }
            Step::Reset(from, to) => {
                self.budget.take(u64::from(to - from))?;
                for slot in from..to {
                    if self.slots[slot as usize] != UNSET {
                        self.set_slot(slot, UNSET)?;
                    }
                }
                true
            }
            Step::Jump(address) => return Ok(Some((address, at))),
            Step::Try { other } => {
                self.push(Frame::Try(other, at))?;
                true
            }
            Step::TryOther { other } => {
                self.push(Frame::Try(next, at))?;
                return Ok(Some((other, at)));
            }
            Step::Count(counter) => {
                self.set_counter(counter, Counter::default())?;
                true
            }
            Step::Loop { counter, min, max, greedy, exit } => {
                let Counter { iterations, start } = self.counters[counter as usize];
                if iterations > min && start == at {
                    // An optional iteration must not match nothing.
                    return Ok(None);
                }
                if iterations < min {
                    true
                } else if iterations >= max {
                    return Ok(Some((exit, at)));
                } else if greedy {
                    self.push(Frame::Try(exit, at))?;
                    true
                } else {
                    self.push(Frame::Try(next, at))?;
                    return Ok(Some((exit, at)));
                }
            }
            Step::Iterate(counter) => {
                let iterations = self.counters[counter as usize].iterations.saturating_add(1);
                self.set_counter(counter, Counter { iterations, start: at })?;
                true
            }
            Step::Look { negated, end } => {
                return Ok(self.look(next, at, negated)?.then_some((end, at)));
            }
            Step::BackReference { group, backward } => {
                return Ok(self.repeat_group(group, at, backward)?.map(|at| (next, at)));
            }
            Step::Done => true,
        };
        Ok(holds.then_some((next, at)))
    }

    /// Undoes what was done since the last choice, and makes another one.
    fn retreat(&mut self, base: usize) -> Result<Option<(Address, u32)>> {
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
                    let Step::Run { set, backward, .. } = &program.steps[address as usize] else {
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

    /// Gives back what a greedy run took, one code point after the other, up to where the next
    /// instruction may hold.
    fn give_back(
        &mut self,
        address: Address,
        mut at: u32,
        mut count: u32,
    ) -> Result<Option<(Address, u32)>> {
        let program = self.program;
        let Step::Run { backward, .. } = program.steps[address as usize] else { return Ok(None) };
        let next = &program.steps[address as usize + 1];
        while count > 0 {
            self.budget.take(1)?;
            count -= 1;
            let given = self.beside(at, !backward).map_or(0, len);
            at = if backward { at + given } else { at - given };
            let may_hold = match next {
                Step::Take { set, backward } => self.take(set, at, *backward).is_some(),
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

    /// Tells whether a look-around holds. It is never entered again, so what is left to try of it is
    /// dropped; what it captured is kept, and undone with what surrounds it.
    fn look(&mut self, body: Address, at: u32, negated: bool) -> Result<bool> {
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

    /// Takes what a group captured once more. A group that captured nothing is the empty text.
    fn repeat_group(&mut self, group: u32, at: u32, backward: bool) -> Result<Option<u32>> {
        let (start, end) = (self.slots[group as usize * 2], self.slots[group as usize * 2 + 1]);
        if start == UNSET || end == UNSET {
            return Ok(Some(at));
        }
        self.budget.take(u64::from(end - start))?;
        let captured = &self.text[start as usize..end as usize];
        let (before, behind) = self.text.split_at(at as usize);
        Ok(if backward {
            before.ends_with(captured).then(|| at - (end - start))
        } else {
            behind.starts_with(captured).then(|| at + (end - start))
        })
    }

    fn take(&self, set: &Set, at: u32, backward: bool) -> Option<u32> {
        let c = self.beside(at, backward).filter(|c| set.contains(*c))?;
        Some(if backward { at - len(c) } else { at + len(c) })
    }

    /// Takes as many code points of a set as there are, up to a limit.
    fn take_many(&mut self, set: &Set, at: u32, most: u32, backward: bool) -> Result<(u32, u32)> {
        let (mut taken, mut end) = (0, at);
        while taken < most
            && let Some(next) = self.take(set, end, backward)
        {
            self.budget.take(1)?;
            (taken, end) = (taken + 1, next);
        }
        Ok((taken, end))
    }

    /// The code point before a position, or behind it.
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
        if self.frames.len() >= LONG_FRAMES && self.long.is_none() {
            self.long = Some(LONG_MATCH.lock().unwrap_or_else(PoisonError::into_inner));
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
