//! Memory for responses: budgets, and what a request holds of them.
//!
//! A budget may stand within another one, as that of a connection within that of the process. This
//! module knows neither requests nor connections; callers that pass no budget have no limit.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::error::{Error, Result};

/// Bytes that may be held at the same time.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: usize,
    used: AtomicUsize,
    parent: Option<Arc<Self>>,
}

impl MemoryBudget {
    pub fn new(limit: usize) -> Self {
        Self { limit, used: AtomicUsize::new(0), parent: None }
    }

    /// A budget whose bytes also count against `parent`.
    pub fn within(parent: &Arc<Self>, limit: usize) -> Self {
        Self { limit, used: AtomicUsize::new(0), parent: Some(Arc::clone(parent)) }
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Tells whether so many more bytes would fit now.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.used().saturating_add(bytes) <= self.limit
            && self.parent.as_ref().is_none_or(|parent| parent.has_room(bytes))
    }

    /// Takes bytes for a reservation that holds `own` bytes already. A reservation that is alone may
    /// exceed the limit: else a response that is larger than the budget could never be sent.
    fn take(&self, bytes: usize, own: usize) -> bool {
        let fits = |used: usize| {
            let sum = used.saturating_add(bytes);
            (sum <= self.limit || used <= own).then_some(sum)
        };
        if self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_err() {
            return false;
        }
        let is_taken = self.parent.as_ref().is_none_or(|parent| parent.take(bytes, own));
        if !is_taken {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        }
        is_taken
    }

    fn take_unchecked(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
        if let Some(parent) = &self.parent {
            parent.take_unchecked(bytes);
        }
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(parent) = &self.parent {
            parent.give_back(bytes);
        }
    }
}

/// Bytes of a budget that are in use until this is dropped.
#[derive(Debug, Default)]
pub struct Reservation {
    /// None has no limit.
    budget: Option<Arc<MemoryBudget>>,
    bytes: AtomicUsize,
}

impl Reservation {
    /// An empty reservation.
    pub fn of(budget: &Arc<MemoryBudget>) -> Self {
        Self { budget: Some(Arc::clone(budget)), bytes: AtomicUsize::new(0) }
    }

    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Takes more bytes.
    ///
    /// # Errors
    /// [`Error::Busy`] when the budget is used up.
    pub fn grow(&self, bytes: usize) -> Result<()> {
        let Some(budget) = &self.budget else { return Ok(()) };
        if !budget.take(bytes, self.bytes()) {
            let message = "the memory for responses is used up: too many or too large responses";
            return Err(Error::Busy(message.to_owned()));
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Takes more bytes, also beyond the limit: for what exists already or must be sent.
    pub fn grow_unchecked(&self, bytes: usize) {
        let Some(budget) = &self.budget else { return };
        budget.take_unchecked(bytes);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Gives bytes back.
    pub fn shrink(&self, bytes: usize) {
        let Some(budget) = &self.budget else { return };
        let held = self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        debug_assert!(held >= bytes, "more is given back than was taken");
        budget.give_back(bytes);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink(self.bytes());
    }
}

/// The part of a reservation that one buffer needs; given back when this is dropped.
#[derive(Debug)]
pub struct BufferReservation<'r> {
    reservation: &'r Reservation,
    bytes: usize,
}

impl<'r> BufferReservation<'r> {
    pub fn new(reservation: &'r Reservation) -> Self {
        Self { reservation, bytes: 0 }
    }

    /// Covers a buffer of this size.
    pub fn cover(&mut self, bytes: usize) -> Result<()> {
        if bytes > self.bytes {
            self.reservation.grow(bytes - self.bytes)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Covers so many bytes more.
    pub fn add(&mut self, bytes: usize) -> Result<()> {
        self.cover(self.bytes + bytes)
    }

    /// Leaves the bytes to the request: the buffer is its response.
    pub fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for BufferReservation<'_> {
    fn drop(&mut self) {
        self.reservation.shrink(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_share_a_budget_and_give_back_what_they_hold() {
        let budget = Arc::new(MemoryBudget::new(100));
        let first = Reservation::of(&budget);
        let second = Reservation::of(&budget);
        first.grow(60).unwrap();
        assert!(matches!(second.grow(41), Err(Error::Busy(_))));
        assert_eq!(budget.used(), 60);
        second.grow(40).unwrap();
        assert!(!budget.has_room(1));
        first.shrink(10);
        assert!(budget.has_room(10) && !budget.has_room(11));
        drop(first);
        assert_eq!(budget.used(), 40);
        second.grow_unchecked(100);
        assert_eq!((budget.used(), second.bytes()), (140, 140));
        drop(second);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_reservation_that_is_alone_may_exceed_the_limit() {
        let budget = Arc::new(MemoryBudget::new(100));
        let alone = Reservation::of(&budget);
        alone.grow(50).unwrap();
        alone.grow(500).unwrap();
        assert!(Reservation::of(&budget).grow(1).is_err());
        assert!(alone.grow(1).is_ok());
    }

    #[test]
    fn a_budget_within_another_counts_in_both() {
        let process = Arc::new(MemoryBudget::new(100));
        let one = Arc::new(MemoryBudget::within(&process, 60));
        let other = Arc::new(MemoryBudget::within(&process, 60));
        let first = Reservation::of(&one);
        first.grow(50).unwrap();
        assert!(Reservation::of(&one).grow(20).is_err(), "its own limit");
        let second = Reservation::of(&other);
        assert!(second.grow(55).is_err(), "the limit of the process");
        assert_eq!((one.used(), other.used(), process.used()), (50, 0, 50));
        second.grow(50).unwrap();
        drop((first, second));
        assert_eq!((one.used(), other.used(), process.used()), (0, 0, 0));
    }

    #[test]
    fn a_buffer_covers_its_largest_size_until_it_is_dropped_or_kept() {
        let budget = Arc::new(MemoryBudget::new(100));
        let request = Reservation::of(&budget);
        let mut buffer = BufferReservation::new(&request);
        buffer.cover(30).unwrap();
        buffer.cover(20).unwrap();
        buffer.add(10).unwrap();
        assert_eq!(budget.used(), 40);
        drop(buffer);
        assert_eq!(budget.used(), 0);
        let mut buffer = BufferReservation::new(&request);
        buffer.cover(30).unwrap();
        buffer.keep();
        assert_eq!((budget.used(), request.bytes()), (30, 30));
    }

    #[test]
    fn a_reservation_without_a_budget_has_no_limit() {
        let unlimited = Reservation::default();
        unlimited.grow(usize::MAX).unwrap();
        unlimited.shrink(usize::MAX);
        assert_eq!(unlimited.bytes(), 0);
    }
}
