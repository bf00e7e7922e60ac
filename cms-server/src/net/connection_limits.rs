//! Which connections are accepted: how many in all, and how many of one client address; and how much
//! memory the responses to one address may take.
//!
//! Requests are none of its business: [`crate::net::rate_limit`] limits those.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use cms_core::MemoryBudget;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{config::ServerConfig, net::rate_limit};

/// Connections of one public address, unless the operator says otherwise.
const CONNECTIONS_PER_ADDRESS: usize = 128;
/// An address whose connections are limited may take one in so many bytes of the memory for responses.
const ADDRESSES_PER_BUDGET: usize = 4;

pub(crate) struct Admission {
    all: usize,
    slots: Arc<Semaphore>,
    limit: AddressLimit,
    memory: Arc<MemoryBudget>,
    open: Mutex<HashMap<IpAddr, Address>>,
    refused: AtomicU64,
}

/// An address with open connections.
struct Address {
    connections: usize,
    memory: Arc<MemoryBudget>,
}

/// What of [`ServerConfig::connections_per_address`] counts for which addresses.
#[derive(Clone, Copy)]
enum AddressLimit {
    None,
    Public(usize),
    All(usize),
}

/// A connection that was accepted, until it is dropped.
pub(crate) struct Admitted {
    /// What its responses may take: a part of the memory of the process.
    pub(crate) memory: Arc<MemoryBudget>,
    _slot: OwnedSemaphorePermit,
    counted: Option<(Arc<Admission>, IpAddr)>,
}

impl Admission {
    pub(crate) fn new(config: &ServerConfig, memory: &Arc<MemoryBudget>) -> Self {
        let limit = match config.connections_per_address {
            Some(0) => AddressLimit::None,
            Some(limit) => AddressLimit::All(limit),
            // Every connection comes from the proxy.
            None if config.trust_proxy => AddressLimit::None,
            None => AddressLimit::Public(CONNECTIONS_PER_ADDRESS),
        };
        let all = config.connections.max(1);
        Self {
            all,
            slots: Arc::new(Semaphore::new(all)),
            limit,
            memory: Arc::clone(memory),
            open: Mutex::default(),
            refused: AtomicU64::new(0),
        }
    }

    /// Waits until one more connection may be open.
    pub(crate) async fn slot(&self) -> OwnedSemaphorePermit {
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        slot.expect("nobody closes the slots")
    }

    /// Accepts a connection, unless its address has too many.
    pub(crate) fn admit(
        self: &Arc<Self>,
        slot: OwnedSemaphorePermit,
        peer: IpAddr,
    ) -> Option<Admitted> {
        let limit = match self.limit {
            AddressLimit::All(limit) => limit,
            AddressLimit::Public(limit) if is_public(peer) => limit,
            AddressLimit::Public(_) | AddressLimit::None => {
                let memory = Arc::clone(&self.memory);
                return Some(Admitted { memory, _slot: slot, counted: None });
            }
        };
        let address = rate_limit::network(peer);
        let mut open = self.open();
        let entry = open.entry(address).or_insert_with(|| {
            let limit = self.memory.limit() / ADDRESSES_PER_BUDGET;
            let memory = Arc::new(MemoryBudget::within(&self.memory, limit));
            Address { connections: 0, memory }
        });
        if entry.connections >= limit {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        entry.connections += 1;
        let memory = Arc::clone(&entry.memory);
        Some(Admitted { memory, _slot: slot, counted: Some((Arc::clone(self), address)) })
    }

    /// How many connections are open.
    pub(crate) fn open_connections(&self) -> usize {
        self.all.saturating_sub(self.slots.available_permits())
    }

    /// How many connections were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, Address>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let Some((admission, address)) = &self.counted else { return };
        let mut open = admission.open();
        if let Some(entry) = open.get_mut(address) {
            entry.connections -= 1;
            if entry.connections == 0 {
                open.remove(address);
            }
        }
    }
}

/// Tells whether an address is one of the internet. Behind others there may be a proxy, or the gateway
/// of a container, with everybody behind it.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => !(v4.is_loopback() || v4.is_private() || v4.is_link_local()),
        IpAddr::V6(v6) => !(v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(connections_per_address: Option<usize>, trust_proxy: bool) -> Arc<Admission> {
        let config =
            ServerConfig { trust_proxy, connections_per_address, ..ServerConfig::default() };
        Arc::new(Admission::new(&config, &Arc::new(MemoryBudget::new(1000))))
    }

    /// Opens as many connections as are accepted, up to 200.
    async fn open(admission: &Arc<Admission>, peer: &str) -> Vec<Admitted> {
        let peer = peer.parse().unwrap();
        let mut admitted = Vec::new();
        for _ in 0..200 {
            let slot = admission.slot().await;
            admitted.extend(admission.admit(slot, peer));
        }
        admitted
    }

    #[tokio::test]
    async fn connections_of_one_address_are_limited() {
        let table = [
            (None, false, "203.0.113.9", CONNECTIONS_PER_ADDRESS),
            (None, false, "2001:db8::1", CONNECTIONS_PER_ADDRESS),
            (None, false, "127.0.0.1", 200),
            (None, false, "::ffff:127.0.0.1", 200),
            (None, false, "172.17.0.1", 200),
            (None, false, "fd00::1", 200),
            (None, true, "203.0.113.9", 200),
            (Some(0), false, "203.0.113.9", 200),
            (Some(7), false, "203.0.113.9", 7),
            (Some(7), true, "127.0.0.1", 7),
        ];
        for (limit, trust_proxy, peer, wanted) in table {
            let admission = admission(limit, trust_proxy);
            let admitted = open(&admission, peer).await;
            assert_eq!(admitted.len(), wanted, "{limit:?} {trust_proxy} {peer}");
            assert_eq!(admission.open_connections(), wanted);
            let memory = if wanted == 200 { 1000 } else { 250 };
            assert!(admitted.iter().all(|admitted| admitted.memory.limit() == memory));
            assert_eq!(admission.refused(), 200 - wanted as u64);
        }
    }

    #[tokio::test]
    async fn connections_of_other_addresses_and_closed_ones_do_not_count() {
        let admission = admission(Some(2), false);
        let first = open(&admission, "2001:db8:0:1::1").await;
        assert_eq!(open(&admission, "2001:db8:0:1::2").await.len(), 0, "the same network");
        assert_eq!(open(&admission, "2001:db8:0:2::1").await.len(), 2);
        drop(first);
        assert_eq!(open(&admission, "2001:db8:0:1::2").await.len(), 2);
        assert_eq!(admission.open_connections(), 0);
        assert!(admission.open().is_empty());
    }
}
