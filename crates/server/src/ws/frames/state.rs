//! Queries: `state_query` and `capability_query`.

use std::sync::LazyLock;

use consort_core::choice::Choice;
use consort_core::frame::schema::sent;
use consort_net::wire::{Capability, CapabilityKind, CapabilityQuery};
use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::{Row, asked, shape};
use crate::access::Scope;
use crate::body::Sent;
use crate::endpoint::Whose;
use crate::routes::{capabilities, runs};
use crate::ws::answer::Answer;
use crate::ws::session::Session;
use consort_inbound::problem::Problem;
use consort_inbound::query::Pairs;

pub(super) const ROWS: &[Row] = &[
    Row {
        kind: "state_query",
        scope: Scope::Read,
        whose: Whose::Runs,
        shape: sent::<shape::StateQuery>,
        act: |session, sent| Box::pin(state(session, sent)),
    },
    Row {
        kind: "capability_query",
        scope: Scope::Read,
        whose: Whose::Shared,
        shape: sent::<shape::CapabilityQuery>,
        act: |session, sent| Box::pin(shared(session, sent)),
    },
];

/// The subject of a query.
#[derive(Clone, Copy)]
pub(super) enum Question {
    Runs,
    RunDetail,
    Capabilities,
}

impl Choice for Question {
    const WORDS: &'static [(&'static str, Question)] =
        &[("runs", Question::Runs), ("run_detail", Question::RunDetail), ("capabilities", Question::Capabilities)];
}

const KINDS: &[(&str, CapabilityKind)] = &[("TASK", CapabilityKind::Task), ("TOOL", CapabilityKind::Tool)];
/// The fields of a filter.
static FILTERS: LazyLock<Vec<String>> = LazyLock::new(|| {
    shape::Filter::fields(&mut SchemaGenerator::default()).into_iter().map(|(name, _)| name).collect()
});

async fn state(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let site = &session.site;
    let runs = &session.runs;
    let question = sent.choice::<Question>("query")?;
    let missing = || Problem::bad_request("`query` is required: runs, run_detail or capabilities");
    let data = match question.ok_or_else(missing)? {
        Question::Runs => json!(runs::listed(runs, &filter(sent)?).await?),
        Question::RunDetail => runs::detailed(runs, sent.text("runId")?).await?,
        Question::Capabilities => json!(capabilities::told(site)),
    };
    session.tell(&Answer::StateResponse { asked: asked(sent), data });
    Ok(())
}

/// Reads a filter as the query of a list.
fn filter(sent: &Sent) -> Result<Pairs, Problem> {
    let mut pairs = Vec::new();
    let fields = match sent.object()?.get("filter") {
        None | Some(Value::Null) => return Ok(Pairs::new(pairs)),
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err(Problem::bad_request("`filter` must be an object")),
    };
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        if !FILTERS.contains(name) {
            return Err(Problem::bad_request(format!("a `filter` has {}, not `{name}`", FILTERS.join(", "))));
        }
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for value in values {
            pairs.push((name.clone(), plain(name, value)?));
        }
    }
    Ok(Pairs::new(pairs))
}

fn plain(name: &str, value: &Value) -> Result<String, Problem> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(Problem::bad_request(format!("`filter.{name}` must be text, a number, true or false")))
        }
    }
}

/// Returns the shared capabilities of this ensemble that match every given filter.
async fn shared(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let text = |name| Ok::<_, Problem>(sent.optional_text(name)?.map(str::to_owned));
    let also = text("toolName")?;
    let query = CapabilityQuery {
        request_id: None,
        capability_name: text("capabilityName")?,
        tag: text("tag")?,
        capability_type: sent.word("capabilityType", KINDS)?,
    };
    let network = &session.site.server.network;
    let matches = |shared: &Capability| query.matches(shared) && also.as_ref().is_none_or(|name| shared.name == *name);
    let capabilities: Vec<Capability> = network.shared().into_iter().filter(matches).collect();
    let ensemble = network.options().name.clone();
    session.tell(&Answer::CapabilityResponse { asked: asked(sent), ensemble, capabilities });
    Ok(())
}
