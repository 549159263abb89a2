//! Answers as values: the schema is made from the type, and an answer that does not fit it goes back to the model
//! before the program sees it.

use consort::{Ensemble, Line, ScriptedModel, Task};
use schemars::JsonSchema;
use serde::Deserialize;

/// The type of the model's answer; comments are part of the schema.
#[derive(Deserialize, JsonSchema)]
struct Recipe {
    title: String,
    /// Minutes from start to table.
    minutes: u32,
    ingredients: Vec<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!("{}", run().await?);
    Ok(())
}

pub(crate) async fn run() -> anyhow::Result<String> {
    let model = ScriptedModel::new()
        .at("1.0", Line::new().says("Pancakes! They take half an hour."))
        .at("1.1", Line::new().says(r#"{"title":"Pancakes","minutes":30,"ingredients":["flour","milk","eggs"]}"#));
    let task = Task::builder("Invent a recipe").name("recipe").output::<Recipe>();
    let outcome = Ensemble::run(model, [task]).await?;

    let Recipe { title, minutes, ingredients } = outcome.value("recipe")?;
    Ok(format!("{title}, {minutes} minutes: {}", ingredients.join(", ")))
}
