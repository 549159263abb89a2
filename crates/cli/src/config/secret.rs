//! Values that must not end up in logs: their `Debug` says that there is
//! something, never what.

use std::fmt;

/// A key, a token, a password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub(crate) fn new(value: String) -> Secret {
        Secret(value)
    }

    /// The value, for whoever must send it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("…")
    }
}

/// An address. `Debug` shows the server alone, because the rest may hold a token.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Address(String);

impl Address {
    /// Wraps an address that is known to be well formed.
    pub(crate) fn new(url: impl Into<String>) -> Address {
        Address(url.into())
    }

    /// The address.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match url::Url::parse(&self.0) {
            Ok(url) => write!(out, "{}://{}/…", url.scheme(), url.host_str().unwrap_or_default()),
            Err(_) => out.write_str("…"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_neither_secrets_nor_what_may_hold_one() {
        assert_eq!(format!("{:?}", Secret::new("hush".to_owned())), "…");
        let address = Address::new("https://me:hush@example.org:8080/v1?token=hush");
        assert_eq!(format!("{address:?}"), "https://example.org/…");
        assert_eq!(format!("{:?}", Address::default()), "…");
    }
}
