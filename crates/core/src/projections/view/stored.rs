//! The row of a run as a log keeps it. An earlier version may have written it, so it is passed on as it
//! was stored; only the fields that depend on the time of asking are added.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::WaitingFor;
use consort_spec::id::Millis;
use consort_spec::owner::Owner;

/// A stored [`Row`](super::Row).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoredRow(Map<String, Value>);

impl StoredRow {
    /// Reads a row from its stored text.
    pub fn read(body: &str) -> Result<StoredRow, serde_json::Error> {
        serde_json::from_str(body)
    }

    /// Adds the run's position in the queue and, unless it has begun before, the time it has waited.
    pub fn queue(&mut self, position: usize, waited_ms: Millis) {
        self.0.insert("queuePosition".to_owned(), position.into());
        self.0.entry("queuedMs").or_insert_with(|| waited_ms.into());
    }

    /// Says that the run's events cannot be stored at the moment.
    pub fn stall(&mut self) {
        self.0.insert("waitingFor".to_owned(), json!(WaitingFor::Storage));
        self.0.remove("waitingSince");
    }

    /// Says that the run waits for nothing.
    pub(crate) fn wait_for_nothing(&mut self) {
        for field in ["waitingFor", "waitingSince", "waitingReason"] {
            self.0.remove(field);
        }
    }

    /// Adds the owner, unless the row has one: rows of earlier versions have none.
    pub fn belong_to(&mut self, owner: &Owner) {
        self.0.entry("owner").or_insert_with(|| owner.as_str().into());
    }

    /// Returns the model that tasks without one of their own ask; rows of earlier versions have none.
    pub fn model(&self) -> Option<&str> {
        self.0.get("model")?.as_str()
    }

    /// Returns the cost in dollars, where it is known.
    pub fn cost_usd(&self) -> Option<f64> {
        let cost = self.0.get("costEstimate")?;
        Some(cost.get("inputCost")?.as_f64()? + cost.get("outputCost")?.as_f64()?)
    }

    /// Returns whether the run is paused.
    pub fn is_paused(&self) -> bool {
        self.0.get("paused").and_then(Value::as_bool).unwrap_or_default()
    }

    /// Returns the reason why nothing happens in the run, as far as its events say it.
    pub fn waiting_for(&self) -> Option<WaitingFor> {
        WaitingFor::deserialize(self.0.get("waitingFor")?).ok()
    }

    /// Puts the fields of `known` over these.
    pub(crate) fn extend(&mut self, known: StoredRow) {
        self.0.extend(known.0);
    }

    pub(crate) fn insert(&mut self, field: &str, value: Value) {
        self.0.insert(field.to_owned(), value);
    }
}

impl From<Value> for StoredRow {
    /// Takes the fields of an object; any other value has none.
    fn from(value: Value) -> StoredRow {
        if let Value::Object(fields) = value { StoredRow(fields) } else { StoredRow::default() }
    }
}
