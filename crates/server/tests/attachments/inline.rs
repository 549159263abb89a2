//! Files in the messages of OpenAI's clients.

use super::*;

const PICTURE: &str = "data:image/png;base64,iVBORw0KGgpyZXN0";

/// A server whose only model sees pictures.
fn seeing(log: Arc<dyn Log>, model: &ScriptedModel) -> Server {
    let eyes = ModelInfo { vision: true, ..ModelInfo::new("eyes", "scripted") };
    let models = ModelCatalog::default().with(eyes, model.clone()).unwrap();
    let seams = Seams { cancel_grace: Duration::ZERO, ..Seams::new(log, models, Toolbox::default()) };
    Server { max_attachment_bytes: 3_000, max_body_bytes: 2_000, ..server(Engine::new(seams), vec![task("a")]) }
}

fn said(content: Value) -> Value {
    json!({ "model": "consort", "messages": [{ "role": "user", "content": content }] })
}

fn image(url: &str) -> Value {
    json!({ "type": "image_url", "image_url": { "url": url } })
}

/// A picture of as many bytes, as an address.
fn picture_of(bytes: usize) -> String {
    let padded: Vec<u8> = PNG.iter().copied().chain(std::iter::repeat_n(0, bytes - PNG.len())).collect();
    format!("data:image/png;base64,{}", base64(&padded))
}

#[tokio::test]
async fn files_of_openais_clients_reach_the_model_and_are_erased_with_their_thread() {
    let folder = tempfile::tempdir().unwrap();
    for log in logs(folder.path()) {
        let model = says("done");
        let here = start(seeing(log.clone(), &model)).await;
        let completion = said(json!([{ "type": "text", "text": "Look" }, image(PICTURE)]));
        let answer = here.post("/v1/chat/completions", completion).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(pictures(&model.sent("1.0").unwrap()), ["iVBORw0KGgpyZXN0"]);
        let thread = answer.json()["conversation"]["id"].as_str().unwrap().to_owned();
        assert_eq!(stored(&log).await, [1, 1, 1]);
        assert!(remove(&here, &format!("/api/threads/{thread}")).await.status < 300);
        assert_eq!(stored(&log).await, [0, 0, 0]);

        let table =
            json!({ "type": "input_file", "filename": "prices.csv", "file_data": "data:text/csv;base64,dGVhLDM=" });
        let parts = json!([{ "type": "input_text", "text": "Read" }, table]);
        let input = json!([{ "role": "user", "content": parts }]);
        let answer = here.post("/v1/responses", json!({ "model": "consort", "input": input })).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let words = users_words(&model.sent("1.0").unwrap()).join("\n");
        assert!(words.contains("## Attached file: prices.csv\n\ntea,3"), "{words}");

        let id = picture(&here).await;
        let mut run = said(json!([{ "type": "text", "text": "Go" }, { "type": "file", "file": { "file_id": id } }]));
        run["model"] = json!("consort/test");
        run["metadata"] = json!({ "topic": "x" });
        let answer = here.post("/v1/chat/completions", run).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(pictures(&model.sent("1.0").unwrap()), ["iVBORw0KGgpyZXN0"]);
    }
}

#[tokio::test]
async fn a_file_of_a_client_that_cannot_be_taken_is_refused_in_words() {
    let code = |answer: &Answer| (answer.status, answer.json()["error"]["code"].as_str().unwrap().to_owned());
    let blind = start(in_memory()).await;
    let refused = blind.post("/v1/chat/completions", said(json!([image(PICTURE)]))).await;
    assert_eq!(code(&refused), (400, "MODEL_CANNOT_SEE".to_owned()));
    let here = start(seeing(Arc::new(MemoryLog::default()), &says("done"))).await;
    let words = "x".repeat(2_100);
    let place = "messages[0].content[0]";
    for (content, expected, words, param) in [
        (json!([image("https://example.com/a.png")]), (400, "BAD_REQUEST"), "are not fetched", Some(place)),
        (json!([image("data:image/png,aGV5")]), (400, "BAD_REQUEST"), "without `;base64`", Some(place)),
        (json!([image("data:image/png;base64,a*")]), (400, "BAD_REQUEST"), "character 2 of it, '*'", Some(place)),
        (json!([image("data:image/png;base64,")]), (400, "BAD_REQUEST"), "the file is empty", Some(place)),
        (json!([image("data:image/png;base64,aGV5")]), (415, "UNSUPPORTED_MEDIA_TYPE"), "image/png", Some(place)),
        (
            json!([{ "type": "file", "file": { "file_id": "att-none" } }]),
            (400, "BAD_REQUEST"),
            "att-none",
            Some("attachments"),
        ),
        (
            json!([image(&picture_of(3_001))]),
            (413, "PAYLOAD_TOO_LARGE"),
            "max_attachment_bytes allows 3000",
            Some(place),
        ),
        (json!([image(&picture_of(9_000))]), (413, "PAYLOAD_TOO_LARGE"), "6004 bytes, 2000 ([server] max_body_", None),
        (
            json!([{ "type": "text", "text": words }, image(PICTURE)]),
            (413, "PAYLOAD_TOO_LARGE"),
            "max_body_bytes allows 2000",
            None,
        ),
    ] {
        let refused = here.post("/v1/chat/completions", said(content)).await;
        assert_eq!(code(&refused), (expected.0, expected.1.to_owned()), "{refused:?}");
        let error = &refused.json()["error"];
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
        assert_eq!((&error["type"], error["param"].as_str()), (&json!("invalid_request_error"), param), "{error}");
    }
    let whole = said(json!([{ "type": "text", "text": "Look" }, image(&picture_of(3_000))]));
    assert_eq!(here.post("/v1/chat/completions", whole).await.status, 200, "more than another body may have");
}
