//! Pictures that tools show.

use consort_core::catalog::ToolInfo;
use consort_models::Line;
use consort_tools::{Answer as Result, Invocation, Picture, Tool};
use futures::future::{BoxFuture, FutureExt, ready};

use super::*;

/// A tool that shows a picture and, beside it, something that is none.
struct Camera(Arc<ToolInfo>);

impl Tool for Camera {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.0
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result> {
        for (media_type, bytes) in [("image/png", PNG), ("image/png", &b"no picture"[..]), ("image/bmp", b"BM")] {
            invocation.account.show(Picture { media_type: media_type.to_owned(), bytes: bytes.to_vec() });
        }
        ready(Result::Done { text: "[an image]".to_owned(), data: None }).boxed()
    }
}

#[tokio::test]
async fn a_picture_of_a_tool_reaches_a_model_that_sees_and_is_erased_with_its_run() {
    let folder = tempfile::tempdir().unwrap();
    for log in logs(folder.path()) {
        let model = ScriptedModel::new()
            .calls("1.0", "camera", &json!({ "input": "now" }))
            .otherwise(Line::new().says("A wall."));
        let seeing = ModelInfo { vision: true, ..ModelInfo::new("eyes", "scripted") };
        let models = ModelCatalog::default().with(seeing, model.clone()).unwrap();
        let models = models.with(ModelInfo::new("blind", "scripted"), model.clone()).unwrap();
        let tools = Toolbox::default().with(Camera(Arc::new(ToolInfo::new("camera", "Takes a picture")))).unwrap();
        let seams = Seams { cancel_grace: Duration::ZERO, ..Seams::new(log.clone(), models, tools) };
        let here = start(server(Engine::new(seams), Vec::new())).await;
        for (name, files) in [("eyes", 1), ("blind", 0)] {
            let tasks = json!([{ "description": "Look around", "tools": ["camera"], "model": name }]);
            let ended = here.post_with("/api/runs", "Prefer: wait=60", json!({ "tasks": tasks })).await;
            assert_eq!(ended.json()["status"], "COMPLETED", "{ended:?}");
            let sent = model.sent("1.1").unwrap();
            assert_eq!(sent.files.len(), files, "{name}");
            let told = matches!(sent.messages.last(), Some(Message::Tool { text, .. }) if text.as_str().contains("cannot see"));
            assert_eq!(told, files == 0, "{sent:?}");
            assert_eq!(stored(&log).await, [1, 1, 1], "what is no picture is not kept");
            let id = ended.json()["runId"].as_str().unwrap().to_owned();
            assert!(remove(&here, &format!("/api/runs/{id}")).await.status < 300);
            assert_eq!(stored(&log).await, [0, 0, 0]);
        }
    }
}
