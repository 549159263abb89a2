//! Documents of collections: sent as JSON and as files, listed, replaced, removed and cited.

use std::sync::Arc;

use consort_log::{Log, MemoryLog, Query};
use consort_runtime::admission::Capacity;
use consort_server::Server;
use consort_server::access::{Key, Scope};
use serde_json::{Value, json};

use crate::client::{Answer, Here, engine_over, server, start, task};
use crate::says;

const DOCUMENTS: &str = "/api/collections/kitchen/documents";

fn over(log: &Arc<MemoryLog>) -> Server {
    server(engine_over(log.clone(), says("done"), Capacity::UNLIMITED), vec![task("a")])
}

async fn kitchen() -> Here {
    let here = start(over(&Arc::default())).await;
    assert_eq!(here.post("/api/collections", json!({ "name": "kitchen" })).await.status, 201);
    here
}

/// Sends a file.
async fn send(here: &Here, method_and_path: &str, headers: &str, bytes: &[u8]) -> Answer {
    here.send(&format!("{method_and_path} HTTP/1.1\r\nHost: localhost\r\n{headers}"), bytes).await
}

async fn post(here: &Here, headers: &str, bytes: &[u8]) -> Answer {
    send(here, &format!("POST {DOCUMENTS}"), headers, bytes).await
}

async fn delete(here: &Here, path: &str) -> Answer {
    send(here, &format!("DELETE {path}"), "X-Test: 1", b"").await
}

/// Returns a PDF with a page for each text, as small as possible.
fn pdf(texts: &[&str]) -> Vec<u8> {
    let mut file = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    let mut object = |number: usize, body: &str| {
        places.push(file.len());
        file += &format!("{number} 0 obj\n{body}\nendobj\n");
    };
    let kids: Vec<String> = (0..texts.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    object(1, "<</Type/Catalog/Pages 2 0 R>>");
    object(2, &format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), kids.len()));
    object(3, "<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>");
    for (page, text) in texts.iter().enumerate() {
        let number = 4 + 2 * page;
        let content = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
        let resources = "/Resources<</Font<</F1 3 0 R>>>>/MediaBox[0 0 595 842]";
        object(number, &format!("<</Type/Page/Parent 2 0 R/Contents {} 0 R{resources}>>", number + 1));
        object(number + 1, &format!("<</Length {}>>\nstream\n{content}\nendstream", content.len()));
    }
    let start = file.len();
    let count = places.len() + 1;
    file += &format!("xref\n0 {count}\n0000000000 65535 f \n");
    places.iter().for_each(|place| file += &format!("{place:010} 00000 n \n"));
    file += &format!("trailer\n<</Size {count}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n");
    file.into_bytes()
}

#[tokio::test]
async fn files_are_taken_and_a_passage_says_its_page() {
    let here = kitchen().await;
    let menu = pdf(&["Boil water for the soup.", "Add saffron at the end."]);
    let added =
        post(&here, "Content-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"a/menu.pdf\"", &menu)
            .await;
    let expected = json!({ "id": 1, "collection": "kitchen", "title": "menu.pdf", "embedded": false });
    assert_eq!(
        (added.status, added.json(), added.header("location")),
        (201, expected, Some(&*format!("{DOCUMENTS}/1")))
    );
    let page = "<html><body><h1>Bread</h1>\n<p>Knead with saffron.</p></body></html>";
    let added = post(&here, "Content-Type: text/html; charset=utf-8", page.as_bytes()).await;
    assert_eq!((added.status, &added.json()["title"]), (201, &json!("Bread")), "{added:?}");
    let named = "Content-Type: text/csv\r\nContent-Disposition: attachment; filename*=UTF-8''caf%C3%A9.csv";
    assert_eq!(post(&here, named, b"dish,price\nsoup,3").await.json()["title"], "café.csv");
    let titled = send(&here, &format!("POST {DOCUMENTS}?title=Prices"), "Content-Type: text/csv", b"a,b").await;
    assert_eq!(titled.json()["title"], "Prices");

    let found = here.get("/api/collections/kitchen/search?q=saffron").await.json();
    let places = |hit: &Value| (hit["documentId"].clone(), hit["page"].clone(), hit["line"].clone());
    let mut places: Vec<_> = found["results"].as_array().unwrap().iter().map(places).collect();
    places.sort_by_key(|place| place.0.as_u64());
    assert_eq!(places, [(json!(1), json!(2), Value::Null), (json!(2), Value::Null, json!(1))]);

    let listed = here.get(DOCUMENTS).await.json();
    let first = &listed["documents"][0];
    assert_eq!(
        (&first["id"], &first["title"], &first["mediaType"], &first["bytes"]),
        (&json!(1), &json!("menu.pdf"), &json!("application/pdf"), &json!(menu.len()))
    );
    assert!(first["createdAt"].is_string() && first.get("content").is_none(), "{first}");
    assert_eq!(listed["documents"].as_array().unwrap().len(), 4);
    let one = here.get(&format!("{DOCUMENTS}/1")).await.json();
    assert!(one["content"].as_str().unwrap().contains("saffron"), "{one}");
    assert_eq!(one["pages"], 2);
}

#[tokio::test]
async fn a_document_is_replaced_and_removed_also_after_a_restart() {
    let log: Arc<MemoryLog> = Arc::default();
    {
        let here = start(over(&log)).await;
        here.post("/api/collections", json!({ "name": "kitchen" })).await;
        here.post(DOCUMENTS, json!({ "title": "Soup", "content": "Boil water." })).await;
        here.post(DOCUMENTS, json!({ "title": "Bread", "content": "Knead dough." })).await;
        let put = format!("PUT {DOCUMENTS}/1");
        let body = json!({ "title": "Broth", "content": "Simmer bones." }).to_string();
        let replaced = send(&here, &put, "Content-Type: application/json", body.as_bytes()).await;
        assert_eq!((replaced.status, &replaced.json()["title"]), (200, &json!("Broth")), "{replaced:?}");
        let file = send(&here, &put, "Content-Type: text/markdown", b"# Stock\n\nSimmer bones long.").await;
        assert_eq!((file.status, &file.json()["title"], &file.json()["id"]), (200, &json!("Stock"), &json!(1)));
        assert_eq!(delete(&here, &format!("{DOCUMENTS}/2")).await.status, 204);
    }
    let here = start(over(&log)).await;
    assert_eq!(here.get("/api/collections/kitchen").await.json()["documents"], 1);
    assert_eq!(here.get(&format!("{DOCUMENTS}/1")).await.json()["content"], "# Stock\n\nSimmer bones long.");
    for word in ["water", "dough"] {
        assert_eq!(here.get(&format!("/api/collections/kitchen/search?q={word}")).await.json()["results"], json!([]));
    }
    let gone = (404, "DOCUMENT_NOT_FOUND".to_owned());
    assert_eq!(here.get(&format!("{DOCUMENTS}/2")).await.problem(), gone);
    assert_eq!(delete(&here, &format!("{DOCUMENTS}/2")).await.problem(), gone);
    let added = here.post(DOCUMENTS, json!({ "title": "Tea", "content": "Steep leaves." })).await;
    assert_eq!(added.json()["id"], 3, "a number is not used again");
    assert_eq!(delete(&here, "/api/collections/kitchen").await.status, 204);
    let texts = Query { kind: Some("document".to_owned()), limit: 9, ..Query::default() };
    assert_eq!(log.list(texts).await.unwrap().total, 0, "its texts are gone with it");
}

#[tokio::test]
async fn what_is_no_document_is_refused_in_words() {
    let here = start(Server { max_attachment_bytes: 100_000, ..over(&Arc::default()) }).await;
    here.post("/api/collections", json!({ "name": "kitchen" })).await;
    let large = vec![b'a'; 100_001];
    for (headers, bytes, problem) in [
        ("Content-Type: image/png", &b"\x89PNG\r\n"[..], (415, "UNSUPPORTED_MEDIA_TYPE")),
        ("Content-Type: application/pdf", b"no PDF", (415, "UNSUPPORTED_MEDIA_TYPE")),
        ("Content-Type: text/plain", b"%PDF-1.4 is no text", (415, "UNSUPPORTED_MEDIA_TYPE")),
        ("Content-Type: text/plain", b"a\0b", (415, "UNSUPPORTED_MEDIA_TYPE")),
        ("Content-Type: application/pdf", b"%PDF-1.4 and nothing else", (400, "BAD_REQUEST")),
        ("Content-Type: text/plain", b"", (400, "BAD_REQUEST")),
        ("Content-Type: text/plain", b" \n", (400, "BAD_REQUEST")),
        ("Content-Type: text/plain", &large, (413, "PAYLOAD_TOO_LARGE")),
        ("Content-Type: application/json", &[b' '; 5000], (413, "PAYLOAD_TOO_LARGE")),
        ("Content-Type: application/json", b"{\"title\": \"t\"}", (400, "BAD_REQUEST")),
    ] {
        let answer = post(&here, headers, bytes).await;
        assert_eq!(answer.problem(), (problem.0, problem.1.to_owned()), "{headers}");
    }
    let long = json!({ "title": "t".repeat(501), "content": "c" });
    assert_eq!(here.post(DOCUMENTS, long).await.problem().0, 400);
    assert_eq!(post(&here, "Content-Type: text/plain", &vec![b'a'; 50_000]).await.status, 201, "files may be larger");
    for path in ["/api/collections/cellar/documents", "/api/collections/cellar/documents/1"] {
        assert_eq!(here.get(path).await.problem(), (404, "COLLECTION_NOT_FOUND".to_owned()));
    }
    for id in ["0", "99", "soup", "-1", "1.0"] {
        let answer = here.get(&format!("{DOCUMENTS}/{id}")).await;
        assert_eq!(answer.problem(), (404, "DOCUMENT_NOT_FOUND".to_owned()), "{id}");
    }
}

#[tokio::test]
async fn a_file_that_is_sent_again_with_its_key_is_one_document() {
    let here = kitchen().await;
    let headers = "Content-Type: application/pdf\r\nIdempotency-Key: k";
    let first = post(&here, headers, &pdf(&["Boil water."])).await;
    let again = post(&here, headers, &pdf(&["Boil water."])).await;
    assert_eq!((first.status, again.status, &first.body), (201, 201, &again.body));
    let other = post(&here, headers, &pdf(&["Boil wine."])).await;
    assert_eq!(other.problem(), (422, "IDEMPOTENCY_CONFLICT".to_owned()));
    assert_eq!(here.get(DOCUMENTS).await.json()["documents"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_key_that_only_reads_changes_no_documents() {
    let mut guarded = over(&Arc::default());
    guarded.access.keys =
        vec![Key::new("reader", "r", &[Scope::Read]).unwrap(), Key::new("writer", "w", &[Scope::Run]).unwrap()];
    let here = start(guarded).await;
    let ask = async |method: &str, path: &str, key: &str, body: &str| {
        let headers = format!("Authorization: Bearer {key}\r\nContent-Type: application/json");
        send(&here, &format!("{method} {path}"), &headers, body.as_bytes()).await
    };
    let document = r#"{"title": "Soup", "content": "Boil water."}"#;
    ask("POST", "/api/collections", "w", r#"{"name": "kitchen"}"#).await;
    assert_eq!(ask("POST", DOCUMENTS, "w", document).await.status, 201);
    let first = format!("{DOCUMENTS}/1");
    for (method, path) in [("POST", DOCUMENTS), ("PUT", &first), ("DELETE", &first)] {
        assert_eq!(ask(method, path, "r", document).await.problem(), (403, "FORBIDDEN".to_owned()), "{method}");
    }
    assert_eq!(ask("GET", &first, "r", "").await.json()["content"], "Boil water.");
}
