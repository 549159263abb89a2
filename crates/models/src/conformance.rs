//! The conformance suite that is run against every model. A model's own
//! tests set up the scenes: a provider that behaves as the scene says.

use std::collections::HashSet;
use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::id::Id;
use consort_core::message::{Failure, FailureKind, Message, Reply, Stop, Usage};
use consort_core::model_options::ModelOptions;
use futures::future::BoxFuture;
use futures::stream::StreamExt;

use super::{Ask, Model, Piece};

/// The text of [`Scene::Words`], one delta each; some letters take several bytes.
pub(crate) const WORDS: [&str; 3] = ["Grüße ", "aus ", "東京."];
/// The calls of [`Scene::Calls`] in order: id, tool, arguments.
pub(crate) const CALLS: [(&str, &str, &str); 2] =
    [("call_a", "net.find", r#"{"input":"one"}"#), ("call_b", "calculator", r#"{"input":"1+1"}"#)];
/// The usage that every answer reports.
pub(crate) const USED: Usage = Usage { input: 11, output: 7, cached_input: 3, reasoning: 2 };

/// The behaviour of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scene {
    /// Answers with [`WORDS`].
    Words,
    /// Asks for [`CALLS`].
    Calls,
    /// Reports that it is overloaded.
    Overloaded,
    /// Answers with the first of [`WORDS`], then closes the connection.
    Cut,
    /// Answers with the first of [`WORDS`], then never sends anything again.
    Held,
}

/// A model connected to such a provider.
pub(crate) struct Set {
    pub(crate) model: Arc<dyn Model>,
    /// Resolves once the provider has seen the call end before its answer did.
    pub(crate) hung_up: BoxFuture<'static, ()>,
}

/// Returns a short conversation in which the tools of [`CALLS`] are offered.
pub(crate) fn ask() -> Ask {
    let tools = CALLS.map(|(_, name, _)| Arc::new(ToolInfo::new(name, "A tool.")));
    let messages = vec![Message::System { text: "Be brief.".into() }, Message::User { text: "Go on.".into() }];
    Ask {
        run: "run".into(),
        conversation: Id::task(0),
        task: "task".into(),
        round: 0,
        attempt: 0,
        messages: Arc::new(messages),
        tools: Arc::new(tools.clone()),
        belt: Arc::new(tools),
        max_output_tokens: 100,
        options: ModelOptions::default(),
        schema: None,
        files: Arc::default(),
    }
}

/// Returns the request that follows this reply, each of whose calls was answered
/// with `done`. The reply has been serialized to JSON and back, as in the log.
pub(crate) fn ask_on(reply: &Reply) -> Ask {
    let stored = serde_json::to_string(reply).unwrap();
    let reply: Reply = serde_json::from_str(&stored).unwrap();
    let results = reply.calls().map(|call| result(&call.provider_id, &call.tool, "done"));
    let answered: Vec<Message> = results.collect();
    let opening = ask().messages.iter().cloned().collect();
    let messages = [opening, vec![Message::Assistant(Arc::new(reply))], answered].concat();
    Ask { messages: Arc::new(messages), round: 1, ..ask() }
}

/// Returns the message with the result of a call.
pub(crate) fn result(provider_id: &str, name: &str, text: &str) -> Message {
    let provider_id = provider_id.to_owned();
    let name = name.to_owned();
    Message::Tool { call: "1.0.0".into(), provider_id, name, text: text.into(), is_error: false }
}

/// Returns all items of a model's stream, to the end.
pub(crate) async fn all(model: &dyn Model, ask: Ask) -> Vec<Result<Piece, Failure>> {
    model.stream(ask).collect().await
}

/// Returns a model's reply: the last item of its stream, whose text equals all the deltas before it.
pub(crate) async fn reply(model: &dyn Model, ask: Ask) -> (Reply, Option<Usage>) {
    let mut said = all(model, ask).await;
    let (reply, usage) = match said.pop() {
        Some(Ok(Piece::Done(reply, usage))) => (reply, usage),
        last => panic!("no end, but {last:?} after {said:?}"),
    };
    assert!(said.iter().all(|piece| matches!(piece, Ok(Piece::Delta(_) | Piece::Thinking(_)))), "{said:?}");
    assert_eq!(deltas(&said), reply.text());
    (reply, usage)
}

/// Returns the text of the deltas among these pieces.
pub(crate) fn deltas(said: &[Result<Piece, Failure>]) -> String {
    said.iter()
        .filter_map(|piece| if let Ok(Piece::Delta(words)) = piece { Some(words.as_str()) } else { None })
        .collect()
}

/// Runs all checks.
pub(crate) async fn conforms(set: impl Fn(Scene) -> BoxFuture<'static, Set>) {
    deltas_add_up_to_the_reply(set(Scene::Words).await).await;
    calls_keep_their_order_and_names_and_are_told_apart(set(Scene::Calls).await).await;
    failures_have_a_kind_and_end_the_stream(set(Scene::Overloaded).await).await;
    a_cut_answer_is_a_failure_that_may_cost(set(Scene::Cut).await).await;
    dropping_the_stream_ends_the_call(set(Scene::Held).await).await;
}

async fn deltas_add_up_to_the_reply(set: Set) {
    let (reply, usage) = reply(&*set.model, ask()).await;
    assert_eq!(reply.text(), WORDS.concat());
    assert_eq!((reply.stop, usage), (Stop::End, Some(USED)));
}

async fn calls_keep_their_order_and_names_and_are_told_apart(set: Set) {
    let (reply, _) = reply(&*set.model, ask()).await;
    let calls: Vec<_> = reply.calls().map(|call| (call.tool.as_str(), call.args.as_str())).collect();
    assert_eq!(calls, CALLS.map(|(_, tool, args)| (tool, args)));
    let ids: HashSet<_> = reply.calls().map(|call| call.provider_id.as_str()).collect();
    assert!(ids.len() == CALLS.len() && !ids.contains(""), "{ids:?}");
}

async fn failures_have_a_kind_and_end_the_stream(set: Set) {
    let said = all(&*set.model, ask()).await;
    let [Err(failure)] = said.as_slice() else { panic!("not one failure: {said:?}") };
    assert_eq!((failure.kind, failure.charged), (FailureKind::Overloaded, false));
}

async fn a_cut_answer_is_a_failure_that_may_cost(set: Set) {
    let said = all(&*set.model, ask()).await;
    assert_eq!(deltas(&said), WORDS[0]);
    let Some(Err(failure)) = said.last() else { panic!("no failure: {said:?}") };
    assert_eq!((failure.kind, failure.charged), (FailureKind::Network, true));
}

async fn dropping_the_stream_ends_the_call(set: Set) {
    let mut stream = set.model.stream(ask());
    assert_eq!(stream.next().await, Some(Ok(Piece::Delta(WORDS[0].to_owned()))));
    drop(stream);
    set.hung_up.await;
}
