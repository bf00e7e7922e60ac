//! A connection on its way in: somebody must speak soon, and request lines are looked at.
//!
//! The HTTP library limits how long a head may take once it knows the protocol. Until then a
//! silent client would hold its connection for ever; that time is limited here. So is the time in
//! which a client takes nothing of what it is sent.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{self, Sleep},
};

use crate::target::Target;

/// Bytes by which the protocol is known: the length of what an HTTP/2 client says first.
const OPENING: usize = 24;
/// How long a client may leave unread what it is sent.
const STALL: Duration = Duration::from_mins(1);

/// The bytes of one connection.
pub(crate) struct Stream<S> {
    inner: S,
    target: Arc<Target>,
    /// Ends a connection on which too little was said; none once enough was.
    deadline: Option<Pin<Box<Sleep>>>,
    read: usize,
    /// Ends a connection of which nothing is taken; none while it takes what it is given.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Stream<S> {
    /// Wraps a connection on which the client has `patience` to say the first words.
    pub(crate) fn new(inner: S, target: Arc<Target>, patience: Duration) -> Self {
        let deadline = Some(Box::pin(time::sleep(patience)));
        Self { inner, target, deadline, read: 0, stalled: None }
    }

    /// Gives up when nothing could be written for too long.
    fn unless_stalled<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled = None;
            return polled;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(time::sleep(STALL)));
        stalled.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
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
        let polled = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.unless_stalled(context, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        self.unless_stalled(context, polled)
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
            let mut stream = Stream::new(server, Arc::default(), patience);
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

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_is_cut_off() {
        let (mut client, server) = duplex(16);
        let mut stream = Stream::new(server, Arc::default(), STALL * 10);
        let mut bytes = [0; 16];
        // Slow is not stalled.
        for _ in 0..5 {
            stream.write_all(&bytes).await.unwrap();
            time::sleep(STALL / 2).await;
            client.read_exact(&mut bytes).await.unwrap();
        }
        stream.write_all(&bytes).await.unwrap();
        let started = time::Instant::now();
        let stalled = stream.write_all(&bytes).await.unwrap_err();
        assert_eq!((stalled.kind(), started.elapsed()), (io::ErrorKind::TimedOut, STALL));
    }
}
