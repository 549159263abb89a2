//! `[[webhook]]`: the programs that are notified of runs.

use consort_core::announcement::Topic;
use consort_runtime::webhooks::{RETRIES_MAX, Secret, Webhook};

use super::fields::Fields;
use super::models::WEB;
use super::schedule::name;
use super::server::owner;
use super::tools::millis;
use super::typed::Typed;
use super::values::{Parsed, address, duration, scalar, text, word};

/// Reads one `[[webhook]]`.
pub(super) fn read(fields: &mut Fields<'_>) -> Webhook {
    let usual = Webhook::new("", "", Secret::of(&[]));
    let retry = fields.each("retry", duration);
    if retry.as_ref().is_some_and(|delays| delays.len() > RETRIES_MAX) {
        fields.mistake("retry", format!("must have at most {RETRIES_MAX} delays"));
    }
    let topics = fields.each("events", word(Topic::WORDS));
    if topics.as_ref().is_some_and(Vec::is_empty) {
        fields.mistake("events", "must name at least one event");
    }
    Webhook {
        name: fields.need("name", name).unwrap_or_default(),
        url: fields.need("url", address(WEB)).unwrap_or_default(),
        secret: fields.need("secret", secret).unwrap_or(usual.secret),
        topics: topics.unwrap_or(usual.topics),
        tags: fields.map("tags", scalar),
        owner: fields.read("owner", owner),
        retry_ms: retry.map_or(usual.retry_ms, |delays| delays.into_iter().map(millis).collect()),
    }
}

fn secret(value: &Typed) -> Parsed<Secret> {
    Secret::read(&text(value)?)
}
