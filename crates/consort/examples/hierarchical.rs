//! A manager hands tasks to the agents of a team and brings their work together.

use consort::{Agent, Ensemble, Line, ScriptedModel, Task, Workflow};
use serde_json::json;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!("{}", run().await?);
    Ok(())
}

pub(crate) async fn run() -> anyhow::Result<String> {
    let role = |role: &str| Agent { role: role.into(), goal: "Do good work".into(), ..Agent::default() };
    let ensemble = Ensemble::builder()
        .workflow(Workflow::Hierarchical)
        .model("script", script())
        .task(Task::builder("Taste the soup").agent(role("Cook")))
        .task(Task::builder("Describe the soup").agent(role("Critic")))
        .build()?;
    Ok(ensemble.start(()).await?.finished().await?.answer().to_owned())
}

/// Creates the script of the manager. A real model decides by itself which agent to ask.
fn script() -> ScriptedModel {
    let errand = |role: &str, task: &str| json!({ "agentRole": role, "taskDescription": task });
    let delegates = Line::new()
        .calls("delegateTask", &errand("Cook", "Taste it"))
        .calls("delegateTask", &errand("Critic", "Describe it"));
    ScriptedModel::new()
        .at("3.0", delegates)
        .says("3.0.0.0", "It needs salt.")
        .says("3.0.1.0", "A soup like rain.")
        .says("3.1", "The cook adds salt; the critic calls it a soup like rain.")
}
