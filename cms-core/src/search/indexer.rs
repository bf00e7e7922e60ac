//! Updates the index: decides which thread does so, and when.
//!
//! A search that finds the index behind updates it itself, and concurrent searches wait for that. A
//! server also updates it in the background, in short batches: often enough that a search has little
//! left to index, and not more often, because each commit has a fixed cost. Of several processes on
//! one data directory, the one with the lock writes, and the others wait for its commits.
//!
//! A new generation of the index is built beside the current one, and replaces it when it is complete.

use std::{
    fs::File,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use cms_model::error::{Error, Result};
use cms_search::{Generation, IndexPosition, TypeReindex};
use parking_lot::{Condvar, Mutex};

use super::{
    generation_folder::{CurrentGeneration, GenerationFolder},
    index_follower::{ContentSource, IndexFollower, StepResult},
};

/// Duration of one background indexing batch; a search may have to wait for it.
const BATCH_DURATION: Duration = Duration::from_millis(200);
/// Pause of background indexing after a commit, while many changes come, so that one commit contains
/// many of them.
const COMMIT_PAUSE: Duration = Duration::from_secs(1);
/// Minimum number of waiting changes for the pause. Fewer changes are committed without it, because a
/// site with few writes has time for more commits.
const MIN_CHANGES_FOR_PAUSE: i64 = 100;
/// Number of waiting changes that ends the pause, because a search would have to index them.
const MAX_BACKLOG: i64 = 1_000;
/// Poll interval for the commits of another process.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The index of one data directory.
pub(crate) struct Indexer {
    folder: GenerationFolder,
    state: Mutex<State>,
    /// Notified when the writer state was released, or a commit became visible.
    released: Condvar,
    /// Searches that wait for a commit.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct State {
    current: Option<Arc<CurrentGeneration>>,
    /// The position of the next generation.
    next: Option<IndexPosition>,
    writer: WriterSlot,
    /// Time of the last commit of this process.
    committed_at: Option<Instant>,
    /// The last indexing error, until indexing succeeds.
    failure: Option<String>,
}

/// The writer state, which one thread at a time uses.
enum WriterSlot {
    /// Not in use; `Some` if this process has the lock of the index.
    Available(Option<Box<WriterState>>),
    InUse,
}

impl Default for WriterSlot {
    fn default() -> Self {
        Self::Available(None)
    }
}

/// The progress of a reindex job.
pub(super) enum Stage {
    Waiting,
    /// These types are not finished.
    Running(Vec<TypeReindex>),
    Done,
}

/// The writer state of this process.
struct WriterState {
    _lock: File,
    current: Option<OpenGeneration>,
    /// A new generation that is not complete yet.
    next: Option<OpenGeneration>,
}

/// A generation open for writing.
struct OpenGeneration {
    number: u64,
    follower: IndexFollower,
}

/// When indexing stops, besides at the end of the journal.
#[derive(Clone, Copy)]
struct Goal {
    /// This row of the journal is indexed.
    seq: i64,
    deadline: Instant,
    /// Background indexing yields to waiting searches.
    yields: bool,
}

impl Indexer {
    pub(crate) fn new(data: &Path) -> Self {
        Self {
            folder: GenerationFolder::new(data),
            state: Mutex::default(),
            released: Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Returns a generation with every change up to a row of the journal; when that takes longer
    /// than `wait`, the newest one.
    ///
    /// # Errors
    /// [`Error::Busy`] while another process has not created the first generation yet.
    pub(super) fn wait_for_position(
        &self,
        source: ContentSource<'_>,
        seq: i64,
        wait: Duration,
    ) -> Result<Arc<CurrentGeneration>> {
        let deadline = Instant::now() + wait;
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let current = self.index_until(source, Goal { seq, deadline, yields: false });
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        current
    }

    fn index_until(&self, source: ContentSource<'_>, goal: Goal) -> Result<Arc<CurrentGeneration>> {
        let mut state = self.state.lock();
        loop {
            let now = Instant::now();
            match &state.current {
                Some(current) if current.position.covers(goal.seq) || now >= goal.deadline => {
                    return Ok(Arc::clone(current));
                }
                _ => {}
            }
            match std::mem::replace(&mut state.writer, WriterSlot::InUse) {
                WriterSlot::InUse => {
                    let timeout = goal.deadline.saturating_duration_since(now).max(POLL_INTERVAL);
                    self.released.wait_for(&mut state, timeout);
                }
                WriterSlot::Available(writer) => {
                    drop(state);
                    let has_lock = self.index_if_locked(writer, source, goal);
                    state = self.state.lock();
                    match has_lock {
                        Ok(true) => {}
                        Ok(false) if state.current.is_none() && now >= goal.deadline => {
                            return Err(Error::Busy(
                                "the search index is being created".to_owned(),
                            ));
                        }
                        // Another process writes: poll again soon.
                        Ok(false) => {
                            self.released.wait_for(&mut state, POLL_INTERVAL);
                        }
                        Err(error) => return state.current.clone().ok_or(error),
                    }
                }
            }
        }
    }

    /// Runs one indexing batch; returns whether more is to be done.
    pub(super) fn index_batch(&self, source: ContentSource<'_>) -> Result<bool> {
        let WriterSlot::Available(writer) =
            std::mem::replace(&mut self.state.lock().writer, WriterSlot::InUse)
        else {
            return Ok(false);
        };
        let goal = Goal { seq: i64::MAX, deadline: Instant::now() + BATCH_DURATION, yields: true };
        let has_lock = self.index_if_locked(writer, source, goal)?;
        let state = self.state.lock();
        let WriterSlot::Available(Some(writer)) = &state.writer else { return Ok(false) };
        Ok(has_lock && writer.has_more())
    }

    /// Returns whether a searched index is still the current one, and no new index of all types is being built.
    pub(super) fn is_still_current(&self, searched: &CurrentGeneration) -> bool {
        let state = self.state.lock();
        let number = state.current.as_ref().map(|current| current.number);
        state.next.is_none() && number == Some(searched.number)
    }

    /// Returns whether a batch in the background has enough to do; `seq` is the last row of the
    /// journal.
    pub(super) fn is_due(&self, seq: i64) -> bool {
        let state = self.state.lock();
        let (Some(current), Some(committed_at)) = (&state.current, state.committed_at) else {
            return true;
        };
        !current.position.reindexes.is_empty()
            || state.next.is_some()
            || is_worth_a_commit(seq - current.position.seq, committed_at.elapsed())
    }

    /// Returns the progress of the reindex job of a journal row, and the last indexing error. Type 0
    /// stands for all types.
    pub(super) fn stage(
        &self,
        source: ContentSource<'_>,
        seq: i64,
        ctds: &[i64],
    ) -> Result<(Stage, Option<String>)> {
        if matches!(self.state.lock().writer, WriterSlot::Available(None)) {
            self.reload(source)?;
        }
        let state = self.state.lock();
        let failure = state.failure.clone();
        let Some(current) = state.current.as_ref().filter(|current| current.position.seq >= seq)
        else {
            return Ok((Stage::Waiting, failure));
        };
        let is_all = ctds.contains(&0);
        let (position, is_next) = match &state.next {
            Some(next) if is_all => (next, true),
            _ => (&current.position, false),
        };
        let is_wanted = |reindex: &&TypeReindex| is_all || ctds.contains(&reindex.ctd);
        let pending: Vec<TypeReindex> =
            position.reindexes.iter().filter(is_wanted).cloned().collect();
        let is_done = pending.is_empty() && !is_next;
        Ok((if is_done { Stage::Done } else { Stage::Running(pending) }, failure))
    }

    /// The row of the journal up to which changes are searchable; none before the index was opened.
    pub(crate) fn position(&self) -> Option<i64> {
        self.state.lock().current.as_ref().map(|current| current.position.seq)
    }

    /// The last indexing error, if any.
    pub(crate) fn last_error(&self) -> Option<String> {
        self.state.lock().failure.clone()
    }

    /// The sequence number of the first journal row that the index needs; none while another
    /// process or thread has the index writer.
    pub(crate) fn oldest_needed_seq(&self) -> Option<i64> {
        let state = self.state.lock();
        let WriterSlot::Available(Some(writer)) = &state.writer else { return None };
        let generations = writer.current.iter().chain(&writer.next);
        // The index needs also the last row that it contains: when the index is opened,
        // `history_contains` compares the nonce of this row.
        generations.map(|generation| generation.follower.committed()).min()
    }

    /// Drops an unreadable generation, so that the next search begins a new one; returns whether
    /// this process may do that.
    pub(super) fn discard(&self, broken: &CurrentGeneration) -> bool {
        let mut state = self.state.lock();
        let is_ours = matches!(&state.writer, WriterSlot::Available(Some(_)));
        let is_current =
            state.current.as_ref().is_some_and(|current| current.number == broken.number);
        if is_ours && is_current {
            state.writer = WriterSlot::Available(None);
            state.current = None;
            self.folder.discard(broken.number);
        }
        is_ours
    }

    /// Indexes up to a goal, and returns the writer state to its slot. Returns whether this process has the lock of the
    /// index: without it, only the commits of the process that has it are read.
    fn index_if_locked(
        &self,
        writer: Option<Box<WriterState>>,
        source: ContentSource<'_>,
        goal: Goal,
    ) -> Result<bool> {
        let mut returned = ReturnWriterOnDrop { indexer: self, writer: None };
        let found = writer.map_or_else(|| self.open_writer(source), |writer| Ok(Some(writer)));
        let has_lock = found.and_then(|writer| {
            let Some(mut writer) = writer else { return self.reload(source).map(|()| false) };
            self.run(&mut writer, source, goal)?;
            self.state.lock().next =
                writer.next.as_ref().map(|next| next.follower.position.clone());
            // After a failure the writer state is dropped: the next batch opens the generations
            // again.
            returned.writer = Some(writer);
            Ok(true)
        });
        self.state.lock().failure = has_lock.as_ref().err().map(ToString::to_string);
        has_lock
    }

    fn run(&self, writer: &mut WriterState, source: ContentSource<'_>, goal: Goal) -> Result<()> {
        if writer.current.is_none() && writer.next.is_none() {
            writer.next = Some(self.begin(source)?);
        }
        // Without a current generation, an incomplete one is better than none.
        if writer.current.is_none() && self.state.lock().current.is_none() {
            self.activate_next(writer)?;
        }
        loop {
            let is_done = self.step(writer, source, goal)?;
            let has_waiters = self.waiting.load(Ordering::Relaxed) > 0;
            if is_done || Instant::now() >= goal.deadline || (goal.yields && has_waiters) {
                break;
            }
        }
        if let Some(current) = &mut writer.current
            && current.follower.is_dirty()
        {
            current.follower.commit()?;
            self.expose_commit(current);
        }
        Ok(())
    }

    /// Runs one step; returns whether the goal is reached.
    fn step(
        &self,
        writer: &mut WriterState,
        source: ContentSource<'_>,
        goal: Goal,
    ) -> Result<bool> {
        let mut step = StepResult::Idle;
        if let Some(current) = &mut writer.current {
            step = current.follower.step(source)?;
        }
        // The rebuild begins now: the journal row that requests it is not read again.
        if step == StepResult::RebuildWanted && writer.next.is_none() {
            writer.next = Some(self.begin(source)?);
        }
        if writer.current.as_ref().is_some_and(|current| current.follower.position.covers(goal.seq))
        {
            return Ok(true);
        }
        let Some(next) = &mut writer.next else { return Ok(step == StepResult::Idle) };
        // The current generation comes first.
        if step == StepResult::Idle && next.follower.step(source)? == StepResult::Idle {
            self.activate_next(writer)?;
        }
        Ok(false)
    }

    /// Takes the lock and opens the generations; none when another process has it.
    fn open_writer(&self, source: ContentSource<'_>) -> Result<Option<Box<WriterState>>> {
        let Some(lock) = self.folder.try_lock()? else { return Ok(None) };
        let mut writer = WriterState { _lock: lock, current: None, next: None };
        let current_number = self.folder.current();
        for number in self.folder.numbers()? {
            let Some(generation) = Generation::open(&self.folder.path_of(number))? else {
                self.folder.remove(number)?;
                continue;
            };
            let generation = Arc::new(generation);
            let position = generation.position()?;
            let is_current = current_number == Some(number);
            let is_in_history = source.history_contains(&position)?;
            if is_current {
                let found = (number, Arc::clone(&generation), position.clone());
                self.state.lock().current = Some(CurrentGeneration::found(found, is_in_history));
            }
            if !is_in_history || current_number.is_some_and(|current| number < current) {
                // This index cannot be updated: the database was restored to another state since, or the index is older
                // than the current one. Only the current index is kept: searches use it until a new one is complete,
                // and ignore hits that are not in the database.
                if !is_current {
                    self.folder.remove(number)?;
                }
                continue;
            }
            let generation =
                OpenGeneration { number, follower: IndexFollower::new(generation, position) };
            if is_current {
                writer.current = Some(generation);
            } else {
                writer.next = Some(generation);
            }
        }
        Ok(Some(Box::new(writer)))
    }

    /// Begins a new generation.
    fn begin(&self, source: ContentSource<'_>) -> Result<OpenGeneration> {
        let number = self.folder.numbers()?.last().map_or(1, |last| last + 1);
        let generation = Arc::new(Generation::create(&self.folder.path_of(number))?);
        Ok(OpenGeneration { number, follower: IndexFollower::begin(generation, source)? })
    }

    /// Makes the next generation the current one, and removes the previous one.
    fn activate_next(&self, writer: &mut WriterState) -> Result<()> {
        let Some(mut next) = writer.next.take() else { return Ok(()) };
        next.follower.commit()?;
        self.folder.set_current(next.number)?;
        self.expose_commit(&next);
        let number = next.number;
        writer.current = Some(next);
        for old in self.folder.numbers()?.into_iter().filter(|old| *old < number) {
            self.folder.remove(old)?;
        }
        Ok(())
    }

    /// Makes committed changes visible to searches.
    fn expose_commit(&self, generation: &OpenGeneration) {
        let current = CurrentGeneration {
            number: generation.number,
            generation: Arc::clone(&generation.follower.generation),
            position: generation.follower.position.clone(),
        };
        let mut state = self.state.lock();
        state.current = Some(Arc::new(current));
        state.committed_at = Some(Instant::now());
        drop(state);
        self.released.notify_all();
    }

    /// Reads the commits of another process.
    fn reload(&self, source: ContentSource<'_>) -> Result<()> {
        let Some(number) = self.folder.current() else { return Ok(()) };
        let before = self.state.lock().current.clone();
        let known = before.as_ref().filter(|current| current.number == number);
        let generation = if let Some(current) = known {
            Arc::clone(&current.generation)
        } else {
            let opened = Generation::open(&self.folder.path_of(number))?;
            Arc::new(opened.ok_or_else(|| Error::internal("the index is not readable"))?)
        };
        // In this order, so that the index contains at least the changes up to its position.
        let position = generation.position()?;
        generation.reload()?;
        let is_in_history = source.history_contains(&position)?;
        let newest = self.folder.numbers()?.last().copied().filter(|newest| *newest > number);
        let next =
            newest.map(|newest| Generation::open(&self.folder.path_of(newest))).transpose()?;
        let next = next.flatten().and_then(|next| next.position().ok());
        let mut state = self.state.lock();
        // Another thread may have begun to write, and published a newer commit.
        if state.current.as_ref().map(Arc::as_ptr) == before.as_ref().map(Arc::as_ptr) {
            state.next = next;
            state.current =
                Some(CurrentGeneration::found((number, generation, position), is_in_history));
        }
        Ok(())
    }
}

impl WriterState {
    fn has_more(&self) -> bool {
        self.next.is_some()
            || self
                .current
                .as_ref()
                .is_none_or(|current| !current.follower.position.reindexes.is_empty())
    }
}

/// Returns the writer state on drop.
struct ReturnWriterOnDrop<'a> {
    indexer: &'a Indexer,
    writer: Option<Box<WriterState>>,
}

impl Drop for ReturnWriterOnDrop<'_> {
    fn drop(&mut self) {
        self.indexer.state.lock().writer = WriterSlot::Available(self.writer.take());
        self.indexer.released.notify_all();
    }
}

/// Returns whether background indexing starts with this backlog when the last commit was `since`
/// ago.
fn is_worth_a_commit(backlog: i64, since: Duration) -> bool {
    let pauses = (MIN_CHANGES_FOR_PAUSE..MAX_BACKLOG).contains(&backlog) && since < COMMIT_PAUSE;
    backlog > 0 && !pauses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_pauses_while_many_changes_come() {
        let early = COMMIT_PAUSE / 2;
        for (backlog, since, expected) in [
            (0, COMMIT_PAUSE, false),
            (1, early, true),
            (MIN_CHANGES_FOR_PAUSE, early, false),
            (MIN_CHANGES_FOR_PAUSE, COMMIT_PAUSE, true),
            (MAX_BACKLOG - 1, early, false),
            (MAX_BACKLOG, early, true),
            // The database was restored to an earlier state.
            (-1, COMMIT_PAUSE, false),
        ] {
            assert_eq!(is_worth_a_commit(backlog, since), expected, "{backlog} after {since:?}");
        }
    }
}
