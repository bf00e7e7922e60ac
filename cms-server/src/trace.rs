//! Spans of requests, for who follows them through several services (OpenTelemetry).
//!
//! A request is a span, in the trace that the client began (W3C `traceparent`) or in a new one. What it
//! waits for and does are spans below it; those of the core come from there. Without a collector nothing
//! wants their target, and the places where they would begin find that out by a look at one number.

use std::time::Duration;

use axum::http::{HeaderValue, request::Parts};
use cms_core::TRACE_TARGET;
use opentelemetry::{KeyValue, propagation::TextMapPropagator, trace::TracerProvider};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource, propagation::TraceContextPropagator, resource::EnvResourceDetector,
    trace::SdkTracerProvider,
};
use reqwest::blocking::Client;
use tracing::{
    Metadata, Span, Subscriber, field::Empty, info_span, level_filters::LevelFilter,
    subscriber::Interest,
};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{Layer, filter::DynFilterFn, layer::Filter, registry::LookupSpan};

use crate::{answer::Answer, log::Line, path::Row};

/// The span of a request, before it is known by its route.
const REQUEST: &str = "request";

/// How long a collector may take for one delivery, and for the last one.
const PATIENCE: Duration = Duration::from_secs(10);
const LAST_PATIENCE: Duration = Duration::from_secs(2);

/// Sends spans to a collector, in the background. The last ones go when this value does.
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Takes the address of a collector that speaks OTLP over HTTP, `http://127.0.0.1:4318`. It need
    /// not be there yet: spans that it does not take are lost, and nobody waits for it.
    ///
    /// # Errors
    /// When it is no such address. The message is for people.
    pub fn to(collector: &str) -> Result<Self, String> {
        // Fails only when a provider is installed already, which is as good.
        rustls::crypto::ring::default_provider().install_default().ok();
        let client = Client::builder().timeout(PATIENCE).build();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client.map_err(|error| error.to_string())?)
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(PATIENCE)
            .with_endpoint(format!("{}/v1/traces", collector.trim_end_matches('/')))
            .build()
            .map_err(|error| error.to_string())?;
        let resource = Resource::builder_empty()
            .with_service_name("cms")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .with_detector(Box::new(EnvResourceDetector::new()))
            .build();
        let provider = SdkTracerProvider::builder();
        Ok(Self(provider.with_batch_exporter(exporter).with_resource(resource).build()))
    }

    /// What has to hear of spans.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer()
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_tracer(self.0.tracer("cms"))
            .with_filter(requests())
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown_with_timeout(LAST_PATIENCE) {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }
}

/// Lets spans of requests through, and what is below them: what a server does unasked is not traced.
fn requests<S>() -> impl Filter<S>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let is_wanted = |span: &Metadata<'_>| span.target() == TRACE_TARGET;
    DynFilterFn::new(move |span, context| {
        is_wanted(span) && (span.name() == REQUEST || context.lookup_current().is_some())
    })
    .with_callsite_filter(
        move |span| {
            if is_wanted(span) { Interest::sometimes() } else { Interest::never() }
        },
    )
    .with_max_level_hint(LevelFilter::INFO)
}

/// Begins the span of a request.
pub(crate) fn begin(row: Option<Row>, parts: &Parts, request_id: &HeaderValue) -> Span {
    let span = info_span!(
        target: TRACE_TARGET,
        REQUEST,
        otel.kind = "server",
        otel.name = %name(row),
        otel.status_code = Empty,
        http.request.method = parts.method.as_str(),
        http.route = row.map(|row| row.route.path),
        http.response.status_code = Empty,
        url.path = parts.uri.path(),
        cms.request_id = request_id.to_str().unwrap_or_default(),
        cms.key = Empty,
    );
    if !span.is_disabled() {
        let parent = TraceContextPropagator::new().extract(&HeaderExtractor(&parts.headers));
        // It has not begun yet, and somebody wants it: nothing else can go wrong.
        span.set_parent(parent).ok();
    }
    span
}

/// Of routes, not of paths: names are what collectors count by.
fn name(row: Option<Row>) -> String {
    row.map_or_else(
        || REQUEST.to_owned(),
        |Row { route, .. }| format!("{} {}", route.method, route.path),
    )
}

/// Ends the span of a request, and says how it was answered.
pub(crate) fn end(span: Span, line: &Line, answer: &Answer) {
    if span.is_disabled() {
        return;
    }
    if let Some(caller) = &line.caller {
        span.record("cms.key", caller.actor().name.as_str());
    }
    span.record("http.response.status_code", answer.status.as_u16());
    if answer.status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    drop(span);
}
