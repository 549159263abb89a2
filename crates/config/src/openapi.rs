//! `[tools.openapi.*]`: every operation of an OpenAPI document as a tool. A file is read
//! with the configuration, an address is fetched at the start.

use std::time::Duration;

use consort_tools::HttpEndpoint;
use consort_tools::openapi::{ApiOptions, ApiTool, ApiTools, OpenApiError, api_tools, fetch};
use url::Url;

use super::fields::Fields;
use super::models::WEB;
use super::tools::name_of_tool;
use super::typed::inside;
use super::values::{address, duration, text};
use super::{auth, headers};

/// An API by its OpenAPI document.
#[derive(Clone, Debug, PartialEq)]
pub struct Api {
    /// The options of the file.
    pub options: ApiOptions,
    /// Its document.
    pub spec: Spec,
}

/// The document of an API.
#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    /// A file, with the tools it gives.
    Read(ApiTools),
    /// The address to fetch it from.
    At(Url),
}

impl Api {
    /// Returns the tools that are known before anything is fetched.
    pub(crate) fn known(&self) -> &[ApiTool] {
        match &self.spec {
            Spec::Read(tools) => &tools.tools,
            Spec::At(_) => &[],
        }
    }

    /// Returns whether a tool of this name may turn up when the document is fetched.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        let own = name.strip_prefix(&self.options.name).and_then(|rest| rest.strip_prefix('_'));
        matches!(self.spec, Spec::At(_)) && own.is_some()
    }

    /// Returns the tools, fetching the document where it is at an address.
    pub fn tools(&self) -> Result<ApiTools, OpenApiError> {
        match &self.spec {
            Spec::Read(tools) => Ok(tools.clone()),
            Spec::At(url) => fetch(url, &self.options),
        }
    }

    /// Returns a key of its table.
    pub fn key(&self, key: &str) -> String {
        format!("{}.{key}", inside("tools.openapi", &self.options.name))
    }
}

/// Reads one `[tools.openapi.*]`.
pub(super) fn read(name: &str, fields: &mut Fields<'_>) -> Api {
    name_of_tool(name, fields);
    let headers = headers::read(fields, HttpEndpoint::OWN_HEADERS);
    let options = ApiOptions {
        name: name.to_owned(),
        include: fields.names("include", text),
        url: fields.read("url", address(WEB)),
        auth: auth::read(fields, &headers),
        headers,
        timeout: fields.read("timeout", duration).unwrap_or(Duration::from_secs(30)),
    };
    let written = fields.need("spec", text).unwrap_or_default();
    if WEB.iter().any(|protocol| written.starts_with(&format!("{protocol}://"))) {
        let url = fields.read("spec", address(WEB)).and_then(|url| Url::parse(&url).ok());
        let spec = url.map_or_else(|| Spec::Read(ApiTools::default()), Spec::At);
        return Api { options, spec };
    }
    let spec = Spec::Read(if written.is_empty() { ApiTools::default() } else { file(&options, fields) });
    Api { options, spec }
}

/// Reads a file; mistakes are noted.
fn file(options: &ApiOptions, fields: &mut Fields<'_>) -> ApiTools {
    let Some(path) = fields.source("spec") else { return ApiTools::default() };
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            fields.mistake("spec", format!("cannot be read: {error}"));
            return ApiTools::default();
        }
    };
    api_tools(&bytes, None, options).unwrap_or_else(|error| {
        match error {
            OpenApiError::Include { index, reason } => fields.found_in("include", index, reason),
            error @ (OpenApiError::Away(_) | OpenApiError::Spec(_) | OpenApiError::Url(_)) => {
                fields.found(&error.key(), error.to_string());
            }
        }
        ApiTools::default()
    })
}
