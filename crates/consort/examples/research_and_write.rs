//! One agent researches, another writes about what it found.

use consort::{Agent, Ensemble, Model, Task};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!("{}", run().await?);
    Ok(())
}

pub(crate) async fn run() -> anyhow::Result<String> {
    let researcher = Agent { role: "Tea scholar".into(), goal: "Find what is true".into(), ..Agent::default() };
    let research = Task::builder("Research the history of {topic}").name("research").agent(researcher).build();
    // Reading a task means coming after it and being given its output.
    let article = Task::builder("Write an article about {topic}").expected_output("Three paragraphs").reads(&research);

    let ensemble =
        Ensemble::builder().name("newsroom").model("demo", Model::demo()).tasks([research, article.build()]).build()?;
    let outcome = ensemble.start([("topic", "tea")]).await?.finished().await?;
    Ok(outcome.answer().to_owned())
}
