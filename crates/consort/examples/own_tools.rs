//! Functions of your own as tools, and a value that several tools share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use consort::{EffectClass, Ensemble, FunctionTool, Line, ScriptedModel, Task, ToolSet, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Item {
    /// The name of the item on the shelf.
    name: String,
}

/// The items on the shelves, with their numbers.
struct Pantry(Mutex<BTreeMap<String, u32>>);

impl Pantry {
    fn take(&self, name: &str) -> Result<u32, String> {
        let mut shelves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = shelves.get_mut(name).filter(|count| **count > 0).ok_or(format!("there is no {name} left"))?;
        *count -= 1;
        Ok(*count)
    }
}

impl ToolSet for Pantry {
    fn tools(self: Arc<Self>) -> Vec<FunctionTool> {
        let take = move |item: Item| {
            let pantry = self.clone();
            async move { pantry.take(&item.name) }
        };
        // Taking twice is not taking once: a crash must not repeat it.
        vec![tool("take", "Takes an item and says how many are left", take).effect(EffectClass::Once)]
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!("{}", run().await?);
    Ok(())
}

pub(crate) async fn run() -> anyhow::Result<String> {
    let take = |name: &str| Line::new().calls("take", &json!({ "name": name }));
    let model = ScriptedModel::new()
        .at("1.0", take("salt"))
        .at("1.1", take("saffron"))
        .says("1.2", "Salted, but without saffron.");
    let ensemble = Ensemble::builder()
        .model("script", model)
        .tool_set(Pantry(Mutex::new(BTreeMap::from([("salt".to_owned(), 2)]))))
        .task(Task::builder("Season the soup").tool("take"))
        .build()?;

    let outcome = ensemble.start(()).await?.finished().await?;
    Ok(outcome.answer().to_owned())
}
