//! The server that a command talks to, and the format of its output: the options that
//! every command of this kind has.

use consort_config::Env;
use consort_http as http;
use url::Url;

use super::Client;

/// The default address of `consort serve`.
const DEFAULT_URL: &str = "http://127.0.0.1:7329";
/// The variable that names another server.
const URL_VARIABLE: &str = "CONSORT_URL";
/// The variable that holds the key.
const KEY_VARIABLE: &str = "CONSORT_API_KEY";

/// The options for the server, as typed.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct Target {
    /// The server; default: $CONSORT_URL, else http://127.0.0.1:7329
    #[arg(long, value_name = "URL", global = true)]
    url: Option<String>,
    /// The API key, where the server wants one; default: $CONSORT_API_KEY
    #[arg(long, value_name = "KEY", global = true)]
    key: Option<String>,
    /// Print the server's JSON as it is
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

impl Target {
    /// Creates a target for the server at this address, or for the usual one.
    pub(crate) fn new(url: Option<String>, key: Option<String>) -> Target {
        Target { url, key, json: false }
    }

    /// Creates a target for the server at this address.
    pub(crate) fn at(url: &str, key: Option<&str>) -> Target {
        Target::new(Some(url.to_owned()), key.map(str::to_owned))
    }

    /// Returns a client for it, or the mistake in the address.
    pub(crate) fn client(&self, env: &Env<'_>) -> Result<Client, String> {
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let typed = self.url.clone().or_else(|| set(URL_VARIABLE)).unwrap_or_else(|| DEFAULT_URL.to_owned());
        let wrong = |reason: &str| format!("`{typed}` is not the address of a server: {reason}");
        let base = Url::parse(typed.trim()).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || !base.has_host() {
            return Err(wrong("it must begin with http:// or https://"));
        }
        let http = http::client().map_err(|error| format!("no HTTP client: {error}"))?;
        Ok(Client { http, base, key: self.key.clone().or_else(|| set(KEY_VARIABLE)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_beats_the_environment_which_beats_the_default() {
        let env = |name: &str| (name == URL_VARIABLE).then(|| "http://10.0.0.1:1".to_owned());
        let url = |target: &Target, env: &Env<'_>| target.client(env).unwrap().url().to_owned();
        assert_eq!(url(&Target::at("https://a.example", None), &env), "https://a.example");
        assert_eq!(url(&Target::default(), &env), "http://10.0.0.1:1");
        assert_eq!(url(&Target::default(), &|_| Some(" ".to_owned())), DEFAULT_URL);
    }

    #[test]
    fn an_address_that_is_none_is_told_apart_from_a_server_that_is_away() {
        let wrong = |url: &str| Target::at(url, None).client(&|_| None).unwrap_err();
        assert_eq!(
            wrong("localhost:7329"),
            "`localhost:7329` is not the address of a server: it must begin with http:// or https://"
        );
        assert_eq!(wrong("nowhere"), "`nowhere` is not the address of a server: relative URL without a base");
    }
}
