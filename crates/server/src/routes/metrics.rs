//! `GET /metrics`: gauges and counters for Prometheus.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, Method};
use axum::middleware::Next;
use axum::response::Response;
use consort_core::choice::Choice;
use consort_core::spec::Kind;
use consort_core::status::Status;
use consort_log::Query;
use consort_runtime::admission::Load;
use consort_runtime::meters::{Meter, gauge};

use crate::Site;
use crate::access::Scope;
use crate::endpoint::{Endpoint, Tag, Whose, get};
use consort_inbound::problem::Problem;

/// The methods that are counted separately.
const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PATCH, Method::DELETE, Method::OPTIONS];

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/metrics", metrics)
            .named(Tag::Server, "metrics", "Read metrics, for Prometheus")
            .needs(Scope::Read, Whose::Shared)
            .answers_text("text/plain", "Metrics."),
    ]
}

async fn metrics(State(site): State<Arc<Site>>) -> Result<([(HeaderName, &'static str); 1], String), Problem> {
    let mut text = String::new();
    if let Some(node) = &site.engine().seams().node {
        gauge(&mut text, "consort_node_info", "The name of this node.", &[(&[("node", node)], 1)]);
    }
    let waiting = site.engine().queue_length().await?;
    for (name, help, count) in [
        ("consort_queue_depth", "Runs that wait for their turn.", (|load| load.queued) as fn(Load) -> usize),
        ("consort_runs_active", "Runs at work.", |load| load.active),
    ] {
        let load = |kind: Kind| match (site.engine().load(kind), kind) {
            (load, Kind::Run) => Load { queued: waiting, ..load },
            (load, Kind::Turn | Kind::Peer | Kind::Mining) => load,
        };
        let counts = Kind::ALL.map(|kind| ([("kind", kind.word())], count(load(kind))));
        gauge(&mut text, name, help, &counts.each_ref().map(|(labels, count)| (&labels[..], *count)));
    }
    let mut stored = Vec::new();
    for (status, _) in Status::WORDS.iter().copied() {
        let kind = Some(Kind::Run.word().to_owned());
        let query = Query { kind, status: Some(status.to_owned()), ..Query::default() };
        stored.push(([("status", status)], site.engine().count(query).await?));
    }
    let stored: Vec<_> = stored.iter().map(|(labels, count)| (&labels[..], *count)).collect();
    gauge(&mut text, "consort_runs", "Runs that are kept.", &stored);
    let streams = Arc::strong_count(&site.streams).saturating_sub(1);
    gauge(&mut text, "consort_streams_open", "Clients that follow something.", &[(&[], streams)]);
    let is_full = usize::from(site.engine().no_room().is_some());
    gauge(&mut text, "consort_storage_full", "1 while nothing can be stored.", &[(&[], is_full)]);
    webhooks(&site, &mut text).await?;
    let damaged = site.engine().damaged_streams();
    gauge(&mut text, "consort_streams_damaged", "Stored things that cannot be read.", &[(&[], damaged)]);
    text.push_str(&site.engine().meters().text());
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
}

/// Appends how many messages wait for each webhook.
async fn webhooks(site: &Site, text: &mut String) -> Result<(), Problem> {
    let mut waiting = Vec::new();
    for webhook in site.outbox.webhooks() {
        let count = site.outbox.count(&webhook.name, Some(false)).await?;
        waiting.push(([("webhook", webhook.name.as_str())], count));
    }
    if !waiting.is_empty() {
        let waiting: Vec<_> = waiting.iter().map(|(labels, count)| (&labels[..], *count)).collect();
        gauge(text, "consort_webhook_waiting", "Messages that wait for a webhook.", &waiting);
    }
    Ok(())
}

/// Counts every request by its route, never by its path.
pub(crate) async fn counted(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let method = METHODS.iter().find(|known| *known == request.method()).map_or("OTHER", Method::as_str);
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let status = response.status();
    let labels = [("method", method), ("route", route), ("status", status.as_str())];
    site.engine().meters().add(Meter::HttpRequests, &labels, 1);
    response
}
