//! Everything that is stored moves from a folder to PostgreSQL and back, and is the same afterwards.

use std::path::Path;

use consort_test_postgres::database;
use tempfile::TempDir;

use crate::binary::run;

const FIRST: &str = "tests/cli/stores/first-edition.db";
const CONFIG: &str = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n";

/// Creates a folder with a store of the first edition.
fn stored() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("consort-data")).unwrap();
    std::fs::write(folder.path().join("consort.toml"), CONFIG).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FIRST);
    std::fs::copy(file, folder.path().join("consort-data/consort.db")).unwrap();
    folder
}

/// Returns the lines that tell what was copied.
fn told(said: &str) -> Vec<&str> {
    said.lines()
        .filter(|line| ["streams: ", "records: ", "digest: "].iter().any(|word| line.starts_with(word)))
        .collect()
}

#[tokio::test]
async fn a_store_is_copied_to_postgresql_and_back_and_both_sides_have_one_digest() {
    let Some(database) = database().await else { return };
    let folder = stored();
    let consort = |args: &[&str]| run(folder.path(), args);
    let copy = |from: &str, to: &str| consort(&["store", "copy", "--from", from, "--to", to]);
    let (status, said, words) = copy("consort-data", database.url());
    assert_eq!((status, words.as_str()), (Some(0), ""), "{said}");
    let first: Vec<String> = told(&said).into_iter().map(str::to_owned).collect();
    assert!(first.len() == 3 && !first.contains(&"streams: 0".to_owned()), "{said}");
    // The folder is nobody's any more: neither a server nor another copy takes it.
    let (status, _, words) = consort(&["serve", "--port", "0"]);
    assert!(status == Some(2) && words.contains("was moved to postgres://"), "{words}");
    let (status, _, words) = copy("consort-data", "elsewhere");
    assert!(status == Some(2) && words.contains("was moved"), "{words}");
    // What is there is not written over.
    let other = stored();
    let source = other.path().join("consort-data");
    let (status, _, words) = copy(source.to_str().unwrap(), database.url());
    assert!(status == Some(2) && words.contains("is not empty"), "{words}");
    let (status, said, words) = consort(&["store", "check", "--data", database.url()]);
    assert!(
        status == Some(0) && said.starts_with("postgres://127.0.0.1:") && said.contains("sound ("),
        "{said}{words}"
    );
    let (status, said, words) = copy(database.url(), "back");
    assert_eq!((status, words.as_str()), (Some(0), ""), "{said}");
    assert_eq!(told(&said), first);
    let (status, _, words) = copy(database.url(), "twice");
    assert!(status == Some(2) && words.contains("was moved to"), "{words}");
    let (status, said, _) = consort(&["store", "check", "--data", "back"]);
    assert!(status == Some(0) && said.contains("sound"), "{said}");
    // A password is told to nobody.
    assert!(!said.contains("postgres@"), "{said}");
}

#[tokio::test]
async fn what_cannot_be_copied_is_named_and_nothing_is_left_half_copied() {
    let folder = stored();
    let consort = |args: &[&str]| run(folder.path(), args);
    let (status, _, words) = consort(&["store", "copy", "--from", "nowhere", "--to", "b"]);
    assert!(status == Some(2) && words.contains("nothing to copy"), "{words}");
    let nobody = crate::ports::free();
    let address = format!("postgres://u:secret@127.0.0.1:{nobody}/c?sslmode=disable");
    let (status, _, words) = consort(&["store", "copy", "--from", "consort-data", "--to", &address]);
    assert!(status == Some(3) && words.contains(&nobody.to_string()) && !words.contains("secret"), "{words}");
    let Some(database) = database().await else { return };
    let file = folder.path().join("consort-data/consort.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let spoilt = b"Closed today.";
    let place = bytes.windows(spoilt.len()).position(|found| found == spoilt).unwrap();
    bytes[place] = b'X';
    std::fs::write(&file, bytes).unwrap();
    let (status, _, words) = consort(&["store", "copy", "--from", "consort-data", "--to", database.url()]);
    assert!(status == Some(1) && words.contains("is damaged"), "{words}");
    assert_eq!(database.query("SELECT 1 FROM consort.streams").await.len(), 0);
    let (status, said, _) = consort(&["store", "check"]);
    assert!(status == Some(1) && said.contains("damaged"), "it was not marked as moved: {said}");
}
