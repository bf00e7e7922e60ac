//! Statistics of an open data directory, independent of a metrics format.
//!
//! Counters start at 0 when the directory is opened; the other values are current.

use std::{fs, time::Duration};

use cms_model::error::Result;
use cms_store::WriterCounts;

use crate::Cms;

/// A snapshot of the statistics.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// Read connections in use, and their maximum number.
    pub readers_used: usize,
    pub readers: usize,
    /// Threads that wait for a read connection.
    pub readers_waiting: usize,
    pub writer: WriterCounts,
    /// The last row of the journal.
    pub journal_head: i64,
    /// Pending deliveries, and the age of the oldest.
    pub deliveries_pending: u64,
    pub deliveries_wait: Duration,
    /// Webhooks whose endpoint is down.
    pub endpoints_down: u64,
    /// The last journal row that is indexed; none before the index was opened.
    pub index_position: Option<i64>,
    pub database_bytes: u64,
    /// Size of the write-ahead log.
    pub wal_bytes: u64,
    /// Free space on the disk of the data directory.
    pub disk_free_bytes: u64,
    pub renderings: Renderings,
}

/// Numbers of rendered images served from memory, served from disk, and rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renderings {
    pub memory: u64,
    pub disk: u64,
    pub rendered: u64,
}

impl Cms {
    /// Returns the current statistics.
    pub fn statistics(&self) -> Result<Statistics> {
        let [readers_used, readers, readers_waiting] = self.store.reader_counts();
        let [memory, disk, rendered] = self.renders.counts();
        let folder = &self.config.folder;
        // A missing file counts as empty.
        let size = |name: &str| fs::metadata(folder.join(name)).map_or(0, |meta| meta.len());
        let (journal_head, (deliveries_pending, since), endpoints_down) =
            self.store.read(|reader| {
                let journal_head = reader.journal_head()?.seq;
                Ok((journal_head, reader.pending_deliveries()?, reader.endpoints_down()?))
            })?;
        let oldest_age_micros = since.map_or(0, |since| self.now().0 - since.0);
        Ok(Statistics {
            readers_used,
            readers,
            readers_waiting,
            writer: self.store.writer_counts(),
            journal_head,
            deliveries_pending,
            endpoints_down,
            deliveries_wait: Duration::from_micros(u64::try_from(oldest_age_micros).unwrap_or(0)),
            index_position: self.index.position(),
            database_bytes: size("cms.db"),
            wal_bytes: size("cms.db-wal"),
            disk_free_bytes: fs4::available_space(folder).unwrap_or(0),
            renderings: Renderings { memory, disk, rendered },
        })
    }
}
