//! Large buffers, outside of the allocator: their memory is the system's again once they are dropped. The allocator
//! keeps what was freed, in each of its arenas, once large pieces have come and gone.

use std::io;

use bytes::Bytes;
use memmap2::MmapMut;

/// A buffer of a size that does not change. What was not written to takes no memory.
pub struct Buffer {
    map: MmapMut,
    length: usize,
}

impl Buffer {
    /// Creates a buffer for so many bytes; it has none.
    pub fn new(capacity: usize) -> io::Result<Buffer> {
        Ok(Buffer { map: MmapMut::map_anon(capacity.max(1))?, length: 0 })
    }

    /// Adds bytes; an error when there is no room for them.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = self.map.get_mut(self.length..self.length.saturating_add(bytes.len()));
        room.ok_or(io::ErrorKind::StorageFull)?.copy_from_slice(bytes);
        self.length += bytes.len();
        Ok(())
    }

    /// Replaces its bytes by those that are written, of which the number is returned.
    pub fn fill<E>(&mut self, write: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<(), E> {
        self.length = write(&mut self.map)?.min(self.map.len());
        Ok(())
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.map.get(..self.length).unwrap_or_default()
    }
}

impl From<Buffer> for Bytes {
    fn from(buffer: Buffer) -> Bytes {
        Bytes::from_owner(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_holds_what_was_added_and_no_more_than_fits() {
        let mut buffer = Buffer::new(5).unwrap();
        assert!(buffer.as_ref().is_empty());
        buffer.add(b"abc").unwrap();
        assert!(buffer.add(b"def").is_err());
        buffer.add(b"de").unwrap();
        assert_eq!(Bytes::from(buffer), "abcde");
        let mut filled = Buffer::new(3).unwrap();
        let written = filled.fill(|room| {
            room.copy_from_slice(b"xyz");
            Ok::<usize, ()>(2)
        });
        assert!(written.is_ok());
        assert_eq!(filled.as_ref(), b"xy");
        assert!(Buffer::new(0).unwrap().add(b"").is_ok());
    }
}
