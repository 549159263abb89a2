//! A wire in front of a fake of its provider: the common setup of all wires' tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::message::{Attached, Call, Failure, Message, Part, Reply, Stop};
use consort_core::model_options::{ModelOptions, ReasoningEffort};
use consort_core::schema::Schema;
use consort_fuzz::judge;
use futures::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::conformance::{Scene, Set, all, ask, ask_on, conforms, reply};
use super::fake::{Answer, Fake, Rules, Step};
use super::{Ask, BodyShape, File, Model, Options};

/// The key that every wire sends to its provider.
pub(crate) const KEY: &str = "sk-secret-0123456789";

/// One wire and its provider.
#[derive(Clone, Copy)]
pub(crate) struct Wired {
    pub(crate) rules: Rules,
    pub(crate) model: fn(Options) -> Arc<dyn Model>,
    /// Returns the provider's answer for a scene; of those that are cut or held, the words before that.
    pub(crate) plays: fn(Scene) -> Answer,
    /// Returns a short complete answer.
    pub(crate) hello: fn() -> Answer,
}

impl Wired {
    /// Starts the provider, which plays this script and then answers every request with hello.
    pub(crate) async fn fake(self, script: impl IntoIterator<Item = Answer>) -> Fake {
        let fake = Fake::start(self.rules).await.unwrap();
        script.into_iter().for_each(|answer| fake.will(answer));
        fake.otherwise((self.hello)());
        fake
    }

    /// Returns the wire in front of this provider.
    pub(crate) fn model(self, fake: &Fake) -> Arc<dyn Model> {
        (self.model)(options(fake))
    }

    /// Runs the conformance suite.
    pub(crate) async fn conforms(self) {
        conforms(move |scene| self.set(scene)).await;
    }

    fn set(self, scene: Scene) -> BoxFuture<'static, Set> {
        async move {
            let answer = (self.plays)(scene);
            let fake = self.fake([match scene {
                Scene::Words | Scene::Calls | Scene::Overloaded => answer,
                Scene::Cut => answer.then(Step::Break),
                Scene::Held => answer.then(Step::Wait(Arc::new(Notify::new()))),
            }]);
            let fake = fake.await;
            Set { model: self.model(&fake), hung_up: async move { fake.hung_up(1).await }.boxed() }
        }
        .boxed()
    }

    /// Returns the request body sent for these messages.
    pub(crate) async fn sent(self, messages: Vec<Message>) -> Value {
        self.asked(Ask { messages: Arc::new(messages), ..ask() }).await
    }

    /// Returns the request body sent for this request.
    pub(crate) async fn asked(self, ask: Ask) -> Value {
        let fake = self.fake([]).await;
        reply(&*self.model(&fake), ask).await;
        fake.requests().remove(0)
    }

    /// Returns the request body sent with every option, and with configured extra
    /// fields and a header; a refusal must not repeat the credential in it.
    pub(crate) async fn optional(self, shape: BodyShape) -> Value {
        let refusal = Answer::json(400, &json!({ "error": { "message": "bad token hush-hush" } }));
        let fake = self.fake([refusal]).await;
        let mut reached = options(&fake);
        reached.headers.set("x-team-token", "hush-hush", &[]).unwrap();
        let extra = if shape == BodyShape::Content { "cachedContent" } else { "service_tier" };
        reached.extra.set(shape, extra, json!("flex")).unwrap();
        let model = (self.model)(reached);
        let refused = all(&*model, ask()).await.pop().unwrap().unwrap_err();
        assert!(refused.message.contains("bad token") && !refused.message.contains("hush"), "{refused:?}");
        reply(&*model, Ask { options: every_option(), ..ask() }).await;
        assert_eq!(fake.headers()[1]["x-team-token"], "hush-hush");
        let mut body = fake.requests().remove(1);
        assert_eq!(body.as_object_mut().unwrap().remove(extra), Some(json!("flex")));
        assert_owned("", &body, shape.own());
        body
    }

    /// Returns the part of a request that tells the provider the schema, after checking that a
    /// schema it refuses is not sent again and that the answer comes all the same.
    pub(crate) async fn schema_at(self, shape: BodyShape, pointer: &str) -> Value {
        let refusal = Answer::json(400, &json!({ "error": { "message": "Invalid schema: `minimum` is not known" } }));
        let fake = self.fake([(self.hello)(), refusal]).await;
        let model = self.model(&fake);
        for _ in 0..3 {
            reply(&*model, structured()).await;
        }
        let requests = fake.requests();
        let told: Vec<bool> = requests.iter().map(|body| body.pointer(pointer).is_some()).collect();
        assert_eq!(told, [true, true, false, false], "once taken, once refused, then without it");
        assert_owned("", &requests[0], shape.own());
        requests[0].pointer(pointer).cloned().unwrap()
    }

    /// Returns the failure for a response that must not count as an answer.
    pub(crate) async fn failure(self, answer: Answer) -> Failure {
        let fake = self.fake([answer]).await;
        all(&*self.model(&fake), ask()).await.pop().unwrap().unwrap_err()
    }

    /// Returns the body of the request that follows these thoughts.
    pub(crate) async fn sent_back(self, thoughts: Answer) -> String {
        let fake = self.fake([thoughts]).await;
        let model = self.model(&fake);
        let (thought, _) = reply(&*model, ask()).await;
        reply(&*model, ask_on(&thought)).await;
        String::from_utf8(fake.bodies()[1].to_vec()).unwrap()
    }

    /// Lets the provider's own client check a request, the one that follows
    /// these thoughts, and the one that follows them from another model.
    pub(crate) async fn judged(self, api: &str, thoughts: Answer) {
        let fake = self.fake([thoughts]).await;
        let model = self.model(&fake);
        let (thought, _) = reply(&*model, ask()).await;
        reply(&*model, ask_on(&thought)).await;
        reply(&*model, ask_on(&Reply { wire: "scripted".to_owned(), ..thought })).await;
        reply(&*model, Ask { options: every_option(), ..ask() }).await;
        reply(&*model, structured()).await;
        judge(api, &fake.requests());
    }
}

/// Returns a request for an answer with a schema.
pub(crate) fn structured() -> Ask {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer", "minimum": 1 } } });
    Ask { schema: Some(Schema::new(schema)), tools: Arc::new([]), ..ask() }
}

/// Returns all options at once; a wire writes those that its provider supports.
pub(crate) fn every_option() -> ModelOptions {
    ModelOptions {
        temperature: Some(0.5),
        top_p: Some(0.9),
        seed: Some(7),
        reasoning_effort: Some(ReasoningEffort::High),
    }
}

/// Checks that every field of a body is one that `extra` cannot name.
pub(crate) fn assert_owned(path: &str, body: &Value, own: &[&str]) {
    if own.contains(&path) {
        return;
    }
    let Value::Object(fields) = body else { panic!("`{path}` is written and not listed as our own") };
    for (name, value) in fields {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        assert_owned(&path, value, own);
    }
}

/// Returns the options that reach the fake.
pub(crate) fn options(fake: &Fake) -> Options {
    Options { api_key: Some(KEY.to_owned()), ..Options::new(&fake.base_url(), "m") }
}

/// Returns a model's message that came over a wire.
pub(crate) fn said(wire: &str, parts: Vec<Part>) -> Message {
    Message::Assistant(Arc::new(Reply { wire: wire.to_owned(), parts, stop: Stop::End }))
}

/// Returns a user's message.
pub(crate) fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

/// Returns a system message.
pub(crate) fn system(text: &str) -> Message {
    Message::System { text: text.into() }
}

/// Returns a call in a reply.
pub(crate) fn called(id: &str, tool: &str, args: &str) -> Part {
    Part::Call(Call { provider_id: id.into(), tool: tool.into(), args: args.into(), native: None })
}

/// Returns a text in a reply.
pub(crate) fn words(text: &str) -> Part {
    Part::Text { text: text.into(), native: None }
}

/// Returns a question with a picture, a PDF, and a file whose bytes are not sent.
pub(crate) fn with_files() -> Ask {
    let file = |id: &str, media_type: &str| {
        let name = format!("{id}.bin");
        let media_type = media_type.to_owned();
        (Attached { id: id.to_owned(), name, media_type, bytes: 3 }, id.to_owned())
    };
    let attached = [file("a", "image/png"), file("b", "application/pdf"), file("c", "text/plain")];
    let sent = attached.iter().take(2).map(|(file, id)| {
        let name = file.name.clone();
        let media_type = file.media_type.clone();
        (id.clone(), File { name, media_type, base64: "AAEC".into() })
    });
    let files: BTreeMap<String, File> = sent.collect();
    let messages = vec![user("Look."), Message::Files { files: attached.into_iter().map(|(file, _)| file).collect() }];
    Ask { messages: Arc::new(messages), files: Arc::new(files), ..ask() }
}
