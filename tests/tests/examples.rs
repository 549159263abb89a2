//! Every example does what its first lines promise.
#![expect(dead_code, reason = "nobody calls the main of an example here, which only prints what its run returns")]

#[path = "../../crates/consort/examples/axum_app.rs"]
mod axum_app;
#[path = "../../crates/consort/examples/budgeted_run.rs"]
mod budgeted_run;
#[path = "../../crates/consort/examples/deterministic_pipeline.rs"]
mod deterministic_pipeline;
#[path = "../../crates/consort/examples/hierarchical.rs"]
mod hierarchical;
#[path = "../../crates/consort/examples/own_tools.rs"]
mod own_tools;
#[path = "../../crates/consort/examples/parallel_dag.rs"]
mod parallel_dag;
#[path = "../../crates/consort/examples/research_and_write.rs"]
mod research_and_write;
#[path = "../../crates/consort/examples/review_gate.rs"]
mod review_gate;
#[path = "../../crates/consort/examples/serve.rs"]
mod served;
#[path = "../../crates/consort/examples/structured_output.rs"]
mod structured_output;
#[path = "../../crates/consort/examples/tool_pipeline.rs"]
mod tool_pipeline;

use axum::serve;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::serving::ask;

#[tokio::test]
async fn the_writer_is_given_what_the_researcher_found() {
    let text = research_and_write::run().await.unwrap();
    assert!(text.contains("# An article about tea"), "{text}");
    assert!(text.contains("## History of tea"), "what the researcher found is a section: {text}");
}

#[tokio::test]
async fn independent_tasks_start_together_and_the_one_that_reads_them_waits() {
    let text = parallel_dag::run().await.unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["task_started market", "task_started rivals"]);
    assert_eq!(lines[4..], ["task_started plan", "task_completed plan"]);
}

#[tokio::test]
async fn a_manager_brings_the_work_of_its_team_together() {
    let text = hierarchical::run().await.unwrap();
    assert_eq!(text, "The cook adds salt; the critic calls it a soup like rain.");
}

#[tokio::test]
async fn a_draft_that_was_sent_back_comes_again_and_is_approved() {
    assert_eq!(review_gate::run().await.unwrap(), "Dear reader, the shop is open.");
}

#[tokio::test]
async fn an_answer_that_is_no_recipe_is_corrected_and_then_a_value() {
    let text = structured_output::run().await.unwrap();
    assert_eq!(text, "Pancakes, 30 minutes: flour, milk, eggs");
}

#[tokio::test]
async fn a_pipeline_needs_no_model_and_its_guardrail_stops_an_empty_day() {
    let text = deterministic_pipeline::run().await.unwrap();
    let (good, empty) = text.split_once('\n').unwrap();
    assert_eq!(good, "The total is 12.");
    assert!(empty.contains("there were no orders"), "{empty}");
}

#[tokio::test]
async fn a_third_question_is_beyond_a_budget_of_two() {
    let text = budgeted_run::run().await.unwrap();
    assert!(text.starts_with("2 of 3 tasks for less than a dollar: "), "{text}");
    assert!(!text.ends_with("no error"), "{text}");
}

#[tokio::test]
async fn tools_share_the_pantry_and_say_what_is_missing() {
    assert_eq!(own_tools::run().await.unwrap(), "Salted, but without saffron.");
}

#[tokio::test]
async fn a_chain_of_tools_is_one_call_to_the_model() {
    assert_eq!(tool_pipeline::run().await.unwrap(), "The kitchen was asked once: 35");
}

#[tokio::test]
async fn a_served_ensemble_answers_clients_and_says_what_it_shares() {
    let (ensemble, served) = served::start("127.0.0.1:0").await.unwrap();
    let (status, run) = ask(served.address(), "POST /api/runs", "prefer: wait=30\r\n", "{}").await;
    assert_eq!((status, run["status"].as_str()), (200, Some("COMPLETED")), "{run}");
    let (_, capabilities) = ask(served.address(), "GET /api/capabilities", "", "").await;
    assert_eq!(capabilities["sharedTasks"][0]["name"], "write");
    assert!(ensemble.find(run["runId"].as_str().unwrap()).await.is_ok());
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_web_application_streams_a_run_from_its_first_event_to_its_result() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move { serve(listener, axum_app::app().unwrap()).await });
    let body = r#"{"topic":"tea"}"#;
    let request = format!(
        "POST /runs HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    server.abort();
    let kinds: Vec<&str> = answer.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!((kinds.first(), kinds.last()), (Some(&"run_accepted"), Some(&"run_result")), "{answer}");
    assert!(kinds.contains(&"token") && answer.contains("Write about tea"), "{answer}");
}
