//! Parses server-sent events as they arrive. Bytes may be split anywhere; only
//! the `data` of an event matters to us, so names, ids and comments are skipped.

use std::io::BufRead;

/// The maximum size of one event in bytes, so that a server cannot fill the memory.
pub(super) const EVENT_MAX: usize = 8 * 1024 * 1024;

/// An event longer than [`EVENT_MAX`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// The events in the bytes that have arrived so far.
#[derive(Debug, Default)]
pub(super) struct Events {
    buffer: Vec<u8>,
    /// The start of the current line in the buffer.
    line: usize,
    /// The position up to which that line has been searched for its end.
    searched: usize,
    data: Vec<u8>,
    /// Whether the last event was handed out, so that the next line begins a new one.
    taken: bool,
}

impl Events {
    /// Returns the buffer to which arriving bytes are appended.
    pub(super) fn inbox(&mut self) -> &mut Vec<u8> {
        self.buffer.drain(..self.line);
        self.searched -= self.line;
        self.line = 0;
        &mut self.buffer
    }

    /// Returns the bytes that are not part of a finished line.
    pub(super) fn rest(&self) -> &[u8] {
        self.buffer.get(self.line..).unwrap_or_default()
    }

    /// Returns the data of the next complete event.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, TooLong> {
        while let Some(end) = self.line_end() {
            let line = self.buffer.get(self.line..end).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            (self.line, self.searched) = (end + 1, end + 1);
            if std::mem::take(&mut self.taken) {
                self.data.clear();
            }
            if line.is_empty() {
                if self.data.is_empty() {
                    continue;
                }
                self.taken = true;
                // Each line was added with its newline; the last is not part of the data.
                return Ok(self.data.split_last().map(|(_, data)| data));
            }
            if let Some(data) = line.strip_prefix(b"data:") {
                self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
                self.data.push(b'\n');
            }
            if self.data.len() > EVENT_MAX {
                return Err(TooLong);
            }
        }
        self.searched = self.buffer.len();
        if self.rest().len() > EVENT_MAX { Err(TooLong) } else { Ok(None) }
    }

    /// Returns the end of the current line, if it has arrived.
    fn line_end(&self) -> Option<usize> {
        let mut unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        // Reading from a slice cannot fail; it searches faster than a loop.
        let length = unsearched.skip_until(b'\n').unwrap_or_default();
        let end = self.searched + length.checked_sub(1)?;
        self.buffer.get(end).filter(|byte| **byte == b'\n').map(|_| end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        let mut read = Vec::new();
        for chunk in chunks {
            events.inbox().extend_from_slice(chunk);
            while let Some(data) = events.next().unwrap() {
                read.push(String::from_utf8(data.to_vec()).unwrap());
            }
        }
        read
    }

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_split() {
        let stream =
            ": hello\r\n\r\nevent: x\r\ndata: one\r\ndata:two\r\n\r\nid: 7\ndata: drei €\n\n\n\ndata:  four\n\n";
        let expected = ["one\ntwo", "drei €", " four"];
        for at in 0..stream.len() {
            let (front, back) = stream.as_bytes().split_at(at);
            assert_eq!(read(&[front, back]), expected, "split at {at}");
        }
        let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes), expected);
    }

    #[test]
    fn an_event_without_its_blank_line_is_not_complete() {
        assert!(read(&[b"data: half\n"]).is_empty());
    }

    #[test]
    fn an_endless_line_and_an_endless_event_are_refused() {
        let mut events = Events::default();
        events.inbox().resize(EVENT_MAX + 1, b'a');
        assert_eq!(events.next(), Err(TooLong));
        let mut events = Events::default();
        events.inbox().extend(b"data: 0123456789\n".repeat(EVENT_MAX / 10));
        assert_eq!(events.next(), Err(TooLong));
    }
}
