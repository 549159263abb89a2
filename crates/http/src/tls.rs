//! The TLS of every client in the process. The certificates of the machine are read once, and not for each client:
//! that would be most of the work of a start.

use std::sync::{Arc, LazyLock};

use reqwest::ClientBuilder;
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

static TLS: LazyLock<Result<ClientConfig, rustls::Error>> = LazyLock::new(|| {
    let provider = provider();
    let trusting = |provider: &Arc<CryptoProvider>| {
        ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()
    };
    let of_machine = trusting(&provider)?.with_platform_verifier().map(|config| config.with_no_client_auth());
    let mut config = match of_machine {
        Ok(config) => config,
        // A machine without certificates can still talk to its own servers.
        Err(_) => trusting(&provider)?.with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
});

/// Gives a client the TLS of the process. Without any, the client fails when it is built, and says why.
pub fn shared(client: ClientBuilder) -> ClientBuilder {
    match &*TLS {
        Ok(config) => client.tls_backend_preconfigured(config.clone()),
        Err(_) => client,
    }
}

/// Returns the cryptography of the process, which is installed once.
fn provider() -> Arc<CryptoProvider> {
    // This fails when the process has a provider already, which is just as good.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    CryptoProvider::get_default().cloned().unwrap_or_else(|| Arc::new(rustls::crypto::ring::default_provider()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_takes_the_shared_tls() {
        // It is of the version that the client was built with: another one is refused when it is built.
        shared(reqwest::Client::builder()).build().unwrap();
        assert_eq!(TLS.as_ref().unwrap().alpn_protocols, [b"http/1.1".to_vec()]);
    }
}
