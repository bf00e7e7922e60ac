//! Downloads of backups, which are streamed while they are created.

use std::{
    io::{self, Write},
    sync::Arc,
};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, Method},
};
use cms_core::{DatabaseCopy, Error, Result};
use futures_util::stream;
use tokio::{runtime::Handle, sync::mpsc, task};

use crate::{
    blocking,
    net::{permits::Work, transfer_rate::STALL_TIMEOUT},
    response::Response,
    state::App,
};

const TAR: HeaderValue = HeaderValue::from_static("application/x-tar");
/// Size of a chunk of the response.
const CHUNK_BYTES: usize = 256 * 1024;
/// Chunks that may wait for the client.
const MAX_WAITING_CHUNKS: usize = 4;

/// Copies the database, and streams the backup.
///
/// A later error aborts the response: a truncated file is not a valid backup.
pub(crate) async fn get(app: &Arc<App>, method: &Method) -> Result<Response> {
    if method == Method::HEAD {
        return Ok(Response::stream(TAR, None, Body::empty()));
    }
    let copied = blocking::run(app, Work::File, |app| app.cms.backups().begin()).await??;
    let (sender, receiver) = mpsc::channel(MAX_WAITING_CHUNKS);
    let app = Arc::clone(app);
    task::spawn_blocking(move || send(&app, copied, sender));
    let body = stream::unfold(receiver, |mut receiver| async move {
        let chunk: Option<Result<Bytes>> = match receiver.recv().await {
            Some(Some(chunk)) => Some(Ok(chunk)),
            Some(None) => None,
            // The sender failed.
            None => Some(Err(Error::internal("backup not completed"))),
        };
        chunk.map(|chunk| (chunk, receiver))
    });
    Ok(Response::stream(TAR, None, Body::from_stream(body)))
}

/// A chunk; none after the last one.
type Message = Option<Bytes>;

fn send(app: &App, copied: DatabaseCopy, sender: mpsc::Sender<Message>) {
    let mut output = ChunkWriter { sender, chunk: Vec::with_capacity(CHUNK_BYTES) };
    let written = blocking::run_inline(app, |app| app.cms.backups().write(copied, &mut output));
    let sent = written.flatten().and_then(|backup| {
        output.send(None).map_err(Error::internal)?;
        Ok(backup)
    });
    app.metrics.count_backup("downloaded", sent.is_ok());
    match sent {
        Ok(backup) => {
            tracing::info!(files = backup.files, bytes = backup.bytes, "backup download completed");
        }
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            tracing::warn!(%error, cause, "backup download failed");
        }
    }
}

/// Collects chunks, and sends them to the connection.
struct ChunkWriter {
    sender: mpsc::Sender<Message>,
    chunk: Vec<u8>,
}

impl ChunkWriter {
    /// Waits for the client, with a timeout: files cannot be removed while a backup runs.
    fn send(&self, message: Message) -> io::Result<()> {
        let sent = Handle::current().block_on(self.sender.send_timeout(message, STALL_TIMEOUT));
        sent.map_err(|_| io::Error::other(Error::Busy("the client reads too slowly".to_owned())))
    }
}

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK_BYTES));
        self.send(Some(chunk.into()))
    }
}
