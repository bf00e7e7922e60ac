//! What the log of a webhook keeps.

use std::time::Duration;

use cms_core::{
    Caller, Exchange, WebhookOutcome,
    wire::webhook::{LoggedHeaders, ReplayRequest},
};
use serde_json::{Value, json};

use crate::{
    support::{create_batch, map},
    webhooks::{create, follow, log, next, send_all, with_webhook},
};

fn headers(sent: &[(&str, &str)]) -> LoggedHeaders {
    LoggedHeaders::of(sent.iter().map(|(name, value)| (*name, value.as_bytes())))
}

#[test]
fn log_has_the_newest_300_entries() {
    let test = with_webhook();
    let elements: Vec<Value> =
        (0..310).map(|n| json!({ "id": format!("a{n}"), "title": format!("{n}") })).collect();
    create_batch(&test.cms, "article", &elements);
    assert_eq!(send_all(&test).len(), 310);
    let kept = log(&test);
    assert_eq!(kept.len(), 300);
    assert!(kept[0].request.as_ref().unwrap().contains("\"a309\""));
}

#[test]
fn log_has_the_headers_and_the_duration_of_the_last_attempt() {
    let test = with_webhook();
    let own = json!({ "headers": [{ "header_name": "X-Site", "header_value": "main" }] });
    test.cms.objects().patch(&Caller::local(), "_webhooks", "hook", map(own)).unwrap();
    create(&test, "article", json!({ "id": "a", "title": "A" }));
    follow(&test);
    let pending = log(&test).remove(0);
    assert_eq!((pending.request_headers, pending.duration_ms), (None, None));

    let webhooks = test.cms.webhooks();
    let exchange = Exchange {
        request_headers: Some(headers(&[("content-type", "application/json"), ("x-site", "main")])),
        response_headers: Some(headers(&[("set-cookie", "a=1"), ("set-cookie", "b=2")])),
        duration: Duration::from_micros(12_900),
    };
    let failure = WebhookOutcome::Response(500, "no".into());
    webhooks.record(next(&test).unwrap(), failure, exchange).unwrap();
    let failed = log(&test).remove(0);
    assert_eq!(failed.duration_ms, Some(12));
    let masked = headers(&[("content-type", "application/json"), ("x-site", "********")]);
    assert_eq!(
        failed.request_headers,
        Some(masked),
        "values that the webhook configures are secret"
    );
    let received = failed.response.unwrap().headers;
    assert_eq!(received, Some(headers(&[("set-cookie", "a=1"), ("set-cookie", "b=2")])));

    webhooks.replay(&Caller::local(), "hook", &ReplayRequest::default()).unwrap();
    let timeout = WebhookOutcome::NoResponse("no response within the timeout".to_owned());
    let exchange = Exchange { duration: Duration::from_secs(10), ..Exchange::default() };
    webhooks.record(next(&test).unwrap(), timeout, exchange).unwrap();
    let last = log(&test).remove(0);
    assert_eq!((last.request_headers, last.duration_ms), (None, Some(10_000)));
    assert_eq!(last.response, None);
}
