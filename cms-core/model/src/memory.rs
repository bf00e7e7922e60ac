//! The response memory budget, and the bytes that a request reserves of it.
//!
//! Budgets nest: the budget of a connection counts against that of the process. This module knows
//! neither requests nor connections; without a budget there is no limit.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::error::{Error, Result};

/// A maximum number of bytes in use at the same time.
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

    /// Returns whether this many more bytes would fit now.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.used().saturating_add(bytes) <= self.limit
            && self.parent.as_ref().is_none_or(|parent| parent.has_room(bytes))
    }

    /// Takes bytes for a reservation that already has `own` bytes. A reservation may exceed the
    /// limit while it is the only one: otherwise a response larger than the budget could never be sent.
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

    fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(parent) = &self.parent {
            parent.release(bytes);
        }
    }
}

/// Bytes of a budget, released on drop.
#[derive(Debug, Default)]
pub struct Reservation {
    /// Without a budget there is no limit.
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

    /// Reserves more bytes.
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

    /// Reserves more bytes without checking the limit: for data that exists already or must be
    /// sent.
    pub fn grow_unchecked(&self, bytes: usize) {
        let Some(budget) = &self.budget else { return };
        budget.take_unchecked(bytes);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Releases bytes.
    pub fn shrink(&self, bytes: usize) {
        let Some(budget) = &self.budget else { return };
        let held = self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        debug_assert!(held >= bytes, "more bytes are released than were reserved");
        budget.release(bytes);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink(self.bytes());
    }
}

/// The bytes of a reservation for one buffer, released on drop.
#[derive(Debug)]
pub struct BufferReservation<'r> {
    reservation: &'r Reservation,
    bytes: usize,
}

impl<'r> BufferReservation<'r> {
    pub fn new(reservation: &'r Reservation) -> Self {
        Self { reservation, bytes: 0 }
    }

    /// Grows the reservation to a buffer of this size.
    pub fn grow_to(&mut self, bytes: usize) -> Result<()> {
        if bytes > self.bytes {
            self.reservation.grow(bytes - self.bytes)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Grows the reservation by this many bytes.
    pub fn add(&mut self, bytes: usize) -> Result<()> {
        self.grow_to(self.bytes + bytes)
    }

    /// Keeps the bytes reserved for the request: the buffer is its response.
    pub fn transfer_to_request(mut self) {
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
    fn reservations_share_a_budget_and_release_their_bytes() {
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
    fn reservation_may_exceed_the_limit_when_it_is_the_only_one() {
        let budget = Arc::new(MemoryBudget::new(100));
        let alone = Reservation::of(&budget);
        alone.grow(50).unwrap();
        alone.grow(500).unwrap();
        assert!(Reservation::of(&budget).grow(1).is_err());
        assert!(alone.grow(1).is_ok());
    }

    #[test]
    fn nested_budget_counts_in_both() {
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
    fn buffer_reservation_covers_the_largest_size_until_dropped_or_transferred() {
        let budget = Arc::new(MemoryBudget::new(100));
        let request = Reservation::of(&budget);
        let mut buffer = BufferReservation::new(&request);
        buffer.grow_to(30).unwrap();
        buffer.grow_to(20).unwrap();
        buffer.add(10).unwrap();
        assert_eq!(budget.used(), 40);
        drop(buffer);
        assert_eq!(budget.used(), 0);
        let mut buffer = BufferReservation::new(&request);
        buffer.grow_to(30).unwrap();
        buffer.transfer_to_request();
        assert_eq!((budget.used(), request.bytes()), (30, 30));
    }

    #[test]
    fn reservation_without_a_budget_has_no_limit() {
        let unlimited = Reservation::default();
        unlimited.grow(usize::MAX).unwrap();
        unlimited.shrink(usize::MAX);
        assert_eq!(unlimited.bytes(), 0);
    }
}
