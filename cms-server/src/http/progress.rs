//! The progress of a plan, an apply or a check as a stream of events (see
//! docs/reference/content-types.md#progress).
//!
//! The request runs as it does without a stream; its response is the data of the last event. This
//! module knows no routes.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::body::Bytes;
use cms_core::{Progress, Result};
use tokio::{
    sync::mpsc::{self, Sender},
    time,
};

use super::event_stream::{self, HEARTBEAT_INTERVAL};
use crate::{
    blocking, consistency,
    net::{
        permits::{Permit, Work},
        transfer_rate::STALL_TIMEOUT,
    },
    response::Response,
    state::App,
    telemetry::request_log,
};

/// Shortest time between two events.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Cancels a plan or a check when its request ends: the client may have disconnected.
pub(crate) struct CancelOnDrop(pub(crate) Arc<Progress>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Responds with a stream, and runs the request once there is a permit for it.
pub(crate) async fn respond(
    app: &Arc<App>,
    kind: Work,
    progress: CancelOnDrop,
    call: impl FnOnce(&App) -> Response + Send + 'static,
) -> Result<Response> {
    let permit = app.permits.acquire(kind).await?;
    // A client that reads too slowly misses events, except the result.
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(send(Arc::clone(app), (kind, permit), progress, call, sender));
    Ok(event_stream::response(receiver))
}

/// Sends the progress, then the result, unless the client disconnects.
async fn send(
    app: Arc<App>,
    (kind, permit): (Work, Permit),
    progress: CancelOnDrop,
    call: impl FnOnce(&App) -> Response + Send + 'static,
    sender: Sender<Bytes>,
) {
    let mut response = pin!(blocking::run_with_permit(&app, kind, permit, call));
    let mut last = None;
    let mut last_sent = Instant::now();
    loop {
        tokio::select! {
            response = &mut response => {
                let response = response.unwrap_or_else(Response::from);
                request_log::write_cause(&response);
                if response.revokes_access {
                    consistency::wait_for_nodes(&app).await;
                }
                // The connection ends when its client stops reading.
                sender.send_timeout(result(&response), STALL_TIMEOUT).await.ok();
                return;
            }
            () = time::sleep(PROGRESS_INTERVAL) => {}
            () = sender.closed() => return,
        }
        let now = progress.0.get();
        let message = if now == last {
            if last_sent.elapsed() < HEARTBEAT_INTERVAL {
                continue;
            }
            ":\n\n".to_owned()
        } else {
            let data = serde_json::to_string(&now).expect("progress has string keys only");
            format!("event: progress\ndata: {data}\n\n")
        };
        if sender.try_send(message.into()).is_ok() {
            (last, last_sent) = (now, Instant::now());
        }
    }
}

/// The last event: status and body of the response.
fn result(response: &Response) -> Bytes {
    let (status, body) = (response.status.as_u16(), response.json_body());
    let mut event = format!("event: result\ndata: {{\"status\":{status},\"body\":").into_bytes();
    event.extend_from_slice(body);
    event.extend_from_slice(b"}\n\n");
    event.into()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use axum::http::Method;
    use cms_core::{
        Error,
        testing::TestCms,
        wire::plan::{PlanPhase, PlanProgress},
    };
    use http_body_util::BodyExt;

    use super::*;
    use crate::config::ServerConfig;

    fn app() -> (TestCms, Arc<App>) {
        let core = TestCms::new();
        let app = Arc::new(App::new(&ServerConfig::default(), Arc::clone(&core.cms)));
        (core, app)
    }

    fn progress(done: u64) -> PlanProgress {
        let content_type = "post".to_owned();
        PlanProgress { content_type, phase: PlanPhase::Objects, done, total: 9 }
    }

    #[tokio::test]
    async fn stream_has_the_progress_and_then_the_response() {
        let (_core, app) = app();
        let shared = Arc::<Progress>::default();
        let barrier = Arc::new(Barrier::new(2));
        let call = {
            let (shared, barrier) = (Arc::clone(&shared), Arc::clone(&barrier));
            move |_: &App| {
                shared.set(progress(3));
                barrier.wait();
                shared.set(progress(9));
                barrier.wait();
                Response::from(Error::Conflict("The plan is stale".to_owned()))
            }
        };
        let stream = respond(&app, Work::Write, CancelOnDrop(Arc::clone(&shared)), call);
        let response = stream.await.unwrap().into_http(&Method::POST, "id".try_into().unwrap());
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut body = response.into_body();
        for done in [3, 9] {
            let event = body.frame().await.unwrap().unwrap().into_data().unwrap();
            let data =
                format!("{{\"type\":\"post\",\"phase\":\"objects\",\"done\":{done},\"total\":9}}");
            assert_eq!(event, format!("event: progress\ndata: {data}\n\n"));
            barrier.wait();
        }
        assert_eq!(
            body.collect().await.unwrap().to_bytes(),
            "event: result\ndata: {\"status\":409,\"body\":\
             {\"code\":409,\"message\":\"The plan is stale\"}}\n\n"
        );
        assert!(app.permits.states().iter().all(|kind| kind.used == 0));
    }

    #[tokio::test]
    async fn disconnect_cancels_the_request() {
        let (_core, app) = app();
        let shared = Arc::<Progress>::default();
        let (started, has_started) = tokio::sync::oneshot::channel();
        let (cancelled, is_cancelled) = tokio::sync::oneshot::channel();
        let call = {
            let shared = Arc::clone(&shared);
            move |_: &App| {
                started.send(()).unwrap();
                while !shared.is_cancelled() {
                    std::thread::yield_now();
                }
                cancelled.send(()).unwrap();
                Response::empty()
            }
        };
        let stream = respond(&app, Work::Write, CancelOnDrop(Arc::clone(&shared)), call);
        let response = stream.await.unwrap();
        has_started.await.unwrap();
        drop(response);
        is_cancelled.await.unwrap();
    }
}
