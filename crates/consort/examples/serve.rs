//! An ensemble that others can watch and steer while the program uses it: the
//! control API, chat and the web UI on a port of its own.

use consort::{Calculator, Ensemble, Model, Served, Task};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let (_ensemble, served) = start("127.0.0.1:7329").await?;
    println!("open {} in a browser, or: consort run --url {}", served.url(), served.url());
    // Until a client drains it.
    Ok(served.finished().await?)
}

pub(crate) async fn start(address: &str) -> anyhow::Result<(Ensemble, Served)> {
    let ensemble = Ensemble::builder()
        .name("newsroom")
        .model("demo", Model::demo())
        .tool(Calculator::default())
        .task(Task::builder("Write about {topic}").name("write").tool("calculator"))
        .input("topic", "tea")
        .max_concurrent_runs(5, 20)
        .share_task("write", ["text"])
        .share_tool("calculator", ["sums"])
        .build()?;
    let served = ensemble.serve(address).await?;
    Ok((ensemble, served))
}
