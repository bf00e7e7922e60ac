//! A connection on its way in: somebody must speak soon, and request lines are looked at.
//!
//! The HTTP library limits how long a head may take once it knows the protocol. Until then a
//! silent client would hold its connection for ever; that time is limited here.

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

/// The bytes of one connection.
pub(crate) struct Stream<S> {
    inner: S,
    target: Arc<Target>,
    /// Ends a connection on which too little was said; none once enough was.
    deadline: Option<Pin<Box<Sleep>>>,
    read: usize,
}

impl<S> Stream<S> {
    /// Wraps a connection on which the client has `patience` to say the first words.
    pub(crate) fn new(inner: S, target: Arc<Target>, patience: Duration) -> Self {
        Self { inner, target, deadline: Some(Box::pin(time::sleep(patience))), read: 0 }
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
        Pin::new(&mut self.inner).poll_write(context, bytes)
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
        Pin::new(&mut self.inner).poll_write_vectored(context, slices)
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
}
