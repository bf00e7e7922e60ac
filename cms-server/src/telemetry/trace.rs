//! Traces of requests (OpenTelemetry).
//!
//! A request is a span, in the trace of the client (W3C `traceparent`) or in a new one. Waiting and
//! work are child spans, also those of the core. Without a collector no span is created.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, request::Parts};
use cms_core::{Caller, TRACE_TARGET};
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

use crate::routing::route::Route;

/// Name of the span of a request without a route.
const REQUEST: &str = "request";

/// Timeout of an export.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of the last export, when the server ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Exports spans to a collector in the background, the last ones when this value is dropped.
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Takes the URL of a collector for OTLP over HTTP, `http://127.0.0.1:4318`. The collector may
    /// start later; spans that it does not accept are dropped.
    ///
    /// # Errors
    /// When the URL is not valid.
    pub fn export_to(collector: &str) -> Result<Self, String> {
        // Fails only if a cryptography provider is already installed, which works too.
        rustls::crypto::ring::default_provider().install_default().ok();
        let client = Client::builder().timeout(EXPORT_TIMEOUT).build();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client.map_err(|error| error.to_string())?)
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(EXPORT_TIMEOUT)
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

    /// Returns the layer that receives spans.
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
        if let Err(error) = self.0.shutdown_with_timeout(SHUTDOWN_TIMEOUT) {
            tracing::warn!(%error, "last spans not exported");
        }
    }
}

/// Selects spans of requests and their child spans: background tasks are not traced.
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

/// Starts the span of a request.
pub(crate) fn start(route: Option<&Route>, parts: &Parts, request_id: &HeaderValue) -> Span {
    let span = info_span!(
        target: TRACE_TARGET,
        REQUEST,
        otel.kind = "server",
        otel.name = %name(route),
        otel.status_code = Empty,
        http.request.method = parts.method.as_str(),
        http.route = route.map(|route| route.path),
        http.response.status_code = Empty,
        url.path = parts.uri.path(),
        cms.request_id = request_id.to_str().unwrap_or_default(),
        cms.key = Empty,
    );
    if !span.is_disabled() {
        let parent = TraceContextPropagator::new().extract(&HeaderExtractor(&parts.headers));
        // Fails only for a span that is disabled or entered.
        span.set_parent(parent).ok();
    }
    span
}

/// The name of a span has the route, not the path: collectors aggregate by name.
fn name(route: Option<&Route>) -> String {
    route
        .map_or_else(|| REQUEST.to_owned(), |Route { method, path, .. }| format!("{method} {path}"))
}

/// Ends the span of a request with its status.
pub(crate) fn end(span: Span, caller: Option<&Caller>, status: StatusCode) {
    if span.is_disabled() {
        return;
    }
    if let Some(caller) = caller {
        span.record("cms.key", caller.actor().name.as_str());
    }
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    drop(span);
}
