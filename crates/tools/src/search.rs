//! `web_search {query, limit?}`: queries the configured search service, reads
//! results of any known shape, and returns titles, addresses and snippets.

use std::sync::Arc;

use consort_core::catalog::{Permission, ToolInfo};
use consort_core::reach::{Destination, Reach, host_of};
use consort_core::schema::Schema;
use futures::future::BoxFuture;
use reqwest::{Client, Url};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::{arguments, short};
use super::http::{Body, HttpToolError, body, chain, encoded, quote};
use super::{Answer, Invocation, Tool};

/// The maximum size of a response in bytes.
const BODY_MAX: usize = 2 * 1024 * 1024;
/// The maximum size of a query in bytes.
const QUERY_MAX: usize = 500;
/// The default number of results, and the maximum.
const RESULTS: usize = 5;
const RESULTS_MAX: usize = 20;
/// The maximum length of a snippet in characters.
const SNIPPET_MAX: usize = 400;
/// The maximum length of a response of an unknown shape in characters.
const TEXT_MAX: usize = 4_000;

/// Pointers to the lists of results in the services' responses.
const LISTS: [&str; 7] = ["/web/results", "/results", "/organic_results", "/organic", "/items", "/data", ""];
const TITLES: [&str; 2] = ["title", "name"];
const ADDRESSES: [&str; 3] = ["url", "link", "href"];
const SNIPPETS: [&str; 4] = ["content", "snippet", "description", "text"];

/// The configuration of web search.
#[derive(Clone, PartialEq)]
pub struct WebSearchOptions {
    /// The service's address, with `{query}` in it.
    pub url: String,
    /// The key that is sent as `Authorization: Bearer`.
    pub api_key: Option<String>,
}

/// Neither the key nor the address is shown, which may hold one.
impl std::fmt::Debug for WebSearchOptions {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("WebSearchOptions").finish_non_exhaustive()
    }
}

/// The tool that searches the web.
#[derive(Clone)]
pub struct WebSearch {
    client: Client,
    options: WebSearchOptions,
    info: Arc<ToolInfo>,
}

#[derive(Deserialize)]
struct Args {
    query: String,
    limit: Option<usize>,
}

impl WebSearch {
    /// Returns a tool that uses this client, which should come from `http_client`.
    pub fn new(client: Client, options: WebSearchOptions) -> Result<WebSearch, HttpToolError> {
        if !options.url.contains("{query}") {
            return Err(HttpToolError::Address("`{query}` is not in it".to_owned()));
        }
        let scheme = address(&options.url, "x").map_err(HttpToolError::Address)?.scheme().to_owned();
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err(HttpToolError::Address(format!("it begins with `{scheme}:`")));
        }
        let host = host_of(&options.url).map(Destination::Configured).unwrap_or_default();
        let info = Arc::new(ToolInfo { reach: Reach::to(host), ..WebSearch::description() });
        Ok(WebSearch { client, options, info })
    }

    /// Returns the description of the tool.
    pub(crate) fn description() -> ToolInfo {
        let about = "Searches the web. Answers with titles, addresses and snippets; `http_fetch` reads a page.";
        let schema = Schema::new(json!({ "type": "object", "required": ["query"], "additionalProperties": false,
            "properties": {
                "query": { "type": "string", "minLength": 1 },
                "limit": { "type": "integer", "minimum": 1, "maximum": RESULTS_MAX } } }));
        ToolInfo { schema, permission: Permission::Network, ..ToolInfo::new("web_search", about) }
    }

    async fn search(&self, invocation: Invocation) -> Result<Answer, String> {
        let Args { query, limit } = arguments(invocation.args)?;
        if query.trim().is_empty() || query.len() > QUERY_MAX {
            return Err(format!("the query must have 1 to {QUERY_MAX} bytes"));
        }
        let bytes = self.ask(&query).await?;
        let limit = limit.unwrap_or(RESULTS).clamp(1, RESULTS_MAX);
        Ok(match serde_json::from_slice::<Value>(&bytes).ok().and_then(|answer| results(&answer, limit)) {
            Some(found) if found.is_empty() => {
                Answer::Done { text: format!("nothing was found for `{}`", short(&query)), data: Some(json!([])) }
            }
            Some(found) => Answer::Done { text: page(&found), data: Some(found.into()) },
            None => Answer::Done { text: cut(&String::from_utf8_lossy(&bytes), TEXT_MAX), data: None },
        })
    }

    async fn ask(&self, query: &str) -> Result<Vec<u8>, String> {
        let mut request = self.client.get(address(&self.options.url, query)?).header("Accept", "application/json");
        if let Some(key) = &self.options.api_key {
            request = request.bearer_auth(key);
        }
        let response = request.send().await.map_err(|error| format!("the search service: {}", chain(&error)))?;
        let status = response.status();
        match body(response, BODY_MAX).await {
            Ok(Body::Whole(bytes)) if status.is_success() => Ok(bytes),
            Ok(Body::Cut(_)) => Err(format!("the search service answered more than {BODY_MAX} bytes")),
            Ok(Body::Whole(bytes)) => Err(format!("the search service answered {status}: {}", short(&quote(&bytes)))),
            Err(error) => Err(format!("the search service broke off: {}", chain(&error))),
        }
    }
}

impl Tool for WebSearch {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(async move { self.search(invocation).await.unwrap_or_else(Answer::Failed) })
    }
}

fn address(template: &str, query: &str) -> Result<Url, String> {
    Url::parse(&template.replace("{query}", &encoded(query))).map_err(|error| error.to_string())
}

/// Returns the results in a response of any known shape.
fn results(answer: &Value, limit: usize) -> Option<Vec<Value>> {
    let list = LISTS.iter().find_map(|path| answer.pointer(path)?.as_array())?;
    let found: Vec<Value> = list.iter().filter_map(result).take(limit).collect();
    (list.is_empty() || !found.is_empty()).then_some(found)
}

fn result(item: &Value) -> Option<Value> {
    let first = |names: &[&str]| names.iter().find_map(|name| item.get(name)?.as_str());
    let url = first(&ADDRESSES)?;
    let title = plain(first(&TITLES).unwrap_or(url));
    Some(json!({ "title": cut(&title, SNIPPET_MAX), "url": url,
        "snippet": cut(&plain(first(&SNIPPETS).unwrap_or_default()), SNIPPET_MAX) }))
}

/// Returns the text on one line, without the tags with which some services mark words.
fn plain(text: &str) -> String {
    let mut words = String::new();
    let mut in_tag = false;
    for sign in text.chars() {
        match sign {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            _ if in_tag => {}
            other => words.push(other),
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn page(found: &[Value]) -> String {
    let field = |item: &Value, name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let row = |(index, item): (usize, &Value)| {
        let title = field(item, "title");
        let url = field(item, "url");
        let snippet = field(item, "snippet");
        format!("{}. {title}\n   {url}\n   {snippet}", index + 1)
    };
    found.iter().enumerate().map(row).collect::<Vec<_>>().join("\n")
}

fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::extract::RawQuery;
    use axum::http::{HeaderMap, StatusCode};
    use axum::routing::get;
    use tokio::net::TcpListener;
    use tokio::task::JoinHandle;

    use super::*;
    use crate::http_client;

    /// Starts a service with the same response for every query; `/echo` returns the request.
    async fn service(status: u16, answer: &str) -> (String, JoinHandle<()>) {
        let answer = answer.to_owned();
        let echo = |RawQuery(query): RawQuery, headers: HeaderMap| async move {
            let key = headers.get("authorization").map(|key| key.to_str().unwrap().to_owned());
            json!([{ "url": query, "title": key.unwrap_or_default() }]).to_string()
        };
        let fixed = move || async move { (StatusCode::from_u16(status).unwrap(), answer) };
        let router = Router::new().route("/search", get(fixed)).route("/echo", get(echo));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        (base, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
    }

    async fn search(url: String, args: Value) -> Answer {
        let options = WebSearchOptions { url, api_key: Some("s3cret".to_owned()) };
        let call = Invocation::test(args);
        WebSearch::new(http_client().unwrap(), options).unwrap().call(call).await
    }

    async fn found(answer: &str, limit: usize) -> Answer {
        let (base, server) = service(200, answer).await;
        let found = search(format!("{base}/search?q={{query}}"), json!({ "query": "tea", "limit": limit })).await;
        server.abort();
        found
    }

    #[tokio::test]
    async fn the_usual_shapes_are_cut_to_title_address_and_snippet() {
        let row = json!({ "title": "Tea", "url": "https://tea.example/", "snippet": "All about tea" });
        for answer in [
            json!({ "results": [{ "title": "Tea", "url": "https://tea.example/", "content": "All about tea", "score": 3 }] }),
            json!({ "web": { "results": [{ "title": "<b>Tea</b>", "url": "https://tea.example/",
                "description": "All  about\n<strong>tea</strong>" }] }, "results": "x" }),
            json!([{ "name": "Tea", "link": "https://tea.example/", "snippet": "All about tea" }]),
            json!({ "items": [{ "title": "no address" }, { "title": "Tea", "link": "https://tea.example/",
                "snippet": "All about tea" }] }),
        ] {
            let text = "1. Tea\n   https://tea.example/\n   All about tea".to_owned();
            assert_eq!(
                found(&answer.to_string(), 5).await,
                Answer::Done { text, data: Some(json!([row])) },
                "{answer}"
            );
        }
    }

    #[tokio::test]
    async fn no_more_results_than_asked_for_are_passed_on() {
        let rows: Vec<Value> = (0..30).map(|n| json!({ "url": format!("https://{n}.example/") })).collect();
        let answer = json!({ "results": rows }).to_string();
        for (limit, expected) in [(2, 2), (20, 20)] {
            let Answer::Done { data: Some(data), .. } = found(&answer, limit).await else { panic!() };
            assert_eq!(data.as_array().unwrap().len(), expected);
        }
    }

    #[tokio::test]
    async fn other_answers_are_passed_on_as_text_and_nothing_is_said_to_be_nothing() {
        let Answer::Done { text, data: None } = found(&"word ".repeat(2_000), 5).await else { panic!() };
        assert_eq!(text.chars().count(), TEXT_MAX + 1);
        let shape = Answer::Done { text: r#"{"answer":42}"#.to_owned(), data: None };
        assert_eq!(found(r#"{"answer":42}"#, 5).await, shape);
        let none = Answer::Done { text: "nothing was found for `tea`".to_owned(), data: Some(json!([])) };
        assert_eq!(found(r#"{"results":[]}"#, 5).await, none);
    }

    #[tokio::test]
    async fn the_query_is_encoded_and_the_key_is_sent() {
        let (base, server) = service(200, "").await;
        let answer = search(format!("{base}/echo?lang=en&q={{query}}"), json!({ "query": "a&b=ç d#/{query}" })).await;
        server.abort();
        let Answer::Done { data: Some(data), .. } = answer else { panic!("{answer:?}") };
        assert_eq!(data[0]["url"], "lang=en&q=a%26b%3D%C3%A7%20d%23%2F%7Bquery%7D");
        assert_eq!(data[0]["title"], "Bearer s3cret");
    }

    #[tokio::test]
    async fn failures_are_said_without_address_and_key() {
        let (base, server) = service(429, "slow down").await;
        let busy = search(format!("{base}/search?token=t0ken&q={{query}}"), json!({ "query": "tea" })).await;
        server.abort();
        let why = "the search service answered 429 Too Many Requests: slow down".to_owned();
        assert_eq!(busy, Answer::Failed(why));
        let closed = search("http://127.0.0.1:1/?token=t0ken&q={query}".to_owned(), json!({ "query": "tea" })).await;
        let Answer::Failed(why) = closed else { panic!() };
        assert!(!why.contains("t0ken") && !why.contains("s3cret"), "{why}");
    }

    #[test]
    fn an_address_without_a_query_or_of_another_kind_is_refused() {
        for url in ["https://search.example/", "ftp://search.example/{query}", "{query}"] {
            let options = WebSearchOptions { url: url.to_owned(), api_key: None };
            assert!(WebSearch::new(http_client().unwrap(), options).is_err(), "{url}");
        }
    }
}
