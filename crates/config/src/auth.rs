//! `auth = { … }` of HTTP tools: OAuth2 client credentials, with which a token is got and kept fresh.

use consort_http::headers::Headers;
use consort_tools::ClientCredentials;
use url::Url;

use super::fields::Fields;
use super::models::WEB;
use super::values::{address, text};

/// Reads `auth`; `headers` are those of the same tool.
pub(super) fn read(fields: &mut Fields<'_>, headers: &Headers) -> Option<ClientCredentials> {
    let auth = fields.table("auth", |fields| {
        let url = fields.need("token_url", address(WEB)).and_then(|url| Url::parse(&url).ok());
        let client_id = fields.need("client_id", text).unwrap_or_default();
        let client_secret = fields.need("client_secret", text).unwrap_or_default();
        let scopes = fields.each("scopes", text).unwrap_or_default();
        url.map(|url| ClientCredentials::new(url, client_id, client_secret, scopes))
    });
    if fields.has("auth") && headers.map().contains_key("authorization") {
        fields.mistake("auth", "`headers` has an Authorization of its own: one of the two is enough");
    }
    auth.flatten()
}
