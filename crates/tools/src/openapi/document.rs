//! The document itself: its operations, its references, and the addresses its calls go to.

use consort_core::reach::host_of;
use reqwest::Url;
use serde_json::Value;

use super::{DESCRIPTION_MAX, OpenApiError, plain};
use crate::HttpMethod;

/// The maximum number of references from one to the next.
const HOPS_MAX: usize = 16;
/// The maximum number of operations that are looked at; the largest published documents have a tenth.
const LOOKED_AT_MAX: usize = 20_000;
/// The address of a document that names no server.
const HERE: &str = "/";

const METHODS: [(&str, HttpMethod); 5] = [
    ("get", HttpMethod::Get),
    ("post", HttpMethod::Post),
    ("put", HttpMethod::Put),
    ("patch", HttpMethod::Patch),
    ("delete", HttpMethod::Delete),
];

/// A document.
pub(super) struct Document<'a> {
    root: &'a Value,
    /// Its own address, if it was fetched.
    from: Option<&'a Url>,
    /// The address of the API that the configuration sets.
    url: Option<&'a str>,
    /// The host that calls may go to.
    host: Option<String>,
}

/// An operation of a document.
pub(super) struct Found<'a> {
    /// The operationId, or one made of method and path.
    pub(super) id: String,
    /// The tags.
    pub(super) tags: Vec<&'a str>,
    /// The method.
    pub(super) method: HttpMethod,
    /// The path, with placeholders.
    pub(super) path: &'a str,
    /// The path's own description.
    pub(super) item: &'a Value,
    /// The operation's description.
    pub(super) operation: &'a Value,
}

impl<'a> Document<'a> {
    /// Checks the version and the server of a document.
    pub(super) fn new(
        root: &'a Value,
        from: Option<&'a Url>,
        url: Option<&'a str>,
    ) -> Result<Document<'a>, OpenApiError> {
        match (root.get("openapi").and_then(Value::as_str), root.get("swagger")) {
            (Some(version), _) if version.starts_with("3.") => {}
            (None, Some(_)) => {
                return Err(OpenApiError::Spec("is a Swagger 2 document: convert it to OpenAPI 3 first".to_owned()));
            }
            _ => return Err(OpenApiError::Spec("is not an OpenAPI 3 document: `openapi` must be \"3.…\"".to_owned())),
        }
        let mut document = Document { root, from, url, host: None };
        let server = document.server(&[root]).map_err(OpenApiError::Url)?;
        document.host = host_of(&server);
        // The author of a document elsewhere must not decide where calls and credentials are sent.
        if let Some(home) = from.filter(|_| url.is_none()).and_then(|from| host_of(from.as_str()))
            && document.host.as_deref() != Some(home.as_str())
        {
            let message = format!(
                "the document is from `{home}`, and its calls would go to `{}`: write the address of the API as `url`",
                document.host.as_deref().unwrap_or_default()
            );
            return Err(OpenApiError::Url(message));
        }
        Ok(document)
    }

    /// Returns all operations, in the order of the document.
    pub(super) fn operations(&self) -> Result<Vec<Found<'a>>, OpenApiError> {
        let mut all = Vec::new();
        let paths = self.root.get("paths").and_then(Value::as_object);
        for (path, item) in paths.into_iter().flatten() {
            // A path that refers nowhere has no operations; those of the others are still there.
            let item = self.resolve(item).unwrap_or(&Value::Null);
            for (name, method) in METHODS {
                let Some(operation) = item.get(name).filter(|operation| operation.is_object()) else { continue };
                if all.len() == LOOKED_AT_MAX {
                    return Err(OpenApiError::Spec(format!("has more than {LOOKED_AT_MAX} operations")));
                }
                let id = operation.get("operationId").and_then(Value::as_str).filter(|id| !id.is_empty());
                let id = id.map_or_else(|| made(name, path), str::to_owned);
                let tags = operation.get("tags").and_then(Value::as_array).into_iter().flatten();
                let tags = tags.filter_map(Value::as_str).collect();
                all.push(Found { id, tags, method, path, item, operation });
            }
        }
        Ok(all)
    }

    /// Follows references inside of the document.
    pub(super) fn resolve(&self, value: &'a Value) -> Result<&'a Value, String> {
        let mut value = value;
        for _ in 0..HOPS_MAX {
            match value.get("$ref").and_then(Value::as_str) {
                None => return Ok(value),
                Some(reference) => value = self.find(reference)?,
            }
        }
        Err("its references go round in circles".to_owned())
    }

    /// Returns what a reference inside of the document leads to.
    pub(super) fn find(&self, reference: &str) -> Result<&'a Value, String> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err("it refers to another document".to_owned());
        };
        self.root.pointer(pointer).ok_or_else(|| "it refers to something that is not there".to_owned())
    }

    /// Returns the address of an operation, with the placeholders of its path.
    pub(super) fn address(&self, found: &Found<'_>) -> Result<String, String> {
        if !found.path.starts_with('/') || found.path.contains(['?', '#']) {
            return Err("its path must begin with `/` and have no query".to_owned());
        }
        let server = self.server(&[found.operation, found.item, self.root])?;
        Ok(format!("{}{}", server.trim_end_matches('/'), found.path))
    }

    /// Checks that calls go to the server of the document.
    pub(super) fn check_host(&self, host: Option<&str>) -> Result<(), String> {
        if host == self.host.as_deref() {
            return Ok(());
        }
        Err("it has a server of its own, which is not that of the document".to_owned())
    }

    /// Returns the address of the first server that one of these describes.
    fn server(&self, described: &[&Value]) -> Result<String, String> {
        if let Some(url) = self.url {
            return Ok(url.to_owned());
        }
        let first = described.iter().find_map(|value| value.get("servers")?.as_array()?.first());
        let written = first.and_then(|server| server.get("url")).and_then(Value::as_str).unwrap_or(HERE);
        let variables = first.and_then(|server| server.get("variables")).and_then(Value::as_object);
        let url = variables.into_iter().flatten().fold(written.to_owned(), |url, (name, variable)| {
            let value = variable.get("default").and_then(Value::as_str).unwrap_or_default();
            url.replace(&format!("{{{name}}}"), value)
        });
        let absolute = match (Url::parse(&url), self.from) {
            (Ok(url), _) => Ok(url),
            (Err(_), Some(from)) => from.join(&url).map_err(|error| format!("the server of the document: {error}")),
            (Err(_), None) => Err("the document does not say where the API is: write its address here".to_owned()),
        }?;
        match absolute.scheme() {
            "http" | "https" if absolute.query().is_none() && absolute.fragment().is_none() => Ok(absolute.into()),
            _ => Err("the server of the document must be an http:// or https:// address without a query".to_owned()),
        }
    }
}

/// Returns a name for an operation without an operationId.
fn made(method: &str, path: &str) -> String {
    let words: Vec<String> = path.split(['/', '{', '}']).filter(|word| !word.is_empty()).map(plain).collect();
    [vec![method.to_owned()], words].concat().join("_")
}

impl Found<'_> {
    /// Returns the description for the model.
    pub(super) fn description(&self) -> String {
        let text = |key: &str| self.operation.get(key).and_then(Value::as_str).map(str::trim).unwrap_or_default();
        let parts = [text("summary"), text("description")];
        let said = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
        let said = if said.is_empty() { format!("{} {}", self.method.word(), self.path) } else { said };
        said.chars().take(DESCRIPTION_MAX).collect()
    }
}
