//! Tasks start as soon as what they read is there: two at once, then a third.

use consort::{Ensemble, Model, Task};
use futures::StreamExt;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!("{}", run().await?);
    Ok(())
}

pub(crate) async fn run() -> anyhow::Result<String> {
    let market = Task::builder("Analyse the market").name("market").build();
    let rivals = Task::builder("Compare the rivals").name("rivals").build();
    let plan = Task::builder("Plan the launch").name("plan").reads(&market).reads(&rivals).build();
    let ensemble = Ensemble::builder().model("demo", Model::demo()).tasks([market, rivals, plan]).build()?;

    // Watching is optional; the events are stored either way.
    let run = ensemble.start(()).await?;
    let mut events = run.events().await?;
    let mut lines = Vec::new();
    while let Some(event) = events.next().await.transpose()? {
        if let ("task_started" | "task_completed", Some(task)) = (event.kind(), event.task()) {
            lines.push(format!("{} {task}", event.kind()));
        }
    }
    Ok(lines.join("\n"))
}
