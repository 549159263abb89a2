//! Configured headers of requests. Their values may be credentials:
//! `Debug` shows only names, and responses are redacted.

use std::fmt;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// Headers that belong to the connection and not to its user: a configured
/// value would break the framing or send the request elsewhere.
const OF_THE_CONNECTION: [&str; 12] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
];
/// Parts of the names of headers that carry credentials.
const CREDENTIALS: [&str; 6] = ["auth", "cookie", "key", "password", "secret", "token"];
/// The minimum size in bytes of a text that is redacted: shorter
/// ones are parts of ordinary words, which redaction would garble.
const HIDDEN_MIN: usize = 6;
/// The maximum number of headers of one request.
const HEADERS_MAX: usize = 64;

/// Headers sent with every request.
#[derive(Clone, Default, PartialEq)]
pub struct Headers {
    values: HeaderMap,
    /// Texts that are removed from responses.
    secrets: Vec<String>,
}

impl Headers {
    /// Adds a header, unless it belongs to the connection or is among `own`, the headers that
    /// the sender sets itself (in lower case). The reason of a refusal never quotes the value.
    pub fn set(&mut self, name: &str, value: &str, own: &[&str]) -> Result<(), String> {
        let parsed = HeaderName::from_bytes(name.as_bytes());
        let parsed = parsed.map_err(|_| "the name of a header has only letters, digits and `-`".to_owned())?;
        if OF_THE_CONNECTION.contains(&parsed.as_str()) || own.contains(&parsed.as_str()) {
            return Err("Consort sets this header itself".to_owned());
        }
        if self.values.contains_key(&parsed) {
            return Err("the same header stands there twice".to_owned());
        }
        if self.values.len() >= HEADERS_MAX {
            return Err(format!("there are more than {HEADERS_MAX} headers"));
        }
        let sent = HeaderValue::from_bytes(value.as_bytes());
        let mut sent = sent.map_err(|_| "must be one line without control characters".to_owned())?;
        sent.set_sensitive(true);
        if CREDENTIALS.iter().any(|part| parsed.as_str().contains(part)) {
            // `Bearer abc` is as secret as `abc`, and a server is more likely to repeat the latter alone.
            self.hide(value.rsplit(' ').next().unwrap_or(value));
        }
        self.values.insert(parsed, sent);
        Ok(())
    }

    /// Adds a text to be redacted in responses.
    pub fn hide(&mut self, secret: &str) {
        let secret = secret.trim();
        if secret.len() >= HIDDEN_MIN && !self.secrets.iter().any(|known| known == secret) {
            self.secrets.push(secret.to_owned());
            // A longer secret that contains a shorter one must go first, or its rest would show.
            self.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    /// Returns the headers as they are sent.
    pub fn map(&self) -> &HeaderMap {
        &self.values
    }

    /// Returns the text with every secret replaced, as it is and as JSON writes it.
    pub fn redacted(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| {
            let written = serde_json::Value::from(secret.as_str()).to_string();
            let written = written.trim_matches('"');
            let text = if written == secret { text } else { text.replace(written, "…") };
            if text.contains(secret) { text.replace(secret, "…") } else { text }
        })
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.values.keys().map(HeaderName::as_str)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_connection_and_malformed_ones_are_refused_without_their_values() {
        let mut headers = Headers::default();
        for (name, value, part) in [
            ("Content-Length", "5-hush", "itself"),
            ("Host", "hush", "itself"),
            ("Transfer-Encoding", "hush", "itself"),
            ("connection", "hush", "itself"),
            ("Idempotency-Key", "hush", "itself"),
            ("x team", "hush", "name of a header"),
            ("", "hush", "name of a header"),
            ("x-team", "hush\r\nx-other: 1", "one line"),
        ] {
            let reason = headers.set(name, value, &["idempotency-key"]).unwrap_err();
            assert!(reason.contains(part) && !reason.contains("hush"), "{name}: {reason}");
        }
        headers.set("X-Team", "a", &[]).unwrap();
        assert!(headers.set("x-team", "b", &[]).unwrap_err().contains("twice"));
        assert_eq!(headers.map().len(), 1);
    }

    #[test]
    fn credentials_are_shown_neither_by_debug_nor_in_what_comes_back() {
        let mut headers = Headers::default();
        headers.set("Authorization", "Bearer hush-hush", &[]).unwrap();
        headers.set("Accept", "application/json", &[]).unwrap();
        headers.set("X-Api-Key", "say \"hush\" twice\\", &[]).unwrap();
        headers.hide("say \"hush\" twice\\");
        assert_eq!(format!("{headers:?}"), r#"["authorization", "accept", "x-api-key"]"#);
        let echoed = r#"Bearer hush-hush, application/json, "say \"hush\" twice\\""#.to_owned();
        assert_eq!(headers.redacted(echoed), r#"Bearer …, application/json, "…""#);
    }
}
