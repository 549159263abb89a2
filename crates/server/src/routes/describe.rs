//! The API described: `/openapi.json`, `/schemas/frames.json`, and a page that
//! shows the first. Both files are kept by hand; tests hold every route, every
//! answer and every frame against them.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, StatusCode};
use axum::routing::get;

use crate::Site;
use crate::problem::Problem;

const OPENAPI: &str = include_str!("../../../../openapi.json");
pub(crate) const FRAMES: &str = include_str!("../../../../schemas/frames.json");
const PAGE: &str = include_str!("docs/page.html");
/// What the page is made of.
const PARTS: [(&str, &str, &str); 2] = [
    ("page.js", "text/javascript; charset=utf-8", include_str!("docs/page.js")),
    ("page.css", "text/css; charset=utf-8", include_str!("docs/page.css")),
];
/// The page loads nothing from elsewhere and talks to nobody else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// An answer that is the same for everybody.
type Fixed = ([(HeaderName, &'static str); 4], &'static str);

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/openapi.json", get(async || fixed("application/json", OPENAPI)))
        .route("/schemas/frames.json", get(async || fixed("application/json", FRAMES)))
        .route("/api/docs", get(async || fixed("text/html; charset=utf-8", PAGE)))
        .route("/api/docs/{file}", get(part))
}

/// Whether a path says the same to everybody, keys or not: what describes the
/// API is no secret, a browser that opens a page cannot send a key, and neither
/// should whoever only asks whether the server is well.
pub(crate) fn is_public(path: &str) -> bool {
    let is_part = |rest: &str| rest.is_empty() || rest.starts_with('/');
    matches!(path, "/openapi.json" | "/schemas/frames.json")
        || path.starts_with("/api/health/")
        || path.strip_prefix("/api/docs").is_some_and(is_part)
}

async fn part(Path(file): Path<String>) -> Result<Fixed, Problem> {
    let missing = || Problem::new(StatusCode::NOT_FOUND, "NOT_FOUND", format!("the page has no part '{file}'"));
    let (_, kind, text) = PARTS.iter().find(|(name, ..)| *name == file).ok_or_else(missing)?;
    Ok(fixed(kind, text))
}

fn fixed(kind: &'static str, text: &'static str) -> Fixed {
    let headers = [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-cache"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, text)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::Value;

    use super::*;

    /// Methods and paths.
    type Operations = BTreeSet<(String, String)>;

    fn described() -> Operations {
        let openapi: Value = serde_json::from_str(OPENAPI).unwrap();
        let methods = |(path, methods): (&String, &Value)| {
            let path = path.clone();
            let names: Vec<String> = methods.as_object().unwrap().keys().cloned().collect();
            names.into_iter().map(move |name| (name, path.clone()))
        };
        openapi["paths"].as_object().unwrap().iter().flat_map(methods).collect()
    }

    /// A router tells its routes only when it is printed.
    fn routed() -> Operations {
        let printed = format!("{:?}", crate::routes::all());
        let (printed, _) = printed.split_once("fallback_router").unwrap();
        let (mut allowed, mut paths) = (BTreeMap::new(), BTreeMap::new());
        let quoted = |text: &str, before: &str| Some(text.split_once(before)?.1.split('"').next()?.to_owned());
        for route in printed.split("RouteId(").skip(1) {
            let (id, rest) = route.split_once("): ").unwrap();
            if rest.starts_with('"') {
                paths.insert(id, quoted(rest, "\"").unwrap());
            } else if let Some(methods) = quoted(rest, "allow_header: Bytes(b\"") {
                allowed.insert(id, methods);
            }
        }
        // What takes any method is the one that says there is nothing.
        paths.retain(|id, _| allowed.contains_key(id));
        let of = |(id, path): (&&str, &String)| {
            let methods: Vec<String> = allowed[id].split(',').map(str::to_lowercase).collect();
            let path = path.clone();
            methods.into_iter().filter(|method| method != "head").map(move |method| (method, path.clone()))
        };
        paths.iter().flat_map(of).collect()
    }

    #[test]
    fn every_route_is_described_and_every_description_is_a_route() {
        let (described, routed) = (described(), routed());
        assert!(routed.contains(&("patch".to_owned(), "/api/threads/{id}".to_owned())), "{routed:?}");
        let (missing, invented) = (routed.difference(&described), described.difference(&routed));
        assert_eq!((missing.collect::<Vec<_>>(), invented.collect::<Vec<_>>()), (vec![], vec![]));
    }

    #[test]
    fn every_operation_says_the_scope_that_is_asked_for() {
        let openapi: Value = serde_json::from_str(OPENAPI).unwrap();
        for (method, path) in described() {
            let operation = &openapi["paths"][&path][&method];
            let needed = crate::access::needed(&method.to_uppercase().parse().unwrap(), &path);
            let scope = if is_public(&path) { None } else { Some(needed.word()) };
            assert_eq!(operation["x-scope"].as_str(), scope, "{method} {path}");
        }
    }

    #[test]
    fn the_description_is_of_this_version_and_the_page_names_only_its_own_parts() {
        let openapi: Value = serde_json::from_str(OPENAPI).unwrap();
        assert_eq!(openapi["info"]["version"], env!("CARGO_PKG_VERSION"));
        for (name, ..) in PARTS {
            assert!(PAGE.contains(&format!("\"/api/docs/{name}\"")));
        }
        assert!(!PAGE.contains("://"));
    }
}
