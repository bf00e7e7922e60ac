//! Limits on connections: their total number, their number per client address, and the memory of
//! the responses to one address. [`super::rate_limit`] limits request rates.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use cms_core::MemoryBudget;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::rate_limit::client_network;
use crate::config::ServerConfig;

/// Default of the maximum number of connections of one public address.
const CONNECTIONS_PER_ADDRESS: usize = 128;
/// If the limit of connections applies to an address, all responses to it together may take a quarter
/// of the response memory budget.
const ADDRESS_MEMORY_DIVISOR: usize = 4;

pub(crate) struct ConnectionLimits {
    total: usize,
    permits: Arc<Semaphore>,
    per_address: Option<usize>,
    /// Whether private addresses are limited, too.
    limits_private: bool,
    memory: Arc<MemoryBudget>,
    open: Mutex<HashMap<IpAddr, ClientAddress>>,
    refused: AtomicU64,
}

/// An address with open connections.
struct ClientAddress {
    connections: usize,
    memory: Arc<MemoryBudget>,
}

/// An accepted connection; dropping it returns its permit.
pub(crate) struct AcceptedConnection {
    /// The memory that its responses may take: a part of the budget of the process.
    pub(crate) memory: Arc<MemoryBudget>,
    _permit: OwnedSemaphorePermit,
    counted: Option<(Arc<ConnectionLimits>, IpAddr)>,
}

impl ConnectionLimits {
    pub(crate) fn new(config: &ServerConfig, memory: &Arc<MemoryBudget>) -> Self {
        let configured = config.connections_per_address;
        // With a proxy, every connection comes from it.
        let default = (!config.trust_proxy).then_some(CONNECTIONS_PER_ADDRESS);
        let total = config.connections.max(1);
        Self {
            total,
            permits: Arc::new(Semaphore::new(total)),
            per_address: configured.or(default).filter(|limit| *limit > 0),
            limits_private: configured.is_some(),
            memory: Arc::clone(memory),
            open: Mutex::default(),
            refused: AtomicU64::new(0),
        }
    }

    /// Waits for a permit for one more connection.
    pub(crate) async fn acquire_permit(&self) -> OwnedSemaphorePermit {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        permit.expect("the semaphore is never closed")
    }

    /// Accepts a connection; none when its address has too many.
    pub(crate) fn accept(
        self: &Arc<Self>,
        permit: OwnedSemaphorePermit,
        peer: IpAddr,
    ) -> Option<AcceptedConnection> {
        let limit = self.per_address.filter(|_| self.limits_private || is_public(peer));
        let Some(limit) = limit else {
            let memory = Arc::clone(&self.memory);
            return Some(AcceptedConnection { memory, _permit: permit, counted: None });
        };
        let address = client_network(peer);
        let mut open = self.open.lock();
        let entry = open.entry(address).or_insert_with(|| {
            let limit = self.memory.limit() / ADDRESS_MEMORY_DIVISOR;
            let memory = Arc::new(MemoryBudget::within(&self.memory, limit));
            ClientAddress { connections: 0, memory }
        });
        if entry.connections >= limit {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        entry.connections += 1;
        let memory = Arc::clone(&entry.memory);
        Some(AcceptedConnection {
            memory,
            _permit: permit,
            counted: Some((Arc::clone(self), address)),
        })
    }

    /// Returns the number of open connections.
    pub(crate) fn open_connections(&self) -> usize {
        self.total.saturating_sub(self.permits.available_permits())
    }

    /// Returns the number of connections that were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Drop for AcceptedConnection {
    fn drop(&mut self) {
        let Some((limits, address)) = &self.counted else { return };
        let mut open = limits.open.lock();
        if let Some(entry) = open.get_mut(address) {
            entry.connections -= 1;
            if entry.connections == 0 {
                open.remove(address);
            }
        }
    }
}

/// Returns whether an address is public. A private address may be that of a proxy or of the gateway of
/// a container, with all clients behind it.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => !(v4.is_loopback() || v4.is_private() || v4.is_link_local()),
        IpAddr::V6(v6) => !(v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(connections_per_address: Option<usize>, trust_proxy: bool) -> Arc<ConnectionLimits> {
        let config =
            ServerConfig { trust_proxy, connections_per_address, ..ServerConfig::default() };
        Arc::new(ConnectionLimits::new(&config, &Arc::new(MemoryBudget::new(1000))))
    }

    /// Opens as many connections as are accepted, up to 200.
    async fn open(limits: &Arc<ConnectionLimits>, peer: &str) -> Vec<AcceptedConnection> {
        let peer = peer.parse().unwrap();
        let mut accepted = Vec::new();
        for _ in 0..200 {
            let permit = limits.acquire_permit().await;
            accepted.extend(limits.accept(permit, peer));
        }
        accepted
    }

    #[tokio::test]
    async fn connections_per_address_are_limited() {
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
            let limits = limits(limit, trust_proxy);
            let accepted = open(&limits, peer).await;
            assert_eq!(accepted.len(), wanted, "{limit:?} {trust_proxy} {peer}");
            assert_eq!(limits.open_connections(), wanted);
            let memory = if wanted == 200 { 1000 } else { 250 };
            assert!(accepted.iter().all(|connection| connection.memory.limit() == memory));
            assert_eq!(limits.refused(), 200 - wanted as u64);
        }
    }

    #[tokio::test]
    async fn connection_limit_ignores_other_addresses_and_closed_connections() {
        let limits = limits(Some(2), false);
        let first = open(&limits, "2001:db8:0:1::1").await;
        assert_eq!(open(&limits, "2001:db8:0:1::2").await.len(), 0, "the same network");
        assert_eq!(open(&limits, "2001:db8:0:2::1").await.len(), 2);
        drop(first);
        assert_eq!(open(&limits, "2001:db8:0:1::2").await.len(), 2);
        assert_eq!(limits.open_connections(), 0);
        assert!(limits.open.lock().is_empty());
    }
}
