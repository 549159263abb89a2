//! The API described: `/openapi.json`, made of the endpoints, and
//! `/schemas/frames.json`, made of the frames. Tests hold every answer and every frame against them.

use std::sync::LazyLock;

use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, StatusCode};
use serde_json::{Map, Value};

use crate::endpoint::{Endpoint, Tag, document, frames, get};
use crate::routes::endpoints as all;

static OPENAPI: LazyLock<String> = LazyLock::new(|| document(&all()).text);
static FRAMES: LazyLock<String> = LazyLock::new(frames);
/// Nothing of it is run, wherever it is shown.
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A response that is the same for every client.
type Fixed = ([(HeaderName, &'static str); 4], &'static str);

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/openapi.json", async || fixed(&OPENAPI))
            .named(Tag::Server, "openapi", "Get this description")
            .public()
            .answers::<Map<String, Value>>(StatusCode::OK, "OpenAPI 3.1."),
        get("/schemas/frames.json", async || fixed(&FRAMES))
            .named(Tag::Server, "frames", "Read the schema of every frame")
            .public()
            .answers::<Map<String, Value>>(StatusCode::OK, "JSON Schemas."),
    ]
}

fn fixed(text: &'static str) -> Fixed {
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-cache"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Holds a file in the repository, from which clients are made, against what it should say.
    #[track_caller]
    fn assert_kept(name: &str, made: &str) {
        let file = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("CONSORT_WRITE").is_some() {
            std::fs::write(&file, made).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap();
        let first = kept.lines().zip(made.lines()).position(|(kept, made)| kept != made).unwrap_or_default() + 1;
        assert!(kept == made, "{name} is old, from line {first}: `scripts/describe` writes it anew");
    }

    #[test]
    fn the_description_in_the_repository_is_made_of_the_endpoints() {
        assert_kept("openapi.json", &OPENAPI);
    }

    #[test]
    fn the_description_in_the_repository_of_frames_is_made_of_their_types() {
        assert_kept("schemas/frames.json", &FRAMES);
    }

    #[test]
    fn names_of_schemas_and_operations_mean_one_thing() {
        assert_eq!(document(&all()).clashes, Vec::<String>::new());
        let mut names = BTreeSet::new();
        let openapi: Value = serde_json::from_str(&OPENAPI).unwrap();
        for operation in openapi["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap()) {
            let name = operation.1["operationId"].as_str().unwrap();
            assert!(!name.is_empty() && names.insert(name), "{name:?}");
        }
    }

    #[test]
    fn every_example_is_of_an_answer_that_is_described() {
        let examples: Value = serde_json::from_str(include_str!("../../../../schemas/examples.json")).unwrap();
        let openapi: Value = serde_json::from_str(&OPENAPI).unwrap();
        for (request, answers) in examples.as_object().unwrap() {
            let (method, path) = request.split_once(' ').unwrap();
            for status in answers.as_object().unwrap().keys() {
                let answer = &openapi["paths"][path][method.to_lowercase()]["responses"][status];
                assert!(answer["content"]["application/json"]["example"] != Value::Null, "{request} {status}");
            }
        }
    }
}
