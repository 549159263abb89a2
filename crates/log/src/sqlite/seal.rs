//! What is stored beside a record so that damage to it cannot go unnoticed.

use sha2::{Digest, Sha256};

use super::{Append, Record};

/// The format records are written in.
pub(super) const VERSION: i64 = 1;
/// Bytes of an attachment's hash.
pub(super) const HASH_BYTES: usize = 32;

/// An append ready to be written.
pub(super) struct Sealed {
    pub(super) append: Append,
    /// One for each record.
    pub(super) seals: Vec<Seal>,
}

/// A record's checksum and the hashes of its attachments, one after the other.
pub(super) struct Seal {
    pub(super) checksum: u32,
    pub(super) hashes: Vec<u8>,
}

impl Sealed {
    pub(super) fn new(append: Append) -> Sealed {
        Sealed { seals: append.records.iter().map(seal).collect(), append }
    }
}

fn seal(record: &Record) -> Seal {
    let hashes: Vec<u8> = record.attachments.iter().flat_map(|text| hash(text)).collect();
    Seal { checksum: checksum(&record.body, &hashes), hashes }
}

/// Names an attachment by what it says.
pub(super) fn hash(text: &str) -> [u8; HASH_BYTES] {
    Sha256::digest(text).into()
}

/// Of a record's body and its attachments' hashes.
pub(super) fn checksum(body: &str, hashes: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(body.as_bytes());
    sum.update(hashes);
    sum.finalize()
}
