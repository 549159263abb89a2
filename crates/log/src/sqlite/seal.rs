//! Checksums and hashes that are stored beside a record, so that damage to it is always detected.

use sha2::{Digest, Sha256};

use super::{Append, Record};

/// The size of an attachment's hash in bytes.
pub(super) const HASH_BYTES: usize = 32;

/// An append ready to be written.
pub(super) struct Sealed {
    pub(super) append: Append,
    /// The seals, one for each record.
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

    /// Returns the number of bytes of its records.
    pub(super) fn bytes(&self) -> u64 {
        let attached = |record: &Record| record.attachments.iter().map(|text| text.len()).sum::<usize>();
        self.append.records.iter().map(|record| (record.body.len() + attached(record)) as u64).sum()
    }
}

fn seal(record: &Record) -> Seal {
    let hashes: Vec<u8> = record.attachments.iter().flat_map(|text| hash(text)).collect();
    Seal { checksum: checksum(&record.body, &hashes), hashes }
}

/// Returns the hash of an attachment, which is its name.
pub(super) fn hash(text: &str) -> [u8; HASH_BYTES] {
    Sha256::digest(text).into()
}

/// Returns the checksum of a record's body and its attachments' hashes.
pub(super) fn checksum(body: &str, hashes: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(body.as_bytes());
    sum.update(hashes);
    sum.finalize()
}
