//! The cost of a commit: what is synced, and where it is written.

use std::time::Instant;

use super::*;
use crate::sqlite::writer::SCRUB_INTERVAL;

#[test]
fn sqlite_is_built_to_sync_content_only() {
    let flags = option_env!("LIBSQLITE3_FLAGS").unwrap_or_default();
    assert!(flags.contains("-DHAVE_FDATASYNC=1"), "`.cargo/config.toml` is not read: {flags:?}");
}

#[tokio::test]
async fn the_write_ahead_log_keeps_its_room_when_it_is_emptied_and_what_follows_survives_a_crash() {
    let (folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    for seq in 0..10 {
        log.append(marked("secret", seq * 2)).await.unwrap();
    }
    let wal = PathBuf::from(format!("{}-wal", path.display()));
    let size = wal.metadata().unwrap().len();
    log.erase(vec!["secret".into()]).await.unwrap();
    let bytes = std::fs::read(&wal).unwrap();
    assert!(bytes.len() as u64 >= size && bytes.iter().all(|byte| *byte == 0), "{} of {size} bytes", bytes.len());
    for kept in 0..3 {
        let crashed = folder.path().join(format!("after-{kept}.db"));
        as_after_a_crash(&path, &crashed);
        let again = SqliteLog::open(&crashed).unwrap();
        assert_eq!((again.lost(), names(&again, all()).await.len()), (None, kept));
        log.append(append(&format!("kept-{kept}"), 0, &["0"])).await.unwrap();
        assert!(wal.metadata().unwrap().len() <= bytes.len() as u64, "nothing was added to the file");
    }
}

#[tokio::test]
async fn erasures_soon_after_each_other_empty_the_write_ahead_log_once_and_all_of_it_is_empty_in_the_end() {
    let (_folder, path) = file();
    let log = SqliteLog::open(&path).unwrap();
    let wal = PathBuf::from(format!("{}-wal", path.display()));
    let is_empty = || std::fs::read(&wal).unwrap().iter().all(|byte| *byte == 0);
    let began = Instant::now();
    for name in ["a", "b", "c"] {
        log.append(marked(name, 0)).await.unwrap();
        log.erase(vec![name.into()]).await.unwrap();
        assert!(is_empty() == (name == "a") || began.elapsed() >= SCRUB_INTERVAL, "{name}");
    }
    // Nothing else is written that would remind the writer.
    while !is_empty() {
        assert!(began.elapsed() < SCRUB_INTERVAL * 30, "it is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
