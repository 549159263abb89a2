//! Nothing leaves the house unread: a reviewer, here a function, sends a draft
//! back once and then approves it.

use consort::{Decision, Ensemble, Line, Review, ReviewPolicy, ScriptedModel, Task};
use futures::StreamExt;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!("{}", run().await?);
    Ok(())
}

pub(crate) async fn run() -> anyhow::Result<String> {
    let model = ScriptedModel::new()
        .when(|ask| format!("{:?}", ask.messages).contains("greet"), Line::new().says("Dear reader, the shop is open."))
        .otherwise(Line::new().says("The shop is open."));
    let ensemble = Ensemble::builder()
        .model("script", model)
        .task(Task::new("Write a notice"))
        .review(ReviewPolicy::AfterLastTask)
        .build()?;

    let run = ensemble.start(()).await?.steered_by("editor");
    let mut events = run.events().await?;
    while let Some(event) = events.next().await.transpose()? {
        if let Some(review) = event.review() {
            run.review(&review, judge(&review)).await?;
        }
    }
    Ok(run.finished().await?.answer().to_owned())
}

fn judge(review: &Review) -> Decision {
    if review.output.starts_with("Dear") {
        Decision::Continue
    } else {
        Decision::Reject { feedback: "Please greet the reader first.".into() }
    }
}
