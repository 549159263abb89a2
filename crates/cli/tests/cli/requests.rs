//! Requests to a server under test, and folders with stores of earlier editions.

use std::path::Path;

use reqwest::Client;
use serde_json::Value;
use tempfile::TempDir;

use crate::served::Served;

const CONFIG: &str = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n";

/// Returns a client for HTTP.
pub(crate) fn client() -> Client {
    // It is an error to install it twice; another test may have done it.
    let _done = rustls::crypto::ring::default_provider().install_default();
    Client::new()
}

/// Reads something that is there.
pub(crate) async fn get(server: &Served, path: &str) -> Value {
    let answer = client().get(format!("{}{path}", server.url)).header("accept", "application/json").send().await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    answer.json().await.unwrap()
}

/// Creates a folder with a configuration and a copy of a store, which stays as it is.
pub(crate) fn copy_of(store: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("consort-data")).unwrap();
    std::fs::write(folder.path().join("consort.toml"), CONFIG).unwrap();
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join(store);
    std::fs::copy(store, folder.path().join("consort-data/consort.db")).unwrap();
    folder
}
