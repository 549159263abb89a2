//! `http_fetch {url, max_bytes?}`: a page, a document or data from the
//! web, as text. The addresses it may use are decided in `outbound`.

mod charset;
mod page;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{Permission, ToolInfo};
use consort_core::reach::{Destination, Reach};
use consort_core::schema::Schema;
use consort_http::outbound::Outbound;
use futures::future::BoxFuture;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, Url};
use serde::Deserialize;
use serde_json::json;

use super::arguments::{arguments, short};
use super::http::{Body, body, chain, quote};
use super::own_thread::on_own_thread;
use super::{Answer, Invocation, Tool};

pub(super) use charset::{decode, is_text};

/// The default number of bytes that are read, and the maximum.
const BYTES: usize = 1024 * 1024;
const BYTES_MAX: usize = 8 * BYTES;
/// The maximum number of bytes of an error page that are quoted.
const QUOTE_MAX: usize = 2 * 1024;
/// The time limit for turning a page into text.
const PAGE_TIME_MAX: Duration = Duration::from_secs(3);
/// The stack size of that conversion, which recurses once per element.
const PAGE_STACK_BYTES: usize = 64 * 1024 * 1024;
/// Media types that are text although their names do not say so.
const TEXTUAL: [&str; 12] = [
    "json",
    "xml",
    "javascript",
    "ecmascript",
    "x-javascript",
    "yaml",
    "x-yaml",
    "toml",
    "x-sh",
    "x-ndjson",
    "sql",
    "rtf",
];

/// The tool that fetches an address.
#[derive(Clone, Debug)]
pub struct HttpFetch {
    outbound: Outbound,
    info: Arc<ToolInfo>,
}

#[derive(Deserialize)]
struct Args {
    url: String,
    max_bytes: Option<usize>,
}

/// The kind of a body, as its server declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A web page.
    Page,
    /// Any other text.
    Text,
    /// Something else, with its media type.
    Other(String),
}

impl HttpFetch {
    /// Returns a tool that uses this client.
    pub fn new(outbound: Outbound) -> HttpFetch {
        HttpFetch { outbound, info: Arc::new(HttpFetch::description()) }
    }

    /// Returns the description of the tool.
    pub(crate) fn description() -> ToolInfo {
        let about = "Fetches a web address and answers with its text: pages as Markdown, data as it is. Only public \
                     http and https addresses.";
        let schema = Schema::new(json!({ "type": "object", "required": ["url"], "additionalProperties": false,
            "properties": {
                "url": { "type": "string", "description": "Such as `https://example.com/page`" },
                "max_bytes": { "type": "integer", "minimum": 1, "maximum": BYTES_MAX } } }));
        let reach = Reach::to(Destination::Argument("url".to_owned()));
        ToolInfo { schema, reach, permission: Permission::Network, ..ToolInfo::new("http_fetch", about) }
    }

    async fn fetch(&self, invocation: Invocation) -> Result<Answer, String> {
        let Args { url, max_bytes } = arguments(invocation.args)?;
        let response = self.outbound.get(&url).await.map_err(|error| error.to_string())?;
        let status = response.status();
        let (kind, charset) = kind(&response);
        if let Kind::Other(name) = kind {
            let size = response.content_length().map_or("of unknown size".to_owned(), |size| format!("{size} bytes"));
            return Err(format!("it is `{}` ({size}), which is not text", short(&name)));
        }
        let final_url = response.url().clone();
        let max = if status.is_success() { max_bytes.unwrap_or(BYTES).clamp(1, BYTES_MAX) } else { QUOTE_MAX };
        let read = body(response, max).await.map_err(|error| format!("the connection broke: {}", chain(&error)))?;
        let (bytes, note) = match read {
            Body::Whole(bytes) => (bytes, String::new()),
            Body::Cut(bytes) => (bytes, format!("\n\n(cut after {max} bytes)")),
        };
        if !status.is_success() {
            return Err(format!("{status}: {}", quote(&bytes)));
        }
        let text = text(decode(&bytes, charset.as_deref())?, kind, final_url).await?;
        Ok(Answer::Done { text: text + &note, data: None })
    }
}

impl Tool for HttpFetch {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(async move { self.fetch(invocation).await.unwrap_or_else(Answer::Failed) })
    }
}

async fn text(source: String, kind: Kind, url: Url) -> Result<String, String> {
    match kind {
        Kind::Text | Kind::Other(_) => Ok(source),
        Kind::Page => as_markdown(source, url).await,
    }
}

async fn as_markdown(source: String, url: Url) -> Result<String, String> {
    let work = move |patience| page::markdown(&source, &url, &patience);
    on_own_thread("page", PAGE_STACK_BYTES, PAGE_TIME_MAX, work).await
}

/// Returns the text of a page without an address, so its links stay as they are.
pub(crate) async fn page_text(source: String) -> Result<String, String> {
    let nowhere = Url::parse("about:blank").map_err(|error| error.to_string())?;
    as_markdown(source, nowhere).await
}

/// Returns the kind that a response declares, and its charset.
pub(super) fn kind(response: &Response) -> (Kind, Option<String>) {
    let header = response.headers().get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let Some(header) = header else { return (Kind::Text, None) };
    let mut parts = header.split(';');
    let name = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    let charset = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_owned())
    });
    let subtype = name.split_once('/').map_or("", |(_, subtype)| subtype);
    let kind = match name.as_str() {
        "text/html" | "application/xhtml+xml" => Kind::Page,
        _ if name.starts_with("text/") || TEXTUAL.contains(&subtype) => Kind::Text,
        _ if subtype.ends_with("+json") || subtype.ends_with("+xml") => Kind::Text,
        _ => Kind::Other(name),
    };
    (kind, charset)
}
