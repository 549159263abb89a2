//! The web UI, embedded in the binary. A path without a file is a page inside the UI
//! and gets `index.html`; files under `assets/` are named by their content hash and
//! may be cached without limit. A server that was built without the UI answers with a notice.

use axum::http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use rust_embed::{Embed, EmbeddedFile};

/// The files that `make run` builds from `web/`; empty when only cargo ran.
#[derive(Embed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Files;

const PAGE: &str = "index.html";
const HASHED: &str = "assets/";
const FOR_EVER: &str = "public, max-age=31536000, immutable";
const ASK_FIRST: &str = "no-cache";

const ABSENT: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Consort</title>\
<h1>Consort is running</h1><p>This binary was built without the web UI. \
<code>make run</code> and <code>make install</code> build both. The API is at <code>/api</code>.";

/// Response headers of the UI: a page runs our own files only, and no other page may
/// frame it.
const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// The encodings files are stored in, the smallest first.
const ENCODINGS: &[(&str, &str)] = &[("br", ".br"), ("gzip", ".gz")];

/// Responds with a file of the web UI, or with its page.
pub(crate) async fn page(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD")]).into_response();
    }
    let mut response = found(uri.path().trim_start_matches('/'), &headers);
    for (name, value) in HEADERS {
        response.headers_mut().insert(*name, HeaderValue::from_static(value));
    }
    response
}

fn found(path: &str, headers: &HeaderMap) -> Response {
    if let Some(response) = file(path, headers) {
        return response;
    }
    if is_file(path) {
        return StatusCode::NOT_FOUND.into_response();
    }
    file(PAGE, headers).unwrap_or_else(|| ([(CONTENT_TYPE, "text/html; charset=utf-8")], ABSENT).into_response())
}

/// Returns whether a path is a file: pages inside the UI have no dot in their last segment.
fn is_file(path: &str) -> bool {
    path.starts_with(HASHED) || path.rsplit('/').next().is_some_and(|name| name.contains('.'))
}

fn file(path: &str, headers: &HeaderMap) -> Option<Response> {
    let plain = Files::get(path)?;
    let tag = format!("\"{}\"", hex(&plain.metadata.sha256_hash()));
    let mut response = if headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        body(path, plain, headers)
    };
    let told = response.headers_mut();
    told.insert(ETAG, HeaderValue::from_str(&tag).ok()?);
    told.insert(CACHE_CONTROL, HeaderValue::from_static(if path.starts_with(HASHED) { FOR_EVER } else { ASK_FIRST }));
    told.insert(VARY, HeaderValue::from_static("accept-encoding"));
    Some(response)
}

/// Returns the file in the smallest encoding that the client accepts.
fn body(path: &str, plain: EmbeddedFile, headers: &HeaderMap) -> Response {
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|accepted| accepted.to_str().ok()).unwrap_or_default();
    let packed = ENCODINGS.iter().filter(|(name, _)| takes(accepted, name));
    let packed = packed.filter_map(|(name, ending)| Some((*name, Files::get(&format!("{path}{ending}"))?))).next();
    let kind = [(CONTENT_TYPE, media_type(path))];
    match packed {
        Some((name, file)) => (kind, [(CONTENT_ENCODING, name)], file.data).into_response(),
        None => (kind, plain.data).into_response(),
    }
}

/// Returns whether a list of accepted encodings names one without refusing it.
fn takes(accepted: &str, encoding: &str) -> bool {
    accepted.split(',').any(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        named && parts.all(|part| part != "q=0" && !part.starts_with("q=0.000"))
    })
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        "json" => "application/json",
        _ => "application/octet-stream",
    }
}

fn hex(hash: &[u8]) -> String {
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_taken_when_it_is_named_and_not_refused() {
        assert!(takes("gzip, deflate, br;q=0.5", "br"));
        assert!(takes("GZIP", "gzip"));
        assert!(!takes("gzip;q=0, br", "gzip"));
        assert!(!takes("", "br"));
        assert!(!takes("brotli", "br"));
    }

    #[test]
    fn places_inside_the_ui_are_told_from_files_that_are_missing() {
        assert!(!is_file("runs/run-01/graph"));
        assert!(is_file("assets/gone"));
        assert!(is_file("favicon.ico"));
    }
}
