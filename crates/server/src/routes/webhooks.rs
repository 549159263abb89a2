//! `/api/webhooks`: the programs that are notified of runs, and the deliveries to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use consort_core::announcement::Topic;
use consort_runtime::webhooks::Webhook;
use consort_runtime::webhooks::delivery::{DeliveryStatus, DeliveryView};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::Scope;
use crate::endpoint::{Endpoint, Tag, Whose, get, post};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::{Page, Pairs};

/// The words for the state of a delivery.
const STATUSES: [&str; 3] = ["pending", "delivered", "dead"];

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/webhooks", list)
            .named(Tag::Webhooks, "listWebhooks", "List webhooks")
            .about("They are configured; what is sent is signed as Standard Webhooks are.")
            .needs(Scope::Admin, Whose::Shared)
            .answers::<Webhooks>(StatusCode::OK, "All of them, without their secrets."),
        get("/api/webhooks/{name}/deliveries", deliveries)
            .named(Tag::Webhooks, "listDeliveries", "List the deliveries of a webhook")
            .needs(Scope::Admin, Whose::Shared)
            .query::<Page>()
            .query::<DeliveriesQuery>()
            .answers::<Deliveries>(StatusCode::OK, "A page of them, the newest first.")
            .fails(&[Code::BadRequest, Code::WebhookNotFound]),
        post("/api/deliveries/{id}/redeliver", redeliver)
            .named(Tag::Webhooks, "redeliver", "Send a delivery again, with the same id and body")
            .needs(Scope::Admin, Whose::Shared)
            .answers::<DeliveryView>(StatusCode::ACCEPTED, "It is sent now, and again as usual while that fails.")
            .fails(&[Code::DeliveryNotFound, Code::WebhookNotFound]),
    ]
}

/// The programs that are told of runs.
#[derive(Serialize, JsonSchema)]
struct Webhooks {
    webhooks: Vec<WebhookView>,
}

/// A program that is notified of runs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Webhook")]
struct WebhookView {
    name: String,
    /// Without its user and its query, which may be secrets.
    url: String,
    events: Vec<Topic>,
    /// Only runs with all of these.
    tags: BTreeMap<String, String>,
    /// Only runs of this owner; null: of all.
    owner: Option<String>,
    /// The number of messages that wait to be sent, or to be sent again.
    pending: usize,
}

/// A page of deliveries to a webhook.
#[derive(Serialize, JsonSchema)]
struct Deliveries {
    deliveries: Vec<DeliveryView>,
    total: usize,
}

/// The deliveries that are wanted.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read as a word")]
struct DeliveriesQuery {
    /// Only those in this state.
    status: Option<DeliveryStatus>,
}

async fn list(State(site): State<Arc<Site>>) -> Result<Json<Webhooks>, Problem> {
    let mut webhooks = Vec::new();
    for webhook in site.outbox.webhooks() {
        let pending = site.outbox.count(&webhook.name, Some(false)).await?;
        let Webhook { name, url, topics, tags, owner, .. } = webhook.clone();
        let owner = owner.map(|owner| owner.to_string());
        webhooks.push(WebhookView { name, url: without_credentials(&url), events: topics, tags, owner, pending });
    }
    Ok(Json(Webhooks { webhooks }))
}

/// Returns an address without what may be a secret in it: its user and its query.
fn without_credentials(address: &str) -> String {
    let Ok(mut url) = url::Url::parse(address) else { return String::new() };
    url.set_query(None);
    let _kept = (url.set_password(None), url.set_username(""));
    url.to_string()
}

async fn deliveries(
    State(site): State<Arc<Site>>,
    Path(name): Path<String>,
    pairs: Pairs,
) -> Result<Json<Deliveries>, Problem> {
    let Page { offset, limit } = pairs.page()?;
    let status = pairs.first("status");
    if let Some(odd) = status.filter(|status| !STATUSES.contains(status)) {
        let message = format!("`status` must be one of {}, not '{odd}'", STATUSES.join(", "));
        return Err(Problem::bad_request(message));
    }
    let page = site.outbox.deliveries(&name, status, (offset, limit)).await?;
    Ok(Json(Deliveries { deliveries: page.deliveries, total: page.total }))
}

async fn redeliver(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
) -> Result<(StatusCode, Json<DeliveryView>), Problem> {
    Ok((StatusCode::ACCEPTED, Json(site.outbox.redeliver(&id).await?)))
}
