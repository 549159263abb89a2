//! Tasks done by functions: no model at all, but the same order, log and events.

use consort::{Ensemble, Task, Work};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!("{}", run().await?);
    Ok(())
}

pub(crate) async fn run() -> anyhow::Result<String> {
    let load = Task::builder("Load the orders").name("load").handler(load).build();
    let total = Task::builder("Add them up")
        .name("total")
        .reads(&load)
        .handler(total)
        .output_guardrail(|output| async move { if output == "0" { Err("there were no orders") } else { Ok(()) } })
        .build();
    let report = Task::builder("Report the total").reads(&total).handler(report).build();

    let ensemble = Ensemble::builder().name("orders").tasks([load, total, report]).build()?;
    let good = ensemble.start([("orders", "3 4 5")]).await?.finished().await?;
    let empty = ensemble.start([("orders", "")]).await?.finished().await?;
    Ok(format!("{}\n{}", good.answer(), empty.error.unwrap_or_default()))
}

async fn load(work: Work) -> anyhow::Result<Vec<u32>> {
    let orders = work.inputs.get("orders").and_then(|orders| orders.as_str()).unwrap_or_default();
    Ok(orders.split_whitespace().map(str::parse).collect::<Result<_, _>>()?)
}

async fn total(work: Work) -> anyhow::Result<u32> {
    let orders: Vec<u32> = work.value("load")?;
    Ok(orders.iter().sum())
}

async fn report(work: Work) -> anyhow::Result<String> {
    Ok(format!("The total is {}.", work.output("total")?))
}
