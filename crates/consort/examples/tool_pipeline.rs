//! A chain of tools as one tool: the model asks once, and what lies between the
//! steps never passes through it.

use consort::{Calculator, Ensemble, Json, Line, Pipeline, ScriptedModel, Step, Task, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Table {
    /// Its number.
    number: u32,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!("{}", run().await?);
    Ok(())
}

pub(crate) async fn run() -> anyhow::Result<String> {
    let orders = tool("orders", "Lists what a table ordered", |table: Table| async move {
        match table.number {
            3 => Ok(json!([{ "dish": "soup", "price": 12 }, { "dish": "tea", "price": 23 }])),
            number => Err(format!("nobody sits at table {number}")),
        }
    });
    let prices = Step::new(Json::default()).with("query", r#"map(.price | tostring) | join(" + ")"#);
    let bill =
        Pipeline::new("bill", "Says what a table owes", [Step::new(orders), prices, Calculator::default().into()])?;

    let model = ScriptedModel::new()
        .at("1.0", Line::new().calls("bill", &json!({ "number": 3 })))
        .says("1.1", "The kitchen was asked once: 35");
    let ensemble = Ensemble::builder()
        .model("script", model.clone())
        .tool(bill)
        .task(Task::builder("What does table 3 owe?").tool("bill"))
        .build()?;
    let outcome = ensemble.start(()).await?.finished().await?;
    let told = model.sent("1.1").map(|ask| format!("{:?}", ask.messages)).unwrap_or_default();
    anyhow::ensure!(told.contains("35"), "the model was told {told}");
    Ok(outcome.answer().to_owned())
}
