//! Records as they are stored, with checksums and hashes beside them, so that damage to them is always
//! detected. The records of an append share a row as far as they can: a row costs more than its content.

use sha2::{Digest, Sha256};

use crate::{Append, Record};

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
        Sealed { bundles: bundles(&append.records), append }
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
    for record in records {
        let shares = record.attachments.is_empty() && !record.body.contains(SEPARATOR);
        match bundles.last_mut() {
            Some(last) if is_open && shares && last.body.len() + record.body.len() < BUNDLE_BYTES => {
                last.count += 1;
                last.body.push(SEPARATOR);
                last.body.push_str(&record.body);
            }
            Some(_) | None => {
                let hashes = record.attachments.iter().flat_map(|text| hash(text)).collect();
                bundles.push(Bundle { count: 1, checksum: 0, hashes, body: record.body.as_ref().to_owned() });
                is_open = shares;
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
