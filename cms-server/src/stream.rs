//! A connection: somebody must speak soon, request lines are looked at, and answers must be taken.
//!
//! The HTTP library limits how long a head may take once it knows the protocol. Until then a
//! silent client would hold its connection for ever; that time is limited here. So is the time for
//! which a client takes an answer too slowly.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{self, Instant, Sleep},
};

use crate::{
    pace::{Pace, Progress, STALL},
    target::Target,
};

/// Bytes by which the protocol is known: the length of what an HTTP/2 client says first.
const OPENING: usize = 24;

/// The bytes of one connection.
pub(crate) struct Stream<S> {
    inner: S,
    target: Arc<Target>,
    /// Ends a connection on which too little was said; none once enough was.
    deadline: Option<Pin<Box<Sleep>>>,
    read: usize,
    pace: Pace,
    /// How an answer goes that the client does not take at once.
    sending: Option<Sending>,
}

/// An answer that the client does not take at once.
struct Sending {
    progress: Progress,
    /// Since when the client takes nothing, and what ends that.
    wait: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<S> Stream<S> {
    /// Wraps a connection on which the client has `patience` to say the first words.
    pub(crate) fn new(inner: S, target: Arc<Target>, patience: Duration, pace: Pace) -> Self {
        let deadline = Some(Box::pin(time::sleep(patience)));
        Self { inner, target, deadline, read: 0, pace, sending: None }
    }

    /// Follows what became of a write; one that waits for too long fails.
    fn follow(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => {
                let start = || Sending { progress: self.pace.start(), wait: None };
                let Sending { progress, wait } = self.sending.get_or_insert_with(start);
                let start = || (Instant::now(), Box::pin(time::sleep(progress.patience(STALL))));
                let (_, end) = wait.get_or_insert_with(start);
                return end.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()));
            }
            Poll::Ready(Ok(bytes)) => {
                if let Some(Sending { progress, wait }) = &mut self.sending {
                    let waited = wait.take().map(|(since, _)| since.elapsed());
                    progress.moved(*bytes, waited.unwrap_or_default());
                }
            }
            Poll::Ready(Err(_)) => {}
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        let read = &mut buffer.filled_mut()[before..];
        if !read.is_empty() {
            self.target.look_at(read);
        }
        if let Some(deadline) = &mut self.deadline {
            if polled.is_pending() && deadline.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.read += buffer.filled().len() - before;
            if self.read >= OPENING {
                self.deadline = None;
            }
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.follow(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(context);
        if flushed.is_ready() {
            // All of it is on its way: the next answer begins anew.
            self.sending = None;
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        self.follow(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_words_must_come_soon() {
        let patience = Duration::from_secs(5);
        for (words, waits) in
            [("", false), ("P", false), ("GET /api/v1/content/post HTTP/1.1", true)]
        {
            let (mut client, server) = duplex(1024);
            let mut stream = Stream::new(server, Arc::default(), patience, Pace { least_rate: 0 });
            client.write_all(words.as_bytes()).await.unwrap();
            let mut heard = vec![0; words.len()];
            stream.read_exact(&mut heard).await.unwrap();
            let more = time::timeout(patience * 3, stream.read_u8()).await;
            match more {
                Err(_) => assert!(waits, "{words}"),
                Ok(result) => {
                    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::TimedOut);
                    assert!(!waits, "{words}");
                }
            }
        }
    }

    /// Who takes nothing is waited for a while, who takes enough for ever.
    #[tokio::test(start_paused = true)]
    async fn answers_must_be_taken() {
        // least rate, bytes that the client takes every ten seconds, whether it gets all
        for (least_rate, taken, gets_all) in [
            (1000, 0, false),
            (1000, 500, false),
            (1000, 20_000, true),
            (0, 0, false),
            (0, 500, true),
        ] {
            let (mut client, server) = duplex(1000);
            let pace = Pace { least_rate };
            let mut stream = Stream::new(server, Arc::default(), Duration::from_secs(5), pace);
            let answer = vec![b'x'; 500_000];
            let sending = tokio::spawn(async move { stream.write_all(&answer).await });
            let mut piece = vec![0; taken];
            while taken > 0 && client.read_exact(&mut piece).await.is_ok() {
                time::sleep(Duration::from_secs(10)).await;
            }
            let sent = sending.await.unwrap();
            assert_eq!(sent.is_ok(), gets_all, "{least_rate}, {taken}");
            drop(client);
        }
    }
}
