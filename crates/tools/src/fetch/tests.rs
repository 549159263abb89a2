//! Fetching from real sockets on this machine.

use std::net::IpAddr;

use axum::Router;
use axum::body::Body as Stream;
use axum::http::{StatusCode, header};
use axum::routing::get;
use consort_http::outbound::{OutboundOptions, Reach, SystemNames};
use futures::StreamExt;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

struct Site {
    base: String,
    server: JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Site {
    async fn new() -> Site {
        let typed = |kind: &'static str, body: &'static [u8]| {
            get(move || async move { ([(header::CONTENT_TYPE, kind)], body) })
        };
        let endless = || async {
            let chunks = futures::stream::repeat_with(|| Ok::<_, std::io::Error>("x".repeat(64 * 1024)));
            ([(header::CONTENT_TYPE, "text/plain")], Stream::from_stream(chunks.boxed()))
        };
        let router = Router::new()
            .route("/page", typed("text/html; charset=utf-8", b"<title>T</title><h1>Hello</h1><p>a <b>b</b></p>"))
            .route("/latin", typed("text/html; charset=ISO-8859-1", b"<p>caf\xe9</p>"))
            .route("/data", typed("application/json", br#"{"a": [1, 2]}"#))
            .route("/feed", typed("application/atom+xml", b"<feed/>"))
            .route("/plain", typed("text/plain", b"just <b>text</b>"))
            .route("/image", typed("image/png", b"\x89PNG"))
            .route("/japanese", typed("text/plain; charset=shift_jis", b"\x82\xa0"))
            .route("/klingon", typed("text/plain; charset=klingon", b"x"))
            .route("/broken", get(|| async { (StatusCode::INTERNAL_SERVER_ERROR, "out of tea") }))
            .route("/endless", get(endless));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        Site { base, server: tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }) }
    }

    async fn fetch(&self, path: &str) -> Result<String, String> {
        fetch(Reach::Everything, json!({ "url": format!("{}{path}", self.base) })).await
    }
}

async fn fetch(reach: Reach, args: Value) -> Result<String, String> {
    let options = OutboundOptions { reach, ..OutboundOptions::default() };
    let outbound = Outbound::new(options, Arc::new(SystemNames)).unwrap();
    let call = Invocation::test(args);
    match HttpFetch::new(outbound).call(call).await {
        Answer::Done { text, data: None } => Ok(text),
        Answer::Failed(why) => Err(why),
        other @ (Answer::Done { .. } | Answer::Unknown(_) | Answer::Late { .. }) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn pages_become_markdown_and_data_stays_as_it_is() {
    let site = Site::new().await;
    assert_eq!(site.fetch("/page").await.unwrap(), "# T\n\n# Hello\n\na **b**");
    assert_eq!(site.fetch("/latin").await.unwrap(), "café");
    assert_eq!(site.fetch("/data").await.unwrap(), r#"{"a": [1, 2]}"#);
    assert_eq!(site.fetch("/feed").await.unwrap(), "<feed/>");
    assert_eq!(site.fetch("/plain").await.unwrap(), "just <b>text</b>");
}

#[tokio::test]
async fn what_is_not_text_or_not_there_is_said() {
    let site = Site::new().await;
    assert_eq!(site.fetch("/image").await.unwrap_err(), "it is `image/png` (4 bytes), which is not text");
    assert_eq!(site.fetch("/japanese").await.unwrap(), "あ");
    assert!(site.fetch("/klingon").await.unwrap_err().contains("`klingon`"));
    assert_eq!(site.fetch("/broken").await.unwrap_err(), "500 Internal Server Error: out of tea");
    assert!(site.fetch("/nowhere").await.unwrap_err().starts_with("404 Not Found"));
}

#[tokio::test]
async fn an_endless_answer_is_cut_where_it_was_asked_to_be() {
    let site = Site::new().await;
    let url = format!("{}/endless", site.base);
    let short = fetch(Reach::Everything, json!({ "url": url, "max_bytes": 10 })).await.unwrap();
    assert_eq!(short, "xxxxxxxxxx\n\n(cut after 10 bytes)");
    let most = fetch(Reach::Everything, json!({ "url": url, "max_bytes": 99_999_999_999_u64 })).await.unwrap();
    assert!(most.ends_with("(cut after 8388608 bytes)"), "{}", most.len());
    assert!(site.fetch("/endless").await.unwrap().ends_with("(cut after 1048576 bytes)"));
}

#[tokio::test]
async fn addresses_of_this_machine_are_refused_unless_they_are_allowed() {
    let site = Site::new().await;
    let url = json!({ "url": format!("{}/plain", site.base) });
    let why = fetch(Reach::Public, url.clone()).await.unwrap_err();
    assert!(why.contains("is a loopback address (127.0.0.1)"), "{why}");
    let here: IpAddr = "127.0.0.1".parse().unwrap();
    assert!(fetch(Reach::PublicAnd(vec![here]), url).await.is_ok());
}

#[test]
fn made_up_pages_are_read_or_refused_in_words() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let examples = [
        "<!doctype html><title>T</title><nav>n</nav><main><h1>H</h1><p>a <a href='/x?y=1&z'>l</a></p></main>",
        "<table><tr><th>a<td>b</table><ul><li>1<ol><li>2</ol></ul><pre><code>x</code></pre><img src=x alt='y'>",
        "<meta charset=iso-8859-1><body>\u{e9}<script>if (1<2) {}</script><svg><title>x</svg><template><p>",
    ];
    consort_fuzz::bytes(&examples, |bytes| {
        let Ok(html) = charset::decode(bytes, Some("utf-8")) else { return };
        let work = move |patience| {
            let base = reqwest::Url::parse("https://example.org/a/b").map_err(|error| error.to_string())?;
            page::markdown(&html, &base, &patience)
        };
        let read = runtime.block_on(on_own_thread("page", 64 << 20, Duration::from_secs(5), work));
        assert!(!matches!(&read, Err(why) if why.is_empty() || why.contains("broke off")), "{read:?}");
    });
}
