//! A run that may ask its model twice and wants to ask three times.

use consort::{Ensemble, Limits, Model, Price};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!("{}", run().await?);
    Ok(())
}

pub(crate) async fn run() -> anyhow::Result<String> {
    // Two dollars for a million tokens read, eight for a million written.
    let price = Price { input: 2_000_000_000, output: 8_000_000_000, cached_input: 0 };
    let ensemble = Ensemble::builder()
        .model("demo", Model::demo().price(price))
        .tasks(["Write one line", "Write another line", "Write a third line"])
        .limits(Limits { llm_calls: 2, cost: 1_000_000_000, ..Limits::default() })
        .build()?;
    let outcome = ensemble.start(()).await?.finished().await?;

    let done = outcome.tasks.iter().filter(|task| task.output.is_some()).count();
    let error = outcome.error.as_deref().unwrap_or("no error");
    let cost = outcome.cost_usd.unwrap_or_default();
    let cheap = if cost > 0.0 && cost < 1.0 { "for less than a dollar" } else { "at an odd price" };
    Ok(format!("{done} of 3 tasks {cheap}: {error}"))
}
