//! Requests whose response is a stream of events: the progress, then the result.

use std::io::{BufRead, BufReader, Read};

use cms_core::{Error, Progress, Result};
use reqwest::{
    Method,
    header::{ACCEPT, CONTENT_TYPE},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::http::{Remote, SERVER, send_repeatedly, with_json};

const EVENT_STREAM: &str = "text/event-stream";

/// The data of the last event.
#[derive(Deserialize)]
struct ResultEvent {
    status: u16,
    body: Box<RawValue>,
}

impl Remote {
    /// Sends a POST request, and reports the progress of the server until the result. A server of an
    /// older version responds with the result alone.
    pub(super) fn post_with_progress<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &[u8],
        is_idempotent: bool,
        progress: &Progress,
    ) -> Result<T> {
        let response = send_repeatedly(is_idempotent, || {
            let request = with_json(self.request(&Method::POST, path)?, body.to_vec());
            self.send_once(request.header(ACCEPT, EVENT_STREAM), is_idempotent)
        })?;
        let media_type = response.headers().get(CONTENT_TYPE);
        let (status, bytes) = if media_type.is_some_and(|value| value == EVENT_STREAM) {
            self.read_events(response, is_idempotent, progress)?
        } else {
            self.read(response, is_idempotent)?
        };
        self.parse(status, &bytes, SERVER)
    }

    /// Reads a stream; returns status and body of the result. `is_idempotent`: so was the request.
    fn read_events(
        &self,
        stream: impl Read,
        is_idempotent: bool,
        progress: &Progress,
    ) -> Result<(u16, Vec<u8>)> {
        let closed =
            || if is_idempotent { self.connection_closed() } else { Error::OutcomeUnknown };
        let mut event = String::new();
        for line in BufReader::new(stream).lines() {
            let line = line.map_err(|_| closed())?;
            match (line.split_once(": "), event.as_str()) {
                (Some(("event", name)), _) => name.clone_into(&mut event),
                (Some(("data", data)), "progress") => {
                    progress.set(self.parse(200, data.as_bytes(), SERVER)?);
                }
                (Some(("data", data)), "result") => {
                    let ResultEvent { status, body } = self.parse(200, data.as_bytes(), SERVER)?;
                    return Ok((status, body.get().as_bytes().to_vec()));
                }
                _ => {}
            }
        }
        Err(closed())
    }
}

#[cfg(test)]
mod tests {
    use cms_core::{
        Error,
        wire::plan::{PlanPhase, PlanProgress},
    };

    use super::*;

    #[test]
    fn stream_reports_progress_until_its_result() {
        let server = Remote::new("http://h", Some("k")).unwrap();
        let progress = Progress::default();
        let events = "event: progress\ndata: {\"type\":\"post\",\"phase\":\"indexes\",\
                      \"done\":3,\"total\":9}\n\n:\n\n";
        let result = "event: result\ndata: {\"status\":409,\"body\":{\"a\": [1.50]}}\n\n";
        let complete = format!("{events}{result}");
        let read = server.read_events(complete.as_bytes(), true, &progress).unwrap();
        assert_eq!(read, (409, b"{\"a\": [1.50]}".to_vec()));
        let expected = PlanProgress {
            content_type: "post".to_owned(),
            phase: PlanPhase::Indexes,
            done: 3,
            total: 9,
        };
        assert_eq!(progress.get(), Some(expected));

        let interrupted = server.read_events(events.as_bytes(), true, &progress);
        assert!(matches!(interrupted, Err(Error::Unreachable(_))), "{interrupted:?}");
    }
}
