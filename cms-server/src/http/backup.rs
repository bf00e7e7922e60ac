//! Sending a backup while it is made: nothing of it is kept here, however large it is.

use std::{
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, Method},
};
use cms_core::{DatabaseCopy, Error, Result};
use futures_util::stream;
use tokio::{runtime::Handle, sync::mpsc, task};

use crate::{
    answer::Answer,
    blocking::{self, Work},
    state::App,
};

const TAR: HeaderValue = HeaderValue::from_static("application/x-tar");
/// Bytes that are sent at a time, and how many such pieces may wait.
const PIECE: usize = 256 * 1024;
const PIECES: usize = 4;
/// How long a client may take none: files cannot be removed meanwhile.
const SILENCE: Duration = Duration::from_mins(1);

/// Copies the database, and answers with all the rest under way.
///
/// What goes wrong later breaks the answer off: a file without its end is no backup.
pub(crate) async fn answer(app: &Arc<App>, method: &Method) -> Result<Answer> {
    if method == Method::HEAD {
        return Ok(Answer::endless(TAR, Body::empty()));
    }
    let copied = blocking::run(app, Work::File, |app| app.cms.backups().begin()).await??;
    let (sender, receiver) = mpsc::channel(PIECES);
    let app = Arc::clone(app);
    task::spawn_blocking(move || send(&app, copied, sender));
    let body = stream::unfold(receiver, |mut receiver| async move {
        // Whoever goes away without saying that this was all failed.
        let broken = || Err(Error::internal("the backup was not finished"));
        let piece: Option<Result<Bytes>> = match receiver.recv().await {
            Some(Next::Piece(piece)) => Some(Ok(piece)),
            Some(Next::End) => None,
            None => Some(broken()),
        };
        piece.map(|piece| (piece, receiver))
    });
    Ok(Answer::endless(TAR, Body::from_stream(body)))
}

enum Next {
    Piece(Bytes),
    End,
}

fn send(app: &App, copied: DatabaseCopy, sender: mpsc::Sender<Next>) {
    let mut output = Pieces { sender, piece: Vec::with_capacity(PIECE) };
    let written = blocking::now(app, |app| app.cms.backups().write(copied, &mut output)).flatten();
    let ended = written.and_then(|backup| {
        output.hand_over(Next::End).map_err(|error| Error::Internal(error.into()))?;
        Ok(backup)
    });
    app.metrics.count_backup("sent", ended.is_ok());
    match ended {
        Ok(backup) => tracing::info!(files = backup.files, bytes = backup.bytes, "sent a backup"),
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            tracing::warn!(%error, cause, "a backup was not sent to its end");
        }
    }
}

/// Gathers what is written, and hands it to the connection.
struct Pieces {
    sender: mpsc::Sender<Next>,
    piece: Vec<u8>,
}

impl Pieces {
    fn hand_over(&self, next: Next) -> io::Result<()> {
        let handed = Handle::current().block_on(self.sender.send_timeout(next, SILENCE));
        handed.map_err(|_| io::Error::other(Error::Busy("the client takes no more".to_owned())))
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        self.hand_over(Next::Piece(piece.into()))
    }
}
