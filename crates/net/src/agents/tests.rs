//! Tests of calls that are stopped before the agent has named its task.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use consort_core::id::Id;
use consort_http::right;
use consort_tools::{Account, Answer, Invocation, Tool};
use futures::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::call::AgentLink;
use super::card::Card;
use super::tool::AgentTool;

/// The time within which anything here comes, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// An agent that names its task when it is let, and never ends it by itself.
#[derive(Default)]
struct Agent {
    asked: Notify,
    may_name: Notify,
    cancelled: Notify,
}

async fn answer(State(agent): State<Arc<Agent>>, Json(call): Json<Value>) -> Response {
    let task = |state: &str| json!({ "id": "task-1", "contextId": "c", "status": { "state": state } });
    let method = call.get("method").and_then(Value::as_str).unwrap_or_default();
    match method {
        "SendStreamingMessage" | "SendMessage" => {
            agent.asked.notify_one();
            let name = async move {
                agent.may_name.notified().await;
                json!({ "jsonrpc": "2.0", "id": 1, "result": { "task": task("TASK_STATE_WORKING") } })
            };
            if method == "SendMessage" {
                return Json(name.await).into_response();
            }
            let named = stream::once(async { Ok::<_, Infallible>(Event::default().data(name.await.to_string())) });
            Sse::new(named.chain(stream::pending())).into_response()
        }
        "CancelTask" => {
            agent.cancelled.notify_one();
            Json(json!({ "jsonrpc": "2.0", "id": 1, "result": task("TASK_STATE_CANCELED") })).into_response()
        }
        "GetTask" => Json(json!({ "jsonrpc": "2.0", "id": 1, "result": task("TASK_STATE_WORKING") })).into_response(),
        other => panic!("{other} was not expected"),
    }
}

async fn started(streams: bool) -> (Arc<Agent>, AgentTool) {
    let agent = Arc::new(Agent::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/", post(answer)).with_state(agent.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let card = json!({ "name": "helper", "capabilities": { "streaming": streams },
        "supportedInterfaces": [{ "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "url": url }],
        "skills": [{ "id": "shout", "name": "shout", "description": "Shouts" }] });
    let card = Arc::new(Card::read(&card, &url).unwrap());
    let tool = AgentTool::new(&AgentLink::new(None).unwrap(), "helper", &card, &card.skills[0]);
    (agent, tool)
}

fn invocation(account: Account) -> Invocation {
    Invocation {
        run: "run".into(),
        call: Id::from("1.0.0"),
        key: "k".to_owned(),
        args: json!({ "input": "a" }),
        account,
    }
}

#[tokio::test]
async fn an_agent_that_names_its_task_after_the_stop_is_told_to_cancel_it() {
    for streams in [true, false] {
        let (agent, tool) = started(streams).await;
        let (stop, stopped) = watch::channel(false);
        let call = tokio::spawn(async move { tool.call(invocation(Account::default().until(stopped))).await });
        timeout(PATIENCE, agent.asked.notified()).await.unwrap();
        stop.send_replace(true);
        agent.may_name.notify_one();
        timeout(PATIENCE, agent.cancelled.notified()).await.expect("the agent is told");
        let answer = timeout(PATIENCE, call).await.unwrap().unwrap();
        assert!(matches!(answer, Answer::Failed(_)), "{answer:?}");
    }
}

#[tokio::test]
async fn an_agent_that_names_its_task_after_the_call_was_dropped_is_told_to_cancel_it() {
    for streams in [true, false] {
        let (agent, tool) = started(streams).await;
        let call = tokio::spawn(async move { tool.call(invocation(Account::default())).await });
        timeout(PATIENCE, agent.asked.notified()).await.unwrap();
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        agent.may_name.notify_one();
        timeout(PATIENCE, agent.cancelled.notified()).await.expect("the agent is told");
    }
}

#[tokio::test]
async fn a_message_leaves_only_while_the_node_may_act() {
    let (agent, tool) = started(true).await;
    let (may, right) = right::gate();
    let gated = tool.clone();
    let call = tokio::spawn(right::within(right, async move { gated.call(invocation(Account::default())).await }));
    // The call of another run is answered meanwhile.
    let free = tokio::spawn(async move { tool.call(invocation(Account::default())).await });
    timeout(PATIENCE, agent.asked.notified()).await.unwrap();
    assert!(agent.asked.notified().now_or_never().is_none(), "only one of the two has asked");
    may.send_replace(true);
    timeout(PATIENCE, agent.asked.notified()).await.expect("the other asks once it may");
    call.abort();
    free.abort();
}
