//! Sends the deliveries of the outbox. Each webhook has a few requests under way and each request a time limit, so
//! that a slow receiver does not delay the others.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use consort_core::id::Millis;
use consort_http::outbound::{Outbound, OutboundOptions, Reach, SystemNames};
use consort_http::{innermost, retry_after};
use consort_log as log;
use reqwest::Client;
use reqwest::header::{CONTENT_TYPE, USER_AGENT};
use tokio::task::JoinSet;

use super::delivery::{Delivery, DeliveryStatus, Outcome};
use super::noting::LOG_RETRY;
use super::outbox::{Error, Outbox};
use super::push::is_push;
use super::{RETRY_MS, Webhook};
use crate::engine::Engine;

/// The duty of the node that sends.
const DUTY: &str = "webhooks";
/// The interval between two looks for deliveries that other nodes have stored.
const LOOK_MS: Millis = 1_000;
/// Requests under way to one webhook.
const UNDER_WAY_MAX: usize = 4;
/// The time that a receiver may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The interval between two looks at what is old.
const ADVANCE_MS: Millis = 60_000;
/// The delay before a client is made again that could not be made.
const RETRY: Duration = Duration::from_secs(5);
/// The maximum number of characters of an error that are stored.
const ERROR_MAX: usize = 300;

impl Outbox {
    /// Stores what webhooks are told of the runs of this process, and sends the deliveries that are stored and those
    /// that follow; never returns. Of several nodes one sends.
    pub async fn drive(self, engine: Engine) -> Infallible {
        if !engine.is_alone() {
            // Another node may store an address of a task at any time.
            self.expect_pushes();
        }
        let sending = engine.clone().on_duty(DUTY, || self.clone().send_all(engine.clone()));
        tokio::select! {
            never = self.clone().note_asked(engine.clone()) => never,
            never = sending => never,
        }
    }

    async fn send_all(self, engine: Engine) -> Infallible {
        self.forget_due();
        while let Err(error) = self.catch_up(&engine).await {
            tracing::warn!(%error, "the outbox cannot be read; trying again");
            tokio::time::sleep(LOG_RETRY).await;
        }
        // Most servers have nobody to tell anything.
        while self.is_idle() {
            self.woken().await;
        }
        let clients = loop {
            match Clients::new(self.reach().clone()) {
                Ok(clients) => break clients,
                Err(error) => {
                    tracing::error!(%error, "webhooks cannot be called");
                    tokio::time::sleep(RETRY).await;
                }
            }
        };
        Sender { outbox: self, engine, clients, under_way: HashMap::new() }.work().await
    }
}

/// The clients that requests are sent with.
#[derive(Clone)]
struct Clients {
    /// For addresses of the configuration.
    configured: Client,
    /// For addresses that clients named.
    screened: Outbound,
}

impl Clients {
    fn new(reach: Reach) -> Result<Clients, String> {
        let options = OutboundOptions { reach, timeout: TIMEOUT };
        let screened = Outbound::new(options, Arc::new(SystemNames)).map_err(|error| error.to_string())?;
        let configured = consort_http::client().map_err(|error| error.to_string())?;
        Ok(Clients { configured, screened })
    }
}

/// The receiver of a delivery.
#[derive(Clone)]
enum Receiver {
    Configured(Box<Webhook>),
    /// An address of a task, by its name.
    Push(String),
}

impl Receiver {
    fn name(&self) -> &str {
        match self {
            Receiver::Configured(webhook) => &webhook.name,
            Receiver::Push(name) => name,
        }
    }

    fn retry_ms(&self) -> &[Millis] {
        match self {
            Receiver::Configured(webhook) => &webhook.retry_ms,
            Receiver::Push(_) => &RETRY_MS,
        }
    }
}

struct Sender {
    outbox: Outbox,
    engine: Engine,
    clients: Clients,
    /// The number of requests to each webhook.
    under_way: HashMap<String, usize>,
}

impl Sender {
    async fn work(mut self) -> Infallible {
        let mut tasks: JoinSet<String> = JoinSet::new();
        let clock = self.outbox.clock();
        let is_alone = self.engine.is_alone();
        let mut advance_at = clock.now() + ADVANCE_MS;
        loop {
            self.begin(&mut tasks);
            if clock.now() >= advance_at {
                advance_at = clock.now() + ADVANCE_MS;
                self.look_back(is_alone).await;
            }
            if !is_alone && let Err(error) = self.outbox.find_waiting().await {
                tracing::debug!(%error, "the deliveries of other nodes cannot be seen");
            }
            let look_at = if is_alone { advance_at } else { advance_at.min(clock.now() + LOOK_MS) };
            let next = self.outbox.next_due(|webhook| self.is_free(webhook)).unwrap_or(look_at).min(look_at);
            tokio::select! {
                () = self.outbox.woken() => {}
                () = clock.until(Some(next)) => {}
                Some(ended) = tasks.join_next() => {
                    if let Ok(webhook) = ended && let Some(count) = self.under_way.get_mut(&webhook) {
                        *count = count.saturating_sub(1);
                    }
                    self.under_way.retain(|_, count| *count > 0);
                }
            }
        }
    }

    /// Erases old deliveries. Where nodes share the outbox, one may have died before it looked at its last events.
    async fn look_back(&self, is_alone: bool) {
        let looked = match is_alone {
            true => self.outbox.advance().await.map_err(Into::into),
            false => self.outbox.catch_up(&self.engine).await,
        };
        if let Err(error) = looked {
            tracing::warn!(%error, "old deliveries cannot be erased");
        }
    }

    fn is_free(&self, webhook: &str) -> bool {
        self.under_way.get(webhook).is_none_or(|count| *count < UNDER_WAY_MAX)
    }

    /// Begins the requests that are due.
    fn begin(&mut self, tasks: &mut JoinSet<String>) {
        for name in self.outbox.awaited() {
            let Some(receiver) = self.receiver(&name) else {
                // Nobody takes it any more: it is not waited for, and erased when it is old.
                while self.outbox.take_due(&name).is_some() {}
                continue;
            };
            while self.is_free(&name)
                && let Some(id) = self.outbox.take_due(&name)
            {
                *self.under_way.entry(name.clone()).or_default() += 1;
                let outbox = self.outbox.clone();
                let clients = self.clients.clone();
                let receiver = receiver.clone();
                tasks.spawn(async move {
                    deliver(&outbox, &clients, &receiver, &id).await;
                    receiver.name().to_owned()
                });
            }
        }
    }

    /// Returns the receiver of this name; none when it is not configured any more.
    fn receiver(&self, name: &str) -> Option<Receiver> {
        if is_push(name) {
            return Some(Receiver::Push(name.to_owned()));
        }
        let webhook = self.outbox.webhooks().iter().find(|webhook| webhook.name == name)?;
        Some(Receiver::Configured(Box::new(webhook.clone())))
    }
}

/// Tries a delivery once, and stores the outcome.
async fn deliver(outbox: &Outbox, clients: &Clients, receiver: &Receiver, id: &str) {
    let (delivery, owner) = loop {
        match outbox.find(id).await {
            Ok(found) => break found,
            // Erased meanwhile.
            Err(Error::NotFound(_) | Error::NoWebhook(_)) => return outbox.tried(id),
            Err(Error::Log(error @ log::Error::Damaged { .. })) => {
                tracing::error!(id, %error, "a delivery cannot be read");
                return outbox.tried(id);
            }
            Err(Error::Log(error)) => {
                tracing::warn!(id, %error, "a delivery cannot be read; trying again");
                tokio::time::sleep(LOG_RETRY).await;
            }
        }
    };
    if delivery.status != DeliveryStatus::Pending {
        return outbox.tried(id);
    }
    let outcome = match outbox.body(id).await {
        Ok(Some(body)) => match receiver {
            Receiver::Configured(webhook) => send(&clients.configured, webhook, id, &body, outbox.clock().now()).await,
            Receiver::Push(name) => outbox.send_push((name, id), &clients.screened, &body).await,
        },
        Ok(None) => Outcome { status: None, error: Some("its body is lost".to_owned()), asked_ms: None },
        Err(error) => Outcome { status: None, error: Some(error.to_string()), asked_ms: None },
    };
    let attempted = delivery.attempted(outcome, receiver.retry_ms(), outbox.clock().now());
    tell(&attempted);
    outbox.count_attempt(&attempted);
    while let Err(error) = outbox.update(&attempted, owner.clone()).await {
        if matches!(error, log::Error::Fenced) {
            // Erased meanwhile.
            return outbox.tried(id);
        }
        // A receiver may get it once more, with the same id.
        tracing::warn!(id, %error, "what came of a delivery cannot be stored; trying again");
        tokio::time::sleep(LOG_RETRY).await;
    }
}

async fn send(client: &Client, webhook: &Webhook, id: &str, body: &str, now: Millis) -> Outcome {
    let timestamp = now / 1_000;
    let request = client
        .post(&webhook.url)
        .timeout(TIMEOUT)
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, concat!("consort/", env!("CARGO_PKG_VERSION")))
        .header("webhook-id", id)
        .header("webhook-timestamp", timestamp.to_string())
        .header("webhook-signature", webhook.secret.sign(id, timestamp, body.as_bytes()))
        .body(body.to_owned());
    match request.send().await {
        Ok(answer) => {
            let asked_ms = retry_after::read(answer.headers(), SystemTime::now());
            Outcome { status: Some(answer.status().as_u16()), error: None, asked_ms }
        }
        Err(error) => {
            let reason = if error.is_timeout() { format!("no answer within {TIMEOUT:?}") } else { innermost(&error) };
            Outcome { status: None, error: Some(reason.chars().take(ERROR_MAX).collect()), asked_ms: None }
        }
    }
}

fn tell(delivery: &Delivery) {
    let Delivery { id, webhook, attempts, .. } = delivery;
    let error = attempts.last().and_then(|attempt| attempt.error.as_deref()).unwrap_or_default();
    match delivery.status {
        DeliveryStatus::Delivered => tracing::debug!(id, webhook, "a webhook was told"),
        DeliveryStatus::Pending => tracing::info!(id, webhook, error, "a webhook was not told; it is tried again"),
        DeliveryStatus::Dead => tracing::warn!(id, webhook, error, "a webhook was not told, and is not tried again"),
    }
}
