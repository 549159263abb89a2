//! Hooks: other programs begin runs of the ensemble or of a saved workflow. A request is verified
//! ([`verify`]), mapped by expressions over its body and headers, and begins one run for each delivery.

pub mod verify;

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::expression;
use consort_core::owner::Owner;
use consort_core::spec::BegunBy;
use serde_json::{Map, Value, json};

use self::verify::{Request, Verify};
use crate::start::{self, Start, Starter, WhenFull};
use crate::webhooks::Secret;

/// The tag of its runs, and the beginning of its claims.
const HOOK: &str = "hook";
/// The header that expressions do not see: it may be the secret.
const AUTHORIZATION: &str = "authorization";
/// The type of a request with which Slack asks whether an address is a hook.
const URL_VERIFICATION: &str = "url_verification";

/// A hook of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// Its name, the end of its address.
    pub name: String,
    /// The proof that a sender must give.
    pub verify: Verify,
    /// The secret that a sender shares.
    pub secret: Secret,
    /// An expression: nothing is begun where it is false.
    pub when: Option<String>,
    /// An expression for each input.
    pub inputs: BTreeMap<String, String>,
    /// The id or the name of a saved workflow; the ensemble when absent.
    pub workflow: Option<String>,
    /// The owner of its runs.
    pub owner: Owner,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// A run was begun, now or by the same delivery before.
    Begun(Arc<str>),
    /// The hook's condition is false.
    Skipped,
    /// The sender asks whether this is a hook, and wants these words back.
    Challenge(String),
}

/// The reason why nothing was begun.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such hook.
    #[error("No hook named {0}")]
    NotFound(String),
    /// The sender gave no proof, or a wrong one.
    #[error("{0}")]
    Unproven(String),
    /// The body cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// An expression cannot be evaluated with this body.
    #[error("{place}: {reason}")]
    Expression {
        /// The expression.
        place: String,
        /// The reason.
        reason: String,
    },
    /// No run could be started.
    #[error(transparent)]
    Start(#[from] start::Error),
}

/// The hooks of a configuration. Cheap to clone.
#[derive(Clone)]
pub struct Hooks {
    starter: Starter,
    hooks: Arc<Vec<Hook>>,
}

impl Hook {
    /// Returns the mistakes in its expressions, by their keys.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let when = self.when.iter().map(|source| ("when".to_owned(), source));
        let inputs = self.inputs.iter().map(|(name, source)| (format!("inputs.{name}"), source));
        when.chain(inputs)
            .filter_map(|(place, source)| Some((place, expression::read_delivery(source).err()?)))
            .collect()
    }

    /// Returns whether a request begins a run.
    fn is_wanted(&self, body: &Value, headers: &Value) -> Result<bool, Error> {
        let Some(source) = &self.when else { return Ok(true) };
        let failed = |reason: String| Error::Expression { place: "when".to_owned(), reason };
        let value = expression::evaluate_delivery(source, body, headers).map_err(failed)?;
        value.as_bool().ok_or_else(|| failed(format!("must be true or false, not {value:.100}")))
    }

    /// Returns the inputs of the run that a request begins.
    fn mapped(&self, body: &Value, headers: &Value) -> Result<Map<String, Value>, Error> {
        let mut inputs = Map::new();
        for (name, source) in &self.inputs {
            let failed = |reason| Error::Expression { place: format!("inputs.{name}"), reason };
            inputs.insert(name.clone(), expression::evaluate_delivery(source, body, headers).map_err(failed)?);
        }
        Ok(inputs)
    }
}

impl Hooks {
    /// Creates the hooks of a configuration.
    pub fn new(starter: Starter, hooks: Vec<Hook>) -> Hooks {
        Hooks { starter, hooks: Arc::new(hooks) }
    }

    /// Begins the run that a request asks for.
    pub async fn receive(&self, name: &str, request: Request<'_>) -> Result<Received, Error> {
        let hook = self.hooks.iter().find(|hook| hook.name == name).ok_or_else(|| Error::NotFound(name.to_owned()))?;
        let now = self.starter.engine().seams().clock.now();
        verify::check(hook.verify, &hook.secret, request, now).map_err(Error::Unproven)?;
        let body = read(request)?;
        if hook.verify == Verify::Slack && body.get("type").and_then(Value::as_str) == Some(URL_VERIFICATION) {
            let challenge = body.get("challenge").and_then(Value::as_str).unwrap_or_default();
            return Ok(Received::Challenge(challenge.to_owned()));
        }
        let id = verify::delivery_id(hook.verify, request, &body).map_err(Error::Unreadable)?;
        let headers: BTreeMap<&String, &String> =
            request.headers.iter().filter(|(name, _)| *name != AUTHORIZATION).collect();
        let headers = json!(headers);
        if !hook.is_wanted(&body, &headers)? {
            return Ok(Received::Skipped);
        }
        let inputs = hook.mapped(&body, &headers)?;
        let claim = id.as_ref().map(|id| format!("{HOOK}/{name}@{id}"));
        let delivery_id = id.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let start = Start {
            workflow: hook.workflow.clone(),
            request: json!({ "inputs": inputs, "tags": { HOOK: name } }),
            owner: hook.owner.clone(),
            claim,
            begun_by: Some(BegunBy::Hook { name: name.to_owned(), delivery_id }),
            when_full: WhenFull::Refuse,
        };
        Ok(Received::Begun(self.starter.start(start).await?.run))
    }
}

/// Reads a body: JSON, or a form, whose fields are texts.
fn read(request: Request<'_>) -> Result<Value, Error> {
    let kind = request.headers.get("content-type").map(String::as_str).unwrap_or_default();
    let json = serde_json::from_slice(request.bytes);
    // Some senders, and `curl -d`, call an object of JSON a form; no form begins like one.
    if kind.starts_with("application/x-www-form-urlencoded") && !matches!(json, Ok(Value::Object(_))) {
        let fields = url::form_urlencoded::parse(request.bytes);
        return Ok(Value::Object(fields.map(|(name, value)| (name.into_owned(), value.into_owned().into())).collect()));
    }
    if request.bytes.trim_ascii().is_empty() {
        return Ok(Value::Null);
    }
    json.map_err(|error| Error::Unreadable(format!("Invalid JSON body: {error}")))
}
