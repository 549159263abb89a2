//! Fetches a document at the start: within a time limit, a size limit, and from where the configuration says.

use std::time::Duration;

use reqwest::Url;

use super::{ApiOptions, ApiTools, DOCUMENT_BYTES_MAX, OpenApiError, api_tools};
use crate::http::{Body, body, chain, http_client};

/// The time that fetching a document may take: everything else waits for it.
const FETCH_MAX: Duration = Duration::from_secs(20);

/// Fetches a document and returns its tools. The headers of the API are not
/// sent: the document may be kept elsewhere. Blocks its caller, once, at the start.
pub fn fetch(url: &Url, options: &ApiOptions) -> Result<ApiTools, OpenApiError> {
    let away = |why: String| OpenApiError::Away(format!("cannot be fetched: {why}"));
    // A thread of its own, since the caller may or may not be inside of a runtime.
    let bytes = std::thread::scope(|scope| {
        let fetching = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| away(error.to_string()))?;
            runtime.block_on(async {
                let fetched = tokio::time::timeout(FETCH_MAX, bytes(url)).await;
                fetched.unwrap_or_else(|_| Err(away(format!("no answer within {} s", FETCH_MAX.as_secs()))))
            })
        });
        fetching.join().unwrap_or_else(|_| Err(away("the work broke off".to_owned())))
    })?;
    api_tools(&bytes, Some(url), options)
}

async fn bytes(url: &Url) -> Result<Vec<u8>, OpenApiError> {
    let away = |why: String| OpenApiError::Away(format!("cannot be fetched: {why}"));
    let client = http_client().map_err(|error| away(error.to_string()))?;
    let response = client.get(url.clone()).send().await.map_err(|error| away(chain(&error)))?;
    let status = response.status();
    if !status.is_success() {
        return Err(away(format!("the server answered {status}")));
    }
    match body(response, DOCUMENT_BYTES_MAX).await {
        Ok(Body::Whole(bytes)) => Ok(bytes),
        Ok(Body::Cut(_)) => Err(OpenApiError::Spec(format!("is longer than {DOCUMENT_BYTES_MAX} bytes"))),
        Err(error) => Err(away(chain(&error))),
    }
}
