//! Records and rows as they are stored, with checksums and hashes beside them, so that damage to them is always
//! detected. The records of an append share a row as far as they can: a row costs more than its content.

use memchr::memchr;
use sha2::{Digest, Sha256};

use crate::{Append, Record, Row, Seq};

/// The size of an attachment's hash in bytes.
pub const HASH_BYTES: usize = 32;
/// The character between the records of a row. JSON holds it only escaped.
pub const SEPARATOR: char = '\u{1e}';
/// The maximum size of a row of several records in bytes: who reads one of them reads all.
const BUNDLE_BYTES: usize = 64 * 1024;

/// An append ready to be written.
pub struct Sealed {
    /// The append.
    pub append: Append,
    /// The rows of its records, in their order.
    pub bundles: Vec<Bundle>,
    /// The checksum of the stream's row in lists.
    pub row_checksum: u32,
    /// The checksum of the words that the stream is found by, if the append has any.
    pub words_checksum: Option<u32>,
}

/// The records of one row.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// Their number. Several have no attachments.
    pub count: usize,
    /// The checksum of the body and the hashes.
    pub checksum: u32,
    /// The hashes of the attachments, one after the other.
    pub hashes: Vec<u8>,
    /// The bodies, separated.
    pub body: String,
}

impl Sealed {
    /// Seals an append.
    pub fn new(append: Append) -> Sealed {
        let row_checksum = row_checksum(&append.stream, append.expected + append.records.len() as Seq, &append.row);
        let words_checksum = append.row.words.as_deref().map(text_checksum);
        Sealed { bundles: bundles(&append.records), append, row_checksum, words_checksum }
    }

    /// Returns the number of bytes of its records.
    pub fn bytes(&self) -> u64 {
        let attached = |record: &Record| record.attachments.iter().map(|text| text.len()).sum::<usize>();
        self.append.records.iter().map(|record| (record.body.len() + attached(record)) as u64).sum()
    }
}

fn bundles(records: &[Record]) -> Vec<Bundle> {
    let mut bundles: Vec<Bundle> = Vec::new();
    let mut is_open = false;
    let mut room = records.iter().map(|record| record.body.len() + 1).sum::<usize>();
    for record in records {
        let shares = record.attachments.is_empty() && memchr(SEPARATOR as u8, record.body.as_bytes()).is_none();
        match bundles.last_mut() {
            Some(last) if is_open && shares && last.body.len() + record.body.len() < BUNDLE_BYTES => {
                last.count += 1;
                last.body.push(SEPARATOR);
                last.body.push_str(&record.body);
            }
            Some(_) | None => {
                let hashes = record.attachments.iter().flat_map(|text| hash(text)).collect();
                let mut body = String::with_capacity(if shares { room.min(BUNDLE_BYTES) } else { record.body.len() });
                body.push_str(&record.body);
                bundles.push(Bundle { count: 1, checksum: 0, hashes, body });
                is_open = shares;
            }
        }
        room -= record.body.len() + 1;
    }
    for bundle in &mut bundles {
        bundle.checksum = checksum(&bundle.body, &bundle.hashes);
    }
    bundles
}

/// Returns the hash of an attachment, which is its name.
pub fn hash(text: &str) -> [u8; HASH_BYTES] {
    Sha256::digest(text).into()
}

/// Returns the checksum of a row's body and its attachments' hashes.
pub fn checksum(body: &str, hashes: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(body.as_bytes());
    sum.update(hashes);
    sum.finalize()
}

/// Returns the checksum of a text that is stored by itself: the words of a stream, or a key that it claims.
pub fn text_checksum(text: &str) -> u32 {
    crc32fast::hash(text.as_bytes())
}

/// Returns the checksum of the row of a stream that has so many records. It covers everything but the words, which
/// are stored apart.
pub fn row_checksum(stream: &str, length: Seq, row: &Row) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    // Each text comes with its length, so that no two lists of texts look alike.
    let mut add = |text: &str| {
        sum.update(&(text.len() as u64).to_be_bytes());
        sum.update(text.as_bytes());
    };
    [stream, &row.kind, &row.status, row.owner.as_str(), &row.body].into_iter().for_each(&mut add);
    row.tags.iter().flat_map(|(key, value)| [key, value]).for_each(|text| add(text));
    for number in [length, row.started_at, row.ended_at.map_or(u64::MAX, |at| at), row.tags.len() as u64] {
        sum.update(&number.to_be_bytes());
    }
    sum.finalize()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use consort_core::owner::Owner;

    use super::*;

    #[test]
    fn every_part_of_a_row_counts_but_its_words() {
        let row = Row {
            kind: "run".into(),
            status: "RUNNING".into(),
            owner: Owner::local(),
            started_at: 1,
            ended_at: None,
            tags: BTreeMap::from([("ab".to_owned(), "c".to_owned())]),
            body: "{}".into(),
            words: None,
        };
        let tags = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        let others = [
            Row { kind: "turn".into(), ..row.clone() },
            Row { status: "RUNNINH".into(), ..row.clone() },
            Row { owner: Owner::stored("other"), ..row.clone() },
            Row { started_at: 2, ..row.clone() },
            Row { ended_at: Some(1), ..row.clone() },
            Row { tags: tags("a", "bc"), ..row.clone() },
            Row { tags: BTreeMap::new(), ..row.clone() },
            Row { body: "{ }".into(), ..row.clone() },
        ];
        let sum = row_checksum("a", 3, &row);
        for other in others {
            assert_ne!(row_checksum("a", 3, &other), sum, "{other:?}");
        }
        assert_ne!(row_checksum("b", 3, &row), sum);
        assert_ne!(row_checksum("a", 2, &row), sum);
        assert_eq!(row_checksum("a", 3, &Row { words: Some("x".into()), ..row }), sum);
    }

    #[test]
    fn records_share_a_row_unless_they_are_large_or_have_something_of_their_own() {
        let plain = |body: &str| Record { body: body.into(), attachments: Vec::new() };
        let attached = Record { attachments: vec!["long".into()], ..plain("c") };
        let records = [plain("a"), plain("b"), attached, plain("d"), plain("\u{1e}"), plain("e"), plain("f")];
        let counts = |records: &[Record]| bundles(records).iter().map(|bundle| bundle.count).collect::<Vec<_>>();
        assert_eq!(counts(&records), [2, 1, 1, 1, 2]);
        let large = plain(&"x".repeat(BUNDLE_BYTES / 2));
        assert_eq!(counts(&[plain("a"), large.clone(), large.clone(), large]), [2, 1, 1]);
        assert_eq!(counts(&[]), [0_usize; 0]);
    }
}
